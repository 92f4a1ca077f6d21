"""Kernels whose values hardly differ: beside a free bias the same path as of centred ones."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from path_benchmark.objectives import Hinge, judge
from solution_paths import (
    PathSVC,
    SolutionPath,
    dm_ksvm_path,
    svm_path,
    weighted_svm_path,
    weighted_svr_path,
)
from solution_paths.kernels import Kernel
from solution_paths.kernels.centred import CentredKernel, centred_kernel
from solution_paths.models.samples import Samples

RNG = np.random.default_rng(8)
N = 24
LATTICE = RNG.integers(-3, 4, size=(N, 3)).astype(float)
LATTICE[-1] = LATTICE[0]
LABEL = np.where(LATTICE @ [1.0, -1.0, 0.5] + RNG.normal(size=N) > 0, 1, -1)
NEW = RNG.integers(-3, 4, size=(5, 3)).astype(float)


def exactly(rows, others, power, gamma, coef0):
    """Return (gamma x.z + coef0)^power as fractions."""
    rows, others = (np.vectorize(Fraction, otypes=[object])(v) for v in (rows, others))
    return (Fraction(gamma) * (rows @ others.T) + Fraction(coef0)) ** power


def between_rows(K):
    """Return K less the means of its rows and columns, of fractions or long doubles, as floats."""
    n = len(K)
    means = K.sum(axis=1) / n
    return (K - means[:, None] - means[None, :] + means.sum() / n).astype(float)


def of_exact(X, kernel):
    if kernel.name == "precomputed":
        return between_rows(np.vectorize(Fraction, otypes=[object])(X))
    if kernel.name == "poly":
        return between_rows(exactly(X, X, kernel.degree, kernel.gamma, kernel.coef0))
    wide = X.astype(np.longdouble)
    apart = ((wide[:, None] - wide[None]) ** 2).sum(axis=2)
    return between_rows(np.expm1(-np.longdouble(kernel.gamma) * apart))


def case(name):
    offset = LATTICE + np.array([0.0, 2000.0, 0.0])
    return {
        "flat rbf": (LATTICE, Kernel("rbf", gamma=1e-8)),
        "nearly flat rbf": (LATTICE, Kernel("rbf", gamma=1e-3)),
        "poly of a year": (offset, Kernel("poly", gamma=0.5, degree=2)),
        "cubic of a year": (offset, Kernel("poly", gamma=0.25, degree=3, coef0=1.0)),
        "line of a year": (offset, Kernel("poly", gamma=1.0, degree=1)),
        "quartic of a far column": (LATTICE + 99999.0, Kernel("poly", gamma=0.5, degree=4)),
        "poly with a large constant": (LATTICE, Kernel("poly", gamma=1.0, degree=2, coef0=2.0**20)),
        "given, with a constant": (LATTICE @ LATTICE.T + 1e10, Kernel("precomputed")),
        "given, less a constant": (2.0**24 + LATTICE @ LATTICE.T, Kernel("precomputed")),
    }[name]


CASES = (
    "flat rbf",
    "nearly flat rbf",
    "poly of a year",
    "cubic of a year",
    "line of a year",
    "quartic of a far column",
    "poly with a large constant",
    "given, with a constant",
    "given, less a constant",
)


@pytest.mark.parametrize("name", CASES)
def test_centred_values_are_exact_to_their_own_size(name):
    X, kernel = case(name)
    centred = centred_kernel(kernel, X)
    assert isinstance(centred, CentredKernel)
    K, right = centred(X, X), of_exact(X, kernel)
    assert (K == K.T).all()
    np.testing.assert_array_equal(K[0], K[-1])  # equal rows
    np.testing.assert_allclose(between_rows(K), right, rtol=0, atol=1e-13 * np.abs(right).max())
    assert np.abs(K).max() < 1e3 * np.abs(right).max()
    assert np.linalg.eigvalsh(K)[0] > -1e-12 * np.abs(K).max()
    if kernel.name != "precomputed":
        np.testing.assert_allclose(centred(X[:7].copy(), X), K[:7], atol=1e-14 * np.abs(K).max())
        sparse = sp.csr_array(X)
        own = centred_kernel(kernel, sparse)
        assert isinstance(own, CentredKernel)
        # of sparse rows distances are expanded squares
        close = 1e-9 if kernel.name == "rbf" else 1e-13
        np.testing.assert_allclose(
            between_rows(own(sparse, sparse)), right, atol=close * right.max()
        )


@pytest.mark.parametrize(
    ("kernel", "X"),
    [
        (Kernel("rbf", gamma=1.0), LATTICE),
        (Kernel("rbf", gamma=1e-8), np.ones((5, 2))),
        (Kernel("poly", coef0=1.0), LATTICE),
        (Kernel("precomputed"), LATTICE @ LATTICE.T),
        (Kernel("precomputed"), np.ones((4, 4))),
        (Kernel(), LATTICE + 1e6),
    ],
)
def test_other_kernels_stay_what_they_are(kernel, X):
    assert centred_kernel(kernel, X) is kernel


def test_without_a_free_bias_a_kernel_is_not_centred():
    X, kernel = case("poly of a year")
    samples = Samples.of(X, **options_of(kernel))
    assert samples.centred(bias=False).kernel == kernel
    assert isinstance(samples.centred().kernel, CentredKernel)


# -- paths ------------------------------------------------------------------------------------


def test_the_report_of_kernels_with_large_constants():
    """Two points: the last breakpoint is 2 / |phi - phi'|^2, and f = -1, 1 from there on."""
    q = [(1 + 9999**2) ** 2 / 4, (2 + 9999**2) ** 2 / 4, (4 + 9999**2) ** 2 / 4]
    right = float(2 / (Fraction(q[0]) - 2 * Fraction(q[1]) + Fraction(q[2])))
    X = [[1, 9999], [2, 9999]]
    model = PathSVC(kernel="poly", degree=2, gamma=0.5, check="raise").fit(X, [0, 1])
    assert model.path_.breakpoints[-1] == pytest.approx(right, rel=1e-9)
    np.testing.assert_allclose(model.decision_function(X), [-1.0, 1.0], rtol=1e-12)
    K = np.array([[1 + 1e10, 2 + 1e10], [2 + 1e10, 4 + 1e10]])
    path = svm_path(K, [0, 1], kernel="precomputed", check="raise")
    assert path.breakpoints[-1] == pytest.approx(2.0, rel=1e-12)
    assert path.range == (0.0, np.inf)
    np.testing.assert_allclose(path.decision_function(K, 10.0), [-1.0, 1.0], rtol=1e-12)


def of_centred(X, kernel):
    """Return a function's arguments that state the same problem in small numbers, and the unit."""
    K = of_exact(X, kernel)
    unit = 2.0 ** np.round(np.log2(np.abs(K).max()))
    return K / unit, unit


def options_of(kernel):
    own = {"kernel": kernel.name}
    if kernel.name != "precomputed":
        own["gamma"] = kernel.gamma
    return own | ({"degree": kernel.degree, "coef0": kernel.coef0} if kernel.name == "poly" else {})


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_path_is_that_of_the_centred_kernel(name, tmp_path):
    X, kernel = case(name)
    K, unit = of_centred(X, kernel)
    expected = svm_path(K, LABEL, kernel="precomputed", C_max=100.0, check="raise")
    path = svm_path(X, LABEL, C_max=100.0 / unit, check="raise", **options_of(kernel))
    assert path.certify(at_breakpoints=True).ok
    inner = expected.breakpoints[1:-1]
    for C in np.sqrt(inner[1:] * inner[:-1])[::5]:
        # where no sample is on its margin alone b is any in an interval
        found, right = path.decision_function(X, C / unit), expected.decision_function(K, C)
        np.testing.assert_allclose(found - found.mean(), right - right.mean(), atol=1e-8)
    ts = inner[::7] / unit
    path.save(tmp_path / "path.npz")
    loaded = SolutionPath.load(tmp_path / "path.npz")
    for own in (path, loaded):
        many = own.decision_function(X, ts)
        one = np.array([own.decision_function(X, t) for t in ts]).T
        np.testing.assert_allclose(many, one, atol=1e-8)
        size = np.abs(kernel(X, X)).max() * path.dual(ts).sum(axis=0).max()
        close = 1e-9 + 1e-15 * size  # b beside the kernel itself is a difference of sums like this
        np.testing.assert_allclose(own.intercept(ts), [own.intercept(t) for t in ts], atol=close)


@pytest.mark.parametrize("name", ["flat rbf", "poly of a year", "given, with a constant"])
def test_other_models_of_kernels_that_hardly_differ(name):
    X, kernel = case(name)
    K, unit = of_centred(X, kernel)
    own = options_of(kernel)
    weights = np.linspace(1.0, 2.0, N)
    target = LATTICE @ [1.0, -1.0, 0.5]
    for function, y, more in (
        (weighted_svm_path, LABEL, {}),
        (weighted_svr_path, target, {"epsilon": 0.1}),
    ):
        ends = weights / unit, weights[::-1] / unit
        path = function(X, y, *ends, check="raise", **more, **own)
        right = function(K, y, weights, weights[::-1], kernel="precomputed", **more)
        for t in (0.0, 0.3, 1.0):
            np.testing.assert_allclose(
                path.decision_function(X, t), right.decision_function(K, t), atol=1e-8
            )
    path = dm_ksvm_path(X, LABEL, 3.0, lam_min=1e-2 * unit, check="raise", **own)
    right = dm_ksvm_path(K, LABEL, 3.0, lam_min=1e-2, kernel="precomputed")
    for lam in (0.02, 0.5):
        found = path.decision_function(X, lam * unit)
        np.testing.assert_allclose(found, right.decision_function(K, lam), atol=1e-8)


def test_the_intercept_is_that_beside_the_kernel_itself():
    X, kernel = case("nearly flat rbf")
    path = svm_path(X, LABEL, C_max=1e3, **options_of(kernel))
    for C in path.breakpoints[3:-3:9]:
        by_hand = kernel(NEW, X) @ (LABEL * path.dual(C)) + path.intercept(C)
        np.testing.assert_allclose(path.decision_function(NEW, C), by_hand, atol=1e-9)


def test_a_judge_reads_the_intercept_beside_the_kernel_itself():
    X, kernel = case("nearly flat rbf")
    path = svm_path(X, LABEL, C_max=10.0, **options_of(kernel))
    hinge = Hinge(X, LABEL, cost0=5.0, bias="free", kernel=kernel)
    answer = SimpleNamespace(alpha=path.dual(5.0), w=None, b=path.intercept(5.0))
    assert judge(hinge, answer).gap < 1e-8


def test_an_indefinite_matrix_is_refused_behind_any_constant():
    K = LATTICE @ LATTICE.T
    K[0, 1] += 9.0
    K[1, 0] += 9.0
    assert np.linalg.eigvalsh(K)[0] < -1.0
    for constant in (0.0, 1e10):
        with pytest.raises(ValueError, match="below zero"):
            svm_path(K + constant, LABEL, kernel="precomputed")


def test_ties_of_exact_data_stay_ties():
    """A lattice's path has the same breakpoints whatever constant is added to its products."""
    K = LATTICE @ LATTICE.T
    plain = svm_path(K, LABEL, kernel="precomputed", C_max=1.0)
    far = svm_path(K + 2.0**33, LABEL, kernel="precomputed", C_max=1.0)
    for C in (0.01, 0.05, 0.2, 0.9):
        np.testing.assert_allclose(
            far.decision_function(K + 2.0**33, C), plain.decision_function(K, C), atol=1e-10
        )
    np.testing.assert_array_equal(far.line.start.kernel % 1.0, 0.0)  # whole numbers
