"""Every function of the survey on random and degenerate data, against solvers.

    python measurements/survey.py [--problems 200] [--models svr_C one_class_nu] [--held-out]
        [--out FILE] [--table FILE]

For each problem the path is computed and certified; at some parameters its objective is compared
with that of Clarabel (HiGHS where it is a linear programme) on the same statement, and with the
objective as the function's docstring has it, recomputed here from coefficients. A *silent* failure
is a path that came without a word and is off by more than 1e-8. A *refusal* is a sentence about
data that a model can't be fitted to, such as one row for two classes. With ``--held-out`` the data
are of kinds that no test has.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import numpy as np

import solution_paths as sp
from path_benchmark.solvers.clarabel_solver import by_clarabel
from path_benchmark.solvers.highs_solver import by_highs
from solution_paths.verify import Answer, judge

LIMIT = 1e-8
STATES = ("holds", "undecided", "fails")
KINDS = ("normal", "rounded", "duplicates", "constants", "one-hot", "wide", "few rows")
HELD_OUT = (
    "three levels",
    "conflicting copies",
    "copied columns",
    "constant targets",
    "one row",
    "thrice as many columns",
    "counts",
    "raw units",
    "one positive",
    "heavy tails",
)


class Data(NamedTuple):
    """Samples, targets, labels, ordered classes, an RBF matrix."""

    X: np.ndarray
    u: np.ndarray
    y: np.ndarray
    classes: np.ndarray
    K: np.ndarray


def data(kind: str, seed: int) -> Data:
    """Return a small problem's data; the least has two rows, one of each label."""
    r = np.random.default_rng([zlib.crc32(kind.encode()), seed])
    n, d = int(r.integers(8, 22)), int(r.integers(1, 5))
    n, d = (n, n + 4) if kind == "wide" else (int(r.integers(2, 4)), d) if "few" in kind else (n, d)
    X = r.normal(size=(n, d))
    if kind == "rounded":
        X = np.round(X)
    elif kind == "duplicates":
        X = X[r.integers(0, max(n // 3, 1), n)]
    elif kind == "constants":
        X = np.column_stack([X, np.full(n, 2.0), np.zeros(n)])
    elif kind == "one-hot":
        X = np.eye(d + 1)[r.integers(0, d + 1, n)]
    u = X @ r.normal(size=X.shape[1]) + r.normal(size=n)
    u = u if kind in ("normal", "wide") else np.round(u, int(r.integers(0, 2)))
    y = np.where(u > np.median(u), 1.0, -1.0)
    y[0], y[-1] = 1.0, -1.0
    classes = np.argsort(np.argsort(u, kind="stable")) * 3 // n
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / X.shape[1])
    return Data(X, u, y, classes, K)


def held_out(kind: str, seed: int) -> Data:
    """Return data of a kind in `HELD_OUT`; the RBF matrix is of standardised columns."""
    r = np.random.default_rng([zlib.crc32(kind.encode()), seed, 1])
    n, d = int(r.integers(6, 26)), int(r.integers(1, 6))
    n, d = (1, d) if kind == "one row" else (n, 3 * n if kind.startswith("thrice") else d)
    X = r.normal(size=(n, d))
    if kind == "heavy tails":
        X = r.standard_cauchy(size=(n, d))
    elif kind == "counts":
        X = r.poisson(r.uniform(0.2, 4.0, d), size=(n, d)).astype(float)
    elif kind == "three levels":
        X = r.integers(-1, 2, size=(n, d)).astype(float)
    u = X @ r.normal(size=d) + r.normal(size=n) * r.choice([0.1, 1.0, 3.0])
    if kind == "three levels":
        u = np.digitize(u, np.quantile(u, [0.4, 0.6])).astype(float)
    elif kind == "counts":
        u = r.poisson(np.exp(np.clip(u, -2.0, 3.0))).astype(float)
    elif kind == "heavy tails":
        u = u + r.standard_cauchy(size=n)
    elif kind == "constant targets":
        u = np.full(n, float(r.choice([0.0, 1.0, -7.3, 1234.5])))
    y = np.where(u > np.median(u), 1.0, -1.0)
    if kind == "one positive":
        y = np.where(np.arange(n) == r.integers(n), 1.0, -1.0)
    elif n > 1:
        y[0], y[-1] = 1.0, -1.0
    if kind == "conflicting copies":
        m = n // 2
        X, u, y = np.vstack([X, X[:m]]), np.r_[u, u[:m] + r.integers(0, 2, m)], np.r_[y, -y[:m]]
    elif kind == "copied columns":
        X = np.column_stack([X, X[:, 0], -X[:, -1], X @ np.ones(d)])
    own = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    if kind == "raw units":
        X = X * 10.0 ** r.integers(-2, 4, d) + 10.0 ** r.integers(0, 4, d)
        u = u * 10.0 ** r.integers(-2, 4)
    classes = np.argsort(np.argsort(u, kind="stable")) * 3 // len(u)
    K = np.exp(-((own[:, None] - own) ** 2).sum(axis=2) / X.shape[1])
    return Data(X, u, y, classes, K)


# ---------------------------------------------------------------------- objectives, as documented


def plus(v: np.ndarray) -> np.ndarray:
    """Return the positive parts."""
    return np.maximum(v, 0.0)


def model_of(path: Any, t: float, D: Data) -> tuple[np.ndarray, float, float]:
    """Return f at the samples, ||w||^2 and ||w||_1."""
    if path.line.start.kernel is None:
        w = path.coef(t)
        return D.X @ w + path.intercept(t), float((w**2).sum()), float(np.abs(w).sum())
    c = path.expansion(t)
    return D.K @ c + path.intercept(t), float(c @ D.K @ c), np.nan


def huber(r: np.ndarray) -> np.ndarray:
    """Return r^2 inside of 1, 2 |r| - 1 beyond."""
    return np.where(np.abs(r) <= 1, r**2, 2 * np.abs(r) - 1)


def huberised(u: np.ndarray) -> np.ndarray:
    """Return the Huberised hinge with delta = 2."""
    return np.where(u <= 0, 0.0, np.where(u <= 2, u**2 / 4, u - 1))


def pinball(r: np.ndarray, tau: float) -> np.ndarray:
    """Return the check loss."""
    return np.maximum(tau * r, (tau - 1) * r)


def pin(u: np.ndarray, tau: float) -> np.ndarray:
    """Return the pinball hinge of u = 1 - y f."""
    return np.maximum(u, -tau * u)


def double_margin(m: np.ndarray, kappa: float) -> np.ndarray:
    """Return max(0, 1 - m, 1 + m - kappa)."""
    return np.maximum(plus(1 - m), 1 + m - kappa)


@dataclass(frozen=True)
class Case:
    """A function with its options, and its objective at a parameter."""

    path: Callable[[Data], Any]
    value: Callable[[Any, float, Data], float]


def of_f(loss: Callable[..., np.ndarray], rest: Callable[..., float]) -> Callable[..., float]:
    """Return an objective: losses of f summed, and what w costs."""

    def value(path: Any, t: float, D: Data) -> float:
        f, square, absolute = model_of(path, t, D)
        return float(loss(f, t, D).sum() + rest(square, absolute, t))

    return value


def twins(path: Any, t: float, D: Data, tau: float, C: float) -> float:
    """Return the objective of the twin SVM."""
    total = 0.0
    for k, s in enumerate((-1.0, 1.0)):
        f = D.X @ path.coef(t)[k] + path.intercept(t)[k]
        own = D.y == s
        # the other class is on the side of its label
        u = 1 - D.y[~own] * f[~own]
        total += (f[own] ** 2).sum() / 2 + C * pin(u, tau).sum()
    return float(total)


def ordinal(path: Any, t: float, D: Data, implicit: bool) -> float:
    """Return the objective of ordinal regression."""
    f, square, _ = model_of(path, t, D)
    total = square / 2
    for j, b in enumerate(path.free(t)):
        below = D.classes <= j if implicit else D.classes == j
        above = D.classes > j if implicit else D.classes == j + 1
        total += t * (plus(1 + f[below] - b).sum() + plus(1 - f[above] + b).sum())
    return float(total)


def multicategory(path: Any, t: float, D: Data, kernel: bool) -> float:
    """Return the objective of the multicategory SVM."""
    K, w = int(D.classes.max()) + 1, path.expansion(t) if kernel else path.coef(t)
    rows = D.K if kernel else D.X
    f = rows @ w.T + path.intercept(t)
    assert np.abs(f.sum(axis=1)).max() <= 1e-9 * max(np.abs(f).max(), 1.0)
    others = D.classes[:, None] != np.arange(K)
    square = np.einsum("kn,nm,km->", w, D.K, w) if kernel else (w**2).sum()
    return float(plus(f + 1 / (K - 1))[others].sum() / len(D.u) + t / 2 * square)


TOGETHER = (0.1, 0.5, 0.8)


def together(path: Any, t: float, D: Data, penalty: Callable[[np.ndarray], float]) -> float:
    """Return the objective of quantiles that don't cross."""
    w = path.coef(t)
    f = D.X @ w.T + path.intercept(t)
    assert (np.diff(f, axis=1) >= -1e-9 * max(np.abs(f).max(), 1.0)).all()
    losses = [pinball(D.u - own, tau).mean() for own, tau in zip(f.T, TOGETHER, strict=True)]
    return float(sum(losses) + penalty(w))


def ranking(path: Any, t: float, D: Data) -> float:
    """Return the objective of ranking."""
    f, square, _ = model_of(path, t, D)
    i, j = np.nonzero(D.u[:, None] > D.u)
    return float(t * plus(1 - f[i] + f[j]).sum() + square / 2)


def fused(path: Any, t: float, D: Data, smooth: bool) -> float:
    """Return the objective of the generalised lasso."""
    w = path.coef(t)
    fit = w if smooth else D.X @ w + path.intercept(t)
    return float(((D.u - fit) ** 2).sum() / 2 + t * np.abs(np.diff(w)).sum())


def margins(path: Any, t: float, D: Data, kappa: float, lam1: float, lam2: float) -> float:
    """Return the objective of double margins with rho."""
    f, square, absolute = model_of(path, t, D)
    _, above, below = path.free(t)
    rho, m = above - below, D.y * f
    assert absolute <= rho + 1e-9
    loss = np.maximum(plus(1 - m), 1 + m - kappa * rho).mean()
    return float(loss + lam1 * rho + lam2 / 2 * square)


def differences(d: int) -> np.ndarray:
    """Return the differences of neighbours; of one coefficient, itself less nothing."""
    return np.diff(np.eye(d), axis=0) if d > 1 else np.zeros((1, 1))


G = {"kernel": "precomputed"}
SQ, HALF = of_f(lambda f, t, D: (f - D.u) ** 2 / 2, lambda q, a, t: t * a + 0.35 * q), 0.5
CASES = {
    "svm": Case(
        lambda D: sp.svm_path(D.X, D.y),
        of_f(lambda f, t, D: t * plus(1 - D.y * f), lambda q, a, t: q / 2),
    ),
    "svm_kernel": Case(
        lambda D: sp.svm_path(D.K, D.y, sample_weight=2.0 + D.y, **G),
        of_f(lambda f, t, D: t * (2.0 + D.y) * plus(1 - D.y * f), lambda q, a, t: q / 2),
    ),
    "dm_ksvm": Case(
        lambda D: sp.dm_ksvm_path(D.X, D.y, 1.5),
        of_f(lambda f, t, D: double_margin(D.y * f, 1.5) / len(f), lambda q, a, t: t * q / 2),
    ),
    "dm_ksvm_kernel": Case(
        lambda D: sp.dm_ksvm_path(D.K, D.y, 3.0, **G),
        of_f(lambda f, t, D: double_margin(D.y * f, 3.0) / len(f), lambda q, a, t: t * q / 2),
    ),
    "elastic_net": Case(lambda D: sp.elastic_net_path(D.X, D.u, lam2=0.7), SQ),
    "lasso_intercept": Case(
        lambda D: sp.elastic_net_path(D.X, D.u),
        of_f(lambda f, t, D: (f - D.u) ** 2 / 2, lambda q, a, t: t * a),
    ),
    "huber_l1": Case(
        lambda D: sp.almost_quadratic_path(D.X, D.u),
        of_f(lambda f, t, D: huber(D.u - f), lambda q, a, t: t * a),
    ),
    "squared_hinge_l1": Case(
        lambda D: sp.almost_quadratic_path(D.X, D.y, loss="squared_hinge"),
        of_f(lambda f, t, D: plus(1 - D.y * f) ** 2, lambda q, a, t: t * a),
    ),
    "rlad_lam": Case(
        lambda D: sp.rlad_path(D.X, D.u),
        of_f(lambda f, t, D: np.abs(f - D.u), lambda q, a, t: t * a),
    ),
    "rlad_s": Case(
        lambda D: sp.rlad_path(D.X, D.u, vary="s"),
        of_f(lambda f, t, D: np.abs(f - D.u), lambda q, a, t: 0.0),
    ),
    "svr_C": Case(
        lambda D: sp.svr_path(D.X, D.u),
        of_f(lambda f, t, D: t * plus(np.abs(f - D.u) - 0.1), lambda q, a, t: q / 2),
    ),
    "svr_lam_kernel": Case(
        lambda D: sp.svr_path(D.K, D.u, vary="lam", **G),
        of_f(lambda f, t, D: plus(np.abs(f - D.u) - 0.1), lambda q, a, t: t * q / 2),
    ),
    "svr_epsilon": Case(
        lambda D: sp.svr_path(D.X, D.u, vary="epsilon"),
        of_f(lambda f, t, D: plus(np.abs(f - D.u) - t), lambda q, a, t: q / 2),
    ),
    "fused_signal": Case(
        lambda D: sp.generalized_lasso_path(D.u, differences(len(D.u))),
        lambda path, t, D: fused(path, t, D, True),
    ),
    "fused_lasso": Case(
        lambda D: sp.generalized_lasso_path(D.u, differences(D.X.shape[1]), X=D.X),
        lambda path, t, D: fused(path, t, D, False),
    ),
    "nu_svm": Case(
        lambda D: sp.nu_svm_path(D.X, D.y),
        lambda path, t, D: of_f(
            lambda f, t, D: plus(path.free(t)[1] - D.y * f) / len(f),
            lambda q, a, t: q / 2 - t * path.free(t)[1],
        )(path, t, D),
    ),
    "nu_svm_kernel": Case(
        lambda D: sp.nu_svm_path(D.K, D.y, **G),
        lambda path, t, D: CASES["nu_svm"].value(path, t, D),
    ),
    "kernel_quantile_tau": Case(
        lambda D: sp.kernel_quantile_path(D.K, D.u, lam=0.1, **G),
        of_f(lambda f, t, D: pinball(D.u - f, t) / len(f), lambda q, a, t: 0.05 * q),
    ),
    "kernel_quantile_lam": Case(
        lambda D: sp.kernel_quantile_path(D.K, D.u, vary="lam", tau=0.3, **G),
        of_f(lambda f, t, D: pinball(D.u - f, 0.3) / len(f), lambda q, a, t: t * q / 2),
    ),
    "quantiles_tau": Case(
        lambda D: sp.quantile_regression_path(D.X, D.u),
        of_f(lambda f, t, D: pinball(D.u - f, t) / len(f), lambda q, a, t: 0.0),
    ),
    "quantiles_l1_tau": Case(
        lambda D: sp.quantile_regression_path(D.X, D.u, penalty="l1", lam=0.05),
        of_f(lambda f, t, D: pinball(D.u - f, t) / len(f), lambda q, a, t: 0.05 * a),
    ),
    "quantiles_l1_lam": Case(
        lambda D: sp.quantile_regression_path(D.X, D.u, penalty="l1", tau=0.3),
        of_f(lambda f, t, D: pinball(D.u - f, 0.3) / len(f), lambda q, a, t: t * a),
    ),
    "quantiles_l2_tau": Case(
        lambda D: sp.quantile_regression_path(D.X, D.u, penalty="l2", lam=0.1),
        of_f(lambda f, t, D: pinball(D.u - f, t) / len(f), lambda q, a, t: 0.05 * q),
    ),
    "quantiles_l2_lam": Case(
        lambda D: sp.quantile_regression_path(D.X, D.u, penalty="l2", tau=0.3),
        of_f(lambda f, t, D: pinball(D.u - f, 0.3) / len(f), lambda q, a, t: t * q / 2),
    ),
    "quantiles_together_l1": Case(
        lambda D: sp.noncrossing_quantiles_path(D.X, D.u, TOGETHER, penalty="l1"),
        lambda path, t, D: together(path, t, D, lambda w: t * np.abs(w).sum()),
    ),
    "quantiles_together_l2": Case(
        lambda D: sp.noncrossing_quantiles_path(D.X, D.u, TOGETHER),
        lambda path, t, D: together(path, t, D, lambda w: t / 2 * (w**2).sum()),
    ),
    "one_class_nu": Case(
        lambda D: sp.one_class_path(D.K, **G),
        lambda path, t, D: of_f(
            lambda f, t, D: plus(-f) / (t * len(f)), lambda q, a, t: q / 2 - path.free(t)[0]
        )(path, t, D),
    ),
    "one_class_lam": Case(
        lambda D: sp.one_class_path(D.K, vary="lam", **G),
        of_f(lambda f, t, D: plus(-f), lambda q, a, t: t * q / 2),
    ),
    "asymmetric": Case(
        lambda D: sp.asymmetric_svm_path(D.X, D.y),
        of_f(
            lambda f, t, D: np.where(D.y > 0, t, 1 - t) * plus(1 - D.y * f),
            lambda q, a, t: q / 2,
        ),
    ),
    "roc": Case(
        lambda D: sp.roc_path(D.K, D.y, C=3.0, **G),
        of_f(
            lambda f, t, D: 3 * np.where(D.y > 0, t, 1 - t) * plus(1 - D.y * f),
            lambda q, a, t: q / 2,
        ),
    ),
    "pin_tau": Case(
        lambda D: sp.pin_svm_path(D.X, D.y, C=0.8),
        of_f(lambda f, t, D: 0.8 * pin(1 - D.y * f, t), lambda q, a, t: q / 2),
    ),
    "pin_C_kernel": Case(
        lambda D: sp.pin_svm_path(D.K, D.y, vary="C", tau=0.4, **G),
        of_f(lambda f, t, D: t * pin(1 - D.y * f, 0.4), lambda q, a, t: q / 2),
    ),
    "pin_twin_tau": Case(
        lambda D: sp.pin_twin_svm_path(D.X, D.y),
        lambda path, t, D: twins(path, t, D, t, 1.0),
    ),
    "pin_twin_C": Case(
        lambda D: sp.pin_twin_svm_path(D.X, D.y, vary="C"),
        lambda path, t, D: twins(path, t, D, 0.5, t),
    ),
    "ranking": Case(lambda D: sp.ranking_svm_path(D.X, scores=D.u), ranking),
    "ranking_kernel": Case(lambda D: sp.ranking_svm_path(D.K, scores=D.u, **G), ranking),
    "hhsvm": Case(
        lambda D: sp.hhsvm_path(D.X, D.y, lam2=0.2),
        of_f(lambda f, t, D: huberised(1 - D.y * f), lambda q, a, t: t * a + 0.1 * q),
    ),
    "svor_explicit": Case(
        lambda D: sp.svor_path(D.X, D.classes), lambda path, t, D: ordinal(path, t, D, False)
    ),
    "svor_implicit_kernel": Case(
        lambda D: sp.svor_path(D.K, D.classes, thresholds="implicit", **G),
        lambda path, t, D: ordinal(path, t, D, True),
    ),
    "multicategory": Case(
        lambda D: sp.multicategory_svm_path(D.X, D.classes),
        lambda path, t, D: multicategory(path, t, D, False),
    ),
    "multicategory_kernel": Case(
        lambda D: sp.multicategory_svm_path(D.K, D.classes, **G),
        lambda path, t, D: multicategory(path, t, D, True),
    ),
    "lasso": Case(
        lambda D: sp.lasso_path(D.X, D.u, fit_intercept=False),
        of_f(lambda f, t, D: (f - D.u) ** 2 / 2, lambda q, a, t: t * a),
    ),
    "l1_svm": Case(
        lambda D: sp.l1_svm_path(D.X, D.y),
        of_f(lambda f, t, D: plus(1 - D.y * f), lambda q, a, t: t * a),
    ),
    "drsvm_lam1": Case(
        lambda D: sp.drsvm_path(D.X, D.y, lam2=0.3),
        of_f(lambda f, t, D: plus(1 - D.y * f) / len(f), lambda q, a, t: t * a + 0.15 * q),
    ),
    "drsvm_lam2": Case(
        lambda D: sp.drsvm_path(D.X, D.y, vary="lam2", lam1=0.05),
        of_f(lambda f, t, D: plus(1 - D.y * f) / len(f), lambda q, a, t: 0.05 * a + t * q / 2),
    ),
    "drlad_s": Case(
        lambda D: sp.drlad_path(D.X, D.u, lam2=0.1),
        of_f(lambda f, t, D: np.abs(f - D.u) / len(f), lambda q, a, t: 0.05 * q),
    ),
    "drlad_lam2": Case(
        lambda D: sp.drlad_path(D.X, D.u, vary="lam2", s=0.7),
        of_f(lambda f, t, D: np.abs(f - D.u) / len(f), lambda q, a, t: t * q / 2),
    ),
    "dr_regression_lam1": Case(
        lambda D: sp.dr_regression_path(D.X, D.u, ("quantile", 0.3), vary="lam1", lam2=0.2),
        of_f(lambda f, t, D: pinball(D.u - f, 0.3) / len(f), lambda q, a, t: t * a + 0.1 * q),
    ),
    "dm_drsvm_lam1": Case(
        lambda D: sp.dm_drsvm_path(D.X, D.y, 1.5, vary="lam1", lam2=0.1),
        lambda path, t, D: margins(path, t, D, 1.5, t, 0.1),
    ),
    "dm_drsvm_lam2": Case(
        lambda D: sp.dm_drsvm_path(D.X, D.y, 3.0, lam1=0.05),
        lambda path, t, D: margins(path, t, D, 3.0, 0.05, t),
    ),
    "l1_constrained": Case(
        lambda D: sp.l1_constrained_svm_path(D.X, D.y),
        of_f(lambda f, t, D: plus(1 - D.y * f), lambda q, a, t: 0.0),
    ),
}


# ---------------------------------------------------------------------- what is looked at


def places(path: Any, seed: int, count: int = 3) -> np.ndarray:
    """Return parameters: a breakpoint, and others between and beyond them."""
    r, knots = np.random.default_rng(seed), path.breakpoints
    low, high = path.range
    top = min(high, 2.0 * knots[-1] if knots[-1] > 0 else 1.0)
    found = [*r.uniform(max(low, knots[0]), top, count - 1), r.choice(knots)]
    if knots[-1] > 20 * np.median(knots) and np.median(knots) > 0:
        found[0] = r.uniform(knots[0], 2 * np.median(knots))
    return np.array([t for t in found if t > 0 or not path.scale.inverse])


def optimum(problem: Any) -> float:
    """Return the least objective that another solver finds for a statement."""
    curved = any(group.pieces.curvature.any() for group in problem.losses)
    linear = problem.ridge == 0 and not curved
    found = []
    for solve in (by_highs,) if linear else (by_clarabel,):
        answer = solve(problem)
        found.append(float(judge(problem, Answer(answer.w, answer.free, answer.duals)).primal))
    return min(found)


def look(case: Case, D: Data, seed: int) -> dict[str, Any]:
    """Return what was found on one problem."""
    begin = time.perf_counter()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            path = case.path(D)
        except sp.PathError as error:
            return {"told": str(error)}
        except ValueError as error:
            return {"refused": str(error)}
    seconds = time.perf_counter() - begin
    certificate = path.certify(20)
    found: dict[str, Any] = {
        "seconds": seconds,
        "breakpoints": len(path.breakpoints),
        "status": certificate.status,
        "gap": certificate.gap,
        "kkt": certificate.kkt,
        "off": 0.0,
        "stated": 0.0,
    }
    if said:
        found["told"] = str(said[0].message)
    size = 1e-6 * (float(np.abs(D.u).sum()) or len(D.u))  # below it an objective is zero
    for t in places(path, seed):
        problem, answer = path.stated_at(float(t))
        own = float(judge(problem, answer).primal)
        scale = max(abs(own), size)
        found["off"] = max(found["off"], (own - optimum(problem)) / scale)
        factor = path.scale.objective * (float(t) if path.scale.divided else 1.0)
        value = case.value(path, float(t), D)
        found["stated"] = max(found["stated"], abs(value - factor * own) / (factor * scale))
    return found


def silent(row: dict[str, Any]) -> bool:
    """Tell whether a problem's path was off without a word."""
    good = row.get("off", np.nan) <= LIMIT and row.get("stated", np.nan) <= LIMIT
    return "off" in row and "told" not in row and not good


def counted(name: str, found: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what came of a function's problems."""
    done = [row for row in found if "off" in row]
    return {
        "function": name,
        "problems": len(found),
        **{f"certificate {s}": sum(row["status"] == s for row in done) for s in STATES},
        **{said: sum(said in row for row in found) for said in ("told", "refused", "fault")},
        "silent": sum(map(silent, found)),
        "worst above the optimum": f"{max((row['off'] for row in done), default=np.nan):.1e}",
        "worst off the objective": f"{max((row['stated'] for row in done), default=np.nan):.1e}",
        "median s": f"{np.median([row['seconds'] for row in done] or [np.nan]):.3f}",
    }


def main() -> None:
    """Run all, and print a line for each function."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--problems", type=int, default=200)
    parser.add_argument("--models", nargs="*", default=list(CASES))
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--out", type=FilePath, help="a line of JSON for each problem")
    parser.add_argument("--table", type=FilePath, help="a CSV row for each function")
    options = parser.parse_args()
    kinds, make = (HELD_OUT, held_out) if options.held_out else (KINDS, data)
    rows, table = [], []
    for name in options.models:
        found = []
        for k in range(options.problems):
            kind = kinds[k % len(kinds)]
            try:
                found.append(look(CASES[name], make(kind, k), k))
            except Exception as error:  # a fault, to be seen in the table
                found.append({"fault": f"{type(error).__name__}: {error}"})
            found[-1] |= {"model": name, "kind": kind, "seed": k}
        rows += found
        table.append(counted(name, found))
        print("  ".join(f"{key} {value}" for key, value in table[-1].items()), flush=True)
    if options.out:
        options.out.write_text("\n".join(json.dumps(row) for row in rows) + "\n", "utf-8")
    if options.table:
        with options.table.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(table[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(table)


if __name__ == "__main__":
    sys.exit(main())
