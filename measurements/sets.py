"""Proof of conformal sets: where they end, what they cover, how long they are.

    python measurements/sets.py [--sets 500] [--points 2000] [--rows 300] [--seed 0]

First random sets of random models on awkward data: on both sides of each end an outside solver
refits the model with the new row, and its residuals must put the response in, or out. Then
coverage: each point is a data set and a new row of its own, drawn from one distribution, also with
rounded responses, which tie. Last lengths and CPU times beside split conformal prediction, which
fits half of the rows and ranks the residuals of the others, and beside refits at 100 responses.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import survey

import solution_paths as paths
from path_benchmark.solvers.clarabel_solver import by_clarabel
from solution_paths.solution.neighbours import Start
from solution_paths.verify import judge

RBF = {"kernel": "rbf", "gamma": 0.5}
MODELS: dict[str, tuple[Callable[..., Any], float]] = {
    "lasso": (lambda X, y: paths.lasso_path(X, y), 1.0),
    "elastic net": (lambda X, y: paths.elastic_net_path(X, y, lam2=0.7), 0.5),
    "Huber": (lambda X, y: paths.almost_quadratic_path(X, y), 1.0),
    "SVR": (lambda X, y: paths.svr_path(X, y), 0.7),
    "SVR with a kernel": (lambda X, y: paths.svr_path(X, y, **RBF), 0.7),
    "LAD": (lambda X, y: paths.rlad_path(X, y), 1.3),
    "constrained LAD": (lambda X, y: paths.rlad_path(X, y, vary="s"), 1.1),
    "quantile": (lambda X, y: paths.kernel_quantile_path(X, y, lam=0.3, **RBF), 0.7),
}
BESIDE = 1e-5  # of the spread of targets: how far from an end a model is refitted
APART = 1e-6  # of it: two optima that differ by more aren't the same
ROUNDED = 1e-10  # of it: residuals that differ by less are equal
GRID = 100


def problems(kinds: tuple[str, ...] = (), seed: int = 0) -> Iterator[tuple[str, survey.Data]]:
    """Yield kinds of data, and data of them: rows with targets, the new row last."""
    while True:
        for kind in kinds or (*survey.KINDS, *survey.HELD_OUT):
            D = (survey.data if kind in survey.KINDS else survey.held_out)(kind, seed)
            if len(D.u) > 2 and kind != "constant targets":
                yield kind, D
        seed += 1


def predicted(problem: Any, answer: Any, offset: float) -> np.ndarray:
    """Return the predictions of all rows by an answer to a stated problem."""
    first = problem.losses[0]
    X = first.X if problem.kernel is None else problem.kernel
    w = answer.w if answer.w is not None else first.X.T @ answer.duals[0] / problem.ridge
    return np.asarray(X @ w + first.free @ answer.free).ravel() + offset


def ends(own: paths.ConformalPath, y: np.ndarray, offset: float, alpha: float) -> Iterator[str]:
    """Yield what a refit on each side of each end of a set says: "agrees" or "differs".

    Or "failed": the judge doesn't take the solver's answer for an optimum; or "not unique": it is
    another one than ours. Residuals of the solver are known to what it is off.
    """
    n, scale = len(y), np.ptp(y)
    for end in own.prediction_set(alpha).ravel():
        for response in (end - BESIDE * scale, end + BESIDE * scale):
            if not np.isfinite(response):
                continue
            part = own.paths[int(response >= own.paths[1].range[0])]
            problem, answer = part.stated_at(float(response))
            if not judge(problem, answer).ok():
                yield "differs"
            solved = by_clarabel(problem)
            if not judge(problem, solved).reliable:
                yield "failed"
                continue
            f, outside = (predicted(problem, one, offset)[: n + 1] for one in (answer, solved))
            off = np.abs(f - outside).max()
            if off > APART * scale:
                yield "not unique"
                continue
            residual, tie = np.abs(np.append(y, response) - outside), 2.0 * off + ROUNDED * scale
            large = (residual >= residual[-1] + tie).sum() + 1
            tied = (residual >= residual[-1] - tie).sum()
            count = round(float(own.p_value(response)) * (n + 1))
            yield "agrees" if large <= count <= tied else "differs"


def proved(count: int, seed: int) -> Counter[str]:
    """Judge the ends of so many random sets; return how refits compare."""
    found: Counter[str] = Counter()
    models, r = list(MODELS.items()), np.random.default_rng(seed)
    for kind, D in problems(seed=1000 + seed):
        name, (fit, t) = models[int(r.integers(len(models)))]
        alpha, n = float(r.choice([0.1, 0.2, 0.3, 0.5])), len(D.u) - 1
        path = fit(D.X[:n], D.u[:n])
        if not path.range[0] <= t <= path.range[1] or np.ptp(D.u[:n]) == 0.0:
            continue
        (own,) = paths.conformal_path(path, t, D.u[:n], D.X[n:])
        found["sets"] += 1
        found["certified"] += own.certify().ok
        told = list(ends(own, D.u[:n], path.reading.offset, alpha))
        found.update(told)
        if "differs" in told:
            print("differs:", name, kind, alpha)
        if found["sets"] == count:
            break
    return found


def sample(r: np.random.Generator, n: int, rounded: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return rows, and targets with heavy tails whose spread isn't the same everywhere."""
    X = np.round(r.normal(size=(n, 3))) if rounded else r.normal(size=(n, 3))
    y = X[:, 0] + (1.0 + np.abs(X[:, 1])) * r.standard_t(3, n)
    return X, np.round(y) if rounded else y


def coverage(name: str, points: int, rounded: bool, seed: int, n: int = 19) -> float:
    """Return the share of so many new rows whose response is in its 80 % set."""
    (fit, t), hits = MODELS[name], 0
    for k in range(points):
        X, y = sample(np.random.default_rng([seed, k]), n + 1, rounded)
        path = fit(X[:n], y[:n])
        (own,) = paths.conformal_path(path, t, y[:n], X[n:], check="ignore")
        hits += bool(own.p_value(y[n]) > 0.2 + 1e-12)
    return hits / points


CLASSIFIERS: dict[str, tuple[Callable[..., Any], float]] = {
    "SVM": (lambda X, y: paths.svm_path(X, y, C_max=1.0), 1.0),
    "logistic, l1": (lambda X, y: paths.logistic_path(X, y, lam_min=0.5), 0.5),
    "logistic, ridge": (lambda X, y: paths.logistic_path(X, y, lam_min=0.5, l1_ratio=0.0), 0.5),
}


def of_labels(name: str, points: int, rounded: bool, seed: int, n: int = 19) -> tuple[float, int]:
    """Return the share of so many new rows whose label is in its 80 % set.

    And the number of labels of which it isn't certain whether they are in a set.
    """
    (fit, t), hits, uncertain, k = CLASSIFIERS[name], 0, 0, 0
    for _ in range(points):
        label = np.zeros(n)
        while len(set(label[:n])) < 2:
            X, y = sample(np.random.default_rng([seed, k, 5]), n + 1, rounded)
            label, k = np.where(y > 0.0, 1, -1), k + 1
        found = paths.conformal_labels(fit(X[:n], label[:n]), t, label[:n], X[n:], check="ignore")
        hits += bool(label[n] in found.prediction_sets(0.2)[0])
        uncertain += int((~found.certain(0.2)).sum())
    return hits / points, uncertain


def late(X: np.ndarray) -> np.ndarray:
    """Return a group of rows, whose residuals spread more than those of the others."""
    return X[:, 0] > 0.5


def in_groups(points: int, drawn: bool, rounded: bool, seed: int, n: int = 39) -> list[float]:
    """Return which shares of new rows, not of a group and of it, are below their cutoffs of 80 %.

    The cutoffs are conditional ones, at duals that are drawn, or at the largest.
    """
    hits: list[list[bool]] = [[], []]
    for k in range(points):
        r = np.random.default_rng([seed, k, 3])
        X = r.normal(size=(n + 1, 2))
        scores = (1.0 + 3.0 * late(X)) * np.abs(r.standard_t(3, n + 1))
        scores = np.round(scores) if rounded else scores
        (own,) = paths.conditional_conformal_path(
            X[:n], scores[:n], X[n:], alpha=0.2, features=late, check="ignore"
        )
        cutoff = own.cutoff(r.uniform(-0.2, 0.8) if drawn else None)
        hits[int(late(X[n:])[0])].append(bool(scores[n] <= cutoff))
    return [float(np.mean(own)) for own in hits]


def split(name: str, X: np.ndarray, y: np.ndarray, new: np.ndarray, alpha: float) -> np.ndarray:
    """Return the intervals (m, 2) of split conformal prediction, fitted to every other row."""
    fit, t = MODELS[name]
    path = fit(X[::2], y[::2])
    residuals = np.sort(np.abs(y[1::2] - path.predict(X[1::2], t)))
    rank = int(np.ceil(round((1.0 - alpha) * (len(residuals) + 1), 9)))
    return path.predict(new, t)[:, None] + residuals[rank - 1] * np.array([-1.0, 1.0])


def lengths(name: str, rows: int, seed: int, new: int = 100, times: int = 5) -> dict[str, float]:
    """Return mean lengths, coverage and CPU seconds a new row, of ours, split and a grid."""
    found: Counter[str] = Counter()
    fit, t = MODELS[name]
    for k in range(times):
        X, y = sample(np.random.default_rng([seed, k, 7]), rows + new, False)
        path = fit(X[:rows], y[:rows])
        begin = time.process_time()
        sets = [
            own.prediction_set(0.1)
            for own in paths.conformal_path(path, t, y[:rows], X[rows:], check="ignore")
        ]
        found["full_s"] += time.process_time() - begin
        begin = time.process_time()
        halves = split(name, X[:rows], y[:rows], X[rows:], 0.1)
        found["split_s"] += time.process_time() - begin
        problem, _ = path.stated_at(t)
        begin = time.process_time()
        Start(problem)
        found["grid_s"] += new * GRID * (time.process_time() - begin)
        for own, half, target in zip(sets, halves, y[rows:], strict=True):
            found["full_length"] += float(np.diff(own).sum())
            found["split_length"] += float(np.diff(half)[0])
            found["full_covers"] += bool(((own[:, 0] <= target) & (target <= own[:, 1])).any())
            found["split_covers"] += bool(half[0] <= target <= half[1])
    return {what: value / (times * new) for what, value in found.items()}


def main() -> None:
    """Print all three."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in {"sets": 500, "points": 2000, "rows": 300, "seed": 0}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    print(dict(proved(given.sets, given.seed)), flush=True)
    for name in ("lasso", "LAD", "SVR with a kernel"):
        for rounded in (False, True):
            share = coverage(name, given.points, rounded, given.seed)
            off = (share - 0.8) / np.sqrt(0.16 / given.points)
            kind = "rounded" if rounded else "plain"
            print(f"{name}, {kind}: {share:.4f} of .8, {off:+.1f} standard errors", flush=True)
    for name in CLASSIFIERS:
        for rounded in (False, True):
            share, uncertain = of_labels(name, given.points, rounded, given.seed)
            off = (share - 0.8) / np.sqrt(0.16 / given.points)
            kind = "rounded" if rounded else "plain"
            print(
                f"labels, {name}, {kind}: {share:.4f} of .8, {off:+.1f} standard errors, "
                f"{uncertain} uncertain",
                flush=True,
            )
    for drawn, rounded in ((True, False), (False, False), (False, True)):
        shares = in_groups(given.points, drawn, rounded, given.seed)
        kind = ("drawn" if drawn else "largest dual") + (", rounded" if rounded else "")
        print(f"conditional, {kind}: {shares[0]:.4f} and {shares[1]:.4f} of .8", flush=True)
    for name in ("lasso", "LAD", "SVR with a kernel"):
        found = lengths(name, given.rows, given.seed)
        print(name, {what: float(f"{value:.3g}") for what, value in found.items()}, flush=True)


if __name__ == "__main__":
    main()
