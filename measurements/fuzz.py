"""Random legitimate problems for every path function, judged in extended precision.

A problem is named by (function, class of data, seed), and how many rows it may have, and made from
nothing else, so that engines can be compared on the same ones. Each path is judged at a sample of
breakpoints and between them by its own objective, in longdouble (80 bits on x86), from what the
path hands out: coefficients and bias for linear models (else f from the duals), and duals for the
lower bound. Local optima of outlier paths are judged as optima of the conditional problem, on both
sides of jumps, which must not raise the objective. A gap is "exact" to 1e-9, "close" to 1e-7, else
"wrong"; "limit" is one above 1e-9 that a w in double can't state better (twice the sum over rows of
cost times half a unit of the last place of the terms of w.x).

    python measurements/fuzz.py --seeds 0 20 --out results/fuzz.jsonl
    python measurements/fuzz.py --function svm --data scales --seeds 7 8 --verbose
    python measurements/fuzz.py --rows 400 1500 --seeds 0 8 --out results/fuzz_large.jsonl
    python measurements/fuzz.py --report results/fuzz.jsonl other.jsonl
    python measurements/fuzz.py --report results/fuzz*.jsonl --write docs/fuzz.csv

What stands in the file already is not run again. Each row names the
engine, by a mark of its files, and the instruction set that it was compiled for.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
import zlib
from collections import Counter
from pathlib import Path as FilePath
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp
from llvmlite import binding as llvm
from optimum import double_margin, everywhere, hinge, lines, stated, tube

import solution_paths as sp_
from solution_paths import (
    OutlierPath,
    PathError,
    PathWarning,
    dm_drsvm_grid,
    dm_drsvm_path,
    dm_ksvm_path,
    dr_regression_path,
    drlad_grid,
    drlad_path,
    drsvm_path,
    l1_svm_path,
    lasso_path,
    outlier_svm_path,
    outlier_svr_path,
    quantile_svm_path,
    svm_path,
    weighted_svm_path,
    weighted_svr_path,
)
from solution_paths.compilation import mark
from solution_paths.problem import Losses, Problem, Product, pieces
from solution_paths.solution.path import RAY_FACTORS
from solution_paths.solution.reading import Scale

LONG = np.longdouble
WRONG = 1e-7  # a relative gap that is no rounding any more
EXACT = 1e-9  # what the library promises
HARMFUL = 1e-6  # what a user would act on
MOST = 0.005  # of the problems may end otherwise than exactly, told by a warning or an error
FINE = ("exact", "limit", "ValueError")
HALF_A_UNIT = LONG(2.3e-16)
ROWS = 6, 200  # of a problem, if nothing else is asked for
INSTRUCTIONS = os.environ.get("NUMBA_CPU_NAME") or llvm.get_host_cpu_name()


# -- data -------------------------------------------------------------------------------------


def _columns_of_mixed_units(rng, n):
    age = rng.integers(18, 90, n)
    income = np.round(np.exp(rng.normal(10.5, 0.8, n)), -2)
    rate = np.round(rng.random(n), 3)
    dummies = np.eye(4)[rng.choice(4, n, p=[0.6, 0.3, 0.08, 0.02])]
    return np.column_stack([age, income, rate, dummies])


def _one_hot(rng, n, drop):
    columns = []
    for size in rng.integers(2, 7, size=int(rng.integers(2, 5))):
        shares = rng.dirichlet(np.full(size, 0.5))
        columns.append(np.eye(size)[rng.choice(size, size=n, p=shares)][:, drop:])
    return np.hstack(columns)


def _gaussian(rng, n):
    return rng.normal(size=(n, int(rng.integers(1, 12))))


def _scales(rng, n):
    X = _gaussian(rng, n)
    return X * 10.0 ** rng.uniform(-3, 3, size=X.shape[1])


def _duplicated(rng, n):
    X = _gaussian(rng, n)
    return X[rng.integers(0, max(n // 3, 2), n)]


def _collinear(rng, n):
    X = _gaussian(rng, n)
    return np.hstack([X, X @ rng.normal(size=(X.shape[1], 2)), np.full((n, 1), 3.0)])


def _words(rng, n):
    return sp.csr_array(sp.random(n, 3 * n, density=0.05, random_state=rng, format="csr"))


def _lattice(rng, n):
    return rng.integers(-2, 3, size=(n, int(rng.integers(1, 4)))).astype(float)


def _near_dependent(rng, n):
    """Columns whose dependence rounding hides, or that differ by little."""
    X, kind = rng.normal(size=(n, 3)), rng.integers(0, 6)
    if kind == 0:  # parts beside their total
        return np.column_stack([X, X.sum(axis=1)])
    if kind == 1:  # one quantity in two units
        celsius = rng.normal(15, 8, n).round(1)
        return np.column_stack([X, celsius, 1.8 * celsius + 32])
    if kind == 2:  # standardised dummies
        dummies = np.eye(4)[rng.integers(0, 4, n)]
        spread = np.where(dummies.std(axis=0) > 0, dummies.std(axis=0), 1.0)
        return np.column_stack([X, (dummies - dummies.mean(axis=0)) / spread])
    if kind == 3:  # shares of a whole, and the whole
        shares = rng.dirichlet(np.ones(4), n)
        return np.column_stack([shares, shares.sum(axis=1)])
    if kind == 4:  # combinations, centred
        X = np.column_stack([X, X @ rng.normal(size=(3, 2))])
        return X - X.mean(axis=0)
    apart = 10.0 ** rng.uniform(-13, -7)  # rounded differently
    return np.column_stack([X, X[:, 0] * (1 + apart * rng.normal(size=n))])


def _centred_wide(rng, n):
    n = min(n, 30)
    X = rng.normal(size=(n, n + int(rng.integers(2, 20))))
    return X - X.mean(axis=0)


def _constant(rng, n):
    """Rows that are all the same, or columns that say nothing: the optimum is w = 0."""
    X = np.tile(rng.normal(size=int(rng.integers(1, 4))), (n, 1))
    return X if rng.random() < 0.5 else np.round(X)


def _genes(rng, n):
    """Many more columns than rows, some rare, some alike; and a few rows twice."""
    X = rng.normal(size=(n, int(rng.integers(210, 400))))
    if rng.random() < 0.5:
        X = (rng.uniform(0.0, 2.0, X.shape[1]) < X).astype(float)
    X[:, ::9] = X[:, :1]
    X[rng.integers(0, n, n // 6)] = X[0]
    return X


DATA = {
    "gaussian": _gaussian,
    "scales": _scales,
    "units": _columns_of_mixed_units,
    "one_hot": lambda rng, n: _one_hot(rng, n, 1),
    "dummy_trap": lambda rng, n: _one_hot(rng, n, 0),
    "sparse_dummies": lambda rng, n: sp.csr_array(_one_hot(rng, n, 0)),
    "counts": lambda rng, n: rng.poisson(10.0 ** rng.uniform(-1, 3, 6), size=(n, 6)).astype(float),
    "likert": lambda rng, n: rng.integers(1, 8, size=(n, int(rng.integers(2, 9)))).astype(float),
    "lattice": _lattice,
    "duplicated": _duplicated,
    "collinear": _collinear,
    "wide": lambda rng, n: rng.normal(size=(min(n, 40), 60)),
    "genes": lambda rng, n: _genes(rng, min(n, 100)),
    "words": _words,
    "year": lambda rng, n: np.column_stack([rng.integers(1950, 2020, n), rng.normal(size=n)]),
    "near_dependent": _near_dependent,
    "centred_wide": _centred_wide,
    "constant": _constant,
    # targets that are constant
    "flat": lambda rng, n: rng.normal(size=(n, int(rng.integers(1, 5)))),
    # beside a free bias
    "offset": lambda rng, n: _gaussian(rng, n) + 10.0 ** rng.uniform(2, 6),
    "unix_time": lambda rng, n: np.column_stack(
        [1.6e9 + rng.integers(0, 86400 * rng.integers(1, 60), n), rng.normal(size=n)]
    ),
    # where penalties are in units of the columns, or C begins at zero
    "small_units": lambda rng, n: _gaussian(rng, n) * 10.0 ** rng.uniform(-9, -4),
    "large_units": lambda rng, n: _gaussian(rng, n) * 10.0 ** rng.uniform(4, 9),
}
# kernels: the options of a call, on rows of a class of data
KERNELS = {
    "rbf": ("gaussian", lambda rng: {"kernel": "rbf", "gamma": 10.0 ** rng.uniform(-1, 1)}),
    "rbf_flat": ("gaussian", lambda rng: {"kernel": "rbf", "gamma": 10.0 ** rng.uniform(-5, -2)}),
    "rbf_peaked": ("scales", lambda rng: {"kernel": "rbf", "gamma": 10.0 ** rng.uniform(0, 4)}),
    "rbf_lattice": ("lattice", lambda rng: {"kernel": "rbf", "gamma": 0.5}),
    "rbf_dummies": ("dummy_trap", lambda rng: {"kernel": "rbf", "gamma": 0.1}),
    "poly": ("gaussian", lambda rng: {"kernel": "poly", "degree": 3, "coef0": 1.0}),
    "low_rank": ("gaussian", lambda rng: {"kernel": "precomputed"}),
}


def make(data, function, seed, rows=ROWS):
    """Return (X, y, real targets, options, rng) of a problem; ``rows``: least and most."""
    name = zlib.crc32(f"{function}/{data}".encode())
    rng = np.random.default_rng(np.random.SeedSequence([name, seed]))
    n = int(np.exp(rng.uniform(*np.log(rows))))
    source, options = KERNELS.get(data, (data, lambda rng: {}))
    X, options = DATA[source](rng, n), options(rng)
    n = X.shape[0]
    dense = X.toarray() if sp.issparse(X) else X
    spread = dense.std(axis=0)
    spread = np.where(spread > 1e-12 * np.abs(dense).max(axis=0), spread, 1.0)
    target = (dense / spread) @ rng.normal(size=X.shape[1]) + rng.normal(size=n)
    share = rng.choice([0.5, 0.8, 0.95])
    y = np.where(target > np.quantile(target, share), 1.0, -1.0)
    flip = rng.random(n) < 0.1
    y[flip] *= -1
    y[:2] = 1.0, -1.0
    if options.get("kernel") == "precomputed":
        X = X @ X.T
    if rng.random() < 0.3:
        target = np.round(target)
    if data == "flat" or (data == "constant" and rng.random() < 0.5):
        target = np.full(n, float(np.round(rng.normal(), 1)))
    return X, y, target, options, rng


def _weights(rng, n):
    kind = rng.integers(0, 4)
    if kind == 0:
        return np.full(n, 10.0 ** rng.uniform(-3, 3))
    weights = rng.integers(0, 4, n) if kind == 1 else 10.0 ** rng.uniform(-2, 2, n)
    weights = weights * (10.0 ** rng.uniform(-4, 4) if kind == 3 else 1.0)
    weights[:2] = max(weights.max(), 1.0)
    return np.asarray(weights, dtype=float)


def _trace(function, X, y, target, options, rng):
    n = len(y)
    if function == "quantile":
        return quantile_svm_path(X, y, 10.0 ** rng.uniform(-6, 2), **options)
    if function == "svm":
        return svm_path(X, y, C_max=10.0 ** rng.uniform(0, 6), **options)
    if function == "weighted_svm":
        path = weighted_svm_path(X, y, _weights(rng, n), _weights(rng, n), **options)
        return path.continue_to(_weights(rng, n)) if rng.random() < 0.5 else path
    if function == "weighted_svr":
        epsilon = float(rng.choice([0.0, 0.1, 1.0]))
        path = weighted_svr_path(X, target, _weights(rng, n), _weights(rng, n), epsilon, **options)
        return path.continue_to(_weights(rng, n)) if rng.random() < 0.5 else path
    if function.startswith("outlier"):
        C, homotopy = 10.0 ** rng.uniform(-3, 3), str(rng.choice(["theta", "s"]))
        options = options | {"fit_intercept": function.endswith("bias")}
        if function.startswith("outlier_svm"):
            return outlier_svm_path(X, y, C, homotopy=homotopy, **options)
        wild = rng.random(n) < 0.1
        target = target + wild * rng.normal(scale=10 * np.ptp(target) / 4, size=n)
        wide = np.ptp(target) or 1.0  # a threshold is > 0, of constant targets too
        s = float(rng.uniform(0.05, 1.0)) * wide if rng.random() < 0.7 else None
        return outlier_svr_path(X, target, C, homotopy=homotopy, s=s, **options)
    if function == "dm_ksvm":
        return dm_ksvm_path(X, y, 10.0 ** rng.uniform(-0.5, 1.5), lam_min=1e-6, **options)
    if function in NETS:
        return _trace_net(function, X, y, target, rng)
    if function in STATED:
        return STATED[function](X, y, target, options, rng)
    return lasso_path(X, target, fit_intercept=False) if function == "lasso" else l1_svm_path(X, y)


def _trace_net(function, X, y, target, rng):
    """Trace a model with an elastic net, in units of the spread of X's columns."""
    spread = (
        float(np.median(X.std(axis=0)[X.std(axis=0) > 0])) if (X.std(axis=0) > 0).any() else 1.0
    )
    vary = function.rsplit("_", 1)[1]
    wide = np.ptp(target) if function.startswith(("drlad", "dr_r")) else 1.0
    lam2 = 10.0 ** rng.uniform(-4, 1) * spread**2 / (wide or 1.0)
    lam1 = 10.0 ** rng.uniform(-3, -0.5) * spread
    if vary == "grid":  # a line that begins where another does
        ridges, line = lam2 * 10.0 ** rng.uniform(-2, 2, 4), rng.integers(4)
        if function == "drlad_grid":
            radius = 10.0 ** rng.uniform(-2, 2) * (wide or 1.0) / spread
            return drlad_grid(X, target, [radius], ridges).paths[line]
        kappa = 10.0 ** rng.uniform(-0.7, 1.3)
        return dm_drsvm_grid(X, y, kappa, [lam1], ridges).paths[line]
    held = {"vary": vary}
    if vary == "lam2":
        by_radius = function.startswith("dr_r") or (function[:5] == "drlad" and rng.random() < 0.7)
        radius = 10.0 ** rng.uniform(-2, 0.5) * (wide or 1.0) / spread
        held |= {"s": radius} if by_radius else {"lam1": lam1}
        held |= {"lam2_min": 1e-6 * lam2}
    elif function[:2] == "dm" or rng.random() < 0.7:
        held["lam2"] = lam2
    if function.startswith("dm_drsvm"):
        return dm_drsvm_path(X, y, 10.0 ** rng.uniform(-0.7, 1.3), **held)
    if function.startswith("drsvm"):
        return drsvm_path(X, y, **held)
    if function.startswith("drlad"):
        return drlad_path(X, target, **held)
    kind = rng.integers(0, 3)
    if kind == 0:
        loss = ("quantile", float(rng.uniform(0.05, 0.95)))
    elif kind == 1:
        loss = ("epsilon_insensitive", float(rng.choice([0.0, 0.1, 1.0])))
    else:
        kinks = np.unique(np.round(rng.normal(size=4), 1))
        slopes = np.sort(rng.uniform(-1, 1, len(kinks) + 1)) + np.arange(len(kinks) + 1) * 1e-3
        slopes[0], slopes[-1] = -abs(slopes[0]) - 0.1, abs(slopes[-1]) + 0.1
        loss = (kinks.tolist(), np.sort(slopes).tolist())
    return dr_regression_path(X, target, loss, **held)


def _classes(target):
    """Return three classes by a target, or as many as it has values."""
    return np.digitize(target, np.unique(np.quantile(target, [1 / 3, 2 / 3])))


def _several(X, y, target, options, rng):
    classes = _classes(target)
    classes[:3] = 0, 1, 2
    return sp_.multicategory_svm_path(X, classes, **options)


def _ranks(X, y, target, options, rng):
    ranks = _classes(target)
    ranks[:3] = 0, 1, 2
    return sp_.svor_path(X, ranks, **options)


def _fused(X, y, target, options, rng):
    order = int(rng.integers(0, 3))
    d = X.shape[1]
    D = np.diff(np.eye(d), n=order, axis=0) if d > order else np.eye(d)
    return sp_.generalized_lasso_path(target, D, X=X, fit_intercept=bool(rng.random() < 0.5))


def _pinball_end(X, y, target, options, rng):
    small, large = sorted([(y > 0).sum(), (y < 0).sum()])
    return sp_.pin_svm_path(X, y, vary="tau", tau_from=-small / large, **options)


def _twin(X, y, target, options, rng):
    return sp_.pin_twin_svm_path(X, y, vary=str(rng.choice(["tau", "C"])))


def _programme(X, y, target, options, rng):
    """Trace a linear programme without any ridge: quantiles, or absolute errors in a tube."""
    rows = X.toarray() if sp.issparse(X) else X
    wide = float(np.ptp(target)) or 1.0

    def quantiles(t):
        return Problem(Losses(pieces(knots=[target], slopes=[t - 1, t]), rows, free=1.0))

    def tube(t):
        knots = [target - t * wide, target + t * wide]
        return Problem(Losses(pieces(knots=knots, slopes=[-1.0, 0.0, 1.0]), rows, free=1.0))

    return (
        sp_.solution_path(quantiles, 0.1, 0.9)
        if rng.random() < 0.5
        else sp_.solution_path(tube, 0.6, 0.01)
    )


def _tubes(X, y, target, options, rng):
    vary = str(rng.choice(["C", "epsilon"]))
    held = {"epsilon": float(rng.choice([0.0, 0.1, 1.0]))} if vary == "C" else {"C": 1.0}
    return sp_.svr_path(X, target, vary=vary, **held, **options)


def _quantiles(X, y, target, options, rng):
    """Follow linear quantile regression in tau or lam, with a penalty or none."""
    penalty = (None, "l1", "l2")[rng.integers(0, 3)]
    held = {} if penalty is None else {"lam": 10.0 ** rng.uniform(-4, 1)}
    if penalty is not None and rng.random() < 0.5:
        held = {"tau": float(rng.choice([0.0, 0.05, 0.3, 0.5, 1.0]))}
    weights = rng.integers(0, 3, len(target)) if rng.random() < 0.3 else None
    weights = None if weights is None or not weights.any() else weights
    return sp_.quantile_regression_path(X, target, penalty=penalty, sample_weight=weights, **held)


# Judged by what they state: no l1 constraint among them.
STATED = {
    "multicategory": _several,
    "svor": _ranks,
    "generalized_lasso": _fused,
    "pin_svm_end": _pinball_end,
    "pin_twin_svm": _twin,
    "programme": _programme,
    "svr": _tubes,
    "quantiles": _quantiles,
    "nu_svm": lambda X, y, target, options, rng: sp_.nu_svm_path(X, y, **options),
    "one_class": lambda X, y, target, options, rng: sp_.one_class_path(
        X, **({"kernel": "linear"} | options)
    ),
    "rlad": lambda X, y, target, options, rng: sp_.rlad_path(X, target, vary="lam"),
    "hhsvm": lambda X, y, target, options, rng: sp_.hhsvm_path(
        X, y, lam2=10.0 ** rng.uniform(-4, 1)
    ),
    "elastic_net": lambda X, y, target, options, rng: sp_.elastic_net_path(
        X, target, lam2=10.0 ** rng.uniform(-4, 1)
    ),
}
DENSE = (
    "lasso",
    "l1_svm",
    "generalized_lasso",
    "pin_twin_svm",
    "programme",
    "quantiles",
)  # no kernel there
DENSE += ("rlad", "hhsvm", "elastic_net")
NETS = (
    "drsvm_lam1",
    "drsvm_lam2",
    "drlad_s",
    "drlad_lam1",
    "drlad_lam2",
    "drlad_grid",
    "dr_regression_s",
    "dr_regression_lam2",
    "dm_drsvm_lam1",
    "dm_drsvm_lam2",
    "dm_drsvm_grid",
)
# What some classes of data are meant for; others ask for what double precision can't state there,
# or measure penalties in units of their own.
BIASED = ("outlier_svm_bias", "outlier_svr_bias")
FREE_BIAS = ("svm", "weighted_svm", "weighted_svr", "dm_ksvm", "l1_svm", *BIASED, *NETS)
ANY_UNITS = ("svm", "lasso", "l1_svm", *(name for name in NETS if not name.startswith("dm")))
MEANT_FOR = {"offset": FREE_BIAS}
MEANT_FOR |= {"unix_time": tuple(f for f in FREE_BIAS if not f.startswith("dm_drsvm"))}
MEANT_FOR |= {"small_units": ANY_UNITS, "large_units": ANY_UNITS}
FUNCTIONS = (
    "quantile",
    "svm",
    "weighted_svm",
    "weighted_svr",
    "lasso",
    "l1_svm",
    "outlier_svm",
    "outlier_svr",
    *BIASED,
    "dm_ksvm",
    *NETS,
    *STATED,
)
# nu-SVMs on flat kernels have objectives of 1e-9 beside kernel values of 1: not followed exactly
MEANT_FOR |= {"rbf_flat": tuple(f for f in FUNCTIONS if f != "nu_svm")}


# -- the judge --------------------------------------------------------------------------------


def _kernel(p):
    """Return the kernel matrix in extended precision."""
    X = (p.X.toarray() if sp.issparse(p.X) else np.asarray(p.X)).astype(LONG)
    kernel = p.kernel
    if kernel.name == "precomputed":
        K = X
    elif kernel.name == "linear":
        K = X @ X.T
    elif kernel.name == "poly":
        K = (LONG(kernel.gamma) * (X @ X.T) + LONG(kernel.coef0)) ** int(kernel.degree)
    else:
        K = np.zeros((len(X), len(X)), dtype=LONG)
        for column in X.T:
            K += (column[:, None] - column[None, :]) ** 2
        K = np.exp(-LONG(kernel.gamma) * K)
    return K + getattr(p, "feature", LONG(0)) ** 2


def _level(p):
    """Return what real targets and predictions may lose beside a free bias, as columns do."""
    return LONG(0) if len(p.classes) else p.y.astype(LONG).mean()


def _machine_gap(path, t, state):
    p, lam = facts(path), LONG(path.line.start.ridge)
    a = LONG(1) * path.dual(float(t)) * p.signs
    if path.linear:
        X = state["X"]
        w, b = path.coef(t).astype(LONG), LONG(path.intercept(t))
        f, norm2 = X @ w + b, w @ w
        columns = state["centred"] if p.free else X
        own = columns.T @ a / lam
        own2 = own @ own
        if p.feature:
            norm2 = norm2 + (b / p.feature) ** 2
            own2 = own2 + (p.feature * a.sum() / lam) ** 2
    else:
        Ka = state["K"] @ a / lam
        norm2 = own2 = a @ Ka / lam
        f = Ka + (LONG(path.intercept(t)) if p.free else 0)
    cost = _costs(path, t)
    y, level = p.y.astype(LONG), _level(p) if p.free else LONG(0)
    if hasattr(p, "kappa"):
        half = LONG(p.kappa) / 2
        loss = np.maximum(np.maximum(1 - y * f, 1 + y * f - 2 * half), 0)
        linear = half * (y @ a) - max(half - 1, LONG(0)) * np.abs(a).sum()
        linear, box = linear + max(1 - half, LONG(0)) * cost.sum(), (np.abs(a) - cost).max()
    elif len(p.classes):
        loss, linear = np.maximum(1 - y * f, 0), (y * a).sum()
        box = np.maximum(-y * a, y * a - cost).max()
    else:
        epsilon = LONG(p.epsilon)
        loss = np.maximum(np.abs(y - f) - epsilon, 0)
        linear, box = (y - level) @ a - epsilon * np.abs(a).sum(), (np.abs(a) - cost).max()
        linear = linear + LONG(1e-6) * cost.sum() * np.abs(y).max()  # all may lie in the tube
    primal, dual = lam / 2 * norm2 + cost @ loss, linear - lam / 2 * own2
    if not len(p.classes):
        primal = primal + LONG(1e-6) * cost.sum() * np.abs(y).max()
    unit = cost.max() if cost.max() > 0 else LONG(1)
    outside = max(box, 0) / unit
    if p.free:
        outside = max(outside, abs(a.sum()) / unit)
        primal = primal + abs(a.sum()) * abs(f - level).max()  # what an unbalanced dual is worth
    # What is handed out in double can't say more: values are off by half a unit of the last place
    # of their terms.
    terms = np.abs(X) @ np.abs(w) + abs(b) if path.linear else state["absK"](a, lam)
    limit = HALF_A_UNIT * (cost @ terms)
    if path.linear:
        limit = limit + _rounded_squares(columns, a, own, lam)
    return primal, dual, outside, limit


def _rounded_squares(columns, a, own, lam):
    """Return by how much rounding moves lam |own|^2, of weights that duals make."""
    rounding = HALF_A_UNIT * (np.abs(columns).T @ np.abs(a)) / lam
    return lam * (rounding @ (np.abs(own) + rounding))


def _robust_gap(path, t, state):
    """Judge a local optimum as the optimum of the problem within its inliers and outliers."""
    p = facts(path)
    a = path.dual(float(t)).astype(LONG) * p.signs
    y, C, theta, s = p.y.astype(LONG), p.cost, *p.weight_and_threshold(float(t))
    if path.linear:
        X, w = state["X"], path.coef(float(t)).astype(LONG)
        columns = state["centred"] if p.free else X
        own, limit = columns.T @ a, _rounded_squares(columns, a, columns.T @ a, LONG(1))
        f, norm2, own2, terms = X @ w, w @ w, own @ own, np.abs(X) @ np.abs(w)
    else:
        limit = LONG(0)
        f = state["K"] @ a
        norm2 = own2 = a @ f
        terms = state["absK"](a, LONG(1))
    b = LONG(path.intercept(float(t)))
    f, terms = f + b, terms + abs(b)
    if len(p.classes):
        m, alpha, unit = y * f, y * a, LONG(1)
        past, inner = s - m, C * np.maximum(1 - m, 0)
        outer, bound_in, bound_out = C * (1 - theta * m - s), np.minimum(alpha, C), C * (1 - s)
        bound_in = bound_in + np.maximum(alpha - C, 0) * s
        bound_out = bound_out + (alpha - C * theta) * s
        least = alpha
    else:
        r, unit = y - f, max(np.ptp(y), np.abs(y).max(), LONG(1e-300))
        side = np.where(r < 0, -1, 1)
        past, inner, alpha = np.abs(r) - s, C * np.abs(r), side * a
        outer = C * ((np.abs(r) - s) * theta + s)
        bound_in, bound_out = a * y + np.minimum(0, C - np.abs(a)) * s, a * y + (C - alpha) * s
        least = LONG(0) * a
    room = 1 - s if len(p.classes) else s
    at = np.abs(past) <= min(1e-6 * unit, 1e-3 * room)  # there duals tell sides
    outlier = np.where(at, alpha < C * (1 + theta) / 2, past > 0)
    own = state["K"].diagonal() if "K" in state else np.abs(state["X"]).max(axis=1)
    idle = (own == 0) & (not p.free)  # f is 0 there, whatever the dual
    bound = np.where(outlier, bound_out, bound_in)
    bound[idle] = np.where(outlier, outer, inner)[idle]
    box = np.where(idle, 0, np.where(outlier, alpha - C * theta, -least)).max() / C
    primal = norm2 / 2 + np.where(outlier, outer, inner).sum()
    dual = bound.sum() - own2 / 2
    floor = LONG(0) if len(p.classes) else LONG(1e-6) * C * np.abs(y).sum()
    box = max(box, LONG(0), np.abs(a.sum()) / (C * len(a)) if p.free else 0)  # and the balance
    return primal + floor, dual + floor, box, limit + HALF_A_UNIT * C * terms.sum()


def facts(path):
    """Return the objective of a path, or of one that states a problem what its losses tell.

    Of these y are labels or, where the loss has one knot, targets.
    """
    group, reading = path.line.start.losses[0], path.reading
    knots, classes = group.pieces.knots, reading.classes
    own = SimpleNamespace(n=len(knots), classes=classes, lasso=bool(group.pieces.curvature.any()))
    own.signs = 1.0 if reading.signs is None else reading.signs
    own.X, own.feature, own.free = path.rows, LONG(reading.feature), path.line.start.n_free > 0
    own.kernel = getattr(reading.kernel, "kernel", reading.kernel)
    if isinstance(path, OutlierPath):
        _add_robust_facts(own, path)
    elif isinstance(group.X, Product):  # of double margins
        own.y, own.kappa = group.free[:, 0], 2.0 * float(group.free[0, 2])
    elif len(classes):
        own.y = np.sign(knots[:, 0]) if reading.signs is None else reading.signs
        if is_double(path):
            own.kappa = float(np.sum(own.y[:1] * knots[0])) * (3 - knots.shape[1])
    else:
        own.y = knots.mean(axis=1) + reading.offset
        own.epsilon = float(np.ptp(knots[0]) / 2)
    return own


def _add_robust_facts(own, path):
    """Add labels or targets, the cost, and a function of t: an outlier's weight, the threshold."""
    main = path.branches.lines[1].start.losses[0].pieces
    level = path.reading.offset
    own.y = main.knots[:, 0] + level if path.reading.signs is None else path.reading.signs
    inlier = path.branches.functions(float(path.points.t[-1]), path.branches.main)
    own.cost = LONG(np.abs(inlier.slopes).max())
    first = int(np.argmin(np.abs(own.y))) if path.reading.signs is None else int(own.y.argmax())

    def at(t):
        low, middle = path.branches.pieces(t)[:2]
        theta = np.abs(LONG(low.slopes[first, 0])) / own.cost
        if path.reading.signs is not None:
            return theta, LONG(low.high[first])
        return theta, LONG(t) if path.parameter == "s" else LONG(middle.high[first]) - main.knots[
            first, 0
        ]

    own.weight_and_threshold = at


def is_double(path):
    """Tell whether losses cost something on both sides, wherever they cost at all."""
    rates = path.line.rates["losses[0].slopes"]
    return len(path.reading.classes) > 0 and bool((rates[:, 0] * rates[:, -1] < 0).any())


def is_machine(path):
    """Tell whether a ridge alone holds the weights of a path of one group of losses."""
    problem = path.line.start
    return problem.pure_ridge and len(problem.losses) == 1 and not facts(path).lasso


def _costs(path, t):
    """Return the costs of a machine's samples."""
    slopes = (
        path.line.at(float(path._statement_parameters(float(t))[0]))
        .losses[0]
        .pieces.slopes.astype(LONG)
    )
    width = slopes[:, -1] - slopes[:, 0]
    return width / 2 if hasattr(facts(path), "kappa") or not len(path.reading.classes) else width


class _Held(NamedTuple):
    """What the objective of a path is at one parameter, as users know it."""

    knots: np.ndarray  # (n, m), of the losses of f
    slopes: np.ndarray  # (n, m + 1)
    lam1: LONG
    ridge: LONG
    radius: LONG

    @classmethod
    def of(cls, path, t):
        problem = path.line.at(float(path._statement_parameters(float(t))[0]))
        factor = LONG(t) if path.scale.divided else LONG(1)
        pieces, margins = problem.losses[0].pieces, len(problem.losses) > 1
        lam1, radius = LONG(0), LONG(np.inf)
        if problem.penalty is not None:
            lam1 = LONG(problem.penalty.slopes[0, -1])
        elif margins:
            lam1 = LONG(problem.linear[1])
        elif problem.constraint is not None:
            radius = LONG(problem.constraint.radius)
        slopes = factor * pieces.slopes.astype(LONG)
        ridge = factor * LONG(problem.ridge)
        knots = pieces.knots + LONG(path.reading.offset)
        return cls(knots, slopes, factor * lam1, ridge, radius)

    def losses(self):
        """Return them as the largest of lines; the least value of each is 0."""
        steps = np.cumsum(np.diff(self.slopes, axis=1) * self.knots, axis=1)
        starts = np.column_stack([0 * self.knots[:, :1], -steps])
        values = (self.slopes[:, None] * self.knots[..., None] + starts[:, None]).max(axis=2)
        return self.slopes, starts - values.min(axis=1)[:, None]


def _lasso_gap(path, t, state):
    """Judge a lasso without an intercept."""
    p, X, t = facts(path), state["X"], LONG(t)
    w, y = path.coef(float(t)).astype(LONG), p.y.astype(LONG)
    residual = y - X @ w
    primal = residual @ residual / 2 + t * np.abs(w).sum()
    c = np.abs(X.T @ residual).max()
    scale = max(np.abs(X.T @ y).max(), LONG(1e-300))
    feasible = residual * min(LONG(1), (t + LONG(1e-11) * scale) / max(c, LONG(1e-300)))
    floor = LONG(1e-5) * (y @ y)  # at lam = 0 the optimum may be zero
    dual = y @ feasible - feasible @ feasible / 2
    return primal + floor, dual + floor, LONG(0), LONG(0)


def _bought(c, ridge, price, radius):
    """Return theta >= 0 with sum (|c| - price - theta)^+ = ridge * radius, or 0; and that sum."""
    over = np.sort(np.abs(c) - price)[::-1]
    if ridge == 0:
        return max(over[0], LONG(0))
    levels = (np.cumsum(over) - ridge * radius) / np.arange(1, len(over) + 1)
    return max(levels[over >= levels].max(), LONG(0))


def _lost(c, ridge, lam):
    """Return what a ridge makes of correlations beyond lam, and by how much they may not be."""
    over = np.maximum(np.abs(c) - lam, 0)
    if ridge == 0:
        return LONG(0), over.max()
    return (over**2).sum() / (2 * ridge), LONG(0)


def _net_gap(path, t, state):
    """Judge a loss under an elastic net or an l1 constraint, by its conjugate."""
    if hasattr(facts(path), "kappa"):
        return _margins_gap(path, t, state)
    held, X = _Held.of(path, t), state["X"]
    w, b, a = (np.asarray(v, dtype=LONG) for v in (path.coef(t), path.intercept(t), path.dual(t)))
    level = LONG(0) if len(state["classes"]) else held.knots.mean()
    f, c, knots = X @ w + b - level, state["centred"].T @ a, held.knots - level
    slopes, starts = held._replace(knots=knots).losses()
    unit, terms = max(np.abs(slopes).max(), LONG(1e-300)), np.abs(X) @ np.abs(w) + abs(b)
    scale = max(np.abs(X).sum(axis=0).max(), LONG(1e-300)) * unit
    size = np.abs(w).sum()
    primal = held.ridge / 2 * (w @ w) + held.lam1 * size
    primal += (f[:, None] * slopes + starts).max(axis=1).sum()
    # minus the conjugate is the least of loss(f) + a f over f, at a knot
    worth = (slopes[:, None] * knots[..., None] + starts[:, None]).max(axis=2)
    dual = (worth + a[:, None] * knots).min(axis=1).sum()
    outside = max(abs(a.sum()) / unit, (-a - slopes[:, -1]).max() / unit, LONG(0))
    outside = max(outside, (slopes[:, 0] + a).max() / unit)
    theta = LONG(0)
    if np.isfinite(held.radius):
        theta = _bought(c, held.ridge, held.lam1, held.radius)
        dual = dual - theta * held.radius
        outside = max(outside, (size - held.radius) / max(held.radius, size, LONG(1e-300)))
    lost, off = _lost(c, held.ridge, held.lam1 + theta)
    floor = LONG(1e-6) * len(f) * unit * max(np.abs(knots).max(), LONG(1e-300))
    primal = primal + abs(a.sum()) * np.abs(f).max()
    limit = HALF_A_UNIT * unit * terms.sum()
    return primal + floor, dual - lost + floor, max(outside, off / scale), limit


def _margins_gap(path, t, state):
    """Judge double margins with rho, by their conjugate."""
    p, held, X = facts(path), _Held.of(path, t), state["X"]
    w, b = path.coef(t).astype(LONG), LONG(path.intercept(t))
    g = path.dual(t, 0).astype(LONG) - path.dual(t, 1)
    y, cost, lam1, ridge = p.y.astype(LONG), -held.slopes[0, 0], held.lam1, held.ridge
    f, c = X @ w + b, state["centred"].T @ (y * g)
    unit, terms = cost if cost > 0 else LONG(1), np.abs(X) @ np.abs(w) + abs(b)
    scale = max(np.abs(X).sum(axis=0).max(), LONG(1e-300)) * unit
    size, kappa, m = np.abs(w).sum(), LONG(p.kappa), y * f
    ends = np.append(np.maximum(np.minimum(1 + m, 2 * m) / kappa, size), size)
    losses = np.maximum(np.maximum(1 - m, 1 + m - kappa * ends[:, None]), 0).sum(axis=1)
    primal = ridge / 2 * (w @ w) + (lam1 * ends + cost * losses).min()
    most = lam1 - kappa * np.maximum(-g, 0).sum()
    least = most - kappa * np.maximum(cost - np.abs(g), 0).sum() / 2
    theta = min(max(_bought(c, ridge, 0, 2 / kappa), least, LONG(0)), max(most, LONG(0)))
    lost, off = _lost(c, ridge, theta)
    dual = np.abs(g).sum() + 2 * (most - theta) / kappa - lost
    outside = max(abs((y * g).sum()) / unit, max(-most, least - theta, 0) / (kappa * p.n * unit))
    outside = max(outside, (np.abs(g) - cost).max() / unit, off / scale)
    return primal, dual, outside, HALF_A_UNIT * cost * terms.sum()


def off_graphs(path, t, state):
    """Return how far values and duals at t are off the graphs of their losses and penalties.

    Infinite where the gap alone judges: for local optima, and double margins in a ball.
    """
    p, t = facts(path), LONG(t)
    if isinstance(path, OutlierPath) or hasattr(p, "kappa"):
        return np.inf
    a = LONG(1) * path.dual(float(t)) * p.signs
    y, X = p.y.astype(LONG), state["X"]
    unit = LONG(1) if len(p.classes) else np.ptp(y) or np.abs(y).max() or LONG(1)
    if is_machine(path):
        losses, lam = _losses(p, _costs(path, t), y), LONG(path.line.start.ridge)
        if "K" in state:
            f = state["K"] @ a / lam + (LONG(path.intercept(float(t))) if p.free else 0)
            return losses.off_graph(f, a, unit).max()
        f = X @ path.coef(float(t)).astype(LONG) + LONG(path.intercept(float(t)))
        own = (state["centred"] if p.free else X).T @ a / lam
        more = X @ own - f  # but for a free bias nothing
        more = more + p.feature**2 * a.sum() / lam
        more = np.ptp(more) if p.free else np.abs(more).max()
        return max(losses.off_graph(f, a, unit).max(), more / unit)
    w, b = path.coef(float(t)).astype(LONG), LONG(path.intercept(float(t)))
    held, off, Z = _Held.of(path, t), LONG(0), state["centred"]
    lam1, ridge, radius = held.lam1, held.ridge, held.radius
    if p.lasso:
        a, Z, steep = y - X @ w, X, np.linalg.norm(y)
    else:
        pairs = zip(*(own.T for own in held.losses()), strict=True)
        losses, steep = lines(*pairs, **everywhere(p.n)), np.abs(held.slopes).max()
        off = losses.off_graph(X @ w + b, a, unit).max()
    c, size, scale = Z.T @ a, np.abs(w).sum(), np.abs(Z).sum(axis=0) * steep
    scale = np.where(scale > 0, scale, 1)
    theta = _bought(c, ridge, lam1, radius) if np.isfinite(radius) else LONG(0)
    most = lam1 + theta
    pulled = np.abs(c - ridge * w - np.sign(w) * most) / scale
    over = np.maximum(np.abs(c) - most, 0) / scale
    rest = np.maximum(np.abs(w) * np.abs(Z).max(axis=0) / unit, over)
    off = max(off, np.minimum(np.where(w != 0, pulled, np.inf), rest).max())
    if np.isfinite(radius):
        off = max(off, min(theta / scale.max(), abs(size - radius) / max(size, radius, EXACT)))
    return off


def _losses(p, cost, y):
    """Return the losses of a machine."""
    if hasattr(p, "kappa"):
        return double_margin(y, cost, p.kappa)
    return hinge(y, cost) if len(p.classes) else tube(y, cost, np.asarray(p.epsilon))


def at_each(path):
    """Return a function of t and a side of jumps: objective, dual, its infeasibility, what is open.

    And whether values and duals are right where these say that they aren't, see `off_graphs`.
    """
    p = facts(path)
    X = p.X.toarray() if sp.issparse(p.X) else np.asarray(p.X)
    # Beside a free bias columns less their means are the same problem, and in it duals in double
    # can say what is rounded away where a column lies far from zero.
    state = {"X": X.astype(LONG)}
    state["classes"] = p.classes
    state["centred"] = state["X"] - state["X"].mean(axis=0)
    robust = isinstance(path, OutlierPath)
    machine = not robust and is_machine(path)
    if (machine or robust) and not path.linear:
        state["K"] = _kernel(p)
        state["absK"] = lambda a, lam: np.abs(state["K"]) @ np.abs(a) / lam
    gap_of = _machine_gap
    if robust:
        gap_of = _robust_gap
    elif not machine:
        gap_of = _lasso_gap if p.lasso else _net_gap

    def values(side, t):
        return gap_of(side, float(t), state)

    values.off_graphs = lambda t: off_graphs(path, float(t), state)
    return values


def straight(path):
    """Return the same path in the statement's parameter, in which it is piecewise linear."""
    return path._with(path.points, parameter=f"1 / {path.parameter}", scale=Scale())


def judge_stated(path, seed=0, points=16):
    """Return the same as `judge` of a path, from the problem that it states at each parameter.

    Harm is the less of gap and distance from graphs: a small one of the latter makes the answer
    the optimum of data that hardly differ.
    """
    path = straight(path) if path.scale.inverse else path
    nodes, rng = path.breakpoints, np.random.default_rng(seed)
    pieces_ = rng.integers(0, max(len(nodes) - 1, 1), points)
    right = np.minimum(pieces_ + 1, len(nodes) - 1)
    between = nodes[pieces_] + rng.random(points) * (nodes[right] - nodes[pieces_])
    some = rng.choice(nodes, size=min(points, len(nodes)), replace=False)
    places = np.concatenate([[nodes[0], nodes[-1]], some, between])
    if np.isinf(path.range[1]):
        places = np.append(places, np.multiply(RAY_FACTORS, nodes[-1] or 1.0))
    found = [(*stated(*path.stated_at(float(t))), t) for t in places]
    largest = max((abs(total) for total, *_ in found), default=LONG(0))
    worst = beyond = harm = 0.0
    at = np.nan
    for total, gap, off, limit, t in found:
        scale = max(abs(total), LONG(EXACT) * largest)
        relative = float(gap / scale) if scale > 0 else 0.0
        relative, off = (x if np.isfinite(x) else np.inf for x in (relative, float(off)))
        apart = min(relative, off)  # exact where either is
        if apart >= worst:
            worst, at = apart, t
        if gap > 2 * limit:
            beyond, harm = max(beyond, apart), max(harm, apart)
    return worst, beyond, 0.0, at, harm


def judge(path, seed=0, points=24, units=2.0):
    """Return the worst gap, that beyond what double can state, dual infeasibility, where, and harm.

    Harm is how far off the worst answer is for a user, as far as doubles could state it better.
    """
    robust = isinstance(path, OutlierPath)
    if not robust and is_machine(path) and path.scale.inverse:
        path = straight(path)
    nodes, ray = path.points.t if robust else path.breakpoints, np.isinf(path.range[1])
    if not (np.isfinite(nodes).all() and (np.diff(nodes) >= 0).all()):
        return np.inf, np.inf, np.inf, np.nan, np.inf
    values = at_each(path)
    rng = np.random.default_rng(seed)
    inner = rng.choice(nodes, size=min(points, len(nodes)), replace=False)
    pieces = rng.integers(0, max(len(nodes) - 1, 1), points)
    right = np.minimum(pieces + 1, len(nodes) - 1)
    between = nodes[pieces] + rng.random(points) * (nodes[right] - nodes[pieces])
    worst, beyond, outside, at, harm = 0.0, 0.0, 0.0, np.nan, 0.0
    places = [(path, t) for t in np.concatenate([[nodes[0], nodes[-1]], inner, between])]
    if ray and nodes[-1] > 0:
        places += [(path, factor * nodes[-1]) for factor in RAY_FACTORS]
    if robust:
        places += [(path.before, t) for t in inner]
    for side, t in places:
        primal, dual, off, limit = values(side, t)
        scale = max(abs(primal), abs(dual))
        gap = float(abs(primal - dual) / scale) if scale > 0 else 0.0
        gap = gap if np.isfinite(gap) else np.inf
        if gap >= worst:
            worst, at = gap, t
        off = float(off) if np.isfinite(off) else np.inf
        outside = max(outside, off)
        harm = max(harm, off)
        limit = float(limit / scale) if scale > 0 else 0.0
        stated = gap if gap > units * limit else 0.0
        if gap > HARMFUL:
            apart = float(values.off_graphs(t))
            harm = max(harm, min(stated, apart))
        beyond = max(beyond, stated)
    return worst, beyond, outside, at, harm


def _of_jumps(path):
    """Return the number of jumps, the largest rise at one, and how many ends are no optima."""
    jumps, found = path.jumps, path.certify(n_random=20)
    rises = [(jump.after - jump.before) / max(jump.before, 1e-300) for jump in jumps]
    told = {
        "jumps": len(jumps),
        "rise": max(rises, default=0.0),
        "stays": path.diagnostics["stays"],
    }
    local = {"at_threshold": found.at_threshold, "not_local": found.not_local}
    return told | local | {"undecided": found.undecided_local, "status": found.status}


def run_one(function, data, seed, rows=ROWS):
    """Return a row: how the path ended and how far off it is."""
    X, y, target, options, rng = make(data, function, seed, rows)
    row = {"function": function, "data": data, "seed": seed, "n": len(y), "d": X.shape[1]}
    row |= {"rows": _span(rows), "engine": mark(), "instructions": INSTRUCTIONS}
    begin = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            path = _trace(function, X, y, target, options, rng)
        row["told"] = any(issubclass(one.category, PathWarning) for one in told)
        row["alarm"] = next((str(one.message)[:200] for one in told if _of_the_answer(one)), "")
    except PathError as error:
        row |= {"end": "PathError", "message": str(error)[:200]}
        path = error.path
    except ValueError as error:  # the problem was refused, with a reason
        return row | {"end": "ValueError", "message": str(error)[:200]}
    except Exception as error:
        return row | {"end": type(error).__name__, "message": str(error)[:200]}
    row["seconds"] = round(time.perf_counter() - begin, 4)
    if path is None:
        return row | {"user": "told"}
    row["events"] = int(path.diagnostics.get("events", 0))
    judged = judge_stated if function in STATED else judge
    gap, beyond, outside, at, harm = judged(path)
    worst = max(beyond, outside)
    verdict = "exact" if worst <= EXACT else "close" if worst <= WRONG else "wrong"
    if verdict == "exact" and gap > EXACT:
        verdict = "limit"
    if isinstance(path, OutlierPath):
        row |= _of_jumps(path)
        verdict = "wrong" if row["rise"] > EXACT else verdict
        harm = max(harm, row["rise"])
    row |= {"end": row.get("end", verdict), "gap": gap, "beyond": beyond, "outside": outside}
    return row | {"at": at, "harm": harm, "user": _met(row, harm)}


def _of_the_answer(warning):
    """Tell whether a warning is of an answer, and not of columns that differ in scale."""
    columns = str(warning.message).startswith("The columns of X")
    return issubclass(warning.category, PathWarning) and not columns


def _met(row, harm):
    """Return what a user meets: silent, told, alarmed or right."""
    if row["end"] == "PathError":
        return "told"
    if harm > HARMFUL:
        return "told" if row["told"] else "silent"
    return "alarmed" if row["alarm"] else "right"


def _span(rows):
    return "{} to {}".format(*rows)


# -- the command ------------------------------------------------------------------------------


def problems(arguments):
    """Yield the problems that were asked for, seeds outermost."""
    functions = [arguments.function] if arguments.function else FUNCTIONS
    for seed in range(*arguments.seeds):
        for function in functions:
            for data in [arguments.data] if arguments.data else [*DATA, *KERNELS]:
                kernel = data in KERNELS or data in ("words", "sparse_dummies")
                dense = kernel and function in (*DENSE, *NETS)
                if not dense and function in MEANT_FOR.get(data, FUNCTIONS):
                    yield function, data, seed, tuple(arguments.rows)


def read(files):
    """Return the rows of files as one table."""
    found = pd.concat([pd.read_json(file, lines=True) for file in files], ignore_index=True)
    return found.assign(rows=found["rows"].fillna(_span(ROWS)) if "rows" in found else _span(ROWS))


def report(rows):
    """Print how paths ended, by function and by class of data."""
    print(f"{len(rows)} problems, {dict(Counter(rows['end']))}")
    if "user" in rows:
        print(f"  for a user: {dict(Counter(rows['user'].dropna()))}")
    for key in ("function", "data"):
        for name, some in rows.groupby(key, sort=False):
            print(f"  {name:18s} {len(some):6d}  {_not_fine(some)}")


def _not_fine(rows):
    """Say how many paths ended otherwise than exactly, and on which data."""
    rest = rows[~rows["end"].isin(FINE)]
    counts = Counter(zip(rest["end"], rest["data"], strict=True))
    return ", ".join(f"{end} {k} ({data})" for (end, data), k in sorted(counts.items()))


def summary(rows):
    """Return a table of one row for each function, engine, instruction set and size."""
    found, keys = [], ["instructions", "function", "rows", "engine"]
    for key, some in rows.groupby(keys, sort=False):
        counts = Counter(some["end"])
        found.append(
            dict(zip(keys, key, strict=True))
            | {"problems": len(some), "largest_seed": some["seed"].max()}
            | {"exact": counts["exact"], "limit_of_double": counts["limit"]}
            | {"refused": counts["ValueError"], "otherwise": _not_fine(some)}
            | {"largest_gap": f"{some['beyond'].max():.1e}"}
            | {word: int((some["user"] == word).sum()) for word in ("silent", "told", "alarmed")}
        )
    return pd.DataFrame(found).sort_values(keys, ignore_index=True)


def main():
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", nargs=2, type=int, default=(0, 5), metavar=("FIRST", "END"))
    parser.add_argument("--function", choices=FUNCTIONS)
    parser.add_argument("--data", choices=[*DATA, *KERNELS])
    parser.add_argument("--rows", nargs=2, type=int, default=ROWS, metavar=("LEAST", "MOST"))
    parser.add_argument("--out", type=FilePath)
    parser.add_argument("--limit", type=float, default=np.inf, help="seconds")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--report", nargs="+", metavar="FILE")
    parser.add_argument("--write", type=FilePath, help="the report as a table, one row a function")
    arguments = parser.parse_args()
    if arguments.report:
        rows = read(arguments.report)
        report(rows)
        if arguments.write:
            summary(rows).to_csv(arguments.write, index=False)
        return
    done = set()
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
    if arguments.out and arguments.out.exists():
        rows = map(json.loads, arguments.out.read_text().splitlines())
        done = {(r["function"], r["data"], r["seed"], r.get("rows", _span(ROWS))) for r in rows}
    begin, ends, met, bad = time.perf_counter(), Counter(), Counter(), []
    for problem in problems(arguments):
        if time.perf_counter() - begin > arguments.limit:
            break
        if (*problem[:3], _span(problem[3])) in done:
            continue
        row = run_one(*problem)
        ends[row["end"]] += 1
        met[row.get("user", "refused")] += 1
        bad += [row] if row["end"] not in FINE else []
        if arguments.out:
            with arguments.out.open("a") as handle:
                handle.write(json.dumps(row) + "\n")
        if arguments.verbose or row["end"] not in FINE or row.get("user") in ("silent", "alarmed"):
            print(row, flush=True)
    print(dict(ends), dict(met))
    if broken := [row for row in bad if row["end"] not in ("close", "wrong", "PathError")]:
        sys.exit(f"error: {len(broken)} calls ended with another error (see above).")
    if silent := [row for row in bad if row["end"] == "wrong" and not row.get("told")]:
        sys.exit(f"error: {len(silent)} paths are wrong and nothing said so (see above).")
    if len(bad) > max(MOST * sum(ends.values()), 2):
        sys.exit(f"error: {len(bad)} of {sum(ends.values())} paths are not exact (see above).")


if __name__ == "__main__":
    main()
