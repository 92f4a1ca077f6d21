"""The memory of a walk, as `state.Walk` declares it: allocated, enlarged, and used again."""

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
SHAPES = {own.name: own.metadata["shape"] for own in fields(Walk) if own.metadata}
GROWN = {"low", "2 nodes", *GROWING}
LARGER = [name for name, shape in SHAPES.items() if GROWN.intersection(shape)]
USED = {"event": "events", "entry": "entries", "entries": "entries"}  # numbers of a walk


def shapes(m: Map, grown: dict[str, int], names: Iterable[str] = SHAPES) -> dict[str, Any]:
    """Return the shapes of a walk's arrays, or of those named."""
    sizes = sizes_of(m, grown)
    return {name: tuple([sizes.get(own, own) for own in SHAPES[name]]) for name in names}


def allocated(m: Map, graph: Graph, now: Numbers, place: Places) -> Walk:
    """Return the memory of a walk, without room for any system or record."""
    arrays = shapes(m, dict.fromkeys(GROWING, 0)).items()
    made = {name: np.zeros(shape, TYPES[name]) for name, shape in arrays}
    made["place"] = place.copy()
    return Walk(map=m, graph=graph, now=now, **made)


def cleared(w: Walk, m: Map, graph: Graph, now: Numbers, place: Places) -> Walk:
    """Return the memory of a walk as it was allocated, but with room for systems and records.

    What these hold is written before it is read. Places stay those of the walk that had it.
    """
    for name in SHAPES.keys() - {"place", *LARGER}:
        getattr(w, name).fill(0)
    return altered(w, map=m, graph=graph, now=now, place=place.copy())


def room(w: Walk) -> dict[str, int]:
    """Return the sizes that grow, as they are."""
    arrays = w.solved, w.eliminated, w.node, w.event, w.entry, w.seen_keys
    return {name: len(own) for name, own in zip(GROWING, arrays, strict=True)}


def resized(w: Walk, grown: dict[str, int]) -> Walk:
    """Return the same walk in arrays of other sizes."""
    changed: dict[str, Any] = {}
    for name, shape in shapes(w.map, grown, LARGER).items():
        old = getattr(w, name)
        if old.shape == shape:
            continue
        made = changed[name] = np.zeros(shape, TYPES[name])
        if name != "inverse_low":  # computed afresh whenever it is wanted
            kept = [min(a, b) for a, b in zip(old.shape, shape, strict=True)]
            kept[0] = min(kept[0], getattr(w.now, USED.get(name, ""), kept[0]))
            inside = tuple(map(slice, kept))
            made[inside] = old[inside]
    return altered(w, **changed)
