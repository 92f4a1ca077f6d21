"""The one judge: scores any answer from the solution alone, and knows no solver."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .problem import Answer, HingeProblem, TubeProblem


@dataclass(frozen=True)
class Verdict:
    """What the judge found.

    Attributes
    ----------
    primal, dual : float
        Objective values, recomputed; nan where the answer has no such part.
    gap : float
        (primal - lower bound) / max(|primal|, |lower bound|). The lower bound is the answer's own
        dual objective, or the bound that was passed in when the answer has no dual solution.
    kkt : float
        Worst violation of feasibility, complementarity, stationarity and balance. Margins are in
        units of the hinge's kink (1), duals in units of the largest cost. nan without a dual.
    """

    primal: float
    dual: float
    gap: float
    kkt: float

    def ok(self, gap_tolerance: float, kkt_tolerance: float = np.inf) -> bool:
        """Return True when both numbers are known to be within tolerance (nan is a refusal)."""
        kkt_fine = kkt_tolerance == np.inf or self.kkt <= kkt_tolerance
        return bool(abs(self.gap) <= gap_tolerance and kkt_fine)


def judge(
    problem: HingeProblem | TubeProblem, answer: Answer, lower_bound: float | None = None
) -> Verdict:
    """Score an answer.

    Parameters
    ----------
    problem : HingeProblem or TubeProblem
        For the latter ``alpha`` is signed and must be given, and ``lower_bound`` isn't used.
    answer : Answer
        With ``alpha``, with ``w``, or with both. A missing ``w`` is computed from ``alpha``.
    lower_bound : float, optional
        A certified lower bound of the objective, used for answers without a dual solution.

    Returns
    -------
    Verdict
    """
    nothing = Verdict(np.nan, np.nan, np.nan, np.nan)
    parts = [p for p in (answer.alpha, answer.w) if p is not None]
    if not parts or not all(np.isfinite(p).all() for p in parts) or not np.isfinite(answer.b):
        return nothing
    alpha = answer.alpha
    if isinstance(problem, TubeProblem):
        right = alpha is not None and alpha.shape == problem.z.shape
        return _judge_tube(problem, alpha, answer.b) if right else nothing
    if alpha is not None and alpha.shape != (problem.n,):
        return nothing
    expanded = None if alpha is None else problem.expand(problem.y * alpha)
    decision, square = _decision_and_norm(problem, answer, expanded)
    loss = problem.costs @ np.maximum(0.0, 1.0 - problem.y * decision)
    primal = 0.5 * problem.lam * square + float(loss)
    if alpha is None:
        return Verdict(primal, np.nan, _relative_gap(primal, lower_bound), np.nan)
    infeasible = _infeasibility(problem, alpha)
    dual = float(alpha.sum() - 0.5 / problem.lam * ((problem.y * alpha) @ expanded))
    kkt = max(infeasible, _complementarity(problem, alpha, problem.y * decision))
    if answer.w is not None:
        kkt = max(kkt, _stationarity(problem, answer, alpha))
    # An infeasible dual point bounds nothing: its "gap" would be meaningless or even negative.
    gap = _relative_gap(primal, dual) if infeasible <= 1e-7 else np.inf
    return Verdict(primal, dual, gap, kkt)


def _judge_tube(problem: TubeProblem, a: np.ndarray, b: float) -> Verdict:
    """Score signed duals and a bias; distances in units of the targets' range."""
    largest = max(float(problem.costs.max()), np.finfo(float).tiny)
    total = max(float(problem.costs.sum()), np.finfo(float).tiny)
    expanded = problem.gram @ a
    error = problem.z - expanded / problem.lam - b
    square = float(a @ expanded) / problem.lam
    loss = np.maximum(np.abs(error) - problem.epsilon, 0.0)
    primal = 0.5 * square + float(problem.costs @ loss)
    dual = float(problem.z @ a - problem.epsilon * np.abs(a).sum()) - 0.5 * square
    outside = max(0.0, float((np.abs(a) - problem.costs).max())) / largest
    kkt = infeasible = max(outside, abs(float(a.sum())) / total)
    scale = max(float(np.ptp(problem.z)), np.finfo(float).tiny)
    for side in (1.0, -1.0):
        over, own = (side * error - problem.epsilon) / scale, np.maximum(side * a, 0.0) / largest
        short = np.minimum(over, problem.costs / largest - own)
        beyond = np.minimum(-over, own)
        kkt = max(kkt, float(short.max()), float(beyond.max()))
    return Verdict(primal, dual, _relative_gap(primal, dual) if infeasible <= 1e-7 else np.inf, kkt)


def _decision_and_norm(
    problem: HingeProblem, answer: Answer, expanded: np.ndarray | None
) -> tuple[np.ndarray, float]:
    """Decision values of the samples and ||w||^2 (the bias included where it is penalised)."""
    if answer.w is not None:
        decision = np.asarray(problem.X @ answer.w).ravel() + answer.b
        square = float(answer.w @ answer.w)
        if problem.bias_value:
            square += (answer.b / problem.bias_value) ** 2
        elif not problem.free_bias and answer.b != 0.0:
            square = np.inf  # a bias where the problem has none
        return decision, square
    decision = expanded / problem.lam
    if problem.free_bias:
        decision = decision + answer.b
    signed = problem.y * answer.alpha
    return decision, float(signed @ expanded) / problem.lam**2


def _relative_gap(primal: float, lower: float | None) -> float:
    if lower is None:
        return np.nan
    scale = max(abs(primal), abs(lower))
    return 0.0 if scale == 0.0 else (primal - lower) / scale


def _infeasibility(problem: HingeProblem, alpha: np.ndarray) -> float:
    largest = max(float(problem.costs.max()), np.finfo(float).tiny)
    below, above = -alpha.min(), (alpha - problem.costs).max()
    worst = max(0.0, float(below), float(above)) / largest
    if problem.free_bias:
        total = max(float(problem.costs.sum()), np.finfo(float).tiny)
        worst = max(worst, abs(float(alpha @ problem.y)) / total)
    return worst


def _complementarity(problem: HingeProblem, alpha: np.ndarray, margin: np.ndarray) -> float:
    """Check that a sample short of the margin is at its cost, one beyond it at zero."""
    largest = max(float(problem.costs.max()), np.finfo(float).tiny)
    short = np.minimum(1.0 - margin, (problem.costs - alpha) / largest)
    beyond = np.minimum(margin - 1.0, alpha / largest)
    return max(0.0, float(short.max()), float(beyond.max()))


def _stationarity(problem: HingeProblem, answer: Answer, alpha: np.ndarray) -> float:
    """Distance between the w returned and the w that alpha implies, relative to their size."""
    signed = problem.y * alpha
    implied = np.asarray(problem.X.T @ signed).ravel() / problem.lam
    found = answer.w
    if problem.bias_value:
        implied = np.append(implied, problem.bias_value * signed.sum() / problem.lam)
        found = np.append(found, answer.b / problem.bias_value)
    size = max(np.linalg.norm(implied), np.linalg.norm(found), np.finfo(float).tiny)
    return float(np.linalg.norm(implied - found) / size)
