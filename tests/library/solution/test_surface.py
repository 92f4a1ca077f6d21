"""Surfaces: paths in one parameter for each value of another one."""

import numpy as np
import pytest

from helpers.data_makers import classes, numbers
from solution_paths import (
    Surface,
    dm_drsvm_grid,
    drlad_grid,
    drlad_path,
)
from solution_paths.homotopy import start
from solution_paths.solution import follow

pytestmark = pytest.mark.slow


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


@pytest.mark.parametrize("degenerate", [False, True])
def test_lines_start_near_the_active_set_of_the_one_before(degenerate, monkeypatch):
    X, label = classes(60)
    if degenerate:  # tied rows, a constant column and dependent ones
        X, label = np.concatenate([X, X[:20]]), np.concatenate([label, label[:20]])
        X = np.column_stack([X, np.ones(80), X[:, 0], X[:, 0] + X[:, 1]])
    ridges, at = np.geomspace(1e-3, 1.0, 12), [0.0, 0.01, 0.1]
    violated, search = [], follow.starting_places

    def counted(statement, misfit, *options):
        violated.append(misfit.count)
        return search(statement, misfit, *options)

    for module in (start, follow):
        monkeypatch.setattr(module, "starting_places", counted)
    near = dm_drsvm_grid(X, label, 2.0, at, ridges)
    of_near = violated[-11:]
    monkeypatch.setattr(follow, "starting_places_near", lambda *given: None)
    alone = dm_drsvm_grid(X, label, 2.0, at, ridges)
    assert near.certify().ok
    np.testing.assert_allclose(near.coefs(), alone.coefs(), atol=1e-9)
    assert 2 * np.median(of_near) < np.median(violated[-11:])
