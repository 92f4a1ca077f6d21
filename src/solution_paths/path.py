"""Path: what every model returns."""

from __future__ import annotations

import io
import json
import math
import numbers
import os
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import certify as certification
from .engine.staircase import Staircases
from .engine.trace import Trace, between, combine
from .files import replace_atomically
from .objectives import Objective, Solution, from_arrays, to_arrays
from .objectives.machine import Machine
from .validation import (
    check_choice,
    check_index,
    check_known_labels,
    check_new_rows,
    check_number,
    check_vector,
    shown,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
FORMAT = 3
RAYS = np.array([1.5, 10.0])  # times the last breakpoint: where a ray is looked at
METRICS = ("zero_one", "absolute", "squared")
# what a damaged .npz file raises, or one of other content
DAMAGED = (ValueError, KeyError, OSError, EOFError, TypeError, zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True)
class Leg:
    """A trace in u, with parameter = offset + factor * u, factor = 1 or -1."""

    trace: Trace
    offset: float
    factor: float

    @property
    def nodes(self) -> Floats:
        """Parameter values of the trace's nodes."""
        return self.offset + self.factor * self.trace.t

    @property
    def nodes_low(self) -> Floats:
        """What rounding leaves out of them: the walk's own t may be known more closely."""
        own, nodes = self.factor * self.trace.t, self.nodes
        back = nodes - self.offset
        return (self.offset - (nodes - back)) + (own - back)

    def cut(self, nodes: int) -> Leg:
        """Return the leg with its first nodes alone."""
        trace = self.trace
        end = trace.start[nodes]
        kept = trace._replace(
            t=trace.t[:nodes],
            event=trace.event[:nodes],
            start=trace.start[: nodes + 1],
            P=trace.P[:end],
            a=trace.a[:end],
            low=trace.low[:end],
        )
        return Leg(kept, self.offset, self.factor)


class Best(NamedTuple):
    """The exact minimiser of an error over a whole path.

    ``value`` is the least error, ``intervals`` the (k, 2) closed intervals of parameters where it
    is reached, ``parameter`` the middle of the widest.
    """

    value: float
    parameter: float
    intervals: Floats


class Path:
    """The exact solutions of a model for every value of one parameter.

    Duals are linear in the parameter between consecutive breakpoints. A path keeps a copy of its
    data, so that it stays what it was when the caller's arrays change: 8 bytes for each entry of
    X, twelve for each nonzero of a CSR matrix. (Read-only arrays are kept as they are.) Paths can
    be pickled, and then can't be continued.

    Attributes
    ----------
    parameter : str
        Name of the parameter, for example ``"tau"``.
    breakpoints : (K,) array
        Parameter values at which some coordinate changes state, ascending, both ends included.
    objective : Objective
        Data and objective.
    diagnostics : dict
        Counts of the walk: events, zero-length steps, exchanges, refactorisations, rows looked at,
        and the events of the start.
    """

    def __init__(
        self,
        parameter: str,
        legs: list[Leg],
        objective: Objective,
        diagnostics: dict | None = None,
        resume=None,
    ):
        self._resume = resume
        self.parameter = parameter
        self.objective = objective
        self.diagnostics = dict(diagnostics or {})
        self._legs = sorted(legs, key=lambda leg: (leg.nodes.min(), leg.nodes.max()))
        nodes, lows, legs_of, index = [], [], [], []
        for number, leg in enumerate(self._legs):
            order = np.arange(len(leg.trace.t))
            if leg.factor < 0:
                order = order[::-1]
            nodes.append(leg.nodes[order])
            lows.append(leg.nodes_low[order])
            legs_of.append(np.full(len(order), number))
            index.append(order)
        self._t = np.concatenate(nodes)
        self._low = np.concatenate(lows)
        self._leg = np.concatenate(legs_of)
        self._index = np.concatenate(index)
        inner = np.unique(self._t)
        if len(self._legs) > 1:  # where two legs begin nothing changes state
            joints = [leg.nodes[0] for leg in self._legs]
            events = np.concatenate([leg.nodes[1:] for leg in self._legs])
            inner = np.setdiff1d(inner, np.setdiff1d(joints, events))
        self.breakpoints = inner

    def __getstate__(self) -> dict:
        return vars(self) | {"_resume": None}  # a walk in progress stays where it is

    @property
    def feature_names(self) -> list[str | int] | None:
        """Names of the columns of X when it was a DataFrame, else None."""
        names = self.objective.feature_names
        return None if names is None else list(names)

    def continue_to(self, new_weights: ArrayLike) -> Path:
        """Return the path from this one's end to new instance weights.

        The factorisation is carried on, so that a sequence of updates costs only its events. A
        path can be continued once, and only in the process that computed it: not one that was
        loaded, unpickled or copied.

        Parameters
        ----------
        new_weights : (n,) array
            Weights at the end of the new path, >= 0, in the order of X's rows (an index of a
            Series is not looked at).

        Returns
        -------
        Path
            In ``theta`` from 0 (this path's end) to 1.
        """
        self.check_continuable()
        check, resume = self._resume
        new_weights = check(new_weights)
        self._resume = None  # from here the walk moves, whatever happens
        return resume(new_weights)

    def check_continuable(self) -> None:
        """Raise a ValueError unless `continue_to` can go on from this path's end."""
        if self._resume is None:
            raise ValueError(
                "This path can't be continued (it was loaded from a file, unpickled or copied, is "
                "not a path in instance weights, or was continued before); start a new one from "
                "its last weights."
            )

    # -- solutions ----------------------------------------------------------------------------

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest parameter (infinite when the last piece is a ray)."""
        return float(self._t[0]), np.inf if self._has_ray else float(self._t[-1])

    @property
    def _has_ray(self) -> bool:
        return bool(self.diagnostics.get("ray", False))

    def _check(self, t: float) -> float:
        low, high = self.range
        if not isinstance(t, numbers.Real) or isinstance(t, bool):
            raise ValueError(f"{self.parameter} must be one number, not {shown(t)}.")
        if not (low <= t <= high and t < np.inf):
            raise ValueError(
                f"{self.parameter} = {t!r} is outside this path, which covers [{low:g}, {high:g}]; "
                "choose a value in that range."
            )
        return float(t)

    def _node(self, node: int) -> tuple[Floats, Floats]:
        """Return the duals of all coordinates at a node, in two parts."""
        return self._legs[self._leg[node]].trace.parts(int(self._index[node]))

    def _node_solution(self, node: int) -> Solution:
        """Return the solution at a node."""
        return self._finished(*self._node(node))

    def _finished(self, duals: Floats, low: Floats) -> Solution:
        """Return the solution of duals in two parts; a linear machine's with a w of its own.

        It meets the pinned equations to the rounding of w itself, not of sums of duals that may be
        many orders of magnitude larger.
        """
        objective = self.objective
        found = objective.solution(duals)
        if not (objective.linear and isinstance(objective, Machine)):
            return found
        a, rest = duals[: objective.n], low[: objective.n]
        w = combine(objective.X, a, rest, objective.lam)
        if objective.free_bias:
            return found._replace(w=w, b=-(duals[objective.n] + low[objective.n]))
        total = math.fsum(np.concatenate([a[a != 0.0], rest[rest != 0.0]]))
        return found._replace(w=w, b=objective.bias_value**2 * total / objective.lam)

    def _first_behind(self, t: float) -> int:
        """Return the first node behind t; a node lies where both of its parts say."""
        right = int(np.searchsorted(self._t, t, side="right"))
        while right > 1 and self._t[right - 1] == t and self._low[right - 1] > 0.0:
            right -= 1
        return right

    def _solution(self, t: float, at_node: Callable | None = None) -> Solution:
        t, at_node = self._check(t), at_node or self._node
        right = self._first_behind(t)
        left = at_node(right - 1)
        if right == len(self._t):
            found = self._finished(*left)
            if not self._has_ray or t == self._t[-1]:
                return found
            beyond = self.objective.solution((t - self._t[-1]) * self._legs[-1].trace.ray)
            if found.w is not None:
                beyond = beyond._replace(
                    w=self.objective.coefs(beyond), b=self.objective.intercepts(beyond)
                )
            return _added(found, beyond)
        here, there = right - 1, right
        after = (t - self._t[here]) - self._low[here]
        ahead = (self._t[there] - t) + self._low[there]
        if after == 0.0:
            return self._finished(*left)
        ends = (left, at_node(there))  # from the nearer one, whose distance is known the better
        nearer = ends if after <= ahead else ends[::-1]
        return self._finished(*between(*nearer[0], *nearer[1], min(after, ahead) / (after + ahead)))

    def dual(self, t: float) -> Floats:
        """Return the (n,) duals at parameter t.

        Classification: 0 <= alpha_i <= C_i as in the papers; regression: signed. O(n) work.
        """
        return self.objective.public_dual(self._solution(t))

    def coef(self, t: float) -> Floats:
        """Return the (d,) coefficients at t (linear models only).

        Raises
        ------
        AttributeError
            For a kernel model.
        """
        self._check_linear()
        return self.objective.coefs(self._solution(t))

    def _check_linear(self) -> None:
        if not self.objective.linear:
            raise AttributeError(
                f"A path with kernel={self.objective.kernel.name!r} has no coefficients; use "
                "decision_function, or dual for the expansion in training rows."
            )

    def intercept(self, t: float) -> float:
        """Return the bias b at t."""
        return float(self.objective.intercepts(self._solution(t)))

    def decision_function(self, X_new, t: float) -> Floats:
        """Return the (m,) values f(x) at parameter t.

        Parameters
        ----------
        X_new : (m, d) array or CSR
            Rows to predict; with ``kernel="precomputed"`` the (m, n) kernel with the training rows.
        t : float
            Parameter value.
        """
        X_new = check_new_rows(X_new, self.objective, "X_new")
        return self.objective.decision(X_new, self._solution(t))

    def predict(self, X_new, t: float) -> NDArray:
        """Return predicted labels (f >= 0 is the larger label) or values at t."""
        f = self.decision_function(X_new, t)
        classes = self.objective.classes
        return f if len(classes) == 0 else np.where(f >= 0, classes[1], classes[0])

    # -- the whole path at once ---------------------------------------------------------------

    def _sweep(self, X_new, block: int = 256):
        """Yield (t, f): nodes in order, in blocks that overlap by one, and (m, block) values."""
        for first in range(0, max(len(self._t) - 1, 1), block - 1):
            nodes = np.arange(first, min(first + block, len(self._t)))
            found = _columns([self._node_solution(k) for k in nodes])
            yield self._t[nodes], self.objective.decision(X_new, found)

    def crossings(self, X_new) -> list[Floats]:
        """Return, for each row, the exact parameters at which its decision changes sign.

        Between two breakpoints f(x) is linear in the parameter, so each change of sign (f >= 0
        counts as positive) is the root of a line.

        Returns
        -------
        list of m ascending arrays
        """
        X_new = check_new_rows(X_new, self.objective, "X_new")
        rows, roots = [], []
        for t, f in self._sweep(X_new):
            positive = f >= 0
            row, k = np.nonzero(positive[:, 1:] != positive[:, :-1])
            left, right = f[row, k], f[row, k + 1]
            rows.append(row)
            roots.append(t[k] + (t[k + 1] - t[k]) * (left / (left - right)))
        row, root = np.concatenate(rows), np.concatenate(roots)
        order = np.lexsort((root, row))
        split = np.searchsorted(row[order], np.arange(1, X_new.shape[0]))
        return np.split(root[order], split)

    def best(self, X_val, y_val: ArrayLike, metric: str = "zero_one") -> Best:
        """Return the exact minimiser of a validation error over the whole path.

        Parameters
        ----------
        X_val, y_val : (m, d), (m,)
            Validation data.
        metric : {"zero_one", "absolute", "squared"}
            Mean error; ``zero_one`` needs a classification path.

        Returns
        -------
        Best
            Least value, the intervals where it is reached, and the middle of the widest.
        """
        if check_choice(metric, "metric", METRICS) == "zero_one":
            return self._best_zero_one(X_val, y_val)
        check_index(X_val, y_val, "y_val", "X_val")
        X_val = check_new_rows(X_val, self.objective, "X_val")
        y_val = check_vector(y_val, X_val.shape[0], "y_val", scalar=False, of="X_val")
        return self._best_regression(X_val, y_val, metric)

    def error_steps(self, X_val, y_val: ArrayLike) -> tuple[Floats, Floats]:
        """Return the validation 0-1 error as an exact step function of the parameter.

        Returns
        -------
        edges : (k + 1,) array
            Ends of the steps, ascending.
        error : (k,) array
            Mean error on each open step.
        """
        classes = self.objective.classes
        if len(classes) == 0:
            raise ValueError("The 0-1 error needs a classification path; use metric='absolute'.")
        check_index(X_val, y_val, "y_val", "X_val")
        X_val = check_new_rows(X_val, self.objective, "X_val")
        positive = check_known_labels(y_val, classes, X_val.shape[0], "y_val", "X_val")
        low, high = float(self._t[0]), float(self._t[-1])
        start = self.decision_function(X_val, low) >= 0
        roots = self.crossings(X_val)
        changes = []
        for row, own in enumerate(roots):
            sign = np.where(start[row] == positive[row], 1.0, -1.0)  # right at first: errors rise
            changes += [(t, sign * (-1.0) ** j) for j, t in enumerate(own)]
        edges = np.unique(np.array([low, high] + [t for t, _ in changes]))
        error = np.full(len(edges) - 1, float((start != positive).sum()))
        rise = np.zeros(len(edges) - 1)
        for t, step in changes:
            at = int(np.searchsorted(edges, t))
            if at < len(rise):
                rise[at] += step
        return edges, (error + np.cumsum(rise)) / len(positive)

    def _best_zero_one(self, X_val, y_val) -> Best:
        edges, error = self.error_steps(X_val, y_val)
        least = error.min()
        return _best_of_steps(least, edges, error <= least + 0.5 / np.size(y_val))

    def _best_regression(self, X_val, y_val, metric) -> Best:
        value, parameter = np.inf, np.nan
        for t, f in self._sweep(X_val):
            residual = f - y_val[:, None]
            least, at = _best_on_segments(t, residual, metric)
            if least < value:
                value, parameter = least, at
        return Best(value, parameter, np.array([[parameter, parameter]]))

    # -- certificate --------------------------------------------------------------------------

    def certify(
        self, n_random: int = 100, seed: int = 0, at_breakpoints: bool | None = None
    ) -> certification.Certificate:
        """Check the path with code that shares nothing with the walker.

        Both ends, the places where walks were joined, and points on a ray behind the last
        breakpoint are always looked at.

        Parameters
        ----------
        n_random : int
            Random parameter values between the breakpoints, and the size of the sample of
            breakpoints; on short paths one between any two is enough.
        seed : int
            Seed of these.
        at_breakpoints : bool, optional
            Check every breakpoint as well, or none but the ends. By default a random sample.

        Returns
        -------
        Certificate
        """
        check_number(n_random, "n_random", least=0, whole=True)
        check_number(seed, "seed", least=0, whole=True)
        return certification.summary(*self._judged(n_random, seed, at_breakpoints))

    def _judged(
        self, n_random: int, seed: int = 0, at_breakpoints: bool | None = None
    ) -> tuple[Floats, certification.Verdict]:
        """Return the points of a certificate, nodes first, and what the judge says of each."""
        rng, n_nodes = np.random.default_rng(seed), len(self._t)
        nodes = self._ends()
        if at_breakpoints:
            nodes = np.arange(n_nodes)
        elif at_breakpoints is None:
            some = rng.choice(n_nodes, size=min(n_random, n_nodes), replace=False)
            nodes = np.union1d(nodes, some)
        points = np.concatenate([self._between(rng, n_random), self._on_the_ray()])
        return self._judged_at(nodes, points)

    def _glance(self, size: int) -> tuple[Floats, certification.Verdict]:
        """Judge ends, rays, some nodes, and points half-way to their successors: a cheap check."""
        pieces = np.flatnonzero(np.diff(self._t) > 0)
        some = pieces[np.unique(np.linspace(0, len(pieces) - 1, size).astype(np.int64))]
        some = some if len(pieces) else pieces
        middle = self._t[some] + 0.5 * (self._t[some + 1] - self._t[some])
        nodes = np.union1d(self._ends(), some)
        return self._judged_at(nodes, np.concatenate([middle, self._on_the_ray()]))

    def _judged_at(self, nodes: NDArray, points: Floats) -> tuple[Floats, certification.Verdict]:
        """Judge nodes, then other points."""
        known: dict[int, tuple] = {}  # nodes of the last pieces are wanted again

        def at_node(node: int) -> tuple[Floats, Floats]:
            if node not in known:
                if len(known) > 256:
                    known.clear()
                known[node] = self._node(node)
            return known[node]

        def solutions(index: NDArray) -> Solution:
            return _columns(
                [
                    self._finished(*at_node(int(nodes[k])))
                    if k < len(nodes)
                    else self._solution(points[k - len(nodes)], at_node)
                    for k in index
                ]
            )

        t = np.concatenate([self._t[nodes], points])
        low = np.concatenate([self._low[nodes], np.zeros(len(points))])
        return t, certification.verdicts(self.objective, t, solutions, low=low)

    def _ends(self) -> NDArray[np.int64]:
        """Return the nodes at the ends of all legs."""
        edges = np.flatnonzero(np.diff(self._leg))
        return np.unique(np.concatenate([[0, len(self._t) - 1], edges, edges + 1]))

    def _between(self, rng: np.random.Generator, size: int) -> Floats:
        """Return points between nodes: half of them anywhere, half in random pieces."""
        pieces = np.flatnonzero(np.diff(self._t) > 0)
        size = min(size, len(pieces))
        if not size:
            return np.empty(0)
        own = rng.choice(pieces, size=size - size // 2, replace=False)
        inside = self._t[own] + rng.uniform(size=len(own)) * (self._t[own + 1] - self._t[own])
        return np.concatenate([inside, rng.uniform(self._t[0], self._t[-1], size=size // 2)])

    def _on_the_ray(self) -> Floats:
        """Return points behind the last node where the path goes on from there."""
        last = self._t[-1] if self._t[-1] > 0 else 1.0
        return RAYS * last if self._has_ray else np.empty(0)

    # -- pictures and files -------------------------------------------------------------------

    def plot(self, what: str | None = None, ax=None, max_lines: int = 200) -> Axes:
        """Plot coefficients (linear models) or duals against the parameter.

        Parameters
        ----------
        what : {"coef", "dual"}, optional
            By default coefficients where there are at most 50 of them.
        ax : matplotlib Axes, optional
        max_lines : int
            Largest number of curves drawn; the first ones are taken.

        Returns
        -------
        matplotlib Axes
        """
        import matplotlib.pyplot as plt

        what = what if what is None else check_choice(what, "what", ("coef", "dual"))
        check_number(max_lines, "max_lines", least=1, whole=True)
        if ax is not None and not hasattr(ax, "plot"):
            raise TypeError(f"ax must be matplotlib Axes, not {shown(ax)}.")
        if what == "coef":
            self._check_linear()
        few = self.objective.linear and self.objective.X.shape[1] <= 50
        what = what or ("coef" if few else "dual")
        ax = ax or plt.subplots()[1]
        nodes = np.unique(np.linspace(0, len(self._t) - 1, 2000).astype(int))
        found = _columns([self._node_solution(k) for k in nodes])
        curves = self.objective.coefs if what == "coef" else self.objective.public_dual
        ax.plot(self._t[nodes], curves(found)[:max_lines].T, linewidth=0.9)
        ax.set_xlabel(self.parameter)
        ax.set_ylabel("coefficient" if what == "coef" else "dual variable")
        return ax

    def save(self, file) -> None:
        """Write the path to an .npz file (no pickles inside), atomically.

        Parameters
        ----------
        file : path-like or binary file object
            A file's name, whose folders are made where they lack, or what is open for writing
            bytes.
        """
        plain, arrays = to_arrays(self.objective)
        meta = {
            "format": FORMAT,
            "parameter": self.parameter,
            "diagnostics": self.diagnostics,
            "objective": plain,
            "legs": [{"offset": leg.offset, "factor": leg.factor} for leg in self._legs],
        }
        content = {f"objective/{k}": v for k, v in arrays.items()}
        for number, leg in enumerate(self._legs):
            trace = leg.trace._asdict()
            stairs = vars(trace.pop("stairs"))
            content |= {f"leg{number}/{k}": np.asarray(v) for k, v in trace.items()}
            content |= {f"leg{number}/stairs/{k}": v for k, v in stairs.items()}

        def write(handle) -> None:  # to a handle: a name without .npz stays as it is
            np.savez_compressed(handle, meta=np.array(json.dumps(meta)), **content)

        if _is_binary(file):
            buffer = io.BytesIO()  # so that the file gets all or nothing
            write(buffer)
            file.write(buffer.getvalue())
            return

        def write_to(partial: FilePath) -> None:
            with open(partial, "wb") as handle:
                write(handle)

        replace_atomically(FilePath(file), write_to)

    @classmethod
    def load(cls, file) -> Path:
        """Read a path that `save` wrote, from a file's name or a binary file object."""
        try:
            with np.load(file, allow_pickle=False) as archive:
                content = {k: archive[k] for k in archive.files}
            meta = json.loads(str(content["meta"]))
            known = meta["format"] == FORMAT
            path = cls._from_content(meta, content) if known else None
        except FileNotFoundError:
            raise
        except DAMAGED as error:
            raise ValueError(
                f"{file} is not a path written by Path.save (expected an .npz archive); "
                "save the path again."
            ) from error
        if path is None:
            raise ValueError(
                f"{file} has format {meta['format']}, this version reads {FORMAT}; compute the "
                "path again."
            )
        return path

    @classmethod
    def _from_content(cls, meta: dict, content: dict) -> Path:
        legs = [
            Leg(_trace_from(content, f"leg{number}/"), leg["offset"], leg["factor"])
            for number, leg in enumerate(meta["legs"])
        ]
        prefix = "objective/"
        own = {k.removeprefix(prefix): v for k, v in content.items() if k.startswith(prefix)}
        objective = from_arrays(meta["objective"], own)
        return cls(meta["parameter"], legs, objective, meta["diagnostics"])

    def __repr__(self) -> str:
        low, high = self.range
        return (
            f"<Path of {self.objective.n} samples in {self.parameter} from {low:g} to {high:g}, "
            f"{len(self.breakpoints)} breakpoints>"
        )


def _columns(solutions: list[Solution]) -> Solution:
    """Put solutions beside each other."""
    parts = zip(*solutions, strict=True)
    return Solution(*(None if own[0] is None else np.stack(own, axis=-1) for own in parts))


def _added(one: Solution, other: Solution) -> Solution:
    return Solution(*(u if u is None else u + v for u, v in zip(one, other, strict=True)))


def _is_binary(file) -> bool:
    """Tell whether bytes can be written to an open file; False for the name of one."""
    if isinstance(file, str | os.PathLike):
        return False
    try:
        file.write(b"")
    except (AttributeError, TypeError, ValueError, OSError) as error:
        raise TypeError(
            f"file must be the name of a file, or one open for writing bytes (mode 'wb'), not "
            f"{shown(file)}."
        ) from error
    return True


def _trace_from(content: dict, prefix: str) -> Trace:
    own = {k.removeprefix(prefix): v for k, v in content.items() if k.startswith(prefix)}
    stairs = {k.removeprefix("stairs/"): own.pop(k) for k in list(own) if k.startswith("stairs/")}
    own["every"] = int(own["every"])
    return Trace(stairs=Staircases(**stairs), **own)


def _best_of_steps(least: float, edges: Floats, best: NDArray[np.bool_]) -> Best:
    """Join neighbouring steps that are best, and take the widest."""
    padded = np.concatenate([[False], best, [False]]).astype(int)
    first, last = np.flatnonzero(np.diff(padded) == 1), np.flatnonzero(np.diff(padded) == -1)
    intervals = np.column_stack([edges[first], edges[last]])
    widest = intervals[np.argmax(intervals[:, 1] - intervals[:, 0])]
    return Best(float(least), float(widest.mean()), intervals)


def _best_on_segments(t: Floats, residual: Floats, metric: str) -> tuple[float, float]:
    """Return the least mean error, and where, of residuals linear between the nodes t."""
    mean = np.abs(residual).mean(axis=0) if metric == "absolute" else (residual**2).mean(axis=0)
    k = int(np.argmin(mean))
    value, at = float(mean[k]), float(t[k])
    for k in range(len(t) - 1):
        left, right = residual[:, k], residual[:, k + 1]
        if metric == "squared":
            slope = right - left
            curvature = (slope**2).sum()
            parts = np.clip([-(left * slope).sum() / curvature], 0, 1) if curvature > 0 else []
        else:
            crossing = left * right < 0
            parts = left[crossing] / (left[crossing] - right[crossing])
        for part in parts:
            here = left + part * (right - left)
            error = np.abs(here).mean() if metric == "absolute" else (here**2).mean()
            if error < value:
                value, at = float(error), float(t[k] + part * (t[k + 1] - t[k]))
    return value, at
