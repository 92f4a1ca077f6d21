"""Checks of estimators' arguments; scikit-learn's errors, with the argument's name added."""

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
ELSEWHERE = {  # parameters of scikit-learn's estimators, and what replaces them here
    "probability": "QuantileSVC(probability=True) and PathLogisticRegression have predict_proba",
    "decision_function_shape": "several classes are always one against the rest",
    "l1_ratio": "PathElasticNet takes lam1 and lam2",
    "tol": "paths are exact",
    "max_iter": "paths end by themselves",
    "random_state": "nothing is drawn at random",
}
T = TypeVar("T")
RAW_ERRORS = (TypeError, ValueError, OverflowError)
PRINTED_ARRAY = re.compile(r":?\s*(array=)?\[.*\]\.?\s*", re.DOTALL)


@dataclass_transform(field_specifiers=(field,))
def estimator(cls: type[T]) -> type[T]:
    """Make a dataclass whose constructor's errors name replacements of unknown parameters."""
    decorated = dataclass(eq=False, repr=False, match_args=False)(cls)
    init = decorated.__init__
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

    decorated.__init__ = checked  # type: ignore[method-assign]
    return decorated


@contextmanager
def naming_rows() -> Iterator[None]:
    """Let errors about rows and targets name the argument; the type of error is kept."""
    try:
        yield
    except RAW_ERRORS as error:
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
        reason = " ".join(PRINTED_ARRAY.sub("; ", text).split()).rstrip(".; ")
        few = "while a minimum of" in text
        remedy = "pass more of them" if few else "pass an (n, d) array of real numbers"
        raise kind(f"{name} can't be used ({reason}); {remedy}.") from error


@contextmanager
def naming_labels() -> Iterator[None]:
    """Let errors about the kind of labels name the argument."""
    try:
        yield
    except RAW_ERRORS as error:
        reason = str(error).partition(".")[0]
        raise ValueError(
            f"y can't be used as labels ({reason}); pass labels of classes, or take a regression."
        ) from error


def readable(X: Any) -> Any:
    """Check that X holds numbers; return it, a sparse matrix as a valid CSR.

    Scikit-learn checks the shape, and `validation.check_entries` NaN and infinity.
    """
    check_unmasked(X, "X")
    if not sp.issparse(X):
        check_numeric(X, "X", "an (n, d) array of real numbers")
    elif X.ndim == 2:
        X = check_sparse(X, "X", copy=False)
    return X


def required(y: Any, model: object, kind: str) -> None:
    """Refuse missing targets."""
    if y is None:
        raise ValueError(
            f"This {type(model).__name__} estimator requires y to be passed, but the target y is "
            f"None; pass one {kind} for each row."
        )


def known_labels(y: Any) -> Any:
    """Return a vector of labels as labels of one kind; a list is read entry by entry."""
    check_dense(y)
    if isinstance(y, list | tuple):
        return plain_labels(y, len(y), "y") if len(y) else y
    dtype = getattr(y, "dtype", None)
    plain = isinstance(dtype, np.dtype) and dtype.kind in "biufcU"
    return plain_labels(y, len(y), "y") if getattr(y, "ndim", 0) == 1 and not plain else y


def known_targets(y: Any) -> Any:
    """Return targets, whose entries must be numbers."""
    check_dense(y)
    if hasattr(y, "__len__"):
        check_numeric(y, "y", "one number for each row")
    return y


def check_dense(y: Any) -> None:
    """Refuse a sparse matrix of labels or targets."""
    if sp.issparse(y):
        raise TypeError("y is a sparse matrix; pass an array, for example y.toarray().ravel().")


def lies_between(value: object, low: float, high: float) -> bool:
    """Return whether a value is a number strictly between two others."""
    return isinstance(value, Real) and low < float(value) < high


def usable_weights(weights: ArrayLike | None, n: int, labels: Labels | None) -> Floats:
    """Return sample weights, positive in every class; all 1 by default."""
    checked = check_weights(1.0 if weights is None else weights, n, "sample_weight")
    check_every_class(checked, labels)
    return checked


def check_every_class(weights: Floats, labels: Labels | None) -> None:
    """Refuse weights that are all zero, or zero for a whole class."""
    if not weights.any():
        raise ValueError("sample_weight is zero everywhere; give some sample a positive weight.")
    lost = weightless_class(weights, labels)
    if lost:
        raise ValueError(
            f"sample_weight is zero for every instance{lost}; give at least one of them a positive "
            "weight, or leave out the class."
        )


def weights_of_classes(class_weight: ClassWeight, y: Labels, weights: Floats) -> Floats:
    """Return the weight of each sample's class, (n,).

    With "balanced" it is the weight of all samples, divided by that of the class and by the number
    of classes.
    """
    if class_weight is None:
        return np.ones(len(y))
    classes, codes = np.unique(y, return_inverse=True)
    if class_weight == "balanced":
        factors = compute_class_weight(class_weight, classes=classes, y=y, sample_weight=weights)
    else:
        assert isinstance(class_weight, dict)
        factors = np.array([float(class_weight.get(label, 1.0)) for label in classes.tolist()])
    return np.asarray(factors[codes], dtype=np.float64)


def check_class_weight(class_weight: ClassWeight, classes: Labels) -> None:
    """Check weights of classes: numbers > 0 by labels that occur."""
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

    ``split`` holds further arguments of splitters: groups. "loo" leaves out one row at a time.
    """
    cv = LeaveOneOut() if isinstance(cv, str) and cv == "loo" else cv
    try:
        splitter = check_cv(cv, y, classifier=classifier)
        pairs = [(train, test) for train, test in splitter.split(X, y, **split)]
    except RAW_ERRORS as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise ValueError(
            "cv must be a number of folds >= 2 that the rows of each class allow, 'loo', a "
            "splitter of scikit-learn, or pairs (train, test) of row numbers, not "
            f"{shown(cv)} ({reason})."
        ) from error
    checked = [(_numbers(train, X.shape[0]), _numbers(test, X.shape[0])) for train, test in pairs]
    if not checked:
        raise ValueError(f"cv must give one fold or more, not none ({shown(cv)}).")
    return checked


def remedy_of_folds(y: Labels, weights: Floats, parameter: str) -> str:
    """Return the remedy for folds whose training rows are of one class, for messages."""
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
    numbers = np.asarray(rows)
    if numbers.dtype == bool and numbers.shape == (n,):
        numbers = np.flatnonzero(numbers)
    fine = numbers.ndim == 1 and numbers.dtype.kind in "iu" and len(numbers) > 0
    if not fine or numbers.min() < 0 or numbers.max() >= n:
        raise ValueError(
            f"cv must give non-empty lists of row numbers from 0 to {n - 1}, not {shown(rows)}."
        )
    return numbers.astype(np.int64)
