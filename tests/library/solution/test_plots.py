"""Pictures: drawn points are solutions, axes show what changes, and lines can be told apart."""

from __future__ import annotations

import re

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier

import solution_paths
from helpers.estimators import ESTIMATORS
from solution_paths import (
    Curve,
    DmKSVC,
    DrLAD,
    HuberPath,
    PathElasticNet,
    PathLasso,
    PathSVC,
    QuantileSVC,
    dm_ksvm_path,
    drlad_grid,
    l1_svm_path,
    lasso_path,
    logistic_path,
    outlier_svm_path,
    quantile_svm_path,
    svm_path,
    weighted_svm_path,
)

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 4)) * [1.0, 3.0, 0.2, 1.0]
Y = np.where(X[:, 0] + RNG.normal(size=60) > 0, "yes", "no")
NAMES = ["age of driver", "_speed", "x $ y", "d"]
FRAME = pd.DataFrame(X, columns=NAMES)
TARGET = X @ [1.0, 0.2, -4.0, 0.0] + RNG.normal(size=60)
WEIGHTS = np.where(np.arange(60) < 30, 3.0, 0.5)

PATHS = {
    "svm": lambda: svm_path(X, Y),
    "svm, rbf": lambda: svm_path(X, Y, kernel="rbf"),
    "svm, raw units": lambda: svm_path(X * [1.0, 30.0, 1.0, 0.1], Y),
    "quantile": lambda: quantile_svm_path(X, Y, 1e-2),
    "lasso": lambda: lasso_path(X, TARGET, fit_intercept=False),
    "l1": lambda: l1_svm_path(X, Y),
    "inverse": lambda: dm_ksvm_path(X, Y, 3.0),
    "weights": lambda: weighted_svm_path(X, Y, 1.0, WEIGHTS),
    "jumps": lambda: outlier_svm_path(X, Y, 5.0, homotopy="s"),
    "logistic": lambda: logistic_path(X, Y, lam_min=0.01),
}
SCALES = {"logistic", "svm", "svm, rbf", "svm, raw units", "lasso", "l1", "inverse"}


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def curves_of(ax):
    """Return the drawn curves, without marks."""
    return [line for line in ax.lines if len(line.get_xdata()) > 100]


@pytest.mark.parametrize("what", ["coef", "dual"])
@pytest.mark.parametrize("name", PATHS)
def test_what_is_drawn_are_solutions_also_between_drawn_points(name, what):
    path = PATHS[name]()
    if what == "coef" and not path.linear:
        return
    ax = path.plot(what)
    lines = curves_of(ax)
    values = path.coef if what == "coef" else path.dual
    t = np.asarray(lines[0].get_xdata())
    standing = t[1:][t[1:] == t[:-1]]  # where the solution moves, or jumps
    assert (name in ("l1", "jumps")) <= (len(standing) > 0)
    single = ~np.isin(t, standing)
    t_in = t[single]
    middle = 0.5 * (t[1:] + t[:-1])[t[1:] > t[:-1]]
    some = slice(None, None, max(len(t_in) // 50, 1))
    exact, at = values(middle), values(t_in[some])
    assert len(lines) == len(exact)
    for j, line in enumerate(lines):
        y = np.asarray(line.get_ydata())
        size = np.nanmax(np.abs(y))
        np.testing.assert_allclose(y[single][some], at[j], atol=1e-9 * size)
        drawn = 0.5 * (y[1:] + y[:-1])[t[1:] > t[:-1]]
        assert np.abs(drawn - exact[j]).max() <= 2e-3 * size
    assert (ax.get_xscale() == "log") == (name in SCALES)
    assert ax.get_xlabel() == path.parameter


@pytest.mark.parametrize("name", ["svm", "svm, raw units", "inverse", "l1", "lasso"])
def test_the_axis_begins_where_something_is_seen(name):
    path = PATHS[name]()
    low, high = path.plot().get_xlim()
    assert low > 0.0
    size = np.abs(path.coef(np.geomspace(low, high, 50)[1:-1])).max(axis=0)
    assert (size[: len(size) // 3] > 1e-4 * size.max()).any()
    nodes = path.breakpoints
    assert np.mean((nodes >= low) & (nodes <= high)) > 0.5


def test_a_breakpoint_of_rounding_does_not_stretch_the_axis():
    curve = Curve(np.array([0.0, 1e-17, 0.5, 1.0, 40.0]), np.ones(4), np.ones(4) * 0.5, np.zeros(4))
    ax = curve.plot(parameter="C")
    assert ax.get_xscale() == "log"
    assert ax.get_xlim()[0] > 1e-4


def test_names_are_those_of_columns_and_the_largest_at_the_mark():
    path = lasso_path(FRAME, TARGET - TARGET.mean())
    end = path.breakpoints[-1]
    ax = path.plot(mark=0.9 * end)
    largest = np.abs(path.coef(0.9 * end)).argmax()
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert NAMES[largest] in legend
    assert f"lam = {0.9 * end:.4g}" in legend
    zero = np.flatnonzero(path.coef(0.9 * end) == 0.0)
    assert not {NAMES[j] for j in zero} & set(legend)
    ax.figure.savefig("/dev/null", format="png")  # names are text, not formulas


def test_named_lines_differ_in_more_than_colour_and_no_more_are_named_than_fit():
    wide = RNG.normal(size=(60, 30))
    path = l1_svm_path(wide, Y)
    small = plt.figure(figsize=(4, 1.2)).add_subplot()
    for ax in (path.plot(), path.plot(ax=small)):
        named = [line for line in ax.lines if not line.get_label().startswith("_child")]
        looks = {(line.get_color(), str(line.get_linestyle())) for line in named}
        assert len(looks) == len(named) >= 1
        assert len({str(line.get_linestyle()) for line in named}) == min(len(named), 4)
    height = small.get_window_extent().height
    assert len(small.get_legend().get_texts()) * 10 < height


def test_only_the_largest_lines_are_drawn():
    path = svm_path(X, Y)
    ax = path.plot(max_lines=2)
    t = np.asarray(ax.lines[0].get_xdata())
    size = np.abs(path.coef(t)).max(axis=1)
    for line, j in zip(ax.lines, np.sort(np.argsort(-size)[:2]), strict=True):
        np.testing.assert_allclose(line.get_ydata(), path.coef(t)[j])


def test_duals_tell_classes_apart():
    ax = svm_path(X, Y, kernel="rbf").plot()
    assert sorted(text.get_text() for text in ax.get_legend().get_texts()) == ["no", "yes"]
    looks = {(line.get_color(), line.get_linestyle()) for line in ax.lines}
    assert len(looks) == 2


def test_lines_are_broken_at_jumps():
    path = outlier_svm_path(X, Y, 5.0, homotopy="s")
    jump = path.jumps[0].parameter
    ax = path.plot("coef")
    line = curves_of(ax)[0]
    t, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    there = np.flatnonzero(t == jump)
    assert len(there) == 3
    assert np.isnan(y[there[1]])
    near = [path.coef(jump + step)[0] for step in (-1e-9, 1e-9)]  # s grows: before, after
    np.testing.assert_allclose(y[there[[0, 2]]], near, atol=1e-6)
    assert near[0] != pytest.approx(near[1], abs=1e-3)


@pytest.mark.parametrize("mark", [-1.0, np.nan, "a", [1.0]])
def test_a_mark_outside_the_path_is_refused(mark):
    with pytest.raises(ValueError, match="C "):
        svm_path(X, Y).plot(mark=mark)


# -- estimators and errors --------------------------------------------------------------------


def test_estimators_mark_their_parameter():
    model = PathSVC(C=2.5).fit(FRAME, Y)
    marked = [line for line in model.plot().lines if line.get_label() == "C = 2.5"]
    assert marked[0].get_xdata()[0] == 2.5
    lasso = PathLasso(alpha=0.3).fit(FRAME, TARGET)
    ax = lasso.plot()
    (line,) = [line for line in ax.lines if line.get_label() == "alpha = 0.3"]
    assert (ax.get_xlabel(), line.get_xdata()[0]) == ("alpha", 0.3)
    t = np.asarray(curves_of(ax)[0].get_xdata())
    curves = np.stack([line.get_ydata() for line in curves_of(ax)])
    np.testing.assert_allclose(curves, lasso.path_.coef(60 * t), atol=1e-12)
    DmKSVC(lam=1e9).fit(X, Y).plot("dual")
    several = np.digitize(X[:, 0], [-0.5, 0.5])
    assert len(QuantileSVC().fit(X, several).plot()) == 3
    PathLasso().fit(X, np.ones(60)).plot()
    plain = DrLAD().fit(X, np.ones(60))
    if plain.path_ is None:
        with pytest.raises(ValueError, match="constant"):
            plain.plot()


def test_a_curve_is_drawn_exactly():
    path = lasso_path(X, TARGET)
    for metric in ("absolute", "squared"):
        curve = path.error_curve(X, TARGET, metric)
        line = max(curve.plot(parameter="lam").lines, key=lambda own: len(own.get_xdata()))
        t, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        np.testing.assert_allclose(y, curve(t), rtol=1e-9)
        middle = 0.5 * (t[1:] + t[:-1])
        np.testing.assert_allclose(np.interp(middle, t, y), curve(middle), rtol=1e-3)


def test_steps_are_drawn_with_risers_and_the_least_is_marked():
    level = np.array([0.3, 0.1, 0.2])
    curve = Curve(np.array([0.0, 0.2, 0.5, 1.0]), level, level, np.zeros(3))
    folds = [Curve(curve.edges, level + d, level + d, np.zeros(3)) for d in (-0.05, 0.05)]
    ax = curve.plot(parameter="tau", folds=folds, mark=0.7)
    main = next(line for line in ax.lines if line.get_label() == "mean")
    assert main.get_xdata().tolist() == [0.0, 0.2, 0.2, 0.5, 0.5, 1.0]
    assert main.get_ydata().tolist() == [0.3, 0.3, 0.1, 0.1, 0.2, 0.2]
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert {"folds", "mean", "least: 0.1", "tau = 0.7"} <= set(legend)
    (star,) = [line for line in ax.lines if line.get_marker() == "*"]
    assert (star.get_xdata()[0], star.get_ydata()[0]) == (0.35, 0.1)


def test_curves_of_cross_validation_and_of_inverse_paths_are_drawn():
    model = DmKSVC(cv=3).fit(X, Y)
    for curve in (model.cv_path_, model.path_.error_curve(X, Y)):
        ax = curve.plot(parameter="lam")
        assert np.isfinite(ax.get_xlim()).all()
        for line in ax.lines:
            assert np.isfinite(np.asarray(line.get_xdata(), dtype=float)).all()
    endless = PathLasso(cv=3).fit(X, TARGET).cv_path_
    assert np.isfinite(endless.plot(parameter="alpha").get_xlim()).all()


def test_a_surface_is_drawn():
    surface = drlad_grid(X, TARGET, [0.5, 2.0, 8.0], [0.001, 0.01, 0.1])
    ax = surface.plot(X, TARGET)
    best = surface.best(X, TARGET)
    (star,) = [line for line in ax.lines if line.get_marker() == "*"]
    assert star.get_ydata()[0] == pytest.approx(best.value)
    assert ax.get_xlabel() == "s"


# -- whose parameter, where the choice is, how many lines -----------------------------------------


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_axis_has_the_estimators_own_parameter(name):
    model = getattr(solution_paths, name)()
    y = np.arange(60) % 3 if name == "PathSVOR" else np.abs(TARGET)
    y = Y if is_classifier(model) and name != "PathSVOR" else y
    ax = model.fit(X, y).plot()
    own = ax.get_xlabel()
    if name == "PathQuantileRegressor":  # whose path is in tau, at the chosen lam
        assert own == "tau"
    elif name not in ("WeightedSVC", "WeightedSVR"):  # whose paths are in theta, at its end
        assert own in model.get_params()
        place = getattr(model, f"{own}_", getattr(model, own))
        (line,) = [line for line in ax.lines if line.get_label() == f"{own} = {place:.4g}"]
        low, high = ax.get_xlim()
        assert line.get_xdata()[0] == pytest.approx(place)
        assert low <= line.get_xdata()[0] <= high


@pytest.mark.parametrize(
    "model", [PathElasticNet(lam1=0.0), PathLasso(0.0), HuberPath(lam=0.0)], ids=str
)
@pytest.mark.parametrize("spread", [1.0, 30.0])
def test_a_choice_of_zero_is_marked_on_the_axis(model, spread):
    frame = FRAME * [1.0, 1.0, spread, spread**2]
    ax = model.fit(frame, TARGET).plot()
    assert ax.get_xscale() == "symlog" or spread == 1.0
    low, high = ax.get_xlim()
    (line,) = [line for line in ax.lines if str(line.get_label()).endswith(" = 0")]
    assert low < line.get_xdata()[0] == 0.0 < high
    t = np.asarray(curves_of(ax)[0].get_xdata())
    assert t[0] == 0.0
    unit = 60.0 if isinstance(model, PathLasso) else 1.0
    curves = np.stack([line.get_ydata() for line in curves_of(ax)])
    np.testing.assert_allclose(curves, model.path_.coef(unit * t), atol=1e-9)
    assert ax.transData.transform((0.0, 0.0))[0] > ax.transData.transform((low, 0.0))[0]


@pytest.mark.parametrize("parameter", ["cost", "lam"])
def test_a_curve_has_one_best(parameter):
    """The star is the minimiser that `best` gives, also on an axis that is logarithmic."""
    edges, level = np.array([0.0, 1.0, 4.0, 1e3]), np.array([3.0, 1.0, 2.0])
    for curve in (
        Curve(edges, level, level, np.zeros(3)),
        Curve(edges, level, level, np.zeros(3), log=True),
        Curve(edges, level[[1, 0, 2]], level[[1, 0, 2]], np.zeros(3)),
        lasso_path(X, TARGET).error_curve(X, TARGET),
    ):
        ax = curve.plot(parameter=parameter)
        (star,) = [line for line in ax.lines if line.get_marker() == "*"]
        assert star.get_xdata()[0] == curve.best().parameter
        assert ax.get_xlim()[0] < star.get_xdata()[0] < ax.get_xlim()[1]


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_duals_of_many_rows_are_some_lines_on_a_band(kernel):
    rows = RNG.normal(size=(200, 3))
    names = np.where(rows[:, 0] + RNG.normal(size=200) > 0.5, "yes", "no")
    path = svm_path(rows, names, kernel=kernel, C_max=20.0)
    ax = path.plot("dual")
    lines = curves_of(ax)
    assert len(lines) == 24
    t = np.asarray(lines[0].get_xdata())
    single = ~np.isin(t, t[1:][t[1:] == t[:-1]])
    exact = path.dual(t[single])
    for line in lines:
        drawn = np.asarray(line.get_ydata())[single]
        assert np.abs(exact - drawn).max(axis=1).min() < 1e-9 * exact.max()
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    counted = [re.fullmatch(r"(no|yes): (\d+) of (\d+) rows", text) for text in legend]
    assert sum(int(own[2]) for own in counted) == 24
    assert {own[1]: int(own[3]) for own in counted} == dict(pd.Series(names).value_counts())
    assert len(ax.collections) == 2  # a band for each class
    assert "80 %" in ax.get_ylabel()
    for band, positive in zip(ax.collections, (False, True), strict=True):
        middle = t[single][len(t[single]) // 2]
        edge = band.get_paths()[0].vertices
        at = edge[np.isclose(edge[:, 0], middle, rtol=1e-12), 1]
        own = np.quantile(path.dual(middle)[(names == "yes") == positive], (0.1, 0.9))
        np.testing.assert_allclose([at.min(), at.max()], own, atol=1e-9)
    assert len(curves_of(path.plot("dual", max_lines=5))) == 5
    assert len(curves_of(path.plot("dual", max_lines=500))) == 200


def test_jumps_do_not_hide_lines():
    few = outlier_svm_path(X, Y, 5.0, homotopy="s")
    rows = RNG.normal(size=(150, 4))
    names = np.where(rows[:, 0] + RNG.normal(size=150) > 0, 1, 0)
    many = outlier_svm_path(rows, names, 5.0, homotopy="s")
    assert len(few.jumps) <= 12 < len(many.jumps)
    for path, circles in ((few, True), (many, False)):
        ax = path.plot("coef")
        assert any(line.get_marker() == "o" for line in ax.lines) == circles
        behind = min(line.get_zorder() for line in curves_of(ax))
        assert ax.collections
        assert all(own.get_zorder() < behind for own in ax.collections)


@pytest.mark.parametrize("what", ["coef", "dual"])
def test_regressions_have_bands_too(what):
    rows = RNG.normal(size=(90, 3))
    ax = solution_paths.svr_path(rows, rows[:, 0] + RNG.normal(size=90)).plot(what)
    assert len(curves_of(ax)) == (3 if what == "coef" else 24)
    assert len(ax.collections) == (what == "dual")


def test_only_those_lines_are_drawn_that_become_largest():
    X = np.random.default_rng(3).normal(size=(60, 4))
    path = lasso_path(
        X, X @ [0.0, 1.0, -2.0, 3.0], fit_intercept=False
    )  # the first line is one of zeros
    axes = path.plot("coef", max_lines=2)
    ends = sorted(abs(line.get_ydata()[0]) for line in axes.lines)
    assert ends == pytest.approx([2.0, 3.0], rel=1e-6)
