"""Input that is no data, by class: rows, vectors and labels."""

import numpy as np
import pandas as pd
import scipy.sparse as sp

N, D = 20, 3
RNG = np.random.default_rng(11)
X = RNG.normal(size=(N, D))
Y = np.where(X[:, 0] + 0.7 * RNG.normal(size=N) > 0, 1.0, -1.0)
TARGET = X[:, 0] - X[:, 1] + 0.3 * RNG.normal(size=N)


def spoilt(value, dtype=float):
    rows = X.astype(dtype)
    rows[3, 1] = value
    return rows


def broken(rows, name, at, value):
    getattr(rows, name)[at] = value
    return rows


def broken_coo():
    rows = sp.coo_array(X)
    rows.coords[1][4] = 10**6
    return rows


def short_csr():
    rows = sp.csr_array(X)
    rows.indptr = rows.indptr[:-3]
    return rows


BAD_ROWS = {
    "nan": lambda: spoilt(np.nan),
    "infinity": lambda: spoilt(-np.inf),
    "None": lambda: spoilt(None, object),
    "a word": lambda: spoilt("a", object),
    "digits": lambda: X.astype(str),
    "digits as objects": lambda: spoilt("1", object),
    "complex": lambda: X + 1j,
    "complex objects": lambda: spoilt(1j, object),
    "complex csr": lambda: sp.csr_array(X + 1j),
    "masked": lambda: np.ma.masked_greater(X, 1.0),
    "dates": lambda: np.full((N, D), "2020-01-01", dtype="datetime64[D]"),
    "NA": lambda: pd.DataFrame({c: pd.array([1, None] * (N // 2)) for c in "abc"}).astype(object),
    "strings of a frame": lambda: pd.DataFrame(X).assign(city="Rome"),
    "huge": lambda: X * 1e200,
    "huge integer": lambda: spoilt(10**400, object),
    "tiny": lambda: X * 1e-200,
    "nan csr": lambda: sp.csr_array(spoilt(np.nan)),
    "huge csr": lambda: sp.csr_array(X * 1e200),
    "csr indptr beyond": lambda: broken(sp.csr_array(X), "indptr", 4, 10**9),
    "csr indptr falls": lambda: broken(sp.csr_array(X), "indptr", 4, 0),
    "csr indptr negative": lambda: broken(sp.csr_array(X), "indptr", 0, -5),
    "csr indices beyond": lambda: broken(sp.csr_array(X), "indices", 4, 10**6),
    "csr indices negative": lambda: broken(sp.csr_array(X), "indices", 4, -7),
    "csr indptr short": short_csr,
    "csc indices beyond": lambda: broken(sp.csc_array(X), "indices", 4, 10**6),
    "coo beyond": broken_coo,
    "one row alone": lambda: X[0],
    "three axes": lambda: X[None],
    "no rows": lambda: X[:0],
    "no columns": lambda: X[:, :0],
    "no rows csr": lambda: sp.csr_array((0, D)),
    "a number": lambda: 3.0,
    "nothing": lambda: None,
    "a word alone": lambda: "rows",
    "ragged": lambda: [[1.0, 2.0], [3.0]],
    "a dictionary": lambda: {"a": [1.0]},
    "a set": lambda: {1.0, 2.0},
}
BAD_VECTORS = {
    "short": lambda: np.ones(N - 1),
    "long": lambda: np.ones(N + 1),
    "a column": lambda: np.ones((N, 1)),
    "a frame": lambda: pd.DataFrame({"y": np.ones(N)}),
    "two columns": lambda: np.ones((N, 2)),
    "empty": lambda: [],
    "nan": lambda: np.r_[np.nan, np.ones(N - 1)],
    "infinity": lambda: np.r_[np.inf, np.ones(N - 1)],
    "None inside": lambda: [None, *np.ones(N - 1)],
    "None": lambda: None,
    "words": lambda: ["a"] * N,
    "digits": lambda: ["1"] * N,
    "mixed": lambda: [*np.ones(N - 1), "b"],
    "complex": lambda: np.ones(N) * (1 + 1j),
    "masked": lambda: np.ma.masked_array(np.ones(N), mask=np.arange(N) < 2),
    "NA": lambda: pd.array([1, None] * (N // 2)),
    "NA objects": lambda: np.array([1.0, pd.NA] * (N // 2), dtype=object),
    "dates": lambda: np.full(N, "2020-01-01", dtype="datetime64[D]"),
    "huge": lambda: np.full(N, 1e200),
    "tiny": lambda: np.full(N, 1e-200),
    "sparse": lambda: sp.csr_array(np.ones((N, 1))),
    "a dictionary": lambda: {"a": 1.0},
    "a word": lambda: "ones",
    "ragged": lambda: [[1.0], *([1.0, 2.0] for _ in range(N - 1))],
}
# real targets are refused where weights, which a scalar may state for all, are not
BAD_TARGETS = BAD_VECTORS | {"a scalar": lambda: 1.0}
side = Y > 0
BAD_LABELS = {
    "short": lambda: Y[1:],
    "a column": lambda: Y[:, None],
    "a frame": lambda: pd.DataFrame({"y": Y}),
    "two columns": lambda: np.c_[Y, Y],
    "one class": lambda: np.ones(N),
    "three classes": lambda: np.arange(N) % 3,
    "nan": lambda: np.where(np.arange(N) == 1, np.nan, Y),
    "infinity": lambda: np.where(np.arange(N) == 1, np.inf, Y),
    "nan objects": lambda: np.where(np.arange(N) == 1, np.nan, Y).astype(object),
    "None": lambda: None,
    "None inside": lambda: np.where(side, "a", None),
    "None and words": lambda: np.array(["a", "b", None] * N, dtype=object)[:N],
    "NA": lambda: pd.array([True, False, *[None] * (N - 2)], dtype="boolean"),
    "NA integers": lambda: pd.array([1, 0, *[None] * (N - 2)], dtype="Int64"),
    "NaT": lambda: np.array([1, pd.NaT] * (N // 2), dtype=object),
    "missing string": lambda: pd.Series(["a", "b", *[None] * (N - 2)], dtype="string"),
    "missing category": lambda: pd.Series(["a", "b", *[None] * (N - 2)], dtype="category"),
    "mixed": lambda: [1, "a"] * (N // 2),
    "mixed objects": lambda: np.array([1, "1"] * (N // 2), dtype=object),
    "booleans and integers": lambda: [True, 0] * (N // 2),
    "complex": lambda: Y + 1j,
    "dates": lambda: np.array(["2020-01-01", "2020-01-02"] * (N // 2), dtype="datetime64[D]"),
    "masked": lambda: np.ma.masked_array(Y, mask=np.arange(N) < 2),
    "lists": lambda: [[1], [1, 2]] * (N // 2),
    "tuples": lambda: np.array([(1, 2), (1,)] * (N // 2), dtype=object),
    "sparse": lambda: sp.csr_array(Y[:, None]),
    "a word": lambda: "labels",
    "a scalar": lambda: 1.0,
    "a dictionary": lambda: {"a": 1},
}
