"""The protocol of G. Tang's dissertation (2023): 80 % training, 20 % test, cross-validation inside.

>>> from path_benchmark.papers.distributionally_robust import data
>>> parts = data.assemble("iris", split=0)
>>> parts.train.X.shape, parts.test.X.shape
((80, 4), (20, 4))
"""

from typing import Any

import numpy as np

from ...data.protocols import (
    Part,
    Split,
    fit_scaler,
    split_fractions,
    split_sizes,
)
from ...data.registry import find
from ...data.seeds import generators
from ...data.sources import load

PAPER = "dro"


def assemble(
    name: str,
    split: int = 0,
    *,
    scaling: str = "standardise",
    n: int | None = None,
    parameters: dict[str, Any] | None = None,
    **where: Any,
) -> Split:
    """Return one random 80/20 split, scaled by its training part; targets keep their units.

    Parameters
    ----------
    name : str
        Any data set. Generated ones get a seed of their own for each split.
    split : int
        Number of the random split, from 0.
    scaling : str
        See `protocols.fit_scaler`. The dissertation states none.
    n : int, optional
        Use only n random rows (for quick runs).
    parameters : dict, optional
        Of a generated data set, for example ``{"n": 500, "noise": 0.3}``.
    **where
        ``raw_dir``, ``mirror``, ``offline``, ``config`` of `sources.load`.

    Notes
    -----
    Splits are not stratified, since the dissertation doesn't say that they are.

    Raises
    ------
    ValueError
        If a part has one class only (possible with few rows), or an argument is out of range.
    """
    rng, seeder = generators(PAPER, name, split, 2)
    parameters = dict(parameters or {})
    data = load(name, **where, **_seeded(name, parameters, seeder, where))
    used = data.n if n is None else n
    if not 10 <= used <= data.n:
        raise ValueError(f"n must lie between 10 and {data.n}, not {n}.")
    subset = rng.permutation(data.n)[:used]
    rows = [subset[part] for part in split_fractions(used, (0.8, 0.2), rng)]
    if data.task == "classification" and any(len(np.unique(data.y[r])) < 2 for r in rows):
        raise ValueError(f"split {split} of {name} has a part with one class only; use a larger n.")
    scaler = fit_scaler(data.X[rows[0]], scaling)
    train, test = (Part(scaler.transform(data.X[r]), data.y[r]) for r in rows)
    meta = {"paper": PAPER, "dataset": name, "rows": rows, "scaler": scaler, "scaling": scaling}
    meta |= {"verified": data.verified, "sha256": data.meta.get("sha256")}
    return Split(train, None, test, meta | {"parameters": data.meta.get("parameters")})


def _seeded(name, parameters, seeder, where) -> dict:
    if find(name, where.get("config")).source == "generated":
        parameters.setdefault("seed", int(seeder.integers(2**31)))
    return parameters


def folds(n: int, count: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Return `count` disjoint random validation parts that cover ``range(n)``."""
    if not 2 <= count <= n:
        raise ValueError(f"count must lie between 2 and {n}, not {count}.")
    sizes = np.full(count, n // count) + (np.arange(count) < n % count)
    return split_sizes(n, sizes, rng)
