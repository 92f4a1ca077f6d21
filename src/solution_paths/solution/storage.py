"""Saved paths: the problem's arrays, their rates, and the recorded points in an .npz file."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any, TypeVar

import numpy as np

from ..homotopy.statement import read as read_statement
from ..kernels.centred import Centred, CentredKernel, plain_kernel
from ..kernels.kernel import Kernel
from ..problem import Line
from .archive import Arrays, File, Store, read_archive, within, write_archive
from .model import put_models, take_models
from .points import Points
from .reading import Reading, Scale
from .recorded import RecordedPath

P = TypeVar("P", bound=RecordedPath)

FORMAT = 2
KIND = "SolutionPath"


def write(file: File, path: RecordedPath) -> None:
    """Write a path."""
    models, more = path._models()
    store = Store({f"points/{k}": v for k, v in path.points.arrays().items()})
    store.arrays |= {f"more/{k}": np.asarray(v) for k, v in more.items()}
    meta = {
        "kind": KIND,
        "format": FORMAT,
        "parameter": path.parameter,
        "scale": asdict(path.scale),
        "ray": path.ray,
        "diagnostics": path.diagnostics,
        "ends": [path.line.t0, path.line.t1],
        "face": path.statement.face,
        "problem": put_models(models, store),
        "class": type(path).__name__,
        "branches": len(models),
        "reading": put_reading(path.reading_or_none, store),
    }
    write_archive(file, meta, store.arrays)


def read(file: File, kind: type[P]) -> P:
    """Read a path from the output of `write`."""

    def build(meta: dict[str, Any], arrays: Arrays) -> P:
        store, points = Store(arrays), within(arrays, "points/")
        models = take_models(meta["problem"], meta.get("branches", 1), store)
        t0, t1 = meta["ends"]
        lines = [Line(model, t0, t1, model.start, model.rates, model.low) for model in models]
        statement = read_statement(lines[0], meta["face"])
        if points["unknowns"].shape != (len(points["t"]), statement.size):
            raise ValueError("the points are not those of the problem")
        options = {
            "parameter": meta["parameter"],
            "reading": take_reading(meta["reading"], store),
            "diagnostics": meta.get("diagnostics"),
        }
        recorded = Points.from_arrays(**points)
        if len(lines) > 1:
            kinds = {subclass.__name__: subclass for subclass in kind.__subclasses__()}
            more = within(arrays, "more/")
            return kinds[meta["class"]]._stored(lines, statement, recorded, more, **options)
        scale = Scale(**meta["scale"])
        return kind(lines[0], statement, recorded, scale=scale, ray=meta["ray"], **options)

    return read_archive(file, build, KIND, FORMAT)


def put_reading(reading: Reading | None, store: Store) -> Any:
    """Put a reading into a store; return what is plain of it."""
    if reading is None:
        return None
    if isinstance(reading.kernel, CentredKernel):
        store.arrays["reading/origin"] = np.asarray(reading.kernel.origin)
    return store.put(replace(reading, kernel=plain_kernel(reading.kernel)), "reading")


def take_reading(plain: Any, store: Store) -> Reading | None:
    """Return a reading that `put_reading` put into a store."""
    if plain is None:
        return None
    kernel: Centred = Kernel(**plain["kernel"])
    origin = store.arrays.get("reading/origin")
    if origin is not None:
        kernel = CentredKernel(Kernel(**plain["kernel"]), origin if origin.ndim else int(origin))
    return store.take_fields(Reading, plain | {"kernel": kernel}, "reading")
