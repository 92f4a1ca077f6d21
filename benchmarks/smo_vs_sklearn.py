"""Is the SMO baseline an honest opponent? Ten problems, cold, beside scikit-learn's SVC.

Usage: python benchmarks/smo_vs_sklearn.py [output.csv]

Times: both solvers at tolerance 1e-3 and 1e-6, 200 MB of cache, one thread, from raw features,
interleaved, after a warm-up that absorbs compilation; medians of 5 to 7 repeats. Each repeat has
the rows in another order, the same for both: on ill-conditioned problems (linear, C = 1e4) rounding
alone changes the number of iterations of either solver severalfold. Accuracy: our objective at
tolerance 1e-8 against that of Clarabel at 1e-13, whose own gap is in the file.
"""

import csv
import dataclasses
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from solution_paths.baselines import clarabel_solver, judge, smo
from solution_paths.kernels import Kernel
from solution_paths.objectives import Hinge

# n, features, C, kernel; every solver sees weights drawn from [.1, 2].
PROBLEMS = [
    (200, 5, 1e0, "rbf"),
    (500, 5, 1e2, "rbf"),
    (1000, 10, 1e0, "rbf"),
    (1000, 4, 1e4, "rbf"),
    (2000, 10, 1e1, "rbf"),
    (2000, 4, 1e3, "rbf"),
    (200, 5, 1e4, "linear"),
    (500, 5, 1e0, "linear"),
    (1000, 10, 1e2, "linear"),
    (2000, 10, 1e0, "linear"),
]
TOLERANCES = (1e-3, 1e-6)
REPEATS = 5, 7  # at least, at most
ENOUGH_SECONDS = 4.0  # of scikit-learn's runs, after which no more than the least are done
TIGHT_SECONDS = 100.0  # for our solution at tolerance 1e-8


def make(n, d, C, kernel):
    """Draw a curved boundary with noise and a tenth of the labels flipped."""
    rng = np.random.default_rng([n, d, int(C), len(kernel)])
    X = rng.normal(size=(n, d))
    normal = rng.normal(size=d)
    score = X @ normal / np.linalg.norm(normal) + 0.5 * np.sin(2 * X[:, 0])
    y = np.where(score + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)
    y[rng.random(n) < 0.1] *= -1
    costs = C * rng.uniform(0.1, 2.0, n)
    return Hinge(X, y, cost0=costs, kernel=Kernel(kernel, 1.0 / d), bias="free")


def theirs(problem, tolerance):
    """Seconds and iterations of scikit-learn."""
    machine = SVC(C=1.0, kernel=problem.kernel, gamma=problem.gamma, tol=tolerance, cache_size=200)
    start = time.perf_counter()
    machine.fit(problem.X, problem.y, sample_weight=problem.costs)
    return time.perf_counter() - start, int(machine.n_iter_[0])


def ours(problem, tolerance):
    """Seconds and iterations of a fresh solver, its construction included."""
    start = time.perf_counter()
    solver = smo.SMO(problem.X, kernel=problem.kernel.name, gamma=problem.kernel.gamma)
    found = solver.solve_svc(problem.y, problem.costs(), tol=tolerance)
    return time.perf_counter() - start, found.iterations


def shuffled(problem, seed):
    """Put the rows in another order."""
    order = np.random.default_rng(seed).permutation(problem.n)
    parts = {"X": problem.X[order], "y": problem.y[order], "cost0": problem.costs()[order]}
    return dataclasses.replace(problem, **parts)


def compare(problem, tolerance):
    """Medians of interleaved repeats."""
    runs, spent = [], 0.0
    while len(runs) < REPEATS[0] or (len(runs) < REPEATS[1] and spent < ENOUGH_SECONDS):
        same = shuffled(problem, len(runs))
        runs.append((*theirs(same, tolerance), *ours(same, tolerance)))
        spent += runs[-1][0]
    median = np.median(np.array(runs), axis=0)
    return {
        "repeats": len(runs),
        "sklearn_s": median[0],
        "smo_s": median[2],
        "time_ratio": median[2] / median[0],
        "time_ratio_worst": max(run[2] / run[0] for run in runs),
        "sklearn_iterations": int(median[1]),
        "smo_iterations": int(median[3]),
    }


def accuracy(problem):
    """Relative differences of objectives: ours at 1e-8 to Clarabel's, and the judge's gap."""
    options = {"tolerance": 1e-8, "time_limit": TIGHT_SECONDS, "whole_gram": True}
    answer = smo.solve(problem, options)
    oracle = judge(problem, clarabel_solver.solve(problem))
    verdict = judge(problem, answer)
    return {
        "objective_difference": (verdict.dual - oracle.dual) / abs(oracle.dual),
        "gap": verdict.gap,
        "oracle_gap": oracle.gap,
        "tight_s": answer.wall_s,
        "tight_status": answer.status,
    }


def main(path):
    """Print the table and write it."""
    smo.warm_up()
    rows = []
    head = (
        "    n  d      C kernel  tolerance  sklearn s     SMO s  ratio  worst  objective difference"
    )
    print(head)
    for n, d, C, kernel in PROBLEMS:
        problem = make(n, d, C, kernel)
        times = {tolerance: compare(problem, tolerance) for tolerance in TOLERANCES}
        tight = accuracy(problem)
        for tolerance, row in times.items():
            rows.append(
                {"n": n, "d": d, "C": C, "kernel": kernel, "tolerance": tolerance} | row | tight
            )
            print(
                f"{n:5d} {d:2d} {C:6.0f} {kernel:6s} {tolerance:10.0e} {row['sklearn_s']:10.4f} "
                f"{row['smo_s']:9.4f} {row['time_ratio']:6.2f} {row['time_ratio_worst']:6.2f} "
                f"{tight['objective_difference']:10.1e} gap {tight['gap']:.1e} "
                f"({tight['tight_status']}, {tight['tight_s']:.1f} s)",
                flush=True,
            )
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    default = Path(__file__).parents[1] / "results" / "benchmarks" / "smo_vs_sklearn.csv"
    with threadpool_limits(1):
        main(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
