"""The three data sets of the quantile SVM paper, cut and scaled as in its section 4.

>>> from path_benchmark.papers.quantile_svm import data
>>> parts = data.prepare("diabetes", sizes=(668, 50, 50))  # doctest: +SKIP
>>> parts.train.X.shape, parts.validation.X.shape, parts.test.X.shape  # doctest: +SKIP
((668, 8), (50, 8), (50, 8))
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from ...data import dna
from ...data.protocols import Part, Split, fit_scaler, split_fractions, split_sizes
from ...data.seeds import generators, seed_sequence
from ...data.sources import load, load_seeded, sequences

PAPER = "quantile_svm"
POSITIVE_SHARE = 0.055  # as in the paper; its figure 2 depends on it


def diabetes(
    split: int = 0,
    *,
    sizes: Sequence[int] = (668, 50, 50),
    scaling: str = "symmetric",
    **where,
) -> Split:
    """Diabetes: 668 / 50 / 50 at random, scaled by the training rows.

    Parameters
    ----------
    split : int
        Number of the random split, from 0.
    sizes : three int
        Rows for training, validation and test.
    scaling : str
        See `protocols.fit_scaler`. The paper states none.
    **where
        ``raw_dir``, ``mirror``, ``offline``, ``config`` of `load`.
    """
    data = load("diabetes", **where)
    (rng,) = generators(PAPER, "diabetes", split, 1)
    rows = split_sizes(data.n, sizes, rng)
    scaler = fit_scaler(data.X[rows[0]], scaling)
    parts = [Part(scaler.transform(data.X[r]), data.y[r]) for r in rows]
    return Split(*parts, meta=_meta(data, scaling, rows))


def spam(split: int = 0, *, scaling: str = "none", **where) -> Split:
    """Spam: inbox u00 is for training, u01 for validation, u02 for testing.

    Words that u00 lacks are dropped.

    Parameters
    ----------
    split : int
        Must be 0: the split is fixed.
    scaling : {"none", "unit_rows", "unit_interval"}
        Unscaled term counts, rows of length 1 (without the dropped words), or each word's counts
        divided by its largest training count.
    **where
        As in `diabetes`.

    Notes
    -----
    As in the paper, the width is 48784, u00's largest word number. Later columns are cut off, and
    the entries of columns that u00 never uses are removed.
    """
    if split != 0:
        raise ValueError(f"spam has one fixed split, number 0, not {split}.")
    inboxes = [load(f"spam_u0{k}", **where) for k in range(3)]
    width = inboxes[0].d
    used = np.zeros(width)
    used[inboxes[0].X.indices] = 1.0
    cut = [_restrict_columns(inbox.X, width, used) for inbox in inboxes]
    scaler = fit_scaler(cut[0], scaling)
    parts = [Part(scaler.transform(X), box.y) for X, box in zip(cut, inboxes, strict=True)]
    meta = _meta(inboxes[0], scaling, None)
    meta["sha256"] = [inbox.meta["sha256"] for inbox in inboxes]
    meta["n_words"] = int(used.sum())
    return Split(*parts, meta=meta)


def _restrict_columns(X: sp.csr_matrix, width: int, used: np.ndarray) -> sp.csr_matrix:
    if X.shape[1] >= width:
        X = X[:, :width]
    else:
        X = sp.csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], width))
    restricted = sp.csr_matrix(X.multiply(used))
    restricted.eliminate_zeros()
    return restricted


def splice(
    split: int = 0,
    *,
    sizes: Sequence[int] = (10_000, 10_000, 10_000),
    n_positive: int | None = None,
    scaling: str = "none",
    **where,
) -> Split:
    """Splice: three disjoint random parts of acceptor sites, 804 one-hot features each.

    Parameters
    ----------
    split : int
        Number of the random draw, from 0.
    sizes : three int
        Rows of each part, which must be equal: 10,000 in the paper.
    n_positive : int, optional
        True sites in each part; by default 5.5 % of n, as in the paper (the file has 3.3 %).
    scaling : {"none", "unit_rows"}
    **where
        As in `diabetes`.
    """
    n = int(sizes[0])
    if any(size != n for size in sizes):
        raise ValueError(f"splice is cut into three equal parts, so sizes can't be {list(sizes)}.")
    n_positive = round(POSITIVE_SHARE * n) if n_positive is None else int(n_positive)
    if not 0 < n_positive < n:
        raise ValueError(f"n_positive must lie between 0 and n = {n}, not {n_positive}.")
    bases, y, window = sequences("celegans_acceptor", **where)
    draw, shuffle = generators(PAPER, "splice", split, 2)
    rows = _draw_classes(y, n, n_positive, draw, shuffle)
    scaler = fit_scaler(None, scaling)
    parts = [Part(scaler.transform(dna.one_hot_windows(bases[r], *window)), y[r]) for r in rows]
    meta = {"paper": PAPER, "dataset": "celegans_acceptor", "scaling": scaling, "rows": rows}
    return Split(*parts, meta=meta)


def _draw_classes(y, n, n_positive, draw, shuffle) -> list[np.ndarray]:
    """Draw three disjoint parts, each with the given numbers of both classes."""
    classes = []
    for label, count in ((1, n_positive), (-1, n - n_positive)):
        members = np.flatnonzero(y == label)
        if 3 * count > len(members):
            raise ValueError(
                f"splice has {len(members)} rows of class {label:+d}, too few for three parts of "
                f"{count}; lower n or n_positive."
            )
        picks = split_sizes(len(members), (count,) * 3, draw)
        classes.append([members[pick] for pick in picks])
    return [shuffle.permutation(np.concatenate(pair)) for pair in zip(*classes, strict=True)]


def _meta(data, scaling, rows) -> dict:
    meta = {"paper": PAPER, "dataset": data.name, "scaling": scaling, "rows": rows}
    return meta | {"verified": data.verified, "sha256": data.meta.get("sha256")}


def _check_three(sizes: Sequence[float]) -> Sequence[float]:
    if len(sizes) != 3:
        raise ValueError(
            f"sizes must be three numbers (training, validation, test), not {list(sizes)}."
        )
    return sizes


def true_probability(X: np.ndarray, parameters: Mapping[str, float]) -> np.ndarray:
    """Return P(y = +1 | x) of the generated data set ``gaussian_classes``, by Bayes' rule.

    Both classes are spherical, with means ``distance`` apart along the diagonal.
    """
    projection, share = X.sum(axis=1) / np.sqrt(X.shape[1]), parameters["positive_share"]
    return expit(np.log(share / (1.0 - share)) + parameters["distance"] * projection)


@lru_cache(maxsize=4)
def prepare(
    name: str,
    split: int = 0,
    *,
    sizes: tuple[float, ...] | None = None,
    scaling: str = "none",
    positives: int | None = None,
    offline: bool = False,
) -> Split:
    """Return training, validation and test part of any data set, scaled by the training part.

    The paper's three data sets are split as in the paper, by default with its sizes. Any other is
    split at random by ``sizes``, stratified by class; a generated one is generated anew for each
    split.

    Parameters
    ----------
    name : str
    split : int
        From 0.
    sizes : three numbers
        Rows of the parts, or fractions if none is above 1. Only the paper's data sets have a
        default; spam takes none, as its parts are its inboxes.
    scaling : str
        See `protocols.fit_scaler`.
    positives : int, optional
        Number of positives in each part of splice.
    offline : bool

    Raises
    ------
    ValueError
        For sizes that the data set can't have, or a scaling that moves zeros of sparse data.
    """
    options = {"scaling": scaling, "offline": offline}
    size_options = {} if sizes is None else {"sizes": _check_three(sizes)}
    if name == "spam":
        if sizes is not None:
            raise ValueError("spam's parts are its three inboxes, so it takes no sizes: drop them.")
        return spam(split, **options)
    if name == "splice":
        return splice(split, **size_options, n_positive=positives, **options)
    if name == "diabetes":
        return diabetes(split, **size_options, **options)
    if sizes is None:
        raise ValueError(f"{name} has no sizes of its own in the paper: pass sizes, three numbers.")
    seeds = seed_sequence(PAPER, name, split).spawn(2)
    n = int(sum(sizes)) if max(sizes) > 1 else None
    data = load_seeded(name, seeds[0], n=n, offline=offline)
    cut = split_sizes if max(sizes) > 1 else split_fractions
    rows = cut(data.n, sizes, np.random.default_rng(seeds[1]), y=data.y)
    scaler = fit_scaler(data.X[rows[0]], scaling)
    return Split(*(Part(scaler.transform(data.X[r]), data.y[r]) for r in rows))
