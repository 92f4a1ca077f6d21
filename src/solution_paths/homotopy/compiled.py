"""How the functions of the homotopy are compiled, and the memory that they share.

A `struct` is handed on as one address. Its type's name has a mark of this folder's files: numba
keeps compiled functions as long as their own file stays as it is, although the functions that they
call have become part of them.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, TypeVar, dataclass_transform

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..engine.compiled import Indices, Matrix, Vector, entry, fma, inline, lean, new, record, sums
from ..engine.compiled import struct as plain_struct

__all__ = [
    "Bytes",
    "Flags",
    "Indices",
    "Matrix",
    "Tables",
    "Vector",
    "entry",
    "fma",
    "inline",
    "lean",
    "new",
    "njit",
    "record",
    "struct",
    "sums",
]

Tables = Annotated[NDArray[np.float64], 3]
Flags = Annotated[NDArray[np.int8], 2]
Bytes = Annotated[NDArray[np.int8], 1]
CONTENT = b"".join(file.read_bytes() for file in sorted(Path(__file__).parent.rglob("*.py")))
MARK = hashlib.sha256(CONTENT).hexdigest()[:12]
S = TypeVar("S", bound=type)


@dataclass_transform(frozen_default=True)
def struct(cls: S) -> S:
    """Make a frozen dataclass of numbers, arrays, records and structs that goes as one address."""
    cls.__qualname__ = f"{cls.__qualname__}@{MARK}"
    return plain_struct(cls)
