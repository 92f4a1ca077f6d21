"""A model as arrays: what a saved or pickled path knows of the function that stated it."""

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
    """A model by its arrays: a callable of t that returns a `Problem`.

    Attributes
    ----------
    start : Problem
        At t0.
    t0 : float
    rates, low : dict
        See `Line`.
    places, values : (3,) array, dict of (3, n) arrays
        Values of functions at their first knots, quadratic in t, at three places.
    """

    start: Problem
    t0: float
    rates: dict[str, Floats]
    low: dict[str, Floats]
    places: Floats
    values: dict[str, Floats]

    @classmethod
    def of(cls, line: Line, low: float, high: float) -> Affine:
        """Return a line's model, as it is between two parameters."""
        if isinstance(line.model, cls):
            return line.model
        places = np.array([low, low + (high - low) / 2, high])
        known: dict[str, list[Floats]] = {}
        for t in places.tolist():
            for name, own in line.at(t).numbers():
                if name.endswith(".value"):
                    known.setdefault(name, []).append(own)
        values = {name: np.stack(own) for name, own in known.items()}
        return cls(line.start, line.t0, line.rates, line.low, places, values)

    def __call__(self, t: float) -> Problem:
        """Return the problem at t."""
        numbers = {}
        for name, own in self.start.numbers():
            rate, low, moved = self.rates[name], self.low[name], t - self.t0
            there = own + rate * moved + low * moved if moved else own
            numbers[name] = np.where(rate == 0.0, own, there)
        share = self._shares(t)
        for name, own in self.values.items():
            numbers[name] = own[0] if (own == own[0]).all() else share @ own
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
        own = {k.removeprefix(prefix): v for k, v in numbers.items() if k.startswith(prefix)}
        return Pieces(**own)

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
    for name, own in problem.matrices():
        if name != "ridge" and own is not None:
            plain[name] = put_matrix(own, name, arrays)
    return plain, arrays


def numbers_of(model: Affine) -> Arrays:
    """Return the arrays of a model but for its matrices."""
    arrays = {"places": model.places}
    arrays |= {f"start/{name}": own for name, own in model.start.numbers()}
    arrays |= {f"rate/{name}": own for name, own in model.rates.items()}
    arrays |= {f"low/{name}": own for name, own in model.low.items()}
    return arrays | {f"value/{name}": own for name, own in model.values.items()}


def like(model: Affine, arrays: Arrays) -> Affine:
    """Return the model with the same matrices and these numbers."""
    start = with_numbers(model.start, _within(arrays, "start/"))
    rates, low, values = (_within(arrays, f"{part}/") for part in ("rate", "low", "value"))
    return Affine(start, model.t0, rates, low, arrays["places"], values)


def from_arrays(plain: dict[str, Any], arrays: Arrays) -> Affine:
    """Return a model from what `to_arrays` gave."""
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
    low = {name: low.get(name, np.zeros_like(own)) for name, own in rates.items()}
    return Affine(problem, plain["t0"], rates, low, arrays["places"], values)


def _within(arrays: Arrays, prefix: str) -> Arrays:
    return {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}


def put_matrix(X: Any, name: str, arrays: Arrays) -> Any:
    """Put a matrix into arrays; return what tells how to take it out."""
    if isinstance(X, Product):
        return [put_matrix(own, f"{name}/{k}", arrays) for k, own in enumerate(X.factors)]
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
        return Product(*(take_matrix(own, f"{name}/{k}", arrays) for k, own in enumerate(how)))
    if isinstance(how, dict) and "times" in how:
        return Repeated(take_matrix(how["of"], f"{name}/of", arrays), how["times"])
    if isinstance(how, dict):
        parts = tuple(arrays[f"{name}/{part}"] for part in ("data", "indices", "indptr"))
        return sp.csr_array(parts, shape=tuple(how["shape"]))
    return arrays[name]
