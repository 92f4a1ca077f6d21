"""Problems that are the same: columns moved beside a free bias, or in other units."""

import contextlib

import fuzz
import numpy as np
import pytest
import scipy.sparse as sp

from solution_paths import (
    PathError,
    PathWarning,
    SolutionPath,
    dm_drsvm_path,
    dm_ksvm_path,
    dr_regression_path,
    drlad_grid,
    drlad_path,
    drsvm_path,
    l1_svm_path,
    lasso_path,
    quantile_svm_path,
    svm_path,
    weighted_svm_path,
    weighted_svr_path,
)
from solution_paths.kernels.centring import bias_at_zero, shifted, shifts_of
from solution_paths.models import samples

rng = np.random.default_rng(5)
X = rng.normal(size=(40, 3))
TARGET = X @ [1.0, -2.0, 0.5] + rng.normal(size=40)
LABEL = np.where(TARGET > 0, 1, -1)
FREE_BIAS = {
    "svm": lambda X: svm_path(X, LABEL, C_max=100.0),
    "weighted svm": lambda X: weighted_svm_path(X, LABEL, 1.0, np.linspace(0.5, 3.0, 40)),
    "weighted svr": lambda X: weighted_svr_path(X, TARGET, 1.0, 2.0, 0.1),
    "double margin": lambda X: dm_ksvm_path(X, LABEL, 3.0, lam_min=1e-3),
    "l1 svm": lambda X: l1_svm_path(X, LABEL),
    "drlad in s": lambda X: drlad_path(X, TARGET, lam2=0.1),
    "drlad in lam1": lambda X: drlad_path(X, TARGET, vary="lam1", lam2=0.1),
    "drlad in lam2": lambda X: drlad_path(X, TARGET, vary="lam2", lam1=0.1, lam2_min=1e-3),
    "drsvm": lambda X: drsvm_path(X, LABEL, lam2=0.1),
    "double margin net": lambda X: dm_drsvm_path(X, LABEL, 2.0, vary="lam1", lam2=0.1),
}


def parameters(path, n=7):
    """Return some parameter values of a path."""
    low, high = path.range
    high = min(high, 2.0 * path.breakpoints[-1])
    return np.linspace(max(low, 1e-3 * high), high, n)


# -- columns far from zero ----------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::solution_paths.PathWarning")  # of what the bias can't say
@pytest.mark.parametrize("name", FREE_BIAS)
def test_columns_may_lie_anywhere_beside_a_free_bias(name):
    grid = np.round(X * 2.0**20) / 2.0**20  # so that X + 2^30 is exact
    here, there = FREE_BIAS[name](grid), FREE_BIAS[name](grid + 2.0**30)
    assert here.certify().ok
    assert there.certify().status != "fails"
    t = parameters(here)
    w = here.coef(t)
    np.testing.assert_allclose(there.coef(t), w, rtol=1e-9, atol=1e-11)
    moved = here.intercept(t) - 2.0**30 * w.sum(axis=0)
    assert np.abs(there.intercept(t) - moved).max() <= 1e-6  # 2^-52 of what it is
    np.testing.assert_allclose(there.dual(t), here.dual(t), rtol=1e-8, atol=1e-10)


TARGETS = {
    "weighted svr": lambda y: weighted_svr_path(X, y, 1.0, 2.0, 0.1),
    "weighted svr, rbf": lambda y: weighted_svr_path(X, y, 1.0, 2.0, 0.1, kernel="rbf", gamma=0.3),
    "drlad in s": lambda y: drlad_path(X, y, lam2=0.1),
    "drlad in lam1": lambda y: drlad_path(X, y, vary="lam1", lam2=0.1),
    "drlad in lam2": lambda y: drlad_path(X, y, vary="lam2", lam1=0.1, lam2_min=1e-3),
    "any loss": lambda y: dr_regression_path(X, y, ("quantile", 0.3), vary="lam2", s=1.0),
}


@pytest.mark.parametrize("name", TARGETS)
def test_targets_may_lie_anywhere_beside_a_free_bias(name):
    """A bias in double precision leaves to rounding what a small w makes of such targets."""
    grid = np.round(TARGET * 2.0**20) / 2.0**20  # so that y + 2^30 is exact
    here, there = TARGETS[name](grid), TARGETS[name](grid + 2.0**30)
    assert there.certify().status != "fails"
    np.testing.assert_allclose(there.breakpoints, here.breakpoints, rtol=1e-9)
    t = parameters(here)
    np.testing.assert_allclose(there.dual(t), here.dual(t), rtol=1e-8, atol=1e-10)
    for low, high in (
        (here.intercept(t), there.intercept(t)),
        (here.decision_function(X[:5], t), there.decision_function(X[:5], t)),
        (here.intercept(here.breakpoints), there.intercept(here.breakpoints)),
        (here.predict(X[:5], t[2]), there.predict(X[:5], t[2])),
    ):
        np.testing.assert_allclose(high - 2.0**30, low, rtol=0, atol=1e-6)  # 2^-52 of it
    if "rbf" not in name:
        np.testing.assert_allclose(there.coef(t), here.coef(t), rtol=1e-9, atol=1e-11)


def test_predictions_and_crossings_are_those_of_the_columns_that_were_given():
    columns = np.column_stack([1.6e9 + rng.integers(0, 10**6, 40), X])
    path = svm_path(columns, LABEL, C_max=10.0)
    f = path.decision_function(columns, 5.0)
    np.testing.assert_allclose(f, columns @ path.coef(5.0) + path.intercept(5.0), atol=1e-6)
    (row,) = path.crossings(columns[:1])
    signs = path.predict(columns[:1], np.sort(np.append(row, [0.999 * t for t in row] + [9.9])))
    assert len(row) == 0 or len(np.unique(signs)) == 2
    found = path.decision_function(columns, path.breakpoints)
    own = np.stack([path.decision_function(columns, t) for t in path.breakpoints], axis=1)
    np.testing.assert_allclose(found, own, atol=1e-6)


def test_full_columns_of_sparse_rows_are_moved_too():
    words = sp.random(40, 30, density=0.1, random_state=rng, format="csr")
    year = sp.csr_array(rng.integers(2000, 2020, (40, 1)).astype(float))
    rows = sp.csr_array(sp.hstack([words, year]))
    shifts = shifts_of(rows)
    assert np.flatnonzero(shifts).tolist() == [30]
    assert np.array_equal(shifted(rows, shifts).toarray(), rows.toarray() - shifts)
    path, dense = (svm_path(own, LABEL, C_max=10.0) for own in (rows, rows.toarray()))
    assert path.certify().ok
    np.testing.assert_allclose(path.coef(5.0), dense.coef(5.0), atol=1e-10)


def test_wide_rows_go_through_a_matrix_of_centred_rows():
    wide = rng.normal(size=(12, 600)) + 1e6
    path = svm_path(wide, np.tile([1, -1], 6), C_max=1.0)
    assert path.reading.shifts is not None
    assert path.certify().status != "fails"


@pytest.mark.parametrize(
    ("column", "shift"),
    [
        ([1.0, 2.0, 3.0], 0.0),  # near zero: left alone
        ([5.0, 5.0, 5.0], 5.0),
        ([1999.0, 2000.0, 2001.0], 2000.0),
        ([-1e9, -1e9 + 1, -1e9 + 3], -1e9 + 2),
    ],
)
def test_shifts_have_few_digits(column, shift):
    assert shifts_of(np.array(column)[:, None]).tolist() == [shift]


@pytest.mark.parametrize("full", [8, 9, 10])
def test_sparse_columns_are_shifted_where_more_than_nine_of_ten_entries_are_no_zeros(full):
    column = np.where(np.arange(10) < full, 50.0 + np.arange(10) / 10, 0.0)
    rows = np.c_[column, np.ones(10), -column, np.arange(10.0)]
    wanted = [50.5, 1.0, -50.5, 0.0] if full == 10 else [0.0, 1.0, 0.0, 0.0]  # rounded means
    assert shifts_of(sp.csr_array(rows)).tolist() == shifts_of(rows).tolist() == wanted


def test_a_bias_is_rounded_once():
    w, shifts = np.array([[0.1], [0.3]]), np.array([1e9, -(1e9)])
    exact = 0.5 - (1e9 * 0.1 - 1e9 * 0.3)
    assert abs(bias_at_zero(np.array([0.5]), shifts, w)[0] - exact) <= 1e-7


def test_saved_paths_say_the_same(tmp_path):
    path = svm_path(X + 1e6, LABEL, C_max=10.0)
    path.save(tmp_path / "path.npz")
    again = SolutionPath.load(tmp_path / "path.npz")
    assert again.intercept(5.0) == path.intercept(5.0)
    assert np.array_equal(again.coef(5.0), path.coef(5.0))


def test_stated_paths_read_rows_on_either_side_of_what_is_taken_off_columns(tmp_path):
    own = np.random.default_rng(0)
    time = 1.7e9 + own.integers(-(10**6), 10**6, 60)
    columns = np.column_stack([time, own.normal(size=60)])
    labels = np.where(columns[:, 1] + (time - 1.7e9) / 1e6 > 0, "later", "before")
    for path in (l1_svm_path(columns, labels), drsvm_path(columns, labels, lam2=0.1)):
        t = float(np.median(path.breakpoints))
        f = path.decision_function(columns, t)
        expected = columns @ path.coef(t) + path.intercept(t)
        np.testing.assert_allclose(f, expected, atol=1e-9 * np.abs(columns @ path.coef(t)).max())
        assert path.free(t).tolist() == [path.intercept(t)]
        wrong = np.mean(path.predict(columns, t) != labels)
        assert path.error_curve(columns, labels)(t) == pytest.approx(wrong, abs=1e-12)
        path.save(tmp_path / "path.npz")
        again = type(path).load(tmp_path / "path.npz")
        np.testing.assert_array_equal(again.decision_function(columns, t), f)
        assert again.intercept(t) == path.intercept(t)


@pytest.mark.filterwarnings("error::solution_paths.PathWarning")
def test_the_user_is_told_to_subtract_the_mean():
    with pytest.raises((PathError, PathWarning), match=r"subtract its mean|centre the columns"):
        quantile_svm_path(1e12 + np.round(X, 2), LABEL, 1e-6)
    assert l1_svm_path(1e12 + np.round(X, 2), LABEL).certify().ok  # beside a free bias it is done


# -- other units --------------------------------------------------------------------------------

UNITS = {
    "l1 svm": (lambda u: l1_svm_path(u * X, LABEL), 1),
    "lasso": (lambda u: lasso_path(u * X, TARGET, fit_intercept=False), 1),
    "drlad in s": (lambda u: drlad_path(u * X, TARGET, lam2=0.1 * u**2), -1),
    "drlad in s, no ridge": (lambda u: drlad_path(u * X, TARGET), -1),
    "drlad in lam1": (lambda u: drlad_path(u * X, TARGET, vary="lam1", lam2=0.1 * u**2), 1),
    "drlad in lam2": (
        lambda u: drlad_path(u * X, TARGET, vary="lam2", lam1=0.1 * u, lam2_min=1e-3 * u**2),
        2,
    ),
    "drlad in lam2, ball": (
        lambda u: drlad_path(u * X, TARGET, vary="lam2", s=1.0 / u, lam2_min=1e-3 * u**2),
        2,
    ),
    "drlad grid": (
        lambda u: drlad_grid(u * X, TARGET, [5.0 / u], [0.1 * u**2, u**2]).paths[1],
        -1,
    ),
    "any loss": (
        lambda u: dr_regression_path(u * X, TARGET, ("quantile", 0.3), lam2=0.1 * u**2),
        -1,
    ),
    "drsvm in lam2": (
        lambda u: drsvm_path(u * X, LABEL, vary="lam2", lam1=0.05 * u, lam2_min=1e-3 * u**2),
        2,
    ),
}


def of_coefficients(path):
    """Return breakpoints below which some coefficient isn't 0: beyond, duals alone may change."""
    own = path.breakpoints
    return own[(path.coef((1 - 1e-9) * own) != 0.0).any(axis=0)]


@pytest.mark.slow
@pytest.mark.parametrize("exponent", [-28, 28])
@pytest.mark.parametrize("name", UNITS)
def test_units_of_columns_change_nothing(name, exponent):
    trace, power = UNITS[name]
    unit = 2.0**exponent
    here, there = trace(1.0), trace(unit)
    assert there.certify().ok
    own, other = (
        of_coefficients(path) if name == "l1 svm" else path.breakpoints for path in (here, there)
    )
    assert len(other) == len(own)
    np.testing.assert_allclose(other, own * unit**power, rtol=1e-9)
    t = parameters(here)
    np.testing.assert_allclose(there.coef(t * unit**power) * unit, here.coef(t), atol=1e-9)


@pytest.mark.parametrize("vary", ["lam1", "lam2"])
def test_columns_that_a_bounded_w_makes_nothing_of_are_told(vary):
    held = {"lam2": 1e-17} if vary == "lam1" else {"lam1": 1e-9, "lam2_min": 1e-19}
    with (
        pytest.warns(PathWarning, match=r"change predictions by \de-0[78] at most.*scale them up"),
        contextlib.suppress(PathError),
    ):
        dm_drsvm_path(1e-8 * X, LABEL, 2.0, vary=vary, **held, check="ignore")


@pytest.mark.slow
@pytest.mark.parametrize("data", ["offset", "unix_time", "small_units", "large_units"])
@pytest.mark.parametrize("function", fuzz.FUNCTIONS)
def test_fuzzed(function, data):
    for seed in range(3):
        if function in fuzz.MEANT_FOR[data]:
            row = fuzz.run_one(function, data, seed)
            told = data == "unix_time" and row.get("told", True)  # columns of 2^20 and of 1
            assert row["end"] in fuzz.FINE or told, row


# -- walks that don't end -----------------------------------------------------------------------


@pytest.mark.parametrize("seed", [3, 13, 19])
def test_two_samples_that_take_turns_for_ever_end_a_walk(seed, monkeypatch):
    """Times in seconds that weren't centred: 1e-7 of t in each turn, until memory was full."""
    monkeypatch.setattr(samples, "shifts_of", lambda X: np.zeros(X.shape[1]))
    own = np.random.default_rng(seed)
    times = 1.6e9 + np.sort(own.integers(0, 86400 * 365, 25)).astype(float)
    columns = np.column_stack([times, (times // 86400) % 7, own.normal(size=25)])
    labels = np.where(own.random(25) < 0.5, 1, -1)
    try:
        path = svm_path(columns, labels, C_max=1e3, check="ignore")
    except PathError as error:
        path = error.path
    assert path is None or path.diagnostics["events"] < 3_000_000
