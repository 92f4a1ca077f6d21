"""The library's objectives as problems, and solutions as answers: two judges of one path."""

import numpy as np

import stated_models as models
from solution_paths import objectives as own
from solution_paths.problem import Losses, Problem, losses, penalties, pieces
from solution_paths.verify import Answer


def statement(objective, t, solution=None):
    """Return the problem of an objective at t; a solution says who is an outlier."""
    if isinstance(objective, own.DoubleMarginNet):
        return _double_margin_net(objective, t)
    if isinstance(objective, own.ElasticNet):
        return _elastic_net(objective, t)
    return _machine(objective, _loss(objective, t, solution))


def _loss(p, t, solution):
    """Return the losses of a kernel machine at t."""
    if isinstance(p, own.RobustHinge | own.RobustTube):
        at = np.array([float(t)])
        side = p.partitions(solution, at)[:, 0]
        C, theta, s = p.C, float(p.theta(t)), float(p.s(t)[0])
        if isinstance(p, own.RobustHinge):
            return models.robust_svm_loss(p.y, C, theta, s, side != 0)
        return models.robust_svr_loss(p.y, C, theta, s, side)
    if isinstance(p, own.DoubleMargin):
        return losses.double_margin(p.y, p.kappa, p.costs(t))
    if isinstance(p, own.Tube):
        return losses.epsilon_insensitive(p.y, float(p.epsilon(t)), p.costs(t))
    return losses.hinge(p.y, p.costs(t))


def _machine(p, loss):
    free = 1.0 if p.free_bias else None
    if not p.linear or p.diagonal:
        K = p.judged_gram + p.bias_value**2 + p.diagonal * np.eye(p.n)
        return Problem(Losses(loss, free=free), ridge=p.lam, kernel=K)
    X = p.X.toarray() if hasattr(p.X, "toarray") else p.X
    X = np.c_[X, np.full(p.n, p.bias_value)] if p.bias_value else X
    return Problem(Losses(loss, X, free), ridge=p.lam)


def _elastic_net(p, t):
    cost, lam = (max(a + t * b, 0.0) for a, b in ((p.cost0, p.cost1), (p.lam10, p.lam11)))
    # losses of r = y - f, or of r = 1 - y f
    slopes = [cost * level for level in -p.levels.T]
    knots = list(p.corners.T)
    rises = np.r_[0.0, np.cumsum(np.diff(p.kinks) * p.slopes[1:-1])]
    first = rises - rises.min()
    value = cost * np.where((p.y > 0) | (len(p.classes) == 0), first[-1], first[0])
    loss = Losses(pieces(knots, slopes, value=value), p.X, 1.0)
    if p.balled:
        return Problem(loss, ridge=p.ridge, constraint=max(p.s0 + t * p.s1, 0.0))
    return Problem(loss, penalties.l1(p.X.shape[1], lam), ridge=p.ridge)


def _double_margin_net(p, t):
    cost, lam = (max(a + t * b, 0.0) for a, b in ((p.cost0, p.cost1), (p.lam10, p.lam11)))
    return models.dm_drsvm(p.X, p.y, p.kappa, lam, p.ridge, cost)


def answer(objective, t, s):
    """Return one solution (without columns) as an answer to `statement`."""
    p = objective
    if isinstance(p, own.DoubleMarginNet):
        return _double_margin_answer(p, t, s)
    free = [s.b] if getattr(p, "free_bias", True) else None
    w = s.w
    if w is not None and getattr(p, "bias_value", 0.0):
        w = np.r_[w, s.b / p.bias_value]
    return Answer(w, free, [s.a])


def _double_margin_answer(p, t, s):
    d, n = p.X.shape[1], p.n
    w, rho = s.w[:d], s.w[d]
    margins = p.y * (p.X @ w + s.b)
    xi = np.maximum(np.maximum(1 - margins, 1 + margins - p.kappa * rho), 0.0)
    cost, lam = (
        np.array([max(a + t * b, 0.0)]) for a, b in ((p.cost0, p.cost1), (p.lam10, p.lam11))
    )
    g = np.clip(p.y * s.a, -cost, cost)[:, None]
    c = p.X.T @ (p.y[:, None] * g)
    alpha, mu, theta, _ = p._completed(g, c, np.array([rho]), lam, cost)
    duals = [alpha[:, 0], mu[:, 0], -(alpha + mu)[:, 0]]
    assert len(xi) == n
    return Answer(w, np.r_[s.b, rho, xi], duals, float(theta[0]))
