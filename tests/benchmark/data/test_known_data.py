"""Generated data, protocols and importance weights on small input, as they were published.

``pytest --write-known`` writes it down, see `helpers.known`.
"""

from itertools import product

import numpy as np
import pytest

from helpers.known import NEW, SPARSE, U, X, Y, assert_same, outcomes
from path_benchmark.data import generated, protocols
from path_benchmark.data.seeds import generators
from path_benchmark.papers.weighted_svm.ulsif import fit_ulsif

pytestmark = pytest.mark.slow


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


def test_outcomes_are_known():
    assert_same(outcomes(data_calls()), "data", whole=True)
