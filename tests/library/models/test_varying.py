"""Defaults follow one rule: errors have an intercept, and what isn't given varies."""

import inspect

import numpy as np
import pytest

import solution_paths as paths
from helpers.estimators import ESTIMATORS

R = np.random.default_rng(3)
X = R.normal(size=(18, 2))
U = X @ [1.0, -0.5] + 3.0 + 0.3 * R.normal(size=18)
Y = np.where(U > 3.0, 1, -1)
ORDER = ("tau", "nu", "C", "lam", "s", "lam1", "lam2", "epsilon")
SOME = {"tau": 0.3, "C": 2.0, "lam": 0.2, "s": 0.4, "lam1": 0.05, "lam2": 0.1, "epsilon": 0.2}
FUNCTIONS = {
    "rlad_path": (U, ("lam", "s")),
    "svr_path": (U, ("C", "lam", "epsilon")),
    "kernel_quantile_path": (U, ("tau", "lam")),
    "quantile_regression_path": (U, ("tau", "lam")),
    "pin_svm_path": (Y, ("tau", "C")),
    "pin_twin_svm_path": (Y, ("tau", "C")),
    "one_class_path": (None, ("nu", "lam")),
    "drsvm_path": (Y, ("lam1", "lam2")),
    "dm_drsvm_path": (Y, ("lam1", "lam2")),
    "drlad_path": (U, ("s", "lam1", "lam2")),
    "dr_regression_path": (U, ("s", "lam1", "lam2")),
}
ALTERNATIVES = {"svr_path": ("C", "lam"), "drlad_path": ("s", "lam1")}
ALTERNATIVES["dr_regression_path"] = ALTERNATIVES["drlad_path"]
MORE = {"dm_drsvm_path": {"kappa": 3.0}, "quantile_regression_path": {"penalty": "l2"}}


def call(name, **given):
    y, _ = FUNCTIONS[name]
    more = MORE.get(name, {})
    return getattr(paths, name)(X, **({} if y is None else {"y": y}), **more, **given)


def settable(name):
    return [
        own
        for own in FUNCTIONS[name][1]
        if own in inspect.signature(getattr(paths, name)).parameters
    ]


def test_every_function_that_can_vary_several_parameters_is_here():
    public = [getattr(paths, name) for name in paths.__all__]
    several = {
        f.__name__
        for f in public
        if inspect.isfunction(f) and "vary" in inspect.signature(f).parameters
    }
    assert several == set(FUNCTIONS)
    for name in several:
        assert inspect.signature(getattr(paths, name)).parameters["vary"].default is None
        choices = FUNCTIONS[name][1]
        assert sorted(choices, key=ORDER.index) == list(choices)


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_not_given_varies(name):
    needed = {"lam2": 0.1} if name == "dm_drsvm_path" else {}  # has no default
    assert call(name, **needed).parameter == FUNCTIONS[name][1][0]
    for own in settable(name):
        held = {own, *(ALTERNATIVES.get(name, ()) if own in ALTERNATIVES.get(name, ()) else ())}
        first = next(other for other in FUNCTIONS[name][1] if other not in held)
        path, same = call(name, **{own: SOME[own]}), call(name, vary=first, **{own: SOME[own]})
        assert path.parameter == first
        np.testing.assert_array_equal(path.breakpoints, same.breakpoints)
        with pytest.raises(ValueError, match=f"vary='{own}' takes no {own}: leave it out"):
            call(name, vary=own, **{own: SOME[own]})
    with pytest.raises(ValueError, match="vary must be one of"):
        call(name, vary="gamma")


LIMITS = {"tau_from": -0.1, "nu_min": 0.2, "C_max": 3.0, "lam_min": 0.3, "s_max": 0.5}
LIMITS |= {"lam1_min": 0.02, "lam2_min": 0.03, "epsilon_min": 0.05}
NEEDED = {("dm_drsvm_path", "lam1"): {"lam2": 0.1}, ("dm_drsvm_path", "lam2"): {"lam1": 0.1}}
NEEDED |= {(name, "lam2"): {"s": 0.4} for name in ("drlad_path", "dr_regression_path")}


def limits_of(name):
    found = inspect.signature(getattr(paths, name)).parameters
    return [own for own in found if own.endswith(("_min", "_max", "_from"))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_only_what_varies_has_limits(name):
    """Those of the others were ignored."""
    assert limits_of(name)
    for limit in limits_of(name):
        whose = limit.rsplit("_", 1)[0]
        needed = NEEDED.get((name, whose), {})
        path = call(name, vary=whose, **needed, **{limit: LIMITS[limit]})
        assert path.range[limit.endswith("_max")] == LIMITS[limit]
        for other in FUNCTIONS[name][1]:
            if other != whose:
                with pytest.raises(
                    ValueError, match=f"{limit} is a limit of a path in {whose}, but {other} varies"
                ):
                    call(name, vary=other, **{limit: LIMITS[limit]})
        for held in settable(name):
            if held == whose:  # another one varies then
                with pytest.raises(ValueError, match=f"{limit} is a limit of a path in {whose}"):
                    call(name, **{held: SOME[held], limit: LIMITS[limit]})


@pytest.mark.parametrize("name", ["kernel_quantile_path", "pin_svm_path", "drsvm_path", "svr_path"])
def test_one_parameter_is_left_to_vary(name):
    given = {own: SOME[own] for own in settable(name)}
    with pytest.raises(ValueError, match="are given: leave out the one that is to vary"):
        call(name, **given)


def test_a_value_that_is_given_counts():
    """It was ignored where another parameter was the default of what varies."""
    tight, loose = (call("kernel_quantile_path", tau=tau) for tau in (0.1, 0.9))
    assert tight.parameter == loose.parameter == "lam"
    assert (tight.predict(X, 0.01) < loose.predict(X, 0.01)).all()
    small, large = (call("svr_path", C=C) for C in (1e-3, 10.0))
    assert small.parameter == large.parameter == "epsilon"
    assert abs(small.coef(0.1)).sum() < 0.1 * abs(large.coef(0.1)).sum()


@pytest.mark.parametrize("name", ["lasso_path", "elastic_net_path", "almost_quadratic_path"])
def test_an_intercept_is_fitted_unless_it_is_left_out(name):
    function = getattr(paths, name)
    path, moved = function(X, U), function(X, U + 100.0)
    t = 0.3 * path.breakpoints[-1]
    np.testing.assert_allclose(moved.coef(t), path.coef(t), atol=1e-9)
    assert moved.intercept(t) - path.intercept(t) == pytest.approx(100.0)
    assert function(X, U, fit_intercept=False).intercept(t) == 0.0


def test_functions_and_estimators_have_the_same_defaults():
    flags = {}
    for name in paths.__all__:
        own = getattr(paths, name)
        if name not in ("__version__",) and (inspect.isfunction(own) or name in ESTIMATORS):
            found = inspect.signature(own).parameters.get("fit_intercept")
            flags |= {name: found.default} if found else {}
    assert {"lasso_path", "elastic_net_path", "PathLasso", "PathElasticNet", "OutlierSVR"} <= set(
        flags
    )
    without = {name for name, flag in flags.items() if not flag}
    assert without == {"outlier_svm_path", "outlier_svr_path"}  # as their authors have it
