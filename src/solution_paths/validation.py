"""Checks of arguments: each error names the argument and the remedy."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from .kernels import Kernel

Floats = NDArray[np.float64]


def check_X(X, name: str = "X") -> Floats | sp.csr_array:
    """Return X as a float64 array or CSR matrix without NaN or infinity."""
    if sp.issparse(X):
        X = sp.csr_array(X, dtype=np.float64)
        if not X.has_canonical_format:  # entries given twice count as their sum, squared too
            X = X.copy()
            X.sum_duplicates()
        entries = X.data
    else:
        try:
            X = np.ascontiguousarray(X, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{name} must be a numeric (n, d) array or CSR matrix; encode other columns first."
            ) from error
        entries = X
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"{name} must be a non-empty (n, d) array, not of shape {X.shape}.")
    if not np.isfinite(entries).all():
        raise ValueError(f"{name} contains NaN or infinity; impute or drop those rows first.")
    return X


def check_vector(v: ArrayLike, n: int, name: str) -> Floats:
    """Return v as n finite floats; a scalar is repeated."""
    v = np.asarray(v, dtype=np.float64)
    v = np.full(n, float(v)) if v.ndim == 0 else v.copy()
    if v.shape != (n,):
        raise ValueError(f"{name} has shape {v.shape}, but X has {n} rows; pass one entry a row.")
    if not np.isfinite(v).all():
        raise ValueError(f"{name} contains NaN or infinity; impute or drop those rows first.")
    return v


def check_labels(y: ArrayLike, n: int) -> tuple[Floats, Floats]:
    """Return y as -1, +1, and the two labels that these stand for."""
    y = np.asarray(y)
    if y.shape != (n,):
        raise ValueError(f"y has shape {y.shape}, but X has {n} rows; pass one label a row.")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError("y contains NaN or infinity; drop those rows first.")
    classes = np.unique(y)
    if len(classes) != 2:
        raise ValueError(
            f"y must hold exactly two labels, found {len(classes)}: {list(classes[:5])}; select "
            "two classes, or use a regression path."
        )
    return np.where(y == classes[1], 1.0, -1.0), classes


def check_weights(weights: ArrayLike, n: int, name: str) -> Floats:
    """Return weights as n finite floats >= 0."""
    weights = check_vector(weights, n, name)
    if (weights < 0).any():
        raise ValueError(
            f"{name} has negative entries (the least is {weights.min():g}); weights are >= 0."
        )
    return weights


def check_positive(value: float, name: str) -> float:
    """Return a finite float > 0."""
    value = float(value)
    if not (np.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be a finite number > 0, not {value!r}.")
    return value


def check_kernel(
    X, name: str, gamma: float | None = None, degree: int = 3, coef0: float = 0.0
) -> Kernel:
    """Return the kernel for rows X, gamma 1 / d unless given; check a precomputed matrix."""
    kernel = Kernel(name, 1.0 / X.shape[1] if gamma is None else gamma, degree, coef0)
    if name == "precomputed":
        _check_gram(X)
    return kernel


def _check_gram(K) -> None:
    if sp.issparse(K) or K.shape[0] != K.shape[1]:
        raise ValueError(
            f"kernel='precomputed' needs a dense square matrix of kernel values, not {K.shape}."
        )
    largest = np.abs(K).max()
    if np.abs(K - K.T).max() > 1e-10 * largest:
        raise ValueError("The precomputed kernel matrix is not symmetric; use (K + K.T) / 2.")
    least = np.linalg.eigvalsh(K)[0]
    if least < -1e-8 * largest * len(K):
        raise ValueError(
            f"The precomputed kernel matrix has the eigenvalue {least:.3g}, clearly below zero; "
            "a kernel must be positive semidefinite."
        )
