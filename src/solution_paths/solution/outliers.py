"""Paths of local optima, with jumps, as `outlier_svm_path` and `outlier_svr_path` return them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from ..homotopy.statement import ParametricKKT
from ..problem import Line, Problem
from ..problem.branches import Branches, slope_at
from ..validation import Floats
from ..verify import Answer, objectives
from ..verify.partitions import AtThreshold, at_threshold
from ..verify.verdict import Certificate
from .model import Affine
from .path import NUMBERS_JUDGED, SolutionPath
from .points import Places, Points
from .recorded import MISSING, Parameters, single
from .sums import SOLUTIONS_SUMMED


class Partitions(NamedTuple):
    """The branches of samples at recorded points: rows (J, n), and the row of each point (K,)."""

    rows: NDArray[np.int8]
    of: Places

    def at(self, points: Any) -> NDArray[np.int8]:
        """Return the branches (..., n) at points."""
        return self.rows[self.of[points]]

    def some(self, points: Any) -> Partitions:
        """Return the partitions of some points."""
        return Partitions(self.rows, self.of[points])


class Jump(NamedTuple):
    """A jump of a path from a local optimum to a better one.

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

    Each solution is judged as the optimum of the convex problem of its partition. Where samples are
    at the threshold, all partitions of these are tested: a solution that is optimal for each is a
    local optimum. A parameter at which the path jumps means the solution after the jump, or in the
    view `OutlierPath.before` the one before.

    Attributes
    ----------
    at_threshold : int
        The number of points with samples at the threshold z = s, including ends of jumps, but not
        the solutions just before a jump. All other points are local optima where the certificate
        holds.
    not_local, undecided_local : int
        The number of these points that are not local optima (some of the 2^k partitions of the k
        samples has a better solution near by), and of those with too many samples at the threshold
        to decide.
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
    in regression. Methods that take a parameter return the solution after the jump; those of the
    view `before` that before it.

    Duals are 0 <= alpha_i <= C in classification, or C theta for outliers; in regression signed.
    Where f is 0 the more frequent label of the training rows is predicted.
    """

    def __init__(
        self,
        branches: Branches,
        statement: ParametricKKT,
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
            replace(line, model=model)
            for line, model in zip(self.branches.lines, models, strict=True)
        )
        branches = replace(self.branches, lines=lines, losses=None)
        points = replace(Points.from_arrays(**self.points.arrays()), first=self.points.first)
        return vars(self) | {"line": lines[0], "branches": branches, "points": points}

    def _models(self) -> tuple[list[Affine], dict[str, Any]]:
        """Return the models of branches as arrays, and further content for a file."""
        ends = float(self.points.t[0]), float(self.points.t[-1])
        models = [Affine.of(line, *ends) for line in self.branches.lines]
        content = {"main": self.branches.main, "falls": self.falls}
        return models, content | {"partitions": self.partitions.rows, "of": self.partitions.of}

    @classmethod
    def _stored(
        cls,
        lines: list[Line],
        statement: ParametricKKT,
        points: Points,
        content: dict[str, Any],
        **options: Any,
    ) -> OutlierPath:
        """Return the path from the content of a file."""
        partitions, falls = Partitions(content["partitions"], content["of"]), bool(content["falls"])
        branches = Branches(tuple(lines), content["main"])
        return cls(branches, statement, points, partitions, falls=falls, **options)

    def _in_order(self, nodes: Places) -> Places:
        """Return recorded points, which are ascending, in the order of the walk."""
        return len(self.points) - 1 - nodes if self.falls else nodes

    def _until(self, last: int) -> OutlierPath:
        """Return the path from its start to one of its recorded points."""
        return self._on(
            self.points.since(last) if self.falls else self.points.until(last),
            self.partitions.some(slice(last, None) if self.falls else slice(last + 1)),
        )

    def _on(self, points: Points, partitions: Partitions) -> OutlierPath:
        """Return the path with other recorded points."""
        return OutlierPath(
            self.branches,
            self.statement,
            points,
            partitions,
            falls=self.falls,
            parameter=self.parameter,
            reading=self.reading,
            diagnostics=self.diagnostics,
        )

    # -- sides of jumps -----------------------------------------------------------------------

    @property
    def before(self) -> OutlierPath:
        """The same path with the solutions before its jumps: the limits from their other side.

        Everywhere but at `jumps` its methods return the same. A file contains the path, not the
        side: what is loaded has the solutions after the jumps.

        Examples
        --------
        >>> from solution_paths import outlier_svm_path
        >>> X, y = [[-2.0], [-1.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1, 0]
        >>> path = outlier_svm_path(X, y, C=1.0, homotopy="s")
        >>> s = path.jumps[0].parameter
        >>> path.before.dual(s).round(3)[-1].item(), path.dual(s).round(3)[-1].item()
        (1.0, 0.0)
        """
        view = self._on(self.points, self.partitions)
        view.points = replace(self.points, first=not self.falls)
        return view

    if TYPE_CHECKING:  # what is returned is known better: one output, and local optima

        def certify(
            self,
            n_random: int = 100,
            seed: int = 0,
            at_breakpoints: bool | None = None,
            at: float | Parameters | None = None,
        ) -> OutlierCertificate:
            """Judge solutions; see `SolutionPath.certify`."""

        @overload  # type: ignore[override]  # a call without t is an error
        def intercept(self, t: float) -> float: ...

        @overload
        def intercept(self, t: Parameters) -> Floats: ...

        def intercept(self, t: float | Parameters = MISSING) -> float | Floats:
            """Return b of f(x) = w.x + b at t."""

    # -- partitions ----------------------------------------------------------------------------

    def partition_at(self, t: float | Parameters = MISSING) -> NDArray[np.int8]:
        """Return the branches (n,) of samples at t, or (n, k), numbered from low to high values.

        Examples
        --------
        >>> from solution_paths import outlier_svr_path
        >>> X, y = [[-2.0], [-1.0], [1.0], [2.0], [3.0]], [-2.0, -1.0, 1.0, 2.0, 9.0]
        >>> path = outlier_svr_path(X, y, C=0.3, s=2.0)
        >>> path.partition_at(0.5).tolist()  # the last value is too low by more than s
        [1, 1, 1, 1, 0]
        """
        s = self._statement_parameters(t)
        partitions = self._partitions(s, self.points.find(s)[0]).T
        return partitions[:, 0] if single(t) else partitions

    def _partitions(self, t: Floats, nodes: Places) -> NDArray[np.int8]:
        """Return partitions (k, n) at parameters, by recorded points beside them.

        The value of a row of zeros is always 0, and its threshold may pass 0.
        """
        partitions, constant = self.partitions.at(nodes), self.branches.still
        if constant.any():
            zero = np.zeros(len(constant))
            for k, parameter in enumerate(t.tolist()):
                partitions[k, constant] = self.branches.at_values(parameter, zero)[constant]
        return partitions

    def outliers(self, t: float | Parameters = MISSING) -> NDArray[np.bool_]:
        """Return which samples are outliers at t, (n,) bools, or (n, k) at k parameters.

        Examples
        --------
        >>> from solution_paths import outlier_svm_path
        >>> X, y = [[-2.0], [-1.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1, 0]
        >>> outlier_svm_path(X, y, C=1.0).outliers(0.0).tolist()
        [False, False, False, False, True]
        """
        partition, main = self.partition_at(t), self.branches.main
        return np.asarray(partition != (main if partition.ndim == 1 else main[:, None]))

    def _within_bounds(self, duals: Floats, s: Floats, group: int) -> Floats:
        """Return duals (n, k) of the walk, and of rows of zeros from the slopes of their losses."""
        constant = np.flatnonzero(self.branches.still)
        for k, t in enumerate(s.tolist() if len(constant) else []):
            zero = np.zeros(len(duals))
            f = self.branches.functions(t, self.branches.at_values(t, zero))
            duals[constant, k] = -slope_at(f, zero)[constant]
        return duals

    # -- jumps ---------------------------------------------------------------------------------

    @cached_property
    def jumps(self) -> list[Jump]:
        """The jumps in the order of the walk: theta falls, s grows in classification, else falls.

        The objectives are computed from the data and the duals on both sides, in twice double
        precision where double precision doesn't tell which one is lower.

        Examples
        --------
        >>> from solution_paths import outlier_svm_path
        >>> X, y = [[-2.0], [-1.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1, 0]
        >>> jump = outlier_svm_path(X, y, C=1.0, homotopy="s").jumps[0]
        >>> jump.became_outliers.tolist(), jump.after < jump.before
        ([4], True)
        """
        ends = self._sides_of_jumps
        values, errors = self._objectives(ends, exact=False)
        doubtful = ~(np.abs(values[0] - values[1]) > errors.sum(axis=0))
        if doubtful.any():
            values[:, doubtful], _ = self._objectives(ends[:, doubtful], exact=True)
        outlying = self.partitions.at(ends) != self.branches.main
        jumps = [
            Jump(
                float(self.points.t[ends[0, k]]),
                float(values[0, k]),
                float(values[1, k]),
                np.flatnonzero(~outlying[0, k] & outlying[1, k]),
                np.flatnonzero(outlying[0, k] & ~outlying[1, k]),
            )
            for k in range(ends.shape[1])
        ]
        return jumps[::-1] if self.falls else jumps

    def _objectives(self, nodes: Places, exact: bool) -> tuple[Floats, Floats]:
        """Return the objectives at recorded points, and bounds of their errors."""
        blocks = self._answers(nodes.ravel(), np.empty(0))
        parts = [objectives(*block, exact) for block in blocks] or [(np.empty(0),) * 2]
        values, errors = (np.concatenate(each) for each in zip(*parts, strict=True))
        return values.reshape(nodes.shape), errors.reshape(nodes.shape)

    @cached_property
    def _sides_of_jumps(self) -> Places:
        """The recorded points (2, k) from and to which the path jumps."""
        ends = np.stack(self._both_sides(np.unique(self.points.t)))
        ends = ends[::-1] if self.falls else ends
        before, after = (self.partitions.of[points] for points in ends)
        rows = self.partitions.rows
        return np.asarray(ends[:, (rows[before] != rows[after]).any(axis=1)])

    def _beside_jumps(self) -> Places:
        return self._sides_of_jumps.T.ravel()

    def _both_sides(self, t: Floats) -> tuple[Places, Places]:
        """Return the first and the last of the recorded points at their parameters."""
        first, last = (
            replace(self.points, first=first_counts).find(t)[0] for first_counts in (True, False)
        )
        return first, last

    def at_threshold(self, t: float = MISSING) -> AtThreshold:
        """Return the samples at the threshold at t, and whether the solution is a local optimum.

        Examples
        --------
        >>> from solution_paths import outlier_svm_path
        >>> X, y = [[-2.0], [-1.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1, 0]
        >>> outlier_svm_path(X, y, C=1.0).at_threshold(0.0).local
        True
        """
        return self._at_threshold(np.empty(0, dtype=np.int64), self._one_parameter(t))[0]

    def stated_at(self, t: float = MISSING) -> tuple[Problem, Answer]:
        """Return the convex problem of the partition at t, and the path's answer to it.

        Examples
        --------
        >>> from solution_paths import outlier_svm_path
        >>> from solution_paths.verify import judge
        >>> X, y = [[-2.0], [-1.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1, 0]
        >>> judge(*outlier_svm_path(X, y, C=1.0).stated_at(0.0)).status
        'holds'
        """
        s = self._one_parameter(t)
        ((problems, answer),) = self._answers(np.empty(0, dtype=np.int64), s)
        return problems[0], answer.alone()

    # -- certificate ---------------------------------------------------------------------------

    def _certificate(self, nodes: Places, others: Floats) -> OutlierCertificate:
        """Return the certificate, and which points are local optima."""
        certificate = super()._certificate(nodes, others)
        first, last = self._both_sides(np.unique(self.points.t[nodes]))
        optima = self._local_optima(first if self.falls else last, others)
        return OutlierCertificate(**(vars(certificate) | optima))

    def _answers(
        self, nodes: Places, others: Floats, anew: bool = True
    ) -> Iterator[tuple[list[Problem], Answer]]:
        """Yield the convex problems of the partitions, always stated anew, and the answers."""
        for t, u, partitions in self._unknowns(nodes, others):
            w, v = self._read(u[:, self.statement.held], t)
            duals = self._within_bounds(self.statement.duals(u)[0].T.copy(), t, 0)
            partitions_at = zip(t.tolist(), partitions, strict=True)
            stated = [self.branches.problem(*pair) for pair in partitions_at]
            yield stated, Answer(w.T, v.T, [duals])

    def _unknowns(
        self, nodes: Places, others: Floats
    ) -> Iterator[tuple[Floats, Floats, NDArray[np.int8]]]:
        """Yield parameters, unknowns and partitions of recorded points and others, in blocks."""
        size = max(1, min(SOLUTIONS_SUMMED, NUMBERS_JUDGED // self.statement.solution_size))
        begin, end = self._both_sides(self.points.t[nodes])
        nodes = np.where(nodes <= begin, begin, end)  # points between both sides aren't read
        for first in range(0, len(nodes), size):
            block = nodes[first : first + size]
            t = self.points.t[block]
            yield t, self.points.at(block), self._partitions(t, block)
        for first in range(0, len(others), size):
            t = others[first : first + size]
            yield t, self.points.unknowns(t), self._partitions(t, self.points.find(t)[0])

    def _local_optima(self, nodes: Places, others: Floats) -> dict[str, int]:
        """Count the points with samples at a threshold, and those that aren't local optima."""
        optima = [
            threshold.local
            for threshold in self._at_threshold(nodes, others)
            if len(threshold.samples)
        ]
        return {
            "at_threshold": len(optima),
            "not_local": sum(local is False for local in optima),
            "undecided_local": sum(local is None for local in optima),
        }

    def _at_threshold(self, nodes: Places, others: Floats) -> list[AtThreshold]:
        """Return the samples at a threshold, at recorded points and others."""
        thresholds = []
        for s, u, partitions in self._unknowns(nodes, others):
            w, v = self._read(u[:, self.statement.held], s)
            a = self._within_bounds(self.statement.duals(u)[0].T.copy(), s, 0)
            z = self.branches.values(w.T, v.T)
            for k, t in enumerate(s.tolist()):
                thresholds.append(at_threshold(self.branches, t, partitions[k], z[:, k], a[:, k]))
        return thresholds

    @property
    def _jumps_at(self) -> list[float]:
        """The parameters at which the path jumps."""
        return [jump.parameter for jump in self.jumps]
