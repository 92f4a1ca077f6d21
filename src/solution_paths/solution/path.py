"""Solution paths of problems: every optimum between two values of a parameter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import plots
from ..certify import Certificate, Verdict, summary
from ..curves import Best, Curve
from ..homotopy.run import Homotopy
from ..homotopy.statement import Statement
from ..objectives.centring import less
from ..objectives.exact import divide, transposed
from ..path import SCALES, Parameters, _single
from ..problem import Line, Product
from ..problem.twofold import Twofold
from ..storage import File
from ..validation import Floats, Labels, Rows, check_edges, check_index, check_number, shown
from ..verify import Answer, judge
from . import evaluation, storage
from .model import Affine
from .points import Places, Points
from .reading import Reading, Scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RAYS = (1.5, 10.0)  # times the last breakpoint: where a ray is looked at
PLAIN = Scale()
BLOCK = 64  # solutions that are judged together, ...
ENTRIES = 200_000  # ... or as many as have so many unknowns


class Onward(NamedTuple):
    """How a path in weights of samples goes on.

    Attributes
    ----------
    to : callable
        Of the path and new weights, returns the path to these.
    weights : (n,) array
        At its end.
    labels : (n,) array, or None in regression
    """

    to: Callable[[SolutionPath, ArrayLike], SolutionPath]
    weights: Floats
    labels: Labels | None


class SolutionPath:
    """Every optimum of a model between two values of a parameter.

    Solutions move along straight lines between breakpoints, in the parameter or in its inverse.
    Functions such as `solution_path` and `svr_path` return it.

    Attributes
    ----------
    parameter : str
        Name of the parameter.
    breakpoints : (K,) array
        Parameters at which the active set changes, ascending, each once, finite ends included.
    range : (float, float)
        Least and largest parameter; infinite where the path goes on for ever.
    diagnostics : dict
        Counts of the walk: its events.

    Examples
    --------
    >>> from solution_paths import svr_path
    >>> path = svr_path([[0.0], [1.0], [2.0], [4.0]], [0.0, 1.0, 1.5, 2.0], epsilon=0.1)
    >>> path
    <SolutionPath in C from 0 to inf, 6 breakpoints>
    >>> path.coef(10.0).round(6).tolist(), round(path.intercept(10.0), 6)
    ([0.4], 0.5)
    """

    def __init__(
        self,
        line: Line,
        statement: Statement,
        points: Points,
        *,
        parameter: str = "t",
        scale: Scale | None = None,
        reading: Reading | None = None,
        ray: bool = False,
        diagnostics: dict[str, Any] | None = None,
    ):
        self.diagnostics = dict(diagnostics or {})
        self.line, self.statement, self.points = line, statement, points
        self.walk: Homotopy | None = None  # that another path can carry on
        self.onward: Onward | None = None
        self.parameter, self.reading_or_none, self.ray = parameter, reading, ray
        self.scale = PLAIN if scale is None else scale
        nodes = points.t[:-1] if ray and len(points) > 1 else points.t
        self.settled = float(nodes[-1]) if ray and line.settles else np.inf
        values = self.scale.value(np.unique(nodes))
        finite = values[np.isfinite(values)]
        if not len(finite):  # nothing ever changes: a place to look at
            finite = self.scale.value(points.t[-1:])
        self.breakpoints: Floats = np.sort(finite)

    def __getstate__(self) -> dict[str, Any]:
        points = Points.from_arrays(**self.points.arrays())
        line = replace(self.line, model=self._model())
        return vars(self) | {"line": line, "points": points, "walk": None, "onward": None}

    def _model(self) -> Affine:
        return Affine.of(self.line, float(self.points.t[0]), float(self.points.t[-1]))

    @property
    def straight(self) -> SolutionPath:
        """The same path in the statement's own parameter, where it is piecewise linear."""
        name = f"1 / {self.parameter}" if self.scale.inverse else self.parameter
        return SolutionPath(
            self.line,
            self.statement,
            self.points,
            parameter=name,
            reading=self.reading_or_none,
            ray=self.ray,
            diagnostics=self.diagnostics,
        )

    @property
    def reading(self) -> Reading:
        """How solutions read as decisions."""
        if self.reading_or_none is None:
            raise AttributeError(
                "How this problem's variables make decisions isn't known: rows of its first "
                "group of losses have different coefficients of free variables; use coef and "
                "free, or give solution_path a reading."
            )
        return self.reading_or_none

    @property
    def range(self) -> tuple[float, float]:
        """Least and largest parameter; an infinite end isn't a value itself."""
        ends = np.array([self.points.t[0], np.inf if self.ray else self.points.t[-1]])
        low, high = np.sort(self.scale.value(ends)).tolist()
        return low, high

    @property
    def feature_names(self) -> list[str | int] | None:
        """Names of the columns of X when it was a DataFrame, else None."""
        own = self.reading_or_none
        return None if own is None or own.names is None else list(own.names)

    def __repr__(self) -> str:
        low, high = self.range
        count = len(self.breakpoints)
        return (
            f"<SolutionPath in {self.parameter} from {low:g} to {high:g}, {count} "
            f"breakpoint{'' if count == 1 else 's'}>"
        )

    def continue_to(self, new_weights: ArrayLike) -> SolutionPath:
        """Return the path from this one's end to new weights of samples.

        The factorisation is carried on, so that a sequence of updates costs only its events. A
        path in such weights can be continued once, and only in the process that computed it: not
        one that was loaded, unpickled or copied.

        Parameters
        ----------
        new_weights : (n,) array
            Weights at the end of the new path, >= 0, in the order of X's rows (an index of a
            Series is not looked at).

        Returns
        -------
        SolutionPath
            In ``theta`` from 0 (this path's end) to 1.

        Examples
        --------
        >>> from solution_paths import weighted_svm_path
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
        >>> path = weighted_svm_path(X, y, 1.0, 2.0).continue_to([1.0, 2.0, 2.0, 0.0])
        >>> path.dual(1.0).round(9)[-1].item()
        0.0
        >>> path.certify().ok
        True
        """
        return self.check_continuable().to(self, new_weights)

    def check_continuable(self) -> Onward:
        """Return how `continue_to` goes on; raise a ValueError if it can't.

        Examples
        --------
        >>> from solution_paths import svm_path
        >>> path = svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> path.check_continuable()  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        ValueError: This path can't be continued (it was loaded from a file, ...
        """
        if self.onward is None or self.walk is None:
            raise ValueError(
                "This path can't be continued (it was loaded from a file, unpickled or copied, is "
                "not a path in instance weights, or was continued before); start a new one from "
                "its last weights."
            )
        return self.onward

    # -- solutions ----------------------------------------------------------------------------

    def _own(self, t: float | Parameters) -> Floats:
        """Return the walk's own parameters for one of the user's, or for several."""
        try:
            given = np.atleast_1d(np.asarray(t))
        except ValueError:
            given = np.empty((0, 0))
        if given.ndim != 1 or given.dtype.kind not in "iuf" or not len(given):
            raise ValueError(
                f"{self.parameter} must be one number, or a list or 1-d array of numbers, not "
                f"{shown(t)}."
            )
        values = given.astype(np.float64)
        low, high = self.range
        inside = (values >= low) & (values <= high) & (values < np.inf)
        if not inside.all():
            raise ValueError(self._outside(float(values[~inside][0])))
        if self.scale == PLAIN:
            return values
        zero = (values == 0.0) & self.scale.inverse
        own = np.where(zero, self.points.t[-1], self.scale.own(np.where(zero, 1.0, values)))
        # what a breakpoint's value comes from is that breakpoint
        for near in (0, -1):
            place = np.searchsorted(self.points.t, own) + near
            node = self.points.t[np.clip(place, 0, len(self.points) - 1)]
            own = np.where(np.abs(node - own) <= 2 * np.spacing(np.abs(own)), node, own)
        return own if self.ray else np.clip(own, self.points.t[0], self.points.t[-1])

    def _outside(self, t: float) -> str:
        """Say that a parameter is outside the path, and what to do."""
        low, high = self.range
        limit = self.diagnostics.get("limit")
        beyond = limit and (0 < t < low if self.scale.inverse else high < t < np.inf)
        remedy = f", or compute it with {limit}={t!r}" if beyond else ""
        return (
            f"{self.parameter} = {t!r} is outside this path, which covers [{low:g}, {high:g}]; "
            f"choose a finite value in that range{remedy}."
        )

    def variables_at(self, nodes: Places) -> tuple[Floats, Floats]:
        """Return w (k, d) and v (k, r) at recorded points."""
        if np.isfinite(self.settled):
            nodes = np.minimum(nodes, max(len(self.points) - 2, 0))
        return self.statement.variables(self.points.at(nodes, self.statement.held))

    def _at(self, t: float | Parameters) -> tuple[Floats, Floats]:
        """Return w (k, d) and v (k, r) at parameters."""
        return self._variables(self._own(t))

    def _variables(self, own: Floats) -> tuple[Floats, Floats]:
        """Return w and v at the walk's own parameters; on a ray they may stand still."""
        own = np.minimum(own, self.settled)
        unknowns = self.points.unknowns(own, self.statement.held)
        problem = self.line.start
        of_duals = problem.kernel is not None and len(problem.losses) == 1
        if of_duals and self.statement.separate and not self.scale.divided:
            n = len(problem.losses[0].pieces)
            unknowns[:, :n] = self._inside(unknowns[:, :n].T, own, 0).T
        w, v = self.statement.variables(unknowns)
        statement = self.statement
        if problem.kernel is None and statement.face == "dual" and len(own) <= BLOCK:
            a = np.ascontiguousarray(unknowns[:, : len(unknowns[0]) - v.shape[1]].T)
            w = divide(*transposed(statement.rows, a), statement.scale)[0].T  # rounded once
        return w, v

    def _inside(self, duals: Floats, own: Floats, group: int) -> Floats:
        """Return duals (n, k) of the stated objective inside of their bounds, where these move."""
        if not self.line.rates[f"losses[{group}].slopes"].any():
            return duals
        return np.asarray(np.clip(duals, *self._bounds(own, group)))

    def coef(self, t: float | Parameters) -> Floats:
        """Return the (d,) coefficients at t, or (d, k) at k parameters (no kernel).

        Models with several outputs have one row of d coefficients for each: (o, d) or (o, d, k).

        Raises
        ------
        AttributeError
            With a kernel there are none; use `decision_function`, or `expansion`.
        """
        self._check_linear()
        return self._weights(t)

    def expansion(self, t: float | Parameters) -> Floats:
        """Return the coefficients (n,) or (n, k) of rows: f(x) = sum_i c_i k(x_i, x) + b.

        Of models with several outputs (o, n) or (o, n, k). A linear model of one group of losses
        has them where a ridge alone holds its weights: its duals over the ridge.
        """
        problem = self.line.start
        if problem.kernel is not None:
            return self._weights(t)
        if not problem.pure_ridge or len(problem.losses) > 1 or self._several:
            raise AttributeError(
                "This model's w is no combination of training rows; use coef, or dual for the "
                "slopes of the losses."
            )
        a = self.statement.answer(self.points.unknowns(self._own(t)))[2][0].T / problem.ridge
        return np.asarray(a[:, 0] if _single(t) else a)

    @property
    def rows(self) -> Any:
        """The rows whose values losses are of, as they were given: an array or CSR matrix."""
        reading = self.reading
        if reading.rows is not None:
            return reading.rows if reading.shifts is None else less(reading.rows, -reading.shifts)
        problem = self.line.start
        X = problem.losses[0].X if problem.kernel is None else problem.kernel
        X = X.factors[-1] if isinstance(X, Product) else X
        X = X[:, : reading.columns] if reading.linear and reading.feature else X
        return X if reading.shifts is None else less(X, -reading.shifts)

    def _weights(self, t: float | Parameters) -> Floats:
        w, _ = self._at(t)
        found = self._coefficients(w)
        return found[..., 0] if _single(t) else found

    def _coefficients(self, w: Floats) -> Floats:
        """Return coefficients (d, k), or (o, d, k) of several outputs, of weights (k, b D)."""
        own = self.reading_or_none
        if own is None or not (self._several or own.feature):
            return w.T
        found = own.coefficients(w).transpose(1, 2, 0)
        return found if self._several else found[0]

    @property
    def linear(self) -> bool:
        """Whether solutions have coefficients."""
        return self.line.start.kernel is None

    def _check_linear(self) -> None:
        if not self.linear:
            raise AttributeError(
                "A path with a kernel has no coefficients; use decision_function, or expansion."
            )

    def free(self, t: float | Parameters) -> Floats:
        """Return all r free variables at t, or (r, k) of them: a bias, thresholds, a margin."""
        own, reading = self._at(t), self.reading_or_none
        found = (own[1] if reading is None else reading.free(*own)).T
        return found[..., 0] if _single(t) else found

    def intercept(self, t: float | Parameters) -> Any:
        """Return b of f(x) = w.x + b at t, or (k,) of them; of o outputs (o,) or (o, k)."""
        found = self.reading.intercepts(*self._at(t)).T
        found = found[0] if len(found) == 1 else found
        if not _single(t):
            return found
        return float(found[0]) if found.ndim == 1 else found[:, 0]

    def dual(self, t: float | Parameters, group: int = 0) -> Floats:
        """Return the (n,) duals of a group of losses at t, or (n, k) at k parameters.

        They are a_i = -f_i'(z_i), in the user's objective. Of functions that say so, such as
        `svm_path`, they are those of labels, alpha_i = y_i a_i.

        Parameters
        ----------
        t : float or (k,) array
        group : int, default 0
            Which group of losses, in the statement's order.
        """
        own = self._own(t)
        duals = self.statement.answer(self.points.unknowns(own))[2]
        check_number(group, "group", least=0, most=len(duals) - 1, whole=True)
        found = self._scaled_duals(duals[group].T, own, group)
        endless = (np.atleast_1d(t) == 0.0) & self.scale.inverse & self.scale.divided
        if endless.any():
            found[:, endless] = self._limits(group)[:, None]
        found = self._of_labels(found, group)
        return found[..., 0] if _single(t) else found

    def _of_labels(self, duals: Floats, group: int) -> Floats:
        """Return duals (n, k) as functions say that they are: signed, or those of labels."""
        own = self.reading_or_none
        if group > 0 or own is None or own.signs is None:
            return duals
        return np.asarray(own.signs[:, None] * duals + 0.0)  # no minus zero

    def _limits(self, group: int) -> Floats:
        """Return the duals at 0 of a path in an inverse: the rates at which the walk's own end."""
        return self.scale.objective * self._rates_of_duals(len(self.points) - 2, group)

    def _scaled_duals(self, duals: Floats, own: Floats, group: int) -> Floats:
        """Return duals (n, k) of the user's objective, from those of the statement."""
        scale = self.scale
        if scale.divided:
            with np.errstate(divide="ignore", invalid="ignore"):
                scaled = np.clip(duals * scale.value(own), *self._bounds(own, group))
            duals = np.where(own > 0, scaled, self._duals_at_zero(group)[:, None])
        else:
            duals = self._inside(duals, own, group)
        return duals if scale.objective == 1.0 else scale.objective * duals

    def _bounds(self, own: Floats, group: int) -> list[Floats]:
        """Return the bounds of duals of the stated objective, times the parameter if it is divided.

        What is proportional to t is there rounded once, (n, 1), else they are (n, k).
        """
        pieces, line, name = self.line.start.losses[group].pieces, self.line, f"losses[{group}]"
        rates, low = (part[f"{name}.slopes"] for part in (line.rates, line.low))
        bounds = []
        for k, end in ((-1, pieces.high), (0, pieces.low)):
            slope, rate = pieces.slopes[:, k, None], rates[:, k, None]
            constant = slope - rate * line.t0
            if self.scale.divided:
                moving = constant * self.scale.value(own) if constant.any() else 0.0
                bound = moving + self.scale.unit * rate
            elif constant.any() and rate.any():
                moved = np.broadcast_to(own - line.t0, (len(slope), len(own)))
                wide = [np.broadcast_to(part, moved.shape) for part in (rate, low[:, k, None])]
                bound = Twofold(*wide).by(moved).plus(Twofold.of(slope + 0.0 * moved)).high
            else:
                bound = rate * own + slope * (rate == 0.0)
            bounded = (pieces.curvature[:, k] == 0.0) & np.isinf(end)
            bounds.append(np.where(bounded[:, None], 0.0 - bound, -np.inf if k else np.inf))
        return bounds

    def _duals_at_zero(self, group: int) -> Floats:
        """Return the limit of duals / t as t goes to 0, where all duals are 0."""
        if self.points.t[0] != 0.0:
            return np.zeros(len(self.line.start.losses[group].pieces))
        return self._rates_of_duals(0, group)

    def _rates_of_duals(self, k: int, group: int) -> Floats:
        """Return unit times the rates of duals from recorded point k on; 0 of one point alone."""
        if len(self.points) == 1:
            return np.zeros(len(self.line.start.losses[group].pieces))
        a = self.statement.answer(self.points.at(np.array([k, k + 1])))[2][group]
        step = self.points.t[k + 1] - self.points.t[k]
        return np.asarray(self.scale.unit * (a[1] - a[0]) / step)

    def objective_value(self, t: float) -> float:
        """Return the objective at t, recomputed from the data.

        Examples
        --------
        >>> from solution_paths import lasso_path
        >>> path = lasso_path([[1.0, 0.0], [0.0, 1.0]], [3.0, 1.0])
        >>> round(path.objective_value(1.0), 9)
        3.0
        """
        own, scale = self._own(t), self.scale
        if t == 0 and scale.inverse and scale.divided:  # the limit, as w stands still
            own = self._own(self.breakpoints[0] * np.array([0.5, 0.25]))
            low, high = self._primal(own)
            return float((high - low) / (own[1] - own[0]) * scale.unit * scale.objective)
        factor = float(scale.value(own)[0]) if scale.divided else 1.0
        return float(self._primal(own)[0]) * factor * scale.objective

    def _primal(self, own: Floats) -> Floats:
        return np.asarray(self._judged(np.empty(0, dtype=np.int64), own)[1].primal)

    def decision_function(self, X_new: Rows, t: float | Parameters) -> Floats:
        """Return the (m,) values f(x) at t, or (m, k) at k parameters.

        Of several outputs (m, o) or (m, o, k).

        Parameters
        ----------
        X_new : (m, d) array or CSR
            Rows; where a kernel is precomputed, the (m, n) kernel values with the training rows.
        t : float or (k,) array
        """
        rows = self.reading.checked(X_new)
        f = self.reading.decisions(rows, *self._at(t))
        f = f[:, 0] if f.shape[1] == 1 else f
        return f[..., 0] if _single(t) else f

    def predict(self, X_new: Rows, t: float | Parameters) -> NDArray[Any]:
        """Return (m,) predicted labels or values at t, or (m, k) at k parameters."""
        rows, (w, v) = self.reading.checked(X_new), self._at(t)
        found = self.reading.labels(self.reading.decisions(rows, w, v), w, v)
        return found[..., 0] if _single(t) else found

    # -- the whole path at once ---------------------------------------------------------------

    def crossings(self, X_new: Rows) -> list[Floats]:
        """Return, for each row, the exact parameters at which its decision changes sign."""
        rows = self.reading.checked(X_new)
        if self.reading.outputs > 1:
            raise ValueError("crossings is for one output a row; this path has several.")
        found = [np.sort(self.scale.value(own)) for own in evaluation.crossings(self, rows)]
        return [own[np.isfinite(own)] for own in found]

    def positive_length(self, X_new: Rows) -> Floats:
        """Return, for each row, the total length of all parameters at which f >= 0.

        Of a path in the inverse of its parameter from the least breakpoint on, else up to the last.

        Examples
        --------
        >>> from solution_paths import kernel_quantile_path
        >>> path = kernel_quantile_path([[0.0], [1.0], [2.0]], [-1.0, 0.5, 2.0], lam=0.01)
        >>> p = path.positive_length([[0.0], [2.0]])  # of a positive target
        >>> bool(p[0] < 0.5 < p[1])
        True
        """
        rows = self.reading.checked(X_new)
        if self.reading.outputs > 1:
            raise ValueError("positive_length is for one output a row; this path has several.")
        ends = evaluation.positive_parts(self, rows)
        with np.errstate(invalid="ignore"):
            lengths = np.abs(self.scale.value(ends[1]) - self.scale.value(ends[0]))
        return np.asarray(np.where(ends[0] == ends[1], 0.0, lengths).sum(axis=1))

    def piece_values(self, X_new: Rows, edges: ArrayLike) -> tuple[Floats, Floats]:
        """Return f at both ends of all pieces between edges; see `Path.piece_values`.

        Examples
        --------
        >>> from solution_paths import lasso_path
        >>> path = lasso_path([[1.0, 0.0], [0.0, 1.0]], [3.0, 1.0])
        >>> left, right = path.piece_values([[1.0, 1.0]], [0.0, 1.0, 3.0])
        >>> left.round(9).tolist(), right.round(9).tolist()
        ([[4.0, 2.0]], [[2.0, 0.0]])
        """
        rows = self.reading.checked(X_new)
        edges = check_edges(edges, self.breakpoints, self.range[0], self.parameter)
        if self.reading.outputs > 1:
            raise ValueError("piece_values is for one output a row; this path has several.")
        own = self.scale.own(edges)
        if not self.scale.inverse:
            return evaluation.piece_values(self, rows, own)
        left, right = evaluation.piece_values(self, rows, own[::-1])
        return right[:, ::-1], left[:, ::-1]

    def error_curve(
        self,
        X_val: Rows,
        y_val: ArrayLike,
        metric: str | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Curve:
        """Return a validation error as an exact function of the parameter.

        Parameters
        ----------
        X_val, y_val : (m, d), (m,)
            Validation data.
        metric : {"zero_one", "absolute", "squared"}, optional
            Mean error: of labels ``zero_one`` (of ordered classes also ``absolute``, the mean
            distance of classes), of values ``absolute`` or ``squared``. By default the first of
            ``zero_one`` and ``squared`` that fits.
        sample_weight : (m,) array, optional

        Returns
        -------
        Curve
        """
        check_index(X_val, y_val, "y_val", "X_val")
        rows = self.reading.checked(X_val, "X_val")
        curve = self._curve(rows, y_val, metric, sample_weight)
        if self.ray:
            curve = curve.over(float(curve.edges[0]), np.inf)
        if self.scale.inverse:
            curve = curve.inverted(self.scale.unit)
        elif self.scale.unit != 1.0:
            curve = curve.scaled(self.scale.unit)
        return replace(curve, log=self.parameter in (*SCALES, "nu"))

    def error_steps(self, X_val: Rows, y_val: ArrayLike) -> tuple[Floats, Floats]:
        """Return the 0-1 error as an exact step function; see `Path.error_steps`."""
        curve = self.error_curve(X_val, y_val, "zero_one")
        return curve.edges, curve.left

    def _curve(
        self, rows: Any, y: ArrayLike, metric: str | None, weights: ArrayLike | None
    ) -> Curve:
        """Return a validation error as a function of the walk's own parameter."""
        if metric is None:
            metric = "squared" if self.reading.kind == "value" else "zero_one"
        return evaluation.error_curve(self, rows, y, metric, weights)

    def best(
        self,
        X_val: Rows,
        y_val: ArrayLike,
        metric: str | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Best:
        """Return the exact minimiser of a validation error; see `error_curve`.

        Returns
        -------
        Best
        """
        return self.error_curve(X_val, y_val, metric, sample_weight).best()

    # -- certificate --------------------------------------------------------------------------

    def certify(
        self,
        n_random: int = 100,
        seed: int = 0,
        at_breakpoints: bool | None = None,
        at: float | Parameters | None = None,
    ) -> Certificate:
        """Judge solutions by code that reads the statement and knows nothing of the walk.

        Ends, and points on a ray behind the last breakpoint, are always looked at, unless ``at``
        names the points.

        Parameters
        ----------
        n_random : int, default 100
            Points between breakpoints, and breakpoints if there are more.
        seed : int, default 0
        at_breakpoints : bool, optional
            Look at every breakpoint, or at none but the ends; by default at ``n_random`` of them.
        at : float or (k,) array, optional
            Look at these parameters alone.

        Returns
        -------
        Certificate
            Whether it holds, fails or is undecided, the worst violation and gap, and where.
        """
        check_number(n_random, "n_random", least=0, whole=True)
        check_number(seed, "seed", least=0, whole=True)
        if at is not None:
            return self._summary(*self._judged(np.empty(0, dtype=np.int64), self._own(at)))
        return self._summary(*self._judged(*self._some(n_random, seed, at_breakpoints)))

    def _some(self, n_random: int, seed: int, at_breakpoints: bool | None) -> tuple[Places, Floats]:
        """Return recorded points and other parameters to look at."""
        rng, t = np.random.default_rng(seed), self.points.t
        nodes = np.unique([0, len(t) - 1])
        if at_breakpoints:
            nodes = np.arange(len(t))
        elif at_breakpoints is None:
            some = rng.choice(len(t), size=min(n_random, len(t)), replace=False)
            nodes = np.union1d(nodes, some)
        pieces = np.flatnonzero(np.diff(t) > 0)
        pieces = rng.permutation(pieces)[:n_random]
        between = t[pieces] + rng.uniform(size=len(pieces)) * (t[pieces + 1] - t[pieces])
        return nodes, np.concatenate([between, self._on_the_ray()])

    def _on_the_ray(self) -> Floats:
        """Return parameters behind the last breakpoint where the path goes on from there."""
        last = float(self.points.t[-2 if len(self.points) > 1 else -1])
        return last + (np.array(RAYS) - 1.0) * (abs(last) or 1.0) if self.ray else np.empty(0)

    def _judged(self, nodes: Places, others: Floats) -> tuple[Floats, Verdict]:
        """Return parameters, and what the judge says of recorded points, then of others."""
        s = np.concatenate([self.points.t[nodes], others])
        found, block = [], max(1, min(BLOCK, ENTRIES // self.statement.size))
        for first in range(0, len(s), block):
            at = np.arange(first, min(first + block, len(s)))
            unknowns = self.points.unknowns(s[at])
            (*_, duals), (w, v) = self.statement.answer(unknowns), self._variables(s[at])
            multiplier = -unknowns[:, -1] if self.statement.constrained else None
            answer = Answer(w.T, v.T, [a.T for a in duals], multiplier)
            found.append(judge([self.line.at(float(t)) for t in s[at]], answer))
        return s, Verdict.together(found)

    def _summary(self, s: Floats, found: Verdict) -> Certificate:
        return summary(self.scale.value(s), found)

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

        Parameters
        ----------
        what : {"coef", "dual"}, optional
            By default coefficients where there are at most 50 of them.
        ax : matplotlib Axes, optional
        max_lines : int, default 200
            Largest number of curves drawn.
        mark : float, optional
            A parameter to mark.

        Returns
        -------
        matplotlib Axes
        """
        return plots.draw_path(cast(Any, self._picture()), what, ax, max_lines, mark)

    def _picture(self) -> SimpleNamespace:
        """Return what `plots.draw_path` asks a path."""

        def flat(values: Floats) -> Floats:
            return values.reshape(-1, *values.shape[2:]) if self._several else values

        def coef(t: Any) -> Floats:
            return flat(self.coef(t))

        def at(nodes: Places) -> Floats:
            return flat(self._coefficients(self.variables_at(nodes)[0]))

        def duals(nodes: Places) -> Floats:
            found = self.statement.answer(self.points.at(nodes))[2][0].T
            return self._of_labels(self._scaled_duals(found, self.points.t[nodes], 0), 0)

        own = self.reading_or_none
        signs = None if own is None else own.signs
        facts = SimpleNamespace(
            linear=self.linear,
            X=np.empty((0, self.line.start.features)),
            classes=() if own is None or signs is None else own.classes,
            y=() if signs is None else signs,
        )

        def one(t: Any) -> Floats:
            if not _single(t):
                raise ValueError(f"{self.parameter} must be one number, not {shown(t)}.")
            return self._own(t)

        inner = slice(None, -1) if self.ray and len(self.points) > 1 else slice(None)
        return SimpleNamespace(
            breakpoints=self.breakpoints,
            parameter=self.parameter,
            range=self.range,
            feature_names=None if self._several else self.feature_names,
            objective=facts,
            coef=coef,
            dual=self.dual,
            _check_linear=self._check_linear,
            _check=one,
            _t=self.points.t[inner],
            _places=lambda nodes: self.scale.value(self.points.t[nodes]),
            _coefs_at=at,
            _duals_at=duals,
        )

    @property
    def _several(self) -> bool:
        return self.reading_or_none is not None and self.reading_or_none.outputs > 1

    def save(self, file: File) -> None:
        """Write the path to an .npz file (no pickles inside), atomically.

        It holds the arrays of the problem, at one parameter and their rates, and the recorded
        points; what reads it needs no model.

        Parameters
        ----------
        file : path-like or binary file object
        """
        storage.write(file, self)

    @classmethod
    def load(cls, file: File) -> SolutionPath:
        """Read a path that `save` wrote, from a file's name or a binary file object."""
        return storage.read(file, cls)
