"""What checks of input accept and say, kernels' values and operations on curves, one by one.

``pytest --write-known`` writes them down, see `helpers.known`.
"""

from itertools import product

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sparse

from helpers.known import NEW, SPARSE, X, assert_same, outcomes
from solution_paths import validation as check
from solution_paths.kernels import Kernel
from solution_paths.kernels import kernel as kernels
from solution_paths.kernels.centring import shifts_of
from solution_paths.solution.curves import Curve, MeanCurve, mean_curve

NUMBERS = (-1, 0, 0.5, 1, 2, 2.5, 1e-200, 1e200, np.inf, -np.inf, np.nan, True, "1", None)
NUMBERS = (*NUMBERS, np.int64(2), np.array(2.0), 1j, [1])
BOUNDS = {
    "any": {},
    "above 0": {"above": 0},
    "0 to 1": {"least": 0, "most": 1},
    "above 1, to 2": {"above": 1, "most": 2},
    "whole": {"least": 1, "whole": True},
    "or infinite": {"least": 0, "infinite": True},
}
BAD = X[:3].copy()
BAD[1, 2] = np.nan
FRAME = pd.DataFrame(X[:3], index=[5, 6, 7], columns=list("abcd"))
ROWS = {
    "rows": X[:3],
    "lists": [[1, 2], [3, 4]],
    "one row": X[0],
    "no rows": X[:0],
    "no columns": X[:3, :0],
    "text": [["1", "2"]],
    "complex": X[:3] * 1j,
    "masked": np.ma.masked_array(X[:3], X[:3] > 1),
    "nan": BAD,
    "infinity": np.where(BAD > 0, np.inf, 1.0),
    "huge": X[:3] * 1e200,
    "booleans": X[:3] > 0,
    "objects": X[:3].astype(object),
    "ragged": [[1, 2], [3]],
    "frame": FRAME,
    "sparse": SPARSE[:3],
    "sparse nan": sparse.csr_array(np.nan_to_num(BAD * 0, nan=0) + BAD),
    "coo": sparse.coo_array(X[:3]),
}
VECTORS = {
    "numbers": [1.0, 0.0, 2.0],
    "negative": [1.0, -2.0, 2.0],
    "short": [1.0, 2.0],
    "column": [[1.0], [2.0], [3.0]],
    "one number": 2.0,
    "zeros": [0.0, 0.0, 0.0],
    "nan": [1.0, np.nan, 2.0],
    "text": ["a", "b", "a"],
    "booleans": [True, False, True],
    "mixed": [1, "a", 2],
    "none": [None, "a", "b"],
    "three": ["a", "b", "c"],
    "one": [1, 1, 1],
    "masked": np.ma.masked_array([1.0, 2.0, 1.0], [0, 1, 0]),
    "categories": pd.Series(["x", "y", "x"], dtype="category"),
    "numbers of row": [0, 2, 1],
    "twice": [0, 2, 2],
    "outside": [0, 3, 1],
    "below": [-1, 0, 1],
    "empty": [],
    "ragged": [[1], [1, 2], [3]],
}


def input_calls():
    calls = {}
    for (bounds, own), value in product(BOUNDS.items(), NUMBERS):
        calls[f"number {bounds}: {type(value).__name__} {value}"] = lambda v=value, b=own: (
            check.check_number(v, "C", **b)
        )
    for value in (True, False, 0, 1, None, "True", np.True_):
        calls[f"flag: {type(value).__name__} {value}"] = lambda v=value: check.check_flag(v, "lazy")
    for value in ("a", "c", 1, None):
        calls[f"choice: {type(value).__name__} {value}"] = lambda v=value: check.check_choice(
            v, "kind", ("a", "b")
        )
    for name, value in ROWS.items():
        for own in (True, False):
            calls[f"X, own {own}: {name}"] = lambda v=value, c=own: check.check_X(v, copy=c)
        calls[f"names: {name}"] = lambda v=value: check.feature_names(v)
    shares = ("check_vector", "check_counts", "check_weights", "check_rows", "plain_labels")
    for (name, value), what in product(VECTORS.items(), shares):
        calls[f"{what}: {name}"] = lambda v=value, w=what: getattr(check, w)(v, 3, "v")
    for name, value in VECTORS.items():
        calls[f"check_labels: {name}"] = lambda v=value: check.check_labels(v, 3)[0]
        calls[f"labels: {name}"] = lambda v=value: check.check_labels(v, 3)[1].tolist()
        calls[f"check_shares: {name}"] = lambda v=value: check.check_shares(v, 3, "X")
    for index in ([5, 6, 7], [5, 7, 6], [5, 6], [0, 1, 2]):
        own = pd.Series(range(len(index)), index=index)
        calls[f"index: {index}"] = lambda v=own: check.check_index(FRAME, v, "y")
    for order in (["a", "b"], ["b", "a"]):
        own = pd.Series(pd.Categorical(["a", "b"], categories=order, ordered=True))
        calls[f"order: {order}"] = lambda v=own: check.order_of(v)
        calls[f"ordered: {order}"] = lambda v=own: check.ordered_labels(
            check.plain_labels(v, 2, "y"), check.order_of(v)
        )
    calls["ordered: numbers"] = lambda: check.ordered_labels(np.array([2, -1, 2]), None)
    calls["ordered: text"] = lambda: check.ordered_labels(np.array(["a", "b"]), None)
    return calls


def kernel_calls():
    near = X + 100.0
    kinds = {
        "linear": Kernel(),
        "rbf": Kernel("rbf", 0.3),
        "poly": Kernel("poly", 0.5, 3, 1.0),
        "poly, no constant": Kernel("poly", 0.5, 2, 0.0),
    }
    calls = {}
    for (name, own), (of, rows) in product(kinds.items(), (("dense", X), ("sparse", SPARSE))):
        calls[f"{name} of {of}"] = lambda k=own, r=rows: k(r, r)
        calls[f"{name} of {of} and new rows"] = lambda k=own, r=rows: k(r, NEW)
        calls[f"{name} of {of}, diagonal"] = lambda k=own, r=rows: k.diagonal(r)
        calls[f"{name} of {of}, sizes"] = lambda k=own, r=rows: k.check_sizes(r * 1e40, "X")
        if name.startswith("poly"):
            calls[f"{name} of {of}, monomials"] = lambda k=own, r=rows: k.monomials(r)
            calls[f"{name} of {of}, their number"] = lambda k=own: [
                k.n_monomials(d) for d in range(5)
            ]
    for name, gram in (("near", X @ X.T), ("far", near @ near.T)):
        calls[f"{name}: is far"] = lambda K=gram: kernels.is_far(K)
        calls[f"{name}: middle row"] = lambda K=gram: kernels.row_nearest_to_mean(K)
        calls[f"{name}: rows"] = lambda K=gram: np.abs(kernels.rows_of_gram(K) @ np.ones(4))
    for full in (8, 9, 10):  # of ten: a column is shifted where more than nine are no zeros
        column = np.where(np.arange(10) < full, 50.0 + np.arange(10) / 10, 0.0)
        rows = sparse.csr_array(np.c_[column, np.ones(10), -column, np.arange(10.0)])
        calls[f"shifts, {full} of ten"] = lambda r=rows: shifts_of(r)
        calls[f"shifts, {full} of ten, dense"] = lambda r=rows: shifts_of(r.toarray())
    calls["no rows"] = lambda: kernels.rows_of_gram(Kernel("rbf", 9.0)(X, X))
    calls["squared norms"] = lambda: kernels.squared_norms(X)
    for limit in (1e-3, 0.1, 0.19, 0.21):
        for shift in (0.0, 0.2):
            K = X @ X.T - shift * np.eye(30)
            key = f"eigenvalues off by {shift}, up to {limit}"
            calls[key] = lambda K=K, m=limit: str(kernels._check_eigenvalues(K, m, "K"))[:60]
    wrong = {"not square": X, "not symmetric": np.triu(X @ X.T), "negative": -X @ X.T}
    for name, K in wrong.items():
        calls[f"precomputed, {name}"] = lambda K=K: kernels._check_gram(K)
    return calls


def curve_calls():
    edges = np.array([0.5, 1.0, 2.0, 3.0, 4.0])
    none = np.zeros(4)
    level, right = np.array([3.0, 1.0, 1.0, 2.0]), np.array([1.0, 0.5, 2.0, 4.0])
    sag = np.array([0.0, 1.0, 4.0, 0.5])
    straight = Curve(
        np.array([0.25, 1.5, 4.0]), np.array([1.0, 2.0]), np.array([3.0, 0.0]), none[2:]
    )
    whole = MeanCurve.of([Curve(edges, level, level, none), Curve(edges, level, right, sag)])
    kinds = {
        "flat": Curve(edges, level, level, none),
        "flat, log": Curve(edges, level, level, none, log=True),
        "bent": Curve(edges, level, right, sag),
        "bent, log": Curve(edges, level, right, sag, log=True),
        "reciprocal": Curve(edges, level, right, sag, reciprocal=True, log=True),
        "straight": straight,
        "endless": Curve(np.append(edges, np.inf), *np.array([[3, 1, 2, 0, 0.0]] * 2), np.zeros(5)),
        "mean": whole,
    }
    calls = {}
    for name, own in kinds.items():
        calls |= calls_of_curve(name, own, edges)
    for at in (0.5, 0.8, 2.0, 3.3):
        calls[f"standard error at {at}"] = lambda t=at: whole.standard_error(np.array([t]))
    for larger in (True, False):
        calls[f"simplest, larger {larger}"] = lambda v=larger: whole.simplest(larger=v)
    calls["mean of two"] = lambda: mean_curve([kinds["flat"], kinds["bent"]])(edges)
    return calls


def calls_of_curve(name, own, edges):
    """Return what is asked of a curve and of those that are made of it."""
    calls, at = {}, np.array([0.5, 0.75, 1.0, 1.5, 1.9, 2.0, 3.0, 4.0])
    for log in (None, True, False):
        for what in ("parameter", "value", "intervals"):
            key = f"{name}, {log}: {what}"
            calls[key] = lambda g=log, w=what: getattr(own.best(log=g), w)
    changed = {
        "itself": lambda: own,
        "over": lambda: own.over(0.75, 3.5),
        "scaled": lambda: own.scaled(2.0),
        "times": lambda: own.times(3.0),
        "inverted": lambda: own.inverted(2.0),
        "on": lambda: own.on(np.union1d(own.edges, [0.6, 1.7, 2.5])),
    }
    for what, make in changed.items():
        for part in ("edges", "left", "right", "sag"):
            calls[f"{name}, {what}: {part}"] = lambda m=make, p=part: getattr(m(), p)[:6]
        for t in at:
            calls[f"{name}, {what}: at {t}"] = lambda m=make, t=t: m()(t)
    for limit in (0.4, 1.0, 1.5, 9.0):
        calls[f"{name}: below {limit}"] = lambda v=limit: own.below(v)
        for t in edges[1:-1]:
            key = f"{name}: before a jump at {t}, {limit}"
            calls[key] = lambda t=t, v=limit: own.before_jump(t, v)
    return calls


GROUPS = {"input": input_calls, "kernels": kernel_calls, "curves": curve_calls}


@pytest.mark.parametrize("group", GROUPS)
def test_outcomes_are_known(group):
    assert_same(outcomes(GROUPS[group]()), group, near=1e-9, whole=True)
