"""Outside solvers that fail, hang, crash or eat memory, for real: each is a row with its reason."""

import faulthandler
import json
import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from helpers.cells import CELLS
from path_benchmark import solvers
from path_benchmark.objectives import Hinge
from path_benchmark.runs import cells as cell_files
from path_benchmark.runs.cells import file_of, run_cells
from path_benchmark.runs.supervision import JobFailed, Limits, supervised, write_cost

pytestmark = pytest.mark.slow

X, y = np.arange(6.0)[:, None], np.repeat([-1.0, 1.0], 3)
PROBLEM = Hinge(X, y, cost0=np.full(6, 1 / 6), lam=1.0, bias="feature")
QUICK = Limits(minutes=0.02, memory_mb=300.0)
PATIENT = Limits(minutes=1.0, memory_mb=300.0)  # memory takes its time on a busy machine


def fails():
    raise RuntimeError("no convergence")


def hangs():
    time.sleep(60.0)


def eats_memory():
    kept = []
    for _ in range(40):  # at most 4 GB, in case nobody stops it
        kept.append(np.ones(2**24))
        time.sleep(0.05)


def wants_too_much():
    return np.empty(2**55)


def crashes():
    faulthandler.disable()  # pytest's: it would print
    os.kill(os.getpid(), signal.SIGSEGV)


def is_killed():
    os.kill(os.getpid(), signal.SIGKILL)


NOW = {}  # the cell and the call that a process is in


def solver(misbehave):
    """Return a baseline that misbehaves at the second call of the cell of split 1."""

    def solve(objective, options, start):
        if (NOW["split"], NOW["call"]) == (1, 1):
            misbehave()
        return solvers.Answer(w=np.zeros(1), b=0.0)

    return SimpleNamespace(NAME="odd", supports=lambda o: "", version=lambda: "1", solve=solve)


def run(cell, rows, report):
    for k in range(4):
        NOW.update(split=cell.split, call=k)
        answer = solvers.solve("odd", PROBLEM)
        rows.add("value", k, method="odd", status=answer.status, message=answer.message)


def job(folder, monkeypatch, misbehave, limits=PATIENT):
    """Run three cells with such a solver under limits; return their rows and the cost."""
    monkeypatch.setitem(solvers.BASELINES, "odd", solver(misbehave))
    files, cost = supervised(lambda: run_cells(CELLS, run, folder), limits)
    frames = [pd.read_parquet(cell_files.rows_of(file)) for file in files]
    return pd.concat(frames, ignore_index=True), cost


@pytest.mark.parametrize(
    ("misbehave", "reason"),
    [
        (hangs, "stopped after 0.02 minutes, the limit of one call"),
        (eats_memory, "stopped at 300 MB of memory, the limit of one call"),
        (crashes, "its process ended with signal SIGSEGV"),
        (is_killed, "its process ended with signal SIGKILL"),
    ],
)
def test_a_solver_that_cannot_be_caught_costs_its_own_rows_of_one_cell(
    tmp_path, monkeypatch, misbehave, reason
):
    rows, cost = job(tmp_path, monkeypatch, misbehave, QUICK if misbehave is hangs else PATIENT)
    # the first call of that cell was good, and is again once the second one is refused
    good, stopped = ["solved"] * 4, ["solved", "stopped", "stopped", "stopped"]
    assert rows["status"].tolist() == good + stopped + good
    assert rows["message"][5] == reason
    assert rows["message"][6] == f"not run: an earlier call {reason}"
    assert cost["cells"] == len(CELLS)


@pytest.mark.parametrize(
    ("misbehave", "reason"),
    [(fails, "RuntimeError: no convergence"), (wants_too_much, "MemoryError: ")],
)
def test_a_solver_that_raises_costs_one_row(tmp_path, monkeypatch, misbehave, reason):
    rows, _ = job(tmp_path, monkeypatch, misbehave)
    assert rows["status"].tolist() == ["solved"] * 5 + ["failed"] + ["solved"] * 6
    assert rows["message"][5].startswith(reason)


def test_without_misbehaviour_nothing_differs_from_a_run_in_this_process(tmp_path, monkeypatch):
    monkeypatch.setitem(solvers.BASELINES, "odd", solver(lambda: None))
    files, cost = supervised(lambda: run_cells(CELLS, run, tmp_path / "child"), QUICK)
    own = run_cells(CELLS, run, tmp_path / "here")
    for theirs, ours in zip(files, own, strict=True):
        pd.testing.assert_frame_equal(
            pd.read_parquet(cell_files.rows_of(theirs)), pd.read_parquet(cell_files.rows_of(ours))
        )
    assert cost["wall_s"] >= 0.0
    assert cost["peak_mb"] > 10.0


def test_a_kill_outside_any_solver_ends_the_job_and_keeps_its_cells(tmp_path):
    def killed(cell, rows, report):
        if cell.split == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        rows.add("value", 1.0, method="path")

    with pytest.raises(JobFailed, match="ended with signal SIGKILL; run the same command again"):
        supervised(lambda: run_cells(CELLS, killed, tmp_path), QUICK)
    assert [file_of(cell, tmp_path).exists() for cell in CELLS] == [True, False, False]


def test_one_kill_from_outside_is_no_verdict_on_a_solver(tmp_path, monkeypatch):
    """The same call is good at the second attempt: a person or a batch system killed the first."""
    struck = tmp_path / "struck"

    def once():
        if not struck.exists():
            struck.touch()
            is_killed()

    rows, _ = job(tmp_path / "cells", monkeypatch, once)
    assert struck.exists()
    assert set(rows["status"]) == {"solved"}


def test_a_disk_that_is_full_is_one_sentence(tmp_path):
    def full(cells):
        raise OSError(28, "No space left on device")

    with pytest.raises(JobFailed, match="No space left on device"):
        supervised(lambda: full(CELLS), QUICK)


def test_the_child_does_not_outlive_its_parent(tmp_path):
    """SIGKILL the parent, which can't tell anybody: the child must be gone."""
    if not hasattr(os, "fork") or not os.path.exists("/proc"):
        pytest.skip("only Linux ends a child with its parent")
    note = tmp_path / "pid"
    parent = os.fork()
    if parent == 0:

        def work():
            note.write_text(str(os.getpid()))
            time.sleep(60.0)

        supervised(work, QUICK)
        os._exit(0)
    deadline = time.monotonic() + 20.0
    while not (note.exists() and note.read_text()) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    child = int(note.read_text())
    while os.path.exists(f"/proc/{child}") and time.monotonic() < deadline:
        with suppress(OSError):
            if "\nState:\tZ" in Path(f"/proc/{child}/status").read_text():
                break
        time.sleep(0.01)
    assert time.monotonic() < deadline


def test_a_cost_is_written_only_for_a_whole_job(tmp_path):
    cost = {"wall_s": 1.0, "cpu_s": 0.5, "peak_mb": 100.0, "cells": 3}
    write_cost(tmp_path / "part.json", cost, 4)
    write_cost(tmp_path / "whole.json", cost, 3)
    assert not (tmp_path / "part.json").exists()
    assert json.loads((tmp_path / "whole.json").read_text()) == cost
