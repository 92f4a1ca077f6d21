"""DNA as numbers: base codes and one-hot windows."""

import numpy as np
import scipy.sparse as sp

BASES = b"ACGT"
UNKNOWN = 4

_CODES = np.full(256, 255, dtype=np.uint8)
for _rank, _base in enumerate(BASES):
    _CODES[_base] = _CODES[ord(chr(_base).lower())] = _rank
for _base in b"NRYSWKMBDHVnryswkmbdhv":  # IUPAC's ambiguous letters stand for no single base
    _CODES[_base] = UNKNOWN


def codes(sequences: list) -> np.ndarray:
    """Return the (n, length) uint8 codes of sequences: A, C, G, T are 0 to 3, ambiguous is 4.

    Parameters
    ----------
    sequences : list of bytes or str
        All of one length.
    """
    rows = [s.encode() if isinstance(s, str) else bytes(s) for s in sequences]
    if len({len(row) for row in rows}) > 1:
        raise ValueError("sequences must all have one length.")
    letters = np.frombuffer(b"".join(rows), dtype=np.uint8)
    result = _CODES[letters].reshape(len(rows), -1)
    if (result == 255).any():
        bad = chr(letters[np.flatnonzero(result.ravel() == 255)[0]])
        raise ValueError(f"sequences must hold bases, but one holds {bad!r}.")
    return result


def one_hot_windows(base_codes: np.ndarray, start: int, stop: int) -> sp.csr_matrix:
    """Return the bases from `start` up to `stop` (excluded) as four 0/1 features each.

    Parameters
    ----------
    base_codes : (n, length) array of uint8
        From `codes`. An ambiguous base (4) becomes four zeros.
    start, stop : int
        Window, counted from 0.

    Returns
    -------
    (n, 4 * (stop - start)) csr_matrix of float64
        Feature ``4 * k + b`` says that base ``start + k`` is ``"ACGT"[b]``.
    """
    base_codes = np.asarray(base_codes)
    if not 0 <= start < stop <= base_codes.shape[1]:
        raise ValueError(
            f"start and stop must lie in 0..{base_codes.shape[1]} with start < stop, "
            f"not {start} and {stop}."
        )
    window = base_codes[:, start:stop]
    n, width = window.shape
    unambiguous = window < UNKNOWN
    columns = (4 * np.arange(width, dtype=np.int32) + window)[unambiguous]
    pointers = np.concatenate(([0], np.cumsum(unambiguous.sum(axis=1))))
    return sp.csr_matrix((np.ones(len(columns)), columns, pointers), shape=(n, 4 * width))
