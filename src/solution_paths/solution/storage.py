"""Saved paths: the problem's arrays, their rates, and the recorded points in an .npz file."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, TypeVar

import numpy as np

from ..homotopy.statement import read as read_statement
from ..kernels.centred import Centred, CentredKernel
from ..kernels.kernel import Kernel
from ..problem import Line
from .archive import File, read_archive, write_archive
from .model import Affine, from_arrays, numbers_of, put_matrix, take_matrix, to_arrays, with_arrays
from .points import Points
from .reading import Reading, Scale
from .recorded import RecordedPath

P = TypeVar("P", bound=RecordedPath)

FORMAT = 2
KIND = "SolutionPath"


def write(file: File, path: RecordedPath) -> None:
    """Write a path."""
    models, more = path._models()
    plain, arrays = to_arrays(models[0])
    content = {f"problem/{k}": v for k, v in arrays.items()}
    for number, model in enumerate(models[1:], 1):
        content |= {f"branch{number}/{k}": v for k, v in numbers_of(model).items()}
    content |= {f"points/{k}": v for k, v in path.points.arrays().items()}
    content |= {f"more/{k}": np.asarray(v) for k, v in more.items()}
    meta = {
        "kind": KIND,
        "format": FORMAT,
        "parameter": path.parameter,
        "scale": asdict(path.scale),
        "ray": path.ray,
        "diagnostics": path.diagnostics,
        "ends": [path.line.t0, path.line.t1],
        "face": path.statement.face,
        "problem": plain,
        "class": type(path).__name__,
        "branches": len(models),
        "reading": put_reading(path.reading_or_none, content),
    }
    write_archive(file, meta, content)


def read(file: File, kind: type[P]) -> P:
    """Read a path from the output of `write`."""

    def build(meta: dict[str, Any], content: dict[str, Any]) -> P:
        model = from_arrays(meta["problem"], _within(content, "problem/"))
        count, points = meta.get("branches", 1), _within(content, "points/")
        others = [with_arrays(model, _within(content, f"branch{k}/")) for k in range(1, count)]
        lines = [_line(branch, *meta["ends"]) for branch in (model, *others)]
        statement = read_statement(lines[0], meta["face"])
        if points["unknowns"].shape != (len(points["t"]), statement.size):
            raise ValueError("the points are not those of the problem")
        options = {
            "parameter": meta["parameter"],
            "reading": take_reading(meta["reading"], content),
            "diagnostics": meta.get("diagnostics"),
        }
        recorded = Points.from_arrays(**points)
        if others:
            kinds, more = (
                {subclass.__name__: subclass for subclass in kind.__subclasses__()},
                _within(content, "more/"),
            )
            return kinds[meta["class"]]._stored(lines, statement, recorded, more, **options)
        scale = Scale(**meta["scale"])
        return kind(lines[0], statement, recorded, scale=scale, ray=meta["ray"], **options)

    return read_archive(file, build, KIND, FORMAT)


def _within(content: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {k.removeprefix(prefix): v for k, v in content.items() if k.startswith(prefix)}


def _line(model: Affine, t0: float, t1: float) -> Line:
    return Line(model, t0, t1, model.start, model.rates, model.low)


def put_reading(reading: Reading | None, content: dict[str, Any]) -> Any:
    """Put a reading's arrays into ``content``; return its other fields."""
    if reading is None:
        return None
    content |= {"reading/bias": reading.bias, "reading/classes": reading.classes}
    for name in ("mix", "shifts", "signs"):
        if getattr(reading, name) is not None:
            content[f"reading/{name}"] = getattr(reading, name)
    rows = None if reading.rows is None else put_matrix(reading.rows, "reading/rows", content)
    kernel = reading.kernel
    if isinstance(kernel, CentredKernel):
        content["reading/origin"], kernel = np.asarray(kernel.origin), kernel.kernel
    return {
        "columns": reading.columns,
        "kernel": asdict(kernel),
        "kind": reading.kind,
        "names": reading.names,
        "offset": reading.offset,
        "feature": reading.feature,
        "zero": reading.zero,
        "level": reading.level,
        "rows": rows,
    }


def take_reading(plain: Any, content: dict[str, Any]) -> Reading | None:
    """Return a reading from the output of `put_reading`."""
    if plain is None:
        return None
    rows, uncentred, level = plain["rows"], Kernel(**plain["kernel"]), plain.get("level")
    kernel: Centred = uncentred
    origin = content.get("reading/origin")
    if origin is not None:
        kernel = CentredKernel(
            uncentred, int(origin) if uncentred.name == "precomputed" else origin
        )
    return Reading(
        plain["columns"],
        content["reading/bias"],
        mix=content.get("reading/mix"),
        kernel=kernel,
        rows=None if rows is None else take_matrix(rows, "reading/rows", content),
        kind=plain["kind"],
        classes=np.asarray(content["reading/classes"]),
        names=None if plain["names"] is None else tuple(plain["names"]),
        offset=plain["offset"],
        feature=plain.get("feature", 0.0),
        zero=plain.get("zero", True),
        level=tuple(level) if isinstance(level, list) else level,
        shifts=content.get("reading/shifts"),
        signs=content.get("reading/signs"),
    )
