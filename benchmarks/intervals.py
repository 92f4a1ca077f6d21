"""Leave-one-out and full conformal sets beside what they replace: refits, and a grid of responses.

    python benchmarks/intervals.py [--rows 500] [--conformal-rows 1000]

CPU seconds of one process. Refits are by the walk from nothing without checks (`Start`), by
Clarabel on the same statement (tolerance 1e-9), and by scikit-learn's solver of the model at its
default tolerance; some of them are timed, and multiplied. A grid has 100 responses for each new
row, each refitted by the walk from nothing.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import Lasso, QuantileRegressor
from sklearn.svm import SVC, SVR

import solution_paths as sp
from path_benchmark.solvers.stated import by_clarabel
from solution_paths.solution.conformal import conformal_paths
from solution_paths.solution.neighbours import Start

SOME = 5
GRID = 100
RBF = {"kernel": "rbf", "gamma": 0.1}


def seconds(work: Callable[[], Any], times: int = 1) -> float:
    """Return the CPU seconds of one call, the mean of some."""
    work()
    begin = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - begin) / times


def samples(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows with ten columns, and targets with heavy tails."""
    r = np.random.default_rng(0)
    X = r.normal(size=(n, 10))
    return X, X[:, 0] - X[:, 1] + r.standard_t(3, n)


def models(n: int) -> dict[str, tuple[Any, float, Any]]:
    """Return paths, the parameter at which rows are left out, and scikit-learn's estimator."""
    (X, y), lam = samples(n), 20.0 * n / 500
    label = np.sign(y)
    lad = QuantileRegressor(quantile=0.5, alpha=lam / (2 * n), solver="highs")
    return {
        "SVM, rbf": (sp.svm_path(X, label, C_max=1.0, **RBF), 1.0, SVC(C=1.0, **RBF)),
        "SVM, linear": (sp.svm_path(X, label, C_max=1.0), 1.0, SVC(C=1.0, kernel="linear")),
        "SVR, rbf": (
            sp.svr_path(X, y, C_max=1.0, epsilon=0.3, **RBF), 1.0, SVR(C=1.0, epsilon=0.3, **RBF)
        ),
        "lasso": (sp.lasso_path(X, y, lam_min=lam / 2), lam, Lasso(alpha=lam / n)),
        "LAD, l1": (sp.rlad_path(X, y, lam_min=lam / 2), lam, lad),
    }  # fmt: skip


def leave_one_out(n: int) -> None:
    """Print what n leave-one-out models cost."""
    X, y = samples(n)
    for name, (path, t, estimator) in models(n).items():
        problem, _ = path.stated_at(t)
        target = np.sign(y) if "SVM" in name else y
        own = seconds(lambda path=path, t=t: sp.leave_one_out(path, t))
        found = sp.leave_one_out(path, t)
        others = {
            "walks": lambda problem=problem: Start(problem),
            "Clarabel": lambda problem=problem: by_clarabel(problem, 1e-9),
            "scikit-learn": lambda one=estimator, target=target: one.fit(X, target),
        }
        ratios = {what: n * seconds(work, SOME) / own for what, work in others.items()}
        told = ", ".join(f"{what} {ratio:.1f}" for what, ratio in ratios.items())
        print(f"{name}: {own:.2f} s, {found.n_lines} lines, {found.n_events} events; {told}")


def conformal(n: int) -> None:
    """Print what a new row costs beside the first one, and beside a grid."""
    X, y = samples(n)
    new = np.random.default_rng(1).normal(size=(1 + SOME, X.shape[1]))
    for name, (path, t, _) in models(n).items():
        if "SVM" in name:
            continue
        first = seconds(lambda path=path, t=t: next(conformal_paths(path, t, y, new)))
        all_rows = seconds(lambda path=path, t=t: list(conformal_paths(path, t, y, new)))
        further = (all_rows - first) / SOME
        problem, _ = path.stated_at(t)
        grid = GRID * seconds(lambda problem=problem: Start(problem), SOME)
        print(
            f"{name}: first {first:.3f} s, further {further:.3f} s; grid {grid / further:.0f} times"
        )


def main() -> None:
    """Run both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--conformal-rows", type=int, default=1000)
    given = parser.parse_args()
    leave_one_out(given.rows)
    conformal(given.conformal_rows)


if __name__ == "__main__":
    main()
