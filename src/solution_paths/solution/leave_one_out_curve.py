"""The leave-one-out error of a whole path: one path of the model without each row.

A row's path is followed as long as the row has a dual on the path of all rows. Beyond, the optimum
of all rows is that of the others, and its decisions are taken. Paths of penalised least squares are
followed together, see `hat_pieces`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import PathError
from ..homotopy.statement import dense
from ..problem import Line, Problem, along
from ..validation import Floats, check_choice, check_vector
from ..verify.verdict import evenly
from .conformal import judge_some
from .curves import Curve, MeanCurve, of_pieces
from .evaluation import error_of_mean, errors_of_outputs, on_whole_path
from .follow import CHECKS, PIECES_JUDGED, followed_between, followed_to_infinity
from .hat_pieces import Decisions, Model, without_each, without_loss
from .leave_one_out import check_rows, known_labels
from .metrics import Judge, Metric, check_metric
from .neighbours import CLEAR_OF_SLOPES
from .path import SCALES, SolutionPath
from .reading import NUMBERS

MODELS_KEPT = 16  # problems of all rows at some parameters, from which those without a row are made
PIECES_AT_ONCE = 256  # pieces of a path whose duals are read together
ADDED_UP = ("zero_one", "absolute", "squared", "pinball")  # errors that are means over rows


def leave_one_out_curve(
    path: SolutionPath, y: ArrayLike, metric: Judge | None = None, *, check: str = "warn"
) -> MeanCurve:
    """Compute the leave-one-out error at every value of a path's parameter, exactly.

    Parameters
    ----------
    path : SolutionPath
        See `leave_one_out`, also for what it means to leave a row out.
    y : (n,) array
        Labels or targets of the path's rows.
    metric : str, (str, value) or (k, k) array, optional
        An error that is a mean over rows: ``zero_one`` or costs of labels; ``squared``,
        ``absolute`` or ``pinball`` of numbers. The default is that of `SolutionPath.error_curve`.
    check : {"warn", "raise", "ignore"}
        What to do if a quick check of some of the paths finds an error above 1e-6.

    Returns
    -------
    MeanCurve
        The mean error over rows, each predicted by the model without it, on the whole path; its
        parts are the curves of all rows.

    Raises
    ------
    ValueError
        The model has no loss for each row, or several decisions; or the metric is no mean.
    PathError
        Without some row there is no optimum somewhere, or it can't be found.

    Notes
    -----
    It takes up to n paths: of each row as far as it has a dual. Lasso and elastic net with no more
    columns than rows take much less, as rows share linear systems. At a single value of the
    parameter `leave_one_out` takes much less, too.

    References
    ----------
    Efron, Hastie, Johnstone and Tibshirani (2004), "Least angle regression", for the lasso's path;
    Allen (1974), "The relationship between variable selection and data augmentation", for least
    squares without a row.

    Examples
    --------
    >>> import numpy as np
    >>> from solution_paths import lasso_path, leave_one_out_curve
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], np.array([0.0, 1.0, 2.0, 9.0])
    >>> path = lasso_path(X, y)
    >>> curve = leave_one_out_curve(path, y)
    >>> round(float(curve(0.5)), 6)  # leave_one_out(path, 0.5).error(y)
    16.658163
    >>> best = curve.best()
    >>> round(best.parameter, 4), round(best.value, 4)
    (0.0, 16.1224)
    >>> path.certify().ok
    True
    """
    check_choice(check, "check", CHECKS)
    problem, _ = path.stated_at(float(path.breakpoints[0]))
    check_rows(path, problem)
    model = lru_cache(maxsize=MODELS_KEPT)(path.line.at)
    n, reading = len(problem.losses[0].pieces), path.reading
    checked = check_metric(metric, path._metrics, reading.kind, reading.classes)
    if checked.name not in (*ADDED_UP, "costs"):
        raise ValueError(
            f"metric={checked.name!r} is no mean of the errors of single rows; choose one of "
            f"{', '.join(ADDED_UP)}, or a matrix of costs."
        )
    judged = evenly(n, PIECES_JUDGED).tolist()
    if reading.kind in NUMBERS:
        targets: Any = check_vector(y, n, "y", scalar=False)
        known = without_each(path, model, judged)
        unit = error_of_mean(targets, np.full(n, 1.0 / n), checked)
    else:
        targets, known, unit = known_labels(y, n, reading.classes), {}, 1.0
    rows = problem.losses[0].X if problem.kernel is None else problem.kernel
    cuts = _cuts(path, model) if len(known) < n else []
    curves = []
    for i in range(n):
        if i in known:
            curves.append(_curve_of(path, known[i], targets[i], checked))
            continue
        try:
            without = _followed(path, partial(_model_without, model, i), cuts[i])
        except PathError as error:
            raise PathError(f"Row {i} can't be left out: {error}", path) from error
        if without is not None and i in judged:
            judge_some(without, check)
        curves.append(_curve(path, without, cuts[i], rows[[i]], targets[[i]], checked))
    return replace(MeanCurve.of(curves), unit=unit)


def _model_without(model: Model, row: int, t: float) -> Problem:
    return without_loss(model(t), row)


def _followed(path: SolutionPath, model: Model, cut: float) -> SolutionPath | None:
    """Return the path of another model on the range of a path up to a cut; None if that is empty.

    The statement's parameter at a cut is infinite where there is none.
    """
    begin = float(path.points.t[0])
    if cut <= begin:
        return None
    if path.ray and cut == np.inf:
        followed = followed_to_infinity(model, begin)
        if followed.lost is None and not followed.ray:
            raise PathError("no end of its path is found; end the path before infinity.", None)
    else:
        followed = followed_between(along(model, begin, min(cut, float(path.points.t[-1]))))
    if followed.lost is not None:
        raise followed.lost
    return SolutionPath(
        followed.line,
        followed.statement,
        followed.points,
        parameter=path.parameter,
        scale=path.scale,
        reading=path.reading,
        ray=followed.ray,
    )


def _cuts(path: SolutionPath, model: Model) -> list[float]:
    """Return the statement's parameter from which on each row has no dual, or infinity.

    From there on the optimum doesn't depend on the row, unless a free variable is undetermined: the
    row may bound it.
    """
    begin = float(path.points.t[0])
    if path.ray:
        followed = followed_to_infinity(model, begin)
    else:
        followed = followed_between(along(model, begin, float(path.points.t[-1])))
    n = len(model(begin).losses[0].pieces)
    if followed.lost is not None:
        return [np.inf] * n
    t, last = followed.points.t, np.full(n, -1)
    pieces = np.flatnonzero(np.diff(t) > 0.0)
    for block in np.array_split(pieces, len(pieces) // PIECES_AT_ONCE + 1):
        middle = t[block] + 0.5 * (t[block + 1] - t[block])
        duals = followed.statement.duals(followed.points.unknowns(middle))
        matters = duals[0] != 0.0
        if followed.undetermined:
            matters |= ~_determined(followed.line, middle, duals[0])[:, None]
        latest = len(block) - 1 - np.argmax(matters[::-1], axis=0)
        last = np.where(matters.any(axis=0), block[latest], last)
    if path.ray:  # the last piece goes on for ever
        last = np.where(last == pieces[-1], len(t) - 1, last)
    ends = np.append(t, np.inf)[last + 1]
    return np.where(ends >= t[-1], np.inf, ends).tolist()


def _determined(line: Line, t: Floats, duals: Floats) -> NDArray[np.bool_]:
    """Tell at which parameters (B,) some row surely determines the only free variable.

    Its dual, of (B, n), is clearly none of its slopes, so that it is at a knot.
    """
    if line.start.n_free != 1:
        return np.zeros(len(t), dtype=bool)
    numbers = line.together(t).numbers
    slopes, bent = numbers["losses[0].slopes"], numbers["losses[0].curvature"]
    off = np.abs(-duals.T[:, None, :] - slopes).min(axis=1)
    room = CLEAR_OF_SLOPES * np.ptp(slopes, axis=1)
    at_knot = (off > room) & ~bent.any(axis=1) & (dense(line.start.losses[0].free)[:, :1] != 0.0)
    return np.asarray(at_knot.any(axis=0))


def _curve(
    path: SolutionPath,
    without: SolutionPath | None,
    cut: float,
    row: Any,
    target: Any,
    metric: Metric,
) -> Curve:
    """Return the error of one row, up to a cut by the path without it, beyond by that of all."""
    if without is None or cut == np.inf:
        return _error(path if without is None else without, row, target, metric)
    first, last = (_error(part, row, target, metric) for part in (without, path))
    place = float(path.scale.value(np.array([cut]))[0])
    if path.scale.inverse:
        first, last = last, first
    low, high = first.edges[0], last.edges[-1]
    if not low < place < high:
        return last if place <= low else first
    first, last = first.over(low, place), last.over(place, high)
    edges = np.append(first.edges, last.edges[1:])
    values = (
        np.append(getattr(first, part), getattr(last, part)) for part in ("left", "right", "sag")
    )
    return first._with(edges, *values)


def _curve_of(path: SolutionPath, row: Decisions, target: float, metric: Metric) -> Curve:
    """Return the error of a row whose decisions are known."""
    (pieces,) = errors_of_outputs(path, metric)
    residual = row.f[None] + path.reading.offset - target
    curve = on_whole_path(path, of_pieces([pieces(row.t, residual, np.ones(1))]))
    return replace(curve, log=path.parameter in (*SCALES, "nu"))


def _error(path: SolutionPath, row: Any, target: Any, metric: Metric) -> Curve:
    curve = path._curve(row, target, metric, None, None, None)
    return replace(curve, log=path.parameter in (*SCALES, "nu"))
