"""The compiled code of the loop run by Python: a test can change its constants, or call a part."""

import importlib
import pkgutil

from numba.core.dispatcher import Dispatcher

from solution_paths import homotopy
from solution_paths.homotopy import tolerances, twofold


def modules():
    """Return the modules of the loop."""
    found = pkgutil.walk_packages(homotopy.__path__, f"{homotopy.__name__}.")
    return [importlib.import_module(own.name) for own in found if "guess" not in own.name]


def interpret(monkeypatch):
    """Let Python run what numba compiles, in all modules of the loop."""
    for module in modules():
        for name, own in list(vars(module).items()):
            if isinstance(own, Dispatcher):
                monkeypatch.setattr(module, name, own.py_func)
    monkeypatch.setattr(twofold, "fma", fma)
    monkeypatch.setattr(twofold, "four_sums", four_sums)


def change(monkeypatch, name, value):
    """Change a constant of `tolerances`, wherever that is imported; return in how many modules."""
    before = getattr(tolerances, name)
    users = [module for module in modules() if getattr(module, name, None) == before]
    for module in users:
        monkeypatch.setattr(module, name, value)
    return len(users) - 1


def fma(a, b, c):
    """Return a b + c, exactly where that is the error of a product or of a quotient (Dekker)."""
    p, x, y = a * b, split(a), split(b)
    error = ((x[0] * y[0] - p) + x[0] * y[1] + x[1] * y[0]) + x[1] * y[1]
    return (p + c) + error


def four_sums(x, high, low, m):
    """Return four sums of x (high + low) over every fourth number, and their second parts."""
    sums, rests = [0.0] * 4, [0.0] * 4
    for k in range(m):
        to = k % 4
        sums[to], rests[to] = twofold.accumulate(sums[to], rests[to], x[k], high[k], low[k])
    return *sums, *rests


def split(a):
    """Return a as a sum of two numbers of 26 bits (Veltkamp)."""
    c = 134217729.0 * a
    high = c - (c - a)
    return high, a - high
