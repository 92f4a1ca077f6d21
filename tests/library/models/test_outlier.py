"""Outlier paths: local optima, jumps, certificates, and the CCCP baseline."""

import io
import pickle
from dataclasses import replace
from itertools import pairwise, product

import fuzz
import matplotlib as mpl
import numpy as np
import pytest
import scipy.sparse as sp

from helpers.data_makers import clouds, line
from helpers.outliers import HOMOTOPIES, capped, path_of, problem
from path_benchmark.objectives import Hinge, Tube
from path_benchmark.objectives.robust import robust_hinge
from path_benchmark.solvers import judge
from path_benchmark.solvers import solve as solve_by
from path_benchmark.solvers.clarabel_solver import by_clarabel
from solution_paths import (
    OutlierPath,
    SolutionPath,
    local_path,
    outlier_svm_path,
    outlier_svr_path,
)
from solution_paths.homotopy import jumping
from solution_paths.kernels import Kernel
from solution_paths.problem import Branches, Losses, Problem, penalties, pieces
from solution_paths.solution import outliers
from solution_paths.solution.points import Points
from solution_paths.verify import judge as judge_answer
from solution_paths.verify.partitions import MOST_GROUPS

pytestmark = pytest.mark.slow

mpl.use("Agg")


# -- local optima and jumps -------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.02, 1.0, 50.0])
@pytest.mark.parametrize("homotopy", HOMOTOPIES)
@pytest.mark.parametrize("task", ["svm", "svr"])
def test_with_a_regular_kernel_every_jump_falls_and_ends_off_the_threshold(task, homotopy, C):
    X, y = problem(task, n=80)
    path = path_of(task, X, y, C, homotopy=homotopy, kernel="rbf", gamma=1.0)
    found = path.certify(at_breakpoints=True)
    assert found.ok, found
    assert found.at_threshold == 0  # conditions (19e) and (26d)
    for jump in path.jumps:
        assert jump.after < jump.before
        assert len(jump.became_outliers) + len(jump.became_inliers) > 0
    if homotopy == "s":
        assert path.jumps


@pytest.mark.parametrize("homotopy", HOMOTOPIES)
@pytest.mark.parametrize("task", ["svm", "svr"])
def test_ties_and_duplicates_end_in_local_optima_and_never_rise(task, homotopy):
    jumps, decided = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = problem(task, n=50, seed=seed)
        X = np.round(X)[rng.integers(0, 30, 50)]
        y = y if task == "svm" else np.round(y)
        path = path_of(task, X, y, 10.0 ** rng.integers(-2, 3), homotopy=homotopy)
        found = path.certify(at_breakpoints=True)
        assert found.ok, found
        jumps += path.jumps
        # between jumps a sample may stay at the threshold, where K is singular
        for t in [*(jump.parameter for jump in path.jumps), path.range[0 if path.falls else 1]]:
            at = path.at_threshold(t)
            k = len(at.samples)
            assert at.local is (True if at.decided else None)
            assert at.decided or k > MOST_GROUPS
            decided += [k] * (at.local is True)
    assert len(jumps) >= 3
    assert all(jump.after <= jump.before * (1 + 1e-9) for jump in jumps)
    assert max(decided) >= 1, "no solution with samples at the threshold was looked at"


@pytest.mark.parametrize(
    ("data", "seed"),
    # Values of 1e5: a level that begins at a dual, but for the dual's own rounding, moves them.
    [("units", 47), ("units", 88), ("one_hot", 89)],
)
def test_problems_that_were_lost_in_a_jump(data, seed):
    row = fuzz.run_one("outlier_svm", data, seed)
    assert row["end"] == "exact", row
    assert not row["told"]
    assert row["not_local"] == 0


def test_a_dual_beyond_the_other_level_goes_back_to_its_side():
    """Many samples reach a wall together, and duals of any size change sides more than once.

    A level that moves from such a dual took another one's place in the staircase.
    """
    rng = np.random.default_rng(99)
    n, d = int(rng.integers(20, 70)), int(rng.integers(3, 9))
    X = rng.choice([-1.0, 1.0], size=(n, d))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] + 0.7 * rng.normal(size=n) > 0, 1.0, -1.0)
    path = outlier_svm_path(X, y, 100.0, homotopy="s")
    found = path.certify(at_breakpoints=True)
    assert found.ok, found
    assert found.not_local == 0


@pytest.mark.parametrize("task", ["svm", "svr"])
def test_a_path_begins_at_the_standard_machine(task):
    X, y = problem(task)
    path = path_of(task, X, y, 2.0)
    plain = Hinge(X, y, cost0=2.0, bias="none") if task == "svm" else None
    plain = plain or Tube(X, y, cost0=2.0, bias="none")
    oracle = judge(plain, solve_by("clarabel", plain))
    assert path.objective_value(1.0) == pytest.approx(oracle.primal, rel=1e-9)
    other = path_of(task, X, y, 2.0, homotopy="s")
    begin = other.range[0 if task == "svm" else 1]
    assert other.objective_value(begin) == pytest.approx(oracle.primal, rel=1e-9)


def test_where_no_margin_is_negative_the_path_in_s_is_the_standard_machine():
    X, y = [[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1]
    path = outlier_svm_path(X, y, C=1.0, homotopy="s")
    assert path.range == (-1.0, 0.0)
    assert not path.jumps
    np.testing.assert_allclose(path.coef(0.0), path.coef(-1.0), atol=1e-12)


def test_a_path_in_s_is_constant_between_jumps():
    path = outlier_svm_path(*clouds(n=80), 1.0, homotopy="s", kernel="rbf")
    at = np.array([path.range[0], *(jump.parameter for jump in path.jumps), 0.0])
    assert len(at) > 4
    for low, high in pairwise(at):
        if high - low > 1e-9:
            inner = path.dual(low + (high - low) * np.array([0.1, 0.9]))
            np.testing.assert_allclose(inner[:, 0], inner[:, 1], atol=1e-9)


# -- all partitions ---------------------------------------------------------------------------


def conditional_optima(objective, sweeps=4000):
    """Return the optima of the conditional problems of all partitions at theta = 0, s = 0.

    Their duals are found by coordinate ascent, of all partitions at once: slope 1 up to C and 0
    behind it for inliers, 0 below 0 for outliers.
    """
    K, y, C, n = objective.gram(), objective.y, objective.C, objective.n
    Q = K * y[:, None] * y[None, :]
    out = np.array(list(product((False, True), repeat=n)))
    alpha = np.zeros(out.shape)
    for _ in range(sweeps):
        before = alpha.copy()
        for i in range(n):
            rest = alpha @ Q[i] - alpha[:, i] * Q[i, i]
            with_slope = np.clip((1 - rest) / Q[i, i], 0.0, C)
            beyond = np.maximum(-rest / Q[i, i], C)
            inlier = np.where(with_slope < C, with_slope, beyond)
            alpha[:, i] = np.where(out[:, i], np.minimum(-rest / Q[i, i], 0.0), inlier)
        if np.abs(alpha - before).max() < 1e-12 * C:
            break
    f = alpha * y @ K
    return np.array([objective.energy(v, a * y, 0.0) for v, a in zip(f, alpha, strict=True)]), out


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("homotopy", HOMOTOPIES)
def test_the_end_is_the_optimum_of_its_partition_and_of_none_near_by(seed, homotopy):
    X, y = clouds(n=10, seed=seed, flipped=0.3)
    path = outlier_svm_path(X, y, 5.0, homotopy=homotopy, kernel="rbf", gamma=1.0)
    objective = robust_hinge(X, y, 5.0, homotopy, kernel=Kernel("rbf", 1.0)).at(0.0)
    optima, partitions = conditional_optima(objective)
    own = path.objective_value(0.0)
    place = int((partitions == path.outliers(0.0)).all(axis=1).argmax())
    assert own == pytest.approx(optima[place], rel=1e-6)
    assert own >= optima.min() * (1 - 1e-6)
    # no step of any kind leads down
    rng, a = np.random.default_rng(seed), y * path.dual(0.0)
    K = objective.gram()
    for step in rng.normal(size=(200, len(y))) * 1e-5:
        near = a + step
        assert objective.energy(K @ near, near, 0.0) >= own * (1 - 1e-12)


# -- the judge --------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["svm", "svr"])
def test_corrupted_paths_fail_their_certificate(task):
    path = path_of(task, *problem(task), 1.0, kernel="rbf")
    recorded = path.points.arrays()
    recorded["unknowns"] = recorded["unknowns"] * (1 + 1e-4)
    path.points = replace(Points.from_arrays(**recorded), first=path.points.first)
    assert path.certify(at_breakpoints=True).status == "fails"


@pytest.mark.parametrize("task", ["svm", "svr"])
def test_a_sample_on_the_wrong_side_of_the_threshold_is_seen(task):
    path = path_of(task, *problem(task), 1.0, homotopy="s", kernel="rbf")
    rows = path.partitions.rows
    rows[-1] = path.branches.main
    assert path.certify(at_breakpoints=True).status == "fails"


def test_a_dual_of_the_wrong_side_is_seen():
    X, y = clouds()
    path = outlier_svm_path(X, y, 1.0, kernel="rbf")
    theta = 0.5
    outlier = np.flatnonzero(path.outliers(theta))
    alpha = path.dual(theta)
    assert len(outlier)
    answer = type("Answer", (), {"alpha": alpha, "w": None, "b": None})
    robust = robust_hinge(X, y, 1.0, kernel=Kernel("rbf", path.reading.kernel.gamma))
    assert judge(robust, answer, t=theta).status == "holds"
    answer.alpha = np.where(np.arange(len(y)) == outlier[0], 1.0, alpha)
    assert judge(robust, answer, t=theta).status == "fails"


def test_a_solution_at_the_threshold_is_no_local_optimum_where_the_kernel_is_regular():
    path = outlier_svm_path(*clouds(n=80), 1.0, homotopy="s", kernel="rbf")
    jump = path.jumps[0]
    before = path.before.at_threshold(jump.parameter)
    assert len(before.samples) == 1
    np.testing.assert_array_equal(before.better, before.samples)
    after = path.at_threshold(jump.parameter)
    assert (len(after.samples), after.local) == (0, True)


@pytest.mark.parametrize("homotopy", HOMOTOPIES)
@pytest.mark.parametrize("task", ["svm", "svr"])
def test_a_partitions_problem_is_what_clarabel_solves(task, homotopy):
    path = path_of(task, *problem(task), 2.0, homotopy=homotopy)
    low, high = path.range
    at = [*np.linspace(low, high, 5), *(jump.parameter for jump in path.jumps[:2])]
    for t, side in product(at, (path, path.before)):
        stated, own = side.stated_at(t)
        assert judge_answer(stated, own).status == "holds"
        theirs = judge_answer(stated, by_clarabel(stated)).primal
        assert side.objective_value(t) == pytest.approx(theirs, rel=1e-7)


# -- a loss of one's own ----------------------------------------------------------------------


@pytest.mark.parametrize("ends", [(40.0, 1.0), (1.0, 2.0)])
def test_a_user_states_branches_of_their_own(ends):
    X, y = line(n=80)

    def machine(loss):
        return Problem(Losses(loss, X), ridge=0.5)

    standard = machine(pieces([y], [-1.0, 2.0]))
    main = np.ones(80, dtype=int)
    branches = Branches.along(lambda s: capped(y, s), machine, main, ends)
    path = local_path(standard, branches, (40.0, 1.0), parameter="s")
    assert path.certify(at_breakpoints=True).ok
    assert path.jumps
    assert all(jump.after <= jump.before * (1 + 1e-9) for jump in path.jumps)
    error = y - path.decision_function(X, 1.0)
    cost = np.minimum(np.where(error > 0, error, -2.0 * error), 1.0).sum()
    assert path.objective_value(1.0) == pytest.approx(0.25 * (path.coef(1.0) ** 2).sum() + cost)
    np.testing.assert_array_equal(path.outliers(1.0), (error > 1.0) | (error < -0.5))
    assert path.predict(X, 1.0).shape == (80,)


def test_branches_must_agree_with_the_problem_and_be_simple():
    X, y = line(n=20)

    def machine(loss, free=None):
        return Problem(Losses(loss, X, free), ridge=1.0)

    def along(made):
        main = np.ones(20, dtype=int)
        return Branches.along(lambda s: capped(y, s), made, main, (40.0, 1.0))

    def gaping(s):
        below, inside, above = capped(y, s)
        return [below, inside, replace(above, low=above.low + 0.1, knots=above.knots + 0.1)]

    with pytest.raises(ValueError, match=r"^Branch 1 of row 0 ends at .* let `high` and `low` be"):
        Branches.along(gaping, machine, np.ones(20, dtype=int), (40.0, 1.0))
    for main in (np.ones(19, dtype=int), np.ones(20), np.full(20, 3)):
        with pytest.raises(ValueError, match=r"^main must hold 20 whole numbers from 0 to 2"):
            Branches.along(lambda s: capped(y, s), machine, main, (40.0, 1.0))
    with pytest.raises(ValueError, match="give two or more"):
        Branches.along(lambda s: capped(y, s)[:1], machine, np.zeros(20, dtype=int), (40.0, 1.0))
    with pytest.raises(ValueError, match=r"^The branches of row \d+ don't agree at 40 with the"):
        local_path(machine(pieces([y], [-1.0, 1.5])), along(machine), (40.0, 1.0))

    def sparse(loss):
        return replace(machine(loss), penalty=penalties.l1(X.shape[1], 1.0))

    with pytest.raises(ValueError, match="neither a penalty nor a constraint"):
        local_path(sparse(pieces([y], [-1.0, 2.0])), along(sparse), (40.0, 1.0))


# -- what a path says -------------------------------------------------------------------------


@pytest.mark.parametrize("homotopy", HOMOTOPIES)
@pytest.mark.parametrize("task", ["svm", "svr"])
def test_both_sides_of_jumps_are_limits(task, homotopy):
    path = path_of(task, *problem(task, n=80), 0.2, homotopy=homotopy, kernel="rbf", gamma=0.3)
    X_new = np.random.default_rng(1).normal(size=(7, 3))
    falls = homotopy == "theta" or task == "svr"
    inner = [jump for jump in path.jumps if path.range[0] < jump.parameter < path.range[1]]
    assert inner
    for jump in inner:
        t, tiny = jump.parameter, 1e-9 * (1.0 if falls else -1.0)
        after, before = path.dual(t), path.before.dual(t)
        assert np.abs(after - before).max() > 1e-9
        np.testing.assert_allclose(path.dual(t - tiny), after, atol=1e-5)
        np.testing.assert_allclose(path.dual(t + tiny), before, atol=1e-5)
        np.testing.assert_allclose(path.dual([t])[:, 0], after, atol=1e-12)
        np.testing.assert_allclose(path.before.dual([t])[:, 0], before, atol=1e-12)
        far = path.before.decision_function(X_new, t)
        np.testing.assert_allclose(path.decision_function(X_new, t + tiny), far, atol=1e-5)
        np.testing.assert_allclose(jump.after, path.objective_value(t), rtol=1e-9)
        np.testing.assert_allclose(jump.before, path.before.objective_value(t), rtol=1e-9)


@pytest.mark.parametrize(
    ("n", "apart", "seed"), [(80, 1e-7, 0), (40, 1e-8, 26), (80, 1e-8, 28), (80, 1e-8, 41)]
)
def test_jumps_of_rows_that_depend_on_each_other_to_within_rounding(n, apart, seed):
    # A jump moves the value by less than the rounding of s, at which it was held with a wrong dual.
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X = np.column_stack([X, X[:, 0] * (1 + apart * rng.normal(size=n))])
    y = np.where(X[:, :3].sum(axis=1) + rng.normal(size=n) > 0, 1.0, -1.0)
    path = outlier_svm_path(X, y, 0.02, homotopy="s", fit_intercept=False)
    certificate = path.certify()
    assert certificate.ok
    assert certificate.not_local == 0
    assert len(path.jumps) > 0
    assert all(jump.after <= jump.before * (1 + 1e-12) for jump in path.jumps)


@pytest.mark.parametrize(
    ("n", "d", "seed"), [(20, 4, 2), (20, 4, 16), (20, 4, 48), (40, 6, 1), (80, 8, 32)]
)
def test_values_that_stay_at_a_threshold_leave_it_where_the_optimum_ceases_to_be_local(n, d, seed):
    # Held rows that differ in one dummy keep its weight at 0, and rows with it alone at s = 0.
    rng = np.random.default_rng(seed)
    X = (rng.random((n, d)) < 0.3).astype(float)
    y = np.where(X @ rng.normal(size=d) + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)
    path = outlier_svm_path(X, y, 1.0, homotopy="theta", fit_intercept=False)
    ends = path.breakpoints
    values = np.concatenate([ends, ends[:-1] + np.diff(ends) * rng.random(len(ends) - 1)])
    assert not [value for value in values if path.at_threshold(value).local is False]
    certificate = path.certify()
    assert certificate.ok
    assert certificate.not_local == 0


@pytest.mark.filterwarnings("error")
def test_progress_is_a_share_of_the_whole_path_where_pieces_end_before_it():
    rng = np.random.default_rng(3)  # a piece ends where it begins
    X = (rng.random((80, 8)) < 0.3).astype(float)
    y = np.where(X @ rng.normal(size=8) + 0.3 * rng.normal(size=80) > 0, 1.0, -1.0)
    shares = []
    options = {"homotopy": "theta", "fit_intercept": False}
    outlier_svm_path(X, y, 1.0, callback=lambda share, _: shares.append(share), **options)
    assert len(shares) > 2
    assert shares == sorted(shares)
    assert 0.0 <= shares[0] < 1.0
    assert shares[-1] == 1.0


@pytest.mark.parametrize("seed", [27, 33, 35, 37])
def test_values_that_leave_a_threshold_with_another_event_jump_no_more(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (20, 2)).astype(float)
    y = np.where(X @ rng.normal(size=2) + rng.normal(size=20) > 0, 1.0, -1.0)
    path = outlier_svm_path(X, y, 0.24, homotopy="theta", fit_intercept=False)
    assert all(jump.after <= jump.before * (1 + 1e-12) for jump in path.jumps)
    assert path.certify().not_local == 0


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("homotopy", HOMOTOPIES)
@pytest.mark.parametrize("task", ["svm", "svr"])
def test_twice_double_precision_is_spent_on_jumps_that_double_precision_cannot_order(
    task, homotopy, kernel, monkeypatch
):
    path = path_of(task, *problem(task, n=80), 0.2, homotopy=homotopy, kernel=kernel)
    ends = path._sides_of_jumps
    (exact, _), (values, errors) = (path._objectives(ends, exact) for exact in (True, False))
    assert (np.abs(values - exact) <= errors).all()
    assert (errors <= 1e-12 * np.abs(values)).all()
    asked, plain = [], outliers.objectives
    monkeypatch.setattr(
        outliers, "objectives", lambda *given: asked.append(given[2]) or plain(*given)
    )
    jumps = path.jumps
    np.testing.assert_array_equal(
        [jump.after < jump.before for jump in jumps], (exact[1] < exact[0])[:: 1 - 2 * path.falls]
    )
    doubtful = np.abs(exact[0] - exact[1]) <= 0.5 * errors.sum(axis=0)
    clear = np.abs(exact[0] - exact[1]) > 2.0 * errors.sum(axis=0)
    assert (True in asked) or not doubtful.any()
    assert (True not in asked) or not clear.all()


@pytest.mark.parametrize("task", ["svm", "svr"])
@pytest.mark.parametrize("homotopy", HOMOTOPIES)
def test_the_view_before_jumps_is_the_same_path_but_at_jumps(task, homotopy):
    path = path_of(task, *problem(task, n=80), 0.2, homotopy=homotopy, kernel="rbf", gamma=0.3)
    X_val, y_val = problem(task, n=40, seed=9)
    metric = "zero_one" if task == "svm" else "absolute"
    before, jumps = path.before, [jump.parameter for jump in path.jumps]
    between = path.breakpoints[:-1] + 0.3 * np.diff(path.breakpoints)
    for read in ("dual", "expansion", "intercept", "partition_at"):
        np.testing.assert_array_equal(getattr(before, read)(between), getattr(path, read)(between))
    assert [jump.parameter for jump in before.jumps] == jumps
    np.testing.assert_array_equal(before.before.dual(jumps), before.dual(jumps))
    assert (before.outliers(jumps[0]) != path.outliers(jumps[0])).any()
    assert before.certify(at=jumps).ok
    for view in (path, before):
        for kept in (view, pickle.loads(pickle.dumps(view))):
            said = kept.predict(X_val, jumps).T
            wrong = said != y_val if task == "svm" else np.abs(said - y_val)
            errors = kept.error_curve(X_val, y_val, metric)(jumps)
            np.testing.assert_allclose(errors, wrong.mean(axis=1), rtol=1e-12)


@pytest.mark.parametrize("task", ["svm", "svr"])
@pytest.mark.parametrize("homotopy", HOMOTOPIES)
def test_choices_are_those_of_a_fine_grid_and_of_both_sides_of_jumps(task, homotopy):
    path = path_of(task, *problem(task, n=80), 5.0, homotopy=homotopy, kernel="rbf")
    X_val, y_val = problem(task, n=40, seed=9)
    metric = "zero_one" if task == "svm" else "absolute"
    best = path.best(X_val, y_val, metric)

    def error(t, side=path):
        said = side.predict(X_val, t)
        wrong = said != y_val if task == "svm" else np.abs(said - y_val)
        return wrong.mean()

    grid = np.linspace(*path.range, 400)
    seen = [error(t) for t in grid] + [error(t, path.before) for t in path.breakpoints]
    assert best.value <= min(seen) + 1e-9
    assert error(best.parameter) == pytest.approx(best.value, abs=1e-9)


@pytest.mark.parametrize("task", ["svm", "svr"])
def test_jumps_keep_the_system_and_what_is_known(task, monkeypatch):
    begun = []
    init = jumping.Homotopy.__init__

    def counted(self, *arguments, **options):
        begun.append(self)
        init(self, *arguments, **options)

    monkeypatch.setattr(jumping.Homotopy, "__init__", counted)
    X, y = problem(task, n=120, d=3)
    one = path_of(task, X, y, 3.0, homotopy="s", check="ignore")
    several = len(begun)
    path_of(task, X[:20], y[:20], 3.0, homotopy="s", check="ignore")
    assert one.diagnostics["jumps"] > 3
    assert len(begun) == 2 * several  # as many as a path with hardly any jump


def test_crossings_are_where_decisions_change_jumps_included():
    path = outlier_svm_path(*clouds(n=80), 5.0, homotopy="s", kernel="rbf")
    X_new = np.random.default_rng(1).normal(size=(60, 3))
    changes = path.crossings(X_new)
    assert any(len(places) for places in changes)
    jumps = {jump.parameter for jump in path.jumps}
    assert {t for places in changes for t in places} <= jumps  # it is constant between them
    for row, places in zip(X_new, changes, strict=True):
        for t in places:
            assert path.before.predict(row[None], t).item() != path.predict(row[None], t).item()


def test_paths_can_be_saved_with_their_jumps():
    path = outlier_svr_path(*line(), 1.0, homotopy="s", kernel="rbf")
    file = io.BytesIO()
    path.save(file)
    loaded = SolutionPath.load(io.BytesIO(file.getvalue()))
    assert isinstance(loaded, OutlierPath)
    for own in (loaded, pickle.loads(pickle.dumps(path))):
        assert [jump.parameter for jump in own.jumps] == [jump.parameter for jump in path.jumps]
        assert own.certify().ok
        jump = path.jumps[0].parameter
        np.testing.assert_array_equal(own.dual(jump), path.dual(jump))
        np.testing.assert_array_equal(own.before.dual(jump), path.before.dual(jump))


def test_the_plot_marks_jumps():
    path = outlier_svm_path(*clouds(n=80), 5.0, homotopy="s")
    ax = path.plot()
    marks = [line for line in ax.lines if line.get_marker() == "o"]
    places = {round(t, 9) for line in marks for t in line.get_xdata()}
    assert places <= {round(jump.parameter, 9) for jump in path.jumps}
    assert places


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("task", ["svm", "svr"])
@pytest.mark.parametrize("homotopy", HOMOTOPIES)
def test_rows_and_kernels_agree(task, homotopy, bias):
    X, y = problem(task)
    X[X < 0.3] = 0.0  # rows of zeros, too
    options = {"homotopy": homotopy, "fit_intercept": bias}
    dense = path_of(task, X, y, 3.0, **options)
    others = [
        path_of(task, sp.csr_array(X), y, 3.0, **options),
        path_of(task, X @ X.T, y, 3.0, **options, kernel="precomputed"),
    ]
    low = max(path.range[0] for path in [dense, *others])  # where it begins is known to rounding
    high = min(path.range[1] for path in [dense, *others])
    grid = np.linspace(low, high, 9)
    wanted = dense.decision_function(X, grid)
    for other in others:
        assert other.certify().ok
        f = other.decision_function(X if other.linear else X @ X.T, grid)
        np.testing.assert_allclose(f, wanted, atol=1e-7 * np.abs(wanted).max())


# -- rows of zeros ----------------------------------------------------------------------------


@pytest.mark.parametrize("homotopy", HOMOTOPIES)
def test_rows_of_zeros_are_constants_and_predicted_as_most_are(homotopy):
    X, y = clouds()
    X[:9] = 0.0
    y[:9] = [1, 1, -1, -1, -1, -1, -1, -1, -1]
    y[y > 0] = np.where(np.arange((y > 0).sum()) % 3 == 0, 1.0, -1.0)  # fewer positives
    path = outlier_svm_path(sp.csr_array(X), y, 1.0, homotopy=homotopy)
    assert path.certify(at_breakpoints=True).ok
    without = outlier_svm_path(X[9:], y[9:], 1.0, homotopy=homotopy)
    np.testing.assert_allclose(path.coef(0.0), without.coef(0.0), atol=1e-9)
    assert path.predict(np.zeros((1, 3)), 0.0).tolist() == [-1.0]
    curve = path.error_curve(np.zeros((2, 3)), [-1.0, 1.0])
    assert set(curve.left) == {0.5}
    assert len(curve.edges) == 2


def test_residuals_of_rows_of_zeros_change_nothing():
    X, y = line()
    X[:5] = 0.0
    for homotopy in HOMOTOPIES:
        path = outlier_svr_path(X, y, 1.0, homotopy=homotopy, s=0.5)
        assert path.certify(at_breakpoints=True).ok


def test_a_flat_kernel_has_a_start():
    x = np.linspace(-3, 3, 42)[:, None]
    y = np.sin(x[:, 0]) + 0.2 * np.random.default_rng(0).normal(size=42)
    for C in (1.0, 10.0, 100.0):
        path = outlier_svr_path(x, y, C, homotopy="s", kernel="rbf", gamma=1.0, check="ignore")
        assert path.certify(at_breakpoints=True).gap < 1e-6


# -- arguments --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0.0}, "C"),
        ({"C": -1.0}, "C"),
        ({"C": 1.0, "homotopy": "both"}, "homotopy"),
        ({"C": 1.0, "kernel": "sigmoid"}, "kernel"),
    ],
)
def test_bad_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        outlier_svm_path(*clouds(), **options)
    with pytest.raises(ValueError, match=message):
        outlier_svr_path(*line(), **options)


@pytest.mark.parametrize("s", [0.0, -1.0, 1e-12])
def test_a_threshold_must_be_positive_and_more_than_rounding(s):
    with pytest.raises(ValueError, match="s "):
        outlier_svr_path(*line(), 1.0, s=s)


def nearly_constant(difference, seed):
    """Forty columns of nearly -1, which differ by multiples of a number; some rows twice."""
    rng = np.random.default_rng(seed)
    G = np.round(rng.normal(size=(90, 40)), 2)
    X = -1.0 + difference * G
    X[45:80] = X[rng.integers(0, 45, 35)]
    labels = np.where(G @ rng.normal(size=40) + 3.0 * rng.normal(size=90) > 0.0, 1.0, -1.0)
    return X, labels


@pytest.mark.parametrize("homotopy", ["theta", "s"])
@pytest.mark.parametrize(("difference", "seed"), [(1e-5, 1), (1e-5, 3), (3e-6, 0), (1e-6, 0)])
def test_columns_that_are_nearly_constant(difference, seed, homotopy):
    """Elimination squares the condition: start, responses and jumps must do without it."""
    X, labels = nearly_constant(difference, seed)
    path = outlier_svm_path(X, labels, difference**-2, homotopy=homotopy, check="ignore")
    assert path.range == ((0.0, 1.0) if homotopy == "theta" else (path.range[0], 0.0))
    assert path.certify().status == "holds", path.certify()


@pytest.mark.parametrize("idle", [0, 50])
def test_samples_change_sides_as_long_as_that_lowers_the_objective(idle, monkeypatch):
    """Rows of dummies: many samples are at the threshold at once, some of them in vain."""
    rng = np.random.default_rng(0)
    X = (rng.random((200, 6)) < 0.3).astype(float)
    f = X @ rng.normal(size=6)
    labels = np.where(f > np.median(f), 1.0, -1.0) * np.where(rng.random(200) < 0.15, -1.0, 1.0)
    monkeypatch.setattr(jumping, "MOST_IDLE", idle)
    path = outlier_svm_path(X, labels, 10.0, homotopy="s", check="ignore")
    assert path.range[1] == 0.0
    assert path.certify().status == "holds"
    assert (path.diagnostics["stays"] > 0) == (idle == 0)
