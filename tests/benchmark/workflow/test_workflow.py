"""The workflow, tried as a user does: in a copy of the checkout, through the command line."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from types import SimpleNamespace

import nbformat
import pandas as pd
import pytest
import yaml
from nbclient import NotebookClient

from helpers import ROOT
from helpers.papers import repository_config
from helpers.workflow import (
    QUANTILE,
    clean_copy,
    edit,
    environment,
    finished,
    job_counts,
    one_error,
    only_kinks,
    planned,
    results_of,
    snakemake,
)
from path_benchmark.papers import check_config
from path_benchmark.runs.cells import read_list
from path_benchmark.settings import ConfigError

pytestmark = pytest.mark.slow

PAPERS = ("quantile_svm", "weighted_svm", "robust_svm", "distributionally_robust", "survey")


# ---------------------------------------------------------------- what is run

ALL = ("--config", "reference=")  # nothing is taken from the reference results


def test_without_a_target_the_whole_paper_suite_is_run(checkout):
    counts = job_counts(snakemake(checkout, "-n", *ALL))
    assert counts["all"] == 1
    # Diabetes, three inboxes, C. elegans; NASDAQ, housing, six sources of covariate shift; of the
    # robust SVM's own fourteen; of the distributionally robust models' own eight; none of the
    # survey's own.
    assert counts["fetch"] == 5 + 8 + 14 + 8
    # Quantile SVM: path 11, scaling 3, lam 3, boundary 1, kinks 2, known 2, probability 3,
    # explore 1, start sets 1; weighted SVM: validation 24, explore 2, regions; robust SVM: errors
    # 100 and, with inputs scaled again, 60, noise 45, bias 15, toys 2, optima, path, space,
    # explore; distributionally robust models: regression and its grids 10 each, classification 35,
    # ...; of the survey none.
    assert counts["run_accuracy"] == 27 + 27 + 226 + 121
    assert counts["run_timing"] == 9 + 45 + 18 + 43 + 4
    assert counts["outputs"] == len(PAPERS)
    assert counts["page"] == 1


def test_quick_fetches_nothing_and_asks_for_every_experiment_of_the_suite(checkout):
    counts = job_counts(snakemake(checkout, "-n", "quick"))
    assert "fetch" not in counts
    papers = repository_config()["papers"].values()
    wanted = sum(
        len(run["datasets"]) for paper in papers for run in paper["suites"]["quick"].values()
    )
    assert counts["run_accuracy"] + counts["run_timing"] == wanted


@pytest.mark.parametrize("target", ["paper", *PAPERS])
def test_a_paper_has_its_own_target(checkout, target):
    run = snakemake(checkout, "-n", target)
    counts = job_counts(run)
    assert counts["outputs"] == (len(PAPERS) if target == "paper" else 1)
    for paper in PAPERS:
        assert (f"results/paper/{paper}/claims.csv" in run.stdout) == (target in ("paper", paper))
    assert counts.get("page", 0) == (target == "paper")


def test_chosen_experiments_leave_out_the_papers_that_have_none(checkout):
    run = snakemake(checkout, "-n", "quick", "--config", "only=validation")
    assert job_counts(run)["run_accuracy"] == 1
    assert "results/quick/quantile_svm" not in run.stdout
    # the jobs are the suite's own, what is made of them stands beside what is made of all
    assert "results/quick/jobs/weighted_svm/" in run.stdout
    assert "results/quick-only-validation/weighted_svm/claims.csv" in run.stdout
    assert "results/quick-only-validation/report.html" in run.stdout
    assert "results/quick/weighted_svm" not in run.stdout
    assert "results/quick/report.html" not in run.stdout


@pytest.mark.parametrize(
    ("target", "config", "says"),
    [
        ("robust_svm", ["only=kinks"], "robust_svm runs none of the experiments kinks: name"),
        ("weighted_svm", ["only=regression", "offline=true"], "is at hand (housing): put their"),
    ],
)
def test_a_target_that_has_nothing_to_run_says_why(checkout, tmp_path, target, config, says):
    run = snakemake(checkout, "-n", target, *ALL, *config, mirror=tmp_path)
    assert run.returncode == 1
    (sentence,) = [line for line in run.stderr.splitlines() if line.startswith("error: ")]
    assert says in sentence
    assert "Traceback" not in run.stdout + run.stderr


def test_the_timing_target_runs_timing_jobs_only(checkout):
    assert set(job_counts(snakemake(checkout, "-n", "timing", *ALL))) == {
        "fetch",
        "run_timing",
        "timing",
        "total",
    }


def test_splits_are_cut_into_jobs(checkout):
    only_kinks(checkout, splits=7, splits_per_job=3)
    run = snakemake(checkout, "-n", "quick")
    assert job_counts(run)["run_accuracy"] == 3
    for chunk in ("0-2", "3-5", "6-6"):
        assert f"jobs/quantile_svm/accuracy/kinks/gaussian_classes/{chunk}-" in run.stdout


def test_offline_keeps_only_what_is_at_hand(checkout, tmp_path):
    run = snakemake(checkout, "-n", *ALL, "offline=true")
    assert "fetch" not in job_counts(run)
    assert "jobs/quantile_svm/accuracy/kinks/gaussian_classes" in run.stdout
    assert "jobs/quantile_svm/accuracy/path/diabetes" not in run.stdout

    (tmp_path / "mirror").mkdir()
    # all of one data set's files, and one of another's three
    for name in ("pima-indians-diabetes.data", "ecml06_task_a_u00_eval_lab.tf.xz"):
        (tmp_path / "mirror" / name).write_text("not looked into yet\n")
    run = snakemake(checkout, "-n", *ALL, "offline=true", mirror=tmp_path / "mirror")
    assert job_counts(run)["fetch"] == 1
    assert "jobs/quantile_svm/accuracy/path/diabetes" in run.stdout
    assert "jobs/quantile_svm/accuracy/path/spam" not in run.stdout


# ---------------------------------------------------------------- what is refused


def at(content, *keys):
    """Return what lies below the keys."""
    for key in keys:
        content = content[key]
    return content


DATA = ("papers", "quantile_svm", "datasets")
SHIFT = ("papers", "weighted_svm", "experiments", "shift")


@pytest.mark.parametrize(
    ("keys", "wrong", "meant"),
    [
        ((), "offlin", "offline"),
        (("papers", "quantile_svm"), "setings", "settings"),
        (("papers", "quantile_svm", "settings"), "intercept_scalin", "intercept_scaling"),
        (("papers", "quantile_svm", "datasets", "diabetes"), "lamm", "lam"),
        (("papers", "quantile_svm", "experiments", "timing"), "repeat", "repeats"),
        (("papers", "quantile_svm", "suites", "quick", "path"), "split", "splits"),
        (("papers", "quantile_svm", "suites", "quick", "kinks"), "size", "sizes"),
        (("papers", "weighted_svm", "settings"), "gama", "gamma"),
        (("papers", "weighted_svm", "datasets", "nasdaq"), "n_nw", "n_new"),
        (SHIFT, "limit", "limit_s"),
        ((*SHIFT, "solvers", 0), "tolerence", "tolerance"),
    ],
)
def test_an_unknown_key_is_refused_at_every_level_with_the_nearest(keys, wrong, meant):
    config = repository_config()
    check_config(config)
    at(config, *keys).update({wrong: 1})
    with pytest.raises(ConfigError) as error:
        check_config(config)
    assert f"{wrong} is an unknown name; did you mean '{meant}'" in str(error.value)


@pytest.mark.parametrize(
    ("keys", "value", "sentence"),
    [
        (
            ("papers", "quantile_svm", "suites", "quick", "path", "datasets"),
            ["diabetis"],
            "papers.quantile_svm.datasets.diabetis is an unknown name; did you mean 'diabetes'",
        ),
        (
            ("papers", "quantile_svm", "datasets", "breast_cancer", "sources"),
            ["brest_cancer"],
            "brest_cancer is an unknown name; did you mean 'breast_cancer', or describe it in",
        ),
        (
            ("papers", "quantile_svm", "datasets", "diabetes", "lam"),
            0,
            "papers.quantile_svm.datasets.diabetes.lam is 0: it should be greater than 0",
        ),
        (
            ("papers", "quantile_svm", "datasets", "diabetes", "scaling"),
            "minmax",
            "diabetes.scaling is 'minmax': known scalings are none, symmetric",
        ),
        (
            ("papers", "quantile_svm", "suites", "quick", "pth"),
            {"datasets": ["two_moons"], "splits": 1},
            "suites.quick.pth is an unknown name; did you mean 'path'",
        ),
        (
            ("papers", "quantile_svm", "suites", "quik"),
            {},
            "suites.quik is an unknown name; did you mean 'quick'",
        ),
        (("only",), "kink", "only.kink is an unknown name; did you mean 'kinks'"),
        (
            ("papers", "robust"),
            {"title": "Robust"},
            "papers.robust has no code: expected path_benchmark/papers/robust/experiments.py",
        ),
        (("offline",), "perhaps", "offline is 'perhaps': it should be a valid boolean"),
        ((*DATA, "two_moons", "sizes"), [0.6, 0.6, 0.2], "fractions that add up to at most 1"),
        ((*DATA, "two_moons", "sizes"), [10, 5.5, 3], "whole numbers of rows"),
        ((*DATA, "two_moons", "sizes"), None, "two_moons: it needs sizes"),
        ((*DATA, "breast_cancer", "sizes"), [500, 60, 60], "620 rows in all, and it has 569"),
        ((*DATA, "diabetes", "sizes"), [0.6, 0.2, 0.2], "they should be rows"),
        ((*DATA, "splice", "sizes"), [10, 20, 10], "equally many rows"),
        ((*DATA, "spam", "sizes"), [10, 20, 10], "its parts are its three inboxes"),
        (("papers", "robust_svm", "datasets", "wdbc", "rows"), 570, "570, and it has 569"),
        (
            ("papers", "weighted_svm", "datasets", "breast_cancer", "n_train"),
            450,
            "its sizes ask for 570 rows, and it has 569",
        ),
    ],
)
def test_a_wrong_value_is_refused_in_one_sentence(keys, value, sentence):
    config = repository_config()
    at(config, *keys[:-1]).update({keys[-1]: value})
    with pytest.raises(ConfigError) as error:
        check_config(config)
    assert sentence in str(error.value)


def test_a_mistake_in_a_file_stops_the_workflow_in_one_sentence(checkout):
    edit(checkout, QUANTILE, lambda c: c["experiments"]["timing"].update(repeat=1))
    run = snakemake(checkout, "-n", "quick")
    assert run.returncode != 0
    message = run.stdout + run.stderr
    assert (
        "papers.quantile_svm.experiments.timing.repeat is an unknown name; did you mean" in message
    )
    assert "Traceback" not in message


def test_an_unknown_key_on_the_command_line_is_refused(checkout):
    run = snakemake(checkout, "-n", "quick", "--config", "offlin=true")
    assert run.returncode != 0
    assert "offlin is an unknown name; did you mean 'offline'" in run.stdout + run.stderr


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        ("config.yaml", "offline: false\noffline: true\n", "line 2, column 1: the key 'offline'"),
        ("papers/quantile_svm.yaml", "title: a\n\tcitation: b\n", "line 2, column 1: a tab"),
        ("datasets.yaml", "datasets: {a: {}, a: {}}\n", "line 1, column 19: the key 'a'"),
        ("papers/quantile_svm.yaml", None, "can't be read (No such file or directory)"),
    ],
    ids=["a key twice", "a tab", "a data set twice", "a dangling link"],
)
def test_a_file_that_cannot_be_read_is_named_with_the_line(checkout, file, content, says):
    path = checkout / "config" / file
    path.unlink()
    path.symlink_to("nowhere") if content is None else path.write_text(content)
    assert one_error(snakemake(checkout, "-n", "quick"), file, says)


def test_what_cannot_be_is_refused_before_anything_runs(checkout):
    """A target, a folder, a parameter of a data set."""
    one_error(snakemake(checkout, "quik"), "quik is an unknown name; did you mean 'quick'.")
    (checkout / "file").touch()
    place = ("--config", "results=file")
    one_error(snakemake(checkout, "quick", *place), "file is a file and should be a folder")
    path = checkout / "config" / "datasets.yaml"
    path.write_text(path.read_text().replace("distance: 2.0", "distanse: 2.0"))
    one_error(snakemake(checkout, "-n", "quick"), "gaussian_classes", "did you mean 'distance'")


def test_a_pipe_that_closes_ends_the_run(checkout):
    command = f"{sys.executable} -m snakemake --cores 1 -n 2>&1; echo $? > status"
    run = f"({command}) | head -1"
    subprocess.run(run, shell=True, cwd=checkout, env=environment(checkout), check=True)
    assert (checkout / "status").read_text() == f"{128 + signal.SIGPIPE}\n"


def test_a_checkout_whose_path_has_a_space_works_with_its_own_environment(tmp_path):
    folder = clean_copy(tmp_path / "a b" / "checkout")
    only_kinks(folder)
    target = planned(folder, "accuracy/kinks/gaussian_classes/0-0")
    (folder / ".venv").symlink_to(sys.prefix)
    command = [".venv/bin/python", "-m", "snakemake", "--cores", "1", target]
    env = environment(folder)
    finished(subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True))
    assert len(read_list(folder / target)) == 2


# ---------------------------------------------------------------- a killed run


def test_a_mirror_that_is_not_there_is_one_sentence(checkout, tmp_path):
    run = snakemake(checkout, "-n", "quantile_svm", *ALL, "offline=true", mirror=tmp_path / "no")
    assert run.returncode != 0
    message = run.stdout + run.stderr
    assert f"The mirror folder {tmp_path / 'no'} does not exist: correct or unset" in message
    assert "Traceback" not in message


def test_a_file_that_cannot_be_had_is_one_sentence(checkout, tmp_path):
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / "pima-indians-diabetes.data").write_text("<!DOCTYPE html>\n")
    run = snakemake(checkout, "data/fetched/diabetes.txt", mirror=tmp_path / "mirror")
    assert run.returncode != 0
    errors = [line for line in run.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert errors[0].startswith("error: Data set diabetes: ")
    assert "HTML page" in errors[0]
    assert "Traceback" not in run.stderr
    assert not (checkout / "data" / "fetched" / "diabetes.txt").exists()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_ended_keeps_its_cells_and_resumes(checkout, tmp_path, how):
    """Kill all of it, or press Ctrl-C; the same command computes only what was not finished.

    The run is held after its second cell, so that it ends neither before it is killed nor earlier.
    OpenBLAS may start a thread, which may be given the interrupt.
    """
    sizes = [60, 70, 80, 90]
    only_kinks(checkout, sizes=sizes)
    source = checkout / "src" / "path_benchmark" / "runs" / "cells.py"
    whole, last = source.read_text("utf-8"), "        report(1.0)\n    return files\n"
    assert whole.endswith(last)
    held = last.replace(
        "    return", "        __import__('time').sleep(600.0 * (k == 1))\n    return"
    )
    source.write_text(whole.removesuffix(last) + held, "utf-8")
    target = planned(checkout, "accuracy/kinks/gaussian_classes/0-0")
    cells = checkout / "results" / "quick" / "cells" / "quantile_svm"
    said = tmp_path / "said.txt"
    with said.open("w") as stream:
        running = subprocess.Popen(
            [sys.executable, "-m", "snakemake", "--cores", "2", target],
            cwd=checkout,
            env=environment(checkout) | {"OPENBLAS_NUM_THREADS": "2"},
            stdout=stream,
            stderr=stream,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + 120
        while len(list(cells.glob("*.json"))) < 2:
            assert running.poll() is None, "the run ended before it wrote two cells"
            assert time.monotonic() < deadline, "no two cells appeared within two minutes"
            time.sleep(0.02)
        os.killpg(running.pid, how)
        assert running.wait(timeout=30) == (-how if how == signal.SIGKILL else 128 + how)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
    if how == signal.SIGINT:
        assert "Traceback" not in said.read_text()
        assert said.read_text().splitlines()[-1].startswith("stopped: finished cells are kept")
    before = {path: path.stat().st_mtime_ns for path in cells.glob("*.json")}
    assert len(before) == 2
    assert not (checkout / target).exists()

    source.write_text(whole, "utf-8")
    finished(snakemake(checkout, target))
    listed = [checkout / file for file in read_list(checkout / target)]
    assert len(listed) == len(sizes)
    assert all(path.is_file() for path in listed)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert set(before) < set(cells.glob("*.json"))


def test_a_finished_suite_is_up_to_date_and_damaged_cells_heal(checkout):
    only_kinks(checkout, whole_notebook=True)
    finished(snakemake(checkout, "quick"))
    whole = results_of(checkout)
    assert (whole["status"] == "ok").all()
    assert "Nothing to be done" in finished(snakemake(checkout, "quick"))

    rows = sorted((checkout / "results" / "quick" / "cells" / "quantile_svm").glob("*.parquet"))
    rows = [path for path in rows if not path.name.endswith(".curves.parquet")]
    shutil.copyfile(rows[0], rows[1])  # another cell's content under its name
    rows[0].write_bytes(rows[0].read_bytes()[:100])  # truncated
    said = finished(snakemake(checkout, "quick"))
    for file in rows[:2]:
        assert f"{file.name} is not what was written under that name: it is computed again" in said
    pd.testing.assert_frame_equal(results_of(checkout), whole)
    assert "Nothing to be done" in finished(snakemake(checkout, "quick"))

    # the notebook runs again where it lies
    lies = checkout / "results" / "quick" / "quantile_svm"
    notebook = nbformat.read(lies / "notebook.ipynb", as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": lies}}).execute()
    printed = "".join(str(cell.get("outputs", "")) for cell in notebook.cells)
    assert "Two Gaussian classes" in printed
    report = (checkout / "results" / "quick" / "report.html").read_text("utf-8")
    assert "sizes</td>" in report
    assert "60, 90" in report

    # the run told how far it was, and Snakemake's own report has the page and headings
    assert re.search(r"\[\d of \d jobs, \d:\d\d gone.*\] page", said)
    assert "table: results/quick/quantile_svm/tables/table_certificates.html" in said
    assert "Select jobs to execute" not in said
    finished(snakemake(checkout, "quick", "--report", "own.html"))
    own = (checkout / "own.html").read_text("utf-8")
    assert "Certificate of every path" in own
    assert "everything on one page" in own


BROKEN = """
import path_benchmark.data.generated as generated
made = generated.BUILDERS["gaussian_classes"]


def fails(n, d, distance, positive_share, seed):
    raise ValueError("broken on purpose")


generated.BUILDERS["gaussian_classes"] = fails
"""


def test_cells_that_fail_are_named_last_and_tried_again(checkout):
    only_kinks(checkout)
    experiments = checkout / "src" / "path_benchmark" / "papers" / "quantile_svm" / "experiments.py"
    sound = experiments.read_text()
    experiments.write_text(sound + BROKEN)
    run = snakemake(checkout, "quick")
    assert run.returncode != 0
    *_, first, second, third = run.stderr.splitlines()
    assert first.startswith("error: 2 cells failed")
    for line in (second, third):
        assert re.match(r"kinks-gaussian_classes-000-.*: ValueError: broken on purpose", line)
    assert (results_of(checkout)["status"] == "failed").all()
    said = finished(snakemake(checkout, "quick", "--keep-going"))
    assert "2 cells failed" in said
    experiments.write_text(sound)
    assert job_counts(snakemake(checkout, "-n", "quick"))["run_accuracy"] == 1
    finished(snakemake(checkout, "quick"))
    assert (results_of(checkout)["status"] == "ok").all()
    assert "Nothing to be done" in finished(snakemake(checkout, "quick"))


def test_cells_of_other_code_are_told_and_shown(finished_checkout):
    checkout = finished_checkout
    source = checkout / "src" / "solution_paths" / "errors.py"
    source.write_text(source.read_text() + "\n# Another version.\n")
    told = "2 of 2 cells were made by other code (library)"
    said = finished(snakemake(checkout, "quick"))
    assert said.count(told) == 1
    report = checkout / "results" / "quick" / "report.html"
    assert told in report.read_text("utf-8")
    again = finished(snakemake(checkout, "quick"))
    assert "Nothing to be done" in again
    assert again.count(told) == 1
    recompute = ("quick", "--config", "recompute=changed")
    assert told not in finished(snakemake(checkout, *recompute))
    assert told not in report.read_text("utf-8")
    assert "Nothing to be done" in finished(snakemake(checkout, *recompute))


def files_below(folder):
    """Return every file below a folder with its content."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_a_number_depends_on_is_redone_and_nothing_else(finished_checkout):
    """Whatever Snakemake remembers: its own folder is deleted before each question."""
    checkout = finished_checkout
    results = checkout / "results"

    def asked(*arguments):
        shutil.rmtree(checkout / ".snakemake", ignore_errors=True)
        before = files_below(results)
        said = finished(snakemake(checkout, "-n", "quick", *arguments))
        assert files_below(results) == before  # a question changes nothing
        return (
            {}
            if "Nothing to be done" in said
            else job_counts(SimpleNamespace(returncode=0, stdout=said, stderr=""))
        )

    def entry(**changes):
        edit(checkout, "datasets.yaml", lambda c: c["datasets"]["gaussian_classes"].update(changes))

    assert asked() == {}
    entry(title="Another title", licence="another", notes="Nothing of this decides a number.")
    edit(checkout, "datasets.yaml", lambda c: c["datasets"]["iris"].update(title="Another"))
    edit(checkout, "datasets.yaml", lambda c: c["datasets"]["two_moons"]["parameters"].update(n=9))
    assert asked() == {}

    parameters = {"n": 1000, "d": 10, "positive_share": 0.5, "seed": 0}
    entry(parameters=parameters | {"distance": 0.5})
    assert {"run_accuracy", "results", "outputs", "page"} <= set(asked())
    old = results_of(checkout)
    finished(snakemake(checkout, "quick"))
    new = results_of(checkout)
    assert not new["value"].equals(old["value"])
    entry(parameters=parameters | {"distance": 2.0})  # back: the cells are there, tables follow
    assert "results" in asked()
    finished(snakemake(checkout, "quick"))
    pd.testing.assert_frame_equal(results_of(checkout), old)
    assert asked() == {}

    published = checkout / "src" / "path_benchmark" / "papers" / "quantile_svm" / "published"
    table = sorted(published.glob("*.csv"))[0]
    table.write_bytes(table.read_bytes() + b"\n")
    plan = asked()
    assert "run_accuracy" not in plan
    assert plan["outputs"] == 1
    # the same where one file alone is asked for
    claims = "results/quick/quantile_svm/claims.csv"
    assert job_counts(snakemake(checkout, "-n", claims))["outputs"] == 1
    shutil.rmtree(checkout / ".snakemake")
    made = (checkout / claims).stat().st_mtime_ns
    finished(snakemake(checkout, claims))
    assert (checkout / claims).stat().st_mtime_ns > made
    assert "Nothing to be done" in finished(snakemake(checkout, "-n", claims))


def test_scripts_are_followed_by_content_and_not_by_time(finished_checkout):
    checkout = finished_checkout
    scripts = sorted((checkout / "workflow" / "scripts").glob("*.py"))
    for file in scripts:
        file.touch()
    assert "Nothing to be done" in finished(snakemake(checkout, "-n", "quick"))
    expected = {  # cells outlive what runs them
        "run_chunk": set(),
        "fetch": set(),
        "collect": {"results", "outputs", "notebook", "page"},
        "report_paper": {"outputs", "notebook", "page"},
        "report_suite": {"page"},
    }
    for name, rules in expected.items():
        file = next(file for file in scripts if file.stem == name)
        text = file.read_text()
        file.write_text(text + "\n# changed\n")
        run = snakemake(checkout, "-n", "quick")
        said = finished(run)
        found = set() if "Nothing to be done" in said else set(job_counts(run))
        assert found - {"quick", "total"} == rules, name
        file.write_text(text)


# ---------------------------------------------------------------- a new paper

EXPERIMENTS = '''"""A paper made for a test."""

from solution_paths import svm_path
from path_benchmark.runs.judging import add_certificate
from path_benchmark.runs.paper import Paper
from path_benchmark.data import load_seeded
from path_benchmark.settings import Count, Settings

PAPER = Paper("tiny")


class Sizes(Settings):
    """How many samples."""

    n: Count


@PAPER.experiment(settings=Sizes)
def costs(cell, rows, report):
    """Every cost C."""
    data = load_seeded(cell.dataset, cell.seed(), n=cell.settings.n, offline=cell.offline)
    path = svm_path(data.X, data.y)
    rows.add("breakpoints", len(path.breakpoints), **add_certificate(rows, path))
'''
CONFIGURATION = """title: A tiny paper
citation: Nobody, "Nothing".
datasets: {two_moons: {}}
experiments: {costs: {n: 30}}
suites: {quick: {costs: {datasets: [two_moons], splits: 3}}}
"""


def test_a_new_paper_is_one_folder_and_one_file(checkout):
    before = {path.relative_to(checkout): path.stat().st_mtime_ns for path in checkout.rglob("*.*")}
    folder = checkout / "src" / "path_benchmark" / "papers" / "tiny"
    folder.mkdir()
    (folder / "experiments.py").write_text(EXPERIMENTS)
    (checkout / "config" / "papers" / "tiny.yaml").write_text(CONFIGURATION)
    target = "results/quick/tiny/claims.csv"
    finished(snakemake(checkout, target))
    tables = checkout / "results" / "quick" / "tiny" / "tables"
    certificates = pd.read_csv(tables / "table_certificates.csv")
    assert len(certificates) == 3
    assert certificates["holds"].all()
    metrics = pd.read_csv(tables / "table_metrics.csv").set_index("metric")
    assert metrics.loc["breakpoints", "values"] == 3
    assert metrics.loc["breakpoints", "mean"] > 5
    assert job_counts(snakemake(checkout, "-n", "quick"))["outputs"] == len(PAPERS)  # of the others
    changed = {
        path
        for path, stamp in before.items()
        if path.suffix in (".py", ".smk", ".yaml") and (checkout / path).stat().st_mtime_ns != stamp
    }
    assert changed == set()


# ---------------------------------------------------------------- house rules


def test_scripts_hold_no_logic_worth_the_name():
    lengths = {
        path.name: len(path.read_text().splitlines())
        for path in (ROOT / "workflow" / "scripts").glob("*.py")
    }
    assert lengths
    assert {name: length for name, length in lengths.items() if length > 30} == {}


@pytest.mark.parametrize("name", ["default", "slurm"])
def test_profiles_hold_only_options_that_snakemake_has(name):
    text = (ROOT / "workflow" / "profiles" / name / "config.yaml").read_text()
    keys = set(yaml.safe_load(text))
    usage = subprocess.run(
        [sys.executable, "-m", "snakemake", "--help"], capture_output=True, text=True
    ).stdout
    assert {key for key in keys if f"--{key}" not in usage} == set()
    lines = text.splitlines()
    bare = [
        key
        for key in keys
        if not lines[next(i for i, x in enumerate(lines) if x.startswith(key)) - 1].startswith("#")
    ]
    assert bare == []


def test_the_default_profile_is_accepted(checkout):
    run = snakemake(checkout, "-n", "quick", "--workflow-profile", "workflow/profiles/default")
    assert job_counts(run)["page"] == 1


def test_no_rule_profile_or_shared_module_names_a_paper():
    papers = set(repository_config()["papers"])
    shared = [ROOT / "Snakefile", *(ROOT / "workflow").glob("[!s]*/**/*.*")]
    shared += [ROOT / "workflow" / "Snakefile", *(ROOT / "workflow" / "scripts").glob("*.py")]
    package = ROOT / "src" / "path_benchmark"
    for name in ("runs", "reporting", "data"):
        shared += (package / name).rglob("*.py")
    naming = {
        str(path.relative_to(ROOT))
        for path in shared
        if path.suffix in ("", ".smk", ".py", ".yaml", ".rst", ".html")
        and any(paper in path.read_text("utf-8") for paper in papers)
    }
    assert naming == set(), naming
