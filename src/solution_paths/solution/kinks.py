"""Kinks: parameters at which the weights or the free variables of a path change direction.

At a breakpoint the active set changes. Where rows are tied, or more of them are on the margin than
determine the weights, many changes affect duals only, and the weights go straight on. The kinks of
the weights belong to the model, independently of the order of the walk.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..homotopy.tolerances import DOUBLE
from ..problem.maps import basis, row_lengths
from ..validation import Floats
from .points import Places
from .recorded import RecordedPath
from .tolerances import COARSE

CLEAR_OF_ROUNDING = 8.0  # times the rounding error of a rate
Flags: TypeAlias = NDArray[np.bool_]
EPSILON = np.finfo(np.float64).eps
UNKNOWNS_AT_ONCE = 2**22  # unknowns or weights in memory at once


class _Motion(NamedTuple):
    """The motion of one part of the solution (weights, or free variables) on some pieces."""

    rates: Floats  # (k, d)
    errors: Floats  # (k,), rounding errors of the rates
    begins: Floats  # (k, d)
    ends: Floats  # (k, d)


class _Direction:
    """The direction in which one part of the solution moves since its last turn."""

    def __init__(self) -> None:
        self.rate: Floats | None = None
        self.error, self.speed, self.end = 0.0, 0.0, np.empty(0)

    def turns(self, motion: _Motion) -> Flags:
        """Tell at which pieces it turns or jumps, compared with the most accurate rate since.

        The rate of a very short piece is rounding. It is no turn; the next piece is compared with
        the rate before.
        """
        turning = np.zeros(len(motion.errors), dtype=np.bool_)
        speeds = _length(motion.rates)
        for k, (rate, error, speed) in enumerate(
            zip(motion.rates, motion.errors, speeds, strict=True)
        ):
            if self.rate is not None:
                least = max(
                    COARSE * max(speed, self.speed),
                    CLEAR_OF_ROUNDING * (error + self.error),
                )
                size = COARSE * max(_length(motion.begins[k]), _length(self.end))
                turning[k] = _length(rate - self.rate) > least
                turning[k] |= _length(motion.begins[k] - self.end) > size
            if self.rate is None or turning[k] or error < self.error:
                self.rate, self.error, self.speed = rate, error, speed
            self.end = motion.ends[k]
        return turning


def kinks(path: RecordedPath) -> Floats:
    """Return the statement's parameters at which w or v turns or jumps, ascending."""
    t = path.points.t
    first = np.flatnonzero(np.diff(t) > DOUBLE * np.abs(t[:-1]))
    block = max(1, UNKNOWNS_AT_ONCE // path.statement.solution_size)
    reader, parts, turning_points = _Reader(path), (_Direction(), _Direction()), [np.empty(0)]
    for start in range(0, len(first), block):
        pieces = first[start : start + block]
        turns = [
            part.turns(motion) for part, motion in zip(parts, reader.read(pieces), strict=True)
        ]
        turning_points.append(t[pieces[turns[0] | turns[1]]])
    return np.concatenate(turning_points)


def _length(values: Floats) -> Any:
    return np.sqrt((values * values).sum(axis=-1))


class _Reader:
    """The motion of the weights and the free variables of a path along its pieces.

    With a kernel the weights are replaced by their products with the rows of its factor or, without
    one, by the values at the rows: then equal functions have equal representations.
    """

    def __init__(self, path: RecordedPath) -> None:
        self.path, self.t = path, path.points.t
        self.statement, problem = path.statement, path.line.start
        self.products = problem.factor if problem.factor is not None else problem.kernel
        statement = self.statement
        self.of_duals = statement.parabolas is None and (
            statement.gram is not None or statement.silent > 0
        )
        self.lengths = self._lengths()
        rows = [basis(group.X) for group in problem.losses]
        if problem.kernel is not None:
            self.longest = float(np.sqrt(np.max(np.diagonal(problem.kernel), initial=0.0)))
        else:
            matrices = [x for x in rows if isinstance(x, np.ndarray) or sp.issparse(x)]
            self.longest = max((row_lengths(x).max(initial=0.0) for x in matrices), default=1.0)

    def _lengths(self) -> Floats:
        """Return the lengths of the vectors by which unknowns are multiplied to give weights."""
        statement = self.statement
        if not self.of_duals:
            return np.ones(1)
        rows = statement.rows if self.products is None else statement.rows @ self.products
        return row_lengths(rows) / (statement.ridge[0] if statement.silent else statement.scale)

    def read(self, first: Places) -> tuple[_Motion, _Motion]:
        """Return the motion of weights and of free variables on pieces, by their first points."""
        held, steps = self.statement.held, self.t[first + 1] - self.t[first]
        nodes = first, first + 1
        if np.isfinite(self.path.settled):
            nodes = tuple(np.minimum(points, max(len(self.t) - 2, 0)) for points in nodes)
        begins, ends = (self.path.points.at(points, held) for points in nodes)
        moved = ends - begins
        size = np.where(moved != 0.0, np.abs(begins) + np.abs(ends), 0.0)
        free = self.statement.free
        terms_of_w = size[:, : size.shape[1] - free]
        if self.of_duals:
            terms_of_w = terms_of_w[:, : len(self.lengths)]
        error_w = EPSILON * _length(terms_of_w * self.lengths) / steps
        rates, at_begin, at_end = (
            self._variables(u) for u in (moved / steps[:, None], begins, ends)
        )
        reach = self.longest * np.maximum(_length(at_begin[0]), _length(at_end[0]))
        still = (moved[:, moved.shape[1] - free :] == 0.0).all(axis=1)
        error_v = EPSILON * (_length(at_begin[1]) + _length(at_end[1]) + reach) / steps
        return (
            _Motion(rates[0], error_w, at_begin[0], at_end[0]),
            _Motion(rates[1], np.where(still, 0.0, error_v), at_begin[1], at_end[1]),
        )

    def _variables(self, unknowns: Floats) -> tuple[Floats, Floats]:
        w, v = self.statement.variables(unknowns)
        return (w if self.products is None else w @ self.products), v
