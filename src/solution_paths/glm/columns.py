"""Columns of X as the solver sees them: centred and, where rows are fewer, rotated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..kernels.kernel import total_memory
from ..validation import Floats


@dataclass(frozen=True, eq=False)
class Columns:
    """The matrix X - 1 m', or what a rotation V with X - 1 m' = R V' makes of it, R.

    The intercept absorbs what is subtracted, and a ridge penalty is the same for V'w. So solutions
    are those of X, and columns far from zero cost f no accuracy.

    Attributes
    ----------
    X : (n, k) array or CSR matrix
        A CSR matrix stays as it is; its means are subtracted from what it is multiplied with.
    means : (k,) array
        Means that are still to be subtracted: zero if X is an array.
    shift : (d,) array
        The means that are subtracted in total, m.
    rotation : (d, k) array or None
    """

    X: Any
    means: Floats
    shift: Floats
    rotation: Floats | None = None

    @classmethod
    def of(cls, X: Any, rotated: bool) -> Columns:
        """Return the columns of X; ``rotated`` allows a rotation where rows are fewer."""
        n, d = X.shape
        if rotated and 8.0 * (min(n, d) ** 2 + n * d * (n < d)) > total_memory():
            raise MemoryError(
                f"A ridge alone keeps all {d:,} columns in use, whose matrices are more than this "
                "machine's memory; take l1_ratio > 0, or fewer columns."
            )
        if sp.issparse(X) and not (rotated and n < d):
            means = np.asarray(X.mean(axis=0))
            return cls(X, means, means)
        X = X.toarray() if sp.issparse(X) else X
        centred = X - X[0]  # so that constants become zeros
        rest = centred.mean(axis=0)
        centred -= rest
        if not (rotated and n < d):
            return cls(centred, np.zeros(d), X[0] + rest)
        Q, R = np.linalg.qr(centred.T)
        return cls(np.ascontiguousarray(R.T), np.zeros(n), X[0] + rest, Q)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        n, k = self.X.shape
        return int(n), int(k)

    def times(self, w: Floats) -> Floats:
        """Return the products of rows with w."""
        return np.asarray(self.X @ w - self.means @ w)

    def against(self, a: Floats) -> Floats:
        """Return the products of columns with a."""
        return np.asarray(self.X.T @ a - self.means * a.sum())

    def curvature(self, weights: Floats, kept: Any) -> tuple[Floats, Floats]:
        """Return the weighted scatter matrix of the kept columns, and their weighted means."""
        Z, weight = self.X[:, kept], weights.sum()
        averages = np.asarray(Z.T @ weights) / weight
        if sp.issparse(Z):
            H = (Z.T @ sp.diags_array(weights) @ Z).toarray() - weight * np.outer(
                averages, averages
            )
        else:
            Z = (Z - averages) * np.sqrt(weights)[:, None]
            H = Z.T @ Z
        return H, averages - self.means[kept]

    def original(self, w: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Return the coefficients (K, d) and intercepts (K,) that belong to X itself."""
        w = w if self.rotation is None else w @ self.rotation.T
        return w, b - w @ self.shift
