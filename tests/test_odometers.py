"""What decides which coordinate is first, beside brute force: odometers, and the ratio test."""

import numpy as np
import pytest

import stated_models as models
from interpreted import interpret
from solution_paths.homotopy import loop, ratio
from solution_paths.homotopy.odometers import EPOCH, room_left
from solution_paths.homotopy.operations import WALK, operate
from solution_paths.homotopy.run import Homotopy
from solution_paths.homotopy.start import Misfit, starting_places
from solution_paths.homotopy.state import ROWS, VALUE
from solution_paths.homotopy.statement import read
from solution_paths.problem import Losses, Problem, along, losses

KERNELS = {
    "hinge in C": (lambda y, u, t: losses.hinge(y, t), 0.02, 20.0),
    "pinball in tau": (lambda y, u, t: losses.pinball(u, t), 0.05, 0.95),
    "tube in epsilon": (lambda y, u, t: losses.epsilon_insensitive(u, t, 3.0), 2.0, 0.05),
    "tube in C": (lambda y, u, t: losses.epsilon_insensitive(u, 0.2, t), 0.02, 20.0),
    "Huber in delta": (lambda y, u, t: losses.huber(u, t), 0.05, 1.5),
}


def data(seed, n, d=3):
    """Return rows, labels and targets."""
    r = np.random.default_rng(seed)
    X = r.normal(size=(n, d))
    u = X[:, 0] * X[:, 1] + 0.5 * r.normal(size=n)
    return X, np.where(u > np.median(u), 1.0, -1.0), u


def kernel_machine(name, seed, n=90):
    """Return a kernel machine along a parameter: model, first and last value."""
    X, y, u = data(seed, n)
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    loss, t0, t1 = KERNELS[name]
    rows, ones = np.eye(n), np.ones((n, 1))
    return (lambda t: Problem(Losses(loss(y, u, t), rows, ones), ridge=1.0, kernel=K)), t0, t1


def linear(name, seed, n=40):
    """Return a linear model along a parameter."""
    X, y, u = data(seed, n)
    return {
        "SVM": (lambda t: models.svm(X, y, t), 0.02, 5.0),
        "quantiles": (lambda t: models.quantile_regression(X, u, t), 0.11, 0.89),
        "lasso": (lambda t: models.elastic_net(X, u, t), 5.0, 0.1),
        "squared hinge": (lambda t: models.squared_hinge(X, y, t), 5.0, 0.1),
    }[name]


def walk_of(model, t0, t1):
    """Return a walk that stands at t0."""
    statement = read(along(model, t0, t1))
    place = starting_places(statement, Misfit.at(statement, 0.0))
    return Homotopy(statement, statement.graphs, place, 0.0, t1 - t0)


def steps(walk, most):
    """Take single steps; yield the loop's memory before each, and after the last."""
    for _ in range(most):
        yield walk.walk
        ending = operate(walk.walk, WALK, 1)
        if ending == loop.DONE:
            break
        assert ending == loop.MORE_ROOM
        walk.grow_memory(ending)
    yield walk.walk


def matrix(w):
    """Return H of all coordinates."""
    m = w.map
    H = np.zeros((m.N, m.N))
    H[: m.n, : m.n] = m.gram if m.with_gram else 0.0
    H[: m.n, m.n :], H[m.n :, : m.n] = m.R, m.R.T
    H[m.n :, m.n :] -= np.diag(m.ridge)
    return H


def values(w, u, t):
    """Return what places limit, and the limits, by the unknowns u at t."""
    m, at = w.map, (np.arange(w.map.N), w.place)
    row = w.graph.equation[at][:, 0] + t * w.graph.equation[at][:, 2]
    z, knots, q = matrix(w) @ u, w.place % 2 == 1, w.graph.curvature[at]
    variable = np.arange(m.N) >= m.n
    curved = ~variable & ~knots & (q > 0)
    z[variable] *= -1.0
    z[curved] = ((row - u) / np.where(q > 0, q, 1.0))[curved]
    value = np.where(knots != variable, u, z)
    lower, upper = w.limit[:, 0] + t * w.limit[:, 1], w.limit[:, 2] + t * w.limit[:, 3]
    return value, lower, upper


def solved(w, t):
    """Return all unknowns at t, by a dense solver."""
    m, at = w.map, (np.arange(w.map.N), w.place)
    row = w.graph.equation[at][:, 0] + t * w.graph.equation[at][:, 2]
    q, variable, knots = w.graph.curvature[at], np.arange(m.N) >= m.n, w.place % 2 == 1
    first = np.where(variable, -1.0, np.where(knots, 1.0, q))
    second = np.where(variable, q, np.where(knots, 0.0, 1.0))
    known = w.known == 1
    u, free = np.where(known, row, 0.0), ~known
    H = matrix(w)
    M = first[free, None] * H[np.ix_(free, free)] + np.diag(second[free])
    u[free] = np.linalg.solve(M, row[free] - first[free] * (H[free] @ u))
    return u


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", KERNELS)
def test_no_room_is_less_than_what_odometers_say(name, seed):
    told, lines = 0, 0
    for w in steps(walk_of(*kernel_machine(name, seed)), 150):
        now, m = w.now, w.map
        u = np.where(w.known == 1, solved(w, now.t), w.u[VALUE, 0])
        value, lower, upper = values(w, u, now.t)
        room = np.minimum(value - lower, upper - value)
        for i in range(m.n):
            if not w.known[i] or w.due[i] == -np.inf:
                continue
            true = room[i] / m.length[i] + 1e-9
            assert w.due[i] - w.travel[ROWS] <= true
            told += w.due[i] > w.travel[ROWS]
            if w.line[i, EPOCH] == now.epoch:
                by_line = room_left.py_func(w, i, 0.0)
                assert by_line <= true
                lines += by_line > w.due[i] - w.travel[ROWS]
    assert told > 1000
    assert lines > 100  # they say more than the distance alone


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["SVM", "quantiles", "lasso", "squared hinge"])
def test_the_first_that_leaves_is_that_of_all(name, seed):
    check_steps(walk_of(*linear(name, seed, n=12)))


@pytest.mark.parametrize("name", KERNELS)
def test_the_first_that_leaves_is_that_of_all_rows_of_a_kernel(name):
    check_steps(walk_of(*kernel_machine(name, 5, n=120)))


def check_steps(walk):
    """Compare each step with the least of all coordinates' steps, by a dense solver."""
    before, count = None, 0
    for w in steps(walk, 200):
        if before is not None and w.now.t != before[0]:
            np.testing.assert_allclose(w.now.t, before[1], rtol=1e-7, atol=1e-9)
            count += 1
        now, way = w.now, w.now.way
        u, ahead = solved(w, now.t), solved(w, now.t + way)
        value, lower, upper = values(w, u, now.t)
        then, lower_then, upper_then = values(w, ahead, now.t + way)
        step = way * (now.end - now.t)
        for room, later in ((value - lower, then - lower_then), (upper - value, upper_then - then)):
            some = np.isfinite(room)
            room, closing = room[some], room[some] - later[some]
            moves = closing > 1e-9 * (1.0 + np.abs(value[some]))
            step = min(step, (np.maximum(room, 0.0)[moves] / closing[moves]).min(initial=np.inf))
        before = now.t, now.t + way * step
    assert count >= 2


def test_what_is_left_open_is_told_by_duals_as_they_are_at_t(monkeypatch):
    """At tau = 1 - 1e-8 duals of rows below the curve are 1e-8, from a value and a rate of 1."""
    model, _, _ = kernel_machine("pinball in tau", 3)
    walk = walk_of(model, 1.0 - 1e-8, 1.0 - 1e-9)
    w, told = walk.walk, []
    interpret(monkeypatch)
    assert loop.find_exit(w, 1e-9, 0.0)
    ratio.collect(w, False)
    u = np.where(w.known == 1, solved(w, w.now.t), w.u[VALUE, 0])
    terms = np.abs(matrix(w)) @ np.abs(u)
    for i in np.flatnonzero(w.known[: w.map.n]):
        found = ratio.net_error(w, i, 1.0)
        np.testing.assert_allclose(found, w.map.noise * terms[i], rtol=1e-4)
        told.append(found / (w.map.noise * w.base_terms[:2, i].sum()))
    assert len(told) > 20
    assert min(told) < 0.2
