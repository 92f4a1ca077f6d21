"""Conformal sets of logistic regressions: against refits by scikit-learn, and their error bound."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import survey
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

import solution_paths as paths
from solution_paths import FullConformalClassifier, PathLogisticRegression, conformal_labels
from solution_paths.solution import conformal_curved


def data(n=30, d=4, m=3, seed=0):
    r = np.random.default_rng(seed)
    X = r.normal(size=(n + m, d))
    y = (X[:, 0] + r.normal(size=n + m) > 0.0).astype(int)
    return X[:n], y[:n], X[n:]


def refit(X, y, lam, ratio, weights=None):
    """Return the probability of the other label of each row, by scikit-learn."""
    options = {"C": 1.0 / lam, "tol": 1e-13, "max_iter": 200_000}
    options |= {"solver": "saga"} if ratio else {"solver": "newton-cholesky"}
    with warnings.catch_warnings():  # its tolerance may be below what rounding allows
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LogisticRegression(l1_ratio=ratio, **options).fit(X, y, weights)
    return 1.0 - model.predict_proba(X)[np.arange(len(y)), y]


@pytest.mark.parametrize("ratio", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("kind", ["all", "by label", "groups"])
def test_p_values_of_labels_are_those_of_refits(ratio, kind):
    X, y, new = data(seed=1)
    lam, cost = 0.7, {0: 2.0, 1: 1.0}
    estimator = PathLogisticRegression(lam=lam, l1_ratio=ratio, class_weight=cost)
    options = {"by label": {"by_label": True}, "groups": {"groups": lambda X: X[:, 1] > 0.0}}
    model = FullConformalClassifier(estimator, 0.2, **options.get(kind, {})).fit(X, y)
    found = model.labels(new)
    assert found.certify().ok
    assert not found.undecided.any()
    assert found.certain(0.2).all()
    for row in range(len(new)):
        for value in (0, 1):
            A, b = np.vstack([X, new[[row]]]), np.append(y, value)
            score = refit(A, b, lam, ratio, np.where(b, cost[1], cost[0]))
            same = {"by label": b == value, "groups": (A[:, 1] > 0) == (A[-1, 1] > 0)}
            same = same.get(kind, b >= 0)
            p = np.mean(score[same] >= score[-1] - 1e-7)
            assert found.p[row, value] == pytest.approx(p, abs=1e-12)
            assert found.counts[row, value] == same.sum()
    sets = model.predict_set(new)
    assert [own.tolist() for own in sets] == [np.flatnonzero(p > 0.2).tolist() for p in found.p]


@pytest.mark.parametrize("kind", [*survey.KINDS, *survey.HELD_OUT])
def test_what_is_certain_is_what_an_outside_solver_says(kind):
    """On duplicated, constant, dependent and tied data, by bounds within what the solver knows."""
    D = (survey.data if kind in survey.KINDS else survey.held_out)(kind, 3)
    n = len(D.u) - 1
    y = (D.u[:n] > np.median(D.u)).astype(int)
    if n < 4 or len(set(y)) < 2:
        return
    for ratio in (0.0, 1.0):
        path = paths.logistic_path(D.X[:n], y, lam_min=1.0, l1_ratio=ratio)
        found = conformal_labels(path, 1.3, y, D.X[n:])
        assert found.certify().ok
        for value in (0, 1):
            b = np.append(y, value)
            if ratio:  # the path itself, which shares the statement alone
                own = paths.logistic_path(D.X, b, lam_min=1.3, l1_ratio=ratio, eps=1e-8)
                score = np.abs(own.mean(D.X, 1.3) - b)
            else:
                score = refit(D.X, b, 1.3, ratio)
            tie = 1e-3 if ratio else 1e-6
            small, large = ((score[:n] >= score[n] + way * tie).sum() + 1 for way in (1, -1))
            most = round(found.p[0, value] * (n + 1))
            assert most - found.undecided[0, value] <= large
            assert small <= most


def test_equal_rows_and_unused_columns_tie():
    X, y, _ = data(n=40, d=3, seed=2)
    X[:, 1:] *= 0.01  # the l1 penalty leaves them out
    twin = np.vstack([X[[5]], X[[5]] + [0.0, 0.003, -0.001]])
    path = paths.logistic_path(X, y, lam_min=1.0)
    found = conformal_labels(path, 1.5, y, twin)
    assert (path.coef(1.5)[1:] == 0.0).all()
    label = y[5]
    assert found.p[0, label] == found.p[1, label]  # the second ties with row 5, undecided
    assert found.undecided[0, label] == 0
    assert found.undecided[1, label] == 1
    assert not found.undecided[:, 1 - label].any()


@pytest.mark.filterwarnings("error")
def test_a_gap_that_hides_the_order_is_told(monkeypatch):
    X, y, new = data(n=50, m=6, seed=3)
    path = paths.logistic_path(X, y, lam_min=0.5)
    exact = conformal_labels(path, 0.8, y, new)
    monkeypatch.setattr(conformal_curved, "GAPS", (1e-3,))
    with pytest.raises(paths.PathError, match=r"new row \d may be inaccurate: its gap is up to"):
        conformal_labels(path, 0.8, y, new, check="raise")
    coarse = conformal_labels(path, 0.8, y, new, check="ignore")
    assert not coarse.certify().ok
    assert coarse.undecided.any()
    assert not exact.undecided.any()
    least = coarse.p - coarse.undecided / coarse.counts
    assert (coarse.p >= exact.p - 1e-12).all()
    assert (least <= exact.p + 1e-12).all()
    alphas = exact.p.ravel()[exact.p.ravel() < 0.9]
    for alpha in alphas.tolist():
        for own, more in zip(
            exact.prediction_sets(alpha), coarse.prediction_sets(alpha), strict=True
        ):
            assert set(own) <= set(more)
        inside, wide = (
            np.array([np.isin(one.classes, s) for s in one.prediction_sets(alpha)])
            for one in (exact, coarse)
        )
        assert (inside == wide)[coarse.certain(alpha)].all()
    assert not all(coarse.certain(alpha).all() for alpha in alphas.tolist())


def test_the_error_of_a_score_is_at_most_its_bound():
    r = np.random.default_rng(0)
    p, q = (10.0 ** -r.uniform(0.0, 12.0, 20_000) for _ in range(2))
    q = np.where(r.uniform(size=len(p)) < 0.5, p * (1.0 + 1e-3 * r.normal(size=len(p))), q)
    q = np.clip(q, 1e-300, 1.0 - 1e-16)
    high = r.uniform(size=len(p)) < 0.3
    p, q = np.where(high, 1.0 - p, p), np.where(high, 1.0 - q, q)
    ok = (p > 0.0) & (p < 1.0) & (q > 0.0) & (q < 1.0)
    p, q = p[ok].astype(np.longdouble), q[ok].astype(np.longdouble)
    divergence = p * np.log(p / q) + (1 - p) * (np.log1p(-p) - np.log1p(-q))
    rounding = 1e-18 * (p * np.abs(np.log(p / q)) + 1.0)
    bound = conformal_curved.error_of(
        p.astype(float), np.maximum(divergence + rounding, 0.0).astype(float) * (1 + 1e-15)
    )
    assert (np.abs(p - q) <= bound).all()
    tight = bound <= 2.0 * np.abs(p - q) + 1e-8
    assert tight.mean() > 0.5  # where both are near each other it is nearly the distance


def test_sparse_rows_are_those_of_dense_ones():
    X, y, new = data(n=40, d=6, seed=4)
    X, new = (np.where(np.abs(part) < 0.7, 0.0, part) for part in (X, new))
    new = np.vstack([new, X[[3]]])
    for ratio in (0.0, 1.0):
        found = []
        for kind in (np.asarray, sp.csr_array):
            path = paths.logistic_path(kind(X), y, lam_min=0.5, l1_ratio=ratio)
            found.append(conformal_labels(path, 0.9, y, kind(new)))
        assert found[0].p == pytest.approx(found[1].p, abs=1e-12)
        assert not found[1].undecided.any()


def test_other_models_and_weights_are_refused():
    X, y, new = data(n=12)
    counts = np.arange(12) % 4
    with pytest.raises(ValueError, match="this path is of counts"):
        conformal_labels(paths.poisson_path(X, counts, lam_min=1.0), 1.0, counts, new)
    weighted = paths.logistic_path(X, y, 1.0, sample_weight=np.arange(1.0, 13.0))
    with pytest.raises(ValueError, match="Rows of one label have different weights"):
        conformal_labels(weighted, 1.0, y, new)
    with pytest.raises(ValueError, match="other labels than y"):
        conformal_labels(paths.logistic_path(X, y, 1.0), 1.0, 1 - y, new)
    with pytest.raises(ValueError, match=r"covers \[1, inf\]"):
        conformal_labels(paths.logistic_path(X, y, 1.0), 0.5, y, new)
    for work in (paths.leave_one_out, lambda path, t: path.stated_at(t)):
        with pytest.raises(ValueError, match=r"losses of this path are curved.*cv=.loo. of its"):
            work(paths.logistic_path(X, y, 1.0), 1.0)
    with pytest.raises(ValueError, match="losses of this path are curved"):
        paths.conformal_path(paths.poisson_path(X, counts, lam_min=1.0), 1.0, counts, new)
    with pytest.raises(ValueError, match=r"for any regression JackknifePlus\(cv=\) or"):
        paths.FullConformal(paths.PathPoissonRegressor()).fit(X, counts)
