"""Paths of local optima, with jumps: what `outlier_svm_path` and `outlier_svr_path` return."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import plots
from .certify import Certificate
from .curves import Best
from .nodes import Floats, Places, Whereabouts
from .objectives import Solution
from .objectives.robust import Robust
from .path import Path
from .validation import Rows, check_choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIDES = ("after", "before")
BLOCK = 64  # nodes that are looked at together
Parameters = Sequence[float] | NDArray[Any]


class Jump(NamedTuple):
    """A place where a path leaves one local optimum for a better one.

    Attributes
    ----------
    parameter : float
    before, after : float
        Objective values, recomputed from the data: 1/2 ||w||^2 + C sum of losses.
    became_outliers, became_inliers : (k,) int arrays
        Rows of X that changed sides.
    """

    parameter: float
    before: float
    after: float
    became_outliers: NDArray[np.int64]
    became_inliers: NDArray[np.int64]


@dataclass(frozen=True)
class OutlierCertificate(Certificate):
    """A `Certificate` of conditional optimality, and how many points are local optima.

    Attributes
    ----------
    at_threshold : int
        Points with samples at the threshold z = s, ends of jumps among them, but not the solutions
        just before a jump. All other points are local optima where the certificate holds.
    not_local, undecided_local : int
        Of these, points that are not local optima (some of the 2^k partitions of the k samples has
        a better solution near by), and points with too many samples at the threshold to say.
    """

    at_threshold: int = 0
    not_local: int = 0
    undecided_local: int = 0

    def __str__(self) -> str:
        return (
            f"{super().__str__()}; {self.at_threshold} with samples at the threshold, "
            f"{self.not_local} of which are not local optima, {self.undecided_local} undecided"
        )


class OutlierPath(Path):
    """A path of local optima of a robust support vector machine.

    It is continuous but for `jumps`. There it has two solutions, "before" and "after" the jump in
    the order in which outliers lose their influence: theta falls, while breakpoints ascend, so
    *before* is the limit from larger theta, of s from lower s in classification and from larger s
    in regression. Methods that take a parameter take ``side``, "after" by default.
    """

    OF = Robust
    _side = "after"

    # -- sides of jumps -----------------------------------------------------------------------

    @property
    def _falls(self) -> bool:
        """Whether the walk went from large to small parameters."""
        return self._legs[0].factor < 0

    def _facing(self, side: str) -> OutlierPath:
        """Return this path, or a view of it from the other side of jumps."""
        if check_choice(side, "side", SIDES) == self._side:
            return self
        other = copy.copy(self)
        other._side = side
        return other

    def _first_behind(self, ts: Floats) -> Places:
        if (self._side == "after") != self._falls:
            return super()._first_behind(ts)
        left = np.searchsorted(self._t, ts)
        return left + (self._t[left] == ts)

    def _duals_of(self, solution: Solution, t: Floats, low: Floats, places: Whereabouts) -> Floats:
        """Return duals as they were walked: beyond a jump levels are others, and walls add."""
        return self.objective.public_dual(solution)

    def dual(self, t: float | Parameters, side: str = "after") -> Floats:
        """Return the (n,) duals at parameter t, or (n, k) at k parameters; see `Path.dual`.

        Parameters
        ----------
        t : float or (k,) array
        side : {"after", "before"}
            Which solution to return where the path jumps.

        Examples
        --------
        >>> from solution_paths import outlier_svm_path
        >>> X, y = [[-2.0], [-1.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1, 0]
        >>> path = outlier_svm_path(X, y, C=1.0, homotopy="s")
        >>> s = path.jumps[0].parameter
        >>> path.dual(s, side="before").round(3)[-1].item(), path.dual(s).round(3)[-1].item()
        (1.0, 0.0)
        """
        return super(OutlierPath, self._facing(side)).dual(t)

    def coef(self, t: float | Parameters, side: str = "after") -> Floats:
        """Return the (d,) coefficients at t, or (d, k) at k parameters; see `Path.coef`."""
        return super(OutlierPath, self._facing(side)).coef(t)

    def decision_function(self, X_new: Rows, t: float | Parameters, side: str = "after") -> Floats:
        """Return the (m,) values f(x) at t, or (m, k); see `Path.decision_function`."""
        return super(OutlierPath, self._facing(side)).decision_function(X_new, t)

    def predict(self, X_new: Rows, t: float | Parameters, side: str = "after") -> NDArray[Any]:
        """Return (m,) predicted labels or values at t, or (m, k); see `Path.predict`.

        Where f is 0 the more frequent label of the training rows is predicted.
        """
        f = self.decision_function(X_new, t, side)
        classes = self.objective.classes
        if len(classes) == 0:
            return f
        return np.where(self.objective.positive(f), classes[1], classes[0])

    def best(
        self,
        X_val: Rows,
        y_val: ArrayLike,
        metric: str = "zero_one",
        sample_weight: ArrayLike | None = None,
    ) -> Best:
        """Return the exact minimiser of a validation error over the whole path; see `Path.best`.

        Where the least value is that of one side of a jump alone, the parameter is the next number
        on that side.
        """
        curve = self.error_curve(X_val, y_val, metric, sample_weight)
        best = curve.best()
        for k in np.flatnonzero(curve.edges[1:-1] == best.parameter):
            low, high = curve.right[k], curve.left[k + 1]
            if low != high:
                towards = -np.inf if low < high else np.inf
                best = best._replace(parameter=float(np.nextafter(best.parameter, towards)))
        return best

    # -- jumps ---------------------------------------------------------------------------------

    @cached_property
    def jumps(self) -> list[Jump]:
        """The jumps in the order of the walk: theta falls, s grows in classification, else falls.

        Computed from the data and the duals on both sides, in about the time of a certificate of
        as many points.

        Examples
        --------
        >>> from solution_paths import outlier_svm_path
        >>> X, y = [[-2.0], [-1.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1, 0]
        >>> jump = outlier_svm_path(X, y, C=1.0, homotopy="s").jumps[0]
        >>> jump.became_outliers.tolist(), jump.after < jump.before
        ([4], True)
        """
        first, last = self._pairs()
        found: list[Jump] = []
        for k in range(0, len(first), BLOCK):
            found += self._jumps_among(first[k : k + BLOCK], last[k : k + BLOCK])
        return found[::-1] if self._falls else found

    def _pairs(self) -> tuple[Places, Places]:
        """Return the first and the last nodes, ascending, of those that share a parameter."""
        new = np.append(True, (np.diff(self._t) != 0) | (np.diff(self._low) != 0))
        first = np.flatnonzero(new)
        last = np.append(first[1:], len(new)) - 1
        several = last > first
        return first[several], last[several]

    def _jumps_among(self, first: Places, last: Places) -> list[Jump]:
        nodes = np.union1d(first, last)
        objective = cast(Robust, self.objective)
        solutions = self._node_solutions(nodes)
        t, low = self._t[nodes], self._low[nodes]
        sides = objective.partitions(solutions, t, low)
        values = objective.terms(t, solutions, low=low).primal
        found = []
        ends = (last, first) if self._falls else (first, last)
        for one, other in zip(*(np.searchsorted(nodes, end) for end in ends), strict=True):
            was, now = sides[:, one], sides[:, other]
            out = np.flatnonzero((was == 0) & (now != 0))
            back = np.flatnonzero((was != 0) & (now == 0))
            if (was != now).any():
                found.append(
                    Jump(float(t[one]), values[one].item(), values[other].item(), out, back)
                )
        return found

    def outliers(self, t: float, side: str = "after") -> NDArray[np.bool_]:
        """Return (n,) bools: who counts as an outlier at t.

        Examples
        --------
        >>> from solution_paths import outlier_svm_path
        >>> X, y = [[-2.0], [-1.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1, 0]
        >>> outlier_svm_path(X, y, C=1.0).outliers(0.0).tolist()
        [False, False, False, False, True]
        """
        at = np.array([self._check(t)])
        solution = self._facing(side)._solutions_at(at)
        sides = cast(Robust, self.objective).partitions(solution, at)
        return sides[:, 0] != 0

    def objective_value(self, t: float, side: str = "after") -> float:
        """Return the objective at t, recomputed from the data.

        Examples
        --------
        >>> from solution_paths import outlier_svm_path
        >>> X, y = [[-2.0], [-1.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1, 0]
        >>> path = outlier_svm_path(X, y, C=1.0)
        >>> path.objective_value(0.0) < path.objective_value(1.0)
        True
        """
        at = np.array([self._check(t)])
        solution = self._facing(side)._solutions_at(at)
        return float(self.objective.terms(at, solution).primal[0])

    # -- certificate ---------------------------------------------------------------------------

    def certify(
        self,
        n_random: int = 100,
        seed: int = 0,
        at_breakpoints: bool | None = None,
        at: float | Parameters | None = None,
    ) -> OutlierCertificate:
        """Check the path with code that shares nothing with the walker.

        Each solution is judged as the optimum of the conditional problem of its partition, by its
        duality gap. Where samples are at the threshold, all partitions of these are looked at: a
        solution that is optimal for each is a local optimum.

        Parameters
        ----------
        n_random, seed, at_breakpoints, at
            See `Path.certify`; of the two solutions at a jump ``at`` means the one after it.

        Examples
        --------
        >>> from solution_paths import outlier_svm_path
        >>> X, y = [[-2.0], [-1.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1, 0]
        >>> path = outlier_svm_path(X, y, C=1.0)
        >>> path.certify(at=0.0).ok, path.certify(at=[0.0, 0.5]).n_points
        (True, 2)
        """
        plain = super().certify(n_random, seed, at_breakpoints, at)
        if at is not None:
            values = np.atleast_1d(np.asarray(at, dtype=np.float64))
            solutions = [(self._solution(float(t)), float(t)) for t in values]
        else:
            solutions = self._settled_solutions(n_random, seed, at_breakpoints)
        found: dict[str, Any] = vars(plain) | self._local_optima(solutions)
        return OutlierCertificate(**found)

    def _local_optima(self, solutions: list[tuple[Solution, float]]) -> dict[str, int]:
        """Count, of solutions at parameter values, those at a threshold and the local optima."""
        objective = cast(Robust, self.objective)
        found = [objective.locally_optimal(*one) for one in solutions]
        found = [one for one in found if one[0]]
        return {
            "at_threshold": len(found),
            "not_local": sum(optimal is False for _, optimal in found),
            "undecided_local": sum(optimal is None for _, optimal in found),
        }

    def _settled_solutions(
        self, n_random: int, seed: int, at_breakpoints: bool | None
    ) -> list[tuple[Solution, float]]:
        """Return solutions at settled nodes and between nodes, with their parameter values."""
        rng = np.random.default_rng(seed)
        nodes = self._settled()
        if not at_breakpoints:
            size = 0 if at_breakpoints is False else min(n_random, len(nodes))
            nodes = np.union1d(rng.choice(nodes, size=size, replace=False), nodes[[0, -1]])
        at_nodes = [(self._node_solution(int(k)), float(self._t[k])) for k in nodes]
        between = [(self._solution(float(t)), float(t)) for t in self._between(rng, n_random)]
        return at_nodes + between

    def _settled(self) -> Places:
        """Return the nodes of which none follows at the same parameter in the walk's order."""
        other = np.diff(self._t) != 0
        return np.flatnonzero(np.append(True, other) if self._falls else np.append(other, True))

    # -- pictures ------------------------------------------------------------------------------

    def plot(
        self,
        what: str | None = None,
        ax: Axes | None = None,
        max_lines: int = 200,
        *,
        mark: float | None = None,
    ) -> Axes:
        """Plot coefficients or duals against the parameter, with dots and open circles at jumps.

        See `Path.plot`.
        """
        jumps = [jump.parameter for jump in self.jumps]
        return plots.draw_path(self, what, ax, max_lines, mark, jumps)
