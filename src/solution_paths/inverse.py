"""Paths in a penalty, in whose inverse the solution moves along straight lines."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from . import certify as certification
from .curves import Curve
from .nodes import Floats, Places
from .objectives.machine import Machine
from .path import SCALES, Parameters, Path, _single
from .validation import Rows


class InversePath(Path):
    """A path in lam2 or lam = unit / t, where t is the walk's own parameter.

    Between two breakpoints w and b are linear in 1 / lam2, and duals in lam2. The path goes down
    from infinity (exclusive); where the last piece has no end, down to 0: there w and b are their
    limits. All else is as in `Path`.
    """

    @classmethod
    def _suits(cls, objective: Machine) -> bool:
        return objective.inverse > 0.0

    @property
    def breakpoints(self) -> Floats:
        """Parameter values at which some coordinate changes state, ascending; inf is left out."""
        t = self._breakpoints
        return np.asarray(self.objective.inverse / t[t > 0.0][::-1])

    @breakpoints.setter
    def breakpoints(self, t: Floats) -> None:
        self._breakpoints = t

    @property
    def straight(self) -> Path:
        """The same path in t, where it is piecewise linear."""
        return Path(f"1 / {self.parameter}", self._legs, self.objective, self.diagnostics)

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest parameter; the largest, where infinite, is no value itself."""
        low = 0.0 if self._has_ray else float(self.objective.inverse / self._t[-1])
        return low, float(self.objective.inverse / self._t[0]) if self._t[0] > 0.0 else np.inf

    def _check(self, t: float) -> float:
        found = super()._check(t)  # in the parameter
        return float(self._own(np.array([found]))[0])

    def _check_values(self, ts: ArrayLike) -> Floats:
        return self._own(super()._check_values(ts))

    def _own(self, values: Floats) -> Floats:
        """Return the walk's own parameters; at 0, where w stands still, that of the last node.

        The inverse of a node's inverse is that node: a division rounds, and so does the next.
        """
        still = values == 0.0
        own = self.objective.inverse / np.where(still, 1.0, values)
        own = np.where(still, self._t[-1], own)
        right = np.minimum(np.searchsorted(self._t, own), len(self._t) - 1)
        for node in (right, np.maximum(right - 1, 0)):
            same = np.abs(self._t[node] - own) <= 2 * np.spacing(own)
            own = np.where(same, self._t[node], own)
        return np.asarray(own if self._has_ray else np.minimum(own, self._t[-1]))

    def dual(self, t: float | Parameters) -> Floats:
        """Return the (n,) duals at parameter t, or (n, k) at k parameters.

        They belong to the objective as the path's function states it.

        Examples
        --------
        >>> from solution_paths import dm_ksvm_path
        >>> path = dm_ksvm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], kappa=4.0)
        >>> path.dual(1.0).round(9).tolist()
        [0.25, 0.25, 0.25, 0.25]
        """
        if not _single(t):
            return np.stack([self.dual(float(one)) for one in np.asarray(t)], axis=-1)
        own = np.array([self._check(t)])
        if t == 0:
            leg = self._legs[-1]
            ray = self.objective.solution(leg.trace.ray / leg.factor)  # in t, as ``inverse`` is
            return self.objective.inverse * self.objective.public_dual(ray)
        return self._scaled(self._duals(own), own, np.array([float(t)]))[:, 0]

    def _scaled(self, alpha: Floats, own: Floats, factor: Floats) -> Floats:
        """Return duals times a factor; those at their costs, by which they end, just there."""
        objective, scaled = self.objective, alpha * factor
        costs = (objective.inverse * objective.cost1)[:, None]
        at_end = (np.abs(alpha) == objective.costs(own)) & (alpha != 0.0)
        return np.clip(np.where(at_end, np.copysign(costs, alpha), scaled), -costs, costs)

    def _duals_at(self, nodes: Places) -> Floats:
        with np.errstate(divide="ignore"):
            scale = self.objective.inverse / self._t[nodes]
        scale = np.where(np.isfinite(scale), scale, 0.0)
        return self._scaled(super()._duals_at(nodes), self._t[nodes], scale)

    # -- the whole path at once ---------------------------------------------------------------

    def crossings(self, X_new: Rows) -> list[Floats]:
        """Return, for each row, the exact parameters at which its decision changes sign.

        See `Path.crossings`.
        """
        found = super().crossings(X_new)
        return [np.asarray(self.objective.inverse / own[own > 0.0][::-1]) for own in found]

    def positive_length(self, X_new: Rows) -> Floats:
        """Return, for each row, the length of all parameters >= the last breakpoint with f >= 0.

        See `Path.positive_length`; infinite where f >= 0 for large penalties.
        """
        rows = self.straight.decision_function(X_new, float(self._t[0])) >= 0
        edges = self.crossings(X_new)
        first = self.objective.inverse / self._t[-1]
        total = np.empty(len(edges))
        for k, (own, last) in enumerate(zip(edges, rows, strict=True)):
            ends = np.concatenate([[first], own, [np.inf]])[::-1]
            total[k] = -np.diff(ends)[0 if last else 1 :: 2].sum()
        return total

    def piece_values(self, X_new: Rows, edges: ArrayLike) -> tuple[Floats, Floats]:
        """Return f at both ends of all pieces between edges; see `Path.piece_values`.

        In between f is linear in 1 / t.
        """
        own = self.objective.inverse / np.asarray(edges, dtype=np.float64)[::-1]
        left, right = self.straight.piece_values(X_new, own)
        return right[:, ::-1], left[:, ::-1]

    def error_curve(
        self,
        X_val: Rows,
        y_val: ArrayLike,
        metric: str = "zero_one",
        sample_weight: ArrayLike | None = None,
    ) -> Curve:
        """Return a validation error as an exact function of the parameter, over all the path.

        Its pieces are quadratic in the inverse of the parameter; see `Path.error_curve`.
        """
        straight = self.straight.error_curve(X_val, y_val, metric, sample_weight)
        return replace(straight.inverted(self.objective.inverse), log=self.parameter in SCALES)

    def _judged_at(
        self, nodes: Places, points: Floats, settle: bool = True
    ) -> tuple[Floats, certification.Verdict]:
        t, found = super()._judged_at(nodes, points, settle)
        with np.errstate(divide="ignore"):
            return self.objective.inverse / t, found

    def _places(self, nodes: Places) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(self.objective.inverse / self._t[nodes])
