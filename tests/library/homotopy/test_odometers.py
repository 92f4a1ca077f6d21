"""What decides which coordinate is first, beside brute force: odometers, and the ratio test."""

import numpy as np
import pytest

from helpers.interpreted import interpret
from helpers.steps import (
    KERNELS,
    kernel_machine,
    linear,
    matrix,
    solved,
    steps,
    values,
    walk_of,
)
from solution_paths.homotopy import loop, ratio
from solution_paths.homotopy.odometers import EPOCH, room_left
from solution_paths.homotopy.state import ROWS, VALUE


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", KERNELS)
def test_no_room_is_less_than_what_odometers_say(name, seed):
    told, lines = 0, 0
    for w in steps(walk_of(*kernel_machine(name, seed)), 150):
        now, m = w.now, w.map
        u = np.where(w.known == 1, solved(w, now.t), w.u[VALUE, 0])
        value, lower, upper = values(w, u, now.t)
        room = np.minimum(value - lower, upper - value)
        for i in range(m.n):
            if not w.known[i] or w.due[i] == -np.inf:
                continue
            true = room[i] / m.length[i] + 1e-9
            assert w.due[i] - w.travel[ROWS] <= true
            told += w.due[i] > w.travel[ROWS]
            if w.line[i, EPOCH] == now.epoch:
                by_line = room_left.py_func(w, i, 0.0)
                assert by_line <= true
                lines += by_line > w.due[i] - w.travel[ROWS]
    assert told > 1000
    assert lines > 100  # they say more than the distance alone


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["SVM", "quantiles", "lasso", "squared hinge"])
def test_the_first_that_leaves_is_that_of_all(name, seed):
    check_steps(walk_of(*linear(name, seed, n=12)))


@pytest.mark.slow
@pytest.mark.parametrize("name", KERNELS)
def test_the_first_that_leaves_is_that_of_all_rows_of_a_kernel(name):
    check_steps(walk_of(*kernel_machine(name, 5, n=120)))


def check_steps(walk):
    """Compare each step with the least of all coordinates' steps, by a dense solver."""
    before, count = None, 0
    for w in steps(walk, 200):
        if before is not None and w.now.t != before[0]:
            np.testing.assert_allclose(w.now.t, before[1], rtol=1e-7, atol=1e-9)
            count += 1
        now, way = w.now, w.now.way
        u, ahead = solved(w, now.t), solved(w, now.t + way)
        value, lower, upper = values(w, u, now.t)
        then, lower_then, upper_then = values(w, ahead, now.t + way)
        step = way * (now.end - now.t)
        for room, later in ((value - lower, then - lower_then), (upper - value, upper_then - then)):
            some = np.isfinite(room)
            room, closing = room[some], room[some] - later[some]
            moves = closing > 1e-9 * (1.0 + np.abs(value[some]))
            step = min(step, (np.maximum(room, 0.0)[moves] / closing[moves]).min(initial=np.inf))
        before = now.t, now.t + way * step
    assert count >= 2


def test_what_is_left_open_is_told_by_duals_as_they_are_at_t(monkeypatch):
    """At tau = 1 - 1e-8 duals of rows below the curve are 1e-8, from a value and a rate of 1."""
    model, _, _ = kernel_machine("pinball in tau", 3)
    walk = walk_of(model, 1.0 - 1e-8, 1.0 - 1e-9)
    w, told = walk.walk, []
    interpret(monkeypatch)
    assert loop.find_exit(w, 1e-9, 0.0)
    ratio.collect(w, False)
    u = np.where(w.known == 1, solved(w, w.now.t), w.u[VALUE, 0])
    terms = np.abs(matrix(w)) @ np.abs(u)
    for i in np.flatnonzero(w.known[: w.map.n]):
        found = ratio.net_error(w, i, 1.0)
        np.testing.assert_allclose(found, w.map.noise * terms[i], rtol=1e-4)
        told.append(found / (w.map.noise * w.base_terms[:2, i].sum()))
    assert len(told) > 20
    assert min(told) < 0.2
