"""Pinned sets of real paths, replayed through two factorisations with the same updates.

The explicit inverse of J = X_P X_P' / lam, updated by pivots as the engine of 7c55444 did, beside
the triangular factor, updated by rotations. Every so many events a system with a known answer
is solved; what is shown is the error of the answer, and microseconds.

    python benchmarks/replay.py            # the table of benchmarks/log/notebook.md
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer

from solution_paths import PathError, quantile_svm_path
from solution_paths.engine import factor, triangle


def categories(seed, n=2000):
    """Return twelve categorical features as indicators, some of categories that hardly occur."""
    rng = np.random.default_rng(seed)
    columns, logit = [], np.zeros(n)
    for size in rng.integers(2, 12, size=12):
        choice = rng.choice(size, size=n, p=rng.dirichlet(np.full(size, 0.5)))
        columns.append(np.eye(size)[choice])
        logit += rng.normal(size=size)[choice]
    return np.hstack(columns), np.where(logit + rng.logistic(size=n) > 1, 1, -1)


def pinned_sets(trace):
    """Return the pinned sets of a walk, as lists."""
    return [trace.P[a:b].tolist() for a, b in zip(trace.start[:-1], trace.start[1:], strict=True)]


class Inverse:
    """G = J^-1, lower triangle, updated by principal pivots."""

    def __init__(self, rows, cap):
        self.X, self.members = rows, []
        self.G = np.zeros((cap, cap))
        self.u, self.g = np.zeros(cap), np.zeros(cap)

    def enter(self, i):
        """Take row i in."""
        m, P = len(self.members), self.members
        column = self.X[P] @ self.X[i] if m else np.zeros(0)
        factor.multiply(self.G, m, column, self.u)
        pivot = self.X[i] @ self.X[i] - column @ self.u[:m]
        factor.append(self.G, m, self.u, pivot)
        P.append(i)

    def leave(self, i):
        """Let row i go."""
        m, j = len(self.members), self.members.index(i)
        factor.read_column(self.G, m, j, self.g)
        factor.remove(self.G, m, j, self.g)
        self.members[j] = self.members[-1]
        self.members.pop()

    def solve(self, b):
        """Return the factor's solution."""
        out = np.zeros(len(b))
        factor.multiply(self.G, len(b), b, out)
        return out


class Triangle:
    """R'R = J, the diagonal from residual vectors, updated by rotations."""

    def __init__(self, rows, cap):
        self.X, self.members = rows, []
        self.R, self.W = np.zeros((cap, cap)), np.zeros((cap, 0))
        self.carried, self.column = np.zeros(cap), np.zeros(cap)

    def enter(self, i):
        """Take row i in."""
        m, x = len(self.members), self.X[i]
        XP = self.X[self.members]
        r, u, e = np.zeros(m), np.zeros(m), x
        for _ in range(2):  # the second is the correction
            v = XP @ e
            triangle.solve_lower(self.R, m, v)
            r += v
            triangle.solve_upper(self.R, m, v)
            u += v
            e = x - XP.T @ u
        triangle.append(self.R, m, r, np.sqrt(e @ e))
        self.members.append(i)

    def leave(self, i):
        """Let row i go."""
        j = self.members.index(i)
        triangle.remove(self.R, len(self.members), j, self.W, self.carried, self.column)
        self.members.pop(j)

    def solve(self, b):
        """Return the factor's solution."""
        out = b.copy()
        triangle.solve_lower(self.R, len(b), out)
        triangle.solve_upper(self.R, len(b), out)
        return out


def replay(kind, rows, sets, every, refine):
    """Return relative errors of solves with a known answer, conditions, and seconds by update."""
    f = kind(rows, max(map(len, sets)) + 4)
    rng, errors, conditions = np.random.default_rng(0), [], []
    spent, done = {"enter": 0.0, "leave": 0.0}, {"enter": 0, "leave": 0}
    for number, pinned in enumerate(sets):
        gone, new = set(f.members) - set(pinned), set(pinned) - set(f.members)
        for change, members in (("leave", sorted(gone)), ("enter", sorted(new))):
            for i in members:
                begin = time.perf_counter()
                getattr(f, change)(i)
                spent[change] += time.perf_counter() - begin
                done[change] += 1
        if number % every == 0 and f.members:
            XP = rows[f.members]
            answer = rng.normal(size=len(f.members))
            b = np.asarray(XP.astype(np.longdouble) @ (XP.T.astype(np.longdouble) @ answer), float)
            found = f.solve(b)
            for _ in range(refine):
                left = b - np.asarray(XP @ (XP.T @ found))
                found = found + f.solve(left)
            # the length in which a model feels it: that of X_P'(error)
            errors.append(np.linalg.norm(XP.T @ (found - answer)) / np.linalg.norm(XP.T @ answer))
            conditions.append(np.linalg.cond(XP))
    micro = {k: 1e6 * spent[k] / max(done[k], 1) for k in spent}
    return np.array(errors), np.array(conditions), sum(done.values()), micro


def problems():
    """Yield (name, rows, sets) of each leg that is replayed."""
    for seed, lam in ((0, 1e-4), (9, 1e-3), (20, 1e-4)):
        X, y = categories(seed)
        path = quantile_svm_path(sp.csr_array(X), y, lam)
        rows = np.hstack([X, np.ones((len(y), 1))])
        for leg, way in zip(path._legs, ("down", "up"), strict=True):
            yield f"rare categories {seed}, lam {lam:g}, {way}", rows, pinned_sets(leg.trace)
    X, y = load_breast_cancer(return_X_y=True)
    rows = np.hstack([X, np.ones((len(y), 1))])
    for lam in (1e-1, 1e-3):
        try:
            path = quantile_svm_path(X, y, lam)
        except PathError as error:
            path = error.path
        for leg, way in zip(path._legs, ("down", "up"), strict=False):
            yield f"raw breast cancer, lam {lam:g}, {way}", rows, pinned_sets(leg.trace)


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=20, help="nodes between two solves")
    arguments = parser.parse_args()
    print(
        "| path (updates, m) | condition of X_P, median / worst | factor "
        "| error, median / worst | refined once | us enter / leave |"
    )
    print("| --- | --- | --- | --- | --- | --- |")
    for name, rows, sets in problems():
        for kind in (Inverse, Triangle):
            with np.errstate(all="ignore"):
                plain, conditions, updates, micro = replay(kind, rows, sets, arguments.every, 0)
                refined = replay(kind, rows, sets, arguments.every, 1)[0]
            print(
                f"| {name} ({updates}, {max(map(len, sets))}) | {np.median(conditions):.0f} / "
                f"{conditions.max():.1e} | {kind.__name__.lower()} | {np.median(plain):.0e} / "
                f"{plain.max():.0e} | {np.median(refined):.0e} / {refined.max():.0e} | "
                f"{micro['enter']:.0f} / {micro['leave']:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
