"""Data: where they come from (`load`, `fetch`), and what is done to them (`protocols`).

>>> from solution_paths.data import load
>>> iris = load("iris")
>>> iris.X.shape
(100, 4)
"""

from .errors import DataError, DataUnavailable, UnknownDataSet, UnverifiedDataWarning
from .registry import Entry, registry
from .seeds import generators, seed_sequence
from .sources import DataSet, available, fetch, load

__all__ = [
    "DataError",
    "DataSet",
    "DataUnavailable",
    "Entry",
    "UnknownDataSet",
    "UnverifiedDataWarning",
    "available",
    "fetch",
    "generators",
    "load",
    "registry",
    "seed_sequence",
]
