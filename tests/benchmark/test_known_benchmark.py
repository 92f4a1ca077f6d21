"""What the benchmark's formats, tests, verdicts, data and solvers make of small input.

``pytest --write-known`` writes it down, see `helpers.known`.
"""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from helpers.known import BEFORE, NEW, SPARSE, U, X, Y, assert_same, outcomes
from path_benchmark import solvers
from path_benchmark.data import generated, protocols
from path_benchmark.data.seeds import generators
from path_benchmark.objectives import Hinge, Tube
from path_benchmark.papers.weighted_svm.ulsif import fit_ulsif
from path_benchmark.reporting import formats, statistics, verdicts
from solution_paths.kernels import Kernel

pytestmark = pytest.mark.slow

VALUES = (0.0, 1.0, -1.0, 0.5, 9.996, 99.95, 1106.0, 12345.678, 1.23e-5, 4.5e-9, 7e8, 1e-3)
VALUES = (*VALUES, 2.0, 60.0, 0.0995, np.inf, np.nan, None)
COLUMNS = {
    "whole": [1, 20, 3000],
    "mixed": [1.5, 20.25, None, 0.125],
    "small": [1e-7, 2.5e-6, 3e-8],
    "wide": [1e-9, 1.0, 1e6],
    "ends in zeros": [0.5, 1.0, 2.5],
    "nothing": [None, np.nan],
    "infinite": [np.inf, 1.0],
    "text": ["a", 1.0],
    "negative": [-0.5, 12.25],
    "zero": [0.0, 0.0],
}


def format_calls():
    calls = {}
    for value in VALUES:
        for what in ("known", "seconds", "significant"):
            calls[f"{what} {value}"] = lambda v=value, w=what: getattr(formats, w)(v)
        if value is not None and np.isfinite(value):
            for digits, what in product((1, 2, 3), ("significant", "places", "power", "seconds")):
                own = getattr(formats, what)
                calls[f"{what} {value}, {digits}"] = lambda v=value, d=digits, f=own: f(v, d)
            calls[f"power {value}, not bare"] = lambda v=value: formats.power(v, bare=False)
    for one, other in product((0.0, 1.0, 1.5, 1480.0, 1e-9, np.inf, np.nan), repeat=2):
        calls[f"together {one}, {other}"] = lambda a=one, b=other: formats.together(a, b)
        calls[f"relative {one}, {other}"] = lambda a=one, b=other: formats.relative(a, b)
    for name, values in COLUMNS.items():
        for digits in (1, 2, 3):
            calls[f"column {name}, {digits}"] = lambda v=values, d=digits: formats.column(v, d)
        shown = [formats.significant(v) if not isinstance(v, str) else v for v in values]
        calls[f"padded {name}"] = lambda v=shown: formats.padded(v)
    for number in (0, 1, 2):
        calls[f"count {number}"] = lambda n=number: formats.count(n, "split")
        calls[f"count many {number}"] = lambda n=number: formats.count(n, "box", "boxes")
    calls["trimmed"] = lambda: [formats.trimmed([0.5, 1.0], d) for d in range(4)]
    return calls


def statistic_calls():
    r = np.random.default_rng(0)
    series = {
        "six": pd.Series(r.normal(size=6)),
        "six more": pd.Series(r.normal(0.8, size=6)),
        "six far": pd.Series(r.normal(9.0, size=6)),
        "five": pd.Series(r.normal(size=5), index=range(1, 6)),
        "ones": pd.Series(np.ones(6)),
        "twos": pd.Series(np.full(6, 2.0)),
        "one": pd.Series([1.0]),
        "gaps": pd.Series([1.0, np.nan, 2.0, 3.0, 2.5, 1.5, 2.0]),
        "rounding": pd.Series(1.0 + 1e-16 * np.arange(6)),
    }
    calls = {}
    for (a, one), (b, other) in product(series.items(), repeat=2):
        calls[f"difference {a}, {b}"] = lambda x=one, y=other: list(statistics.difference(x, y)[:3])
        calls[f"difference {a}, {b}, told"] = lambda x=one, y=other: statistics.difference(x, y)[3]
    for name, own in series.items():
        calls[f"spread {name}"] = lambda v=own: statistics.spread(v)
        calls[f"interval {name}"] = lambda v=own: list(statistics.interval(v))
        for lower, rank in product((True, False), (1, 2)):
            rivals = {key: values for key, values in series.items() if key != name}
            some = {key: rivals[key] for key in list(rivals)[:3]}
            for which, chosen in (("some", some), ("none", {})):
                key = f"ahead {name}, {which}, {lower}, {rank}"
                calls[key] = lambda v=own, c=chosen, w=lower, k=rank: statistics.ahead(v, c, w, k)[
                    0
                ]
    calls["interval of groups"] = lambda: list(
        statistics.interval(np.arange(9.0), np.arange(9) // 3, np.mean)
    )
    for one, other in product(
        ((1.0, 0.5, 6), (1.5, 0.5, 4), (1.0, 0.0, 5), (2.0, 0.0, 5)), repeat=2
    ):
        calls[f"welch {one} {other}"] = lambda a=one, b=other: statistics.welch(a, b)
    for value, std, n in product((1.0, 1.5, 4.0), (0.0, 0.5), (2, 6)):
        key = f"draw interval {value} {std} {n}"
        calls[key] = lambda v=value, s=std, n=n: list(statistics.draw_interval(v, 1.0, s, n))
    for paper, ours in product((1.0, 2.0, 10.0, 100.0, np.nan), repeat=2):
        calls[f"on ratio {paper} {ours}"] = lambda a=paper, b=ours: verdicts.on_ratio(a, b)
        for off in (0.0, 1.0):
            key = f"on count {paper} {ours} {off}"
            calls[key] = lambda a=paper, b=ours, t=off: verdicts.on_count(a, b, t)
    for holds, tested, runs in product((True, False, None), (True, False), (None, 1, 4, 5)):
        own = {"tested": tested, "runs": runs}
        calls[f"on sentence {holds} {own}"] = lambda h=holds, o=own: verdicts.on_sentence(h, **o)
    return calls


def data_calls():
    toys = {
        "two_moons": (20, 0.2),
        "drlad_simulation": (20, 0.5, 4.0),
        "gaussian_classes": (20, 3, 2.0, 0.3),
        "quantile_toy": (20,),
        "robust_svc_toy": (20,),
        "robust_svr_toy": (20,),
    }
    calls = {name: getattr(generated, name) for name in ("breast_cancer", "iris")}
    for (name, own), seed in product(toys.items(), (0, 1)):
        calls[f"{name}, {seed}"] = lambda n=name, o=own, s=seed: getattr(generated, n)(*o, s)
    for clean, correlation in product((True, False), (0.0, 0.7)):
        own = (20, 4, 2.0, correlation, 2, clean, 3)
        calls[f"noisy labels {own}"] = lambda o=own: generated.noisy_labels(*o)
    for rho in (0.0, 0.5, 1.0):
        calls[f"covariance {rho}"] = lambda r=rho: generated.block_covariance(r)
        calls[f"noise {rho}"] = lambda r=rho: generated.drlad_noise_variance(r, 4.0)

    def rng():
        return np.random.default_rng(5)

    for sizes, y in product(((10, 5), (20, 10), (0, 30), (20, 11), (-1, 2)), (None, Y)):
        key = f"sizes {sizes}{'' if y is None else ', by class'}"
        calls[key] = lambda s=sizes, y=y: protocols.split_sizes(30, s, rng(), y=y)
    for shares in ((0.4, 0.3, 0.3), (0.5, 0.2), (0.7, 0.4), (-0.1, 0.5)):
        calls[f"shares {shares}"] = lambda s=shares: protocols.split_fractions(30, s, rng(), y=Y)
    for share in (0.0, 0.1, 0.5, 1.0, 1.1, -0.1):
        calls[f"flipped {share}"] = lambda s=share: protocols.flip_labels(Y, s, rng())
        calls[f"noise {share}"] = lambda s=share: protocols.add_regression_noise(X, U, s, rng())
    constant = np.c_[X, np.ones(30)]
    for kind, (name, rows) in product(
        ("none", "symmetric", "unit_interval", "standardise", "unit_rows", "?"),
        (("dense", constant), ("sparse", SPARSE), ("sparse and negative", -SPARSE)),
    ):
        new = rows[:9] * 1.5
        calls[f"scaled {kind}, {name}"] = lambda k=kind, r=rows, z=new: protocols.fit_scaler(
            r, k
        ).transform(z)
    calls["standardised"] = lambda: protocols.fit_standardiser(U).transform(U)
    calls["standardised and back"] = lambda: protocols.fit_standardiser(U).inverse(U)
    calls["constant target"] = lambda: protocols.fit_standardiser(np.ones(3))
    prices = 10.0 + np.cumsum(np.r_[0.0, np.sin(np.arange(39))])
    for count in (25, 26, 40):
        calls[f"prices {count}"] = lambda c=count: protocols.technical_features(prices[:c])
    calls["prices of zero"] = lambda: protocols.technical_features(0.0 * prices)
    calls["components"] = lambda: protocols.principal_components(X, 2)
    for n, slope in ((10, 1.0), (10, 4.0), (16, 1.0)):
        key = f"biased {n}, {slope}"
        calls[key] = lambda n=n, s=slope: protocols.biased_split(U, n, 15, rng(), slope=s)
    for split in (0, 1):
        calls[f"seeds {split}"] = lambda s=split: [
            own.random() for own in generators("paper", "data", s, 3)
        ]
    wrong = {
        "other columns": (X, NEW[:, :3], {}),
        "one row": (X, NEW[:1], {}),
        "nan": (X * np.nan, NEW, {}),
        "a vector": (X, NEW[0], {}),
        "no width": (X, NEW, {"widths": [0.0]}),
        "no ridge": (X, NEW, {"ridges": [-1.0]}),
    }
    for name, (train, test, own) in wrong.items():
        key = f"density ratio, {name}"
        calls[key] = lambda a=train, b=test, o=own: fit_ulsif(a, b, **o)
    for shift, (name, widths) in product((0.0, 1.0), (("chosen", None), ("given", [0.5, 2.0]))):
        key = f"density ratio, widths {name}, off by {shift}"
        calls[key] = lambda s=shift, w=widths: ratio(NEW + s, w)
    return calls


def ratio(rows, widths):
    """Return importance weights, and what was chosen."""
    found = fit_ulsif(X, rows, widths=widths, n_centres=5)
    return [found(X), found.coefficients, np.array([found.width, found.ridge, found.error])]


MACHINES = {
    "hinge": {},
    "costs": {"cost0": BEFORE},
    "two costs": {"cost0": np.where(Y > 0, 0.5, 1.0)},
    "no bias": {"bias": "none"},
    "penalised bias": {"bias": "feature", "intercept_scaling": 2.0},
    "lam": {"lam": 2.0},
    "rbf": {"kernel": Kernel("rbf", 0.3)},
    "rbf, no bias": {"kernel": Kernel("rbf", 0.3), "bias": "none", "diagonal": 0.1},
    "rbf, penalised bias": {"kernel": Kernel("rbf", 0.3), "bias": "feature"},
}


def solver_calls():
    """Each solver on each machine: the objective it reaches, or why it doesn't."""
    calls, machines = {}, {name: Hinge(X, Y, **own) for name, own in MACHINES.items()}
    machines["sparse"] = Hinge(SPARSE, Y, cost0=BEFORE)
    machines["tube"] = Tube(X, U, epsilon0=0.1)
    machines["tube, rbf"] = Tube(X, U, epsilon0=0.1, kernel=Kernel("rbf", 0.3))
    for solver, (name, own) in product(solvers.BASELINES, machines.items()):
        calls[f"{solver}, {name}"] = lambda s=solver, o=own: solved(s, o)
    return calls


def solved(solver, objective):
    """Return the objective that is reached and whether it is the least, or a message."""
    answer = solvers.solve(solver, objective)
    if answer.status != "solved":
        return f"{answer.status}: {answer.message}"
    found = solvers.judge(objective, answer)
    return [found.primal, float(min(found.gap, 1.0) < 1e-3)]


GROUPS = {
    "formats": format_calls,
    "statistics": statistic_calls,
    "data": data_calls,
    "solvers": solver_calls,
}


# solvers stop at their tolerances
NEAR = {group: {} for group in GROUPS} | {"solvers": {"near": 1e-6, "share": 1e-3}}


@pytest.mark.parametrize("group", GROUPS)
def test_outcomes_are_known(group):
    assert_same(outcomes(GROUPS[group]()), group, **NEAR[group], whole=True)
