"""Checks of arguments. Errors name the argument, what was wrong, and the remedy."""

from __future__ import annotations

import datetime
import numbers
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from .errors import PathWarning

Floats: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[Any]  # booleans, numbers or strings
Names: TypeAlias = tuple[str | int, ...]


class Sparse(Protocol):
    """A sparse matrix or array of scipy, as type checkers know it."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""

    def tocsr(self) -> Any:
        """Convert to compressed rows."""


Rows: TypeAlias = ArrayLike | Sparse  # samples: an array, a DataFrame, a sparse matrix
HUGE = 1e50  # products of a few numbers beyond this, or below 1 / HUGE, leave float64's range
BADLY_SCALED = 1e6
TIMES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
# kinds of labels, tested in this order: bool is a number, too
LABELS: dict[str, Any] = {
    "booleans": (bool, np.bool_),
    "numbers": numbers.Real,
    "strings": str,
    "bytes": bytes,
}


# -- numbers and choices ----------------------------------------------------------------------


def shown(value: object) -> str:
    """Return a value as messages show it: itself where it is short, else its type."""
    text = repr(value)
    return text if len(text) <= 60 and "\n" not in text else f"a {type(value).__name__}"


def check_number(
    value: Any,
    name: str,
    *,
    above: float | None = None,
    least: float | None = None,
    most: float | None = None,
    whole: bool = False,
    infinite: bool = False,
) -> float:
    """Return a real number within bounds as a float, or as an int when it must be whole."""
    if isinstance(value, np.generic | np.ndarray) and value.ndim == 0:
        value = value.item()
    real = isinstance(value, numbers.Real)  # type checkers know no order of such numbers
    fine = (
        real
        and not isinstance(value, bool)
        and (-np.inf < value < np.inf or (infinite and value == np.inf))
        and (above is None or value > above)
        and (least is None or value >= least)
        and (most is None or value <= most)
        and (not whole or value == int(value))
    )
    if not fine:
        wanted = "a whole number" if whole else "a number" if infinite else "a finite number"
        limits = ((">", above), (">=", least), ("<=", most))
        bounds = " and ".join(f"{sign} {b:g}" for sign, b in limits if b is not None)
        wanted = f"{wanted} {bounds}".rstrip()
        raise ValueError(f"{name} must be {wanted}, not {shown(value)}.")
    if (abs(value) > HUGE and not infinite) or (above == 0 and value < 1 / HUGE):
        raise ValueError(
            f"{name} = {value!r} would leave the range of floating-point numbers; choose units in "
            f"which it is between {1 / HUGE:g} and {HUGE:g}."
        )
    return int(value) if whole else float(value)


def check_flag(value: object, name: str) -> bool:
    """Return True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, not {shown(value)}.")
    return bool(value)


def check_callback(callback: object) -> None:
    """Check a callback that reports progress."""
    if not callable(callback):
        raise TypeError(
            f"callback must be callable as callback(done, n_events), not {shown(callback)}."
        )


def check_choice(value: object, name: str, choices: Sequence[str]) -> str:
    """Return a name that must be among ``choices``."""
    if not (isinstance(value, str) and value in choices):
        raise ValueError(f"{name} must be one of {', '.join(choices)}, not {shown(value)}.")
    return value


# -- rows -------------------------------------------------------------------------------------


def check_X(X: Rows, name: str = "X", copy: bool = True) -> Floats | sp.csr_array:
    """Return X as a float64 array or CSR matrix without NaN, infinity or values that overflow.

    With ``copy`` it is a read-only copy, so that nobody can change a path's data from outside; a
    read-only array (``flags.writeable`` is False, of its bases too) isn't copied.
    """
    names = feature_names(X)
    if sp.issparse(X):
        X = check_sparse(X, name, copy)
    else:
        X = _as_floats(X, name, "a numeric (n, d) array or CSR matrix")
        X = _read_only(X) if copy else X
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(
            f"{name} must be a non-empty (n, d) array, not of shape {X.shape}; pass rows of "
            "samples, at least one (a single column as reshape(-1, 1))."
        )
    check_entries(X, name, names)
    return X


def _as_floats(values: object, name: str, wanted: str) -> Floats:
    """Return values as a float64 array; text, complex numbers and masked entries are refused."""
    check_unmasked(values, name)
    check_numeric(values, name, wanted)
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biufO":
            raise TypeError(f"values of type {array.dtype}")
        return array.astype(np.float64, order="C", copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        reason = str(error).rstrip(".")
        raise ValueError(f"{name} can't be used ({reason}); pass {wanted}.") from error


# -- entries that aren't numbers --------------------------------------------------------------


def check_numeric(values: object, name: str, wanted: str) -> None:
    """Refuse entries that are neither real numbers nor None, naming the column and a remedy.

    Sparse matrices pass, and so does what is no array at all, except None and text.
    """
    if values is None or isinstance(values, str | bytes):
        raise ValueError(f"{name} is {shown(values)}; pass {wanted}.")
    for column, entries in _doubtful_columns(values):
        offence = _no_number(entries)
        if offence is None:
            continue
        what, example, remedy = offence
        if what == "text":
            columns = "encode it as numbers, for example with pandas.get_dummies, or leave it out"
            remedy = "pass numbers, one for each row" if column is None else columns
        where = "" if column is None else f" in column {column!r}"
        such = "" if example is None else f", such as {shown(example)}"
        raise ValueError(f"{name} has {what}{where}{such}; {remedy or 'pass ' + wanted}.")


def _doubtful_columns(values: Any) -> Iterator[tuple[str | int | None, NDArray[Any]]]:
    """Yield the name (None for a vector) and the entries of each column without a numeric dtype."""
    kinds: Any = getattr(values, "dtypes", None)
    if hasattr(kinds, "items") and hasattr(values, "iloc"):  # a DataFrame
        for k, (label, kind) in enumerate(kinds.items()):
            if not isinstance(kind, np.dtype) or kind.kind not in "biuf":
                name = label if isinstance(label, str | int) else str(label)
                yield name, np.asarray(values.iloc[:, k], dtype=object)
        return
    if not hasattr(values, "__len__"):
        return
    try:
        array = np.asarray(values, dtype=object if isinstance(values, list | tuple) else None)
    except ValueError:  # numpy can't say what shape it has
        return
    if array.dtype.kind in "biuf":
        return
    if array.ndim == 1:
        yield None, array.astype(object)
    elif array.ndim == 2:
        yield from enumerate(array.astype(object).T)


def _no_number(entries: NDArray[Any]) -> tuple[str, Any, str] | None:
    """Describe the first entry that is neither a number nor None: kind, example, remedy."""
    for entry in entries:
        if entry is None:
            continue
        if type(entry).__name__ in ("NAType", "NaTType"):
            return "missing values", entry, "impute or drop those rows first"
        if isinstance(entry, TIMES):
            return "dates or times", None, "pass numbers, for example days since the first one"
        if isinstance(entry, complex | np.complexfloating):
            remedy = "pass their parts as numbers"
            return "complex entries (Complex data not supported)", None, remedy
        if isinstance(entry, list | tuple | np.ndarray):
            return "rows of different lengths", None, ""
        text = isinstance(entry, str | bytes)
        try:
            float(entry)
        except OverflowError:
            return "an integer that no float64 holds", None, "choose another unit"
        except (TypeError, ValueError):
            return ("text", str(entry), "") if text else None  # numpy says of what type it is
        if text:
            remedy = "convert them, for example with pandas.to_numeric"
            return "numbers written as text", str(entry), remedy
    return None


def check_unmasked(values: object, name: str) -> None:
    """Refuse a masked array, whose hidden entries would count."""
    if np.ma.is_masked(values):
        raise ValueError(f"{name} has masked entries; drop those rows, or fill them first.")


def check_entries(values: Any, name: str, names: Names | None = None) -> None:
    """Refuse NaN, infinity and sizes that overflow in floats, dense or sparse."""
    entries = values.data if sp.issparse(values) else values
    largest = max(entries.max(initial=0.0), -entries.min(initial=0.0))
    if not largest < np.inf:  # nor is NaN
        where = "" if sp.issparse(values) or values.ndim != 2 else _first_column(values, names)
        raise ValueError(
            f"{name} contains NaN or infinity (or None){where}; impute or drop those rows first."
        )
    if largest > HUGE or 0.0 < largest < 1 / HUGE:
        raise ValueError(
            f"{name} has entries of size {largest:g}, whose products would leave the range of "
            f"floating-point numbers; choose units between {1 / HUGE:g} and {HUGE:g}."
        )


def _first_column(values: Floats, names: Names | None) -> str:
    """Name the first column with an entry that is not finite."""
    k = int(np.isfinite(values).all(axis=0).argmin())
    return f" in column {(k if names is None else names[k])!r}"


def check_sparse(X: Any, name: str, copy: bool) -> sp.csr_array:
    """Return a valid CSR matrix without duplicates: compiled code trusts indices blindly."""
    try:
        if X.dtype.kind not in "biuf":
            raise ValueError(f"its entries are {X.dtype}")
        _check_indices(X)
        X = sp.csr_array(X)
        X.check_format(full_check=True)
    except (TypeError, ValueError, AttributeError) as error:
        reason = str(error).rstrip(".")
        raise ValueError(
            f"{name} is not a valid sparse matrix of real numbers ({reason}); build it again, for "
            "example with scipy.sparse.csr_array."
        ) from error
    arrays = [X.data.astype(np.float64, copy=False), X.indices, X.indptr]
    if not X.has_canonical_format:  # entries given twice count as their sum, squared too
        X = sp.csr_array(tuple(arrays), shape=X.shape, copy=True)
        X.sum_duplicates()
        arrays = [X.data, X.indices, X.indptr]
    # a new container: the arrays of the user's can be replaced
    return sp.csr_array(
        tuple(_read_only(array) if copy else array for array in arrays), shape=X.shape
    )


def _check_indices(X: Any) -> None:
    """Check shape and indices, on which a conversion to CSR relies."""
    if X.ndim != 2:
        raise ValueError(f"it has shape {X.shape}")
    if hasattr(X, "check_format"):
        X.check_format(full_check=True)
    elif X.format == "coo" and X.nnz:
        for indices, size in zip(X.coords, X.shape, strict=True):
            if len(indices) != len(X.data) or indices.min() < 0 or indices.max() >= size:
                raise ValueError("its coordinates don't fit its shape")


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only array: the array itself where all its bases are, else a copy."""
    if not is_read_only(array):
        array = array.copy()
        array.flags.writeable = False
    return array


def is_read_only(array: NDArray[Any]) -> bool:
    """Tell whether nobody can write to an array, nor to what it is a view of."""
    base: object = array
    while isinstance(base, np.ndarray) and not base.flags.writeable:
        base = base.base
    return base is None


def feature_names(X: object) -> Names | None:
    """Return the names of a DataFrame's columns; None for other containers."""
    columns = getattr(X, "columns", None)
    if columns is None or callable(columns):
        return None
    return tuple(name if isinstance(name, str | int) else str(name) for name in columns)


def _check_names(names: Names | None, expected: Names | None, name: str) -> None:
    if names is None or expected is None or names == expected:
        return
    missing = [column for column in expected if column not in names]
    unknown = [column for column in names if column not in expected]
    what = "has the columns of X in another order"
    if missing or unknown:
        what = f"lacks the column {missing[0]!r}" if missing else f"has a new column {unknown[0]!r}"
    raise ValueError(
        f"{name} {what}; select the columns of the training data ({name}[path.feature_names]), or "
        "pass an array."
    )


def warn_if_badly_scaled(X: Floats | sp.csr_array, names: Names | None = None) -> None:
    """Warn, naming the columns, when the largest entries of columns differ by more than 1e6.

    Constant columns don't count. Entries are compared and not norms, so that the indicator of a
    rare category counts as a column of size 1.
    """
    high, low = X.max(axis=0), X.min(axis=0)
    if sp.issparse(X):
        high, low = high.toarray().ravel(), low.toarray().ravel()
    moving = np.flatnonzero(high > low)
    if len(moving) == 0:
        return
    size = np.maximum(np.abs(high), np.abs(low))[moving]
    if size.max() <= BADLY_SCALED * size.min():
        return

    def column(k: int) -> str:
        index = int(moving[k])
        label = f"column {index}" if names is None else f"column {index} ({names[index]!r})"
        return f"{label} with entries up to {size[k]:.3g}"

    small = np.flatnonzero(size < size.max() / BADLY_SCALED)
    more = f" and {len(small) - 1} more" if len(small) > 1 else ""
    warnings.warn(
        f"The columns of X differ in scale by a factor of {size.max() / size.min():.0e}: "
        f"{column(size.argmax())}, {column(size.argmin())}{more}; scale columns alike (for example "
        "with sklearn.preprocessing.StandardScaler), or the small ones hardly count and accuracy "
        "is lost.",
        PathWarning,
        stacklevel=callers_level(),
    )


def callers_level() -> int:
    """Return the user's stack level, as `warnings.warn` counts it in the calling function."""
    frame, level = sys._getframe(1), 1
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] == __package__:
        frame, level = frame.f_back, level + 1
    return level


# -- one entry for each row -------------------------------------------------------------------


def _check_length(v: NDArray[Any], n: int, name: str, of: str) -> None:
    if v.shape == (n, 1):
        raise ValueError(f"{name} has shape {v.shape}; flatten it, numpy.ravel({name}).")
    if v.shape != (n,):
        raise ValueError(
            f"{name} has shape {v.shape}, but {of} has {n} rows; pass one entry a row."
        )


def check_index(X: object, v: object, name: str, of: str = "X") -> None:
    """Refuse a Series whose index isn't that of the DataFrame X: which row is meant is unclear."""
    rows: Any = getattr(X, "index", None)
    index: Any = getattr(v, "index", None)
    if not (hasattr(rows, "equals") and hasattr(index, "equals")) or len(rows) != len(index):
        return
    if not rows.equals(index):
        raise ValueError(
            f"{name} has another index than {of}; align it ({name}.reindex({of}.index)), or pass "
            f"{name}.to_numpy() if its rows are in {of}'s order."
        )


def check_vector(v: ArrayLike, n: int, name: str, *, scalar: bool = True, of: str = "X") -> Floats:
    """Return v as a new array of n finite floats; a scalar is repeated."""
    v = _as_floats(v, name, "real numbers, one for each row")
    v = np.full(n, float(v)) if v.ndim == 0 and scalar else v.copy()
    _check_length(v, n, name, of)
    check_entries(v, name)
    return v


def check_grid(values: ArrayLike, name: str, above: bool = False) -> Floats:
    """Return the values of a parameter on a grid: one or more, all >= 0 (or > 0)."""
    values = check_vector(values, np.size(values), name, scalar=False, of="the grid")
    if not len(values) or values.min() < 0 or (above and values.min() == 0):
        sign = ">" if above else ">="
        raise ValueError(f"{name} must hold numbers {sign} 0, at least one: correct it.")
    return values


def check_levels(quantiles: ArrayLike, ascending: bool = False) -> Floats:
    """Return quantiles in [0, 1] as an array; with ``ascending`` they must ascend in (0, 1)."""
    wanted = "an ascending list of numbers inside (0, 1)"
    wanted = wanted if ascending else "a number in [0, 1], or a list of them"
    try:
        asked = np.atleast_1d(np.asarray(quantiles))
    except ValueError:  # ragged
        asked = np.empty(0)
    fits = asked.ndim == 1 and len(asked) > 0 and asked.dtype.kind in "iuf"
    if fits and ascending:
        fits = bool(asked[0] > 0 and asked[-1] < 1 and (np.diff(asked) > 0).all())
    if not (fits and ((asked >= 0) & (asked <= 1)).all()):
        raise ValueError(f"quantiles must be {wanted}, not {shown(quantiles)}.")
    return asked.astype(np.float64)


def check_edges(edges: ArrayLike, breakpoints: Floats, low: float, name: str) -> Floats:
    """Return ascending values of a path's parameter that include all breakpoints in between."""
    edges = check_vector(edges, np.size(edges), "edges", scalar=False, of="the path")
    fine = len(edges) > 1 and (np.diff(edges) > 0).all() and edges[0] >= low
    between = breakpoints[(breakpoints > edges[0]) & (breakpoints < edges[-1])] if fine else ()
    if not fine or not np.isin(between, edges).all():
        raise ValueError(
            f"edges must be two or more ascending values of {name} >= {low:g}, among them all "
            "breakpoints in between; take a part of path.breakpoints."
        )
    return edges


def check_counts(y: ArrayLike, n: int, name: str, of: str = "X") -> Floats:
    """Return n finite floats >= 0, which need not be whole."""
    y = check_vector(y, n, name, scalar=False, of=of)
    if (y < 0).any():
        raise ValueError(
            f"{name} has negative entries (the least is {y.min():g}); counts and rates are >= 0."
        )
    return y


def check_labels(y: ArrayLike, n: int) -> tuple[Floats, Labels]:
    """Return y as -1 and +1, and the two labels that they encode."""
    y = plain_labels(y, n, "y")
    classes = np.unique(y)
    if len(classes) != 2:
        raise ValueError(
            f"y must hold exactly two labels, found {len(classes)}: {classes[:5].tolist()}; select "
            "two classes, or use a regression path."
        )
    return np.where(y == classes[1], 1.0, -1.0), classes


def plain_labels(y: ArrayLike, n: int, name: str, of: str = "X") -> Labels:
    """Return n labels as an array of booleans, numbers or strings, whatever their container.

    Objects, pandas' strings, categories and nullable types can then be compared, and saved without
    pickles. (A list is read entry by entry: numpy would turn mixed entries into strings.)
    """
    check_unmasked(y, name)
    try:
        array = np.asarray(y, dtype=object if isinstance(y, list | tuple) else None)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a vector; pass one label for each row.") from error
    if array.ndim == 0:
        raise ValueError(f"{name} must be a vector, not {shown(y)}; pass one label for each row.")
    y = array
    _check_length(y, n, name, of)
    if y.dtype.kind not in "biufUS":
        y = _plain(y.astype(object), name)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError(f"{name} contains NaN or infinity; drop those rows first.")
    return y


def _plain(y: NDArray[Any], name: str) -> Labels:
    """Return an object array of labels of one kind as an array of that kind."""
    types = sorted({type(label) for label in y}, key=lambda kind: kind.__name__)
    kinds = {next((k for k, one in LABELS.items() if issubclass(t, one)), None) for t in types}
    plain = np.array(y.tolist()) if len(kinds) == 1 and None not in kinds else y
    if plain.dtype.kind not in "biufUS":
        named = " and ".join(kind.__name__ for kind in types)
        raise ValueError(
            f"{name} holds labels of type {named}; recode them as booleans, numbers or strings, "
            "all of one kind, and drop rows without a label."
        )
    return plain


def order_of(y: object) -> list[Any] | None:
    """Return the categories of an ordered categorical, lowest first; None for other labels."""
    kind: Any = getattr(y, "dtype", None)
    return kind.categories.tolist() if getattr(kind, "ordered", False) else None


def ordered_labels(y: Labels, order: list[Any] | None) -> tuple[NDArray[np.int64], Labels]:
    """Return codes of plain labels from 0, and the classes that occur, in ascending order.

    The order is ``order``, or that of numbers: the alphabet is no order of classes.
    """
    classes, codes = np.unique(y, return_inverse=True)
    if order is None and classes.dtype.kind in "US":
        raise ValueError(
            f"y holds strings such as {classes[:1].tolist()[0]!r}, whose order as classes is "
            "unknown; pass numbers, or pandas.Categorical(y, categories=[lowest, ..., highest], "
            "ordered=True)."
        )
    if order is None:
        return codes, classes
    ascending = np.argsort([order.index(label) for label in classes.tolist()])
    return np.argsort(ascending)[codes], classes[ascending]


def check_weights(weights: ArrayLike, n: int, name: str, of: str = "X") -> Floats:
    """Return weights as n finite floats >= 0."""
    weights = check_vector(weights, n, name, of=of)
    if (weights < 0).any():
        raise ValueError(
            f"{name} has negative entries (the least is {weights.min():g}); weights are >= 0."
        )
    return weights


def check_row_weights(weights: ArrayLike | None, n: int, of: str) -> Floats | None:
    """Return sample weights, some of them positive; None where none are given."""
    if weights is None:
        return None
    weights = check_weights(weights, n, "sample_weight", of=of)
    if not weights.any():
        raise ValueError("sample_weight is zero everywhere; give some row a positive weight.")
    return weights


def check_shares(weights: ArrayLike | None, n: int, of: str) -> Floats | None:
    """Return sample weights as shares of their sum; None where none are given."""
    shares = check_row_weights(weights, n, of)
    return None if shares is None else shares / shares.sum()


def check_rows(rows: ArrayLike, n: int, name: str) -> NDArray[np.int64]:
    """Return row numbers, each once."""
    try:
        array = np.atleast_1d(np.asarray(rows))
    except ValueError:  # ragged
        array = np.empty((0, 1), dtype=object)
    rows = array.astype(np.int64) if array.shape == (0,) else array
    if rows.dtype.kind not in "iu" or rows.ndim != 1:
        remedy = "numpy.flatnonzero(mask) of a mask" if rows.dtype == bool else "whole numbers"
        raise ValueError(
            f"{name} must be a list of row numbers, not of type {rows.dtype} and shape "
            f"{rows.shape}; pass {remedy}."
        )
    outside = rows[(rows < 0) | (rows >= n)]
    if len(outside):
        raise ValueError(
            f"{name} names row {outside[0]}, but X has rows 0 to {n - 1}; put every instance that "
            "may enter into X from the start, with weight 0."
        )
    values, counts = np.unique(rows, return_counts=True)
    if (counts > 1).any():
        raise ValueError(f"{name} names row {values[counts > 1][0]} twice; name each row once.")
    return rows.astype(np.int64)
