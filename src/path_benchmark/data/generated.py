"""Data sets that need no file: bundled with scikit-learn, generated, or derived from others.

Each builder returns (X, y). ``config/datasets.yaml`` gives the builder and the parameters of each
name. scikit-learn is imported where it is called, as it takes a second to load.
"""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

# ---------------------------------------------------------------- bundled


def breast_cancer() -> tuple[np.ndarray, np.ndarray]:
    """Breast cancer (diagnostic), scikit-learn's copy; +1 is malignant."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    return X, np.where(y == 0, 1.0, -1.0)


def iris() -> tuple[np.ndarray, np.ndarray]:
    """Iris, scikit-learn's copy, without setosa; +1 is virginica, -1 versicolor."""
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    return X[y > 0], np.where(y[y > 0] == 2, 1.0, -1.0)


def diabetes_progression() -> tuple[np.ndarray, np.ndarray]:
    """Diabetes progression (Efron et al. 2004), scikit-learn's copy, in the features' own units."""
    from sklearn.datasets import load_diabetes

    return load_diabetes(return_X_y=True, scaled=False)


# ---------------------------------------------------------------- generated


def _balanced(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return n labels, half of them +1 (the odd one is -1), in random order."""
    return rng.permutation(np.where(np.arange(n) < n // 2, 1.0, -1.0))


def two_moons(n: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two interleaved half circles with Gaussian noise, from scikit-learn (dissertation, 5.4)."""
    from sklearn.datasets import make_moons

    X, y = make_moons(n_samples=n, noise=noise, random_state=seed)
    return X, np.where(y == 1, 1.0, -1.0)


def block_covariance(rho: float, d: int = 30) -> np.ndarray:
    """Return the covariance of the dissertation's section 3.5.2.

    The first nine features form three blocks of three, with correlation `rho` inside each block;
    the other features are independent; all variances are 1.
    """
    sigma = np.eye(d)
    for start in (0, 3, 6):
        block = slice(start, start + 3)
        sigma[block, block] = rho + (1.0 - rho) * np.eye(3)
    return sigma


def drlad_coefficients() -> np.ndarray:
    """Return beta* of the dissertation's section 3.5.2: three groups of three, then 21 zeros."""
    return np.concatenate(([1.0] * 3, [0.5] * 3, [1.0] * 3, np.zeros(21)))


def drlad_noise_variance(rho: float, snr: float) -> float:
    """Return the noise variance at which beta' Sigma beta / sigma^2 is `snr`."""
    beta = drlad_coefficients()
    return float(beta @ block_covariance(rho) @ beta) / snr


def drlad_simulation(n: int, rho: float, snr: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Group-correlated linear regression with 30 features (dissertation, 3.5.2)."""
    rng = np.random.default_rng(seed)
    sigma = block_covariance(rho)
    # The symmetric root exists even for rho = 1, where Cholesky fails.
    values, vectors = np.linalg.eigh(sigma)
    root = vectors * np.sqrt(np.clip(values, 0.0, None)) @ vectors.T
    X = rng.standard_normal((n, len(sigma))) @ root
    noise = np.sqrt(drlad_noise_variance(rho, snr)) * rng.standard_normal(n)
    return X, X @ drlad_coefficients() + noise


def noisy_labels(
    n: int, d: int, snr: float, correlation: float, n_correlated: int, clean: bool, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Linear classification whose labels are noisy (dissertation, 4.4, figure 4.3).

    w ~ N(0, I) and x ~ N(0, Sigma), where the first `n_correlated` features have the given
    pairwise correlation. y = sign(w.x + e), e ~ N(0, w' Sigma w / snr). With ``clean=True`` the
    rows and w are those of the same seed, but y = sign(w.x), as the dissertation's test set has.
    """
    rng = np.random.default_rng(seed)
    sigma = np.eye(d)
    sigma[:n_correlated, :n_correlated] += correlation * (1.0 - np.eye(n_correlated))
    w = rng.standard_normal(d)
    X = rng.multivariate_normal(np.zeros(d), sigma, size=n, method="cholesky")
    noise = np.sqrt(w @ sigma @ w / snr) * rng.standard_normal(n)
    score = X @ w if clean else X @ w + noise
    return X, np.where(score > 0, 1.0, -1.0)


def gaussian_classes(
    n: int, d: int, distance: float, positive_share: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Two spherical Gaussian classes with means `distance` apart along the diagonal."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.where(np.arange(n) < round(positive_share * n), 1.0, -1.0))
    X = rng.standard_normal((n, d)) + np.outer(y, np.full(d, distance / (2.0 * np.sqrt(d))))
    return X, y


def quantile_toy(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two overlapping Gaussian clouds in the plane (quantile SVM paper, figure 1)."""
    rng = np.random.default_rng(seed)
    y = _balanced(n, rng)
    spread = np.array([1.0, 0.7])
    X = rng.standard_normal((n, 2)) * spread + np.outer(y, [-1.0, 0.4])
    return X, y


def robust_svc_toy(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two clouds and two outliers (robust SVM paper, figure 1 a and b).

    The outliers are the last two rows: far to the right, and with the wrong label.
    """
    rng = np.random.default_rng(seed)
    y = _balanced(n - 2, rng)
    X = 0.6 * rng.standard_normal((n - 2, 2)) + np.outer(y, [0.0, 1.5])
    outliers = np.array([[4.0, -1.8], [4.5, -1.2]])
    return np.vstack([X, outliers]), np.append(y, [1.0, 1.0])


def robust_svr_toy(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Smooth curve with little noise and two outliers (robust SVM paper, figure 1 c and d).

    The outliers are the last two rows, on the right.
    """
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(-3.0, 3.0, n - 2))
    y = np.sin(x) + 0.3 * x + 0.1 * rng.standard_normal(n - 2)
    return np.append(x, [2.4, 2.7])[:, None], np.append(y, [-4.0, -4.5])


# ---------------------------------------------------------------- derived


def a7a_surrogate(a6a, a8a, n: int, seed: int) -> tuple[sp.csr_matrix, np.ndarray]:
    """Return a6a and random other rows of a8a, `n` in all, in the order of a8a.

    LIBSVM's files are nested: the rows of a6a are a subsequence of those of a8a. They are matched
    greedily from the first row on; the others are drawn from the unmatched rows.
    """
    small, large = _row_keys(a6a), _row_keys(a8a)
    matched = np.zeros(len(large), dtype=bool)
    position = 0
    for key in small:
        while large[position] != key:
            position += 1
        matched[position] = True
        position += 1
    rest = np.flatnonzero(~matched)
    extra = np.random.default_rng(seed).choice(rest, size=n - len(small), replace=False)
    rows = np.sort(np.concatenate((np.flatnonzero(matched), extra)))
    return a8a.X[rows], a8a.y[rows]


def _row_keys(data) -> list[tuple[float, bytes]]:
    X = data.X
    pieces = zip(X.indptr[:-1], X.indptr[1:], data.y, strict=True)
    return [(label, X.indices[start:stop].tobytes()) for start, stop, label in pieces]


BUILDERS: dict[str, Callable] = {
    function.__name__: function
    for function in (
        breast_cancer,
        iris,
        diabetes_progression,
        two_moons,
        drlad_simulation,
        noisy_labels,
        gaussian_classes,
        quantile_toy,
        robust_svc_toy,
        robust_svr_toy,
        a7a_surrogate,
    )
}
