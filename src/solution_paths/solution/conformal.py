"""Full conformal prediction: a model of n + 1 rows for every response of the new row, exactly.

The optimum of n + 1 rows is a path in the response of the new row. Between breakpoints all
residuals are linear in the response. So the share of residuals at least as large as the new row's
changes only where two lines meet: the p-value is a step function, known exactly.

If the new row's response is the prediction of the others, or its loss is zero, the optimum is that
of the n rows. So all new rows start from one optimum. Its problem contains the rows of all of
them, each with a zero loss until its path is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ..problem import Losses, Pieces, Problem
from ..problem.symmetric import symmetrised
from ..validation import Floats, Rows, check_choice, check_vector, check_X
from ..verify.verdict import Certificate, Verdict, evenly, summary
from .follow import CHECKS, fault_message, report
from .leave_one_out import check_level, floor_of
from .neighbours import Start, between, function, moving, with_losses
from .path import SolutionPath
from .points import Places
from .reading import NUMBERS
from .tolerances import COARSE, FAR_END, SAME, TIED

Groups: TypeAlias = tuple[ArrayLike, ArrayLike] | None
ROWS_PER_NEW_ROW = 2  # at most n / 2 new rows share one start
MIN_BATCH = 32  # ... or these, if n is small
POINTS_JUDGED = 3  # points of each path that are judged


class OfPaths:
    """What is read from paths of a model with one more row, which can be judged.

    Attributes
    ----------
    paths : tuple of SolutionPath
    """

    paths: tuple[SolutionPath, ...]

    def certify(self, n_random: int = 20, seed: int = 0) -> Certificate:
        """Judge the models at some values of the paths' parameter.

        Parameters
        ----------
        n_random : int, default 20
            Number of values on each path: see `SolutionPath.certify`.
        seed : int, default 0
        """
        judged = [path._judged(*path._some(n_random, seed, None)) for path in self.paths]
        return summary(
            np.concatenate([t for t, _ in judged]),
            Verdict.together([verdict for _, verdict in judged]),
        )


@dataclass(frozen=True, eq=False)
class ConformalPath(OfPaths):
    """The p-value of one new row as a function of the row's response y.

    Attributes
    ----------
    edges : (k + 1,) array
        Responses at which the p-value changes, ascending; the first and the last are infinite.
    p : (k,) array
        The p-value between two edges.
    p_at : (k - 1,) array
        The p-value at inner edges themselves, where residuals tie.
    prediction : float
        The prediction for the new row by the model without it.
    count : int
        The number of rows that are compared: the new one, and those of its group.
    paths : (SolutionPath, SolutionPath)
        The model of n + 1 rows along y, downwards and upwards from some response.
    """

    edges: Floats
    p: Floats
    p_at: Floats
    prediction: float
    count: int
    paths: tuple[SolutionPath, SolutionPath]

    def p_value(self, y: ArrayLike) -> Floats:
        """Return the p-value of responses: an array like y.

        It is the share of the n + 1 rows (of those in the new row's group) whose absolute residual
        is at least the new row's, in the model that is fitted to all of them.
        """
        y = np.asarray(y, dtype=np.float64)
        inner = self.edges[1:-1]
        place = np.searchsorted(inner, y, side="right")
        between = self.p[place]
        before = np.clip(place - 1, 0, max(len(inner) - 1, 0))
        at = (place > 0) & (inner[before] == y) if len(inner) else np.zeros(y.shape, dtype=bool)
        return np.where(at, self.p_at[before], between) if len(inner) else between

    def prediction_set(self, alpha: float = 0.1) -> Floats:
        """Return the responses whose p-value is above alpha, as (k, 2) closed intervals, ascending.

        With exchangeable rows it contains the new row's response with probability >= 1 - alpha.

        Parameters
        ----------
        alpha : float, default 0.1
            The share of responses that may be missed.
        """
        limit = most_of(alpha, self.count)
        inside, at = (np.rint(p * self.count) > limit for p in (self.p, self.p_at))
        ends: list[list[float]] = []
        for k in np.flatnonzero(inside).tolist():
            low, high = self.edges[k], self.edges[k + 1]
            if ends and ends[-1][1] == low:
                ends[-1][1] = high
            else:
                ends.append([low, high])
        alone = at & ~inside[:-1] & ~inside[1:]
        ends += [[edge, edge] for edge in self.edges[1:-1][alone].tolist()]
        return np.array(sorted(ends), dtype=np.float64).reshape(-1, 2)


def most_of(alpha: float, count: int) -> int:
    """Return the largest number of rows whose share of ``count`` is at most alpha."""
    return floor_of(check_level(alpha) * count)


def conformal_path(
    path: SolutionPath,
    t: float,
    y: ArrayLike,
    X_new: Rows,
    *,
    groups: Groups = None,
    check: str = "warn",
) -> list[ConformalPath]:
    """Refit a regression model with each new row at every response, exactly.

    Parameters
    ----------
    path : SolutionPath
        Path of a regression model whose rows all have the same loss of their residuals (lasso,
        elastic net, Huber's, SVR, quantiles, least absolute deviations, ...), in any parameter.
    t : float
        The value of its parameter. The new row's loss is added to those of the others: where the
        objective has a mean of n losses, this is the model of n + 1 rows at penalties that are
        n / (n + 1) times as large.
    y : (n,) array
        The targets of the path's rows.
    X_new : (m, d) array or CSR
        New rows, each added by itself. The kernel must not be precomputed.
    groups : pair of (n,) and (m,) arrays, optional
        Groups of the path's rows and of the new ones (Mondrian conformal prediction). Residuals are
        compared within the new row's group, so that each group is covered; the model is common.
    check : {"warn", "raise", "ignore"}
        What to do if a quick check of some models of n + 1 rows finds an error above 1e-6.

    Returns
    -------
    list of ConformalPath
        One for each new row.

    Raises
    ------
    ValueError
        The model predicts labels, its rows have different losses, or y isn't its training target.
    PathError
        A path can't be followed.

    Notes
    -----
    The kernel and the parameter must not depend on the order of rows, nor on which row is new: give
    ``gamma`` as a number, and choose the parameter on other data.

    References
    ----------
    Vovk, Gammerman and Shafer (2005), "Algorithmic learning in a random world"; for the lasso Lei
    (2019), "Fast exact conformalization of the lasso using piecewise linear homotopy", Biometrika
    106; for quantile and support vector regression Ndiaye and Takeuchi (2019), "Computing full
    conformal prediction set with approximate homotopy".

    Examples
    --------
    >>> import numpy as np
    >>> from solution_paths import conformal_path, lasso_path
    >>> X, y = np.arange(9.0)[:, None], np.array([0.0, 1.1, 1.9, 3.2, 3.9, 5.0, 6.2, 6.8, 8.1])
    >>> path = lasso_path(X, y)
    >>> (new,) = conformal_path(path, 0.5, y, [[4.5]])
    >>> new.prediction_set(0.2).round(4).tolist()
    [[4.3087, 4.7128]]
    >>> new.p_value([4.5, 6.0]).tolist()
    [0.9, 0.1]
    >>> path.certify().ok
    True
    """
    return list(conformal_paths(path, t, y, X_new, groups, check))


def conformal_paths(
    path: SolutionPath,
    t: float,
    y: ArrayLike,
    X_new: Rows,
    groups: Groups = None,
    check: str = "warn",
) -> Iterator[ConformalPath]:
    """Yield the results of `conformal_path`, one new row after the other."""
    check_choice(check, "check", CHECKS)
    problem, _ = path.stated_at(t)
    _check_model(path, problem)
    n = len(problem.losses[0].pieces)
    targets = check_vector(y, n, "y", scalar=False) - path.reading.offset
    loss = _loss_of_residuals(problem.losses[0].pieces, targets)
    names = path.reading.checked(X_new)
    given = check_X(X_new, "X_new", copy=False)
    alike = alike_of(groups, n, given.shape[0])
    for block in batches(n, given.shape[0]):
        joined = with_rows(path, problem, names[block], given[block])
        start = Start(joined, path.reading_or_none)
        for k in range(len(joined.losses[0].pieces) - n):
            same = alike(block.start + k)
            conformal = _New(start, n + k, same, targets, loss, path.reading.offset).path()
            for one in conformal.paths:
                judge_some(one, check)
            yield conformal


def batches(n: int, m: int) -> Iterator[slice]:
    """Yield slices of m new rows that share a start with the n rows of the data."""
    size = max(MIN_BATCH, n // ROWS_PER_NEW_ROW)
    return (slice(first, first + size) for first in range(0, m, size))


def alike_of(groups: Groups, n: int, m: int) -> Callable[[int], Places]:
    """Return a function that maps each of m new rows to those of n rows that are in its group."""
    if groups is None:
        return lambda k: np.arange(n)
    groups_of_rows, groups_of_new = (np.asarray(labels) for labels in groups)
    if groups_of_rows.shape != (n,) or groups_of_new.shape != (m,):
        raise ValueError(
            f"groups have shapes {groups_of_rows.shape} and {groups_of_new.shape}; give one for "
            f"each of {n} rows and of {m} new ones."
        )
    return lambda k: np.flatnonzero(groups_of_rows == groups_of_new[k])


def judge_some(path: SolutionPath, check: str) -> None:
    """Judge some points of a path; warn or raise if a solution is inaccurate."""
    if check == "ignore":
        return
    judged = path._judged(evenly(len(path.points), POINTS_JUDGED), np.empty(0), anew=False)
    report(fault_message(path, *judged), path, check)


def _check_model(path: SolutionPath, problem: Problem) -> None:
    """Refuse models that don't predict numbers with one loss for each row."""
    if path.reading.kind not in NUMBERS or not has_rows(path, problem):
        raise ValueError(
            "conformal_path is for models of numbers with one loss for each row; this path is of "
            "labels, of pairs of rows, or of several numbers a row."
        )
    check_new_rows(path, "conformal_path")


def has_rows(path: SolutionPath, problem: Problem) -> bool:
    """Tell whether a model has one decision, and one loss, for each row."""
    first = problem.losses[0]
    plain = isinstance(first.X, np.ndarray) or sp.issparse(first.X)
    return plain and len(problem.losses) == 1 and path.reading.outputs == 1


def check_new_rows(path: SolutionPath, name: str) -> None:
    """Refuse a model to which rows can't be added."""
    if path.reading.kernel.name == "precomputed" or path.reading.feature:
        raise ValueError(
            f"{name} needs the kernel of new rows with themselves, and so a kernel that can be "
            "computed: name one, with its rows, in place of kernel='precomputed'."
        )


def _loss_of_residuals(pieces: Pieces, targets: Floats) -> Pieces:
    """Return the loss of f less the target that all rows have in common."""
    residual_knots = pieces.knots - targets[:, None]
    row = int(np.argmin(np.abs(targets)))  # the row whose knots are rounded least
    spread = np.abs(residual_knots - residual_knots[row]).max()
    alike = (pieces.slopes == pieces.slopes[row]).all()
    alike &= (pieces.curvature == pieces.curvature[row]).all()
    if not alike or spread > SAME * (np.abs(pieces.knots).max() + np.abs(targets).max()):
        raise ValueError(
            "The rows of the model have different losses of y less f(x); pass the y that the path "
            "was computed with, which must have no sample weights."
        )
    return function(residual_knots[row], pieces.slopes[row], pieces.curvature[row])


def with_rows(path: SolutionPath, problem: Problem, rows: Any, given: Any) -> Problem:
    """Return the problem with new rows, whose losses are zero."""
    first, m = problem.losses[0], rows.shape[0]
    free = np.repeat(path.reading.bias[:1], m, axis=0)
    stack = sp.vstack if sp.issparse(first.free) else np.vstack
    B = stack([first.free, free])
    arrays = [
        np.vstack([array, np.zeros((m, array.shape[1]))])
        if array.ndim == 2
        else np.append(array, value)
        for array, value in zip(vars(first.pieces).values(), _nothing(m), strict=True)
    ]
    pieces = Pieces(*arrays)
    if problem.kernel is None:
        return replace(problem, losses=Losses(pieces, stacked(first.X, rows), B))
    K = np.block([[problem.kernel, rows.T], [rows, path.reading.kernel(given, given)]])
    return replace(
        problem,
        losses=Losses(pieces, None, B),
        kernel=symmetrised(K, writable=True),
        factor=None,
        features=len(K),
    )


def stacked(X: Any, rows: Any) -> Any:
    """Return the rows of X and ``rows`` in one matrix, sparse if X is."""
    if sp.issparse(X):
        return sp.csr_array(sp.vstack([X, rows]))
    return np.vstack([X, rows.toarray() if sp.issparse(rows) else rows])


def _nothing(m: int) -> list[Floats]:
    """Return the fields of m zero functions that have one entry a row, in the order of `Pieces`."""
    zero, end = np.zeros(m), np.full(m, np.inf)
    return [zero, zero, zero, zero, -end, end]


@dataclass(frozen=True, eq=False)
class _New:
    """One new row among the rows of a start.

    Attributes
    ----------
    start : Start
    row : int
        Index of the new row.
    same : (k,) of int
        The rows of its group.
    targets : (n,) array
    loss : Pieces
        The loss of f less the target.
    level : float
        The shift of the targets.
    """

    start: Start
    row: int
    same: Places
    targets: Floats
    loss: Pieces
    level: float

    def path(self) -> ConformalPath:
        """Return the p-value of the new row as a function of its response."""
        f = self._values(self.start.answer.w, self.start.answer.free)[0]
        size = self._size(f)
        place, curved = self.start.place.copy(), self._curved_at_zero()
        if curved >= 0:
            response = float(f[self.row])
            place[self.row] = 2 * curved
        elif self.loss.curvature.any():
            raise ValueError(
                "conformal_path is for losses that are straight everywhere, or curved where "
                "residuals are 0; this model's is curved elsewhere."
            )
        else:  # the loss grows from zero, at a response far from all others
            response = float(min(self.targets.min(), f[self.row])) - size
            place[self.row] = 2 * int((f[self.row] > response + self.loss.knots[0]).sum())
            place = self.start.places_after(
                between(self._problem(response, 0.0), self._problem(response)), place
            )
        paths = [self._way(response, direction, place, size) for direction in (-1.0, 1.0)]
        return self._joined(response, float(f[self.row]), paths[0], paths[1], size)

    def _size(self, f: Floats) -> float:
        """Return the spread of targets and predictions, or their size if the spread is rounding."""
        values = np.append(self.targets, f)
        spread = float(np.ptp(values) + np.ptp(self.loss.knots))
        largest = float(np.abs(values + self.level).max())
        return spread if spread > COARSE * largest else largest or 1.0

    def _curved_at_zero(self) -> int:
        """Return the quadratic segment that contains a residual of 0 in its interior, or -1."""
        knots, q = self.loss.knots[0], self.loss.curvature[0]
        k = int((knots < 0.0).sum())
        smooth = (
            k == len(knots)
            or knots[k] != 0.0
            or (self.loss.left[0, k] == self.loss.right[0, k] and q[k] == q[k + 1])
        )
        return k if smooth and q[k] > 0.0 else -1

    def _problem(self, at: float, share: float = 1.0) -> Problem:
        """Return the problem with the new row at a response, its loss times ``share``."""
        pieces, loss, row = self.start.problem.losses[0].pieces, self.loss, self.row
        knots, slopes, q = (
            array.copy() for array in (pieces.knots, pieces.slopes, pieces.curvature)
        )
        knots[row], slopes[row] = at + loss.knots[0], share * loss.slopes[0]
        q[row] = loss.curvature[0]
        moved = Pieces._derived(knots, slopes, q, pieces.value, pieces.low, pieces.high)
        return with_losses(self.start.problem, moved)

    def _way(self, at: float, direction: float, place: Places, size: float) -> SolutionPath:
        """Return the path along the response, upwards or downwards from ``at``."""
        rate = np.zeros(self.start.problem.losses[0].pieces.knots.shape)
        rate[self.row] = 1.0
        begin = at + self.level  # the response as the user has it

        def model(y: float) -> Problem:
            return self._problem(y - self.level)

        line = moving(model, begin, begin + direction * FAR_END * size, "losses[0].knots", rate)
        return self.start.path(line, place, parameter="y", afresh=True)

    def _values(self, w: Floats, v: Floats) -> Floats:
        """Return the values (k, rows) for weights and free variables in columns."""
        problem = self.start.problem
        first = problem.losses[0]
        X = first.X if problem.kernel is None else problem.kernel
        return np.asarray(X @ w + first.free @ v).T

    def _joined(
        self, at: float, f: float, downwards: SolutionPath, upwards: SolutionPath, size: float
    ) -> ConformalPath:
        """Return the p-value from the paths in both directions."""
        below, above = (
            self._counts(path, at, direction, size)
            for path, direction in ((downwards, -1.0), (upwards, 1.0))
        )
        edges = np.concatenate([at - below[0][::-1], at + above[0][1:]])
        counts = np.concatenate([below[1][::-1], above[1]])
        ties = np.concatenate([below[2][::-1], above[2][1:]])
        kept = np.append(True, np.diff(counts) != 0) if len(counts) else counts
        kept[1:] |= ties[1:-1] > np.maximum(counts[:-1], counts[1:])
        first = np.flatnonzero(kept)
        inner = edges[first[1:]] + self.level
        ends = np.concatenate([[-np.inf], inner, [np.inf]])
        total = len(self.same) + 1
        p = counts[first] / total, ties[first[1:]] / total
        return ConformalPath(ends, *p, f + self.level, total, (downwards, upwards))

    def _counts(
        self, path: SolutionPath, at: float, direction: float, far: float
    ) -> tuple[Floats, Floats, Floats]:
        """Return the distances from ``at`` at which counts change, and counts between and at them.

        Counted are the rows whose residuals are at least as large as the new row's, with this row.
        """
        f = self._values(
            *(variables.T for variables in path.variables_at(np.arange(len(path.points))))
        )
        s, f = np.abs(path.points.t - (at + self.level)), f[:, [*self.same, self.row]]
        if direction < 0.0:
            f, s = f[::-1], s[::-1]
        y = np.append(self.targets[self.same], 0.0) - f
        y[:, -1] += at + direction * s  # residuals
        size = float(np.abs(self.targets).max() + abs(at))
        pieces = np.flatnonzero(np.diff(s) > 0.0)
        slopes = (y[pieces + 1] - y[pieces]) / np.diff(s)[pieces, None]
        lines = Lines(s[pieces], np.append(s[pieces[1:]], s[-1]), y[pieces], slopes, size, far)
        return lines.counts()


class Lines(NamedTuple):
    """Residuals of rows on the pieces of a path in one direction; the new row is the last column.

    Attributes
    ----------
    begin, end : (P,) arrays
        Distances at both ends of each piece.
    first, slope : (P, n + 1) arrays
        Residuals at the begin of each piece, and their slopes.
    size : float
        Size of the numbers of which residuals are differences.
    far : float
        A distance that counts as far on an endless piece.
    """

    begin: Floats
    end: Floats
    first: Floats
    slope: Floats
    size: float
    far: float

    def counts(self) -> tuple[Floats, Floats, Floats]:
        """Return the distances at which the count changes, and counts between and at them.

        The count is that of the residuals at least as large as the last column's. The first
        distance is the begin, the last one the end.
        """
        low, high = self._meetings()
        length = (self.end - self.begin)[:, None]
        low, high = np.minimum(low, length), np.minimum(high, length)
        before, between, after = (
            self._as_large(u, v) for u, v in ((0.0 * low, low), (low, high), (high, length))
        )
        between = np.where(high > low, between, np.where(low < length, after, before))
        after = np.where(high < length, after, between)
        where, change, touch = [], [], []

        def happens(s: Floats, before: NDArray[np.bool_], after: NDArray[np.bool_]) -> None:
            where.append(s.ravel())
            change.append(after.astype(int).ravel() - before.ravel())
            touch.append(~(before | after).ravel())

        at = self.begin[:, None]
        for u, was, becomes in ((low, before, between), (high, between, after)):
            inside = u < length
            happens((at + u)[inside], was[inside], becomes[inside])
        moved = after[:-1] != before[1:]  # jumps of solutions at breakpoints
        happens(np.broadcast_to(at[1:], moved.shape)[moved], after[:-1][moved], before[1:][moved])
        s, changes, touches = (np.concatenate(arrays) for arrays in (where, change, touch))
        begun = int(self._tied(float(self.begin[0])).sum()) + 1
        return self._summed(s, changes, touches, int(before[0].sum()) + 1, begun)

    def _summed(
        self, s: Floats, change: Floats, touch: Floats, first: int, begun: int
    ) -> tuple[Floats, Floats, Floats]:
        """Return counts from their changes; changes within rounding are merged."""
        order = np.argsort(s, kind="stable")
        s, change, touch = s[order], change[order], touch[order]
        new = np.append(True, np.diff(s) > TIED * (self.size + s[1:]))[: len(s)]
        place = np.cumsum(new) - 1
        total = int(place[-1]) + 1 if len(s) else 0
        moved, touching = np.zeros(total), np.zeros(total)
        np.add.at(moved, place, change)
        np.add.at(touching, place, np.maximum(change, 0) + touch)
        between = first + np.concatenate([[0.0], np.cumsum(moved)])
        at_edges = np.concatenate([[begun], between[:-1] + touching, between[-1:]])
        return np.concatenate([self.begin[:1], s[new], self.end[-1:]]), between, at_edges

    def _meetings(self) -> tuple[Floats, Floats]:
        """Return the two distances (P, n) at which absolute residuals meet, or infinity."""
        distances = []
        for sign in (1.0, -1.0):
            difference = (self.first - sign * self.first[:, -1:])[:, :-1]
            closing_rate = -(self.slope - sign * self.slope[:, -1:])[:, :-1]
            meets = np.abs(closing_rate) > TIED  # the new response moves at rate 1
            root = np.divide(
                difference, closing_rate, out=np.full(difference.shape, np.inf), where=meets
            )
            distances.append(np.where(root > 0.0, root, np.inf))
        return np.minimum(*distances), np.maximum(*distances)

    def _as_large(self, u: Floats, v: Floats) -> NDArray[np.bool_]:
        """Tell which residuals are at least as large as the last one between two distances."""
        at = self.begin[:, None]
        middle = np.minimum(0.5 * (u + v), u + (at + u) + self.far)  # rounding grows with s
        return self._compared(self.first, self.slope, middle, at + middle)

    def _tied(self, s: float) -> NDArray[np.bool_]:
        """Tell which residuals are at least as large as the last one at the begin."""
        zero = np.zeros((1, self.first.shape[1] - 1))
        return self._compared(self.first[:1], self.slope[:1], zero, zero + s)

    def _compared(self, first: Floats, slope: Floats, u: Floats, s: Floats) -> NDArray[np.bool_]:
        others = np.abs(first[:, :-1] + u * slope[:, :-1])
        last = np.abs(first[:, -1:] + u * slope[:, -1:])
        return np.asarray(others >= last - TIED * (self.size + s))
