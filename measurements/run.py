"""Speed and accuracy, ours and theirs, in one run: `make benchmark`.

Usage: python measurements/run.py [--only PATTERN] [--fresh] [--out FOLDER]

Every peer has a process of its own, one BLAS thread, and is warmed up on a few rows first, so that
compilation is not timed. Repeats are interleaved: one round asks every peer once, so that a busy
moment hurts all alike. 5 repeats, 1 where the first takes more than 20 s. What overruns its limit
is stopped, and its row says so. Each problem is written when it is done; an interrupted run
continues there, as long as neither the library nor the benchmark has changed (or use --fresh).
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib
import json
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path

import problems
import report
from peers import MODULES
from problems import GROWTH, HERE, LARGEST, PAPER, STORED, use_mirror
from worker import Overrun, Worker

import solution_paths
from path_benchmark.runs.rows import machine
from solution_paths.files import replace_atomically

REPEATS = 5
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
COMPILATION_S = (
    400.0  # a warm-up may take this: numba's cache is empty after a change of the source
)
LONG_S = 20.0  # a run longer than this is not repeated
OURS, QUANTILE = ("ours",), ("ours", "liblinear_nine")


@dataclass(frozen=True)
class Task:
    """A problem, who solves it, and the seconds that each run may take."""

    problem: str
    peers: tuple[str, ...]
    limit_s: float
    repeats: int = REPEATS
    own_process: bool = False  # a new one, so that peaks of memory are its own


def tasks() -> list[Task]:
    """List everything that `make benchmark` runs, the short things first."""
    small = [
        Task(f"{name} {kernel}", MODULES, 30) for kernel in ("linear", "rbf") for name in STORED
    ]
    generated = ("g1000 linear", "g500 rbf", "g1000 rbf", "g2000 rbf")
    return [
        *small,
        *(Task(name, MODULES, 60) for name in generated),
        *(Task(name, QUANTILE, 300, own_process=True) for name in PAPER),
        *(Task(f"growth {kind} {n}", OURS, 150, 3) for kind in ("C", "tau") for n in GROWTH[:-1]),
        *(Task(f"growth {kind} {GROWTH[-1]}", OURS, 150, 1, True) for kind in ("C", "tau")),
        Task(f"growth C {LARGEST}", OURS, 900, 1, True),
        Task("a8a tau", OURS, 240, 1, True),
        Task("a8a C", OURS, 240, 1, True),
    ]


def run_task(task: Task, workers: dict[str, Worker], say=print) -> list[dict]:
    """Interleave the repeats of all peers; return one row for each repeat, or the reason."""
    rows, wanted = [], {}
    try:
        problem = problems.build(task.problem)
    except Exception as error:  # data that are not at hand
        why = f"{type(error).__name__}: {error}"
        return [row(task, peer, 0, "not available", why) for peer in task.peers]
    for peer in task.peers:
        if task.own_process and peer in workers:
            workers.pop(peer).stop()
        reason = start(task, peer, problem, workers)
        if reason:
            rows.append(row(task, peer, 0, status=reason[0], message=reason[1]))
        else:
            wanted[peer] = task.repeats
    bounds: dict = {}
    for repeat in range(task.repeats):
        for peer in [p for p, count in wanted.items() if count > repeat]:
            load = os.getloadavg()[0]
            try:
                found = workers[peer].run(task.problem, "time", task.limit_s, bounds)
            except (Overrun, RuntimeError) as error:
                status = "time limit" if isinstance(error, Overrun) else "failed"
                rows.append(row(task, peer, repeat, status=status, message=str(error), load=load))
                wanted[peer] = 0
                workers.pop(peer).stop()
                continue
            own = found.pop("bounds")
            bounds = bounds or own
            rows.append(row(task, peer, repeat, load=load, **found))
            if found["whole_wall_s"] > LONG_S:
                wanted[peer] = 1
    for line in report.lines(rows):
        say(line)
    return rows


def start(task: Task, peer: str, problem, workers: dict[str, Worker]) -> tuple[str, str] | None:
    """Get a peer ready and warm; return (status, reason) when it can't be."""
    module = importlib.import_module(f"peers.{peer}")
    reason = module.refuses(problem)
    if reason:
        return "not applicable" if module.version() else "not available", reason
    if peer not in workers:
        workers[peer] = Worker(peer)
    try:
        workers[peer].run(task.problem, "warm", COMPILATION_S)
    except (Overrun, RuntimeError) as error:
        workers.pop(peer).stop()
        return "failed", f"in the warm-up: {error}"
    return None


def row(task: Task, peer: str, repeat: int, status: str = "ok", message: str = "", **found) -> dict:
    """Say who, what, when and with which version."""
    module = importlib.import_module(f"peers.{peer}")
    who = {"problem": task.problem, "peer": peer, "method": module.NAME}
    who |= {"version": module.version(), "repeat": repeat, "status": status, "message": message}
    return who | {"limit_s": task.limit_s, "at": time.strftime("%Y-%m-%d %H:%M:%S")} | found


def digest() -> str:
    """Hash the library and the benchmark: rows of other code are not taken over."""
    files = sorted([*HERE.glob("*.py"), *HERE.glob("peers/*.py"), *HERE.glob("data/*.csv")])
    files.remove(HERE / "report.py")  # the same rows can be reported anew
    files += sorted(Path(solution_paths.__file__).parent.rglob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def main(argv: list[str] | None = None) -> int:
    """Run what is missing and write the report; return 1 when a goal was missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="regular expression of problems to run")
    parser.add_argument("--fresh", action="store_true", help="run even what is there")
    parser.add_argument("--out", type=Path, default=HERE.parent / "results" / "measurements")
    options = parser.parse_args(argv)
    use_mirror()
    os.environ |= dict.fromkeys(ONE_THREAD, "1")  # for the workers, which import numpy anew
    chosen = [task for task in tasks() if re.search(options.only, task.problem)]
    workers, begin = {}, time.perf_counter()
    try:
        for task in chosen:
            file = options.out / "rows" / f"{task.problem.replace(' ', '-')}.json"
            code = digest()
            if not options.fresh and _is_done(file, code):
                print(f"{task.problem}: done before")
                continue
            print(f"{task.problem} (after {time.perf_counter() - begin:.0f} s)", flush=True)
            rows = run_task(task, workers, lambda line: print(line, flush=True))
            kept = code if code == digest() else "changed while this ran"
            content = {"code": kept, "machine": machine(), "rows": rows}
            text = json.dumps(content, indent=1)
            replace_atomically(file, lambda part, text=text: part.write_text(text))
    finally:
        for worker in workers.values():
            with contextlib.suppress(OSError):
                worker.stop()
    return report.write(options.out)


def _is_done(file: Path, code: str) -> bool:
    return file.is_file() and json.loads(file.read_text())["code"] == code


if __name__ == "__main__":
    raise SystemExit(main())
