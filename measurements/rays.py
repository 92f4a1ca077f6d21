"""Kernel machines behind their last breakpoint, where the function no longer moves.

From the last breakpoint on w rests, and the losses are as small as any w and b make them. What a
path (and an estimator) says there, up to a million times the last breakpoint, is judged by the sum
of the losses of its decisions on the training rows, beside the least there is: of the kernel's own
features, orthonormal, by HiGHS; of rbf, whose features tell all different rows apart, by counting
equal rows. Right is a loss within 1e-6 of it (of the losses of the best constant where it is nearly
0), and decisions that are those at the last breakpoint but for a constant, to 1e-6.

    python measurements/rays.py --seeds 0 100 --out results/rays.jsonl
    python measurements/rays.py --kind poly --seeds 7 8 --verbose
    python measurements/rays.py --report results/rays.jsonl

A problem is silent where an answer is wrong and nothing was said, told where a `PathError` or
`PathWarning` said so, alarmed where it was right and one was given, else right. What stands in the
file already is not run again.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
import zlib
from collections import Counter
from itertools import combinations_with_replacement
from pathlib import Path as FilePath

import numpy as np
import pandas as pd
from defaults import about_the_answer
from resumed import resumed
from scipy.optimize import linprog

from solution_paths import PathError, PathSVC, SolutionPath, dm_ksvm_path, svm_path

FACTORS = np.array([1.0, 10.0, 1e3, 1e6])
HARMFUL = 1e-6
NEARLY_ZERO = 1e-3  # of the losses of a constant
ROWS = 6, 150
KEYS = ("kind", "model", "seed")
KINDS = ("rbf", "poly", "precomputed")
MODELS = ("svm", "dm_ksvm")


# -- problems ---------------------------------------------------------------------------------


def make(kind, model, seed):
    """Return X, y, the kernel's options, and features of which it is the product (None: rbf)."""
    rng = np.random.default_rng([zlib.crc32(f"{kind}/{model}".encode()), seed])
    n, d = int(np.exp(rng.uniform(*np.log(ROWS)))), int(rng.integers(1, 4))
    unit = 10.0 ** rng.choice([0.0, rng.uniform(-1, 3)])
    Z = rng.normal(size=(n, d))
    if rng.random() < 0.2:
        Z = np.round(Z)
    if rng.random() < 0.2:
        Z = Z[rng.integers(0, max(n // 2, 2), n)]
    noise = 0.0 if rng.random() < 0.3 else 10.0 ** rng.uniform(-1, 0.5)
    score = Z @ rng.normal(size=d) + noise * rng.normal(size=n)
    y = np.where(score > np.quantile(score, rng.choice([0.5, 0.7, 0.9])), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    X = unit * Z
    if kind == "rbf":
        options = {"gamma": 10.0 ** rng.uniform(-1.5, 1.5) / (d * unit**2)}
        return X, y, {"kernel": "rbf"} | options, None
    if kind == "poly":
        options = {"degree": int(rng.integers(2, 4)), "coef0": float(rng.choice([0.0, 1.0]))}
        return X, y, {"kernel": "poly", "gamma": 1.0} | options, monomials(Z, **options)
    constant = rng.choice([0.0, 10.0 ** rng.uniform(0, 2)]) * unit**2
    return X @ X.T + constant, y, {"kernel": "precomputed"}, Z


def monomials(Z, degree, coef0):
    """Return the monomials of a polynomial kernel, but for their weights."""
    degrees = range(1, degree + 1) if coef0 else (degree,)
    columns = range(Z.shape[1])
    chosen = [c for k in degrees for c in combinations_with_replacement(columns, k)]
    return np.stack([Z[:, c].prod(axis=1) for c in chosen], axis=1)


# -- the judge --------------------------------------------------------------------------------


def losses(y, f, kappa):
    """Return the sum of hinge losses, or of double margins (kappa finite), of each column of f."""
    m = (y * f.T).T
    return np.maximum(np.maximum(1 - m, 1 + m - kappa), 0).sum(axis=0)


def least(X, y, features, kappa):
    """Return the least sum of losses that any function with the kernel's features has."""
    if features is None:
        _, own = np.unique(X, axis=0, return_inverse=True)
        features = np.eye(own.max() + 1)[own.ravel()]
    features = features - features.mean(axis=0)
    size = np.sqrt((features**2).mean(axis=0))
    U, s, _ = np.linalg.svd(features[:, size > 0] / size[size > 0], full_matrices=False)
    Q = U[:, s > 1e-11 * s.max(initial=0)] * np.sqrt(len(y))
    (n, r), side = Q.shape, y[:, None]
    inner = np.hstack([-side * Q, -side, -np.eye(n)])
    rows, right = [inner], [np.full(n, -1.0)]
    if np.isfinite(kappa):
        rows.append(np.hstack([side * Q, side, -np.eye(n)]))
        right.append(np.full(n, kappa - 1))
    limits = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = linprog(
        np.r_[np.zeros(r + 1), np.ones(n)],
        np.vstack(rows),
        np.concatenate(right),
        bounds=[(None, None)] * (r + 1) + [(0, None)] * n,
        options=limits,
    )
    if found.status != 0:
        raise RuntimeError(f"HiGHS says {found.message}")
    return found.fun


def off(y, f, rest, kappa, best):
    """Return how far the columns of f are from right: the excess of losses, and how f moved.

    ``rest``: decisions at the last breakpoint.
    """
    if not np.isfinite(f).all():
        return np.inf, np.inf
    constant = losses(y, np.linspace(-1, 1, 3)[None].repeat(len(y), 0), kappa).min()
    scale = best if best > NEARLY_ZERO * constant else constant
    excess = (losses(y, f, kappa) - best) / scale
    moved = np.ptp(f - rest[:, None], axis=0) / 2 / np.abs(rest).max()
    return float(excess.max()), float(moved.max())


def run_one(kind, model, seed):
    """Return a row: how far a path and an estimator are off on the ray, and what they said."""
    X, y, options, features = make(kind, model, seed)
    kappa = np.inf if model == "svm" else 3.0
    row = {"kind": kind, "model": model, "seed": seed, "n": len(y), "end": "", "message": ""}
    row |= {"largest": float(np.abs(X).max())}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            if model == "svm":
                path = svm_path(X, y, C_max=np.inf, **options)
                ts = (path.breakpoints[-1] or 1.0) * FACTORS
            else:
                path = dm_ksvm_path(X, y, kappa, lam_min=0.0, **options)
                inner = np.isfinite(path.breakpoints) & (path.breakpoints > 0)
                ts = min(path.breakpoints[inner], default=1.0) / FACTORS
        except PathError as error:
            return row | {"end": "told", "message": str(error)[:200]}
    best = least(X, y, features, kappa)
    inside = (ts >= path.range[0]) & (ts <= path.range[1])
    f = {"path": path.decision_function(X, ts[inside].tolist())}
    f["each"] = np.stack([path.decision_function(X, t) for t in ts[inside]], axis=1)
    with tempfile.TemporaryDirectory() as folder:
        file = FilePath(folder) / "path.npz"
        path.save(file)
        f["loaded"] = SolutionPath.load(file).decision_function(X, ts[inside].tolist())
    if model == "svm":
        C = float(ts[inside][-1])
        try:
            with warnings.catch_warnings(record=True) as more:
                warnings.simplefilter("always")
                fitted = PathSVC(C, C_max=np.inf, **options).fit(X, y)
            f["estimator"], told = fitted.decision_function(X)[:, None], [*told, *more]
        except PathError as error:
            row["message"] = str(error)[:200]
    rest = f["each"][:, 0]
    found = {name: off(y, own, rest, kappa, best) for name, own in f.items()}
    row |= {"last": float(ts[0]), "reached": float(ts[inside][-1] / ts[0]), "least": best}
    row |= {"excess": max(v[0] for v in found.values()), "moved": max(v[1] for v in found.values())}
    alarms = [str(one.message)[:200] for one in told if about_the_answer(one)]
    wrong = max(row["excess"], row["moved"]) > HARMFUL
    row["message"] = row["message"] or "; ".join(alarms[:1])
    names = ("told", "silent"), ("alarmed", "right")
    row["end"] = names[0 if wrong else 1][0 if row["message"] else 1]
    return row | {"worst": max(found, key=lambda name: max(found[name]))}


# -- the command ------------------------------------------------------------------------------


def report(rows):
    """Print how the answers ended, by kind and model."""
    print(f"{len(rows)} problems, {dict(Counter(rows['end']))}")
    for key, some in rows.groupby(["kind", "model"], sort=False):
        print(f"  {' '.join(key):22s} {len(some):6d}  {dict(Counter(some['end']))}")


def main():
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", nargs=2, type=int, default=(0, 20), metavar=("FIRST", "END"))
    parser.add_argument("--kind", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--model", nargs="+", choices=MODELS, default=MODELS)
    parser.add_argument("--out", type=FilePath)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--report", nargs="+", metavar="FILE")
    arguments = parser.parse_args()
    if arguments.report:
        tables = [pd.read_json(file, lines=True) for file in arguments.report]
        return report(pd.concat(tables, ignore_index=True))
    chosen = [
        (kind, model, seed)
        for seed in range(*arguments.seeds)
        for kind in arguments.kind
        for model in arguments.model
    ]
    found = []
    for row in resumed(arguments.out, chosen, run_one, KEYS):
        found.append(row)
        if arguments.verbose or row["end"] == "silent":
            print(row, flush=True)
    report(pd.DataFrame(found))


if __name__ == "__main__":
    main()
