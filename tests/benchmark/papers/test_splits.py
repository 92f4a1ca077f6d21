"""Nothing that is chosen, scaled or calibrated may know the test part.

Every experiment that chooses anything is run twice: as it is, and with one part of the data spoilt
(other inputs, other targets). Spoiling the test part changes scores on it, and nothing else;
spoiling what a choice is made by changes the choice.
"""

import copy
from functools import cache

import numpy as np
import pytest
from sklearn.base import is_classifier

from helpers.papers import repository_config
from path_benchmark.data.protocols import Part, Split
from path_benchmark.papers.distributionally_robust import data as robust_data
from path_benchmark.papers.distributionally_robust import tuning as tune
from path_benchmark.papers.distributionally_robust.experiments import chapter_3, chapter_4, shared
from path_benchmark.papers.quantile_svm import data as quantile_data
from path_benchmark.papers.quantile_svm import experiments as quantile
from path_benchmark.papers.robust_svm import data as outlier_data
from path_benchmark.papers.robust_svm import experiments as robust
from path_benchmark.papers.weighted_svm import data as weighted_data
from path_benchmark.papers.weighted_svm import experiments as weighted
from path_benchmark.runs.rows import Rows
from solution_paths import (
    L1SVC,
    DmDrSVC,
    DmKSVC,
    DrLAD,
    OutlierSVC,
    OutlierSVR,
    PathLasso,
    PathSVC,
    QuantileSVC,
)

pytestmark = pytest.mark.slow

# Seconds, and the shares of classes, which are told of every part.
LEFT_OUT = {
    "positive_share_validation",
    "positive_share_test",
    "time",
    "path_seconds",
    "own_time",
    "standard_time",
    "peak_memory_mb",
}


def spoilt(part, seed=0):
    """Return other inputs and targets of the same kind: mirrored rows, labels of others."""
    rng = np.random.default_rng(seed)
    X, y = -np.asarray(part.X)[::-1] + 0.3 * rng.normal(size=part.X.shape), part.y[::-1].copy()
    if set(np.unique(y)) <= {-1.0, 1.0}:
        y[rng.random(len(y)) < 0.4] *= -1.0
        y[:2] = [-1.0, 1.0]  # both classes stay
        return Part(X, y)
    return Part(X, y + y.std() * rng.normal(size=len(y)))


def with_part(parts, name):
    """Return a split with one part spoilt."""
    if name is None:
        return parts
    own = {part: getattr(parts, part) for part in ("train", "validation", "test")}
    own[name] = spoilt(own[name])
    return Split(**own, meta=parts.meta)


# -- what is run ------------------------------------------------------------------------------


def prepared(module, name):
    """Return how a paper's experiments come by their parts: (where that is, what to put there)."""
    found = getattr(module, name)

    def change(part):
        return lambda *a, **k: with_part(found(*a, **k), part)

    return module, name, change


def loaded(module, test):
    """Return the same of an experiment that draws its test part by another call of `load`."""
    found = module.load

    def change(part):
        def load(name, **options):
            data = found(name, **options)
            if part == "test" and test(options):
                own = spoilt(Part(data.X, data.y))
                data = copy.copy(data)
                object.__setattr__(data, "X", own.X)
                object.__setattr__(data, "y", own.y)
            return data

        return load

    return module, "load", change


QUANTILE = {
    "datasets": {"two_moons": {"lam": 0.01, "sizes": [0.4, 0.3, 0.3], "scaling": "standardise"}},
    "settings": {"intercept_scaling": 1.0},
}
SMALL = {  # experiment: (module, data set, its settings, where parts come from)
    "quantile path": (quantile, "two_moons", {}, prepared(quantile, "prepare")),
    "choose lam": (
        quantile,
        "two_moons",
        {"grid": [1e-3, 0.1, 3.0]},
        prepared(quantile, "prepare"),
    ),
    "probability": (
        quantile,
        "two_moons",
        {"methods": ["path", "platt", "isotonic"], "bins": 4},
        prepared(quantile, "prepare"),
    ),
    "quantile explore": (
        quantile,
        "two_moons",
        {"lams": [0.1], "grid": [0.5]},
        prepared(quantile, "prepare"),
    ),
    "robust explore": (
        robust,
        "breast_cancer",
        {"costs": [1.0], "grid": [0.5]},
        prepared(robust, "assemble"),
    ),
    "errors": (
        robust,
        "breast_cancer",
        {"kernels": ["linear"], "costs": [0.1, 1.0, 10.0], "points": 3},
        prepared(robust, "assemble"),
    ),
    "errors of a regression": (
        robust,
        "drlad_simulation",
        {"kernels": ["rbf"], "costs": [0.1, 1.0], "points": 3},
        prepared(robust, "assemble"),
    ),
    "regression": (
        shared,
        "drlad_simulation",
        {"size": 3},
        prepared(shared, "assemble"),
    ),
    "classification": (shared, "iris", {"size": 3}, prepared(shared, "assemble")),
    "kernels": (shared, "iris", {"size": 3}, prepared(shared, "assemble")),
    "regression grids": (
        shared,
        "drlad_simulation",
        {"sizes": [3]},
        prepared(shared, "assemble"),
    ),
    "margin grids": (shared, "iris", {"sizes": [2]}, prepared(shared, "assemble")),
    "simulation": (
        shared,
        "drlad_simulation",
        {"size": 3, "correlations": [0.5], "n": 40, "n_test": 30},
        loaded(chapter_3, lambda options: options["n"] == 30),
    ),
    "noisy margins": (
        shared,
        "noisy_labels",
        {"size": 3, "snrs": [1.0], "n": 50, "n_test": 40, "dims": [3]},
        loaded(chapter_4, lambda options: options["clean"]),
    ),
}
# Scores on the test part: what may change with it, and of which something must.
EXPLORED = {f"explore {what}" for what in ("samples", "crossings")}
EXPLORED |= {f"explore rate: {what}" for what in ("tpr", "tnr", "accuracy")}
SCORES = {
    "quantile explore": EXPLORED,
    "robust explore": EXPLORED,
    "quantile path": {
        "test_error_best",
        "test_error_half",
        "labelled_positive",
        "tpr",
        "tnr",
        "accuracy",
    },
    "choose lam": set(),
    "probability": {"brier", "log_loss", "reliability", "flips_more_than_once", "never_flips"},
    "errors": {"test_error", "regret", "error_range", "step"},
    "errors of a regression": {"test_error", "regret", "error_range", "step"},
    "regression": {"mse"},
    "classification": {"label_auc", "score_auc"},
    "kernels": {"label_auc", "score_auc"},
    "regression grids": {"mse"},
    "margin grids": {"label_auc", "score_auc"},
    "simulation": {"mse"},
    "noisy margins": {"label_auc", "score_auc"},
}
# What is chosen by the validation part, where a paper has one.
BY_VALIDATION = {
    "quantile explore": {"explore error"},
    "robust explore": {"explore error"},
    "quantile path": {"validation_error_best", "test_error_best"},
    "choose lam": {"validation_accuracy"},
    "probability": {"brier", "log_loss", "reliability"},
    "errors": {"validation_error", "chosen_C", "chosen_parameter", "test_error", "regret"},
    "errors of a regression": {
        "validation_error",
        "chosen_C",
        "chosen_parameter",
        "test_error",
        "regret",
    },
}


def cell_of(name):
    """Return the one cell of a small experiment."""
    module, dataset, settings, _ = SMALL[name]
    paper, whole = module.PAPER, repository_config() | {"offline": True}
    own = copy.deepcopy(whole["papers"][paper.name])
    if module is quantile:
        own |= copy.deepcopy(QUANTILE)
    if module is robust:
        own["datasets"][dataset]["rows"] = 90
    experiment = name.removesuffix(" of a regression").replace(" ", "_")
    experiment = experiment.removeprefix("quantile_").removeprefix("robust_")
    own["suites"] = {"quick": {experiment: {"datasets": [dataset], "splits": 1, **settings}}}
    whole["papers"] = {paper.name: own}
    (cell,) = paper.cells(whole, "quick", experiment, dataset, [0])
    return paper.experiments[experiment].run, cell


@cache
def results(name, part=None):
    """Return (metric, method, what tells rows apart) -> values, with a part of the data spoilt."""
    run, cell = cell_of(name)
    module, attribute, change = SMALL[name][3]
    rows = Rows()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, attribute, change(part))
        run(cell, rows, lambda *told: None)
    found = {}
    for row in rows.rows:
        if row["metric"] not in LEFT_OUT:
            key = row["metric"], row["method"], row["hyper_parameters"]
            found.setdefault(key, []).append(row["value"])
    for point in rows.points:
        key = point["curve"], point["method"], point["hyper_parameters"]
        found.setdefault(key, []).append((point["x"], point["y"]))
    assert found
    return found


def changed(one, other):
    """Return the metrics whose values differ, or that only one of two results has."""
    return {key[0] for key in one.keys() | other.keys() if one.get(key) != other.get(key)}


@pytest.mark.parametrize("name", SMALL)
def test_spoiling_the_test_part_changes_scores_on_it_alone(name):
    found = changed(results(name), results(name, "test"))
    assert found <= SCORES[name]
    assert found or not SCORES[name]


@pytest.mark.parametrize("name", ["quantile path", "errors", "regression", "classification"])
def test_a_choice_is_the_same_whatever_the_test_part_is(name):
    """Also where it tells a row apart: the parameter at which a test error is measured."""
    for key in results(name):
        assert key in results(name, "test")


@pytest.mark.parametrize("name", BY_VALIDATION)
def test_spoiling_the_validation_part_changes_what_is_chosen_by_it_alone(name):
    found = changed(results(name), results(name, "validation"))
    assert found <= BY_VALIDATION[name]
    choice = {metric for metric in BY_VALIDATION[name] if metric.startswith("chosen")}
    assert found & (choice or BY_VALIDATION[name])


BY_FOLDS = [name for name in SMALL if name not in BY_VALIDATION and SMALL[name][3][1] != "load"]


@pytest.mark.parametrize("name", BY_FOLDS)
def test_what_has_no_validation_part_is_chosen_by_folds_of_the_training_part(name):
    found = changed(results(name), results(name, "train"))
    assert "cv_loss" in found
    assert {metric for metric in found if metric.startswith("chosen")} or "grids" in name


def test_calibration_is_fitted_to_the_validation_part_alone():
    """The path's own probabilities need no calibration, and don't move."""
    for (metric, method, _), values in results("probability").items():
        if metric == "brier":
            (other,) = [
                v
                for k, v in results("probability", "validation").items()
                if k[:2] == (metric, method)
            ]
            assert (values == other) == (method == "path")


# -- folds ------------------------------------------------------------------------------------


def test_folds_are_fitted_to_the_other_rows():
    cell = cell_of("regression")[1]
    part = shared.split_of(cell).train
    found = shared.folds_of(cell, part)
    n = len(part.y)
    assert np.array_equal(np.sort(np.concatenate([judge for _, judge in found])), np.arange(n))
    for fit, judge in found:
        assert np.array_equal(np.union1d(fit, judge), np.arange(n))
        assert not np.intersect1d(fit, judge).size


@pytest.mark.parametrize("solver", [False, True])
def test_a_folds_loss_is_that_of_rows_it_was_not_fitted_to(solver):
    """Targets of judged rows that are c larger leave f: the loss is a parabola in c."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = X[:, 0] + rng.normal(size=30)
    model, lines = tune.deviations("drlad"), [tune.Line({"lam2": 0.1}, "s", np.array([0.5, 1.0]))]
    fit, judge = np.arange(20), np.arange(20, 30)

    def losses(c):
        moved = y + c * np.isin(np.arange(30), judge)
        data = model, lines, X, moved, [(fit, judge)]
        (found,), _ = tune.losses_of_solver("piqp", *data) if solver else tune.losses_of_path(*data)
        return found

    np.testing.assert_allclose(losses(5.0) + losses(-5.0) - 2.0 * losses(0.0), 50.0, rtol=1e-9)
    f = model.decisions(model.trace(X[fit], y[fit], lines[0]), lines[0], X[judge])
    if not solver:  # whose intercept, a median, may be another one
        np.testing.assert_allclose(losses(0.0), tune.squared_loss(y[judge], f), rtol=1e-9)


CHOOSING = [
    PathSVC(),
    QuantileSVC(),
    L1SVC(),
    DmKSVC(),
    DmDrSVC(),
    OutlierSVC(),
    PathLasso(),
    DrLAD(),
    OutlierSVR(),
]


@pytest.mark.parametrize("model", CHOOSING, ids=lambda model: type(model).__name__)
def test_cross_validation_judges_rows_that_it_was_not_fitted_to(model):
    """Targets of a fold's test rows change its error as they change that of its model."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 3)) + 0.5
    y = X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=40)
    if is_classifier(model):
        y = np.where(y > np.median(y), 1.0, -1.0)
    train, test = np.arange(25), np.arange(25, 40)
    other = y.copy()
    other[test] = y[test][::-1]
    one, two = (type(model)(cv=[(train, test)]).fit(X, targets) for targets in (y, other))
    assert (one.cv_path_.edges[-1], len(one.cv_paths_)) == (two.cv_path_.edges[-1], 1)
    name = model._parameter
    alone = type(model)(**{name: getattr(one, f"{name}_")}).fit(X[train], y[train])
    f = alone.predict(X[test])
    for own, targets in ((one, y), (two, other)):
        if model.scoring == "squared":
            expected = np.mean((f - targets[test]) ** 2)
        elif model.scoring == "absolute":
            expected = np.mean(np.abs(f - targets[test]))
        else:
            expected = np.mean(f != targets[test])
        assert own.cv_path_(getattr(one, f"{name}_")) == pytest.approx(expected, rel=1e-7)


# -- scaling ----------------------------------------------------------------------------------


class Raw:
    """A data set in memory, as `load` returns it."""

    def __init__(self, X, y):
        self.X, self.y, self.n, self.d = X, y, *X.shape
        self.task = "classification" if len(np.unique(y)) == 2 else "regression"
        self.name, self.verified, self.meta = "made up", True, {}


def raw(regression=False, n=120):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5)) * [1.0, 3.0, 0.1, 10.0, 1.0]
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    return Raw(X, 3.0 * X[:, 0] + rng.normal(size=n) + 20.0 if regression else y)


def assembled(module, patched, make, data):
    with pytest.MonkeyPatch.context() as patch:
        for name in patched:
            patch.setattr(module, name, lambda *arguments, **options: data)
        return make()


ASSEMBLED = {
    "quantile": (
        quantile_data,
        ("load_seeded",),
        lambda: quantile_data.prepare.__wrapped__(
            "made up", sizes=(0.5, 0.25, 0.25), scaling="symmetric"
        ),
        False,
    ),
    "diabetes": (
        quantile_data,
        ("load",),
        lambda: quantile_data.diabetes(sizes=(60, 30, 30)),
        False,
    ),
    "robust": (outlier_data, ("load",), lambda: outlier_data.assemble("made up"), False),
    "robust regression": (outlier_data, ("load",), lambda: outlier_data.assemble("made up"), True),
    "housing": (weighted_data, ("load",), lambda: weighted_data.boston(n=80), True),
    "series": (
        weighted_data,
        ("load_seeded",),
        lambda: weighted_data._series("made up", 0, 80, 20),
        False,
    ),
    "dissertation": (
        robust_data,
        ("load", "_seeded"),
        lambda: robust_data.assemble("made up"),
        False,
    ),
}


def parts_of(name, data):
    module, patched, make, _ = ASSEMBLED[name]
    with pytest.MonkeyPatch.context() as patch:
        if "_seeded" in patched:
            patch.setattr(module, "_seeded", lambda *arguments: {})
        return assembled(module, [p for p in patched if p != "_seeded"], make, data)


@pytest.mark.parametrize("name", ASSEMBLED)
def test_the_test_parts_inputs_are_in_no_scaling(name):
    """Far outliers in every row that is not trained on: the training part stays bit by bit."""
    data = raw(ASSEMBLED[name][3])
    before = parts_of(name, data)
    for part in ("test", "validation"):
        if getattr(before, part) is None:
            continue
        own = _raw_rows(name, data, part)
        assert len(own) == len(getattr(before, part).y) > 0
        X, y = data.X.copy(), data.y.copy()
        X[own] *= 1000.0
        if len(np.unique(y)) > 2:
            y[own] *= 1000.0
        after = parts_of(name, Raw(X, y))
        np.testing.assert_array_equal(after.train.X, before.train.X)
        np.testing.assert_array_equal(after.train.y, before.train.y)
        assert np.abs(getattr(after, part).X).max() > 50.0


def _raw_rows(name, data, part):
    """Return the raw rows that a part is made of: those that turn up in it."""
    found = []
    for row in range(data.n):
        X = data.X.copy()
        X[row] = np.nan
        own = getattr(parts_of(name, Raw(X, data.y)), part)
        if np.isnan(own.X).any(axis=1).sum() == 1:
            found.append(row)
    return found


@pytest.mark.parametrize("make", ["_shift", "covariate_shift"])
def test_a_covariate_shift_is_scaled_by_its_training_part(make, monkeypatch):
    monkeypatch.setattr(weighted_data, "load", lambda *a, **k: raw())
    monkeypatch.setattr(weighted_data, "load_seeded", lambda *a, **k: raw())
    if make == "_shift":
        parts = weighted_data._shift("made up", 0, 50, 40)
    else:
        parts = weighted_data.covariate_shift("bci_shift_1", n_train=50, n_test=40)
    np.testing.assert_array_equal(parts.train.X.min(axis=0), 0.0)
    np.testing.assert_array_equal(parts.train.X.max(axis=0), 1.0)
    assert parts.test.X.min() < 0.0 or parts.test.X.max() > 1.0


def test_the_series_of_prices_is_scaled_by_its_first_days(monkeypatch):
    """Prices rise ever faster, so that the largest features are those of the last days."""
    days, k = 160, np.arange(160.0)
    data = raw(n=days)
    data.y = 100.0 * np.exp(1e-3 * k + 4e-6 * k**2) + np.random.default_rng(0).normal(size=days)
    data.meta = {"dates": np.datetime64("2010-01-08") - np.arange(days)[::-1], "sha256": "made up"}
    monkeypatch.setattr(weighted_data, "load", lambda *a, **k: data)
    parts = weighted_data.nasdaq(n=80, n_new=20)
    assert str(parts.meta["dates"][-1]) == "2009-12-31"
    np.testing.assert_array_equal(parts.train.X.min(axis=0), 0.0)
    np.testing.assert_array_equal(parts.train.X.max(axis=0), 1.0)
    assert parts.test.X.max() > 1.0


@pytest.mark.parametrize("part", ["train", "test"])
def test_importance_weights_know_no_labels(part):
    """Of the test part they know the inputs, which is what they weight towards."""

    class Settled:
        value = 2.0

        def seed(self, what):
            return np.random.SeedSequence(0)

    parts = weighted_data.prepare("shift", "breast_cancer", n_train=60, n_test=40, offline=True)
    own = {name: getattr(parts, name) for name in ("train", "test")}
    other = own | {part: Part(own[part].X, -own[part].y)}
    moved = own | {"test": spoilt(own["test"])}
    found = [
        weighted.importance_weights(Settled(), Split(p["train"], None, p["test"]), Rows())
        for p in (own, other, moved)
    ]
    assert np.array_equal(found[0][0], np.full(60, 2.0))
    assert np.array_equal(found[0][1], found[1][1])
    assert not np.array_equal(found[0][1], found[2][1])
