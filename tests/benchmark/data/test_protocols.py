"""Protocols: what the papers do to data before a model sees them."""

import numpy as np
import pytest
import scipy.sparse as sp

from path_benchmark.data import generators
from path_benchmark.data import protocols as p
from path_benchmark.papers.distributionally_robust import data as dro
from path_benchmark.papers.quantile_svm import data as quantile_svm
from path_benchmark.papers.robust_svm import data as robust_svm
from path_benchmark.papers.weighted_svm import data as weighted_svm


def rng(seed=0):
    return np.random.default_rng(seed)


# ---------------------------------------------------------------- splits


@pytest.mark.parametrize("y", [None, np.repeat([-1, 1], [80, 23])])
def test_parts_are_disjoint_and_of_the_stated_size(y):
    parts = p.split_sizes(103, (60, 20, 10), rng(), y=y)
    assert [len(part) for part in parts] == [60, 20, 10]
    together = np.concatenate(parts)
    assert len(set(together.tolist())) == 90
    assert set(together.tolist()) <= set(range(103))


def test_fractions_that_add_up_to_one_use_every_row():
    for n in (10, 101, 569, 768):
        parts = p.split_fractions(n, (0.4, 0.3, 0.3), rng())
        np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(n))
        for part, fraction in zip(parts, (0.4, 0.3, 0.3), strict=True):
            assert abs(len(part) - fraction * n) <= 1


def test_stratified_parts_hold_the_classes_in_proportion():
    y = rng(5).permutation(np.repeat([-1, 1], [870, 130]))
    for seed in range(10):
        for part in p.split_sizes(1000, (500, 300, 200), rng(seed), y=y):
            assert abs((y[part] == 1).sum() - 0.13 * len(part)) <= 1


def test_splits_depend_on_the_generator_alone():
    first = p.split_sizes(50, (20, 10), rng(1))
    for one, two in zip(first, p.split_sizes(50, (20, 10), rng(1)), strict=True):
        np.testing.assert_array_equal(one, two)
    assert not np.array_equal(first[0], p.split_sizes(50, (20, 10), rng(2))[0])


@pytest.mark.parametrize(
    "call",
    [
        lambda: p.split_sizes(5, (3, 3), rng()),
        lambda: p.split_sizes(5, (-1, 3), rng()),
        lambda: p.split_sizes(5, (2,), rng(), y=[1, 1]),
        lambda: p.split_fractions(5, (0.7, 0.4), rng()),
        lambda: p.flip_labels([1, -1], 1.5, rng()),
        lambda: p.add_regression_noise(np.ones((2, 1)), np.ones(2), -0.1, rng()),
        lambda: p.fit_scaler(np.eye(2), "minmax"),
        lambda: p.fit_standardiser(np.ones(3)),
        lambda: p.one_hot_windows(p.codes(["ACGT"]), 2, 5),
        lambda: p.codes(["ACX"]),
        lambda: p.codes(["AC", "A"]),
        lambda: p.technical_features(np.ones(10)),
        lambda: p.biased_split(np.arange(5.0), 4, 2, rng()),
        lambda: dro.folds(3, 4, rng()),
        lambda: dro.assemble("iris", n=101),
        lambda: robust_svm.assemble("breast_cancer", n=5),
        lambda: weighted_svm.covariate_shift("bci_shift_2"),
        lambda: quantile_svm.spam(split=1),
        lambda: quantile_svm.splice(sizes=(10, 10, 10), n_positive=10),
        lambda: quantile_svm.splice(sizes=(10, 10, 11)),
    ],
)
def test_bad_arguments_are_named(call):
    with pytest.raises(ValueError, match=r"\w+ .*\.$"):
        call()


# ---------------------------------------------------------------- disturbance


def test_flips_are_exactly_as_many_as_stated():
    y = rng().choice([-1.0, 1.0], 200)
    before = y.copy()
    flipped = p.flip_labels(y, 0.15, rng(3))
    assert (flipped != y).sum() == 30
    assert set(np.unique(flipped)) == {-1.0, 1.0}
    np.testing.assert_array_equal(y, before)
    np.testing.assert_array_equal(p.flip_labels(y, 0.0, rng()), y)
    np.testing.assert_array_equal(p.flip_labels(y, 1.0, rng()), -y)


def test_noise_hits_its_rows_alone_with_the_stated_spread():
    X, y = np.zeros((20000, 3)), np.zeros(20000)
    noisy_X, noisy_y, rows = p.add_regression_noise(X, y, 0.05, rng())
    assert len(rows) == 1000
    untouched = np.setdiff1d(np.arange(20000), rows)
    assert not noisy_X[untouched].any()
    assert not noisy_y[untouched].any()
    assert np.abs(noisy_X).max() <= 2.0
    assert noisy_X[rows].std() == pytest.approx(4 / np.sqrt(12), rel=0.05)
    assert noisy_y[rows].std() == pytest.approx(10.0, rel=0.1)
    assert not X.any()
    assert not y.any()


# ---------------------------------------------------------------- scaling


def sample():
    X = rng(2).normal(size=(40, 4)) * [1, 10, 0.1, 1] + [0, 5, 0, 3]
    X[:, 3] = 7.0
    return X


@pytest.mark.parametrize(
    ("kind", "low", "high"), [("symmetric", -1.0, 1.0), ("unit_interval", 0.0, 1.0)]
)
def test_ranges_are_those_of_the_training_rows(kind, low, high):
    X = sample()
    scaler = p.fit_scaler(X, kind)
    Z = scaler.transform(X)
    np.testing.assert_allclose(Z[:, :3].min(axis=0), low, atol=1e-12)
    np.testing.assert_allclose(Z[:, :3].max(axis=0), high, atol=1e-12)
    assert not Z[:, 3].any()
    beyond = scaler.transform(X.max(axis=0, keepdims=True) + 1.0)
    assert (beyond[0, :3] > high).all()
    assert beyond[0, 3] == 0.0


def test_standardise_and_unit_rows():
    X = sample()
    Z = p.fit_scaler(X, "standardise").transform(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(Z.std(axis=0), [1, 1, 1, 0], atol=1e-12)
    rows = p.fit_scaler(X, "unit_rows").transform(np.vstack([X, np.zeros(4)]))
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1.0] * 40 + [0.0])


def test_none_copies():
    X = sample()
    same = p.fit_scaler(X, "none").transform(X)
    np.testing.assert_array_equal(same, X)
    assert not np.shares_memory(same, X)


def test_sparse_stays_sparse_or_is_refused():
    X = sp.csr_matrix(np.array([[0, 2.0, 0], [0, 0, 4.0], [0, 1.0, 0], [0, 0, 0]]))
    dense = X.toarray()
    for kind in ("none", "unit_rows", "unit_interval"):
        Z = p.fit_scaler(X, kind).transform(X)
        assert sp.issparse(Z)
        np.testing.assert_allclose(Z.toarray(), p.fit_scaler(dense, kind).transform(dense))
        # rows that come later, with an entry where the training part has none
        later = p.fit_scaler(X, kind).transform(sp.csr_matrix(dense + 1.0)).toarray()
        np.testing.assert_allclose(later, p.fit_scaler(dense, kind).transform(dense + 1.0))
    for kind in ("symmetric", "standardise"):
        with pytest.raises(ValueError, match="sparse"):
            p.fit_scaler(X, kind)
    with pytest.raises(ValueError, match="sparse"):
        p.fit_scaler(-X, "unit_interval")
    with pytest.raises(ValueError, match="sparse"):
        p.fit_scaler(dense + 1.0, "unit_interval").transform(X)


def test_standardiser_returns_to_the_units():
    y = rng().normal(3.0, 5.0, 30)
    standardiser = p.fit_standardiser(y)
    z = standardiser.transform(y)
    assert z.mean() == pytest.approx(0.0, abs=1e-12)
    assert z.std() == pytest.approx(1.0)
    np.testing.assert_allclose(standardiser.inverse(z), y)


# ---------------------------------------------------------------- DNA


def test_one_hot_windows():
    X = p.one_hot_windows(p.codes(["TACGN", b"acgta"]), 1, 5)
    assert sp.issparse(X)
    expected = [
        [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0],
        [0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0],
    ]
    np.testing.assert_array_equal(X.toarray(), expected)
    assert X.dtype == np.float64


# ---------------------------------------------------------------- time series


def test_technical_features_by_hand():
    close = 100.0 + np.cumsum(rng(4).normal(size=60))
    X, y, days = p.technical_features(close)
    assert days[0] == 20
    assert days[-1] == 54

    def average(span, day):
        level = close[0]
        for price in close[1 : day + 1]:
            level = 2 / (span + 1) * price + (1 - 2 / (span + 1)) * level
        return level

    for row, i in enumerate(days):
        past = [100 * (close[i] / close[i - k] - 1) for k in (5, 10, 15, 20)]
        np.testing.assert_allclose(X[row], [close[i] - average(15, i), *past], atol=1e-9)
        assert y[row] == np.sign(average(3, i + 5) - average(3, i))
    assert (y != np.sign(close[days + 5] - close[days])).any()  # the prices themselves say other


def test_technical_features_see_no_later_price():
    close = 100.0 + np.cumsum(rng(4).normal(size=80))
    X, y, _ = p.technical_features(close)
    changed = close.copy()
    changed[50:] += 40.0
    later, labels, _ = p.technical_features(changed)
    np.testing.assert_array_equal(X[:30], later[:30])
    np.testing.assert_array_equal(y[:25], labels[:25])


# ---------------------------------------------------------------- covariate shift


def test_principal_components_are_uncorrelated_and_sorted():
    X = rng().normal(size=(300, 6)) @ rng(1).normal(size=(6, 6))
    Z = p.principal_components(X, 4)
    covariance = np.cov(Z.T, bias=True)
    np.testing.assert_allclose(covariance, np.diag(np.diag(covariance)), atol=1e-10)
    top = np.sort(np.linalg.eigvalsh(np.corrcoef(X.T)))[::-1][:4]
    np.testing.assert_allclose(np.diag(covariance), top)
    np.testing.assert_allclose(p.principal_components(X[::-1], 4)[::-1], Z, atol=1e-9)


def test_biased_split_shifts_along_z_only():
    z, other = rng(1).normal(size=5000), rng(2).normal(size=5000)
    train, test = p.biased_split(z, 1000, 300, rng(), slope=2.0)
    assert len(set(train) | set(test)) == 1300
    assert z[test].mean() - z[train].mean() > 0.8
    assert abs(other[test].mean() - other[train].mean()) < 0.25
    flat_train, flat_test = p.biased_split(z, 1000, 300, rng(), slope=0.0)
    assert abs(z[flat_test].mean() - z[flat_train].mean()) < 0.25


def test_there_are_24_tasks_with_the_stated_sizes():
    tasks = weighted_svm.SHIFT_TASKS
    assert len(tasks) == 24
    sizes = {name: weighted_svm._shift_sizes(task) for name, task in tasks.items()}
    assert sizes.pop("bci_shift_1") == (280, 120)
    assert all(500 <= a <= 1000 and 200 <= b <= 300 for a, b in sizes.values())
    assert len(set(sizes.values())) == 23


# ---------------------------------------------------------------- assemblies, on bundled data


def test_robust_classification_protocol():
    parts = robust_svm.assemble("breast_cancer", 2)
    clean = robust_svm.assemble("breast_cancer", 2, flipped=0.0)
    assert [len(x.y) for x in (parts.train, parts.validation, parts.test)] == [228, 170, 171]
    assert (parts.train.y != clean.train.y).sum() == round(0.15 * 228)
    assert (parts.validation.y != clean.validation.y).sum() == round(0.15 * 170)
    np.testing.assert_array_equal(parts.test.y, clean.test.y)
    np.testing.assert_array_equal(parts.test.X, clean.test.X)
    assert parts.train.X.min() == -1.0
    assert parts.train.X.max() == 1.0
    assert parts.test.X.max() > 1.0
    assert not np.array_equal(
        parts.meta["rows"][0], robust_svm.assemble("breast_cancer", 3).meta["rows"][0]
    )


def _look_at_rescaled(parts):
    """Inputs go to [-1, 1] with the noise, whatever it is; targets don't change."""
    train = parts.train.X
    assert (train.min(axis=0), train.max(axis=0)) == (pytest.approx(-1.0), pytest.approx(1.0))
    noisy = parts.meta["noisy_rows"][0]
    rest = np.delete(train, noisy, axis=0)
    assert np.ptp(rest, axis=0).max() < 1.9
    assert np.ptp(parts.test.X, axis=0).max() < 1.9  # scaled by what the noise has stretched


def test_robust_regression_protocol(monkeypatch):
    X, y = rng().normal(size=(400, 3)), 50.0 + 7.0 * rng(1).normal(size=400)
    fake = robust_svm.load.__globals__["DataSet"]("f", X, y, "regression", "", "sha256", {})
    monkeypatch.setattr(robust_svm, "load", lambda *_, **__: fake)
    parts, clean = robust_svm.assemble("f"), robust_svm.assemble("f", noisy=0.0)
    _look_at_rescaled(robust_svm.assemble("f", amplitude=8.0, rescaling="symmetric"))
    for part, reference, rows, size in (
        (parts.train, clean.train, parts.meta["noisy_rows"][0], 160),
        (parts.validation, clean.validation, parts.meta["noisy_rows"][1], 120),
    ):
        assert len(rows) == round(0.05 * size)
        changed = (part.X != reference.X).any(axis=1)
        np.testing.assert_array_equal(np.flatnonzero(changed), rows)
        np.testing.assert_array_equal(np.flatnonzero(part.y != reference.y), rows)
    np.testing.assert_array_equal(parts.test.X, clean.test.X)
    np.testing.assert_array_equal(parts.test.y, clean.test.y)
    assert clean.train.y.mean() == pytest.approx(0.0, abs=1e-12)
    assert clean.train.y.std() == pytest.approx(1.0)
    original = parts.meta["standardiser"].inverse(parts.test.y)
    np.testing.assert_allclose(original, y[parts.meta["rows"][2]])


def test_dissertation_protocol():
    parts = dro.assemble("iris", 1)
    assert parts.validation is None
    assert (len(parts.train.y), len(parts.test.y)) == (80, 20)
    np.testing.assert_allclose(parts.train.X.mean(axis=0), 0.0, atol=1e-12)
    moons = dro.assemble("two_moons", 0, parameters={"n": 100, "noise": 0.1})
    assert moons.train.X.shape == (80, 2)
    assert moons.meta["parameters"]["noise"] == 0.1
    other = dro.assemble("two_moons", 1, parameters={"n": 100, "noise": 0.1})
    assert moons.meta["parameters"]["seed"] != other.meta["parameters"]["seed"]


def test_folds_cover_every_row_once():
    parts = dro.folds(23, 5, rng())
    assert sorted(len(part) for part in parts) == [4, 4, 5, 5, 5]
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(23))


def test_streams_of_one_split_are_independent_of_each_other():
    one, two = generators("a", "b", 0, 2)
    (again,) = generators("a", "b", 0, 1)
    assert one.random() == again.random()
    assert one.random() != two.random()


def test_words_unseen_in_training_are_dropped():
    X = sp.csr_matrix(np.array([[1.0, 2, 0, 3], [0, 0, 4, 5]]))
    kept = quantile_svm._restrict_columns(X, 3, np.array([1.0, 0, 1]))
    np.testing.assert_array_equal(kept.toarray(), [[1, 0, 0], [0, 0, 4]])
    assert kept.nnz == 2
    wide = quantile_svm._restrict_columns(X[:, :2], 3, np.array([1.0, 0, 1]))
    np.testing.assert_array_equal(wide.toarray(), [[1, 0, 0], [0, 0, 0]])
