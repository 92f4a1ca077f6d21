"""Certificates of paths and verdicts on solvers' answers: one score, and one set of thresholds.

Everything is recomputed by `objectives` from the data and what was handed out. Nothing here knows
a walker or a solver.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .objectives import Objective, Solution

KKT_LIMIT = 1e-7
GAP_LIMIT = 1e-9


@dataclass(frozen=True)
class Verdict:
    """What was found in a solution (or in B of them: then each entry is a (B,) array).

    Attributes
    ----------
    primal, dual : float
        Objective values, recomputed; nan where the solution has no such part.
    gap : float
        |primal - lower bound| / max(|primal|, |lower bound|), beyond ``rounding``. The lower bound
        is the solution's own dual objective, or the bound that was passed in when it has no duals.
        Infinite where duals violate their constraints by more than 1e-7: they bound nothing.
    kkt : float
        Largest violation of feasibility, complementarity, stationarity and balance; see
        `Certificate`. nan without duals.
    rounding : float
        The rounding allowance that was subtracted from the gap, relative as the gap is.
    """

    primal: float
    dual: float
    gap: float
    kkt: float
    rounding: float

    def ok(self, gap_limit: float = GAP_LIMIT, kkt_limit: float = KKT_LIMIT) -> bool:
        """Return True when both numbers are within their limits; nan is a refusal.

        ``kkt_limit=np.inf`` asks for the gap alone, for solutions without duals.
        """
        kkt_fine = kkt_limit == np.inf or bool(np.all(self.kkt <= kkt_limit))
        return kkt_fine and bool(np.all(self.gap <= gap_limit))


@dataclass(frozen=True)
class Certificate:
    """Worst violations over all points that were looked at.

    Attributes
    ----------
    kkt : float
        Largest KKT violation, relative to the data's scale: for each sample the smaller of how
        far its value is on the wrong side of its kink and how far (relative to the largest
        cost) its dual is from the level that would allow it; duals outside their box and an
        unbalanced free bias (|sum a_i| relative to the largest cost) count too, and, where w is
        stated beside the duals, its distance from the w that these imply.
    gap : float
        Largest relative duality gap, (primal - dual) / max(|primal|, |dual|), beyond ``rounding``.
    rounding : float
        Largest relative rounding error of the gap itself. y_i - f(x_i), where f(x_i) is
        sum_j a_j k(x_j, x_i) / lam + b, can't be evaluated more accurately than 4 epsilon times
        ||x_i|| sum_j |a_j| ||x_j|| / lam + |b| + |y_i|, and the gap sums these errors times the
        costs. It matters only where the optimum is many
        orders of magnitude below the loss at w = 0 (small lam, and tau near 0 or 1).
    kkt_at, gap_at : float
        Parameter values where these occur.
    n_points : int
        Number of parameter values that were looked at.
    """

    kkt: float
    gap: float
    rounding: float
    kkt_at: float
    gap_at: float
    n_points: int

    @property
    def ok(self) -> bool:
        """Whether kkt <= 1e-7 and gap <= 1e-9, the bounds this library promises."""
        return bool(self.kkt <= KKT_LIMIT and self.gap <= GAP_LIMIT)

    def __str__(self) -> str:
        verdict = "holds" if self.ok else "FAILS"
        return (
            f"certificate {verdict}: KKT violation {self.kkt:.1e} (at {self.kkt_at:.6g}), relative "
            f"duality gap {self.gap:.1e} (at {self.gap_at:.6g}) beyond a rounding allowance of "
            f"{self.rounding:.1e}, {self.n_points} points"
        )


def score(
    objective: Objective, t: NDArray, solution: Solution, lower_bound: float | None = None
) -> Verdict:
    """Score B solutions, in columns, at parameters t (B,), whoever found them."""
    found = objective.terms(t, solution)
    lower = found.dual if found.dual is not None else lower_bound
    if lower is None:
        lower = np.nan
    size = np.maximum(np.maximum(np.abs(found.primal), np.abs(lower)), found.floor)
    size = np.where(size > 0, size, 1.0)
    rounding = found.rounding / size
    gap = np.maximum(np.abs(found.primal - lower) / size - rounding, 0.0)
    if found.dual is not None:
        gap = np.where(found.infeasible <= KKT_LIMIT, gap, np.inf)
    dual = np.full(len(t), np.nan) if found.dual is None else found.dual
    return Verdict(found.primal, dual, gap, found.kkt, rounding)


def judge(
    objective: Objective, answer, *, t: float = 0.0, lower_bound: float | None = None
) -> Verdict:
    """Score a solver's answer.

    Parameters
    ----------
    objective : Objective
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
    """
    stated = objective.stated(answer)
    finite = all(np.isfinite(part).all() for part in stated if part is not None)
    if not (finite and objective.states_enough(stated)):
        return Verdict(*[np.nan] * 5)
    column = Solution(*(None if part is None else part[..., None] for part in stated))
    found = score(objective, np.array([float(t)]), column, lower_bound)
    return Verdict(*(float(entry[0]) for entry in vars(found).values()))


def certify(
    objective: Objective,
    points: NDArray[np.float64],
    solutions: Callable[[NDArray], Solution],
    block: int = 128,
) -> Certificate:
    """Judge the solution at every point.

    Parameters
    ----------
    objective : Objective
        The data and the objective.
    points : (B,) array
        Parameter values.
    solutions : callable
        Maps an array of indices into ``points`` to the solutions there, in columns.
    """
    kkt, gap, rounding = (np.empty(len(points)) for _ in range(3))
    for first in range(0, len(points), block):
        index = np.arange(first, min(first + block, len(points)))
        found = score(objective, points[index], solutions(index))
        kkt[index], gap[index], rounding[index] = found.kkt, found.gap, found.rounding
    # a NaN is a violation, never a pass
    kkt, gap = (np.where(np.isnan(v), np.inf, v) for v in (kkt, gap))
    return Certificate(
        float(kkt.max()),
        float(gap.max()),
        float(rounding.max()),
        float(points[kkt.argmax()]),
        float(points[gap.argmax()]),
        len(points),
    )
