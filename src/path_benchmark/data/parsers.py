"""Parsers: from a file to a `Raw`. ``config/datasets.yaml`` chooses them by name.

Each takes (path, entry, options); its options are declared above it. Checksums are checked
elsewhere. A file that isn't as its entry says raises `Misread`, which names the line. An entry that
asks for what the file can't hold raises `WrongEntry`. The caller turns both, and the errors of
damaged archives, into a `DataError`.
"""

import bz2
import csv as text_of_columns
import gzip
import io
import lzma
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import scipy.sparse as sp
from pydantic import BeforeValidator, Field

from ..settings import Count, Exact, Text
from . import dna

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "whitespace": None}
DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
PAIR = re.compile(rf"([0-9]+):({DECIMAL.pattern})")


def _no_truth(value: object) -> object:
    """Refuse a truth value, which YAML makes of an unquoted word."""
    if isinstance(value, bool):
        raise ValueError(
            "YAML takes yes, no, on, off, true and false without quotes for truth values; if it is "
            f"a word of the file put it in quotes ({['no', 'yes'][value]!r}), else name another"
        )
    return value


Column = Annotated[int | str, BeforeValidator(_no_truth)]
Label = Annotated[int | str, BeforeValidator(_no_truth)]
Values = Annotated[tuple[Label, ...], Field(min_length=1, strict=False)]
Index = Annotated[int, Field(ge=0)]
OPENERS = {".xz": lzma.open, ".bz2": bz2.open, ".gz": gzip.open}


class Misread(ValueError):
    """The file isn't as its entry describes; the text says where and how."""


class WrongEntry(ValueError):
    """The entry asks for what its file can't hold: the list of data sets must be corrected."""


@dataclass
class Raw:
    """The content of a file, before any change of the target.

    `y` is -1/+1 for classification, float64 for regression. For DNA, `X` is the (n, length)
    array of base codes, and `window` are the bases that become features.
    """

    X: Any
    y: np.ndarray
    meta: dict[str, Any] = field(default_factory=dict)
    window: tuple[int, int] | None = None


class Classes(Exact):
    """Options of every form of a classification: both classes are named, nothing is guessed.

    Attributes
    ----------
    positive, negative : tuple, optional
        The labels of class +1 and of class -1.
    rest : bool
        All other labels are of class -1: one class against the rest.
    missing : {"error", "drop"}
        Treatment of rows without a label, with an unnamed label or with a missing value: an error
        that names the line, or the rows are left out and counted (``meta["dropped"]``).
    """

    positive: Values | None = None
    negative: Values | None = None
    rest: bool = False
    missing: Literal["error", "drop"] = "error"


def open_binary(path: Path) -> io.BufferedIOBase:
    """Open a file, decompressed according to its suffix."""
    return OPENERS.get(path.suffix, open)(path, "rb")


def number(value: object) -> float:
    """Return the finite number that a value stands for, or nan.

    Text must be a decimal number of the formats: Python's ``float`` also takes 1_000 and digits of
    other scripts.
    """
    if isinstance(value, str) and not DECIMAL.fullmatch(value):
        return np.nan
    try:
        result = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return np.nan
    return result if np.isfinite(result) else np.nan


def numbers(texts: Sequence[str]) -> np.ndarray:
    """Return the finite numbers that texts stand for, nan where one stands for none."""
    if not all(map(DECIMAL.fullmatch, texts)):
        return np.array([number(text) for text in texts])
    values = np.array(texts).astype(np.float64)
    return np.where(np.isfinite(values), values, np.nan)


def signs(labels: Sequence, options: Classes, lines: Sequence[int] | None = None) -> np.ndarray:
    """Return +1 and -1 for labels, and 0 for labels of rows to be dropped.

    Labels are compared as numbers where both are, else as text.

    Parameters
    ----------
    labels : n numbers or texts
    options : Classes
    lines : n ints, optional
        The line of each label in its file; by default the row, from 1.
    """
    positive = {_key(label) for label in options.positive or ()}
    negative = {_key(label) for label in options.negative or ()}
    sign = np.zeros(len(labels), dtype=np.int8)
    for row, label in enumerate(labels):
        key = _key(label)
        rest = options.rest and not _is_missing(key)
        sign[row] = 1 if key in positive else -1 if key in negative or rest else 0
        if sign[row] == 0 and options.missing == "error":
            where = f"line {lines[row]}" if lines is not None else f"row {row + 1}"
            minus = "any other" if options.rest else _listed(options.negative or ())
            raise Misread(
                f"{where} has the label {_shown(label)}, which is neither +1 "
                f"({_listed(options.positive or ())}) nor -1 ({minus})"
            )
    return sign


def _key(label: object) -> float | str:
    """Return the key by which a label is compared."""
    if isinstance(label, bytes):
        label = label.decode("utf-8", "replace")
    text = str(label).strip()
    value = number(text)
    return text if np.isnan(value) else value


def _is_missing(key: float | str) -> bool:
    return isinstance(key, str) and key.lower() in ("", "?", "nan", "na", "null", "none")


def _shown(label: object) -> str:
    key = _key(label)
    return f"{key:g}" if isinstance(key, float) else repr(key)


def _listed(labels: Iterable[Label]) -> str:
    return " or ".join(str(label) for label in labels)


def _raw(
    X: Any,
    target: Sequence,
    entry: Any,
    options: Exact,
    meta: dict[str, Any] | None = None,
    lines: Sequence[int] | None = None,
) -> Raw:
    """Return rows and targets; rows without a label are left out if the entry says so."""
    meta = meta or {}
    if entry.task != "classification":
        y = np.array([number(value) for value in target])
        for row in np.flatnonzero(np.isnan(y))[:1]:
            where = f"line {lines[row]}" if lines is not None else f"row {row + 1}"
            raise Misread(f"{where} has the target {_shown(target[row])}, which is no number")
        return Raw(X, y, meta)
    assert isinstance(options, Classes)
    y = signs(target, options, lines)
    labelled = y != 0
    if not labelled.all():
        meta["dropped"] = meta.get("dropped", 0) + int((~labelled).sum())
        X, y = X[labelled], y[labelled]
    return Raw(X, y, meta)


# -- separated text ---------------------------------------------------------------------------


class Csv(Classes):
    """Options for separated text; see `Classes` for labels.

    Attributes
    ----------
    separator : {"comma", "semicolon", "tab", "whitespace"}
    header : bool
        The first row names the columns; otherwise they have numbers from 0.
    index : bool
        The first column numbers the rows and is left out; the header may lack its name.
    target : int or str
        The column of labels or targets.
    drop : tuple
        Columns that are no features.
    marker : str
        The mark of a missing value; an empty field is one, too.
    categories : dict
        Column -> its words, which become 1, 2, ...
    """

    separator: Literal["comma", "semicolon", "tab", "whitespace"] = "comma"
    header: bool = False
    index: bool = False
    target: Column
    drop: Annotated[tuple[Column, ...], Field(strict=False)] = ()
    marker: Text = "?"
    categories: dict[str, Values] = Field(default_factory=dict)


def csv(path: Path, entry: Any, options: Csv) -> Raw:
    """Read separated text; columns are named by header or numbered from 0.

    Every row must have d features, the target and the dropped columns.
    """
    lines, rows = _fields(path, options.separator)
    names: list[Column] = list(range(len(rows[0]) - options.index))
    if options.header:
        names, lines, rows = [name.strip() for name in rows[0]], lines[1:], rows[1:]
        if options.index and rows and len(names) == len(rows[0]):
            names = names[1:]  # the index has an empty name, or one of its own
    expected = entry.d + 1 + len(options.drop) + options.index
    for line, row in zip(lines, rows, strict=True):
        if len(row) != expected:
            raise Misread(
                f"line {line} has {len(row)} columns where {expected} are expected (d = {entry.d}, "
                f"the target and {len(options.drop) + options.index} more), separated by "
                f"{options.separator}"
            )
    if len(names) != expected - options.index:
        raise Misread(f"its header names {len(names)} columns, but its rows have {expected}")
    for column in (options.target, *options.drop, *map(_column(options), options.categories)):
        if column not in names:
            raise WrongEntry(f"there is no column {column!r}; the file has {_some(names)}")
    if options.index:
        rows = [row[1:] for row in rows]
    position = {name: k for k, name in enumerate(names)}
    used = [k for name, k in position.items() if name not in options.drop]
    missing = [any(row[k] in ("", options.marker) for k in used) for row in rows]
    meta: dict[str, Any] = {}
    if any(missing) and options.missing == "drop":
        meta["dropped"] = sum(missing)
        rows = [row for row, lacks in zip(rows, missing, strict=True) if not lacks]
        lines = [line for line, lacks in zip(lines, missing, strict=True) if not lacks]
    features = [k for k in used if names[k] != options.target]
    codes = {position[_column(options)(key)]: words for key, words in options.categories.items()}
    X = np.empty((len(rows), len(features)))
    for j, k in enumerate(features):
        X[:, j] = _numbers([row[k] for row in rows], codes.get(k), names[k], lines)
    if options.header:
        meta["features"] = [str(names[k]) for k in features]
    target = [row[position[options.target]] for row in rows]
    return _raw(X, target, entry, options, meta, lines)


def _fields(path: Path, separator: str) -> tuple[list[int], list[list[str]]]:
    """Return the line numbers and the fields of all lines that aren't blank."""
    with open_binary(path) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="").read()
    delimiter = SEPARATORS[separator]
    if delimiter is None:
        rows = [(k, _words(line)) for k, line in enumerate(text.splitlines(), start=1)]
    else:
        reader = text_of_columns.reader(
            io.StringIO(text), delimiter=delimiter, skipinitialspace=True
        )
        rows = [(reader.line_num, [field.strip() for field in row]) for row in reader]
    rows = [(line, row) for line, row in rows if row]
    if not rows:
        raise Misread("it is empty")
    return [line for line, _ in rows], [row for _, row in rows]


def _words(line: str) -> list[str]:
    """Split at white space, but not inside double quotes."""
    parts = line.split('"')
    words = []
    for k, part in enumerate(parts):
        words += [part] if k % 2 else part.split()
    return words


def _column(options: Csv) -> Callable[[str], Column]:
    """Return the conversion of a key of the categories, which is text in YAML, to a column."""
    return str if options.header else int


def _numbers(
    texts: list[str], words: Sequence[Label] | None, name: Column, lines: Sequence[int]
) -> np.ndarray:
    """Return a column as numbers, its words as 1, 2, ..."""
    if words is not None:
        codes = {str(word): float(rank) for rank, word in enumerate(words, start=1)}
        values = np.array([codes.get(text, np.nan) for text in texts])
        expected = f"one of {', '.join(codes)}"
    else:
        values = numbers(texts)
        expected = "a finite number"
    for row in np.flatnonzero(np.isnan(values))[:1]:
        raise Misread(f"line {lines[row]}, column {name}, holds {texts[row]!r} and not {expected}")
    return values


def _some(names: Sequence[Column]) -> str:
    """List names of columns for an error message."""
    if names and all(isinstance(name, int) for name in names):
        return f"columns {names[0]} to {names[-1]}"
    return ", ".join(str(name) for name in names[:8]) + (", ..." if len(names) > 8 else "")


# -- LIBSVM's format --------------------------------------------------------------------------


class Svmlight(Classes):
    """Options for LIBSVM's format; see `Classes` for labels.

    Attributes
    ----------
    first : {0, 1}
        The number of the first column; the last one is first + d - 1.
    dense : bool
        The result is an array, not CSR.
    order : tuple of int
        For a dense result: the feature (from 1) of each column; by default in their order.
    """

    first: Literal[0, 1] = 1
    dense: bool = False
    order: Annotated[tuple[Count, ...], Field(strict=False)] = ()


def svmlight(path: Path, entry: Any, options: Svmlight) -> Raw:
    """Read LIBSVM's format."""
    from sklearn.datasets import load_svmlight_file

    with open_binary(path) as stream:
        # Decompressed into memory first: scikit-learn closes over a file it can't reopen.
        content = stream.read()
    _check_pairs(content, options.first, options.first + entry.d - 1)
    zero_based = options.first == 0
    X, y = load_svmlight_file(
        io.BytesIO(content), n_features=entry.d, zero_based=zero_based, dtype=np.float64
    )
    if options.dense:
        X = X.toarray()
        if options.order:
            X = np.ascontiguousarray(X[:, np.asarray(options.order) - 1])
    return _raw(X, y, entry, options, lines=_lines_of_rows(content))


def _check_pairs(content: bytes, first: int, last: int) -> None:
    """Check that each row is a number, then column:value pairs with ascending columns in range."""
    for line, row in enumerate(content.splitlines(), start=1):
        label, *pairs = row.partition(b"#")[0].decode("utf-8", "replace").split() or [None]
        if label is None:
            continue
        if not DECIMAL.fullmatch(label):
            raise _no_pair(line, label)
        before = first - 1
        for word in pairs:
            pair = PAIR.fullmatch(word)
            if pair is None or not math.isfinite(float(pair[2])):
                raise _no_pair(line, word)
            column = int(pair[1])
            if not before < column <= last:
                raise Misread(
                    f"line {line} has column {column}{_place(column, before, first)}; columns "
                    f"rise from {first} to {last}, as its entry says (first and d)"
                )
            before = column


def _no_pair(line: int, word: str) -> Misread:
    return Misread(
        f"line {line} holds {word[:40]!r} where a label, then column:value pairs are expected"
    )


def _place(column: int, before: int, first: int) -> str:
    return f" after column {before}" if first <= column <= before else ""


def _lines_of_rows(content: bytes) -> list[int]:
    """Return the line number of each row; blank lines and comments are no rows."""
    rows = enumerate(content.splitlines(), start=1)
    return [line for line, row in rows if row.partition(b"#")[0].strip()]


# -- MATLAB, ARFF, DNA, time series -----------------------------------------------------------


class Mat(Classes):
    """Variables of a MATLAB file that hold features and labels; see `Classes` for labels."""

    x: Text
    y: Text
    sparse: bool = False


def mat(path: Path, entry: Any, options: Mat) -> Raw:
    """Read two variables of a MATLAB file."""
    import scipy.io

    content = scipy.io.loadmat(path)
    variables = [name for name in content if not name.startswith("__")]
    for name in (options.x, options.y):
        if name not in variables:
            raise WrongEntry(f"there is no variable {name!r}; the file has {', '.join(variables)}")
    X, y = content[options.x], np.asarray(content[options.y]).ravel()
    if options.sparse or sp.issparse(X):
        X = sp.csr_matrix(X, dtype=np.float64)
    else:
        X = np.ascontiguousarray(X, dtype=np.float64)
    if X.ndim != 2 or X.shape[0] != len(y):
        raise Misread(f"{options.x} has shape {X.shape}, but {options.y} has {len(y)} entries")
    return _raw(X, y, entry, options)


class Arff(Exact):
    """The target column of an ARFF file, which must be numeric."""

    target: Text


def attribute_relation(path: Path, entry: Any, options: Arff) -> Raw:
    """Read an ARFF file of numeric columns."""
    import pandas as pd
    from scipy.io import arff

    with open_binary(path) as stream:
        text = stream.read().decode("utf-8")
    _check_values(text)
    try:
        records, _ = arff.loadarff(io.StringIO(text))
    except StopIteration:
        raise Misread("it has no line @data: it is truncated") from None
    frame = pd.DataFrame(records)
    if options.target not in frame:
        columns = _some(list(frame.columns))
        raise WrongEntry(f"there is no column {options.target!r}; the file has {columns}")
    for column in frame:
        if frame[column].dtype.kind not in "fiu":
            raise Misread(f"column {column} holds words and not numbers")
    target = frame.pop(options.target).to_numpy()
    X = np.ascontiguousarray(frame.to_numpy(dtype=np.float64))
    meta = {"features": [str(column) for column in frame.columns]}
    return _raw(X, target, entry, options, meta)


def _check_values(text: str) -> None:
    """Check every line after @data: a decimal number for each attribute, separated by commas."""
    rows, count = enumerate(text.splitlines(), start=1), 0
    for _, row in rows:
        word = row.strip().lower()
        count += word.startswith("@attribute")
        if word == "@data":
            break
    for line, row in rows:
        if not row.strip() or row.lstrip().startswith("%"):
            continue
        values = [value.strip() for value in row.split(",")]
        if len(values) != count:
            raise Misread(f"line {line} has {len(values)} values where {count} are expected")
        for value in values:
            if np.isnan(number(value)):
                raise Misread(f"line {line} holds {value!r} and not a finite number")


class Fasta(Classes):
    """The bases that become features: numbers before and after the one at `anchor` (from 0)."""

    anchor: Index
    before: Index
    after: Index


def fasta(path: Path, entry: Any, options: Fasta) -> Raw:
    """Read labelled sequences of equal length: a header line with label=..., then the bases."""
    with open_binary(path) as stream:
        rows = stream.read().splitlines()
    lines, labels, sequences = [], [], []
    for line, row in enumerate(rows, start=1):
        if row.startswith(b">"):
            if len(labels) > len(sequences):
                raise Misread(f"line {lines[-1]} is a header, and no sequence follows")
            label = [word[6:] for word in row.split() if word.startswith(b"label=")]
            if len(label) != 1:
                raise Misread(f"line {line} is a header without label=...")
            lines.append(line)
            labels += label
        elif row.strip():
            if len(labels) <= len(sequences):
                raise Misread(f"line {line} is a sequence without a header")
            sequences.append(row.strip())
            if len(sequences[-1]) != len(sequences[0]):
                raise Misread(
                    f"line {line} is a sequence of length {len(sequences[-1])}, and those before "
                    f"have length {len(sequences[0])}"
                )
    if len(labels) != len(sequences) or not labels:
        raise Misread(f"it has {len(labels)} labels but {len(sequences)} sequences")
    window = (options.anchor - options.before, options.anchor + options.after + 1)
    if not 0 <= window[0] < window[1] <= len(sequences[0]):
        raise WrongEntry(
            f"its window, bases {window[0]} to {window[1] - 1}, is outside sequences of length "
            f"{len(sequences[0])}"
        )
    raw = _raw(dna.codes(sequences), labels, entry, options, lines=lines)
    raw.window = window
    return raw


class Series(Exact):
    """The columns of dates and of the target of a time series."""

    date: Text
    target: Text


def series(path: Path, entry: Any, options: Series) -> Raw:
    """Read a time series: numeric columns in X, one of them also in y, the dates in meta."""
    lines, rows = _fields(path, "comma")
    names, lines, rows = rows[0], lines[1:], rows[1:]
    for column in (options.date, options.target):
        if column not in names:
            raise WrongEntry(f"there is no column {column!r}; the file has {_some(names)}")
    if len(names) != entry.d + 1:
        raise Misread(f"it has {len(names)} columns where {entry.d + 1} are expected")
    for line, row in zip(lines, rows, strict=True):
        if len(row) != len(names):
            raise Misread(f"line {line} has {len(row)} columns where {len(names)} are expected")
    at = names.index(options.date)
    try:
        dates = np.array([row[at] for row in rows], dtype="M8[D]")
    except ValueError as error:
        raise Misread(f"a date can't be read ({error})") from None
    for row in np.flatnonzero(np.diff(dates) <= np.timedelta64(0, "D"))[:1]:
        raise Misread(f"line {lines[row + 1]}: the dates do not rise")
    features = [k for k in range(len(names)) if k != at]
    X = np.column_stack([_numbers([r[k] for r in rows], None, names[k], lines) for k in features])
    meta = {"dates": dates, "features": [names[k] for k in features]}
    return Raw(X, X[:, meta["features"].index(options.target)].copy(), meta)


PARSERS: dict[str, Callable[..., Raw]] = {
    "csv": csv,
    "svmlight": svmlight,
    "mat": mat,
    "arff": attribute_relation,
    "fasta": fasta,
    "series": series,
}
