"""Path: what every model returns."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import certify as certification
from . import plots, storage
from .curves import (
    Best,
    Curve,
    absolute_pieces,
    mean_curve,
    of_pieces,
    squared_pieces,
    steps,
)
from .nodes import COLUMNS, Floats, Leg, Nodes, Places, alone
from .objectives import Solution
from .objectives.machine import Machine
from .storage import File
from .sweep import row_blocks
from .validation import (
    Rows,
    check_choice,
    check_edges,
    check_index,
    check_known_labels,
    check_new_rows,
    check_number,
    check_shares,
    check_vector,
    shown,
)
from .walks.trace import between

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Floats", "Leg", "Path"]
Parameters: TypeAlias = Sequence[float] | NDArray[Any]  # several values
RAYS = np.array([1.5, 10.0])  # times the last breakpoint: where a ray is looked at
AT = 2.0**-50  # of the way between two nodes: what is nearer to one than that is there
METRICS = ("zero_one", "absolute", "squared")
SCALES = ("C", "lam", "lam1", "lam2")  # parameters whose logarithm counts


class Path(Nodes):
    """The exact solutions of a model for every value of one parameter.

    Duals are linear in the parameter between consecutive breakpoints. A path keeps a copy of its
    data, so that it stays what it was when the caller's arrays change: 8 bytes for each entry of
    X, twelve for each nonzero of a CSR matrix. (Read-only arrays are kept as they are.) Paths can
    be pickled.

    Attributes
    ----------
    parameter : str
        Name of the parameter, for example ``"tau"``.
    breakpoints : (K,) array
        Parameter values at which some coordinate changes state, ascending, both ends included.
    objective : Machine
        Data and objective.
    diagnostics : dict
        Counts of the walk: events, rows looked at, and the events of the start.
    """

    OF: type[Machine]  # subclasses: whose paths are of their kind

    def __init__(
        self,
        parameter: str,
        legs: list[Leg],
        objective: Machine,
        diagnostics: dict[str, Any] | None = None,
    ):
        super().__init__(legs, objective)
        self.parameter = parameter
        self.diagnostics = dict(diagnostics or {})
        t = np.sort(self._t)
        inner: Floats = t[np.append(True, t[1:] != t[:-1])]
        if len(self._legs) > 1:  # where two legs begin nothing changes state
            joints = [leg.nodes[0] for leg in self._legs]
            for joint in set(joints):
                if (t == joint).sum() == joints.count(joint):
                    inner = inner[inner != joint]
        self.breakpoints = inner

    @property
    def feature_names(self) -> list[str | int] | None:
        """Names of the columns of X when it was a DataFrame, else None."""
        names = self.objective.feature_names
        return None if names is None else list(names)

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
            limit = self.diagnostics.get("limit")
            beyond = limit and 0 < t < np.inf and (t > high if limit == "C_max" else t < low)
            remedy = f", or compute it with {limit}={float(t)!r}" if beyond else ""
            raise ValueError(
                f"{self.parameter} = {t!r} is outside this path, which covers [{low:g}, {high:g}]; "
                f"choose a value in that range{remedy}."
            )
        return float(t)

    def _first_behind(self, ts: Floats) -> Places:
        """Return the first node behind each of ts; a node lies where both of its parts say."""
        right = np.searchsorted(self._t, ts, side="right")
        for k in np.flatnonzero((self._t[right - 1] == ts) & (self._low[right - 1] > 0.0)):
            while right[k] > 1 and self._t[right[k] - 1] == ts[k] and self._low[right[k] - 1] > 0.0:
                right[k] -= 1
        return right

    def _solution(self, t: float) -> Solution:
        return self._solution_at(self._check(t))

    def _solution_at(self, t: float) -> Solution:
        """Return the solution where the walk's own parameter is t."""
        return alone(self._solutions_at(np.array([t])))

    def _solutions_at(self, ts: Floats) -> Solution:
        """Return the solutions, in columns, where the walk's own parameters are ts."""
        return self._solutions(*self._pieces(ts))

    def _pieces(self, ts: Floats) -> tuple[Places, Places, Floats, Floats]:
        """Return where the walk's own parameters ts are.

        They are a part of the way, or at it, from the nearer of two nodes, whose distance is known
        the better, to the other; and so far behind the last node, on a ray.
        """
        right, last = self._first_behind(ts), len(self._t) - 1
        here, there = right - 1, np.minimum(right, last)
        after = (ts - self._t[here]) - self._low[here]
        ahead = (self._t[there] - ts) + self._low[there]
        beyond = np.where(right > last, ts - self._t[last], 0.0)
        resting = (after == 0.0) | (right > last)
        first = resting | (after <= ahead)
        step = np.where(resting, 1.0, after + ahead)
        part = np.where(resting, 0.0, np.where(first, after, ahead)) / np.where(step > 0, step, 1.0)
        part[part <= AT] = 0.0
        return np.where(first, here, there), np.where(first, there, here), part, beyond

    def _solutions(self, near: Places, far: Places, part: Floats, beyond: Floats) -> Solution:
        """Return the solutions, in columns, where `_pieces` says."""
        nodes, place = np.unique(np.concatenate([near, far]), return_inverse=True)
        here, there = place[: len(near)], place[len(near) :]
        duals, low = between(*self._parts(nodes), here, there, part)
        found = self._finished(duals, low)
        if not (self._has_ray and beyond.any()):
            return found
        # The function rests on a ray: the losses of any other outgrow all else. Computed from
        # duals that grow with t it would move by rounding.
        if not self.objective.linear:
            found = found._replace(w=found.a)
        last = self._legs[-1]
        more = self.objective.solution(np.outer(last.trace.ray, beyond / last.factor)).a
        return found if more is None or found.a is None else found._replace(a=found.a + more)

    def _check_values(self, ts: ArrayLike) -> Floats:
        """Return the walk's own values of several parameters, each inside the path."""
        try:
            given = np.asarray(ts)
            usable = given.ndim == 1 and given.size > 0 and given.dtype.kind in "iuf"
        except (TypeError, ValueError):
            usable = False
        if not usable:
            raise ValueError(
                f"{self.parameter} must be one number, or a list or 1-d array of numbers, not "
                f"{shown(ts)}."
            )
        low, high = self.range
        inside = (given >= low) & (given <= high) & (given < np.inf)
        for t in given[~inside][:1].tolist():
            self._check(t)
        return given.astype(np.float64)

    def _at(
        self,
        ts: ArrayLike,
        at_nodes: Callable[[Places], Floats],
    ) -> Floats:
        """Return what is linear between nodes, and rests on a ray, in the last axis.

        ``at_nodes`` maps ascending nodes to values there.
        """
        ts = self._check_values(ts)
        right = self._first_behind(ts)
        there = np.minimum(right, len(self._t) - 1)
        nodes = np.union1d(right - 1, there)
        values = at_nodes(nodes)
        here, next_ = np.searchsorted(nodes, right - 1), np.searchsorted(nodes, there)
        step = (self._t[there] - self._t[right - 1]) + (self._low[there] - self._low[right - 1])
        moved = (ts - self._t[right - 1]) - self._low[right - 1]
        inside = (there == right) & (step > 0)  # not where a path jumps
        part = np.where(inside, moved / np.where(inside, step, 1.0), 0.0)
        part[part <= AT], part[part >= 1.0 - AT] = 0.0, 1.0
        left = values[..., here]
        right = values[..., next_]
        return np.asarray(np.where(part == 1.0, right, left + part * (right - left)))

    def dual(self, t: float | Parameters) -> Floats:
        """Return the (n,) duals at parameter t, or (n, k) at k parameters.

        Classification: 0 <= alpha_i <= C_i as in the papers; regression: signed. O(n) work and
        memory for each parameter.

        Examples
        --------
        >>> from solution_paths import svm_path
        >>> path = svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> path.dual(0.25).round(9).tolist()
        [0.25, 0.25, 0.25, 0.25]
        >>> path.dual([0.0, 0.25]).shape
        (4, 2)
        """
        if _single(t):
            return np.asarray(self._duals(np.array([self._check(t)]))[:, 0])
        return self._duals(self._check_values(t))

    def _duals(self, ts: Floats) -> Floats:
        """Return the (n, k) duals where the walk's own parameters are ts."""
        return self._public_duals(ts, np.zeros(len(ts)), self._pieces(ts))

    def coef(self, t: float | Parameters) -> Floats:
        """Return the (d,) coefficients at t, or (d, k) at k parameters (linear models only).

        Many parameters cost about what the path cost, and 8 d bytes for each of up to 2 k nodes.

        Raises
        ------
        AttributeError
            For a kernel model.

        Examples
        --------
        >>> from solution_paths import svm_path
        >>> path = svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> path.coef([0.1, 0.5]).round(9).tolist()
        [[0.2, 0.666666667]]
        """
        self._check_linear()
        if _single(t):
            return self.objective.coefs(self._solution(t))
        return self._at(t, self._coefs_at)

    def _of_solutions(self, ts: Floats, read: Callable[[Solution], Floats]) -> Floats:
        """Return (..., k) numbers of solutions, a few of which are held at a time."""
        blocks = [ts[first : first + COLUMNS] for first in range(0, len(ts), COLUMNS)]
        return np.concatenate([read(self._solutions_at(own)) for own in blocks], axis=-1)

    @property
    def linear(self) -> bool:
        """Whether solutions have coefficients."""
        return self.objective.linear

    def _check_linear(self) -> None:
        if not self.linear:
            raise AttributeError(
                f"A path with kernel={self.objective.kernel.name!r} has no coefficients; use "
                "decision_function, or dual for the expansion in training rows."
            )

    @overload
    def intercept(self, t: float) -> float: ...

    @overload
    def intercept(self, t: Parameters) -> Floats: ...

    def intercept(self, t: float | Parameters) -> float | Floats:
        """Return the bias b at t, or (k,) of them at k parameters.

        Examples
        --------
        >>> from solution_paths import svm_path
        >>> path = svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> round(path.intercept(0.25), 9)
        -1.0
        """
        objective = self.objective
        if _single(t):
            return float(objective.intercepts(self._solution(t)))
        if objective.centred_kernel is objective.kernel:
            return self._at(t, self._intercepts_at)
        return self._of_solutions(self._check_values(t), objective.intercepts)

    def decision_function(self, X_new: Rows, t: float | Parameters) -> Floats:
        """Return the (m,) values f(x) at parameter t, or (m, k) at k parameters.

        Many parameters cost about what the path cost for as many rows; 8 m bytes for each of up to
        2 k nodes and, for a kernel, up to 128 MB of kernel values.

        Parameters
        ----------
        X_new : (m, d) array or CSR
            Rows to predict; with ``kernel="precomputed"`` the (m, n) kernel with the training rows.
        t : float or (k,) array
            Parameter value, or several in any order.

        Examples
        --------
        >>> from solution_paths import svm_path
        >>> path = svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> path.decision_function([[0.0], [4.0]], 0.25).round(9).tolist()
        [-1.0, 1.0]
        """
        X_new = check_new_rows(X_new, self.objective, "X_new")
        if _single(t):
            return self.objective.decision(X_new, self._solution(t))
        if self.objective.linear:
            return np.asarray(X_new @ self.coef(t)) + self.intercept(t)

        def block(rows: Any) -> Floats:
            return self._at(t, lambda nodes: self._decisions_at(nodes, rows))

        blocks = row_blocks(self.objective, X_new.shape[0])
        return np.concatenate([block(X_new[rows]) for rows in blocks])

    def predict(self, X_new: Rows, t: float | Parameters) -> NDArray[Any]:
        """Return (m,) predicted labels (f >= 0 is the larger label) or values at t.

        At k parameters (m, k) of them; see `decision_function`.

        Examples
        --------
        >>> from solution_paths import svm_path
        >>> path = svm_path([[0.0], [1.0], [2.0], [3.0]], ["no", "yes", "no", "yes"])
        >>> path.predict([[0.0], [4.0]], 0.25).tolist()
        ['no', 'yes']
        """
        f = self.decision_function(X_new, t)
        classes = self.objective.classes
        return f if len(classes) == 0 else _labels(self.objective, f)

    # -- the whole path at once ---------------------------------------------------------------

    def crossings(self, X_new: Rows) -> list[Floats]:
        """Return, for each row, the exact parameters at which its decision changes sign.

        Between two breakpoints f(x) is linear in the parameter, so each change of sign (f >= 0
        counts as positive) is the root of a line, or a place where a path jumps. Costs about what
        the path cost for as many rows; some MB of memory and, for a kernel, up to 128 MB of kernel
        values.

        Parameters
        ----------
        X_new : (m, d) array or CSR
            As in `decision_function`.

        Returns
        -------
        list of m ascending arrays

        Examples
        --------
        >>> from solution_paths import svm_path
        >>> path = svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> [where.round(9).tolist() for where in path.crossings([[0.5], [2.5]])]
        [[], [0.2]]
        """
        X_new = check_new_rows(X_new, self.objective, "X_new")
        row, root, _, _ = self._changes(X_new)
        order = np.lexsort((root, row))
        row, root = row[order], root[order]
        # where a path jumps through several nodes at once, two changes are none
        first = np.flatnonzero(
            np.append(True, (np.diff(row) > 0) | (np.diff(root) > 0))[: len(row)]
        )
        kept = first[np.diff(np.append(first, len(row))) % 2 == 1]
        return np.split(root[kept], np.searchsorted(row[kept], np.arange(1, X_new.shape[0])))

    def positive_length(self, X_new: Rows) -> Floats:
        """Return, for each row, the total length of all parameters at which f >= 0.

        Up to the last breakpoint. In ``tau`` it estimates the probability of the larger label.

        Examples
        --------
        >>> from solution_paths import quantile_svm_path
        >>> path = quantile_svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], lam=0.1)
        >>> p = path.positive_length([[0.5], [2.5]])  # of label 1
        >>> float(p[0]) < 0.5 < float(p[1])
        True
        """
        X_new = check_new_rows(X_new, self.objective, "X_new")
        row, root, after, start = self._changes(X_new)
        m = X_new.shape[0]
        ended = start ^ (np.bincount(row, minlength=m) % 2 == 1)
        signed = np.bincount(row, np.where(after, -root, root), minlength=m).astype(np.float64)
        return signed + np.where(ended, self._t[-1], 0.0) - np.where(start, self._t[0], 0.0)

    def piece_values(self, X_new: Rows, edges: ArrayLike) -> tuple[Floats, Floats]:
        """Return f at both ends of all pieces between edges, each approached from inside.

        What jumps at a breakpoint has two values there, and `decision_function` gives one.

        Parameters
        ----------
        X_new : (m, d) array or CSR
            As in `decision_function`.
        edges : (k + 1,) array
            Ascending, among them the breakpoints between the first and the last; after the last
            breakpoint f stays what it is.

        Returns
        -------
        left, right : (m, k) arrays

        Examples
        --------
        >>> from solution_paths import svm_path
        >>> path = svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> left, right = path.piece_values([[3.0]], [*path.breakpoints, 2.0])
        >>> left.round(9).tolist(), right.round(9).tolist()
        ([[-1.0, 1.0]], [[1.0, 1.0]])
        """
        X_new = check_new_rows(X_new, self.objective, "X_new")
        edges = check_edges(edges, self.breakpoints, self._t[0], self.parameter)
        edges = np.minimum(edges, self._t[-1])
        here = np.searchsorted(self._t, edges[:-1], side="right") - 1
        there = np.searchsorted(self._t, edges[1:])  # legs may have been joined in between
        f = np.concatenate(
            [
                self._decisions_at(np.arange(len(self._t)), X_new[rows])
                for rows in row_blocks(self.objective, X_new.shape[0])
            ]
        )
        step = self._t[there] - self._t[here]
        before, after = f[:, here], f[:, there]
        wide = np.where(step > 0, step, 1.0)

        def value(t: Floats) -> Floats:
            return before + np.where(step > 0, (t - self._t[here]) / wide, 0.0) * (after - before)

        return value(edges[:-1]), value(edges[1:])

    def error_curve(
        self,
        X_val: Rows,
        y_val: ArrayLike,
        metric: str = "zero_one",
        sample_weight: ArrayLike | None = None,
    ) -> Curve:
        """Return a validation error as an exact function of the parameter.

        It is a step function (``zero_one``), or piecewise linear (``absolute``) or quadratic
        (``squared``), over all the path: on a ray behind the last breakpoint it is a constant, and
        its last edge is inf. Costs and memory are those of `crossings`, and 32 bytes for each
        piece: as many as there are changes of sign or, in regression, these and breakpoints.

        Parameters
        ----------
        X_val, y_val : (m, d), (m,)
            Validation data.
        metric : {"zero_one", "absolute", "squared"}
            Mean error; ``zero_one`` needs a classification path.
        sample_weight : (m,) array, optional
            Weights of the rows in the mean, >= 0, not all zero.

        Returns
        -------
        Curve

        Examples
        --------
        >>> from solution_paths import drlad_path
        >>> path = drlad_path([[1.0], [2.0], [3.0], [4.0], [5.0]], [2.0, 4.0, 6.0, 8.0, 99.0])
        >>> curve = path.error_curve([[6.0]], [9.0], metric="squared")
        >>> curve([0.0, 0.5, 1.0, 2.0]).round(9).tolist()
        [9.0, 2.25, 0.0, 9.0]
        >>> round(curve.best().parameter, 9)
        1.0
        """
        zero_one = check_choice(metric, "metric", METRICS) == "zero_one"
        if zero_one and len(self.objective.classes) == 0:
            raise ValueError("The 0-1 error needs a classification path; use metric='absolute'.")
        check_index(X_val, y_val, "y_val", "X_val")
        X_val = check_new_rows(X_val, self.objective, "X_val")
        m = X_val.shape[0]
        shares = check_shares(sample_weight, m, "X_val")
        if zero_one:
            positive = check_known_labels(y_val, self.objective.classes, m, "y_val", "X_val")
            found = self._error_steps(X_val, positive, shares)
        else:
            y_val = check_vector(y_val, m, "y_val", scalar=False, of="X_val")
            pieces = absolute_pieces if metric == "absolute" else squared_pieces
            found = self._error_pieces(X_val, y_val, shares, pieces)
        return replace(self._to_the_end(found), log=self.parameter in SCALES)

    def _to_the_end(self, curve: Curve) -> Curve:
        """Return the curve up to the path's end: on a ray nothing changes."""
        low, high = float(self._t[0]), np.inf if self._has_ray else float(curve.edges[-1])
        return curve.over(low, high)

    def _error_steps(self, X_val: Any, positive: NDArray[np.bool_], shares: Floats | None) -> Curve:
        row, t, after, start = self._changes(X_val)
        rises, wrong = np.where(after == positive[row], -1.0, 1.0), start != positive
        ends = float(self._t[0]), float(self._t[-1])
        if shares is None:
            return steps(*ends, int(wrong.sum()), t, rises, len(positive))
        return steps(*ends, float(shares[wrong].sum()), t, rises * shares[row], 1.0)

    def _error_pieces(
        self, X_val: Any, y_val: Floats, shares: Floats | None, pieces: Callable[..., Any]
    ) -> Curve:
        shares = np.full(len(y_val), 1.0 / len(y_val)) if shares is None else shares
        parts = [k for k in row_blocks(self.objective, len(y_val)) if shares[k].any()]
        curves = []
        for k in parts:
            own = shares[k] / shares[k].sum()
            sweep = self._sweep(X_val[k])
            found = [pieces(self._t[i], f - y_val[k, None], own) for i, f in sweep]
            curves.append(of_pieces(found))
        return mean_curve(curves, [shares[k].sum() for k in parts])

    def error_steps(self, X_val: Rows, y_val: ArrayLike) -> tuple[Floats, Floats]:
        """Return the validation 0-1 error as an exact step function of the parameter.

        See `error_curve`.

        Returns
        -------
        edges : (k + 1,) array
            Ends of the steps, ascending.
        error : (k,) array
            Mean error on each open step.

        Examples
        --------
        >>> from solution_paths import svm_path
        >>> path = svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> edges, error = path.error_steps([[0.5], [2.5]], [0, 1])
        >>> edges[1].round(9).item(), error.tolist()
        (0.2, [0.5, 0.0, 0.0])
        """
        curve = self.error_curve(X_val, y_val)
        return curve.edges, curve.left

    def best(
        self,
        X_val: Rows,
        y_val: ArrayLike,
        metric: str = "zero_one",
        sample_weight: ArrayLike | None = None,
    ) -> Best:
        """Return the exact minimiser of a validation error over the whole path.

        Parameters
        ----------
        X_val, y_val, metric, sample_weight
            See `error_curve`.

        Returns
        -------
        Best
            Least value, the intervals where it is reached (to inf on a ray), and the middle of
            the widest, of which a ray doesn't count: of its logarithms, where the parameter is a
            cost or a penalty.

        Examples
        --------
        >>> from solution_paths import svm_path
        >>> path = svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> best = path.best([[0.5], [2.5]], [0, 1])
        >>> best.value, best.intervals.round(9).tolist()
        (0.0, [[0.2, inf]])
        """
        return self.error_curve(X_val, y_val, metric, sample_weight).best()

    # -- certificate --------------------------------------------------------------------------

    def certify(
        self,
        n_random: int = 100,
        seed: int = 0,
        at_breakpoints: bool | None = None,
        at: float | Parameters | None = None,
    ) -> certification.Certificate:
        """Check the path with code that shares nothing with the walker.

        Both ends, the places where walks were joined, and points on a ray behind the last
        breakpoint are always looked at, unless ``at`` names the points.

        Parameters
        ----------
        n_random : int, default 100
            Random parameter values between the breakpoints, and the size of the sample of
            breakpoints; on short paths one between any two is enough.
        seed : int, default 0
            Seed of these.
        at_breakpoints : bool, optional
            Check every breakpoint as well, or none but the ends. By default a random sample.
        at : float or (k,) array, optional
            Check the solutions at these parameter values, and no others: what `dual` and
            `decision_function` return there.

        Returns
        -------
        Certificate

        Examples
        --------
        >>> from solution_paths import svm_path
        >>> path = svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> path.certify(at_breakpoints=True).ok
        True
        >>> path.certify(at=[0.1, 0.25]).n_points
        2
        """
        check_number(n_random, "n_random", least=0, whole=True)
        check_number(seed, "seed", least=0, whole=True)
        if at is not None:
            return certification.summary(*self._judged_where(at))
        return certification.summary(*self._judged(n_random, seed, at_breakpoints))

    def _judged_where(self, at: float | Parameters) -> tuple[Floats, certification.Verdict]:
        """Return the given parameter values, and what the judge says of the solutions there."""
        own = np.array([self._check(at)]) if _single(at) else self._check_values(at)
        values = np.atleast_1d(np.asarray(at, dtype=np.float64))
        return values, self._judged_at(np.empty(0, dtype=np.int64), own)[1]

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
        """Judge ends, rays, and ``size`` pieces at their first node and half-way: a cheap check.

        Half of them are where a walk is most likely to have gone wrong: beside its restarts, after
        repeated events at one parameter value (ties, exchanges), and where pieces are shortest. The
        others are evenly drawn.
        """
        step = np.diff(self._t)
        pieces = np.flatnonzero(step > 0)
        if len(pieces) > size:
            length = step[pieces] / np.maximum(np.abs(self._t[pieces + 1]), np.abs(self._t[pieces]))
            repeats = self._repeats()[self._begins(pieces)]
            ends, few = self._ends(), max(size // 6, 1)
            joints = pieces[np.isin(pieces, np.union1d(ends, ends - 1))]
            tied = pieces[np.lexsort((length, -repeats))]
            short = pieces[np.argsort(length, kind="stable")]
            some = np.unique(np.concatenate([joints[:few], tied[:few], short[:few]]))
            even = np.linspace(0, len(pieces) - 1, size - len(some)).astype(np.int64)
            pieces = np.union1d(some, pieces[even])
        middle = self._t[pieces] + 0.5 * step[pieces]
        nodes = np.union1d(self._ends(), pieces)
        points = np.concatenate([middle, self._on_the_ray()])
        return self._judged_at(nodes, points, settle=False)

    def _begins(self, pieces: Places) -> Places:
        """Return the nodes at which a walk enters pieces: their right ends where it goes down."""
        falls = np.array([leg.way < 0 for leg in self._legs])[self._leg[pieces]]
        return np.where(falls, pieces + 1, pieces)

    def _repeats(self) -> Places:
        """Return how many nodes share the parameter value of each."""
        _, place, count = np.unique(self._t, return_inverse=True, return_counts=True)
        return np.asarray(count[place])

    def _judged_at(
        self, nodes: Places, points: Floats, settle: bool = True
    ) -> tuple[Floats, certification.Verdict]:
        """Judge nodes, then other points: what is handed out, or, quicker, what was walked."""
        still = np.zeros(len(nodes))
        places = zip((nodes, nodes, still, still), self._pieces(points), strict=True)
        near, far, part, beyond = (np.concatenate(pair) for pair in places)

        t = np.concatenate([self._t[nodes], points])
        low = np.concatenate([self._low[nodes], np.zeros(len(points))])
        objective = self.objective

        def solutions(index: Places) -> Solution:
            places = near[index], far[index], part[index], beyond[index]
            found = self._solutions(*places)
            if not settle:
                return found
            a = objective.signed_dual(self._duals_of(found, t[index], low[index], places))
            assert found.a is not None  # machines have duals
            if objective.linear or found.w is not None or np.array_equal(a, found.a):
                return found._replace(a=a)
            # f is the expansion in what was walked, whose last digits a wide kernel feels
            return found._replace(a=a, w=found.a)

        return t, certification.verdicts(self.objective, t, solutions, low)

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

    def plot(
        self,
        what: str | None = None,
        ax: Axes | None = None,
        max_lines: int = 200,
        *,
        mark: float | None = None,
    ) -> Axes:
        """Plot coefficients (linear models) or duals against the parameter.

        A parameter that is a scale has a logarithmic axis where it spans a decade. The largest
        coefficients have their names, as many as fit; of duals the samples' classes are told apart.

        Parameters
        ----------
        what : {"coef", "dual"}, optional
            By default coefficients where there are at most 50 of them.
        ax : matplotlib Axes, optional
        max_lines : int, default 200
            Largest number of curves drawn; those that become largest are taken.
        mark : float, optional
            A parameter to mark, for example a chosen one: the names are those of the coefficients
            that are largest there, and of a scale two decades on each side are drawn.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> from solution_paths import svm_path
        >>> path = svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> axes = path.plot("coef")
        >>> axes.get_xlabel(), len(axes.lines)
        ('C', 1)
        """
        return plots.draw_path(self, what, ax, max_lines, mark)

    def _places(self, nodes: Places) -> Floats:
        """Return the parameter at nodes."""
        return self._t[nodes]

    def save(self, file: File) -> None:
        """Write the path to an .npz file (no pickles inside), atomically.

        Parameters
        ----------
        file : path-like or binary file object
            A file's name, whose folders are made where they lack and which gets the suffix
            ``.npz`` if it hasn't; or what is open for writing bytes.

        Examples
        --------
        >>> import io
        >>> from solution_paths import Path, outlier_svm_path
        >>> path = outlier_svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], C=1.0)
        >>> file = io.BytesIO()  # or the name of a file
        >>> path.save(file)
        >>> file.seek(0)
        0
        >>> Path.load(file)
        <Path of 4 samples in theta from 0 to 1, 3 breakpoints>
        """
        storage.write(file, self.parameter, self._legs, self.objective, self.diagnostics)

    @classmethod
    def load(cls, file: File) -> Path:
        """Read a path that `save` wrote, from a file's name or a binary file object.

        A name that `save` gave the suffix ``.npz`` is found without it, too.

        Examples
        --------
        >>> import io
        >>> from solution_paths import Path, outlier_svm_path
        >>> file = io.BytesIO()
        >>> outlier_svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], C=1.0).save(file)
        >>> Path.load(io.BytesIO(file.getvalue())).certify().ok
        True
        """
        return storage.read(file, cls._kind_of)

    @classmethod
    def _kind_of(
        cls, parameter: str, legs: list[Leg], objective: Machine, diagnostics: dict[str, Any]
    ) -> Path:
        """Build a path of the kind that its objective asks for."""
        kinds = Path.__subclasses__()
        kind = next((kind for kind in kinds if kind._suits(objective)), cls)
        return kind(parameter, legs, objective, diagnostics)

    @classmethod
    def _suits(cls, objective: Machine) -> bool:
        """Tell whether a path of this objective is of this kind."""
        return isinstance(objective, cls.OF)

    def __repr__(self) -> str:
        low, high = self.range
        return (
            f"<Path of {self.objective.n} samples in {self.parameter} from {low:g} to {high:g}, "
            f"{len(self.breakpoints)} breakpoints>"
        )


def _labels(objective: Machine, f: Floats) -> NDArray[Any]:
    return np.where(objective.positive(f), objective.classes[1], objective.classes[0])


def _single(t: float | Parameters) -> TypeGuard[float]:
    """Tell one parameter value from a list or an array of them."""
    return not (isinstance(t, list | tuple) or getattr(t, "ndim", 0) > 0)
