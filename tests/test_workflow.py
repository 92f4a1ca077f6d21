"""The workflow, tried as a user does: in a copy of the checkout, through the command line."""

import copy
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

ROOT = Path(__file__).resolve().parents[1]
NOT_IN_GIT = (".git", ".venv", ".snakemake", "data", "results", "logs", "build")


@pytest.fixture
def checkout(tmp_path):
    """Return a clean copy of the checkout, without anything fetched or computed.

    Compiled code comes along: numba's caches are as good there as here.
    """

    def ignored(folder, names):
        return [name for name in names if Path(folder) == ROOT and name.startswith(NOT_IN_GIT)]

    return Path(shutil.copytree(ROOT, tmp_path / "checkout", ignore=ignored))


def snakemake(folder, *arguments, mirror=None):
    """Run snakemake there with the folder's own sources; return the finished process."""
    command = [sys.executable, "-m", "snakemake", "--cores", "2", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment(folder, mirror), capture_output=True, text=True
    )


def environment(folder, mirror=None):
    """Return the process's environment, with the folder's sources and the given mirror."""
    env = {k: v for k, v in os.environ.items() if k != "SOLUTION_PATHS_MIRROR"}
    env["PYTHONPATH"] = str(folder / "src")
    return env | ({"SOLUTION_PATHS_MIRROR": str(mirror)} if mirror else {})


def job_counts(run):
    """Return what a dry run lists: rule -> number of jobs."""
    assert run.returncode == 0, run.stdout + run.stderr
    assert "Job stats:" in run.stdout, "the dry run lists no jobs at all"
    table = run.stdout.split("Job stats:")[1].split("\n\n")[0]
    rows = [line.split() for line in table.splitlines()]
    return {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit()}


def edit(folder, name, change):
    """Change one of the configuration files."""
    path = folder / "config" / name
    content = yaml.safe_load(path.read_text())
    change(content)
    path.write_text(yaml.safe_dump(content))


# ---------------------------------------------------------------- what is run


def test_without_a_target_the_whole_paper_suite_is_run(checkout):
    counts = job_counts(snakemake(checkout, "-n"))
    assert counts["paper"] == 1
    # Diabetes, three inboxes, C. elegans; NASDAQ, housing, six sources of covariate shift.
    assert counts["fetch"] == 5 + 8
    assert counts["quantile_svm_timing"] == 3
    assert counts["weighted_svm_accuracy"] == 24
    assert counts["weighted_svm_timing"] == 3 + 24 + 3
    assert counts["suite_report"] == 1


def test_quick_fetches_nothing_and_asks_for_every_experiment_of_the_suite(checkout):
    suite = yaml.safe_load((checkout / "config" / "config.yaml").read_text())["suites"]["quick"]
    counts = job_counts(snakemake(checkout, "-n", "quick"))
    assert "fetch" not in counts
    for paper, experiments in suite.items():
        wanted = sum(len(what["datasets"]) for what in experiments.values())
        assert counts[f"{paper}_accuracy"] + counts[f"{paper}_timing"] == wanted


@pytest.mark.parametrize("target", ["paper", "quantile_svm", "weighted_svm"])
def test_a_paper_has_its_own_target(checkout, target):
    counts = job_counts(snakemake(checkout, "-n", target))
    for paper in ("quantile_svm", "weighted_svm"):
        assert counts.get(f"{paper}_report", 0) == (target in ("paper", paper))
    assert counts.get("suite_report", 0) == (target == "paper")


def test_chosen_experiments_leave_out_the_papers_that_have_none(checkout):
    counts = job_counts(snakemake(checkout, "-n", "quick", "--config", "only=validation"))
    assert counts["weighted_svm_accuracy"] == 1
    assert "quantile_svm_results" not in counts


def test_the_timing_target_runs_timing_jobs_only(checkout):
    assert set(job_counts(snakemake(checkout, "-n", "timing"))) == {
        "compile",
        "fetch",
        "quantile_svm_timing",
        "timing",
        "weighted_svm_timing",
        "total",
    }


def test_splits_are_cut_into_jobs(checkout):
    def change(content):
        content["suites"]["quick"]["quantile_svm"] = {
            "kinks": {"datasets": ["gaussian_classes"], "splits": 7, "splits_per_job": 3}
        }

    edit(checkout, "config.yaml", change)
    run = snakemake(checkout, "-n", "quick")
    assert job_counts(run)["quantile_svm_accuracy"] == 3
    for chunk in ("0-2", "3-5", "6-6"):
        assert f"jobs/quantile_svm/kinks/gaussian_classes/{chunk}.txt" in run.stdout


def test_offline_keeps_only_what_is_at_hand(checkout, tmp_path):
    run = snakemake(checkout, "-n", "--config", "offline=true")
    assert "fetch" not in job_counts(run)
    assert "jobs/quantile_svm/kinks/gaussian_classes" in run.stdout
    assert "jobs/quantile_svm/path/diabetes" not in run.stdout

    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / "pima-indians-diabetes.data").write_text("not looked into yet\n")
    run = snakemake(checkout, "-n", "--config", "offline=true", mirror=tmp_path / "mirror")
    assert job_counts(run)["fetch"] == 1
    assert "jobs/quantile_svm/path/diabetes" in run.stdout
    assert "jobs/quantile_svm/path/spam" not in run.stdout


# ---------------------------------------------------------------- what is refused


def unshared(content):
    """Return a copy without shared parts."""
    return json.loads(json.dumps(content))


def joined(parts):
    """Return the configuration that several files make."""
    return {key: value for part in parts.values() for key, value in part.items()}


def at(content, *keys):
    """Return what lies below the keys."""
    for key in keys:
        content = content[key]
    return content


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("config.yaml", ()),
        ("config.yaml", ("suites", "quick")),
        ("config.yaml", ("suites", "quick", "quantile_svm")),
        ("config.yaml", ("suites", "quick", "quantile_svm", "path")),
        ("quantile_svm.yaml", ("quantile_svm",)),
        ("quantile_svm.yaml", ("quantile_svm", "datasets", "diabetes")),
        ("quantile_svm.yaml", ("quantile_svm", "experiments")),
        ("quantile_svm.yaml", ("quantile_svm", "experiments", "timing")),
        ("config.yaml", ("suites", "quick", "weighted_svm", "shift")),
        ("weighted_svm.yaml", ("weighted_svm",)),
        ("weighted_svm.yaml", ("weighted_svm", "datasets", "nasdaq")),
        ("weighted_svm.yaml", ("weighted_svm", "experiments", "online")),
        ("weighted_svm.yaml", ("weighted_svm", "experiments", "online", "solvers", 0)),
    ],
)
def test_an_unknown_key_is_refused_at_every_level(name, keys):
    schema = yaml.safe_load((ROOT / "workflow" / "schemas" / "config.schema.yaml").read_text())
    files = ("config.yaml", "quantile_svm.yaml", "weighted_svm.yaml")
    # A deep copy: YAML's aliases are shared otherwise, and the change would show in many places.
    parts = {file: unshared(yaml.safe_load((ROOT / "config" / file).read_text())) for file in files}
    validator = Draft202012Validator(schema)
    assert list(validator.iter_errors(joined(parts))) == []
    at(parts[name], *keys).update(misspelt=1)
    errors = list(validator.iter_errors(joined(parts)))
    assert [tuple(error.absolute_path) for error in errors] == [keys]
    assert "'misspelt' was unexpected" in errors[0].message


def test_an_unknown_key_in_a_file_stops_the_workflow(checkout):
    edit(checkout, "quantile_svm.yaml", lambda c: c["quantile_svm"].update(misspelt=1))
    run = snakemake(checkout, "-n", "quick")
    assert run.returncode != 0
    message = run.stdout + run.stderr
    assert "config: quantile_svm: Additional properties are not allowed ('misspelt'" in message


def test_an_unknown_key_on_the_command_line_is_refused(checkout):
    run = snakemake(checkout, "-n", "quick", "--config", "offlin=true")
    assert run.returncode != 0
    assert "'offlin' was unexpected" in run.stdout + run.stderr


@pytest.mark.parametrize(
    ("name", "keys", "value", "sentence"),
    [
        (
            "config.yaml",
            ("suites", "quick", "quantile_svm", "path", "datasets"),
            ["diabetis"],
            "names the data set 'diabetis', which has no settings; add them to",
        ),
        (
            "quantile_svm.yaml",
            ("quantile_svm", "datasets", "breast_cancer", "sources"),
            ["brest_cancer"],
            "needs the data set 'brest_cancer', which is unknown; add it to config/datasets.yaml",
        ),
        (
            "quantile_svm.yaml",
            ("quantile_svm", "datasets", "diabetes", "lam"),
            0,
            "config: quantile_svm.datasets.diabetes.lam: 0 is less than or equal to the minimum",
        ),
    ],
)
def test_a_wrong_value_is_refused_in_one_sentence(checkout, name, keys, value, sentence):
    edit(checkout, name, lambda content: at(content, *keys[:-1]).update({keys[-1]: value}))
    run = snakemake(checkout, "-n", "quick")
    assert run.returncode != 0
    assert sentence in run.stdout + run.stderr


# ---------------------------------------------------------------- a killed run


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


def test_code_newer_than_its_compilation_does_not_hide_the_other_jobs(checkout):
    """Snakemake plans a stale file that others take as `ancient`, and forgets the others."""
    marker = checkout / "results" / "compiled.txt"
    marker.parent.mkdir()
    marker.write_text("long ago\n")
    os.utime(marker, (0, 0))
    jobs = job_counts(snakemake(checkout, "-n", "quick"))
    assert jobs["compile"] == 1
    assert jobs["quantile_svm_accuracy"] > 1


def test_a_killed_run_keeps_its_cells_and_resumes(checkout):
    """SIGKILL to all of it: what is finished is not computed again, the rest is."""
    sizes = [100, 150, 200, 600, 800]

    def change(content):
        content["suites"]["quick"]["quantile_svm"] = {
            "kinks": {"datasets": ["gaussian_classes"], "splits": 1, "sizes": sizes}
        }

    edit(checkout, "config.yaml", change)
    target = "results/quick/jobs/quantile_svm/kinks/gaussian_classes/0-0.txt"
    cells = checkout / "results" / "quick" / "cells" / "quantile_svm"
    compiled = snakemake(checkout, "results/compiled.txt")
    assert compiled.returncode == 0, compiled.stdout + compiled.stderr
    running = subprocess.Popen(
        [sys.executable, "-m", "snakemake", "--cores", "2", target],
        cwd=checkout,
        env=environment(checkout),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 120
        while not list(cells.glob("*.parquet")):
            assert running.poll() is None, "the run ended before it wrote a cell"
            assert time.monotonic() < deadline, "no cell appeared within two minutes"
            time.sleep(0.02)
    finally:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    before = {path: path.stat().st_mtime_ns for path in cells.glob("*.parquet")}
    assert 0 < len(before) < len(sizes)
    assert not (checkout / target).exists()

    assert snakemake(checkout, "--unlock", target).returncode == 0
    run = snakemake(checkout, target)
    assert run.returncode == 0, run.stdout + run.stderr
    listed = [checkout / line for line in (checkout / target).read_text().splitlines()]
    assert len(listed) == len(sizes)
    assert all(path.is_file() for path in listed)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert set(before) < set(cells.glob("*.parquet"))


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
    assert job_counts(run)["suite_report"] == 1


def test_both_schemas_are_valid_and_refuse_unknown_keys_everywhere():
    def loose(schema):
        """Return the object schemas that would accept any key."""
        if isinstance(schema, dict):
            is_open = schema.get("type") == "object" and "additionalProperties" not in schema
            return [schema] * is_open + [x for part in schema.values() for x in loose(part)]
        return [x for part in schema for x in loose(part)] if isinstance(schema, list) else []

    for name in ("config", "results"):
        path = ROOT / "workflow" / "schemas" / f"{name}.schema.yaml"
        schema = yaml.safe_load(path.read_text())
        Draft202012Validator.check_schema(schema)
        assert loose(schema) == [], path
        assert loose({"type": "object", "properties": copy.copy(schema)}), "the check finds nothing"


def test_the_results_schema_has_the_columns_that_experiments_write():
    from solution_paths.benchmarking.common import SCHEMA

    schema = yaml.safe_load((ROOT / "workflow" / "schemas" / "results.schema.yaml").read_text())
    assert list(schema["properties"]) == SCHEMA.names
    assert schema["required"] == SCHEMA.names
