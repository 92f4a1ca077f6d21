"""Centred kernels, for kernels whose values are nearly constant and models with a free bias.

Rows may differ only in the last digits of their kernel values: of exp(-gamma |x - z|^2) where gamma
is small, of (x.z + coef0)^degree where a column is a year, of a given matrix with a constant added.
With a free bias the duals add up to zero, and for any origin o each kernel is equivalent to

    k(x, z) - k(x, o) - k(o, z) + k(o, o),

which can be computed from small numbers. Equal rows stay equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..twofold import Twofold
from ..validation import Floats
from .centring import FAR_OFF, shifted, shifts_of
from .kernel import Kernel, is_far, row_nearest_to_mean, squared_distances, squared_norms

FLAT_EXPONENT = 0.5  # mean of gamma |x - z|^2 below which an rbf kernel is nearly constant


@dataclass(frozen=True, eq=False)
class CentredKernel:
    """k(x, z) - k(x, o) - k(o, z) + k(o, o): ``CentredKernel(kernel, origin)(X, Z)``.

    Parameters
    ----------
    kernel : Kernel
        rbf, poly or precomputed.
    origin : (d,) array, or int
        o; with a precomputed kernel the index of a training row.
    """

    kernel: Kernel
    origin: Any

    @property
    def name(self) -> str:
        """The name of the kernel."""
        return self.kernel.name

    def at_origin(self, X: Any) -> tuple[Floats, float]:
        """Return k(x, o) - k(o, o) for all training rows, (n,), and k(o, o)."""
        if self.name == "precomputed":
            constant = float(X[self.origin, self.origin])
            return np.asarray(X[:, self.origin] - constant), constant
        if self.name == "rbf":
            return self._less_one(X, self.origin[None])[:, 0], 1.0
        (at, (step,)), degree = self._steps(shifted(X, self.origin)), int(self.kernel.degree)
        return _power_difference(at, step, degree), at**degree

    def bias_correction(self, X: Any, c: Floats) -> Floats:
        """Return how much larger the bias (k,) beside coefficients c (n, k) is than with k."""
        excess, constant = self.at_origin(X)
        total, rest = Twofold.of(c).sum()  # zero but for rounding
        return np.asarray(excess @ c + constant * (total + rest))

    def __call__(self, X: Any, Z: Any) -> Floats:
        """Return the (len(X), len(Z)) matrix of rows X with training rows Z.

        With a precomputed kernel X are kernel values, and Z is the (n, n) training matrix.
        """
        K = getattr(self, f"_{self.name}")(X, Z)
        if X is Z and self.name != "rbf":
            K += K.T.copy()
            K *= 0.5
        return K

    def _precomputed(self, X: Any, Z: Any) -> Floats:
        row = Z[self.origin]
        return (X - X[:, self.origin, None]) - (row - row[self.origin])

    def _rbf(self, X: Any, Z: Any) -> Floats:
        left = self._less_one(X, self.origin[None])
        right = left if X is Z else self._less_one(Z, self.origin[None])
        K = self._less_one(X, Z)
        K -= left + right.T
        return K

    def _less_one(self, X: Any, Z: Any) -> Floats:
        """Return k(x, z) - 1 of an rbf kernel."""
        exponent = squared_distances(X, Z)
        exponent *= -self.kernel.gamma
        return np.expm1(exponent, out=exponent)

    def _poly(self, X: Any, Z: Any) -> Floats:
        degree, U = int(self.kernel.degree), shifted(X, self.origin)
        V = U if X is Z else shifted(Z, self.origin)
        at, (left, right) = self._steps(U, V)
        product = self.kernel.gamma * Kernel()(U, V)
        # (plain + product)^degree - plain^degree, divided by product
        plain = (at + left)[:, None] + right
        base, total, power = plain + product, np.ones_like(plain), np.ones_like(plain)
        for _ in range(degree - 1):
            power *= plain
            total *= base
            total += power
        total *= product
        # plain^degree without the terms that depend on only one of the two rows
        for k in range(1, degree if right.any() else 0):
            total += np.outer(comb(degree, k) * _power_difference(at, left, degree - k), right**k)
        return total

    def _steps(self, *rows: Any) -> tuple[float, list[Floats]]:
        """Return gamma o.o + coef0, and gamma (x - o).o for each matrix of rows x - o."""
        gamma, origin = self.kernel.gamma, self.origin
        at = gamma * float(origin @ origin) + self.kernel.coef0
        return at, [gamma * np.asarray(matrix @ origin) for matrix in rows]


def _power_difference(at: float, step: Floats, degree: int) -> Floats:
    """Return (at + step)^degree - at^degree."""
    total = np.ones_like(step)
    for k in range(1, degree):
        total = total * (at + step) + at**k
    return total * step


Centred: TypeAlias = Kernel | CentredKernel


def plain_kernel(kernel: Centred) -> Kernel:
    """Return the kernel without its centring."""
    return kernel.kernel if isinstance(kernel, CentredKernel) else kernel


def centred_kernel(kernel: Kernel, X: Any) -> Centred:
    """Return an equivalent centred kernel if it loses fewer digits, otherwise the kernel itself."""
    origin_of = {"rbf": _of_flat, "poly": _of_poly, "precomputed": _of_matrix}.get(kernel.name)
    origin = None if origin_of is None else origin_of(kernel, X)
    return kernel if origin is None else CentredKernel(kernel, origin)


def _of_flat(kernel: Kernel, X: Any) -> Floats | None:
    """Return the row nearest to the mean if an rbf kernel is nearly constant and rows differ."""
    mean = np.asarray(X.mean(axis=0)).ravel()
    distances = squared_distances(X, mean[None])[:, 0]
    if 2.0 * kernel.gamma * distances.mean() >= FLAT_EXPONENT:
        return None
    row = X[[int(distances.argmin())]]
    row = (row.toarray() if sp.issparse(row) else np.asarray(row)).ravel()
    return row if squared_distances(X, row[None]).any() else None


def _of_poly(kernel: Kernel, X: Any) -> Floats | None:
    """Return the shifts of columns far from zero, or zeros where coef0 is large."""
    shifts = shifts_of(X)
    far = kernel.coef0 > FAR_OFF * kernel.gamma * squared_norms(X).max()
    return shifts if far or shifts.any() else None


def _of_matrix(_: Kernel, K: Floats) -> int | None:
    """Return the row nearest to the mean if entries lie far from zero and differ."""
    return row_nearest_to_mean(K) if is_far(K) else None
