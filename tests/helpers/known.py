"""Numbers that are known: files of ``data/known`` hold them, ``pytest --write-known`` writes them.

They notice that a number changed, not that it was right: what is right, other tests say. Lines are
read when they change. They do not depend on the machine: BLAS of several processors gave the same.
"""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sparse

from helpers import DATA

FOLDER = DATA / "known"
WRITE = False  # `pytest --write-known` sets it


def digest(values):
    """Return numbers, of more than four their count and a sum in which each counts otherwise."""
    flat = np.ravel(np.asarray(values, dtype=float))
    if len(flat) <= 4:
        return flat.tolist()
    return [float(len(flat)), float(flat @ np.cos(np.arange(len(flat))))]


def whole(x, y):
    """Return where a line begins and ends, and its integral: the same however finely it is cut."""
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    if not len(x):
        return [0.0] * 5
    return list(map(float, (x[0], x[-1], y[0], y[-1], np.diff(x) @ (y[1:] + y[:-1]) / 2)))


def outcome(call):
    """Return what a call returns, in numbers or as text, or the message of its error."""
    try:
        value = call()
    except (TypeError, ValueError, MemoryError) as error:
        return f"{type(error).__name__}: {error}"
    if sparse.issparse(value):
        value = value.toarray()
    if isinstance(value, (list, tuple)) and any(isinstance(v, np.ndarray) for v in value):
        value = np.concatenate([np.ravel(v) for v in value])
    kind = np.asarray(value).dtype.kind if value is not None else "O"
    return digest(value) if kind in "biuf" else repr(value)


def outcomes(calls):
    """Return the outcome of each call by its name."""
    return {name: outcome(call) for name, call in calls.items()}


def assert_same(found, name, near=1e-6, share=1e-5, whole=False):
    """Compare numbers and texts with those of a file under the same keys; whole: with all of it."""
    file = FOLDER / f"{name}.txt"
    lines = file.read_text("utf-8").splitlines()
    known = {key: json.loads(text) for key, _, text in (line.partition(" => ") for line in lines)}
    if WRITE:
        new = {key: _shown(values, near) for key, values in found.items()}
        known = new if whole else known | new
        lines = [f"{k} => {json.dumps(v, ensure_ascii=False)}\n" for k, v in known.items()]
        file.write_text("".join(lines), "utf-8")
    assert not whole or list(found) == list(known)
    for key, values in found.items():
        if isinstance(values, str):
            assert values == known[key], key
            continue
        wanted = [np.nan if v is None else v for v in known[key]]
        assert values == pytest.approx(wanted, rel=share, abs=near, nan_ok=True), key


def assert_same_lines(lines, file):
    """Compare lines of text with those of a file."""
    if WRITE:
        file.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    assert lines == file.read_text("utf-8").splitlines()


def _shown(values, near):
    """Return numbers with seven digits of each, none of what is as good as zero."""
    if isinstance(values, str):
        return values
    shown = [None if np.isnan(v) else 0.0 if abs(v) < near / 10 else v for v in values]
    return [v if v is None else float(f"{v:.7g}") for v in shown]


# ---------------------------------------------------------------- small data

R = np.random.default_rng(20)
X = np.round(R.normal([0.0, 1.0, 0.0, -2.0], size=(30, 4)), 2)
U = np.round(X[:, 0] - X[:, 1] + R.normal(size=30), 2)
Y = np.where(np.median(U) < U, 1.0, -1.0)
CLASSES = np.digitize(U, [-2.0, 0.0])
COUNTS = R.poisson(np.exp(0.5 * X[:, 0]))
BEFORE, AFTER = R.uniform(0.2, 1.0, 30), R.uniform(0.2, 2.0, 30)
NEW, SPARSE = np.round(R.normal(size=(9, 4)), 2), sparse.csr_array(np.where(X > 0.5, X, 0.0))
NEW_U = NEW[:, 0] - NEW[:, 1] + 0.1


# ---------------------------------------------------------------- figures


def figures_of(outputs, study, skipped=()):
    """Return what figures of a study show, but for some: texts of panels, limits and data."""
    found = {}
    for made in (*outputs.tables_file.figures, *outputs.tables_file.explorers):
        if made.make in skipped:
            continue
        drawn = outputs.drawers[made.make](study, **made.options)
        if not hasattr(drawn, "get_size_inches"):  # an explorer, a surface, or nothing
            parts = list(_parts(drawn))
            found[made.name] = digest([v for v in parts if not isinstance(v, str)])
            found[f"{made.name} | texts"] = " | ".join(v for v in parts if isinstance(v, str))
            continue
        found[f"{made.name} | inches"] = drawn.get_size_inches().tolist()
        for k, ax in enumerate(drawn.axes):
            found |= {f"{made.name}, panel {k} | {key}": v for key, v in _panel(ax).items()}
    return found


def _panel(ax):
    """Return texts and numbers of a panel."""
    legend = ax.get_legend()
    texts = [ax.get_title(), ax.get_xlabel(), ax.get_ylabel(), ax.get_xscale(), ax.get_yscale()]
    texts += [text.get_text() for text in (*ax.texts, *(legend.get_texts() if legend else ()))]
    lines = [whole(*np.asarray(line.get_data(), float)) for line in ax.lines]
    styles = [f"{own.get_linestyle()}{own.get_marker()}{own.get_color()}" for own in ax.lines]
    bars = [
        v
        for own in ax.patches
        for v in own.get_extents().transformed(ax.transData.inverted()).bounds
    ]
    return {
        "texts": " | ".join(map(str, texts)),
        "styles": " ".join(styles),
        "limits": list(map(float, (*ax.get_xlim(), *ax.get_ylim()))),
        "lines": digest(np.array(lines)),
        "bars": digest(bars),
    }


def _parts(value):
    """Yield all finite numbers and all texts in lists and objects."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (int, float, np.number)):
        yield float(value) if np.isfinite(value) else -1.0
    elif value is not None and not callable(value):
        value = value.to_dict("list") if isinstance(value, pd.DataFrame) else value
        value = list(value) if isinstance(value, pd.Series) else value
        value = vars(value) if hasattr(value, "__dict__") else value
        for own in value.values() if isinstance(value, dict) else value:
            yield from _parts(own)
