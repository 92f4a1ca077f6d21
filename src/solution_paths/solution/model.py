"""A model as arrays, for saved or pickled paths: it replaces the function that stated it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..problem import L1Constraint, Line, Losses, Pieces, Problem
from ..validation import Floats
from .archive import Arrays, Store, within


@dataclass(frozen=True, eq=False)
class Affine:
    """A model given by its arrays: a callable of t that returns a `Problem`.

    Attributes
    ----------
    start : Problem
        The problem at t0.
    t0 : float
    rates, low : dict
        See `Line`.
    places, values : (3,) array, dict of (3, n) arrays
        Values of functions at their first knots, which are quadratic in t, at three parameters.
    """

    start: Problem
    t0: float
    rates: dict[str, Floats]
    low: dict[str, Floats]
    places: Floats
    values: dict[str, Floats]

    @classmethod
    def of(cls, line: Line, low: float, high: float) -> Affine:
        """Return a line's model between two parameters."""
        if isinstance(line.model, cls):
            return line.model
        places = np.array([low, low + (high - low) / 2, high])
        values_at_places: dict[str, list[Floats]] = {}
        for t in places.tolist():
            for name, array in line.at(t).numbers():
                if name.endswith(".value"):
                    values_at_places.setdefault(name, []).append(array)
        values = {name: np.stack(arrays) for name, arrays in values_at_places.items()}
        return cls(line.start, line.t0, line.rates, line.low, places, values)

    def __call__(self, t: float) -> Problem:
        """Return the problem at t."""
        numbers = {}
        for name, array in self.start.numbers():
            rate, low, moved = self.rates[name], self.low[name], t - self.t0
            moved_array = array + rate * moved + low * moved if moved else array
            numbers[name] = np.where(rate == 0.0, array, moved_array)
        share = self._shares(t)
        for name, array in self.values.items():
            numbers[name] = array[0] if (array == array[0]).all() else share @ array
        return with_numbers(self.start, numbers)

    def _shares(self, t: float) -> Floats:
        """Return Lagrange's coefficients at t."""
        a, b, c = self.places.tolist()
        if a == c:
            return np.array([1.0, 0.0, 0.0])
        return np.array(
            [
                (t - b) * (t - c) / ((a - b) * (a - c)),
                (t - a) * (t - c) / ((b - a) * (b - c)),
                (t - a) * (t - b) / ((c - a) * (c - b)),
            ]
        )


def with_numbers(problem: Problem, numbers: Arrays) -> Problem:
    """Return a problem with other numbers, and the same matrices."""
    return _problem(numbers, dict(problem.matrices()) | {"features": problem.features})


def _problem(numbers: Arrays, constants: dict[str, Any]) -> Problem:
    """Return a problem from its numbers, its matrices and its count of features, by name."""

    def pieces(name: str) -> Pieces:
        return Pieces(**within(numbers, f"{name}."))

    groups: list[Losses] = []
    constraint = None
    while (name := f"losses[{len(groups)}]") + ".knots" in numbers:
        groups.append(Losses(pieces(name), constants[f"{name}.X"], constants[f"{name}.free"]))
    if "constraint.radius" in numbers:
        radius = float(numbers["constraint.radius"])
        constraint = L1Constraint(radius, constants["constraint.free"])
    return Problem(
        groups,
        pieces("penalty") if "penalty.knots" in numbers else None,
        ridge=float(constants["ridge"]),
        linear=numbers["linear"],
        constraint=constraint,
        kernel=constants.get("kernel"),
        features=constants["features"],
        factor=constants.get("factor"),
    )


def put_models(models: Sequence[Affine], store: Store) -> dict[str, Any]:
    """Put models with the same matrices into a store; return what is plain of them."""
    problem = models[0].start
    for prefix, model in zip(_prefixes(len(models)), models, strict=True):
        numbers = dict(model.start.numbers())
        parts = {"start": numbers, "rate": model.rates, "low": model.low, "value": model.values}
        for part, arrays in parts.items():
            store.arrays |= {f"{prefix}/{part}/{name}": array for name, array in arrays.items()}
        store.arrays[f"{prefix}/places"] = model.places
    plain = {"t0": models[0].t0, "features": problem.features}
    matrices = {k: store.put(matrix, f"problem/{k}") for k, matrix in problem.matrices()}
    return plain | {k: how for k, how in matrices.items() if how is not None}


def take_models(plain: dict[str, Any], count: int, store: Store) -> list[Affine]:
    """Return the models that `put_models` put into a store."""
    constants = {k: store.take(how, f"problem/{k}") for k, how in plain.items()}
    models = []
    for prefix in _prefixes(count):
        start, *moving = (
            within(store.arrays, f"{prefix}/{part}/") for part in ("start", "rate", "low", "value")
        )
        rates, low, values = moving
        places = store.arrays[f"{prefix}/places"]
        problem = _problem(start, constants)
        models.append(Affine(problem, plain["t0"], rates, low, places, values))
    return models


def _prefixes(count: int) -> list[str]:
    """Return the beginnings of names of the arrays of each model."""
    return ["problem", *(f"branch{k}" for k in range(1, count))]
