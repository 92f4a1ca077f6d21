"""The linear map that ties the coordinates of a model together.

Samples come first, then features and free variables (a bias). With w under the ridge penalty,

    z_sample = scale X X' a_sample - B a_feature,        z_feature = B' a_sample,

or with a kernel's matrix K in place of X X'. What multiplies a feature in a value is -a_feature.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Map:
    """The map of n samples.

    Attributes
    ----------
    X : (n, D) array or CSR matrix, or None
        Columns under the ridge penalty, where there is no kernel.
    K : (n, n) array or None
    B : (n, p) array or CSR matrix
        Columns of features, and of free variables.
    scale : float
        One over the weight of the ridge penalty.
    """

    X: Any
    K: Floats | None
    B: Any
    scale: float = 1.0

    @property
    def n(self) -> int:
        """The number of samples."""
        return int(self.B.shape[0])

    @property
    def p(self) -> int:
        """The number of features and free variables."""
        return int(self.B.shape[1])

    @cached_property
    def diagonal(self) -> Floats:
        """(n,) how far each value moves with its own dual."""
        if self.K is not None:
            return np.asarray(np.diagonal(self.K) * self.scale)
        squares = self.X.power(2) if sp.issparse(self.X) else self.X**2
        return np.asarray(self.scale * np.asarray(squares.sum(axis=1)).ravel())


def rows_map(X: Any, free: Any = None, scale: float = 1.0) -> Map:
    """Return the map of rows: X (n, D) under the ridge, free columns (n, p), arrays or CSR."""
    return Map(X, None, np.empty((X.shape[0], 0)) if free is None else free, scale)


def gram_map(K: Floats, free: Floats | None = None, scale: float = 1.0) -> Map:
    """Return the map of a kernel matrix (n, n) with free columns (n, p)."""
    return Map(None, K, np.empty((len(K), 0)) if free is None else free, scale)
