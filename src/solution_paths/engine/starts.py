"""Starting points: any feasible duals are the exact solution of some problem near by.

Let duals a be given, feasible at t0 but not optimal. Pin the coordinates strictly between two
levels, and shift the kinks of all others that stand on the wrong side: for the shifted kinks a is
optimal. A walk that takes the shifts back ends at the exact solution for t0. The
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
from .walker import Line, Walker, WalkError

SWEEPS = 50  # of coordinate descent, for a guess


def start_from_guess(
    op: Operator,
    stairs: Staircases,
    t0: float,
    guess: NDArray[np.float64],
    tolerances: Tolerances | None = None,
    lazy: bool = True,
    callback=None,
    anchor: tuple[int, int] | None = None,
    borders: NDArray[np.int64] | None = None,
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
    anchor : (sample, kink), optional
        What to pin although its dual may equal a level: with a free bias one must be pinned.
    borders : (k,) int array, optional
        What to pin with the anchor, at kinks as the guess has it; by default all but the samples.
    """
    walker, shifted = _shifted(op, stairs, t0, guess, tolerances, anchor, borders)
    walker.begin(shifted, -1.0)
    try:
        walker.walk(0.0, lazy=lazy, callback=callback)
    except WalkError as error:
        raise lost_start(error) from error
    walker.start_events = walker.statistics()["events"]
    walker.begin(stairs, t0)
    return walker


def lines_from_guess(
    op: Operator,
    stairs: Staircases,
    soft: NDArray[np.float64],
    t0: float,
    guess: NDArray[np.float64],
    tolerances: Tolerances | None,
    lazy: bool,
    callback,
    anchor: tuple[int, int],
    borders: NDArray[np.int64],
) -> list[Line]:
    """Return lines that end at the exact solutions at t0, for (K, N) softnesses.

    As `start_from_guess`, for a guess in which what is soft has a dual of zero, so that all lines
    begin alike.
    """
    own = replace(stairs, soft=soft[0])
    walker, shifted = _shifted(op, own, t0, guess, tolerances, anchor, borders)
    begin = walker.s.state, walker.duals(), -1.0
    return Walker(op, shifted, *begin, tolerances, soft).walk_lines(0.0, lazy, callback)


def lost_start(error: WalkError) -> PathError:
    """Return the error of a path whose start was broken off."""
    return PathError(
        f"The path's start could not be computed ({error}); scale the columns of X alike, or take "
        "a larger penalty.",
        None,
    )


def _shifted(op, stairs, t0, guess, tolerances, anchor, borders) -> tuple[Walker, Staircases]:
    """Return a walker with a guess's states and duals, and staircases for which these are optimal.

    From -1 to 0 they go where those at t0 stand.
    """
    levels = stairs.levels(t0)
    kink, piece, inside = _classify(stairs, levels, guess)
    still = stairs.substitute(t0, 0.0)
    state = (2 * piece).astype(np.int8)
    if anchor is not None:  # with the border it is regular, though neither need be alone
        kink[anchor[0]] = anchor[1]
        borders = np.arange(op.n, len(guess)) if borders is None else borders
        first = np.append(anchor[0], borders)
        state[first] = 2 * kink[first] + 1
        inside[first] = False
    walker = Walker(op, still, state, guess, tolerances=tolerances)
    inner = np.flatnonzero(inside)
    walker.pin(inner, kink[inner], guess[inner])
    shift = _shifts(walker.s.state, *walker.distances())
    # From -1 to 0: what is left of the shifts is small beside the kinks, but exact.
    return walker, replace(still, kink1=_spread(-shift, still))


def start_from_zero_weights(
    op: Operator,
    scaled: Staircases,
    goal: Staircases,
    largest: float,
    tolerances: Tolerances | None = None,
    lazy: bool = True,
) -> Walker:
    """Return a walker on the exact solution for given instance weights, by growing the weights.

    There is a free bias, the last coordinate.

    Parameters
    ----------
    scaled : Staircases
        The staircases with all weights times t.
    goal : Staircases
        Staircases that agree with ``scaled`` at t = 1 where their own t is 0.
    largest : float
        The largest weight: the walk begins where it is small beside 1 / mean(K_ii).
    """
    begin = min(0.1 / max(op.diagonal[: op.n].sum() * largest, 1e-300), 1.0)
    duals, anchor = balanced_guess(op, scaled, begin)
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


def _shifts(state, below, above):
    """Return the shift of each coordinate's kinks that puts it where its state says.

    Those on the wrong side, and those that hardly are on the right one, get some room, at random so
    that they don't tie; it is small beside what is wrong, which may be tiny beside the kinks.
    """
    rng = np.random.default_rng(0)
    pinned = state % 2 == 1
    shift = np.where(pinned, below, 0.0)
    wrong = np.where(pinned, 0.0, np.maximum(-below, -above))
    room = max(wrong.max(), 1e-6 * _spread_of(below, above)) * rng.uniform(1e-4, 1e-3, len(state))
    room = np.minimum(room, np.maximum((below + above) / 3, 0.0))  # between two kinks
    high, low = ~pinned & (above < room), ~pinned & (below < room)
    shift[high] = (room - above)[high]
    shift[low] = (below - room)[low]
    return shift


def _spread_of(below, above):
    """Return the largest distance from a kink."""
    distances = np.concatenate([below, above])
    return np.abs(distances[np.isfinite(distances)]).max(initial=0.0)


def _spread(rate, stairs):
    """Return the same rate for all kinks of a coordinate."""
    return np.broadcast_to(rate[:, None], stairs.kink0.shape).copy()


def balanced_guess(
    op: Operator, stairs: Staircases, t: float
) -> tuple[NDArray[np.float64], tuple[int, int]]:
    """Return duals that balance where all values are almost a bias, and which kink to pin.

    Small levels make w small, and all values almost b. So b stands at the kink where the sum of
    the duals changes sign; of the samples with that kink those that w moves furthest up have the
    lower level, as many as the balance asks for. Where these are many, as with classes of different
    sizes, which ones is a quadratic problem (as in Hastie et al. 2004), which is solved roughly.
    All but one are put at a level: many duals between theirs may depend on each other.

    Parameters
    ----------
    stairs : Staircases
        Of n samples, and of a free bias as the last coordinate.
    t : float
        Where their levels are small.

    Returns
    -------
    guess : (n + 1,) array
    anchor : (sample, kink)
        The last one that was moved.
    """
    n = op.n
    kinks, levels = stairs.kinks(t)[:n], stairs.levels(t)[:n]
    there = np.arange(kinks.shape[1]) < stairs.n_kinks[:n, None]
    sample, kink = np.nonzero(there & (levels[:, :-1] > levels[:, 1:]))
    width = levels[sample, kink] - levels[sample, kink + 1]
    at = kinks[sample, kink]
    order = np.argsort(at, kind="stable")
    surplus = levels[:, 0].sum() - np.cumsum(width[order])  # of the duals, b behind each kink
    crossing = int(np.argmax(surplus <= 1e-12 * width.sum()))
    bias = at[order[crossing]]
    highest = _levels_behind(levels, there & (kinks < bias))
    lowest = _levels_behind(levels, there & (kinks <= bias))
    tied, too_much = np.flatnonzero(at == bias), highest.sum()
    furthest = kernel_times(op, highest)[sample[tied]]
    tied, taken, duals = _lower(tied, furthest, too_much, width, sample, highest)
    typical = op.diagonal[:n].mean()
    if np.count_nonzero(taken) > SWEEPS and typical > 0.0:  # else walking costs less
        accuracy = 1e-2 * typical * width[tied].max()
        box = np.zeros(n), lowest, highest  # all kinks, bar the bias
        near = coordinate_descent(op, *box, duals, 0.1 * typical, SWEEPS, accuracy)
        level = coordinate_descent(op, *box, near, 0.1 * typical, 1, 0.0)
        share = (2.0 * highest - near - level)[sample[tied]] / (highest - lowest)[sample[tied]]
        tied, taken, duals = _lower(tied, share, too_much, width, sample, highest)
    last = tied[max(np.count_nonzero(taken) - 1, 0)]
    return np.append(duals, -bias), (int(sample[last]), int(kink[last]))


def _lower(tied, urgency, surplus, width, sample, duals):
    """Take steps down, the most urgent ones first, until they have used up a surplus of the duals.

    Return the steps in their order, what is taken of their widths, and the duals behind them.
    """
    tied, lowered = tied[np.argsort(-urgency, kind="stable")], duals.copy()
    before = np.cumsum(width[tied]) - width[tied]
    taken = np.clip(surplus - before, 0.0, width[tied])
    np.subtract.at(lowered, sample[tied], taken)
    return tied, taken, lowered


def _levels_behind(levels, passed):
    """Return the level of each sample behind the kinks that its value has passed."""
    return levels[np.arange(len(levels)), passed.sum(axis=1)]


def kernel_times(op: Operator, a: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return K a for the samples."""
    out = np.zeros(op.n)
    _kernel_times(op, a, out)
    return out


@njit(cache=True)
def _kernel_times(op, a, out):
    w = np.zeros(op.now.c.shape[0])
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
def coordinate_descent(op, kink, lower, upper, start, balance, sweeps, accuracy):
    """Return duals of min 1/2 a'K a - kink'a, lower <= a <= upper, found by coordinate descent.

    The method of LIBLINEAR (Hsieh et al. 2008) without its shrinking; only a guess is wanted. With
    ``balance``, the weight of their squared sum, it is kept near zero by a multiplier. An accuracy
    of zero asks for the nearest levels: each dual is put on one in every sweep.
    """
    n, whole = op.n, accuracy == 0.0
    a = start.copy()
    z = np.zeros(n if op.kind == DENSE else 0)
    w = np.zeros(op.now.c.shape[0])
    for i in range(n):
        _change(op, i, a[i], z, w)
    order, sums = np.flatnonzero(lower < upper), np.array([a.sum(), 0.0])
    np.random.seed(0)  # noqa: NPY002 (numba has no Generator here)
    for _ in range(sweeps):
        np.random.shuffle(order)  # noqa: NPY002
        worst = _sweep(op, kink, lower, upper, order, a, z, w, balance, sums, whole)
        sums[1] += balance * sums[0]
        if worst <= accuracy:
            break
    return a


@lean
def _sweep(op, kink, lower, upper, order, a, z, w, balance, sums, whole):
    """Minimise over one coordinate after the other; return the largest change of a value.

    ``sums``: that of the duals, and its multiplier. ``whole``: over the two levels alone.
    """
    worst = 0.0
    for k in range(order.shape[0]):
        i, stiffness = order[k], op.diagonal[order[k]] + balance
        if stiffness <= 0.0:
            a[i] = upper[i] if kink[i] > 0 else lower[i]
            continue
        value = z[i] if op.kind == DENSE else op.scale * row_dot(op, i, w)
        off = value - kink[i] + balance * sums[0] + sums[1]
        new = min(max(a[i] - off / stiffness, lower[i]), upper[i])
        if whole:
            new = lower[i] if new - lower[i] < upper[i] - new else upper[i]
        step = new - a[i]
        if step == 0.0:
            continue
        worst = max(worst, abs(step) * stiffness)
        a[i] = new
        sums[0] += step
        _change(op, i, step, z, w)
    return worst


@lean
def _change(op, i, step, z, w):
    """Account for a step of a dual in z = K a, or in w = X'a (under the ridge penalty)."""
    if step == 0.0:
        return
    if op.kind == DENSE:
        for j in range(op.n):
            z[j] += step * op.H[i, j]
    else:
        row_axpy(op, i, step, w)
        for k in range(op.n_ridge, w.shape[0]):
            w[k] = 0.0
