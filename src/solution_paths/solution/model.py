"""A model as arrays, for saved or pickled paths: it replaces the function that stated it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..problem import L1Constraint, Line, Losses, Pieces, Problem, Product, Repeated
from ..problem.maps import entries
from ..validation import Floats

Arrays = dict[str, Any]


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


def with_numbers(problem: Problem, numbers: dict[str, Floats]) -> Problem:
    """Return a problem with other numbers, and the same matrices."""

    def pieces(name: str) -> Pieces:
        prefix = f"{name}."
        fields = {k.removeprefix(prefix): v for k, v in numbers.items() if k.startswith(prefix)}
        return Pieces(**fields)

    groups = [replace(g, pieces=pieces(f"losses[{k}]")) for k, g in enumerate(problem.losses)]
    constraint = problem.constraint
    if constraint is not None:
        constraint = L1Constraint(float(numbers["constraint.radius"]), constraint.free)
    return replace(
        problem,
        losses=groups,
        penalty=None if problem.penalty is None else pieces("penalty"),
        linear=numbers["linear"],
        constraint=constraint,
    )


# -- to arrays and back -----------------------------------------------------------------------


def to_arrays(model: Affine) -> tuple[dict[str, Any], Arrays]:
    """Return a model as plain values and arrays."""
    problem, arrays = model.start, numbers_of(model)
    plain: dict[str, Any] = {
        "t0": model.t0,
        "ridge": problem.ridge,
        "features": problem.features,
        "groups": len(problem.losses),
        "penalty": problem.penalty is not None,
        "constraint": problem.constraint is not None,
    }
    for name, matrix in problem.matrices():
        if name != "ridge" and matrix is not None:
            plain[name] = put_matrix(matrix, name, arrays)
    return plain, arrays


def numbers_of(model: Affine) -> Arrays:
    """Return the arrays of a model without its matrices."""
    arrays = {"places": model.places}
    arrays |= {f"start/{name}": array for name, array in model.start.numbers()}
    arrays |= {f"rate/{name}": array for name, array in model.rates.items()}
    arrays |= {f"low/{name}": array for name, array in model.low.items()}
    return arrays | {f"value/{name}": array for name, array in model.values.items()}


def with_arrays(model: Affine, arrays: Arrays) -> Affine:
    """Return the model with the same matrices and other numbers."""
    start = with_numbers(model.start, _within(arrays, "start/"))
    rates, low, values = (_within(arrays, f"{part}/") for part in ("rate", "low", "value"))
    return Affine(start, model.t0, rates, low, arrays["places"], values)


def from_arrays(plain: dict[str, Any], arrays: Arrays) -> Affine:
    """Return a model from the output of `to_arrays`."""
    numbers = _within(arrays, "start/")

    def pieces(name: str) -> Pieces:
        return Pieces(**_within(numbers, f"{name}."))

    def matrix(name: str) -> Any:
        return take_matrix(plain[name], name, arrays) if name in plain else None

    groups = []
    for k in range(plain["groups"]):
        name = f"losses[{k}]"
        groups.append(Losses(pieces(name), matrix(f"{name}.X"), matrix(f"{name}.free")))
    constraint = None
    if plain["constraint"]:
        constraint = L1Constraint(float(numbers["constraint.radius"]), matrix("constraint.free"))
    problem = Problem(
        groups,
        pieces("penalty") if plain["penalty"] else None,
        ridge=plain["ridge"],
        linear=numbers["linear"],
        constraint=constraint,
        kernel=matrix("kernel"),
        factor=matrix("factor"),
        features=plain["features"],
    )
    rates, low, values = (_within(arrays, f"{part}/") for part in ("rate", "low", "value"))
    low = {name: low.get(name, np.zeros_like(rate)) for name, rate in rates.items()}
    return Affine(problem, plain["t0"], rates, low, arrays["places"], values)


def _within(arrays: Arrays, prefix: str) -> Arrays:
    return {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}


def put_matrix(X: Any, name: str, arrays: Arrays) -> Any:
    """Put a matrix into arrays; return a description for `take_matrix`."""
    if isinstance(X, Product):
        return [put_matrix(factor, f"{name}/{k}", arrays) for k, factor in enumerate(X.factors)]
    if isinstance(X, Repeated):
        return {"times": X.times, "of": put_matrix(X.X, f"{name}/of", arrays)}
    X = entries(X) if not isinstance(X, np.ndarray) else X
    if sp.issparse(X):
        arrays |= {f"{name}/{part}": getattr(X, part) for part in ("data", "indices", "indptr")}
        return {"shape": list(X.shape)}
    arrays[name] = X
    return "dense"


def take_matrix(how: Any, name: str, arrays: Arrays) -> Any:
    """Return a matrix that `put_matrix` put into arrays."""
    if isinstance(how, list):
        return Product(
            *(take_matrix(factor, f"{name}/{k}", arrays) for k, factor in enumerate(how))
        )
    if isinstance(how, dict) and "times" in how:
        return Repeated(take_matrix(how["of"], f"{name}/of", arrays), how["times"])
    if isinstance(how, dict):
        parts = tuple(arrays[f"{name}/{part}"] for part in ("data", "indices", "indptr"))
        return sp.csr_array(parts, shape=tuple(how["shape"]))
    return arrays[name]
