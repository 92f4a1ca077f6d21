"""200 small paths, as in cross-validation or a bootstrap: what a call costs beside its walk.

Usage: python measurements/small_paths.py [output.csv]; the table goes to output.md, too.

Each case draws 200 samples and traces one path in C for each, with the look before a path is
returned (``check="warn"``, the default) and without it; beside them scikit-learn's SVC fits the
same samples at one C, and the first 20 of them at 100. CPU milliseconds a sample, one thread,
medians of 3 interleaved repeats, after a warm-up that absorbs compilation.
"""

import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.svm import SVC
from tables import write_table
from threadpoolctl import threadpool_limits

from solution_paths import svm_path

REPEATS, SAMPLES, FEW, VALUES = 3, 200, 20, 100
CASES = {
    "n = 10, d = 3, linear": (10, 3, {}),
    "n = 40, d = 5, linear": (40, 5, {}),
    "n = 40, d = 5, rbf": (40, 5, {"kernel": "rbf", "gamma": 0.2}),
    "n = 100, d = 10, linear": (100, 10, {}),
    "n = 100, d = 10, rbf": (100, 10, {"kernel": "rbf", "gamma": 0.1}),
}


def samples(n, d):
    """Draw the samples of a case: two overlapping classes, both present."""
    rng = np.random.default_rng([n, d])
    for _ in range(SAMPLES):
        y = np.where(rng.permutation(n) < n // 2, 1.0, -1.0)
        yield rng.normal(size=(n, d)) + 0.5 * y[:, None], y


def timed(solve, problems):
    """Return CPU milliseconds a sample."""
    start = time.process_time()
    for X, y in problems:
        solve(X, y)
    return 1e3 * (time.process_time() - start) / len(problems)


def compare(name):
    """Return one row: medians of interleaved repeats."""
    n, d, kernel = CASES[name]
    problems = list(samples(n, d))
    svc = SVC(**{"kernel": "linear", **kernel})
    grid = np.geomspace(1e-3, 1e3, VALUES)

    def fit_grid(X, y):
        for C in grid:
            svc.set_params(C=C).fit(X, y)

    solvers = {
        "path_ms": lambda X, y: svm_path(X, y, **kernel),
        "unchecked_ms": lambda X, y: svm_path(X, y, check="ignore", **kernel),
        "svc_ms": lambda X, y: svc.set_params(C=1.0).fit(X, y),
        "grid_ms": fit_grid,
    }
    found = {key: [] for key in solvers}
    for _ in range(REPEATS):
        for key, solve in solvers.items():
            found[key].append(timed(solve, problems[:FEW] if key == "grid_ms" else problems))
    breakpoints = np.mean([len(svm_path(X, y, **kernel).breakpoints) for X, y in problems[:FEW]])
    row = {"case": name, "breakpoints": breakpoints}
    return row | {key: float(np.median(times)) for key, times in found.items()}


def main(path):
    """Print the table and write it."""
    warnings.simplefilter("ignore")
    for n, d, kernel in CASES.values():
        X, y = next(samples(n, d))
        svm_path(X, y, **kernel)
    heads = ["case", "breakpoints", "path ms", "unchecked ms", "the look's share", "SVC ms"]
    write_table(path, "200 small paths", __doc__, [*heads, "100 SVCs ms"], map(shown, CASES))


def shown(name):
    """Return one row, and its cells."""
    row = compare(name)
    share = 1 - row["unchecked_ms"] / row["path_ms"]
    times = [f"{row[f'{key}_ms']:.2f}" for key in ("path", "unchecked", "svc")]
    cells = [name, f"{row['breakpoints']:.0f}", *times[:2], f"{share:.0%}", times[2]]
    return row, [*cells, f"{row['grid_ms']:.1f}"]


if __name__ == "__main__":
    default = Path(__file__).parents[1] / "results" / "measurements" / "small_paths.csv"
    with threadpool_limits(1):
        main(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
