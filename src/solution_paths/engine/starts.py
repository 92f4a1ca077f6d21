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
from numpy.typing import NDArray

from ..compilation import cached_njit
from ..errors import PathError
from .compiled import lean
from .operators import DENSE, Operator, row_axpy, row_dot
from .staircase import Staircases
from .tolerances import Tolerances
from .walker import Line, Walker, WalkError

SWEEPS = 50  # of coordinate descent, for a guess
ROOM = np.random.default_rng(0).uniform(1e-4, 1e-3, 1000)  # a generator takes a while to begin


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
    walker.start_events = walker.events
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
        f"The path's start could not be computed ({error}); centre the columns of X and scale them "
        "alike, or take a larger penalty.",
        None,
    )


def _shifted(op, stairs, t0, guess, tolerances, anchor, borders) -> tuple[Walker, Staircases]:
    """Return a walker with a guess's states and duals, and staircases for which these are optimal.

    From -1 to 0 they go where those at t0 stand.
    """
    kink, piece, inside = _classify(stairs.levels(t0), stairs.n_kinks, guess)
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
    N = len(guess)
    room = ROOM[:N] if len(ROOM) >= N else np.random.default_rng(0).uniform(1e-4, 1e-3, N)
    shift = _shifts(walker.s.state, *walker.distances(), room)
    # From -1 to 0: what is left of the shifts is small beside the kinks, but exact.
    rate = np.empty_like(still.kink1)
    rate[:] = -shift[:, None]
    return walker, replace(still, kink1=rate)


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
        walker.start_events = events + walker.events
    walker.begin(goal, 0.0)
    return walker


@cached_njit
def _classify(levels, n_kinks, guess):
    """Return each dual's kink and nearest piece, and whether it lies between two levels."""
    N = len(guess)
    kink, piece = np.zeros(N, dtype=np.int64), np.empty(N, dtype=np.int64)
    inside = np.empty(N, dtype=np.bool_)
    for i in range(N):
        q = 0
        while q < n_kinks[i] - 1 and guess[i] <= levels[i, q + 1]:  # levels decrease
            q += 1
        upper, lower = levels[i, q], levels[i, q + 1]
        span = upper - lower if np.isfinite(upper - lower) else abs(guess[i])
        to_upper, to_lower = upper - guess[i], guess[i] - lower
        inside[i] = min(to_upper, to_lower) > 1e-9 * span
        inside[i] |= not (np.isfinite(upper) or np.isfinite(lower))
        kink[i], piece[i] = q, q if to_upper <= to_lower else q + 1
    return kink, piece, inside


@cached_njit
def _shifts(state, below, above, shares):
    """Return the shift of each coordinate's kinks that puts it where its state says.

    Those on the wrong side, and those that hardly are on the right one, get some room, random
    ``shares`` so that they don't tie, of what is wrong, which may be tiny beside the kinks.
    """
    shift, wrong, spread = np.zeros(len(state)), 0.0, 0.0
    for i in range(len(state)):
        for off in (below[i], above[i]):
            if np.isfinite(off):
                spread = max(spread, abs(off))
        if state[i] % 2 == 0:
            wrong = max(wrong, -below[i], -above[i])
    for i in range(len(state)):
        if state[i] % 2 == 1:
            shift[i] = below[i]
            continue
        room = max(wrong, 1e-6 * spread) * shares[i]
        room = min(room, max((below[i] + above[i]) / 3, 0.0))  # between two kinks
        if below[i] < room:
            shift[i] = below[i] - room
        elif above[i] < room:
            shift[i] = room - above[i]
    return shift


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
    total = levels[:, 0].sum()
    bias, sample, kink, width, lowest, highest = _crossing(kinks, levels, stairs.n_kinks, total)
    surplus = highest.sum()
    order = np.argsort(-kernel_times(op, highest)[sample], kind="stable")
    taken, duals = _lower(order, surplus, width, sample, highest)
    typical = op.diagonal[:n].sum() / n
    if taken > SWEEPS and typical > 0.0:  # else walking costs less
        accuracy = 1e-2 * typical * width.max()
        box = np.zeros(n), lowest, highest  # all kinks, bar the bias
        near = coordinate_descent(op, *box, duals, 0.1 * typical, SWEEPS, accuracy)
        level = coordinate_descent(op, *box, near, 0.1 * typical, 1, 0.0)
        share = (2.0 * highest - near - level)[sample] / (highest - lowest)[sample]
        order = np.argsort(-share, kind="stable")
        taken, duals = _lower(order, surplus, width, sample, highest)
    last = order[max(taken - 1, 0)]
    return np.append(duals, -bias), (int(sample[last]), int(kink[last]))


@cached_njit
def _crossing(kinks, levels, n_kinks, total):
    """Return the bias behind which duals no longer add up to more than 0, and who changes there.

    ``total`` is their sum at first. Of steps down at the bias: sample, kink, width; of all samples
    the duals behind the bias, and before it.
    """
    n, Q = kinks.shape
    sample, kink = np.empty(n * Q, dtype=np.int64), np.empty(n * Q, dtype=np.int64)
    at, width, count = np.empty(n * Q), np.empty(n * Q), 0
    for i in range(n):
        for r in range(n_kinks[i]):
            if levels[i, r] > levels[i, r + 1]:
                sample[count], kink[count], at[count] = i, r, kinks[i, r]
                width[count] = levels[i, r] - levels[i, r + 1]
                count += 1
    sample, kink, at, width = sample[:count], kink[:count], at[:count], width[:count]
    order, gone, least = np.argsort(at, kind="mergesort"), 0.0, 1e-12 * width.sum()
    bias = at[order[0]]
    for k in order:
        gone += width[k]
        if total - gone <= least:
            bias = at[k]
            break
    lowest, highest = np.empty(n), np.empty(n)
    for i in range(n):
        before = behind = 0
        for r in range(n_kinks[i]):
            before += kinks[i, r] < bias
            behind += kinks[i, r] <= bias
        lowest[i], highest[i] = levels[i, behind], levels[i, before]
    tied = at == bias
    return bias, sample[tied], kink[tied], width[tied], lowest, highest


@cached_njit
def _lower(order, surplus, width, sample, duals):
    """Take steps down in an order until they have used up a surplus of the duals.

    Return how many were taken, in part at least, and the duals behind them.
    """
    lowered, taken = duals.copy(), 0
    for k in order:
        step = min(surplus, width[k])
        if step <= 0.0:
            break
        lowered[sample[k]] -= step
        surplus -= step
        taken += 1
    return taken, lowered


def kernel_times(op: Operator, a: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return K a for the samples."""
    out = np.zeros(op.n)
    _kernel_times(op, a, out)
    return out


@cached_njit
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


@cached_njit
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
