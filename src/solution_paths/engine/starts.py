"""Starting points: any feasible duals are the exact solution of some problem near by.

Let duals a be given, feasible at t0 but not optimal. Pin the coordinates strictly between two
levels, and shift the kinks of all others that stand on the wrong side: for the shifted kinks a is
optimal. A walk that takes the shifts back (s from 0 to 1) ends at the exact solution for t0. The
better the guess, the fewer the events; nothing is trusted, since a bad guess only costs more of
them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..errors import PathError
from .compiled import lean
from .operators import DENSE, Operator, row_axpy, row_dot
from .staircase import Staircases
from .tolerances import Tolerances
from .walker import Walker, WalkError


def start_from_guess(
    op: Operator,
    stairs: Staircases,
    t0: float,
    guess: NDArray[np.float64],
    tolerances: Tolerances | None = None,
    lazy: bool = True,
    callback=None,
    anchor: int | None = None,
) -> Walker:
    """Return a walker that stands on the exact solution at t0.

    Parameters
    ----------
    op, stairs
        The problem; border coordinates with infinite levels are pinned.
    t0 : float
        Where to start.
    guess : (N,) array
        Feasible duals at t0, the nearer to the solution the better.
    anchor : int, optional
        A sample to pin although its dual may equal a level: with a free bias one must be pinned.
    """
    levels = stairs.levels(t0)
    kink, piece, inside = _classify(stairs, levels, guess)
    still = stairs.substitute(t0, 0.0)
    state = (2 * piece).astype(np.int8)
    if anchor is not None:  # with the border it is regular, though neither need be alone
        first = np.append(anchor, np.arange(op.n, len(guess)))
        state[first] = 2 * kink[first] + 1
        inside[first] = False
    walker = Walker(op, still, state, guess, tolerances=tolerances)
    inner = np.flatnonzero(inside)
    walker.pin(inner, kink[inner], guess[inner])
    z = walker.values()
    shift = _shifts(still, walker.s.state, z)
    walker.begin(
        replace(still, kink0=still.kink0 + shift[:, None], kink1=_spread(-shift, still)), 0.0
    )
    try:
        walker.walk(1.0, lazy=lazy, callback=callback)
    except WalkError as error:
        raise PathError(
            f"The path's start could not be computed ({error}); scale the columns of X alike, or "
            "take a larger penalty.",
            None,
        ) from error
    walker.start_events = walker.statistics()["events"]
    walker.begin(stairs, t0)
    return walker


def start_from_zero_weights(
    op: Operator,
    scaled: Staircases,
    goal: Staircases,
    largest: float,
    guess,
    tolerances: Tolerances | None = None,
    lazy: bool = True,
) -> Walker:
    """Return a walker on the exact solution for given instance weights, by growing the weights.

    Parameters
    ----------
    scaled : Staircases
        The staircases with all weights times t.
    goal : Staircases
        Staircases that agree with ``scaled`` at t = 1 where their own t is 0.
    largest : float
        The largest weight: the walk begins where it is small beside 1 / mean(K_ii).
    guess : callable
        Maps t to feasible duals for the weights times t, and an anchor.
    """
    begin = min(0.1 / max(op.diagonal[: op.n].sum() * largest, 1e-300), 1.0)
    duals, anchor = guess(begin)
    walker = start_from_guess(op, scaled, begin, duals, tolerances, lazy, anchor=anchor)
    if begin < 1.0:
        # from there it is a C-path
        events = walker.start_events
        try:
            walker.begin(scaled, begin)
            walker.walk(1.0, lazy=lazy)
        except WalkError as error:
            raise PathError(
                f"The weights could not be grown from zero ({error}); scale the columns of X "
                "alike, or take smaller weights.",
                None,
            ) from error
        walker.start_events = events + walker.statistics()["events"]
    walker.begin(goal, 0.0)
    return walker


def _classify(stairs, levels, guess):
    """Return each dual's kink and nearest piece, and whether it lies between two levels."""
    N, width = levels.shape
    usable = np.arange(width) <= stairs.n_kinks[:, None]
    above = (guess[:, None] <= levels) & usable  # levels decrease along the row
    kink = np.clip(above.sum(axis=1) - 1, 0, np.maximum(stairs.n_kinks - 1, 0))
    rows = np.arange(N)
    upper, lower = levels[rows, kink], levels[rows, kink + 1]
    with np.errstate(invalid="ignore"):
        span = np.where(np.isfinite(upper - lower), upper - lower, np.abs(guess))
        to_upper, to_lower = upper - guess, guess - lower
    inside = (to_upper > 1e-9 * span) & (to_lower > 1e-9 * span)
    inside |= ~np.isfinite(upper) & ~np.isfinite(lower)
    piece = np.where(to_upper <= to_lower, kink, kink + 1)
    return kink, piece, inside


def _shifts(stairs, state, z):
    """Return the shift of each coordinate's kinks that puts z where the state says it is."""
    rng = np.random.default_rng(0)
    shift = np.zeros(len(z))
    rows = np.arange(len(z))
    q = state.astype(np.int64) // 2
    pinned = state % 2 == 1
    shift[pinned] = (z - stairs.kink0[rows, np.minimum(q, stairs.kink0.shape[1] - 1)])[pinned]
    scale = np.abs(stairs.kink0).max() or 1.0
    margin = scale * rng.uniform(1e-4, 1e-3, size=len(z))
    upper = np.where(
        q < stairs.n_kinks, stairs.kink0[rows, np.minimum(q, stairs.kink0.shape[1] - 1)], np.inf
    )
    lower = np.where(q > 0, stairs.kink0[rows, np.maximum(q - 1, 0)], -np.inf)
    room = np.minimum(margin, np.where(np.isfinite(upper - lower), (upper - lower) / 3, margin))
    high, low = ~pinned & (z > upper - room), ~pinned & (z < lower + room)
    shift[high] = (z - upper + room)[high]
    shift[low] = (z - lower - room)[low]
    return shift


def _spread(rate, stairs):
    """Return the same rate for all kinks of a coordinate."""
    return np.broadcast_to(rate[:, None], stairs.kink0.shape).copy()


def balanced_guess(
    op: Operator, y: NDArray[np.float64], cost: NDArray[np.float64]
) -> tuple[NDArray[np.float64], int]:
    """Return duals (n + 1,) of a hinge machine with free bias that balance, and an anchor.

    The class with less weight is at full level; of the other, the samples nearest to the first
    class (by kernel value) are filled up until the sums agree.
    """
    n = len(y)
    weight = {side: cost[y == side].sum() for side in (1.0, -1.0)}
    minor = 1.0 if weight[1.0] <= weight[-1.0] else -1.0
    guess = np.zeros(n + 1)
    guess[:n] = np.where(y == minor, y * cost, 0.0)
    guess[n] = minor  # minus the bias, which is near the larger class
    other = np.flatnonzero((y == -minor) & (cost > 0))
    if len(other) == 0:
        return np.zeros(n + 1), 0
    nearness = minor * kernel_times(op, guess[:n])[other]
    other = other[np.argsort(-nearness, kind="stable")]
    before = np.cumsum(cost[other]) - cost[other]
    fill = np.clip(weight[minor] - before, 0.0, cost[other])
    guess[other] = -minor * fill
    last = int(np.searchsorted(before, weight[minor], side="left")) - 1
    return guess, int(other[max(last, 0)])


def kernel_times(op: Operator, a: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return K a for the samples."""
    out = np.zeros(op.n)
    _kernel_times(op, a, out)
    return out


@njit(cache=True)
def _kernel_times(op, a, out):
    w = np.zeros(op.c.shape[0])
    for i in range(op.n):
        if op.kind == DENSE:
            for k in range(op.n):
                out[k] += a[i] * op.H[i, k]
        else:
            row_axpy(op, i, op.scale * a[i], w)
    if op.kind != DENSE:
        w[op.n_ridge :] = 0.0
        for i in range(op.n):
            out[i] = row_dot(op, i, w)


@njit(cache=True)
def coordinate_descent(op, kink, lower, upper, sweeps, accuracy):
    """Return duals of min 1/2 a'K a - kink'a, lower <= a <= upper, found by coordinate descent.

    The method of LIBLINEAR (Hsieh et al. 2008) without its shrinking; only a guess is wanted.
    """
    n = op.n
    a = np.zeros(n)
    z = np.zeros(n if op.kind == DENSE else 0)
    w = np.zeros(op.c.shape[0])
    order = np.arange(n)
    np.random.seed(0)  # noqa: NPY002 (numba has no Generator here)
    for _ in range(sweeps):
        np.random.shuffle(order)  # noqa: NPY002
        if _sweep(op, kink, lower, upper, order, a, z, w) <= accuracy:
            break
    return a


@lean
def _sweep(op, kink, lower, upper, order, a, z, w):
    """Minimise over one coordinate after the other; return the largest change of a value."""
    worst = 0.0
    for k in range(order.shape[0]):
        i = order[k]
        if op.diagonal[i] <= 0.0:
            a[i] = upper[i] if kink[i] > 0 else lower[i]
            continue
        value = z[i] if op.kind == DENSE else op.scale * row_dot(op, i, w)
        new = min(max(a[i] - (value - kink[i]) / op.diagonal[i], lower[i]), upper[i])
        step = new - a[i]
        if step == 0.0:
            continue
        worst = max(worst, abs(step) * op.diagonal[i])
        a[i] = new
        if op.kind == DENSE:
            for j in range(op.n):
                z[j] += step * op.H[i, j]
        else:
            row_axpy(op, i, step, w)
    return worst
