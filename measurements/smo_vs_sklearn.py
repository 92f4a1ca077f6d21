"""Is the SMO baseline an honest opponent? Cold solves beside scikit-learn's SVC and LinearSVC.

Usage: python measurements/smo_vs_sklearn.py [output.csv]

Times: CPU seconds at tolerance 1e-3 and 1e-6, one thread, from raw features, interleaved, after a
warm-up that absorbs compilation; medians of 3 to 7 repeats. SVC (LIBSVM) has 1 GB of cache: room
for all rows, as ours has. Each repeat has the rows in another order, the same for both: on problems
of bad condition (linear, C = 1e4) rounding alone changes the iterations of either severalfold.
Without a bias the opponent is LinearSVC (LIBLINEAR), which needs no kernel rows: the better choice
there. Accuracy: our objective at tolerance 1e-8 against Clarabel's at 1e-13, whose own gap is in
the file.
"""

import csv
import dataclasses
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from path_benchmark.objectives import Hinge
from path_benchmark.solvers import clarabel_solver, judge, smo
from solution_paths.kernels import Kernel

# n, features, C, kernel, bias; every solver sees weights drawn from [.1, 2].
PROBLEMS = [
    (200, 5, 1e0, "rbf", True),
    (500, 5, 1e2, "rbf", True),
    (1000, 10, 1e0, "rbf", True),
    (1000, 4, 1e4, "rbf", True),
    (2000, 10, 1e1, "rbf", True),
    (2000, 4, 1e3, "rbf", True),
    (10000, 20, 1e0, "rbf", True),
    (200, 5, 1e4, "linear", True),
    (500, 5, 1e0, "linear", True),
    (1000, 10, 1e2, "linear", True),
    (2000, 10, 1e0, "linear", True),
    (500, 5, 1e0, "linear", False),
    (2000, 10, 1e0, "linear", False),
]
TOLERANCES = (1e-3, 1e-6)
REPEATS = 3, 7  # at least, at most
ENOUGH_SECONDS = 2.0  # of scikit-learn's runs, after which no more than the least are done
TIGHT_SECONDS = 60.0  # for our solution at tolerance 1e-8
ORACLE_ROWS = 2000  # larger problems are timed only


def make(n, d, C, kernel, bias):
    """Draw a curved boundary with noise and a tenth of the labels flipped."""
    rng = np.random.default_rng([n, d, int(C), len(kernel)])
    X = rng.normal(size=(n, d))
    normal = rng.normal(size=d)
    score = X @ normal / np.linalg.norm(normal) + 0.5 * np.sin(2 * X[:, 0])
    y = np.where(score + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)
    y[rng.random(n) < 0.1] *= -1
    costs = C * rng.uniform(0.1, 2.0, n)
    shape = {"kernel": Kernel(kernel, 1.0 / d), "bias": "free" if bias else "none"}
    return Hinge(X, y, cost0=costs, **shape)


def theirs(problem, tolerance):
    """Seconds and iterations of scikit-learn."""
    shape = {"kernel": problem.kernel.name, "gamma": problem.kernel.gamma}
    machine = SVC(C=1.0, tol=tolerance, cache_size=1000, **shape)
    if not problem.free_bias:
        machine = LinearSVC(
            C=1.0, loss="hinge", tol=tolerance, fit_intercept=False, max_iter=100_000
        )
    start = time.process_time()
    machine.fit(problem.X, problem.y, sample_weight=problem.costs())
    return time.process_time() - start, int(np.ravel(machine.n_iter_)[0])


def ours(problem, tolerance):
    """Seconds and iterations of a fresh solver, its construction included."""
    start = time.process_time()
    solver = smo.SMO(problem.X, kernel=problem.kernel.name, gamma=problem.kernel.gamma)
    found = solver.solve_svc(problem.y, problem.costs(), bias=problem.free_bias, tol=tolerance)
    return time.process_time() - start, found.iterations


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
    if problem.n > ORACLE_ROWS:
        return dict.fromkeys(["objective_difference", "gap", "oracle_gap", "tight_s"], np.nan)
    answer = smo.solve(problem, {"tolerance": 1e-8, "time_limit": TIGHT_SECONDS})
    oracle = judge(problem, clarabel_solver.solve(problem))
    verdict = judge(problem, answer)
    return {
        "objective_difference": (verdict.dual - oracle.dual) / abs(oracle.dual),
        "gap": verdict.gap,
        "oracle_gap": oracle.gap,
        "tight_s": answer.wall_s,
    }


def main(path):
    """Print the table and write it."""
    smo.warm_up()
    rows = []
    print(
        "| n | d | C | kernel | bias | tol | theirs s | SMO s | ratio | worst | iterations, theirs "
        "and ours | objective | gap |\n|" + "---|" * 13
    )
    for case in PROBLEMS:
        problem = make(*case)
        times = {tolerance: compare(problem, tolerance) for tolerance in TOLERANCES}
        tight = accuracy(problem)
        for tolerance, row in times.items():
            names = ("n", "d", "C", "kernel", "bias")
            rows.append(
                dict(zip(names, case, strict=True)) | {"tolerance": tolerance} | row | tight
            )
            n, d, C, kernel, bias = case
            print(
                f"| {n} | {d} | {C:g} | {kernel} | {'free' if bias else 'none'} | {tolerance:g} "
                f"| {row['sklearn_s']:.4f} | {row['smo_s']:.4f} | {row['time_ratio']:.2f} "
                f"| {row['time_ratio_worst']:.2f} | {row['sklearn_iterations']}, "
                f"{row['smo_iterations']} | {tight['objective_difference']:.0e} "
                f"| {tight['gap']:.0e} |",
                flush=True,
            )
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    default = Path(__file__).parents[1] / "results" / "measurements" / "smo_vs_sklearn.csv"
    with threadpool_limits(1):
        main(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
