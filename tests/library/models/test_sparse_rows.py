"""Lassos and l1-norm machines of CSR rows: the paths of dense ones, without making them dense."""

import os
import subprocess
import sys
import tracemalloc

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp

from helpers.every_function import FUNCTIONS
from solution_paths import (
    L1SVC,
    PathLasso,
    SolutionPath,
    l1_svm_path,
    lasso_path,
    outlier_svm_path,
    outlier_svr_path,
    quantile_svm_path,
    svm_path,
)
from solution_paths.homotopy import statement
from solution_paths.homotopy.units import Units
from solution_paths.problem import maps
from solution_paths.validation import check_X
from solution_paths.verify import Answer, judge

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(21)
N, D = 60, 25
X = RNG.normal(size=(N, D)) * (RNG.random((N, D)) < 0.2)
X[:, 3] = RNG.normal(size=N) + 1.0  # a full column
X[:, 4] = 1.0  # a constant one
X[:, 5] = 0.0
FAR = X + np.where(np.arange(D) == 3, 2000.0, 0.0)
TARGET = 3.0 + X[:, 0] - X[:, 1] + 0.5 * X[:, 3] + 0.3 * RNG.normal(size=N)
LABEL = np.where(TARGET + 0.5 * RNG.normal(size=N) > 3.5, 1, -1)
WHOLE = (RNG.random((N, 12)) < 0.3).astype(float)  # ones and zeros
MODELS = {
    "lasso": (lasso_path, TARGET, {}),
    "lasso with an intercept": (lasso_path, TARGET, {"fit_intercept": True}),
    "l1 machine": (l1_svm_path, LABEL, {}),
}


@pytest.mark.parametrize("entries", [statement.DENSE_ENTRIES, 0], ids=["few", "many"])
@pytest.mark.parametrize("rows", [X, WHOLE, FAR], ids=["real", "binary", "far"])
@pytest.mark.parametrize("name", MODELS)
def test_sparse_rows_have_the_path_of_dense_ones(name, rows, entries, tmp_path, monkeypatch):
    """Few entries are walked as an array, many in CSR."""
    monkeypatch.setattr(statement, "DENSE_ENTRIES", entries)
    if rows is FAR and name == "lasso":
        pytest.skip("without an intercept a far column is another problem")
    function, y, options = MODELS[name]
    dense = function(rows, y, check="raise", **options)
    path = function(sp.csr_array(rows), y, check="raise", **options)
    for own in (path, dense):
        found = own.certify(at_breakpoints=True)
        assert found.ok or (rows is FAR and found.gap < 1e-6)
    inner = np.unique(dense.breakpoints)[1:]
    ts = np.sqrt(inner[1:] * inner[:-1])[::4]
    size = max(np.abs(dense.coef(ts)).max(), 1.0)
    np.testing.assert_allclose(path.coef(ts), dense.coef(ts), rtol=0, atol=1e-12 * size)
    scale = max(np.abs(dense.intercept(ts)).max(), 1.0)
    np.testing.assert_allclose(path.intercept(ts), dense.intercept(ts), atol=1e-12 * scale)
    for t in ts[::3]:
        for new in (rows, sp.csr_matrix(rows)):
            f = path.decision_function(new, t)
            np.testing.assert_allclose(f, dense.decision_function(rows, t), atol=1e-11 * scale)
        if function is lasso_path:
            residual = y - rows @ path.coef(t) - path.intercept(t)
            np.testing.assert_allclose(path.dual(t), residual, atol=1e-9)
    for lam in np.unique(dense.breakpoints.round(9))[1:]:
        assert np.abs(path.breakpoints - lam).min() < 1e-8 * max(lam, 1.0)
    path.save(tmp_path / "path.npz")
    loaded = SolutionPath.load(tmp_path / "path.npz")
    np.testing.assert_array_equal(loaded.coef(ts), path.coef(ts))
    np.testing.assert_array_equal(loaded.intercept(ts), path.intercept(ts))


def test_many_sparse_rows_under_a_ridge_are_walked_in_csr(monkeypatch):
    seen, old = [], statement.beside

    def beside(*parts):
        seen.append(old(*parts))
        return seen[-1]

    monkeypatch.setattr(statement, "DENSE_ENTRIES", 0)
    monkeypatch.setattr(statement, "beside", beside)
    for rows in (X, X[:20]):  # fewer columns than rows, and more
        y = LABEL[: len(rows)]
        dense, path = svm_path(rows, y), svm_path(sp.csr_array(rows), y, check="raise")
        assert sp.issparse(seen[-1])
        ts = np.geomspace(dense.breakpoints[1], dense.breakpoints[-1], 7)
        np.testing.assert_allclose(path.coef(ts), dense.coef(ts), rtol=0, atol=1e-10)
        assert path.certify(at_breakpoints=True).ok


def test_units_of_csr_are_those_of_arrays():
    nothing = np.zeros((0, 0))
    for rows in (X, X.T, np.repeat(X, 4, axis=1)):
        ridge = np.linspace(0.0, 1.0, rows.shape[1])
        dense, own = (Units.of(R, nothing, ridge, False) for R in (rows, sp.csr_array(rows)))
        np.testing.assert_array_equal(own.scale, dense.scale)
        np.testing.assert_array_equal(own.largest, dense.largest)
        if rows.shape[1] > 64:
            np.testing.assert_allclose(own.length, dense.length, rtol=1e-12)
            np.testing.assert_allclose(own.metric, dense.metric, rtol=1e-12)


def optimum(P, q, A, b, cones):
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    P, A = sp.csc_matrix(sp.triu(P)), sp.csc_matrix(A)
    found = clarabel.DefaultSolver(P, q, A, b, cones, settings).solve()
    return found.obj_val


@pytest.mark.parametrize("intercept", [False, True])
def test_a_lasso_of_sparse_rows_is_optimal(intercept):
    """min 1/2 ||r||^2 + lam sum(u + v) with r + X (u - v) + b = y, by Clarabel."""
    path = lasso_path(sp.csr_array(X), TARGET, fit_intercept=intercept)
    ones = sp.csc_matrix(np.ones((N, 1)))
    for lam in np.quantile(path.breakpoints, [0.2, 0.5, 0.8]):
        P = sp.block_diag([sp.eye(N), sp.csc_matrix((2 * D + 1, 2 * D + 1))])
        q = np.concatenate([np.zeros(N), np.full(2 * D, lam), [0.0]])
        fit = sp.hstack([sp.eye(N), X, -X, ones])
        signs = -sp.eye(N + 2 * D + 1, format="csr")[N : N + 2 * D]
        rows, bounds = [fit, signs], [TARGET, np.zeros(2 * D)]
        cones = [clarabel.ZeroConeT(N), clarabel.NonnegativeConeT(2 * D)]
        if not intercept:
            rows.append(sp.eye(N + 2 * D + 1, format="csr")[-1:])
            bounds.append(np.zeros(1))
            cones.append(clarabel.ZeroConeT(1))
        best = optimum(P, q, sp.vstack(rows), np.concatenate(bounds), cones)
        w, b = path.coef(lam), path.intercept(lam)
        own = 0.5 * ((TARGET - X @ w - b) ** 2).sum() + lam * np.abs(w).sum()
        assert own == pytest.approx(best, rel=1e-8)


def test_an_l1_machine_of_sparse_rows_is_optimal():
    """min sum(slack) + lam sum(u + v) with slack >= 1 - y (X (u - v) + b), slack >= 0."""
    path = l1_svm_path(sp.csr_array(X), LABEL)
    Z = LABEL[:, None] * X
    for lam in np.quantile(path.breakpoints, [0.2, 0.5, 0.8]):
        q = np.concatenate([np.ones(N), np.full(2 * D, lam), [0.0]])
        size = len(q)
        margins = -sp.hstack([sp.eye(N), Z, -Z, sp.csc_matrix(LABEL[:, None].astype(float))])
        signs = -sp.eye(size, format="csr")[:-1]
        A, b = sp.vstack([margins, signs]), np.concatenate([-np.ones(N), np.zeros(size - 1)])
        best = optimum(sp.csc_matrix((size, size)), q, A, b, [clarabel.NonnegativeConeT(len(b))])
        f = X @ path.coef(lam) + path.intercept(lam)
        own = np.maximum(0.0, 1.0 - LABEL * f).sum() + lam * np.abs(path.coef(lam)).sum()
        assert own == pytest.approx(best, rel=1e-8)


def test_the_judge_of_sparse_rows_finds_what_is_wrong():
    """What it says of a wrong solution is what it says of dense rows."""
    for function, y, options in MODELS.values():
        w = np.zeros(D)
        w[:2] = 0.5
        found = []
        for rows in (X, sp.csr_array(X)):
            problem = function(rows, y, **options).line.at(1.0)
            duals = [0.3 * LABEL] if function is l1_svm_path else None
            found.append(judge(problem, Answer(w, np.full(problem.n_free, 0.7), duals)))
        theirs, own = found
        assert own.status == "fails"
        for name in ("primal", "gap", "kkt"):
            assert getattr(own, name) == pytest.approx(getattr(theirs, name), rel=1e-10)


@pytest.mark.parametrize("metric", ["squared", "absolute"])
def test_a_lasso_estimator_of_sparse_rows(metric):
    for options in ({"alpha": 0.05}, {"cv": 3}, {"cv": 3, "fit_intercept": False}):
        dense = PathLasso(scoring=metric, check="raise", **options).fit(X, TARGET)
        own = PathLasso(scoring=metric, check="raise", **options).fit(sp.csr_array(X), TARGET)
        assert own.alpha_ == pytest.approx(dense.alpha_, rel=1e-9)
        np.testing.assert_allclose(own.coef_, dense.coef_, atol=1e-9)
        assert own.intercept_ == pytest.approx(dense.intercept_, rel=1e-9, abs=1e-9)
        np.testing.assert_allclose(own.predict(sp.csr_array(X)), dense.predict(X), atol=1e-8)


def test_an_l1_classifier_of_sparse_rows():
    three = np.digitize(TARGET, np.quantile(TARGET, [0.3, 0.6]))
    for y, options in ((LABEL, {"lam": 0.5}), (LABEL, {"cv": 3}), (three, {"lam": 0.5})):
        dense, own = L1SVC(**options).fit(X, y), L1SVC(**options).fit(sp.csr_array(X), y)
        assert own.lam_ == pytest.approx(dense.lam_, rel=1e-9)
        np.testing.assert_allclose(own.coef_, dense.coef_, atol=1e-9)
        np.testing.assert_array_equal(own.predict(sp.csr_array(X)), dense.predict(X))


def test_a_constant_target_has_a_constant_for_its_fit():
    for rows in (X, sp.csr_array(X)):
        assert not lasso_path(rows, np.full(N, 0.1), fit_intercept=True).coef([0.0, 1.0]).any()
        model = PathLasso(0.1).fit(rows, np.full(N, 0.1))
        assert not model.coef_.any()
        np.testing.assert_allclose(model.predict(rows), 0.1, rtol=1e-15)


MEASURE = """
import re, sys
import numpy as np, scipy.sparse as sp
from solution_paths import l1_svm_path, lasso_path

def path_of(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=1e-3, rng=rng, format="csr")
    y = X @ (rng.normal(size=d) * (rng.random(d) < 0.02)) + 0.1 * rng.normal(size=n)
    if sys.argv[1] == "l1 machine":
        return l1_svm_path(X, np.where(y > np.median(y), 1, -1), check="raise")
    return lasso_path(X, y, fit_intercept=sys.argv[1] != "lasso", check="raise")

def peak():  # of this process alone: ru_maxrss begins with that of the one that started it
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])

path_of(30, 300)  # what the code itself takes: few columns, whose own peak is none
before = peak()
path = path_of(400, 100_000)
path.coef(float(path.breakpoints[len(path.breakpoints) // 2]))
print((peak() - before) / 1e6, len(path.breakpoints))
"""


@pytest.mark.parametrize("name", MODELS)
def test_a_path_of_sparse_rows_takes_little_memory(name):
    """400 x 100,000 entries are 320 MB; 40,000 nonzeros and their path half to three quarters."""
    if not os.path.exists("/proc/self/status"):
        pytest.skip("the peak of a process is read from /proc")
    run = [sys.executable, "-c", MEASURE, name]
    found = subprocess.run(run, capture_output=True, text=True, check=True)
    megabytes, breakpoints = map(float, found.stdout.split())
    assert megabytes < 250.0
    assert breakpoints > 100


MANY_COLUMNS = {
    "lasso": lasso_path,
    "machine": lambda rows, u, **own: svm_path(rows, np.sign(u), **own),
    "quantiles": lambda rows, u, **own: quantile_svm_path(rows, np.sign(u), 0.1, **own),
}


@pytest.mark.parametrize("name", MANY_COLUMNS)
def test_a_certificate_of_many_columns_takes_less_than_dense_rows(name):
    """200 x 100,000 entries are 160 MB; solutions are judged in blocks that count the columns."""
    rng = np.random.default_rng(0)
    places = rng.integers(200, size=20_000), rng.integers(100_000, size=20_000)
    rows = sp.csr_array((rng.normal(size=20_000), places), shape=(200, 100_000))
    path = MANY_COLUMNS[name](rows, rng.normal(size=200), check="ignore")
    tracemalloc.start()
    found = path.certify()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.n_points > 100
    assert peak < 160e6


LINEAR = {name: own for name, own in FUNCTIONS.items() if not {"gamma", "eps"} & own[2].keys()}
LINEAR |= {
    "outlier svm": (outlier_svm_path, "y", {"C": 1.0}),
    "outlier svm, bias": (outlier_svm_path, "y", {"C": 1.0, "fit_intercept": True}),
    "outlier svr": (outlier_svr_path, "u", {"C": 1.0, "homotopy": "s"}),
}


@pytest.mark.parametrize("shape", [(24, 8), (14, 80)], ids=["tall", "wide"])
@pytest.mark.parametrize("name", LINEAR)
def test_every_path_of_many_sparse_rows_is_that_of_dense_ones(name, shape, monkeypatch):
    """Text, say: more entries than are held in an array, and many more columns than rows."""
    function, which, options = LINEAR[name]
    rng = np.random.default_rng(4)
    rows = rng.normal(size=shape) * (rng.random(shape) < 0.25)
    new = rng.normal(size=(6, shape[1])) * (rng.random((6, shape[1])) < 0.25)
    u = np.round(rows[:, :3].sum(axis=1) + rng.normal(size=shape[0]), 3)
    targets = {"u": u, "y": np.where(u > np.median(u), 1, -1), "counts": rng.poisson(2.0, shape[0])}
    targets["classes"] = np.digitize(u, np.quantile(u, [0.33, 0.66]))
    dense = function(rows, targets[which], check="raise", **options)
    monkeypatch.setattr(statement, "DENSE_ENTRIES", 0)
    monkeypatch.setattr(statement, "DUAL_FEATURES", 50)
    path = function(sp.csr_array(rows), targets[which], check="raise", **options)
    assert path.certify().ok
    inner = np.unique(dense.breakpoints[np.isfinite(dense.breakpoints)])
    ts = 0.5 * (inner[1:] + inner[:-1])[:: max(1, len(inner) // 9)]
    expected = dense.objective_value(ts)
    np.testing.assert_allclose(path.objective_value(ts), expected, rtol=1e-8, atol=1e-10)
    f, own = dense.decision_function(new, ts), path.decision_function(sp.csr_array(new), ts)
    np.testing.assert_allclose(own, f, rtol=1e-6, atol=1e-6 * np.abs(f).max())
    assert path.predict(sp.csr_array(new), ts[0]).shape == dense.predict(new, ts[0]).shape


def test_sparse_rows_are_checked_once(monkeypatch):
    """Models state them at each parameter; what can't be written to stays as it was found."""
    paths = [
        path
        for rows in (X, sp.csr_array(X), FAR)
        for path in (svm_path(rows, LABEL), quantile_svm_path(rows, LABEL, 0.1))
    ]
    counted = []
    monkeypatch.setattr(maps, "check_X", lambda *args, **_: counted.append(args[1]))
    for path in paths:
        path.certify()
    assert counted == []


def test_rows_whose_arrays_are_exchanged_are_checked_again():
    rows = check_X(sp.csr_array(X))
    first = maps.as_checked(rows, "X")
    assert maps.as_checked(rows, "X") is first
    assert maps.as_checked(first, "X") is first
    rows.data = np.full_like(rows.data, np.nan)
    with pytest.raises(ValueError, match=r"^X contains NaN"):
        maps.as_checked(rows, "X")
    assert np.isfinite(first.data).all()


def test_an_intercept_is_wanted_or_not():
    with pytest.raises(TypeError, match=r"^fit_intercept must be True or False, not 'yes'"):
        lasso_path(X, TARGET, fit_intercept="yes")
