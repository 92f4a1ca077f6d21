"""The kernels of the homotopy's systems, each beside a plain computation of the same."""

from fractions import Fraction

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from helpers import stated_models as models
from helpers.interpreted import interpret
from solution_paths.homotopy import loop, twofold
from solution_paths.homotopy.operations import WALK, operate
from solution_paths.homotopy.run import Homotopy
from solution_paths.homotopy.start import Misfit, starting_places
from solution_paths.homotopy.statement import read
from solution_paths.homotopy.systems import solve
from solution_paths.homotopy.tolerances import REFINED
from solution_paths.problem import Losses, Problem, along, losses

SIZES = [1, 2, 3, 4, 5, 8, 11, 30]


def machine(n=160, d=3, kernel=True):
    """Return an SVM in C, with a Gaussian kernel or without."""
    r = np.random.default_rng(n + d)
    X = r.normal(size=(n, d))
    y = np.where(X[:, 0] * X[:, 1] + r.normal(size=n) > 0, 1.0, -1.0)
    if not kernel:
        return lambda C: models.svm(X, y, C)
    K = np.exp(-2.0 * ((X[:, None] - X) ** 2).sum(axis=2))
    rows, ones = np.eye(n), np.ones((n, 1))
    return lambda C: Problem(Losses(losses.hinge(y, C), rows, ones), ridge=1.0, kernel=K)


def homotopy(model, t0=0.002, t1=5.0):
    """Return a walk that stands at t0."""
    statement = read(along(model, t0, t1))
    place = starting_places(statement, Misfit.at(statement, 0.0))
    return Homotopy(statement, statement.graphs, place, 0.0, t1 - t0)


def events(walk, steps):
    """Take single steps, and yield the memory of the loop after each."""
    for _ in range(steps):
        ending = operate(walk.walk, WALK, 1)
        if ending == loop.DONE:
            return
        walk.grow_memory(ending)
        yield walk.walk


def matrix(w):
    """Return the matrix of the system of a hinge loss's rows and of a bias, in the order of it."""
    m, solved = w.map, w.solved[: w.now.solved]
    H = np.zeros((m.N, m.N))
    H[: m.n, : m.n] = m.gram if m.with_gram else 0.0
    H[: m.n, m.n :], H[m.n :, : m.n] = m.R, m.R.T
    H[m.n :, m.n :] -= np.diag(m.ridge)
    return H[np.ix_(solved, solved)]


@pytest.mark.parametrize("m", SIZES)
def test_a_product_with_a_symmetric_matrix_reads_its_lower_triangle(m):
    r = np.random.default_rng(m)
    A, x, y = r.normal(size=(m + 2, m + 2)), r.normal(size=m + 2), np.full(m + 2, np.nan)
    twofold.multiply.py_func(A, x, y, m)
    L = np.tril(A[:m, :m])
    np.testing.assert_allclose(y[:m], (L + np.tril(L, -1).T) @ x[:m], rtol=1e-13, atol=1e-13)
    assert np.isnan(y[m:]).all()


@pytest.mark.parametrize("m", SIZES)
def test_products_are_added_in_twofold_precision(m, monkeypatch):
    interpret(monkeypatch)
    r = np.random.default_rng(m)
    A, w, e = r.normal(size=(m, m)), r.normal(size=m), 2.0**-60 * r.normal(size=m)
    high = -(w @ A)  # so that all leading digits cancel
    low = np.zeros(m)
    exact = [
        Fraction(high[k])
        + sum((Fraction(w[i]) + Fraction(e[i])) * Fraction(A[i, k]) for i in range(m))
        for k in range(m)
    ]
    twofold.add_products(high, low, A, m, w, e)
    for k in range(m):
        error = Fraction(high[k]) + Fraction(low[k]) - exact[k]
        assert abs(error) <= 2.0**-98 * (np.abs(w) @ np.abs(A[:, k]))


@njit
def compiled_dot2(x, high, low, m):
    return twofold.dot2(x, high, low, m)


@pytest.mark.parametrize("m", [0, *SIZES])
def test_four_sums_at_once_are_those_of_python(m, monkeypatch):
    r = np.random.default_rng(m)
    x, w = r.normal(size=(2, m)) * 10.0 ** r.uniform(-6, 6, (2, m))
    x, e = np.append(x, -1.0), 2.0**-55 * w
    w, e = np.append(w, x[:m] @ w), np.append(e, 0.0)  # the leading digits cancel
    found = compiled_dot2(x, w, e, m + 1)
    parts = zip(*(map(Fraction, numbers) for numbers in (x, w, e)), strict=True)
    exact = sum(a * (b + c) for a, b, c in parts)
    assert abs(Fraction(found[0]) + Fraction(found[1]) - exact) <= 2.0**-98 * (abs(x) @ abs(w))
    interpret(monkeypatch)
    assert found == twofold.dot2(x, w, e, m + 1)


def test_sums_of_numbers_that_are_not_side_by_side_do_not_compile():
    numbers = np.ones((8, 2))[:, 0]
    with pytest.raises(TypingError, match="contiguous"):
        compiled_dot2(numbers, np.ones(8), np.ones(8), 8)


@pytest.mark.parametrize("kernel", [True, False])
def test_an_updated_inverse_is_that_of_the_matrix(kernel):
    walk, sizes = homotopy(machine(kernel=kernel)), set()
    for w in events(walk, 400):
        k = w.now.solved
        sizes.add(k)
        inverse = np.tril(w.inverse[:k, :k])
        inverse += np.tril(inverse, -1).T
        wanted = np.linalg.inv(matrix(w))
        np.testing.assert_allclose(inverse, wanted, rtol=1e-6, atol=1e-7 * np.abs(wanted).max())
    assert len(sizes) > 2
    assert w.now.changes > w.now.factored + 20  # it was updated, not computed afresh


def test_the_response_of_an_unknown_is_a_column_of_the_inverse(monkeypatch):
    walk = homotopy(machine())
    assert len(list(events(walk, 60))) == 60
    w, k = walk.walk, walk.walk.now.solved
    assert k > 8
    interpret(monkeypatch)
    wanted = np.linalg.inv(matrix(w))
    for a in range(k):
        i = int(w.solved[a])
        loop.note_change(w, 0, i)
        solve.respond(w, 0, int(w.place[i]), REFINED)
        found = w.response[0, 0, w.solved[:k]]
        first = w.rough_response[0, 0, w.solved[:k]]  # by the updated inverse alone
        first_scale = 1e-7 * np.abs(wanted[:, a]).max()
        np.testing.assert_allclose(found, wanted[:, a], rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(first, wanted[:, a], rtol=1e-6, atol=first_scale)
        assert w.response_error[0] <= 2.0**-80 * np.abs(found / w.map.scale[w.solved[:k]]).max()
