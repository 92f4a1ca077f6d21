"""Kernels that are flat, or far from zero, less what a free bias makes up for.

What tells rows apart may be in the last digits of kernel values: of exp(-gamma |x - z|^2) where
gamma is small, of (x.z + coef0)^degree where a column is a year, of a given matrix with a constant
added. Beside a free bias, where duals add up to zero, all of these are as good as

    k(x, z) - k(x, o) - k(o, z) + k(o, o)

for any origin o, and that can be computed from small numbers. Equal rows stay equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..twofold import Twofold
from ..validation import Floats
from .centring import FAR_OFF, less, shifts_of
from .kernel import Kernel, is_far, middle_row, squared_distances, squared_norms

FLAT = 0.5  # gamma |x - z|^2, on average: below it exp is nearer to 1 than to 0


@dataclass(frozen=True, eq=False)
class CentredKernel:
    """k(x, z) - k(x, o) - k(o, z) + k(o, o): ``CentredKernel(kernel, origin)(X, Z)``.

    Parameters
    ----------
    kernel : Kernel
        rbf, poly or precomputed.
    origin : (d,) array, or int
        o; of a precomputed kernel the number of a training row.
    """

    kernel: Kernel
    origin: Any

    @property
    def name(self) -> str:
        """That of the kernel."""
        return self.kernel.name

    def at_origin(self, X: Any) -> tuple[Floats, float]:
        """Return k(x, o) - k(o, o) for all training rows, (n,), and k(o, o)."""
        if self.name == "precomputed":
            own = float(X[self.origin, self.origin])
            return np.asarray(X[:, self.origin] - own), own
        if self.name == "rbf":
            return self._less_one(X, self.origin[None])[:, 0], 1.0
        (at, (step,)), degree = self._steps(less(X, self.origin)), int(self.kernel.degree)
        return _rise(at, step, degree), at**degree

    def made_up_for(self, X: Any, c: Floats) -> Floats:
        """Return by how much a bias (k,) beside coefficients c (n, k) of rows is more, here."""
        own, constant = self.at_origin(X)
        total, rest = Twofold.of(c).sum()  # of coefficients that balance but for rounding
        return np.asarray(own @ c + constant * (total + rest))

    def __call__(self, X: Any, Z: Any) -> Floats:
        """Return the (len(X), len(Z)) matrix of rows X with training rows Z.

        With precomputed X are kernel values, and Z is the training rows' own (n, n) matrix.
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
        degree, U = int(self.kernel.degree), less(X, self.origin)
        V = U if X is Z else less(Z, self.origin)
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
        # plain^degree less what depends on one of the two rows alone
        for k in range(1, degree if right.any() else 0):
            total += np.outer(comb(degree, k) * _rise(at, left, degree - k), right**k)
        return total

    def _steps(self, *rows: Any) -> tuple[float, list[Floats]]:
        """Return gamma o.o + coef0, and by how much gamma x.o + coef0 of rows x - o is more."""
        gamma, origin = self.kernel.gamma, self.origin
        at = gamma * float(origin @ origin) + self.kernel.coef0
        return at, [gamma * np.asarray(own @ origin) for own in rows]


def _rise(at: float, step: Floats, degree: int) -> Floats:
    """Return (at + step)^degree - at^degree."""
    total = np.ones_like(step)
    for k in range(1, degree):
        total = total * (at + step) + at**k
    return total * step


Centred: TypeAlias = Kernel | CentredKernel


def plain_kernel(kernel: Centred) -> Kernel:
    """Return the kernel that users know."""
    return kernel.kernel if isinstance(kernel, CentredKernel) else kernel


def centred_kernel(kernel: Kernel, X: Any) -> Centred:
    """Return what is as good beside a free bias, and better known: mostly the kernel itself."""
    origin = {"rbf": _of_flat, "poly": _of_poly, "precomputed": _of_matrix}.get(kernel.name)
    found = None if origin is None else origin(kernel, X)
    return kernel if found is None else CentredKernel(kernel, found)


def _of_flat(kernel: Kernel, X: Any) -> Floats | None:
    """Return the row nearest to the mean where an rbf kernel is flat and rows differ."""
    mean = np.asarray(X.mean(axis=0)).ravel()
    apart = squared_distances(X, mean[None])[:, 0]
    if 2.0 * kernel.gamma * apart.mean() >= FLAT:
        return None
    row = X[[int(apart.argmin())]]
    row = (row.toarray() if sp.issparse(row) else np.asarray(row)).ravel()
    return row if squared_distances(X, row[None]).any() else None


def _of_poly(kernel: Kernel, X: Any) -> Floats | None:
    """Return what is taken off columns that are far from zero, or zero where coef0 is large."""
    shifts = shifts_of(X)
    far = kernel.coef0 > FAR_OFF * kernel.gamma * squared_norms(X).max()
    return shifts if far or shifts.any() else None


def _of_matrix(_: Kernel, K: Floats) -> int | None:
    """Return the row nearest to the mean where entries lie far from zero and differ."""
    return middle_row(K) if is_far(K) else None
