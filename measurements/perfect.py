"""Targets without noise and constant ones, constant columns: right coefficients, in how long.

    python measurements/perfect.py --out results/perfect.jsonl
    python measurements/perfect.py --case "lad in s" --n 10000 --limit 60

Each row: seconds, how far coefficients and predictions are off (of the largest coefficient; of
labels the mean hinge loss), how many coefficients that should be 0 are not exactly so, and what was
said. A case that took more than ``--limit`` seconds is not run with more rows. What stands in the
file already is not run again.
"""

from __future__ import annotations

import argparse
import time
import warnings
from contextlib import suppress
from pathlib import Path as FilePath

import numpy as np
from resumed import resumed

from solution_paths import (
    L1SVC,
    DrLAD,
    PathError,
    PathLasso,
    WeightedSVR,
    dr_regression_path,
    drlad_path,
    lasso_path,
)

SIZES = (10, 100, 1000, 5000, 10_000)
KEYS = ("case", "n")
LEVEL, CONSTANT, TUBE = 0.3, 3.0, 0.1


def last(path):
    """Return coefficients and bias at the end of a path in s."""
    t = path.breakpoints[-1]
    return path.coef(t), path.intercept(t)


def first(path):
    """Return coefficients and bias where a path's penalty is 0."""
    return path.coef(0.0), path.intercept(0.0)


def lasso(X, y):
    """Return coefficients and bias of the lasso of centred rows where its penalty is 0."""
    w = lasso_path(X - X.mean(axis=0), y - y.mean(), fit_intercept=False).coef(0.0)
    return w, y.mean() - X.mean(axis=0) @ w


def fitted(model):
    """Return coefficients and bias of a fitted estimator, of a machine by its path."""
    if hasattr(model, "coef_"):
        return np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
    return model.path_.coef(1.0), model.path_.intercept(1.0)


# name: kind of target, and what is handed out for rows and targets
CASES = {
    "lad in s": ("linear", lambda X, y: last(drlad_path(X, y))),
    "lad in s, one column": ("one", lambda X, y: last(drlad_path(X, y))),
    "lad in lam1": ("linear", lambda X, y: first(drlad_path(X, y, vary="lam1"))),
    "pinball in s": ("linear", lambda X, y: last(dr_regression_path(X, y, ("quantile", 0.3)))),
    "lasso": ("linear", lasso),
    "svr": ("linear", lambda X, y: fitted(WeightedSVR(100.0, epsilon=0.0).fit(X, y))),
    "lad, constant columns": ("columns", lambda X, y: fitted(DrLAD(s=1e3).fit(X, y))),
    "lasso, constant columns": ("columns", lambda X, y: fitted(PathLasso(alpha=0.0).fit(X, y))),
    "l1-svm, constant columns": ("labels", lambda X, y: fitted(L1SVC(1e-3).fit(X, y))),
    "lad, constant target": ("constant", lambda X, y: fitted(DrLAD().fit(X, y))),
    "lasso, constant target": ("constant", lambda X, y: fitted(PathLasso().fit(X, y))),
    "svr, constant target": ("constant", lambda X, y: fitted(WeightedSVR().fit(X, y))),
    "lad, one-hot, constant": ("one hot", lambda X, y: fitted(DrLAD().fit(X, y))),
    "lasso, one-hot, constant": ("one hot", lambda X, y: fitted(PathLasso().fit(X, y))),
    "svr, one-hot, constant": ("one hot", lambda X, y: fitted(WeightedSVR().fit(X, y))),
}


def make(kind, n):
    """Return rows, targets, and the right coefficients."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 1 if kind == "one" else 3))
    w = np.array([40.3, -2.0, 0.0])[: X.shape[1]]
    if kind == "one hot":
        X, w = np.eye(4)[rng.integers(0, 4, n)], np.zeros(4)
    if kind in ("constant", "one hot"):
        return X, np.full(n, LEVEL), 0.0 * w
    if kind in ("columns", "labels"):
        X, w = np.hstack([X, np.full((n, 1), CONSTANT), np.zeros((n, 1))]), np.append(w, [0, 0])
    if kind == "labels":  # the first column alone tells them, far from zero
        X[:, 0] += np.sign(X[:, 0])
        return X, np.sign(X[:, 0]), None
    return X, X @ w + LEVEL, w


def run_one(case, n):
    """Return the row of a case."""
    kind, answer = CASES[case]
    X, y, right = make(kind, n)
    row = {"case": case, "n": n, "seconds": np.nan, "off": np.nan, "ghosts": 0, "said": ""}
    begin = time.perf_counter()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            w, b = answer(X, y)
        except Exception as error:
            row["said"] = f"{type(error).__name__}: {error}"[:200]
    row["seconds"] = round(time.perf_counter() - begin, 4)
    if row["said"]:
        return row
    row["said"] = "; ".join(str(one.message)[:100] for one in told)
    f = X @ w + b
    if right is None:
        row["off"] = float(np.maximum(1 - y * f, 0).mean())
        return row | {"ghosts": int((w[1:] != 0).sum())}
    scale = max(np.abs(right).max(), LEVEL)
    slack = TUBE if case.startswith("svr") and not right.any() else 0.0
    away = np.maximum(np.abs(f - y) - slack, 0.0)
    row["off"] = float(max(np.abs(w - right).max(), away.max()) / scale)
    return row | {"ghosts": int((w[right == 0] != 0).sum())}


def main():
    """Run what was asked for and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", nargs="+", choices=CASES, default=CASES)
    parser.add_argument("--n", nargs="+", type=int, default=SIZES)
    parser.add_argument("--limit", type=float, default=5.0)
    parser.add_argument("--out", type=FilePath)
    arguments = parser.parse_args()
    for kind, answer in CASES.values():  # compiles
        with warnings.catch_warnings(), suppress(PathError):
            warnings.simplefilter("ignore")
            answer(*make(kind, 12)[:2])
    print(f"{'case':26s} {'n':>6s} {'seconds':>8s} {'off':>8s} ghosts  said")
    for case in arguments.case:
        for row in resumed(arguments.out, [(case, n) for n in sorted(arguments.n)], run_one, KEYS):
            print(
                f"{row['case']:26s} {row['n']:6d} {row['seconds']:8.3f} {row['off']:8.1e} "
                f"{row['ghosts']:6d}  {row['said']}",
                flush=True,
            )
            if row["seconds"] > arguments.limit:
                break


if __name__ == "__main__":
    main()
