"""What estimators check beside scikit-learn, and its errors with the argument's name."""

from __future__ import annotations

import difflib
import functools
import inspect
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, TypeAlias, TypeVar, dataclass_transform

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import LeaveOneOut, check_cv
from sklearn.utils.class_weight import compute_class_weight

from ..models.weights import weightless_class
from ..validation import (
    Floats,
    Labels,
    check_number,
    check_numeric,
    check_sparse,
    check_unmasked,
    check_weights,
    plain_labels,
    shown,
)

# an int, one of scikit-learn's splitters (which have no types), or pairs (train, test)
Folds: TypeAlias = Any
ClassWeight: TypeAlias = dict[Any, float] | str | None
ELSEWHERE = {  # parameters of scikit-learn's estimators that have another place here
    "probability": "QuantileSVC(probability=True) and PathLogisticRegression have predict_proba",
    "decision_function_shape": "several classes are always one against the rest",
    "l1_ratio": "PathElasticNet takes lam1 and lam2",
    "tol": "paths are exact",
    "max_iter": "paths end by themselves",
    "random_state": "nothing is drawn at random",
}
T = TypeVar("T")
RAW = (TypeError, ValueError, OverflowError)
DUMP = re.compile(r":?\s*(array=)?\[.*\]\.?\s*", re.DOTALL)  # of values


@dataclass_transform(field_specifiers=(field,))
def estimator(cls: type[T]) -> type[T]:
    """Make a constructor of a class's fields, which says of others what does their work."""
    made = dataclass(eq=False, repr=False, match_args=False)(cls)
    init = made.__init__
    known = list(inspect.signature(init).parameters)[1:]

    @functools.wraps(init)
    def checked(self: Any, *values: Any, **named: Any) -> None:
        for name in named:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                remedy = f"did you mean {near[0]}" if near else f"it takes {', '.join(known)}"
                remedy = ELSEWHERE.get(name, remedy)
                raise TypeError(f"{type(self).__name__} takes no {name}; {remedy}.")
        init(self, *values, **named)

    made.__init__ = checked  # type: ignore[method-assign]
    return made


@contextmanager
def naming_rows() -> Iterator[None]:
    """Let errors about rows and targets name the argument; types stay what they are."""
    try:
        yield
    except RAW as error:
        kind, text = TypeError if isinstance(error, TypeError) else ValueError, str(error)
        if "inconsistent" in text:
            lengths = text.partition(": ")[2]
            raise ValueError(
                f"X and y must have as many rows, not {lengths}; pass one entry of y a row."
            ) from error
        if "y should be a 1d array" in text:
            raise kind(f"{text.rstrip('.')}; pass one entry for each row.") from error
        if text.startswith("Input y contains"):
            raise kind(f"{text.rstrip('.')}; impute or drop those rows first.") from error
        if re.search(r"\b[Xy]\b", text):
            raise
        name = "X or y" if text.startswith("Complex") else "X"
        reason = " ".join(DUMP.sub("; ", text).split()).rstrip(".; ")
        few = "while a minimum of" in text
        remedy = "pass more of them" if few else "pass an (n, d) array of real numbers"
        raise kind(f"{name} can't be used ({reason}); {remedy}.") from error


@contextmanager
def naming_labels() -> Iterator[None]:
    """Let errors about the kind of labels name the argument."""
    try:
        yield
    except RAW as error:
        reason = str(error).partition(".")[0]
        raise ValueError(
            f"y can't be used as labels ({reason}); pass labels of classes, or take a regression."
        ) from error


def readable(X: Any) -> Any:
    """Return rows of numbers whose shape scikit-learn has to check, a sparse matrix as a valid CSR.

    NaN and infinity are still to be looked for, with `validation.check_entries`.
    """
    check_unmasked(X, "X")
    if not sp.issparse(X):
        check_numeric(X, "X", "an (n, d) array of real numbers")
    elif X.ndim == 2:
        X = check_sparse(X, "X", copy=False)
    return X


def required(y: Any, model: object, kind: str) -> None:
    """Refuse targets that are missing."""
    if y is None:
        raise ValueError(
            f"This {type(model).__name__} estimator requires y to be passed, but the target y is "
            f"None; pass one {kind} for each row."
        )


def known_labels(y: Any) -> Any:
    """Return labels of one kind, if they are a vector; a list is read entry by entry."""
    check_dense(y)
    if isinstance(y, list | tuple):
        return plain_labels(y, len(y), "y") if len(y) else y
    dtype = getattr(y, "dtype", None)
    plain = isinstance(dtype, np.dtype) and dtype.kind in "biufcU"
    return plain_labels(y, len(y), "y") if getattr(y, "ndim", 0) == 1 and not plain else y


def known_targets(y: Any) -> Any:
    """Return targets that hold numbers, if they have a length."""
    check_dense(y)
    if hasattr(y, "__len__"):
        check_numeric(y, "y", "one number for each row")
    return y


def check_dense(y: Any) -> None:
    """Refuse a sparse matrix of labels or targets."""
    if sp.issparse(y):
        raise TypeError("y is a sparse matrix; pass an array, for example y.toarray().ravel().")


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
    lost = weightless_class(weights, labels)
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

    ``split`` is what splitters take beside rows and targets: groups. "loo" leaves out row by row.
    """
    cv = LeaveOneOut() if isinstance(cv, str) and cv == "loo" else cv
    try:
        splitter = check_cv(cv, y, classifier=classifier)
        pairs = [(train, test) for train, test in splitter.split(X, y, **split)]
    except RAW as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise ValueError(
            "cv must be a number of folds >= 2 that the rows of each class allow, 'loo', a "
            "splitter of scikit-learn, or pairs (train, test) of row numbers, not "
            f"{shown(cv)} ({reason})."
        ) from error
    found = [(_numbers(train, X.shape[0]), _numbers(test, X.shape[0])) for train, test in pairs]
    if not found:
        raise ValueError(f"cv must give one fold or more, not none ({shown(cv)}).")
    return found


def remedy_of_folds(y: Labels, weights: Floats, parameter: str) -> str:
    """Say what to do where training rows of a fold are of one class."""
    classes, counts = np.unique(y[weights > 0], return_counts=True)
    second = np.argsort(-counts, kind="stable")[1]
    rare, fewest = classes.tolist()[second], int(counts[second])
    if fewest > 1:
        return f"pass cv={min(fewest, 5)}, for folds that share out the rows of each class"
    return (
        f"the class {rare!r} has one row alone, which can't be trained and tested on: add rows of "
        f"it, or choose {parameter} yourself, with cv=None"
    )


def check_jobs(n_jobs: object) -> None:
    """Check a number of processes, as joblib takes it."""
    whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not whole or n_jobs == 0):
        raise ValueError(
            "n_jobs must be None or a whole number other than 0 (-1 for all processors), not "
            f"{shown(n_jobs)}."
        )


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
