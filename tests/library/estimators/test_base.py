"""Estimators: scikit-learn's contract, exact cross-validation, exact updates."""

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Lasso, LinearRegression
from sklearn.metrics import balanced_accuracy_score, f1_score
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    check_cv,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import solution_paths
from helpers.broken import first_half
from helpers.data_makers import targets, three_classes, two_classes
from helpers.estimators import BY_NAME
from solution_paths import (
    L1SVC,
    DmDrSVC,
    DmKSVC,
    DrLAD,
    MulticategorySVC,
    PathLasso,
    PathSVC,
    PathWarning,
    QuantileSVC,
    WeightedSVC,
    WeightedSVR,
    l1_svm_path,
    lasso_path,
    svm_path,
)
from solution_paths.estimators.compressed import factors
from solution_paths.estimators.fitted import OneVsRest
from solution_paths.solution.curves import Curve, winners
from solution_paths.solution.labels import label_error
from solution_paths.solution.metrics import Metric

pytestmark = pytest.mark.slow

CLASSIFIERS = [
    PathSVC(),
    QuantileSVC(probability=True),
    L1SVC(),
    WeightedSVC(),
    DmKSVC(),
    DmDrSVC(),
]
REGRESSORS = [WeightedSVR(), PathLasso(), DrLAD(s=4.0)]


# -- scikit-learn's contract ------------------------------------------------------------------


@pytest.mark.parametrize("model", [*CLASSIFIERS, *REGRESSORS], **BY_NAME)
def test_frames_pipelines_searches_and_pickles(model):
    X, y = two_classes() if model in CLASSIFIERS else targets(70, 4)
    frame = pd.DataFrame(X, columns=list("abcd"))
    fitted = clone(model).fit(frame, y)
    assert fitted.feature_names_in_.tolist() == list("abcd")
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(frame[["b", "a", "c", "d"]])
    with pytest.raises(NotFittedError):
        clone(model).predict(X)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(frame), fitted.predict(frame))
    piped = make_pipeline(StandardScaler(), clone(model)).fit(X, y)
    assert piped.score(X, y) > 0.4
    assert len(cross_val_score(piped, X, y, cv=3)) == 3
    name = {"PathSVC": "C", "QuantileSVC": "tau", "L1SVC": "lam", "PathLasso": "alpha"}
    name |= {"DrLAD": "s", "DmKSVC": "lam", "DmDrSVC": "lam1"}
    own = name.get(type(model).__name__, "C")
    grid = {own: {"s": [2.0, 4.0], "lam1": [0.01, 0.1]}.get(own, [0.1, 0.5])}
    found = GridSearchCV(clone(model), grid, cv=3).fit(X, y)
    assert found.best_score_ > 0.4
    assert (found.predict(X) == y).mean() > 0.6 if model in CLASSIFIERS else True


def test_they_are_imported_when_asked_for():
    assert {"PathSVC", "PathLasso"} <= set(dir(solution_paths))
    with pytest.raises(AttributeError, match="no attribute 'Pathsvc'"):
        _ = solution_paths.Pathsvc


# -- their solutions --------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"kernel": "rbf", "gamma": 0.3, "C_max": 20.0}])
def test_one_path_is_libsvm_at_every_cost(options):
    X, y = two_classes()
    for C in (0.05, 1.0, 12.0):
        own = PathSVC(C, **options).fit(X, y)
        theirs = SVC(
            C=C, kernel=options.get("kernel", "linear"), gamma=options.get("gamma", 1), tol=1e-10
        ).fit(X, y)
        f = theirs.decision_function(X)
        np.testing.assert_allclose(own.decision_function(X), f, atol=1e-4)  # LIBSVM's accuracy
        assert own.path_.parameter == "C"
        assert own.path_.certify(n_random=5).ok


def test_a_gram_matrix_and_a_sparse_one():
    X, y = two_classes()
    f = PathSVC(0.7, cv=3).fit(X, y)
    K = X @ X.T
    gram = PathSVC(0.7, cv=3, kernel="precomputed", C_max=1e4).fit(K, y)
    assert gram.cv_error_ == pytest.approx(f.cv_error_)
    assert cross_val_score(gram, K, y, cv=3).shape == (3,)
    csr = PathSVC(0.7).fit(sp.csr_matrix(X), y)
    dense = PathSVC(0.7).fit(X, y)
    for other in (csr.decision_function(sp.csr_matrix(X)), csr.decision_function(X)):
        np.testing.assert_allclose(other, dense.decision_function(X), atol=1e-9)


def test_the_lasso_is_scikit_learns():
    X, y = targets()
    for alpha in (0.0, 0.03, 0.4, 1e3):
        own = PathLasso(alpha).fit(X, y)
        theirs = Lasso(alpha, tol=1e-14, max_iter=100_000) if alpha else LinearRegression()
        theirs.fit(X, y)
        np.testing.assert_allclose(own.coef_, theirs.coef_, atol=1e-6)
        assert own.intercept_ == pytest.approx(theirs.intercept_, abs=1e-5)
        np.testing.assert_allclose(own.predict(X), theirs.predict(X), atol=1e-5)
    without = PathLasso(0.03, fit_intercept=False).fit(X, y)
    theirs = Lasso(0.03, fit_intercept=False, tol=1e-14, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(without.coef_, theirs.coef_, atol=1e-6)
    assert without.intercept_ == 0.0


def test_a_lasso_of_constant_targets():
    X, _ = targets()
    model = PathLasso(0.0, cv=3).fit(X, np.full(len(X), 4.0))
    assert len(model.path_.breakpoints) == 1
    np.testing.assert_array_equal(model.predict(X), 4.0)
    assert model.cv_error_ == 0.0


@pytest.mark.parametrize("model", CLASSIFIERS, **BY_NAME)
def test_more_classes_are_one_against_the_rest(model):
    X, y = three_classes()
    model = clone(model)
    if "probability" in model.get_params():  # whose decisions are shares of all classes
        model.set_params(probability=False)
    model.fit(X, y)
    assert len(model.path_) == 3
    f = model.decision_function(X)
    assert f.shape == (90, 3)
    assert (model.classes_[f.argmax(axis=1)] == model.predict(X)).all()
    alone = clone(model).fit(X, np.where(y == "green", 1, 0))
    np.testing.assert_allclose(alone.decision_function(X), f[:, 1], atol=1e-9)
    assert model.score(X, y) > 0.6


def test_probabilities_are_where_decisions_change():
    X, y = two_classes(200)
    model = QuantileSVC(probability=True, lam=0.05).fit(X, y)
    p = model.predict_proba(X)[:, 1]
    once = np.array([len(own) == 1 for own in model.path_.crossings(X)])
    assert once.sum() > 50
    crossings = [own[0] for own in model.path_.crossings(X) if len(own) == 1]
    np.testing.assert_allclose(p[once], crossings, atol=1e-12)
    tau = (np.arange(4000) + 0.5) / 4000  # those of several changes, and of none
    share = (model.path_.decision_function(X, tau) >= 0).mean(axis=1)
    np.testing.assert_allclose(p, share, atol=5e-3)
    assert not hasattr(QuantileSVC().fit(X, y), "predict_proba")
    X, y = three_classes()
    p = QuantileSVC(probability=True).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (p >= 0).all()


# -- cross-validation -------------------------------------------------------------------------


def with_value(model, name, value):
    return clone(model).set_params(**{name: value, "cv": None})


def brute_error(model, name, X, y, folds, values):
    """Mean error of the folds at some values, from estimators fitted with each value fixed."""
    errors = []
    for train, test in folds:
        own = with_value(model, name, values[0]).fit(X[train], y[train])
        errors.append([])
        for value in values:
            setattr(own, f"{name}_", value)  # the same path, read elsewhere
            found = own.predict(X[test])
            if getattr(model, "scoring", None) == "squared":
                errors[-1].append(np.mean((found - y[test]) ** 2))
            elif getattr(model, "scoring", None) == "absolute":
                errors[-1].append(np.mean(np.abs(found - y[test])))
            else:
                errors[-1].append(np.mean(found != y[test]))
    return np.mean(errors, axis=0)


CHOSEN = {
    "C": (PathSVC(cv=3), "C", two_classes),
    "C rbf": (PathSVC(cv=3, kernel="rbf", gamma=0.2, C_max=50.0), "C", two_classes),
    "C of three": (PathSVC(cv=3), "C", three_classes),
    "tau": (QuantileSVC(cv=3), "tau", two_classes),
    "tau of three": (QuantileSVC(cv=3), "tau", three_classes),
    "lam": (L1SVC(cv=3), "lam", two_classes),
    "lam of three": (L1SVC(cv=3), "lam", three_classes),
    "alpha": (PathLasso(cv=3), "alpha", targets),
    "alpha absolute": (PathLasso(cv=3, scoring="absolute"), "alpha", targets),
    "s": (DrLAD(cv=3), "s", targets),
    "s squared": (DrLAD(cv=3, lam2=0.1, scoring="squared"), "s", targets),
    "lam of a double margin": (DmKSVC(cv=3), "lam", two_classes),
    "lam of three double margins": (DmKSVC(cv=3, kappa=4.0), "lam", three_classes),
    "lam1": (DmDrSVC(cv=3, kappa=1.0), "lam1", two_classes),
    "lam1 of three": (DmDrSVC(cv=3), "lam1", three_classes),
}


def folds_of(X, y):
    kind = KFold(3) if y.dtype.kind == "f" else StratifiedKFold(3)
    return list(kind.split(X, y))


@pytest.mark.parametrize("kind", CHOSEN)
def test_cross_validation_is_exact(kind):
    model, name, data = CHOSEN[kind]
    X, y = data()
    folds = folds_of(X, y)
    fitted = clone(model).fit(X, y)
    curve = fitted.cv_path_
    assert isinstance(curve, Curve)
    assert (np.diff(curve.edges) > 0).all()
    last = curve.edges[np.isfinite(curve.edges)][-1]
    edges = np.minimum(curve.edges, 1.5 * last)
    wide = np.diff(edges) > 1e-9 * last
    for share in (0.02, 0.5, 0.97):  # inside every piece it is what the folds' models err
        points = (edges[:-1] + share * np.diff(edges))[wide]
        brute = brute_error(model, name, X, y, folds, points)
        np.testing.assert_allclose(curve(points), brute, rtol=1e-7, atol=1e-12)
    # the minimum is that of the pieces, and no grid has a smaller one
    ends = min(curve.left.min(), curve.right.min())
    assert fitted.cv_error_ <= ends
    grid = np.concatenate([np.linspace(0, last, 200)[1:-1], np.geomspace(1e-4, 1, 101)[:-1] * last])
    brute = brute_error(model, name, X, y, folds, grid)
    assert fitted.cv_error_ <= brute.min() * (1 + 1e-12)
    inside = np.abs(grid[:, None] - edges).min(axis=1) > 1e-9 * last
    np.testing.assert_allclose(curve(grid[inside]), brute[inside], rtol=1e-7, atol=1e-12)
    chosen = getattr(fitted, f"{name}_")
    reached = brute_error(model, name, X, y, folds, [chosen])[0]
    assert reached == pytest.approx(fitted.cv_error_, rel=1e-9)
    # and cross-validating the model with that value finds the same error
    scoring = {"squared": "neg_mean_squared_error", "absolute": "neg_mean_absolute_error"}
    scoring = scoring.get(getattr(model, "scoring", ""), "accuracy")
    score = cross_val_score(with_value(model, name, chosen), X, y, cv=folds, scoring=scoring)
    expected = 1 - fitted.cv_error_ if scoring == "accuracy" else -fitted.cv_error_
    assert score.mean() == pytest.approx(expected, rel=1e-9)


def test_the_largest_of_several_decisions_jumps_where_paths_do():
    X, y = three_classes(60)
    X_val, y_val = three_classes(40, seed=8)
    model = OneVsRest(l1_svm_path, X, y)
    codes = np.searchsorted(model.classes, y_val)

    def judge(ends, found):
        return label_error(ends, found, codes, None, Metric("zero_one"), model.classes)

    curve = model._joint_error(X_val, judge)
    width = np.diff(curve.edges)
    points = (curve.edges[:-1] + 0.5 * width)[width > 1e-9 * curve.edges[-1]]
    brute = [np.mean(model.label(model.decision(X_val, t)) != y_val) for t in points]
    np.testing.assert_allclose(curve(points), brute, atol=1e-12)
    assert len(np.unique(curve.left)) > 5


def of_winners(left, right, code):
    """Return the error of lines from left to right, of one row whose label is known."""
    found, _ = winners(np.array([0.0, 1.0]), np.array([[left, right]]).swapaxes(1, 2))
    right_ones = np.array([code])
    return label_error((0.0, 1.0), found, right_ones, None, Metric("zero_one"), np.arange(3))


def test_three_lines_that_overtake_one_another_inside_a_piece():
    # first, then (1/3) second, then (2/2.8) third
    found = of_winners([3.0, 2.0, 0.0], [0.0, 2.0, 2.8], 1)
    np.testing.assert_allclose(found.edges, [0.0, 1 / 3, 2 / 2.8, 1.0])
    assert found.left.tolist() == [1.0, 0.0, 1.0]


def test_decisions_that_tie_belong_to_the_first_class():
    # the third overtakes both half-way; rounding is cleared before, see `test_ties`
    found = of_winners([-1.0, -1.0, -4.0], [-1.0, -1.0, 2.0], 0)
    np.testing.assert_allclose(found.edges, [0.0, 0.5, 1.0])
    assert found.left.tolist() == [0.0, 1.0]
    # and so it is where the two that tie overtake
    assert of_winners([0.0, -1.0, -1.0], [-2.0, -1.0, -1.0], 1).left.tolist() == [1.0, 0.0]
    assert set(of_winners([0.0, -1.0, -1.0], [-2.0, -1.0, -1.0], 2).left.tolist()) == {1.0}


def test_folds_that_end_at_different_costs_go_on_constant():
    X, y = two_classes()
    fitted = PathSVC(cv=4).fit(X, y)
    assert fitted.cv_path_.edges[-1] == np.inf
    assert np.inf > fitted.C_
    ends = []
    for train, _ in StratifiedKFold(4).split(X, y):
        ends.append(svm_path(X[train], y[train]).breakpoints[-1])
    assert fitted.cv_path_.edges[-2] <= max(ends)
    bounded = PathSVC(cv=4, C_max=0.2).fit(X, y)
    assert bounded.cv_path_.edges[-1] == 0.2
    assert bounded.C_ <= 0.2
    assert bounded.cv_error_ >= fitted.cv_error_


SEVERAL = [PathSVC(), QuantileSVC(), L1SVC(), DmKSVC(), DmDrSVC(), MulticategorySVC()]


@pytest.mark.parametrize("scoring", ["error", "balanced_accuracy", "f1_macro"])
@pytest.mark.parametrize("model", SEVERAL, **BY_NAME)
def test_a_class_that_a_fold_lacks_counts_as_wrong(model, scoring):
    X, y = three_classes()
    y = y.copy()
    y[y == "blue"] = "green"
    y[:2] = "rare"  # between the others
    train, test = np.arange(2, 60), np.r_[0, 1, np.arange(60, 90)]
    found = clone(model).set_params(cv=[(train, test)], scoring=scoring).fit(X, y)
    chosen = getattr(found, f"{model._parameter}_")
    said = with_value(model, model._parameter, chosen).fit(X[train], y[train]).predict(X[test])
    right = {
        "error": lambda: np.mean(said == y[test]),
        "balanced_accuracy": lambda: balanced_accuracy_score(y[test], said),
        "f1_macro": lambda: f1_score(y[test], said, average="macro"),
    }[scoring]()
    assert found.cv_error_ == pytest.approx(1.0 - right)
    assert "rare" not in said


def test_folds_of_one_class_choose_nothing():
    X, y = three_classes()
    lonely = [(np.flatnonzero(y == "red"), np.arange(60, 90))]
    with pytest.raises(
        ValueError, match=r"cv has no fold to choose .* hold the class .* alone\); pass cv="
    ):
        PathSVC(cv=lonely).fit(X, y)


def lassos():
    """Options, sample weights, and what columns are like, of lassos whose folds are compressed."""
    r = np.random.default_rng(5)
    weights = np.where(np.arange(60) % 9, r.uniform(0.5, 3.0, 60), 0.0)
    near, raw, far = (1.0, 0.0), (10.0 ** np.array([-2, 3, 0, 1]), 0.0), (1.0, 1e6)
    return {
        "plain": ({}, None, near),
        "no intercept": ({"fit_intercept": False}, None, near),
        "weights": ({}, weights, near),
        "positive": ({"positive": True}, weights, near),
        "factors": ({"penalty_factor": [0.0, 1.0, 2.0, 1.0]}, None, near),
        "bounds": ({"bounds": ([-0.1, -1.0, -np.inf, 0.0], 0.4)}, None, near),
        "within": ({"positive": True, "bounds": (-1.0, 0.3)}, weights, near),
        "raw units": ({}, weights, raw),
        "far from zero": ({}, None, far),
        "far from zero, no intercept": ({"fit_intercept": False}, None, far),
        "repeated folds": (
            {"cv": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)},
            None,
            raw,
        ),
        "random folds": ({"cv": ShuffleSplit(4, random_state=0)}, weights, near),
        "one row left out": ({"cv": LeaveOneOut()}, None, near),
        "R2": ({"scoring": "r2"}, weights, near),
    }


@pytest.mark.parametrize("name", lassos())
def test_squared_errors_of_a_lassos_folds_are_those_of_the_folds_rows(name):
    """Which are many for few columns: PathLasso takes factors of them."""
    options, weights, (unit, mean) = lassos()[name]
    r = np.random.default_rng(6)
    own = r.normal(size=(60, 4))
    X, y = unit * own + mean, own @ [1.0, -0.5, 0.2, 0.0] + r.normal(size=60) + 3.0
    model = PathLasso(**({"cv": 5} | options))
    fitted, s = model.fit(X, y, weights), np.ones(60) if weights is None else weights
    names = ("fit_intercept", "positive", "penalty_factor", "bounds")
    options = {k: v for k, v in model.get_params().items() if k in names}
    alphas = np.append(np.geomspace(1e-4, 10.0, 9), fitted.alpha_) * np.max(unit)
    pairs = check_cv(model.cv).split(X, y)
    for (train, test), curve in zip(pairs, fitted.cv_paths_, strict=True):
        path = lasso_path(X[train], y[train], sample_weight=s[train], **options)
        f = path.predict(X[test], np.clip(alphas * s[train].sum(), *path.range))
        error = np.average((f - y[test][:, None]) ** 2, axis=0, weights=s[test])
        if model.scoring == "r2":
            about = y[test] - np.average(y[test], weights=s[test])
            error /= np.average(about**2, weights=s[test])
        np.testing.assert_allclose(curve(alphas), error, rtol=1e-9 if mean else 1e-12)


def test_errors_of_folds_that_are_not_squared_are_of_all_rows():
    X, y = targets()
    fitted = PathLasso(cv=5, scoring="absolute").fit(X, y)
    (train, test), *_ = check_cv(5).split(X, y)
    path = lasso_path(X[train], y[train])
    wanted = np.abs(path.predict(X[test], 48 * fitted.alpha_) - y[test]).mean()
    assert fitted.cv_paths_[0](fitted.alpha_) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("folds", [5, ShuffleSplit(3, random_state=0), [(range(30), range(50))]])
def test_factors_have_the_squares_of_the_rows_that_they_stand_for(folds):
    A = np.random.default_rng(0).normal(size=(50, 4)) * [1e-5, 1.0, 1e5, 1.0]
    pairs = [(np.array(a), np.array(b)) for a, b in check_cv(folds).split(A)]
    for pair, found in zip(pairs, factors(A, pairs), strict=True):
        for rows, R in zip(pair, found, strict=True):
            assert R.shape == (4, 4)
            sizes = np.linalg.norm(A[rows], axis=0)
            off = (R.T @ R - A[rows].T @ A[rows]) / np.outer(sizes, sizes)
            assert np.abs(off).max() < 1e-14


def broken_off(function):
    """Return a path function whose paths break off half-way."""

    def part(*arguments, **options):
        kept = first_half(function(*arguments, **options))
        raise solution_paths.PathError("The path broke off; scale X.", kept)

    return part


@pytest.mark.parametrize(
    ("model", "where"),
    [
        (PathSVC(), "classifiers.svm_path"),
        (L1SVC(), "classifiers.l1_svm_path"),
        (DmKSVC(), "robust.dm_ksvm_path"),
        (DmDrSVC(), "robust.dm_drsvm_path"),
        (PathLasso(), "lasso.lasso_path"),
        (DrLAD(), "robust.drlad_path"),
    ],
    **BY_NAME,
)
def test_a_path_that_breaks_off_is_used_where_it_is_exact(monkeypatch, model, where):
    number = isinstance(model, PathLasso | DrLAD)
    X, y = targets(70, 4) if number else two_classes()
    name, f = model._parameter, "predict" if number else "decision_function"
    broken = broken_off(getattr(solution_paths, where.split(".")[1]))
    with monkeypatch.context() as patch:
        patch.setattr(f"solution_paths.estimators.{where}", broken)
        with pytest.warns(PathWarning) as said:
            fitted = clone(model).set_params(cv=3).fit(X, y)
        (text,) = [str(own.message) for own in said]
        assert text.startswith(f"{name} is chosen from ")
        assert text.endswith(
            "alone, where all paths are exact, since 4 paths could not be followed "
            "further: The path broke off; scale X."
        )
        begin, end = fitted.cv_path_.edges[[0, -1]]
        assert begin > 0 or end < np.inf
        chosen, values = getattr(fitted, f"{name}_"), getattr(fitted, f)(X)
        assert begin <= chosen <= end
        with warnings.catch_warnings():  # what is lost elsewhere is nobody's business
            warnings.simplefilter("error")
            clone(model).set_params(**{name: chosen}).fit(X, y)
        lost = fitted.path_.range
        outside = 0.5 * lost[0] if lost[0] > 0 else 2.0 * lost[1]
        outside /= getattr(fitted._model, "unit", 1.0)
        said = rf"{name} = {outside:g} could not be reached: The path broke off"
        with pytest.raises(solution_paths.PathError, match=re.escape(said)):
            fitted.set_params(**{name: outside, "cv": None}).fit(X, y)
    with pytest.raises(NotFittedError):  # what was fitted before is no answer to this fit
        fitted.predict(X)
    whole = clone(model).set_params(**{name: chosen}).fit(X, y)
    np.testing.assert_allclose(getattr(whole, f)(X), values, atol=1e-9)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (PathSVC(-1.0), "C must be a finite number > 0"),
        (PathSVC(0.0), "C must be a finite number > 0, not 0.0"),
        (PathSVC(np.nan), "C must be a finite number > 0, not nan"),
        (DmKSVC(0.0), "lam must be a finite number > 0, not 0.0"),
        (QuantileSVC(1.2), r"tau must be a finite number >= 0 and <= 1, not 1.2"),
        (L1SVC(np.nan), "lam must be a finite number >= 0"),
        (PathSVC(kernel="sigmoid"), "kernel must be one of"),
        (WeightedSVC(0.0), "C must be a finite number > 0"),
    ],
)
def test_bad_parameters_of_estimators(model, said):
    with pytest.raises(ValueError, match=said):
        model.fit(*two_classes())


def test_bad_parameters_of_the_lasso():
    for model, said in [
        (PathLasso(-1.0), "alpha must be a finite number >= 0"),
        (PathLasso(cv=3, scoring="huber"), "scoring must be one of squared, absolute"),
    ]:
        with pytest.raises(ValueError, match=said):
            model.fit(*targets())


# -- samples that come and go -----------------------------------------------------------------


def test_samples_enter_and_leave_a_classifier_exactly():
    X, y = two_classes()
    here = np.ones(len(y))
    here[:10] = 0.0
    model = WeightedSVC(2.0, kernel="rbf", gamma=0.3).fit(X, y, sample_weight=here)
    np.testing.assert_array_equal(model.sample_weight_, here)
    model.update(enter=range(6), leave=[20, 21, 22], weight=1.5)
    here[:6], here[20:23] = 1.5, 0.0
    np.testing.assert_allclose(model.sample_weight_, here)
    used = here > 0
    anew = SVC(C=2.0, gamma=0.3, tol=1e-10).fit(X[used], y[used], sample_weight=here[used])
    np.testing.assert_allclose(model.decision_function(X), anew.decision_function(X), atol=1e-6)
    weights = np.random.default_rng(0).uniform(0, 2, size=len(y))
    copied = pickle.loads(pickle.dumps(model))  # a walk in progress isn't pickled
    for own in (model, copied):
        own.reweight(weights)
        assert own.path_.parameter == "theta"
        assert own.path_.certify(n_random=5).ok
    anew = WeightedSVC(2.0, kernel="rbf", gamma=0.3).fit(X, y, sample_weight=weights)
    for own in (model, copied):
        f = own.decision_function(X)
        np.testing.assert_allclose(f, anew.decision_function(X), atol=1e-8)
    with pytest.raises(ValueError, match="enter names row 30, which takes part already"):
        model.update(enter=[30])
    with pytest.raises(ValueError, match="sample_weight has negative entries"):
        model.reweight(-weights)


def test_samples_of_more_classes_enter_all_paths():
    X, y = three_classes()
    here = np.ones(len(y))
    here[:9] = 0.0
    model = WeightedSVC().fit(X, y, sample_weight=here).update(enter=range(9))
    anew = WeightedSVC().fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), anew.decision_function(X), atol=1e-8)


def test_samples_enter_and_leave_a_regression_exactly():
    X, y = targets()
    X = X - 3.0
    here = np.ones(len(y))
    here[:10] = 0.0
    model = WeightedSVR(2.0, epsilon=0.2).fit(X, y, sample_weight=here)
    model.update(enter=[0, 1], leave=[30])
    here[:2], here[30] = 1.0, 0.0
    used = here > 0
    anew = SVR(C=2.0, epsilon=0.2, kernel="linear", tol=1e-10).fit(X[used], y[used])
    np.testing.assert_allclose(model.predict(X), anew.predict(X), atol=1e-5)
    assert cross_validate(model, X, y, cv=3)["test_score"].min() > 0


def test_iris_from_end_to_end():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = PathSVC(cv=5).fit(X, y)
    grid = GridSearchCV(PathSVC(), {"C": np.geomspace(1e-2, 1e2, 9)}, cv=5).fit(X, y)
    assert 1 - model.cv_error_ >= grid.best_score_ - 1e-12
    assert model.score(X, y) > 0.9
