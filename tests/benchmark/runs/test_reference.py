"""Reference results: nothing stale is taken, nothing damaged is read, and they can be redone."""

import copy
import json
import random
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import ROOT
from helpers.papers import repository_config
from helpers.workflow import finished, one_error, only_kinks, snakemake
from path_benchmark.data import available
from path_benchmark.papers import get_paper
from path_benchmark.runs import paper as papers
from path_benchmark.runs import reference
from path_benchmark.runs.cells import read_cell, read_list, run_cells
from path_benchmark.runs.needs import need_of

pytestmark = pytest.mark.slow

PAPER = get_paper("quantile_svm")
# What a rerun may change: seconds, how far rounding takes an exact path from the optimum, and on
# another processor the order of samples that tie but for rounding: so the number of breakpoints, by
# little, how a walk went, and what solvers say that stop early.
TIMED = ("path_seconds", "peak_memory_mb")
SPARE = ["cpu_s", "wall_s", "machine", "versions", "message", "kkt", "gap", "rounding"]
EARLY = ["lbfgsb"]
# Plain least absolute deviations of folds whose columns have a rank of 40, of the whole's 45: many
# solutions, which differ on the part left out, and nothing chooses among them. Grids of s end at
# the norm of one of them.
MANY = ("triazines", "lad")
TIES = 0.1  # of the breakpoints


def of_three_cells(results):
    """Return a configuration whose suite quick has three cells, one of them of the timing lane."""
    config = repository_config() | {"results": str(results)}
    kinks = {"datasets": ["gaussian_classes"], "splits": 1, "sizes": [60, 90]}
    timing = {"datasets": ["breast_cancer"], "splits": 1}
    content = config["papers"]["quantile_svm"]
    content["suites"] = {"quick": {"kinks": kinks, "timing": timing}}
    return config


def pretend(config, value=1.0, status="ok"):
    """Run every cell, each a row and a point; return their files."""

    def run(cell, rows, report):
        rows.add("m", value, method="test", status=status)
        rows.add_curve("c", [0.0], [value], method="test")

    folder = Path(config["results"], "quick", "cells", "quantile_svm")
    files = []
    for job in PAPER.jobs(config, "quick"):
        splits = range(job.first, job.last + 1)
        cells = PAPER.cells(config, "quick", job.experiment, job.dataset, splits)
        files += run_cells(cells, run, folder)
    return files


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Return the folder of a reference of three cells, and what made it."""
    folder = tmp_path_factory.mktemp("exported")
    config = of_three_cells(folder / "results")
    files = pretend(config)
    assert reference.export(PAPER, config, "quick", folder / "reference") == (3, 3)
    return folder / "reference", config, files


def taken(config, folder, **options):
    """Take over what fits; return the names of the cells that are there, and what was said."""
    said = reference.take(PAPER, config, "quick", folder, **options)
    cells = Path(config["results"], "quick", "cells", "quantile_svm")
    return {file.stem for file in cells.glob("*.json")}, said


def test_cells_come_back_as_they_were_and_their_job_is_finished(exported, tmp_path):
    folder, config, files = exported
    own = config | {"results": str(tmp_path)}
    assert taken(own, folder, write=False) == (
        set(),
        [f"3 cells of quantile_svm would be taken from {folder}."],
    )
    names, said = taken(own, folder)
    assert names == {file.stem for file in files}
    assert said == [f"3 cells of quantile_svm were taken from {folder}."]
    jobs = PAPER.jobs(own, "quick")
    listed = [file for job in jobs for file in read_list(job.file(own["results"]))]
    for ours, theirs in zip(listed, files, strict=True):
        assert all(a.equals(b) for a, b in zip(read_cell(ours), read_cell(theirs), strict=True))
        assert json.loads(ours.read_text())["code"] == json.loads(theirs.read_text())["code"]
    assert taken(own, folder)[1] == []
    before = (folder / "quantile_svm.parquet").read_bytes()
    reference.export(PAPER, own, "quick", folder)
    assert (folder / "quantile_svm.parquet").read_bytes() == before


def test_an_export_adds_to_what_is_there_and_drops_what_the_plan_has_no_longer(exported, tmp_path):
    folder, config, _ = exported
    own = copy.deepcopy(config) | {"results": str(tmp_path / "results")}
    kinks = own["papers"]["quantile_svm"]["suites"]["quick"]["kinks"]
    kinks["sizes"] = [60, 120]  # the cell of 90 is gone, that of 120 is new, neither is finished
    target = tmp_path / "reference"
    target.mkdir()
    for file in folder.iterdir():
        (target / file.name).write_bytes(file.read_bytes())
    assert reference.export(PAPER, own, "quick", target) == (2, 3)
    pretend(own, value=2.0)
    assert reference.export(PAPER, own, "quick", target) == (3, 3)
    assert set(pq.read_table(target / "quantile_svm.parquet")["value"].to_pylist()) == {2.0}


def test_a_cell_without_a_certificate_is_kept_until_one_with_it_is_computed(tmp_path):
    config = of_three_cells(tmp_path / "results")
    folder = tmp_path / "reference"
    for status, held, statuses in (
        ("failed", 0, set()),
        ("certificate failed", 3, {"certificate failed"}),
        ("ok", 3, {"ok"}),
        ("certificate undecided", 3, {"ok"}),  # which replaces none that has one
    ):
        config["results"] = str(tmp_path / status)
        pretend(config, status=status)
        assert reference.export(PAPER, config, "quick", folder) == (held, 3)
        kept = reference.read_reference(folder, "quantile_svm").values()
        assert set().union(*(cell.statuses for cell in kept)) == statuses
    names, _ = taken(config | {"results": str(tmp_path / "own")}, folder)
    assert len(names) == 3


def test_seconds_of_another_machine_are_not_taken(exported, tmp_path, monkeypatch):
    folder, config, _ = exported
    monkeypatch.setattr(reference, "machine", lambda: "another")
    names, said = taken(config | {"results": str(tmp_path)}, folder)
    assert sorted(name.split("-")[0] for name in names) == ["kinks", "kinks"]
    assert len(said) == 2
    assert said[1].startswith("1 timing cells of quantile_svm")
    names, said = taken(config | {"results": str(tmp_path / "shown")}, folder, anywhere=True)
    assert len(names) == 3  # pages show them, and say whose they are
    assert len(said) == 1


def test_recompute_takes_cells_of_this_code_only(exported, tmp_path, monkeypatch):
    folder, config, _ = exported
    own = config | {"results": str(tmp_path), "recompute": "changed"}
    monkeypatch.setattr(reference, "code_of", lambda file: {"library": "another"})
    assert taken(own, folder) == (set(), [])
    monkeypatch.undo()
    assert len(taken(own, folder)[0]) == 3


CHANGES = {
    ("settings", "intercept_scaling"): st.sampled_from([0.5, 2.0]),
    ("datasets", "gaussian_classes", "lam"): st.floats(1e-4, 1.0),
    ("datasets", "gaussian_classes", "scaling"): st.sampled_from(["symmetric", "standardise"]),
    ("datasets", "gaussian_classes", "title"): st.just("Another title"),
    ("suites", "quick", "kinks", "sizes"): st.lists(
        st.sampled_from([60, 70, 90, 120]), min_size=1, unique=True
    ),
    ("suites", "quick", "kinks", "splits"): st.integers(1, 3),
    ("suites", "quick", "timing", "repeats"): st.integers(1, 9),
    ("suites", "quick", "timing", "taus"): st.just([0.5]),
}


@given(
    change=st.sampled_from(sorted(CHANGES)).flatmap(
        lambda keys: st.tuples(st.just(keys), CHANGES[keys])
    ),
    data=st.sampled_from(["", "breast_cancer", "gaussian_classes"]),
)
def test_only_cells_of_the_same_settings_and_data_are_taken(
    exported, tmp_path_factory, change, data
):
    """What is taken is exactly what a comparison of the two plans' identities allows."""
    folder, config, _ = exported
    own = copy.deepcopy(config) | {"results": str(tmp_path_factory.mktemp("own"))}
    keys, value = change
    place = own["papers"]["quantile_svm"]
    for key in keys[:-1]:
        place = place.setdefault(key, {})
    place[keys[-1]] = value
    sound = papers.identity

    def changed(name):
        return sound(name) | ({"sha256": "another file's"} if name == data else {})

    def plan(of):
        return {i for _, cells in reference.planned(PAPER, of, "quick") for i in cells.values()}

    before = plan(config)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(papers, "identity", changed)
        same = before & plan(own)
        names, _ = taken(own, folder)
        cells = Path(own["results"], "quick", "cells", "quantile_svm")
        found = {json.loads((cells / f"{name}.json").read_text())["identity"] for name in names}
    assert found == same
    if data:
        assert len(found) < 3
    if keys[-1] == "title" and not data:
        assert len(found) == 3  # a title decides no number


def cut(file):
    file.write_bytes(file.read_bytes()[:-40])


def turn_a_bit(file):
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(bytes(content))


@pytest.mark.parametrize("damage", [cut, turn_a_bit, Path.unlink])
@pytest.mark.parametrize(
    "name", ["quantile_svm.parquet", "quantile_svm.curves.parquet", reference.SUMS]
)
def test_a_damaged_file_is_named_and_nothing_is_taken(exported, tmp_path, name, damage):
    folder, config, _ = exported
    own = tmp_path / "reference"
    own.mkdir()
    for file in folder.iterdir():
        (own / file.name).write_bytes(file.read_bytes())
    damage(own / name)
    with pytest.raises(reference.DamagedReference) as error:
        taken(config | {"results": str(tmp_path / "results")}, own)
    assert str(error.value).count("restore it with git") == 1
    assert not (tmp_path / "results").exists()


def test_a_checkout_computes_only_what_its_reference_lacks(checkout, tmp_path):
    only_kinks(checkout)
    config = of_three_cells(tmp_path / "results")
    del config["papers"]["quantile_svm"]["suites"]["quick"]["timing"]
    cells = tmp_path / "results" / "quick" / "cells" / "quantile_svm"
    PAPER.run(config, "quick", "kinks", "gaussian_classes", [0], cells)
    folder = checkout / "reference" / "quick"
    assert reference.export(PAPER, config, "quick", folder) == (2, 2)
    told = "2 cells of quantile_svm {} taken from reference/quick"
    planned = finished(snakemake(checkout, "-n", "quick"))
    assert told.format("would be") in planned
    assert "run_accuracy" not in planned  # counted as taken, though nothing was written
    assert "outputs" in planned
    said = finished(snakemake(checkout, "quick"))
    assert told.format("were") in said
    assert "accuracy" not in said
    for file in cells.glob("*.parquet"):
        taken = checkout / "results" / "quick" / "cells" / "quantile_svm" / file.name
        assert taken.read_bytes() == file.read_bytes()
    page = (checkout / "results" / "quick" / "report.html").read_text("utf-8")
    assert "commits that made the rows" in page
    turn_a_bit(folder / "quantile_svm.parquet")
    assert "Nothing to be done" in finished(snakemake(checkout, "quick"))
    (checkout / "results").rename(checkout / "before")
    one_error(snakemake(checkout, "quick"), "quantile_svm.parquet", "restore it with git")
    finished(snakemake(checkout, "-n", "quick", "--config", "reference="))


# ---------------------------------------------------------------- what is in git


LOCAL = ("robust_svm", "errors")  # of many local optima: which one is found, rounding may decide


# Folders of reference results by suite. That of the suite quick is for this test alone, as a
# checkout shows with it that everything works: python measurements/reference.py --suite quick --out
# tests/data
FOLDERS = {"paper": ROOT / "reference" / "paper", "quick": ROOT / "tests" / "data" / "quick"}


def small(config, suite):
    """List the cells of the reference whose data are at hand and which take seconds.

    Not those of which another processor may find other solutions: see `LOCAL`.
    """
    for name in config["papers"]:
        known = reference.read_reference(FOLDERS[suite], name)
        paper = get_paper(name)
        for job, cells in reference.planned(paper, config, suite):
            kind = (suite, name, job.experiment, job.dataset)
            minutes = need_of(ROOT / "config" / "needs.csv", kind).minutes
            sources = config["papers"][name]["datasets"][job.dataset].get("sources", [job.dataset])
            if (name, job.experiment) == LOCAL:
                continue
            if job.lane == "timing" or minutes > 11 or not all(map(available, sources)):
                continue
            splits = range(job.first, job.last + 1)
            made = paper.cells(config, suite, job.experiment, job.dataset, splits)
            for cell, identity in zip(made, cells.values(), strict=True):
                if identity in known:
                    yield paper, cell, known[identity]


def _lasting(table):
    """Return what a rerun repeats, the numbers among hyper-parameters to nine digits.

    What a walk counts of its own work is its own.
    """
    frame = table.to_pandas().drop(columns=SPARE)
    frame = frame[~frame["metric"].str.startswith("diagnostic_")].reset_index(drop=True)
    texts = frame["hyper_parameters"]
    frame["hyper_parameters"] = [
        str(json.loads(text, parse_float=lambda digits: f"{float(digits):.9g}")) for text in texts
    ]
    return frame


def test_the_reference_of_the_suite_quick_is_complete():
    config = repository_config()
    for name in config["papers"]:
        known = reference.read_reference(FOLDERS["quick"], name)
        plan = reference.planned(get_paper(name), config, "quick")
        lacking = [file.stem for _, cells in plan for file, i in cells.items() if i not in known]
        assert lacking == [], "python measurements/reference.py --suite quick --out tests/data"


@pytest.mark.parametrize("suite", FOLDERS)
def test_random_small_cells_of_the_reference_come_out_again(suite, tmp_path):
    found = list(small(repository_config(), suite))
    assert found, "the reference holds no small cell"
    for paper, cell, kept in random.Random(len(found)).sample(found, min(4, len(found))):
        run = paper.experiments[cell.experiment].run
        (file,) = run_cells([cell], run, tmp_path / paper.name, shared=paper.columns)
        ours, theirs = (_lasting(table) for table in (read_cell(file)[0], kept.rows))
        counts = ["value", "n_breakpoints"]
        assert ours.drop(columns=counts).equals(theirs.drop(columns=counts)), cell.id
        breakpoints = (table["n_breakpoints"] for table in (ours, theirs))
        np.testing.assert_allclose(*breakpoints, rtol=TIES, err_msg=cell.id)
        metric, tied = ours["metric"], ours["metric"].isin(["kinks", "events"])
        np.testing.assert_allclose(
            ours["value"][tied], theirs["value"][tied], rtol=TIES, err_msg=cell.id
        )
        on_grid = ours["hyper_parameters"].str.contains("'grid'")
        many = (ours["dataset"] == MANY[0]) & ((ours["method"] == MANY[1]) | on_grid)
        loose = ours["method"].isin(EARLY) | many
        lasting = ~(tied | metric.isin(TIMED) | loose).to_numpy()
        assert lasting.any(), cell.id
        np.testing.assert_allclose(
            ours["value"][lasting], theirs["value"][lasting], rtol=1e-6, atol=1e-8, err_msg=cell.id
        )
