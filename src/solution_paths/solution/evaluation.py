"""What a path says of many rows at all its breakpoints: changes of sign, and errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ..validation import Floats, check_row_weights, check_shares, check_vector, plain_labels
from .curves import (
    Curve,
    Labels,
    mean_curve,
    moving_pinball_pieces,
    of_pieces,
    squared_pieces,
    steps,
    tilted_pieces,
)
from .deciding import Deciding, places, sign_changes
from .labels import indices, label_error
from .metrics import DECISIONS, RANKED, Metric
from .points import Places
from .ranks import Swaps, discordant, precision_error, swaps
from .reading import NUMBERS
from .recorded import RecordedPath

WITHIN = 1e-7  # of the largest value of a piece, or at the last place: how exact curved errors are
CUBIC = 72.0 * np.sqrt(3.0)  # a cubic function's third derivative by what its parabola is off
ENTRIES = 4_000_000  # decisions at all breakpoints that are held together: 32 MB
MANY_ENTRIES = 24_000_000
WEIGHTS = 8_000_000  # of all breakpoints that are held together: 64 MB
AROUND = 16  # breakpoints at least, even so
TIED = 2.0**-44  # of the sum of a decision's absolute terms: rows whose differ by less tie


def crossings(path: RecordedPath, rows: Any) -> list[Floats]:
    """Return for each row the t, ascending, at which f changes sign; see `SolutionPath`."""
    found: list[Floats] = []
    for f in blocks(path, rows):
        row, _, t = sign_changes(places(path), f[:, 0], path.reading)
        order = np.lexsort((t, row))
        row, t = row[order], t[order]
        # two changes at one place are none
        new = np.append(True, (np.diff(row) > 0) | (np.diff(t) > 0))[: len(row)]
        first = np.flatnonzero(new)
        kept = first[np.diff(np.append(first, len(row))) % 2 == 1]
        found += np.split(t[kept], np.searchsorted(row[kept], np.arange(1, len(f))))
    return found


def piece_values(path: RecordedPath, rows: Any, edges: Floats) -> tuple[Floats, Floats]:
    """Return f (m, k) at both ends of k pieces between edges in t; see `SolutionPath`."""
    t = places(path)
    edges = edges if path.ray and len(t) == len(path.points) else np.minimum(edges, t[-1])
    f = np.concatenate([block[:, 0] for block in blocks(path, rows)])
    if len(t) == 1:
        same = np.repeat(f, len(edges) - 1, axis=1)
        return same, same
    middle = edges[:-1] + 0.5 * np.diff(edges)
    here = np.clip(np.searchsorted(t, middle) - 1, 0, len(t) - 2)
    before, step = f[:, here], t[here + 1] - t[here]
    rate = (f[:, here + 1] - before) / np.where(step > 0, step, np.inf)
    left, right = (before + rate * (ends - t[here]) for ends in (edges[:-1], edges[1:]))
    return left, right


def positive_parts(path: RecordedPath, rows: Any) -> tuple[Floats, Floats]:
    """Return both ends (m, k) of where f >= 0 on each of k pieces between recorded points."""
    t = places(path)
    t = t[:-1] if path.ray and len(t) == len(path.points) > 1 else t
    f = np.concatenate([block[:, 0, : len(t)] for block in blocks(path, rows)])
    left, right = f[:, :-1], f[:, 1:]
    starts, ends = (path.reading.positive(own) for own in (left, right))
    apart = starts != ends
    share = np.where(apart, left / np.where(apart, left - right, 1.0), 0.0)
    root = t[:-1] + share * np.diff(t)
    first = np.where(starts, t[:-1], np.where(ends, root, t[1:]))
    last = np.where(ends, t[1:], np.where(starts, root, t[1:]))
    return first, last


def blocks(path: RecordedPath, rows: Any) -> Iterator[Floats]:
    """Yield decisions (m, o, K) at all recorded points, for a part of the rows at a time."""
    windows = list(_windows(path))
    whole = Deciding(path, windows[0][0]) if len(windows) == 1 else None
    for own in _parts(path, rows):
        if whole:
            yield whole.decisions(rows[own])
            continue
        every = [Deciding(path, w).decisions(rows[own])[..., inner] for w, inner in windows]
        yield np.concatenate(every, axis=-1)


def _windows(path: RecordedPath) -> Iterator[tuple[Places, slice]]:
    """Yield recorded points whose weights are held together, and which of them are decided by them.

    What a decision is may depend on two points before and behind it, and on all at its parameter.
    """
    t = places(path)
    count, size = len(t), max(AROUND, WEIGHTS // path.line.start.features)
    if path.reading.kind == "order":  # thresholds are compared with everywhere
        size = count
    for first in range(0, count, size):
        last = min(first + size, count)
        low = int(np.searchsorted(t, t[max(first - 2, 0)]))
        high = int(np.searchsorted(t, t[min(last + 1, count - 1)], side="right"))
        yield np.arange(low, high), slice(first - low, last - low)


def _parts(path: RecordedPath, rows: Any) -> Iterator[slice]:
    """Yield parts of the rows whose decisions are held together.

    More of them where weights are many, which are read anew for each part.
    """
    count = len(places(path))
    entries = ENTRIES if count * path.line.start.features <= WEIGHTS else MANY_ENTRIES
    size = max(1, entries // (count * path.reading.outputs))
    for first in range(0, rows.shape[0], size):
        yield slice(first, first + size)


def error_curve(
    path: RecordedPath,
    X: Any,
    y: ArrayLike,
    metric: Metric,
    weights: ArrayLike | None = None,
    queries: ArrayLike | None = None,
    classes: Any = None,
) -> Curve:
    """Return a mean error over rows as a function of t; see `SolutionPath.error_curve`.

    With ``classes`` labels are those of these, of which the path may know some only.
    """
    kind, m = path.reading.kind, X.shape[0]
    check_row_weights(weights, m, "X_val")
    if queries is not None and metric.name != "pairs":
        raise ValueError('queries are for metric="pairs" alone; leave them out.')
    if metric.name in ("pairs", *RANKED):
        return on_all_of(path, _rank_curve(path, X, y, metric, weights, queries))
    if kind in NUMBERS or (kind in DECISIONS and metric.name in ("absolute", "squared")):
        return on_all_of(path, _value_curve(path, X, y, metric, weights))
    return label_curve(path, X, y, metric, weights, classes)


def _one_output(path: RecordedPath, metric: Metric) -> None:
    """Refuse an error of one number a row where there are several."""
    if path.reading.outputs > 1:
        raise ValueError(
            f"metric={metric.name!r} is not for this path, whose predictions are "
            f"{path.reading.outputs} numbers a row; judge each by path.decision_function."
        )


def _value_curve(
    path: RecordedPath, X: Any, y: ArrayLike, metric: Metric, weights: ArrayLike | None
) -> Curve:
    """Return a mean error of numbers."""
    own = _own_pieces(path, metric)
    if len(own) == 1:
        _one_output(path, metric)
    m = X.shape[0]
    shares = check_shares(weights, m, "X_val")
    target = check_vector(y, m, "y_val", scalar=False, of="X_val")
    part = _pieces(places(path), own)

    def error(rows: slice, f: Floats, shares: Floats) -> Curve:
        return part(f, target[rows], shares)

    shares = np.full(m, 1.0 / m) if shares is None else shares
    return replace(_mean(path, X, error, shares), unit=error_of_mean(target, shares, metric))


def error_of_mean(y: Floats, shares: Floats, metric: Metric) -> float:
    """Return the size of the error of a prediction that knows nothing of the rows."""
    off = np.abs(y - shares @ y)
    return float(shares @ (off**2 if metric.name == "squared" else off))


def _own_pieces(path: RecordedPath, metric: Metric) -> list[Callable[..., Any]]:
    """Return what makes pieces of an error, from residuals: predictions less targets.

    There is one for each output where these are several quantiles, whose mean loss is asked for.
    """
    if metric.name == "squared":
        return [squared_pieces]
    if metric.name == "absolute":
        return [tilted_pieces]
    level = path.reading.level if metric.level is None else metric.level
    if level is None:
        return [moving_pinball_pieces]
    levels = level if isinstance(level, tuple) else (level,)
    return [partial(tilted_pieces, below=tau, above=1.0 - tau) for tau in levels]


def label_curve(
    path: RecordedPath,
    X: Any,
    y: ArrayLike,
    metric: Metric,
    weights: ArrayLike | None = None,
    classes: Any = None,
) -> Curve:
    """Return a mean error of labels; with ``classes`` the path may know some of these only."""
    m, own = X.shape[0], path.reading.classes
    classes = own if classes is None else classes
    right, known = codes(classes, y, m), indices(classes, own)
    every = Deciding(path, np.arange(len(places(path))))
    parts = [every.labels(f) for f in blocks(path, X)]
    found = Labels.together(parts)
    found = found._replace(first=known[found.first], after=known[found.after])

    weights, (low, high) = check_row_weights(weights, m, "X_val"), path.range
    curve = label_error((low, high), found.until(high), right, weights, metric, classes)
    known = path.scale.value(places(path)[[0, -1]])
    known = known[(known > low) & (known < high)]
    return curve.on(np.union1d(curve.edges, known)) if path.ray else curve


def _ends(path: RecordedPath) -> tuple[float, float]:
    """Return from where to where step functions are known: on a settled ray they go on."""
    edges, _ = _edges(places(path))
    return float(edges[0]), np.inf if _settles(path) else float(edges[-1])


def _settles(path: RecordedPath) -> bool:
    """Whether there is a ray on which solutions stand still."""
    return len(places(path)) < len(path.points)


def _marked(path: RecordedPath, curve: Curve) -> Curve:
    """Return a curve that has the last place where the path moves among its edges."""
    edges, _ = _edges(places(path))
    return curve.on(np.union1d(curve.edges, edges[-1:]))


def _rank_curve(
    path: RecordedPath,
    X: Any,
    y: ArrayLike,
    metric: Metric,
    weights: ArrayLike | None,
    queries: ArrayLike | None,
) -> Curve:
    """Return an error of the order of decisions."""
    m, classes = X.shape[0], path.reading.classes
    if len(classes) != 2:  # of two outputs for two classes the second one is the other's opposite
        _one_output(path, metric)
    if len(classes):
        scores = codes(classes, y, m).astype(np.float64)
    else:
        scores = check_vector(y, m, "y_val", scalar=False, of="X_val")
    given = check_row_weights(weights, m, "X_val")
    own = np.ones(m) if given is None else given
    used = np.flatnonzero(own > 0.0)
    rows, scores, own = X[used], scores[used], own[used]
    f = np.concatenate([part[:, -1] for part in blocks(path, rows)])
    order = _places(path, rows, f)
    if metric.name == "average_precision":
        return _precision_curve(path, f, order, scores == metric.positive(classes), own, metric)
    groups = _of_queries(queries, m, used)
    found = [discordant(*_swaps(path, f[k], order[k]), scores[k], own[k]) for k in groups]
    first, at, rises, total = zip(*found, strict=True)
    if sum(total) == 0.0:
        what = "labels of both classes" if len(classes) else "scores of a query that differ"
        raise ValueError(f"y_val must hold {what}: there are no pairs of rows to compare.")
    edges, changes = np.concatenate(at), np.concatenate(rises)
    return _marked(path, steps(*_ends(path), sum(first), edges, changes, sum(total)))


def _precision_curve(
    path: RecordedPath,
    f: Floats,
    order: NDArray[np.int64],
    positive: NDArray[np.bool_],
    weights: Floats,
    metric: Metric,
) -> Curve:
    """Return 1 less the average precision, of the rows that are to have larger decisions."""
    if metric.positive(path.reading.classes) == 0:
        f, order = -f, order.max(axis=0) - order
    return _marked(path, precision_error(_ends(path), *_swaps(path, f, order), positive, weights))


def _swaps(
    path: RecordedPath, f: Floats, order: NDArray[np.int64]
) -> tuple[NDArray[np.int64], Swaps]:
    """Return the order of rows at first, and its changes: also where solutions stand still."""
    t = places(path)
    _, (left, right) = _edges(t)
    if _settles(path):
        left, right = np.append(left, right[-1]), np.append(right, right[-1])
    return swaps(t, (left, right), f, order)


def _of_queries(
    queries: ArrayLike | None, m: int, used: NDArray[np.int64]
) -> list[NDArray[np.int64]]:
    """Return which of the used rows belong to each query."""
    if queries is None:
        return [np.arange(len(used))]
    of = plain_labels(queries, m, "queries", "X_val")[used]
    _, which = np.unique(of, return_inverse=True)
    return np.split(np.argsort(which, kind="stable"), np.cumsum(np.bincount(which))[:-1])


def _places(path: RecordedPath, rows: Any, f: Floats) -> NDArray[np.int64]:
    """Return the place of each decision (m, K) in the order of its column, ties being alike.

    Decisions tie whose difference is nothing but rounding of their terms.
    """
    order = np.argsort(f, axis=0, kind="stable")
    gap = np.diff(np.take_along_axis(f, order, axis=0), axis=0)
    w, v = path.variables_at(np.arange(f.shape[1]))
    most = abs(rows).max(axis=0)
    most = most.toarray() if sp.issparse(most) else most
    bound = path.reading.sizes(np.atleast_2d(most), w, v)[:, -1]  # no row's terms are larger
    for k in np.flatnonzero(((gap > 0.0) & (gap <= TIED * bound)).any(axis=0)).tolist():
        i = np.flatnonzero((gap[:, k] > 0.0) & (gap[:, k] <= TIED * bound[:, k]))
        pair = np.stack([order[i, k], order[i + 1, k]])
        sizes = path.reading.sizes(rows[pair.ravel()], w[[k]], v[[k]])[:, -1, 0]
        gap[i, k] *= gap[i, k] > TIED * sizes.reshape(2, -1).max(axis=0)
    place = np.zeros(f.shape, dtype=np.int64)
    np.put_along_axis(place, order[1:], np.cumsum(gap > 0.0, axis=0), axis=0)
    return place


def on_all_of(path: RecordedPath, curve: Curve) -> Curve:
    """Return a curve in the walk's own parameter as one in the user's, on all of the path."""
    if path.ray:
        curve = curve.over(float(curve.edges[0]), np.inf)
    if path.scale.inverse:
        curve = curve.inverted(path.scale.unit)
    elif path.scale.unit != 1.0:
        curve = curve.scaled(path.scale.unit)
    return curve.behind(path.scale.value(_told_before(path)))


def _told_before(path: RecordedPath) -> Floats:
    """Return the t of breakpoints at which the user's parameter belongs to what is below it."""
    t = places(path)
    own = np.unique(t[1:][np.diff(t) == 0.0])
    node = path.points.find(own)[0]
    before = path.points.t[np.minimum(node + 1, len(path.points) - 1)] == own
    return own[before != path.scale.inverse]


def _mean(
    path: RecordedPath, X: Any, error: Callable[[slice, Floats, Floats], Curve], shares: Floats
) -> Curve:
    """Return the mean of the errors of parts of the rows: of these, decisions and shares."""
    curves, sums = [], []
    for rows, f in zip(_parts(path, X), blocks(path, X), strict=True):
        own = shares[rows]
        if own.any():
            curves.append(error(rows, f, own / own.sum()))
            sums.append(float(own.sum()))
    return mean_curve(curves, sums)


def loss_curve(path: RecordedPath, X: Any, loss: Any, shares: Floats) -> Curve:
    """Return the mean of smooth convex losses of f as a function of t, within `WITHIN`.

    Each piece is cut into so many equal ones that the parabola through the ends and the middle of
    each is as near to the mean as that: a bound of its third derivative says how many.

    Parameters
    ----------
    path, X : the path, and checked rows
    loss : callable
        Of a slice of rows, returns their `solution_paths.glm.Loss`.
    shares : (m,) array
        Their weights, which sum to 1.
    """
    t = places(path)

    def error(rows: slice, f: Floats, shares: Floats) -> Curve:
        return _parabolas(t, f[:, 0], loss(rows), shares)

    return on_all_of(path, _mean(path, X, error, shares))


def _parabolas(t: Floats, f: Floats, loss: Any, shares: Floats) -> Curve:
    """Return the mean loss of decisions (m, K) that are lines between K places."""
    edges, (left, right) = _edges(t)
    f, g = f[:, left], f[:, right]
    ends = np.array([shares @ loss.value(f.T).T, shares @ loss.value(g.T).T])
    third = shares @ (loss.third_derivative_bound(f.T, g.T).T * np.abs(g - f) ** 3)
    enough = WITHIN * np.maximum(ends.max(axis=0), ends[1, -1])
    cuts = np.ceil(np.cbrt(third / CUBIC / np.where(enough > 0.0, enough, 1.0))).astype(np.int64)
    parts: list[tuple[Floats, ...]] = []
    for k, count in enumerate(np.maximum(cuts, 1)):
        share = np.linspace(0.0, 1.0, 2 * count + 1)
        value = loss.value(np.outer(1.0 - share, f[:, k]) + np.outer(share, g[:, k])) @ shares
        place = (1.0 - share[::2]) * edges[k] + share[::2] * edges[k + 1]
        begin, middle, end = value[:-2:2], value[1::2], value[2::2]
        sag = np.maximum(2.0 * (begin + end) - 4.0 * middle, 0.0)
        parts.append((place[:-1], place[1:], begin, end, sag))
    return of_pieces(parts)


def _pieces(t: Floats, every: list[Callable[..., Any]]) -> Callable[..., Curve]:
    """Return the error of predictions, or the mean of the errors of several outputs."""
    edges, _ = _edges(t)
    still = not (np.diff(t) > 0).any()

    def error(f: Floats, y: Floats, shares: Floats) -> Curve:
        curves = []
        for k, own in enumerate(every):
            residual = f[:, k] - y[:, None]
            if still:  # one solution alone: it is so on both ends of a piece
                residual = np.repeat(residual[:, -1:], 2, axis=1)
            curves.append(of_pieces([own(edges if still else t, residual, shares)]))
        return mean_curve(curves)

    return error


def codes(classes: Any, y: ArrayLike, m: int) -> NDArray[np.int64]:
    """Return labels as indices into the classes."""
    given = plain_labels(y, m, "y_val", "X_val")
    unknown = [label for label in np.unique(given).tolist() if label not in classes.tolist()]
    if unknown:
        raise ValueError(
            f"y_val holds the label {unknown[0]!r}, but the path was computed with "
            f"{' and '.join(map(repr, classes.tolist()))}; recode it, or drop those rows."
        )
    return indices(classes, given)


def _edges(t: Floats) -> tuple[Floats, tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return edges, and the recorded points at both ends of each piece."""
    pieces = np.flatnonzero(np.diff(t) > 0)
    if not len(pieces):
        return np.array([t[0], t[0] + 1.0]), (np.zeros(1, np.int64), np.zeros(1, np.int64))
    return np.append(t[pieces], t[pieces[-1] + 1]), (pieces, pieces + 1)
