"""Exact leave-one-out predictions: the model without each row, by a path instead of a refit.

Leaving out row i takes its dual a_i = -f_i'(z_i) to zero. The path follows the optimum while the
row's loss, as it is near the optimum, vanishes and all else stays. Along it z_i moves in one
direction only, so that only one side of the loss matters:

- on a straight segment the loss is replaced by its slope, which goes to zero;
- at a knot it is replaced by the two slopes beside it, which go to zero;
- on a quadratic segment it is replaced by its tangent, whose slope goes to zero.

For a row with a_i = 0 the optimum without it is the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ..errors import PathError
from ..homotopy.statement import dense
from ..problem import Pieces, Problem
from ..problem.bundle import Bundle
from ..problem.maps import is_identity
from ..validation import (
    Floats,
    Rows,
    check_choice,
    check_number,
    check_row_weights,
    check_vector,
    plain_labels,
)
from ..verify import Answer, judge
from ..verify.verdict import Certificate, Verdict, evenly, states, summary
from .curves import Labels
from .follow import CHECKS, PIECES_JUDGED, remedy_for, report
from .hat import without
from .labels import indices, label_error
from .metrics import JUDGED, RANKED, Judge, check_metric
from .neighbours import Start, function, some_functions, with_function, with_losses
from .path import SolutionPath
from .points import Places
from .reading import NUMBERS, SIGNS, Reading
from .tolerances import ROUNDED, SAME

MODELS_JUDGED = 32  # models that are judged together


def vanishing_loss(pieces: Pieces, row: int, place: int, dual: float) -> tuple[Pieces, Pieces]:
    """Return a row's loss at both ends of the line on which it vanishes.

    Parameters
    ----------
    pieces : Pieces
    row : int
    place : int
        The place of the row on its graph at the optimum, and on that of ``begin``: see
        `homotopy.graphs`.
    dual : float
        Its dual at the optimum.

    Returns
    -------
    begin, end : Pieces
        One function each: one with the same optimum, and the zero function.
    """
    loss, k = some_functions(pieces, slice(row, row + 1)), place // 2
    m = loss.knots.shape[1]
    slopes = np.full(m + 1, -dual if is_curved(pieces, row, place) else loss.slopes[0, k])
    if place % 2 == 1:
        slopes = np.where(np.arange(m + 1) <= k, loss.left[:, k], loss.right[:, k])
    return function(loss.knots[0], slopes), function(loss.knots[0], 0.0 * slopes)


def is_curved(pieces: Pieces, row: int, place: int) -> bool:
    """Tell whether a row is on a quadratic segment."""
    return bool(place % 2 == 0 and pieces.curvature[row, place // 2] > 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class LeaveOneOut:
    """The n models without one row each, and their predictions for that row.

    Attributes
    ----------
    parameter : str
    value : float
        The value of the parameter at which rows are left out.
    decisions : (n,) array
        f(x_i) of the model without row i.
    fitted : (n,) array
        f(x_i) of the model with all rows.
    n_lines : int
        The number of rows for which a path was followed.
    n_events : int
        The number of changes of the active set on these paths.
    """

    path: SolutionPath
    parameter: str
    value: float
    decisions: Floats
    fitted: Floats
    n_lines: int
    n_events: int
    _of: Places  # index of each row's model in _models
    _models: _Models

    def __repr__(self) -> str:
        return f"<LeaveOneOut of {len(self.decisions)} rows at {self.parameter} = {self.value:g}>"

    @property
    def _reading(self) -> Reading:
        return self.path.reading

    @property
    def influence(self) -> Floats:
        """The effect of each row on its decision, (n,): ``fitted - decisions``."""
        return self.fitted - self.decisions

    @property
    def predictions(self) -> NDArray[Any]:
        """The prediction for each row by the model without it, (n,): a label or value."""
        if self._reading.kind in NUMBERS:
            return self.decisions
        return np.asarray(self._reading.classes[self._codes])

    @property
    def _codes(self) -> NDArray[np.int64]:
        return self._reading.positive(self.decisions).astype(np.int64)

    def decision_function(self, X_new: Rows) -> Floats:
        """Return the decisions of each of the n models for new rows, (m, n).

        Parameters
        ----------
        X_new : (m, d) array or CSR, or (m, n) matrix of kernel values
        """
        rows = self._reading.checked(X_new)
        decisions = self._reading.decisions(rows, self._models.w, self._models.v)
        return np.asarray(decisions[:, 0, self._of])

    def error(
        self, y: ArrayLike, metric: Judge | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the mean error of the predictions, each by the model without the row.

        Parameters
        ----------
        y : (n,) array
            Labels or targets of the rows.
        metric : str, (str, value) or (k, k) array, optional
            See `SolutionPath.error_curve`. Pairs and areas under curves compare decisions of one
            model, so they are not available.
        sample_weight : (n,) array, optional
            Weights of the rows in the mean.
        """
        reading, n = self._reading, len(self.decisions)
        names = tuple(name for name in JUDGED[reading.kind] if name not in ("pairs", *RANKED))
        checked = check_metric(metric, names, reading.kind, reading.classes)
        weights = check_row_weights(sample_weight, n, "X")
        if reading.kind in SIGNS and checked.name not in ("absolute", "squared"):
            no_changes = np.empty(0, dtype=np.int64)
            labels = Labels(self._codes, no_changes, np.empty(0), no_changes)
            truth = indices(reading.classes, known_labels(y, n, reading.classes))
            curve = label_error((0.0, 1.0), labels, truth, weights, checked, reading.classes)
            return float(curve(0.5))
        residuals = self.decisions - check_vector(y, n, "y", scalar=False)
        if checked.name == "squared":
            return float(np.average(residuals**2, weights=weights))
        level = reading.level if checked.level is None else checked.level
        level = self.value if level is None else level  # the path's parameter is the quantile
        assert not isinstance(level, tuple)  # a single output
        low, high = (1.0, 1.0) if checked.name == "absolute" else (level, 1.0 - level)
        return float(np.average(np.maximum(-low * residuals, high * residuals), weights=weights))

    def interval(self, X_new: Rows, y: ArrayLike, alpha: float = 0.1) -> Floats:
        """Return the jackknife+ intervals of new rows' targets, (m, 2).

        With the residuals ``R_i = abs(y_i - f_-i(x_i))``, the ends are the quantiles of
        ``f_-i(x) - R_i`` and ``f_-i(x) + R_i`` of ranks ``floor(alpha (n + 1))`` and
        ``ceil((1 - alpha) (n + 1))``: infinite if there are too few rows. For exchangeable rows of
        any distribution the coverage is at least 1 - 2 alpha, and usually 1 - alpha.

        Parameters
        ----------
        X_new : (m, d) array or CSR, or (m, n) matrix of kernel values
        y : (n,) array
            Targets of the rows.
        alpha : float, default 0.1

        References
        ----------
        Barber, Candes, Ramdas and Tibshirani (2021), "Predictive inference with the jackknife+",
        Annals of Statistics 49.
        """
        if self._reading.kind not in NUMBERS:
            raise ValueError("interval is for models of numbers; this path predicts labels.")
        alpha = check_level(alpha)
        residuals = np.abs(check_vector(y, len(self.decisions), "y", scalar=False) - self.decisions)
        return plus_interval(self.decision_function(X_new), residuals, alpha)

    def certify(self) -> Certificate:
        """Judge all n models by their statements: see `SolutionPath.certify`.

        Each is judged as the optimum of the problem without its row. The parameters of the
        certificate are row numbers.
        """
        rows = np.arange(len(self.decisions))
        return summary(rows.astype(np.float64), self._models.judged(rows, self._of))


def check_level(alpha: float) -> float:
    """Return alpha, the share of responses that may be missed, in (0, 1)."""
    alpha = check_number(alpha, "alpha", above=0)
    if not alpha < 1.0:
        raise ValueError(f"alpha must be < 1, not {alpha:g}: the share that may be missed.")
    return alpha


def plus_interval(f: Floats, residuals: Floats, alpha: float) -> Floats:
    """Return the (m, 2) intervals of predictions (m, n) and residuals (n,)."""
    n = len(residuals)
    upper_rank, lower_rank = ceil_of((1.0 - alpha) * (n + 1)), floor_of(alpha * (n + 1))
    low = (
        np.sort(f - residuals, axis=1)[:, lower_rank - 1]
        if lower_rank >= 1
        else np.full(len(f), -np.inf)
    )
    high = (
        np.sort(f + residuals, axis=1)[:, upper_rank - 1]
        if upper_rank <= n
        else np.full(len(f), np.inf)
    )
    return np.stack([low, high], axis=1)


def floor_of(rank: float) -> int:
    """Return the floor of a rank, robust to its rounding."""
    near = round(rank)
    return near if abs(rank - near) <= SAME * max(near, 1) else int(np.floor(rank))


def ceil_of(rank: float) -> int:
    """Return the ceiling of a rank, robust to its rounding."""
    return -floor_of(-rank)


@dataclass(frozen=True, eq=False)
class _Models:
    """Solutions of problems without a row: weights (k, d), free variables (k, r) and so on."""

    problem: Problem
    w: Floats
    v: Floats
    duals: list[Floats]
    multiplier: Floats | None

    def judged(self, rows: Places, model_of_row: Places) -> Verdict:
        """Judge the models of some rows, each as the optimum without its row."""
        verdicts, pieces = [], self.problem.losses[0].pieces
        for k in range(0, len(rows), MODELS_JUDGED):
            block = rows[k : k + MODELS_JUDGED]
            nothing = function(np.zeros(pieces.knots.shape[1]), np.zeros(pieces.slopes.shape[1]))
            stated = [
                with_losses(self.problem, with_function(pieces, row, nothing))
                for row in block.tolist()
            ]
            models = model_of_row[block]
            multiplier = None if self.multiplier is None else self.multiplier[models]
            duals = [a[models].T for a in self.duals]
            answer = Answer(self.w[models].T, self.v[models].T, duals, multiplier)
            verdicts.append(judge(Bundle.of(stated), answer))
        return Verdict.together(verdicts)


def known_labels(y: ArrayLike, n: int, classes: Any) -> NDArray[Any]:
    """Return labels of the rows; refuse one that isn't among the path's classes."""
    labels = plain_labels(y, n, "y")
    unknown = labels[~np.isin(labels, classes)]
    if len(unknown):
        raise ValueError(
            f"y holds {unknown.tolist()[0]!r}, which is none of the path's classes "
            f"{np.asarray(classes).tolist()}; pass the labels that it was computed with."
        )
    return labels


def leave_one_out(path: SolutionPath, t: float, *, check: str = "warn") -> LeaveOneOut:
    """Compute the models without each row, at one value of a path's parameter, exactly.

    Parameters
    ----------
    path : SolutionPath
        Path of any model with one decision and one loss for each row, convex and piecewise
        linear-quadratic (SVMs, SVR, lasso, elastic net, least absolute deviations, quantiles, ...).
    t : float
        The value of its parameter. The loss of a row is removed and all else stays: where the
        objective has a mean of n losses, this is the model of n - 1 rows at penalties that are
        (n - 1) / n times as large.
    check : {"warn", "raise", "ignore"}
        What to do if a quick check of some of the models finds an error above 1e-6.

    Returns
    -------
    LeaveOneOut

    Raises
    ------
    ValueError
        The model has no loss for each row, or several decisions.
    PathError
        Without some row (such as the only row of a class) there is no optimum, or it can't be
        found.

    Notes
    -----
    The optimum at t is computed once. Then each nonzero dual is taken to zero along a path, at the
    cost of its events. A row with dual zero costs nothing, unless a free variable is undetermined
    at the optimum. Of several optimal biases the middle is taken, as on a path.

    References
    ----------
    Cauwenberghs and Poggio (2001), "Incremental and decremental support vector machine learning";
    for the lasso, and for smooth losses approximately: Rad and Maleki (2020), "A scalable estimate
    of the out-of-sample prediction error via approximate leave-one-out cross-validation".

    Examples
    --------
    >>> import numpy as np
    >>> from solution_paths import lasso_path, leave_one_out
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], np.array([0.0, 1.0, 2.0, 9.0])
    >>> path = lasso_path(X, y)
    >>> left = leave_one_out(path, 0.5)
    >>> left.decisions.round(6).tolist()
    [-3.5, 1.928571, 5.357143, 2.5]
    >>> round(left.error(y), 6)  # the mean of squares
    16.658163
    >>> path.certify().ok
    True
    """
    check_choice(check, "check", CHECKS)
    problem, _ = path.stated_at(t)
    check_rows(path, problem)
    start = Start(problem, path.reading_or_none)
    assert start.answer.duals is not None
    a, pieces = start.answer.duals[0][:, 0], problem.losses[0].pieces
    n = len(a)
    needs_path = (a != 0.0) | (start.place[:n] % 2 == 1) | start.undetermined
    one_step = without(problem, start.answer, start.place)
    needs_path[one_step.rows] = False
    followed = np.flatnonzero(needs_path)
    solutions, events = [start.answer, one_step.answer], 0
    model_of_row = np.zeros(n, dtype=np.int64)
    model_of_row[one_step.rows] = 1 + np.arange(len(one_step.rows))
    for row in followed.tolist():
        try:
            solution = _left_out(start, row, float(a[row])) or (_afresh(start, row), 0)
        except PathError as error:
            raise PathError(f"Row {row} can't be left out: {error}", path) from error
        model_of_row[row], events = len(one_step.rows) + len(solutions) - 1, events + solution[1]
        solutions.append(solution[0])
    models = _together(problem, solutions)
    # a row may be the only one that determines a weight: the end of its path is judged
    curved = followed[[is_curved(pieces, i, int(start.place[i])) for i in followed.tolist()]]
    uncertified = (
        curved[states(models.judged(curved, model_of_row)) != "holds"] if len(curved) else curved
    )
    for row in uncertified.tolist():
        solutions[model_of_row[row] - len(one_step.rows) + 1] = _afresh(start, row)
    models = _together(problem, solutions) if len(uncertified) else models
    result = LeaveOneOut(
        path=path,
        parameter=path.parameter,
        value=float(t),
        decisions=_decisions(path, problem, models, model_of_row),
        fitted=_decisions(path, problem, models, np.zeros(n, dtype=np.int64)),
        n_lines=len(followed),
        n_events=events,
        _of=model_of_row,
        _models=models,
    )
    _judge_some(result, np.flatnonzero(model_of_row), check)
    return result


def _left_out(start: Start, row: int, dual: float) -> tuple[Answer, int] | None:
    """Return the optimum without a row, and the number of events on the path.

    None if the other rows don't determine the row's value, so that no path leads there.
    """
    pieces, place = start.problem.losses[0].pieces, int(start.place[row])
    begin, end = vanishing_loss(pieces, row, place, dual)
    if not is_curved(pieces, row, place):
        return start.end(row, begin, end, place)
    return start.end_without(row, begin, end)


def _afresh(start: Start, row: int) -> Answer:
    """Return the optimum without a row, computed from scratch."""
    pieces = start.problem.losses[0].pieces
    _, end = vanishing_loss(pieces, row, 0, 0.0)
    return Start(with_losses(start.problem, with_function(pieces, row, end))).answer


def check_rows(path: SolutionPath, problem: Problem) -> None:
    """Refuse a model whose rows aren't losses of the first group with one decision each."""
    reading, first = path.reading, problem.losses[0]
    rows = first.X if problem.kernel is None else problem.kernel
    plain = isinstance(rows, np.ndarray) or sp.issparse(rows)
    plain &= problem.kernel is None or is_identity(first.X)
    one = reading.outputs == 1 and reading.kind in (*NUMBERS, *SIGNS) and reading.mix is None
    if not (plain and one and len(problem.losses) == 1):
        raise ValueError(
            "leave_one_out is for models with one decision and one loss a row; this path's are of "
            "pairs of rows, or of several decisions: leave rows out with sample_weight instead."
        )
    if len(first.pieces) < 2:
        raise ValueError("leave_one_out needs two rows or more: this path has one.")
    if np.isfinite(first.pieces.low).any() or np.isfinite(first.pieces.high).any():
        raise ValueError(
            "leave_one_out is for losses that are finite everywhere; the rows of this model are "
            "constraints, too: leave rows out with sample_weight instead."
        )


def _together(problem: Problem, solutions: list[Answer]) -> _Models:
    """Return solutions in columns as the rows of arrays."""
    w, v = (
        np.concatenate([getattr(solution, name).T for solution in solutions])
        for name in ("w", "free")
    )
    duals = zip(*(solution.duals for solution in solutions), strict=True)
    multiplier = None
    if solutions[0].multiplier is not None:
        multiplier = np.concatenate([solution.multiplier for solution in solutions])
    return _Models(
        problem, w, v, [np.concatenate([a.T for a in group]) for group in duals], multiplier
    )


def _decisions(
    path: SolutionPath, problem: Problem, models: _Models, model_of_row: Places
) -> Floats:
    """Return each row's decision by its model; zero if it is below its rounding error."""
    first, reading = problem.losses[0], path.reading
    X, B = first.X if problem.kernel is None else problem.kernel, dense(first.free)
    w, v = models.w[model_of_row], models.v[model_of_row]
    terms: list[tuple[Any, Floats]] = [(X, w), (B, v)] if B.shape[1] else [(X, w)]
    f, size = (
        np.full(len(model_of_row), reading.offset),
        np.full(len(model_of_row), abs(reading.offset)),
    )
    for matrix, values in terms:
        products: Any = matrix.multiply(values) if sp.issparse(matrix) else matrix * values
        f = f + np.asarray(products.sum(axis=1)).ravel()
        size = size + np.asarray(abs(products).sum(axis=1)).ravel()
    if reading.kind in SIGNS:
        f[np.abs(f) <= ROUNDED * size] = 0.0
    return f


def _judge_some(result: LeaveOneOut, models: Places, check: str) -> None:
    """Judge some of the models; warn or raise if one is inaccurate."""
    if check == "ignore":
        return
    rows = (
        models[evenly(len(models), PIECES_JUDGED)] if len(models) else np.zeros(1, dtype=np.int64)
    )
    fault = result._models.judged(rows, result._of).fault()
    if fault is None:
        return
    worst, size, sure = fault
    message = (
        f"The model without row {rows[worst]} {'is wrong' if sure else 'may be inaccurate'}: it is "
        f"off by {'' if sure else 'up to '}{size:.1e}; {remedy_for(result.path.line.start)}."
    )
    report(message, result.path, check)
