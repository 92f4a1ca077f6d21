import numpy as np
import pytest

from path_benchmark.papers.weighted_svm.ulsif import (
    fit_coefficients,
    fit_ulsif,
    leave_one_out_error,
)


def _bases(n_train: int, n_test: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    train, test = rng.normal(0, 1, (n_train, 2)), rng.normal(0.3, 0.5, (n_test, 2))
    centres = test[:10]
    return tuple(
        np.exp(-((x[:, None] - centres) ** 2).sum(-1) / (2 * 0.7**2)) for x in (train, test)
    )


@pytest.mark.parametrize(("n_train", "n_test"), [(60, 40), (40, 60), (30, 30)])
@pytest.mark.parametrize("ridge", [1e-3, 0.1, 10.0])
def test_leave_one_out_is_what_fitting_without_each_pair_gives(n_train, n_test, ridge):
    on_train, on_test = _bases(n_train, n_test)
    errors = []
    for i in range(min(n_train, n_test)):
        rest_train, rest_test = np.delete(on_train, i, 0), np.delete(on_test, i, 0)
        a = fit_coefficients(rest_train, rest_test, ridge)
        errors.append(0.5 * (on_train[i] @ a) ** 2 - on_test[i] @ a)
    assert leave_one_out_error(on_train, on_test, ridge) == pytest.approx(
        np.mean(errors), rel=1e-10
    )


def test_coefficients_minimise_the_regularised_squared_error_when_none_is_clipped():
    on_train, on_test = _bases(60, 40)
    ridge = 10.0

    def error(a):
        squared = 0.5 * np.mean((on_train @ a) ** 2) - np.mean(on_test @ a)
        return squared + 0.5 * ridge * a @ a

    a = fit_coefficients(on_train, on_test, ridge)
    assert (a > 0).all()
    steps = np.eye(len(a)) * 1e-4
    assert all(error(a + s) > error(a) and error(a - s) > error(a) for s in steps)


def test_the_ratio_of_two_gaussians_is_found():
    rng = np.random.default_rng(4)
    train, test = rng.normal(0, 1, (800, 1)), rng.normal(0.5, 0.7, (300, 1))
    ratio = fit_ulsif(train, test, seed=1)
    x = np.linspace(-1, 2, 31)[:, None]
    true = np.exp(-0.5 * ((x - 0.5) / 0.7) ** 2 + 0.5 * x**2).ravel() / 0.7
    # The ridge flattens the estimate: it needn't be close, but far better than no weights.
    assert np.abs(ratio(x) - true).mean() < 0.4 * np.abs(1.0 - true).mean()
    assert np.mean(ratio(train)) == pytest.approx(1.0, abs=0.1)


def test_same_distribution_gives_weights_near_one():
    rng = np.random.default_rng(7)
    ratio = fit_ulsif(rng.uniform(size=(400, 3)), rng.uniform(size=(250, 3)), seed=2)
    assert np.std(ratio(rng.uniform(size=(200, 3)))) < 0.2


def test_chosen_pair_has_the_least_error_and_the_seed_decides_everything():
    rng = np.random.default_rng(5)
    train, test = rng.normal(size=(50, 2)), rng.normal(0.4, 0.6, (120, 2))
    first, again = fit_ulsif(train, test, seed=3), fit_ulsif(train, test, seed=3)
    assert np.array_equal(first.coefficients, again.coefficients)
    assert len(first.centres) == 100
    widths, ridges = [0.3, 1.0, 3.0], [0.01, 0.1, 1.0]
    best = fit_ulsif(train, test, widths=widths, ridges=ridges, seed=3)
    single = {
        (w, r): fit_ulsif(train, test, widths=[w], ridges=[r], seed=3).error
        for w in widths
        for r in ridges
    }
    assert (best.width, best.ridge) == min(single, key=single.get)


@pytest.mark.parametrize(
    ("train", "test", "settings", "word"),
    [
        (np.ones((5, 2)), np.ones((5, 3)), {}, "columns"),
        (np.ones((5, 2)) * np.nan, np.ones((5, 2)), {}, "train"),
        (np.eye(5), np.eye(5)[:1], {}, "test"),
        (np.eye(5), np.eye(5), {"widths": [0.0]}, "positive"),
    ],
)
def test_bad_input_is_named(train, test, settings, word):
    with pytest.raises(ValueError, match=word):
        fit_ulsif(train, test, **settings)
