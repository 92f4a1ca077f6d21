"""Objectives as plain values and arrays, for files without pickles."""

from __future__ import annotations

from dataclasses import asdict, fields

import numpy as np
import scipy.sparse as sp

from ..kernels import Kernel
from ..validation import check_X
from .hinge import Hinge
from .machine import Machine
from .robust import RobustHinge, RobustTube
from .tube import Tube

FAMILIES = {family.__name__: family for family in (Hinge, RobustHinge, RobustTube, Tube)}


def to_arrays(objective: Machine) -> tuple[dict, dict]:
    """Split an objective into plain values and arrays."""
    plain, arrays = {"family": type(objective).__name__}, {}
    for field in fields(objective):
        name, item = field.name, getattr(objective, field.name)
        if sp.issparse(item):
            csr = sp.csr_array(item)
            arrays |= {
                f"{name}.data": csr.data,
                f"{name}.indices": csr.indices,
                f"{name}.indptr": csr.indptr,
                f"{name}.shape": np.array(csr.shape),
            }
        elif isinstance(item, np.ndarray):
            arrays[name] = item
        else:
            plain[name] = asdict(item) if isinstance(item, Kernel) else item
    return plain, arrays


def from_arrays(plain: dict, arrays: dict) -> Machine:
    """Undo `to_arrays`."""
    values = dict(plain)
    family = FAMILIES[values.pop("family")]
    if "kernel" in values:
        values["kernel"] = Kernel(**values["kernel"])
    for name, item in arrays.items():
        if "." not in name:
            values[name] = item
        elif name.endswith(".data"):
            stem = name.removesuffix(".data")
            parts = (item, arrays[f"{stem}.indices"], arrays[f"{stem}.indptr"])
            values[stem] = check_X(sp.csr_array(parts, shape=tuple(arrays[f"{stem}.shape"])))
    return family(**values)
