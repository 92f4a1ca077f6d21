"""Full conformal prediction: a model refitted with a new row at every response, without refits.

The optimum of n + 1 rows is a path in the response of the new one. Between breakpoints all
residuals are straight lines in it, so the share of those that are at least as large as the new
row's changes only where two such lines meet: the p-value is a step function, known exactly.

With the new row's response at its prediction by the others, or with its loss at nothing, the
optimum is that of the n rows. So all new rows begin at one optimum, whose problem holds the rows of
all of them, without a loss until it is their turn.
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
from .follow import CHECKS, fault_of, tell
from .leave_one_out import check_level, floor_of
from .neighbours import Start, between, function, moving, with_losses
from .path import SolutionPath
from .points import Places
from .reading import NUMBERS

Groups: TypeAlias = tuple[ArrayLike, ArrayLike] | None
FAR = 2.0**40  # times the size of the targets: how far out a response goes
TIED = 2.0**-44  # of the size of targets: residuals whose sizes differ by less are equal
KNOWN = 2.0**-30  # of the targets: what differs by less is rounding
ALIKE = 2.0**-40  # of the size of targets: so far losses' knots may be apart for rounding
SHARE = 2  # so many new rows, at most, are begun with together for each row of the data: n / 2
LEAST = 32
LOOKS = 3  # points of each path that are looked at


@dataclass(frozen=True, eq=False)
class ConformalPath:
    """What a model says of one new row, as a function of the row's response y.

    Attributes
    ----------
    edges : (k + 1,) array
        Where the p-value changes, ascending; the first is minus infinity, the last infinity.
    p : (k,) array
        The p-value between two edges.
    p_at : (k - 1,) array
        At inner edges themselves, where residuals tie.
    prediction : float
        Of the new row, by the model without it.
    count : int
        How many rows are compared: the new one, and those of its group.
    paths : (SolutionPath, SolutionPath)
        In y, downwards from some response, and upwards: the model of n + 1 rows.
    """

    edges: Floats
    p: Floats
    p_at: Floats
    prediction: float
    count: int
    paths: tuple[SolutionPath, SolutionPath]

    def p_value(self, y: ArrayLike) -> Floats:
        """Return the p-value of responses: an array like y.

        It is the share of the n + 1 rows (of those in the new row's group) whose absolute residuals
        are at least the new row's, by the model that is fitted to them all.
        """
        y = np.asarray(y, dtype=np.float64)
        inner = self.edges[1:-1]
        place = np.searchsorted(inner, y, side="right")
        found = self.p[place]
        before = np.clip(place - 1, 0, max(len(inner) - 1, 0))
        at = (place > 0) & (inner[before] == y) if len(inner) else np.zeros(y.shape, dtype=bool)
        return np.where(at, self.p_at[before], found) if len(inner) else found

    def prediction_set(self, alpha: float = 0.1) -> Floats:
        """Return the responses whose p-value is above alpha, as (k, 2) closed intervals, ascending.

        With exchangeable rows the new one's response is in it with probability 1 - alpha at least.

        Parameters
        ----------
        alpha : float, default 0.1
            The share of responses that may be missed.
        """
        most = most_of(alpha, self.count)
        inside, at = (np.rint(p * self.count) > most for p in (self.p, self.p_at))
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

    def certify(self, n_random: int = 20, seed: int = 0) -> Certificate:
        """Judge the models of n + 1 rows at some responses.

        Parameters
        ----------
        n_random : int, default 20
            How many, on each of both paths: see `SolutionPath.certify`.
        seed : int, default 0
        """
        found = [path._judged(*path._some(n_random, seed, None)) for path in self.paths]
        return summary(
            np.concatenate([t for t, _ in found]), Verdict.together([own for _, own in found])
        )


def most_of(alpha: float, count: int) -> int:
    """Return how many of so many rows have a p-value of at most alpha."""
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
    """Refit a model of numbers with each of some new rows at every response, exactly.

    Parameters
    ----------
    path : SolutionPath
        Of a model of numbers whose rows all have the same loss of their residuals (lasso, elastic
        net, Huber's, SVR, quantiles, least absolute deviations, ...), in any parameter.
    t : float
        The value of its parameter. The new row's loss is added to those of the others: where the
        objective has a mean of n losses, that is the model of n + 1 rows at penalties that are
        n / (n + 1) times as large.
    y : (n,) array
        The targets of the path's rows.
    X_new : (m, d) array or CSR
        New rows, each by itself. A kernel must be one that can be computed.
    groups : pair of (n,) and (m,) arrays, optional
        Of the path's rows and of the new ones (Mondrian conformal prediction): residuals are
        compared within the new row's group, so that each group is covered, by one model for all.
    check : {"warn", "raise", "ignore"}
        What happens if a quick look at some models of n + 1 rows finds one that is off by more than
        1e-6.

    Returns
    -------
    list of ConformalPath
        One for each new row.

    Raises
    ------
    ValueError
        The model is of labels, its rows have different losses, or y isn't what it was fitted to.
    PathError
        A path can't be followed.

    Notes
    -----
    A model's kernel and parameters must not depend on the order of rows, nor on which of them is
    new: give ``gamma`` as a number, and choose the parameter on other data.

    References
    ----------
    Vovk, Gammerman and Shafer (2005), "Algorithmic learning in a random world"; of the lasso Lei
    (2019), "Fast exact conformalization of the lasso using piecewise linear homotopy", Biometrika
    106; of quantile and support vector regression Ndiaye and Takeuchi (2019), "Computing full
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
    """Yield what `conformal_path` returns, one new row after the other."""
    check_choice(check, "check", CHECKS)
    problem, _ = path.stated_at(t)
    _check_model(path, problem)
    n = len(problem.losses[0].pieces)
    targets = check_vector(y, n, "y", scalar=False) - path.reading.offset
    loss = _loss_of_residuals(problem.losses[0].pieces, targets)
    names = path.reading.checked(X_new)
    given = check_X(X_new, "X_new", copy=False)
    alike = alike_of(groups, n, given.shape[0])
    for own in batches(n, given.shape[0]):
        every = with_rows(path, problem, names[own], given[own])
        start = Start(every, path.reading_or_none)
        for k in range(len(every.losses[0].pieces) - n):
            same = alike(own.start + k)
            found = _New(start, n + k, same, targets, loss, path.reading.offset).path()
            for way in found.paths:
                look(way, check)
            yield found


def batches(n: int, m: int) -> Iterator[slice]:
    """Yield slices of m new rows that are begun with together, beside n others."""
    size = max(LEAST, n // SHARE)
    return (slice(first, first + size) for first in range(0, m, size))


def alike_of(groups: Groups, n: int, m: int) -> Callable[[int], Places]:
    """Return a function of one of m new rows: which of n rows are in its group."""
    if groups is None:
        return lambda k: np.arange(n)
    own, new = (np.asarray(part) for part in groups)
    if own.shape != (n,) or new.shape != (m,):
        raise ValueError(
            f"groups have shapes {own.shape} and {new.shape}; give one for each of {n} rows and of "
            f"{m} new ones."
        )
    return lambda k: np.flatnonzero(own == new[k])


def look(path: SolutionPath, check: str) -> None:
    """Judge some points of a path in the response; warn, or raise, where one is off."""
    if check == "ignore":
        return
    found = path._judged(evenly(len(path.points), LOOKS), np.empty(0), anew=False)
    tell(fault_of(path, *found), path, check)


def _check_model(path: SolutionPath, problem: Problem) -> None:
    """Refuse models that aren't of numbers, each row with one loss."""
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
    """Refuse a model to which no rows can be added."""
    if path.reading.kernel.name == "precomputed" or path.reading.feature:
        raise ValueError(
            f"{name} needs the kernel of new rows with themselves, and so a kernel that can be "
            "computed: name one, with its rows, in place of kernel='precomputed'."
        )


def _loss_of_residuals(pieces: Pieces, targets: Floats) -> Pieces:
    """Return the one loss that all rows have of f less their targets."""
    own = pieces.knots - targets[:, None]
    row = int(np.argmin(np.abs(targets)))  # whose knots are rounded least
    apart = np.abs(own - own[row]).max()
    alike = (pieces.slopes == pieces.slopes[row]).all()
    alike &= (pieces.curvature == pieces.curvature[row]).all()
    if not alike or apart > ALIKE * (np.abs(pieces.knots).max() + np.abs(targets).max()):
        raise ValueError(
            "The rows of the model have different losses of y less f(x); pass the y that the path "
            "was computed with, which must have no sample weights."
        )
    return function(own[row], pieces.slopes[row], pieces.curvature[row])


def with_rows(path: SolutionPath, problem: Problem, rows: Any, given: Any) -> Problem:
    """Return the same problem, in which new rows have values and no loss."""
    first, m = problem.losses[0], rows.shape[0]
    free = np.repeat(path.reading.bias[:1], m, axis=0)
    stack = sp.vstack if sp.issparse(first.free) else np.vstack
    B = stack([first.free, free])
    nothing = [
        np.vstack([own, np.zeros((m, own.shape[1]))]) if own.ndim == 2 else np.append(own, more)
        for own, more in zip(vars(first.pieces).values(), _nothing(m), strict=True)
    ]
    pieces = Pieces(*nothing)
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
    """Return rows with others below, sparse where the first are."""
    if sp.issparse(X):
        return sp.csr_array(sp.vstack([X, rows]))
    return np.vstack([X, rows.toarray() if sp.issparse(rows) else rows])


def _nothing(m: int) -> list[Floats]:
    """Return what functions that are zero add to the fields of pieces with one entry a row."""
    zero, end = np.zeros(m), np.full(m, np.inf)
    return [zero, zero, zero, zero, -end, end]


@dataclass(frozen=True, eq=False)
class _New:
    """One new row among the rows of a start.

    Attributes
    ----------
    start : Start
    row : int
        Which of all rows the new one is.
    same : (k,) of int
        The rows of its group.
    targets : (n,) array
    loss : Pieces
        Of f less the target.
    level : float
        What has been taken off the targets.
    """

    start: Start
    row: int
    same: Places
    targets: Floats
    loss: Pieces
    level: float

    def path(self) -> ConformalPath:
        """Return its path in the response."""
        f = self._values(self.start.answer.w, self.start.answer.free)[0]
        size = self._size(f)
        place, curved = self.start.place.copy(), self._curved_at_zero()
        if curved >= 0:
            at = float(f[self.row])
            place[self.row] = 2 * curved
        elif self.loss.curvature.any():
            raise ValueError(
                "conformal_path is for losses that are straight everywhere, or curved where "
                "residuals are 0; this model's is curved elsewhere."
            )
        else:  # the loss grows from nothing, at a response that is far from all others
            at = float(min(self.targets.min(), f[self.row])) - size
            place[self.row] = 2 * int((f[self.row] > at + self.loss.knots[0]).sum())
            place = self.start.places_after(
                between(self._problem(at, 0.0), self._problem(at)), place
            )
        both = [self._way(at, way, place, size) for way in (-1.0, 1.0)]
        return self._joined(at, float(f[self.row]), both[0], both[1], size)

    def _size(self, f: Floats) -> float:
        """Return by how much targets and predictions differ, or what they are if that is none."""
        every = np.append(self.targets, f)
        spread = float(np.ptp(every) + np.ptp(self.loss.knots))
        most = float(np.abs(every + self.level).max())
        return spread if spread > KNOWN * most else most or 1.0

    def _curved_at_zero(self) -> int:
        """Return the segment on which a residual of 0 is inside of a parabola, or -1."""
        knots, q = self.loss.knots[0], self.loss.curvature[0]
        k = int((knots < 0.0).sum())
        smooth = (
            k == len(knots)
            or knots[k] != 0.0
            or (self.loss.left[0, k] == self.loss.right[0, k] and q[k] == q[k + 1])
        )
        return k if smooth and q[k] > 0.0 else -1

    def _problem(self, at: float, share: float = 1.0) -> Problem:
        """Return the problem with the new row's response, and a share of its loss."""
        pieces, loss, row = self.start.problem.losses[0].pieces, self.loss, self.row
        knots, slopes, q = (own.copy() for own in (pieces.knots, pieces.slopes, pieces.curvature))
        knots[row], slopes[row] = at + loss.knots[0], share * loss.slopes[0]
        q[row] = loss.curvature[0]
        own = Pieces._derived(knots, slopes, q, pieces.value, pieces.low, pieces.high)
        return with_losses(self.start.problem, own)

    def _way(self, at: float, way: float, place: Places, size: float) -> SolutionPath:
        """Return the path in the response, from one on upwards or downwards."""
        rate = np.zeros(self.start.problem.losses[0].pieces.knots.shape)
        rate[self.row] = 1.0
        begin = at + self.level  # the response as the user has it

        def model(y: float) -> Problem:
            return self._problem(y - self.level)

        line = moving(model, begin, begin + way * FAR * size, "losses[0].knots", rate)
        return self.start.path(line, place, parameter="y", afresh=True)

    def _values(self, w: Floats, v: Floats) -> Floats:
        """Return the values (k, rows) of weights and free variables in columns."""
        problem = self.start.problem
        first = problem.losses[0]
        X = first.X if problem.kernel is None else problem.kernel
        return np.asarray(X @ w + first.free @ v).T

    def _joined(
        self, at: float, f: float, down: SolutionPath, up: SolutionPath, size: float
    ) -> ConformalPath:
        """Return the p-value from both ways."""
        below, above = (self._counts(p, at, way, size) for p, way in ((down, -1.0), (up, 1.0)))
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
        return ConformalPath(ends, *p, f + self.level, total, (down, up))

    def _counts(
        self, path: SolutionPath, at: float, way: float, far: float
    ) -> tuple[Floats, Floats, Floats]:
        """Return where counts change, as distances on the way; between these; and at them.

        What is counted are rows, the new one among them, with residuals as large as its.
        """
        f = self._values(*(own.T for own in path.variables_at(np.arange(len(path.points)))))
        s, f = np.abs(path.points.t - (at + self.level)), f[:, [*self.same, self.row]]
        if way < 0.0:
            f, s = f[::-1], s[::-1]
        y = np.append(self.targets[self.same], 0.0) - f
        y[:, -1] += at + way * s  # residuals
        size = float(np.abs(self.targets).max() + abs(at))
        pieces = np.flatnonzero(np.diff(s) > 0.0)
        slopes = (y[pieces + 1] - y[pieces]) / np.diff(s)[pieces, None]
        lines = Lines(s[pieces], np.append(s[pieces[1:]], s[-1]), y[pieces], slopes, size, far)
        return lines.counts()


class Lines(NamedTuple):
    """Residuals of rows on pieces of a way, the new row's last.

    Attributes
    ----------
    begin, end : (P,) arrays
    first, slope : (P, n + 1) arrays
        At the begin of each piece, and for a unit of the way.
    size : float
        Of the numbers that residuals are differences of.
    far : float
        A distance beyond which one on an endless piece is far.
    """

    begin: Floats
    end: Floats
    first: Floats
    slope: Floats
    size: float
    far: float

    def counts(self) -> tuple[Floats, Floats, Floats]:
        """Return where the count of residuals as large as the last changes; between; and there.

        The first of the places is the begin, the last the end.
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

        def happens(s: Floats, was: NDArray[np.bool_], becomes: NDArray[np.bool_]) -> None:
            where.append(s.ravel())
            change.append(becomes.astype(int).ravel() - was.ravel())
            touch.append(~(was | becomes).ravel())

        at = self.begin[:, None]
        for u, was, becomes in ((low, before, between), (high, between, after)):
            own = u < length
            happens((at + u)[own], was[own], becomes[own])
        moved = after[:-1] != before[1:]  # where solutions jump
        happens(np.broadcast_to(at[1:], moved.shape)[moved], after[:-1][moved], before[1:][moved])
        s, changes, touches = (np.concatenate(own) for own in (where, change, touch))
        begun = int(self._tied(float(self.begin[0])).sum()) + 1
        return self._summed(s, changes, touches, int(before[0].sum()) + 1, begun)

    def _summed(
        self, s: Floats, change: Floats, touch: Floats, first: int, begun: int
    ) -> tuple[Floats, Floats, Floats]:
        """Return counts from changes; those that rounding alone tells apart are at one place."""
        order = np.argsort(s, kind="stable")
        s, change, touch = s[order], change[order], touch[order]
        new = np.append(True, np.diff(s) > TIED * (self.size + s[1:]))[: len(s)]
        places = np.cumsum(new) - 1
        total = int(places[-1]) + 1 if len(s) else 0
        moved, more = np.zeros(total), np.zeros(total)
        np.add.at(moved, places, change)
        np.add.at(more, places, np.maximum(change, 0) + touch)
        between = first + np.concatenate([[0.0], np.cumsum(moved)])
        there = np.concatenate([[begun], between[:-1] + more, between[-1:]])
        return np.concatenate([self.begin[:1], s[new], self.end[-1:]]), between, there

    def _meetings(self) -> tuple[Floats, Floats]:
        """Return the distances (P, n) at which sizes meet: two, infinite where they don't."""
        found = []
        for sign in (1.0, -1.0):
            apart = (self.first - sign * self.first[:, -1:])[:, :-1]
            closing = -(self.slope - sign * self.slope[:, -1:])[:, :-1]
            meets = np.abs(closing) > TIED  # of the new response's own speed, which is 1
            root = np.divide(apart, closing, out=np.full(apart.shape, np.inf), where=meets)
            found.append(np.where(root > 0.0, root, np.inf))
        return np.minimum(*found), np.maximum(*found)

    def _as_large(self, u: Floats, v: Floats) -> NDArray[np.bool_]:
        """Tell which residuals are as large as the last one between two distances."""
        at = self.begin[:, None]
        middle = np.minimum(0.5 * (u + v), u + (at + u) + self.far)  # rounding grows with s
        return self._compared(self.first, self.slope, middle, at + middle)

    def _tied(self, s: float) -> NDArray[np.bool_]:
        """Tell which residuals are as large as the last one at the begin."""
        zero = np.zeros((1, self.first.shape[1] - 1))
        return self._compared(self.first[:1], self.slope[:1], zero, zero + s)

    def _compared(self, first: Floats, slope: Floats, u: Floats, s: Floats) -> NDArray[np.bool_]:
        own = np.abs(first[:, :-1] + u * slope[:, :-1])
        new = np.abs(first[:, -1:] + u * slope[:, -1:])
        return np.asarray(own >= new - TIED * (self.size + s))
