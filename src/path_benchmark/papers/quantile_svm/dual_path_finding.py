"""Algorithm 1 of the quantile SVM paper, dual path finding (DPF), as it is published.

L-BFGS-B finds the solution at tau = 0 (step 3), conjugate gradients solve (16) anew at each kink
(step 13), products with Q are Y X (X' Y v) without the matrix, and duals and gradient are carried
along by (17) and (18), never recomputed. Nothing is added that the paper doesn't have: no rule for
ties, no check. It is here to be measured beside `solution_paths.quantile_svm_path`.

What the paper leaves open: where conjugate gradients stop, an argument here as much depends on it,
and which duals of an approximate start count as at a bound.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, cg

from ...objectives import Hinge
from ...solvers import Stopwatch, lbfgsb

Floats = np.ndarray
# A dual that is this near to a bound, as a share of its cost, is at the bound in the start.
AT_BOUND = 1e-9


@dataclass
class Found:
    """What a run found.

    Attributes
    ----------
    kinks : list of float
        The tau of its kinks, ascending, 0 included.
    duals : dict
        tau -> duals (n,), at the asked tau that were reached, and at 0: the start.
    reached : float
        The tau at which it ended, 1 where it came to the end.
    stopped : str
        Why it ended before; empty where it didn't.
    iterations : int
        Of conjugate gradients, in all.
    solves : int
        How often (16) was solved.
    cpu_s, start_cpu_s, gradients_cpu_s : float
        CPU seconds in all, of L-BFGS-B, and of conjugate gradients.
    """

    kinks: list[float] = field(default_factory=lambda: [0.0])
    duals: dict[float, Floats] = field(default_factory=dict)
    reached: float = 0.0
    stopped: str = ""
    iterations: int = 0
    solves: int = 0
    cpu_s: float = 0.0
    start_cpu_s: float = 0.0
    gradients_cpu_s: float = 0.0


def dual_path_finding(
    objective: Hinge, taus: Sequence[float], residual: float, limit_s: float
) -> Found:
    """Run Algorithm 1 on a quantile SVM.

    Parameters
    ----------
    objective : Hinge
        Of `quantile_hinge`, linear, its bias a feature.
    taus : sequence of float
        Where solutions are kept, ascending, in (0, 1).
    residual : float
        Conjugate gradients stop when the residual has fallen to this share of the right-hand side.
    limit_s : float
        CPU seconds after which it is stopped.
    """
    found, begun = Found(), time.process_time()
    with Stopwatch() as watch:
        walk = _Walk(objective, found, residual)
        wanted, still = list(taus), 0
        while found.reached < 1.0 and not found.stopped:
            step, event = walk.next_event()
            tau = min(found.reached + step, 1.0)
            while wanted and wanted[0] <= tau:
                at = wanted.pop(0)
                found.duals[at] = walk.alpha_at(at)
            walk.move(tau, event)
            still = still + 1 if step == 0.0 else 0
            if step > 0.0 and tau < 1.0:
                found.kinks.append(tau)
            if still > len(objective.y):
                found.stopped = "indices changed sets without end at one tau"
            elif time.process_time() - begun > limit_s:
                found.stopped = f"it had used up {limit_s:g} s"
    found.cpu_s = watch.cpu_s
    return found


class _Walk:
    """Duals, gradient and index sets at the tau that was reached; names are the paper's."""

    def __init__(self, objective: Hinge, found: Found, residual: float) -> None:
        X, y = objective.features(), objective.y
        self.found, self.residual, self.y, self.n = found, residual, y, len(y)
        self.YX = sp.diags_array(y) @ sp.csr_array(X) if sp.issparse(X) else X * y[:, None]
        self.lam = objective.lam
        start = lbfgsb.solve(objective.at(0.0), lbfgsb.TIGHT_OPTIONS)
        found.start_cpu_s = start.cpu_s
        c = self.costs(0.0)
        self.alpha = start.alpha.copy()
        low, high = self.alpha <= AT_BOUND * c, self.alpha >= (1.0 - AT_BOUND) * c
        self.alpha[low], self.alpha[high] = 0.0, c[high]
        found.duals[0.0] = self.alpha.copy()
        self.gradient = self._product(self.alpha) / self.lam - 1.0
        self.M = ~low & ~high
        # Where a cost is 0, both bounds are one: the gradient tells which.
        self.L = high & (self.gradient < 0.0)
        self.R = ~self.M & ~self.L
        self.gradient[self.M] = 0.0
        self._turn()

    def costs(self, tau: float) -> Floats:
        """Equation (4)."""
        return np.where(self.y > 0, 2.0 * (1.0 - tau), 2.0 * tau) / self.n

    def _product(self, v: Floats) -> Floats:
        return self.YX @ (self.YX.T @ v)

    def _turn(self) -> None:
        """Solve (16) for the rates of the duals on the margin; find the gradient's, (18)."""
        pull = np.where(self.L, self.y, 0.0)  # duals in L move by -y for each unit of cost
        rate, rows = np.zeros(self.n), self.YX[self.M]
        if self.M.any():
            with Stopwatch() as watch:
                rate[self.M] = self._conjugate_gradients(rows, rows @ (self.YX.T @ pull))
            self.found.gradients_cpu_s += watch.cpu_s
            self.found.solves += 1
        self.rate = rate
        self.drift = self._product(rate - pull)

    def _conjugate_gradients(self, rows: Any, right: Floats) -> Floats:
        def count(_: Floats) -> None:
            self.found.iterations += 1

        size = rows.shape[0]
        product = LinearOperator((size, size), lambda v: rows @ (rows.T @ v), dtype=float)
        return cg(product, right, rtol=self.residual, maxiter=10 * size, callback=count)[0]

    def next_event(self) -> tuple[float, tuple[str, Floats]]:
        """Return how far tau moves to the next event, by (19), (21) and (23), and the event."""
        tau, half = self.found.reached, 0.5 * self.n
        c, M = self.costs(tau), self.M
        far = np.full(self.n, np.inf)
        with np.errstate(divide="ignore", invalid="ignore"):
            enter = half * -self.lam * self.gradient / self.drift
            to_l = half * (c - self.alpha) / (self.rate + self.y)
            to_r = half * -self.alpha / self.rate
        enter = np.where(~M & (enter > 0.0), enter, far)
        at = self.alpha == c
        to_l = np.where(at, np.where(self.rate > -self.y, 0.0, far), to_l)
        to_l = np.where(M & (to_l >= 0.0), to_l, far)
        at = self.alpha == 0.0
        to_r = np.where(at, np.where(self.rate < 0.0, 0.0, far), to_r)
        to_r = np.where(M & (to_r >= 0.0), to_r, far)
        steps = {"M": enter, "L": to_l, "R": to_r}
        kind = min(steps, key=lambda k: steps[k].min())
        least = float(steps[kind].min())
        return least, (kind, steps[kind] == least)

    def alpha_at(self, tau: float) -> Floats:
        """Return the duals at a tau before the next event, by (17)."""
        moved = 2.0 * (tau - self.found.reached) / self.n
        alpha = self.alpha + moved * self.rate
        alpha[self.L] = self.costs(tau)[self.L]
        return alpha

    def move(self, tau: float, event: tuple[str, Floats]) -> None:
        """Move to a tau, by (17) and (18), and adjust the index sets by the event there."""
        moved = 2.0 * (tau - self.found.reached) / self.n
        self.alpha = self.alpha_at(tau)
        self.gradient = self.gradient + moved / self.lam * self.drift
        self.gradient[self.M] = 0.0
        self.found.reached = tau
        if tau >= 1.0:
            return
        kind, who = event
        for name in "MLR":
            setattr(self, name, getattr(self, name) & ~who | (who if name == kind else False))
        # What the event says is so exactly: a gradient of 0, a dual at its bound.
        self.gradient[who] = 0.0
        if kind == "L":
            self.alpha[who] = self.costs(tau)[who]
        elif kind == "R":
            self.alpha[who] = 0.0
        self._turn()
