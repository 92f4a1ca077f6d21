"""Curves of errors: what their pieces say, where they are least, what is made of them."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from solution_paths import lasso_path
from solution_paths.solution.curves import Curve, MeanCurve, mean_curve, steps


def curve(edges, left, right=None, sag=None):
    left = np.asarray(left, float)
    right = left if right is None else np.asarray(right, float)
    sag = np.zeros(len(left)) if sag is None else np.asarray(sag, float)
    return Curve(np.asarray(edges, float), left, right, sag)


def test_a_curve_is_least_at_a_vertex():
    parabola = curve([0, 2], [1.0], [5.0], [9.0])  # 1 + 4 u - 9 u (1 - u)
    best = parabola.best()
    assert best.parameter == pytest.approx(2 * 5 / 18)
    assert best.value == pytest.approx(1 + 4 * 5 / 18 - 9 * 5 / 18 * 13 / 18)
    assert parabola(best.parameter) == pytest.approx(best.value)


def test_a_curve_is_least_before_a_jump():
    best = curve([0, 1, 2], [3.0, 2.0], [1.0, 4.0]).best()
    assert best.value == 1.0
    assert best.intervals.tolist() == [[1.0, 1.0]]
    assert best.parameter < 1.0
    assert curve([0, 1, 2], [3.0, 2.0], [1.0, 4.0])(best.parameter) == pytest.approx(1.0)


def test_flat_minima_are_joined_and_the_widest_is_taken():
    best = curve([0, 1, 2, 3, 5, 6], [1, 3, 1, 1, 2]).best()
    assert best.intervals.tolist() == [[0.0, 1.0], [2.0, 5.0]]
    assert best.parameter == 3.5


def test_only_errors_that_differ_by_their_own_rounding_are_equal():
    """What they were compared to was the largest value anywhere."""
    here = [1.0 + 4e-7, 1.0, 1.0 + 3e-13, 1.0 + 2e-6]
    level = np.array([4e7, *here])
    best = curve([0, 1, 2, 3, 5, 9], level).best()
    assert best.value == 1.0
    assert best.intervals.tolist() == [[2.0, 5.0]]
    assert curve([0, 1, 2, 3, 5, 9], level).below(1.0).tolist() == [[2.0, 5.0]]
    moved = curve([0, 1, 2, 3, 5, 9], level).behind(np.array([1.0, 2.0, 3.0, 5.0])).edges
    assert (moved > [0, 1, 2, 3, 5, 9]).tolist() == [False, True, True, False, True, False]
    zero = Curve(np.array([0.0, 1.0, 2.0]), *2 * [np.array([0.0, 1e-17])], np.zeros(2))
    assert zero.best().intervals.tolist() == [[0.0, 1.0]]
    summed = replace(zero, unit=1.0)  # from terms of that size, so that 1e-17 is nothing
    for same in (summed, summed.over(0.0, 3.0), summed.times(2.0), mean_curve([summed, summed])):
        assert same.best().intervals.tolist() == [[0.0, same.edges[-1]]]


@pytest.mark.filterwarnings("ignore::solution_paths.PathWarning")
def test_a_curve_of_numbers_is_told_apart_where_it_is_least():
    """Far from there errors are 1e15 times as large."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(14, 12)) * 10.0 ** -np.arange(12)
    y = X[:, 0] + 0.1 * rng.normal(size=14)
    path = lasso_path(X, y)
    new = rng.normal(size=(50, 12))
    found = path.error_curve(new, new[:, 0], "squared")
    assert found.left.max() > 1e12
    best = found.best()
    assert found(best.parameter) == pytest.approx(best.value, rel=1e-11)
    assert np.allclose(found(best.intervals.ravel()), best.value, rtol=1e-11)


def test_the_middle_of_a_scale_is_that_of_logarithms():
    steps_ = curve([0, 0.01, 1, 100, 101, 500, 600], [3, 1, 3, 1, 1, 3])
    assert steps_.best(log=True).parameter == pytest.approx(0.1)
    assert steps_.best().parameter == pytest.approx(300.0)
    from_zero = curve([0, 0.01, 1, 5], [1, 1, 2])
    assert from_zero.best(log=True).parameter == pytest.approx(np.sqrt(0.005))
    only_first = curve([0, 0.01, 1], [1, 2]).best(log=True)
    assert 0.005 < only_first.parameter < 0.009
    assert curve([0, 1, 2], [2.0, 1.0]).over(0.0, np.inf).best(log=True).parameter > 1.0
    at_zero = curve([0, 1], [1.0], [2.0]).best(log=True)
    assert at_zero.parameter == 0.0
    nowhere = curve([0, np.inf], [1.0])
    assert nowhere.best(log=True).parameter == 1.0
    assert 0.5 <= curve([0, 1, np.inf], [1.0, 1.0]).best(log=True).parameter <= 1.0


def test_a_curve_that_goes_on_for_ever():
    endless = curve([0, 1, 4], [3, 1]).over(0.0, np.inf)
    assert endless(1e9) == 1.0
    best = endless.best()
    assert best.intervals.tolist() == [[1.0, np.inf]]
    assert best.parameter == 2.5
    only_there = curve([0, 1], [3.0], [2.0]).over(0.0, np.inf).best()
    assert (only_there.value, only_there.parameter) == (2.0, 1.0)


def test_the_mean_of_curves_is_the_mean_everywhere():
    rng = np.random.default_rng(2)
    parts = []
    for k in range(4):
        edges = np.unique(np.concatenate([[0.0, 3.0 + k], rng.uniform(0, 3, size=6)]))
        size = len(edges) - 1
        parts.append(
            curve(edges, rng.normal(size=size), rng.normal(size=size), rng.uniform(size=size))
        )
    mean = mean_curve([c.over(0.0, np.inf) for c in parts])
    t = np.concatenate([rng.uniform(0, 3, size=500), [0.0, 3.0, 5.5, 7.0, 99.0]])
    expected = np.mean([c.over(0.0, np.inf)(t) for c in parts], axis=0)
    np.testing.assert_allclose(mean(t), expected, rtol=1e-12)
    at_edges = mean.edges[:-1]
    expected = np.mean([c.over(0.0, np.inf)(at_edges) for c in parts], axis=0)
    np.testing.assert_allclose(mean.left, expected, rtol=1e-12)
    assert mean.best().value <= mean(t).min()


@pytest.mark.filterwarnings("error")
def test_inverses_beyond_the_largest_number_leave_no_piece_without_length():
    least, most = np.nextafter(0.0, 1.0), np.finfo(np.float64).max
    after_zero = curve([0.0, least, 0.5, 2.0], [5.0, 3.0, 1.0]).inverted(1.0)
    assert after_zero.edges.tolist() == [0.5, 2.0, np.inf]
    assert after_zero([0.5, 1.0, 2.0, 99.0]).tolist() == [1.0, 1.0, 3.0, 3.0]
    assert after_zero.over(1.0, 9.0).best().intervals.tolist() == [[1.0, 2.0]]
    in_the_limit = curve([0.01, 1.0, most, np.inf], [1.0, 2.0, 5.0]).inverted(1.0)
    assert in_the_limit([0.0, 0.5, 2.0]).tolist() == [5.0, 2.0, 1.0]
    assert in_the_limit.over(0.1, 9.0).on(np.array([0.1, 1.0, 4.0])).left.tolist() == [2.0, 1.0]
    assert in_the_limit.best().intervals.tolist() == [[1.0, 100.0]]
    assert curve([0.0, least, 1.0], [2.0, 1.0]).scaled(0.1).edges.tolist() == [0.0, 0.1]


def test_steps_that_fall_together_are_added():
    found = steps(0.0, 1.0, 2, np.array([0.5, 0.5, 0.25]), np.array([1.0, 1.0, -1.0]), 4)
    assert found.edges.tolist() == [0.0, 0.25, 0.5, 1.0]
    assert found.left.tolist() == [0.5, 0.25, 0.75]


def test_a_curve_refuses_what_it_does_not_cover():
    with pytest.raises(ValueError, match=r"outside this curve, which covers \[0, 2\]"):
        curve([0, 2], [1.0])([1.0, 2.5])


def test_where_a_curve_is_below_a_level():
    rng = np.random.default_rng(0)
    for _ in range(20):
        left, sag = rng.uniform(0, 3, 5), np.maximum(rng.normal(size=5), 0.0) * 4
        own = curve(np.cumsum(rng.uniform(0.1, 1, 6)), left, left + rng.normal(size=5), sag)
        level = rng.uniform(0, 3)
        t = np.linspace(*own.edges[[0, -1]], 5000)
        inside = np.zeros(len(t), dtype=bool)
        if own._lowest()[0].min() <= level:
            for first, last in own.below(level):
                inside |= (t >= first) & (t <= last)
        np.testing.assert_array_equal(inside, own(t) <= level)


# -- what pieces say, by their definition -----------------------------------------------------

EDGES = np.array([0.5, 1.0, 2.0, 3.0, 4.0])
BENT = curve(EDGES, [3, 1, 1, 2], [1, 0.5, 2, 4], [0, 1, 4, 0.5])
KINDS = {
    "flat": curve(EDGES, [3, 1, 1, 2]),
    "bent": BENT,
    "reciprocal": replace(BENT, reciprocal=True),
}
INSIDE = np.linspace(0.55, 3.95, 18)  # at no edge


def by_definition(own, t):
    """Return left + u (right - left) - u (1 - u) sag, u the share of t, or of 1 / t, of its piece.

    At an edge the next piece counts.
    """
    k = min(np.searchsorted(own.edges, t, side="right") - 1, len(own.left) - 1)
    a, b = own.edges[k : k + 2]
    u = (1 / t - 1 / a) / (1 / b - 1 / a) if own.reciprocal else (t - a) / (b - a)
    return own.left[k] + u * (own.right[k] - own.left[k]) - u * (1 - u) * own.sag[k]


@pytest.mark.parametrize("name", KINDS)
def test_a_curve_is_what_its_pieces_say(name):
    own, at = KINDS[name], np.concatenate([EDGES, INSIDE])
    np.testing.assert_allclose(own(at), [by_definition(own, t) for t in at], rtol=1e-14)


@pytest.mark.parametrize("name", KINDS)
def test_curves_of_other_units_and_pieces_are_the_same_function(name):
    own = KINDS[name]
    wanted = own(INSIDE)
    for found, at, factor in (
        (own.on(np.union1d(EDGES, [0.6, 1.7, 2.5])), INSIDE, 1.0),
        (own.scaled(2.0), 2.0 * INSIDE, 1.0),
        (own.inverted(2.0), 2.0 / INSIDE, 1.0),
        (own.times(3.0), INSIDE, 3.0),
    ):
        np.testing.assert_allclose(found(at), factor * wanted, rtol=1e-13)
        assert found.unit == factor * own.unit
    assert own.inverted(2.0)(2.0 / EDGES[1]) == own.right[0]  # what was before a jump is behind it
    part, kept = own.over(0.75, 3.5), (INSIDE >= 0.75) & (INSIDE <= 3.5)
    assert part.edges.tolist() == [0.75, 1.0, 2.0, 3.0, 3.5]
    np.testing.assert_allclose(part(INSIDE[kept]), wanted[kept], rtol=1e-13)
    for t in (0.7, 3.6):
        with pytest.raises(ValueError, match=r"outside this curve, which covers \[0.75, 3.5\]"):
            part(t)


@pytest.mark.parametrize("log", [None, True, False])
@pytest.mark.parametrize("name", KINDS)
def test_no_value_of_a_grid_is_less_than_the_least(name, log):
    own = KINDS[name]
    best, grid = own.best(log=log), own(np.linspace(0.5, 4.0, 35_001))
    assert grid.min() - 1e-7 <= best.value <= grid.min()
    assert own(best.parameter) == pytest.approx(best.value, rel=1e-12)
    if name == "flat":  # from 1 to 3, of which it takes the middle
        assert best.intervals.tolist() == [[1.0, 3.0]]
        assert best.parameter == pytest.approx(np.sqrt(3.0) if log else 2.0)


def test_before_a_jump_beyond_a_level():
    own = KINDS["flat"]  # which rises to 2 at 3
    assert own.before_jump(3.0, 1.5) == np.nextafter(3.0, 0.0)
    assert own.before_jump(3.0, 2.0) == own.before_jump(3.0, 9.0) == 3.0
    assert own.before_jump(2.0, 1.0) == 2.0


def test_folds_tell_how_far_their_mean_is_known():
    whole = MeanCurve.of([KINDS["flat"], BENT])
    parts = np.array([KINDS["flat"](INSIDE), BENT(INSIDE)])
    np.testing.assert_allclose(whole(INSIDE), parts.mean(axis=0), rtol=1e-14)
    wanted = np.abs(parts[0] - parts[1]) / 2  # of two: deviation over sqrt(2)
    np.testing.assert_allclose(whole.standard_error(INSIDE), wanted, rtol=1e-12)
    best = whole.best()
    level = best.value + whole.standard_error(np.array([best.parameter]))[0]
    t = np.linspace(0.5, 4.0, 35_001)
    near = t[whole(t) <= level]
    assert whole.simplest(larger=True) == pytest.approx(near.max(), abs=2e-4)
    assert whole.simplest(larger=False) == pytest.approx(near.min(), abs=2e-4)


def test_the_mean_of_many_curves_takes_no_more_memory_than_a_few():
    r = np.random.default_rng(0)
    curves = []
    for _ in range(100):
        edges = np.append(0.0, np.sort(r.uniform(0.1, 1.0, 200)))
        values = r.normal(size=(3, 200))
        curves.append(Curve(edges, *values))
    t, weights = r.uniform(0.0, 0.9, 200), r.uniform(size=100)
    weights[:30] = 0.0  # whole blocks of them
    for w in (None, weights.tolist()):
        tracemalloc.start()
        mean = mean_curve(curves, w)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert len(mean.edges) > 19_000
        assert most < 40e6  # each at the edges of all others: 48 MB for each number
        values = [curve.over(0.0, 1.0)(t) for curve in curves]
        assert mean(t) == pytest.approx(np.average(values, 0, w), abs=1e-13)
