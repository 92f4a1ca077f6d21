"""Verdicts on solvers' answers: what they state as an answer to the statement of the objective."""

from __future__ import annotations

from typing import Any

import numpy as np

from solution_paths import verify
from solution_paths.verify.verdict import Verdict

from .machine import Floats, Machine
from .robust import Robust

APART = 1e-6  # as a share of 1 and a bias: so near to what duals imply a bias beside a kernel is


def judge(
    objective: Machine, answer: Any, *, t: float = 0.0, lower_bound: float | None = None
) -> Verdict:
    """Score a solver's answer.

    Parameters
    ----------
    objective : Machine
    answer : Answer
        Anything with ``alpha`` (0 <= alpha_i <= C_i in classification, signed in regression), ``w``
        and ``b``; None is what it doesn't state.
    t : float
        Parameter value, for an objective that moves.
    lower_bound : float, optional
        A certified lower bound of the objective, used for answers without a dual solution.

    Returns
    -------
    Verdict
        All nan if the answer isn't finite, states too little to determine a model, or has arrays
        of wrong lengths.

    Examples
    --------
    A solver's answer is anything with ``alpha``, ``w`` and ``b``; here one that stopped too early:

    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from path_benchmark.objectives import Hinge, judge
    >>> hinge = Hinge(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]), bias="none")
    >>> judge(hinge, SimpleNamespace(alpha=np.array([0.5, 0.5]), w=None, b=0.0)).status
    'holds'
    >>> judge(hinge, SimpleNamespace(alpha=np.array([0.4, 0.5]), w=None, b=0.0)).status
    'fails'
    """
    stated = _stated(objective, *_parts(answer))
    if stated is None:
        return Verdict(*[np.nan] * 5)
    if isinstance(objective, Robust):
        assert stated.duals is not None
        a = stated.duals[0]
        pieces = objective.conditional(objective.partition(_values(objective, stated), a, t), t)
    else:
        pieces = objective.pieces(t)
    return verify.judge(objective.problem(pieces), stated, lower_bound=lower_bound)


def decision(objective: Machine, answer: Any, X_new: Any) -> Floats | None:
    """Return an answer's f at rows (m, d), or None where it states too little for a model."""
    stated = _stated(objective, *_parts(answer))
    if stated is None:
        return None
    a = None if stated.duals is None else stated.duals[0] / objective.lam
    b = objective.bias_value**2 * a.sum() if answer.b is None and a is not None else answer.b
    if objective.linear:
        w = objective.X.T @ a if answer.w is None else answer.w
        return np.asarray(X_new @ w + (b or 0.0))
    return np.asarray(objective.kernel(X_new, objective.X) @ a + (b or 0.0))


def _parts(answer: Any) -> list[Floats | None]:
    """Return alpha, w and b of an answer."""
    given = (answer.alpha, answer.w, answer.b)
    return [None if part is None else np.asarray(part, dtype=np.float64) for part in given]


def _stated(
    own: Machine, alpha: Floats | None, w: Floats | None, b: Floats | None
) -> verify.Answer | None:
    """Return what is stated as an answer to the problem, or None if that isn't a model of it."""
    if any(part is not None and not np.isfinite(part).all() for part in (alpha, w, b)):
        return None
    shapes = (
        (alpha is None or alpha.shape == own.y.shape),
        (w is None or w.shape == own.X.shape[1:]),
    )
    too_little = alpha is None and (w is None or not own.stated_by_rows or isinstance(own, Robust))
    if too_little or not all(shapes) or (w is not None and not own.linear):
        return None
    if own.free_bias:
        if b is None:
            return None
        free = np.atleast_1d(b)
    else:
        free = np.empty(0)
        if b is not None and own.bias == "none" and b.any():
            return None
    duals = None if alpha is None else [own.signed_dual(alpha)]
    if not own.stated_by_rows:
        return None if not _fits(own, duals, b) else verify.Answer(None, free, duals)
    if own.bias_value and (w is not None or b is not None):
        if duals is None and b is None:
            return None
        if duals is not None:
            w = own.X.T @ duals[0] / own.lam if w is None else w
            b = own.bias_value**2 * duals[0].sum() / own.lam if b is None else b
        w = np.append(w, b / own.bias_value)
    return verify.Answer(w, free, duals)


def _fits(own: Machine, duals: Any, b: Floats | None) -> bool:
    """Tell whether a penalised bias beside a kernel is the one that duals imply."""
    if own.bias != "feature" or b is None:
        return True
    implied = own.bias_value**2 * duals[0].sum() / own.lam
    return bool(abs(b - implied) <= APART * (1.0 + abs(implied)))


def _values(own: Robust, stated: verify.Answer) -> Floats:
    """Return the values of f at the samples."""
    a = stated.duals[0] / own.lam  # type: ignore[index]
    if not own.stated_by_rows:
        return np.asarray(own.problem(own.pieces()).kernel @ a)
    w = own.X.T @ a if stated.w is None else stated.w
    return np.asarray(own.X @ w)
