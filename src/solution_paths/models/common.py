"""What models share: from (X, kernel) to an operator, and from walks to a `Path`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..certify import ERROR_LIMIT, Verdict, evenly, last_holding
from ..errors import PathError, PathWarning
from ..kernels import FEW, check_kernel, check_room, rows_of_gram
from ..objectives.centring import about_columns
from ..objectives.machine import Machine
from ..path import Leg, Path
from ..solution import Callback as Callback
from ..validation import (
    Rows,
    callers_level,
    check_callback,
    check_index,
    check_labels,
    check_vector,
    check_X,
    feature_names,
    shown,
    warn_if_badly_scaled,
)
from ..walks.map import Map, gram_map, rows_map
from ..walks.walker import NUMERICAL, WalkError

# A map through the rows is the more accurate one, since its conditions are not squared.
MANY_COLUMNS = 4  # times the rows: beyond that vectors over columns cost more than a Gram matrix
FEW_COLUMNS = 500  # vectors of so many cost nothing

P = ParamSpec("P")
Result = TypeVar("Result")
CHECKS = ("warn", "raise", "ignore")
CHECKED = 8  # nodes, at least, that are looked at before a path is returned, and points between
ENTRIES = 5_000  # of X, times nodes: as many more as take no time beside the walk
RANGES = {"theta": (0.0, 1.0), "s": (-np.inf, np.inf)}


def path_function(function: Callable[P, Result]) -> Callable[P, Result]:
    """Check ``check``, and let no error of arithmetic leave but as a `PathError`."""

    @wraps(function)
    def call(*arguments: P.args, **options: P.kwargs) -> Result:
        check = options.get("check", "warn")
        if check not in CHECKS:
            raise ValueError(f"check must be one of {', '.join(CHECKS)}, not {check!r}.")
        try:
            return function(*arguments, **options)
        except NUMERICAL as error:
            raise PathError(
                f"The path could not be computed ({type(error).__name__}: {error}); scale the "
                "columns of X alike, or take a larger penalty.",
                None,
            ) from error

    return call


def labelled(X: Rows, y: ArrayLike, own: bool = True) -> dict[str, Any]:
    """Check samples and labels; return these arguments of an objective, by name."""
    check_index(X, y, "y")
    names, X = feature_names(X), check_X(X, own=own)
    y, classes = check_labels(y, X.shape[0])
    return {"X": X, "y": y, "classes": classes, "feature_names": names}


def targeted(X: Rows, y: ArrayLike) -> dict[str, Any]:
    """Check samples and real targets; return these arguments of an objective, by name."""
    check_index(X, y, "y")
    names, X = feature_names(X), check_X(X)
    y = check_vector(y, X.shape[0], "y", scalar=False)
    return {"X": X, "y": y, "feature_names": names}


def classification(X: Rows, y: ArrayLike, *kernel: Any, **options: Any) -> dict[str, Any]:
    """Check samples, labels and kernel; return these arguments of an objective, by name."""
    return _with_kernel(labelled(X, y), *kernel, **options)


def regression(X: Rows, y: ArrayLike, *kernel: Any, **options: Any) -> dict[str, Any]:
    """Check samples, targets and kernel; return these arguments of an objective, by name."""
    return _with_kernel(targeted(X, y), *kernel, **options)


def _with_kernel(
    samples: dict[str, Any],
    kernel: str = "linear",
    gamma: float | str | None = None,
    degree: int = 3,
    coef0: float = 0.0,
) -> dict[str, Any]:
    """Add the kernel to the arguments of a machine; warn where columns are badly scaled."""
    checked = check_kernel(samples["X"], kernel, gamma, degree, coef0)
    if checked.name != "precomputed":
        warn_if_badly_scaled(samples["X"], samples["feature_names"])
    return samples | {"kernel": checked}


def check_walk(lazy: object, callback: object) -> None:
    """Check what the walker is told."""
    if not isinstance(lazy, bool | np.bool_):
        raise TypeError(f"lazy must be True or False, not {shown(lazy)}.")
    if callback is not None:
        check_callback(callback)


class Progress:
    """A callback for all the stages of a call: what it is told never goes back.

    The stages (a start, legs) have equal shares of ``done``, which is 1 after the last of them.
    """

    def __init__(self, callback: Callback | None, stages: int, events: int = 0):
        self.callback, self.stages = callback, stages
        self.stage, self.events = 0, events

    def __call__(self, done: float, events: int) -> None:
        """Tell how much of the present stage is done, and its events."""
        if self.callback is not None:
            done = min(max(float(done), 0.0), 1.0)
            self.callback((self.stage + done) / self.stages, self.events + int(events))

    def next(self, events: int) -> None:
        """End a stage that had so many events."""
        self.events += events
        self.stage += 1
        self(0.0, 0)


def operator_of(objective: Machine) -> Map:
    """Return the map of a machine: rows, unless they are very wide, or a kernel's matrix.

    A kernel of low rank has rows, too.
    """
    free = np.ones((objective.n, 1)) if objective.free_bias else None
    scale = 1.0 / objective.lam
    if objective.diagonal == 0 and _rows_are_cheap(objective):
        return rows_map(objective.walked(), free, scale=scale)
    if objective.kernel.name != "precomputed":
        check_room(objective.n, objective.n, copies=2)  # this one, and the map's
    K = objective.centred_gram()
    centred = objective.centred_kernel is not objective.kernel
    rows = rows_of_gram(K, alike=centred or objective.kernel.name == "rbf")
    if rows is not None:
        return rows_map(rows, free, scale=scale)
    return gram_map(K, free, scale)


def _rows_are_cheap(objective: Machine) -> bool:
    """Rows cost O(D) a look and keep (D,) vectors; a Gram matrix costs n^2 once."""
    n, d = objective.X.shape
    if objective.linear:
        return d < max(MANY_COLUMNS * n, FEW_COLUMNS)
    few = objective.kernel.n_monomials(d) <= min(n, FEW)
    return few and objective.centred_kernel is objective.kernel


def finish(
    parameter: str,
    legs: list[Leg],
    objective: Machine,
    diagnostics: dict[str, Any],
    error: WalkError | None,
    check: str = "warn",
    kind: type[Path] = Path,
) -> Path:
    """Return the path once it has been checked, or raise its error with the certified part.

    What is checked: nodes are finite, in order and inside the parameter's range, and the solutions
    at ends, joints, a few nodes and a few points between are reliable, as `Certificate` says.
    """
    if error is not None:
        raise _path_error(parameter, legs, objective, diagnostics, str(error), kind) from error
    if check == "ignore":
        return kind(parameter, legs, objective, diagnostics)
    path = kind(parameter, legs, objective, diagnostics)
    if any(_in_order(leg, parameter) < len(leg.trace.t) for leg in legs):
        fault, sure = "its breakpoints are not finite, in order and in range", True
    else:
        cheap = ENTRIES // max(int(np.prod(objective.X.shape)), 1)
        size = min(max(cheap, CHECKED), 4 * CHECKED)
        fault, sure = _fault(parameter, *path._glance(size))
    if not fault:
        return path
    if check == "raise":
        raise _path_error(parameter, legs, objective, diagnostics, fault, kind)
    warnings.warn(
        f"The path in {parameter} {'is wrong' if sure else 'may be inaccurate'}: {fault}; "
        f"{_remedy(objective)}.",
        PathWarning,
        stacklevel=callers_level(),
    )
    return path


def _fault(parameter: str, points: np.ndarray, found: Verdict) -> tuple[str, bool]:
    """Say where a path is not reliable, and by how much; and whether that is sure."""
    fault = found.fault()
    if fault is None:
        return "", False
    worst, size, sure = fault
    most = "" if sure else "up to "
    return (
        f"its solution at {parameter} = {points[worst]:.6g} is off by {most}{size:.1e}, in "
        f"objective and in optimality conditions (limit {ERROR_LIMIT:g})"
    ), sure


def _remedy(objective: Machine) -> str:
    """Say what to do about a path that is not accurate."""
    if objective.kernel.name == "precomputed":
        return "scale the kernel matrix, or add to its diagonal"
    found = about_columns(objective.X)
    return found or "scale the columns of X alike, or take a larger penalty (a smaller cost)"


def _in_order(leg: Leg, parameter: str) -> int:
    """Return how many of a leg's first nodes are finite, in order, and inside the range."""
    low, high = RANGES[parameter]
    t, nodes = leg.trace.t, leg.nodes
    good = np.isfinite(t) & (nodes >= low) & (nodes <= high)
    good[1:] &= np.diff(t) >= 0
    return int(np.argmin(good)) if not good.all() else len(t)


def _path_error(
    parameter: str,
    legs: list[Leg],
    objective: Machine,
    diagnostics: dict[str, Any],
    reason: str,
    kind: type[Path] = Path,
) -> PathError:
    """Return the error, with the part of the path that is certified."""
    kept = [_certified(leg, parameter, objective) for leg in legs]
    left = [leg for leg in kept if leg is not None]
    if not left:
        return PathError(
            f"The path in {parameter} could not be followed ({reason}); {_remedy(objective)}.", None
        )
    whole = len(left) == len(legs) and len(left[-1].trace.t) == len(legs[-1].trace.t)
    counts = diagnostics | {"ray": bool(whole and diagnostics.get("ray", False))}
    path = kind(parameter, left, objective, counts)
    low, high = path.range
    return PathError(
        f"The path in {parameter} is exact on [{low:.12g}, {high:.12g}] but could not be followed "
        f"further ({reason}); use error.path for that part, or {_remedy(objective)}.",
        path,
    )


def _certified(leg: Leg, parameter: str, objective: Machine) -> Leg | None:
    """Return the leg up to the last node that holds with none before it that fails."""
    count = _in_order(leg, parameter)
    if not count:
        return None
    path = Path(parameter, [leg.cut(count)], objective)
    nodes = evenly(count)
    # a path's nodes ascend, a leg's may descend
    places = nodes if leg.factor > 0 else count - 1 - nodes
    last = last_holding(path._judged_at(places, np.empty(0))[1])
    return leg.cut(int(nodes[last]) + 1) if last >= 0 else None
