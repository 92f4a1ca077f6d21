"""Symmetric matrices that fill much of the memory: nothing here makes another one in passing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..validation import Floats

BLOCK = 256  # rows that are handled at once


def _blocks(K: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Yield rows of K from the diagonal on, and the same of its transpose."""
    for first in range(0, len(K), BLOCK):
        last = first + BLOCK
        yield K[first:last, first:], K[first:, first:last].T


def asymmetry(K: Floats) -> float:
    """Return the largest difference between an entry of K and its mirror image."""
    return max((float(np.abs(a - b).max()) for a, b in _blocks(K)), default=0.0)


def largest(K: Floats) -> float:
    """Return the largest absolute entry."""
    return max(float(K.max(initial=0.0)), -float(K.min(initial=0.0)))


def symmetrised(K: Floats, own: bool = False) -> Floats:
    """Return (K + K') / 2 with its rows in order: K itself if that is the same.

    Parameters
    ----------
    K : (n, n) array
    own : bool
        Whether K may be written to.
    """
    if K.flags.c_contiguous and asymmetry(K) == 0.0:
        return K
    K = K if own and K.flags.c_contiguous else np.array(K, order="C")
    for a, b in _blocks(K):
        a[:] = b[:] = (a + b) / 2
    return K
