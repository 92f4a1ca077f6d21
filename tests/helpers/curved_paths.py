"""What tests of logistic and Poisson regressions share: both models, data, and their bound."""

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from scipy.special import xlogy

from solution_paths import logistic_path, poisson_path
from solution_paths.glm import losses
from solution_paths.glm.follow import worst
from solution_paths.glm.penalised import Point

RATIOS = (1.0, 0.0, 0.5, 0.999, 0.01)


class Logistic:
    """Losses log(1 + exp(-y f)) of labels -1, +1, as a textbook has them."""

    name, metric = "logistic", "log_loss"
    kinds = "normal wide separable raw constant duplicates integers one_hot rare noise flat sparse"
    path = staticmethod(logistic_path)
    loss = losses.Logistic

    @classmethod
    def data(cls, kind, seed):
        """Return X and labels of a kind, most of them degenerate."""
        r = np.random.default_rng(seed)
        X = normal(kind, r, 10)
        n, d = X.shape
        y = np.where(X @ r.normal(size=d) + r.normal(size=n) > 0.3, 1.0, -1.0)
        if kind == "separable":
            y = np.where(X[:, 0] > 0, 1.0, -1.0)
        elif kind == "duplicates":
            y = np.append(y, -y[: n // 2])
        elif kind == "rare":
            y = np.where(np.arange(n) == 3, 1.0, -1.0)
        elif kind == "noise":
            y = np.where(r.normal(size=n) > 0, 1.0, -1.0)
        X = degenerate(kind, X, r)
        y[:2] = -1.0, 1.0
        return X, y

    @staticmethod
    def drawn(X, r):
        """Return a few labels, none of them by chance."""
        return np.where(np.arange(len(X)) < 4, 1.0, -1.0)

    @staticmethod
    def residuals(y):
        """Return the derivatives of the losses at the best constant."""
        return np.where(y > 0, 1.0 - (y > 0).mean(), -(y > 0).mean())

    @staticmethod
    def values(y, f):
        """Return the losses."""
        return np.logaddexp(0.0, -y * f)

    errors = values

    @staticmethod
    def expression(y, f, weights):
        """Return the sum of the losses for CVXPY."""
        return weights @ cp.logistic(-cp.multiply(y, f))

    @staticmethod
    def least(y, u):
        """Return the least of each loss + u f: the entropy of a label's share."""
        return -xlogy(y * u, y * u) - xlogy(1 - y * u, 1 - y * u)


class Poisson:
    """Losses that are half the deviance of counts y from means exp(f)."""

    name, metric = "poisson", "deviance"
    kinds = "normal wide raw constant duplicates integers one_hot rare large rates flat sparse"
    path = staticmethod(poisson_path)
    loss = losses.Poisson

    @classmethod
    def data(cls, kind, seed):
        """Return X and counts of a kind, most of them degenerate."""
        r = np.random.default_rng([seed, 7])
        X = normal(kind, r, 8)
        n, d = X.shape
        y = r.poisson(np.exp(np.clip(X @ r.normal(size=d) / np.sqrt(d), -3.0, 3.0))).astype(float)
        if kind == "duplicates":
            y = np.append(y, y[: n // 2] + 1)
        elif kind == "rare":
            y = np.where(np.arange(n) == 3, 5.0, 0.0)
        elif kind == "large":
            y = np.round(y * 1e5 + r.normal(size=n) ** 2)
        elif kind == "rates":
            y = y / r.uniform(0.5, 20.0, size=n)
        X = degenerate(kind, X, r)
        y[0] += 1.0
        y[1] = 0.0
        return X, y

    @staticmethod
    def drawn(X, r):
        """Return a few counts, one of them above 0 for certain."""
        return r.poisson(2.0, len(X)) + (np.arange(len(X)) == 2.0)

    @staticmethod
    def residuals(y):
        """Return the derivatives of the losses at the best constant."""
        return y - y.mean()

    @staticmethod
    def values(y, f):
        """Return the losses."""
        return np.exp(f) - y * f + xlogy(y, y) - y

    @classmethod
    def errors(cls, y, f):
        """Return deviances."""
        return 2.0 * cls.values(y, f)

    @staticmethod
    def expression(y, f, weights):
        """Return the sum of the losses for CVXPY, but for a constant."""
        return weights @ cp.exp(f) - (weights * y) @ f

    @staticmethod
    def least(y, u):
        """Return the least of each loss + u f, which is at the mean y - u."""
        return -(xlogy(y - u, y - u) - (y - u) - xlogy(y, y) + y)


REGRESSIONS = (Logistic, Poisson)


def normal(kind, r, most):
    """Return rows of random size, with fewer than ``most`` columns unless the kind is wide."""
    n, d = (12, 40) if kind == "wide" else (int(r.integers(6, 60)), int(r.integers(1, most)))
    return r.normal(size=(n, d))


def degenerate(kind, X, r):
    """Return the rows of a kind in place of rows that are normal."""
    n, d = X.shape
    if kind == "raw":
        return X * 10.0 ** r.integers(-1, 4, size=d) + 10.0 ** r.integers(0, 5, size=d)
    if kind == "constant":
        return np.column_stack([X, np.full(n, 5000.1), np.zeros(n)])
    if kind == "duplicates":
        X = np.vstack([X, X[: n // 2]])
        return np.column_stack([X, X[:, 0], X])
    if kind == "integers":
        return r.integers(-1, 2, size=(n, d)).astype(float)
    if kind == "one_hot":
        return np.eye(4)[r.integers(0, 4, size=n)]
    if kind == "flat":
        return np.full((n, 2), 3.0)
    if kind == "sparse":
        return sp.random_array((n, d), density=0.3, rng=r, format="csr")
    return X


def problem(model, seed):
    """Return a path's X, y, least and largest lam, and options, all drawn at random."""
    X, y = model.data(model.kinds.split()[seed % 12], seed)
    r = np.random.default_rng(seed + 1000)
    low = largest(model, X, y) * 10.0 ** -r.uniform(0.3, 4)
    high = np.inf if seed % 2 else low * 10 ** r.uniform(0.5, 4)
    eps = 10.0 ** -r.uniform(1, 8 if seed % 4 == 0 else 5)
    options = {"l1_ratio": RATIOS[seed % 5], "eps": eps}
    if seed % 3 == 0:  # some rows count for nothing
        options["sample_weight"] = r.uniform(0.1, 3.0, len(y)) * (r.uniform(size=len(y)) > 0.2)
        options["sample_weight"][:2] = 1.0
    return X, y, low, high, options


def weighted(model, seed):
    """Return a problem, weights 0 to 3 with some in both classes, and its rows so repeated."""
    X, y, low, high, options = problem(model, seed)
    times = np.random.default_rng(seed).integers(0, 4, len(y))
    times[:2] += 1
    options.pop("sample_weight", None)
    return X, y, low, high, options, times, np.repeat(np.arange(len(y)), times)


def largest(model, X, y):
    """Return the largest |x_j.a| of the best constant."""
    X = X.toarray() if sp.issparse(X) else X
    return np.abs((X - X.mean(axis=0)).T @ model.residuals(y)).max() or 1.0


def primal(model, X, y, lam, r, w, b, weights=1.0):
    """Return the objective as the docstrings have it."""
    size = r * np.abs(w).sum() + (1 - r) / 2 * (w @ w)
    return (weights * model.values(y, X @ w + b)).sum() + lam * size


def primal_at(model, path, X, y, lam, r, weights=1.0):
    """Return the objective of a path's solution at lam."""
    return primal(model, X, y, lam, r, path.coef(lam), path.intercept(lam), weights)


def largest_at_ends(path, curve, lam):
    """Return the largest value that a curve takes at the ends of the line of each lam."""
    nodes = np.append(path.breakpoints, path.range[1])
    piece = np.searchsorted(path.breakpoints, lam, side="right")
    values = curve(np.minimum(nodes, curve.edges[-1]))
    return np.maximum(np.maximum(values[piece - 1], values[piece]), values[-1])


def assert_the_bound_holds(path, low, high, seed):
    """Judge a path at a thousand lam between its ends."""
    assert path.range == (low, high)
    assert path.bounds.max() <= path.eps
    last = min(high, 2.0 * path.breakpoints[-1])
    grid = np.clip(np.geomspace(low, last, 1000), low, last)
    s, found = path._judged(np.empty(0, dtype=int), grid)
    piece = np.clip(np.searchsorted(path.points.t, s, side="right") - 1, 0, len(path.bounds) - 1)
    assert (found.gap <= path.bounds[piece] + found.rounding + 1e-12).all()
    assert path.certify(20, seed).ok


def two_points(problem, r):
    """Return points of an objective at two lam, the larger one first; none is an optimum."""
    ends = []
    for lam in np.sort(10.0 ** r.uniform(-1, 1, size=2))[::-1]:
        w, b = r.normal(size=3) * r.integers(0, 2, size=3), r.normal()
        ends.append(problem.point(lam, w, b, problem.columns.times(w) + b))
    return ends


def assert_gaps_are_below_the_bound(problem, ends, m):
    """Judge m lines from one point to another: no gap is above what their ends and bends say."""
    points = ends[0].towards(ends[1], np.linspace(0.0, 1.0, m + 1))
    gaps, bends, s = problem.gaps(points), problem.bends(points), np.linspace(0.0, 1.0, 41)
    for k in range(m):
        two = [Point(*(v[i] for v in vars(points).values())) for i in (k, k + 1)]
        bound = (1 - s) * gaps[k] + s * gaps[k + 1] + s * (1 - s) * bends[k]
        assert (problem.gaps(two[0].towards(two[1], s)) <= bound + 1e-10 * gaps.max()).all()
    limit = 0.9 * problem.gaps(ends[0].towards(ends[1], np.linspace(0.0, 1.0, 400))).max()
    assert worst(problem, *ends, limit) > limit
