"""Verdicts on solvers' answers, translated to the variables of the stated problem."""

from __future__ import annotations

from typing import Any

import numpy as np

from solution_paths import verify
from solution_paths.verify.verdict import Verdict

from .machine import Floats, Machine
from .robust import Robust

# Largest |b - b'| / (1 + |b'|) of a stated bias b beside a kernel and the b' that its duals imply.
BIAS_TOLERANCE = 1e-6


def judge(
    objective: Machine, answer: Any, *, t: float = 0.0, lower_bound: float | None = None
) -> Verdict:
    """Score a solver's answer.

    Parameters
    ----------
    objective : Machine
    answer : Answer
        Any object with ``alpha`` (0 <= alpha_i <= C_i in classification, signed in regression),
        ``w`` and ``b``, each None if it is not stated.
    t : float
        Parameter value, for an objective that moves.
    lower_bound : float, optional
        A certified lower bound of the objective, for answers without a dual solution.

    Returns
    -------
    Verdict
        All nan if the answer isn't finite, doesn't determine a model, or has arrays of wrong
        lengths.

    Examples
    --------
    Any object with ``alpha``, ``w`` and ``b`` is an answer; here that of a solver that stopped too
    early:

    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from path_benchmark.objectives import Hinge, judge
    >>> hinge = Hinge(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]), bias="none")
    >>> judge(hinge, SimpleNamespace(alpha=np.array([0.5, 0.5]), w=None, b=0.0)).status
    'holds'
    >>> judge(hinge, SimpleNamespace(alpha=np.array([0.4, 0.5]), w=None, b=0.0)).status
    'fails'
    """
    translated = _translated(objective, *_alpha_w_b(answer))
    if translated is None:
        return Verdict(*[np.nan] * 5)
    if isinstance(objective, Robust):
        assert translated.duals is not None
        a = translated.duals[0]
        pieces = objective.conditional(objective.partition(_values(objective, translated), a, t), t)
    else:
        pieces = objective.pieces(t)
    return verify.judge(objective.problem(pieces), translated, lower_bound=lower_bound)


def decision(objective: Machine, answer: Any, X_new: Any) -> Floats | None:
    """Return an answer's f at rows (m, d), or None if it doesn't determine a model."""
    translated = _translated(objective, *_alpha_w_b(answer))
    if translated is None:
        return None
    a = None if translated.duals is None else translated.duals[0] / objective.lam
    b = objective.bias_value**2 * a.sum() if answer.b is None and a is not None else answer.b
    if objective.linear:
        w = objective.X.T @ a if answer.w is None else answer.w
        return np.asarray(X_new @ w + (b or 0.0))
    return np.asarray(objective.kernel(X_new, objective.X) @ a + (b or 0.0))


def _alpha_w_b(answer: Any) -> list[Floats | None]:
    """Return alpha, w and b of an answer."""
    values = (answer.alpha, answer.w, answer.b)
    return [None if value is None else np.asarray(value, dtype=np.float64) for value in values]


def _translated(
    objective: Machine, alpha: Floats | None, w: Floats | None, b: Floats | None
) -> verify.Answer | None:
    """Return the answer in the problem's variables, or None if it isn't a model of the problem."""
    if any(part is not None and not np.isfinite(part).all() for part in (alpha, w, b)):
        return None
    shapes = (
        (alpha is None or alpha.shape == objective.y.shape),
        (w is None or w.shape == objective.X.shape[1:]),
    )
    too_little = alpha is None and (
        w is None or not objective.stated_by_rows or isinstance(objective, Robust)
    )
    if too_little or not all(shapes) or (w is not None and not objective.linear):
        return None
    if objective.free_bias:
        if b is None:
            return None
        free = np.atleast_1d(b)
    else:
        free = np.empty(0)
        if b is not None and objective.bias == "none" and b.any():
            return None
    duals = None if alpha is None else [objective.signed_dual(alpha)]
    if not objective.stated_by_rows:
        return (
            None if not _bias_is_implied(objective, duals, b) else verify.Answer(None, free, duals)
        )
    if objective.bias_value and (w is not None or b is not None):
        if duals is None and b is None:
            return None
        if duals is not None:
            w = objective.X.T @ duals[0] / objective.lam if w is None else w
            b = objective.bias_value**2 * duals[0].sum() / objective.lam if b is None else b
        w = np.append(w, b / objective.bias_value)
    return verify.Answer(w, free, duals)


def _bias_is_implied(objective: Machine, duals: Any, b: Floats | None) -> bool:
    """Return whether a penalised bias beside a kernel is the one that the duals imply."""
    if objective.bias != "feature" or b is None:
        return True
    implied = objective.bias_value**2 * duals[0].sum() / objective.lam
    return bool(abs(b - implied) <= BIAS_TOLERANCE * (1.0 + abs(implied)))


def _values(objective: Robust, answer: verify.Answer) -> Floats:
    """Return the values of f at the samples."""
    a = answer.duals[0] / objective.lam  # type: ignore[index]
    if not objective.stated_by_rows:
        return np.asarray(objective.problem(objective.pieces()).kernel @ a)
    w = objective.X.T @ a if answer.w is None else answer.w
    return np.asarray(objective.X @ w)
