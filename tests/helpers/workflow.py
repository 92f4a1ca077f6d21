"""Snakemake run in a copy of the checkout, and what it says."""

import multiprocessing
import os
import re
import shutil
import sys
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryDirectory

import nbformat
import pandas as pd
import yaml

from helpers import ROOT

NOT_IN_GIT = (".git", ".venv", ".snakemake", "data", "results", "logs", "build")
QUANTILE = "papers/quantile_svm.yaml"
# A server imports what is no part of a checkout: once, which is half of a dry run's time.
SCIPY = ("linalg", "optimize", "sparse.csgraph", "sparse.linalg")
OTHERS = ("snakemake.cli", "numba", "pandas", "pydantic", "requests", "nbformat", "jinja2")
SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload([*OTHERS, *(f"scipy.{name}" for name in SCIPY)])


def clean_copy(target):
    """Copy the checkout, without anything fetched or computed.

    Compiled code comes along: numba's caches are as good there as here.
    """

    def ignored(folder, names):
        return [name for name in names if Path(folder) == ROOT and name.startswith(NOT_IN_GIT)]

    return Path(shutil.copytree(ROOT, target, ignore=ignored))


def snakemake(folder, *arguments, mirror=None):
    """Run snakemake there with the folder's own sources; return the finished process."""
    arguments, env = ("--cores", "2", *arguments), environment(folder, mirror)
    with TemporaryDirectory() as said:
        files = Path(said, "stdout"), Path(said, "stderr")
        process = SERVER.Process(target=_command_line, args=(folder, arguments, env, files))
        process.start()
        process.join()
        return CompletedProcess(arguments, process.exitcode, *(file.read_text() for file in files))


def _command_line(folder, arguments, env, files):
    """Do in this process what ``python -m snakemake`` does."""
    for descriptor, file in enumerate(files, 1):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT), descriptor)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(folder)
    sys.argv[:] = ["snakemake", *arguments]
    sys.path[:] = [str(folder), env["PYTHONPATH"], *sys.path]
    from snakemake.cli import main

    main()


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


def planned(folder, job):
    """Return the list of cells that a job of the quantile paper writes, whose name has a digest."""
    said = finished(snakemake(folder, "-n", "quick"))
    found = re.search(rf"results/quick/jobs/quantile_svm/{job}-[0-9a-f]{{10}}\.txt", said)
    assert found, said
    return found.group()


def only_kinks(folder, *, whole_notebook=False, **run):
    """Let the suite quick run nothing but the kinks of small generated data."""
    if not whole_notebook:
        short_notebook(folder)
    run = {"datasets": ["gaussian_classes"], "splits": 1, "sizes": [60, 90], **run}
    edit(folder, QUANTILE, lambda content: content["suites"].update(quick={"kinks": run}))
    for other in sorted((folder / "config" / "papers").glob("*.yaml")):
        name = f"papers/{other.name}"
        if name != QUANTILE:
            edit(folder, name, lambda content: content["suites"].pop("quick"))


def short_notebook(folder):
    """Let the paper's notebook be one cell: most runs are about what is made before it."""
    file = folder / "notebooks" / "quantile_svm.ipynb"
    whole = nbformat.read(file, as_version=4)
    whole.cells = [nbformat.v4.new_code_cell("print('run')")]
    nbformat.write(whole, file)


def finished_once(folder):
    """Make a copy of the checkout there in which a suite of two cells has been run; return it."""
    checkout = clean_copy(folder / "checkout")
    only_kinks(checkout)
    finished(snakemake(checkout, "quick"))
    return checkout


def finished(run):
    """Assert that a run succeeded; return what it printed."""
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout + run.stderr


def one_error(run, *says):
    """Assert that a run was refused in one sentence that says this; return the sentence."""
    assert run.returncode != 0, run.stdout
    (sentence,) = [line for line in run.stderr.splitlines() if line.startswith("error: ")]
    assert "Traceback" not in run.stdout + run.stderr
    for text in says:
        assert text in sentence
    return sentence


def results_of(checkout, paper="quantile_svm"):
    """Return the values of a paper's results, times left out."""
    frame = pd.read_parquet(checkout / "results" / "quick" / paper / "results.parquet")
    frame = frame[frame["metric"] != "path_seconds"]
    return frame[["experiment", "dataset", "split", "method", "metric", "value", "status"]]
