"""Faults made for real: kills at random moments, damaged files, a full disk, two runs at once.

``SOLUTION_PATHS_KILLS=100`` kills more often (`make faults`).
"""

import dataclasses
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, suppress
from multiprocessing import get_context
from pathlib import Path

import pandas as pd
import psutil
import pytest

from helpers.cells import CELL, Recorder
from helpers.workflow import (
    edit,
    environment,
    finished,
    job_counts,
    only_kinks,
    planned,
    results_of,
    snakemake,
)
from path_benchmark.runs.cells import (
    DamagedCell,
    check_cell,
    file_of,
    note_damaged_jobs,
    read_list,
    run_cells,
    write_cell,
    write_list,
)
from path_benchmark.runs.supervision import Limits, supervised
from solution_paths.files import hold, locked

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("SOLUTION_PATHS_KILLS", "10"))
# Whole runs, minutes each. What is quick (a hundred kills of jobs and of writing) isn't left out.
long = pytest.mark.skipif("SOLUTION_PATHS_KILLS" not in os.environ, reason="`make faults` runs it")
PAPER = Path("results", "quick", "quantile_svm")
CELL_FOLDER = Path("results", "quick", "cells", "quantile_svm")


# ---------------------------------------------------------------- kills


def start(folder, *arguments):
    """Start a run in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "snakemake", "--cores", "2", *arguments],
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def kill_one(run, rng):
    """Kill the whole run, Snakemake alone, or one of the processes below it; say which."""
    below = psutil.Process(run.pid).children(recursive=True)
    what = rng.choice(["all", "snakemake", "job"])
    if what == "all":
        os.killpg(run.pid, signal.SIGKILL)
    elif what == "snakemake" or not below:
        run.kill()
    else:
        rng.choice(below).kill()
    return what


def bury(run):
    """Wait for a run that was hit; jobs that outlive Snakemake go on, beside the next run."""
    try:
        run.wait(10.0)
    except subprocess.TimeoutExpired:  # only a job was hit: it goes on with the others
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()


def whole_cells(folder):
    """Return the cells that are whole, and when each was finished."""
    found = {}
    for file in (folder / CELL_FOLDER).glob("*.json"):
        try:
            check_cell(file)
            found[file.name] = file.stat().st_mtime_ns
        except DamagedCell:
            continue
    return found


def test_kills_at_random_moments_lose_nothing_but_the_cell_in_flight(
    checkout, tmp_path, record_property
):
    """The same command again, without a question; the results are those of a run in peace."""
    sizes = [60, 90, 120, 400] if KILLS > 10 else [60, 90]
    only_kinks(checkout, splits=6, splits_per_job=2, sizes=sizes)
    target = str(PAPER / "results.parquet")
    calm = Path(shutil.copytree(checkout, tmp_path / "calm"))
    began = time.monotonic()
    finished(snakemake(calm, target))
    longest = time.monotonic() - began
    rng, hits, counts, kills = random.Random(KILLS), 0, {}, KILLS if KILLS > 10 else 3
    while hits < kills:
        run = start(checkout, target)
        try:
            run.wait(rng.uniform(0.5, longest))
        except subprocess.TimeoutExpired:
            kept = whole_cells(checkout)
            what = kill_one(run, rng)
            hits, counts[what] = hits + 1, counts.get(what, 0) + 1
            run.stdout.close()
            bury(run)
            if hits % 3 == 0:
                finished(snakemake(checkout, "-n", target))
            now = whole_cells(checkout)
            lost = {name for name, stamp in kept.items() if now.get(name) != stamp}
            assert lost == set(), (hits, what)
            print(f"kill {hits}: {what}, {len(kept)} cells kept", flush=True)
        else:
            assert run.returncode == 0, run.stdout.read()
            # it was through: begin again, so that kills go on to hit
            pd.testing.assert_frame_equal(results_of(checkout), results_of(calm))
            shutil.rmtree(checkout / "results" / "quick")
    record_property("kills", counts)
    print(f"kills: {counts}")
    whole = "quick" if KILLS > 10 else target
    finished(snakemake(checkout, whole))
    assert (checkout / "results" / "quick" / "report.html").is_file() == (whole == "quick")
    pd.testing.assert_frame_equal(results_of(checkout), results_of(calm))


def small_job(folder):
    """Run eight small cells as a job does, in a process of its own below this one."""

    def slowly(cell, rows, report):
        time.sleep(0.02)
        rows.add("value", cell.split, method="path")

    listing = folder / "s" / "jobs" / "0-7.txt"
    cells = [dataclasses.replace(CELL, split=k) for k in range(8)]
    with locked(listing.with_suffix(".lock")):
        files, _ = supervised(lambda: run_cells(cells, slowly, folder / "s" / "cells"), Limits())
        write_list(listing, files)


def start_job(folder):
    """Start such a job in a process that does nothing else."""
    job = os.fork()
    if job == 0:
        try:
            with open(os.devnull, "w") as nothing, redirect_stderr(nothing):
                small_job(folder)
        finally:
            os._exit(0)
    return job


def whole_of(folder):
    """Return the cells of a small job that are whole, and when each was finished."""
    found = {}
    for file in (folder / "s" / "cells").glob("*.json"):
        check_cell(file)
        found[file] = file.stat().st_mtime_ns
    return found


def test_jobs_killed_at_random_moments_lose_nothing_but_the_cell_in_flight(tmp_path):
    """SIGKILL to a job or to the process in which it computes, ten times as often."""
    rng, hits, through, counts = random.Random(KILLS), 0, 0, {"job": 0, "its child": 0}
    began = time.monotonic()
    os.waitpid(start_job(tmp_path / "calm"), 0)
    once = time.monotonic() - began
    while hits < 10 * KILLS:
        folder = tmp_path / str(through)
        job = start_job(folder)
        time.sleep(rng.uniform(0.0, once))
        kept, what = whole_of(folder), rng.choice(list(counts))
        below = psutil.Process(job).children()
        if what == "its child" and below:
            with suppress(psutil.NoSuchProcess):
                below[0].kill()
        else:
            what = "job"
            os.kill(job, signal.SIGKILL)
        os.waitpid(job, 0)
        hits, counts[what] = hits + 1, counts[what] + 1
        now = whole_of(folder)
        assert {file for file in kept if now.get(file) != kept[file]} == set(), (hits, what)
        assert note_damaged_jobs(folder, ".damaged") == {}
        through += (folder / "s" / "jobs" / "0-7.txt").exists()
    os.waitpid(start_job(folder), 0)
    assert len(read_list(folder / "s" / "jobs" / "0-7.txt")) == len(whole_of(folder)) == 8
    assert min(counts.values()) > KILLS
    print(f"kills of jobs: {counts}, {through} jobs got through")


def test_a_process_killed_while_it_writes_leaves_a_whole_cell_or_none(tmp_path):
    """Where other tests have used pyarrow's threads a fork can't write: forked by a new process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
        alone.submit(kill_writers, tmp_path).result()


def kill_writers(tmp_path):
    """SIGTERM and SIGKILL at random moments of nothing but writing."""
    file, rng = file_of(CELL, tmp_path), random.Random(0)
    rows = CELL.rows(method="path")
    for k in range(2000):
        rows.add("value", k)
    began = time.monotonic()
    write_cell(file, CELL.identity, rows)
    window, outcomes = 4.0 * (time.monotonic() - began), {"whole": 0, "none": 0}
    for _ in range(10 * KILLS):
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            write_cell(file, CELL.identity, rows)
            while True:
                signal.pause()
        time.sleep(rng.uniform(0.0, window))
        os.kill(child, rng.choice([signal.SIGTERM, signal.SIGKILL]))
        os.waitpid(child, 0)
        if file.exists():
            check_cell(file)
            outcomes["whole"] += 1
            window *= 0.9
        else:  # so that both happen, however busy the machine is
            outcomes["none"] += 1
            window = min(1.1 * window, 5.0)
    assert min(outcomes.values()) > KILLS, outcomes
    run_cells([CELL], Recorder(), tmp_path)
    check_cell(file)


# ---------------------------------------------------------------- damage


def cut(file):
    """Lose the second half."""
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])


def flip(file):
    """Change a byte in the middle."""
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0xFF
    file.write_bytes(bytes(content))


def gone(file):
    """Delete it."""
    shutil.rmtree(file) if file.is_dir() else file.unlink()


def one_of(folder, pattern):
    """Return the first file of that kind."""
    return sorted(folder.glob(pattern))[0]


@pytest.fixture(scope="module")
def done(finished_original, tmp_path_factory):
    """Return a folder in which a small suite is finished, and what it found."""
    folder = Path(shutil.copytree(finished_original, tmp_path_factory.mktemp("done") / "checkout"))
    return folder, results_of(folder)


# Where a user may touch, and what is done there.
TOUCHED = {
    "a cell's rows": (f"{CELL_FOLDER}/*.parquet", flip),
    "a cell's identity": (f"{CELL_FOLDER}/*.json", cut),
    "a cell, deleted": (f"{CELL_FOLDER}/*.json", gone),
    "a job's list": ("results/quick/jobs/*/*/*/*/*.txt", cut),
    "a job's list, deleted": ("results/quick/jobs/*/*/*/*/*.txt", gone),
    "results": (f"{PAPER}/results.parquet", flip),
    "results, cut": (f"{PAPER}/results.parquet", cut),
    "curves": (f"{PAPER}/curves.parquet", cut),
    "curves, deleted": (f"{PAPER}/curves.parquet", gone),
    "what the page reads": (f"{PAPER}/outputs.json", cut),
    "claims": (f"{PAPER}/claims.csv", cut),
    "a table": (f"{PAPER}/tables/*.csv", cut),
    "a table, deleted": (f"{PAPER}/tables/*.tex", gone),
    "a figure": (f"{PAPER}/figures/*.svg", flip),
    "all tables, deleted": (f"{PAPER}/tables", gone),
    "the notebook, deleted": (f"{PAPER}/notebook.ipynb", gone),
    "the page, deleted": ("results/quick/report.html", gone),
    "a note of checksums": (f"{PAPER}/.results.sha256.json", cut),
}


# One run heals a group; `make faults` damages one thing at a time.
GROUPS = {
    "results": ["results", "a note of checksums"],
    "what is shown": ["a table", "a figure", "the page, deleted"],
}
if KILLS > 10:
    GROUPS = {name: [name] for name in TOUCHED}


def there(folder):
    """Return the names of the files that a suite leaves."""
    made = (folder / "results" / "quick").rglob("*")
    return {str(file.relative_to(folder)) for file in made if ".damaged" not in file.name}


@long
@pytest.mark.parametrize("group", GROUPS)
def test_what_is_damaged_below_the_results_heals_with_the_same_command(done, group):
    folder, whole = done
    before, touched = there(folder), [TOUCHED[name] for name in GROUPS[group]]
    for where, damage in touched:
        damage(one_of(folder, where))
    finished(snakemake(folder, "quick"))
    pd.testing.assert_frame_equal(results_of(folder), whole)
    assert there(folder) >= before


@long
def test_everything_damaged_at_once_heals_with_the_same_command(done):
    folder, whole = done
    for where, damage in TOUCHED.values():
        for file in sorted(folder.glob(where)):
            damage(file)
    finished(snakemake(folder, "quick"))
    pd.testing.assert_frame_equal(results_of(folder), whole)
    assert "Nothing to be done" in finished(snakemake(folder, "quick"))


# ---------------------------------------------------------------- a full disk


@pytest.fixture
def small_disk(tmp_path):
    """Return a folder on a disk of 24 MB of its own."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", disk]
    try:
        done = subprocess.run(mount, capture_output=True, text=True)
    except OSError as error:
        pytest.skip(f"a small disk can't be mounted here: {error}")
    if done.returncode:
        pytest.skip(f"a small disk can't be mounted here: {done.stderr.strip()}")
    yield disk
    subprocess.run(["umount", disk], check=True)


def fill(disk):
    """Leave no room on a disk; return the file that fills it."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as stream:
        for size in (2**16, 2**12, 1):
            try:
                while True:
                    stream.write(b"\0" * size)
            except OSError:
                continue
    return filler


# CI fills the disk before the first two; `make faults` before each.
STAGES = {
    "cells": "jobs/quantile_svm/accuracy/kinks/gaussian_classes/0-0-{digest}.txt",
    "collect": "quantile_svm/results.parquet",
    "tables": "quantile_svm/claims.csv",
    "notebook": "quantile_svm/notebook.ipynb",
    "page": "report.html",
}


@long
def test_a_full_disk_stops_each_stage_in_a_sentence_and_leaves_nothing_half_written(
    checkout, small_disk
):
    only_kinks(checkout)
    place = ("--config", f"results={small_disk / 'results'}")
    digest = planned(checkout, "accuracy/kinks/gaussian_classes/0-0").rpartition("-")[2][:10]
    for stage, target in list(STAGES.items())[: 5 if KILLS > 10 else 2]:
        file = small_disk / "results" / "quick" / target.format(digest=digest)
        file.parent.mkdir(parents=True, exist_ok=True)
        filler = fill(small_disk)
        run = snakemake(checkout, str(file), *place)
        filler.unlink()
        assert run.returncode != 0, stage
        message = run.stdout + run.stderr
        named = r"(?m)^error: .*No space left on device.*results.*\.$"
        assert re.search(named, message), (stage, message)
        assert "Traceback" not in message, (stage, message)
        assert not file.exists(), stage
        finished(snakemake(checkout, str(file), *place))
        assert file.exists()
    finished(snakemake(checkout, "quick", *place))
    found = pd.read_parquet(small_disk / "results" / "quick" / "quantile_svm" / "results.parquet")
    assert (found["status"] == "ok").all()


# ---------------------------------------------------------------- others


@long
def test_two_runs_at_once_do_not_disturb_each_other(checkout):
    """The second is refused, and says why; neither takes the other for dead."""
    only_kinks(checkout, sizes=[60, 90, 400, 800])
    first = start(checkout, "quick")
    deadline = time.monotonic() + 300.0
    while not list((checkout / CELL_FOLDER).glob("*.json")):
        assert first.poll() is None, first.stdout.read()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    job_counts(snakemake(checkout, "-n", "quick"))  # whoever only asks is answered
    second = snakemake(checkout, "quick")
    assert second.returncode != 0
    assert "error: Another run is at work in results" in second.stderr
    unlock = snakemake(checkout, "--unlock")
    assert unlock.returncode != 0
    assert "error: Another run is at work in results" in unlock.stderr
    assert first.wait() == 0, first.stdout.read()
    assert (results_of(checkout)["status"] == "ok").all()
    assert "Nothing to be done" in finished(snakemake(checkout, "quick"))


def test_the_lock_of_a_run_ends_with_it(tmp_path):
    file = tmp_path / "running.lock"
    imports = "import sys, time; from pathlib import Path; from solution_paths.files import hold"
    take = "held = hold(Path(sys.argv[1])); print(held is not None, flush=True); time.sleep(60)"
    script = f"{imports}; {take}"
    other = subprocess.Popen(
        [sys.executable, "-c", script, file], stdout=subprocess.PIPE, text=True
    )
    assert other.stdout.readline() == "True\n"
    assert hold(file) is None
    other.kill()
    other.wait()
    other.stdout.close()
    held = hold(file)
    assert held is not None
    assert hold(file) is None
    held.release()
    assert hold(file) is not None


@long
@pytest.mark.parametrize("late", [0, 1])
def test_a_clock_that_jumps_changes_no_result(done, late):
    """Half of the files are from tomorrow, half from yesterday: a run may refuse, by name."""
    folder, whole = done
    files = sorted((folder / "results").rglob("*"))
    for k, file in enumerate(files):
        there = time.time() + (86400.0 if k % 2 == late else -86400.0)
        os.utime(file, (there, there))
    run = snakemake(folder, "quick")
    if run.returncode != 0:  # Snakemake makes nothing that is older than what it was made from
        assert "This could indicate a clock skew problem" in run.stderr
        for file in filter(Path.exists, files):
            os.utime(file)
        finished(snakemake(folder, "quick"))
    pd.testing.assert_frame_equal(results_of(folder), whole)


def test_no_network_is_one_sentence_after_retries_that_end(checkout):
    def unreachable(content):
        for form in content["datasets"]["diabetes"]["files"]:
            form["urls"] = ["http://127.0.0.1:9/diabetes.csv"] if form.get("urls") else []

    edit(checkout, "datasets.yaml", unreachable)
    run = snakemake(checkout, "data/fetched/diabetes.txt")
    assert run.returncode != 0
    errors = [line for line in run.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert "downloading http://127.0.0.1:9/diabetes.csv failed" in errors[0]
    assert "SOLUTION_PATHS_MIRROR" in errors[0]
    assert "Traceback" not in run.stdout + run.stderr
    assert list((checkout / "data" / "raw").iterdir()) == []
