"""Seconds of whole paths: this work tree's engine over another commit's, in turn in one run.

    python measurements/against.py 7c55444
    python measurements/against.py HEAD~3 --only rbf --repeats 5

Both engines get the same arrays, one BLAS thread and a process each, in which nothing is compiled:
another one has done that, on a few rows, since code may run otherwise where it was compiled than
from the cache. A round asks one engine after the other, so that a busy moment hurts both, and has
its own order of rows: where many values tie, rounding decides which way a path goes. What is stated
is the median of CPU seconds, without the look at the result. A path of more than 20 s is walked
once, small ones 200 times. The other engine is extracted to results/against, with what it compiles.
"""

from __future__ import annotations

import argparse
import inspect
import io
import os
import pickle
import subprocess
import sys
import tarfile
import time
import warnings
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "results" / "against"
LONG_S = 20.0
MANY = 200
PROBLEMS = (
    *("diabetes", "spam", "splice", "g500 rbf", "g1000 rbf", "g2000 rbf", "g1000 linear"),
    *("growth tau 1000", "growth C 100000", "growth tau 100000", "a8a C", "a8a tau"),
    *("lasso 500 100", "lasso 2000 200", "l1 500 20", "small 10 3", "small 100 5"),
    *("outlier 4000 5 linear", "outlier 10000 5 linear", "outlier 1000 5 rbf"),
)


def serve() -> None:
    """Walk what is asked for, so many times, with the engine that Python finds.

    Answer seconds and breakpoints.
    """
    import solution_paths

    paths = {"C": solution_paths.svm_path, "tau": solution_paths.quantile_svm_path}
    paths |= {"lasso": solution_paths.lasso_path, "l1": solution_paths.l1_svm_path}
    paths["outlier"] = solution_paths.outlier_svm_path
    answers = sys.stdout.buffer
    warnings.simplefilter("ignore")
    while True:
        try:
            X, y, kind, options, times = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        path = paths[kind]
        if "check" in inspect.signature(path).parameters:
            options = options | {"check": "ignore"}
        began = time.process_time()
        for _ in range(times):
            found = path(X, y, **options)
        pickle.dump((time.process_time() - began, len(found.breakpoints)), answers)
        answers.flush()


class Engine:
    """A process that walks with the engine of a source tree."""

    def __init__(self, source: Path, cache: Path | None):
        one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        kept = {"NUMBA_CACHE_DIR": str(cache)} if cache else {}
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--serve"],
            env=os.environ | one | kept | {"PYTHONPATH": str(source)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def walk(self, problem, times: int) -> tuple[float, int]:
        """Return the seconds of so many walks and the number of breakpoints of a path."""
        options = {"tau": {"lam": problem.lam}, "outlier": {"C": 1.0}}.get(problem.kind, {})
        if problem.kernel != "linear":
            options["kernel"] = problem.kernel
            options["gamma"] = problem.gamma
        asked = problem.X, problem.y, problem.kind, options, times
        pickle.dump(asked, self._process.stdin)
        self._process.stdin.flush()
        return pickle.load(self._process.stdout)

    def close(self) -> None:
        """End the process."""
        self._process.stdin.close()
        self._process.wait()


def other_engine(commit: str) -> Engine:
    """Return the engine of a commit, extracted if it isn't yet."""
    name = _git("rev-parse", "--short", "--verify", f"{commit}^{{commit}}").decode().strip()
    folder = KEPT / name
    if not folder.is_dir():
        begun = folder.with_suffix(".begun")  # an interruption leaves no half of an engine
        with tarfile.open(fileobj=io.BytesIO(_git("archive", name, "src"))) as tar:
            tar.extractall(begun, filter="data")
        begun.rename(folder)
    return Engine(folder / "src", folder / "compiled")


def _git(*command: str) -> bytes:
    """Return what git says of this repository."""
    done = subprocess.run(["git", "-C", str(ROOT), *command], capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"git {' '.join(command)}: {done.stderr.decode().strip()}; name a commit.")
    return done.stdout


def build(key: str):
    """Return a problem, and a few rows of it to compile on."""
    import problems  # of this work tree: here, as the other engine's process must not see it

    problems.use_mirror()
    kind, *sizes = key.split()
    if kind not in ("lasso", "l1", "small", "outlier"):
        problem = problems.build(key)
        return problem, problem.head()
    problem = problems.gaussians(*map(int, sizes[:2]), *sizes[2:])
    if kind == "small":
        return problem, problem
    problem = replace(problem, kind=kind)
    if kind == "lasso":
        noise = np.random.default_rng(0).normal(size=len(problem.y))
        problem = replace(problem, y=problem.X @ np.linspace(-1, 1, problem.X.shape[1]) + noise)
    return problem, replace(problem, X=problem.X[:60], y=problem.y[:60])


def engines_of(commit: str) -> tuple[Engine, Engine]:
    """Return this work tree's engine and another commit's."""
    return Engine(ROOT / "src", None), other_engine(commit)


def main() -> None:
    """Print a row for each problem, and the median ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit", nargs="?", default="7c55444")
    parser.add_argument("--only", default="", help="problems whose name contains this")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return
    keys = [key for key in PROBLEMS if options.only in key]
    if not keys:
        parser.error(
            f"no problem's name contains {options.only!r}; there are {', '.join(PROBLEMS)}"
        )
    built, ratios = {key: build(key) for key in keys}, []
    for engine in engines_of(options.commit):
        for _, head in built.values():
            engine.walk(head, 1)
        engine.close()
    engines = engines_of(options.commit)
    print(f"{'problem':20}{'breakpoints':>22}{'this, s':>12}{options.commit + ', s':>12}   ratio")
    for key in keys:
        (problem, head), seconds = built[key], ([], [])
        times = MANY if key.startswith("small") else 1
        for engine in engines:
            engine.walk(head, times)
        for turn in range(options.repeats):
            rows = np.random.default_rng(turn).permutation(len(problem.y))
            turned = replace(problem, X=problem.X[rows], y=problem.y[rows])
            found = [engine.walk(turned, times) for engine in engines]
            for k, (taken, _) in enumerate(found):
                seconds[k].append(taken)
            if max(taken for taken, _ in found) > LONG_S:
                break
        this, other = map(median, seconds)
        ratios.append(this / other)
        counts = f"{found[0][1]} / {found[1][1]}"
        print(f"{key:20}{counts:>22}{this:12.4f}{other:12.4f}{ratios[-1]:8.2f}", flush=True)
    print(f"median ratio {median(ratios):.2f}, largest {max(ratios):.2f}")


if __name__ == "__main__":
    main()
