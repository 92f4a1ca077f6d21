"""Samples at the threshold of capped losses: when a local optimum is one."""

import numpy as np
import pytest
import scipy.optimize
from scipy.optimize import linprog

from solution_paths import verify
from solution_paths.problem import Losses, Problem
from solution_paths.problem.branches import Branches, robust_hinges
from solution_paths.verify.partitions import BoxTest, at_threshold


def test_local_optimality_with_many_samples_at_the_threshold_is_undecided():
    """Twice so many samples at the threshold, half of them on either side of the origin."""
    for pairs, decided in ((3, True), (4, False)):
        X = np.array([[1.0, 0.0], *[[0.0, 1.0]] * pairs, *[[0.0, -1.0]] * pairs])
        y = np.ones(len(X))

        def machine(own, X=X):
            return Problem(Losses(own, X), ridge=1.0)

        branches = Branches.along(
            lambda t, y=y: robust_hinges(y, 1.0, t, 0.0), machine, np.ones(len(y), int), (0.0, 1.0)
        )
        a, z = np.array([1.0, *[1.2] * (2 * pairs)]), X @ [1.0, 0.0]
        inliers = np.ones(len(y), int)
        answer = verify.Answer(np.array([1.0, 0.0]), None, [a])
        assert verify.judge(branches.problem(0.4, inliers), answer).status == "holds"
        found = at_threshold(branches, 0.4, inliers, z, a)
        assert len(found.samples) == 2 * pairs
        assert found.decided == decided
        assert (found.local is None) == (not decided)


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
