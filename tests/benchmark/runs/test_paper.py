"""A paper's experiments: which jobs they are, and what a job runs."""

import pytest

from path_benchmark.runs import cells
from path_benchmark.runs.paper import Paper
from path_benchmark.settings import Positive, Settings


class Shared(Settings):
    factor: Positive = 1.0


def test_another_version_of_an_experiment_has_other_cells_and_the_first_one_its_old_ones():
    def cell(version):
        paper = Paper("made_up", Shared)

        @paper.experiment(settings=Shared, version=version)
        def count(cell, rows, report):
            """Do nothing."""

        content = {
            "title": "A",
            "citation": "B",
            "settings": {"factor": 1.0},
            "datasets": {"iris": {}},
            "experiments": {"count": {"factor": 1.0}},
            "suites": {"quick": {"count": {"datasets": ["iris"], "splits": 1}}},
        }
        config = {"papers": {"made_up": content}}
        (own,) = paper.cells(config, "quick", "count", "iris", [0])
        return own

    assert len({cell(version).id for version in (0, 1, 2)}) == 3
    assert "version" not in cell(0).identity


def test_a_changed_setting_is_another_job_also_where_all_experiments_share_it():
    """What the workflow lists as to be run again is what has another name."""
    paper = Paper("made_up", Shared)

    @paper.experiment(settings=Shared)
    def count(cell, rows, report):
        """Do nothing."""

    def name(common=1.0, base=1.0, override=1.0, **of_data):
        run = {"datasets": ["iris"], "splits": 1, "factor": override}
        content = {
            "title": "A",
            "citation": "B",
            "settings": {"factor": common},
            "datasets": {"iris": of_data},
            "experiments": {"count": {"factor": base}},
            "suites": {"quick": {"count": run}},
        }
        (job,) = paper.jobs({"papers": {"made_up": content}}, "quick")
        return job.file("results")

    changed = [name(common=2.0), name(override=2.0), name(sources=["heart"])]
    assert len({name(), *changed}) == 4
    assert name(place="Table 1") == name()  # decides no number
    assert name(base=2.0) == name()  # which the suite says otherwise


@pytest.mark.parametrize(("own", "asked", "run"), [(2, 5, 2), (5, 2, 2), (None, 3, 3)])
def test_no_more_splits_are_run_than_a_suite_asks_for_or_a_data_set_has(own, asked, run):
    paper = Paper("made_up")

    @paper.experiment()
    def count(cell, rows, report):
        """Do nothing."""

    entry = {} if own is None else {"splits": own}
    content = {
        "title": "A",
        "citation": "B",
        "datasets": {"iris": entry},
        "experiments": {"count": None},
        "suites": {"quick": {"count": {"datasets": ["iris"], "splits": asked}}},
    }
    (job,) = paper.jobs({"papers": {"made_up": content}}, "quick")
    assert (job.first, job.last) == (0, run - 1)
    content["suites"]["quick"]["count"]["splits_per_job"] = 2
    jobs = paper.jobs({"papers": {"made_up": content}}, "quick")
    assert [k for job in jobs for k in range(job.first, job.last + 1)] == list(range(run))
    assert max(job.last - job.first for job in jobs) <= 1


def test_a_job_runs_its_own_splits_and_lists_their_cells(tmp_path):
    paper = Paper("made_up")

    @paper.experiment()
    def count(cell, rows, report):
        """Write down which split it was."""
        rows.add("split", cell.split, method="path")

    content = {
        "title": "A",
        "citation": "B",
        "datasets": {"iris": {}},
        "experiments": {"count": None},
        "suites": {"quick": {"count": {"datasets": ["iris"], "splits": 3, "splits_per_job": 2}}},
    }
    config = {"papers": {"made_up": content}, "results": str(tmp_path)}
    for job, splits in zip(paper.jobs(config, "quick"), ([0, 1], [2]), strict=True):
        listed = cells.read_list(paper.run_job(config, job))
        assert [cells.read_cell(file)[0]["split"].to_pylist() for file in listed] == [
            [split] for split in splits
        ]
