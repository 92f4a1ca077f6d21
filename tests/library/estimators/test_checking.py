"""What estimators are given that they can't use: one sentence, with the argument's name."""

import inspect
import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit

import solution_paths
from helpers import bad_input as bad
from helpers import known
from helpers.estimators import ESTIMATORS, fitted
from solution_paths import (
    L1SVC,
    OutlierSVC,
    OutlierSVR,
    PathLasso,
    PathSVC,
    QuantileSVC,
    SolutionPath,
    WeightedSVC,
    WeightedSVR,
)

N = 40
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
Y = np.where(X[:, 0] + RNG.normal(size=N) > 0, "yes", "no")
TARGET = X[:, 0] + RNG.normal(size=N)
WEIGHTS = np.ones(N)
FRAME = pd.DataFrame(X, columns=list("abc"))
CLASSIFIERS = [PathSVC(), QuantileSVC(), L1SVC(), WeightedSVC(), OutlierSVC()]
REGRESSIONS = [PathLasso(0.1), WeightedSVR(), OutlierSVR()]
MODELS = CLASSIFIERS + REGRESSIONS
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:X .* feature names:UserWarning")]
BY_NAME = {"ids": lambda model: type(model).__name__}
RAW = "Traceback|broadcast|operands|unpack|not supported between|ufunc|has no attribute"


def labels_for(model):
    return TARGET if is_regressor(model) else Y


def refused(call, said):
    """The call raises one sentence that begins with what was wrong, not with numpy's words."""
    with pytest.raises((ValueError, TypeError), match=rf"^{said}") as caught:
        call()
    (text,) = str(caught.value).splitlines()
    assert text.endswith(".")
    assert not any(raw in text.partition(" (")[0] for raw in RAW.split("|"))


def test_every_path_is_checked_unless_one_asks_for_less():
    """Functions and estimators warn of what doesn't hold by default."""
    defaults = {}
    for name in solution_paths.__all__:
        own = getattr(solution_paths, name)
        if callable(own) and not (inspect.isclass(own) and issubclass(own, Exception)):
            parameters = inspect.signature(own).parameters
            if "check" in parameters:
                defaults[name] = parameters["check"].default
    assert len(defaults) > 60
    assert {name for name, default in defaults.items() if default != "warn"} == set()


ROWS = {
    "masked": (np.ma.masked_less(X, -1.0), "X has masked entries"),
    "dates": (
        np.full((N, 3), np.datetime64("2020-01-01")),
        "X has dates or times in column 0; pass numbers",
    ),
    "column of dates": (
        FRAME.assign(a=pd.Timestamp("2020-01-01")),
        "X has dates or times in column 'a'; pass",
    ),
    "one axis": (X[:, 0], "X can't be used .*1D array"),
    "three axes": (X[None], "X can't be used .*dim 3"),
    "no rows": (X[:0], r"X can't be used .*0 sample\(s\)"),
    "no columns": (X[:, :0], r"X can't be used .*0 feature\(s\)"),
    "text": (np.full((N, 3), "a"), "X has text in column 0, such as 'a'; encode"),
    "categories": (
        FRAME.assign(a=["x", "y"] * 20),
        "X has text in column 'a', such as 'x'; encode",
    ),
    "complex": (X + 1j, "X has complex entries .* in column 0"),
    "nothing": (None, "X is None; pass"),
    "a dictionary": ({"a": 1}, "X can't be used"),
    "a generator": ((row for row in X), "X can't be used"),
    "ragged": ([[1.0, 2.0], [3.0]], "X has rows of different lengths; pass"),
    "huge whole numbers": (
        [[10**400] * 3] * N,
        "X has an integer that no float64 holds in column 0",
    ),
    "a name twice": (FRAME.set_axis(list("aab"), axis=1), "X can't be used .*unique"),
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("model", MODELS, **BY_NAME)
def test_rows_that_no_estimator_can_use(model, name):
    rows, said = ROWS[name]
    refused(lambda: clone(model).fit(rows, labels_for(model)), said)


FITTED = {type(m).__name__: clone(m).fit(X, labels_for(m)) for m in MODELS}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("model", FITTED.values(), ids=FITTED)
def test_rows_that_no_estimator_can_predict(model, name):
    rows, said = ROWS[name]
    refused(lambda: model.predict(rows), said)


@pytest.mark.parametrize("model", MODELS, **BY_NAME)
def test_sizes_that_differ_and_columns_that_changed(model):
    y = labels_for(model)
    refused(lambda: clone(model).fit(X, y[:-1]), r"X and y must have as many rows, not \[40, 39\]")
    other = pd.Series(y, index=np.arange(N) + 5)
    refused(lambda: clone(model).fit(FRAME, other), "y has another index than X")
    fitted = clone(model).fit(FRAME, y)
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        fitted.predict(FRAME[list("bac")])
    with pytest.raises(ValueError, match=r"X has 2 features, but .* expecting 3"):
        fitted.predict(X[:, :2])
    assert fitted.path_.feature_names == list("abc")
    refused(lambda: fitted.path_.predict(FRAME[list("bac")], 0.5), "X_new has the columns of X in")


@pytest.mark.parametrize("model", MODELS, **BY_NAME)
def test_types_of_rows_that_mean_the_same(model):
    y = labels_for(model)
    # values that float32 holds exactly
    rows = np.round(X, 2).astype(np.float32).astype(float)
    expected = clone(model).fit(rows, y).predict(rows)
    frame = pd.DataFrame(rows)
    own = [rows.tolist(), np.asfortranarray(rows), rows.astype(">f8"), rows.astype(np.float32)]
    own += [frame, frame.astype("Float64")]
    own += [sp.csr_array(rows), sp.coo_array(rows)] if model._sparse else []
    for same in own:
        found = clone(model).fit(same, y).predict(rows)
        if found.dtype.kind == "f":
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
        else:
            np.testing.assert_array_equal(found, expected)


LABELS = {
    "one": (["a"] * N, "y holds one class only, 'a'"),
    "None": ([None] * N, "y holds labels of type NoneType"),
    "None among strings": (["a", None] * 20, "y holds labels of type NoneType and str"),
    "mixed": (["a", 1] * 20, "y holds labels of type int and str"),
    "NaN": ([np.nan, 1.0] * 20, "y contains NaN"),
    "dates": (np.array(["2020-01-01", "2021-01-01"] * 20, dtype="M8[D]"), "y holds labels of type"),
    "tuples": ([(1,), (2,)] * 20, r"y has shape \(40, 1\)"),
    "masked": (np.ma.masked_less(np.arange(N) % 2, 1), "y has masked entries"),
    "columns": (np.tile(Y[:, None], (1, 2)), "y should be a 1d array"),
    "empty": ([], r"X and y must have as many rows, not \[40, 0\]"),
}


@pytest.mark.parametrize("name", LABELS)
@pytest.mark.parametrize("model", CLASSIFIERS, **BY_NAME)
def test_labels_that_no_classifier_can_use(model, name):
    y, said = LABELS[name]
    refused(lambda: clone(model).fit(X, y), said)


@pytest.mark.parametrize("model", CLASSIFIERS, **BY_NAME)
def test_labels_of_every_kind_come_back(model):
    up = Y == "yes"
    kinds = [up, up.astype(object), pd.Series(Y, dtype="string"), pd.Categorical(Y), Y.tolist()]
    expected = clone(model).fit(X, Y).predict(X) == "yes"
    for y in kinds:
        fitted = clone(model).fit(X, y)
        np.testing.assert_array_equal(fitted.predict(X) == fitted.classes_[1], expected)
        assert set(fitted.predict(X)) <= set(np.asarray(y))
        path = fitted.path_
        own = path.reading if isinstance(path, SolutionPath) else path.objective
        assert own.classes.tolist() == fitted.classes_.tolist()


@pytest.mark.parametrize("model", REGRESSIONS, **BY_NAME)
@pytest.mark.parametrize(
    ("y", "said"),
    [
        (["a"] * N, "y has text, such as 'a'; pass numbers"),
        (np.ma.masked_less(TARGET, -1.0), "y has masked entries"),
        (np.where(np.arange(N) == 3, 1e200, TARGET), "y has entries of size 1e"),
    ],
)
def test_targets_that_no_regression_can_use(model, y, said):
    refused(lambda: clone(model).fit(X, y), said)


FIRST, LAST = np.arange(30), np.arange(30, N)
FOLDS = {
    "1": (1, "cv must be a number of folds >= 2"),
    "more than rows": (N + 1, "cv must be a number of folds >= 2"),
    "text": ("a", "cv must be a number of folds >= 2"),
    "a fraction": (2.5, "cv must be a number of folds >= 2"),
    "True": (True, "cv must be a number of folds >= 2"),
    "numbers": ([1, 2], "cv must be a number of folds >= 2"),
    "one side": ([(FIRST,)], "cv must be a number of folds >= 2"),
    "no groups": (GroupKFold(3), "cv must be a number of folds >= 2 .*groups"),
    "none": ([], "cv must give one fold or more"),
    "beyond the end": ([(FIRST, [99])], "cv must give non-empty lists of row numbers from 0 to 39"),
    "names": ([(["a"], ["b"])], "cv must give non-empty lists of row numbers"),
    "no test rows": ([(FIRST, [])], "cv must give non-empty lists of row numbers"),
    "no training rows": ([([], LAST)], "cv must give non-empty lists of row numbers"),
}


@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize("model", [PathSVC(), PathLasso(), OutlierSVC(), OutlierSVR()], **BY_NAME)
def test_folds_that_are_none(model, name):
    cv, said = FOLDS[name]
    model = clone(model).set_params(cv=cv)
    refused(lambda: model.fit(X, labels_for(model)), said)


def test_folds_from_a_generator_masks_and_splitters():
    pairs = [(FIRST, LAST), (LAST, FIRST)]
    masks = [(np.isin(np.arange(N), a), np.isin(np.arange(N), b)) for a, b in pairs]
    expected = PathLasso(cv=pairs).fit(X, TARGET)
    for cv in ((pair for pair in pairs), iter(pairs), masks, [(a.tolist(), b) for a, b in pairs]):
        fitted = PathLasso(cv=cv).fit(X, TARGET)
        assert (fitted.alpha_, fitted.cv_error_) == (expected.alpha_, expected.cv_error_)
    forward = TimeSeriesSplit(3)
    own = PathLasso(cv=list(forward.split(X))).fit(X, TARGET)
    assert PathLasso(cv=forward).fit(X, TARGET).cv_error_ == own.cv_error_


SAMPLE_WEIGHTS = {
    "short": (WEIGHTS[:-1], "sample_weight has shape"),
    "negative": (-WEIGHTS, "sample_weight has negative entries"),
    "NaN": (WEIGHTS * np.nan, "sample_weight contains NaN"),
    "text": (["a"] * N, "sample_weight has text, such as 'a'; pass numbers"),
    "column": (WEIGHTS[:, None], "sample_weight has shape"),
    "zero": (0 * WEIGHTS, "sample_weight is zero everywhere"),
    "masked": (np.ma.masked_array(WEIGHTS, np.arange(N) < 3), "sample_weight has masked entries"),
}


@pytest.mark.parametrize("name", SAMPLE_WEIGHTS)
@pytest.mark.parametrize("model", [WeightedSVC(), WeightedSVR()], **BY_NAME)
def test_sample_weights_that_are_none(model, name):
    weights, said = SAMPLE_WEIGHTS[name]
    y = labels_for(model)
    refused(lambda: clone(model).fit(X, y, sample_weight=weights), said)
    fitted = clone(model).fit(X, y)
    before = fitted.predict(X)
    refused(lambda: fitted.reweight(weights), said)
    np.testing.assert_array_equal(fitted.predict(X), before)  # it is what it was
    assert fitted.reweight(2 * WEIGHTS).path_.certify(n_random=3).ok


def test_sample_weights_name_themselves():
    other = pd.Series(WEIGHTS, index=np.arange(N) + 3)
    refused(lambda: WeightedSVC().fit(FRAME, Y, other), "sample_weight has another index than X")
    alone = (Y == "yes").astype(float)
    said = "sample_weight is zero for every instance of the class 'no'"
    refused(lambda: WeightedSVC().fit(X, Y, alone), said)
    model = WeightedSVC().fit(X, Y, np.where(np.arange(N) == 0, 0.0, 1.0))
    refused(lambda: model.update(enter=[0], weight="a"), "weight is 'a'; pass real numbers")
    refused(lambda: model.update(enter=[0], weight=[1, 2]), r"weight has shape \(2,\)")


def test_options_that_are_true_or_false():
    said = "fit_intercept must be True or False, not 'yes'"
    refused(lambda: PathLasso(fit_intercept="yes").fit(X, TARGET), said)
    said = "probability must be True or False, not 'no'"
    refused(lambda: QuantileSVC(probability="no").fit(X, Y), said)


OUTLIER_OPTIONS = {
    "theta above": ({"theta": 1.5}, "theta must be a finite number >= 0 and <= 1, not 1.5"),
    "theta below": ({"theta": -0.1}, "theta must be a finite number >= 0 and <= 1, not -0.1"),
    "theta a text": ({"theta": "half"}, "theta must be a finite number"),
    "no cost": ({"C": 0.0}, "C must be a finite number > 0, not 0.0"),
    "a cost that is none": ({"C": np.nan}, "C must be a finite number > 0, not nan"),
    "a kernel": ({"kernel": "sigmoid"}, "kernel must be one of"),
}


@pytest.mark.parametrize("name", OUTLIER_OPTIONS)
@pytest.mark.parametrize("model", [OutlierSVC(), OutlierSVR()], **BY_NAME)
def test_options_of_robust_machines(model, name):
    options, said = OUTLIER_OPTIONS[name]
    refused(lambda: clone(model).set_params(**options).fit(X, labels_for(model)), said)


@pytest.mark.parametrize("s", [0.0, -1.0, "a", np.inf])
def test_a_threshold_that_is_none(s):
    refused(lambda: OutlierSVR(s=s).fit(X, TARGET), "s must be")


# -- every estimator, every kind of bad value ---------------------------------------------------


def one_sentence(call, argument):
    """The call raises one sentence that names the argument and says what to do."""
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    (text,) = str(caught.value).splitlines()
    assert re.search(rf"\b{argument}\b", text), text
    assert re.search(r"; |Use '\.toarray", text), text
    assert text.endswith("."), text
    return text


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_refuses_what_is_no_data(name):
    model = getattr(solution_paths, name)()
    y = np.arange(bad.N) % 3 + 1 if name == "PathSVOR" else np.abs(bad.TARGET)
    y = bad.Y if is_classifier(model) and name != "PathSVOR" else y
    fitted = clone(model).fit(bad.X, y)
    for rows in bad.BAD_ROWS.values():
        one_sentence(lambda rows=rows: clone(model).fit(rows(), y), "X")
        one_sentence(lambda rows=rows: fitted.predict(rows()), "X")
    targets = bad.BAD_LABELS if is_classifier(model) else bad.BAD_TARGETS
    fine = ("a column", "a frame", "three classes")  # as in scikit-learn
    if name == "PathOneClassSVM":  # which looks at none
        targets = {}
    for what, own in targets.items():
        if what not in fine:
            one_sentence(lambda own=own: clone(model).fit(bad.X, own()), "y")


def test_a_column_that_is_no_number_is_named_with_a_remedy_that_works():
    frame = FRAME.assign(city=["Rome", "Oslo"] * 20)
    said = one_sentence(lambda: PathSVC().fit(frame, Y), "X")
    assert "column 'city', such as 'Rome'" in said
    assert "pandas.get_dummies" in said
    PathSVC().fit(pd.get_dummies(frame), Y)
    digits = FRAME.assign(b=FRAME["b"].astype(str))
    said = one_sentence(lambda: PathSVC().fit(digits, Y), "X")
    assert "column 'b'" in said
    assert "pandas.to_numeric" in said
    PathSVC().fit(digits.apply(pd.to_numeric), Y)
    for missing in (pd.NA, None, np.nan):
        holes = FRAME.astype(object)
        holes.iloc[3, 1] = missing
        said = one_sentence(lambda holes=holes: PathSVC().fit(holes, Y), "X")
        assert "column 'b'" in said
        assert "drop those rows" in said
        kept = holes.dropna().astype(float)
        PathSVC().fit(kept, np.delete(Y, 3))


@pytest.mark.parametrize(
    ("cv", "y", "said"),
    [
        (3, ["a"] * 39 + ["b"], "'b' has one row alone.* or choose C yourself"),
        (KFold(2), ["a"] * 20 + ["b"] * 20, "pass cv=5"),
        (KFold(2), ["a"] * 37 + ["b"] * 3, "pass cv=3"),
    ],
)
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
def test_a_fold_of_one_class_has_a_remedy_that_works(cv, y, said):
    some_are_left = min(y.count("a"), y.count("b")) < 20
    if some_are_left:
        with pytest.warns(
            solution_paths.PathWarning, match="cv chooses C without fold . of"
        ) as told:
            PathSVC(cv=cv).fit(X, y)
        (text,) = (str(w.message) for w in told if w.category is solution_paths.PathWarning)
    else:
        text = one_sentence(lambda: PathSVC(cv=cv).fit(X, y), "cv")
    assert re.search(said, text)
    remedy = re.search(r"cv=(\w+)", text)[1]
    PathSVC(cv=None if remedy == "None" else int(remedy)).fit(X, y)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_parameter_that_an_estimator_does_not_take(name):
    model = getattr(solution_paths, name)
    known = list(model().get_params())
    assert (
        list(inspect.signature(model).parameters)
        == list(inspect.signature(model.__init__).parameters)[1:]
    )
    with pytest.raises(TypeError, match=rf"{name} takes no wavelength; it takes .*{known[0]}"):
        model(wavelength=3)
    with pytest.raises(TypeError, match=f"{name} takes no chek; did you mean check."):
        model(chek="warn")
    probable = ("PathLogisticRegression", "QuantileSVC")
    if is_classifier(model()) and model.__name__ not in probable:
        fitted = model().fit(X, np.unique(Y, return_inverse=True)[1])
        for name in ("predict_proba", "predict_log_proba"):
            assert not hasattr(fitted, name)
            said = rf"{model.__name__} has no {name}; QuantileSVC\(probability=True\) and .* have"
            with pytest.raises(AttributeError, match=said):
                getattr(fitted, name)
    if "probability" not in known:
        with pytest.raises(
            TypeError, match=r"QuantileSVC\(probability=True\) and .* predict_proba"
        ):
            model(probability=True)


DENSE = ("DmDrSVC", "DrLAD")  # whose norms of w couple all columns


@pytest.mark.parametrize("name", ESTIMATORS)
def test_sparse_rows_are_those_of_a_dense_array_or_refused(name):
    make = getattr(solution_paths, name)
    rows = np.where(np.abs(known.X) < 0.5, 0.0, known.X)
    if name in DENSE:
        refused = pytest.raises(
            TypeError, match=r"^Sparse data was passed for X, but dense data is"
        )
        with refused:
            fitted(make, rows=sp.csr_array(rows))
        assert not make().__sklearn_tags__().input_tags.sparse
        return
    sparse, dense = fitted(make, rows=sp.csr_array(rows)), fitted(make, rows=rows)
    what = "decision_function" if hasattr(dense, "decision_function") else "predict"
    for new in (rows, sp.csr_array(rows)):
        found, wanted = getattr(sparse, what)(new), getattr(dense, what)(rows)
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
    assert sparse.__sklearn_tags__().input_tags.sparse
