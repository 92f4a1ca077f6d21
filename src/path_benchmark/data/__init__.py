"""Data sets: `load` and `fetch` obtain them, `protocols` splits and transforms them.

>>> from path_benchmark.data import load
>>> iris = load("iris")
>>> iris.X.shape
(100, 4)
"""

from importlib.util import find_spec

if _lacking := [name for name in ("pooch", "pydantic", "yaml") if find_spec(name) is None]:
    raise ImportError(
        f"path_benchmark.data needs {_lacking[0]}, which the library alone does not: install "
        "solution_paths[workflow]."
    )

from .errors import DataError, DataUnavailable, UnknownDataSet, UnverifiedDataWarning
from .registry import Entry, registry
from .seeds import generators, seed_sequence
from .sources import (
    DataSet,
    available,
    fetch,
    identity,
    load,
    load_seeded,
    mirror_folder,
    read_once,
)

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
    "identity",
    "load",
    "load_seeded",
    "mirror_folder",
    "read_once",
    "registry",
    "seed_sequence",
]
