"""What estimators check beside scikit-learn, and its errors with the argument's name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import check_cv
from sklearn.utils.class_weight import compute_class_weight

from ..models.weights import without_weight
from ..validation import (
    Floats,
    Labels,
    Rows,
    check_number,
    check_unmasked,
    check_weights,
    plain_labels,
    shown,
)

# an int, one of scikit-learn's splitters (which have no types), or pairs (train, test)
Folds: TypeAlias = Any
ClassWeight: TypeAlias = dict[Any, float] | str | None
RAW = (TypeError, ValueError, OverflowError)
DUMP = re.compile(r":?\s*(array=)?\[.*\]\.?\s*", re.DOTALL)  # of values
TEXT = (str, bytes)


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


def check_kind(X: Rows) -> None:
    """Refuse what would be converted silently: masked entries, dates, numbers written as text."""
    check_unmasked(X, "X")
    own = np.ravel(np.asarray(getattr(X, "dtypes", getattr(X, "dtype", None)), dtype=object))
    if any(getattr(kind, "kind", "") in ("m", "M") for kind in own):
        raise ValueError(
            "X must be a numeric (n, d) array or CSR matrix, and it has dates; encode them as "
            "numbers first."
        )
    if _has_text(X):
        raise ValueError(
            "X can't be used (it has entries that are strings); convert them to numbers first, for "
            "example with X.astype(float)."
        )


def _has_text(X: Any) -> bool:
    """Tell whether some entry of an array, a table or nested lists is a text."""
    if sp.issparse(X) or (
        not isinstance(X, np.ndarray | list | tuple) and not hasattr(X, "dtypes")
    ):
        return False
    try:
        entries = np.asarray(X)
    except RAW:  # scikit-learn says what is wrong
        return False
    if entries.dtype.kind != "O":
        return entries.dtype.kind in "USTV"
    return any(isinstance(entry, TEXT) for entry in entries.flat)


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


def usable_weights(weights: ArrayLike | None, n: int, labels: Labels | None) -> Floats:
    """Return sample weights, of which every class has some; all 1 where none are given."""
    found = check_weights(1.0 if weights is None else weights, n, "sample_weight")
    check_every_class(found, labels)
    return found


def check_every_class(weights: Floats, labels: Labels | None) -> None:
    """Refuse weights that leave a class without any, or all samples."""
    if not weights.any():
        raise ValueError("sample_weight is zero everywhere; give some sample a positive weight.")
    lost = without_weight(weights, labels)
    if lost:
        raise ValueError(
            f"sample_weight is zero for every instance{lost}; give at least one of them a positive "
            "weight, or leave out the class."
        )


def weights_of_classes(class_weight: ClassWeight, y: Labels, weights: Floats) -> Floats:
    """Return by how much each sample counts for its class, (n,).

    "balanced" lets all classes count alike: the weight of all samples over that of its own, over
    the number of classes.
    """
    if class_weight is None:
        return np.ones(len(y))
    classes, codes = np.unique(y, return_inverse=True)
    if class_weight == "balanced":
        found = compute_class_weight(class_weight, classes=classes, y=y, sample_weight=weights)
    else:
        assert isinstance(class_weight, dict)
        found = np.array([float(class_weight.get(label, 1.0)) for label in classes.tolist()])
    return np.asarray(found[codes], dtype=np.float64)


def check_class_weight(class_weight: ClassWeight, classes: Labels) -> None:
    """Check weights of classes: some of the labels that there are, and numbers > 0."""
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced"):
        return
    if not isinstance(class_weight, dict):
        raise ValueError(
            'class_weight must be None, "balanced", or a dictionary from labels to weights > 0, '
            f"not {shown(class_weight)}."
        )
    known = classes.tolist()
    for label, weight in class_weight.items():
        if label not in known:
            raise ValueError(
                f"class_weight names the class {shown(label)}, but y has {shown(known)}; correct "
                "the label."
            )
        check_number(weight, f"class_weight of the class {label!r}", above=0)


def folds(
    cv: Folds, X: Any, y: NDArray[Any], classifier: bool, **split: Any
) -> list[tuple[Any, Any]]:
    """Return pairs of row numbers (train, test); neither may be empty.

    ``split`` is what splitters take beside rows and targets: groups.
    """
    try:
        splitter = check_cv(cv, y, classifier=classifier)
        pairs = [(train, test) for train, test in splitter.split(X, y, **split)]
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
