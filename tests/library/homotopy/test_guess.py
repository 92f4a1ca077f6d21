"""Where a large statement's walk starts: near its optimum, and the path does not depend on it."""

import numpy as np
import pytest

from solution_paths import (
    asymmetric_svm_path,
    elastic_net_path,
    kernel_quantile_path,
    rlad_path,
    svr_path,
)
from solution_paths.homotopy import guess, start
from solution_paths.homotopy.statement import read
from solution_paths.problem import Losses, Problem, along, losses

pytestmark = pytest.mark.slow

KINDS = ("plain", "integers", "duplicates", "one hot", "constants")
PATHS = {
    "costs": lambda X, y, t: asymmetric_svm_path(X, t, costs_from=(0.5, 2.0), costs_to=(2.0, 0.5)),
    "costs, RBF": lambda X, y, t: asymmetric_svm_path(X, t, kernel="rbf", gamma=0.2),
    "tau": lambda X, y, t: kernel_quantile_path(X, y, lam=0.1, kernel="rbf", gamma=0.2),
    "epsilon": lambda X, y, t: svr_path(X, y, vary="epsilon"),
}


def data(kind, n=120, d=4):
    """Return rows, targets and labels, with ties but for the first kind."""
    rng = np.random.default_rng(KINDS.index(kind))
    X = rng.normal(size=(n, d))
    if kind == "integers":
        X = np.round(X)
    elif kind == "duplicates":
        X[n // 2 :] = X[: n - n // 2]
    elif kind == "one hot":
        X = np.eye(d)[rng.integers(d, size=n)]
    elif kind == "constants":
        X[:, 0] = 3.0
    y = np.round(X[:, -1] + rng.normal(size=n), 0 if kind == "integers" else 6)
    return X, y, np.where(y > np.median(y), 1, -1)


def walks(monkeypatch, large, path):
    """Return a path, and how many changes there were before its start; ``large``: see `start`."""
    changes, run = [], start.Homotopy.run

    def counted(self, *limit):
        found = run(self, *limit)
        changes.append(self.walk.now.changes)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(start, "NEWTON_ENTRIES", large)
        patch.setattr(start.Homotopy, "run", counted)
        return path(), sum(changes[:-1])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PATHS)
def test_a_path_does_not_depend_on_the_guess(monkeypatch, kind, name):
    X, y, labels = data(kind)

    def path():
        return PATHS[name](X, y, labels)

    (near, _), (far, _) = (walks(monkeypatch, large, path) for large in (0, np.inf))
    assert near.certify().reliable
    ts = np.linspace(*near.breakpoints[[0, -1]], 7)[1:-1]
    np.testing.assert_allclose(near.predict(X, ts), far.predict(X, ts), rtol=1e-6, atol=1e-6)


def test_from_the_guess_the_way_is_short(monkeypatch):
    X, _, labels = data("plain", n=300)

    def path():
        return asymmetric_svm_path(X, labels, costs_from=(0.5, 1.0), costs_to=(1.0, 0.5))

    (near, few), (far, many) = (walks(monkeypatch, large, path) for large in (0, np.inf))
    assert len(near.breakpoints) == len(far.breakpoints)
    assert many > 100
    assert few <= 0.1 * many


def test_beside_a_gram_matrix_no_row_is_factored_to_start(monkeypatch):
    X, _, labels = data("plain", n=300)  # of 1,000 rows at costs of 1,000 that took 37 s

    def newton(*_):
        raise AssertionError("a step of Newton's method factors the Gram matrix of all rows")

    monkeypatch.setattr(guess, "_newton", newton)
    monkeypatch.setattr(start, "NEWTON_ENTRIES", 0)
    path = asymmetric_svm_path(X, labels, costs_from=(50.0, 90.0), kernel="rbf", gamma=0.2)
    assert path.certify().reliable
    assert len(path.breakpoints) > 20


@pytest.mark.parametrize("function", [elastic_net_path, rlad_path])
def test_with_more_columns_than_rows_nothing_solves_for_all_columns(monkeypatch, function):
    X, y, _ = data("plain", n=30, d=600)  # of 60 rows and 8,000 columns a step took a second

    def newton(*_):
        raise AssertionError("a step of Newton's method solves for all columns")

    monkeypatch.setattr(guess, "_newton", newton)
    path = function(X, y)
    assert path.certify().reliable
    assert len(path.breakpoints) > 20


def test_a_bad_guess_costs_time_alone(monkeypatch):
    X, _, labels = data("plain", n=60)
    wanted = asymmetric_svm_path(X, labels)

    def bad(statement, t):
        place = start.guess(statement, t)
        place[statement.is_row] = 1  # all at their knots: more rows than variables
        return place

    monkeypatch.setattr(start, "NEWTON_ENTRIES", 0)
    monkeypatch.setattr(start, "near_optimum", bad)
    found = asymmetric_svm_path(X, labels)
    np.testing.assert_allclose(found.breakpoints, wanted.breakpoints, rtol=1e-12)


def test_smoothed_graphs_are_monotone_and_near_their_graphs():
    X, y, _ = data("integers", n=40)
    tube = losses.epsilon_insensitive(y, 0.5, 1.0)
    line = along(lambda t: Problem(Losses(tube, X, free=1.0), ridge=1.0), 0.0, 1.0)
    graphs = read(line, "saddle").graphs
    N = len(graphs.exists)
    z = np.linspace(-4.0, 4.0, 161)
    for mu in (1.0, 1e-2, 1e-6):
        smooth = guess.Smoothed.of(guess.GraphsAt.of(graphs, 0.0), np.full(N, mu))
        found = [smooth.at(np.full(N, x)) for x in z]
        a = np.array([own[1] for own in found])
        assert (np.diff(a, axis=0) <= 1e-9).all()
        bend = np.array([own[2] for own in found])
        assert ((bend == 0.0) | np.isclose(bend, 1.0 / mu)).all()
        place = np.array([own[0] for own in found])
        exact = np.clip((y - 0.5 - z[:, None]) / mu, 0.0, 1.0)
        exact -= np.clip((z[:, None] - y - 0.5) / mu, 0.0, 1.0)
        np.testing.assert_allclose(a[:, : len(y)], exact, atol=1e-9)
        assert (place[:, : len(y)] <= 4).all()
