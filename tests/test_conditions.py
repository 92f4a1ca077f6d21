"""Certificates: each condition of optimality broken alone, by just less and just more than allowed.

Every problem is small enough to be solved by hand. A case changes the optimum, or the problem under
it, so that one condition alone fails by a number, and says what KKT violation and which duality gap
(not relative) that number is.
"""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from solution_paths import outlier_svm_path, verify
from solution_paths.certify import (
    GAP_LIMIT,
    KKT_LIMIT,
    Certificate,
    Verdict,
    certify,
    judge,
    score,
    status_of,
    worst_of,
)
from solution_paths.kernels import Kernel
from solution_paths.objectives import (
    Hinge,
    RobustHinge,
    RobustTube,
    Solution,
    Tube,
)
from solution_paths.objectives.base import (
    Terms,
    largest,
    nearest,
    slope_of_gap,
    spread_of,
    without_signs_of_rounding,
)
from solution_paths.problem import Losses, Problem, losses, penalties

ROOM = 1.0 + 1e-4  # products of two small numbers, and rounding


def scored(objective, t=0.0, a=None, w=None, b=None):
    """Return the verdict on one solution."""
    parts = (None if own is None else np.asarray(own, float) for own in (a, w, b))
    column = Solution(*(None if own is None else own[..., None] for own in parts))
    return score(objective, np.array([float(t)]), column).alone()


class Machine:
    """w = (1, 0), b = 0, lam = 2: samples in order P, P', N, L, F, and what else a loss asks for.

    P, P' at x = 1 and N at -1 are at their kinks with duals inside; L at 0.5 is short of its margin
    and its dual is at its cost; F is beyond, and its dual zero. Values and duals are of one unit.
    """

    lam, unit = 2.0, 4.0  # the largest cost

    def __init__(self, make=Hinge, targets=(1.0, 1.0, -1.0, 1.0, 1.0), f=3.0, scale=1.0, **options):
        self.make, self.scale, self.options = make, scale, options
        self.X = np.array([[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.5, 0.0], [f, 5.0]])
        self.a = self.lam * np.array([0.25, 0.0625, -0.5625, 0.25, 0.0])
        self.cost = self.lam * np.array([1.0, 1.0, 2.0, 0.25, 1.0])
        self.y, self.w, self.b = np.array(targets), np.array([1.0, 0.0]), 0.0

    def objective(self):
        return self.make(self.X, self.y, cost0=self.cost, lam=self.lam, **self.options)

    def verdict(self):
        return scored(self.objective(), a=self.a, w=self.w, b=self.b)


def beyond_a_box(m, e):
    """What clipping moves w by, and takes to balance: squares of it."""
    moved, largest = e * m.unit, (m.X**2).sum(axis=1).max()
    return m.lam / 2 * (moved / m.lam) ** 2 + moved**2 * largest / (2 * m.lam)


def low_end_of_a_box(m, e):
    m.a[1] = -e * m.unit
    m.a[0] = m.lam * 0.3125 + e * m.unit
    return e, beyond_a_box(m, e)


def high_end_of_a_box(m, e):
    m.cost[0] = m.a[0]
    m.a[:2] += [e * m.unit, -e * m.unit]
    return e, beyond_a_box(m, e)


def a_late_value_whose_dual_has_room(m, e):
    m.cost[3] += e * m.unit
    return e, 0.5 * e * m.unit


def an_early_value_with_a_dual(m, e):
    """F's dual moves, and those of P and N, so that neither w nor the balance does."""
    m.X[4] = [m.X[4, 0], 0.0]
    d, x = e * m.unit, m.X[4, 0]
    m.a[[0, 2, 4]] += [-d * (x + 1) / 2, d * (x - 1) / 2, d]
    return e, d * m.early


def a_value_below_its_kink(m, e):
    by = e * m.scale
    m.X[[0, 3], 0] += [-by, by]  # both have the same dual: w stays
    return e, (m.cost[0] - m.a[0]) * by


def a_value_above_its_kink(m, e):
    by = e * m.scale
    m.X[[0, 3], 0] += [by, -by]
    return e, m.a[0] * by


def a_value_of_the_other_sign(m, e):
    by = e * m.scale
    m.X[[2, 3], 0] += [by, by * m.a[2] / -m.a[3]]
    return e, (m.cost[2] + m.a[2]) * by


def duals_out_of_balance(m, e):
    m.a[[0, 2]] += e * m.unit / 2
    return e, (e * m.unit) ** 2 * (m.X**2).sum(axis=1).max() / (2 * m.lam)


def coefficients_apart_from_their_duals(m, e):
    m.w[1] = e
    return e, m.lam / 2 * e**2


OF_MACHINES = (
    high_end_of_a_box,
    a_late_value_whose_dual_has_room,
    an_early_value_with_a_dual,
    a_value_below_its_kink,
    a_value_above_its_kink,
    a_value_of_the_other_sign,
    duals_out_of_balance,
    coefficients_apart_from_their_duals,
)


class Penalised:
    """w = (1, 0), b = 0: P, P' at x = 1, N at -1 at their kinks, L and L' late, F early.

    The correlation of the first column is 1.5, of the second 0.25.
    """

    def __init__(self, lam=1.5, ridge=0.0, radius=None):
        self.lam, self.ridge, self.radius, self.early = lam, ridge, radius, 2.0
        self.X = np.array(
            [[1.0, 0.0], [1.0, 2.0], [-1.0, 0.0], [0.5, 0.0], [-0.5, 0.0], [3.0, 0.0], [-3.0, 0.0]]
        )
        self.y = np.array([1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
        self.a = np.array([0.125, 0.125, -0.25, 1.0, -1.0, 0.0, 0.0])
        self.w, self.b = np.array([1.0, 0.0]), 0.0
        self.steepest = 10.0  # the sum of the sizes of the first column

    def verdict(self):
        data = Losses(losses.hinge(self.y), self.X, 1.0)
        penalty = None if self.radius is not None else penalties.l1(2, self.lam)
        problem = Problem(data, penalty, ridge=self.ridge, constraint=self.radius)
        return verify.judge(problem, verify.Answer(self.w, [self.b], [self.a]))


def low_end_of_one(m, e):
    m.X[1, 1] = 0.0
    m.a[:2] = [0.25 + e, -e]
    return e, 0.0


def high_end_of_one(m, e):
    m.a[[0, 2, 3]] += [-0.75 * e, -0.25 * e, e]
    return e, None


def one_with_room(m, e):
    m.a[[0, 2, 3]] -= [-0.75 * e, -0.25 * e, e]
    return e, 0.5 * e


def one_too_many(m, e):
    m.a[[0, 2, 5]] += [-2.0 * e, e, e]
    return e, 2.0 * e


def a_margin_too_small(m, e):
    m.X[[0, 3], 0] += [-e, 0.125 * e]
    return e, 0.875 * e


def a_margin_too_large(m, e):
    m.X[[0, 3], 0] += [e, -0.125 * e]
    return e, 0.125 * e


def slopes_out_of_balance(m, e):
    m.a[[0, 2]] += e / 2
    return e, None


def a_penalty_above_the_correlation(m, e):
    m.lam += e * m.steepest
    return e, e * m.steepest


def a_penalty_below_the_correlation(m, e):
    m.lam -= e * m.steepest
    return e, None


def a_column_left_out(m, e):
    m.X[1, 1] = 8.0 * (1.5 + e * m.steepest)
    m.steepest = max(10.0, m.X[1, 1])
    m.X[1, 1] = 8.0 * (1.5 + e * m.steepest)
    return e, e * m.steepest


OF_ONES = (
    low_end_of_one,
    high_end_of_one,
    one_with_room,
    one_too_many,
    a_margin_too_small,
    a_margin_too_large,
    slopes_out_of_balance,
)
OF_PENALTIES = (
    a_penalty_above_the_correlation,
    a_penalty_below_the_correlation,
    a_column_left_out,
)


def ridged(ridge=0.5):
    return Penalised(1.5 - ridge, ridge=ridge)


def a_correlation_above_its_length(m, e):
    """|c| is more than lam + ridge |w| in the column in use; that costs its square."""
    m.lam -= e * m.steepest
    return e, (e * m.steepest) ** 2 / (2 * m.ridge)


def a_correlation_below_its_length(m, e):
    m.lam += e * m.steepest
    return e, (e * m.steepest) ** 2 / (2 * m.ridge)


def constrained(ridge=0.0):
    return Penalised(0.0, ridge=ridge, radius=1.0)


def a_length_above_the_radius(m, e):
    m.radius = 1.0 - e
    return e, 1.5 * e


def a_length_below_the_radius(m, e):
    m.radius = 1.0 + e
    return e / (1.0 + e), 1.5 * e


class Outliers:
    """A robust machine at theta = 0.4, s = 0, w = (1, 0), C = 1, without a bias.

    P is at its kink, L late, O an outlier, F early; W and V are at the wall between inliers and
    outliers: pushed onto it from either side.
    """

    def __init__(self, force=0.5, outlier=False):
        self.X = np.array(
            [[1.0, 0.0], [0.5, 0.0], [-0.5, 0.0], [3.0, 0.0], [0.0, 1.0], [0.0, -1.0]]
        )
        self.force = force
        at_wall = 0.4 - force if outlier else 1.0 + force
        self.a = np.array([0.7, 1.0, 0.4, 0.0, at_wall, at_wall])
        self.w, self.past, self.scale = np.array([1.0, 0.0]), 0.5, 1.0

    def objective(self):
        return RobustHinge(self.X, np.ones(6), cost0=1.0, theta0=0.4, s0=0.0)

    def verdict(self):
        return scored(self.objective(), a=self.a, w=self.w)


class OutliersOfTargets(Outliers):
    """The same of a regression with s = 1: P has no error, L 0.5, O 2, F -0.5, W and V 1."""

    def __init__(self, force=0.5, outlier=False):
        super().__init__(force, outlier)
        self.X[3] = [0.2, 0.0]
        self.a[[0, 3]] = [0.9, -1.0]
        self.y = np.array([1.0, 1.0, 1.5, -0.3, 1.0, 1.0])
        self.past, self.scale = 1.0, 1.8

    def objective(self):
        return RobustTube(self.X, self.y, cost0=1.0, theta0=0.4, s0=1.0)


def an_error_of_the_duals_sign(m, e):
    m.X[[0, 1], 0] += e * m.scale * np.array([-1.0, m.a[0]])
    return e, (1.0 - m.a[0]) * e * m.scale


def an_error_of_the_other_sign(m, e):
    m.X[[0, 1], 0] += e * m.scale * np.array([1.0, -m.a[0]])
    return e, (1.0 + m.a[0]) * e * m.scale


def a_negative_dual_with_room(m, e):
    m.a[[0, 3]] += [-0.2 * e, e]
    return e, 0.5 * e


def an_outliers_dual_below_its_cost(m, e):
    m.a[[0, 2]] -= [0.5 * e, e]
    return e, m.past * e


def an_outliers_dual_above_its_cost(m, e):
    m.a[[0, 2]] += [0.5 * e, e]
    return e, None


def an_inlier_off_its_wall(m, e):
    m.X[[4, 1], 0] += e * m.scale * np.array([1.0, -m.a[4]])
    return e, m.force * e * m.scale


def an_outlier_off_its_wall(m, e):
    m.X[[4, 1], 0] -= e * m.scale * np.array([1.0, -m.a[4]])
    return e, m.force * e * m.scale


def a_robust_late_value_with_room(m, e):
    m.a[[0, 1]] += [0.5 * e, -e]
    return e, 0.5 * e


def a_robust_dual_above_its_cost(m, e):
    """Beyond the box: the force of a wall that is half a unit away."""
    m.a[[0, 1]] += [-0.5 * e, e]
    return e, 0.5 * e


def a_robust_early_value_with_a_dual(m, e):
    m.a[[0, 3]] += [-3.0 * e, e]
    return e, 2.0 * e


OF_WALLS = (
    an_outliers_dual_below_its_cost,
    an_outliers_dual_above_its_cost,
    an_inlier_off_its_wall,
    a_robust_late_value_with_room,
    a_robust_dual_above_its_cost,
)
OF_ERRORS = (
    an_error_of_the_duals_sign,
    an_error_of_the_other_sign,
    a_negative_dual_with_room,
)


def hinge():
    own = Machine(Hinge)
    own.early = 2.0
    return own


def tube():
    own = Machine(Tube, (1.5, 1.5, -1.5, 1.5, 3.0), scale=4.5, epsilon0=0.5)
    own.early = 0.5
    return own


CASES = [(hinge, case) for case in (low_end_of_a_box, *OF_MACHINES)]
CASES += [(model, case) for model in (tube,) for case in OF_MACHINES]
CASES += [(Penalised, case) for case in (*OF_ONES, *OF_PENALTIES) if case is not a_column_left_out]
CASES += [(ridged, case) for case in OF_ONES]
CASES += [(ridged, a_correlation_above_its_length), (ridged, a_correlation_below_its_length)]
CASES += [(constrained, a_length_above_the_radius), (constrained, a_length_below_the_radius)]
CASES += [(Outliers, case) for case in (*OF_WALLS, a_robust_early_value_with_a_dual)]
CASES += [(OutliersOfTargets, case) for case in (*OF_WALLS, *OF_ERRORS)]
CASES += [(lambda: Outliers(0.25, True), an_outlier_off_its_wall)]
CASES += [(lambda: OutliersOfTargets(0.25, True), an_outlier_off_its_wall)]


def named(pair):
    model, case = pair
    own = model()
    return f"{type(own).__name__}-{getattr(own, 'make', type(own)).__name__}-{case.__name__}"


def cost_of(model, case):
    """Return what a violation of 1 costs, where that grows with it; else None."""
    gaps = [case(model(), share * KKT_LIMIT)[1] for share in (0.5, 1.0)]
    linear = gaps[0] is not None and gaps[1] == pytest.approx(2.0 * gaps[0], rel=1e-3, abs=0.0)
    return gaps[1] / KKT_LIMIT if linear and gaps[1] > 0 else None


COSTLY = [pair for pair in CASES if cost_of(*pair) is not None]


@pytest.mark.parametrize(("model", "case"), CASES, ids=map(named, CASES))
def test_a_condition_broken_alone_is_told_at_the_limit(model, case):
    whole = model().verdict()
    assert whole.status == "holds"
    assert whole.kkt + whole.kkt_rounding < 1e-3 * KKT_LIMIT
    for share in (0.95, 1.05):
        own = model()
        kkt, gap = case(own, share * KKT_LIMIT)
        found = own.verdict()
        assert found.kkt == pytest.approx(kkt, rel=1e-3)
        assert (found.kkt + found.kkt_rounding <= KKT_LIMIT) == (share < 1.0)
        if share > 1.0:
            assert found.status == "fails"
        if gap is not None and np.isfinite(found.gap):
            size = max(abs(found.primal), abs(found.dual))
            assert found.gap * size == pytest.approx(gap, rel=2e-3, abs=1e-14)


@pytest.mark.parametrize(("model", "case"), COSTLY, ids=map(named, COSTLY))
def test_a_gap_alone_is_told_at_the_limit(model, case):
    """Of a violation that would pass."""
    size = model().verdict().primal
    for share, status in ((0.95, "holds"), (1.05, "fails")):
        own = model()
        kkt, _ = case(own, share * GAP_LIMIT * size / cost_of(model, case))
        found = own.verdict()
        assert found.kkt == pytest.approx(kkt, rel=1e-2)
        assert found.kkt < KKT_LIMIT
        assert found.gap == pytest.approx(share * GAP_LIMIT, rel=1e-3)
        assert found.status == status


INFEASIBLE = [
    *[(hinge, case) for case in (low_end_of_a_box, high_end_of_a_box, duals_out_of_balance)],
    *[(tube, case) for case in (high_end_of_a_box, duals_out_of_balance)],
    *[(Penalised, case) for case in (low_end_of_one, high_end_of_one, slopes_out_of_balance)],
    (Penalised, a_penalty_below_the_correlation),
    *[(ridged, case) for case in (low_end_of_one, high_end_of_one, slopes_out_of_balance)],
]


@pytest.mark.parametrize(("model", "case"), INFEASIBLE, ids=map(named, INFEASIBLE))
def test_duals_that_break_their_constraints_bound_nothing(model, case):
    for share, bounds in ((0.95, True), (1.05, False)):
        own = model()
        case(own, share * KKT_LIMIT)
        assert np.isfinite(own.verdict().gap) == bounds


# By how much a violation is larger in its coordinate's own units: a dual relative to its own cost,
# not to the largest, 4; a balance to the largest dual.
IN_OWN_UNITS = {
    low_end_of_a_box: 4.0 / 2.0,
    high_end_of_a_box: 4.0 / 0.5,
    a_late_value_whose_dual_has_room: 4.0 / 0.5,
    an_early_value_with_a_dual: 4.0 / 2.0,
    a_value_below_its_kink: 1.0,
    a_value_above_its_kink: 1.0,
    a_value_of_the_other_sign: 1.0,
    duals_out_of_balance: 4.0 / 1.125,
    coefficients_apart_from_their_duals: 1.0,
}
IN_UNITS = [
    (model, case) for model, case in CASES if model in (hinge, tube) and case in IN_OWN_UNITS
]


@pytest.mark.parametrize(("model", "case"), IN_UNITS, ids=map(named, IN_UNITS))
def test_a_violation_counts_in_its_own_units_too(model, case):
    own = model()
    kkt, _ = case(own, 1e-5)
    column = Solution(own.a[:, None], own.w[:, None], np.array([own.b]))
    found = own.objective().terms(np.zeros(1), column, exact=True)
    assert found.kkt[0] == pytest.approx(kkt, rel=1e-3)
    assert found.own[0] == pytest.approx(IN_OWN_UNITS[case] * kkt, rel=1e-3)
    assert 0.0 <= found.own_rounding[0] < 1e-12


# -- what has no place among these --------------------------------------------------------------


def at_their_costs(**options):
    """Two samples with margins 0.2, both duals at the cost 0.1: no value is at a kink."""
    X, y = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    return Hinge(X, y, cost0=0.1, **options), 0.1 * y, np.array([0.2])


def test_a_penalised_bias_apart_from_its_duals_counts_as_a_coefficient():
    own, a, w = at_their_costs(bias="feature", intercept_scaling=2.0)
    assert scored(own, a=a, w=w, b=0.0).status == "holds"
    length = 1.0 / np.sqrt(5.0)  # what moves a value by its unit, where w is short
    for share in (0.95, 1.05):
        off = 2.0 * share * KKT_LIMIT * length
        found = scored(own, a=a, w=w, b=off)
        assert found.kkt == pytest.approx(share * KKT_LIMIT, rel=1e-3)
        assert (found.status == "fails") == (share > 1.0)
        size = max(abs(found.primal), abs(found.dual))
        assert found.gap * size == pytest.approx((off / 2.0) ** 2 / 2, rel=1e-3, abs=1e-16)


def test_a_bias_of_a_machine_without_one_is_no_solution():
    own, a, w = at_their_costs(bias="none")
    for b, fine in ((0.0, True), (None, True), (1e-12, False)):
        verdict = judge(own, SimpleNamespace(alpha=own.y * a, w=w, b=b))
        assert np.isnan(verdict.primal) != fine
        assert np.isnan([verdict.gap, verdict.kkt]).any() != fine
        assert (verdict.status == "holds") == fine


def test_what_balances_duals_costs_the_way_to_the_nearest_kink_that_has_room():
    """A dual less than its cost by d: its own slack, the balance, and how far that moves w."""
    own, a, _ = at_their_costs(bias="free")
    for d in (5e-9, 5e-8):  # in units of the cost 5e-7: both are balanced enough to bound
        off = 0.1 * d
        found = scored(own, a=a - [off, 0.0], w=[0.2 - off], b=0.0)
        short = 1.0 - (0.2 - off)
        expected = off * short + off * short + off**2 / 2
        assert found.gap * found.primal == pytest.approx(expected, rel=1e-5, abs=1e-15)


def at_the_wall(pairs):
    """Twice so many samples at the threshold, half of them on either side of the origin."""
    X = np.array([[1.0, 0.0], *[[0.0, 1.0]] * pairs, *[[0.0, -1.0]] * pairs])
    own = RobustHinge(X, np.ones(len(X)), cost0=1.0, theta0=0.4, s0=0.0)
    return own, Solution(np.array([1.0, *[1.2] * (2 * pairs)]), w=np.array([1.0, 0.0]))


def test_local_optimality_with_many_samples_at_the_threshold_is_undecided():
    path = outlier_svm_path([[-2.0], [-1.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1, 0], 1.0)
    for pairs, decided in ((3, True), (4, False)):
        path.objective, solution = at_the_wall(pairs)
        assert scored(path.objective, a=solution.a, w=solution.w).status == "holds"
        k, optimal = path.objective.locally_optimal(solution, 0.0)
        assert k == 2 * pairs
        assert (optimal is not None) == decided
        found = path._local_optima([(solution, 0.0)])
        assert found["at_threshold"] == 1
        assert found["undecided_local"] == (not decided)
        assert found["not_local"] == (optimal is False)


def test_a_certificate_names_where_each_number_is_worst():
    """The worst gap and the worst violation of conditions are at different places."""
    own, a, w = at_their_costs(bias="feature", intercept_scaling=1.0)
    grown = Hinge(own.X, own.y, cost0=0.1, cost1=0.0, bias="feature")
    a, w, b = np.stack([a] * 3, axis=1), np.full((1, 3), 0.2), np.zeros(3)
    a[0, 0] -= 5e-9  # costs something, and hardly breaks anything
    b[2] = 5e-8  # costs a square
    points = np.array([1.0, 2.0, 3.0])
    found = certify(grown, points, lambda k: Solution(a[:, k], w[:, k], b[k]))
    assert (found.gap_at, found.kkt_at, found.n_points) == (1.0, 3.0, 3)


def test_a_kernel_machine_is_told_by_its_own_limits_too():
    """Without coefficients: the same conditions of duals and values."""
    for share in (0.95, 1.05):
        for case in (high_end_of_a_box, a_late_value_whose_dual_has_room, duals_out_of_balance):
            m = hinge()
            case(m, share * KKT_LIMIT)
            K = m.X @ m.X.T
            own = Hinge(K, m.y, cost0=m.cost, lam=m.lam, kernel=Kernel("precomputed"))
            found = scored(own, a=m.a, b=0.0)
            assert found.kkt == pytest.approx(share * KKT_LIMIT, rel=1e-3)
            assert (found.kkt + found.kkt_rounding <= KKT_LIMIT) == (share < 1.0)


# -- what a verdict is made of ------------------------------------------------------------------

TERMS = {
    "primal": 10.0,
    "gap": 2.0,
    "rounding": 0.5,
    "kkt": 0.25,
    "kkt_rounding": 0.125,
    "infeasible": 0.0,
    "floor": 0.0,
    "unsure": 1.0,
    "resolution": 0.3,
    "kkt_resolution": 0.2,
    "null": 0.0,
    "own": 0.75,
    "own_rounding": 0.05,
}
# What changes in these terms, and what the verdict says then: by hand, from its docstring.
FOUND = {
    "as it is": (
        {},
        {
            "primal": 10.0,
            "dual": 8.0,
            "gap": 0.2,
            "kkt": 0.25,
            "rounding": 0.7 / 9.0,
            "kkt_rounding": 0.125,
            "resolution": 0.03,
            "kkt_resolution": 0.2,
            "error": 2.5 / 9.0,
            "least_error": 1.5 / 11.0,
        },
    ),
    "conditions that are nearly met": (
        {"own": 0.1},
        {"gap": 0.2, "error": 0.15, "least_error": 0.05},
    ),
    "what a constant loses": (
        {"null": 1e5},
        {"gap": 0.2, "error": 2.5 / 99.0, "least_error": 1.5 / 101.0},
    ),
    "both values below the floor": (
        {"floor": 50.0},
        {"gap": 0.04, "rounding": 0.54 / 49.0, "resolution": 0.006, "error": 2.5 / 9.0},
    ),
    "a lower bound that is larger": ({"gap": 30.0}, {"dual": -20.0, "gap": 1.5}),
    "a negative value": ({"primal": -10.0}, {"dual": -12.0, "gap": 2.0 / 12.0}),
    "duals that bound": ({"infeasible": KKT_LIMIT}, {"gap": 0.2, "error": 2.5 / 9.0}),
    "duals that don't": (
        {"infeasible": 1.001 * KKT_LIMIT},
        {"gap": np.inf, "error": 0.8, "least_error": 0.7},
    ),
    "no costs": (
        {"primal": 0.0, "gap": 0.0, "rounding": 0.0, "unsure": 0.0, "kkt": 1.0},
        {"gap": 0.0, "rounding": 0.0, "error": 0.0},
    ),
    "a perfect fit, right to its rounding": (
        {"primal": 1e-12, "gap": 1e-12, "floor": 1.0, "unsure": 0.0, "rounding": 0.0}
        | {"kkt": 5e-8, "kkt_rounding": 1e-8},
        {"gap": 1e-12, "error": 6e-8, "least_error": 6e-8},
    ),
    "no duals": (
        {"gap": None, "kkt": np.nan, "own": np.nan},
        {"dual": np.nan, "gap": 0.1, "kkt": np.nan, "rounding": 0.6 / 9.0}
        | {"error": 1.5 / 9.0, "least_error": 0.5 / 11.0},
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_a_verdict_is_what_its_docstring_says_of_an_objectives_terms(name):
    changes, expected = FOUND[name]
    own = {k: None if v is None else np.array([v]) for k, v in (TERMS | changes).items()}
    fake = SimpleNamespace(terms=lambda t, solution, exact, low: Terms(**own))
    found = score(fake, np.zeros(1), Solution(), lower_bound=9.0).alone()
    said = {name: getattr(found, name) for name in expected}
    assert said == pytest.approx(expected, rel=1e-12, nan_ok=True)


@pytest.mark.parametrize(
    ("gap", "rounding", "resolution", "status"),
    [
        (0.75, 0.25, 0.0, "holds"),  # just at the limit of 1, however the rounding fell
        (0.75, 0.26, 0.0, "undecided"),
        (1.25, 0.25, 0.0, "undecided"),
        (1.25, 0.24, 0.0, "fails"),
        (3.0, 0.5, 1.25, "undecided"),  # twice what rounding the solution may cause
        (3.0, 0.5, 1.24, "fails"),
        (np.nan, 0.0, 9.0, "fails"),
        (np.inf, np.inf, np.inf, "fails"),
        (np.inf, np.nan, 9.0, "fails"),
    ],
)
def test_a_status_is_sure_or_undecided(gap, rounding, resolution, status):
    assert status_of(gap, rounding, resolution, 1.0) == status
    assert worst_of("holds", status) == status
    assert worst_of(status, "fails") == worst_of("undecided", "fails") == "fails"


def test_an_answer_can_be_relied_on_up_to_a_millionth():
    for error, least, reliable, wrong in (
        (1e-6, 1e-6, True, False),
        (1.01e-6, 1e-6, False, False),
        (1.01e-6, 1.01e-6, False, True),
        (np.nan, np.nan, False, True),
    ):
        verdict = Verdict(1.0, 1.0, 0.0, 0.0, 0.0, error=error, least_error=least)
        assert (bool(verdict.reliable), bool(verdict.wrong)) == (reliable, wrong)
        certificate = Certificate(0.0, 0.0, 0.0, 0.0, 0.0, 1, error=error)
        assert certificate.reliable == reliable


def test_how_fast_a_samples_share_of_the_gap_changes_with_its_value():
    """By the level that its value asks for: the cost below a kink, 0 above it, at it the worse."""
    short = np.array([[0.5], [-0.5], [0.1], [0.05], [-0.05], [-0.1]])
    beyond = np.full((6, 1), -np.inf)
    beyond[1] = -0.05  # nearly beyond the other side, too, where it costs the cost
    for alpha, expected in (
        (0.3, [1.7, 0.3 + 2.0, 1.7, 1.7, 1.7, 1.7]),
        (1.6, [0.4, 1.6 + 2.0, 1.6, 1.6, 1.6, 1.6]),
    ):
        duals, off = np.full((6, 1), alpha), np.full((6, 1), 0.1)
        found = slope_of_gap(short, beyond, off, duals, 2.0)
        np.testing.assert_allclose(found[:, 0], expected)
    at_level = slope_of_gap(
        np.array([[0.5], [-0.5]]), beyond[[0, 0]], 0.1, np.array([[2.0], [0.0]]), 2.0
    )
    assert not at_level.any()


def test_the_nearest_kink_of_those_with_room_or_the_farthest():
    short = np.array([[0.5, 0.5], [-0.2, -0.2], [0.1, 0.1]])
    room = np.array([[True, False], [True, False], [False, False]])
    assert nearest(short, room).tolist() == [0.2, 0.5]
    assert largest(np.array([[0.5, 0.0], [0.2, -1.0]])).tolist() == [0.5, 1.0]


@pytest.mark.parametrize(
    ("y", "spread"),
    [
        ([0.0, 1.0, 2.0, 3.0, 1e6], 1.0),  # whatever an outlier does
        ([5.0, 5.0, 5.0, 7.0], 2.0),  # half of them alike: the range
        ([-4.0, -4.0], 4.0),  # all: their size
        ([0.0, 0.0], 1.0),
    ],
)
def test_what_targets_mostly_differ_by(y, spread):
    assert spread_of(np.array(y)) == spread


def test_negative_duals_of_rounding_are_zero():
    alpha = np.array([[-0.9e-12, -1.1e-12], [1.0, 1.0], [-0.0, 0.5]])
    found = without_signs_of_rounding(alpha)
    assert found.tolist() == [[0.0, -1.1e-12], [1.0, 1.0], [0.0, 0.5]]
    assert not np.signbit(found[[0, 2], 0]).any()


# -- values -------------------------------------------------------------------------------------

R = np.random.default_rng(0)
ROWS, LABELS, TARGETS = R.normal(size=(12, 3)), np.sign(R.normal(size=12)), 3.0 * R.normal(size=12)
HINGE = {"kinks": [0.0], "slopes": [0.0, 1.0], "classes": (-1.0, 1.0)}


def hinge_loss(f):
    return np.maximum(0.0, 1.0 - LABELS * f)


def ridge(w):
    return w @ w / 2


def length(w):
    return np.abs(w).sum()


# Objective at t, value of (w, b, f), whether a bias is free, the duals' signs: of labels or none.
VALUES = {
    "hinge": (
        Hinge(ROWS, LABELS, cost0=0.5, cost1=0.25, lam=2.0),
        2.0,
        lambda w, b, f: 2.0 * ridge(w) + hinge_loss(f).sum(),
    ),
    "hinge, penalised bias": (
        Hinge(ROWS, LABELS, cost0=1.0, bias="feature", intercept_scaling=2.0),
        0.0,
        lambda w, b, f: ridge(w) + (b / 2.0) ** 2 / 2 + hinge_loss(f).sum(),
    ),
    "tube": (
        Tube(ROWS, TARGETS, cost0=0.5, epsilon0=0.1, epsilon1=0.2),
        2.0,
        lambda w, b, f: ridge(w) + 0.5 * np.maximum(np.abs(TARGETS - f) - 0.5, 0.0).sum(),
    ),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_are_those_of_the_formula_wherever_and_duals_bound_them(name):
    """Anywhere, not at optima alone; each dual is below every value."""
    own, t, value = VALUES[name]
    rng, values, bounds = np.random.default_rng(1), [], []
    for k in range(8):
        w, b = rng.normal(size=3) * 0.3 * k, rng.normal() * (k > 1)
        a = rng.uniform(0.0, 0.2, size=12)
        if len(own.classes):
            a *= LABELS
        if name != "hinge, penalised bias":
            up = a > 0
            a[~up] *= a[up].sum() / -a[~up].sum() if (~up).any() and up.any() else 1.0
            a = a if abs(a.sum()) < 1e-12 else a - a.mean()
        found = scored(own, t, a, w, b)
        assert found.primal == pytest.approx(value(w, b, ROWS @ w + b), rel=1e-9)
        assert found.gap > 0.0
        values.append(found.primal)
        bounds.append(found.dual if np.isfinite(found.gap) else -np.inf)
    assert max(bounds) <= min(values)
    assert np.isfinite(bounds).any()


def columns_of(own, free, count=6):
    """Return solutions in columns, anywhere, whose duals add up to zero where they must."""
    rng = np.random.default_rng(3)
    signs = LABELS if len(own.classes) else np.ones(12)
    a = rng.uniform(0.0, 0.2, size=(12, count)) * signs[:, None]
    a = a - a.mean(axis=0) if free or not len(own.classes) else a
    return Solution(a, rng.normal(size=(own.X.shape[1], count)), rng.normal(size=count))


@pytest.mark.parametrize("name", VALUES)
def test_both_precisions_agree_within_their_rounding_and_parameters_in_two_parts_do(name):
    own, t, _ = VALUES[name]
    s, where = columns_of(own, "penalised" not in name), np.full(6, t)
    rough, fine = (own.terms(where, s, exact) for exact in (False, True))
    for value, off in (("primal", "unsure"), ("gap", "rounding"), ("kkt", "kkt_rounding")):
        one, other = getattr(rough, value), getattr(fine, value)
        room = getattr(rough, off) + getattr(fine, off)
        assert (np.abs(one - other) <= room).all(), value
        assert (room <= 1e-11 * np.maximum(np.abs(one), 1.0)).all(), value
    for exact in (False, True):
        parts = own.terms(where - 0.25, s, exact, np.full(6, 0.25))
        for value, _ in (("primal", ""), ("gap", ""), ("kkt", ""), ("floor", "")):
            whole = getattr(fine, value)
            np.testing.assert_allclose(getattr(parts, value), whole, rtol=1e-11, atol=1e-12)


FAR = 1e9 + np.round(TARGETS, 3)


def test_residuals_of_targets_far_from_zero_keep_their_digits():
    """Beside a billion a double has seven decimals; sums in pairs have all of them."""
    own = Tube(ROWS, FAR, cost0=0.5, epsilon0=0.5)
    w, b = np.array([0.1, -0.2, 0.3]), 1e9 + 0.1
    found = own.terms(np.zeros(1), Solution(np.zeros((12, 1)), w[:, None], np.array([b])), True)
    exact = np.vectorize(Fraction, otypes=[object])
    residuals = exact(FAR) - exact(ROWS) @ exact(w) - Fraction(b)
    true = sum(max(abs(r) - Fraction(1, 2), 0) / 2 for r in residuals)
    true += Fraction(own.lam) / 2 * (exact(w) @ exact(w))
    assert abs(Fraction(found.primal[0]) - true) <= found.unsure[0] <= 1e-12 * true


@pytest.mark.parametrize("bias", ["free", "feature", "none"])
def test_what_the_best_constant_loses_is_counted_where_costs_grow(bias):
    """Of a tube: the median, or zero where a constant is penalised or there is none."""
    own = Tube(ROWS, 5.0 + TARGETS, cost0=0.5, epsilon0=0.1, bias=bias)
    alpha = np.random.default_rng(2).uniform(0.0, 0.5, size=(12, 2))
    constant = np.median(own.y) if bias == "free" else 0.0
    np.testing.assert_allclose(own.null(alpha), np.abs(own.y - constant) @ alpha)
