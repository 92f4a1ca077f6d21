"""Walks that stand at each of their steps, run by Python."""

import numpy as np

from helpers import stated_models as models
from solution_paths.homotopy import loop
from solution_paths.homotopy.operations import WALK, operate
from solution_paths.homotopy.run import Homotopy
from solution_paths.homotopy.start import Misfit, starting_places
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
