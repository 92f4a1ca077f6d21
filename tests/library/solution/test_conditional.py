"""Conditional conformal sets: cutoffs against bisection in the score with outside solvers."""

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.metrics.pairwise import rbf_kernel

from solution_paths import ConditionalConformal, PathLasso, conditional_conformal_path

ALPHA, GAMMA, LAM = 0.2, 0.7, 0.05
CLOSE = 1e-6  # of the spread of scores: what a search leaves open
BELOW = 1e-8  # so far below a level the dual of a solver counts as below it


def as_they_are(X):
    return X


def data(kind, n=24, d=3, m=3, seed=0):
    """Return rows, scores and new rows."""
    r = np.random.default_rng([seed, len(kind)])
    X, scores, new = r.normal(size=(n, d)), np.abs(r.standard_t(3, n)), r.normal(size=(m, d))
    if kind == "ties":
        return np.round(X), np.round(2.0 * scores), np.round(new)
    if kind == "dependent columns":
        twice = [np.column_stack([A, A[:, 0], np.full(len(A), 3.0)]) for A in (X, new)]
        return twice[0], scores, twice[1]
    if kind == "groups":
        group = [r.integers(0, 3, size) for size in (n, m)]
        return np.eye(3)[group[0]], scores, np.eye(3)[group[1]]
    if kind == "equal rows":
        return np.repeat(X[:3], n // 3, axis=0), scores, np.vstack([X[:2], new[:1]])
    if kind == "one score":
        return X, np.full(n, 7.0), new
    if kind == "far off":
        return X + 1e4, scores + 1e3, new + 1e4
    return X, scores, new


KINDS = ("plain", "ties", "dependent columns", "groups", "equal rows", "one score", "far off")


def by_highs(S, Phi):
    """Return the dual of the last row of a linear quantile regression."""
    bounds = [(-ALPHA, 1.0 - ALPHA)] * len(S)
    found = linprog(-S, A_eq=Phi.T, b_eq=np.zeros(Phi.shape[1]), bounds=bounds, method="highs")
    return found.x[-1]


def by_clarabel(S, Phi, K):
    """Return the dual of the last row of a quantile regression with a kernel."""
    n, k = Phi.shape
    A = sp.vstack([sp.csc_array(Phi.T), sp.eye_array(n), -sp.eye_array(n)], format="csc")
    b = np.concatenate([np.zeros(k), np.full(n, 1.0 - ALPHA), np.full(n, ALPHA)])
    own = clarabel.DefaultSettings()
    own.verbose, own.tol_gap_abs, own.tol_gap_rel, own.tol_feas = False, 1e-12, 1e-12, 1e-12
    P = sp.csc_array(np.triu(K / (LAM * n)))
    cones = [clarabel.ZeroConeT(k), clarabel.NonnegativeConeT(2 * n)]
    return clarabel.DefaultSolver(P, -S, A, b, cones, own).solve().x[-1]


def bisected(dual, u, low, high):
    """Return the supremum of the scores whose dual is below u: minus or plus infinity, too."""
    if dual(high) < u:
        return np.inf
    if dual(low) >= u:
        return -np.inf
    span = high - low
    while high - low > 1e-8 * span:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if dual(middle) < u else (low, middle)
    return high


def cutoffs_agree(own, dual, scores, levels):
    spread = np.ptp(scores) or 1.0
    low, high = scores.min() - 20.0 * spread, scores.max() + 20.0 * spread
    for u in levels:
        expected = bisected(dual, u - BELOW, low, high)
        least, most = own.cutoff([u - 2.0 * BELOW, u])
        assert least - CLOSE * spread <= expected <= most + CLOSE * spread, (u, most, expected)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_cutoffs_of_features_are_those_of_a_search(kind):
    X, scores, new = data(kind)
    every = conditional_conformal_path(
        X, scores, new, alpha=ALPHA, features=as_they_are, check="raise"
    )
    for row, own in zip(new, every, strict=True):
        assert own.certify().ok
        assert (np.diff(own.duals) >= 0.0).all()
        assert (np.diff(own.scores) >= -1e-12 * np.abs(scores).max()).all()
        A = np.vstack([X, row])
        Phi = np.column_stack([np.ones(len(A)), A - A.mean(axis=0)])
        levels = (0.8, 0.5, 0.123, -0.05, -0.15)
        cutoffs_agree(own, lambda S, Phi=Phi: by_highs(np.append(scores, S), Phi), scores, levels)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("features", [None, as_they_are])
def test_cutoffs_with_a_kernel_are_those_of_a_search(kind, features):
    X, scores, new = data(kind)
    every = conditional_conformal_path(
        X, scores, new, alpha=ALPHA, features=features, kernel="rbf", gamma=GAMMA, lam=LAM
    )
    for row, own in zip(new, every, strict=True):
        assert own.certify().ok
        A = np.vstack([X, row])
        columns = A - A.mean(axis=0) if features else A[:, :0]
        Phi = np.linalg.svd(np.column_stack([np.ones(len(A)), columns]), full_matrices=False)
        Phi, K = Phi[0][:, Phi[1] > 1e-9 * Phi[1][0]], rbf_kernel(A, gamma=GAMMA)
        cutoffs_agree(
            own,
            lambda S, Phi=Phi, K=K: by_clarabel(np.append(scores, S), Phi, K),
            scores,
            (0.78, 0.45, -0.07),
        )


@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.3])
@pytest.mark.parametrize("n", [1, 2, 9, 10, 29])
def test_without_features_it_is_the_rank_of_split_conformal_prediction(n, alpha):
    scores = np.round(np.random.default_rng(n).normal(size=n), 1)
    (own,) = conditional_conformal_path(np.zeros((n, 1)), scores, [[0.0]], alpha=alpha)
    rank = int(np.ceil(round((1.0 - alpha) * (n + 1), 9)))
    expected = np.sort(scores)[rank - 1] if rank <= n else np.inf
    assert own.cutoff() == pytest.approx(expected, abs=1e-12)


def test_a_row_like_none_before_has_no_cutoff():
    X, scores = np.repeat([[0.0], [1.0]], 9, axis=0), np.arange(18.0)
    alone = conditional_conformal_path(X, scores, [[2.0]], features=lambda X: X == 2.0)[0]
    assert alone.cutoff([-0.05, 0.0, 0.9]).tolist() == [-np.inf, -np.inf, np.inf]
    few = conditional_conformal_path(X, scores, [[1.0]], alpha=0.05, features=as_they_are)[0]
    assert few.cutoff([0.4, 0.46]).tolist() == [17.0, np.inf]  # nine rows, each with .05 at most
    assert few.certify().ok


@pytest.mark.slow
def test_new_rows_are_alone_however_many_begin_together():
    X, scores, _ = data("plain")
    new = np.random.default_rng(1).normal(size=(70, 3))
    own = {"features": as_they_are, "kernel": "rbf", "gamma": GAMMA, "lam": LAM}
    every = conditional_conformal_path(X, scores, new, **own)
    for k in (0, 33, 69):
        (alone,) = conditional_conformal_path(X, scores, new[[k]], **own)
        levels = np.linspace(-0.099, 0.9, 50)
        assert every[k].cutoff(levels) == pytest.approx(alone.cutoff(levels), abs=1e-9)


@pytest.mark.slow
def test_groups_are_covered_exactly_where_cutoffs_are_drawn():
    r, hits, groups = np.random.default_rng(5), [], []
    for _ in range(150):
        group = r.integers(0, 2, 40)
        scores = np.abs(r.normal(size=40)) * (1.0 + 4.0 * group)
        X = group[:, None].astype(float)
        every = conditional_conformal_path(
            X[:30], scores[:30], X[30:], alpha=0.2, features=as_they_are, check="ignore"
        )
        drawn = r.uniform(-0.2, 0.8, 10)
        hits += [s <= own.cutoff(u) for own, s, u in zip(every, scores[30:], drawn, strict=True)]
        groups += group[30:].tolist()
    hits, groups = np.array(hits), np.array(groups)
    for group in (0, 1):
        own = hits[groups == group].reshape(-1)
        # rows of one draw share their scores, so that they tell less than as many apart
        assert abs(own.mean() - 0.8) <= 3.0 * np.sqrt(0.16 / len(own) * (1 + 10 / 15))


def heteroscedastic(n, seed):
    r = np.random.default_rng(seed)
    X = r.uniform(size=(n, 2))
    return X, X[:, 0] + (0.1 + 2.0 * (X[:, 1] > 0.5)) * r.normal(size=n)


def late(X):
    return X[:, 1] > 0.5


@pytest.mark.slow
def test_intervals_follow_what_is_named():
    X, y = heteroscedastic(400, 0)
    model = ConditionalConformal(PathLasso(alpha=0.01), features=late, random_state=0)
    model = model.fit(X[:300], y[:300])
    width = np.diff(model.predict_interval(X[300:]), axis=1).ravel()
    assert width[late(X[300:])].min() > 5.0 * width[~late(X[300:])].max()
    low, high = model.predict_interval(X[300:]).T
    for group in (late(X[300:]), ~late(X[300:])):
        assert ((low <= y[300:]) & (y[300:] <= high))[group].mean() >= 0.8
    f = model.predict(X[300:])
    cutoff = np.array([own.cutoff() for own in model.paths(X[300:])])
    assert high == pytest.approx(f + cutoff)
    assert (np.diff(model.predict_interval(X[300:], 0.5), axis=1).ravel() < width).all()


@pytest.mark.slow
def test_a_frozen_estimator_stays_as_it_is():
    X, y = heteroscedastic(200, 1)
    fitted = LinearRegression().fit(X[:100], y[:100])
    model = ConditionalConformal(FrozenEstimator(fitted), kernel="rbf", lam=0.1)
    model = model.fit(X[100:], y[100:])
    assert model.scores_ == pytest.approx(np.abs(y[100:] - fitted.predict(X[100:])))
    drawn = clone(model).set_params(randomize=True, random_state=0).fit(X[100:], y[100:])
    narrow, wide = (own.predict_interval(X[:20]) for own in (drawn, model))
    empty = np.isnan(narrow).any(axis=1)
    assert (narrow[~empty, 1] <= wide[~empty, 1] + 1e-12).all()
    again = drawn.predict_interval(X[:20])
    assert np.array_equal(narrow, again, equal_nan=True)


@pytest.mark.parametrize("sparse", [False, True])
def test_frames_and_sparse_rows_are_as_good(sparse):
    pandas = pytest.importorskip("pandas")
    X, scores, new = data("plain")
    given = (
        [sp.csr_array(A) for A in (X, new)]
        if sparse
        else [pandas.DataFrame(A, columns=["a", "b", "c"]) for A in (X, new)]
    )
    features = None if sparse else (lambda frame: frame["b"])
    plain = None if sparse else (lambda X: X[:, 1])
    options = {"kernel": "rbf", "gamma": GAMMA, "lam": LAM}
    found = conditional_conformal_path(given[0], scores, given[1], features=features, **options)
    expected = conditional_conformal_path(X, scores, new, features=plain, **options)
    for own, other in zip(found, expected, strict=True):
        assert own.cutoff([0.3, 0.9]) == pytest.approx(other.cutoff([0.3, 0.9]), abs=1e-9)


def test_bad_input_is_refused():
    X, scores, new = data("plain")
    for message, options in {
        "kernel must be one of linear, rbf, poly, not 'precomputed'": {"kernel": "precomputed"},
        "gamma must be": {"kernel": "rbf", "gamma": "scale"},
        "lam must be a finite number > 0": {"kernel": "rbf", "lam": 0.0},
        "alpha must be < 1": {"alpha": 1.0},
        "features returns 1 rows for 24": {"features": lambda X: X[:1]},
        "check must be one of": {"check": "never"},
    }.items():
        with pytest.raises(ValueError, match=message):
            conditional_conformal_path(X, scores, new, **options)
    with pytest.raises(ValueError, match="X_new has 2 columns"):
        conditional_conformal_path(X, scores, new[:, :2])
    with pytest.raises(ValueError, match="scores has shape"):
        conditional_conformal_path(X, scores[:-1], new)
    with pytest.raises(ValueError, match="y has shape"):
        ConditionalConformal(PathLasso()).fit(X, scores[:-1])
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="y has another index than X"):
        ConditionalConformal(PathLasso()).fit(pandas.DataFrame(X), pandas.Series(scores)[::-1])
    (own,) = conditional_conformal_path(X, scores, new[:1])
    with pytest.raises(ValueError, match="u must lie within"):
        own.cutoff(0.95)
