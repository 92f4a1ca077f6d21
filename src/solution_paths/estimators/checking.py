"""What estimators check beside scikit-learn, and its errors with the argument's name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import check_cv

from ..validation import Rows, check_unmasked, plain_labels, shown

# an int, one of scikit-learn's splitters (which have no types), or pairs (train, test)
Folds: TypeAlias = Any
RAW = (TypeError, ValueError, OverflowError)
DUMP = re.compile(r":?\s*(array=)?\[.*\]\.?\s*", re.DOTALL)  # of values


@contextmanager
def naming_rows() -> Iterator[None]:
    """Let errors about rows and targets name the argument; types stay what they are."""
    try:
        yield
    except RAW as error:
        text = str(error)
        if re.search(r"\b[Xy]\b", text):
            raise
        if "inconsistent" in text:
            lengths = text.partition(": ")[2]
            raise ValueError(f"X and y must have as many rows, not {lengths}.") from error
        name = "X or y" if text.startswith("Complex") else "X"
        kind = TypeError if isinstance(error, TypeError) else ValueError
        reason = " ".join(DUMP.sub("; ", text).split()).rstrip(".; ")
        raise kind(
            f"{name} can't be used ({reason}); pass an (n, d) array of real numbers."
        ) from error


@contextmanager
def naming_weights() -> Iterator[None]:
    """Let errors of paths in weights speak of ``sample_weight``."""
    try:
        yield
    except ValueError as error:
        text = re.sub(r"\b(weights_from|weights_to|new_weights)\b", "sample_weight", str(error))
        raise ValueError(text) from error


def check_kind(X: Rows) -> None:
    """Refuse what would be converted silently: masked entries, dates."""
    check_unmasked(X, "X")
    own = np.ravel(np.asarray(getattr(X, "dtypes", getattr(X, "dtype", None)), dtype=object))
    if any(getattr(kind, "kind", "") in ("m", "M") for kind in own):
        raise ValueError(
            "X must be a numeric (n, d) array or CSR matrix, and it has dates; encode them as "
            "numbers first."
        )


def known_labels(y: Any) -> Any:
    """Return labels of one kind; a list is read entry by entry, as numpy wouldn't."""
    check_unmasked(y, "y")
    objects = getattr(y, "ndim", 0) == 1 and getattr(y, "dtype", None) == np.dtype(object)
    if objects or (isinstance(y, list | tuple) and len(y)):
        return plain_labels(y, len(y), "y")
    return y


def lies_between(value: object, low: float, high: float) -> bool:
    """Tell whether a value is a number strictly between two others."""
    return isinstance(value, Real) and low < float(value) < high


def folds(cv: Folds, X: Any, y: NDArray[Any], classifier: bool) -> list[tuple[Any, Any]]:
    """Return pairs of row numbers (train, test); neither may be empty."""
    try:
        pairs = [
            (train, test) for train, test in check_cv(cv, y, classifier=classifier).split(X, y)
        ]
    except RAW as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise ValueError(
            "cv must be a number of folds >= 2 that the rows of each class allow, a splitter of "
            f"scikit-learn, or pairs (train, test) of row numbers, not {shown(cv)} ({reason})."
        ) from error
    found = [(_numbers(train, X.shape[0]), _numbers(test, X.shape[0])) for train, test in pairs]
    if not found:
        raise ValueError(f"cv must give one fold or more, not none ({shown(cv)}).")
    return found


def _numbers(rows: ArrayLike, n: int) -> NDArray[np.int64]:
    """Return the row numbers of one side of a fold."""
    own = np.asarray(rows)
    if own.dtype == bool and own.shape == (n,):
        own = np.flatnonzero(own)
    fine = own.ndim == 1 and own.dtype.kind in "iu" and len(own) > 0
    if not fine or own.min() < 0 or own.max() >= n:
        raise ValueError(
            f"cv must give non-empty lists of row numbers from 0 to {n - 1}, not {shown(rows)}."
        )
    return own.astype(np.int64)
