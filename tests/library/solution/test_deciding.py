"""Decisions that are zero, or tie: predictions, error curves and estimators agree everywhere."""

import io

import numpy as np
import pytest

import solution_paths as sp
from solution_paths.solution.metrics import Metric

pytestmark = pytest.mark.slow

RBF = {"kernel": "rbf", "gamma": 0.5}
POLY = {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0}
TWO = {
    "svm": sp.svm_path,
    "svm rbf": lambda X, y: sp.svm_path(X, y, **RBF),
    "svm poly": lambda X, y: sp.svm_path(X, y, **POLY),
    "quantile": lambda X, y: sp.quantile_svm_path(X, y, 0.1),
    "quantile rbf": lambda X, y: sp.quantile_svm_path(X, y, 0.1, **RBF),
    "l1": sp.l1_svm_path,
    "elastic lam1": lambda X, y: sp.drsvm_path(X, y, lam2=0.1),
    "elastic lam2": lambda X, y: sp.drsvm_path(X, y, vary="lam2", lam1=0.02),
    "double margin": lambda X, y: sp.dm_ksvm_path(X, y, 2.0),
    "double margin rbf": lambda X, y: sp.dm_ksvm_path(X, y, 2.0, **RBF),
    "robust double margin": lambda X, y: sp.dm_drsvm_path(X, y, 2.0, vary="lam1", lam2=0.1),
    "pin tau": sp.pin_svm_path,
    "pin C": lambda X, y: sp.pin_svm_path(X, y, vary="C", tau=0.3),
    "nu": sp.nu_svm_path,
    "nu rbf": lambda X, y: sp.nu_svm_path(X, y, **RBF),
    "outlier": lambda X, y: sp.outlier_svm_path(X, y, 1.0),
    "outlier rbf": lambda X, y: sp.outlier_svm_path(X, y, 1.0, **RBF),
    "Huberised": sp.hhsvm_path,
    "weighted": lambda X, y: sp.weighted_svm_path(X, y, 1.0, np.arange(len(y)) % 3 + 1.0),
    "costs": lambda X, y: sp.asymmetric_svm_path(X, y, costs_from=(0, 1), costs_to=(1, 0)),
    "l1 constraint": sp.l1_constrained_svm_path,
    "logistic": lambda X, y: sp.logistic_path(X, y, 0.05),
}
MORE = {
    "ordinal": sp.svor_path,
    "ordinal implicit": lambda X, y: sp.svor_path(X, y, thresholds="implicit"),
    "ordinal rbf": lambda X, y: sp.svor_path(X, y, **RBF),
    "multicategory": sp.multicategory_svm_path,
    "multicategory rbf": lambda X, y: sp.multicategory_svm_path(X, y, **RBF),
}
ONE = {
    "one class nu": lambda X, y: sp.one_class_path(X, **RBF),
    "one class lam": lambda X, y: sp.one_class_path(X, vary="lam", **RBF),
    "one class linear": lambda X, y: sp.one_class_path(X),
}
FUNCTIONS = {**TWO, **MORE, **ONE}
DATA = ["integers", "dummies", "duplicates", "constant", "mirrored"]


def samples(name):
    """Return rows, two labels, three, rows between and around them, and random numbers."""
    rng = np.random.default_rng(DATA.index(name))
    n, d = 14, 2
    X = {
        "integers": rng.integers(-2, 3, size=(n, d)),
        "dummies": rng.integers(0, 2, size=(n, d)),
        "duplicates": np.repeat(rng.normal(size=(n // 2, d)), 2, axis=0),
        "constant": np.ones((n, d)),
        "mirrored": np.outer([1, -1], rng.normal(size=n // 2 * d)).reshape(n, d),
    }[name].astype(float)
    two, three = rng.integers(0, 2, size=n), rng.integers(0, 3, size=n)
    two[:2], three[:3] = [0, 1], [0, 1, 2]
    if name == "mirrored":
        two = np.r_[two[: n // 2], 1 - two[: n // 2]]
    between = 0.5 * (X[: n // 2] + X[n // 2 :])
    around = rng.integers(-2, 4, size=(10, d))
    return X, two, three, np.vstack([X, between, around, np.zeros((1, d))]), rng


def places(path, curve, rng):
    """Return breakpoints, edges of a curve, what lies between, and other parameters."""
    low, high = path.range
    edges, knots = curve.edges[np.isfinite(curve.edges)], path.breakpoints
    top = min(high, 1.5 * knots[-1] + 1.0)
    middle = [0.5 * (own[1:] + own[:-1]) for own in (edges, knots)]
    some = np.geomspace(max(low, 1e-6), max(top, 1e-5), 20)
    t = np.concatenate([edges, knots, *middle, rng.uniform(low, top, 20), some])
    return np.unique(t[(t >= low) & (t <= high)])


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_curve_is_the_error_of_predictions_everywhere(name, data):
    X, two, three, rows, rng = samples(data)
    path = FUNCTIONS[name](X, three if name in MORE else two)
    labels = rng.choice(path.reading.classes, size=len(rows))
    curve = path.error_curve(rows, labels, "zero_one")
    t = places(path, curve, rng)
    wrong = (path.predict(rows, t) != labels[:, None]).mean(axis=0)
    np.testing.assert_allclose(curve(t), wrong, atol=1e-12)
    best = path.best(rows, labels, "zero_one")
    assert np.isfinite(best.parameter)
    again = np.mean(path.predict(rows, best.parameter) != labels)
    assert again == pytest.approx(best.value, abs=1e-12)
    t = np.setdiff1d(t, curve.edges)  # there kernels hang on who else is looked at
    alone = np.stack([path.predict(rows[[i]], t)[0] for i in range(0, len(rows), 5)])
    np.testing.assert_array_equal(alone, path.predict(rows, t)[::5])


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("name", [*TWO, *ONE])
def test_the_sign_of_a_decision_is_its_label(name, data):
    X, two, _, rows, rng = samples(data)
    path = FUNCTIONS[name](X, two)
    t = places(path, path.error_curve(rows, path.reading.classes[np.zeros(len(rows), int)]), rng)
    f = path.decision_function(rows, t)
    larger = f >= 0.0 if path.reading.zero else f > 0.0
    np.testing.assert_array_equal(path.predict(rows, t), path.reading.classes[1 * larger])


@pytest.mark.parametrize("name", ["svm", "svm rbf", "nu rbf", "multicategory", "ordinal"])
def test_a_path_that_was_saved_decides_alike(name):
    X, two, three, rows, rng = samples("integers")
    path = FUNCTIONS[name](X, three if name in MORE else two)
    file = io.BytesIO()
    path.save(file)
    again = sp.SolutionPath.load(io.BytesIO(file.getvalue()))
    labels = rng.choice(path.reading.classes, size=len(rows))
    curve = path.error_curve(rows, labels)
    t = places(path, curve, rng)
    np.testing.assert_array_equal(again.predict(rows, t), path.predict(rows, t))
    np.testing.assert_array_equal(again.error_curve(rows, labels)(t), curve(t))


ESTIMATORS = {
    "PathSVC": {},
    "QuantileSVC": {"lam": 0.1, **RBF},
    "L1SVC": {},
    "DmKSVC": RBF,
    "DmDrSVC": {"lam2": 0.1},
    "OutlierSVC": {},
}


@pytest.mark.parametrize("data", ["integers", "constant", "mirrored"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_largest_of_several_decisions(name, data):
    X, _, three, rows, rng = samples(data)
    model = getattr(sp, name)(check="ignore", **ESTIMATORS[name]).fit(X, three)
    labels = rng.integers(0, 3, size=len(rows))
    fitted = model._model
    curve = fitted.error(rows, labels, Metric("zero_one"), np.ones(len(rows)))
    edges = curve.edges[np.isfinite(curve.edges)]
    t = np.concatenate([edges, 0.5 * (edges[1:] + edges[:-1]), rng.uniform(0, 1, 5)])
    for value in t[(t > 0.0) & (t <= fitted.end)].tolist():
        setattr(model, f"{model._parameter}_", value)
        found = model.predict(rows)
        assert curve(value) == pytest.approx(np.mean(found != labels), abs=1e-12)
        np.testing.assert_array_equal(found, model.decision_function(rows).argmax(axis=1))


# -- one class --------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
def test_rows_on_the_boundary_are_not_outside(kernel):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.random((60, 3)) if seed % 2 else rng.integers(0, 4, size=(60, 3)).astype(float)
        model = sp.PathOneClassSVM(kernel=kernel, gamma="scale").fit(X)
        path = model.path_
        for nu in (1e-9, 1e-3, 0.01, 0.1, 0.3, 0.5, 0.77, *path.breakpoints[path.breakpoints > 0]):
            model.nu = float(nu)
            outside = model.predict(X) < 0
            assert outside.sum() <= np.floor(nu * len(X) * (1 + 1e-12))
            np.testing.assert_array_equal(outside, path.predict(X, float(nu)) < 0)
            np.testing.assert_array_equal(outside, model.decision_function(X) < 0)


@pytest.mark.parametrize("seed", range(3))
def test_the_centre_of_symmetric_classes_lies_on_the_boundary(seed):
    """Its decision is zero; the bias is known as well as far rows are, not as this small one."""
    r = np.random.default_rng(seed)
    half, centre = r.integers(-1000, 1001, (15, 3)) / 4.0, np.array([[1.0, -2.0, 3.0]]) * 2.0**-12
    side = np.where(half @ [1.0, -0.5, 0.3] + 100.0 * r.normal(size=15) > 0.0, 1, -1)
    path = sp.svm_path(np.vstack([half, 2.0 * centre - half]), np.append(side, -side))
    C = np.geomspace(path.breakpoints[1], path.breakpoints[-1], 400)
    assert not path.decision_function(centre, C).any()
    assert (path.predict(centre, C) == 1).all()
    assert len(path.crossings(centre)[0]) == 0


def test_the_share_outside_of_hundreds_of_rows():
    X = np.random.default_rng(0).random((400, 4))
    for nu in (1e-6, 0.01):
        outside = sp.PathOneClassSVM(nu=nu, gamma="scale").fit_predict(X) < 0
        assert outside.sum() <= nu * 400


# -- w = 0 ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_where_no_row_tells_anything_all_have_the_larger_label(kernel):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = np.repeat(rng.normal(size=(10, 2)), 2, axis=0)
        y = np.tile(["a", "b"], 10)  # each row with both labels: w = 0
        path = sp.nu_svm_path(X, y, kernel=kernel)
        t = np.linspace(0.0, 1.0, 41)
        rows = np.vstack([X, rng.normal(size=(20, 2))])
        assert (path.predict(rows, t) == "b").all()
        assert path.best(rows, np.full(len(rows), "b")).value == 0.0
        assert path.error_curve(rows, np.full(len(rows), "a"))(t).min() == 1.0
        model = sp.PathNuSVC(kernel=kernel).fit(X, y)
        assert (model.predict(rows) == "b").all()
        assert model.score(rows, np.full(len(rows), "b")) == 1.0


def test_where_nothing_is_told_robust_machines_predict_the_more_frequent_label():
    X, y = np.repeat([[1.0, -2.0], [0.3, 0.7]], 2, axis=0), np.array(["a", "b"] * 2)
    for labels, frequent in ((y, "b"), (np.append(y, "a"), "a")):
        rows = np.vstack([X, np.zeros((len(labels) - 4, 2))])
        path = sp.outlier_svm_path(rows, labels, 1.0)
        t = np.linspace(0.1, 1.0, 10)  # at 0 outliers cost nothing, and w is another
        assert not path.coef(t).any()
        assert (path.predict(rows, t) == frequent).all()
        assert path.best(rows, np.full(len(rows), frequent)).value == 0.0
