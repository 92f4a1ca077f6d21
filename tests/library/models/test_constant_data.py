"""Constant targets and columns carry no information: what rounding leaves of them is no data."""

import warnings

import numpy as np
import pytest

from solution_paths import (
    DrLAD,
    PathLasso,
    PathWarning,
    dr_regression_path,
    drlad_path,
    drsvm_path,
    l1_svm_path,
    lasso_path,
    svm_path,
    weighted_svr_path,
)

pytestmark = pytest.mark.slow

VALUES = [0.3, 1e6 + 0.1, 1 / 3, -7.7e-9]
SIZES = [1, 2, 12, 100]
COLUMNS = {
    "dummies": lambda rng, n, v: np.eye(4)[rng.integers(0, 4, n)],
    "numbers": lambda rng, n, v: rng.normal(size=(n, 3)),
    "numbers and a constant": lambda rng, n, v: np.c_[rng.normal(size=(n, 3)), np.full(n, v)],
    "constants": lambda rng, n, v: np.full((n, 2), v),
}
TARGETS = {
    "constant": lambda rng, X, v: np.full(len(X), v),
    "column": lambda rng, X, v: X[:, 0].copy(),
    "noise": lambda rng, X, v: rng.normal(size=len(X)) + v,
}
REGRESSIONS = {
    "drlad s": lambda X, y: drlad_path(X, y),
    "drlad s, ridge": lambda X, y: drlad_path(X, y, lam2=0.1),
    "drlad lam1": lambda X, y: drlad_path(X, y, vary="lam1"),
    "drlad lam2": lambda X, y: drlad_path(X, y, vary="lam2", s=1.0),
    "quantile s": lambda X, y: dr_regression_path(X, y, ("quantile", 0.3)),
    "svr": lambda X, y: weighted_svr_path(X, y, 1.0, 2.0, 0.1),
}
CLASSIFICATIONS = {
    "svm": svm_path,
    "l1_svm": l1_svm_path,
    "drsvm lam1": lambda X, y: drsvm_path(X, y, vary="lam1", lam2=0.1),
    "drsvm lam2": lambda X, y: drsvm_path(X, y, vary="lam2", lam1=0.1),
}


@pytest.fixture(autouse=True)
def silent():
    """No warning but that columns differ in scale, as 1e6 beside numbers of order 1 may."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "The columns of X differ in scale", PathWarning)
        yield


def problem(columns, n, value, target="constant"):
    rng = np.random.default_rng(n)
    X = COLUMNS[columns](rng, n, value)
    return X, TARGETS[target](rng, X, value)


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("target", TARGETS)
def test_regressions_are_reliable(columns, n, value, target):
    X, y = problem(columns, n, value, target)
    for name, function in REGRESSIONS.items():
        path = function(X, y)
        assert path.certify(at_breakpoints=True).reliable, name
        if target == "constant" or columns == "constants":
            last = path.coef(float(path.breakpoints[-1]) if len(path.breakpoints) else 1.0)
            assert np.abs(last * np.ptp(X, axis=0)).max() <= 1e-9 * abs(value), name
    assert lasso_path(X, y, fit_intercept=False).certify(at_breakpoints=True).reliable


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("n", SIZES[1:])
@pytest.mark.parametrize("columns", COLUMNS)
def test_classifiers_are_reliable(columns, n, value):
    X, _ = problem(columns, n, value)
    for name, function in CLASSIFICATIONS.items():
        path = function(X, np.arange(n) % 2)
        assert path.certify(at_breakpoints=True).reliable, name


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("n", SIZES[1:])
@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("model", [PathLasso(1e-3), PathLasso(0.0), DrLAD()])
def test_a_constant_target_is_predicted_by_itself(columns, n, value, model):
    X, y = problem(columns, n, value)
    model.fit(X, y)
    assert not model.coef_.any()
    assert model.intercept_ == value


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("n", SIZES[1:])
def test_a_constant_column_gets_no_coefficient(n, value):
    X, y = problem("numbers and a constant", n, value, "noise")
    for model in (PathLasso(1e-9), DrLAD()):
        assert model.fit(X, y).coef_[-1] == 0.0
    without = PathLasso(0.1, fit_intercept=False).fit(X, y).path_
    assert without.certify(at_breakpoints=True).reliable


def test_the_report():
    """`reports/constant_target.py` of issue 40: "the problem is unbounded"; w = 0, b = 0.3."""
    rng = np.random.default_rng(12)
    X = np.eye(4)[rng.integers(0, 4, 12)]
    model = PathLasso().fit(X, np.full(12, 0.3))
    assert not model.coef_.any()
    assert model.intercept_ == 0.3
