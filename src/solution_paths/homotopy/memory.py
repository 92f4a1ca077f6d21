"""The memory of a walk, as `state.Walk` declares it: allocated, enlarged and reused."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .compiled import altered
from .state import GROWING, Graph, Map, Numbers, Walk, sizes_of

Places = NDArray[np.int64]
TYPES = {name: dtype for name, _, dtype in vars(Walk)["_numba_type_"].plain}
SHAPES = {field.name: field.metadata["shape"] for field in fields(Walk) if field.metadata}
GROWN = {"low", "2 nodes", *GROWING}
LARGER = [name for name, shape in SHAPES.items() if GROWN.intersection(shape)]
USED = {"event": "events", "entry": "entries", "entries": "entries"}  # numbers of a walk


def shapes(m: Map, grown: dict[str, int], names: Iterable[str] = SHAPES) -> dict[str, Any]:
    """Return the shapes of a walk's arrays, or of those named."""
    sizes = sizes_of(m, grown)
    return {name: tuple([sizes.get(size, size) for size in SHAPES[name]]) for name in names}


def allocated(m: Map, graph: Graph, now: Numbers, place: Places) -> Walk:
    """Return the memory of a walk, with systems and records of size 0."""
    arrays = shapes(m, dict.fromkeys(GROWING, 0)).items()
    values = {name: np.zeros(shape, TYPES[name]) for name, shape in arrays}
    values["place"] = place.copy()
    return Walk(map=m, graph=graph, now=now, **values)


def cleared(w: Walk, m: Map, graph: Graph, now: Numbers, place: Places) -> Walk:
    """Return the memory of a walk with zeros, as `allocated`, but with its systems and records.

    These are written before they are read. The old walk keeps its array of places.
    """
    for name in SHAPES.keys() - {"place", *LARGER}:
        getattr(w, name).fill(0)
    return altered(w, map=m, graph=graph, now=now, place=place.copy())


def room(w: Walk) -> dict[str, int]:
    """Return the present sizes that grow."""
    arrays = w.solved, w.eliminated, w.node, w.event, w.entry, w.seen_keys
    return {name: len(array) for name, array in zip(GROWING, arrays, strict=True)}


def resized(w: Walk, grown: dict[str, int]) -> Walk:
    """Return the same walk in arrays of other sizes."""
    changed: dict[str, Any] = {}
    for name, shape in shapes(w.map, grown, LARGER).items():
        old = getattr(w, name)
        if old.shape == shape:
            continue
        array = changed[name] = np.zeros(shape, TYPES[name])
        if name != "inverse_low":  # computed afresh whenever it is wanted
            common = [min(a, b) for a, b in zip(old.shape, shape, strict=True)]
            common[0] = min(common[0], getattr(w.now, USED.get(name, ""), common[0]))
            block = tuple(map(slice, common))
            array[block] = old[block]
    return altered(w, **changed)
