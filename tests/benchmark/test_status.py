"""How far a suite is, from its results; the benchmark's command line."""

import json
from pathlib import Path

import pytest

from helpers import ROOT
from path_benchmark import status
from path_benchmark.__main__ import main
from path_benchmark.papers import get_paper
from path_benchmark.runs.cells import run_cells
from path_benchmark.runs.reference import export
from path_benchmark.status import configuration, counts, report
from solution_paths.files import hold

PAPER = "quantile_svm"


@pytest.fixture
def config(tmp_path):
    return configuration(ROOT) | {"results": str(tmp_path)}


def jobs_of(config, **fields):
    found = get_paper(PAPER).jobs(config, "quick")
    return [job for job in found if all(getattr(job, k) == v for k, v in fields.items())]


def write(job, config, failures=()):
    """Write what a cell's file says of all cells of a job."""
    for file in job.cell_files(config["results"]):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"failures": list(failures), "code": {}}))


def test_cells_are_counted_as_their_files_say(config):
    done, failed, damaged, *rest = jobs_of(config, lane="accuracy")
    write(done, config)
    write(failed, config, ["ValueError: no\nsuch thing"])
    write(damaged, config)
    damaged.cell_files(config["results"])[0].write_text("{")
    own = counts(config, "quick")[0][PAPER, "accuracy"]
    kept = len(damaged.cells) - 1
    assert (own.finished, own.failed) == (len(done.cells) + kept, len(failed.cells))
    assert own.left == 1 + sum(len(job.cells) for job in rest)
    assert own.reasons == [f"{name}: ValueError: no such thing" for name in failed.cells]


@pytest.mark.slow
def test_a_job_runs_while_a_process_holds_its_lock(config):
    job, *_ = jobs_of(config, lane="timing")
    lock = Path(job.file(config["results"])).with_suffix(".lock")
    held = hold(lock)
    named = f"{job.experiment} {job.dataset} {job.first}-{job.last}"
    assert counts(config, "quick")[0][PAPER, "timing"].running == [named]
    assert f"running: {PAPER} {named}" in list(report(config, "quick"))
    held.release()
    assert counts(config, "quick")[0][PAPER, "timing"].running == []


@pytest.mark.slow
def test_what_the_reference_holds_is_not_left_and_has_its_own_count(config, tmp_path):
    held, *rest = jobs_of(config, lane="accuracy")
    own = config | {"results": str(tmp_path / "made"), "reference": ""}
    config["reference"] = str(tmp_path / "reference")
    job_of = (held.experiment, held.dataset, range(held.first, held.last + 1))
    cells = get_paper(PAPER).cells(own, "quick", *job_of)
    folder = tmp_path / "made" / "quick" / "cells" / PAPER
    run_cells(cells, lambda cell, rows, report: rows.add("m", 1.0, method="test"), folder)
    plan = sum(len(job.cells) for job in (held, *rest))
    assert export(get_paper(PAPER), own, "quick", tmp_path / "reference" / "quick")[0] == len(cells)
    count = counts(config, "quick")[0][PAPER, "accuracy"]
    assert (count.finished, count.offered, count.left) == (0, len(cells), plan - len(cells))
    assert f"The next run takes {len(cells)} cells from {config['reference']}." in list(
        report(config, "quick")
    )


@pytest.mark.slow
def test_the_time_left_is_what_the_like_of_each_cell_took(config, monkeypatch):
    first, second, third, *rest = jobs_of(config, lane="accuracy")
    kinds = [("quick", PAPER, job.experiment, job.dataset) for job in (first, second, third)]
    assert len({kind[2] for kind in kinds[:2]}) == 1  # of the same experiment
    monkeypatch.setattr(status, "measured", lambda file: {kinds[0]: (100.0, 6.0)})
    before = counts(config, "quick")[0][PAPER, "accuracy"]
    write(first, config)
    after = counts(config, "quick")[0][PAPER, "accuracy"]
    assert before.minutes - after.minutes == pytest.approx(6.0)
    write(second, config)  # its like took so long
    last = counts(config, "quick")[0][PAPER, "accuracy"]
    assert after.minutes - last.minutes == pytest.approx(6.0)
    others = [job for job in (third, *rest) if job.experiment != first.experiment]
    assert before.unmeasured == sum(len(job.cells) for job in others)


@pytest.mark.slow
def test_cells_of_other_code_are_told_by_experiment_and_refused_where_that_is_asked(
    config, tmp_path, monkeypatch, capsys
):
    job = jobs_of(config, lane="accuracy")[0]
    write(job, config)  # by no code
    told = f"{PAPER} {job.experiment} {len(job.cells)}; --config recompute=changed computes them"
    assert told in list(report(config, "quick"))[-1]
    with pytest.raises(status.OtherCode, match="cells were made by other code"):
        list(report(config, "quick", same_code=True))
    monkeypatch.chdir(ROOT)
    command = ["status", "quick", "--results", str(tmp_path)]
    assert main(command) == 0
    capsys.readouterr()
    assert main([*command, "--same-code"]) == 1
    assert told in capsys.readouterr().err
    assert main(["status", "quick", "--results", str(tmp_path / "none"), "--same-code"]) == 0


def test_looking_changes_nothing(config, tmp_path):
    list(report(config, "quick"))
    assert list(tmp_path.iterdir()) == []


def test_the_last_line_of_numbers_is_their_sum(config):
    write(jobs_of(config)[0], config)
    lines = [line.split() for line in report(config, "quick")]
    numbers = [[int(n) for n in line[-6:-1]] for line in lines if line[-1].isdigit()]
    assert numbers[-1] == [sum(column) for column in zip(*numbers[:-1], strict=True)]
    assert numbers[-1][0] == len(jobs_of(config)[0].cells)


def test_the_command_tells_a_suite_and_refuses_another(config, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert main(["status", "quick", "--results", str(tmp_path), "--only", "kinks"]) == 0
    said = capsys.readouterr().out
    assert PAPER in said
    assert "robust_svm" not in said
    assert main(["status", "quik"]) == 1
    assert "did you mean 'quick'" in capsys.readouterr().err
    monkeypatch.chdir(tmp_path)
    assert main(["status"]) == 1
    assert "config.yaml can't be read" in capsys.readouterr().err


def test_help_names_the_commands(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    assert end.value.code == 0
    said = capsys.readouterr().out
    assert "status" in said
    assert "snakemake --cores 2 quick" in said
