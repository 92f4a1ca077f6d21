"""Kernel matrices, whatever holds their rows."""

import numpy as np
import pytest
import scipy.sparse as sp

from solution_paths import svm_path
from solution_paths.kernels import kernel as kernels
from solution_paths.kernels.kernel import LENGTH_ROUNDING, Kernel, rows_of_gram, squared_distances

RNG = np.random.default_rng(3)
X = RNG.normal(size=(7, 4)) * (RNG.random((7, 4)) < 0.6)
Z = RNG.normal(size=(5, 4)) * (RNG.random((5, 4)) < 0.6)
KINDS = {"dense": np.asarray, "csr_array": sp.csr_array, "csr_matrix": sp.csr_matrix}


def brute(X, Z):
    return ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=-1)


@pytest.mark.slow
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


@pytest.mark.parametrize("name", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("hold", KINDS)
def test_a_matrix_beyond_all_memory_is_refused_by_size(monkeypatch, name, hold):
    rows = KINDS[hold](np.ones((300, 1)))
    monkeypatch.setattr(kernels, "total_memory", lambda: 2.0**19)
    said = (
        r"^The 300 x 300 kernel matrix needs 703 KiB, and this machine has 512 KiB; take a sample "
        r"of the rows, or kernel='linear'"
    )
    with pytest.raises(MemoryError, match=said):
        Kernel(name)(rows, rows)
    with pytest.raises(MemoryError, match="300 x 250"):
        Kernel(name)(rows, rows[:250])
    assert Kernel(name)(rows[:200], rows[:200]).shape == (200, 200)
    if name == "rbf":  # a path holds the matrix twice
        said = r"^The 200 x 200 kernel matrix needs 312 KiB 2 times, and this machine has 512 KiB;"
        with pytest.raises(MemoryError, match=said):
            svm_path(rows[:200], np.tile([0, 1], 100), kernel=name)


def test_memory_that_a_process_does_not_get_is_told_alike(monkeypatch):
    def refused(shape):
        raise MemoryError("Unable to allocate")

    monkeypatch.setattr(np, "zeros", refused)
    with pytest.raises(MemoryError, match="The 7 x 5 kernel matrix needs 0 KiB, and this"):
        kernels.room_for(7, 5)


@pytest.mark.slow
def test_a_path_that_no_machine_can_hold():
    rows = np.zeros((3_000_000, 1))
    rows[::2] = 1.0
    with pytest.raises(
        MemoryError, match=r"3,000,000 x 3,000,000 kernel matrix needs 67,055 GiB 2 times"
    ):
        svm_path(rows, np.tile([0, 1], 1_500_000), kernel="rbf", gamma=1.0)


def test_the_memory_of_this_machine():
    assert 2.0**28 < kernels.total_memory() < 2.0**60


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
        unit = np.finfo(float).eps  # of which LENGTH_ROUNDING, that of rows, is the root
        assert unit == LENGTH_ROUNDING**2
        assert abs(found @ found.T - K).max() <= unit * 64 * size.max() ** 2
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


@pytest.mark.slow
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


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_a_matrix_is_far_where_its_mean_is_some_deviations_from_zero_in_any_unit(unit):
    K = np.array([[1.0, -1.0], [-1.0, 1.0]])  # mean 0, deviation 1
    for sign in (-1.0, 1.0):
        assert kernels.is_far(unit * (K + sign * 1.01 * kernels.FAR_ENTRIES))
        assert not kernels.is_far(unit * (K + sign * 0.99 * kernels.FAR_ENTRIES))
    assert not kernels.is_far(unit * np.ones((2, 2)))  # constant: nothing is left


@pytest.mark.parametrize("hold", KINDS)
@pytest.mark.parametrize("name", ["linear", "rbf", "poly"])
def test_a_diagonal_is_that_of_the_matrix(name, hold):
    kernel, rows = Kernel(name, gamma=0.4, coef0=0.5), KINDS[hold](X)
    np.testing.assert_allclose(kernel.diagonal(rows), np.diag(kernel(X, X)), rtol=1e-13)
    np.testing.assert_allclose(kernels.squared_norms(rows), (X**2).sum(axis=1), rtol=1e-15)


@pytest.mark.parametrize("hold", KINDS)
def test_powers_that_overflow_are_told_before_they_are_taken(hold):
    rows = KINDS[hold](X * 1e40)
    Kernel("rbf", gamma=0.4).check_sizes(rows, "X")
    Kernel().check_sizes(rows, "X")
    Kernel("poly", degree=3).check_sizes(KINDS[hold](X), "X")
    said = r"^X has rows whose kernel values \(.*e\+80 to the power 4\) overflow; take a"
    with pytest.raises(ValueError, match=said):
        Kernel("poly", degree=4).check_sizes(rows, "X")


def test_matrices_that_are_no_kernels_are_refused():
    K = X @ X.T
    kernels._check_gram(K)
    for wrong, said in (
        (X, r"^X must be a dense square matrix of kernel values .*, not of shape \(7, 4\)\.$"),
        (np.triu(K), r"^X is not symmetric, .*; pass \(X \+ X\.T\) / 2\.$"),
        (-K, r"^X has the eigenvalue -.*, clearly below zero, .* positive semidefinite\.$"),
    ):
        with pytest.raises(ValueError, match=said):
            kernels._check_gram(wrong)
    least = np.linalg.eigvalsh(K - 0.2 * np.eye(7))[0]
    assert least == pytest.approx(-0.2)  # of seven rows in four columns
    kernels._check_eigenvalues(K - 0.2 * np.eye(7), 0.21, "K")
    with pytest.raises(ValueError, match=r"^K has the eigenvalue -0\.2, clearly"):
        kernels._check_eigenvalues(K - 0.2 * np.eye(7), 1e-3, "K")


def test_a_kernels_eigenvalues_are_computed_only_where_cholesky_fails(monkeypatch):
    K = X @ X.T  # singular: seven rows in four columns
    monkeypatch.setattr(np.linalg, "eigvalsh", lambda K: pytest.fail("took eigenvalues"))
    kernels._check_gram(K)
    kernels._check_gram(K + 1e9)  # and less its means
