"""Whatever a caller passes: an exact result, or one sentence that names the argument and a remedy.

The fuzz crosses every class of bad value with every function and method that takes such a value.
"""

import contextlib
import inspect
import re
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import is_classifier

import solution_paths
from helpers.bad_input import (
    BAD_LABELS,
    BAD_ROWS,
    BAD_TARGETS,
    BAD_VECTORS,
    RNG,
    TARGET,
    D,
    N,
    X,
    Y,
    side,
)
from helpers.estimators import ESTIMATORS
from solution_paths import (
    PathError,
    PathWarning,
    SolutionPath,
    dm_drsvm_path,
    drlad_path,
    drsvm_path,
    l1_svm_path,
    lasso_path,
    quantile_svm_path,
    svm_path,
    update_instances,
    weighted_svm_path,
    weighted_svr_path,
)
from solution_paths import validation as check
from solution_paths.homotopy import run
from solution_paths.validation import warn_if_badly_scaled

CLASSIFIERS = {
    quantile_svm_path: {"lam": 0.1},
    svm_path: {},
    weighted_svm_path: {"weights_from": 1.0, "weights_to": 2.0},
    l1_svm_path: {},
}
REGRESSIONS = {
    weighted_svr_path: {"weights_from": 1.0, "weights_to": 2.0, "epsilon": 0.1},
    lasso_path: {},
}
FUNCTIONS = CLASSIFIERS | REGRESSIONS
KERNELS = [quantile_svm_path, svm_path, weighted_svm_path, weighted_svr_path]


def arguments(function, **changes):
    """Good arguments of a function, but for the changes; small, so that paths cost nothing."""
    y = TARGET if function in REGRESSIONS else Y
    return {"X": X, "y": y} | FUNCTIONS[function] | changes


def assert_refused(call, names, *, kinds=(ValueError, TypeError, AttributeError)):
    """One sentence from our own code, with the argument's name first or clearly in it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(kinds) as caught:
            call()
    message = str(caught.value)
    assert type(caught.value) in kinds, type(caught.value)  # no subclass of numpy's or scipy's
    assert re.search(rf"\b({names})\b", message), message
    assert "\n" not in message
    assert message.endswith("."), message
    assert not re.search(r"\.\s+[A-Z]", message), message  # one sentence
    assert re.search(r"must|;|choose|pass|is a folder|weights are", message), message
    own = caught.traceback[-1].path
    assert "solution_paths" in str(own), own


# -- bad values, by class ---------------------------------------------------------------------


NO_NUMBER = [None, "a", "1.0", [0.5], (), {}, 1j, np.nan, -np.inf, True, np.ones(2), object, 1e200]
BELOW = [-1.0, -1e-9, 10**400, -(10**400)]
NUMBERS = {  # argument: functions, values that it can't have beside NO_NUMBER
    "lam": ([quantile_svm_path], [*BELOW, 0.0, 1e-200, np.inf]),
    "epsilon": ([weighted_svr_path], [*BELOW, np.inf]),
    "intercept_scaling": ([quantile_svm_path], [np.inf, 10**400]),
    "diagonal": ([weighted_svm_path, weighted_svr_path], [*BELOW, np.inf]),
    "gamma": (KERNELS, [*BELOW, 0.0, np.inf, "junk", "SCALE"]),
    "degree": (KERNELS, [*BELOW, 0, 2.5, np.inf]),
    "coef0": (KERNELS, [*BELOW, np.inf]),
}


def ids(items):
    return [f"{function.__name__}-{what}" for function, what, *_ in items]


ROW_CASES = [(f, what, bad) for f in FUNCTIONS for what, bad in BAD_ROWS.items()]
Y_CASES = [(f, what, bad) for f in CLASSIFIERS for what, bad in BAD_LABELS.items()]
Y_CASES += [(f, what, bad) for f in REGRESSIONS for what, bad in BAD_TARGETS.items()]


@pytest.mark.slow
@pytest.mark.parametrize(("function", "what", "bad"), ROW_CASES, ids=ids(ROW_CASES))
def test_bad_rows(function, what, bad):
    assert_refused(lambda: function(**arguments(function, X=bad())), "X")


@pytest.mark.parametrize(("function", "what", "bad"), Y_CASES, ids=ids(Y_CASES))
def test_bad_targets_and_labels(function, what, bad):
    assert_refused(lambda: function(**arguments(function, y=bad())), "y")


@pytest.mark.parametrize("name", ["weights_from", "weights_to"])
@pytest.mark.parametrize("function", [weighted_svm_path, weighted_svr_path])
@pytest.mark.parametrize(
    "what", [*BAD_VECTORS, "negative", "zero", "negative scalar", "another index"]
)
def test_bad_weights(function, name, what):
    more = {
        "negative": lambda: np.linspace(-1, 1, N),
        "zero": lambda: 0.0,
        "negative scalar": lambda: -1.0,
        "another index": lambda: pd.Series(np.ones(N), index=range(N, 0, -1)),
    }
    bad = (BAD_VECTORS | more)[what]
    assert_refused(
        lambda: function(**arguments(function, **{name: bad(), "X": pd.DataFrame(X)})), name
    )


NUMBER_CASES = [
    (function, f"{name}={value!r:.20}", name, value)
    for name, (functions, own) in NUMBERS.items()
    for function in functions
    for value in [*NO_NUMBER, *own]
    if not (name == "gamma" and value is None)
]
NUMBER_CASES += [
    (svm_path, f"C_max={value!r:.20}", "C_max", value)
    for value in [*NO_NUMBER[:-1], -1.0, 0.0, 1e-200]
    if value is not None
]


@pytest.mark.parametrize(("function", "what", "name", "value"), NUMBER_CASES, ids=ids(NUMBER_CASES))
def test_bad_numbers(function, what, name, value):
    kernel = {"kernel": "poly"} if name in ("gamma", "degree", "coef0") else {}
    assert_refused(lambda: function(**arguments(function, **kernel, **{name: value})), name)


@pytest.mark.parametrize("function", KERNELS)
@pytest.mark.parametrize("kernel", ["sigmoid", None, 3, ["rbf"], np.array(["rbf"]), lambda x: x])
def test_bad_kernels(function, kernel):
    assert_refused(lambda: function(**arguments(function, kernel=kernel)), "kernel")


@pytest.mark.parametrize("function", KERNELS)
@pytest.mark.parametrize("K", [X, sp.csr_array(X @ X.T), -np.eye(N), np.triu(np.ones((N, N)))])
def test_bad_gram_matrices(function, K):
    assert_refused(lambda: function(**arguments(function, X=K, kernel="precomputed")), "kernel")


@pytest.mark.parametrize("function", KERNELS)
def test_kernel_values_that_overflow(function):
    options = {"kernel": "poly", "degree": 40, "gamma": 1e4}
    assert_refused(lambda: function(**arguments(function, **options)), "X")


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("callback", 3),
        ("callback", "print"),
    ],
)
def test_bad_options_of_the_walk(function, name, value):
    if name not in inspect.signature(function).parameters:
        pytest.skip("not an option of it")
    assert_refused(lambda: function(**arguments(function, **{name: value})), name)


@pytest.mark.slow
@pytest.mark.parametrize("vary", ["lam1", "lam2"])
@pytest.mark.parametrize("function", [drlad_path, drsvm_path, partial(dm_drsvm_path, kappa=2.0)])
def test_sparse_rows_give_the_paths_of_dense_ones(function, vary):
    given = {"vary": vary, "lam1" if vary == "lam2" else "lam2": 0.1}
    path, other = (function(rows, Y, **given) for rows in (sp.csr_array(X), X))
    t = other.breakpoints[len(other.breakpoints) // 2]
    np.testing.assert_allclose(path.coef(t), other.coef(t), atol=1e-12)
    assert path.certify().ok


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_series_of_another_index(function):
    frame, y = pd.DataFrame(X), pd.Series(arguments(function)["y"], index=range(N, 0, -1))
    assert_refused(lambda: function(**arguments(function, X=frame, y=y)), "y")
    positions = function(**arguments(function, X=X, y=y))  # an array has no index to contradict
    aligned = function(**arguments(function, X=frame, y=y.to_numpy()))
    np.testing.assert_array_equal(positions.breakpoints, aligned.breakpoints)


# -- every function ---------------------------------------------------------------------------

REQUIRED = {
    "asymmetric_svm_path": {},
    "conditional_conformal_path": {
        "scores": np.abs(TARGET),
        "X_new": X[:2],
        "kernel": "rbf",
        "gamma": 0.5,
    },
    "dm_drsvm_grid": {"kappa": 3.0, "lam1_values": [0.1], "lam2_values": [0.1]},
    "dm_drsvm_path": {"kappa": 3.0, "vary": "lam1", "lam2": 0.1},
    "dm_ksvm_path": {"kappa": 3.0},
    "dr_regression_path": {"loss": "absolute", "lam2": 0.1},
    "drlad_grid": {"s_values": [0.5], "lam2_values": [0.1]},
    "drlad_path": {"lam2": 0.1},
    "drsvm_path": {"lam2": 0.1},
    "kernel_quantile_path": {"lam": 0.1},
    "logistic_path": {"lam_min": 0.1},
    "noncrossing_quantiles_path": {"quantiles": [0.2, 0.8]},
    "outlier_svm_path": {"C": 1.0},
    "outlier_svr_path": {"C": 1.0},
    "poisson_path": {"lam_min": 0.1},
    "quantile_svm_path": {"lam": 0.1},
    "ranking_svm_path": {"scores": TARGET},
    "weighted_svm_path": {"weights_from": 1.0, "weights_to": 2.0},
    "weighted_svr_path": {"weights_from": 1.0, "weights_to": 2.0, "epsilon": 0.1},
}
PUBLIC = {name: getattr(solution_paths, name) for name in solution_paths.__all__}
OF_DATA = [  # all but those of a path, of a problem, or of y before X
    name
    for name, own in PUBLIC.items()
    if inspect.isfunction(own) and next(iter(inspect.signature(own).parameters)) == "X"
]


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_DATA)
def test_every_function_refuses_what_is_no_data(name):
    function, given = getattr(solution_paths, name), REQUIRED.get(name, {})
    labels = name.endswith(("svm_path", "drsvm_grid", "roc_path", "svor_path", "logistic_path"))
    targets = {"y": Y if labels else np.abs(TARGET)}
    if "y" not in inspect.signature(function).parameters:
        targets = {}
    function(X, **targets, **given)
    for own in BAD_ROWS.values():
        assert_refused(lambda own=own: function(own(), **targets, **given), "X")
    for what, own in (BAD_LABELS if labels else BAD_TARGETS).items() if targets else ():
        several = what == "three classes" and name in ("multicategory_svm_path", "svor_path")
        if not several:
            assert_refused(lambda own=own: function(X, own(), **given), "y")


def test_missing_values_of_pandas_are_called_missing():
    for missing in (pd.NA, pd.NaT):
        rows = pd.DataFrame(X, columns=list("abc")).astype(object)
        rows.iloc[2, 1] = missing
        with pytest.raises(ValueError, match=r"X has missing values in column 'b', .*drop those"):
            lasso_path(rows, TARGET)
        with pytest.raises(ValueError, match=r"y has missing values, .*drop those"):
            lasso_path(X, rows["b"])


# -- the methods of a path --------------------------------------------------------------------


@pytest.fixture(scope="module")
def paths():
    frame = pd.DataFrame(X, columns=list("abc"))
    made = {f.__name__: f(**arguments(f, X=frame)) for f in FUNCTIONS}
    made["rbf"] = svm_path(X, Y, kernel="rbf", C_max=5.0)
    made["csr"] = quantile_svm_path(sp.csr_array(X), Y, 0.1)
    made["precomputed"] = svm_path(X @ X.T, Y, kernel="precomputed", C_max=5.0)
    made["words"] = quantile_svm_path(X, np.where(side, "yes", "no"), 0.1)
    return made


NAMES = [*(f.__name__ for f in FUNCTIONS), "rbf", "csr", "precomputed", "words"]
CLASSIFYING = [name for name in NAMES if name not in ("weighted_svr_path", "lasso_path")]


def middle(path):
    return float(path.breakpoints[[0, -1]].mean())


def fitting(path, rows):
    """Rows to predict, with as many columns as a precomputed kernel has."""
    own = path.reading if isinstance(path, SolutionPath) else path.objective
    if own.kernel.name != "precomputed":
        return rows
    if getattr(rows, "ndim", 0) != 2:
        return rows
    wide = sp.csr_array if sp.issparse(rows) else np.asarray
    return wide(np.asarray(rows if not sp.issparse(rows) else rows.toarray()) @ np.ones((D, N)))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("what", [*BAD_ROWS, "too few columns", "too many columns"])
def test_bad_rows_to_predict(paths, name, what):
    path, t = paths[name], middle(paths[name])
    more = {"too few columns": lambda: X[:, :2], "too many columns": lambda: np.c_[X, X]}
    bad = (BAD_ROWS | more)[what]
    calls = {
        "X_new": [
            lambda: path.decision_function(bad(), t),
            lambda: path.predict(bad(), t),
            lambda: path.crossings(bad()),
        ],
        "X_val": [lambda: path.best(bad(), TARGET, "squared")],
    }
    if name in CLASSIFYING:
        calls["X_val"] += [lambda: path.best(bad(), Y), lambda: path.error_curve(bad(), Y)]
    for argument, own in calls.items():
        for call in own:
            assert_refused(call, argument)


FRAMES = {
    "another order": lambda frame: frame[["b", "a", "c"]],
    "other names": lambda frame: frame.rename(columns={"a": "z"}),
    "one lacks": lambda frame: frame[["a", "b"]],
    "one more": lambda frame: frame.assign(d=1.0),
    "one twice": lambda frame: frame[["a", "b", "c", "a"]],
    "no names": lambda frame: pd.DataFrame(frame.to_numpy()),
}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("change", FRAMES)
def test_columns_are_known_by_name(paths, function, change):
    path, t = paths[function.__name__], middle(paths[function.__name__])
    frame = FRAMES[change](pd.DataFrame(X, columns=list("abc")))
    for call in (path.decision_function, path.predict):
        assert_refused(lambda call=call: call(frame, t), "X_new")
    assert_refused(lambda: path.crossings(frame), "X_new")
    assert_refused(lambda: path.best(frame, TARGET, "absolute"), "X_val")


@pytest.mark.slow
@pytest.mark.parametrize("name", CLASSIFYING)
@pytest.mark.parametrize("what", [*BAD_LABELS, "zero", "an unknown word", "another index"])
def test_bad_validation_labels(paths, name, what):
    path, rows = paths[name], pd.DataFrame(X, columns=list("abc"))
    if name in ("precomputed", "rbf", "words", "csr"):
        rows = fitting(path, X)
    index = range(N, 0, -1)
    more = {
        "zero": lambda: np.where(side, 1, 0),
        "an unknown word": lambda: np.where(side, "yes", "maybe"),
        "another index": lambda: pd.Series(Y, index=index),
    }
    if what == "another index":
        rows = pd.DataFrame(np.asarray(rows), columns=path.feature_names)
    bad = (BAD_LABELS | more)[what]
    if what in ("one class", "infinity") and name != "words":
        bad = more["zero"]  # one of the two known labels alone is good validation data
    for call in (path.best, path.error_curve):
        assert_refused(lambda call=call: call(rows, bad()), "y_val")


@pytest.mark.parametrize("what", BAD_TARGETS)
@pytest.mark.parametrize("metric", ["absolute", "squared"])
def test_bad_validation_targets(paths, what, metric):
    for name in ("lasso_path", "weighted_svr_path", "words"):
        assert_refused(lambda name=name: paths[name].best(X, BAD_TARGETS[what](), metric), "y_val")


def test_unknown_labels_are_named(paths):
    """Trained on words and validated on 0 and 1, every row would count as negative."""
    with pytest.raises(ValueError, match=r"y_val holds the label 0, but .* 'no' and 'yes'; recode"):
        paths["words"].best(X, side.astype(int))
    with pytest.raises(ValueError, match="y_val holds the label 'maybe'"):
        paths["words"].error_curve(X, np.where(side, "yes", "maybe"))
    right = paths["words"].best(X, np.where(side, "yes", "no"))
    assert right.value == paths["quantile_svm_path"].best(X, Y).value
    one = paths["words"].best(X, np.full(N, "yes"))  # one class alone is no offence
    assert one.value == 0.0


@pytest.mark.parametrize("metric", ["auc", 3, ["squared"], np.array(["squared"])])
def test_bad_metrics(paths, metric):
    assert_refused(lambda: paths["svm_path"].best(X, Y, metric), "metric")


@pytest.mark.parametrize("name", ["svm_path", "rbf"])
def test_a_forgotten_parameter_has_its_name(paths, name):
    path = paths[name]
    calls = [path.dual, path.intercept, path.free, path.expansion, path.objective_value]
    calls += [path.stated_at, lambda: path.decision_function(X), lambda: path.predict(X)]
    for call in calls if name == "rbf" else [*calls, path.coef]:
        assert_refused(call, "C")


def test_a_forgotten_parameter_of_other_paths_has_its_name():
    robust = solution_paths.outlier_svm_path(X, Y, C=1.0)
    calls = [robust.outliers, robust.partition_at, robust.at_threshold, robust.objective_value]
    for call in [*calls, robust.coef, robust.dual, robust.intercept, robust.stated_at]:
        assert_refused(call, "theta")
    rate = solution_paths.poisson_path(X, np.abs(TARGET), lam_min=0.1)
    for call in (lambda: rate.mean(X), lambda: rate.predict(X), rate.coef):
        assert_refused(call, "lam")
    surface = solution_paths.drlad_grid(X, TARGET, [0.5], [0.1])
    for call in (surface.coef, surface.intercept, lambda i: surface.decision_function(i, X)):
        assert_refused(lambda call=call: call(0), "s")


VECTORS = ([0.5], np.ones(2))  # several parameters are fine, these are not
NO_PARAMETERS = [t for t in NO_NUMBER if not any(t is own or str(t) == str(own) for own in VECTORS)]
NO_PARAMETERS += [-1e-3, 1e9, np.inf, [], [0.5, "a"], [0.5, None], np.ones((2, 1)), [0.5, np.nan]]


@pytest.mark.parametrize("t", NO_PARAMETERS)
@pytest.mark.parametrize("name", ["quantile_svm_path", "rbf"])
def test_bad_parameters(paths, name, t):
    path = paths[name]
    calls = [path.dual, path.intercept, lambda t: path.decision_function(X, t)]
    calls += [path.coef] if path.linear else []
    for call in calls:
        assert_refused(lambda call=call: call(t), path.parameter)


def test_infinity_is_no_parameter_even_where_the_path_goes_on_for_ever():
    path = svm_path(X, Y)
    assert path.range[1] == np.inf
    assert_refused(lambda: path.dual(np.inf), "C")


BAD_CALLS = {
    "n_random": ("certify", {"n_random": [-1, 0.5, "a", None, np.nan, True]}),
    "seed": ("certify", {"seed": [-1, "a", None, 0.5]}),
    "what": ("plot", {"what": ["junk", 3, ["coef"], ""]}),
    "max_lines": ("plot", {"max_lines": [0, -1, "a", 2.5]}),
    "ax": ("plot", {"ax": [3, "ax"]}),
    "file": ("save", {"file": [3, None, 1.0, ["a"]]}),
}


@pytest.mark.parametrize("name", BAD_CALLS)
def test_bad_arguments_of_methods(paths, name):
    method, values = BAD_CALLS[name]
    for value in values[name]:
        assert_refused(lambda v=value: getattr(paths["svm_path"], method)(**{name: v}), name)


def test_a_certificate_of_nothing_is_refused(paths):
    path = paths["svm_path"]
    assert path.certify(0).ok


def test_kernel_paths_have_no_coefficients(paths):
    for call in (lambda: paths["rbf"].coef(1.0), lambda: paths["rbf"].plot("coef")):
        assert_refused(call, "kernel", kinds=(AttributeError,))


# -- weights that change ----------------------------------------------------------------------

PRESENT = np.where(np.arange(N) < 16, 1.0, 0.0)


def start(function):
    changes = {"weights_from": PRESENT, "weights_to": PRESENT}
    return function(**arguments(function, **changes))


@pytest.mark.parametrize("function", [weighted_svm_path, weighted_svr_path])
def test_bad_new_weights_and_updates_cost_nothing(function):
    path = start(function)
    for what, bad in BAD_VECTORS.items():
        assert_refused(lambda bad=bad: path.continue_to(bad()), "new_weights")
        if what not in ("None", "a column", "a frame"):
            assert_refused(
                lambda bad=bad: update_instances(path, enter=[17, 18], weight=bad()), "weight"
            )
    assert_refused(lambda: path.continue_to(0.0), "new_weights")
    rows = [[0.5], 0.5, [np.nan], ["a"], [None], [[17]], [17, 17], [-1], [N], np.ones(N, bool)]
    rows += [True, "17", [[1], [1, 2]], {}, [1j], sp.csr_array(np.eye(2)), [10**30]]
    for name in ("enter", "leave"):
        for bad in rows:
            assert_refused(lambda bad=bad, n=name: update_instances(path, **{n: bad}), name)
    assert_refused(lambda: update_instances(path, enter=[3]), "enter")
    assert_refused(lambda: update_instances(path, leave=[18]), "leave")
    assert_refused(lambda: update_instances(path, leave=np.arange(16)), "leave")
    assert update_instances(path, enter=[17], leave=[2], weight=0.5).certify(3).ok


@pytest.mark.parametrize("wrong", [None, 3, "path", X])
def test_what_is_no_path_has_no_instances(wrong):
    assert_refused(lambda: update_instances(wrong, enter=[1]), "path")


@pytest.mark.parametrize("name", ["quantile_svm_path", "svm_path", "lasso_path"])
def test_other_paths_have_no_instances_that_enter(paths, name):
    assert_refused(lambda: update_instances(paths[name], enter=[1]), "path")
    assert_refused(lambda: paths[name].continue_to(1.0), "path")


def test_nothing_enters_and_nothing_leaves():
    path = update_instances(start(weighted_svm_path), enter=[], leave=np.array([]))
    assert path.certify(3).ok


# -- good input -------------------------------------------------------------------------------

GOOD_ROWS = {
    "list": X.tolist(),
    "float32": X.astype(np.float32).astype(np.float64).astype(np.float32),
    "objects": X.astype(object),
    "fortran": np.asfortranarray(X),
    "strided": np.repeat(X, 2, axis=0)[::2],
    "frame": pd.DataFrame(X),
    "nullable frame": pd.DataFrame(X).astype("Float64"),
    "matrix": np.asmatrix(X),
    "masked, but nothing": np.ma.masked_array(X),
    "read-only": np.frombuffer(X.tobytes()).reshape(N, D),
}
SPARSE = {
    "csr_matrix": sp.csr_matrix,
    "csc": sp.csc_array,
    "coo": sp.coo_array,
    "lil": sp.lil_array,
}


@pytest.mark.slow
@pytest.mark.parametrize("hold", [*GOOD_ROWS, *SPARSE])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_rows_of_every_kind(function, hold):
    rows = GOOD_ROWS[hold] if hold in GOOD_ROWS else SPARSE[hold](X)
    path = function(**arguments(function, X=rows))
    expected = function(**arguments(function))
    t = middle(expected)
    close = 1e-5 if hold == "float32" else 1e-9
    np.testing.assert_allclose(path.coef(t), expected.coef(t), atol=close)
    for new in (rows, X):
        f = path.decision_function(new, t)
        np.testing.assert_allclose(f, expected.decision_function(X, t), atol=10 * close)


@pytest.mark.parametrize("function", KERNELS)
@pytest.mark.parametrize("hold", [np.asarray, sp.csr_array])
def test_gamma_as_in_scikit_learn(function, hold):
    from sklearn.svm import SVC

    rows = hold(np.where(np.abs(X) < 0.3, 0.0, 2.0 * X))
    for gamma in ("scale", "auto"):
        theirs = SVC(gamma=gamma).fit(rows, Y)._gamma
        path = function(**arguments(function, X=rows, kernel="rbf", gamma=gamma))
        assert path.reading.kernel.gamma == pytest.approx(theirs, rel=1e-12)
    assert svm_path(X, Y, kernel="rbf").reading.kernel.gamma == 1 / D


def test_a_constant_X_has_gamma_one_as_in_scikit_learn():
    path = quantile_svm_path(np.ones((4, 2)), [0, 1, 1, 0], 0.1, kernel="rbf", gamma="scale")
    assert path.reading.kernel.gamma == 1.0


@pytest.mark.parametrize("unit", [1e-5, 1e10])
def test_odd_units_are_no_offence(unit):
    assert lasso_path(X * unit, TARGET).certify(5).ok
    assert svm_path(X * unit, Y).certify(5).ok


# -- badly scaled columns ---------------------------------------------------------------------


@pytest.mark.parametrize("function", FUNCTIONS)
def test_badly_scaled_columns_are_named_once(function):
    rows = X.copy()
    rows[:, 1] *= 1e-8
    for X_own, said in (
        (rows, r"column 1 with entries"),
        (pd.DataFrame(rows, columns=["a", "income", "c"]), r"column 1 \('income'\) with entries"),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with contextlib.suppress(PathError):  # what was warned about
                function(**arguments(function, X=X_own))
        told = [w for w in caught if issubclass(w.category, PathWarning)]
        # The look at the finished path may say that its accuracy suffered.
        own = [w for w in told if "differ in scale" in str(w.message)]
        assert len(own) == 1
        assert re.search(said, str(own[0].message))
        assert "StandardScaler" in str(own[0].message)
        assert own[0].filename == __file__  # it points at the caller


def no_warning(rows):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_badly_scaled(rows)


def test_what_is_well_scaled_enough():
    rare = np.zeros((1000, 1))
    rare[7] = 1.0
    column = 500.0 * RNG.normal(size=(1000, 1))
    for hold in (np.asarray, sp.csr_array):
        no_warning(hold(np.hstack([rare, column])))
        no_warning(hold(np.hstack([np.zeros((1000, 1)), np.full((1000, 1), 1e9), rare])))
        no_warning(hold(X[:1]))
        with pytest.warns(PathWarning, match=r"factor of .*e\+09.* column 3 .* column 0 .* 1 more"):
            warn_if_badly_scaled(hold(np.hstack([rare, rare, column, 1e6 * column])))


def test_a_gram_matrix_has_no_columns_to_scale():
    rows = X * [1.0, 1e-8, 1.0]
    rows[0] *= 1e-9
    with warnings.catch_warnings():
        warnings.simplefilter("error", PathWarning)
        svm_path(rows @ rows.T, Y, kernel="precomputed", C_max=1.0)


# -- progress ---------------------------------------------------------------------------------


@pytest.mark.parametrize("function", FUNCTIONS)
def test_progress_never_goes_back_and_ends_at_one(function, monkeypatch):
    monkeypatch.setattr(run, "STEPS_PER_CALLBACK", 1)
    seen = []
    path = function(**arguments(function, callback=lambda *told: seen.append(told)))
    done, events = np.array(seen).T
    assert len(seen) > 2
    assert (np.diff(done) >= 0).all()
    assert (np.diff(events) >= 0).all()
    assert 0 <= done[0] < 0.5
    assert done[-1] == 1.0
    assert events[-1] == path.diagnostics["events"]
    if "weights_from" in FUNCTIONS[function]:
        seen.clear()
        path.continue_to(1.5)
        assert [told[0] for told in seen] == sorted(told[0] for told in seen)
        assert seen[-1][0] == 1.0


# -- every parameter ------------------------------------------------------------------------------

NO_PARAMETER = {
    "a matrix": np.ones((2, 2)),
    "missing": pd.NA,
    "an object": object(),
    "a list": ["junk"],
    "a date": np.datetime64("2020-01-01"),
}


def said_in_own_words(call, name):
    """The call succeeds (the parameter isn't looked at), or its error is ours and names it."""
    try:
        call()
    except Exception as error:
        found = error
    else:
        return
    frame = found.__traceback__
    while frame.tb_next:
        frame = frame.tb_next
    assert type(found) in (ValueError, TypeError, AttributeError), repr(found)
    assert "solution_paths" in frame.tb_frame.f_code.co_filename, str(found)
    assert re.search(rf"\b({name}|costs)\b", str(found)), str(found)
    assert "\n" not in str(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_DATA)
@pytest.mark.filterwarnings("ignore::solution_paths.PathWarning")
def test_every_parameter_of_a_function_names_itself(name):
    function, given = getattr(solution_paths, name), REQUIRED.get(name, {})
    labels = name.endswith(("svm_path", "drsvm_grid", "roc_path", "svor_path", "logistic_path"))
    known = inspect.signature(function).parameters
    targets = {"y": Y if labels else np.abs(TARGET)} if "y" in known else {}
    for own in set(known) - {"X", "y"}:
        for bad in NO_PARAMETER.values():
            call = {**targets, **given, own: bad}
            call |= {"kernel": "poly"} if own in ("gamma", "degree", "coef0") else {}
            if own not in given and own != "vary":
                call.pop("vary", None)
            said_in_own_words(lambda call=call: function(X, **call), own)


@pytest.mark.slow
@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.filterwarnings("ignore::solution_paths.PathWarning")
def test_every_parameter_of_an_estimator_names_itself(name):
    model = getattr(solution_paths, name)
    y = np.arange(N) % 3 if name == "PathSVOR" else np.abs(TARGET)
    y = Y if is_classifier(model()) and name != "PathSVOR" else y
    for own in model().get_params():
        for bad in NO_PARAMETER.values():
            given = {own: bad} | ({"cv": 3} if own in ("scoring", "rule", "n_jobs") else {})
            given |= {"kernel": "poly"} if own in ("gamma", "degree", "coef0") else {}
            said_in_own_words(lambda given=given: model(**given).fit(X, y), own)


# -- the checks themselves --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bounds", "good", "bad", "said"),
    [
        ({}, [-1, 0, 0.5, 1e-200, np.int64(2), np.array(2.0)], [1e60], "a finite number"),
        ({"above": 0}, [0.5, 1, 2.5], [0, -1, 1e-200], "a finite number > 0"),
        ({"least": 0, "most": 1}, [0, 0.5, 1, 1e-200], [-1, 2], "a finite number >= 0 and <= 1"),
        ({"above": 1, "most": 2}, [1.5, 2], [1, 0.5, 2.5], "a finite number > 1 and <= 2"),
        ({"least": 1, "whole": True}, [1, 2, 2.0], [0, 0.5, 2.5, -1], "a whole number >= 1"),
        ({"least": 0, "infinite": True}, [0, 1, np.inf], [-1, -np.inf], "a number >= 0"),
    ],
)
def test_a_number_is_one_within_its_bounds(bounds, good, bad, said):
    for value in good:
        assert check.check_number(value, "C", **bounds) == value
    endless = [] if "infinite" in bounds else [np.inf, -np.inf]
    for value in (*bad, *endless, np.nan, True, "1", None, 1j, [1]):
        with pytest.raises(ValueError, match=rf"^C (must be {said}, not |= 1e[+-]\d+ would)"):
            check.check_number(value, "C", **bounds)


def test_flags_and_choices_are_exactly_those():
    assert check.check_flag(True, "v") is True
    assert check.check_flag(np.False_, "v") is False
    for value in (0, 1, None, "True"):
        with pytest.raises(TypeError, match=r"^v must be True or False, not "):
            check.check_flag(value, "v")
    assert check.check_choice("a", "v", ("a", "b")) == "a"
    for value in ("c", 1, None):
        with pytest.raises(ValueError, match=r"^v must be one of a, b, not "):
            check.check_choice(value, "v", ("a", "b"))


@pytest.mark.parametrize(
    ("function", "given", "wanted"),
    [
        ("check_vector", [1.0, -2.0, 2.0], [1.0, -2.0, 2.0]),
        ("check_vector", 2.0, [2.0, 2.0, 2.0]),
        ("check_vector", [True, False, True], [1.0, 0.0, 1.0]),
        ("check_vector", [1.0, 2.0], "has shape (2,), but X has 3 rows; pass one entry a row"),
        ("check_vector", [[1.0], [2.0], [3.0]], "has shape (3, 1); flatten it, numpy.ravel(v)"),
        ("check_counts", [1.0, 0.5, 2.0], [1.0, 0.5, 2.0]),
        ("check_counts", [1.0, -2.0, 2.0], "has negative entries (the least is -2); counts and"),
        ("check_weights", [1.0, 0.0, 2.0], [1.0, 0.0, 2.0]),
        ("check_weights", [1.0, -2.0, 2.0], "has negative entries (the least is -2); weights"),
        ("check_shares", [1.0, 0.0, 2.0], [1 / 3, 0.0, 2 / 3]),
        ("check_shares", [0.0, 0.0, 0.0], "is zero everywhere; give some row a positive weight"),
        ("check_rows", [0, 2, 1], [0, 2, 1]),
        ("check_rows", [], []),
        ("check_rows", [0, 2, 2], "names row 2 twice"),
        ("check_rows", [0, 3, 1], "names row 3, but X has rows 0 to 2"),
        ("check_rows", [-1, 0, 1], "names row -1, but X has rows 0 to 2"),
        ("check_rows", [0.0, 1.0], "must be a list of row numbers, not of type float64"),
        ("plain_labels", pd.Series(["x", "y", "x"], dtype="category"), ["x", "y", "x"]),
        ("plain_labels", [1, 0, 2], [1, 0, 2]),
        ("plain_labels", [1, "a", 2], "holds labels of type int and str"),
    ],
)
def test_a_vector_is_read_or_refused(function, given, wanted):
    def call():
        return getattr(check, function)(given, 3, "X" if function == "check_shares" else "v")

    if isinstance(wanted, list):
        assert list(call()) == (wanted if function == "plain_labels" else pytest.approx(wanted))
        return
    name = "sample_weight" if function == "check_shares" else "v"
    with pytest.raises(ValueError, match="^" + re.escape(f"{name} {wanted}")):
        call()


def test_labels_and_classes_are_in_order():
    y, labels = check.check_labels(["b", "a", "b"], 3)
    assert (y.tolist(), list(labels)) == ([1.0, -1.0, 1.0], ["a", "b"])  # the larger is positive
    with pytest.raises(ValueError, match=r"exactly two labels, found 3: \['a', 'b', 'c'\]; select"):
        check.check_labels(["a", "b", "c"], 3)
    given = pd.Series(pd.Categorical(["a", "b", "a"], categories=["b", "a", "c"], ordered=True))
    assert check.order_of(given) == ["b", "a", "c"]
    codes, classes = check.ordered_labels(check.plain_labels(given, 3, "y"), check.order_of(given))
    assert (codes.tolist(), list(classes)) == ([1, 0, 1], ["b", "a"])
    codes, classes = check.ordered_labels(np.array([2, -1, 2]), None)
    assert (codes.tolist(), list(classes)) == ([1, 0, 1], [-1, 2])
    with pytest.raises(ValueError, match=r"^y holds strings such as 'a', whose order"):
        check.ordered_labels(np.array(["a", "b"]), None)


def test_an_index_is_that_of_the_rows_or_of_none():
    frame = pd.DataFrame(X[:3], index=[5, 6, 7])
    check.check_index(frame, pd.Series([1, 2, 3], index=[5, 6, 7]), "y")
    check.check_index(frame, np.ones(3), "y")
    for index in ([5, 7, 6], [0, 1, 2]):
        with pytest.raises(ValueError, match=r"^y has another index than X; align it \(y\.reindex"):
            check.check_index(frame, pd.Series([1, 2, 3], index=index), "y")
