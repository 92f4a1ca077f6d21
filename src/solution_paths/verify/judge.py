"""The judge: how far an answer is from an optimum, read from the statement and the answer alone.

With duals a (that is, subgradients u = -a) moved to where the conjugates are finite, c = X'a and
g(w) = penalty(w) + ridge/2 ||w||^2, the duality gap is a sum of terms none of which is negative:
the areas between each (z_i, u_i) and the graph of its loss, and between each (w_j, c_j) and the
graph of g_j, and multiplier times slack of an l1 constraint. The optimality conditions hold where
all these points lie on their graphs and the duals are in balance with the free variables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..problem import Problem
from ..problem.bundle import Bundle
from ..validation import Floats
from .judgement import Columns, Judgement
from .verdict import KKT_LIMIT, Verdict


@dataclass(frozen=True, eq=False)
class Answer:
    """A solution, or B of them in columns: then each array has a last axis of B.

    Parameters
    ----------
    w : (d,) array, optional
        Coefficients; with a kernel those of the samples, (N,). By default those that the duals
        imply, for a ridge without a penalty.
    free : (r,) array, optional
        The free variables; may be left out where there are none.
    duals : sequence of (n_g,) arrays, optional
        For each group of losses a = -f'(z). For smooth losses they may be left out, or None:
        values imply them. Without other duals the gap needs a bound from elsewhere.
    multiplier : float, optional
        Of the l1 constraint; by default the one with the best lower bound.
    """

    w: Any = None
    free: Any = None
    duals: Sequence[Any] | None = None
    multiplier: Any = None

    def alone(self) -> Answer:
        """Return the first of B columns."""

        def first(values: Any) -> Any:
            return None if values is None else values[..., 0]

        duals = None if self.duals is None else [first(a) for a in self.duals]
        return Answer(first(self.w), first(self.free), duals, first(self.multiplier))


def judge(
    problem: Problem | Sequence[Problem] | Bundle,
    answer: Answer,
    *,
    lower_bound: float | None = None,
) -> Verdict:
    """Judge how far an answer is from an optimum.

    Parameters
    ----------
    problem : Problem, or B of them
        Of several (the problems along a path, say) all must have the same matrices and ridge; the
        answer then has B columns.
    answer : Answer
    lower_bound : float, optional
        A lower bound of the optimum, for an answer without duals.

    Returns
    -------
    Verdict
        Floats, or (B,) arrays where the answer has columns. All nan for an answer that isn't
        finite. The KKT violation of a coordinate is its distance from its graph, in units of the
        data. All is computed in double precision; solutions that don't hold by it, in twice that.

    Raises
    ------
    ValueError
        The answer states too little, or arrays of wrong shapes.

    Examples
    --------
    Two samples with a hinge loss each, C = 1: half the cost is what the duals are.

    >>> from solution_paths.problem import Losses, Problem, losses
    >>> from solution_paths.verify import Answer, judge
    >>> problem = Problem(Losses(losses.hinge([-1.0, 1.0]), [[0.0], [2.0]], free=1.0), ridge=1.0)
    >>> judge(problem, Answer([1.0], [-1.0], [[-0.5, 0.5]])).status
    'holds'
    >>> judge(problem, Answer([1.0], [-1.0], [[-0.5, 0.6]])).status
    'fails'
    """
    if isinstance(problem, Bundle):
        problems = problem
    else:
        problems = Bundle.of([problem] if isinstance(problem, Problem) else list(problem))
    columns, alone = _columns(problems.one, answer)
    count = columns.free.shape[1]
    if problems.count not in (1, count):
        raise ValueError(
            f"There are {problems.count} problems and {count} columns in the answer; give one "
            "problem, or one for each column."
        )
    arrays = [columns.w, columns.free, *(columns.duals or []), columns.multiplier]
    if not all(np.isfinite(array).all() for array in arrays if array is not None):
        verdict = Verdict(*[np.full(count, np.nan)] * 8)
    else:
        verdict = _judged(problems, columns, lower_bound)
        with np.errstate(invalid="ignore"):  # a gap and its rounding may both be infinite
            least = np.fmin(verdict.gap - verdict.rounding, verdict.least_error)
        most = np.fmin(verdict.gap + verdict.rounding, verdict.error)
        verdict = replace(verdict, error=most, least_error=least)
    return verdict.alone() if alone else verdict


def objectives(problems: Sequence[Problem], answer: Answer, exact: bool) -> tuple[Floats, Floats]:
    """Return the objectives (B,) of answers in columns, each in its problem, and their errors.

    They are computed in twice double precision if ``exact``, else in double precision. Values
    outside of a domain count as its end.
    """
    columns = _columns(problems[0], answer)[0]
    return Judgement(Bundle.of(problems)).objective(columns, exact)


def _judged(problems: Bundle, columns: Columns, lower_bound: float | None) -> Verdict:
    """Judge in double precision; solutions that don't hold by it, in twice that.

    With a kernel, products with its matrix take most of the time: slices in double precision first.
    """
    verdict = Judgement(problems).verdict(columns, lower_bound, exact=False)
    kkt_limit = np.inf if columns.duals is None else KKT_LIMIT
    for slices in (False,) if problems.one.kernel is None else (True, False):
        again = np.flatnonzero(~verdict.holds(kkt_limit=kkt_limit))
        if len(again):
            undecided = problems.taken(again), _taken(columns, again)
            other = Judgement(undecided[0], slices).verdict(undecided[1], lower_bound, exact=True)
            verdict = verdict.amended(again, other)
    return verdict


def _taken(columns: Columns, which: NDArray[np.int64]) -> Columns:
    duals = columns.duals
    duals = (
        None
        if duals is None
        else [None if values is None else values[:, which] for values in duals]
    )
    multiplier = None if columns.multiplier is None else columns.multiplier[which]
    w = None if columns.w is None else columns.w[:, which]
    return Columns(w, columns.free[:, which], duals, multiplier)


def _columns(problem: Problem, answer: Answer) -> tuple[Columns, bool]:
    """Return an answer with columns, and whether it had none."""
    groups = problem.losses
    all_smooth = not answer.duals and all(group.pieces.smooth for group in groups)
    stated = list(answer.duals or ([None] * len(groups) if all_smooth else []))
    if stated and len(stated) != len(groups):
        raise ValueError(
            f"duals has {len(stated)} arrays; give one for each of {len(groups)} groups of losses."
        )
    missing = [
        a is None and not group.pieces.smooth for a, group in zip(stated, groups, strict=False)
    ]
    all_stated = stated and not any(a is None for a in stated)
    lacking = answer.w is None and not (problem.pure_ridge and all_stated)
    leading = next((a for a in (answer.w, *stated) if a is not None), None)
    if leading is None or lacking or any(missing):
        raise ValueError(
            "The answer states too little: give w, or duals where a ridge without a penalty "
            "lets them imply it; and duals of losses that aren't smooth, or of none."
        )
    alone = np.ndim(leading) == 1
    count = 1 if alone else np.shape(leading)[1]

    def column(name: str, value: Any, rows: int) -> Floats:
        array = np.asarray(value, dtype=np.float64)
        array = array[:, None] if alone and array.ndim == 1 else array
        if array.shape != (rows, count):
            raise ValueError(
                f"{name} has shape {np.shape(value)}, but {rows} entries a solution were expected, "
                f"and {count} solution(s): give it that shape."
            )
        return array

    duals = [
        None if a is None else column(f"duals[{k}]", a, len(group.pieces))
        for k, (a, group) in enumerate(zip(stated, problem.losses, strict=False))
    ]
    free = np.zeros((0, count)) if answer.free is None else answer.free
    multiplier = answer.multiplier
    if multiplier is not None:
        multiplier = np.broadcast_to(np.asarray(multiplier, dtype=np.float64), count)
    return Columns(
        None if answer.w is None else column("w", answer.w, problem.features),
        column("free", free, problem.n_free),
        duals or None,
        multiplier,
    ), alone
