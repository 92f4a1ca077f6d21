"""Where the weights and free variables of a path change direction.

A breakpoint is where the active set changes. Of tied rows, or more of them on the margin than
determine the weights, many changes move duals alone: the weights go straight on. Their kinks are
those of the model, whatever the walk.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..problem.maps import basis, row_lengths
from ..validation import Floats
from .points import Places
from .recorded import RecordedPath

SAME = 2.0**-30  # of the faster of two rates, or of the larger of two solutions
CLEAR = 8.0  # times what rounding of recorded points makes of a rate
NEAR = 2.0**-46  # of the parameter: what lies no farther apart is one place
Flags: TypeAlias = NDArray[np.bool_]
EPSILON = np.finfo(np.float64).eps
NUMBERS = 2**22  # unknowns that are held together


class _Motion(NamedTuple):
    """Of some pieces of one part of the solution (weights, or free variables)."""

    rates: Floats  # (k, d)
    off: Floats  # (k,), what rounding makes of their lengths
    begins: Floats  # (k, d)
    ends: Floats  # (k, d)


class _Direction:
    """The direction in which one part of the solution moves, by the pieces seen since it turned."""

    def __init__(self) -> None:
        self.rate: Floats | None = None
        self.off, self.speed, self.end = 0.0, 0.0, np.empty(0)

    def turns(self, of: _Motion) -> Flags:
        """Tell at which pieces it turns or jumps; the one that is known best is compared with.

        A piece may be so short that its rate is rounding. Nothing turns there, but what follows is
        compared with what came before.
        """
        found = np.zeros(len(of.off), dtype=np.bool_)
        speeds = _length(of.rates)
        for k, (rate, off, speed) in enumerate(zip(of.rates, of.off, speeds, strict=True)):
            if self.rate is not None:
                least = max(SAME * max(speed, self.speed), CLEAR * (off + self.off))
                size = SAME * max(_length(of.begins[k]), _length(self.end))
                found[k] = _length(rate - self.rate) > least
                found[k] |= _length(of.begins[k] - self.end) > size
            if self.rate is None or found[k] or off < self.off:
                self.rate, self.off, self.speed = rate, off, speed
            self.end = of.ends[k]
        return found


def kinks(path: RecordedPath) -> Floats:
    """Return the walk's own parameters at which w or v turns or jumps, ascending."""
    t = path.points.t
    first = np.flatnonzero(np.diff(t) > NEAR * np.abs(t[:-1]))
    block = max(1, NUMBERS // max(path.statement.size, path.line.start.features))
    reader, parts, found = _Reader(path), (_Direction(), _Direction()), [np.empty(0)]
    for start in range(0, len(first), block):
        own = first[start : start + block]
        turns = [part.turns(of) for part, of in zip(parts, reader.read(own), strict=True)]
        found.append(t[own[turns[0] | turns[1]]])
    return np.concatenate(found)


def _length(values: Floats) -> Any:
    return np.sqrt((values * values).sum(axis=-1))


class _Reader:
    """Reads how the weights and the free variables of a path move along its pieces.

    With a kernel the weights are their products with the rows of its factor or, where it has none,
    the values at the rows: combinations of rows that are the same function are one.
    """

    def __init__(self, path: RecordedPath) -> None:
        self.path, self.t = path, path.points.t
        self.statement, problem = path.statement, path.line.start
        self.products = problem.factor if problem.factor is not None else problem.kernel
        own = self.statement
        self.of_duals = own.parabolas is None and (own.gram is not None or own.silent > 0)
        self.lengths = self._lengths()
        rows = [basis(group.X) for group in problem.losses]
        if problem.kernel is not None:
            self.longest = float(np.sqrt(np.max(np.diagonal(problem.kernel), initial=0.0)))
        else:
            known = [x for x in rows if isinstance(x, np.ndarray) or sp.issparse(x)]
            self.longest = max((row_lengths(x).max(initial=0.0) for x in known), default=1.0)

    def _lengths(self) -> Floats:
        """Return the lengths of what the unknowns that make weights are multiplied with."""
        own = self.statement
        if not self.of_duals:
            return np.ones(1)
        rows = own.rows if self.products is None else own.rows @ self.products
        return row_lengths(rows) / (own.ridge[0] if own.silent else own.scale)

    def read(self, first: Places) -> tuple[_Motion, _Motion]:
        """Return the motion of weights and of free variables on the pieces from some points on."""
        held, steps = self.statement.held, self.t[first + 1] - self.t[first]
        nodes = first, first + 1
        if np.isfinite(self.path.settled):
            nodes = tuple(np.minimum(own, max(len(self.t) - 2, 0)) for own in nodes)
        begins, ends = (self.path.points.at(own, held) for own in nodes)
        moved = ends - begins
        size = np.where(moved != 0.0, np.abs(begins) + np.abs(ends), 0.0)
        free = self.statement.free
        of_w = size[:, : size.shape[1] - free]
        if self.of_duals:
            of_w = of_w[:, : len(self.lengths)]
        off_w = EPSILON * _length(of_w * self.lengths) / steps
        rates, at_begin, at_end = (
            self._variables(u) for u in (moved / steps[:, None], begins, ends)
        )
        reach = self.longest * np.maximum(_length(at_begin[0]), _length(at_end[0]))
        still = (moved[:, moved.shape[1] - free :] == 0.0).all(axis=1)
        off_v = EPSILON * (_length(at_begin[1]) + _length(at_end[1]) + reach) / steps
        return (
            _Motion(rates[0], off_w, at_begin[0], at_end[0]),
            _Motion(rates[1], np.where(still, 0.0, off_v), at_begin[1], at_end[1]),
        )

    def _variables(self, unknowns: Floats) -> tuple[Floats, Floats]:
        w, v = self.statement.variables(unknowns)
        return (w if self.products is None else w @ self.products), v
