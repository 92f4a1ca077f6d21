"""Several problems with the same matrices, whose numbers are stacked along a last axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..validation import Floats
from .pieces import FIELDS, Pieces
from .statement import Problem


class Stack(Pieces):
    """The pieces of B problems: arrays have a last axis of B, or of 1 where all are the same."""

    @classmethod
    def of(cls, stated: Sequence[Pieces]) -> Stack:
        """Return the pieces of each problem."""
        columns = zip(*(vars(pieces).values() for pieces in stated), strict=True)
        return cls._derived(*(stacked(list(arrays)) for arrays in columns))


@dataclass(frozen=True, eq=False)
class Bundle:
    """B problems with the same matrices.

    Attributes
    ----------
    one : Problem
        One of them: everything but its numbers is common to all.
    count : int
        B; 1 stands for any number.
    numbers : dict
        Arrays of `Problem.numbers`, with a last axis of B, or of 1 where all are the same.
    """

    one: Problem
    count: int
    numbers: dict[str, Floats]

    @classmethod
    def of(cls, problems: Sequence[Problem]) -> Bundle:
        """Return the bundle of stated problems."""
        names = [name for name, _ in problems[0].numbers()]
        columns = zip(*([array for _, array in p.numbers()] for p in problems), strict=True)
        numbers = zip(names, (stacked(list(arrays)) for arrays in columns), strict=True)
        return cls(problems[0], len(problems), dict(numbers))

    def taken(self, which: Any) -> Bundle:
        """Return the problems with some indices (k,)."""
        if self.count == 1:
            return self
        some = {k: x if x.shape[-1] == 1 else x[..., which] for k, x in self.numbers.items()}
        return Bundle(self.one, len(which), some)

    @property
    def losses(self) -> list[Stack]:
        """The functions of each group of losses."""
        return [self._pieces(f"losses[{k}]") for k in range(len(self.one.losses))]

    @property
    def penalty(self) -> Stack | None:
        """The functions of the coefficients."""
        return None if self.one.penalty is None else self._pieces("penalty")

    @property
    def linear(self) -> Floats:
        """The coefficients of free variables, (r, B or 1)."""
        return self.numbers["linear"]

    @property
    def radius(self) -> Floats:
        """The radius of the l1 constraint, (B or 1,)."""
        return self.numbers["constraint.radius"]

    def _pieces(self, name: str) -> Stack:
        return Stack._derived(*(self.numbers[f"{name}.{field}"] for field in FIELDS))


def stacked(arrays: Sequence[Floats]) -> Floats:
    """Return arrays along a last axis: of 1 where all are the same."""
    first = arrays[0]
    if all(array is first or np.array_equal(array, first) for array in arrays[1:]):
        return first[..., None]
    return np.stack(arrays, axis=-1)
