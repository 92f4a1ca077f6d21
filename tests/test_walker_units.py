"""The walker's parts: updates of the inverse, the three operators, staircases."""

import numpy as np
import pytest
import scipy.sparse as sp
from numba import njit

from solution_paths import quantile_svm_path
from solution_paths.engine import factor, triangle
from solution_paths.engine.operators import (
    column,
    gram_operator,
    hold_level,
    rebuild,
    rows_operator,
    sum_up,
    value,
)
from solution_paths.engine.staircase import epsilon_insensitive, equality, hinge, stack
from solution_paths.engine.starts import balanced_guess, start_from_guess
from solution_paths.engine.state import DONE, FAR
from solution_paths.engine.steps import _earliest, _next_due

SIZE = 7


@njit
def one_value(op, i, t, Q, m, a):
    """Call `value`, which as an inlined function has no face in Python."""
    return value(op, i, t, Q, m, a)


@njit
def all_due(block, start, reach):
    """Return the blocks that `_next_due` finds, in its order."""
    found = []
    b, left = _next_due(block, start, block.shape[0], reach)
    while left > 0:
        found.append(b)
        b, left = _next_due(block, b + 1, left - 1, reach)
    return found


@njit
def one_earliest(due, first, last):
    """Call `_earliest`, which as an inlined function has no face in Python."""
    return _earliest(due, first, last)


def symmetric(rng, size, definite):
    """Return a well-conditioned symmetric matrix, indefinite unless asked otherwise."""
    Q = np.linalg.qr(rng.normal(size=(size, size)))[0]
    values = rng.uniform(0.5, 2.0, size=size)
    return Q * (values if definite else values * np.where(np.arange(size) % 3 == 0, -1, 1)) @ Q.T


def held(J, room=2):
    """Return J's inverse the way the walker holds it: lower triangle, garbage above."""
    m = len(J)
    G = np.full((m + room, m + room), np.nan)
    lower = np.tril_indices(m)
    G[lower] = np.linalg.inv(J)[lower]
    return G


def whole(G, m):
    """Return the symmetric matrix of which G holds the lower triangle."""
    lower = np.tril(G[:m, :m])
    return lower + np.tril(lower, -1).T


def moved(members, *gone):
    """Return the members when each of ``gone`` (positions) was replaced by the last one."""
    members = list(members)
    for j in sorted(gone, reverse=True):
        last = members.pop()
        if j < len(members):
            members[j] = last
    return members


@pytest.fixture(params=[0, 1, 2], ids=["seed0", "seed1", "seed2"])
def system(request):
    """Return a rng and a symmetric H of which the first SIZE rows are pinned."""
    rng = np.random.default_rng(request.param)
    return rng, symmetric(rng, SIZE + 2, definite=request.param == 0)


def of(H, members):
    return np.linalg.inv(H[np.ix_(members, members)])


def schur(H, m, c):
    """Return u = G H_Pc and the Schur pivot of c."""
    u = np.linalg.solve(H[:m, :m], H[:m, c])
    return u, H[c, c] - H[c, :m] @ u


def test_multiply_and_read_column(system):
    rng, H = system
    G, v, out = held(H), rng.normal(size=len(H)), np.empty(len(H))
    factor.multiply(G, len(H), v, out)
    np.testing.assert_allclose(out, np.linalg.inv(H) @ v, rtol=1e-10, atol=1e-12)
    for j in range(len(H)):
        factor.read_column(G, len(H), j, out)
        np.testing.assert_allclose(out, np.linalg.inv(H)[:, j], rtol=1e-12)


def test_append(system):
    _, H = system
    G = held(H[:SIZE, :SIZE])
    u, pivot = schur(H, SIZE, SIZE)
    factor.append(G, SIZE, u, pivot)
    expected = of(H, range(SIZE + 1))
    np.testing.assert_allclose(whole(G, SIZE + 1), expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("j", [0, 3, SIZE - 1])
def test_remove(system, j):
    _, H = system
    G = held(H[:SIZE, :SIZE])
    g = np.empty(SIZE)
    factor.read_column(G, SIZE, j, g)
    factor.remove(G, SIZE, j, g)
    expected = of(H, moved(range(SIZE), j))
    np.testing.assert_allclose(whole(G, SIZE - 1), expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("j", [0, 3, SIZE - 1])
def test_replace_by_one_that_depends_on_the_others(system, j):
    rng, H = system
    weights = rng.normal(size=SIZE)
    H[:SIZE, SIZE] = H[SIZE, :SIZE] = H[:SIZE, :SIZE] @ weights
    H[SIZE, SIZE] = weights @ H[:SIZE, :SIZE] @ weights  # the Schur pivot is zero but for rounding
    G = held(H[:SIZE, :SIZE])
    g = np.empty(SIZE)
    factor.read_column(G, SIZE, j, g)
    u, pivot = schur(H, SIZE, SIZE)
    assert abs(pivot) < 1e-12
    factor.replace(G, SIZE, j, g, u, pivot, *np.empty((2, SIZE)))
    members = list(range(SIZE))
    members[j] = SIZE
    np.testing.assert_allclose(whole(G, SIZE), of(H, members), rtol=1e-8, atol=1e-10)


def test_append_two_that_are_singular_alone(system):
    rng, H = system
    a, b = SIZE, SIZE + 1
    weights = rng.normal(size=SIZE)
    H[:SIZE, a] = H[a, :SIZE] = H[:SIZE, :SIZE] @ weights
    H[a, a] = weights @ H[:SIZE, :SIZE] @ weights
    G = held(H[:SIZE, :SIZE])
    u, pivot = schur(H, SIZE, a)
    v, other = schur(H, SIZE, b)
    cross = H[a, b] - H[a, :SIZE] @ v
    assert abs(pivot) < 1e-12 < abs(cross)
    factor.append_two(G, SIZE, u, pivot, v, other, cross, *np.empty((2, SIZE)))
    np.testing.assert_allclose(whole(G, SIZE + 2), of(H, range(SIZE + 2)), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(("i", "j"), [(0, 1), (4, 2), (SIZE - 1, 0), (SIZE - 2, SIZE - 1)])
def test_remove_two(system, i, j):
    _, H = system
    G = held(H[:SIZE, :SIZE])
    columns = np.linalg.inv(H[:SIZE, :SIZE])
    gi, gj = columns[:, i].copy(), columns[:, j].copy()
    factor.remove_two(G, SIZE, i, gi, j, gj, *np.empty((2, SIZE)))
    expected = of(H, moved(range(SIZE), i, j))
    np.testing.assert_allclose(whole(G, SIZE - 2), expected, rtol=1e-8, atol=1e-10)


def test_thousand_updates_keep_the_inverse():
    rng = np.random.default_rng(5)
    H = symmetric(rng, 12, definite=True)
    members, G = [0], held(H[:1, :1], room=11)
    for _ in range(1000):
        m = len(members)
        outside = sorted(set(range(12)) - set(members))
        if m == 1 or (outside and rng.random() < 0.5):
            c = int(rng.choice(outside))
            u = np.empty(m)
            factor.multiply(G, m, H[members, c], u)
            factor.append(G, m, u, H[c, c] - H[c, members] @ u)
            members.append(c)
        else:
            j, g = int(rng.integers(m)), np.empty(m)
            factor.read_column(G, m, j, g)
            factor.remove(G, m, j, g)
            members = moved(members, j)
    np.testing.assert_allclose(whole(G, len(members)), of(H, members), rtol=1e-8, atol=1e-9)


# -- operators --------------------------------------------------------------------------------

N_ROWS, LAM = 9, 0.4


def three_operators(seed=0, features=2):
    """Return dense, rows and sparse operators of the same map, and that map."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, 4)) * (rng.random((N_ROWS, 4)) < 0.6)
    B = rng.normal(size=(N_ROWS, features))
    H = np.zeros((N_ROWS + features,) * 2)
    H[:N_ROWS, :N_ROWS] = X @ X.T / LAM
    H[:N_ROWS, N_ROWS:] = -B
    H[N_ROWS:, :N_ROWS] = -B.T
    return {
        "dense": gram_operator(X @ X.T / LAM, B),
        "rows": rows_operator(X, B, scale=1 / LAM),
        "sparse": rows_operator(sp.csr_array(X), B, scale=1 / LAM),
    }, H


@pytest.mark.parametrize("kind", ["dense", "rows", "sparse"])
def test_operator_holds_the_map(kind):
    operators, H = three_operators()
    op = operators[kind]
    np.testing.assert_allclose(op.diagonal, H.diagonal(), atol=1e-14)
    np.testing.assert_array_equal(op.sign, np.r_[np.ones(N_ROWS), -np.ones(2)])
    P = np.array([3, 0, N_ROWS + 1, 7, N_ROWS])
    out = np.empty(len(P))
    for j in range(len(H)):
        column(op, P, len(P), j, out)
        np.testing.assert_allclose(out, H[P, j], atol=1e-13)
    n = N_ROWS
    assert (np.abs(H) <= np.outer(op.norm, op.norm) * (1 + 1e-12)).all()
    assert (op.norm[:n] ** 2 >= H.diagonal()[:n] - 1e-13).all()


@pytest.mark.parametrize("kind", ["dense", "rows", "sparse"])
def test_operator_values(kind):
    operators, H = three_operators(seed=1)
    op, rng = operators[kind], np.random.default_rng(2)
    P = np.array([5, N_ROWS, 1, N_ROWS + 1])
    duals0, duals1, t = rng.normal(size=len(H)), rng.normal(size=len(H)), 0.3
    duals0[P] = duals1[P] = 0.0
    duals1[N_ROWS:] = 0.0
    a = rng.normal(size=len(P))
    rebuild(op, t, duals0, duals1)
    if kind != "dense":
        sum_up(op, t, P, len(P), a, np.zeros(len(P)))
    whole_dual = duals0 + t * duals1
    whole_dual[P] = a
    expected = op.sign * (H @ whole_dual)
    Q = np.ascontiguousarray(H[:, P])
    got = [one_value(op, i, t, Q, len(P), a) for i in range(len(H))]
    np.testing.assert_allclose(got, expected, atol=1e-12)
    assert op.now.levels.moving == np.count_nonzero(duals1)


def test_levels_that_stop_moving_leave_no_velocity():
    operators, H = three_operators(seed=3)
    rng = np.random.default_rng(4)
    for op in operators.values():
        rates = rng.normal(size=N_ROWS)
        rebuild(op, 0.0, np.zeros(len(H)), np.zeros(len(H)))
        for i in range(N_ROWS):
            hold_level(op, i, 0.0, rates[i], 1)
        for i in range(N_ROWS):
            hold_level(op, i, 0.0, rates[i], -1)
        assert op.now.levels.moving == 0
        assert not op.now.base1.any()


# -- staircases -------------------------------------------------------------------------------


def test_hinge_and_tube_staircases():
    y, cost = np.array([1.0, -1.0]), np.array([2.0, 3.0])
    stairs = hinge(y, cost, np.array([0.5, -1.0]))
    np.testing.assert_array_equal(stairs.kinks(7.0), [[1.0], [-1.0]])
    np.testing.assert_array_equal(stairs.levels(2.0), [[3.0, 0.0], [0.0, -1.0]])
    tube = epsilon_insensitive(np.array([5.0]), 0.25, 2.0)
    np.testing.assert_array_equal(tube.kinks(0.0), [[4.75, 5.25]])
    np.testing.assert_array_equal(tube.levels(0.0), [[2.0, 0.0, -2.0]])


def test_staircase_locates_values_on_pieces():
    both = stack(epsilon_insensitive(np.zeros(3), 1.0, 2.0), equality())
    state = both.locate(np.array([-3.0, 0.0, 3.0, -1.0]), 0.0)
    np.testing.assert_array_equal(state, [0, 2, 4, 0])
    np.testing.assert_array_equal(both.duals(state, 0.0)[:3], [2.0, 0.0, -2.0])


def test_substitution_reads_the_same_staircase():
    stairs = hinge(np.array([1.0, -1.0, 1.0]), np.array([1.0, 2.0, 0.5]), np.array([0.1, 0.2, 0.3]))
    u, offset, scale = 0.7, 2.0, -3.0
    other = stairs.substitute(offset, scale)
    np.testing.assert_allclose(other.levels(u), stairs.levels(offset + scale * u), atol=1e-15)
    np.testing.assert_allclose(other.kinks(u), stairs.kinks(offset + scale * u), atol=1e-15)


@pytest.mark.parametrize("kind", ["rows", "kernel"])
def test_an_inaccurate_factor_costs_refinement_but_no_accuracy(kind):
    rng = np.random.default_rng(7)
    n, d, lam = 400, 40, 1e-2
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    path = quantile_svm_path(X, y, lam=lam, intercept_scaling=0.0)
    op = rows_operator(X, scale=1.0 / lam) if kind == "rows" else gram_operator(X @ X.T / lam)
    cost = np.where(y > 0, 2.0 / n, 0.0), np.where(y > 0, -2.0 / n, 2.0 / n)
    walker = start_from_guess(op, hinge(y, *cost), 0.3, y * path.dual(0.3))
    s = walker.s
    m = s.sizes.factored
    assert m > 16
    s.R[:m, :m] *= 1.0 + 1e-7 * rng.uniform(-1.0, 1.0, size=(m, m))
    before = walker.statistics()["refactorisations"]
    assert walker.walk(0.31) == DONE
    assert walker.statistics()["events"] > 3
    assert walker.statistics()["refactorisations"] == before
    assert s.accuracy.contraction > 1e-9
    np.testing.assert_allclose(y * walker.duals(), path.dual(0.31), rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", ["rows", "kernel"])
def test_rates_are_carried_along_with_the_factor(kind):
    """R'^-1 of the kinks' rates, kept up from event to event, is what one would compute."""
    rng = np.random.default_rng(3)
    n, d, lam = 200, 40, 0.1
    X, bias = rng.normal(size=(n, d)), np.ones((n, 1))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    K = X @ X.T / lam
    op = rows_operator(X, bias, scale=1.0 / lam) if kind == "rows" else gram_operator(K, bias)
    stairs = stack(hinge(y, 0.0, 1.0), equality())  # costs grow with t
    guess, anchor = balanced_guess(op, stairs, 1e-3)
    walker = start_from_guess(op, stairs, 1e-3, guess, anchor=anchor)
    s, seen = walker.s, 0
    for t in np.geomspace(2e-3, 1e-1, 20):
        assert walker.walk(t) == DONE
        q, states = s.sizes.factored, s.state[:n]
        samples = s.P[s.order[:q]]
        moving = np.where(states % 2 == 0, stairs.level1[np.arange(n), states // 2], 0.0)
        rates = -K[samples] @ moving  # the kinks stand still
        if s.direction.carried and q > 0:
            seen += 1
            carried = np.triu(s.R[:q, :q]).T @ s.W[:q, -1]
            np.testing.assert_allclose(carried, rates, rtol=0, atol=1e-12 * abs(rates).max())
    assert walker.statistics()["events"] > 100
    assert seen > 10


# -- the triangular factor --------------------------------------------------------------------


def upper(rows):
    """Return R of R'R = rows rows', with room for two more."""
    R = np.zeros((len(rows) + 2, len(rows) + 2))
    R[: len(rows), : len(rows)] = np.linalg.cholesky(rows @ rows.T).T
    return R


@pytest.mark.parametrize("size", range(1, 12))
def test_each_due_block_is_found_once_from_anywhere_on(size):
    rng = np.random.default_rng(size)
    for start in range(size):
        block = rng.choice([-FAR, 1.0, 2.0, FAR], size)
        order = (start + np.arange(size)) % size
        expected = [b for b in order if block[b] <= 1.0]
        assert list(all_due(block, start, 1.0)) == expected


@pytest.mark.parametrize("size", [1, 3, 4, 7, 8, 64])
def test_the_earliest_deadline_wherever_it_is(size):
    rng = np.random.default_rng(size)
    for at in range(size):
        due = rng.uniform(1.0, 2.0, size + 4)
        due[[0, 1, -1, -2]] = -1.0  # before and behind
        due[2 + at] = 0.5
        assert one_earliest(due, 2, 2 + size) == 0.5


@pytest.mark.parametrize("m", [1, 3, 4, 7, 12])
def test_triangular_solves(m):
    rng = np.random.default_rng(m)
    rows = rng.normal(size=(m, m + 3))
    R, b = upper(rows), rng.normal(size=m)
    lower, x = b.copy(), b.copy()
    triangle.solve_lower(R, m, lower)
    np.testing.assert_allclose(R[:m, :m].T @ lower, b, atol=1e-12)
    triangle.solve_upper(R, m, x)
    np.testing.assert_allclose(R[:m, :m] @ x, b, atol=1e-12)


@pytest.mark.parametrize("j", [0, 3, SIZE - 1])
def test_a_row_leaves_the_factor(j):
    rng = np.random.default_rng(j)
    rows, borders = rng.normal(size=(SIZE, SIZE + 2)), rng.normal(size=(SIZE, 2))
    R, W = upper(rows), np.zeros((SIZE + 2, 2))
    W[:SIZE] = np.linalg.solve(R[:SIZE, :SIZE].T, borders)
    scratch, column = np.zeros((2, SIZE + 2))
    triangle.remove(R, SIZE, j, W, scratch, column)
    m, rest = SIZE - 1, np.delete(np.arange(SIZE), j)
    left = np.triu(R[:m, :m])
    np.testing.assert_allclose(left.T @ left, rows[rest] @ rows[rest].T, atol=1e-12)
    np.testing.assert_allclose(left.T @ W[:m], borders[rest], atol=1e-12)
    np.testing.assert_allclose(left.T @ column[:m], rows[rest] @ rows[j], atol=1e-12)


def test_thousands_of_updates_keep_the_factor_though_rows_are_nearly_parallel():
    """Rows of condition 1e6: their products' condition is 1e12, and updates must not add to it."""
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(12, 12)) * 10.0 ** -np.linspace(0, 6, 12)
    members, R, W = [0], np.zeros((14, 14)), np.zeros((14, 0))
    R[0, 0] = np.linalg.norm(rows[0])
    for _ in range(3000):
        m = len(members)
        outside = sorted(set(range(12)) - set(members))
        if m == 1 or (outside and rng.random() < 0.5):
            c = int(rng.choice(outside))
            r = np.linalg.qr(np.vstack([rows[members], rows[c]]).T, mode="r")
            column = r[:m, m] * np.sign(np.diag(r)[:m])
            triangle.append(R, m, column, abs(r[m, m]))
            members.append(c)
        else:
            j = int(rng.integers(m))
            triangle.remove(R, m, j, W, *np.zeros((2, 14)))
            members.pop(j)
    m = len(members)
    left = np.triu(R[:m, :m])
    products = rows[members] @ rows[members].T
    np.testing.assert_allclose(left.T @ left, products, rtol=0, atol=1e-13 * products.max())
