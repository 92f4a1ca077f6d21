"""Kernel matrices, whatever holds their rows."""

import numpy as np
import pytest
import scipy.sparse as sp

from solution_paths import svm_path
from solution_paths.kernels import BLUR, Kernel, rows_of_gram, squared_distances

RNG = np.random.default_rng(3)
X = RNG.normal(size=(7, 4)) * (RNG.random((7, 4)) < 0.6)
Z = RNG.normal(size=(5, 4)) * (RNG.random((5, 4)) < 0.6)
KINDS = {"dense": np.asarray, "csr_array": sp.csr_array, "csr_matrix": sp.csr_matrix}


def brute(X, Z):
    return ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=-1)


@pytest.mark.parametrize("left", KINDS)
@pytest.mark.parametrize("right", KINDS)
def test_distances_of_sparse_and_dense_rows(left, right):
    found = squared_distances(KINDS[left](X), KINDS[right](Z))
    assert type(found) is np.ndarray
    np.testing.assert_allclose(found, brute(X, Z), rtol=1e-13, atol=1e-14)
    own = KINDS[left](X)
    found = squared_distances(own, own)
    np.testing.assert_allclose(found, brute(X, X), rtol=1e-13, atol=1e-14)
    assert (np.diag(found) == 0.0).all()


@pytest.mark.parametrize("n", [1, 31, 64, 97])  # copied in tiles of 32 rows
def test_rows_against_themselves_are_computed_over_half(n):
    rows = RNG.normal(size=(n, 6)) * (RNG.random((n, 6)) < 0.4)
    rows[n // 2] = 0.0
    rows[:, 4] = 0.0
    for dtype in (np.int32, np.int64):
        sparse = sp.csr_array(rows)
        sparse.indptr, sparse.indices = sparse.indptr.astype(dtype), sparse.indices.astype(dtype)
        K = Kernel()(sparse, sparse)
        np.testing.assert_allclose(K, rows @ rows.T, rtol=1e-13, atol=1e-14)
        assert (K == K.T).all()
    apart = squared_distances(rows, rows)
    np.testing.assert_allclose(apart, brute(rows, rows), rtol=1e-13, atol=1e-14)
    assert (apart == apart.T).all()


@pytest.mark.parametrize("left", KINDS)
@pytest.mark.parametrize("right", KINDS)
@pytest.mark.parametrize("name", ["linear", "rbf", "poly"])
def test_kernels_of_sparse_and_dense_rows(name, left, right):
    expected = {
        "linear": X @ Z.T,
        "rbf": np.exp(-0.4 * brute(X, Z)),
        "poly": (0.4 * X @ Z.T + 0.5) ** 3,
    }[name]
    found = Kernel(name, gamma=0.4, coef0=0.5)(KINDS[left](X), KINDS[right](Z))
    assert type(found) is np.ndarray
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def test_centred_kernels_are_as_good_where_duals_add_up_to_zero():
    rows = np.random.default_rng(1).normal(size=(30, 3))
    a = np.random.default_rng(2).normal(size=30)
    a -= a.mean()
    for gamma in (1e-8, 1e-3):
        K, means = Kernel("rbf", gamma=gamma).centred(rows)
        assert (K == K.T).all()
        assert abs(K.sum(axis=0)).max() < 1e-14 * abs(K).sum()
        exact = np.expm1(-gamma * brute(rows, rows)) @ a
        np.testing.assert_allclose(K @ a + means @ a, exact, atol=1e-12 * abs(exact).max())
    for kernel in (Kernel("rbf", gamma=1.0), Kernel("poly", coef0=1.0)):
        K, means = kernel.centred(rows)
        assert not means.any()
        np.testing.assert_array_equal(K, kernel(rows, rows))


@pytest.mark.parametrize("coef0", [0.0, 0.5])
@pytest.mark.parametrize("degree", [1, 2, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_a_polynomial_kernel_is_the_product_of_its_monomials(kind, degree, coef0):
    kernel = Kernel("poly", gamma=0.4, degree=degree, coef0=coef0)
    found = kernel.monomials(KINDS[kind](X))
    assert found.shape == (len(X), kernel.n_monomials(X.shape[1]))
    np.testing.assert_allclose(found @ found.T, kernel(X, X), rtol=1e-13, atol=1e-13)


def test_rows_say_what_a_kernel_of_low_rank_says():
    rows = np.random.default_rng(4).normal(size=(60, 2))
    for kernel, rank in (
        (Kernel("poly", degree=3, coef0=1.0), 10),
        (Kernel("rbf", gamma=1e-3), 30),
        (Kernel("precomputed"), 2),
    ):
        once = rows @ rows.T if kernel.name == "precomputed" else kernel(rows, rows)
        K = np.kron(once, np.ones((2, 2)))  # of rows that stand twice a product may round otherwise
        found = rows_of_gram(K, alike=kernel.name == "rbf")
        assert found.shape[0] == len(K)
        assert 2 <= found.shape[1] <= rank
        size = np.sqrt(K.diagonal())
        assert abs(found @ found.T - K).max() <= BLUR**2 * 64 * size.max() ** 2
        np.testing.assert_array_equal(found[::2], found[1::2])  # equal rows stay equal


def test_kernels_that_rows_do_not_say_are_left_alone():
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(40, 5))
    peaked = Kernel("rbf", gamma=3.0)(rows, rows)
    twice = np.kron(peaked, np.ones((2, 2)))  # singular, but only by equal rows
    centred = peaked - peaked.mean(axis=0) - peaked.mean(axis=1)[:, None] + peaked.mean()
    thin = rows[:, :2] @ rows[:, :2].T
    indefinite = thin - 1e-9 * np.outer(rows[:, 3], rows[:, 3])
    wide = Kernel("rbf", gamma=0.3)(*[rng.normal(size=(400, 2))] * 2)  # a rank above a hundred
    for K in (peaked, twice, centred, indefinite, wide, np.zeros((6, 6)), np.ones((1, 1))):
        assert rows_of_gram(K) is None
    assert rows_of_gram(thin) is not None


@pytest.mark.parametrize("name", ["poly", "rbf", "precomputed"])
def test_a_path_of_a_kernel_of_low_rank_is_that_of_its_rows(name):
    rng = np.random.default_rng(6)
    rows = rng.integers(-3, 4, size=(80, 2)).astype(float)
    y = np.where(rows[:, 0] + rng.normal(size=80) > 0, 1, -1)
    options = {"poly": {"degree": 2, "coef0": 1.0}, "rbf": {"gamma": 1e-3}, "precomputed": {}}[name]
    X = rows @ rows.T if name == "precomputed" else rows
    path = svm_path(X, y, C_max=1e3, kernel=name, **options)
    assert path.certify(at_breakpoints=True).ok
    if name == "precomputed":
        linear = svm_path(rows, y, C_max=1e3)
        for C in (1e-2, 1.0, 100.0):
            np.testing.assert_allclose(
                path.decision_function(X, C), linear.decision_function(rows, C), atol=1e-9
            )
