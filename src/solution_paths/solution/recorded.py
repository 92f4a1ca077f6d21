"""Solutions at any parameter from the recorded points of a walk: weights, biases, duals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from inspect import Parameter
from typing import Any, Self, TypeAlias, TypeGuard

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..homotopy.statement import ParametricKKT
from ..kernels.centring import shifted
from ..problem import Line, Problem, Repeated
from ..problem.maps import against, basis, without_rows
from ..twofold import Twofold
from ..validation import Floats, check_number, shown
from ..verify import Answer
from .model import Affine
from .points import Places, Points
from .reading import Reading, Scale
from .sums import weights_of

Parameters: TypeAlias = Sequence[float] | NDArray[Any]  # several values
IDENTITY = Scale()
MISSING: Any = Parameter.empty  # default of a required argument, so that the error can name it


class RecordedPath:
    """Solutions of a model between two values of a parameter, by recorded points.

    The base of `SolutionPath`, whose documentation describes the public attributes.
    """

    def __init__(
        self,
        line: Line,
        statement: ParametricKKT,
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
        self.parameter, self.reading_or_none, self.ray = parameter, reading, ray
        self.scale = IDENTITY if scale is None else scale
        nodes = points.t[:-1] if ray and len(points) > 1 else points.t
        self.settled = float(nodes[-1]) if ray and line.settles else np.inf
        values = self.scale.value(np.unique(nodes))
        finite = values[np.isfinite(values)]
        if not len(finite):  # the path is constant: some parameter on it
            finite = self.scale.value(points.t[-1:])
        self.breakpoints: Floats = np.sort(finite)

    def __getstate__(self) -> dict[str, Any]:
        points = Points.from_arrays(**self.points.arrays())
        line = replace(self.line, model=self._model())
        return vars(self) | {"line": line, "points": points}

    def _model(self) -> Affine:
        return Affine.of(self.line, float(self.points.t[0]), float(self.points.t[-1]))

    @classmethod
    def _stored(
        cls,
        lines: list[Line],
        statement: ParametricKKT,
        points: Points,
        content: Any,
        **options: Any,
    ) -> Self:
        """Return a path with several lines from the content of a file."""
        raise NotImplementedError

    def _models(self) -> tuple[list[Affine], dict[str, Any]]:
        """Return the models as arrays, and further content for a file."""
        return [self._model()], {}

    @property
    def reading(self) -> Reading:
        """How solutions give decisions."""
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
        reading = self.reading_or_none
        return None if reading is None or reading.names is None else list(reading.names)

    def _statement_parameters(self, t: float | Parameters) -> Floats:
        """Return the statement's parameters for one or several of the user's."""
        if t is MISSING:
            low, high = self.range
            raise TypeError(
                f"The value of {self.parameter} is missing; pass one from {low:g} to {high:g}, or "
                "several."
            )
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
        return self._statement_values(values)

    def _one_parameter(self, t: float) -> Floats:
        """Return the statement's parameter (1,) for one of the user's."""
        if t is not MISSING and not single(t):
            raise ValueError(f"{self.parameter} must be one number here, not {shown(t)}.")
        return self._statement_parameters(t)

    def _reads_as(self, values: Floats, s: Floats) -> NDArray[np.bool_]:
        """Tell which of the user's values are read as the statement's parameters s, one each."""
        low, high = self.range
        inside = (values >= low) & (values <= high) & (values < np.inf)
        return np.asarray(inside & (self._statement_values(np.where(inside, values, high)) == s))

    def _statement_values(self, values: Floats) -> Floats:
        """Return the statement's parameters for values in the range."""
        if self.scale == IDENTITY:
            return values
        zero = (values == 0.0) & self.scale.inverse
        s = np.where(
            zero, self.points.t[-1], self.scale.statement_value(np.where(zero, 1.0, values))
        )
        # the value of a breakpoint is read as that breakpoint
        for near in (0, -1):
            place = np.searchsorted(self.points.t, s) + near
            node = self.points.t[np.clip(place, 0, len(self.points) - 1)]
            s = np.where(np.abs(node - s) <= 2 * np.spacing(np.abs(s)), node, s)
        return s if self.ray else np.clip(s, self.points.t[0], self.points.t[-1])

    def _outside(self, t: float) -> str:
        """Return the message for a parameter outside the path."""
        low, high = self.range
        limit = self.diagnostics.get("limit")
        beyond = limit and (0 < t < low if low > 0 else high < t < np.inf)
        remedy = f", or compute it with {limit}={t!r}" if beyond else ""
        return (
            f"{self.parameter} = {t!r} is outside this path, which covers [{low:g}, {high:g}]; "
            f"choose a finite value in that range{remedy}."
        )

    def variables_at(self, nodes: Places) -> tuple[Floats, Floats]:
        """Return w (k, d) and v (k, r) of the statement at recorded points.

        Examples
        --------
        >>> import numpy as np
        >>> from solution_paths import svm_path
        >>> path = svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> path.variables_at(np.array([0]))[0].tolist()
        [[0.0]]
        """
        if np.isfinite(self.settled):
            nodes = np.minimum(nodes, max(len(self.points) - 2, 0))
        return self.statement.variables(self.points.at(nodes, self.statement.held))

    def duals_at(self, nodes: Places) -> Floats:
        """Return the duals (n, k) of the first group of losses at recorded points, see `dual`.

        Examples
        --------
        >>> import numpy as np
        >>> from solution_paths import svm_path
        >>> path = svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> path.duals_at(np.array([0])).tolist()
        [[0.0], [0.0], [0.0], [0.0]]
        """
        duals = self.statement.duals(self.points.at(nodes))[0].T
        return self._of_labels(self._scaled_duals(duals, self.points.t[nodes], 0), 0)

    @property
    def _jumps_at(self) -> list[float]:
        """The parameters at which the path jumps."""
        return []

    def _at(self, t: float | Parameters) -> tuple[Floats, Floats]:
        """Return w (k, d) and v (k, r) at parameters."""
        return self._variables(self._statement_parameters(t))

    def _variables(self, s: Floats) -> tuple[Floats, Floats]:
        """Return w and v at the statement's parameters; on a ray they may be constant."""
        held, last_alone = self.statement.held, self.points.t[self.points.alone[-1:]]
        at_rest = s > self.settled if (last_alone == self.settled).any() else s >= self.settled
        s = np.minimum(s, self.settled)
        unknowns = self.points.unknowns(s, held)
        if at_rest.any():
            unknowns[at_rest] = self.points.at(np.array([len(self.points) - 2]), held)
        return self._read(unknowns, s)

    def _read(self, unknowns: Floats, s: Floats) -> tuple[Floats, Floats]:
        """Return w and v from the unknowns at the statement's parameters."""
        problem = self.line.start
        of_duals = problem.kernel is not None and len(problem.losses) == 1
        if of_duals and self.statement.separate and not self.scale.divided:
            n = len(problem.losses[0].pieces)
            unknowns[:, :n] = self._within_bounds(unknowns[:, :n].T, s, 0).T
        if problem.kernel is None and self.statement.face == "dual":
            w = weights_of(self.statement, unknowns)
            return w, self.statement.free_variables(unknowns)
        return self.statement.variables(unknowns)

    def _in_order(self, nodes: Places) -> Places:
        """Return recorded points, which are ascending, in the order of the walk."""
        return nodes

    def _within_bounds(self, duals: Floats, s: Floats, group: int) -> Floats:
        """Return duals (n, k) of the stated objective, clipped to their bounds if these move."""
        if not self.line.rates[f"losses[{group}].slopes"].any():
            return duals
        return np.asarray(np.clip(duals, *self._bounds(s, group)))

    def coef(self, t: float | Parameters = MISSING) -> Floats:
        """Return the (d,) coefficients at t, or (d, k) at k parameters (no kernel).

        Models with several outputs have one row of d coefficients for each: (o, d) or (o, d, k).

        Raises
        ------
        AttributeError
            There are none with a kernel; use `decision_function`, or `expansion`.

        Examples
        --------
        >>> from solution_paths import svm_path
        >>> path = svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> path.coef([0.1, 0.5]).round(9).tolist()
        [[0.2, 0.666666667]]
        """
        self._check_linear()
        return self._weights(t)

    def expansion(self, t: float | Parameters = MISSING) -> Floats:
        """Return the coefficients (n,) or (n, k) of rows: f(x) = sum_i c_i k(x_i, x) + b.

        Models with several outputs have (o, n) or (o, n, k). A linear model has them if its only
        penalty is a ridge: then they are the duals of each row divided by the ridge.

        Examples
        --------
        >>> from solution_paths import svm_path
        >>> path = svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> path.expansion(0.25).round(9).tolist()  # of labels -1, 1, -1, 1
        [-0.25, 0.25, -0.25, 0.25]
        """
        problem = self.line.start
        if problem.kernel is not None:
            return self._weights(t)
        groups, bases = [0], []
        if problem.pure_ridge:
            losses = problem.losses
            groups = [g for g in range(len(losses)) if not without_rows(losses[g].X)] or [0]
            bases = [basis(losses[g].X) for g in groups]
        if not bases or any(matrix is not bases[0] for matrix in bases):
            raise AttributeError(
                "This model's w is no combination of training rows; use coef, or dual for the "
                "slopes of the losses."
            )
        duals = self.statement.duals(self.points.unknowns(self._statement_parameters(t)))
        parts = [against(problem.losses[g].X, duals[g].T).T for g in groups]
        c = np.sum(parts, axis=0) / problem.ridge
        coefficients = self._coefficients(c) if self._several else c.T
        return np.asarray(coefficients[..., 0] if single(t) else coefficients)

    @property
    def rows(self) -> Any:
        """The rows at which losses are evaluated, as given: an array or CSR matrix."""
        X, shifts = self._rows, self.reading.shifts
        return X if shifts is None else shifted(X, -shifts)

    @property
    def _rows(self) -> Any:
        """The same rows less the shifts, as in decisions."""
        reading, problem = self.reading, self.line.start
        if reading.rows is not None:
            return reading.rows
        X = problem.losses[0].X if problem.kernel is None else problem.kernel
        X = basis(X)
        X = X.X if isinstance(X, Repeated) else X
        return X[:, : reading.columns] if reading.linear and reading.feature else X

    @cached_property
    def _largest(self) -> Floats:
        """The largest absolute entries of these rows, (1, d)."""
        largest = abs(self._rows).max(axis=0)
        return np.atleast_2d(largest.toarray() if sp.issparse(largest) else largest)

    def _weights(self, t: float | Parameters) -> Floats:
        w, _ = self._at(t)
        coefficients = self._coefficients(w)
        return coefficients[..., 0] if single(t) else coefficients

    def _coefficients(self, w: Floats) -> Floats:
        """Return coefficients (d, k), or (o, d, k) for several outputs, from weights (k, b D)."""
        reading = self.reading_or_none
        if reading is None or not (self._several or reading.feature):
            return w.T
        coefficients = reading.coefficients(w).transpose(1, 2, 0)
        return coefficients if self._several else coefficients[0]

    @property
    def linear(self) -> bool:
        """Whether solutions have coefficients."""
        return self.line.start.kernel is None

    def _check_linear(self) -> None:
        if not self.linear:
            raise AttributeError(
                "A path with a kernel has no coefficients; use decision_function, or expansion."
            )

    def free(self, t: float | Parameters = MISSING) -> Floats:
        """Return all r free variables at t, or (r, k) of them: a bias, thresholds, a margin.

        Where several values are optimal this is their middle, see `SolutionPath`.

        Examples
        --------
        >>> from solution_paths import svm_path
        >>> path = svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> path.free(0.25).round(9).tolist()
        [-0.75]
        """
        solution, reading = self._at(t), self.reading_or_none
        free = (solution[1] if reading is None else reading.free(*solution)).T
        return free[..., 0] if single(t) else free

    def intercept(self, t: float | Parameters = MISSING) -> Any:
        """Return b of f(x) = w.x + b at t, or (k,) of them; for o outputs (o,) or (o, k).

        Where several b are optimal this is their middle, see `SolutionPath`.

        Examples
        --------
        >>> from solution_paths import svm_path
        >>> path = svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> round(path.intercept(0.25), 9)
        -0.75
        """
        intercepts = self.reading.intercepts(*self._at(t)).T
        intercepts = intercepts[0] if len(intercepts) == 1 else intercepts
        if not single(t):
            return intercepts
        return float(intercepts[0]) if intercepts.ndim == 1 else intercepts[:, 0]

    def dual(self, t: float | Parameters = MISSING, group: int = 0) -> Floats:
        """Return the (n,) duals of a group of losses at t, or (n, k) at k parameters.

        They are a_i = -f_i'(z_i), for the user's objective. Functions such as `svm_path`, whose
        documentation says so, return those of labels instead, alpha_i = y_i a_i.

        Parameters
        ----------
        t : float or (k,) array
        group : int, default 0
            Which group of losses, in the statement's order.

        Examples
        --------
        >>> from solution_paths import svm_path
        >>> path = svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> path.dual(0.25).round(9).tolist()
        [0.25, 0.25, 0.25, 0.25]
        >>> path.dual([0.0, 0.25]).shape
        (4, 2)
        """
        s = self._statement_parameters(t)
        duals = self.statement.duals(self.points.unknowns(s))
        check_number(group, "group", least=0, most=len(duals) - 1, whole=True)
        scaled = self._scaled_duals(duals[group].T, s, group)
        endless = (np.atleast_1d(t) == 0.0) & self.scale.inverse & self.scale.divided
        if endless.any():
            scaled[:, endless] = self._limits(group)[:, None]
        scaled = self._of_labels(scaled, group)
        return scaled[..., 0] if single(t) else scaled

    def _of_labels(self, duals: Floats, group: int) -> Floats:
        """Return duals (n, k) with the sign convention of the reading: signed, or of labels."""
        reading = self.reading_or_none
        if group > 0 or reading is None or reading.signs is None:
            return duals
        return np.asarray(reading.signs[:, None] * duals + 0.0)  # no minus zero

    def _limits(self, group: int) -> Floats:
        """Return the duals at parameter 0 of a path in 1 / t: the final rates of stated duals."""
        last = int(np.searchsorted(self.points.t, self.points.t[-1])) - 1
        return self.scale.objective * self._rates_of_duals(max(last, 0), group)

    def _scaled_duals(self, duals: Floats, s: Floats, group: int) -> Floats:
        """Return duals (n, k) of the user's objective, from those of the statement."""
        scale = self.scale
        if scale.divided:
            with np.errstate(divide="ignore", invalid="ignore"):
                scaled = np.clip(duals * scale.value(s), *self._bounds(s, group))
            if not (s > 0).all():
                scaled = np.where(s > 0, scaled, self._duals_at_zero(group)[:, None])
            duals = scaled
        else:
            duals = self._within_bounds(duals, s, group)
        return duals if scale.objective == 1.0 else scale.objective * duals

    def _bounds(self, s: Floats, group: int) -> list[Floats]:
        """Return the bounds of stated duals, times the parameter if the objective is divided by it.

        They are (n, k), or (n, 1) if all are proportional to t; then they are rounded once.
        """
        pieces, line, name = self.line.start.losses[group].pieces, self.line, f"losses[{group}]"
        rates, low = (part[f"{name}.slopes"] for part in (line.rates, line.low))
        bounds = []
        for k, end in ((-1, pieces.high), (0, pieces.low)):
            slope, rate = pieces.slopes[:, k, None], rates[:, k, None]
            constant = slope - rate * line.t0
            if self.scale.divided:
                moving = constant * self.scale.value(s) if constant.any() else 0.0
                bound = moving + self.scale.unit * rate
            elif constant.any() and rate.any():
                distance = np.broadcast_to(s - line.t0, (len(slope), len(s)))
                wide = [np.broadcast_to(part, distance.shape) for part in (rate, low[:, k, None])]
                bound = Twofold(*wide).by(distance).plus(Twofold.of(slope + 0.0 * distance)).high
            else:
                bound = rate * s + slope * (rate == 0.0)
            bounded = (pieces.curvature[:, k] == 0.0) & np.isinf(end)
            bounds.append(np.where(bounded[:, None], 0.0 - bound, -np.inf if k else np.inf))
        return bounds

    def _duals_at_zero(self, group: int) -> Floats:
        """Return the limit of duals / t for t to 0, where all duals are 0."""
        if self.points.t[0] != 0.0:
            return np.zeros(len(self.line.start.losses[group].pieces))
        last = int(np.searchsorted(self.points.t, 0.0, side="right")) - 1
        return self._rates_of_duals(last, group)

    def _rates_of_duals(self, k: int, group: int) -> Floats:
        """Return unit times the rates of duals from recorded point k on; 0 where the path ends."""
        t = self.points.t
        if k + 1 == len(t) or t[k + 1] == t[k]:
            return np.zeros(len(self.line.start.losses[group].pieces))
        a = self.statement.duals(self.points.at(np.array([k, k + 1])))[group]
        return np.asarray(self.scale.unit * (a[1] - a[0]) / (t[k + 1] - t[k]))

    def _answer(self, s: Floats) -> Answer:
        """Return the answer, in columns, at the statement's parameters."""
        unknowns = self.points.unknowns(s)
        duals, (w, v) = self.statement.duals(unknowns), self._variables(s)
        multiplier = -unknowns[:, -1] if self.statement.constrained else None
        return Answer(w.T, v.T, [a.T for a in duals], multiplier)

    def stated_at(self, t: float = MISSING) -> tuple[Problem, Answer]:
        """Return the problem at t as it is stated, and the path's answer to it.

        `solution_paths.verify.judge` and outside solvers take them. If the path is one in 1 / t the
        objective is divided by the parameter, see `Scale`.

        Examples
        --------
        >>> from solution_paths import svm_path
        >>> from solution_paths.verify import judge
        >>> path = svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> judge(*path.stated_at(0.25)).status
        'holds'
        """
        s = self._one_parameter(t)
        return self.line.at(float(s[0])), self._answer(s).alone()

    @property
    def _several(self) -> bool:
        return self.reading_or_none is not None and self.reading_or_none.outputs > 1


def single(t: float | Parameters) -> TypeGuard[float]:
    """Tell one parameter value from a list or an array of them."""
    return not (isinstance(t, list | tuple) or getattr(t, "ndim", 0) > 0)
