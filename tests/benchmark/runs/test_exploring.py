"""What explorers keep of paths."""

from types import SimpleNamespace

import numpy as np
import pytest

from path_benchmark.data.protocols import Part
from path_benchmark.papers.quantile_svm import experiments as quantile
from path_benchmark.runs import exploring
from path_benchmark.runs.rows import Rows
from solution_paths import lasso_path, quantile_svm_path, svm_path


def test_the_explorer_keeps_the_lines_that_move_most():
    rng = np.random.default_rng(0)
    X = np.linalg.qr(rng.normal(size=(40, 14)))[0]
    size = rng.permutation(np.arange(1.0, 15.0))
    path = lasso_path(X, X @ size, fit_intercept=False)
    kept = {int(name.split()[1]) - 1 for name in exploring.moving_lines(path)}
    assert kept == set(np.argsort(-size)[: exploring.LARGEST_LINES])
    t, value = exploring.moving_lines(path)[f"feature {np.argmax(size) + 1}"]
    np.testing.assert_allclose(value, np.maximum(14.0 - t, 0.0), atol=1e-9)


def test_of_a_kernel_the_explorer_keeps_duals():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20, 2))
    path = svm_path(X, np.where(X[:, 0] > 0, 1, 0), C_max=10.0, kernel="rbf")
    lines = exploring.moving_lines(path)
    assert 0 < len(lines) <= exploring.LARGEST_LINES
    assert all(name.startswith("sample ") for name in lines)


def test_a_boundary_is_that_of_the_points_beside_it():
    """Of each class its rows, and weights with which f is what the path says."""
    rng = np.random.default_rng(2)
    train = Part(rng.normal(size=(20, 2)) * [1.0, 3.0], np.repeat([-1.0, 1.0], 10))
    cell = SimpleNamespace(
        data=SimpleNamespace(lam=0.1),
        common=SimpleNamespace(intercept_scaling=1.0),
        settings=SimpleNamespace(taus=[0.25]),
    )
    rows = Rows()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quantile, "_parts", lambda cell: SimpleNamespace(train=train))
        quantile.boundary(cell, rows, None)
    for label, name in ((1.0, "points of +1"), (-1.0, "points of -1")):
        points = [(own["x"], own["y"]) for own in rows.points if own["curve"] == name]
        np.testing.assert_array_equal(points, train.X[train.y == label])
    found = {row["metric"]: row["value"] for row in rows.rows if "boundary" in row["metric"]}
    path = quantile_svm_path(train.X, train.y, 0.1)
    expected = [*path.coef(0.25), path.intercept(0.25)]
    assert [found[f"boundary_{k}"] for k in ("w0", "w1", "b")] == pytest.approx(expected)


def test_of_a_long_path_the_explorer_keeps_both_ends():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    path = lasso_path(X, X @ [1.0, -2.0, 3.0] + rng.normal(size=40), fit_intercept=False)
    whole = np.unique(path.breakpoints)
    assert len(whole) > 3
    for t, _ in exploring.moving_lines(path, nodes=3).values():
        assert len(t) == 3
        assert (t[0], t[-1]) == (whole[0], whole[-1])
