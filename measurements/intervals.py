"""Leave-one-out and conformal sets beside what they replace: refits, grids and searches.

    python measurements/intervals.py [--rows 500] [--conformal-rows 1000]

CPU seconds of one process. Refits are by the walk from nothing without checks (`Start`), by
Clarabel on the same statement (tolerance 1e-9), and by scikit-learn's solver of the model at its
default tolerance; some of them are timed, and multiplied. A grid has 100 responses for each new
row, each refitted by the walk from nothing. A conditional cutoff is also searched by bisection,
each step a quantile regression by HiGHS or, with a kernel, Clarabel; and taken from MAPIE, if that
is installed, whose kernels raise NotImplementedError.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import clarabel
import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Lasso, QuantileRegressor
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, SVR

import solution_paths as sp
from path_benchmark.solvers.clarabel_solver import by_clarabel
from solution_paths.solution.conformal import conformal_paths
from solution_paths.solution.neighbours import Start

SOME = 5
GRID = 100
LEVEL = 0.85  # of a new row's dual, between -0.1 and 0.9
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


def labels(n: int) -> None:
    """Print what both labels of a new row cost, beside two refits."""
    X, y = samples(n)
    new = np.random.default_rng(1).normal(size=(1 + SOME, X.shape[1]))
    label = np.sign(y)
    for name, (path, t, estimator) in models(n).items():
        if "SVM" not in name:
            continue
        one = seconds(lambda path=path, t=t: sp.conformal_labels(path, t, label, new[:1]))
        every = seconds(lambda path=path, t=t: sp.conformal_labels(path, t, label, new))
        further = (every - one) / SOME
        problem, _ = path.stated_at(t)
        walk = 2 * seconds(lambda problem=problem: Start(problem), SOME)
        other = 2 * seconds(lambda own=estimator: own.fit(X, label), SOME)
        print(
            f"labels, {name}: first {one:.3f} s, further {further:.4f} s; two walks "
            f"{walk / further:.1f} times, LIBSVM {other / further:.1f} times"
        )


def late(X: np.ndarray) -> np.ndarray:
    """Return features of rows: two columns, and a group."""
    return np.column_stack([np.ones(len(X)), X[:, :2], X[:, 2] > 0.0])


def conditional(n: int) -> None:
    """Print what a conditional cutoff costs, and how far off those of others are."""
    X, y = samples(n)
    scores, new = np.abs(y - X[:, 0] + X[:, 1]), np.random.default_rng(1).normal(size=(SOME, 10))
    lam = 1e-2
    for name, options in {"features": {}, "features and rbf": {"lam": lam, **RBF}}.items():

        def ours(options: dict[str, Any] = options) -> np.ndarray:
            found = sp.conditional_conformal_path(X, scores, new, features=late, **options)
            return np.array([path.cutoff(LEVEL) for path in found])

        cutoffs = ours()
        own = seconds(ours) / SOME
        begin, searched = time.process_time(), []
        for row in new:
            A = np.vstack([X, row])
            K = rbf_kernel(A, gamma=RBF["gamma"]) / (lam * len(A)) if options else None
            searched.append(by_search(scores, late(A), K))
        search = (time.process_time() - begin) / SOME
        off = np.abs(cutoffs - searched).max()
        print(f"conditional, {name}: {own:.3f} s; search {search / own:.0f} times, off {off:.0e}")
    try:
        from mapie.conditional_conformal_prediction import ConditionalSplitConformalRegressor
    except ImportError:
        return
    zero = DummyRegressor(strategy="constant", constant=0.0).fit(X, scores)
    other = ConditionalSplitConformalRegressor(late, zero, confidence_level=0.9)
    other.conformalize(X, scores)
    end = [path.cutoff() for path in sp.conditional_conformal_path(X, scores, new, features=late)]
    begin = time.process_time()
    found = other.predict_interval(new)[1][:, 1, 0]
    spent = (time.process_time() - begin) / SOME
    print(f"MAPIE, features: {spent:.3f} s; off {np.abs(found - end).max():.0e}")


def by_search(scores: np.ndarray, Phi: np.ndarray, K: np.ndarray | None) -> float:
    """Return the score at which the dual of the last row reaches a level, by bisection."""
    n, k = Phi.shape
    A = sparse.vstack([sparse.csc_array(Phi.T), sparse.eye_array(n), -sparse.eye_array(n)])
    b = np.concatenate([np.zeros(k), np.full(n, 0.9), np.full(n, 0.1)])
    P = None if K is None else sparse.csc_array(np.triu(K))
    options = clarabel.DefaultSettings()
    options.verbose = False

    def dual(S: float) -> float:
        s = np.append(scores, S)
        if P is None:
            own = linprog(-s, A_eq=Phi.T, b_eq=np.zeros(k), bounds=(-0.1, 0.9), method="highs")
            return own.x[-1]
        cones = [clarabel.ZeroConeT(k), clarabel.NonnegativeConeT(2 * n)]
        return clarabel.DefaultSolver(P, -s, A.tocsc(), b, cones, options).solve().x[-1]

    low, high = -scores.max(), 4.0 * scores.max()
    while high - low > 1e-6 * scores.max():
        middle = 0.5 * (low + high)
        low, high = (middle, high) if dual(middle) < LEVEL else (low, middle)
    return high


def main() -> None:
    """Run all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--conformal-rows", type=int, default=1000)
    given = parser.parse_args()
    leave_one_out(given.rows)
    conformal(given.conformal_rows)
    labels(given.conformal_rows)
    conditional(given.conformal_rows)


if __name__ == "__main__":
    main()
