"""What docstrings promise of the public face: defaults, choices, units, orders and sides."""

import inspect
import re
import warnings
from contextlib import suppress
from types import FunctionType

import numpy as np
import pandas as pd
import pytest
from numpydoc.docscrape import NumpyDocString
from sklearn.base import ClassifierMixin, clone

import solution_paths
from helpers.broken import first_half
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
    Surface,
    WeightedSVR,
    dm_drsvm_grid,
    dm_ksvm_path,
    drlad_grid,
    drlad_path,
    drsvm_path,
    files,
    l1_svm_path,
    lasso_path,
    outlier_svm_path,
    outlier_svr_path,
    svm_path,
    weighted_svm_path,
)
from solution_paths.kernels import Kernel
from solution_paths.models import margins
from solution_paths.models.limits import usual_limit
from solution_paths.validation import HUGE

pytestmark = pytest.mark.slow

# -- defaults ---------------------------------------------------------------------------------

# What users get and don't make: their attributes are documented, no parameters of theirs.
GIVEN = {"Best", "BestOnSurface", "Certificate", "Jump", "MeanCurve"}
GIVEN |= {"OutlierCertificate", "OutlierPath", "PathError", "PathWarning", "Surface"}
GIVEN |= {"ApproximatePath", "GapCertificate", "RocCurve", "SolutionPath"}
GIVEN |= {
    "ConditionalPath",
    "ConformalLabels",
    "ConformalPath",
    "Curve",
}  # dataclasses, whose fields say it themselves


def public():
    """Return name -> function or class that takes parameters: all of the public face."""
    found = {}
    for name in solution_paths.__all__:
        own = getattr(solution_paths, name)
        if inspect.isfunction(own) or (inspect.isclass(own) and name not in GIVEN):
            found[name] = own
        if inspect.isclass(own):
            methods = {m: getattr(f, "__func__", f) for m, f in vars(own).items() if m[0] != "_"}
            found |= {f"{name}.{m}": f for m, f in methods.items() if isinstance(f, FunctionType)}
    return found


PUBLIC = public()


def documented(own):
    """Return parameter -> (what its line says behind the colon, the text below)."""
    lines = NumpyDocString(inspect.getdoc(own) or "")["Parameters"]
    found, text = {}, ""
    for line in reversed(lines):  # a text belongs to the lines above that have none
        text = " ".join(line.desc) or text
        found |= {name.strip(): (line.type, text) for name in line.name.split(",")}
    return found


def defaults():
    """Return (owner, parameter) -> default of every public parameter that has one."""
    return {
        (owner, name): parameter.default
        for owner, own in PUBLIC.items()
        for name, parameter in inspect.signature(own).parameters.items()
        if parameter.default is not parameter.empty
    }


DEFAULTS = defaults()
WRITTEN = re.compile(r", default (.+)$")


def stated_by(owner, name, line, text):
    """Return the default that a docstring states; one that only names another, that one's."""
    if WRITTEN.search(line):
        return WRITTEN.search(line)[1]
    if re.match(r'\{?"', line) and not line.endswith("optional"):  # the first choice is the default
        return re.match(r'\{?("[^"]+")', line)[1]
    if line.endswith("optional"):
        return "None"
    for other in re.findall(r"[Ss]ee `([\w.]+)`", text):
        place = other if other in PUBLIC else f"{owner.partition('.')[0]}.{other}"
        if (place, name) in DEFAULTS and place != owner:
            return written(DEFAULTS[place, name])
    return "nothing"


def written(value):
    return f'"{value}"' if isinstance(value, str) else repr(value)


@pytest.mark.parametrize("owner", sorted({owner for owner, _ in DEFAULTS}))
def test_defaults_are_those_that_docstrings_state(owner):
    said = documented(PUBLIC[owner])
    own = {name: value for (of, name), value in DEFAULTS.items() if of == owner}
    if not said:  # a method that stands in for another one: it takes what that takes
        name, method = owner.split(".")
        others = [f"{base.__name__}.{method}" for base in getattr(solution_paths, name).__mro__[1:]]
        others += [f"{name}.{one}" for one in re.findall(r"see `(\w+)`", PUBLIC[owner].__doc__)]
        told = {n: DEFAULTS[o, n] for o in reversed(others) for n in own if (o, n) in DEFAULTS}
        sides = {"side": "after", "values": None}  # the classes say it, for all of their methods
        assert own == {n: told.get(n, sides.get(n, "nothing")) for n in own}
        return
    stated = {name: stated_by(owner, name, *said[name]) for name in own}
    assert stated == {name: written(value) for name, value in own.items()}
    required = [name for name, (line, _) in said.items() if name not in own and line]
    assert not [name for name in required if re.search("optional|default", said[name][0])]


def test_the_table_of_defaults_is_of_the_whole_public_face():
    owners = {owner for owner, _ in DEFAULTS}
    functions = {name for name in solution_paths.__all__ if name.endswith(("_path", "_grid"))}
    assert functions | set(solution_paths.ESTIMATORS) <= owners
    assert {"SolutionPath.certify", "Surface.certify", "OutlierPath.dual", "Curve.best"} <= owners
    # what ``sides`` above rests on
    assert '``side``, "after" by default' in inspect.getdoc(solution_paths.OutlierPath)
    assert "by default at ``values``" in inspect.getdoc(solution_paths.Surface.coefs)


def test_a_default_that_its_docstring_does_not_state_is_seen():
    def other(x: int = 1, kind: str = "b", *, none: None = None, way: str = "min"):
        """Do nothing.

        Parameters
        ----------
        x : int, default 2
        kind : {"a", "b"}
        none : int
        way
            See `PathSVC`.
        """

    said = documented(other)
    found = {name: stated_by("other", name, *said[name]) for name in said}
    assert found == {"x": "2", "kind": '"a"', "none": "nothing", "way": "nothing"}


def entry(place, name, owner):
    """Return (type, text) of a parameter where a text sends its reader; None where it isn't."""
    head, _, method = place.partition(".")
    if head not in solution_paths.__all__:  # a method of the same class
        head, method = owner.partition(".")[0], place
    own = getattr(solution_paths, head)
    return documented(getattr(own, method, None) if method else own).get(name)


def refers(text):
    return text.startswith(("See `", "see `"))


@pytest.mark.parametrize("owner", sorted(PUBLIC))
def test_an_argument_is_explained_where_it_stands_or_by_one_reference(owner):
    chains = {}
    for name, (_, text) in documented(PUBLIC[owner]).items():
        if refers(text):
            places = re.findall(r"`([\w.]+)`", text)
            found = [entry(place, name, owner) for place in places]
            if not any(one and not refers(one[1]) for one in found):
                chains[name] = places
    assert not chains


@pytest.mark.parametrize("name", solution_paths.ESTIMATORS)
def test_estimators_keep_every_parameter_as_it_was_given(name):
    own = getattr(solution_paths, name)
    marks = {parameter: object() for parameter in inspect.signature(own).parameters}
    assert own(**marks).get_params(deep=False) == marks


# -- limit values -----------------------------------------------------------------------------


def limits():
    """Return (estimator, parameter) -> values that are fine and values that aren't, as stated."""
    found = {}
    for name in solution_paths.ESTIMATORS:
        for parameter, (line, text) in documented(PUBLIC[name]).items():
            if not line.startswith("float"):
                continue
            if "in [0, 1]" in text:
                found[name, parameter] = [0.0, 1.0], [-1e-9, 1.0 + 1e-9]
            elif "In (0, 1]" in text:
                found[name, parameter] = [1e-3, 1.0], [0.0, 1.0 + 1e-9]
            elif "In [0, 2 min(n+, n-) / n]" in text:
                found[name, parameter] = [0.0], [-1e-9, 1.0 + 1e-9]
            elif re.search(r"(^|, )>= 0[,;.]", text):
                found[name, parameter] = [0.0], [-1e-9]
            elif re.search(r"(^|, )> 0[,;.:]", text):
                found[name, parameter] = [1e-3], [0.0, -1e-9]
    return found


LIMITS = limits()


@pytest.mark.parametrize(("name", "parameter"), LIMITS)
@pytest.mark.filterwarnings("ignore::solution_paths.PathWarning")
def test_limits_are_those_that_docstrings_state(name, parameter):
    own = PUBLIC[name]
    X, y = classes(20) if issubclass(own, ClassifierMixin) else numbers(20)
    y = (y == "b") * 1 if own is solution_paths.PathSVOR else y
    fine, wrong = LIMITS[name, parameter]
    for value in fine:
        model = own(**{parameter: value}).fit(X, y)
        assert np.isfinite(np.asarray(model.predict(X) == y, dtype=float)).all()
    for value in (*wrong, np.nan):
        with pytest.raises(ValueError, match=parameter):
            own(**{parameter: value}).fit(X, y)


def test_a_limit_is_stated_of_what_every_estimator_is_about():
    stated = {name for name, _ in LIMITS}
    assert stated == set(solution_paths.ESTIMATORS)
    assert len(LIMITS) > 15


# -- the parameter that cross-validation chooses -----------------------------------------------


def classes(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] - 0.5 * X[:, 1] + 0.8 * rng.normal(size=n) > 0.2, "b", "a")


def numbers(n=50, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) + 1.0
    return X, X[:, 0] - X[:, 1] + 4.0 + rng.standard_t(3, size=n)


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


# -- paths ------------------------------------------------------------------------------------


def test_the_dual_at_a_penalty_of_zero_is_the_limit():
    """In the unit of the path's own objective: shares of 1 / n, not of 1."""
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    for path in (
        dm_ksvm_path(X, y, kappa=4.0, lam_min=0.0),
        drsvm_path(X, y, vary="lam2", lam1=0.0),
    ):
        assert path.range[0] == 0.0
        limit = path.dual(1e-9)
        assert np.abs(limit).max() > 0.01
        np.testing.assert_allclose(path.dual(0.0), limit, atol=1e-8)


@pytest.mark.parametrize("flipped", [False, True])
def test_the_positive_length_in_a_penalty_is_what_a_fine_grid_counts(flipped):
    X, y = classes(40)
    path, new = dm_ksvm_path(X, (y == "b") != flipped, 3.0), classes(60, seed=5)[0]
    length, crossings = path.positive_length(new), path.crossings(new)
    first, top = path.breakpoints[0], 3.0
    assert max(own.max(initial=0.0) for own in crossings) < top
    grid = np.linspace(first, top, 6001)
    positive = path.decision_function(new, grid) >= 0
    above = positive[:, -1]
    assert above.all() if flipped else not above.any()  # the larger class, where w vanishes
    assert (np.isinf(length) == above).all()
    counted = positive.mean(axis=1) * (top - first)
    np.testing.assert_allclose(length[~above], counted[~above], atol=0.002 * top)
    assert np.ptp(counted) > 0.1


JUMPING = {  # path, and whether its parameter falls in the order of the walk
    "theta": (lambda X, y, u: outlier_svm_path(X, y, 100.0), True),
    "s": (lambda X, y, u: outlier_svm_path(X, y, 10.0, homotopy="s"), False),
    "theta of a regression": (
        lambda X, y, u: outlier_svr_path(X, u, 10.0, s=0.5, kernel="rbf", gamma=1.0),
        True,
    ),
    "s of a regression": (lambda X, y, u: outlier_svr_path(X, u, 10.0, homotopy="s"), True),
}


@pytest.mark.parametrize("name", JUMPING)
def test_jumps_come_in_the_order_of_the_walk(name):
    (path, falls), (X, y) = JUMPING[name], classes(60)
    u = X[:, 0] + 3.0 * np.random.default_rng(2).standard_t(2, size=60)
    own = path(X, y, u)
    at = [jump.parameter for jump in own.jumps]
    assert len(set(at)) >= 2
    assert at == sorted(at, reverse=falls)
    assert all(jump.after <= jump.before * (1 + 1e-12) for jump in own.jumps)


def test_coefficients_that_are_not_in_use_are_zeros_without_a_sign():
    X, y = classes(40)
    path = l1_svm_path(X, y)
    w = path.coef(np.linspace(0.3, 0.95, 20) * path.breakpoints[-1])
    assert 5 < (w == 0.0).sum() < w.size
    assert not np.signbit(w[w == 0.0]).any()


def double_margin(p, lam1, lam2, kappa, X, y, w, b):
    """Return the objective of the DM-DrSVM, with the best rho on a fine grid."""
    m = y * (X @ w + b)
    rho = np.abs(w).sum() + np.linspace(0.0, 3.0, 3001)[:, None]
    loss = np.maximum(np.maximum(0.0, 1.0 - m), 1.0 + m - kappa * rho).mean(axis=1)
    return (lam2 / 2 * w @ w + lam1 * rho[:, 0] + loss).min()


def test_a_surfaces_objective_is_the_one_that_its_docstring_states():
    X, label = classes(30)
    y, kappa = np.where(label == "b", 1.0, -1.0), 2.5
    surface = dm_drsvm_grid(X, label, kappa, [0.02, 0.1], [0.05, 0.2])
    for i, lam2 in enumerate(surface.fixed_values):
        for lam1 in (0.02, 0.1):
            w, b = surface.coef(i, lam1), surface.intercept(i, lam1)
            expected = double_margin(surface, lam1, lam2, kappa, X, y, w, b)
            assert surface.objective(i, lam1) == pytest.approx(expected, abs=2e-4)
    X, u = numbers(30)
    surface = drlad_grid(X, u, [0.5, 1.0], [0.05, 0.2])
    for i, lam2 in enumerate(surface.fixed_values):
        for s in (0.5, 1.0):
            w, b = surface.coef(i, s), surface.intercept(i, s)
            expected = np.abs(u - X @ w - b).mean() + lam2 / 2 * w @ w
            assert surface.objective(i, s) == pytest.approx(expected, rel=1e-9)
    paths = [drlad_path(X, u, vary="lam2", s=s) for s in (0.5, 1.0)]  # lines in an inverse
    surface = Surface(paths, "s", np.array([0.5, 1.0]), np.array([0.1, 0.4]))
    for lam2 in surface.values:
        w, b = surface.coef(1, lam2), surface.intercept(1, lam2)
        expected = np.abs(u - X @ w - b).mean() + lam2 / 2 * w @ w
        assert surface.objective(1, lam2) == pytest.approx(expected, rel=1e-9)


def test_only_those_lines_are_drawn_that_become_largest():
    X = np.random.default_rng(3).normal(size=(60, 4))
    path = lasso_path(
        X, X @ [0.0, 1.0, -2.0, 3.0], fit_intercept=False
    )  # the first line is one of zeros
    axes = path.plot("coef", max_lines=2)
    ends = sorted(abs(line.get_ydata()[0]) for line in axes.lines)
    assert ends == pytest.approx([2.0, 3.0], rel=1e-6)


# -- certificates -----------------------------------------------------------------------------


def test_by_default_a_certificate_samples_inner_breakpoints():
    X, y = classes(30)
    path = svm_path(X, y, C_max=5.0)
    nodes, ends_of = len(path.points), 2
    assert nodes > 20
    all_of_them = path.certify(n_random=nodes)
    assert all_of_them.ok
    assert all_of_them.n_points == path.certify(nodes, at_breakpoints=True).n_points >= nodes
    ends = path.certify(nodes, at_breakpoints=False).n_points
    assert all_of_them.n_points - ends == nodes - ends_of > 20
    some = path.certify(n_random=6).n_points
    assert path.certify(6, at_breakpoints=False).n_points < some <= ends_of + 6 + 6


def test_a_certificates_points_follow_from_its_seed():
    path = svm_path(*classes(30))
    points = {seed: path._some(10, seed, None)[1].tolist() for seed in (0, 1)}
    assert points[0] != points[1]
    assert path._some(10, 0, None)[1].tolist() == points[0]
    for own in (path, outlier_svm_path(*classes(30), 10.0)):
        assert own.certify(10, seed=0) == own.certify(10)


def test_nobody_else_holds_a_locked_file_not_even_to_read(tmp_path):
    """Any other opening of a file, be it in this process, stands for another process."""
    fcntl = pytest.importorskip("fcntl")
    file = tmp_path / "folder" / "lock"
    with files.locked(file), file.open("a") as other:
        for kind in (fcntl.LOCK_EX, fcntl.LOCK_SH):
            with pytest.raises(BlockingIOError):
                fcntl.flock(other, kind | fcntl.LOCK_NB)
    with file.open("a") as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert file.exists()


def test_weighted_paths_reach_the_second_weights():
    X, y = classes(30)
    y = np.where(y == "b", 1.0, -1.0)
    before, after = np.full(30, 1.0), np.linspace(0.5, 3.0, 30)
    path = weighted_svm_path(X, y, before, after)
    assert path.range == (0.0, 1.0)
    for theta in (0.0, 0.5, 1.0):
        costs = before + theta * (after - before)
        assert (path.dual(theta) <= costs * (1 + 1e-12)).all()
        assert (path.dual(theta) == costs).any()


@pytest.mark.parametrize(
    ("length", "limit"), [(0.5, 4e6), (1.0, 1e6), (3.0, 1e6), (0.0, 1e6 * HUGE)]
)
def test_a_limit_is_a_million_over_the_mean_diagonal_up_to_one(length, limit):
    rows = length * np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    assert usual_limit(Kernel("poly", 1.0, 1, 0.0), rows) == pytest.approx(limit)
