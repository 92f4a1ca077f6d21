"""Algorithm 1 of the quantile SVM paper, dual path finding (DPF), as published.

L-BFGS-B finds the solution at tau = 0 (step 3), and conjugate gradients solve (16) anew at each
kink (step 13). Products with Q are Y X (X' Y v), without forming the matrix. Duals and gradient are
updated by (17) and (18), never recomputed. As in the paper there is no rule for ties and no check.
The algorithm is compared with `solution_paths.quantile_svm_path`.

The paper leaves open where conjugate gradients stop, which is an argument here as much depends on
it, and when an entry of an approximate start's gradient counts as zero, so that its sample is on
the margin by (11).
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
# A dual of the start within this distance of a bound, relative to its cost, is at the bound.
AT_BOUND = 1e-9


@dataclass
class DualPath:
    """The result of a run.

    Attributes
    ----------
    kinks : list of float
        The tau of its kinks, ascending, 0 included.
    duals : dict
        tau -> duals (n,), at 0 (the start) and at the requested tau that were reached.
    reached : float
        The tau at which the run ended, 1 for a complete one.
    stopped : str
        Why the run ended early; empty if it is complete.
    iterations : int
        Total number of iterations of conjugate gradients.
    solves : int
        Number of solves of (16).
    cpu_s, start_cpu_s, gradients_cpu_s : float
        CPU seconds in total, of L-BFGS-B, and of conjugate gradients.
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
    objective: Hinge,
    taus: Sequence[float],
    residual: float,
    limit_s: float,
    margin: float | None = None,
) -> DualPath:
    """Run Algorithm 1 on a quantile SVM.

    Parameters
    ----------
    objective : Hinge
        From `quantile_hinge`, linear, its bias a feature.
    taus : sequence of float
        The tau of solutions to keep, ascending, in (0, 1).
    residual : float
        Relative residual, in norms, at which conjugate gradients stop.
    limit_s : float
        Limit of CPU seconds.
    margin : float, optional
        Entries of the start's gradient up to this size are zero: definition (11). By default the
        duals tell, by (12): who is between the bounds is on the margin.
    """
    path, start = DualPath(), time.process_time()
    with Stopwatch() as watch:
        homotopy = _Homotopy(objective, path, residual, margin)
        remaining, zero_steps = list(taus), 0
        while path.reached < 1.0 and not path.stopped:
            step, event = homotopy.next_event()
            tau = min(path.reached + step, 1.0)
            while remaining and remaining[0] <= tau:
                requested = remaining.pop(0)
                path.duals[requested] = homotopy.alpha_at(requested)
            homotopy.move(tau, event)
            zero_steps = zero_steps + 1 if step == 0.0 else 0
            if step > 0.0 and tau < 1.0:
                path.kinks.append(tau)
            if zero_steps > len(objective.y):
                path.stopped = "indices changed sets without end at one tau"
            elif time.process_time() - start > limit_s:
                path.stopped = f"it had used up {limit_s:g} s"
    path.cpu_s = watch.cpu_s
    return path


class _Homotopy:
    """Duals, gradient and index sets at the current tau, named as in the paper."""

    def __init__(
        self, objective: Hinge, path: DualPath, residual: float, margin: float | None
    ) -> None:
        X, y = objective.features(), objective.y
        self.path, self.residual, self.y, self.n = path, residual, y, len(y)
        self.YX = sp.diags_array(y) @ sp.csr_array(X) if sp.issparse(X) else X * y[:, None]
        self.lam = objective.lam
        start = lbfgsb.solve(objective.at(0.0), lbfgsb.TIGHT_OPTIONS)
        path.start_cpu_s = start.cpu_s
        self.alpha, c = start.alpha.copy(), self.costs(0.0)
        if margin is None:
            self._by_duals(c)
        else:
            self._by_gradient(c, margin)
        path.duals[0.0] = self.alpha.copy()
        self.gradient[self.M] = 0.0
        self._update_rates()

    def _by_duals(self, c: Floats) -> None:
        """Read the index sets from the start's duals, by (12)."""
        low, high = self.alpha <= AT_BOUND * c, self.alpha >= (1.0 - AT_BOUND) * c
        self.alpha[low], self.alpha[high] = 0.0, c[high]
        self.gradient = self._product(self.alpha) / self.lam - 1.0
        self.M = ~low & ~high
        # If a cost is 0, both bounds coincide: the gradient decides between L and R.
        self.L = high & (self.gradient < 0.0)
        self.R = ~self.M & ~self.L

    def _by_gradient(self, c: Floats, margin: float) -> None:
        """Read the index sets from the start's gradient, by (11)."""
        self.gradient = self._product(self.alpha) / self.lam - 1.0
        self.L, self.R = self.gradient < -margin, self.gradient > margin
        self.M = ~self.L & ~self.R
        self.alpha[self.L], self.alpha[self.R] = c[self.L], 0.0
        self.gradient = self._product(self.alpha) / self.lam - 1.0

    def costs(self, tau: float) -> Floats:
        """Return the costs at tau, equation (4)."""
        return np.where(self.y > 0, 2.0 * (1.0 - tau), 2.0 * tau) / self.n

    def _product(self, v: Floats) -> Floats:
        return self.YX @ (self.YX.T @ v)

    def _update_rates(self) -> None:
        """Solve (16) for the rates of the duals on the margin; compute the gradient's, (18)."""
        cost_rate = np.where(self.L, self.y, 0.0)  # duals in L move by -y for each unit of cost
        rate, margin_rows = np.zeros(self.n), self.YX[self.M]
        if self.M.any():
            with Stopwatch() as watch:
                rate[self.M] = self._conjugate_gradients(
                    margin_rows, margin_rows @ (self.YX.T @ cost_rate)
                )
            self.path.gradients_cpu_s += watch.cpu_s
            self.path.solves += 1
        self.rate = rate
        self.drift = self._product(rate - cost_rate)

    def _conjugate_gradients(self, rows: Any, right: Floats) -> Floats:
        def count(_: Floats) -> None:
            self.path.iterations += 1

        size = rows.shape[0]
        product = LinearOperator((size, size), lambda v: rows @ (rows.T @ v), dtype=float)
        return cg(product, right, rtol=self.residual, maxiter=10 * size, callback=count)[0]

    def next_event(self) -> tuple[float, tuple[str, Floats]]:
        """Return the step of tau to the next event, by (19), (21) and (23), and the event."""
        tau, half = self.path.reached, 0.5 * self.n
        c, M = self.costs(tau), self.M
        never = np.full(self.n, np.inf)
        with np.errstate(divide="ignore", invalid="ignore"):
            enter = half * -self.lam * self.gradient / self.drift
            to_l = half * (c - self.alpha) / (self.rate + self.y)
            to_r = half * -self.alpha / self.rate
        enter = np.where(~M & (enter > 0.0), enter, never)
        at_bound = self.alpha == c
        to_l = np.where(at_bound, np.where(self.rate > -self.y, 0.0, never), to_l)
        to_l = np.where(M & (to_l >= 0.0), to_l, never)
        at_bound = self.alpha == 0.0
        to_r = np.where(at_bound, np.where(self.rate < 0.0, 0.0, never), to_r)
        to_r = np.where(M & (to_r >= 0.0), to_r, never)
        steps = {"M": enter, "L": to_l, "R": to_r}
        kind = min(steps, key=lambda k: steps[k].min())
        least = float(steps[kind].min())
        return least, (kind, steps[kind] == least)

    def alpha_at(self, tau: float) -> Floats:
        """Return the duals at a tau before the next event, by (17)."""
        change = 2.0 * (tau - self.path.reached) / self.n
        alpha = self.alpha + change * self.rate
        alpha[self.L] = self.costs(tau)[self.L]
        return alpha

    def move(self, tau: float, event: tuple[str, Floats]) -> None:
        """Move to a tau, by (17) and (18), and adjust the index sets by the event there."""
        change = 2.0 * (tau - self.path.reached) / self.n
        self.alpha = self.alpha_at(tau)
        self.gradient = self.gradient + change / self.lam * self.drift
        self.gradient[self.M] = 0.0
        self.path.reached = tau
        if tau >= 1.0:
            return
        kind, entering = event
        for name in "MLR":
            setattr(
                self, name, getattr(self, name) & ~entering | (entering if name == kind else False)
            )
        # The event holds exactly: a gradient is 0, a dual is at its bound.
        self.gradient[entering] = 0.0
        if kind == "L":
            self.alpha[entering] = self.costs(tau)[entering]
        elif kind == "R":
            self.alpha[entering] = 0.0
        self._update_rates()
