"""Tests that fit the number of splits: Welch's and the paired t test, bootstrap intervals.

Of SciPy only its special functions are loaded: `scipy.stats` would double what the import costs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pandas as pd
from scipy import special

from .formats import count

# Fewer splits than these decide nothing about means; a test rejects at this level.
LEAST_SPLITS, LEVEL = 5, 0.05
DRAWS = 2000
ROUNDING = 1e-12  # of the largest value: numbers that differ by less are the same


def t_quantile(freedom: float, level: float = LEVEL / 2) -> float:
    """Return the value that Student's t exceeds with a probability of ``level``."""
    return float(-special.stdtrit(freedom, level))


def _p_value(t: float, freedom: float) -> float:
    """Return the two-sided p-value of Student's t."""
    return float(2.0 * special.stdtr(freedom, -abs(t)))


def _welch_freedom(a: float, n1: int, b: float, n2: int) -> float:
    """Return the degrees of freedom, of the squared standard errors of two means."""
    return (a + b) ** 2 / (a**2 / (n1 - 1) + b**2 / (n2 - 1))


def welch(one: tuple[float, float, int], other: tuple[float, float, int]) -> float:
    """Return the two-sided p-value of Welch's t test of two (mean, standard deviation, splits)."""
    (m1, s1, n1), (m2, s2, n2) = one, other
    if s1 == s2 == 0.0:
        return 1.0 if m1 == m2 else 0.0
    a, b = s1**2 / n1, s2**2 / n2
    return _p_value((m1 - m2) / math.sqrt(a + b), _welch_freedom(a, n1, b, n2))


def difference_interval(
    one: tuple[float, float, int], other: tuple[float, float, int]
) -> tuple[float, float]:
    """Return Welch's 95 % interval of the difference of two (mean, standard deviation, splits)."""
    (m1, s1, n1), (m2, s2, n2) = one, other
    if s1 == s2 == 0.0:
        return m1 - m2, m1 - m2
    a, b = s1**2 / n1, s2**2 / n2
    half = t_quantile(_welch_freedom(a, n1, b, n2)) * math.sqrt(a + b)
    return m1 - m2 - half, m1 - m2 + half


def t_half(std: float, n: int) -> float:
    """Return half the 95 % interval of a mean of n values with a standard deviation."""
    return t_quantile(n - 1) * std / math.sqrt(n)


def draw_interval(value: float, mean: float, std: float, n: int) -> tuple[float, float]:
    """Return the 95 % interval of a mean less a single number, as if that were one more draw."""
    half = t_quantile(n - 1) * std * math.sqrt(1.0 + 1.0 / n)
    return mean - value - half, mean - value + half


def sign_test(differences: Iterable[float]) -> tuple[int, int, float]:
    """Return how many differences are below zero, how many are not zero, and the p-value."""
    signs = [math.copysign(1.0, d) for d in differences if d]
    lower = sum(s < 0 for s in signs)
    fewer = min(lower, len(signs) - lower)
    p = min(1.0, 2.0 * float(special.bdtr(fewer, len(signs), 0.5))) if signs else 1.0
    return lower, len(signs), p


def spread(values: pd.Series | np.ndarray) -> float:
    """Return the standard deviation; zero where values differ by rounding alone."""
    values = np.asarray(values, float)
    if len(values) > 1 and np.ptp(values) <= ROUNDING * np.abs(values).max():
        return 0.0
    return float(values.std(ddof=1)) if len(values) > 1 else math.nan


def difference(one: pd.Series, other: pd.Series) -> tuple[float, float, int, str]:
    """Compare the means of two methods: paired where both have the same splits, else Welch's test.

    Returns
    -------
    change, p, n, text
        Mean of one minus that of the other, p-value, the smaller number of splits, and all of it
        in words with both standard deviations.
    """
    one, other = one.dropna().astype(float), other.dropna().astype(float)
    paired = one.index.is_unique and one.index.equals(other.index)
    change, n = float(one.mean() - other.mean()), min(len(one), len(other))
    if n < 2:
        p = math.nan
    elif paired:
        apart = (one - other).to_numpy()
        error = spread(apart) / math.sqrt(n)
        p = _p_value(apart.mean() / error, n - 1) if error else float(change == 0.0)
    else:
        p = welch(*((s.mean(), spread(s), len(s)) for s in (one, other)))
    test = "no test" if n < 2 else f"{'paired t' if paired else 'Welch t'} p = {p:.2g}"
    spreads = " against ".join(map(_with_spread, (one, other)))
    same = len(one) == len(other)
    splits = count(n, "split") if same else f"{len(one)} and {len(other)} splits"
    return change, p, n, f"{spreads}, {splits}, {test}"


def _with_spread(values: pd.Series) -> str:
    if len(values) < 2:
        return f"{values.mean():.4g}" if len(values) else "nothing"
    return f"{values.mean():.4g} ± {spread(values):.2g}"


def ahead(
    stated: pd.Series, rivals: Mapping[str, pd.Series], lower: bool, rank: int = 1
) -> tuple[bool | None, dict[str, tuple[float, float, int, str]]]:
    """Tell whether a method is among the best ``rank`` of itself and its rivals.

    It is where it beats all rivals but ``rank - 1`` by more than chance; it isn't where ``rank``
    of them beat it (each at the level over the number of rivals); else it can't be told, nor with
    fewer than five splits. The second result has its `difference` to each rival.
    """
    sign = -1.0 if lower else 1.0
    differences = {name: difference(stated, values) for name, values in rivals.items()}
    beaten = sum(sign * c > 0 and p < LEVEL for c, p, _, _ in differences.values())
    above = sum(
        sign * c < 0 and p < LEVEL / len(differences) for c, p, _, _ in differences.values()
    )
    if not differences or min(n for _, _, n, _ in differences.values()) < LEAST_SPLITS:
        holds = None
    else:
        holds = False if above >= rank else True if beaten > len(differences) - rank else None
    return holds, differences


def interval(
    values: np.ndarray, groups: np.ndarray | None = None, take: Callable = np.median
) -> tuple[float, float]:
    """Return a 95 % bootstrap interval of a statistic; whole groups (splits, data sets) are drawn.

    Values that come from one split are not independent.
    """
    values = np.asarray(values, float)
    groups = np.arange(len(values)) if groups is None else np.asarray(groups)
    names, slot = np.unique(groups, return_inverse=True)
    if len(names) < 2:
        return -math.inf, math.inf
    parts, rng = [values[slot == k] for k in range(len(names))], np.random.default_rng(0)
    drawn = rng.integers(len(names), size=(DRAWS, len(names)))
    estimates = [take(np.concatenate([parts[k] for k in row])) for row in drawn]
    return tuple(float(q) for q in np.quantile(estimates, (LEVEL / 2, 1 - LEVEL / 2)))
