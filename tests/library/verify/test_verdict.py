"""The checker is checked: it must pass what is right and fail what is not."""

import copy
from dataclasses import replace
from typing import NamedTuple

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp

from helpers.data_makers import sample
from path_benchmark.objectives import Hinge, Tube, quantile_hinge
from path_benchmark.solvers import Answer, judge
from solution_paths import (
    dm_ksvm_path,
    quantile_svm_path,
    solution_path,
    svm_path,
    weighted_svm_path,
    weighted_svr_path,
)
from solution_paths.kernels import Kernel
from solution_paths.problem import Losses, Problem, pieces
from solution_paths.solution.points import Points
from solution_paths.verify import verdict as certification
from solution_paths.verify.verdict import Certificate, Verdict, status_of, summary, worst_of


def a_path(kind):
    X, y, target = sample()
    n = len(y)
    if kind == "quantile":
        return quantile_svm_path(X, y, 0.05)
    if kind == "svm":
        return svm_path(X, y, C_max=10.0)
    before, after = np.linspace(0.5, 2.0, n), np.linspace(3.0, 0.0, n)
    if kind == "weighted":
        return weighted_svm_path(X, y, before, after, kernel="rbf", gamma=0.3)
    return weighted_svr_path(X, target, before, after, 0.1)


KINDS = ["quantile", "svm", "weighted", "tube"]


def objective_of(kind):
    """Return the same problem as solvers take it."""
    X, y, target = sample()
    before, after = np.linspace(0.5, 2.0, len(y)), np.linspace(3.0, 0.0, len(y))
    if kind == "quantile":
        return quantile_hinge(X, y, 0.05)
    if kind == "svm":
        return Hinge(X, y, cost0=0.0, cost1=1.0, bias="free")
    own = {"cost0": before, "cost1": after - before, "bias": "free"}
    if kind == "weighted":
        return Hinge(X, y, kernel=Kernel("rbf", gamma=0.3), **own)
    return Tube(X, target, epsilon0=0.1, **own)


class Solution(NamedTuple):
    """Signed duals, coefficients and bias."""

    a: np.ndarray
    w: np.ndarray
    b: np.ndarray


def solution_at(path, t):
    """Return a path's solution with signed duals."""
    signs = 1.0 if path.reading.signs is None else path.reading.signs
    return Solution(signs * path.dual(t), path.coef(t), np.asarray(path.intercept(t)))


def corrupted(path, change):
    """Return the path with its recorded parameters and unknowns changed."""
    recorded = {name: own.copy() for name, own in path.points.arrays().items()}
    change(recorded["t"], recorded["unknowns"])
    other = copy.copy(path)
    other.points = Points.from_arrays(**recorded)
    return other


@pytest.mark.parametrize("kind", KINDS)
def test_a_right_path_passes(kind):
    path = a_path(kind)
    certificate = path.certify(at_breakpoints=True)
    assert certificate.ok
    assert certificate.status == "holds"
    assert len(path.points) < certificate.n_points <= len(path.points) + 102
    assert path.certify().n_points <= 205  # a sample
    said = str(certificate)
    assert "holds" in said
    for number in (certificate.kkt, certificate.gap, certificate.rounding, certificate.resolution):
        assert f"{number:.1e}" in said
    # corrupting nothing corrupts nothing: the tests below change what they say
    again = corrupted(path, lambda t, u: None).certify(at_breakpoints=True)
    assert (again.kkt, again.gap) == pytest.approx((certificate.kkt, certificate.gap), abs=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_one_changed_dual_fails(kind):
    path, n = a_path(kind), 40

    def change(t, u):
        middle = len(t) // 2
        active = np.argmax(np.abs(u[middle, :n] - u[middle - 2, :n]))
        u[middle, active] += 1e-4 * max(np.abs(u[:, :n]).max(), 1e-3)

    certificate = corrupted(path, change).certify(at_breakpoints=True)
    assert not certificate.ok
    assert "FAILS" in str(certificate)


@pytest.mark.parametrize("kind", KINDS)
def test_one_moved_node_fails(kind):
    def change(t, u):
        nodes = t[1:-1:2]
        gaps = np.diff(nodes)
        k = int(np.argmax(np.minimum(gaps[:-1], gaps[1:]))) + 1
        t[2 * k + 1] += 0.3 * gaps[k]
        t[2 * k + 2] = t[2 * k + 1]

    assert not corrupted(a_path(kind), change).certify(at_breakpoints=True).ok


@pytest.mark.parametrize("kind", KINDS)
def test_the_unknowns_of_two_swapped_nodes_fail(kind):
    def change(t, u):
        k = len(t) // 2 | 1
        while not t[k] < t[k + 2]:  # two at one place may share their duals
            k += 2
        u[[k, k + 1, k + 2, k + 3]] = u[[k + 2, k + 3, k, k + 1]]

    wrong = corrupted(a_path(kind), change)
    assert "FAILS" in str(wrong.certify(n_random=0, at_breakpoints=True))


@pytest.mark.parametrize("kind", KINDS)
def test_nan_fails(kind):
    def change(t, u):
        u[len(t) // 2, 0] = np.nan

    certificate = corrupted(a_path(kind), change).certify(at_breakpoints=True)
    assert not certificate.ok
    assert certificate.kkt == np.inf


@pytest.mark.parametrize("kind", ["svm", "weighted", "tube"])
def test_a_wrong_bias_fails(kind):
    def change(t, u):
        u[:, -1] -= 1e-5

    certificate = corrupted(a_path(kind), change).certify(n_random=0, at_breakpoints=True)
    assert "FAILS" in str(certificate)


# -- against a solver that knows no path ------------------------------------------------------


def dual_solution(K, y, cost, epsilon=None):
    """Return signed duals (n,) and the bias of min 1/2 a'Ka - y'a (+ eps |a|), sum a = 0."""
    n = len(y)
    one = np.ones((1, n))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-13
    if epsilon is None:
        P, q = K, -y
        low, high = np.minimum(y * cost, 0), np.maximum(y * cost, 0)
        A = np.vstack([one, np.eye(n), -np.eye(n)])
        b = np.concatenate([[0.0], high, -low])
    else:  # a = p - m
        P = np.block([[K, -K], [-K, K]])
        q = np.concatenate([epsilon - y, epsilon + y])
        A = np.vstack([np.hstack([one, -one]), np.eye(2 * n), -np.eye(2 * n)])
        b = np.concatenate([[0.0], cost, cost, np.zeros(2 * n)])
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(len(b) - 1)]
    P = sp.csc_matrix(np.triu(P))
    found = clarabel.DefaultSolver(P, q, sp.csc_matrix(A), b, cones, settings).solve()
    assert str(found.status) == "Solved"
    a = np.asarray(found.x) if epsilon is None else np.asarray(found.x)[:n] - found.x[n:]
    return a, found.z[0]


def judged(objective, a, bias):
    """Return the verdict on signed duals and a bias."""
    return judge(objective, Answer(alpha=objective.signed_dual(a), b=bias))


def machines():
    X, y, target = sample(n=30)
    cost = np.linspace(0.5, 2.0, 30)
    return X, y, target, cost


def test_a_solvers_hinge_solution_passes_and_a_perturbed_one_fails():
    X, y, _, cost = machines()
    objective = Hinge(X, y, cost0=cost, bias="free")
    a, bias = dual_solution(X @ X.T, y, cost)
    assert judged(objective, a, bias).ok()
    inside = int(np.argmax(np.minimum(np.abs(a), cost - np.abs(a))))
    for wrong in (a * (1 - 1e-5), a + 1e-5 * (np.arange(30) == inside), a - 1e-4 * y):
        assert not judged(objective, wrong, bias).ok()
    assert not judged(objective, a, bias + 1e-5).ok()
    assert not judged(objective, a * np.nan, bias).ok()


def test_a_solvers_tube_solution_passes_and_a_perturbed_one_fails():
    X, _, target, cost = machines()
    objective = Tube(X, target, cost0=cost, epsilon0=0.1, bias="free")
    a, bias = dual_solution(X @ X.T, target, cost, epsilon=0.1)
    assert judged(objective, a, bias).ok()
    inside = int(np.argmax(np.minimum(np.abs(a), cost - np.abs(a))))
    for wrong in (a * (1 - 1e-5), a + 1e-5 * (np.arange(30) == inside), np.clip(a, -0.3, 0.3)):
        assert not judged(objective, wrong, bias).ok()
    assert not judged(objective, a, bias - 1e-5).ok()


def test_duals_outside_their_box_fail():
    X, y, _, cost = machines()
    objective = Hinge(X, y, cost0=cost, bias="free")
    a, bias = dual_solution(X @ X.T, y, cost)
    full = int(np.argmax(np.abs(a) / cost))
    over = a.copy()
    over[full] *= 1 + 1e-6
    assert judged(objective, over, bias).kkt > 1e-7


def test_an_unbalanced_free_bias_fails():
    X, y, _, cost = machines()
    zero = np.zeros(30)
    # all duals zero is balanced, but not optimal; all at full level is not even balanced
    objective = Hinge(X, y, cost0=cost, bias="free")
    assert not judged(objective, zero, 0.0).ok()
    assert judged(objective, y * cost, 0.0).gap == np.inf


# -- one judge for both -----------------------------------------------------------------------


def answer_at(path, t):
    """What a path hands out, as a solver would state it."""
    w = path.coef(t) if path.linear else None
    return Answer(alpha=path.dual(t), w=w, b=path.intercept(t))


@pytest.mark.parametrize("kind", KINDS)
def test_both_judges_agree_on_the_same_solution(kind):
    path, objective = a_path(kind), objective_of(kind)
    low, high = path.range[0], float(path.breakpoints[-1])
    for t in np.linspace(low, high, 7)[1:-1]:
        theirs, ours = path.certify(at=float(t)), judge(objective, answer_at(path, t), t=t)
        assert theirs.ok
        assert ours.ok()
        assert ours.gap == pytest.approx(theirs.gap, abs=1e-13)
        assert ours.primal == pytest.approx(ours.dual, rel=1e-9)
        assert ours.primal == pytest.approx(path.objective_value(t), rel=1e-12)
        frozen = judge(objective.at(t), answer_at(path, t))
        assert (frozen.primal, frozen.dual) == pytest.approx((ours.primal, ours.dual))


def exchanged(objective, a):
    """Signed duals, those of two samples of one class exchanged."""
    wrong, own = a.copy(), np.flatnonzero(objective.y > 0)
    pair = own[[np.argmin(a[own]), np.argmax(a[own])]]
    wrong[pair] = wrong[pair[::-1]]
    return wrong


SPOIL = {
    "scaled": lambda o, s: s._replace(a=s.a * (1 - 1e-5)),
    "two duals exchanged": lambda o, s: s._replace(a=exchanged(o, s.a)),
    "labels swapped": lambda o, s: s._replace(a=-s.a),
    "unbalanced": lambda o, s: s._replace(a=s.a - 1e-4 * np.where(s.a > 1e-3, 1.0, 0.0)),
    "infeasible": lambda o, s: s._replace(a=s.a * (1 + 1e-4)),
    "NaN": lambda o, s: s._replace(a=np.where(np.arange(o.n) == 3, np.nan, s.a)),
    "NaN bias": lambda o, s: s._replace(b=s.b * np.nan),
    "another bias": lambda o, s: s._replace(b=s.b + 1e-5),
    "other coefficients": lambda o, s: s._replace(w=(1 + 1e-5) * s.w),
}


@pytest.mark.parametrize("spoil", SPOIL.values(), ids=SPOIL)
def test_a_wrong_answer_fails(spoil):
    path, objective, t = a_path("svm"), objective_of("svm"), 2.0
    wrong = spoil(objective, solution_at(path, t))
    alpha = objective.y * wrong.a
    verdict = judge(objective, Answer(alpha=alpha, w=wrong.w, b=float(wrong.b)), t=t)
    assert not verdict.ok()


def test_infeasible_duals_bound_nothing():
    X, y, _, cost = machines()
    objective = Hinge(X, y, cost0=cost, bias="free")
    a, bias = dual_solution(X @ X.T, y, cost)
    # unbalanced relative to the largest cost, though not relative to all costs together
    a[0] += 2e-7 * cost.max()
    assert judged(objective, a, bias).gap == np.inf


def test_both_ends_ask_for_the_same_limits():
    for gap, kkt, fine in (
        (certification.GAP_LIMIT, certification.KKT_LIMIT, True),
        (1.01 * certification.GAP_LIMIT, 0.0, False),
        (0.0, 1.01 * certification.KKT_LIMIT, False),
        (np.nan, 0.0, False),
        (0.0, np.nan, False),
    ):
        assert certification.Certificate(kkt, gap, 0.0, 0.0, 0.0, 1).ok == fine
        assert certification.Verdict(1.0, 1.0, gap, kkt, 0.0).ok() == fine


def test_nothing_is_subtracted_from_gaps():
    path = quantile_svm_path(*sample()[:2], 1e-9, check="ignore")  # the optimum is tiny
    t = 0.5
    worse = Answer(alpha=(1 - 1e-3) * path.dual(t))
    objective = quantile_hinge(*sample()[:2], 1e-9)
    verdict = judge(objective, worse, t=t)
    size = max(abs(verdict.primal), abs(verdict.dual))
    assert verdict.gap == pytest.approx((verdict.primal - verdict.dual) / size, rel=1e-9)
    assert verdict.gap > 1e-5 > 1e9 * verdict.rounding


def test_answers_that_state_too_little_are_refused():
    X, y, _, cost = machines()
    path, free = a_path("svm"), Hinge(X, y, cost0=cost, bias="free")
    assert np.isnan(judge(free, Answer(alpha=0 * y)).gap)  # no bias
    assert np.isnan(judge(free, Answer(b=0.0)).gap)  # a bias alone
    assert np.isnan(judge(free, Answer(w=np.zeros(2), b=0.0)).primal)  # three columns
    rbf = Hinge(X, y, cost0=cost, kernel=Kernel("rbf", 0.5), bias="none")
    assert np.isnan(judge(rbf, Answer(w=np.zeros(3), b=0.0)).primal)  # a kernel has no w
    alone = answer_at(path, 1.0)
    svm = objective_of("svm")
    bound = judge(svm, alone, t=1.0).dual
    alone = replace(alone, alpha=None)
    assert not judge(svm, alone, t=1.0).ok(kkt_limit=np.inf)  # no bound
    assert judge(svm, alone, t=1.0, lower_bound=bound).ok(kkt_limit=np.inf)


def test_coefficients_that_the_duals_do_not_imply_fail_though_every_value_is_right():
    X, y, _ = sample()
    wide = np.c_[X, np.zeros(len(y))]
    path, objective = svm_path(wide, y, C_max=10.0), Hinge(wide, y, cost0=2.0, bias="free")
    good = answer_at(path, 2.0)
    off = replace(good, w=good.w + np.array([0.0, 0.0, 0.0, 1e-5]))
    assert judge(objective, good).ok()
    verdict = judge(objective, off)
    assert verdict.gap <= certification.GAP_LIMIT  # the gap grows with the square
    assert verdict.kkt == pytest.approx(1e-5 / np.linalg.norm(off.w), rel=1e-3)


# -- certificates of chosen parameters ---------------------------------------------------------


def inverse_path():
    X, y, _ = sample()
    return dm_ksvm_path(X, y, kappa=3.0)


@pytest.mark.parametrize("kind", [*KINDS, "inverse"])
def test_a_certificate_of_chosen_parameters(kind):
    path = inverse_path() if kind == "inverse" else a_path(kind)
    t = path.breakpoints
    points = np.sort(np.concatenate([t[2:4], 0.5 * (t[1:3] + t[2:4])]))
    several = path.certify(at=points)
    assert several.ok
    assert several.n_points == len(points)
    assert several.gap_at in points
    assert several.kkt_at in points
    alone = [path.certify(at=float(point)) for point in points]
    assert max(one.gap for one in alone) == pytest.approx(several.gap, rel=1e-2)
    assert [one.gap_at for one in alone] == points.tolist()


@pytest.mark.parametrize("at", [-1.0, [0.1, np.inf], True, "all", [], [[0.1]], np.nan, [np.nan]])
def test_a_certificate_checks_its_parameters_as_dual_does(at):
    path = a_path("svm")
    with pytest.raises(ValueError, match=r"C must be one number|C = .* is outside") as one:
        path.certify(at=at)
    with pytest.raises(ValueError, match=r"C must be one number|C = .* is outside") as other:
        path.dual(at)
    assert str(one.value) == str(other.value)


def test_a_certificate_sees_only_what_it_is_asked_about():
    path = a_path("svm")
    k = len(path.points) // 2 | 1

    def change(t, u):
        u[[k, k + 1], 0] += 0.5

    wrong = corrupted(path, change)
    t = wrong.points.t
    assert wrong.certify(at=float(t[k])).status == "fails"
    assert wrong.certify(at=[float(t[k - 1]), float(t[k + 2])]).ok


def test_a_certificate_knows_where_a_model_moves_otherwise_than_the_path_assumed():
    """The walk knows a model at three parameters; `certify` lets it state each problem anew."""
    X, _, target = sample()

    def model(t):
        kink = np.interp(t, [0.60, 0.62, 0.64], [0.0, 0.1, 0.0])
        return Problem(Losses(pieces([target + kink], [-t, t]), X, free=1.0), ridge=1.0)

    path = solution_path(model, 0.5, 1.0, check="ignore")
    assert path.certify(at=[0.5, 0.55, 0.7, 1.0]).ok
    others = np.linspace(0.5, 1.0, 200)
    assert path.certify(at=np.sort(np.append(others, 0.62))).status == "fails"


def test_a_certificate_names_where_each_number_is_worst():
    """The worst gap and the worst violation of conditions are at different places."""
    gap, kkt, nothing = np.array([3e-8, 0.0, 1e-9]), np.array([0.0, 1e-8, 5e-8]), np.zeros(3)
    found = summary(np.array([1.0, 2.0, 3.0]), Verdict(*[nothing] * 2, gap, kkt, *[nothing] * 6))
    assert (found.gap_at, found.kkt_at, found.n_points) == (1.0, 3.0, 3)
    assert (found.gap, found.kkt) == (3e-8, 5e-8)


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
