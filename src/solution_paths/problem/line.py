"""A model along one parameter: a function of t that returns a `Problem`, and its rates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..twofold import Twofold, two_product, two_sum
from ..validation import Floats, check_number
from .bundle import Bundle
from .maps import Product, Repeated
from .statement import Problem

PROBE = 0.381966  # the third parameter, as a fraction of the way from t0 to t1
MODEL_ROUNDING = 1e-12  # of an array's largest entry: error allowed to the model's arithmetic
# A path is piecewise linear only if these stand still.
STILL = ("curvature", "ridge", "X", "free", "kernel", "factor")
# These enter the objective's value alone and need not move affinely.
OBJECTIVE_ONLY = ("value",)


@dataclass(frozen=True, eq=False)
class Line:
    """A model whose knots, slopes and balances move affinely from t0 to t1.

    Attributes
    ----------
    model : callable
        Of t, returns a `Problem`.
    t0, t1 : float
        Ends; t0 > t1 goes downwards.
    start : Problem
        The problem at t0.
    rates, low : dict
        By name, the rate of change in t of each array of `Problem.numbers`, as a sum of two
        doubles, so that the numbers are exact at both ends.
    bends : bool
        Whether the value of some function doesn't move affinely.
    """

    model: Callable[[float], Problem]
    t0: float
    t1: float
    start: Problem
    rates: dict[str, Floats]
    low: dict[str, Floats]
    bends: bool = True

    def at(self, t: float) -> Problem:
        """Return the problem that the model states at t."""
        return stated(self.model, t)

    def together(self, t: Floats, anew: bool = False) -> Bundle:
        """Return the problems at t (B,), evaluated by rates; ``anew``: each stated by the model.

        Two of the evaluated problems are compared with those that the model states. If they differ
        by more than rounding, or a value bends, the model states all problems.
        """
        probes = {len(t) // 3, len(t) - 1}
        if not (anew or self.bends or len(t) <= len(probes)):
            bundle = Bundle(self.start, len(t), dict(self._evaluated(t)))
            if all(_alike(bundle, k, self.at(float(t[k]))) for k in probes):
                return bundle
        return Bundle.of([self.at(float(s)) for s in t])

    def _evaluated(self, t: Floats) -> Iterator[tuple[str, Floats]]:
        """Yield numbers at t, with a last axis of B, or of 1 where they stand still."""
        moved = t - self.t0
        for name, start in self.start.numbers():
            value, rate = start[..., None], self.rates[name][..., None]
            if rate.any():
                high, low = two_product(rate, moved)
                high, rest = two_sum(value, high)
                low = rest + (low + self.low[name][..., None] * moved)
                value = high + np.where(np.isfinite(high), low, 0.0)
            yield name, value

    @property
    def settles(self) -> bool:
        """Whether an optimum on an unbounded linear piece of the path stands still.

        It does if there is a ridge and only costs of losses grow: a moving optimum's ridge term
        would grow faster than the objective of a fixed point.
        """
        moving = {name: rate for name, rate in self.rates.items() if rate.any()}
        costs = [rate for name, rate in moving.items() if name.endswith("].slopes")]
        values = sum(name.endswith("].value") for name in moving)
        growing = all((rate[:, 0] <= 0).all() and (rate[:, -1] >= 0).all() for rate in costs)
        return self.start.ridge > 0 and len(costs) + values == len(moving) and growing


def along(
    model: Callable[[float], Problem], t0: float, t1: float, start: Problem | None = None
) -> Line:
    """Evaluate a model at two parameters, take its rates, and check them at a third.

    Parameters
    ----------
    model : callable
        A function of one number that returns a `Problem`; everything else (data, other
        parameters) is bound in it.
    t0, t1 : float
        Where the path begins and ends.
    start : Problem, optional
        The problem at t0, if it is known.

    Returns
    -------
    Line

    Raises
    ------
    ValueError
        Some array doesn't move affinely; the message names it.

    Examples
    --------
    >>> import numpy as np
    >>> from solution_paths.problem import Losses, Problem, along, losses
    >>> X, y = np.array([[0.0], [1.0], [3.0]]), np.array([0.0, 2.0, 1.0])
    >>> def model(eps):
    ...     loss = losses.epsilon_insensitive(y, eps, cost=1.0)
    ...     return Problem(Losses(loss, X, free=1.0), ridge=1.0)
    >>> along(model, 0.5, 0.1).rates["losses[0].knots"][0]
    array([-1.,  1.])
    """
    t0, t1 = check_number(t0, "t0"), check_number(t1, "t1")
    if t0 == t1:
        raise ValueError(f"t0 and t1 are both {t0:g}; give the two ends of a path.")
    middle = t0 + PROBE * (t1 - t0)
    first = stated(model, t0) if start is None else start
    last, probe = stated(model, t1), stated(model, middle)
    for other in (last, probe):
        _check_still(first, other)
    ends, probed = dict(last.numbers()), dict(probe.numbers())
    rates, low, bends = {}, {}, False
    for name, array in first.numbers():
        rise, curved = _rise(name, array, ends[name], probed[name], (middle - t0) / (t1 - t0))
        bends = bends or curved
        if not rise.high.any():  # most arrays stand still: one array of zeros serves for both
            rise = Twofold(rise.high, rise.high)
        rates[name], low[name] = rise.divided(t1 - t0)
    return Line(model, t0, t1, first, rates, low, bends)


def stated(model: Callable[[float], Problem], t: float) -> Problem:
    """Return the problem that a model states at t."""
    problem = model(t)
    if not isinstance(problem, Problem):
        kind = type(problem).__name__
        raise ValueError(f"The model returns a {kind} at {t:g}; let it return a Problem.")
    return problem


def _alike(bundle: Bundle, k: int, stated: Problem) -> bool:
    """Tell whether the k-th problem of a bundle is the stated one to within rounding."""
    for name, array in stated.numbers():
        evaluated = bundle.numbers[name]
        evaluated = evaluated[..., min(k, evaluated.shape[-1] - 1)]
        if array.shape != evaluated.shape:
            return False
        if not np.array_equal(array, evaluated):
            with np.errstate(invalid="ignore"):
                off = np.abs(np.where(array == evaluated, 0.0, array - evaluated))
            if not (off <= MODEL_ROUNDING * _size(array)).all():
                return False
    return True


def _size(*arrays: Floats) -> float:
    """Return the largest finite entry."""
    return float(max(np.abs(array[np.isfinite(array)]).max(initial=0.0) for array in arrays))


def _rise(name: str, a: Floats, b: Floats, c: Floats, share: float) -> tuple[Twofold, bool]:
    """Return b - a, and whether c differs from a + share (b - a), which is an error but for values.

    ``share`` is the place of c on the way from a to b.
    """
    stays = (a == b) & (a == c)  # infinite ends of domains too
    if stays.all():
        return Twofold.of(np.zeros(a.shape)), False
    with np.errstate(invalid="ignore"):
        exact = Twofold.of(np.where(stays, 0.0, b)).plus(Twofold.of(np.where(stays, 0.0, -a)))
        rise = exact.high
        off = np.abs(np.where(stays, 0.0, a + share * rise - c))
    curved = not (off <= MODEL_ROUNDING * _size(a, b, c)).all()
    if name.endswith(OBJECTIVE_ONLY):
        return exact, curved
    if curved:
        raise ValueError(
            f"{name} does not move affinely with the parameter; use another one, such as its "
            "inverse 1/t, or multiply the whole objective by a function of it."
        )
    if name.endswith(STILL) and rise.any():
        raise ValueError(
            f"{name} moves with the parameter, so that the path isn't piecewise linear; divide "
            "the objective by what moves it, and use 1/t as the parameter."
        )
    return exact, False


def _check_still(first: Problem, other: Problem) -> None:
    """Raise an error if the matrices of two problems differ: a parameter may not move them."""
    shapes, others = ({k: v.shape for k, v in p.numbers()} for p in (first, other))
    if shapes != others:
        name = next(k for k in [*shapes, *others] if shapes.get(k) != others.get(k))
        raise ValueError(
            f"{name} has shape {shapes.get(name)} at one parameter and {others.get(name)} at "
            "another; state the same losses at all of them."
        )
    for (name, matrix), (_, other_matrix) in zip(first.matrices(), other.matrices(), strict=True):
        if not _same(matrix, other_matrix):
            raise ValueError(
                f"{name} changes with the parameter; only knots, slopes, domains, `linear` and the "
                "radius of the constraint may: move the parameter into these, for example by "
                "dividing the objective by it."
            )


def _same(a: Any, b: Any) -> bool:
    """Tell whether two matrices are equal; two operators are if they are the same object."""
    if a is b:
        return True
    if type(a) is not type(b) or a.shape != b.shape:
        return False
    if isinstance(a, Product):
        pairs = zip(a.factors, b.factors, strict=False)
        return len(a.factors) == len(b.factors) and all(_same(x, y) for x, y in pairs)
    if isinstance(a, Repeated):
        return a.times == b.times and _same(a.X, b.X)
    if sp.issparse(a):
        fields = ("data", "indices", "indptr")
        return all(np.array_equal(getattr(a, field), getattr(b, field)) for field in fields)
    return isinstance(a, np.ndarray) and np.array_equal(a, b)
