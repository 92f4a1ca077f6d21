"""What a path says of many rows at all its breakpoints: changes of sign, and errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ..curves import (
    Curve,
    Steps,
    absolute_pieces,
    changes,
    mean_curve,
    of_pieces,
    squared_pieces,
    steps,
    together,
    winners,
)
from ..validation import Floats, check_choice, check_shares, check_vector, plain_labels

if TYPE_CHECKING:
    from .path import SolutionPath

WITHIN = 1e-7  # of the largest value of a piece, or at the last place: how exact curved errors are
CUBIC = 72.0 * np.sqrt(3.0)  # a cubic function's third derivative by what its parabola is off
METRICS = ("zero_one", "absolute", "squared")
ENTRIES = 4_000_000  # decisions at all breakpoints that are held together: 32 MB
SAME = 2.0**-40  # of a row's largest decision: where a path jumps they differ by more
ROUNDED = 2.0**-50  # of the sum of a decision's absolute terms: what is less is zero


def places(path: SolutionPath) -> Floats:
    """Return the parameters of recorded points, without a ray on which solutions stand still."""
    t = path.points.t
    return t[:-1] if len(t) > 1 and t[-1] > path.settled else t


def crossings(path: SolutionPath, rows: Any) -> list[Floats]:
    """Return for each row the t, ascending, at which f changes sign; see `SolutionPath`."""
    found: list[Floats] = []
    for f in blocks(path, rows):
        row, t = sign_changes(places(path), f[:, 0], path.reading.positive)
        order = np.lexsort((t, row))
        row, t = row[order], t[order]
        # two changes at one place are none
        new = np.append(True, (np.diff(row) > 0) | (np.diff(t) > 0))[: len(row)]
        first = np.flatnonzero(new)
        kept = first[np.diff(np.append(first, len(row))) % 2 == 1]
        found += np.split(t[kept], np.searchsorted(row[kept], np.arange(1, len(f))))
    return found


def sign_changes(
    t: Floats, f: Floats, positive: Callable[[Floats], NDArray[np.bool_]]
) -> tuple[NDArray[np.int64], Floats]:
    """Return rows of f (m, K), and the t at which these lines change sign."""
    row, piece = changes(positive(f))
    left, right = f[row, piece], f[row, piece + 1]
    return row, t[piece] + left / (left - right) * (t[piece + 1] - t[piece])


def piece_values(path: SolutionPath, rows: Any, edges: Floats) -> tuple[Floats, Floats]:
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


def positive_parts(path: SolutionPath, rows: Any) -> tuple[Floats, Floats]:
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


def blocks(path: SolutionPath, rows: Any) -> Any:
    """Yield decisions (m, o, K) at all recorded points, for a part of the rows at a time."""
    w, v = path.variables_at(np.arange(len(places(path))))
    size = max(1, ENTRIES // (len(w) * path.reading.outputs))
    for first in range(0, rows.shape[0], size):
        own = rows[first : first + size]
        f = path.reading.decisions(own, w, v)
        _clear_rounding(path.reading, f, own, w, v)
        _join(path.points.low[: f.shape[2]], f)
        yield f


def _join(low: Floats, f: Floats) -> None:
    """Let decisions (m, o, K) be the same on both sides of a breakpoint, but where they jump.

    They are those of the piece to which the breakpoint's double belongs.
    """
    before, after = (np.array(f[..., own]) for own in (slice(1, -1, 2), slice(2, None, 2)))
    size = np.abs(f).max(axis=2, keepdims=True)
    same = np.abs(before - after) <= SAME * size
    behind = same & (low[1:-1:2] > 0.0)
    f[..., 1:-1:2] = np.where(same & ~behind, after, before)
    f[..., 2::2] = np.where(behind, before, after)


def _clear_rounding(reading: Any, f: Floats, rows: Any, w: Floats, v: Floats) -> None:
    """Let decisions (m, o, K) be zero that are nothing but rounding of their terms."""
    most = abs(rows).max(axis=0)
    most = most.toarray() if sp.issparse(most) else most
    bound = reading.sizes(np.atleast_2d(most), w, v)  # (1, o, K), no row's terms are larger
    size = np.abs(f)
    doubtful = ((size <= ROUNDED * bound) & (size > 0.0)).any(axis=1)
    for k in np.flatnonzero(doubtful.any(axis=0)).tolist():
        i = np.flatnonzero(doubtful[:, k])
        sizes = reading.sizes(rows[i], w[[k]], v[[k]])[:, :, 0]
        f[i, :, k] = np.where(size[i, :, k] <= ROUNDED * sizes, 0.0, f[i, :, k])


def error_curve(
    path: SolutionPath, X: Any, y: ArrayLike, metric: str, weights: ArrayLike | None
) -> Curve:
    """Return a mean error over rows as a function of t; see `SolutionPath.error_curve`."""
    reading, m = path.reading, X.shape[0]
    check_choice(metric, "metric", METRICS)
    shares = check_shares(weights, m, "X_val")
    if reading.kind == "value" or (reading.kind == "sign" and metric != "zero_one"):
        if metric == "zero_one" or reading.outputs > 1:
            raise ValueError(
                f"metric={metric!r} is not for this path, whose predictions are "
                f"{reading.outputs} number(s) a row; use 'absolute' or 'squared' of one."
            )
        target = check_vector(y, m, "y_val", scalar=False, of="X_val")
        own = absolute_pieces if metric == "absolute" else squared_pieces
        part = _pieces(places(path), own)

        def error(rows: slice, f: Floats, shares: Floats) -> Curve:
            return part(f, target[rows], shares)

        return _mean(path, X, error, np.full(m, 1.0 / m) if shares is None else shares)
    of_block, right = _wrong(path, metric), codes(path, y, m)
    unit = float(m) if shares is None else 1.0  # counts are exact
    counted = np.ones(m) if shares is None else shares
    found = [of_block(f, right[rows], counted[rows]) for rows, f in _parts(path, X)]
    edges, _ = _edges(places(path))
    return steps(float(edges[0]), float(edges[-1]), *together(found), unit)


def _parts(path: SolutionPath, X: Any) -> Iterator[tuple[slice, Floats]]:
    """Yield parts of the rows, and their decisions as `blocks` does."""
    first = 0
    for f in blocks(path, X):
        yield slice(first, first + len(f)), f
        first += len(f)


def _mean(
    path: SolutionPath, X: Any, error: Callable[[slice, Floats, Floats], Curve], shares: Floats
) -> Curve:
    """Return the mean of the errors of parts of the rows: of these, decisions and shares."""
    curves, sums = [], []
    for rows, f in _parts(path, X):
        own = shares[rows]
        if own.any():
            curves.append(error(rows, f, own / own.sum()))
            sums.append(float(own.sum()))
    return mean_curve(curves, sums)


def loss_curve(path: SolutionPath, X: Any, loss: Any, shares: Floats) -> Curve:
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

    return _mean(path, X, error, shares)


def _parabolas(t: Floats, f: Floats, loss: Any, shares: Floats) -> Curve:
    """Return the mean loss of decisions (m, K) that are lines between K places."""
    edges, (left, right) = _edges(t)
    f, g = f[:, left], f[:, right]
    ends = np.array([shares @ loss.value(f.T).T, shares @ loss.value(g.T).T])
    third = shares @ (loss.turning(f.T, g.T).T * np.abs(g - f) ** 3)
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


def _pieces(t: Floats, own: Callable[..., Any]) -> Callable[..., Curve]:
    """Return the error of predictions."""
    edges, _ = _edges(t)
    still = not (np.diff(t) > 0).any()

    def error(f: Floats, y: Floats, shares: Floats) -> Curve:
        residual = f[:, 0] - y[:, None]
        if still:  # one solution alone: it is so on both ends of a piece
            return of_pieces([own(edges, np.repeat(residual[:, -1:], 2, axis=1), shares)])
        return of_pieces([own(t, residual, shares)])

    return error


def codes(path: SolutionPath, y: ArrayLike, m: int) -> NDArray[np.int64]:
    """Return labels as indices into the classes."""
    classes = path.reading.classes
    given = plain_labels(y, m, "y_val", "X_val")
    unknown = [label for label in np.unique(given).tolist() if label not in classes.tolist()]
    if unknown:
        raise ValueError(
            f"y_val holds the label {unknown[0]!r}, but the path was computed with "
            f"{' and '.join(map(repr, classes.tolist()))}; recode it, or drop those rows."
        )
    ascending = np.argsort(classes)  # ordered categories aren't
    return ascending[np.searchsorted(classes, given, sorter=ascending)]


def _wrong(path: SolutionPath, metric: str) -> Callable[..., Steps]:
    """Return what is wrong of labels: of an order the distance of classes, too."""
    kind, t = path.reading.kind, places(path)
    if kind == "nearest" or (metric != "zero_one" and (metric == "squared" or kind != "order")):
        can = "no error curve" if kind == "nearest" else "no such error"
        raise ValueError(
            f"metric={metric!r} can't be used: predictions of this path have {can} that is exact; "
            "use predict at the parameters that matter, or 'zero_one' where decisions are lines."
        )

    def two(f: Floats, y: NDArray[np.int64], shares: Floats) -> Steps:
        return _steps(t, f[:, 0], y > 0, shares, path.reading.positive)

    def many(f: Floats, y: NDArray[np.int64], shares: Floats) -> Steps:
        edges, ends = _edges(t)
        left, right = (f[:, :, own].transpose(0, 2, 1) for own in ends)
        return winners(edges, left, right, y, shares)

    def ordered(f: Floats, y: NDArray[np.int64], shares: Floats) -> Steps:
        _, v = path.variables_at(np.arange(len(t)))
        z, side, own = [], [], []
        for j in range(v.shape[1]):  # above threshold j
            counted = np.full(len(y), True) if metric == "absolute" else (y == j) | (y == j + 1)
            z.append((f[:, 0] - v[:, j])[counted])
            side.append((y > j)[counted])
            own.append(shares[counted])
        own = np.concatenate(own)
        return _steps(t, np.concatenate(z), np.concatenate(side), own, path.reading.positive)

    return {"sign": two, "argmax": many, "order": ordered}[kind]


def _edges(t: Floats) -> tuple[Floats, tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return edges, and the recorded points at both ends of each piece."""
    pieces = np.flatnonzero(np.diff(t) > 0)
    if not len(pieces):
        return np.array([t[0], t[0] + 1.0]), (np.zeros(1, np.int64), np.zeros(1, np.int64))
    return np.append(t[pieces], t[pieces[-1] + 1]), (pieces, pieces + 1)


def _steps(
    t: Floats,
    f: Floats,
    positive: NDArray[np.bool_],
    shares: Floats,
    sides: Callable[[Floats], NDArray[np.bool_]],
) -> Steps:
    """Return what is on the wrong side of zero."""
    row, at = sign_changes(t, f, sides)
    start = sides(f[:, 0])
    # signs alternate: whether a change is towards the positive side
    order = np.lexsort((at, row))
    row, at = row[order], at[order]
    count = np.arange(len(row)) - np.searchsorted(row, row)
    after = start[row] ^ (count % 2 == 0)
    rises = np.where(after == positive[row], -1.0, 1.0) * shares[row]
    wrong = float(shares[start != positive].sum())
    return wrong, at, rises
