"""The models of the survey and of this library, each a few lines that return a `Problem`.

`EXAMPLES` has one published kind of path for each: a model of one parameter, and its ends.
"""

import numpy as np
import scipy.sparse as sp

from solution_paths.problem import (
    L1Constraint,
    Losses,
    Problem,
    Product,
    Repeated,
    differences,
    losses,
    penalties,
    pieces,
)


def elastic_net(X, y, lam1, lam2=0.0, cost=1.0):
    """RSS/2 + lam1 |w|_1 + lam2/2 |w|^2, free intercept."""
    loss = Losses(losses.squared(y, cost), X, free=1.0)
    return Problem(loss, penalties.l1(X.shape[1], lam1), ridge=lam2)


def lasso(X, y, lam):
    """RSS/2 + lam |w|_1 without an intercept."""
    return Problem(Losses(losses.squared(y), X), penalties.l1(X.shape[1], lam))


def huber(X, y, lam, delta):
    return Problem(Losses(losses.huber(y, delta), X, 1.0), penalties.l1(X.shape[1], lam))


def squared_hinge(X, y, lam):
    return Problem(Losses(losses.squared_hinge(y), X, 1.0), penalties.l1(X.shape[1], lam))


def huberised_svm(X, y, lam1, lam2):
    penalty = penalties.l1(X.shape[1], lam1)
    return Problem(Losses(losses.huberised_hinge(y), X, 1.0), penalty, ridge=lam2)


def generalized_lasso(X, y, D, lam):
    """|y - X w|^2/2 + lam |D w|_1; X None: the identity."""
    data = Losses(losses.squared(y), X)
    return Problem([data, Losses(penalties.l1(D.shape[0], lam), D)])


def machine(loss, X, K=None, free=1.0, ridge=1.0):
    """A kernel machine, or a linear one, of one loss for each sample."""
    return Problem(Losses(loss, X if K is None else None, free), ridge=ridge, kernel=K)


def svr(X, y, C, eps, K=None):
    return machine(losses.epsilon_insensitive(y, eps, C), X, K)


def svm(X, y, C, K=None):
    return machine(losses.hinge(y, C), X, K)


def pinball_svm(X, y, C, tau, K=None):
    return machine(losses.pinball_hinge(y, tau, C), X, K)


def nu_svm(X, y, nu, K=None):
    """1/2 |w|^2 - nu rho + mean (rho - y f)_+, rho >= 0: v = (b, rho)."""
    n = len(y)
    loss = losses.of_margin(y, losses.shortfall(np.zeros(n), 1.0 / n))
    data = Losses(loss, X if K is None else None, np.c_[np.ones(n), -y])
    sign = Losses(penalties.at_least(1), 0, [[0.0, 1.0]])
    return Problem([data, sign], ridge=1.0, linear=[0.0, -nu], kernel=K)


def one_class(X, nu, K=None):
    """1/2 |w|^2 - rho + sum (rho - f)_+ / (nu n): affine in 1/(nu n)."""
    n = len(X if K is None else K)
    loss = losses.shortfall(np.zeros(n), 1.0 / (nu * n))
    return Problem(
        Losses(loss, X if K is None else None, free=-1.0), ridge=1.0, linear=[-1.0], kernel=K
    )


def kernel_quantile(X, y, tau, lam, K=None):
    return machine(losses.pinball(y, tau, 1.0 / len(y)), X, K, ridge=lam)


def quantile_regression(X, y, tau):
    return Problem(Losses(losses.pinball(y, tau), X, 1.0))


def ranking_svm(X, pairs, C, K=None):
    rows = differences(pairs, len(X))
    map_ = Product(rows, X) if K is None else rows
    loss = losses.shortfall(np.ones(len(pairs)), C)
    return Problem(Losses(loss, map_), ridge=1.0, kernel=K)


def ordinal_svm(X, y, C, explicit=True, K=None):
    """Classes 1, ..., r; the r - 1 thresholds are free variables, in order."""
    r, n = int(y.max()), len(y)
    rows, signs, columns = [], [], []
    for j in range(1, r):
        below = np.flatnonzero(y == j if explicit else y <= j)
        above = np.flatnonzero(y == j + 1 if explicit else y > j)
        rows += [below, above]
        signs += [np.full(len(below), -1.0), np.ones(len(above))]
        columns += [np.full(len(below) + len(above), j - 1)]
    rows, signs, columns = map(np.concatenate, (rows, signs, columns))
    m = len(rows)
    take = sp.csr_array((np.ones(m), (np.arange(m), rows)), shape=(m, n))
    free = np.zeros((m, r - 1))
    free[np.arange(m), columns] = -1.0
    loss = losses.of_margin(signs, losses.shortfall(np.ones(m), C))
    groups = [Losses(loss, Product(take, X) if K is None else take, free)]
    if explicit and r > 2:
        order = np.diff(np.eye(r - 1), axis=0)
        groups.append(Losses(penalties.at_least(r - 2), 0, order))
    return Problem(groups, ridge=1.0, kernel=K)


def multicategory_svm(X, y, C):
    """C/n sum over the other classes of (f_k + 1/(k - 1))_+, sum to zero; ridge 1, C = 1/lam.

    Coefficients are those in an orthonormal basis E of what sums to zero.
    """
    n, k = len(y), int(y.max()) + 1
    E = np.linalg.qr(np.c_[np.ones(k), np.eye(k)[:, : k - 1]])[0][:, 1:]
    others = [(c, np.flatnonzero(y != c)) for c in range(k)]
    rows = sp.vstack([sp.kron(E[c][None], sp.eye_array(n, format="csr")[i]) for c, i in others])
    free = np.vstack([np.tile(E[c], (len(i), 1)) for c, i in others])
    loss = losses.excess(np.full(len(free), -1.0 / (k - 1)), C / n)
    return Problem(Losses(loss, Product(rows, Repeated(X, k - 1)), free), ridge=1.0)


def twin_svm(X, y, C, tau):
    """The first of its two problems: near the positives, one away from the negatives."""
    A, N = X[y > 0], X[y < 0]
    near = Losses(losses.squared(np.zeros(len(A))), A, 1.0)
    away = Losses(losses.pinball_hinge(-np.ones(len(N)), tau, C), N, 1.0)
    return Problem([near, away])


def drlad(X, y, s, lam2=0.0):
    loss = Losses(losses.absolute(y, 1.0 / len(y)), X, 1.0)
    return Problem(loss, ridge=lam2, constraint=s)


def dr_regression(X, y, knots, slopes, s, lam2):
    loss = losses.piecewise_linear(y, knots, slopes, 1.0 / len(y))
    return Problem(Losses(loss, X, 1.0), ridge=lam2, constraint=s)


def drsvm(X, y, lam1, lam2, cost=None):
    loss = Losses(losses.hinge(y, 1.0 / len(y) if cost is None else cost), X, 1.0)
    return Problem(loss, penalties.l1(X.shape[1], lam1), ridge=lam2)


def l1_svm(X, y, lam):
    return drsvm(X, y, lam, 0.0, 1.0)


def quantile_svm(X, y, tau, lam, bias=1.0):
    """lam/2 |w|^2 + sum of hinges, tau for positives and 1 - tau for negatives; b penalised."""
    cost = np.where(y > 0, tau, 1.0 - tau)
    rows = np.c_[X, np.full(len(y), bias)]
    return machine(losses.hinge(y, cost), rows, free=None, ridge=lam)


def dm_ksvm(X, y, kappa, lam, K=None):
    """1/2 |w|^2 + 1/(n lam) sum of double margins."""
    return machine(losses.double_margin(y, kappa, 1.0 / (len(y) * lam)), X, K)


def dm_drsvm(X, y, kappa, lam1, lam2, cost=None):
    """lam1 rho + lam2/2 |w|^2 + mean max(0, 1 - m, 1 + m - kappa rho), |w|_1 <= rho.

    The loss of two variables by its epigraph: v = (b, rho, xi_1, ..., xi_n), xi >= 0.
    """
    n, cost = len(y), 1.0 / len(y) if cost is None else cost
    one, zero = sp.eye_array(n), sp.csr_array((n, 1))
    inner = sp.hstack([y[:, None], zero, one], format="csr")
    outer = sp.hstack([-y[:, None], np.full((n, 1), kappa), one], format="csr")
    slack = sp.hstack([zero, zero, one], format="csr")
    margins = y[:, None] * X
    groups = [
        Losses(penalties.at_least(n, 1.0), margins, inner),
        Losses(penalties.at_least(n, 1.0), -margins, outer),
        Losses(pieces([0.0], [0.0, cost], n=n, low=0.0), 0, slack),
    ]
    linear = np.r_[0.0, lam1, np.zeros(n)]
    widened = L1Constraint(0.0, np.r_[0.0, 1.0, np.zeros(n)])
    return Problem(groups, ridge=lam2, linear=linear, constraint=widened)


def robust_svm_loss(y, C, theta, s, outlier):
    """The hinge for inliers, whose margins are at least s; C (1 - theta m - s) for outliers."""
    knots = np.where(outlier, s, 1.0)
    slopes = [-C * np.where(outlier, theta, 1.0), np.where(outlier, -C * theta, 0.0)]
    value = np.where(outlier, C * (1.0 - theta * s - s), 0.0)
    low, high = np.where(outlier, -np.inf, s), np.where(outlier, s, np.inf)
    return losses.of_margin(y, pieces([knots], slopes, value=value, low=low, high=high))


def robust_svr_loss(y, C, theta, s, side):
    """C |y - f| where that is at most s; C ((|y - f| - s) theta + s) for outliers.

    ``side`` is 1 for outliers whose y - f is positive, -1 for others, 0 for inliers.
    """
    up = np.where(side == 0, 1.0, side) * 1.0
    outlier = side != 0
    # as functions of r = up (f - y): outliers have r <= -s
    knots = np.where(outlier, -s, 0.0)
    slopes = [-C * np.where(outlier, theta, 1.0), np.where(outlier, -C * theta, C)]
    low, high = np.where(outlier, -np.inf, -s), np.where(outlier, -s, s)
    own = pieces([knots], slopes, value=np.where(outlier, C * s, 0.0), low=low, high=high)
    own = own.mirrored(up < 0)
    return pieces(
        [y + own.knots[:, 0]],
        list(own.slopes.T),
        value=own.value,
        low=y + own.low,
        high=y + own.high,
    )


def robust_svm(X, y, C, theta, s, outlier, K=None):
    """The conditional problem of robust classification; no bias."""
    return machine(robust_svm_loss(y, C, theta, s, outlier), X, K, free=None)


def data(seed=0):
    """Rounded data with ties: X, real targets, labels, three classes, an RBF matrix, pairs.

    Processors give the last digits of an exponential differently, so these are rounded, too.
    """
    r = np.random.default_rng(seed)
    X = np.round(r.normal(size=(40, 5)), 1)
    u = np.round(X[:, 0] - X[:, 1] + r.normal(size=40), 1)
    y = np.where(u > 0, 1.0, -1.0)
    K = np.round(np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 5), 12)
    pairs = [(i, j) for i in range(20) for j in range(20) if u[i] > u[j] + 1]
    return X, u, y, np.digitize(u, [-1, 0.5]), K, pairs


X, U, Y, CLASSES, K, PAIRS = data()
DIFFERENCES = sp.csr_array(np.diff(np.eye(40), axis=0))
N, D = X.shape

# name: (model of one parameter, from, to)
EXAMPLES = {
    "lasso": (lambda t: elastic_net(X, U, t), 1, 9),
    "elastic net": (lambda t: elastic_net(X, U, t, 1.0), 1, 9),
    "Huber, l1": (lambda t: huber(X, U, t, 0.5), 1, 9),
    "squared hinge, l1": (lambda t: squared_hinge(X, Y, t), 1, 9),
    "Huberised SVM": (lambda t: huberised_svm(X, Y, t, 0.5), 0.1, 3),
    "fused lasso": (lambda t: generalized_lasso(None, U, DIFFERENCES, t), 0.1, 3),
    "SVR in C": (lambda t: svr(X, U, t, 0.1), 0.1, 3),
    "SVR in eps": (lambda t: svr(X, U, 1.0, t), 1.03, 0.02),
    "SVM, rbf": (lambda t: svm(X, Y, t, K), 0.1, 3),
    "one cost": (lambda t: svm(X, Y, np.where(Y > 0, 1.0, t)), 0.1, 3),
    "pinball SVM in tau": (lambda t: pinball_svm(X, Y, 1.0, t), 0, 1),
    "nu-SVM": (lambda t: nu_svm(X, Y, t), 0.31, 0.59),
    "one class in 1/(nu n)": (lambda t: one_class(X + 3, 1 / (40 * t)), 1 / 35.3, 1 / 8.3),
    "kernel quantile in tau": (lambda t: kernel_quantile(X, U, t, 0.1, K), 0.11, 0.89),
    "quantile regression": (lambda t: quantile_regression(X, U, t), 0.11, 0.89),
    "ranking SVM": (lambda t: ranking_svm(X, PAIRS, t), 0.01, 1),
    "ordinal SVM": (lambda t: ordinal_svm(X, CLASSES + 1, t), 0.1, 3),
    "multicategory SVM in 1/lam": (lambda t: multicategory_svm(X, CLASSES, t), 0.5, 80),
    "twin SVM in tau": (lambda t: twin_svm(X, Y, 1.0, t), 0, 1),
    "DrLAD in s": (lambda t: drlad(X, U, t, 0.1), 0.1, 1),
    "one response": (lambda t: svr(X, np.r_[U[:-1], t], 1.0, 0.1), -5.01, 5.02),
    "one weight to 0": (lambda t: svm(X, Y, np.r_[np.ones(39), t]), 0, 1),
    "implicit thresholds": (lambda t: ordinal_svm(X, CLASSES + 1, t, False), 0.1, 3),
    "kernel ranking": (lambda t: ranking_svm(X, PAIRS, t, K), 0.01, 1),
    "kernel nu-SVM": (lambda t: nu_svm(X, Y, t, K), 0.31, 0.59),
    "l1 lasso, no bias": (lambda t: lasso(X, U, t), 1, 9),
    "LAD in s": (lambda t: drlad(X, U, t), 0.1, 1),
    "any loss in s": (
        lambda t: dr_regression(X, U, [-1, 0, 2], [-1, -0.5, 0.2, 2], t, 0.1),
        0.1,
        1,
    ),
    "l1 SVM": (lambda t: l1_svm(X, Y, t), 1, 9),
    "doubly regularised SVM": (lambda t: drsvm(X, Y, t, 0.1), 0.01, 0.2),
    "doubly regularised in 1/lam2": (lambda t: drsvm(X, Y, 0.05 * t, 1.0, t / 40), 1, 20),
    "quantile SVM": (lambda t: quantile_svm(X, Y, t, 0.1), 0, 1),
    "double margin, kernel": (lambda t: dm_ksvm(X, Y, 3.0, 1 / t, K), 1, 50),
    "double margin, kappa < 2": (lambda t: dm_ksvm(X, Y, 1.5, 1 / t), 1, 50),
    "double margin in lam1": (lambda t: dm_drsvm(X, Y, 2.5, t, 0.1), 0.05, 0.4),
    "robust SVM, outliers known": (
        lambda t: robust_svm(X, Y, 1.0, t, 0.0, np.arange(40) < 4),
        0.2,
        1,
    ),
}
