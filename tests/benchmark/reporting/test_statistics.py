"""Tests of means, beside SciPy's own on the values themselves."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from path_benchmark import papers
from path_benchmark.reporting import statistics

R = np.random.default_rng(0)
SIX, MORE, FAR = (pd.Series(R.normal(mean, size=6)) for mean in (0.0, 0.8, 9.0))
FIVE = pd.Series(R.normal(size=5), index=range(1, 6))
GAPS = pd.Series([1.0, np.nan, 2.0, 3.0, 2.5, 1.5, 2.0])
ONES, ONE = pd.Series(np.ones(6)), pd.Series([1.0])


def moments(values):
    values = values.dropna()
    return values.mean(), values.std(ddof=1), len(values)


@pytest.mark.parametrize(("one", "other"), [(SIX, MORE), (SIX, FAR), (MORE, ONES), (FIVE, FIVE**2)])
def test_the_same_splits_are_compared_in_pairs(one, other):
    change, p, n, text = statistics.difference(one, other)
    assert change == pytest.approx(one.mean() - other.mean())
    assert p == pytest.approx(stats.ttest_rel(one, other).pvalue)
    assert n == len(one)
    (a, s, _), (b, t, _) = moments(one), moments(other)
    assert text == f"{a:.4g} ± {s:.2g} against {b:.4g} ± {t:.2g}, {n} splits, paired t p = {p:.2g}"


@pytest.mark.parametrize(("one", "other"), [(SIX, FIVE), (FIVE, FAR), (SIX, GAPS), (GAPS, MORE)])
def test_other_splits_are_compared_by_welchs_test(one, other):
    _, p, n, text = statistics.difference(one, other)
    known = one.dropna(), other.dropna()
    found = stats.ttest_ind(*known, equal_var=False)
    assert p == pytest.approx(found.pvalue)
    assert statistics.welch(moments(one), moments(other)) == pytest.approx(found.pvalue)
    interval = statistics.difference_interval(moments(one), moments(other))
    assert interval == pytest.approx(tuple(found.confidence_interval(0.95)))
    assert n == min(map(len, known))
    lengths = list(map(len, known))
    splits = f"{n} splits" if lengths[0] == lengths[1] else "{} and {} splits".format(*lengths)
    assert text.endswith(f", {splits}, Welch t p = {p:.2g}")


def test_means_without_spread_and_single_numbers():
    assert statistics.welch((1.0, 0.0, 5), (1.0, 0.0, 5)) == 1.0
    assert statistics.welch((1.0, 0.0, 5), (2.0, 0.0, 5)) == 0.0
    assert statistics.difference_interval((1.0, 0.0, 5), (2.0, 0.0, 5)) == (-1.0, -1.0)
    change, p, n, text = statistics.difference(SIX, ONE)
    assert (change, n) == (SIX.mean() - 1.0, 1)
    assert np.isnan(p)
    assert text.endswith("against 1, 6 and 1 splits, no test")
    assert np.isnan(statistics.spread(ONE))
    assert statistics.spread(1.0 + 1e-16 * np.arange(6)) == 0.0
    assert statistics.spread(SIX) == SIX.std(ddof=1)


@pytest.mark.parametrize("n", [2, 6])
@pytest.mark.parametrize("value", [1.0, 4.0])
def test_a_single_number_is_one_more_draw(value, n):
    scale = 0.5 * np.sqrt(1.0 + 1.0 / n)  # of a draw less a mean of n
    wanted = stats.t(n - 1, loc=1.0 - value, scale=scale).interval(0.95)
    assert statistics.draw_interval(value, 1.0, 0.5, n) == pytest.approx(wanted)
    assert statistics.draw_interval(value, 1.0, 0.0, n) == (1.0 - value, 1.0 - value)


def test_among_the_best_means_to_beat_all_others_but_some():
    rivals = {"more": MORE + 3.0, "far": FAR}
    assert statistics.ahead(SIX, rivals, lower=True)[0] is True
    assert statistics.ahead(FAR, {"six": SIX, "more": MORE}, lower=True)[0] is False
    assert statistics.ahead(FAR, {"six": SIX, "more": MORE}, lower=False)[0] is True
    assert statistics.ahead(MORE, {"six": SIX, "far": FAR}, lower=True)[0] is None
    second = {"six": SIX - 9.0, "far": FAR}
    assert statistics.ahead(MORE, second, lower=True)[0] is False
    assert statistics.ahead(MORE, second, lower=True, rank=2)[0] is True
    assert statistics.ahead(SIX, {}, lower=True)[0] is None
    assert statistics.ahead(SIX, {"one": ONE}, lower=True)[0] is None


@pytest.mark.parametrize(("lower", "higher"), [(0, 1), (3, 3), (2, 7), (7, 2), (36, 4), (0, 30)])
def test_signs_are_tested_as_by_the_binomial_test(lower, higher):
    differences = [-1.0] * lower + [0.0] * 3 + [2.0] * higher
    below, n, p = statistics.sign_test(differences)
    assert (below, n) == (lower, lower + higher)
    assert p == pytest.approx(stats.binomtest(lower, n).pvalue)
    assert statistics.sign_test([0.0]) == (0, 0, 1.0)


def test_no_papers_outputs_load_what_is_slow_to_import():
    """All statistics of SciPy cost half a second of every command."""
    modules = [f"path_benchmark.papers.{name}.outputs" for name in papers.names()]
    code = f"import sys, {', '.join(modules)}; print('scipy.stats' in sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert loaded.stdout == "False\n", loaded.stderr
