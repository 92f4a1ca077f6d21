"""The judge's gap, and the bound on its own rounding, against rational arithmetic."""

from dataclasses import replace
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest

from helpers import stated_models as models
from helpers.stated_models import EXAMPLES, K, X, Y
from path_benchmark.solvers.clarabel_solver import by_clarabel
from solution_paths.problem import Product, losses
from solution_paths.problem.bundle import Bundle
from solution_paths.verify import Answer, judge
from solution_paths.verify.graph import Contribution
from solution_paths.verify.judge import _columns
from solution_paths.verify.judgement import Judgement

pytestmark = pytest.mark.slow

fractions = np.vectorize(Fraction, otypes=[object])


def value(row, x):
    """Return f(x) of one function."""
    knots, slopes, curvature, *_ = row
    if x <= knots[0]:
        step = x - knots[0]
        return slopes[0] * step + curvature[0] * step**2 / 2
    total = Fraction(0)
    for k, start in enumerate(knots):
        length = min(x, knots[k + 1]) - start if k + 1 < len(knots) else x - start
        if length <= 0:
            break
        total += slopes[k + 1] * length + curvature[k + 1] * length**2 / 2
    return total


def area(row, z, u):
    """Return f(z) + f*(u) - u z, the conjugate at a point where its maximum can be."""
    knots, slopes, curvature, low, high = row
    candidates = [*knots, *[Fraction(end) for end in (low, high) if np.isfinite(end)]]
    for k in np.flatnonzero(curvature > 0):
        x = knots[max(k - 1, 0)] + (u - slopes[k]) / curvature[k]
        if (k == 0 or x >= knots[k - 1]) and (k == len(knots) or x <= knots[k]):
            candidates.append(x)
    return value(row, z) + max(u * x - value(row, x) for x in candidates) - u * z


def areas(p, z, u):
    rows = zip(*map(fractions, (p.knots, p.slopes, p.curvature)), p.low, p.high, strict=True)
    return sum(area(row, *at) for row, *at in zip(rows, z, u, strict=True))


def entries(X):
    """Return a matrix, or a product of some."""
    if isinstance(X, Product):
        return reduce(lambda a, b: a @ b, [entries(factor) for factor in X.factors])
    return fractions(X.toarray() if hasattr(X, "toarray") else X)


def exact_gap(stated, w, duals):
    """Return the duality gap of a problem without free variables."""
    K = None if stated.kernel is None else fractions(stated.kernel)
    w, c, gap = fractions(w), 0, Fraction(0)
    field = w if K is None else K @ w
    for group, a in zip(stated.losses, duals, strict=True):
        own = entries(group.X)
        gap, c = gap + areas(group.pieces, own @ field, fractions(-a)), c + own.T @ fractions(a)
    if stated.pure_ridge:
        e = w - c / Fraction(stated.ridge)
        return gap + Fraction(stated.ridge) / 2 * (e @ (e if K is None else K @ e))
    return gap + areas(stated.penalty.plus_ridge(stated.ridge), w, c)


def problems():
    """Return problems without free variables; a ridge lets correlations be what they are."""
    middle = {name: EXAMPLES[name][0](2.0) for name in ("l1 lasso, no bias", "fused lasso")}
    return {
        "hinge, penalised bias": models.quantile_svm(X, Y, 0.4, 0.1),
        "pairs": models.ranking_svm(X, models.PAIRS, 0.5),
        "elastic net": replace(middle["l1 lasso, no bias"], ridge=0.5),
        "fused": replace(middle["fused lasso"], ridge=0.25),
        "kernel": models.machine(losses.hinge(Y, 1.0), X, K, free=None),
        "double margin": models.machine(losses.double_margin(Y, 3.0), X, free=None),
        "Huberised": models.machine(losses.huberised_hinge(Y), X, free=None),
        "Huber": models.machine(losses.huber(models.U, 0.5), X, free=None),
        "pinball": models.machine(losses.pinball(models.U, 0.3), X, K, free=None),
    }


@pytest.mark.parametrize("name", problems())
@pytest.mark.parametrize("size", [0.0, 1e-7, 1e-2])
def test_gaps_are_exact_within_their_rounding(name, size):
    stated = problems()[name]
    answer = by_clarabel(stated)
    duals = []
    for group, a in zip(stated.losses, answer.duals, strict=True):
        p = group.pieces
        low = np.where(p.curvature[:, 0] > 0, -np.inf, p.slopes[:, 0])
        high = np.where(p.curvature[:, -1] > 0, np.inf, p.slopes[:, -1])
        duals.append(-np.clip(-a, low, high))
    w = answer.w if answer.w is not None else duals[0] / stated.ridge
    w = w * (1.0 + size * np.random.default_rng(0).normal(size=len(w)))
    wanted = exact_gap(stated, w, duals)
    columns, _ = _columns(stated, Answer(w, None, duals))
    judgement = Judgement(Bundle.of([stated]))
    for exact in (False, True):
        own_w, field, reach = judgement._model(columns, exact)
        values = judgement._values(columns, field, reach, exact)
        found = Contribution.total(judgement._contributions(columns, own_w, values, exact))
        assert abs(Fraction(found.gap[0]) - wanted) <= Fraction(found.rounding[0])
    primal = abs(judge(stated, Answer(w, None, duals)).primal)
    assert found.rounding[0] <= 1e-15 * primal + 1e-6 * found.gap[0]
