"""Parsers: a file in, a `Raw` out. They are chosen by name in ``config/datasets.yaml``.

Each takes (path, entry, options) and knows nothing of checksums. Anything that goes wrong inside
(a broken archive, a word where a number was expected) is turned into a `DataError` by the caller.
"""

import bz2
import gzip
import io
import lzma
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.io
import scipy.sparse as sp
from scipy.io import arff
from sklearn.datasets import load_svmlight_file

from . import dna

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "whitespace": r"\s+"}
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


def signs(raw: np.ndarray, positive: list) -> np.ndarray:
    """Map raw labels to +1 where they're among `positive`, else -1 (text or numbers)."""
    raw = np.asarray(raw)
    if raw.dtype.kind in "OUS":
        hits = np.isin(raw.astype(str), [str(value) for value in positive])
    else:
        hits = np.isin(raw.astype(float), np.asarray(positive, dtype=float))
    return np.where(hits, 1, -1).astype(np.int8)


def _target(values: np.ndarray, entry, options: dict) -> np.ndarray:
    if entry.task == "classification":
        return signs(values, options["positive"])
    return np.asarray(values, dtype=np.float64)


def csv(path: Path, entry, options: dict) -> Raw:
    """Read separated text with pandas; columns are named by header or numbered from 0."""
    with open_binary(path) as stream:
        frame = pd.read_csv(
            stream,
            sep=SEPARATORS[options.get("separator", "comma")],
            header=0 if options.get("header", False) else None,
            na_values=options.get("missing"),
            keep_default_na=False,
            skipinitialspace=True,
        )
    if options.get("missing") is not None:
        frame = frame.dropna()
    target = frame.pop(options["target"]).to_numpy()
    if options.get("index"):
        frame = frame.drop(columns=frame.columns[0])
    frame = frame.drop(columns=options.get("drop", []))
    for column, names in options.get("categories", {}).items():
        key = column if options.get("header", False) else int(column)
        codes = {str(value): rank for rank, value in enumerate(names, start=1)}
        frame[key] = [codes[value] for value in frame[key]]
    X = np.ascontiguousarray(frame.to_numpy(dtype=np.float64))
    features = [str(column) for column in frame.columns] if options.get("header") else None
    meta = {"features": features} if features else {}
    return Raw(X, _target(target, entry, options), meta)


def svmlight(path: Path, entry, options: dict) -> Raw:
    """Read LIBSVM's format; `dense` says whether the result is an array or CSR."""
    with open_binary(path) as stream:
        # Decompressed into memory first: scikit-learn closes over a file it can't reopen.
        content = io.BytesIO(stream.read())
    X, y = load_svmlight_file(content, n_features=entry.d, zero_based=False, dtype=np.float64)
    if options.get("dense", False):
        X = X.toarray()
        if "order" in options:
            X = np.ascontiguousarray(X[:, np.asarray(options["order"]) - 1])
    return Raw(X, _target(y, entry, options))


def mat(path: Path, entry, options: dict) -> Raw:
    """Read two variables of a MATLAB file."""
    content = scipy.io.loadmat(path)
    X, y = content[options["x"]], np.asarray(content[options["y"]]).ravel()
    if options.get("sparse", False) or sp.issparse(X):
        X = sp.csr_matrix(X, dtype=np.float64)
    else:
        X = np.ascontiguousarray(X, dtype=np.float64)
    return Raw(X, _target(y, entry, options))


def attribute_relation(path: Path, entry, options: dict) -> Raw:
    """Read an ARFF file of numeric columns."""
    with open_binary(path) as stream:
        records, _ = arff.loadarff(io.StringIO(stream.read().decode("utf-8")))
    frame = pd.DataFrame(records)
    target = frame.pop(options["target"]).to_numpy()
    X = np.ascontiguousarray(frame.to_numpy(dtype=np.float64))
    meta = {"features": [str(column) for column in frame.columns]}
    return Raw(X, _target(target, entry, options), meta)


def fasta(path: Path, entry, options: dict) -> Raw:
    """Read labelled sequences of equal length: a header line with label=..., then the bases."""
    with open_binary(path) as stream:
        lines = stream.read().split()
    labels = [int(word[6:]) for word in lines if word.startswith(b"label=")]
    sequences = [w for w in lines if b"=" not in w and not w.startswith(b">")]
    if len(labels) != len(sequences):
        raise ValueError(f"{len(labels)} labels but {len(sequences)} sequences")
    if len({len(s) for s in sequences}) != 1:
        raise ValueError("the sequences differ in length")
    anchor, before, after = options["anchor"], options["before"], options["after"]
    return Raw(
        dna.codes(sequences),
        signs(np.asarray(labels), options["positive"]),
        window=(anchor - before, anchor + after + 1),
    )


def series(path: Path, entry, options: dict) -> Raw:
    """Read a time series: numeric columns in X, one of them also in y, the dates in meta."""
    with open_binary(path) as stream:
        frame = pd.read_csv(stream)
    dates = pd.to_datetime(frame.pop(options["date"]), format="%Y-%m-%d").to_numpy("M8[D]")
    if not (np.diff(dates) > np.timedelta64(0, "D")).all():
        raise ValueError("the dates do not rise")
    X = frame.to_numpy(dtype=np.float64)
    meta = {"dates": dates, "features": list(frame.columns)}
    return Raw(X, frame[options["target"]].to_numpy(dtype=np.float64), meta)


PARSERS: dict[str, Callable[..., Raw]] = {
    "csv": csv,
    "svmlight": svmlight,
    "mat": mat,
    "arff": attribute_relation,
    "fasta": fasta,
    "series": series,
}
