"""What was fitted: one path or one for each class, their predictions and exact errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..curves import Curve, mean_curve, steps
from ..errors import PathError, PathWarning
from ..inverse import InversePath
from ..models.common import level_of_caller
from ..path import Floats, Path
from ..validation import check_number

PENALTIES = ("lam", "lam1")
VALUES = 4_000_000  # that are held at a time, of all classes at all breakpoints
TIES = 1e-9  # of the largest decision: smaller differences are rounding, and the first class wins


class OneVsRest:
    """A path for two classes, or one for each of more, against all others.

    Parameters
    ----------
    fit : callable
        Maps X and two labels (-1, +1, where there are more classes) to a `Path`.
    X, y : rows and labels
    """

    def __init__(self, fit: Callable[..., Path], X: Any, y: NDArray[Any], *weights: Floats):
        self.classes = np.unique(y)
        if len(self.classes) < 2:
            one = y[:1].tolist()[0]
            raise ValueError(
                f"Every fold needs rows of two classes, and one has class {one!r} alone; take "
                "fewer folds, or stratified ones."
            )
        several = [np.where(y == label, 1.0, -1.0) for label in self.classes]
        labels = [y] if len(self.classes) == 2 else several  # a path alone knows its labels
        found = [followed(fit, X, own, *weights) for own in labels]
        self.paths = [path for path, _, _ in found]
        self.begin = max(begin for _, begin, _ in found)
        self.end = min(end for _, _, end in found)

    @property
    def path(self) -> Path | list[Path]:
        """The path, or those of all classes in their order."""
        return self.paths[0] if len(self.paths) == 1 else self.paths

    def check(self, t: float, name: str) -> float:
        """Return the parameter as a number that all paths cover."""
        return check_number(t, name, least=self.begin, most=most(self.end))

    def decision(self, X: Any, t: float) -> Floats:
        """Return f, (m,) or (m, classes), at parameter t."""
        f = [path.decision_function(X, inside(path, t)) for path in self.paths]
        return f[0] if len(f) == 1 else tied(np.stack(f, axis=1))

    def coefs(self, t: float) -> Floats:
        """Return the coefficients of linear models, (1, d) or (classes, d)."""
        return np.stack([path.coef(inside(path, t)) for path in self.paths])

    def intercepts(self, t: float) -> Floats:
        """Return biases, (1,) or (classes,)."""
        return np.array([path.intercept(inside(path, t)) for path in self.paths])

    def label(self, f: Floats) -> NDArray[Any]:
        """Return the labels that decisions stand for."""
        return self.classes[np.argmax(f, axis=1) if f.ndim == 2 else (f >= 0).astype(int)]

    def error(self, X: Any, y: NDArray[Any]) -> Curve:
        """Return the share of wrong labels as an exact step function; an unknown label is wrong."""
        known = np.flatnonzero(np.isin(y, self.classes))
        lost = Curve(np.array([self.begin, self.end]), np.ones(1), np.ones(1), np.zeros(1))
        if len(known) == 0:
            return lost
        if len(self.paths) == 1:
            found = self.paths[0].error_curve(X[known], y[known])
        else:
            found = joint_error(self.paths, X[known], np.searchsorted(self.classes, y[known]))
        counts = [len(known), len(y) - len(known)]
        return mean_curve([found.over(self.begin, self.end), lost], counts)


class Single:
    """One path of a regression, as `OneVsRest` those of classes."""

    def __init__(self, path: Path):
        self.paths = [path]

    @property
    def path(self) -> Path:
        """The path."""
        return self.paths[0]

    def decision(self, X: Any, t: float) -> Floats:
        """Return predictions (m,) at t."""
        return self.path.decision_function(X, t)


def followed(fit: Callable[..., Path], *arguments: Any) -> tuple[Path, float, float]:
    """Return a path, and from where to where it is known; one that breaks off warns.

    One in a penalty is constant after its last value, where w = 0.
    """
    try:
        path, whole = fit(*arguments), True
    except PathError as error:
        if error.path is None or error.path.parameter not in (*PENALTIES, "C", "s"):
            raise
        text = f"Only the exact part of a path is used: {error}"
        warnings.warn(text, PathWarning, stacklevel=level_of_caller())
        path, whole = error.path, False
    begin, end = path.range
    if path.parameter not in PENALTIES:
        return path, begin, end
    if whole:  # one that was told where to stop isn't known below that
        return path, begin if "limit" in path.diagnostics else 0.0, np.inf
    zero = end < np.inf and path.objective.linear and not path.coef(end).any()
    return path, begin, np.inf if zero else end


def most(end: float) -> float | None:
    """Return a limit as `check_number` takes it."""
    return end if end < np.inf else None


def tied(f: Floats) -> Floats:
    """Return decisions, classes last; those that are the largest but for rounding are equal.

    Where no feature says anything, several classes have the very same decision.
    """
    top = f.max(axis=-1, keepdims=True)
    return np.where(f >= top - TIES * np.abs(f).max(axis=-1, keepdims=True), top, f)


def inside(path: Path, t: float) -> float:
    """Return t, or the path's nearest value: beyond it a path in a penalty doesn't change."""
    return min(max(t, path.range[0]), path.range[1]) if path.parameter in PENALTIES else t


def joint_error(paths: list[Path], X: Any, codes: NDArray[np.int64]) -> Curve:
    """Return the error of the largest decision as an exact step function of one parameter.

    It goes to the last breakpoint of all; a path that ends before stays what it is. Between
    breakpoints every decision is a line, so that which is the largest changes where two cross.

    Parameters
    ----------
    paths : list of k paths
    X : (m, d) rows
    codes : (m,) ints
        The class of each row, as an index into paths.
    """
    if isinstance(paths[0], InversePath):  # in whose own parameter decisions are no lines
        unit = paths[0].objective.inverse
        return joint_error([path.straight for path in paths], X, codes).inverted(unit)  # type: ignore[attr-defined]
    edges = np.unique(np.concatenate([path.breakpoints for path in paths]))
    size = max(1, VALUES // (len(edges) * len(paths)))
    found = []
    for first in range(0, len(codes), size):
        rows = slice(first, first + size)
        sides = [path.piece_values(X[rows], edges) for path in paths]
        left, right = (np.stack([side[k] for side in sides], axis=-1) for k in (0, 1))
        found.append(_winners(edges, left, right, codes[rows]))
    counts = [len(codes[first : first + size]) for first in range(0, len(codes), size)]
    return mean_curve(found, counts)


def _winners(edges: Floats, left: Floats, right: Floats, codes: NDArray[np.int64]) -> Curve:
    """Return the error of the largest of (m, pieces, classes) lines, by their values at the ends.

    Lines are followed from one that is the largest to the next one that crosses it.
    """
    begin, end = tied(left).argmax(axis=-1), tied(right).argmax(axis=-1)
    own = codes[:, None]
    row, jump = np.nonzero(end[:, :-1] != begin[:, 1:])  # at an edge
    at = [edges[jump + 1]]
    rises = [_rise(end[row, jump], begin[row, jump + 1], codes[row])]
    row, piece = np.nonzero(begin != end)
    now, here = begin[row, piece], np.zeros(len(row))
    while len(row):
        start, slope = left[row, piece], right[row, piece] - left[row, piece]
        every = np.arange(len(row))
        lag, gain = start[every, now][:, None] - start, slope - slope[every, now][:, None]
        slack = TIES * np.abs(start).max(axis=1, keepdims=True)
        overtakes = gain > slack
        meet = np.maximum(lag, 0.0) / np.where(overtakes, gain, 1.0)
        meet = np.maximum(np.where(overtakes, meet, np.inf), here[:, None])
        first = meet.min(axis=1)
        inside = np.minimum(first, 1.0)[:, None]
        # of several that cross at once the steepest goes on, of equally steep ones the first class
        crossing = np.where(overtakes & (lag - inside * gain <= slack), gain, -np.inf)
        onward = (crossing >= crossing.max(axis=1, keepdims=True) - slack).argmax(axis=1)
        onward = np.where(first < 1.0, onward, end[row, piece])
        here = np.minimum(first, 1.0)
        at.append(edges[piece] + here * (edges[piece + 1] - edges[piece]))
        rises.append(_rise(now, onward, codes[row]))
        on = onward != end[row, piece]
        row, piece, now, here = row[on], piece[on], onward[on], here[on]
    wrong = int((begin[:, :1] != own).sum())
    at, rises = np.concatenate(at), np.concatenate(rises)
    return steps(edges[0], edges[-1], wrong, at, rises, len(codes))


def _rise(before: NDArray[np.int64], after: NDArray[np.int64], right: NDArray[np.int64]) -> Floats:
    """Return by how much the number of errors rises."""
    return (before == right).astype(float) - (after == right)
