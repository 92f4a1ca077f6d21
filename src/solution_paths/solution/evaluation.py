"""Evaluation of a path at many rows and all its breakpoints: changes of sign, and errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ..validation import (
    Floats,
    Rows,
    check_edges,
    check_row_weights,
    check_shares,
    check_vector,
    plain_labels,
)
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
from .tolerances import CURVED_TOLERANCE, TIED

CUBIC_FACTOR = 72.0 * np.sqrt(3.0)  # third derivative of a cubic by its parabola's error
DECISIONS_AT_ONCE = 4_000_000  # decisions at all breakpoints in memory at once: 32 MB
MORE_DECISIONS_AT_ONCE = 24_000_000  # ... where weights are read anew for each block of rows
WEIGHTS_AT_ONCE = 8_000_000  # weights at all breakpoints in memory at once: 64 MB
MIN_WINDOW = 16  # ... or those at this many breakpoints


def crossings(path: RecordedPath, rows: Any) -> list[Floats]:
    """Return for each row the t, ascending, at which f changes sign; see `SolutionPath`."""
    roots: list[Floats] = []
    for f in blocks(path, rows):
        row, _, t = sign_changes(places(path), f[:, 0], path.reading)
        order = np.lexsort((t, row))
        row, t = row[order], t[order]
        # an even number of changes at one place cancels
        new = np.append(True, (np.diff(row) > 0) | (np.diff(t) > 0))[: len(row)]
        first = np.flatnonzero(new)
        kept = first[np.diff(np.append(first, len(row))) % 2 == 1]
        roots += np.split(t[kept], np.searchsorted(row[kept], np.arange(1, len(f))))
    return roots


def piece_values(path: RecordedPath, X_new: Rows, edges: ArrayLike) -> tuple[Floats, Floats]:
    """Return the one-sided limits (m, k) of f at both ends of all pieces between edges.

    Where f jumps at a breakpoint it has two limits there; `decision_function` returns one.

    Parameters
    ----------
    path : RecordedPath
        With one output a row.
    X_new : (m, d) array or CSR
    edges : (k + 1,) array
        Ascending, including the breakpoints between the first and the last. Beyond the last
        breakpoint of an unbounded path f is constant.
    """
    rows = path.reading.checked(X_new)
    edges = check_edges(edges, path.breakpoints, path.range[0], path.parameter)
    s = path.scale.statement_value(edges)
    if not path.scale.inverse:
        return _limits(path, rows, s)
    left, right = _limits(path, rows, s[::-1])
    return right[:, ::-1], left[:, ::-1]


def _limits(path: RecordedPath, rows: Any, edges: Floats) -> tuple[Floats, Floats]:
    """Return the same for checked rows, and edges in the statement's parameter."""
    t = places(path)
    edges = edges if path.ray and len(t) == len(path.points) else np.minimum(edges, t[-1])
    f = _decisions(path, rows)
    if len(t) == 1:
        same = np.repeat(f, len(edges) - 1, axis=1)
        return same, same
    middle = edges[:-1] + 0.5 * np.diff(edges)
    pieces = np.clip(np.searchsorted(t, middle) - 1, 0, len(t) - 2)
    before, step = f[:, pieces], t[pieces + 1] - t[pieces]
    rate = (f[:, pieces + 1] - before) / np.where(step > 0, step, np.inf)
    left, right = (before + rate * (ends - t[pieces]) for ends in (edges[:-1], edges[1:]))
    return left, right


def positive_length(path: RecordedPath, X_new: Rows) -> Floats:
    """Return, for each row, the total length (m,) of all parameters at which f >= 0.

    A path in the inverse of its parameter counts from the least breakpoint on, any other path up to
    the last breakpoint. The path has one output a row.
    """
    t, rows = places(path), path.reading.checked(X_new)
    t = t[:-1] if path.ray and len(t) == len(path.points) > 1 else t
    f = _decisions(path, rows)[:, : len(t)]
    left, right = f[:, :-1], f[:, 1:]
    starts, ends = (path.reading.positive(values) for values in (left, right))
    crosses = starts != ends
    share = np.where(crosses, left / np.where(crosses, left - right, 1.0), 0.0)
    root = t[:-1] + share * np.diff(t)
    first = np.where(starts, t[:-1], np.where(ends, root, t[1:]))
    last = np.where(ends, t[1:], np.where(starts, root, t[1:]))
    with np.errstate(invalid="ignore"):
        lengths = np.abs(path.scale.value(last) - path.scale.value(first))
    return np.asarray(np.where(first == last, 0.0, lengths).sum(axis=1))


def _decisions(path: RecordedPath, rows: Any) -> Floats:
    """Return decisions (m, K) at all recorded points of a path with one output a row."""
    if path.reading.outputs > 1:
        raise ValueError(
            f"This path has {path.reading.outputs} outputs a row, where one is expected; take a "
            "path of one output."
        )
    return np.concatenate([block[:, 0] for block in blocks(path, rows)])


def blocks(path: RecordedPath, rows: Any) -> Iterator[Floats]:
    """Yield decisions (m, o, K) at all recorded points, for one block of rows at a time."""
    windows = list(_windows(path))
    deciding = Deciding(path, windows[0][0]) if len(windows) == 1 else None
    for part in _parts(path, rows):
        if deciding:
            yield deciding.decisions(rows[part])
            continue
        decided = [Deciding(path, w).decisions(rows[part])[..., inner] for w, inner in windows]
        yield np.concatenate(decided, axis=-1)


def _windows(path: RecordedPath) -> Iterator[tuple[Places, slice]]:
    """Yield the points of each window, and the slice of them whose decisions it yields.

    The weights of a window fit in memory together. A decision may depend on two points before and
    after it, and on all points at its parameter.
    """
    t = places(path)
    count, size = len(t), max(MIN_WINDOW, WEIGHTS_AT_ONCE // path.line.start.features)
    if path.reading.kind == "order":  # thresholds at all points are needed
        size = count
    for first in range(0, count, size):
        last = min(first + size, count)
        low = int(np.searchsorted(t, t[max(first - 2, 0)]))
        high = int(np.searchsorted(t, t[min(last + 1, count - 1)], side="right"))
        yield np.arange(low, high), slice(first - low, last - low)


def _parts(path: RecordedPath, rows: Any) -> Iterator[slice]:
    """Yield blocks of rows whose decisions fit in memory together.

    Blocks are larger where weights are many, since these are read anew for each block.
    """
    count = len(places(path))
    entries = (
        DECISIONS_AT_ONCE
        if count * path.line.start.features <= WEIGHTS_AT_ONCE
        else MORE_DECISIONS_AT_ONCE
    )
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

    ``classes`` are those of the labels, if the path knows only some of them.
    """
    kind, m = path.reading.kind, X.shape[0]
    check_row_weights(weights, m, "X_val")
    if queries is not None and metric.name != "pairs":
        raise ValueError('queries are for metric="pairs" alone; leave them out.')
    if metric.name in ("pairs", *RANKED):
        return on_whole_path(path, _rank_curve(path, X, y, metric, weights, queries))
    if kind in NUMBERS or (kind in DECISIONS and metric.name in ("absolute", "squared")):
        return on_whole_path(path, _value_curve(path, X, y, metric, weights))
    return label_curve(path, X, y, metric, weights, classes)


def _one_output(path: RecordedPath, metric: Metric) -> None:
    """Refuse an error of one output a row for a path with several."""
    if path.reading.outputs > 1:
        raise ValueError(
            f"metric={metric.name!r} is not for this path, whose predictions are "
            f"{path.reading.outputs} numbers a row; judge each by path.decision_function."
        )


def _value_curve(
    path: RecordedPath, X: Any, y: ArrayLike, metric: Metric, weights: ArrayLike | None
) -> Curve:
    """Return a mean error of predicted numbers."""
    outputs = errors_of_outputs(path, metric)
    if len(outputs) == 1:
        _one_output(path, metric)
    m = X.shape[0]
    shares = check_shares(weights, m, "X_val")
    target = check_vector(y, m, "y_val", scalar=False, of="X_val")
    error_of = _pieces(places(path), outputs)

    def error(rows: slice, f: Floats, shares: Floats) -> Curve:
        return error_of(f, target[rows], shares)

    shares = np.full(m, 1.0 / m) if shares is None else shares
    return replace(_mean(path, X, error, shares), unit=error_of_mean(target, shares, metric))


def error_of_mean(y: Floats, shares: Floats, metric: Metric) -> float:
    """Return the error of the best constant: the weighted mean of the targets."""
    residuals = np.abs(y - shares @ y)
    return float(shares @ (residuals**2 if metric.name == "squared" else residuals))


def errors_of_outputs(path: RecordedPath, metric: Metric) -> list[Callable[..., Any]]:
    """Return functions that compute pieces of an error from residuals (predictions less targets).

    For several quantiles there is one for each output; the error is their mean.
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
    """Return a mean error of labels; the path may know only some of ``classes``."""
    m, known_labels = X.shape[0], path.reading.classes
    classes = known_labels if classes is None else classes
    right, known = codes(classes, y, m), indices(classes, known_labels)
    deciding = Deciding(path, np.arange(len(places(path))))
    parts = [deciding.labels(f) for f in blocks(path, X)]
    labels = Labels.together(parts)
    labels = labels._replace(first=known[labels.first], after=known[labels.after])

    weights, (low, high) = check_row_weights(weights, m, "X_val"), path.range
    curve = label_error((low, high), labels.until(high), right, weights, metric, classes)
    known = path.scale.value(places(path)[[0, -1]])
    known = known[(known > low) & (known < high)]
    return curve.on(np.union1d(curve.edges, known)) if path.ray else curve


def _ends(path: RecordedPath) -> tuple[float, float]:
    """Return the range of step functions, which extends to infinity on a constant ray."""
    edges, _ = _edges(places(path))
    return float(edges[0]), np.inf if _settles(path) else float(edges[-1])


def _settles(path: RecordedPath) -> bool:
    """Whether there is a ray on which solutions are constant."""
    return len(places(path)) < len(path.points)


def _marked(path: RecordedPath, curve: Curve) -> Curve:
    """Return a curve with an edge at the end of the last piece on which the path moves."""
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
    row_weights = np.ones(m) if given is None else given
    used = np.flatnonzero(row_weights > 0.0)
    rows, scores, row_weights = X[used], scores[used], row_weights[used]
    f = np.concatenate([block[:, -1] for block in blocks(path, rows)])
    order = _places(path, rows, f)
    if metric.name == "average_precision":
        return _precision_curve(
            path, f, order, scores == metric.positive(classes), row_weights, metric
        )
    groups = _of_queries(queries, m, used)
    discordances = [
        discordant(*_swaps(path, f[k], order[k]), scores[k], row_weights[k]) for k in groups
    ]
    first, at, rises, total = zip(*discordances, strict=True)
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
    """Return 1 less the average precision of the rows of the positive label."""
    if metric.positive(path.reading.classes) == 0:
        f, order = -f, order.max(axis=0) - order
    return _marked(path, precision_error(_ends(path), *_swaps(path, f, order), positive, weights))


def _swaps(
    path: RecordedPath, f: Floats, order: NDArray[np.int64]
) -> tuple[NDArray[np.int64], Swaps]:
    """Return the first order of the rows, and its changes, on a constant ray too."""
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
    labels = plain_labels(queries, m, "queries", "X_val")[used]
    _, query = np.unique(labels, return_inverse=True)
    return np.split(np.argsort(query, kind="stable"), np.cumsum(np.bincount(query))[:-1])


def _places(path: RecordedPath, rows: Any, f: Floats) -> NDArray[np.int64]:
    """Return the rank of each decision (m, K) in its column; ties have the same rank.

    Decisions tie if their difference is below the rounding error of their terms.
    """
    order = np.argsort(f, axis=0, kind="stable")
    difference = np.diff(np.take_along_axis(f, order, axis=0), axis=0)
    w, v = path.variables_at(np.arange(f.shape[1]))
    largest = abs(rows).max(axis=0)
    largest = largest.toarray() if sp.issparse(largest) else largest
    bound = path.reading.sizes(np.atleast_2d(largest), w, v)[:, -1]  # no row's terms are larger
    for k in np.flatnonzero(
        ((difference > 0.0) & (difference <= TIED * bound)).any(axis=0)
    ).tolist():
        i = np.flatnonzero((difference[:, k] > 0.0) & (difference[:, k] <= TIED * bound[:, k]))
        pair = np.stack([order[i, k], order[i + 1, k]])
        sizes = path.reading.sizes(rows[pair.ravel()], w[[k]], v[[k]])[:, -1, 0]
        difference[i, k] *= difference[i, k] > TIED * sizes.reshape(2, -1).max(axis=0)
    place = np.zeros(f.shape, dtype=np.int64)
    np.put_along_axis(place, order[1:], np.cumsum(difference > 0.0, axis=0), axis=0)
    return place


def on_whole_path(path: RecordedPath, curve: Curve) -> Curve:
    """Return a curve in the statement's parameter as one in the user's, on the whole path."""
    if path.ray:
        curve = curve.over(float(curve.edges[0]), np.inf)
    if path.scale.inverse:
        curve = curve.inverted(path.scale.unit)
    elif path.scale.unit != 1.0:
        curve = curve.scaled(path.scale.unit)
    return curve.behind(path.scale.value(_breakpoints_of_lower_pieces(path)))


def _breakpoints_of_lower_pieces(path: RecordedPath) -> Floats:
    """Return the t of breakpoints whose user's parameter is read as part of the piece below it."""
    t = places(path)
    breakpoints = np.unique(t[1:][np.diff(t) == 0.0])
    node = path.points.find(breakpoints)[0]
    of_next = path.points.t[np.minimum(node + 1, len(path.points) - 1)] == breakpoints
    return breakpoints[of_next != path.scale.inverse]


def _mean(
    path: RecordedPath, X: Any, error: Callable[[slice, Floats, Floats], Curve], shares: Floats
) -> Curve:
    """Return the weighted mean of the errors of blocks of rows."""
    curves, sums = [], []
    for rows, f in zip(_parts(path, X), blocks(path, X), strict=True):
        block_shares = shares[rows]
        if block_shares.any():
            curves.append(error(rows, f, block_shares / block_shares.sum()))
            sums.append(float(block_shares.sum()))
    return mean_curve(curves, sums)


def loss_curve(path: RecordedPath, X: Any, loss: Any, shares: Floats) -> Curve:
    """Return the mean of smooth convex losses of f along t, within `CURVED_TOLERANCE`.

    Each piece is divided into equal parts, on which the parabola through both ends and the middle
    is accurate enough. A bound of the third derivative determines their number.

    Parameters
    ----------
    path, X : the path, and checked rows
    loss : callable
        Takes a slice of rows, returns their `solution_paths.glm.Loss`.
    shares : (m,) array
        Weights of the rows, which sum to 1.
    """
    t = places(path)

    def error(rows: slice, f: Floats, shares: Floats) -> Curve:
        return _parabolas(t, f[:, 0], loss(rows), shares)

    return on_whole_path(path, _mean(path, X, error, shares))


def _parabolas(t: Floats, f: Floats, loss: Any, shares: Floats) -> Curve:
    """Return the mean loss of decisions (m, K) that are linear between K nodes."""
    edges, (left, right) = _edges(t)
    f, g = f[:, left], f[:, right]
    ends = np.array([shares @ loss.value(f.T).T, shares @ loss.value(g.T).T])
    third = shares @ (loss.third_derivative_bound(f.T, g.T).T * np.abs(g - f) ** 3)
    tolerance = CURVED_TOLERANCE * np.maximum(ends.max(axis=0), ends[1, -1])
    cuts = np.ceil(
        np.cbrt(third / CUBIC_FACTOR / np.where(tolerance > 0.0, tolerance, 1.0))
    ).astype(np.int64)
    parts: list[tuple[Floats, ...]] = []
    for k, count in enumerate(np.maximum(cuts, 1)):
        share = np.linspace(0.0, 1.0, 2 * count + 1)
        value = loss.value(np.outer(1.0 - share, f[:, k]) + np.outer(share, g[:, k])) @ shares
        place = (1.0 - share[::2]) * edges[k] + share[::2] * edges[k + 1]
        begin, middle, end = value[:-2:2], value[1::2], value[2::2]
        sag = np.maximum(2.0 * (begin + end) - 4.0 * middle, 0.0)
        parts.append((place[:-1], place[1:], begin, end, sag))
    return of_pieces(parts)


def _pieces(t: Floats, outputs: list[Callable[..., Any]]) -> Callable[..., Curve]:
    """Return the function that computes the mean error of all outputs from decisions."""
    edges, _ = _edges(t)
    constant = not (np.diff(t) > 0).any()

    def error(f: Floats, y: Floats, shares: Floats) -> Curve:
        curves = []
        for k, pieces in enumerate(outputs):
            residual = f[:, k] - y[:, None]
            if constant:  # a single solution, at both ends of a piece
                residual = np.repeat(residual[:, -1:], 2, axis=1)
            curves.append(of_pieces([pieces(edges if constant else t, residual, shares)]))
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
    """Return the edges of pieces, and the recorded points at both ends of each."""
    pieces = np.flatnonzero(np.diff(t) > 0)
    if not len(pieces):
        return np.array([t[0], t[0] + 1.0]), (np.zeros(1, np.int64), np.zeros(1, np.int64))
    return np.append(t[pieces], t[pieces[-1] + 1]), (pieces, pieces + 1)
