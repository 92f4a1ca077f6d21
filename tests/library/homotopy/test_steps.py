"""The parts of a step of the loop, each beside another way to the same."""

from functools import partial

import numpy as np
import pytest

from helpers import stated_models as models
from helpers.interpreted import change, interpret
from helpers.steps import solved, values
from solution_paths.homotopy import loop, memory, run, state, tolerances
from solution_paths.homotopy.operations import WALK, operate
from solution_paths.homotopy.run import Homotopy
from solution_paths.homotopy.start import Misfit, starting_places
from solution_paths.homotopy.state import RATE, VALUE
from solution_paths.homotopy.statement import read
from solution_paths.homotopy.systems import inverse, solve
from solution_paths.problem import Losses, Problem, along, losses, penalties

pytestmark = pytest.mark.slow


def data(seed, n, d=2):
    """Return rows, labels and targets."""
    r = np.random.default_rng(seed)
    X = r.normal(size=(n, d))
    u = X[:, 0] + 0.7 * r.normal(size=n)
    return X, np.where(u > np.median(u), 1.0, -1.0), u


def problem(name, seed, n):
    """Return a model along a parameter: model, first and last value."""
    X, y, u = data(seed, n)
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    l1, wide = penalties.l1(X.shape[1], 0.3), np.random.default_rng(seed).normal(size=(5, 30))
    return {
        "SVM": (lambda t: models.svm(X, y, t), 0.02, 5.0),
        "kernel SVM": (
            lambda t: Problem(Losses(losses.hinge(y, t), np.eye(n), 1.0), ridge=1.0, kernel=K),
            0.05,
            20.0,
        ),
        "quantiles": (lambda t: models.quantile_regression(X, u, t), 0.11, 0.89),
        "lasso": (lambda t: models.elastic_net(X, u, t), 5.0, 0.1),
        WIDE: (lambda t: models.elastic_net(wide, u[:5], t, 0.5), 5.0, 0.1),
        "squared hinge": (lambda t: models.squared_hinge(X, y, t), 5.0, 0.1),
        "Huber, l1": (lambda t: Problem(Losses(losses.huber(u, t), X, 1.0), l1), 1.5, 0.1),
    }[name]


NAMES = ["SVM", "kernel SVM", "quantiles", "lasso", "squared hinge", "Huber, l1"]
WIDE = "wide elastic net"


def walk_of(model, t0, t1, face="auto"):
    """Return a walk that stands at t0."""
    statement = read(along(model, t0, t1), face)
    place = starting_places(statement, Misfit.at(statement, 0.0), face=face)
    return Homotopy(statement, statement.graphs, place, 0.0, t1 - t0, face=face)


def states(walk, most=60):
    """Take single steps in Python; yield the loop's memory before the first and after each."""
    yield walk.walk
    for _ in range(most):
        ending = operate(walk.walk, WALK, 1)
        walk.grow_memory(ending)
        yield walk.walk
        if ending == loop.DONE:
            return


@pytest.fixture
def python(monkeypatch):
    """Compiled code run by Python."""
    interpret(monkeypatch)
    with np.errstate(all="ignore"):
        yield monkeypatch


@pytest.mark.parametrize("name", NAMES)
def test_what_is_carried_is_what_is_solved_for(python, name):
    """To within the error that is claimed for it, with the margin for estimates."""
    assert change(python, "SMALL_SYSTEM", 1) > 0  # small systems are carried, too
    carried = 0
    for seed in range(3):
        for w in states(walk_of(*problem(name, seed, 14))):
            if not w.now.carried:
                continue
            before, error = w.u.copy(), w.error.copy()
            held = [*w.solved[: w.now.solved], *w.eliminated[: w.now.eliminated]]
            for order in (VALUE, RATE):
                solve.solve(w, order, tolerances.REFINED)
                off = before[order][:, held] - w.u[order][:, held]
                off = np.abs(off.sum(axis=0)) / w.map.scale[held]
                claimed = tolerances.MARGIN * error[order] + 2.0**-88 * w.peak[order]
                assert (off <= claimed).all()
            carried += len(held) > 0
    assert carried > 5


@pytest.mark.parametrize("name", NAMES)
def test_an_updated_inverse_is_the_factored_one(python, name):
    updated = 0
    for seed in range(3):
        for w in states(walk_of(*problem(name, seed, 14))):
            k = w.now.solved
            if w.now.factored == w.now.changes or not k:
                continue
            order, found = w.solved[:k].copy(), np.tril(w.inverse[:k, :k])
            inverse.factor(w)
            assert w.now.solved == k
            afresh = np.tril(w.inverse[:k, :k])
            afresh += np.tril(afresh, -1).T
            at = w.slot[order]
            wanted = np.tril(afresh[np.ix_(at, at)])
            size = np.abs(wanted).max()
            np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-9 * size)
            w.now.carried = 0
            updated += 1
    assert updated > 2


@pytest.mark.parametrize("name", ["squared hinge", "Huber, l1", "SVM", WIDE])
def test_systems_with_eliminated_coordinates_have_the_same_solutions(python, name):
    """Point, rates and response, beside the system of all unknowns, and back again."""
    python.setattr(run, "MANY_ELIMINATED", 1)
    compared = 0
    for seed in range(3):
        walk = walk_of(*problem(name, seed, 12))
        for w in states(walk, 20):
            if not w.now.eliminated:
                continue
            whole = Homotopy(
                walk.statement, walk.graphs, w.place, w.now.t, w.now.t + 1.0, face="saddle"
            ).walk
            for order in (VALUE, RATE):
                for one in (w, whole):
                    one.now.carried = 0
                    solve.solve(one, order, tolerances.REFINED)
                size = np.abs(whole.u[order, 0]).max()
                unknown = w.known == 0
                got, wanted = (one.u[order, 0, unknown] for one in (w, whole))
                np.testing.assert_allclose(got, wanted, rtol=1e-13, atol=1e-14 * size)
            k, i = w.now.solved, int(w.eliminated[0])
            before = np.tril(w.inverse[:k, :k])
            inverse.restore(w, i)
            assert w.slot[i] == k
            inverse.eliminate(w, i)
            np.testing.assert_allclose(
                np.tril(w.inverse[:k, :k]),
                before,
                rtol=1e-9,
                atol=1e-9 * np.abs(before).max(initial=0),
            )
            compared += 1
    assert compared > 5


def test_restored_coordinates_keep_their_room_among_eliminated_ones(python):
    """Where they stay in their places they are eliminated again when the inverse is afresh."""
    python.setattr(run, "MANY_ELIMINATED", 1)
    python.setattr(loop, "MANY_ELIMINATED", 1)
    checked = 0
    for w in states(walk_of(*problem(WIDE, 0, 14))):
        before = w.now.eliminated
        if w.now.eliminates != state.RIDGED or before < 7:
            continue
        for i in w.eliminated[:6].copy():
            inverse.restore(w, i)
        assert w.now.eliminated == before - 6
        sizes = memory.room(w)
        assert loop.has_room(memory.resized(w, sizes | {"eliminated": before + w.now.solved + 4}))
        assert not loop.has_room(memory.resized(w, sizes | {"eliminated": before}))
        inverse.factor(w)
        assert w.now.eliminated == before
        w.now.carried = 0
        checked += 1
    assert checked > 5


@pytest.mark.parametrize("name", NAMES)
def test_the_first_exit_of_five_samples_is_that_of_brute_force(python, name):
    compared = 0
    for seed in range(20):
        for w in states(walk_of(*problem(name, seed, 5)), 15):
            now, way = w.now, w.now.way
            left = way * (now.end - now.t)
            if left <= 0.0:
                break
            value, lower, upper = values(w, solved(w, now.t), now.t)
            then, lower_then, upper_then = values(w, solved(w, now.t + way), now.t + way)
            steps = np.full((2, w.map.N), np.inf)
            for side, room, later in (
                (0, value - lower, then - lower_then),
                (1, upper - value, upper_then - then),
            ):
                closing = room - later
                moves = np.isfinite(room) & (closing > 1e-9 * (1.0 + np.abs(value)))
                steps[side, moves] = np.maximum(room, 0.0)[moves] / closing[moves]
            assert loop.find_exit(w, left, 0.0)
            least = steps.min()
            if least >= left:
                assert now.blocking == -1
                continue
            np.testing.assert_allclose(now.step, least, rtol=1e-8, atol=1e-10)
            np.testing.assert_allclose(steps[now.side, now.blocking], least, rtol=1e-8, atol=1e-10)
            compared += 1
    assert compared > 15


CHANGES = {
    "SMALL_SYSTEM": 2,
    "KEPT": 2.0**-10,
    "MANY_ELIMINATED": 1,
    "CAREFUL": 0,
    "ODOMETER_BLOCK": 4,
    "LOST_STEP": 2.0**-6,
    "FIRST_LOOK": 100.0,
    "LOOK_GROWTH": 1.5,
}


def test_every_constant_for_speed_is_changed():
    assert set(CHANGES) == set(tolerances.SPEED)


@pytest.mark.parametrize("constant", CHANGES)
@pytest.mark.parametrize("name", ["kernel SVM", "quantiles", "lasso", WIDE])
def test_constants_for_speed_change_no_digit(python, name, constant):
    model, *ends = problem(name, 1, 16)
    plain = walk_of(model, *ends).run()
    assert change(python, constant, CHANGES[constant]) > 0
    track = walk_of(model, *ends).run()
    np.testing.assert_array_equal(track.events, plain.events)
    np.testing.assert_allclose(track.t[:, 0], plain.t[:, 0], rtol=1e-12, atol=1e-12)


def test_there_are_six_principles_and_few_constants_that_follow():
    named = [name for name in vars(tolerances) if name.isupper() and name != "SPEED"]
    assert len(named) - len(tolerances.SPEED) <= 6 + 13
    assert state.ODOMETER_BLOCK == tolerances.ODOMETER_BLOCK


@pytest.mark.parametrize("name", NAMES)
def test_known_coordinates_have_no_rates(python, name):
    for seed in range(3):
        for w in states(walk_of(*problem(name, seed, 14))):
            assert not w.u[RATE][:, w.known.astype(bool)].any()


def test_a_gain_by_sums_is_one_row_by_row(python):
    """Of pivots between quantiles, most of which are decided by the sums alone; ties are not."""
    counts = {True: 0, False: 0}
    quick = loop.surely_gains

    def both(w):
        surely = quick(w)
        python.setattr(loop, "surely_gains", lambda _: False)
        gained = loop.gains(w, int(w.changed[0]), int(w.place[w.changed[0]]))
        python.setattr(loop, "surely_gains", both)
        assert gained or not surely
        counts[surely] += 1
        return surely

    python.setattr(loop, "surely_gains", both)
    for seed in range(6):
        X, _, u = data(seed, 20)
        X, u = (X.round(), u.round()) if seed % 2 else (X, u)
        along_tau = partial(models.quantile_regression, X, u)
        for _ in states(walk_of(along_tau, 0.11, 0.89), most=200):
            pass
    assert counts[True] > 20
    assert counts[True] > counts[False]
