"""Seeds: one independent random stream for each (paper, data set, split)."""

import hashlib

import numpy as np


def seed_sequence(paper: str, dataset: str, split: int) -> np.random.SeedSequence:
    """Return the seed of one split of one data set in one paper.

    The key is hashed with SHA-256, so that the seed is the same in every process and on every
    machine (Python's ``hash`` is salted).

    Parameters
    ----------
    paper, dataset : str
        Names of a paper and of one of its data sets.
    split : int
        Number of the split or repetition, from 0.

    Returns
    -------
    numpy.random.SeedSequence
    """
    if isinstance(split, bool) or int(split) != split or split < 0:
        raise ValueError(f"split must be an integer from 0, not {split!r}.")
    key = "\x1f".join((paper, dataset, str(int(split)))).encode()
    words = np.frombuffer(hashlib.sha256(key).digest()[:16], dtype="<u4")
    return np.random.SeedSequence([int(word) for word in words])


def generators(paper: str, dataset: str, split: int, count: int) -> list[np.random.Generator]:
    """Return `count` independent generators, so that no step's draws change those of another."""
    children = seed_sequence(paper, dataset, split).spawn(count)
    return [np.random.default_rng(child) for child in children]
