"""The library's objectives as problems, and solutions as answers: two judges of one path."""

import numpy as np

import stated_models as models
from solution_paths import objectives as own
from solution_paths.problem import Losses, Problem, losses
from solution_paths.verify import Answer


def statement(objective, t, solution=None):
    """Return the problem of an objective at t; a solution says who is an outlier."""
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


def answer(objective, t, s):
    """Return one solution (without columns) as an answer to `statement`."""
    p = objective
    free = [s.b] if getattr(p, "free_bias", True) else None
    w = s.w
    if w is not None and getattr(p, "bias_value", 0.0):
        w = np.r_[w, s.b / p.bias_value]
    return Answer(w, free, [s.a])
