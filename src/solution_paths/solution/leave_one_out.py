"""What a model says of each of its rows when that row is left out: exactly, without refits.

Leaving out row i takes its dual a_i = -f_i'(z_i) to zero. That is a line: the loss of the row goes,
near its optimum, to nothing, while all else stays. Along it z_i moves one way alone, away from
where the row pulled it, so that only that side of its loss matters:

- on a straight segment the loss is its slope, which goes to zero;
- at a knot it is the two slopes beside it, which go to zero;
- on a curved segment it is its tangent, whose slope goes to zero.

A row with a_i = 0 can go for nothing: the optimum without it is the same.
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
from .follow import CHECKS, LOOKS, remedy_for, tell
from .hat import without
from .labels import indices, label_error
from .metrics import JUDGED, RANKED, Judge, check_metric
from .neighbours import Start, function, put, taken, with_losses
from .path import SolutionPath
from .points import Places
from .reading import DECISION_ROUNDING, NUMBERS, SIGNS, Reading

TOGETHER = 32  # solutions that are judged together
RANK = 2.0**-40  # of a rank: what rounding of a level makes of it


def going(pieces: Pieces, row: int, place: int, dual: float) -> tuple[Pieces, Pieces]:
    """Return one row's loss at both ends of the line on which it goes, place by place.

    Parameters
    ----------
    pieces : Pieces
    row : int
    place : int
        Where the row is on its graph at the optimum, and on that of the first function: see
        `homotopy.graphs`.
    dual : float
        Its dual there.

    Returns
    -------
    begin, end : Pieces
        One function each: with the same optimum, and without the row.
    """
    one, k = taken(pieces, slice(row, row + 1)), place // 2
    m = one.knots.shape[1]
    slopes = np.full(m + 1, -dual if is_curved(pieces, row, place) else one.slopes[0, k])
    if place % 2 == 1:
        slopes = np.where(np.arange(m + 1) <= k, one.left[:, k], one.right[:, k])
    return function(one.knots[0], slopes), function(one.knots[0], 0.0 * slopes)


def is_curved(pieces: Pieces, row: int, place: int) -> bool:
    """Tell whether a row is on a curved segment."""
    return bool(place % 2 == 0 and pieces.curvature[row, place // 2] > 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class LeaveOneOut:
    """The n models that are fitted to all rows but one each, and what each says of its row.

    Attributes
    ----------
    parameter : str
    value : float
        Of the parameter, at which rows are left out.
    decisions : (n,) array
        f(x_i) of the model without row i.
    fitted : (n,) array
        f(x_i) of the model of all rows.
    n_lines : int
        Of how many rows a line was followed; of the others the model stays what it is.
    n_events : int
        How many changes of the active set that took.
    """

    path: SolutionPath
    parameter: str
    value: float
    decisions: Floats
    fitted: Floats
    n_lines: int
    n_events: int
    _of: Places  # which of the models below is that of each row
    _models: _Models

    def __repr__(self) -> str:
        return f"<LeaveOneOut of {len(self.decisions)} rows at {self.parameter} = {self.value:g}>"

    @property
    def _reading(self) -> Reading:
        return self.path.reading

    @property
    def influence(self) -> Floats:
        """By how much each row moves its own decision, (n,): ``fitted - decisions``."""
        return self.fitted - self.decisions

    @property
    def predictions(self) -> NDArray[Any]:
        """The label or value that each row is predicted without it, (n,)."""
        if self._reading.kind in NUMBERS:
            return self.decisions
        return np.asarray(self._reading.classes[self._codes])

    @property
    def _codes(self) -> NDArray[np.int64]:
        return self._reading.positive(self.decisions).astype(np.int64)

    def decision_function(self, X_new: Rows) -> Floats:
        """Return what each of the n models says of new rows, (m, n).

        Parameters
        ----------
        X_new : (m, d) array or CSR, or (m, n) matrix of kernel values
        """
        rows = self._reading.checked(X_new)
        found = self._reading.decisions(rows, self._models.w, self._models.v)
        return np.asarray(found[:, 0, self._of])

    def error(
        self, y: ArrayLike, metric: Judge | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the mean error of the predictions of all rows, each without it.

        Parameters
        ----------
        y : (n,) array
            Labels or targets of the rows.
        metric : str, (str, value) or (k, k) array, optional
            See `SolutionPath.error_curve`. Pairs and areas under curves compare decisions of
            one model, and these are of n.
        sample_weight : (n,) array, optional
            Weights of the rows in the mean.
        """
        reading, n = self._reading, len(self.decisions)
        names = tuple(name for name in JUDGED[reading.kind] if name not in ("pairs", *RANKED))
        own = check_metric(metric, names, reading.kind, reading.classes)
        weights = check_row_weights(sample_weight, n, "X")
        if reading.kind in SIGNS and own.name not in ("absolute", "squared"):
            nothing = np.empty(0, dtype=np.int64)
            found = Labels(self._codes, nothing, np.empty(0), nothing)
            right = indices(reading.classes, known_labels(y, n, reading.classes))
            curve = label_error((0.0, 1.0), found, right, weights, own, reading.classes)
            return float(curve(0.5))
        off = self.decisions - check_vector(y, n, "y", scalar=False)
        if own.name == "squared":
            return float(np.average(off**2, weights=weights))
        level = reading.level if own.level is None else own.level
        level = self.value if level is None else level  # of a path in its quantile
        assert not isinstance(level, tuple)  # there is one output
        low, high = (1.0, 1.0) if own.name == "absolute" else (level, 1.0 - level)
        return float(np.average(np.maximum(-low * off, high * off), weights=weights))

    def interval(self, X_new: Rows, y: ArrayLike, alpha: float = 0.1) -> Floats:
        """Return the jackknife+ intervals of new rows' targets, (m, 2).

        With the residuals ``R_i = abs(y_i - f_-i(x_i))``, the ends are the quantiles of
        ``f_-i(x) - R_i`` and ``f_-i(x) + R_i`` of ranks ``floor(alpha (n + 1))`` and
        ``ceil((1 - alpha) (n + 1))``: infinite where there are too few rows. They cover with
        probability 1 - 2 alpha at least, whatever the distribution of exchangeable rows, and
        usually 1 - alpha.

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
        own = np.abs(check_vector(y, len(self.decisions), "y", scalar=False) - self.decisions)
        return plus_interval(self.decision_function(X_new), own, alpha)

    def certify(self) -> Certificate:
        """Judge all n models by their statements: see `SolutionPath.certify`.

        Each is the optimum of the problem without its row. Parameters in what is returned are rows.
        """
        rows = np.arange(len(self.decisions))
        return summary(rows.astype(np.float64), self._models.judged(rows, self._of))


def check_level(alpha: float) -> float:
    """Return a share of responses that may be missed, inside of (0, 1)."""
    alpha = check_number(alpha, "alpha", above=0)
    if not alpha < 1.0:
        raise ValueError(f"alpha must be < 1, not {alpha:g}: the share that may be missed.")
    return alpha


def plus_interval(f: Floats, residuals: Floats, alpha: float) -> Floats:
    """Return the (m, 2) intervals of predictions (m, n) and the residuals (n,) beside them."""
    n = len(residuals)
    most, least = ceil_of((1.0 - alpha) * (n + 1)), floor_of(alpha * (n + 1))
    low = np.sort(f - residuals, axis=1)[:, least - 1] if least >= 1 else np.full(len(f), -np.inf)
    high = np.sort(f + residuals, axis=1)[:, most - 1] if most <= n else np.full(len(f), np.inf)
    return np.stack([low, high], axis=1)


def floor_of(rank: float) -> int:
    """Return the whole number not above a rank, which rounding may have put below it."""
    near = round(rank)
    return near if abs(rank - near) <= RANK * max(near, 1) else int(np.floor(rank))


def ceil_of(rank: float) -> int:
    """Return the whole number not below a rank, which rounding may have put above it."""
    return -floor_of(-rank)


@dataclass(frozen=True, eq=False)
class _Models:
    """Solutions of problems without some row: weights (k, d), free variables (k, r) and so on."""

    problem: Problem
    w: Floats
    v: Floats
    duals: list[Floats]
    multiplier: Floats | None

    def judged(self, rows: Places, of: Places) -> Verdict:
        """Judge those of some rows, each as the optimum without its row."""
        found, pieces = [], self.problem.losses[0].pieces
        for k in range(0, len(rows), TOGETHER):
            own = rows[k : k + TOGETHER]
            nothing = function(np.zeros(pieces.knots.shape[1]), np.zeros(pieces.slopes.shape[1]))
            stated = [with_losses(self.problem, put(pieces, row, nothing)) for row in own.tolist()]
            which = of[own]
            multiplier = None if self.multiplier is None else self.multiplier[which]
            duals = [a[which].T for a in self.duals]
            answer = Answer(self.w[which].T, self.v[which].T, duals, multiplier)
            found.append(judge(Bundle.of(stated), answer))
        return Verdict.together(found)


def known_labels(y: ArrayLike, n: int, classes: Any) -> NDArray[Any]:
    """Return labels of the rows, which the path knows."""
    labels = plain_labels(y, n, "y")
    unknown = labels[~np.isin(labels, classes)]
    if len(unknown):
        raise ValueError(
            f"y holds {unknown.tolist()[0]!r}, which is none of the path's classes "
            f"{np.asarray(classes).tolist()}; pass the labels that it was computed with."
        )
    return labels


def leave_one_out(path: SolutionPath, t: float, *, check: str = "warn") -> LeaveOneOut:
    """Leave out each row of a path's model at one value of its parameter, exactly.

    Parameters
    ----------
    path : SolutionPath
        Of one decision a row: of any model with a loss for each row, convex and piecewise
        linear-quadratic (SVMs, SVR, lasso, elastic net, least absolute deviations, quantiles, ...).
    t : float
        The value of its parameter. The loss of a row goes and all else stays as it is: where the
        objective has a mean of n losses, that is the model of n - 1 rows at penalties that are
        (n - 1) / n times as large.
    check : {"warn", "raise", "ignore"}
        What happens if a quick look at some of the models finds one that is off by more than 1e-6.

    Returns
    -------
    LeaveOneOut

    Raises
    ------
    ValueError
        The model has no loss for each row, or several decisions.
    PathError
        There is no optimum without some row (of the only row of a class, say), or it can't be
        found.

    Notes
    -----
    The optimum at t is found once. Then the dual of each row that has one is taken to zero along a
    line, whose cost is that of the events on it; a row without one costs nothing, if that leaves
    no free variable undetermined. Of several optimal biases it is the middle, as it is on a path.

    References
    ----------
    Cauwenberghs and Poggio (2001), "Incremental and decremental support vector machine learning";
    of the lasso, and of smooth losses approximately: Rad and Maleki (2020), "A scalable estimate of
    the out-of-sample prediction error via approximate leave-one-out cross-validation".

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
    _check_rows(path, problem)
    start = Start(problem, path.reading_or_none)
    assert start.answer.duals is not None
    a, pieces = start.answer.duals[0][:, 0], problem.losses[0].pieces
    n = len(a)
    counts = (a != 0.0) | (start.place[:n] % 2 == 1) | start.loose
    alone = without(problem, start.answer, start.place)
    counts[alone.rows] = False
    followed = np.flatnonzero(counts)
    solutions, events = [start.answer, alone.answer], 0
    of = np.zeros(n, dtype=np.int64)
    of[alone.rows] = 1 + np.arange(len(alone.rows))
    for row in followed.tolist():
        try:
            ended = _left_out(start, row, float(a[row])) or (_afresh(start, row), 0)
        except PathError as error:
            raise PathError(f"Row {row} can't be left out: {error}", path) from error
        of[row], events = len(alone.rows) + len(solutions) - 1, events + ended[1]
        solutions.append(ended[0])
    models = _together(problem, solutions)
    # a row may be all that holds a weight: then what is left of its line is judged
    curved = followed[[is_curved(pieces, i, int(start.place[i])) for i in followed.tolist()]]
    lost = curved[states(models.judged(curved, of)) != "holds"] if len(curved) else curved
    for row in lost.tolist():
        solutions[of[row] - len(alone.rows) + 1] = _afresh(start, row)
    models = _together(problem, solutions) if len(lost) else models
    found = LeaveOneOut(
        path=path,
        parameter=path.parameter,
        value=float(t),
        decisions=_decisions(path, problem, models, of),
        fitted=_decisions(path, problem, models, np.zeros(n, dtype=np.int64)),
        n_lines=len(followed),
        n_events=events,
        _of=of,
        _models=models,
    )
    _look(found, np.flatnonzero(of), check)
    return found


def _left_out(start: Start, row: int, dual: float) -> tuple[Answer, int] | None:
    """Return the optimum without a row, and how many events there were on the way.

    None: others say nothing of the row's value, and no line leads there.
    """
    pieces, place = start.problem.losses[0].pieces, int(start.place[row])
    begin, end = going(pieces, row, place, dual)
    if not is_curved(pieces, row, place):
        return start.end(row, begin, end, place)
    return start.end_without(row, begin, end)


def _afresh(start: Start, row: int) -> Answer:
    """Return the optimum without a row, from a start of its own."""
    pieces = start.problem.losses[0].pieces
    _, end = going(pieces, row, 0, 0.0)
    return Start(with_losses(start.problem, put(pieces, row, end))).answer


def _check_rows(path: SolutionPath, problem: Problem) -> None:
    """Refuse a model in which a row is no loss of the first group, or has several decisions."""
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
    """Return solutions in columns as rows of arrays."""
    w, v = (np.concatenate([getattr(own, name).T for own in solutions]) for name in ("w", "free"))
    duals = zip(*(own.duals for own in solutions), strict=True)
    multiplier = None
    if solutions[0].multiplier is not None:
        multiplier = np.concatenate([own.multiplier for own in solutions])
    return _Models(problem, w, v, [np.concatenate([a.T for a in own]) for own in duals], multiplier)


def _decisions(path: SolutionPath, problem: Problem, models: _Models, of: Places) -> Floats:
    """Return each row's decision by its model; those that are zero but for rounding are zero."""
    first, reading = problem.losses[0], path.reading
    X, B = first.X if problem.kernel is None else problem.kernel, dense(first.free)
    w, v = models.w[of], models.v[of]
    terms: list[tuple[Any, Floats]] = [(X, w), (B, v)] if B.shape[1] else [(X, w)]
    f, size = np.full(len(of), reading.offset), np.full(len(of), abs(reading.offset))
    for map_, own in terms:
        products: Any = map_.multiply(own) if sp.issparse(map_) else map_ * own
        f = f + np.asarray(products.sum(axis=1)).ravel()
        size = size + np.asarray(abs(products).sum(axis=1)).ravel()
    if reading.kind in SIGNS:
        f[np.abs(f) <= DECISION_ROUNDING * size] = 0.0
    return f


def _look(found: LeaveOneOut, other: Places, check: str) -> None:
    """Judge some of the models; warn, or raise, where one is off."""
    if check == "ignore":
        return
    some = other[evenly(len(other), LOOKS)] if len(other) else np.zeros(1, dtype=np.int64)
    fault = found._models.judged(some, found._of).fault()
    if fault is None:
        return
    worst, size, sure = fault
    said = (
        f"The model without row {some[worst]} {'is wrong' if sure else 'may be inaccurate'}: it is "
        f"off by {'' if sure else 'up to '}{size:.1e}; {remedy_for(found.path.line.start)}."
    )
    tell(said, found.path, check)
