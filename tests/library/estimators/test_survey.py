"""Estimators of the survey's functions: exact cross-validation, predictions, ordered classes."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import mean_pinball_loss
from sklearn.model_selection import KFold

import solution_paths
from solution_paths import (
    HHSVC,
    ElasticNetSVC,
    HuberPath,
    KernelQuantileRegressor,
    MulticategorySVC,
    PathElasticNet,
    PathFusedLasso,
    PathLogisticRegression,
    PathNuSVC,
    PathOneClassSVM,
    PathSVOR,
    PathSVR,
)

R = np.random.default_rng(0)
X = R.normal(size=(24, 3))
U = X @ [1.0, -0.5, 0.0] + 0.3 * R.normal(size=24)
CLASSES = np.digitize(U, np.quantile(U, [0.33, 0.66]))
ORDER = ["low", "mid", "high"]
WORDS = np.array(ORDER)[CLASSES]
Y = np.where(U > 0, 1, 0)


def test_quantiles_of_sparse_rows_are_those_of_dense_ones():
    models = [KernelQuantileRegressor(lam=0.1).fit(rows, U) for rows in (X, sp.csr_array(X))]
    np.testing.assert_allclose(*(model.predict(X) for model in models), atol=1e-9)


# name: (model with cv, targets, parameter, a grid)
CHOSEN = {
    "elastic net": (PathElasticNet(lam2=0.3, cv=KFold(3)), U, "lam1", np.linspace(0.01, 9, 12)),
    "huber": (HuberPath(delta=0.2, cv=KFold(3)), U, "lam", np.linspace(0.01, 5, 12)),
    "fused": (PathFusedLasso(cv=KFold(3)), U, "lam", np.linspace(0.01, 9, 12)),
    "elastic net SVM": (ElasticNetSVC(cv=KFold(3)), Y, "lam1", np.geomspace(1e-3, 0.3, 12)),
    "elastic net SVM, three": (
        ElasticNetSVC(lam2=0.1, cv=KFold(3)),
        CLASSES,
        "lam1",
        np.geomspace(1e-3, 0.3, 12),
    ),
    "Huberised SVM": (HHSVC(lam2=0.3, cv=KFold(3)), Y, "lam1", np.geomspace(0.01, 5, 12)),
    "multicategory": (
        MulticategorySVC(kernel="rbf", cv=KFold(3)),
        CLASSES,
        "lam",
        np.geomspace(1e-3, 0.5, 12),
    ),
    "svr": (PathSVR(cv=KFold(3)), U, "C", np.geomspace(1e-3, 50, 12)),
    "quantile": (
        KernelQuantileRegressor(tau=0.3, cv=KFold(3)),
        U,
        "lam",
        np.geomspace(1e-4, 1, 12),
    ),
    "logistic": (
        PathLogisticRegression(lam_min=1e-3, scoring="error", cv=KFold(3)),
        Y,
        "lam",
        np.geomspace(1e-3, 9, 12),
    ),
    "nu": (PathNuSVC(cv=KFold(3)), Y, "nu", np.linspace(0.05, 0.6, 12)),
    "ordinal": (PathSVOR(cv=KFold(3)), CLASSES, "C", np.geomspace(1e-3, 50, 12)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CHOSEN)
def test_cross_validation_is_exact(name):
    model, y, parameter, grid = CHOSEN[name]
    model = clone(model).fit(X, y)
    chosen = getattr(model, f"{parameter}_")
    errors = []
    for t in [chosen, *grid]:
        own = []
        for train, test in KFold(3).split(X):
            fold = clone(model).set_params(cv=None, **{parameter: t}).fit(X[train], y[train])
            found = fold.predict(X[test])
            if model.scoring == "pinball":
                own.append(mean_pinball_loss(y[test], found, alpha=model.tau))
            elif y.dtype.kind == "f":
                power = 2 if model.scoring == "squared" else 1
                own.append((np.abs(found - y[test]) ** power).mean())
            else:
                own.append((found != y[test]).mean())
        errors.append(np.mean(own))
    assert model.cv_error_ == pytest.approx(errors[0], rel=1e-8, abs=1e-12)
    assert errors[0] <= min(errors[1:]) + 1e-10
    np.testing.assert_allclose(model.cv_path_(grid), errors[1:], rtol=1e-8, atol=1e-12)


def test_a_fold_without_a_class_counts_its_rows_as_wrong():
    order = np.argsort(U)  # the last fold has all rows of the highest class
    model = PathSVOR(cv=KFold(3)).fit(X[order], CLASSES[order])
    last = model.cv_paths_[-1]
    assert last(model.C_) == 1.0


def test_predictions_are_those_of_the_path():
    model = PathSVR(C=2.0).fit(X, U)
    np.testing.assert_allclose(model.predict(X), X @ model.coef_[0] + model.intercept_, atol=1e-12)
    np.testing.assert_array_equal(model.coef_[0], solution_paths.svr_path(X, U).coef(2.0))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.path_.certify(5).ok
    gram = PathSVR(C=2.0, kernel="precomputed").fit(X @ X.T, U)
    np.testing.assert_allclose(gram.predict(X @ X.T), model.predict(X), atol=1e-9)
    with pytest.raises(AttributeError, match="one of linear models"):
        _ = PathSVR(kernel="rbf").fit(X, U).coef_


def test_one_class_scores_and_shares():
    model = PathOneClassSVM(nu=0.3).fit(X)
    np.testing.assert_allclose(model.score_samples(X) - model.offset_, model.decision_function(X))
    assert (model.decision_function(X) < -1e-9).mean() <= 0.3
    assert (model.decision_function(X) < 1e-9).mean() >= 0.3
    with pytest.raises(ValueError, match="nu must be"):
        PathOneClassSVM(nu=0.0).fit(X)


def test_what_cannot_be_fitted_is_said():
    with pytest.raises(ValueError, match="Only binary classification"):
        PathNuSVC().fit(X, CLASSES)
    with pytest.raises(ValueError, match="nu must be"):
        PathNuSVC(nu=0.99).fit(X[:10], np.r_[np.ones(8), 0, 0])
    with pytest.raises(ValueError, match="scoring must be"):
        PathSVR(cv=3, scoring="error").fit(X, U)


def test_the_plot_marks_what_is_used():
    axes = PathSVR(C=2.0).fit(X, U).plot()
    assert any("C = 2" in str(line.get_label()) for line in axes.lines)


def categories(names=WORDS):
    return pd.Categorical(names, categories=[*ORDER, "highest"], ordered=True)


@pytest.mark.parametrize("hold", [lambda y: y, pd.Series])
def test_ordered_categories_give_the_order(hold, tmp_path):
    plain, model = (PathSVOR(cv=KFold(3)).fit(X, y) for y in (CLASSES, hold(categories())))
    assert model.classes_.tolist() == ORDER
    assert (model.C_, model.cv_error_) == (plain.C_, plain.cv_error_)
    np.testing.assert_array_equal(model.predict(X), np.array(ORDER)[plain.predict(X)])
    assert model.score(X, WORDS) == plain.score(X, CLASSES)
    path = solution_paths.svor_path(X, hold(categories()))
    path.save(tmp_path / "path.npz")
    path = solution_paths.SolutionPath.load(tmp_path / "path.npz")
    assert path.reading.classes.tolist() == ORDER
    for metric in ("zero_one", "absolute"):
        curve = path.error_curve(X, WORDS, metric)
        same = plain.path_.error_curve(X, CLASSES, metric)
        np.testing.assert_array_equal(curve.edges, same.edges)
        np.testing.assert_array_equal(curve.left, same.left)
    wrong = np.abs(CLASSES - [ORDER.index(own) for own in path.predict(X, 2.0)]).mean()
    assert path.error_curve(X, WORDS, "absolute")(2.0) == pytest.approx(wrong)


@pytest.mark.parametrize(
    "hold", [np.asarray, list, pd.Series, pd.Categorical, lambda y: y.astype(object)]
)
def test_an_order_of_strings_is_not_guessed(hold):
    for fit in (PathSVOR().fit, PathSVOR(cv=3).fit, solution_paths.svor_path):
        with pytest.raises(
            ValueError, match=r"y holds strings such as 'high', whose .* ordered=True"
        ):
            fit(X, hold(WORDS))
    codes = PathSVOR().fit(X, categories().codes)
    np.testing.assert_array_equal(codes.predict(X), PathSVOR().fit(X, CLASSES).predict(X))
    with pytest.raises(ValueError, match="drop rows without a label"):
        PathSVOR().fit(X, categories(["low", "mid", None] * 8))
