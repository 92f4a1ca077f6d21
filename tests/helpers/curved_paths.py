"""What the tests of all generalised linear models share: arguments drawn at random, the bound."""

import numpy as np

RATIOS = (1.0, 0.0, 0.5, 0.999, 0.01)


def arguments(X, y, largest, seed):
    """Return the arguments of a path; ``largest``: the largest |x_j.a| of the best constant."""
    r = np.random.default_rng(seed + 1000)
    low = largest * 10.0 ** -r.uniform(0.3, 4)
    high = np.inf if seed % 2 else low * 10 ** r.uniform(0.5, 4)
    eps = 10.0 ** -r.uniform(1, 8 if seed % 4 == 0 else 5)
    options = {"l1_ratio": RATIOS[seed % 5], "eps": eps}
    if seed % 3 == 0:  # some rows count for nothing
        options["sample_weight"] = r.uniform(0.1, 3.0, len(y)) * (r.uniform(size=len(y)) > 0.2)
        options["sample_weight"][:2] = 1.0
    return X, y, low, high, options


def assert_the_bound_holds(path, low, high, seed):
    """Judge a path at a thousand lam between its ends."""
    assert path.range == (low, high)
    assert path.bounds.max() <= path.eps
    last = min(high, 2.0 * path.breakpoints[-1])
    grid = np.clip(np.geomspace(low, last, 1000), low, last)
    s, found = path._judged(np.empty(0, dtype=int), grid)
    piece = np.clip(np.searchsorted(path.points.t, s, side="right") - 1, 0, len(path.bounds) - 1)
    assert (found.gap <= path.bounds[piece] + found.rounding + 1e-12).all()
    assert path.certify(20, seed).ok
