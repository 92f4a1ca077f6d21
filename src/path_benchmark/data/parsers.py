"""Parsers: a file in, a `Raw` out. They are chosen by name in ``config/datasets.yaml``.

Each takes (path, entry, options); its options are declared above it. It knows nothing of checksums.
Anything that goes wrong inside (a broken archive, a word where a number was expected) is turned
into a `DataError` by the caller.
"""

import bz2
import gzip
import io
import lzma
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
import scipy.io
import scipy.sparse as sp
from pydantic import Field
from scipy.io import arff
from sklearn.datasets import load_svmlight_file

from ..settings import Count, Exact, Text
from . import dna

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "whitespace": r"\s+"}
Column = int | str
Values = Annotated[tuple[int | str, ...], Field(min_length=1, strict=False)]
Index = Annotated[int, Field(ge=0)]
OPENERS = {".xz": lzma.open, ".bz2": bz2.open, ".gz": gzip.open}


@dataclass
class Raw:
    """What a file holds, before any change of the target.

    `y` is -1/+1 for classification, float64 for regression. For DNA, `X` is the (n, length)
    array of base codes, and `window` says which bases become features.
    """

    X: Any
    y: np.ndarray
    meta: dict[str, Any] = field(default_factory=dict)
    window: tuple[int, int] | None = None


def open_binary(path: Path) -> io.BufferedIOBase:
    """Open a file that may be packed; the suffix says how."""
    return OPENERS.get(path.suffix, open)(path, "rb")


def signs(raw: np.ndarray, positive: Iterable) -> np.ndarray:
    """Map raw labels to +1 where they're among `positive`, else -1 (text or numbers)."""
    raw = np.asarray(raw)
    if raw.dtype.kind in "OUS":
        hits = np.isin(raw.astype(str), [str(value) for value in positive])
    else:
        hits = np.isin(raw.astype(float), np.asarray(positive, dtype=float))
    return np.where(hits, 1, -1).astype(np.int8)


def _target(values: np.ndarray, entry, options: Exact) -> np.ndarray:
    if entry.task == "classification":
        return signs(values, options.positive)
    return np.asarray(values, dtype=np.float64)


class Csv(Exact):
    """How separated text is read.

    Attributes
    ----------
    separator : {"comma", "semicolon", "tab", "whitespace"}
    header : bool
        The first row names the columns; otherwise they have numbers from 0.
    index : bool
        The first column numbers the rows, and is left out.
    target : int or str
        The column with labels or the target.
    drop : tuple
        Columns that are no features.
    missing : str, optional
        What stands for a missing value; rows that have one are left out.
    categories : dict
        Column -> its words, which become 1, 2, ...
    positive : tuple, optional
        The labels that are +1.
    """

    separator: Literal["comma", "semicolon", "tab", "whitespace"] = "comma"
    header: bool = False
    index: bool = False
    target: Column
    drop: Annotated[tuple[Column, ...], Field(strict=False)] = ()
    missing: Text | None = None
    categories: dict[str, Values] = Field(default_factory=dict)
    positive: Values | None = None


def csv(path: Path, entry, options: Csv) -> Raw:
    """Read separated text with pandas; columns are named by header or numbered from 0."""
    with open_binary(path) as stream:
        frame = pd.read_csv(
            stream,
            sep=SEPARATORS[options.separator],
            header=0 if options.header else None,
            na_values=options.missing,
            keep_default_na=False,
            skipinitialspace=True,
        )
    if options.missing is not None:
        frame = frame.dropna()
    target = frame.pop(options.target).to_numpy()
    if options.index:
        frame = frame.drop(columns=frame.columns[0])
    frame = frame.drop(columns=list(options.drop))
    for column, names in options.categories.items():
        key = column if options.header else int(column)
        codes = {str(value): rank for rank, value in enumerate(names, start=1)}
        frame[key] = [codes[value] for value in frame[key]]
    X = np.ascontiguousarray(frame.to_numpy(dtype=np.float64))
    meta = {"features": [str(column) for column in frame.columns]} if options.header else {}
    return Raw(X, _target(target, entry, options), meta)


class Svmlight(Exact):
    """How LIBSVM's format is read.

    Attributes
    ----------
    dense : bool
        The result is an array, not CSR.
    order : tuple of int
        Of a dense one: which feature (from 1) becomes each column; as they are unless given.
    positive : tuple, optional
        The labels that are +1.
    """

    dense: bool = False
    order: Annotated[tuple[Count, ...], Field(strict=False)] = ()
    positive: Values | None = None


def svmlight(path: Path, entry, options: Svmlight) -> Raw:
    """Read LIBSVM's format."""
    with open_binary(path) as stream:
        # Decompressed into memory first: scikit-learn closes over a file it can't reopen.
        content = io.BytesIO(stream.read())
    X, y = load_svmlight_file(content, n_features=entry.d, zero_based=False, dtype=np.float64)
    if options.dense:
        X = X.toarray()
        if options.order:
            X = np.ascontiguousarray(X[:, np.asarray(options.order) - 1])
    return Raw(X, _target(y, entry, options))


class Mat(Exact):
    """Which variables of a MATLAB file are features and labels, and which labels are +1."""

    x: Text
    y: Text
    sparse: bool = False
    positive: Values | None = None


def mat(path: Path, entry, options: Mat) -> Raw:
    """Read two variables of a MATLAB file."""
    content = scipy.io.loadmat(path)
    X, y = content[options.x], np.asarray(content[options.y]).ravel()
    if options.sparse or sp.issparse(X):
        X = sp.csr_matrix(X, dtype=np.float64)
    else:
        X = np.ascontiguousarray(X, dtype=np.float64)
    return Raw(X, _target(y, entry, options))


class Arff(Exact):
    """Which column of an ARFF file is the target: a number, there are no labels."""

    target: Text


def attribute_relation(path: Path, entry, options: Arff) -> Raw:
    """Read an ARFF file of numeric columns."""
    with open_binary(path) as stream:
        records, _ = arff.loadarff(io.StringIO(stream.read().decode("utf-8")))
    frame = pd.DataFrame(records)
    target = frame.pop(options.target).to_numpy()
    X = np.ascontiguousarray(frame.to_numpy(dtype=np.float64))
    meta = {"features": [str(column) for column in frame.columns]}
    return Raw(X, _target(target, entry, options), meta)


class Fasta(Exact):
    """Which bases become features: so many before and after the one at `anchor` (from 0)."""

    anchor: Index
    before: Index
    after: Index
    positive: Values


def fasta(path: Path, entry, options: Fasta) -> Raw:
    """Read labelled sequences of equal length: a header line with label=..., then the bases."""
    with open_binary(path) as stream:
        lines = stream.read().split()
    labels = [int(word[6:]) for word in lines if word.startswith(b"label=")]
    sequences = [w for w in lines if b"=" not in w and not w.startswith(b">")]
    if len(labels) != len(sequences):
        raise ValueError(f"{len(labels)} labels but {len(sequences)} sequences")
    if len({len(s) for s in sequences}) != 1:
        raise ValueError("the sequences differ in length")
    return Raw(
        dna.codes(sequences),
        signs(np.asarray(labels), options.positive),
        window=(options.anchor - options.before, options.anchor + options.after + 1),
    )


class Series(Exact):
    """Which column of a time series has the dates, and which is predicted."""

    date: Text
    target: Text


def series(path: Path, entry, options: Series) -> Raw:
    """Read a time series: numeric columns in X, one of them also in y, the dates in meta."""
    with open_binary(path) as stream:
        frame = pd.read_csv(stream)
    dates = pd.to_datetime(frame.pop(options.date), format="%Y-%m-%d").to_numpy("M8[D]")
    if not (np.diff(dates) > np.timedelta64(0, "D")).all():
        raise ValueError("the dates do not rise")
    X = frame.to_numpy(dtype=np.float64)
    meta = {"dates": dates, "features": list(frame.columns)}
    return Raw(X, frame[options.target].to_numpy(dtype=np.float64), meta)


PARSERS: dict[str, Callable[..., Raw]] = {
    "csv": csv,
    "svmlight": svmlight,
    "mat": mat,
    "arff": attribute_relation,
    "fasta": fasta,
    "series": series,
}
