"""Paths of local optima, with jumps: what `outlier_svm_path` and `outlier_svr_path` return."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from ..homotopy.statement import Statement
from ..problem import Line, Problem
from ..problem.branches import Branches, slope_at
from ..validation import Floats, Rows, check_choice, check_number
from ..verify import Answer, judge, objectives
from ..verify.partitions import AtThreshold, at_threshold
from ..verify.verdict import Certificate, Verdict
from .model import Affine
from .path import ENTRIES, SolutionPath
from .points import Places, Points
from .recorded import FORGOTTEN, Parameters
from .sums import BLOCK

SIDES = ("after", "before")


class Partitions(NamedTuple):
    """The branches that samples are on at recorded points: rows (J, n), and which one (K,)."""

    rows: NDArray[np.int8]
    of: Places

    def at(self, points: Any) -> NDArray[np.int8]:
        """Return the branches (..., n) at points."""
        return self.rows[self.of[points]]

    def some(self, points: Any) -> Partitions:
        """Return those of some points."""
        return Partitions(self.rows, self.of[points])


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


class OutlierPath(SolutionPath):
    """A path of local optima of a robust support vector machine.

    It is continuous but for `jumps`. There it has two solutions, "before" and "after" the jump in
    the order in which outliers lose their influence: theta falls, while breakpoints ascend, so
    *before* is the limit from larger theta, of s from lower s in classification and from larger s
    in regression. Methods that take a parameter take ``side``, "after" by default.
    """

    def __init__(
        self,
        branches: Branches,
        statement: Statement,
        points: Points,
        partitions: Partitions,
        *,
        falls: bool,
        **options: Any,
    ):
        super().__init__(branches.lines[0], statement, points, **options)
        self.branches, self.partitions, self.falls = branches, partitions, falls
        self.points = replace(points, first=falls)

    def __getstate__(self) -> dict[str, Any]:
        models, _ = self._models()
        lines = tuple(
            replace(line, model=own) for line, own in zip(self.branches.lines, models, strict=True)
        )
        branches = replace(self.branches, lines=lines, losses=None)
        points = replace(Points.from_arrays(**self.points.arrays()), first=self.points.first)
        return vars(self) | {"line": lines[0], "branches": branches, "points": points}

    def _models(self) -> tuple[list[Affine], dict[str, Any]]:
        """Return the models of branches by their arrays, and what else a file holds."""
        ends = float(self.points.t[0]), float(self.points.t[-1])
        models = [Affine.of(line, *ends) for line in self.branches.lines]
        own = {"main": self.branches.main, "falls": self.falls}
        return models, own | {"partitions": self.partitions.rows, "of": self.partitions.of}

    @classmethod
    def _stored(
        cls,
        lines: list[Line],
        statement: Statement,
        points: Points,
        more: dict[str, Any],
        **options: Any,
    ) -> OutlierPath:
        """Return the path that was kept in a file."""
        partitions, falls = Partitions(more["partitions"], more["of"]), bool(more["falls"])
        branches = Branches(tuple(lines), more["main"])
        return cls(branches, statement, points, partitions, falls=falls, **options)

    @property
    def straight(self) -> OutlierPath:
        """The path itself: it is piecewise linear in its parameter."""
        return self

    def _in_order(self, nodes: Places) -> Places:
        """Return recorded points, which ascend, in the order in which they were found."""
        return len(self.points) - 1 - nodes if self.falls else nodes

    def _until(self, last: int) -> OutlierPath:
        """Return the path from where it was begun to one of its recorded points."""
        return OutlierPath(
            self.branches,
            self.statement,
            self.points.since(last) if self.falls else self.points.until(last),
            self.partitions.some(slice(last, None) if self.falls else slice(last + 1)),
            falls=self.falls,
            parameter=self.parameter,
            reading=self.reading,
            diagnostics=self.diagnostics,
        )

    # -- sides of jumps -----------------------------------------------------------------------

    def _facing(self, side: str) -> OutlierPath:
        """Return this path, or a view of it from the other side of jumps."""
        first = (check_choice(side, "side", SIDES) == "after") == self.falls
        if first == self.points.first:
            return self
        other = copy.copy(self)
        other.points = replace(self.points, first=first)
        return other

    def dual(
        self, t: float | Parameters = FORGOTTEN, group: int = 0, side: str = "after"
    ) -> Floats:
        """Return the (n,) duals at parameter t, or (n, k) at k parameters.

        In classification 0 <= alpha_i <= C, or C theta for outliers; in regression signed.

        Parameters
        ----------
        t : float or (k,) array
        group : int, default 0
            See `SolutionPath.dual`; there is one.
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
        return super(OutlierPath, self._facing(side)).dual(t, group)

    def coef(self, t: float | Parameters = FORGOTTEN, side: str = "after") -> Floats:
        """Return the (d,) coefficients at t, or (d, k) at k parameters; not of a kernel."""
        return super(OutlierPath, self._facing(side)).coef(t)

    @overload  # type: ignore[override]  # a call without t is an error
    def intercept(self, t: float, side: str = "after") -> float: ...

    @overload
    def intercept(self, t: Parameters, side: str = "after") -> Floats: ...

    def intercept(self, t: float | Parameters = FORGOTTEN, side: str = "after") -> float | Floats:
        """Return b of f(x) = w.x + b at t, or (k,) of them; of machines without a bias 0."""
        found: float | Floats = super(OutlierPath, self._facing(side)).intercept(t)
        return found

    def expansion(self, t: float | Parameters = FORGOTTEN, side: str = "after") -> Floats:
        """Return the coefficients (n,) or (n, k) of rows; see `SolutionPath.expansion`."""
        return super(OutlierPath, self._facing(side)).expansion(t)

    def decision_function(
        self, X_new: Rows, t: float | Parameters = FORGOTTEN, side: str = "after"
    ) -> Floats:
        """Return the (m,) values f(x) at t, or (m, k) at k parameters."""
        return super(OutlierPath, self._facing(side)).decision_function(X_new, t)

    def predict(
        self, X_new: Rows, t: float | Parameters = FORGOTTEN, side: str = "after"
    ) -> NDArray[Any]:
        """Return (m,) predicted labels or values at t, or (m, k) at k parameters.

        Where f is 0 the more frequent label of the training rows is predicted.
        """
        return super(OutlierPath, self._facing(side)).predict(X_new, t)

    # -- partitions ----------------------------------------------------------------------------

    def partition_at(
        self, t: float | Parameters = FORGOTTEN, side: str = "after"
    ) -> NDArray[np.int8]:
        """Return the branches (n,) that samples are on at t, or (n, k), from low to high values.

        Examples
        --------
        >>> from solution_paths import outlier_svr_path
        >>> X, y = [[-2.0], [-1.0], [1.0], [2.0], [3.0]], [-2.0, -1.0, 1.0, 2.0, 9.0]
        >>> path = outlier_svr_path(X, y, C=0.3, s=2.0)
        >>> path.partition_at(0.5).tolist()  # the last value is too low by more than s
        [1, 1, 1, 1, 0]
        """
        own, facing = self._own(t), self._facing(side)
        found = facing._partitions(own, facing.points.find(own)[0]).T
        return found[:, 0] if np.ndim(t) == 0 else found

    def _partitions(self, t: Floats, nodes: Places) -> NDArray[np.int8]:
        """Return partitions (k, n) at parameters beside recorded points.

        Values of rows of zeros are 0, and their thresholds may pass them.
        """
        found, still = self.partitions.at(nodes), self.branches.still
        if still.any():
            zero = np.zeros(len(still))
            for k, at in enumerate(t.tolist()):
                found[k, still] = self.branches.at_values(at, zero)[still]
        return found

    def outliers(self, t: float = FORGOTTEN, side: str = "after") -> NDArray[np.bool_]:
        """Return (n,) bools: who counts as an outlier at t.

        Examples
        --------
        >>> from solution_paths import outlier_svm_path
        >>> X, y = [[-2.0], [-1.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1, 0]
        >>> outlier_svm_path(X, y, C=1.0).outliers(0.0).tolist()
        [False, False, False, False, True]
        """
        check_number(t, self.parameter)
        return np.asarray(self.partition_at(t, side) != self.branches.main)

    def _inside(self, duals: Floats, own: Floats, group: int) -> Floats:
        """Return duals (n, k) as they were walked; of rows of zeros what their losses say."""
        still = np.flatnonzero(self.branches.still)
        for k, t in enumerate(own.tolist() if len(still) else []):
            zero = np.zeros(len(duals))
            f = self.branches.functions(t, self.branches.at_values(t, zero))
            duals[still, k] = -slope_at(f, zero)[still]
        return duals

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
        ends = self._sides_of_jumps
        parts = [objectives(*own) for own, _ in self._answers(ends.ravel(), np.empty(0))]
        values = np.concatenate(parts or [np.empty(0)]).reshape(2, -1)
        out = self.partitions.at(ends) != self.branches.main
        found = [
            Jump(
                float(self.points.t[ends[0, k]]),
                float(values[0, k]),
                float(values[1, k]),
                np.flatnonzero(~out[0, k] & out[1, k]),
                np.flatnonzero(out[0, k] & ~out[1, k]),
            )
            for k in range(ends.shape[1])
        ]
        return found[::-1] if self.falls else found

    @cached_property
    def _sides_of_jumps(self) -> Places:
        """The recorded points (2, k) from and to which the path jumps."""
        ends = np.stack(self._both_sides(np.unique(self.points.t)))
        ends = ends[::-1] if self.falls else ends
        before, after = (self.partitions.of[own] for own in ends)
        rows = self.partitions.rows
        return np.asarray(ends[:, (rows[before] != rows[after]).any(axis=1)])

    def _beside_jumps(self) -> Places:
        return self._sides_of_jumps.T.ravel()

    def _both_sides(self, t: Floats) -> tuple[Places, Places]:
        """Return the first and the last of the points at parameters of recorded ones."""
        first, last = (replace(self.points, first=own).find(t)[0] for own in (True, False))
        return first, last

    def objective_value(self, t: float = FORGOTTEN, side: str = "after") -> float:
        """Return the objective at t, recomputed from the data.

        Examples
        --------
        >>> from solution_paths import outlier_svm_path
        >>> X, y = [[-2.0], [-1.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1, 0]
        >>> path = outlier_svm_path(X, y, C=1.0)
        >>> path.objective_value(0.0) < path.objective_value(1.0)
        True
        """
        return super(OutlierPath, self._facing(side)).objective_value(t)

    @property
    def recorded_duals(self) -> Floats:
        """The duals (n, K) at `points`, both sides of jumps among them."""
        nodes = np.arange(len(self.points))
        return self._picture().dual_at(nodes)

    def at_threshold(self, t: float = FORGOTTEN, side: str = "after") -> AtThreshold:
        """Return which samples are at the threshold at t, and whether that is a local optimum.

        Examples
        --------
        >>> from solution_paths import outlier_svm_path
        >>> X, y = [[-2.0], [-1.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1, 0]
        >>> outlier_svm_path(X, y, C=1.0).at_threshold(0.0).local
        True
        """
        check_number(t, self.parameter)
        facing = self._facing(side)
        return facing._at_threshold(np.empty(0, dtype=np.int64), facing._own(t))[0]

    def _problems(self, own: Floats) -> tuple[list[Problem], Answer]:
        """Return the convex problems of partitions at parameters, and the answer to them."""
        ((stated, _),) = self._answers(np.empty(0, dtype=np.int64), own)
        return stated

    def stated_at(self, t: float = FORGOTTEN, side: str = "after") -> tuple[Problem, Answer]:
        """Return the convex problem of the partition at t, and the path's answer to it.

        Examples
        --------
        >>> from solution_paths import outlier_svm_path
        >>> from solution_paths.verify import judge
        >>> X, y = [[-2.0], [-1.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1, 0]
        >>> judge(*outlier_svm_path(X, y, C=1.0).stated_at(0.0)).status
        'holds'
        """
        facing = self._facing(side)
        (problem,), answer = facing._problems(facing._own(t))
        return problem, answer.alone()

    # -- certificate ---------------------------------------------------------------------------

    def certify(
        self,
        n_random: int = 100,
        seed: int = 0,
        at_breakpoints: bool | None = None,
        at: float | Parameters | None = None,
    ) -> OutlierCertificate:
        """Judge solutions by code that reads the statement and knows nothing of the walk.

        Each solution is judged as the optimum of the convex problem of its partition. Where samples
        are at the threshold, all partitions of these are looked at: a solution that is optimal for
        each is a local optimum.

        Parameters
        ----------
        n_random, seed, at_breakpoints, at
            See `SolutionPath.certify`; of the two solutions at a jump ``at`` means the one after.

        Examples
        --------
        >>> from solution_paths import outlier_svm_path
        >>> X, y = [[-2.0], [-1.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1, 0]
        >>> path = outlier_svm_path(X, y, C=1.0)
        >>> path.certify(at=0.0).ok, path.certify(at=[0.0, 0.5]).n_points
        (True, 2)
        """
        check_number(n_random, "n_random", least=0, whole=True)
        check_number(seed, "seed", least=0, whole=True)
        nodes, others = np.empty(0, dtype=np.int64), np.empty(0)
        if at is not None:
            others = self._own(at)
        else:
            nodes, others = self._some(n_random, seed, at_breakpoints)
        plain = self._summary(*self._judged(nodes, others))
        first, last = self._both_sides(np.unique(self.points.t[nodes]))
        optima = self._local_optima(first if self.falls else last, others)
        return OutlierCertificate(**(vars(plain) | optima))

    def _judged(self, nodes: Places, others: Floats, anew: bool = True) -> tuple[Floats, Verdict]:
        """Return parameters, and what the judge says of recorded points, then of others."""
        found = [(t, judge(*own)) for own, t in self._answers(nodes, others)]
        return np.concatenate([t for t, _ in found]), Verdict.together([own for _, own in found])

    def _answers(
        self, nodes: Places, others: Floats
    ) -> Iterator[tuple[tuple[list[Problem], Answer], Floats]]:
        """Yield problems of partitions, answers and parameters, see `_unknowns`."""
        for t, u, partitions in self._unknowns(nodes, others):
            w, v = self._read(u[:, self.statement.held], t)
            duals = self._inside(self.statement.answer(u)[2][0].T.copy(), t, 0)
            pairs = zip(t.tolist(), partitions, strict=True)
            stated = [self.branches.problem(*own) for own in pairs]
            yield (stated, Answer(w.T, v.T, [duals])), t

    def _unknowns(
        self, nodes: Places, others: Floats
    ) -> Iterator[tuple[Floats, Floats, NDArray[np.int8]]]:
        """Yield parameters, unknowns and partitions of recorded points and others, in blocks."""
        block = max(1, min(BLOCK, ENTRIES // self.statement.size))
        begin, end = self._both_sides(self.points.t[nodes])
        nodes = np.where(nodes <= begin, begin, end)  # others at a parameter are nobody's
        for first in range(0, len(nodes), block):
            own = nodes[first : first + block]
            t = self.points.t[own]
            yield t, self.points.at(own), self._partitions(t, own)
        for first in range(0, len(others), block):
            t = others[first : first + block]
            yield t, self.points.unknowns(t), self._partitions(t, self.points.find(t)[0])

    def _local_optima(self, nodes: Places, others: Floats) -> dict[str, int]:
        """Count, of recorded points and others, those at a threshold and the local optima."""
        found = [own.local for own in self._at_threshold(nodes, others) if len(own.samples)]
        return {
            "at_threshold": len(found),
            "not_local": sum(local is False for local in found),
            "undecided_local": sum(local is None for local in found),
        }

    def _at_threshold(self, nodes: Places, others: Floats) -> list[AtThreshold]:
        """Return who is at a threshold, of recorded points and others."""
        found = []
        for s, u, partitions in self._unknowns(nodes, others):
            w, v = self._read(u[:, self.statement.held], s)
            a = self._inside(self.statement.answer(u)[2][0].T.copy(), s, 0)
            z = self.branches.values(w.T, v.T)
            for k, t in enumerate(s.tolist()):
                found.append(at_threshold(self.branches, t, partitions[k], z[:, k], a[:, k]))
        return found

    @property
    def _jumps_at(self) -> list[float]:
        """The parameters at which the path jumps."""
        return [jump.parameter for jump in self.jumps]
