"""The judge passes what is optimal, fails what is not, and knows how far off it may be itself."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

from helpers import stated_models as models
from helpers.stated_models import EXAMPLES, K, U, X, Y
from path_benchmark.solvers.clarabel_solver import by_clarabel
from path_benchmark.solvers.highs_solver import by_highs
from path_benchmark.solvers.quadratic import programme
from solution_paths.problem import (
    L1Constraint,
    Losses,
    Pieces,
    Problem,
    losses,
    penalties,
    pieces,
)
from solution_paths.problem.bundle import Bundle, Stack
from solution_paths.verify import Answer, judge
from solution_paths.verify.balance import rebalanced
from solution_paths.verify.graph import ERROR, HI, LO, OUTSIDE, Graph, Pair
from solution_paths.verify.judge import _columns
from solution_paths.verify.judgement import Judgement
from solution_paths.verify.verdict import KKT_LIMIT

_solved: dict = {}


def solved(name, part=0.5):
    """Return an example's problem part of the way along its path, and Clarabel's answer."""
    if (name, part) not in _solved:
        model, t0, t1 = EXAMPLES[name]
        stated = model(t0 + part * (t1 - t0))
        _solved[name, part] = stated, by_clarabel(stated)
    return _solved[name, part]


def units(stated, answer):
    """Return the units that violations are measured in."""
    columns, _ = _columns(stated, answer)
    judgement = Judgement(Bundle.of([stated]))
    w, field, reach = judgement._model(columns, False)
    values = judgement._values(columns, field, reach, False)
    return judgement.scales(w, values), values


def measured(graph, z, u, units=(1.0, 1.0)):
    """Return what points (4, n, B) add to a judgement, in units of z and u."""
    return graph.contribution(z, u, u, [np.full(z.shape[2], unit) for unit in units])


def points(values):
    """Return numbers (n, B) as points (4, n, B)."""
    return np.stack([values, 0.0 * values, 0.0 * values, 0.0 * values])


def correlations(stated, answer):
    pairs = zip(stated.losses, answer.duals, strict=True)
    return sum(np.asarray(group.X.T @ a) for group, a in pairs)


# -- what is optimal passes -------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_outside_solver_s_answer_to_the_programme_passes(name, part):
    stated, answer = solved(name, part)
    found = judge(stated, answer)
    assert found.ok(1e-7, 1e-7), found
    assert found.dual <= found.primal


@pytest.mark.parametrize("name", ["quantile regression", "LAD in s", "l1 SVM"])
def test_linear_programmes_by_highs_and_cvxpy(name):
    stated, answer = solved(name)
    other = by_highs(stated)
    assert judge(stated, other).ok(1e-9, 1e-9)
    assert judge(stated, other).primal == pytest.approx(judge(stated, answer).primal, rel=1e-9)


@pytest.mark.parametrize("name", ["SVR in C", "DrLAD in s", "Huberised SVM", "nu-SVM", "SVM, rbf"])
def test_the_same_programme_in_cvxpy(name):
    stated, answer = solved(name)
    own = programme(stated)
    x, signed = cp.Variable(len(own.q)), np.flatnonzero(own.signed)
    bounded = np.flatnonzero(np.isfinite(own.high))
    rules = [own.A @ x == own.b, own.G @ x <= own.h, x[signed] >= 0]
    rules.append(x[bounded] <= own.high[bounded])
    objective = cp.quad_form(x, cp.psd_wrap(own.P)) / 2 + own.q @ x
    cp.Problem(cp.Minimize(objective), rules).solve(solver="CLARABEL")
    d, r = stated.features, stated.n_free
    free = x.value[d : d + r]
    primal = judge(stated, Answer(x.value[:d], free)).primal
    assert primal == pytest.approx(judge(stated, answer).primal, rel=1e-6)
    assert own.unit > 0


def test_highs_refuses_what_is_not_linear():
    with pytest.raises(ValueError, match="ridge or curvature"):
        by_highs(solved("SVR in C")[0])


# -- two judges -------------------------------------------------------------------------------


def _value(own, z):
    """Return f(z) of one function, from its definition alone, by scalar arithmetic."""
    knots, slopes, curvature = own
    total, k = 0.0, 0
    if z < knots[0]:
        return slopes[0] * (z - knots[0]) + curvature[0] * (z - knots[0]) ** 2 / 2
    for k, start in enumerate(knots):
        end = min(z, knots[k + 1]) if k + 1 < len(knots) else z
        if end <= start:
            break
        length = end - start
        total += slopes[k + 1] * length + curvature[k + 1] * length**2 / 2
    return total


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_objective_is_the_one_that_is_stated(name):
    stated, answer = solved(name)
    w = answer.w
    if w is None:
        w = (
            sum(np.asarray(g.X.T @ a) for g, a in zip(stated.losses, answer.duals, strict=True))
            / stated.ridge
        )
    field = w if stated.kernel is None else stated.kernel @ w
    total = stated.ridge / 2 * w @ field + stated.linear @ answer.free
    for group in stated.losses:
        z = np.asarray(group.X @ field) + np.asarray(group.free @ answer.free)
        p = group.pieces
        z = np.clip(z, p.low, p.high)
        rows = zip(p.knots, p.slopes, p.curvature, strict=True)
        total += p.value.sum() + sum(_value(own, x) for own, x in zip(rows, z, strict=True))
    if stated.penalty is not None:
        p = stated.penalty
        rows = zip(p.knots, p.slopes, p.curvature, strict=True)
        total += p.value.sum() + sum(_value(own, x) for own, x in zip(rows, w, strict=True))
    assert judge(stated, answer).primal == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_gap_bounds_how_far_a_spoilt_answer_is_from_the_optimum(name):
    """Primal and dual of what is spoilt lie on either side of the optimum, known to 1e-7."""
    stated, answer = solved(name)
    best = judge(stated, answer).primal
    r = np.random.default_rng(0)
    spoilt = replace(answer, free=answer.free + 1e-6 * r.normal(size=len(answer.free)))
    found = judge(stated, spoilt)
    if np.isfinite(found.gap):
        assert found.dual <= best + 1e-7 * max(abs(best), 1.0)
        assert found.primal >= best - 1e-6 * max(abs(best), 1.0)


# -- each condition alone ---------------------------------------------------------------------


def changed(stated, group, **arrays):
    """Return a problem with other arrays in one group of losses, or in the penalty."""
    if group == "penalty":
        return replace(stated, penalty=Pieces(**vars(stated.penalty) | arrays))
    parts = list(stated.losses)
    parts[group] = replace(parts[group], pieces=Pieces(**vars(parts[group].pieces) | arrays))
    return replace(stated, losses=parts)


def spoil_box(stated, answer, by):
    """A dual beyond the last slope: of a row at its first segment."""
    unit = units(stated, answer)[0].a[0][0]
    slopes, u = stated.losses[0].pieces.slopes.copy(), -answer.duals[0]
    row = np.flatnonzero(np.abs(u - slopes[:, 0]) < 1e-9 * unit)[0]
    slopes[row, 0] = u[row] + by * unit
    return changed(stated, 0, slopes=slopes)


def spoil_slack_dual(stated, answer, by):
    """A dual that isn't at the slope of its segment, of a row far inside of it."""
    (scales, values), slopes = units(stated, answer), stated.losses[0].pieces.slopes.copy()
    u, knots = -answer.duals[0], stated.losses[0].pieces.knots
    away = np.abs(values[0].z[HI] - knots).min(axis=1) > 1e-3 * scales.z[0]
    at_first = np.abs(u - slopes[:, 0]) < 1e-9 * scales.a[0]
    row = np.flatnonzero(away & at_first)[0]
    slopes[row, 0] = u[row] - by * scales.a[0][0]
    return changed(stated, 0, slopes=slopes)


def spoil_slack_value(stated, answer, by):
    """A value that isn't at its knot, of a row whose dual is between two slopes."""
    scales, values = units(stated, answer)
    own, u, unit = stated.losses[0].pieces, -answer.duals[0], scales.a[0][0]
    inside = np.minimum(own.right - u[:, None], u[:, None] - own.left) > 1e-3 * unit
    row, k = np.argwhere(inside)[0]
    knots = own.knots.copy()
    knots[row, k] = values[0].z[HI][row, 0] + by * scales.z[0][0]
    return changed(stated, 0, knots=knots)


def spoil_domain(stated, answer, by):
    """A value outside of its domain: the last group's first row that is at its end."""
    scales, values = units(stated, answer)
    k = len(stated.losses) - 1
    own, z = stated.losses[k].pieces, values[k].z[HI][:, 0]
    low, knots = own.low.copy(), own.knots.copy()
    row = np.argmin(np.abs(z - low))
    low[row] = knots[row, 0] = z[row] + by * scales.z[k][0]
    return changed(stated, k, low=low, knots=knots)


def spoil_balance(stated, answer, by):
    linear = stated.linear.copy()
    linear[-1] += by * units(stated, answer)[0].balance[-1, 0]
    return replace(stated, linear=linear)


def spoil_stationarity(stated, answer, by):
    """A feature in use whose correlation isn't what its penalty asks for."""
    row = np.argmax(np.abs(answer.w))
    slopes = stated.penalty.slopes.copy()
    slopes[row] += by * units(stated, answer)[0].c[0]
    return changed(stated, "penalty", slopes=slopes)


def spoil_penalty_box(stated, answer, by):
    """A feature that isn't in use, and whose correlation is beyond its penalty."""
    c = correlations(stated, answer)
    scales = units(stated, answer)[0]
    row = np.argmin(np.abs(answer.w))
    slopes = stated.penalty.slopes.copy()
    level = abs(c[row]) - by * scales.c[0]
    slopes[row] = [-level, level]
    return changed(stated, "penalty", slopes=slopes)


def spoil_ridge(stated, answer, by):
    """Coefficients that are too short for their duals."""
    return replace(stated, ridge=stated.ridge * (1.0 - by))


def spoil_radius(stated, answer, by):
    own = stated.constraint
    unit = max(own.radius, units(stated, answer)[0].w[0])
    return replace(stated, constraint=L1Constraint(own.radius - by * unit, own.free))


def spoil_constraint_slack(stated, answer, by):
    own = stated.constraint
    unit = max(own.radius, units(stated, answer)[0].w[0])
    return replace(stated, constraint=L1Constraint(own.radius + by * unit, own.free))


CONDITIONS = [
    (spoil_box, "SVR in C"),
    (spoil_box, "SVM, rbf"),
    (spoil_box, "quantile regression"),
    (spoil_slack_dual, "SVR in C"),
    (spoil_slack_dual, "pinball SVM in tau"),
    (spoil_slack_dual, "DrLAD in s"),
    (spoil_slack_value, "SVR in C"),
    (spoil_slack_value, "ranking SVM"),
    (spoil_slack_value, "quantile SVM"),
    (spoil_slack_value, "DrLAD in s"),
    (spoil_domain, "double margin in lam1"),
    (spoil_balance, "SVM, rbf"),
    (spoil_balance, "nu-SVM"),
    (spoil_balance, "ordinal SVM"),
    (spoil_balance, "elastic net"),
    (spoil_stationarity, "lasso"),
    (spoil_stationarity, "squared hinge, l1"),
    (spoil_stationarity, "doubly regularised SVM"),
    (spoil_penalty_box, "l1 SVM"),
    (spoil_ridge, "quantile SVM"),
    (spoil_ridge, "SVR in eps"),
    (spoil_radius, "DrLAD in s"),
    (spoil_radius, "LAD in s"),
    (spoil_constraint_slack, "LAD in s"),
    (spoil_constraint_slack, "any loss in s"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("spoil", "name"), CONDITIONS)
def test_a_condition_broken_alone_is_measured_in_its_unit(spoil, name):
    """The statement changes under an answer that was right: one condition breaks by a number."""
    stated, answer = solved(name)
    if answer.w is None and spoil is spoil_ridge:
        pytest.skip("duals imply w")
    noise = judge(stated, answer).kkt
    assert noise < 0.02 * KKT_LIMIT
    more = judge(spoil(stated, answer, 1.05 * KKT_LIMIT), answer)
    less = judge(spoil(stated, answer, 0.95 * KKT_LIMIT), answer)
    assert more.status == "fails"
    assert more.kkt == pytest.approx(1.05 * KKT_LIMIT, rel=0.04)
    assert less.kkt == pytest.approx(0.95 * KKT_LIMIT, rel=0.04)
    assert less.kkt + less.kkt_rounding <= KKT_LIMIT


# -- each entry of an answer ------------------------------------------------------------------

# Where nothing but one field determines an optimum a change of it may well be another optimum:
# duals of a linear programme, and of rows that depend on each other.
UNIQUE = [name for name in EXAMPLES if name not in ("quantile regression", "l1 SVM", "LAD in s")]


@pytest.mark.slow
@pytest.mark.parametrize("name", UNIQUE)
def test_every_entry_of_an_answer_counts(name):
    stated, answer = solved(name)
    scales, _ = units(stated, answer)
    fields = [("w", None, scales.w)] if answer.w is not None else []
    fields += [("free", None, scales.z[0])] if len(answer.free) else []
    fields += [("duals", k, scales.a[k]) for k in range(len(answer.duals))]
    for field, group, unit in fields:
        given = getattr(answer, field) if group is None else answer.duals[group]
        for i in range(0, len(given), 1 + len(given) // 8):
            entry = given.copy()
            entry[i] += (-1.0) ** i * 1e-4 * unit[0]
            if group is None:
                spoilt = replace(answer, **{field: entry})
            else:
                duals = list(answer.duals)
                duals[group] = entry
                spoilt = replace(answer, duals=duals)
            assert judge(stated, spoilt).status == "fails", (field, group, i)


@pytest.mark.parametrize("name", ["DrLAD in s", "LAD in s", "any loss in s"])
@pytest.mark.parametrize("factor", [0.9, 1.1, -1.0])
def test_the_multiplier_of_a_constraint_counts(name, factor):
    stated, answer = solved(name)
    assert judge(stated, answer).ok(1e-7, 1e-7)
    assert judge(stated, replace(answer, multiplier=None)).ok(1e-7, 1e-7)
    assert judge(stated, replace(answer, multiplier=factor * answer.multiplier)).status == "fails"


# -- forms of answers -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["SVM, rbf", "DrLAD in s", "ordinal SVM", "lasso", "nu-SVM"])
def test_columns_are_judged_like_one_by_one(name):
    parts = [0.3, 0.5, 0.7]
    pairs = [solved(name, part) for part in parts]
    answers = [answer for _, answer in pairs]
    spoilt = [replace(a, free=a.free + 1e-3 * (k == 1)) for k, a in enumerate(answers)]
    together = Answer(
        None if answers[0].w is None else np.stack([a.w for a in answers], axis=1),
        np.stack([a.free for a in spoilt], axis=1),
        [np.stack(own, axis=1) for own in zip(*[a.duals for a in answers], strict=True)],
    )
    found = judge([stated for stated, _ in pairs], together)
    for k, (stated, _) in enumerate(pairs):
        one = judge(stated, replace(spoilt[k], multiplier=None))
        assert found.primal[k] == pytest.approx(one.primal, rel=1e-12)
        for key, off in (("gap", "rounding"), ("kkt", "kkt_rounding")):
            own, other = getattr(found, key)[k], getattr(one, key)
            room = getattr(found, off)[k] + getattr(one, off)
            assert own == other or abs(own - other) <= room + 1e-9 * abs(other)


def test_a_lower_bound_tells_the_gap_of_an_answer_without_duals():
    stated, answer = solved("DrLAD in s")
    best = judge(stated, answer).primal
    found = judge(stated, Answer(answer.w, answer.free), lower_bound=best * (1 - 1e-6))
    assert found.gap == pytest.approx(1e-6, rel=1e-3)
    assert np.isnan(found.kkt)
    assert np.isnan(judge(stated, Answer(answer.w, answer.free)).gap)


@pytest.mark.parametrize("name", ["lasso", "Huber, l1", "squared hinge, l1", "Huberised SVM"])
def test_values_imply_the_duals_of_smooth_losses(name):
    stated, answer = solved(name)
    found = judge(stated, Answer(answer.w, answer.free))
    assert found.ok(1e-7, 1e-7)
    assert judge(stated, Answer(1.001 * answer.w, answer.free)).status == "fails"


def test_duals_imply_coefficients_under_a_ridge_alone():
    stated, answer = solved("SVR in C")
    implied = judge(stated, Answer(None, answer.free, answer.duals))
    assert implied.ok(1e-7, 1e-7)
    assert implied.primal == pytest.approx(judge(stated, answer).primal, rel=1e-9)


def test_what_is_not_finite_is_no_answer():
    stated, answer = solved("SVR in C")
    for wrong in (np.nan, np.inf):
        found = judge(stated, replace(answer, free=np.array([wrong])))
        assert np.isnan(found.gap)
        assert found.status == "fails"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answer(), "states too little"),
        (Answer(None, [0.0]), "states too little"),
        (Answer(None, [0.0], [np.zeros(40)]), "states too little"),
        (Answer(np.zeros(4), [0.0]), r"w has shape \(4,\), but 5"),
        (Answer(np.zeros(5)), r"free has shape"),
        (Answer(np.zeros(5), [0.0], [np.zeros(3)]), r"duals\[0\] has shape \(3,\), but 40"),
        (Answer(np.zeros(5), [0.0], [np.zeros(40)] * 2), "duals has 2 arrays"),
    ],
)
def test_answers_of_wrong_shapes_are_refused(answer, message):
    with pytest.raises(ValueError, match=message):
        judge(solved("lasso")[0], answer)


def test_operators_are_judged_by_their_entries():
    stated, answer = solved("SVR in C")
    group = stated.losses[0]
    hidden = replace(stated, losses=[Losses(group.pieces, aslinearoperator(X), 1.0)])
    one, other = judge(stated, answer), judge(hidden, answer)
    assert other.ok(1e-7, 1e-7)
    assert other.primal == pytest.approx(one.primal, rel=1e-14)


# -- rounding ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXAMPLES)
def test_double_and_twofold_precision_agree_within_their_rounding(name):
    stated, answer = solved(name)
    columns, _ = _columns(stated, answer)
    judgement = Judgement(Bundle.of([stated]))
    rough, fine = (judgement.verdict(columns, None, exact) for exact in (False, True))
    assert abs(rough.gap[0] - fine.gap[0]) <= rough.rounding[0] + fine.rounding[0]
    assert abs(rough.kkt[0] - fine.kkt[0]) <= rough.kkt_rounding[0] + fine.kkt_rounding[0]
    assert fine.rounding[0] <= max(1e-6 * fine.gap[0], 1e-13)


def test_targets_far_from_zero_are_judged_in_twice_the_precision():
    """With targets near 1e9 double precision decides nothing about a cost of 1e3."""
    far = 1e9 + np.round(U, 1)
    stated = models.svr(X, far, 1e3, 0.25)
    near = by_clarabel(models.svr(X, np.round(U, 1), 1e3, 0.25))
    moved = replace(near, free=near.free + 1e9)
    found = judge(stated, moved)
    assert found.rounding < 1e-9
    assert found.gap + found.rounding < 1e-4


DEGENERATE = {
    # what once went wrong: units that were noise, pairs of doubles outside of a domain by their low
    # part, and objectives of zero
    "no cost": (models.svm(X, Y, 0.0), 0.0),
    "losses of a free variable alone": (
        models.dm_drsvm(X[:2], Y[:2] * [1, -1], 2.5, 0.1, 0.1),
        None,
    ),
    "w is zero": (models.dm_drsvm(X[:6], Y[:6], 2.5, 0.4, 0.1), None),
    "a fit without a penalty": (models.quantile_regression(np.round(X[:11]), U[:11], 0.3), None),
    "one row": (models.svr(X[:1], U[:1], 10.0, 0.1), 0.0),
    "a column of zeros": (models.elastic_net(X * [1, 0, 1, 1, 1], U, 1.0, 0.1), None),
    "the same row three times": (models.svm(X[[0, 0, 0, 1]], Y[[0, 0, 0, 1]], 1.0), None),
    "one class": (models.svm(X[:3], np.ones(3), 1.0), 0.0),
    "units": (models.svm(X * [1e4, 1, 1, 1, 1e-3], Y, 1.0), None),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_problems_are_judged(name):
    stated, optimum = DEGENERATE[name]
    found = judge(stated, by_clarabel(stated))
    assert found.kkt <= 1e-6
    assert np.isfinite([found.gap, found.rounding, found.primal]).all()
    if optimum is None:
        assert found.gap <= 1e-6
    else:
        assert found.primal == pytest.approx(optimum, abs=1e-12)


def test_a_perfect_fit_is_no_false_alarm():
    """An objective of zero is known to what rounding of the targets makes of it."""
    w = np.array([1.0, -2.0, 0.5, 0.0, 1.0]) / 3
    target = X @ w
    stated = Problem(Losses(losses.absolute(target), X, 1.0))
    duals = np.zeros(len(target))
    duals[:2] = [1e-3, -1e-3]
    found = judge(stated, Answer(w, [0.0], [0 * duals]))
    assert found.ok()
    off = judge(stated, Answer(1.001 * w, [0.0], [0 * duals]))
    assert off.status == "fails"


def test_an_infeasible_dual_bounds_nothing():
    stated, answer = solved("SVM, rbf")
    duals = answer.duals[0].copy()
    duals[0] += 1.0
    assert judge(stated, replace(answer, duals=[duals])).gap == np.inf


def test_order_of_thresholds_is_kept():
    stated, answer = solved("ordinal SVM")
    assert np.diff(answer.free)[0] > 0
    swapped = replace(answer, free=answer.free[::-1].copy())
    assert judge(stated, swapped).status == "fails"


@pytest.mark.parametrize("mirror", [1.0, -1.0])
def test_a_point_beside_a_corner_is_near_the_graph(mirror):
    # a dual of .3, rounded, at a value just behind the knot to whose left .3 is: along z the graph
    # is 1 away, along u .5
    own = pieces([0.0, 1.0], [-1.0, 0.3, 0.8], n=1).mirrored(mirror < 0)
    graph = Graph(Stack.of([own]))

    def apart(z, u, units=(1.0, 1.0)):
        pair = [points(np.array([[mirror * v]])) for v in (z, u)]
        return measured(graph, *pair, units).kkt[0]

    assert apart(1.0 + 1e-12, 0.3 - 1e-13) == pytest.approx(1e-12, rel=1e-3)
    assert apart(1.1, 0.28) == pytest.approx(0.1)
    assert apart(1.1, 0.1) == pytest.approx(0.2)
    assert apart(1.1, 0.1, (0.1, 1.0)) == pytest.approx(0.7)  # straight up is nearer, then
    assert apart(1.1, 0.1, (10.0, 0.1)) == pytest.approx(0.11)  # and here the vertical at 0
    assert apart(0.5, 0.3) == apart(1.0, 0.6) == 0.0


def test_a_point_beside_a_sloping_segment_is_as_far_as_its_nearer_end():
    graph = Graph(Stack.of([pieces([0.0], [0.0, 0.0], [1.0, 1.0], n=1)]))  # z^2 / 2
    pair = points(np.array([[1.0]])), points(np.array([[0.9]]))
    assert measured(graph, *pair).kkt[0] == pytest.approx(0.1)


def test_pairs_of_doubles_move_into_domains():
    own = penalties.at_least(1, 1.0)
    graph = Graph(Stack.of([own]))
    z = Pair(np.ones((1, 1)), np.full((1, 1), -1e-20), np.zeros((1, 1)))
    inside = graph.clipped(z)
    assert inside[OUTSIDE, 0, 0] == 1e-20
    assert inside[LO, 0, 0] == 0.0


def test_kernel_and_features_are_two_ways_to_say_the_same():
    linear, answer = solved("SVR in C")
    kernel = models.svr(X, U, 1.55, 0.1, X @ X.T)
    found = judge(kernel, Answer(None, answer.free, answer.duals))
    assert found.ok(1e-7, 1e-7)
    assert found.primal == pytest.approx(judge(linear, answer).primal, rel=1e-9)
    assert K.shape == (40, 40)
    assert len(Y) == 40


# -- units and rounding -----------------------------------------------------------------------


def in_other_units(stated, answer, of_X, of_z, of_objective):
    """Return the same problem and answer, its data, values and objective in other units."""
    m, unit = of_objective, of_z / (of_X if stated.kernel is None else of_X**2)

    def changed_pieces(p, z):
        bends = p.curvature * (m / z**2)
        return Pieces(p.knots * z, p.slopes * (m / z), bends, p.value * m, p.low * z, p.high * z)

    groups = [
        Losses(changed_pieces(g.pieces, of_z), g.X * of_X if stated.kernel is None else g.X, g.free)
        for g in stated.losses
    ]
    penalty = stated.penalty and changed_pieces(stated.penalty, unit)
    K = stated.kernel
    own = stated.constraint
    other = Problem(
        groups,
        penalty,
        ridge=stated.ridge * m / (unit**2 if K is None else unit * of_z),
        linear=stated.linear * (m / of_z),
        constraint=own and L1Constraint(own.radius * unit, own.free * (unit / of_z)),
        kernel=None if K is None else K * of_X**2,
    )
    return other, Answer(
        None if answer.w is None else answer.w * unit,
        answer.free * of_z,
        [a * (m / of_z) for a in answer.duals],
        None if answer.multiplier is None else answer.multiplier * (m / unit),
    )


@pytest.mark.parametrize(
    "units", [(1e3, 1.0, 1.0), (1.0, 1e-3, 1.0), (1.0, 1.0, 1e3), (1e-2, 7, 5)]
)
@pytest.mark.parametrize(
    "name",
    ["SVM, rbf", "SVR in C", "DrLAD in s", "LAD in s", "elastic net", "Huberised SVM", "l1 SVM"],
)
def test_what_is_found_does_not_depend_on_the_datas_units(name, units):
    stated, answer = solved(name)
    r = np.random.default_rng(1)
    for scale in (0.0, 1e-5, 0.1):
        parts = [part * (1 + scale * r.normal(size=part.shape)) for part in answer.duals]
        w = answer.w if answer.w is None else answer.w * (1 + scale * r.normal(size=answer.w.shape))
        spoilt = replace(answer, w=w, free=answer.free * (1 + scale), duals=parts)
        one, other = judge(stated, spoilt), judge(*in_other_units(stated, spoilt, *units))
        assert other.primal == pytest.approx(units[2] * one.primal, rel=1e-9)
        for value in ("gap", "kkt", "error"):
            found = getattr(one, value)
            assert getattr(other, value) == pytest.approx(found, rel=1e-4, abs=1e-12), value
        for bound in ("rounding", "kkt_rounding"):
            assert getattr(other, bound) <= 100 * getattr(one, bound) + 1e-15


def parts_of(stated, answer):
    """Return the units, graphs, values and subgradients of an answer."""
    scales, values = units(stated, answer)
    judgement = Judgement(Bundle.of([stated]))
    pairs = zip(judgement.groups, answer.duals, strict=True)
    given = [group.graph.subgradient(Pair.of(-a[:, None])) for group, a in pairs]
    return scales, judgement.groups, [own.z for own in values], given


@pytest.mark.parametrize("name", [name for name in EXAMPLES if solved(name)[0].n_free])
def test_duals_out_of_balance_are_put_right_at_the_price_that_is_told(name):
    stated, answer = solved(name)
    scales, groups, z, given = parts_of(stated, answer)
    beta = 1e-9 * scales.balance * np.random.default_rng(0).uniform(0.5, 1.0, (stated.n_free, 1))
    graphs, free = [group.graph for group in groups], [group.free.X for group in groups]
    changes, price = rebalanced(beta, free, graphs, z, given, scales.z)
    assert np.isfinite(price).all()
    moved = [
        graph.subgradient(Pair(u[HI], -change, u[ERROR]))
        for graph, u, change in zip(graphs, given, changes, strict=True)
    ]
    assert not any(u[OUTSIDE].any() for u in moved)  # where there is room
    found = sum(np.asarray(B.T @ change) for B, change in zip(free, changes, strict=True))
    np.testing.assert_allclose(found, beta, rtol=1e-9)
    areas = [
        sum(measured(graph, *pair).gap.sum() for graph, *pair in zip(graphs, z, u, strict=True))
        for u in (given, moved)
    ]
    room = 1e-9 * (beta * price).sum() + 1e-14 * areas[0]  # what a difference of sums loses
    assert areas[1] - areas[0] <= (beta * price).sum() + room


def test_of_one_free_variable_the_row_with_the_most_room_for_its_share_is_changed():
    """For each solution: a row at its knot, with the largest entry; one at a bound if none is."""
    three = Graph(Stack.of([pieces([0.0], [-1.0, 1.0], n=3)]))
    z = np.array([[0.0, 2.0, 2.0], [0.0, 0.0, 2.0], [3.0, 0.0, 2.0]])
    u = np.array([[0.2, 1.0, 1.0], [0.1, 0.3, 1.0], [1.0, 0.2, 1.0]])
    columns, beta, one = np.array([[2.0], [-4.0], [3.0]]), np.full((1, 3), 1e-6), np.ones(3)
    (found,), price = rebalanced(beta, [columns], [three], [points(z)], [points(u)], [one])
    assert found[:, 0].nonzero()[0].tolist() == found[:, 1].nonzero()[0].tolist() == [1]
    np.testing.assert_allclose(columns[:, 0] @ found, 1e-6)
    np.testing.assert_array_equal(price[0, :2], 0.0)
    assert 0.0 < price[0, 2] < np.inf  # of duals at a bound only one side has room


def test_where_no_dual_has_room_balance_has_no_price():
    line = Graph(Stack.of([pieces([0.0], [1.0, 1.0], n=3)]))  # its only slope is 1
    z, u = points(np.zeros((3, 1))), points(np.ones((3, 1)))
    one = np.ones(1)
    found, price = rebalanced(np.full((1, 1), 1e-9), [np.ones((3, 1))], [line], [z], [u], [one])
    assert price[0, 0] == np.inf
    assert not found[0].any()


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_value_may_be_off_by_what_its_argument_may(name):
    """At knots, where slopes differ, too."""
    stated, answer = solved(name)
    scales, groups, z, _ = parts_of(stated, answer)
    for group, own, unit in zip(groups, z, scales.z, strict=True):
        off, parts = np.full(own[HI].shape, 1e-3 * unit[0]), vars(group.graph.pieces).values()
        # one function in each of n solutions
        graph = Graph(Stack._derived(*(np.swapaxes(part, 0, -1) for part in parts)))
        for at in (own[HI], *(group.graph.pieces.knots[:, k] + 0 * own[HI] for k in (0, -1))):
            value, _, _, doubt, _ = graph.values(np.stack([at.T, 0 * at.T, off.T, 0 * at.T]))
            for side in (-1.0, 1.0):
                moved = graph.values(points((at + side * off).T))[0]
                assert (np.abs(moved - value) <= doubt * (1 + 1e-9) + 1e-12).all()


@pytest.mark.parametrize("moving", [False, True])
def test_areas_and_distances_of_staircases_are_those_of_brute_force(moving):
    """Knots that coincide, ends of domains, points on either side and on the graph itself."""
    r = np.random.default_rng(0)
    for _ in range(20):
        knots = np.sort(r.choice(np.linspace(-1.0, 1.0, 9), 4))
        slopes = np.sort(r.choice(np.linspace(-2.0, 2.0, 9), 5))
        low, high = knots[0] - r.choice([0.25, 0.0]), knots[-1] + r.choice([0.5, 0.0])
        own = pieces([[v] for v in knots], [[s] for s in slopes], low=low, high=high)
        x = np.linspace(low, high, 8001)
        if low == high:
            continue
        level = slopes[np.searchsorted(knots, 0.5 * (x[1:] + x[:-1]))]
        z, u = r.uniform(low, high, 60), r.uniform(-3.0, 3.0, 60)
        z[:20], u[20:40] = r.choice(knots, 20), r.choice(slopes, 20)
        each = [np.stack([part] * (60 if moving else 1), axis=-1) for part in vars(own).values()]
        share = measured(Graph(Stack._derived(*each)), points(z[None]), points(u[None]))
        between = (x[:-1] < z[:, None]) == (level > u[:, None])
        area = np.where(between, np.abs(level - u[:, None]), 0.0) @ np.diff(x)
        np.testing.assert_allclose(share.gap, area, atol=2e-3)
        heights = np.linspace(-4.0, 4.0, 1601)
        flat = np.maximum(np.abs(x[:-1] - z[:, None]), np.abs(level - u[:, None])).min(axis=1)
        for at, least, most in zip(
            [low, *knots, high], [-np.inf, *slopes], [*slopes, np.inf], strict=True
        ):
            edge = heights[(heights >= least - 1e-9) & (heights <= most + 1e-9)]
            if len(edge):
                apart = np.abs(edge - u[:, None]).min(axis=1)
                flat = np.minimum(flat, np.maximum(np.abs(at - z), apart))
        np.testing.assert_allclose(share.kkt, flat, atol=3e-3)


KINDS_OF_GRAPHS = {
    "parabolas": pieces([0.3], [2.0, 2.0], [1.5, 1.5], n=1),
    "kinks": pieces([-0.5, 1.0], [-1.0, 0.0, 2.0], n=1),
    "curved on one side": pieces([0.3], [2.0, 2.0], [0.0, 1.5], n=1),
    "within bounds": pieces([0.3], [2.0, 2.0], [1.5, 1.5], n=1, low=-1.0, high=2.0),
}


@pytest.mark.parametrize("name", KINDS_OF_GRAPHS)
def test_an_area_may_be_off_by_as_much_as_it_is_at_a_corner(name):
    graph, r = Graph(Stack.of([KINDS_OF_GRAPHS[name]])), np.random.default_rng(0)
    z = graph.clipped(Pair.of(r.normal(size=(1, 200))))
    u = graph.subgradient(Pair.of(r.normal(size=(1, 200))))
    z[ERROR], u[ERROR] = r.choice([0.0, 0.1], (1, 200)), r.choice([0.0, 0.2], (1, 200))
    z[OUTSIDE] = u[OUTSIDE] = 0.0
    found = measured(graph, z, u)
    area = found.gap
    largest = area
    for along, up in [(-1, -1), (-1, 1), (1, -1), (1, 1)]:
        corner, level = (
            graph.clipped(Pair.of(z[HI] + along * z[ERROR])),
            graph.subgradient(Pair.of(u[HI] + up * u[ERROR])),
        )
        corner[OUTSIDE] = level[OUTSIDE] = 0.0
        largest = np.maximum(largest, measured(graph, corner, level).gap)
    np.testing.assert_allclose(area + found.rounding, largest, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", KINDS_OF_GRAPHS)
def test_what_a_change_of_a_dual_costs_is_the_width_there(name):
    """On either side; nothing leads out of the range of slopes. It is the rate of the area in u."""
    graph, r = Graph(Stack.of([KINDS_OF_GRAPHS[name]])), np.random.default_rng(1)
    z = graph.clipped(Pair.of(r.normal(size=(1, 200))))
    u = graph.subgradient(Pair.of(r.normal(size=(1, 200))))
    z[OUTSIDE] = u[OUTSIDE] = 0.0
    by, step = r.uniform(0.0, 1.0, 200), 1e-6
    for found, sign in zip(graph.costs(z, u, by), (-1.0, 1.0), strict=True):
        moved = graph.subgradient(Pair.of(u[HI] + sign * by))
        within = moved[OUTSIDE, 0] == 0.0
        np.testing.assert_array_equal(np.isfinite(found[0]), within)
        ends = [measured(graph, z, points(moved[HI] + way * step)).gap for way in (-1.0, 1.0)]
        rate = np.abs(ends[1] - ends[0]) / (2 * step)
        np.testing.assert_allclose(found[0, within], rate[within], rtol=1e-5, atol=1e-5)


def test_groups_of_which_some_move_are_judged_together():
    """Where all knots are zero units come from slopes, of one group the same in all problems."""
    x = np.random.default_rng(0).normal(size=(6, 2))

    def problem(t):
        still = Losses(losses.squared(np.zeros(6)), x)
        return Problem([still, Losses(losses.absolute(np.zeros(2), t), np.eye(2))])

    t = [0.5, 1.0, 2.0]
    answer = Answer(np.zeros((2, 3)), None, [np.zeros((6, 3)), np.zeros((2, 3))])
    found = judge([problem(s) for s in t], answer)
    alone = [judge(problem(s), answer.alone()) for s in t]
    for name in ("gap", "kkt", "error", "primal"):
        np.testing.assert_array_equal(getattr(found, name), [getattr(own, name) for own in alone])


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("idle", [0, 1])
def test_free_variables_whose_columns_depend_are_balanced_where_rows_have_room(seed, idle):
    r = np.random.default_rng(seed)
    B = np.repeat(r.normal(size=(3, 4)), 8, axis=0)  # of rank 3
    y = np.abs(r.standard_t(3, 24))
    rows, cost = np.vstack([B, r.normal(size=(idle, 4))]), np.append(np.ones(24), np.zeros(idle))
    loss = losses.pinball(np.append(y, np.zeros(idle)), 0.83, cost)
    problem = Problem(Losses(loss, 0, free=rows), features=1, ridge=1.0)
    groups = y.reshape(3, 8)
    value = np.sort(groups, axis=1)[:, 6]  # the least that .83 of eight are at most
    dual = np.where(groups > value[:, None], 0.83, -0.17)
    dual[groups == value[:, None]] = 6 * 0.17 - 0.83  # but for rounding
    v = np.linalg.lstsq(rows[:24:8], value, rcond=None)[0]
    right = Answer(np.zeros(1), v, [np.append(dual, np.zeros(idle))])
    assert judge(problem, right).ok()
    off = Answer(np.zeros(1), v, [np.append(dual + 1e-6 * (dual < 0), np.zeros(idle))])
    assert judge(problem, off).status == "fails"
