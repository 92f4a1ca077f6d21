"""Seconds and memory of paths by their size: the table of docs/sizes.md.

Usage::

    python measurements/sizes.py                 # measures what isn't measured yet, and prints it
    python measurements/sizes.py --write         # writes what is measured into docs/sizes.md

Each row is a process of its own with one BLAS thread: CPU seconds of the call (with its check,
after a small one that takes compiled code from its file), and by how much the process grew. What
takes more than ``LIMIT`` seconds is ended. Rows are kept in results/sizes.json with their commit.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
KEPT, PAGE = ROOT / "results" / "sizes.json", ROOT / "docs" / "sizes.md"
LIMIT = 120  # CPU seconds of a row
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# name: function, options, sizes (n, d, share of entries that aren't zero)
LINEAR = [(1_000, 10, 1.0), (1_000, 100, 1.0), (10_000, 10, 1.0)]
WIDE = [(200, 10_000, 1.0), (10_000, 10_000, 1e-3)]
GENES = [(60, 2_000, 1.0), (200, 2_000, 1.0)]
SQUARE = [(250, 10, 1.0), (500, 10, 1.0), (1_000, 10, 1.0)]
ROWS = {
    "SVM": ("svm_path", {}, [*LINEAR, (50_000, 10, 1.0)]),
    "SVM, rbf kernel": ("svm_path", {"kernel": "rbf"}, [*SQUARE, (2_000, 10, 1.0)]),
    "quantile SVM": ("quantile_svm_path", {"lam": 1e-2}, LINEAR),
    "l1 SVM": ("l1_svm_path", {}, LINEAR),
    "robust SVM": ("outlier_svm_path", {"C": 1.0}, [*LINEAR[:2]]),
    "lasso": ("lasso_path", {}, [*LINEAR, (10_000, 100, 1.0), *WIDE]),
    "elastic net": ("elastic_net_path", {"lam2": 1.0}, [*LINEAR[:2], *GENES]),
    "elastic net, SVM": ("drsvm_path", {"lam2": 0.1}, [*LINEAR, *GENES]),
    "elastic net, LAD": ("drlad_path", {"lam2": 0.1}, [*LINEAR, *GENES]),
    "LAD lasso": ("rlad_path", {}, LINEAR),
    "SVR, rbf kernel": ("svr_path", {"kernel": "rbf"}, SQUARE),
    "quantiles": ("quantile_regression_path", {}, [*LINEAR, (100_000, 10, 1.0)]),
    "kernel quantiles": ("kernel_quantile_path", {"lam": 1e-2}, SQUARE),
    "logistic": ("logistic_path", {"lam_min": 1.0}, LINEAR),
}
REGRESSIONS = {"lasso_path", "elastic_net_path", "rlad_path", "svr_path", "kernel_quantile_path"}
REGRESSIONS |= {"quantile_regression_path", "drlad_path"}


def data(function: str, n: int, d: int, share: float):
    """Return rows with noisy labels or targets of a few columns, standardised."""
    import numpy as np
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    w = np.where(np.arange(d) < 10, 1.0, 0.0)
    if share < 1.0:
        X = sp.random_array((n, d), density=share, rng=rng, format="csr", data_sampler=rng.normal)
        w = np.where(np.arange(d) < d // 10, 1.0, 0.0)
    else:
        X = rng.normal(size=(n, d))
    f = X @ w
    y = f + f.std() * rng.normal(size=n)
    return X, y if function in REGRESSIONS else np.where(y > 0, 1, -1)


def measure(name: str, size: tuple[int, int, float]) -> dict:
    """Return CPU seconds, megabytes and breakpoints of one row."""
    import solution_paths

    function, options, _ = ROWS[name]
    call = getattr(solution_paths, function)
    call(*data(function, 30, min(size[1], 12), 1.0), **options)
    if size[2] < 1.0:
        call(*data(function, 60, 40, 0.2), **options)
    X, y = data(function, *size)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    path = call(X, y, **options)
    seconds = time.process_time() - start
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return {"seconds": seconds, "megabytes": grown / 1024, "breakpoints": len(path.breakpoints)}


def measured(name: str, size: tuple[int, int, float]) -> dict:
    """Return the row of a process of its own, or that it was ended."""
    environment = os.environ | dict.fromkeys(THREADS, "1")
    call = [sys.executable, __file__, "--row", name, json.dumps(size)]
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (LIMIT + 20, LIMIT + 25))  # noqa: E731
    done = subprocess.run(call, capture_output=True, text=True, env=environment, preexec_fn=limit)
    if done.returncode < 0:
        return {"seconds": None}
    if done.returncode:
        raise RuntimeError(f"{name} {size} failed: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def commit() -> str:
    """Return the short name of the checkout's commit."""
    call = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    return subprocess.run(call, capture_output=True, text=True, check=True).stdout.strip()


def machine() -> str:
    """Return the processor's name."""
    lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else "unknown processor"


def row(name: str, n: int, d: int, share: float, found: dict) -> str:
    """Return a line of the table."""
    seconds = found["seconds"]
    time_taken = f"> {LIMIT}" if seconds is None else f"{seconds:.2g}"
    rest = ["", ""] if seconds is None else [f"{found['megabytes']:.0f}", str(found["breakpoints"])]
    entries = "all" if share == 1.0 else f"{100 * share:g} %"
    return (
        f"| {name} | `{ROWS[name][0]}` | {n:,} | {d:,} | {entries} | "
        + " | ".join([time_taken, *rest])
        + " |"
    )


def table(kept: dict) -> str:
    """Return the table of what is measured, and where."""
    lines = [
        "| model | function | n | d | non-zero | CPU seconds | MB more | breakpoints |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, (_, _, sizes) in ROWS.items():
        for size in sizes:
            if str([name, *size]) in kept:
                lines.append(row(name, *size, kept[str([name, *size])]))
    said = sorted({f"{own['machine']}, commit {own['commit']}" for own in kept.values()})
    return "\n".join([*lines, "", f"Measured on {'; '.join(said)}, one BLAS thread."])


def written(page: str, found: str) -> str:
    """Return a page with another table between its marks."""
    before, begin, rest = page.partition("<!-- sizes: written by measurements/sizes.py -->\n")
    _, end, after = rest.partition("<!-- end -->")
    return before + begin + found + "\n" + end + after


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--row", nargs=2)
    asked = parser.parse_args()
    if asked.row:
        print(json.dumps(measure(asked.row[0], tuple(json.loads(asked.row[1])))))
        return
    kept = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    for name, (_, _, sizes) in ROWS.items() if not asked.write else ():
        for size in sizes:
            if str([name, *size]) not in kept:
                own = measured(name, size) | {"commit": commit(), "machine": machine()}
                kept[str([name, *size])] = own
                print(row(name, *size, own), flush=True)
                KEPT.parent.mkdir(exist_ok=True)
                KEPT.write_text(json.dumps(kept, indent=1), "utf-8")
    print(table(kept))
    if asked.write:
        PAGE.write_text(written(PAGE.read_text("utf-8"), table(kept)), "utf-8")


if __name__ == "__main__":
    main()
