"""Symmetric matrices that may fill much of the memory: no function here makes a temporary copy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..validation import Floats

BLOCK_ROWS = 256  # rows of a block


def _blocks(K: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Yield blocks of rows of K from the diagonal on, and the same blocks of its transpose."""
    for first in range(0, len(K), BLOCK_ROWS):
        last = first + BLOCK_ROWS
        yield K[first:last, first:], K[first:, first:last].T


def asymmetry(K: Floats) -> float:
    """Return the largest difference between an entry of K and its mirror image."""
    return max((float(np.abs(a - b).max()) for a, b in _blocks(K)), default=0.0)


def largest(K: Floats) -> float:
    """Return the largest absolute entry."""
    return max(float(K.max(initial=0.0)), -float(K.min(initial=0.0)))


def symmetrised(K: Floats, writable: bool = False) -> Floats:
    """Return (K + K') / 2, contiguous by rows: K itself if it is so already.

    Parameters
    ----------
    K : (n, n) array
    writable : bool
        Whether K may be written to.
    """
    if K.flags.c_contiguous and asymmetry(K) == 0.0:
        return K
    K = K if writable and K.flags.c_contiguous else np.array(K, order="C")
    for a, b in _blocks(K):
        a[:] = b[:] = (a + b) / 2
    return K
