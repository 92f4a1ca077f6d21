"""Estimators: weights of samples and classes, scorings, groups, coefficients, warnings."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone, is_regressor
from sklearn.datasets import make_classification
from sklearn.linear_model import Lasso
from sklearn.metrics import balanced_accuracy_score, log_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, StratifiedKFold, cross_validate
from sklearn.svm import SVC

from helpers.data_makers import targets, three_classes, two_classes
from helpers.estimators import BY_NAME
from helpers.middles import interval
from solution_paths import (
    L1SVC,
    DmDrSVC,
    DmKSVC,
    DrLAD,
    OutlierSVC,
    OutlierSVR,
    PathError,
    PathLasso,
    PathSVC,
    PathWarning,
    QuantileSVC,
    WeightedSVC,
    WeightedSVR,
)
from solution_paths.verify.verdict import Certificate

pytestmark = pytest.mark.slow

KERNELS = [PathSVC(), QuantileSVC(), DmKSVC(), OutlierSVC(C=0.5), WeightedSVC()]
REGRESSIONS = [OutlierSVR(s=2.0), WeightedSVR()]
PENALISED = [L1SVC(), DmDrSVC(), PathLasso(0.1), DrLAD(s=2.0)]
RNG = np.random.default_rng(0)


def data_for(model):
    return targets() if is_regressor(model) else two_classes()


# -- weights ----------------------------------------------------------------------------------


@pytest.mark.parametrize("class_weight", [None, "balanced", {"yes": 7.0}])
def test_weights_of_samples_and_classes_are_those_of_svc(class_weight):
    X, y = two_classes()
    weights = RNG.uniform(0, 2, len(y))
    weights[:9] = 0.0
    for C in (0.05, 1.0, 9.0):
        own = PathSVC(C, class_weight=class_weight, kernel="rbf", gamma=0.3, C_max=100.0)
        f = own.fit(X, y, sample_weight=weights).decision_function(X)
        classes = class_weight
        if class_weight == "balanced":  # SVC counts samples, and not their weights
            sums = {label: weights[y == label].sum() for label in ("no", "yes")}
            classes = {label: sum(sums.values()) / (2 * own) for label, own in sums.items()}
        theirs = SVC(C=C, gamma=0.3, tol=1e-10, class_weight=classes)
        expected = theirs.fit(X, y, sample_weight=weights).decision_function(X)
        problem, answer = own.path_.stated_at(C)
        middle = interval(problem, answer.w)
        if middle is not None:  # rounding of balanced weights decides where SVC's bias is in it
            off = expected[0] - f[0]
            assert middle[0] - 1e-4 <= answer.free[0] + off <= middle[1] + 1e-4
            expected = expected - off
        assert (middle is not None) == (C == 0.05 and class_weight == "balanced")
        np.testing.assert_allclose(f, expected, atol=1e-4)
        assert set(own.support_) <= set(np.flatnonzero(weights))


@pytest.mark.parametrize(
    "model",
    [PathSVC(), QuantileSVC(class_weight="balanced"), DmKSVC(kappa=3.0), PathLasso(0.02)],
    **BY_NAME,
)
@pytest.mark.parametrize("cv", [False, True])
def test_whole_weights_repeat_samples(model, cv):
    X, y = targets() if isinstance(model, PathLasso) else three_classes()
    times = RNG.integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), times)
    own, repeated = clone(model), clone(model)
    if cv:
        folds = np.arange(len(y)) // 3 % 3
        pairs = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(3)]
        again = [
            (np.flatnonzero(folds[rows] != k), np.flatnonzero(folds[rows] == k)) for k in range(3)
        ]
        own.set_params(cv=pairs), repeated.set_params(cv=again)
    own.fit(X, y, sample_weight=times), repeated.fit(X[rows], y[rows])
    if cv:  # an interval that goes on for ever has a middle of its own
        assert own.cv_error_ == pytest.approx(repeated.cv_error_, rel=1e-9)
        chosen = getattr(own, f"{model._parameter}_")
        assert repeated.cv_path_(chosen) == pytest.approx(own.cv_error_, rel=1e-9)
        setattr(repeated, f"{model._parameter}_", chosen)
    f = "predict" if isinstance(model, PathLasso) else "decision_function"
    np.testing.assert_allclose(getattr(own, f)(X), getattr(repeated, f)(X), atol=1e-7)


def test_weights_of_the_lasso_are_scikit_learns():
    X, y = targets()
    weights = RNG.integers(0, 4, len(y)).astype(float)
    for alpha in (0.03, 0.4):
        for intercept in (True, False):
            own = PathLasso(alpha, fit_intercept=intercept).fit(X, y, sample_weight=weights)
            theirs = Lasso(alpha, fit_intercept=intercept, tol=1e-14, max_iter=100_000)
            theirs.fit(X, y, sample_weight=weights)
            np.testing.assert_allclose(own.coef_, theirs.coef_, atol=1e-6)
            framed = clone(own).fit(pd.DataFrame(X), y, sample_weight=weights)
            np.testing.assert_array_equal(framed.coef_, own.coef_)
            assert own.intercept_ == pytest.approx(theirs.intercept_, abs=1e-5)


def test_a_gram_matrix_with_samples_that_take_no_part():
    X, y = two_classes()
    weights = (np.arange(len(y)) % 5 > 0).astype(float)
    K = X @ X.T
    gram = PathSVC(cv=3, kernel="precomputed", C_max=1e3).fit(K, y, sample_weight=weights)
    plain = PathSVC(cv=3, C_max=1e3).fit(X, y, sample_weight=weights)
    assert gram.cv_error_ == pytest.approx(plain.cv_error_)
    f = plain.set_params(cv=None, C=gram.C_).fit(X, y, sample_weight=weights).decision_function(X)
    np.testing.assert_allclose(gram.decision_function(K), f, atol=1e-7)
    with pytest.raises(AttributeError, match="knows no rows"):
        _ = gram.support_vectors_


def test_weights_of_classes_that_weights_enter_with():
    X, y = two_classes()
    heavy = {"yes": 5.0}
    model = WeightedSVC(class_weight=heavy).fit(X, y, sample_weight=np.arange(len(y)) > 9)
    model.update(enter=[0, 1], leave=[20])
    weights = model.sample_weight_
    assert weights[[0, 1, 20]].tolist() == [1.0, 1.0, 0.0]
    anew = WeightedSVC(class_weight=heavy).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(model.decision_function(X), anew.decision_function(X), atol=1e-8)


BAD_CLASS_WEIGHTS = {
    "a word": ("even", 'class_weight must be None, "balanced", or a dictionary'),
    "a list": ([1, 2], 'class_weight must be None, "balanced", or a dictionary'),
    "another label": ({"maybe": 2.0}, "class_weight names the class 'maybe', but y has"),
    "zero": ({"yes": 0.0}, "class_weight of the class 'yes' must be a finite number > 0"),
}


@pytest.mark.parametrize("kind", BAD_CLASS_WEIGHTS)
def test_weights_of_classes_that_are_none(kind):
    value, said = BAD_CLASS_WEIGHTS[kind]
    for model in (PathSVC(), WeightedSVC()):
        with pytest.raises(ValueError, match=said):
            model.set_params(class_weight=value).fit(*two_classes())


def test_errors_name_the_class_as_it_was_written():
    X, y = three_classes()
    for model in (WeightedSVC(), PathSVC()):
        said = "sample_weight is zero for every instance of the class 'green'"
        with pytest.raises(ValueError, match=said):
            model.fit(X, y, sample_weight=(y != "green").astype(float))
    model = WeightedSVC().fit(X, y)
    with pytest.raises(ValueError, match="leave takes out every instance of the class 'red'"):
        model.update(leave=np.flatnonzero(y == "red"))
    with pytest.raises(ValueError, match=r"sample_weight is zero for .* the class 'blue'"):
        model.reweight(y != "blue")


# -- cross-validation -------------------------------------------------------------------------


@pytest.mark.parametrize("data", [two_classes, three_classes])
@pytest.mark.parametrize("name", ["balanced_error", "balanced_accuracy"])
def test_the_balanced_error_is_exact(data, name):
    X, y = data()
    rare = np.flatnonzero((y == np.unique(y)[0]) & (np.arange(len(y)) % 3 > 0))
    X, y = np.delete(X, rare, axis=0), np.delete(y, rare)
    model = PathSVC(cv=3, scoring=name).fit(X, y)
    curve = model.cv_path_
    points = np.geomspace(1.001 * curve.edges[1], curve.edges[-2], 30)
    errors = []
    for train, test in StratifiedKFold(3).split(X, y):
        own = PathSVC().fit(X[train], y[train])
        errors.append([])
        for C in points:
            own.C_ = C
            errors[-1].append(1 - balanced_accuracy_score(y[test], own.predict(X[test])))
    np.testing.assert_allclose(curve(points), np.mean(errors, axis=0), atol=1e-12)
    np.testing.assert_allclose([part(points) for part in model.cv_paths_], errors, atol=1e-12)
    deviation = np.std(errors, axis=0, ddof=1) / np.sqrt(3)
    np.testing.assert_allclose(curve.standard_error(points), deviation, atol=1e-12)


def test_the_log_loss_is_that_of_probabilities():
    X, y = three_classes()
    model = QuantileSVC(cv=3, scoring="neg_log_loss", probability=True).fit(X, y)
    losses = []
    for train, test in StratifiedKFold(3).split(X, y):
        p = clone(model).set_params(cv=None).fit(X[train], y[train]).predict_proba(X[test])
        losses.append(log_loss(y[test], p))
    assert model.cv_error_ == pytest.approx(np.mean(losses))
    assert model.tau_ == 0.5


@pytest.mark.parametrize(
    "model",
    [PathSVC(), L1SVC(), DmKSVC(), DmDrSVC(), PathLasso(), DrLAD(), DrLAD(scoring="squared")],
    **BY_NAME,
)
def test_one_standard_error_is_the_strongest_penalty_within_it(model):
    X, y = data_for(model)
    least = clone(model).set_params(cv=4).fit(X, y)
    simple = clone(model).set_params(cv=4, rule="1se").fit(X, y)
    name, curve = f"{model._parameter}_", simple.cv_path_
    level = least.cv_error_ + curve.standard_error(getattr(least, name))
    chosen = getattr(simple, name)
    assert 0 < chosen < np.inf
    assert simple.cv_error_ == curve(chosen) <= level * (1 + 1e-9)
    known = curve.edges[np.isfinite(curve.edges)]
    larger = model._stronger == "larger"
    beyond = np.linspace(chosen, known[-1], 500)[1:] if larger else np.linspace(0, chosen, 500)[:-1]
    beyond = beyond[(beyond >= known[0]) & (np.abs(beyond - chosen) > 1e-9 * chosen)]
    if not larger and known[0] == 0:  # one that begins at 0 is read inside its first piece
        beyond = beyond[beyond > known[known > 0][0]] if chosen < known[known > 0][0] else beyond
    assert (curve(beyond) > level).all() or not len(beyond)


@pytest.mark.parametrize(
    ("model", "options", "said"),
    [
        (PathSVC(), {"scoring": "roc"}, "scoring must be one of error, balanced_error"),
        (PathSVC(), {"scoring": "log_loss"}, "scoring must be one of error"),
        (PathSVC(), {"rule": "best"}, "rule must be one of min, 1se"),
        (QuantileSVC(), {"rule": "1se"}, 'rule="1se" asks for the strongest penalty, and tau'),
        (OutlierSVC(), {"rule": "1se"}, 'rule="1se" asks for the strongest penalty, and theta'),
    ],
    ids=lambda own: str(own)[:20],
)
def test_options_of_cross_validation_that_are_none(model, options, said):
    with pytest.raises(ValueError, match=said):
        clone(model).set_params(cv=3, **options).fit(*two_classes())


def test_folds_in_several_processes_find_the_same():
    X, y = two_classes()
    one, two = (PathSVC(cv=3, n_jobs=n_jobs).fit(X, y) for n_jobs in (None, 2))
    assert (one.C_, one.cv_error_) == (two.C_, two.cv_error_)


def test_groups_stay_together():
    X, y = two_classes()
    groups = RNG.integers(0, 9, len(y))
    pairs = list(GroupKFold(3).split(X, y, groups))
    expected = PathSVC(cv=pairs).fit(X, y)
    assert PathSVC(cv=GroupKFold(3)).fit(X, y, groups=groups).C_ == expected.C_
    with pytest.raises(ValueError, match=r"cv must be a number of folds .*groups"):
        PathSVC(cv=GroupKFold(3)).fit(X, y)
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        PathSVC(cv=3).fit(X, y, rows=groups)


def test_metadata_is_routed():
    X, y = two_classes()
    groups, weights = RNG.integers(0, 9, len(y)), RNG.uniform(0.5, 2, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        model = PathSVC(cv=GroupKFold(3)).set_fit_request(sample_weight=True, groups=True)
        model.set_score_request(sample_weight=False)
        given = {"groups": groups, "sample_weight": weights}
        fitted = cross_validate(model, X, y, params=given, cv=GroupKFold(4), return_estimator=True)[
            "estimator"
        ]
    for own, (train, _) in zip(fitted, GroupKFold(4).split(X, y, groups), strict=True):
        by_hand = PathSVC(cv=GroupKFold(3))
        by_hand.fit(X[train], y[train], sample_weight=weights[train], groups=groups[train])
        assert own.C_ == by_hand.C_


def test_rare_positives_are_found_as_well_as_by_a_grid():
    X, y = make_classification(
        1500, n_features=10, weights=[0.985], class_sep=0.7, flip_y=0.01, random_state=1
    )
    assert PathSVC(cv=5).fit(X, y).predict(X).sum() == 0  # the fewest errors
    balanced = {"class_weight": "balanced"}
    own = PathSVC(cv=5, scoring="balanced_error", **balanced).fit(X, y)
    grid = {"C": np.geomspace(1e-4, 1e-1, 4)}
    theirs = SVC(kernel="linear", **balanced)
    found = GridSearchCV(theirs, grid, cv=5, scoring="balanced_accuracy").fit(X, y)
    assert own.cv_error_ <= 1 - found.best_score_ + 1e-12
    assert own.predict(X).sum() > y.sum()


# -- coefficients -----------------------------------------------------------------------------


@pytest.mark.parametrize("model", [*KERNELS, *REGRESSIONS], **BY_NAME)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_decisions_are_expansions_in_support_vectors(model, kernel):
    for X, y in (data_for(model), three_classes()):
        if model in REGRESSIONS and y.dtype.kind != "f":
            continue
        own = clone(model).set_params(kernel=kernel, gamma=0.3).fit(X, y)
        f = own.predict(X) if model in REGRESSIONS else own.decision_function(X)
        K = rbf_kernel(own.support_vectors_, X, gamma=0.3)
        K = own.support_vectors_ @ X.T if kernel == "linear" else K
        found = (own.dual_coef_ @ K).T + own.intercept_
        np.testing.assert_allclose(found.reshape(f.shape), f, atol=1e-7)
        np.testing.assert_array_equal(own.support_vectors_, X[own.support_])
        assert len(own.dual_coef_) == (3 if f.ndim == 2 else 1)
        assert own.n_features_in_ == X.shape[1]
        if kernel == "linear":
            np.testing.assert_allclose(own.coef_, own.dual_coef_ @ own.support_vectors_, atol=1e-7)
        else:
            assert not hasattr(own, "coef_")
            with pytest.raises(AttributeError, match=r"kernel='rbf' has no coef_, which is one of"):
                _ = own.coef_


@pytest.mark.parametrize("model", PENALISED, **BY_NAME)
def test_penalised_models_say_why_they_have_no_expansion(model):
    X, y = data_for(model)
    own = clone(model).fit(X, y)
    f = own.predict(X) if y.dtype.kind == "f" else own.decision_function(X)
    np.testing.assert_allclose((X @ np.atleast_2d(own.coef_).T).ravel() + own.intercept_, f)
    assert not hasattr(own, "dual_coef_")
    with pytest.raises(AttributeError, match="has no support_: under an l1 penalty"):
        _ = own.support_


# -- what is told -----------------------------------------------------------------------------


def doubted(places):
    """Return a certify that relies on no solution at some places."""
    real = Certificate.reliable.fget

    def reliable(certificate):
        return real(certificate) and not places(certificate.gap_at)

    return property(reliable)


@pytest.mark.parametrize("model", [PathSVC(2.0), QuantileSVC(0.4), L1SVC(2.0)], **BY_NAME)
def test_a_wrong_answer_is_told_once_in_one_sentence(monkeypatch, model):
    X, y = three_classes()
    monkeypatch.setattr(Certificate, "reliable", doubted(lambda t: True))
    name = model._parameter
    with pytest.warns(PathWarning) as said:
        clone(model).fit(X, y)
    (text,) = [str(own.message) for own in said]
    whose = "the classes 'blue', 'green', 'red' against the rest"
    assert text.startswith(f"The solution of {whose} at {name} = {getattr(model, name):g} may be")
    with pytest.warns(PathWarning) as said:
        clone(model).set_params(cv=3).fit(X, y)
    (text,) = [str(own.message) for own in said]
    assert "and those of 3 of 3 folds" in text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(model).set_params(check="ignore").fit(X, y)
    with pytest.raises(PathError, match="The solution of the classes"):
        clone(model).set_params(check="raise").fit(X, y)


def test_other_places_of_a_path_are_nobodys_business(monkeypatch):
    X, y = two_classes()
    monkeypatch.setattr(Certificate, "reliable", doubted(lambda t: t > 2.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PathSVC(1.0).fit(X, y)
    with pytest.warns(PathWarning, match="The solution at C = 3 may be off by"):
        PathSVC(3.0).fit(X, y)


def test_numbers_written_as_text_are_refused():
    X, y = two_classes()
    text = X.astype(str)
    for own in (text, text.astype(object), text.tolist()):
        with pytest.raises(ValueError, match="X has numbers written as text in column 0, such as"):
            PathSVC().fit(own, y)
    fitted = PathSVC().fit(X, y)
    with pytest.raises(ValueError, match="numbers written as text in column 0"):
        fitted.predict(text)


def test_a_splitter_of_rows_and_regressions_of_both_errors():
    X, y = targets()
    for scoring in ("neg_mean_squared_error", "neg_mean_absolute_error"):
        for model in (PathLasso(), DrLAD(), OutlierSVR()):
            own = clone(model).set_params(cv=KFold(3), scoring=scoring).fit(X, y)
            assert own.cv_error_ == pytest.approx(own.cv_path_.best().value)


def test_where_all_classes_of_folds_are_unknown_any_cost_is_as_good():
    X, y = three_classes()
    codes = np.unique(y, return_inverse=True)[1]
    pairs = [(np.flatnonzero(codes != k), np.flatnonzero(codes == k)) for k in range(3)]
    fitted = PathSVC(cv=pairs).fit(X, y)
    assert fitted.cv_error_ == 1.0
    assert 0.0 < fitted.C_ < np.inf
    assert fitted.cv_path_.best().intervals.tolist() == [[0.0, np.inf]]
