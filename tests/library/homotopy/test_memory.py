"""The loop writes nothing beyond the arrays that it is given, however little room it has."""

import copy
import math
import pickle
from bisect import bisect_left
from dataclasses import replace

import numpy as np
import pytest

from helpers import stated_models as models
from helpers.walks import walked
from solution_paths.homotopy import loop, memory
from solution_paths.homotopy.operations import WALK, operate
from solution_paths.homotopy.run import Homotopy
from solution_paths.homotopy.statement import read
from solution_paths.homotopy.tolerances import BLUR
from solution_paths.problem import Losses, Problem, along, losses, penalties
from solution_paths.solution import follow

pytestmark = pytest.mark.slow

GUARDS = 200  # entries behind each array, more than any row of it has
MARK = 77


def least_sizes(w):
    """Return the sizes at which there is just room for a step, as `has_room` has it."""
    now, sizes = w.now, memory.room(w)
    used = {"cap": now.solved, "nodes": now.nodes, "events": now.events, "entries": now.entries}
    used["seen"] = now.seen
    if now.eliminates:
        used["eliminated"] = now.eliminated
    assert loop.has_room.py_func(w)
    for name in used:

        def is_enough(size, name=name):
            return loop.has_room.py_func(memory.resized(w, sizes | {name: size}))

        own = range(used[name], sizes[name] + 1)
        sizes[name] = own[bisect_left(own, True, key=is_enough)]
    return sizes


def with_guards(w, sizes):
    """Return the same walk in arrays of such sizes, and the marked entries behind each array."""
    changed, behind = {}, {}
    for name, shape in memory.shapes(w.map, sizes).items():
        size, old = math.prod(shape), getattr(w, name)
        whole = np.zeros(size + GUARDS, old.dtype)
        whole[size:] = MARK
        behind[name] = whole[size:]
        changed[name] = whole[:size].reshape(shape)
        kept = tuple(slice(min(a, b)) for a, b in zip(old.shape, shape, strict=True))
        changed[name][kept] = old[kept]
    return replace(w, **changed), behind


def run_in_little_room(self, callback=None, enough=np.inf):
    """Stand in for `Homotopy.run`: before each step there is just room for one."""
    ending = loop.MORE_ROOM
    while ending in (loop.MORE_ROOM, loop.DENSER, loop.SWITCH):
        self.grow_memory(ending)
        self.walk, behind = with_guards(self.walk, least_sizes(self.walk))
        ending = operate(self.walk, WALK, 1)
        assert [name for name, own in behind.items() if (own != MARK).any()] == []
    assert ending == loop.DONE
    return self.track()


def degenerate_lasso():
    """Return a lasso of few different numbers, in which rows and columns come twice."""
    r = np.random.default_rng(0)
    X, y = r.integers(0, 3, (20, 8)).astype(float), r.integers(0, 3, 20).astype(float)
    X[10:], X[:, 5] = X[:10], X[:, 4]
    return lambda lam: Problem(Losses(losses.squared(y), X, 1.0), penalties.l1(8, lam)), 90.0, 0.1


def degenerate_svm():
    """Return an SVM in which all samples come three times."""
    r = np.random.default_rng(1)
    X = np.repeat(r.integers(0, 3, (10, 2)).astype(float), 3, axis=0)
    y = np.where(X[:, 0] + r.normal(size=30) > 1.0, 1.0, -1.0)
    return lambda C: models.svm(X, y, C), 0.01, 5.0


def wide_elastic_net():
    """Return an elastic net whose weights are eliminated once they are more than rows."""
    r = np.random.default_rng(2)
    X, y = r.normal(size=(5, 60)), r.normal(size=5)
    return lambda lam: models.elastic_net(X, y, lam, 0.5), 5.0, 0.1


# By default all others are walked on the saddle face, too.
PRIMAL = ("lasso", "elastic net", "l1 lasso, no bias")
WALKS = {name: (own, "auto") for name, own in models.EXAMPLES.items()}
WALKS |= {f"{name}, saddle": (models.EXAMPLES[name], "saddle") for name in PRIMAL}
WALKS |= {
    "wide elastic net": (wide_elastic_net(), "auto"),
    "lasso of twins": (degenerate_lasso(), "auto"),
    "lasso of twins, saddle": (degenerate_lasso(), "saddle"),
    "SVM of triplets": (degenerate_svm(), "auto"),
}


def test_examples_that_are_walked_once_have_one_face():
    for name, (model, *ends) in models.EXAMPLES.items():
        assert (read(along(model, *ends)).face == "primal") == (name in PRIMAL), name


@pytest.mark.parametrize("name", WALKS)
def test_nothing_is_written_behind_arrays_with_room_for_one_step(name, monkeypatch):
    (model, *ends), face = WALKS[name]
    expected = walked(model, *ends, face=face)
    monkeypatch.setattr(Homotopy, "run", run_in_little_room)
    found = walked(model, *ends, face=face)
    np.testing.assert_array_equal(found.track.events, expected.track.events)
    np.testing.assert_allclose(found.t, expected.t, rtol=1e-12)
    np.testing.assert_allclose(found.unknowns, expected.unknowns, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", WALKS)
def test_a_walk_in_the_memory_of_another_one_is_the_same(name):
    """Whatever the other one left there, and though it walked the other way."""
    (model, *ends), face = WALKS[name]
    line = along(model, *ends)
    statement = read(line, face)
    first = follow._homotopy_at_start(line, statement, face)
    start, end = first.start, first.walk.now.end
    expected = first.run()
    own = statement, statement.graphs, first.place, end, 0.0
    first.release()
    back = Homotopy(*own, face=face)
    back.run()
    back.release()
    again = Homotopy(statement, statement.graphs, start, 0.0, end, line.t0, face=face, near=BLUR)
    found = again.run()
    for part in ("t", "events", "event_at", "entry", "entries", "entry_at"):
        np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))


def test_memory_is_handed_on_once_and_only_by_walks_that_have_ended():
    model, *ends = degenerate_svm()
    line = along(model, *ends)
    statement = read(line)
    first = follow._homotopy_at_start(line, statement, "auto")

    def memory(walk):
        return walk.walk.u.ctypes.data

    def another():
        return Homotopy(statement, statement.graphs, first.start, 0.0, 1.0)

    other = another()
    assert memory(other) != memory(first)  # which has not ended
    place, address = other.place, memory(other)
    kept = place.copy()
    other.release()
    with pytest.raises(AttributeError):
        other.run()
    second, third = another(), another()
    assert memory(second) == address != memory(third)
    second.run()
    np.testing.assert_array_equal(place, kept)
    second.release()
    assert statement.spare is not None
    for other in (
        statement.along(line),
        copy.copy(statement),
        pickle.loads(pickle.dumps(statement)),
    ):
        assert other.spare is None
