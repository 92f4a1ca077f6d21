"""Full conformal prediction of labels: a machine refitted with a new row of each label.

The new row's loss grows from nothing, from the optimum of the n rows, so that each label of each
new row is one short line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..problem import Pieces
from ..problem.bundle import Bundle
from ..validation import Floats, Rows, check_choice, check_X
from ..verify import Answer, judge
from ..verify.verdict import Certificate, Verdict, summary
from .conformal import Groups, alike_of, batches, check_new_rows, has_rows, most_of, with_rows
from .follow import CHECKS, remedy_for, tell
from .labels import indices
from .leave_one_out import known_labels
from .neighbours import Start, function, put, taken, with_losses
from .path import SolutionPath
from .points import Places
from .reading import SIGNS

TIED = 2.0**-44  # of the largest decision: what differs by less is equal


@dataclass(frozen=True, eq=False)
class ConformalLabels:
    """What a machine of two classes says of new rows: a p-value for each label.

    Attributes
    ----------
    classes : (2,) array
    p : (m, 2) array
        Of each new row, if that were its label: the share of the n + 1 rows (of those compared)
        that are at most as far on their label's side as it is, by the machine that is fitted to
        them all.
    counts : (m, 2) array
        How many rows are compared, the new one among them.
    """

    classes: NDArray[Any]
    p: Floats
    counts: NDArray[np.int64]
    _verdict: Verdict

    def prediction_sets(self, alpha: float = 0.1) -> list[NDArray[Any]]:
        """Return the labels of each new row whose p-value is above alpha: none, one or two.

        With exchangeable rows the right label is among them with probability 1 - alpha at least.

        Parameters
        ----------
        alpha : float, default 0.1
            The share of labels that may be missed.
        """
        most = np.vectorize(lambda count: most_of(alpha, count), otypes=[np.int64])(self.counts)
        inside = np.rint(self.p * self.counts) > most
        return [self.classes[own] for own in inside]

    def certify(self) -> Certificate:
        """Say how far the machines of n + 1 rows are from optima: see `SolutionPath.certify`.

        Parameters in what is returned are their numbers, two for each new row.
        """
        return summary(np.arange(float(self.p.size)), self._verdict)


def conformal_labels(
    path: SolutionPath,
    t: float,
    y: ArrayLike,
    X_new: Rows,
    *,
    groups: Groups = None,
    by_label: bool = False,
    check: str = "warn",
) -> ConformalLabels:
    """Refit a machine of two classes with each of some new rows and each label, exactly.

    Parameters
    ----------
    path : SolutionPath
        Of a machine whose rows have piecewise linear losses, alike for rows of one label
        (`svm_path`, `l1_svm_path`, `drsvm_path`, ...), in any parameter.
    t : float
        The value of its parameter; see `conformal_path`.
    y : (n,) array
        The labels of the path's rows.
    X_new : (m, d) array or CSR
        New rows, each by itself. A kernel must be one that can be computed.
    groups : pair of (n,) and (m,) arrays, optional
        See `conformal_path`.
    by_label : bool, default False
        Whether rows are compared with those of the same label alone, so that each is covered.
    check : {"warn", "raise", "ignore"}
        What happens if a machine of n + 1 rows is off by more than 1e-6: all are judged.

    Returns
    -------
    ConformalLabels

    Raises
    ------
    ValueError
        The model isn't such a machine, or y isn't what it was fitted to.
    PathError
        A line can't be followed.

    References
    ----------
    Vovk, Gammerman and Shafer (2005), "Algorithmic learning in a random world"; the measure of how
    strange a row is, minus its margin, is that of Gammerman, Vovk and Vapnik (1998), "Learning by
    transduction", but for their multipliers.

    Examples
    --------
    >>> from solution_paths import conformal_labels, svm_path
    >>> X, y = [[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]], [-1, -1, -1, 1, 1, 1]
    >>> path = svm_path(X, y)
    >>> found = conformal_labels(path, 1.0, y, [[0.5], [3.6]])
    >>> found.p.round(2).tolist()
    [[0.71, 0.14], [0.29, 0.29]]
    >>> [own.tolist() for own in found.prediction_sets(0.2)]
    [[-1], [-1, 1]]
    >>> path.certify().ok
    True
    """
    check_choice(check, "check", CHECKS)
    problem, _ = path.stated_at(t)
    if path.reading.kind not in SIGNS or not has_rows(path, problem):
        raise ValueError(
            "conformal_labels is for machines of two classes with one loss for each row; this path "
            "is of numbers, of pairs of rows, or of several decisions a row."
        )
    check_new_rows(path, "conformal_labels")
    n, classes = len(problem.losses[0].pieces), np.asarray(path.reading.classes)
    codes = indices(classes, known_labels(y, n, classes))
    loss = [_loss_of(problem.losses[0].pieces, codes == label) for label in (0, 1)]
    names, given = path.reading.checked(X_new), check_X(X_new, "X_new", copy=False)
    m = given.shape[0]
    alike = alike_of(groups, n, m)
    p, counts, found = np.empty((m, 2)), np.empty((m, 2), dtype=np.int64), []
    for own in batches(n, m):
        start = Start(with_rows(path, problem, names[own], given[own]), path.reading_or_none)
        for k, row in enumerate(range(n, len(start.problem.losses[0].pieces)), own.start):
            same = alike(k)
            f, verdict = _with_each(start, row, loss)
            for label in (0, 1):
                rows = same[codes[same] == label] if by_label else same
                p[k, label], counts[k, label] = _p_value(f[:, label], codes, rows, row, label)
            found.append(verdict)
    verdict = Verdict.together(found)
    _tell(verdict, path, check)
    return ConformalLabels(classes, p, counts, verdict)


def _loss_of(pieces: Pieces, rows: NDArray[np.bool_]) -> Pieces:
    """Return the one loss that all rows of a label have."""
    some = np.flatnonzero(rows)
    if not len(some):
        raise ValueError("y must hold both labels of the path's rows: pass what it was fitted to.")
    one, every = taken(pieces, slice(some[0], some[0] + 1)), vars(pieces).items()
    if not all((own[some] == getattr(one, name)).all() for name, own in every):
        raise ValueError(
            "Rows of one label have different losses; pass the y that the path was computed with, "
            "which must have no sample weights."
        )
    if one.curvature.any():
        raise ValueError(
            "conformal_labels is for losses that are straight everywhere; this one is curved."
        )
    return one


def _with_each(start: Start, row: int, loss: list[Pieces]) -> tuple[Floats, Verdict]:
    """Return decisions of all rows, in a column for each label of one row, and a verdict."""
    problem, first = start.problem, start.problem.losses[0]
    X = first.X if problem.kernel is None else problem.kernel

    def decisions(answer: Answer) -> Floats:
        return np.asarray(X @ answer.w + first.free @ answer.free)

    f, answers = float(decisions(start.answer)[row, 0]), []
    for one in loss:
        nothing = function(one.knots[0], 0.0 * one.slopes[0])
        place = 2 * int((f > one.knots[0]).sum())
        answers.append(start.end(row, nothing, one, place)[0])
    stated = [with_losses(problem, put(first.pieces, row, one)) for one in loss]
    w, free = (np.concatenate([getattr(own, n) for own in answers], axis=1) for n in ("w", "free"))
    duals = [np.concatenate(own, axis=1) for own in zip(*(a.duals for a in answers), strict=True)]
    multiplier = None
    if answers[0].multiplier is not None:
        multiplier = np.concatenate([own.multiplier for own in answers])
    both = Answer(w, free, duals, multiplier)
    return decisions(both), judge(Bundle.of(stated), both)


def _p_value(
    f: Floats, codes: NDArray[np.int64], rows: Places, row: int, label: int
) -> tuple[float, int]:
    """Return the share of rows, and of one that has a label, with margins at most that one's."""
    margins = np.where(codes[rows] == 1, f[rows], -f[rows])
    own = f[row] if label == 1 else -f[row]
    large = int((margins <= own + TIED * np.abs(f).max()).sum()) + 1
    return large / (len(rows) + 1), len(rows) + 1


def _tell(verdict: Verdict, path: SolutionPath, check: str) -> None:
    """Warn, or raise, where a machine is off."""
    fault = None if check == "ignore" else verdict.fault()
    if fault is None:
        return
    worst, size, sure = fault
    said = (
        f"The machine with new row {worst // 2} {'is wrong' if sure else 'may be inaccurate'}: it "
        f"is off by {'' if sure else 'up to '}{size:.1e}; {remedy_for(path.line.start)}."
    )
    tell(said, path, check)
