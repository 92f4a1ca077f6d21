"""Leave-one-out and conformal sets beside what they replace: refits, grids and searches.

    python measurements/intervals.py [--rows 500] [--conformal-rows 1000]

CPU seconds of one process. Refits are by the walk from nothing without checks (`Start`), by
Clarabel on the same statement (tolerance 1e-9), and by scikit-learn's solver of the model at its
default tolerance; some of them are timed, and multiplied. A grid has 100 responses for each new
row, each refitted by the walk from nothing. A conditional cutoff is also searched by bisection,
each step a quantile regression by HiGHS or, with a kernel, Clarabel; and taken from MAPIE, if that
is installed, whose kernels raise NotImplementedError. Decisions of an SVM without each row are also
taken from n refits by LIBSVM and, if it is installed (`pip install torch torchkm`, CPU), TorchKM.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import clarabel
import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Lasso, LogisticRegression, QuantileRegressor
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


def curves(n: int) -> None:
    """Print what the leave-one-out error of a whole path costs beside n paths."""
    X, y = samples(n)
    for name, (path, t, _) in models(n).items():
        target = np.sign(y) if "SVM" in name else y
        begin = time.process_time()
        curve = sp.leave_one_out_curve(path, target)
        own = time.process_time() - begin
        begin = time.process_time()
        for row in range(SOME):
            rest = np.arange(n) != row
            problem_path(name, X[rest], target[rest], path)
        paths = n * (time.process_time() - begin) / SOME
        single = sp.leave_one_out(path, t).error(target)
        print(
            f"curve, {name}: {own:.2f} s, {paths / own:.1f} times as long by n paths, off "
            f"{abs(float(curve(t)) - single):.0e}"
        )


def problem_path(name: str, X: np.ndarray, y: np.ndarray, like: Any) -> Any:
    """Return the path of a model of `models` for other rows, as far as another path."""
    low, high = like.range
    if "SVM" in name or "SVR" in name:
        follow = sp.svm_path if "SVM" in name else partial(sp.svr_path, epsilon=0.3)
        return follow(X, y, C_max=high, **(RBF if "rbf" in name else {}))
    return (sp.lasso_path if name == "lasso" else sp.rlad_path)(X, y, lam_min=low)


def machines(n: int) -> None:
    """Print how far decisions of an SVM without each row are off, by LIBSVM and TorchKM."""
    X, y = samples(n)
    path, C, machine = models(n)["SVM, rbf"]
    label, found = np.sign(y), sp.leave_one_out(path, C)

    def told(name: str, decisions: np.ndarray, spent: float) -> None:
        off = np.abs(decisions - found.decisions)
        wrong = int(((decisions > 0) != (found.decisions > 0)).sum())
        print(
            f"{name}: {spent:.2f} s, off by {np.median(off):.0e} (median) to {off.max():.0e}, "
            f"{wrong} other labels of {n}"
        )

    told("ours", found.decisions, seconds(lambda: sp.leave_one_out(path, C)))
    print(found.certify())
    for tolerance in (1e-3, 1e-9):
        begin, decisions = time.process_time(), np.empty(n)
        for row in range(n):
            rest = np.arange(n) != row
            own = machine.set_params(tol=tolerance).fit(X[rest], label[rest])
            decisions[row] = own.decision_function(X[[row]])[0]
        told(f"LIBSVM, tol={tolerance:g}", decisions, time.process_time() - begin)
    try:
        import torch
        from torchkm.cvksvm import cvksvm
    except ImportError:
        return
    torch.set_num_threads(1)
    K, signs = (torch.tensor(part) for part in (rbf_kernel(X, gamma=RBF["gamma"]), label))
    lam, folds = torch.tensor([1.0 / (2.0 * n * C)]), torch.arange(1, n + 1)
    tight = {"eps": 1e-12, "KKTeps": 1e-8, "KKTeps2": 1e-8, "delta_len": 16}
    kinds = {
        "as its estimator sets it": {"eps": 1e-5},
        "is_exact=1": {"eps": 1e-5, "is_exact": 1},
        "tight": tight,
    }
    for name, options in kinds.items():
        options = {"maxit": 1_000_000, "gamma": 1e-8, "device": "cpu"} | options
        other = cvksvm(Kmat=K, y=signs, nlam=1, ulam=lam, foldid=folds, nfolds=n, **options)
        begin = time.process_time()
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            other.fit()
        told(f"TorchKM, {name}", other.pred[:, 0].numpy(), time.process_time() - begin)


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
    path = sp.logistic_path(X, label, lam_min=1.0, l1_ratio=0.0)
    one = seconds(lambda: sp.conformal_labels(path, 1.0, label, new[:1]))
    every = seconds(lambda: sp.conformal_labels(path, 1.0, label, new))
    further = (every - one) / SOME
    estimator = LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-10)
    other = 2 * seconds(lambda: estimator.fit(X, label), SOME)
    undecided = int(sp.conformal_labels(path, 1.0, label, new).undecided.sum())
    print(
        f"labels, logistic with a ridge: further {further:.4f} s, {undecided} undecided; "
        f"scikit-learn's Newton {other / further:.1f} times"
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
    machines(given.rows)
    curves(given.rows)
    conformal(given.conformal_rows)
    labels(given.conformal_rows)
    conditional(given.conformal_rows)


if __name__ == "__main__":
    main()
