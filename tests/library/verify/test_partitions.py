"""Samples at the threshold of capped losses: when a local optimum is one."""

from itertools import product

import numpy as np
import pytest
import scipy.optimize
from scipy.optimize import linprog

from solution_paths import verify
from solution_paths.problem import Losses, Problem
from solution_paths.problem.branches import Branches, robust_hinges
from solution_paths.verify.partitions import BoxTest, _Boxes, at_threshold


def hinges(X, weights=1.0):
    """Return capped hinges of rows X, whose thresholds are 0, along the slope beyond them."""
    y = np.ones(len(X))
    return Branches.along(
        lambda t: robust_hinges(y, weights, t, 0.0),
        lambda loss: Problem(Losses(loss, X), ridge=1.0),
        y.astype(int),
        (0.0, 1.0),
    )


def test_local_optimality_with_many_samples_at_the_threshold():
    """Pairs of opposite rows: alike ones are few partitions, unequal ones too many to decide."""
    for lengths, decided in (([1.0] * 10, True), (np.arange(1.0, 4.0), True), (range(1, 8), False)):
        tied = np.array([[0.0, sign * length] for length in lengths for sign in (1, -1)])
        X = np.vstack([[1.0, 0.0], tied])
        branches, inliers = hinges(X), np.ones(len(X), int)
        a, z = np.array([1.0, *[1.2] * len(tied)]), X @ [1.0, 0.0]
        answer = verify.Answer(np.array([1.0, 0.0]), None, [a])
        assert verify.judge(branches.problem(0.4, inliers), answer).status == "holds"
        found = at_threshold(branches, 0.4, inliers, z, a)
        assert len(found.samples) == len(tied)
        assert found.decided == decided
        assert (found.local is None) == (not decided)


def test_samples_that_depend_on_no_others_are_examined_alone(monkeypatch):
    """Ten of them, of which each has one dual whatever the others do, with slopes of 1 and 2."""
    tested, test, inliers = [], BoxTest.__call__, np.ones(10, int)
    monkeypatch.setattr(BoxTest, "__call__", lambda *given: tested.append(1) or test(*given))
    a, branches = np.full(10, 1.5), hinges(np.eye(10))
    assert at_threshold(branches, 2.0, inliers, np.zeros(10), a).local
    assert len(tested) <= 1 + 10
    a[-1] = 2.5
    assert at_threshold(branches, 2.0, inliers, np.zeros(10), a).better.tolist() == [9]


def optimal_for_all(branches, t, partition, z, a):
    """Return how many samples are at thresholds, and whether all their partitions are optimal."""
    boxes = _Boxes.of(branches.pieces(t), z)
    other, rows = boxes.other(partition), np.arange(len(z))
    walls = np.flatnonzero(other >= 0)
    between = boxes.low[partition, rows] < boxes.high[partition, rows]
    free = np.r_[np.flatnonzero((other < 0) & between), walls]
    meets = BoxTest(branches.rows(free))
    sides = (
        np.where(flips, other[walls], partition[walls])
        for flips in product((False, True), repeat=len(walls))
    )
    local = all(meets(*boxes.around(a, partition, free, walls, side, 1.0)) for side in sides)
    return len(walls), local


def test_few_partitions_tell_as_much_as_all():
    """Few dummies with two weights: alike samples, some of them on both sides, dependent ones."""
    rng, found = np.random.default_rng(3), []
    for _ in range(200):
        n, t = int(rng.integers(4, 12)), 2.0
        X = np.eye(3)[rng.integers(0, 3, n)] + np.eye(3)[rng.integers(0, 3, n)] * rng.integers(2)
        branches = hinges(X, rng.choice([1.0, 2.0], n))
        z = rng.choice([0.0, 1.0, 2.0], n, p=[0.6, 0.2, 0.2])
        partition = np.where(z == 0.0, rng.integers(0, 2, n), 1)
        a = rng.choice([0.9, 1.5, 2.1, 4.2], n)
        walls, local = optimal_for_all(branches, t, partition, z, a)
        result = at_threshold(branches, t, partition, z, a)
        assert len(result.samples) == walls
        assert result.local in ((local,) if result.decided else (None,))
        found.append((walls, local, result.decided))
    assert max(walls for walls, _, decided in found if decided) > 6
    assert 20 < sum(local for walls, local, _ in found if walls > 2) < 180
    assert sum(not decided for *_, decided in found) < 30


def last_share(A, begin, end):
    """Return the largest share by one programme with a change for every sample; None: none at 0."""
    k, m = A.shape
    (low, high), (last_low, last_high) = begin, end
    eye, none, balance = np.eye(k), np.zeros((m, k)), np.zeros((m, 1))
    first = np.block([[eye, 0 * eye, np.zeros((k, 1))], [-eye, 0 * eye, np.zeros((k, 1))]])
    moved = np.block([[0 * eye, eye, (high - last_high)[:, None]]])
    risen = np.block([[0 * eye, -eye, (last_low - low)[:, None]]])
    result = linprog(
        np.append(np.zeros(2 * k), -1.0),
        A_ub=np.vstack([first, moved, risen]),
        b_ub=np.concatenate([high, -low, high, -low]),
        A_eq=np.block([[A.T, none, balance], [none, A.T, balance]]),
        b_eq=np.zeros(2 * m),
        bounds=[*[(None, None)] * (2 * k), (0.0, 1.0)],
    )
    return result.x[-1] if result.status == 0 else None


@pytest.mark.parametrize("symmetric", [False, True])
def test_boxes_are_left_where_a_programme_of_all_samples_says(symmetric):
    """Few dummies: rows are equal, zero, or depend on others, as do those of their kernel."""
    rng, found = np.random.default_rng(1), []
    for _ in range(200):
        A = (rng.random((rng.integers(2, 12), rng.integers(1, 5))) < 0.4).astype(float)
        k = len(A)
        low, last_low = rng.normal(-0.3, 0.5, (2, k))
        begin, end = ((low, low + rng.random(k)), (last_low, last_low + rng.random(k)))
        expected = last_share(A, begin, end)
        meets = BoxTest(A @ A.T if symmetric else A)
        found.append(expected)
        assert meets(*begin) == (expected is not None)
        assert abs(meets.until(begin, end) - (expected or 0.0)) <= 1e-6
    shares = [share for share in found if share is not None]
    assert found.count(None) > 50
    assert min(shares) < 0.1
    assert sum(s == 1.0 for s in shares) > 5


def test_a_thousand_dependent_rows_are_decided_by_a_programme_of_as_many_unknowns(monkeypatch):
    """Dummies: a basis of the changes that keep all values would have a million entries."""
    rng, sizes = np.random.default_rng(4), []

    def noted(c, **given):
        limits = 0 if given["A_ub"] is None else given["A_ub"].nnz
        sizes.append((len(c), limits + np.count_nonzero(given["A_eq"])))
        return linprog(c, **given)

    monkeypatch.setattr(scipy.optimize, "linprog", noted)
    A = np.hstack([np.eye(6)[rng.integers(0, 6, 1000)] for _ in range(8)])
    meets = BoxTest(A)
    d = np.bincount(meets.group, rng.normal(size=1000))
    keeps = d - meets.equations.T @ (meets.equations @ d)
    first = np.unique(meets.group, return_index=True)[1]
    assert meets.moves.all()
    assert np.abs(A[first].T @ keeps).max() <= 1e-10
    low, high = np.full(1000, -np.inf), np.full(1000, np.inf)
    low[first], high[first] = keeps - 0.1, keeps + 0.1
    assert not ((low <= 0) & (high >= 0)).all()
    assert meets(low, high)
    entries = len(first) * np.linalg.matrix_rank(A)
    assert all(k <= len(first) + 1 and nonzero <= entries for k, nonzero in sizes)
    third = np.flatnonzero(A[first, 0] == 1)  # all of one dummy's would have to rise
    low[first[third]], high[first[third]] = 0.1, np.inf
    assert not meets(low, high)
