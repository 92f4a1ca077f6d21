"""Whatever a callback raises ends what it is told of, and comes through as it was raised."""

import traceback

import numpy as np
import pytest

import solution_paths as sp
from helpers.estimators import ESTIMATORS, fitted
from helpers.every_function import FUNCTIONS, data
from helpers.known import U, X, Y
from solution_paths.homotopy import run
from solution_paths.solution.surface import lines_at

pytestmark = pytest.mark.slow

# What walks themselves fail by, so that paths take it for an error of their own.
KINDS = (
    ZeroDivisionError,
    FloatingPointError,
    OverflowError,
    np.linalg.LinAlgError,
    KeyboardInterrupt,
    lambda text: sp.PathError(text, None),
    lambda text: sp.NoOptimum(text, None, (), -1.0),
)


def comes_through(function, after=0):
    """Check that errors that a callback raises, once it was called so often, come through."""
    for kind in KINDS:
        error, told = kind("mine"), []
        error.__cause__, error.__context__ = ValueError("its cause"), TypeError("its context")
        before = error.__cause__, error.__context__

        def callback(done, events, error=error, told=told):
            told.append(done)
            if len(told) > after:
                raise error

        with pytest.raises(type(error), match=r"^mine$") as caught:
            function(callback)
        assert caught.value is error
        assert (error.__cause__, error.__context__) == before
        assert any(own.name == "callback" for own in traceback.extract_tb(error.__traceback__))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors_of_callbacks_leave_paths_unchanged(name):
    function, which, options = FUNCTIONS[name]
    rows, u, y, classes, _ = data("normal")
    own = {"u": u, "y": y, "classes": classes, "counts": np.maximum(np.round(u) + 2, 0)}[which]
    comes_through(lambda callback: function(rows, own, callback=callback, **options))


def test_errors_of_callbacks_leave_the_middle_of_a_walk_unchanged(monkeypatch):
    monkeypatch.setattr(run, "STEPS_PER_CALLBACK", 1)
    comes_through(lambda callback: sp.svm_path(X, Y, callback=callback), after=5)
    comes_through(lambda callback: sp.lasso_path(X, U, callback=callback), after=3)
    comes_through(lambda callback: sp.outlier_svr_path(X, U, 1.0, callback=callback), after=3)


@pytest.mark.parametrize("homotopy", ["theta", "s"])
@pytest.mark.parametrize("function", [sp.outlier_svm_path, sp.outlier_svr_path])
def test_errors_of_callbacks_leave_paths_of_local_optima_unchanged(function, homotopy):
    y = Y if function is sp.outlier_svm_path else U
    comes_through(lambda callback: function(X, y, 1.0, homotopy=homotopy, callback=callback))


def test_errors_of_callbacks_leave_surfaces_unchanged():
    """Lines that can't be followed wait for the others; a callback's error doesn't."""
    for after in (0, 1, 4):
        comes_through(
            lambda callback: sp.drlad_grid(X, U, [1.0], [1.0, 0.1, 0.01], callback=callback), after
        )
        comes_through(
            lambda callback: sp.dm_drsvm_grid(X, Y, 2.0, [0.1], [1.0, 0.1], callback=callback),
            min(after, 1),
        )
    lost = sp.PathError("a line's own", None)

    def line(value, callback):
        if callback is not None:
            callback(1.0, 0)
        raise lost

    with pytest.raises(sp.PathError, match="Line 0 of 2"):
        lines_at(line, "lam2", np.array([1.0, 2.0]), None, lambda *told: None)


def test_errors_of_callbacks_leave_continued_paths_unchanged():
    own = np.linspace(0.5, 1.5, len(Y))

    def go_on(then):
        def whole(callback):
            ready = []
            path = sp.weighted_svm_path(
                X, Y, 1.0, own, callback=lambda *told: callback(*told) if ready else None
            )
            ready.append(True)
            then(path)

        return whole

    comes_through(go_on(lambda path: path.continue_to(1.0)))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_errors_of_callbacks_leave_estimators_unchanged(name):
    make = getattr(sp, name)
    comes_through(lambda callback: fitted(make, callback=callback))
    if hasattr(make(), "cv"):
        told = []
        fitted(make, cv=3, callback=lambda *own: told.append(own))
        comes_through(lambda callback: fitted(make, cv=3, callback=callback), len(told) - 1)
