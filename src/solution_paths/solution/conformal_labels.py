"""Full conformal prediction of labels: classifiers refitted with a new row of each label.

From the optimum of the n rows the new row's loss grows from zero. So each label of each new row
takes one short path for each classifier: one of two classes, or one for each class. Logistic
regressions are refitted by Newton's method, see `conformal_curved`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..problem import Pieces, Problem
from ..problem.bundle import Bundle
from ..validation import Floats, Rows, check_choice, check_X
from ..verify import Answer, judge
from ..verify.verdict import GAP_LIMIT, Certificate, Verdict, summary
from .approximate import ApproximatePath, GapCertificate
from .conformal import Groups, alike_of, batches, check_new_rows, has_rows, most_of, with_rows
from .conformal_curved import compared
from .follow import CHECKS, remedy_for, report
from .labels import indices
from .leave_one_out import known_labels
from .neighbours import Start, function, some_functions, with_function, with_losses
from .path import SolutionPath
from .points import Places
from .reading import SIGNS
from .tolerances import TIED


@dataclass(frozen=True, eq=False)
class ConformalLabels:
    """P-values of all labels for new rows.

    Attributes
    ----------
    classes : (k,) array
    p : (m, k) array
        For each new row and label: the share of the n + 1 rows (of those compared) whose margin is
        at most the new row's, in the classifiers that are fitted to all of them. A row's margin is
        the decision for its label less the largest one for another label.
        Rows that can't be told from ties count.
    counts : (m, k) array
        The number of rows that are compared, the new one included.
    undecided : (m, k) array
        The number of rows that can't be told from ties: 0 where losses are piecewise linear. In a
        logistic regression scores are known within a bound. Those that aren't equal rows and are
        nearer to the new row's than that may be smaller: the exact p-value is at most p, and at
        least ``p - undecided / counts``.
    """

    classes: NDArray[Any]
    p: Floats
    counts: NDArray[np.int64]
    undecided: NDArray[np.int64]
    _certificate: Certificate

    def prediction_sets(self, alpha: float = 0.1) -> list[NDArray[Any]]:
        """Return the labels of each new row whose p-value is above alpha: none, one or several.

        With exchangeable rows they contain the true label with probability >= 1 - alpha. Labels
        that may be in a set are: see `certain`.

        Parameters
        ----------
        alpha : float, default 0.1
            The share of labels that may be missed.
        """
        inside = self._ranks() > self._limits(alpha)
        return [self.classes[row] for row in inside]

    def certain(self, alpha: float = 0.1) -> NDArray[np.bool_]:
        """Tell, (m, k), which labels are certainly in or out of the exact sets.

        Parameters
        ----------
        alpha : float, default 0.1
            The share of labels that may be missed.
        """
        limits = self._limits(alpha)
        return (self._ranks() > limits) == (self._ranks() - self.undecided > limits)

    def _ranks(self) -> Floats:
        return np.rint(self.p * self.counts)

    def _limits(self, alpha: float) -> NDArray[np.int64]:
        limits = np.vectorize(lambda count: most_of(alpha, count), otypes=[np.int64])
        return np.asarray(limits(self.counts))

    def certify(self) -> Certificate:
        """Return the certificate of the classifiers of n + 1 rows: see `SolutionPath.certify`.

        Its parameters are their indices: for each new row those of each classifier.
        """
        return self._certificate


def conformal_labels(
    path: SolutionPath | Sequence[SolutionPath],
    t: float,
    y: ArrayLike,
    X_new: Rows,
    *,
    groups: Groups = None,
    by_label: bool = False,
    check: str = "warn",
) -> ConformalLabels:
    """Refit a classifier with each new row and each label, exactly.

    Parameters
    ----------
    path : SolutionPath, or a sequence of them
        Path of a classifier of two classes whose rows have piecewise linear losses, the same for
        all rows of a label (`svm_path`, `l1_svm_path`, `drsvm_path`, ...), in any parameter. Of
        more classes one path for each against all others, in the order of sorted labels, as
        `PathSVC` has them. Or a `logistic_path`, of two classes.
    t : float
        The value of its parameter; see `conformal_path`.
    y : (n,) array
        The labels of the paths' rows.
    X_new : (m, d) array or CSR
        New rows, each added by itself. The kernel must not be precomputed.
    groups : pair of (n,) and (m,) arrays, optional
        See `conformal_path`.
    by_label : bool, default False
        Whether rows are compared only with those of the same label, so that each label is covered.
    check : {"warn", "raise", "ignore"}
        What to do if a classifier of n + 1 rows has an error above 1e-6, or a logistic regression
        a gap above 1e-9 of the best constant's objective; all are judged.

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
    if isinstance(path, ApproximatePath):
        return _logistic(path, t, y, X_new, groups, by_label, check)
    paths = [path] if isinstance(path, SolutionPath) else list(path)
    problems = [_stated(one, t) for one in paths]
    classes, codes = _classes(paths, problems, y)
    given = check_X(X_new, "X_new", copy=False)
    of_label = [codes == label for label in range(len(classes))]
    positive = range(len(classes)) if len(paths) > 1 else (1,)
    classifiers = [
        _Classifier.of(one, problem, of_label, label, one.reading.checked(X_new))
        for one, problem, label in zip(paths, problems, positive, strict=True)
    ]
    n, m = len(codes), given.shape[0]
    alike = alike_of(groups, n, m)
    p, verdicts = np.empty((m, len(classes))), []
    counts = np.empty(p.shape, dtype=np.int64)
    for batch in batches(n, m):
        starts = [classifier.start(given, batch) for classifier in classifiers]
        for k in range(batch.start, min(batch.stop, m)):
            row, same = n + k - batch.start, alike(k)
            refits = [
                _with_each(start, row, classifier.losses)
                for start, classifier in zip(starts, classifiers, strict=True)
            ]
            verdicts += [verdict for _, verdict in refits]
            for label in range(len(classes)):
                columns = [
                    decisions[:, classifier.loss_of[label]]
                    for (decisions, _), classifier in zip(refits, classifiers, strict=True)
                ]
                rows = same[codes[same] == label] if by_label else same
                f = np.stack(columns, axis=1)
                p[k, label], counts[k, label] = _p_value(f, codes, rows, row, label)
    verdict = Verdict.together(verdicts)
    _report(verdict, paths[0], check, len(verdict.primal) // m)
    certificate = summary(np.arange(float(len(verdict.primal))), verdict)
    return ConformalLabels(classes, p, counts, np.zeros_like(counts), certificate)


def _logistic(
    path: ApproximatePath,
    t: float,
    y: ArrayLike,
    X_new: Rows,
    groups: Groups,
    by_label: bool,
    check: str,
) -> ConformalLabels:
    """Do the same for a logistic regression, whose optima are known within a gap."""
    if path.reading.kind not in SIGNS:
        raise ValueError("conformal_labels is for classifiers; this path is of counts.")
    n, classes, rows = len(path.y), np.asarray(path.reading.classes), path.reading.checked(X_new)
    codes = indices(classes, known_labels(y, n, classes))
    alike = alike_of(groups, n, rows.shape[0])
    p, undecided, counts, gap, rounding = compared(path, t, codes, rows, alike, by_label)
    numbers = np.arange(float(len(gap)))
    certificate = GapCertificate.of(numbers, gap, rounding, GAP_LIMIT)
    if check != "ignore" and not certificate.reliable:
        message = (
            f"A classifier with new row {int(certificate.error_at) // 2} may be inaccurate: its "
            f"gap is up to {certificate.error:.1e} of the best constant's objective; choose a "
            "larger lam, or scale the columns of X alike."
        )
        report(message, path, check)
    return ConformalLabels(classes, p, counts, undecided, certificate)


def _stated(path: SolutionPath, t: float) -> Problem:
    """Return the problem at t; refuse models that aren't such classifiers."""
    problem, _ = path.stated_at(t)
    if path.reading.kind not in SIGNS or not has_rows(path, problem):
        raise ValueError(
            "conformal_labels is for classifiers of two classes with one loss for each row; "
            "this path is of numbers, of pairs of rows, or of several decisions a row."
        )
    check_new_rows(path, "conformal_labels")
    return problem


def _classes(
    paths: list[SolutionPath], problems: list[Problem], y: ArrayLike
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the classes that paths are for, and those of the rows, as indices."""
    classes = np.asarray(paths[0].reading.classes) if len(paths) == 1 else np.unique(np.asarray(y))
    if len(paths) not in (1, len(classes)):
        raise ValueError(
            f"y holds {len(classes)} labels, and there are {len(paths)} paths; pass one path of "
            "two classes, or one for each label against all others."
        )
    sizes = [len(problem.losses[0].pieces) for problem in problems]
    if len(set(sizes)) > 1:
        raise ValueError(f"The paths are of {sizes} rows; pass paths of the same rows.")
    return classes, indices(classes, known_labels(y, sizes[0], classes))


class _Classifier(NamedTuple):
    """A classifier at one parameter, new rows, and its losses for rows of each label."""

    path: SolutionPath
    problem: Problem
    rows: Any  # as decisions take them
    losses: list[Pieces]  # that differ
    loss_of: list[int]  # which of these is each label's

    @classmethod
    def of(
        cls,
        path: SolutionPath,
        problem: Problem,
        of_label: list[NDArray[np.bool_]],
        positive: int,
        rows: Any,
    ) -> _Classifier:
        """Return a classifier, given the rows of each label, and for which f is positive."""
        losses: list[Pieces] = []
        loss_of = []
        for mask in of_label:
            loss = _loss_of(problem.losses[0].pieces, mask)
            same = [j for j, known in enumerate(losses) if _equal(loss, known)]
            loss_of.append(same[0] if same else len(losses))
            losses += [] if same else [loss]
        signs = path.reading.signs
        if signs is not None and not np.array_equal(signs > 0.0, of_label[positive]):
            raise ValueError(
                "The path's rows have other labels than y; pass the y that it was computed with, "
                "and of several paths those of the sorted labels, each the larger one of its path."
            )
        return cls(path, problem, rows, losses, loss_of)

    def start(self, given: Any, batch: slice) -> Start:
        """Return the optimum of the n rows, with new rows added whose weight is zero."""
        problem = with_rows(self.path, self.problem, self.rows[batch], given[batch])
        return Start(problem, self.path.reading_or_none)


def _equal(one: Pieces, other: Pieces) -> bool:
    return all(np.array_equal(value, getattr(other, name)) for name, value in vars(one).items())


def _loss_of(pieces: Pieces, rows: NDArray[np.bool_]) -> Pieces:
    """Return the loss that all rows of a label have in common."""
    indices = np.flatnonzero(rows)
    if not len(indices):
        raise ValueError("y must hold all labels of the path's rows: pass what it was fitted to.")
    first, arrays = some_functions(pieces, slice(indices[0], indices[0] + 1)), vars(pieces).items()
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
    stated = [with_losses(problem, with_function(first.pieces, row, one)) for one in loss]
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
    """Return the p-value of a row with a label, and the number of rows that are compared.

    Decisions f have a column for each class, or one column for the second of two.
    """
    tied = TIED * np.abs(f).max()
    if f.shape[1] == 1:
        f = np.hstack([-f, f]) / 2
    labels = np.append(codes[rows], label)
    decisions = f[np.append(rows, row)]
    of_label = np.arange(len(labels)), labels
    margins = decisions[of_label]
    decisions[of_label] = -np.inf
    margins = margins - decisions.max(axis=1)
    return float((margins <= margins[-1] + tied).sum()) / len(labels), len(labels)


def _report(verdict: Verdict, path: SolutionPath, check: str, of_a_row: int) -> None:
    """Warn or raise if a classifier is inaccurate; each new row has the same number of them."""
    fault = None if check == "ignore" else verdict.fault()
    if fault is None:
        return
    worst, size, sure = fault
    state, most = ("is wrong", "") if sure else ("may be inaccurate", "up to ")
    message = (
        f"A classifier with new row {worst // of_a_row} {state}: it is off by {most}{size:.1e}; "
        f"{remedy_for(path.line.start)}."
    )
    report(message, path, check)
