"""What numba loses in the innermost loops: beside the same loops in C, and their share of a path.

    python measurements/innermost.py          seconds of each loop, by numba and by gcc
    python measurements/innermost.py --share  share of each compiled function in a path (needs perf)

The C code is here alone: it is no part of the package. Both are compiled for x86-64-v3, and add up
in the same order but for the sums that may be in any (-ffast-math, as numba's ``fastmath``).
"""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from solution_paths import svm_path
from solution_paths.compilation import cached_njit, level
from solution_paths.homotopy import twofold
from solution_paths.homotopy.operations import operated

EXACT = """
#include <math.h>
static inline void accumulate(double *h, double *l, double x, double wh, double wl)
{
    double p = x * wh, e = fma(x, wh, -p), s = *h + p, z = s - *h;
    *l += ((*h - (s - z)) + (p - z)) + (e + x * wl);
    *h = s;
}
void add_products(double *restrict high, double *restrict low, const double *A, long m,
                  long stride, const double *wh, const double *wl)
{
    for (long r = 0; r + 4 <= m; r += 4) {
        const double *a = A + r * stride, *b = a + stride, *c = b + stride, *d = c + stride;
        for (long k = 0; k < m; k++) {
            double h = high[k], l = low[k];
            accumulate(&h, &l, a[k], wh[r], wl[r]);
            accumulate(&h, &l, b[k], wh[r + 1], wl[r + 1]);
            accumulate(&h, &l, c[k], wh[r + 2], wl[r + 2]);
            accumulate(&h, &l, d[k], wh[r + 3], wl[r + 3]);
            double s = h + l;
            high[k] = s;
            low[k] = l - (s - h);
        }
    }
}
"""
SUMS = """
void multiply(const double *A, long stride, const double *restrict x, double *restrict y, long m)
{
    for (long r = 0; r < m; r++) y[r] = 0.0;
    for (long r = 0; r + 4 <= m; r += 4) {
        const double *a = A + r * stride, *b = a + stride, *c = b + stride, *d = c + stride;
        double p = 0, q = 0, s = 0, t = 0, e = x[r], f = x[r + 1], g = x[r + 2], h = x[r + 3];
        for (long k = 0; k < r; k++) {
            double v = x[k];
            p += a[k] * v; q += b[k] * v; s += c[k] * v; t += d[k] * v;
            y[k] += a[k] * e + b[k] * f + c[k] * g + d[k] * h;
        }
        y[r] += p + a[r] * e + b[r] * f + c[r] * g + d[r] * h;
        y[r + 1] += q + b[r] * e + b[r + 1] * f + c[r + 1] * g + d[r + 1] * h;
        y[r + 2] += s + c[r] * e + c[r + 1] * f + c[r + 2] * g + d[r + 2] * h;
        y[r + 3] += t + d[r] * e + d[r + 1] * f + d[r + 2] * g + d[r + 3] * h;
    }
}
double dot(const double *x, const double *y, long m)
{
    double s = 0;
    for (long k = 0; k < m; k++) s += x[k] * y[k];
    return s;
}
"""


@cached_njit(_nrt=False)
def products(high, low, A, m, wh, wl, times):
    """Add A x to running sums, so many times."""
    for _ in range(times):
        twofold.add_products(high, low, A, m, wh, wl)


@cached_njit(_nrt=False)
def multiplied(A, x, y, m, times):
    """Write A x to y, so many times."""
    for _ in range(times):
        twofold.multiply(A, x, y, m)


@cached_njit(_nrt=False)
def dots(x, y, m, times):
    """Return the sum of so many products of two vectors."""
    s = 0.0
    for k in range(times):
        x[0] = k
        s += twofold.dot(x, y, m)
    return s


def built(folder: Path, name: str, code: str, *options: str) -> ctypes.CDLL:
    """Return a C library."""
    source, made = folder / f"{name}.c", folder / f"{name}.so"
    loop_of = {
        "exact": "void many(double *h, double *l, const double *A, long m, const double *wh, "
        "const double *wl, long times) { for (long k = 0; k < times; k++) "
        "add_products(h, l, A, m, m, wh, wl); }",
        "sums": "void many(const double *A, const double *x, double *y, long m, long times) "
        "{ for (long k = 0; k < times; k++) multiply(A, m, x, y, m); }\n"
        "double dots(double *x, const double *y, long m, long times) { double s = 0; "
        "for (long k = 0; k < times; k++) { x[0] = k; s += dot(x, y, m); } return s; }",
    }[name]
    source.write_text(code.replace("void add_", "__attribute__((noinline)) void add_") + loop_of)
    flags = ["-O3", "-march=x86-64-v3", "-shared", "-fPIC", *options]
    subprocess.run(["gcc", *flags, source, "-o", made, "-lm"], check=True)
    return ctypes.CDLL(str(made))


def least(call, count: int = 15) -> float:
    """Return the least seconds of processor time of a call."""
    found = []
    for _ in range(count):
        begun = time.process_time()
        call()
        found.append(time.process_time() - begun)
    return min(found)


def measured(m: int, exact: ctypes.CDLL, sums: ctypes.CDLL) -> list[tuple[str, float, float]]:
    """Return each loop's nanoseconds for a number of a matrix or vector: by numba, and by C."""
    rng = np.random.default_rng(m)
    A, x, y = rng.normal(size=(m, m)), rng.normal(size=m), rng.normal(size=m)
    A += A.T
    w, w_low = x * 1e-3, y * 1e-9
    at = {
        name: own.ctypes.data_as(ctypes.c_void_p)
        for name, own in zip("Axy", (A, x, y), strict=True)
    }
    weights = [own.ctypes.data_as(ctypes.c_void_p) for own in (w, w_low)]
    times, often = max(1, 4_000_000 // m**2), 8_000_000 // m
    loops = {
        "twofold A x": (
            lambda: products(x, y, A, m, w, w_low, times),
            lambda: exact.many(at["x"], at["y"], at["A"], m, *weights, times),
            m * m * times,
        ),
        "double A x, lower triangle": (
            lambda: multiplied(A, x, y, m, times),
            lambda: sums.many(at["A"], at["x"], at["y"], m, times),
            m * m * times,
        ),
        "double x y": (
            lambda: dots(x, y, m, often),
            lambda: sums.dots(at["x"], at["y"], m, often),
            m * often,
        ),
    }
    found = []
    for label, (by_numba, by_c, numbers) in loops.items():
        by_numba()
        found.append((label, 1e9 * least(by_numba) / numbers, 1e9 * least(by_c) / numbers))
    return found


def compare() -> None:
    """Print how long each loop takes."""
    print(f"{'loop':28s}{'m':>6s}{'numba, ns':>12s}{'C, ns':>10s}{'numba / C':>11s}")
    with tempfile.TemporaryDirectory() as name:
        exact = built(Path(name), "exact", EXACT, "-ffp-contract=off")
        sums = built(Path(name), "sums", SUMS, "-ffast-math")
        for m in (16, 64, 200, 500):
            for label, first, second in measured(m, exact, sums):
                print(f"{label:28s}{m:6d}{first:12.3f}{second:10.3f}{first / second:11.2f}")


def names_of_machine_code() -> None:
    """Tell perf where each compiled function of a walk stands."""
    made = operated
    (result,) = made.overloads.values()
    arguments, processor, source = made._cache._index_key(
        result.signature.args, made.targetctx.codegen()
    )
    index = made._cache._cache_file._load_index()
    kinds = processor, (processor[0], level(), "")  # compiled for this processor, or for its level
    name = next(index[key] for kind in kinds if (key := (arguments, kind, source)) in index)
    file = Path(made._cache.cache_path, name)
    code = made._cache._cache_file._load_data(file.name)[0][2][0]
    with tempfile.NamedTemporaryFile() as held:
        held.write(code)
        held.flush()
        listed = subprocess.run(
            ["nm", "--print-size", held.name], capture_output=True, text=True, check=True
        ).stdout
    rows = [line.split() for line in listed.splitlines()]
    rows = [own for own in rows if len(own) == 4 and own[2] in "tTW"]
    wrapper = result.fndesc.llvm_cpython_wrapper_name
    offset = next(int(at, 16) for at, _, _, name in rows if name == wrapper)
    base = result.library.get_pointer_to_function(wrapper) - offset
    with open(f"/tmp/perf-{os.getpid()}.map", "w") as file:
        for at, size, _, name in rows:
            short = name.removeprefix("_ZN14solution_paths8homotopy")[:48]
            file.write(f"{base + int(at, 16):x} {int(size, 16):x} {short}\n")


def share(rows: int = 500, seconds: float = 20.0) -> None:
    """Print the share of each compiled function in the path of a kernel machine."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(rows, 5))
    y = np.where(X[:, 0] + rng.normal(size=rows) > 0, 1, -1)
    svm_path(X, y, kernel="rbf", check="ignore")
    names_of_machine_code()
    with tempfile.TemporaryDirectory() as folder:
        data = f"{folder}/perf.data"
        command = ["perf", "record", "-q", "-e", "cpu-clock", "-o", data, "-p", str(os.getpid())]
        watching = subprocess.Popen([*command, "--", "sleep", str(seconds)])
        while watching.poll() is None:
            svm_path(X, y, kernel="rbf", check="ignore")
        for sort in ("dso", "sym"):
            listed = ["perf", "report", "-i", data, "--stdio", "--sort", sort, "-q"]
            found = subprocess.run(listed, capture_output=True, text=True, check=True).stdout
            print("\n".join(found.splitlines()[:40]))


def main() -> None:
    """Compare loops, or print shares."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--share", action="store_true", help="share of each function in a path")
    given = parser.parse_args()
    if given.share:
        share()
    else:
        compare()


if __name__ == "__main__":
    main()
