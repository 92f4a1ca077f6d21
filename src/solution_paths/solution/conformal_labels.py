"""Full conformal prediction of labels: a classifier refitted with a new row of each label.

From the optimum of the n rows the new row's loss grows from zero. So each label of each new row
takes one short path.
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

TIED_MARGINS = 2.0**-44  # times the largest decision: margins closer than this tie


@dataclass(frozen=True, eq=False)
class ConformalLabels:
    """P-values of both labels for new rows, by a classifier of two classes.

    Attributes
    ----------
    classes : (2,) array
    p : (m, 2) array
        For each new row and label: the share of the n + 1 rows (of those compared) whose margin is
        at most the new row's, in the classifier that is fitted to all of them.
    counts : (m, 2) array
        The number of rows that are compared, the new one included.
    """

    classes: NDArray[Any]
    p: Floats
    counts: NDArray[np.int64]
    _verdict: Verdict

    def prediction_sets(self, alpha: float = 0.1) -> list[NDArray[Any]]:
        """Return the labels of each new row whose p-value is above alpha: none, one or two.

        With exchangeable rows they contain the true label with probability >= 1 - alpha.

        Parameters
        ----------
        alpha : float, default 0.1
            The share of labels that may be missed.
        """
        most = np.vectorize(lambda count: most_of(alpha, count), otypes=[np.int64])(self.counts)
        inside = np.rint(self.p * self.counts) > most
        return [self.classes[row] for row in inside]

    def certify(self) -> Certificate:
        """Return the certificate of the classifiers of n + 1 rows: see `SolutionPath.certify`.

        Its parameters are their indices, two for each new row.
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
    """Refit a classifier of two classes with each new row and each label, exactly.

    Parameters
    ----------
    path : SolutionPath
        Path of a classifier whose rows have piecewise linear losses, the same for all rows of a
        label (`svm_path`, `l1_svm_path`, `drsvm_path`, ...), in any parameter.
    t : float
        The value of its parameter; see `conformal_path`.
    y : (n,) array
        The labels of the path's rows.
    X_new : (m, d) array or CSR
        New rows, each added by itself. The kernel must not be precomputed.
    groups : pair of (n,) and (m,) arrays, optional
        See `conformal_path`.
    by_label : bool, default False
        Whether rows are compared only with those of the same label, so that each label is covered.
    check : {"warn", "raise", "ignore"}
        What to do if a classifier of n + 1 rows has an error above 1e-6; all are judged.

    Returns
    -------
    ConformalLabels

    Raises
    ------
    ValueError
        The model isn't such a classifier, or y isn't its training labels.
    PathError
        A path can't be followed.

    References
    ----------
    Vovk, Gammerman and Shafer (2005), "Algorithmic learning in a random world". The nonconformity
    score of a row is minus its margin, in place of the multiplier of Gammerman, Vovk and Vapnik
    (1998), "Learning by transduction".

    Examples
    --------
    >>> from solution_paths import conformal_labels, svm_path
    >>> X, y = [[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]], [-1, -1, -1, 1, 1, 1]
    >>> path = svm_path(X, y)
    >>> found = conformal_labels(path, 1.0, y, [[0.5], [3.6]])
    >>> found.p.round(2).tolist()
    [[0.71, 0.14], [0.29, 0.29]]
    >>> [labels.tolist() for labels in found.prediction_sets(0.2)]
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
    p, counts, verdicts = np.empty((m, 2)), np.empty((m, 2), dtype=np.int64), []
    for block in batches(n, m):
        start = Start(with_rows(path, problem, names[block], given[block]), path.reading_or_none)
        for k, row in enumerate(range(n, len(start.problem.losses[0].pieces)), block.start):
            same = alike(k)
            f, verdict = _with_each(start, row, loss)
            for label in (0, 1):
                rows = same[codes[same] == label] if by_label else same
                p[k, label], counts[k, label] = _p_value(f[:, label], codes, rows, row, label)
            verdicts.append(verdict)
    verdict = Verdict.together(verdicts)
    _tell(verdict, path, check)
    return ConformalLabels(classes, p, counts, verdict)


def _loss_of(pieces: Pieces, rows: NDArray[np.bool_]) -> Pieces:
    """Return the loss that all rows of a label have in common."""
    indices = np.flatnonzero(rows)
    if not len(indices):
        raise ValueError("y must hold both labels of the path's rows: pass what it was fitted to.")
    first, arrays = taken(pieces, slice(indices[0], indices[0] + 1)), vars(pieces).items()
    if not all((array[indices] == getattr(first, name)).all() for name, array in arrays):
        raise ValueError(
            "Rows of one label have different losses; pass the y that the path was computed with, "
            "which must have no sample weights."
        )
    if first.curvature.any():
        raise ValueError(
            "conformal_labels is for losses that are straight everywhere; this one is curved."
        )
    return first


def _with_each(start: Start, row: int, loss: list[Pieces]) -> tuple[Floats, Verdict]:
    """Return the decisions of all rows in a column for each label of one row, and a verdict."""
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
    w, free = (
        np.concatenate([getattr(answer, n) for answer in answers], axis=1) for n in ("w", "free")
    )
    duals = [
        np.concatenate(columns, axis=1) for columns in zip(*(a.duals for a in answers), strict=True)
    ]
    multiplier = None
    if answers[0].multiplier is not None:
        multiplier = np.concatenate([answer.multiplier for answer in answers])
    both = Answer(w, free, duals, multiplier)
    return decisions(both), judge(Bundle.of(stated), both)


def _p_value(
    f: Floats, codes: NDArray[np.int64], rows: Places, row: int, label: int
) -> tuple[float, int]:
    """Return the p-value of a row with a label, and the number of rows that are compared."""
    margins = np.where(codes[rows] == 1, f[rows], -f[rows])
    margin = f[row] if label == 1 else -f[row]
    large = int((margins <= margin + TIED_MARGINS * np.abs(f).max()).sum()) + 1
    return large / (len(rows) + 1), len(rows) + 1


def _tell(verdict: Verdict, path: SolutionPath, check: str) -> None:
    """Warn or raise if a classifier is inaccurate."""
    fault = None if check == "ignore" else verdict.fault()
    if fault is None:
        return
    worst, size, sure = fault
    message = (
        f"The machine with new row {worst // 2} {'is wrong' if sure else 'may be inaccurate'}: it "
        f"is off by {'' if sure else 'up to '}{size:.1e}; {remedy_for(path.line.start)}."
    )
    tell(message, path, check)
