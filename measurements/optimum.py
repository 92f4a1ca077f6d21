"""Optima by code that shares nothing with the library: objectives and lower bounds.

Every model here is sum_i loss_i(f_i) + penalty(w) with f = Z w + b, and each loss the largest of a
few lines on an interval. For any duals a (minus slopes of the losses) of the right signs and sum,
sum_i min_f (loss_i(f) + a_i f) - penalty*(Z'a) is a lower bound of the optimum. Whoever states the
duals, it bounds: `feasible` makes of any array duals that obey every constraint. Numbers are
in extended precision (80 bits on x86).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import cvxpy as cp
import numpy as np

LONG = np.longdouble
Numbers = np.ndarray


@dataclass(frozen=True)
class Losses:
    """n convex losses: the largest of p lines, (n, p) each, where low <= f <= high, (n,) each."""

    slopes: Numbers
    offsets: Numbers
    low: Numbers
    high: Numbers

    def __call__(self, f: Numbers) -> Numbers:
        """Return the loss of each value; of one outside its interval that at the nearest end."""
        inside = np.clip(f, self.low, self.high)
        return (self.slopes * inside[:, None] + self.offsets).max(axis=1)

    def clipped(self, a: Numbers) -> Numbers:
        """Return the nearest duals for which loss + a f is bounded from below."""
        least = np.where(np.isfinite(self.high), -np.inf, -self.slopes.max(axis=1))
        most = np.where(np.isfinite(self.low), np.inf, -self.slopes.min(axis=1))
        return np.clip(a, least, most)

    def least_at(self, a: Numbers) -> Numbers:
        """Return where loss(f) + a f is least: two lines meet there, or the interval ends."""
        places = [np.where(np.isfinite(end), end, 0) for end in (self.low, self.high)]
        for j, k in combinations(range(self.slopes.shape[1]), 2):
            steeper = self.slopes[:, k] - self.slopes[:, j]
            meet = self.offsets[:, j] - self.offsets[:, k]
            places.append(meet / np.where(steeper == 0, 1, steeper))
        inside = np.array([np.clip(place, self.low, self.high) for place in places])
        best = np.argmin([self(f) + a * f for f in inside], axis=0)
        return inside[best, np.arange(len(best))]

    def least_with(self, a: Numbers) -> Numbers:
        """Return the least of loss(f) + a f."""
        f = self.least_at(a)
        return self(f) + a * f

    def off_graph(self, f: Numbers, a: Numbers, unit: float) -> Numbers:
        """Return how far each (f, a) is from the graph of minus the loss's slope.

        Along f, in units, or along a, in the largest slope: whichever is less.
        """
        line = (self.slopes * f[:, None] + self.offsets).argmax(axis=1)
        slope = self.slopes[np.arange(len(f)), line]
        largest = np.abs(self.slopes).max()
        along = np.abs(a + slope) / (largest if largest > 0 else 1)
        return np.minimum(along, np.abs(f - self.least_at(self.clipped(a))) / unit)


@dataclass(frozen=True)
class Penalty:
    """ridge/2 ||w||^2 + lam1 ||w||_1 where ||w||_1 <= radius, and whether the bias is free."""

    ridge: float = 0.0
    lam1: float = 0.0
    radius: float = np.inf
    free: bool = True

    def __call__(self, w: Numbers) -> Numbers:
        """Return the penalty of coefficients."""
        return LONG(self.ridge) / 2 * (w @ w) + LONG(self.lam1) * np.abs(w).sum()

    def conjugate(self, c: Numbers) -> Numbers:
        """Return the most of c.w less the penalty, infinite where it has no bound."""
        over = np.maximum(np.abs(c) - LONG(self.lam1), 0)
        if np.isfinite(self.radius):
            if self.ridge:
                raise NotImplementedError("a ball beside a ridge")
            return LONG(self.radius) * over.max(initial=0)
        if self.ridge:
            return (over**2).sum() / (2 * LONG(self.ridge))
        return np.inf if over.any() else LONG(0)


def lines(*pairs: tuple[Numbers, Numbers], low: Numbers, high: Numbers) -> Losses:
    """Return losses from (slope, offset) of each line, (n,) or numbers."""
    n = len(low)
    slopes, offsets = ([np.broadcast_to(pair[k], n) for pair in pairs] for k in (0, 1))
    return Losses(*(np.stack(part, axis=1).astype(LONG) for part in (slopes, offsets)), low, high)


def everywhere(n: int) -> dict[str, Numbers]:
    """Return an interval without ends for each of n losses."""
    return {"low": np.full(n, -np.inf, dtype=LONG), "high": np.full(n, np.inf, dtype=LONG)}


def hinge(y: Numbers, cost: Numbers) -> Losses:
    """Cost max(0, 1 - y f) for labels -1 and +1."""
    return lines((-cost * y, cost), (0, 0), **everywhere(len(y)))


def tube(y: Numbers, cost: Numbers, epsilon: float = 0.0) -> Losses:
    """Cost max(0, |y - f| - epsilon)."""
    epsilon = LONG(epsilon)
    pairs = (-cost, cost * (y - epsilon)), (cost, -cost * (y + epsilon)), (0, 0)
    return lines(*pairs, **everywhere(len(y)))


def double_margin(y: Numbers, cost: Numbers, kappa: float) -> Losses:
    """Cost max(0, 1 - m, 1 + m - kappa) of margins m = y f."""
    pairs = (-cost * y, cost), (cost * y, cost * (1 - LONG(kappa))), (0, 0)
    return lines(*pairs, **everywhere(len(y)))


def robust(y: Numbers, f: Numbers, a: Numbers, C: float, s: float, labels: bool) -> Losses:
    """Losses of which outliers (margin below s, or residual beyond) pay a constant, as f divides.

    A local optimum is the optimum where every sample keeps to its side. One at the threshold is on
    the side that its dual tells: below C/2 an outlier's.
    """
    at, C, s = LONG(1e-9), LONG(C), LONG(s)
    if labels:
        past, constant, side = s - y * f, C * (1 - s), y
        pairs = (-C * y, C), (0, 0)
    else:
        past, constant, side = np.abs(y - f) - s, C * s, -np.sign(y - f)
        pairs = (-C, C * y), (C, -C * y)
    out = np.where(np.abs(past) <= at, np.abs(a) < C / 2, past > 0)
    held = tuple(
        tuple(np.where(out, p, LONG(1) * q) for p, q in zip((0, constant), pair, strict=True))
        for pair in pairs
    )
    if labels:  # an inlier's margin is at least s, an outlier's at most
        low = np.where((side > 0) != out, y * s, -np.inf)
        high = np.where((side > 0) != out, np.inf, y * s)
    else:
        low = np.where(out & (side < 0), -np.inf, np.where(out, y + s, y - s))
        high = np.where(out & (side > 0), np.inf, np.where(out, y - s, y + s))
    return lines(*held, low=low.astype(LONG), high=high.astype(LONG))


def feasible(losses: Losses, penalty: Penalty, Z: Numbers | None, a: Numbers) -> Numbers:
    """Return duals near a that obey every constraint."""
    a = losses.clipped(np.asarray(a, dtype=LONG))
    if penalty.free:  # the heavier sign gives way, towards 0
        up, down = a[a > 0].sum(), -a[a < 0].sum()
        most = min(up, down)
        a = np.where(a > 0, a * (most / (up or 1)), a * (most / (down or 1)))
    if penalty.lam1 and not penalty.ridge:
        largest = np.abs(Z.T @ a).max(initial=0)
        a = a * min(LONG(1), LONG(penalty.lam1) / (largest or 1) * (1 - LONG(1e-16)))
    return a


def bound(losses: Losses, penalty: Penalty, a: Numbers, Z: Numbers, K: Numbers | None = None):
    """Return a lower bound of the optimum, from any duals; ``K``: a kernel's matrix."""
    a = feasible(losses, penalty, Z, a)
    if K is not None:
        return losses.least_with(a).sum() - a @ (K @ a) / (2 * LONG(penalty.ridge))
    return losses.least_with(a).sum() - penalty.conjugate(Z.T @ a)


def centred(X: Numbers) -> Numbers:
    """Return columns less their means: the same problem beside a free bias, with fewer digits."""
    X = X.astype(LONG)
    return X - X.mean(axis=0)


def rbf(X: Numbers, gamma: float) -> Numbers:
    """Return exp(-gamma ||x - x'||^2) of all pairs of rows."""
    K = np.zeros((len(X), len(X)), dtype=LONG)
    for column in X.astype(LONG).T:
        K += (column[:, None] - column) ** 2
    return np.exp(-LONG(gamma) * K)


def roots(K: Numbers) -> Numbers:
    """Return rows whose products are a kernel's matrix."""
    values, vectors = np.linalg.eigh(K.astype(float))
    kept = values > 1e-15 * values.max()
    return vectors[:, kept] * np.sqrt(values[kept])


def clarabel_duals(losses: Losses, penalty: Penalty, Z: Numbers) -> Numbers:
    """Return Clarabel's duals, solved to 1e-10 on columns of equal spread."""
    rows = np.asarray(Z, dtype=float)
    spread = np.where(rows.std(axis=0) > 0, rows.std(axis=0), 1.0)
    rows, n = rows / spread, len(rows)
    v, b, f = cp.Variable(rows.shape[1]), cp.Variable(), cp.Variable(n)
    w = cp.multiply(1 / spread, v)
    slopes, offsets = losses.slopes.astype(float), losses.offsets.astype(float)
    cost = max(float(np.abs(slopes).max()), 1e-300)
    every = [cp.multiply(slopes[:, k], f) + offsets[:, k] for k in range(slopes.shape[1])]
    total = cp.sum(cp.maximum(*every)) / cost
    total += penalty.ridge / cost / 2 * cp.sum_squares(w) + penalty.lam1 / cost * cp.norm1(w)
    held = [f == rows @ v + (b if penalty.free else 0.0)]
    for end, sign in ((losses.low.astype(float), 1), (losses.high.astype(float), -1)):
        own = np.flatnonzero(np.isfinite(end))
        held += [sign * f[own] >= sign * end[own]] if len(own) else []
    held += [cp.norm1(w) <= penalty.radius] if np.isfinite(penalty.radius) else []
    limits = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-10)
    cp.Problem(cp.Minimize(total), held).solve(solver=cp.CLARABEL, **limits)
    return held[0].dual_value * cost


# -- models of another form --------------------------------------------------------------------


def lasso(X: Numbers, y: Numbers, w: Numbers, b: float, alpha: float):
    """Return objective and bound of ||y - Xw - b||^2 / (2n) + alpha ||w||_1."""
    n, alpha = len(y), LONG(alpha)
    r = y.astype(LONG) - X.astype(LONG) @ w - LONG(b)
    Z, target = centred(X), centred(y)
    a = (r - r.mean()) / n
    a = a * min(LONG(1), alpha / max(np.abs(Z.T @ a).max(), LONG(1e-300)))
    return r @ r / (2 * n) + alpha * np.abs(w).sum(), a @ target - LONG(n) / 2 * (a @ a)


def double_margin_in_ball(y, w, f, g, Z, kappa, lam1, lam2):
    """Return objective and bound of lam2/2 ||w||^2 + lam1 rho + mean max(0, 1-m, 1+m-kappa rho).

    Over rho >= ||w||_1, for margins m. g: duals alpha - mu of the two margins, signed by y.
    """
    n, kappa, lam1, lam2 = len(y), LONG(kappa), LONG(lam1), LONG(lam2)
    m, size = y * f, np.abs(w).sum()
    ends = np.append(np.maximum(np.minimum(1 + m, 2 * m) / kappa, size), size)
    losses = [np.maximum(np.maximum(1 - m, 1 + m - kappa * end), 0).mean() for end in ends]
    primal = lam2 / 2 * (w @ w) + (lam1 * ends + losses).min()
    loss = lines((-y / LONG(n), 0), (y / LONG(n), 0), **everywhere(n))  # for |g| <= 1/n
    g = feasible(loss, Penalty(), None, g)
    g = g * min(LONG(1), lam1 / max(kappa * np.maximum(-y * g, 0).sum(), LONG(1e-300)))
    c, taken = np.abs(Z.T @ g), np.maximum(-y * g, 0).sum()
    # What alpha and mu have in common, e in all, adds 2e and takes kappa e from theta.
    room = max(min((1 / LONG(n) - np.abs(g)).sum() / 2, lam1 / kappa - taken), LONG(0))

    def value(e):
        theta = lam1 - kappa * (taken + e)
        if theta < -1e-15 * lam1:
            return LONG(-np.inf)
        lost = (np.maximum(c - theta, 0) ** 2).sum() / (2 * lam2)
        return np.abs(g).sum() + 2 * e - lost

    left, right = LONG(0), room
    for _ in range(120):  # concave in e
        third = (right - left) / 3
        if value(left + third) < value(right - third):
            left = left + third
        else:
            right = right - third
    return primal, max(value(left), value(right), value(LONG(0)))


# -- any stated problem ------------------------------------------------------------------------


@dataclass(frozen=True)
class Graphs:
    """The functions of a `solution_paths.problem.Pieces`, and the graphs of their derivatives."""

    knots: Numbers
    slopes: Numbers
    curvature: Numbers
    low: Numbers
    high: Numbers

    @classmethod
    def of(cls, own) -> Graphs:
        """Return the functions of a statement."""
        names = ("knots", "slopes", "curvature", "low", "high")
        return cls(*(np.asarray(getattr(own, name)).astype(LONG) for name in names))

    def _starts(self) -> Numbers:
        """Return where the slope of each segment is stated: at its nearest knot."""
        return np.column_stack([self.knots[:, :1], self.knots])

    def rise(self, z: Numbers) -> Numbers:
        """Return what functions are at z, less at their first knots; outside as at the ends."""
        z = np.clip(z, self.low, self.high)[:, None]
        edges = np.column_stack([self.knots, np.full(len(self.knots), np.inf)])
        right = np.clip(z - edges[:, :-1], 0, np.diff(edges, axis=1))
        left = np.minimum(z[:, 0] - self.knots[:, 0], 0)
        total = left * (self.slopes[:, 0] + self.curvature[:, 0] * left / 2)
        steep = self.slopes[:, 1:] + self.curvature[:, 1:] * right / 2
        return total + np.where(right > 0, steep * right, 0).sum(axis=1)

    def slopes_at(self, z: Numbers) -> tuple[Numbers, Numbers]:
        """Return the least and the largest derivative at z, infinite at the ends of a domain."""
        z = np.clip(z, self.low, self.high)[:, None]
        starts = self._starts()
        left = np.column_stack([np.full(len(z), -np.inf), self.knots])
        right = np.column_stack([self.knots, np.full(len(z), np.inf)])
        at = self.slopes + self.curvature * (z - starts)
        here = (z >= left) & (z <= right)
        least = np.where(here, at, np.inf).min(axis=1)
        most = np.where(here, at, -np.inf).max(axis=1)
        least = np.where(z[:, 0] <= self.low, -np.inf, least)
        return least, np.where(z[:, 0] >= self.high, np.inf, most)

    def place_of(self, u: Numbers, z: Numbers) -> Numbers:
        """Return where the derivative is u, nearest to z, or as near to u as it comes."""
        rows, starts = np.arange(len(u)), self._starts()
        places, off = [], []
        for k in range(self.knots.shape[1]):
            least, most = self.slopes_at(self.knots[:, k])
            places.append(self.knots[:, k])
            off.append(np.maximum(np.maximum(least - u, u - most), 0))
        edges = np.column_stack([self.low, self.knots, self.high])
        for k in range(self.slopes.shape[1]):
            q = self.curvature[:, k]
            bent = starts[:, k] + (u - self.slopes[:, k]) / np.where(q > 0, q, 1)
            inside = np.clip(np.where(q > 0, bent, z), edges[:, k], edges[:, k + 1])
            places.append(inside)
            off.append(np.abs(self.slopes[:, k] + q * (inside - starts[:, k]) - u))
        for end in (self.low, self.high):
            at = np.where(np.isfinite(end), end, z)
            least, most = self.slopes_at(at)
            places.append(at)
            off.append(
                np.where(np.isfinite(end), np.maximum(np.maximum(least - u, u - most), 0), np.inf)
            )
        places, off = np.array(places), np.array(off)
        near = off <= off.min(axis=0) * (1 + LONG(1e-15))
        return places[np.where(near, np.abs(places - z), np.inf).argmin(axis=0), rows]

    def apart(self, z: Numbers, u: Numbers, width: Numbers, height: Numbers):
        """Return how far each (z, u) is from its graph, in units, and the area between."""
        least, most = self.slopes_at(z)
        beyond = np.maximum(np.maximum(least - u, u - most), 0)
        outside = np.maximum(np.maximum(self.low - z, z - self.high), 0)
        place = self.place_of(u, z)
        low, high = self.slopes_at(place)
        u = np.clip(u, low, high)
        area = np.maximum(self.rise(z) - self.rise(place) - u * (z - place), 0)
        off = np.minimum(np.maximum(beyond / height, outside / width), np.abs(z - place) / width)
        return np.where(np.isnan(off), np.inf, off), area


def stated(problem, answer) -> tuple[LONG, LONG, LONG, LONG]:
    """Return the objective of an answer to a stated problem, its gap, how far off graphs, a limit.

    The gap is the sum of the areas between each pair of value and derivative and its graph; the
    distance is in units of the knots' range, of the slopes' and, for coefficients, of what columns
    make of these. The limit is of the gap: what half a unit of the last place of w may make of it.
    Problems with an l1 constraint are not judged.
    """
    dense = [
        group.X.toarray() if hasattr(group.X, "toarray") else group.X for group in problem.losses
    ]
    maps = [np.asarray(X @ np.eye(problem.features)).astype(LONG) for X in dense]
    frees = [
        np.asarray(g.free.toarray() if hasattr(g.free, "toarray") else g.free).astype(LONG)
        for g in problem.losses
    ]
    w, v = answer.w.astype(LONG), answer.free.astype(LONG)
    if problem.kernel is not None:
        K = problem.kernel.astype(LONG)
        maps = [X @ K for X in maps]
    total = gap = off = limit = LONG(0)
    pull, balance = np.zeros(problem.features, LONG), np.zeros(problem.n_free, LONG)
    terms, parts = np.zeros(problem.features, LONG), np.zeros(problem.n_free, LONG)
    every = [np.asarray(group.pieces.knots) for group in problem.losses]
    wide = max(LONG(max(np.ptp(own), np.abs(own).max())) for own in every) or LONG(1)
    largest = LONG(0)
    for group, X, free, a in zip(problem.losses, maps, frees, answer.duals, strict=True):
        own, a, z = Graphs.of(group.pieces), a.astype(LONG), X @ w + free @ v
        width = max(np.ptp(own.knots), np.abs(own.knots).max()) or wide
        steep = np.abs(own.slopes).max(initial=0) + (own.curvature.max(initial=0) * width)
        apart, area = own.apart(z, -a, width, steep or LONG(1))
        total, gap, off = (
            total + own.rise(z).sum(),
            gap + area.sum(),
            max(off, apart.max(initial=0)),
        )
        total = total + group.pieces.value.astype(LONG).sum()
        sizes = np.abs(X) @ np.abs(w) + np.abs(free) @ np.abs(v)
        limit = limit + steep * LONG(2.3e-16) * sizes.sum()
        pull, balance = pull + X.T @ a, balance + free.T @ a
        terms, parts = (
            terms + np.abs(X).T @ np.full(len(a), steep),
            parts + np.abs(free).sum(0) * steep,
        )
        largest = np.maximum(largest, np.abs(X).max(axis=0))
    terms = np.where(terms > 0, terms, 1)
    if problem.kernel is not None:
        rest = np.abs(pull - problem.ridge * (K @ w)) / terms
        total = total + LONG(problem.ridge) / 2 * (w @ (K @ w))
        off = max(off, rest.max())
    else:
        left = pull - LONG(problem.ridge) * w
        total = total + LONG(problem.ridge) / 2 * (w @ w)
        if problem.penalty is None:
            off = max(off, (np.abs(left) / terms).max(initial=0))
        else:
            own = Graphs.of(problem.penalty)
            unit = np.where(largest > 0, wide / np.where(largest > 0, largest, 1), 1)
            apart, area = own.apart(w, left, unit, terms)
            total, gap = total + own.rise(w).sum(), gap + area.sum()
            off = max(off, apart.max(initial=0))
    linear = problem.linear.astype(LONG)
    total = total + linear @ v
    parts = np.where(parts > 0, parts, 1)
    off = max(off, (np.abs(balance - linear) / parts).max(initial=0))
    return total, gap, off, limit
