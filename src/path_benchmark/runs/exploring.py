"""The curves of the papers' explorers: exact functions of a path's parameter.

`add_exploration` records a whole path for an interactive page: its validation error and rates as
step functions, its coefficients or duals as piecewise linear functions, and the parameters at which
the decision of each sample changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..data.protocols import Part
from .rows import Rows

# Names of the curves; `reporting.explorer` reads them.
ERROR, RATE, LINE = "explore error", "explore rate", "explore line"
SAMPLES, CROSSINGS, RANGE = "explore samples", "explore crossings", "explore range"
# Largest numbers of recorded coefficients or duals, those that move most, and of samples.
LARGEST_LINES, LARGEST_SAMPLES = 10, 150
# Largest number of recorded breakpoints of a line, evenly spread.
LARGEST_NODES = 4000


def sign_changes(path: Any, X: Any) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the decision of each row near the path's start, and the parameters of its changes.

    Decisions (True is +1) are evaluated in the middle of the path and traced back through the exact
    crossings. They hold on the open interval before the first crossing; at the start itself, f may
    be exactly 0.
    """
    half = 0.5 * sum(path.range)
    crossings = [np.asarray(c, float) for c in path.crossings(X)]
    below = np.array([np.count_nonzero(c < half) for c in crossings])
    middle = path.decision_function(X, half) >= 0.0
    return middle ^ (below % 2 == 1), crossings


def step_rates(
    y: np.ndarray, first: np.ndarray, crossings: list[np.ndarray], start: float = 0.0
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return TPR, TNR and accuracy as exact step functions of the parameter.

    Returns
    -------
    dict of (t, value)
        ``value[k]`` holds on ``(t[k], t[k + 1])``; ``t[0]`` is ``start``.
    """
    lengths = [len(c) for c in crossings]
    t = np.concatenate([np.empty(0), *crossings])
    row = np.repeat(np.arange(len(y)), lengths)
    crossing = np.concatenate([np.arange(k) for k in lengths]) if len(t) else np.empty(0)
    step = np.where(first[row] ^ (crossing % 2 == 1), -1, 1)  # -1: this crossing ends a +1
    order = np.argsort(t, kind="stable")
    t, row, step = t[order], row[order], step[order]
    positive = y[row] > 0
    last = np.append(t[1:] != t[:-1], True) if len(t) else np.empty(0, bool)
    edges = np.append(start, t[last])

    def counted(begin: int, change: np.ndarray) -> np.ndarray:
        return np.append(begin, begin + np.cumsum(change)[last])

    tp = counted(np.count_nonzero(first & (y > 0)), np.where(positive, step, 0))
    tn = counted(np.count_nonzero(~first & (y < 0)), np.where(positive, 0, -step))
    n_positive = np.count_nonzero(y > 0)
    n_negative = len(y) - n_positive
    return {
        "tpr": (edges, tp / max(n_positive, 1)),
        "tnr": (edges, tn / max(n_negative, 1)),
        "accuracy": (edges, (tp + tn) / len(y)),
    }


def add_exploration(
    rows: Rows, path: Any, validation: Part, test: Part | None = None, **columns: Any
) -> None:
    """Record the curves of a classification path that an explorer shows.

    Parameters
    ----------
    rows : Rows
    path : Path
    validation : Part
        The part of the 0-1 error by which a user would choose the parameter.
    test : Part, optional
        The part of the decisions and rates, by default ``validation``.
    **columns
        Columns of all curves; ``hyper_parameters`` distinguishes the paths of one cell.
    """
    columns = {"method": "path", **columns}
    rows.add_curve(RANGE, path.range, [0.0, 0.0], **columns)
    curve = path.error_curve(validation.X, validation.y, "zero_one")
    rows.add_curve(ERROR, curve.edges[:-1], curve.left, **columns)
    part = test or validation
    first, crossings = sign_changes(path, part.X)
    for name, (t, value) in step_rates(part.y, first, crossings, path.range[0]).items():
        rows.add_curve(f"{RATE}: {name}", t, value, **columns)
    shown = np.arange(min(len(part.y), LARGEST_SAMPLES))
    rows.add_curve(SAMPLES, shown, part.y[shown], weight=first[shown].astype(float), **columns)
    points = [(t, k) for k in shown for t in crossings[k]]
    rows.add_curve(CROSSINGS, [t for t, _ in points], [k for _, k in points], **columns)
    for name, (t, value) in moving_lines(path).items():
        rows.add_curve(f"{LINE}: {name}", t, value, **columns)


def moving_lines(
    path: Any, nodes: int = LARGEST_NODES, between: Iterable[float] = ()
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the coefficients, or for kernels the duals, that move most: piecewise linear curves.

    Coefficients of several outputs are concatenated. ``between``: further parameters to evaluate,
    for an axis on which segments are curved.
    """
    t = np.unique(path.breakpoints[np.isfinite(path.breakpoints)])
    if len(t) > nodes:
        t = t[np.linspace(0, len(t) - 1, nodes).astype(int)]
    t = np.union1d(t, list(between))
    try:
        what, value = "feature", np.array([np.ravel(path.coef(s)) for s in t])
    except AttributeError:  # with a kernel there are none
        what, value = "sample", np.array([path.dual(s) for s in t])
    moved = np.abs(np.diff(value, axis=0)).sum(axis=0)
    most = np.sort(np.argsort(-moved, kind="stable")[:LARGEST_LINES])
    return {f"{what} {j + 1}": (t, value[:, j]) for j in most if moved[j] > 0.0}
