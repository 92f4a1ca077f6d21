"""The robust SVM paper's protocol (its section 5.1): split, scale, disturb.

>>> from path_benchmark.papers.robust_svm import data
>>> parts = data.assemble("wdbc", split=0)  # doctest: +SKIP
"""

from typing import Any

import scipy.sparse as sp

from ...data.protocols import (
    Part,
    Split,
    add_regression_noise,
    fit_scaler,
    fit_standardiser,
    flip_labels,
    split_fractions,
)
from ...data.seeds import generators
from ...data.sources import load

PAPER = "robust_svm"
FRACTIONS = (0.4, 0.3, 0.3)
FLIPPED = 0.15
NOISY = 0.05
AMPLITUDE = 2.0

SVC = (
    "wdbc",
    "australian",
    "german_numer",
    "svmguide1",
    "spambase",
    "musk",
    "gisette",
    "w5a",
    "a6a",
    "a7a",
    "a7a_surrogate",
)
SVR = (
    "bodyfat",
    "yacht_hydrodynamics",
    "auto_mpg",
    "housing",
    "mg",
    "mg_scale",
    "winequality_red",
    "winequality_white",
    "space_ga",
    "abalone",
    "cpusmall",
    "cadata",
)


def assemble(
    name: str,
    split: int = 0,
    *,
    n: int | None = None,
    flipped: float = FLIPPED,
    noisy: float = NOISY,
    amplitude: float = AMPLITUDE,
    rescaling: str = "none",
    **where: Any,
) -> Split:
    """Return one disturbed 40/30/30 split.

    Classification: inputs to [-1, 1] by the training range (sparse inputs stay as they are), then
    15 % of the labels of training and of validation flipped. Regression: inputs to [-1, 1] and
    target standardised by the training part, then 5 % of training and of validation disturbed
    by noise. The test part is clean, in the same units. Optionally, inputs are then scaled again by
    the disturbed training part.

    Parameters
    ----------
    name : str
        Any data set; those of the paper are `SVC` and `SVR`.
    split : int
        Number of the random split, from 0.
    n : int, optional
        Use only n random rows (for quick runs).
    flipped, noisy : float
        Fractions disturbed.
    amplitude : float
        Regression's noise on inputs is U(-amplitude, amplitude).
    rescaling : {"none", "symmetric", "unit_interval"}
        Scaling of regression's inputs after the noise, see `protocols.fit_scaler`.
    **where
        ``raw_dir``, ``mirror``, ``offline``, ``config`` of `sources.load`.

    Returns
    -------
    Split
        ``meta`` holds the rows of each part and ``scaler``; for regression also ``standardiser``
        (which returns to the target's original units), ``noisy_rows`` and ``rescaler``.
    """
    data = load(name, **where)
    generator, train, validation = generators(PAPER, name, split, 3)
    used = data.n if n is None else n
    if not 10 <= used <= data.n:
        raise ValueError(f"n must lie between 10 and {data.n}, not {n}.")
    subset = generator.permutation(data.n)[:used]
    rows = [subset[part] for part in split_fractions(used, FRACTIONS, generator)]
    scaler = fit_scaler(data.X[rows[0]], "none" if sp.issparse(data.X) else "symmetric")
    parts = [Part(scaler.transform(data.X[r]), data.y[r]) for r in rows]
    meta = {"paper": PAPER, "dataset": name, "rows": rows, "scaler": scaler}
    meta |= {"verified": data.verified, "sha256": data.meta.get("sha256")}
    if data.task == "classification":
        parts, extra = _flip(parts, (train, validation), flipped)
    else:
        parts, extra = _disturb(parts, (train, validation), noisy, amplitude, rescaling)
    return Split(*parts, meta=meta | extra)


def _flip(parts, rngs, flipped):
    noisy = [Part(p.X, flip_labels(p.y, flipped, g)) for p, g in zip(parts, rngs, strict=False)]
    return [*noisy, parts[2]], {}


def _disturb(parts, rngs, noisy, amplitude, rescaling):
    standardiser = fit_standardiser(parts[0].y)
    parts = [Part(p.X, standardiser.transform(p.y)) for p in parts]
    disturbed, rows = [], []
    for part, rng in zip(parts, rngs, strict=False):
        X, y, disturbed_rows = add_regression_noise(
            part.X, part.y, noisy, rng, input_range=amplitude
        )
        disturbed.append(Part(X, y))
        rows.append(disturbed_rows)
    rescaler = fit_scaler(disturbed[0].X, rescaling)
    rescaled = [Part(rescaler.transform(part.X), part.y) for part in (*disturbed, parts[2])]
    return rescaled, {"standardiser": standardiser, "noisy_rows": rows, "rescaler": rescaler}
