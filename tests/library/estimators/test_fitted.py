"""What estimators choose, hold and predict; where their paths break off."""

import warnings
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import solution_paths
from helpers.broken import first_half
from helpers.data_makers import classes, numbers
from solution_paths import (
    L1SVC,
    DmDrSVC,
    DmKSVC,
    DrLAD,
    OutlierSVC,
    OutlierSVR,
    PathLasso,
    PathSVC,
    PathWarning,
    QuantileSVC,
    WeightedSVR,
    lasso_path,
)
from solution_paths.models import margins

pytestmark = pytest.mark.slow

# -- the parameter that cross-validation chooses -----------------------------------------------


CHOOSING = {  # whose parameter is a scale, so that the logarithms' middle is taken
    "C": (PathSVC(cv=3), True),
    "lam": (L1SVC(cv=3), True),
    "lam of a double margin": (DmKSVC(cv=3, kappa=3.0), True),
    "lam1": (DmDrSVC(cv=3), True),
    "tau": (QuantileSVC(cv=3), False),
    "theta": (OutlierSVC(C=10.0, cv=3), False),
}


@pytest.mark.parametrize("name", CHOOSING)
def test_the_chosen_value_is_the_middle_of_the_widest_interval(name):
    """Of the logarithms for a cost or a penalty, of the values for what is neither."""
    model, scale = CHOOSING[name]
    fitted = clone(model).fit(*classes())
    curve, chosen = fitted.cv_path_, getattr(fitted, f"{fitted._parameter}_")
    finite = curve.edges[np.isfinite(curve.edges)]
    low = 0.5 * finite[finite > 0][0] if scale else finite[0]
    intervals = np.clip(curve.best().intervals, low, finite[-1])
    first, last = np.log(intervals).T if scale else intervals.T
    k = np.argmax(last - first)
    middle = 0.5 * (first[k] + last[k])
    assert chosen == pytest.approx(np.exp(middle) if scale else middle, rel=1e-9)
    assert chosen == curve.best(log=scale).parameter
    other = curve.best(log=not scale).parameter
    assert other != pytest.approx(chosen, rel=1e-6), "these data don't tell the two apart"
    assert fitted.cv_error_ == curve.best().value == pytest.approx(curve(chosen), rel=1e-12)


# -- what estimators say without a path, and where one breaks off -------------------------------


def test_a_regression_without_a_path_is_the_median():
    """Where no column tells anything: of the targets, not their mean, which a skew moves."""
    X, y = np.array([[1.0], [-1.0], [0.0], [1.0], [-1.0]]), np.array([0.0, 0.5, 1.0, 2.0, 30.0])
    model = DrLAD(s=1.0).fit(X, y)
    assert not model.coef_.any()
    assert model.intercept_ == np.median(y) == 1.0 != np.mean(y)
    assert model.predict([[5.0]]).tolist() == [1.0]
    weights = np.array([1.0, 1.0, 2.0, 0.0, 0.0])
    for metric, error in (("absolute", (1.0 + 0.5) / 4), ("squared", (1.0 + 0.25) / 4)):
        curve = model.path_.error_curve(X, y, metric, weights)
        np.testing.assert_allclose(curve([0.0, 0.3, 1e6]), error, rtol=1e-15)


@pytest.mark.parametrize("kappa", [1.5, 4.0])
def test_columns_too_short_to_move_a_prediction_are_told_in_their_units(kappa):
    """From end to end a column moves predictions by its range times rho, about 2 / kappa."""
    X, y = classes(20)
    unit = margins.LEAST_REACH * kappa / 2.0 / np.ptp(X, axis=0).max()
    with pytest.warns(PathWarning, match="at most, beside margins of 1"):
        margins.Margins.of(0.99 * unit * X, y, kappa)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        margins.Margins.of(1.01 * unit * X, y, kappa)


@pytest.mark.parametrize("more", ["a", "b"])
def test_where_f_is_zero_the_more_frequent_class_is_predicted(more):
    X = np.array([[-1.0, 0.5], [-2.0, -0.5], [1.0, 0.3], [2.0, -0.4], [1.5, 1.0]])
    y = np.array(["a", "a", "b", "b", more])
    model = OutlierSVC(theta=0.5, fit_intercept=False).fit(X, y)
    assert model.decision_function([[0.0, 0.0]]) == 0.0
    assert model.predict([[0.0, 0.0]]).tolist() == [more]
    assert model.path_.predict([[0.0, 0.0]], 0.5).tolist() == [more]


@pytest.mark.parametrize("model", [OutlierSVC(), OutlierSVC(cv=2), DmKSVC(), PathSVC()])
def test_of_more_classes_that_of_the_largest_decision_is_predicted(model):
    rng = np.random.default_rng(0)
    y = np.array(["red", "green", "blue"])[np.arange(45) % 3]
    X = rng.normal(size=(45, 2)) + 2.0 * np.array([[1, 0], [0, 1], [-1, -1]])[np.arange(45) % 3]
    fitted = clone(model).fit(X, y)
    f = fitted.decision_function(X)
    assert f.shape == (45, 3)
    predicted = fitted.predict(X)
    assert predicted.tolist() == [["blue", "green", "red"][k] for k in f.argmax(axis=1)]
    assert (predicted == y).mean() > 0.7


@pytest.mark.parametrize("change", [lambda i: i[::-1], lambda i: np.roll(i, 1)])
@pytest.mark.parametrize("model", [PathSVC(), PathLasso()], ids=["classes", "numbers"])
def test_targets_whose_index_is_that_of_the_rows_in_another_order_are_refused(model, change):
    """The same labels, shuffled: each target would go to another row."""
    X, y = classes(12) if isinstance(model, PathSVC) else numbers(12)
    index = np.array([f"row {k}" for k in range(12)])
    rows = pd.DataFrame(X, index=index)
    with pytest.raises(ValueError, match="index"):
        clone(model).fit(rows, pd.Series(y, index=change(index)))
    assert clone(model).fit(rows, pd.Series(y, index=index)).path_ is not None


def test_alpha_is_lam_over_n():
    X, y = numbers(40)
    model = PathLasso(alpha=0.1).fit(X, y)
    path = lasso_path(X, y, fit_intercept=True)
    np.testing.assert_allclose(model.coef_, path.coef(40 * 0.1), rtol=1e-12)
    largest = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / 40
    assert not PathLasso(alpha=largest * (1 + 1e-9)).fit(X, y).coef_.any()
    assert PathLasso(alpha=largest * (1 - 1e-3)).fit(X, y).coef_.any()


@pytest.mark.parametrize(
    ("model", "path", "unit"),
    [(PathLasso(), "lasso.lasso_path", 40), (PathSVC(), "classifiers.svm_path", 1)],
    ids=["alpha", "C"],
)
def test_a_path_that_breaks_off_is_used_up_to_where_it_does(model, path, unit, monkeypatch):
    """In the estimator's own unit: alpha is lam / n."""
    X, y = numbers(40) if unit == 40 else classes(40)
    follow, ends = getattr(solution_paths, path.split(".")[1]), []

    def part(*arguments, **options):
        kept = first_half(follow(*arguments, **options))
        ends.append(kept.range[1] / unit)
        raise solution_paths.PathError("The path broke off.", kept)

    monkeypatch.setattr(f"solution_paths.estimators.{path}", part)
    with suppress(solution_paths.PathError):
        clone(model).fit(X, y)
    for factor, fine in ((1.01, False), (0.99, True)):
        own = clone(model).set_params(**{model._parameter: factor * ends[-1]})
        if fine:
            own.fit(X, y)
            continue
        with pytest.raises(solution_paths.PathError, match="could not be reached: The path broke"):
            own.fit(X, y)


@pytest.mark.parametrize(
    "model",
    [
        DmKSVC(cv=2, scoring="balanced_error"),
        QuantileSVC(cv=2, scoring="balanced_error"),
        DmKSVC(cv=2),
        PathLasso(cv=2),
    ],
    ids=["lam, balanced", "tau, balanced", "lam", "alpha"],
)
def test_weights_that_count_as_shares_may_be_of_any_unit(model):
    X, y = numbers(30) if isinstance(model, PathLasso) else classes(30)
    weights = np.linspace(1.0, 2.0, 30)
    one, small = (clone(model).fit(X, y, sample_weight=c * weights) for c in (1.0, 2.0**-7))
    chosen = [getattr(own, f"{model._parameter}_") for own in (one, small)]
    assert chosen[0] == pytest.approx(chosen[1], rel=1e-6)
    assert one.cv_error_ == pytest.approx(small.cv_error_, rel=1e-9)
    assert 0.0 < one.cv_error_ != clone(model).fit(X, y).cv_error_


def test_targets_have_the_units_of_y():
    """Twice the targets, twice the tube or the threshold: twice the predictions."""
    X, y = numbers(40)
    for own, twice in (
        (WeightedSVR(epsilon=0.5), WeightedSVR(epsilon=1.0, C=1.0)),
        (OutlierSVR(theta=0.3, s=0.7), OutlierSVR(theta=0.3, s=1.4)),
    ):
        scaled = clone(twice).set_params(C=2.0 * own.C)
        one, two = own.fit(X, y).predict(X), scaled.fit(X, 2.0 * y).predict(X)
        np.testing.assert_allclose(two, 2.0 * one, rtol=1e-6, atol=1e-6)
        assert one.std() > 0.1
