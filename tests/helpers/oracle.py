"""What the tests of walks judge by: objectives and optima by code that knows no path.

Clarabel solves the primal quadratic programme at one parameter value. Kernels enter as rows
Z with Z Z' = K, so that one form serves all: min lam/2 ||w||^2 + sum_i C_i loss_i(Z w + b).
"""

from functools import partial

import clarabel
import numpy as np
import scipy.sparse as sp

from helpers import DATA, ROOT
from solution_paths import (
    lasso_path,
    quantile_svm_path,
    svm_path,
    weighted_svm_path,
    weighted_svr_path,
)

# Problems that engines got wrong (tests/data/cases/*.npz), and the functions they name.
FUNCTIONS = {
    "quantile": quantile_svm_path,
    "svm": svm_path,
    "weighted": weighted_svm_path,
    "svr": weighted_svr_path,
    "lasso": partial(lasso_path, fit_intercept=False),
}
CASES = sorted(file.stem for file in (DATA / "cases").glob("*.npz"))
PEERS_DATA = ROOT / "measurements" / "data"


def peers(name):
    """Return X, y of a generated set that the peers were measured on."""
    table = np.loadtxt(PEERS_DATA / f"{name}.csv", delimiter=",")
    return np.ascontiguousarray(table[:, 1:]), table[:, 0]


def rows_of(K):
    """Return rows Z with Z Z' = K, for a positive semidefinite K."""
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    keep = values > 1e-14 * max(values[-1], 1e-300)
    return vectors[:, keep] * np.sqrt(values[keep])


def kernel(A, B, name, gamma=1.0, degree=3, coef0=0.0):
    """Return a kernel matrix by the textbook's formula."""
    if name == "linear":
        return A @ B.T
    if name == "poly":
        return (gamma * (A @ B.T) + coef0) ** degree
    return np.exp(-gamma * ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))


def least_hinge(Z, y, cost, lam=1.0, free_bias=False):
    """Return min lam/2 ||w||^2 + sum_i C_i max(0, 1 - y_i (z_i.w + b)), found by Clarabel."""
    margin = -(y[:, None] * Z)
    return _least([margin], [-y], [-np.ones(len(y))], cost, lam, free_bias)


def least_tube(Z, y, cost, epsilon, lam=1.0):
    """Return min lam/2 ||w||^2 + sum_i C_i max(0, |y_i - z_i.w - b| - eps), by Clarabel."""
    ones = np.ones(len(y))
    return _least([-Z, Z], [-ones, ones], [epsilon - y, epsilon + y], cost, lam, True)


def _least(rows, biases, bounds, cost, lam, free_bias):
    """Minimise over (w, b, loss) with rows w + biases b - loss <= bounds, loss >= 0."""
    used = cost > 0
    rows, biases, bounds = ([v[used] for v in parts] for parts in (rows, biases, bounds))
    cost = cost[used]
    n, d = rows[0].shape
    size = d + free_bias + n
    # costs far from 1 are scaled away: the objective is divided by the largest cost
    unit = max(cost.max(), lam)
    diagonal = np.zeros(size)
    diagonal[:d] = lam / unit
    q = np.concatenate([np.zeros(d + free_bias), cost / unit])
    blocks, right = [], []
    for A, b, bound in zip(rows, biases, bounds, strict=True):
        own = [sp.csc_matrix(A), sp.csc_matrix(b[:, None])] if free_bias else [sp.csc_matrix(A)]
        blocks.append(sp.hstack([*own, -sp.identity(n)]))
        right.append(bound)
    blocks.append(sp.hstack([sp.csc_matrix((n, d + free_bias)), -sp.identity(n)]))
    right.append(np.zeros(n))
    A, b = sp.csc_matrix(sp.vstack(blocks)), np.concatenate(right)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    P = sp.csc_matrix(sp.diags(diagonal))
    cones = [clarabel.NonnegativeConeT(A.shape[0])]
    found = clarabel.DefaultSolver(P, q, A, b, cones, settings).solve()
    assert str(found.status) in ("Solved", "AlmostSolved"), f"the oracle failed: {found.status}"
    # the objective of a feasible point: exact losses at the w and b that were found
    x = np.asarray(found.x)
    w, bias = x[:d], x[d] if free_bias else 0.0
    loss = np.zeros(n)
    for own, b, bound in zip(rows, biases, bounds, strict=True):
        loss = np.maximum(loss, own @ w + b * bias - bound)
    return float(lam / 2 * w @ w + cost @ loss)


def fitted(path, t, X=None, K=None, y=None, lam=1.0):
    """Return (f, ||w||^2) at the training rows, from a path's public face.

    Linear models (X given) go by their coefficients, kernels (K given) by their duals, which are
    signed when no labels y are given.
    """
    if K is None:
        w = path.coef(t)
        return X @ w + path.intercept(t), float(w @ w)
    a = path.dual(t) if y is None else y * path.dual(t)
    own = K @ a / lam
    return own + path.intercept(t), float(a @ own) / lam


def hinge_objective(f, norm2, y, cost, lam=1.0):
    """Return lam/2 ||w||^2 + sum_i C_i max(0, 1 - y_i f_i)."""
    return float(lam / 2 * norm2 + cost @ np.maximum(0.0, 1.0 - y * f))


def tube_objective(f, norm2, y, cost, epsilon):
    """Return 1/2 ||w||^2 + sum_i C_i max(0, |y_i - f_i| - eps)."""
    return float(norm2 / 2 + cost @ np.maximum(0.0, np.abs(y - f) - epsilon))


def assert_least(ours, least, within=1e-8, unit=0.0):
    """Assert that an objective is the least, relative to it (and to ``unit``).

    Both are objectives of points of an unconstrained problem, so that ours may fall below the
    solver's by what the solver lacks in accuracy, but never rise above it.
    """
    scale = max(abs(ours), abs(least), unit)
    assert ours - least <= within * scale, f"{ours!r} is above {least!r}"
    assert least - ours <= 1e-4 * scale, f"the oracle's {least!r} is far above {ours!r}"
