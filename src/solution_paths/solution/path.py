"""Solution paths of problems: every optimum between two values of a parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..homotopy.run import Homotopy
from ..validation import Floats, Labels, Rows, check_index, check_number
from ..verify import Answer, judge
from ..verify.verdict import Certificate, Verdict, summary
from . import evaluation, plots, storage
from .archive import File
from .curves import Best, Curve
from .deciding import decisions_at, labels_at
from .kinks import kinks
from .metrics import JUDGED, Judge, Metric, check_metric
from .points import Places, Points
from .reading import NUMBERS
from .recorded import MISSING, Parameters, RecordedPath, single

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCALES = ("C", "lam", "lam1", "lam2")  # parameters on a logarithmic scale
RAY_FACTORS = (1.5, 10.0)  # times the last breakpoint: where a ray is judged
SOLUTIONS_JUDGED = 512  # solutions that are judged together, ...
NUMBERS_JUDGED = 200_000  # ... or fewer, with at most this many unknowns or weights


class Onward(NamedTuple):
    """How to continue a path in weights of samples.

    Attributes
    ----------
    to : callable
        Takes the path and new weights, returns the path to these.
    weights : (n,) array
        Weights at its end.
    labels : (n,) array, or None in regression
    """

    to: Callable[[SolutionPath, ArrayLike], SolutionPath]
    weights: Floats
    labels: Labels | None


class SolutionPath(RecordedPath):
    """Every optimum of a model between two values of a parameter.

    Solutions move along straight lines between breakpoints, in the parameter or in its inverse.
    Functions such as `solution_path` and `svr_path` return it.

    Where more than one value of a free variable (a bias, a threshold, a margin) is optimal for the
    weights, the path returns the middle of these values, as LIBSVM does for the bias. It does so at
    every parameter, so that it may jump at a breakpoint where the set of optimal values changes. Of
    several free variables the middle of the first is taken, then that of the second for this value,
    and so on. A set that is bounded on one side only is represented by its bound.

    Attributes
    ----------
    parameter : str
        Name of the parameter.
    breakpoints : (K,) array
        Parameters at which the active set changes, or the middle of a free variable bends,
        ascending, each once, finite ends included. Where rows are tied many changes affect duals
        only; `kinks` returns those at which the solution changes direction.
    range : (float, float)
        Least and largest parameter; infinite where the path is unbounded.
    diagnostics : dict
        Counts of the walk: its events; and ``doubtful``, a parameter where a dual was outside of
        its bounds by more than rounding, which the check looks at.

    Examples
    --------
    >>> from solution_paths import svr_path
    >>> path = svr_path([[0.0], [1.0], [2.0], [4.0]], [0.0, 1.0, 1.5, 2.0], epsilon=0.1)
    >>> path
    <SolutionPath in C from 0 to inf, 8 breakpoints>
    >>> path.coef(10.0).round(6).tolist(), round(path.intercept(10.0), 6)
    ([0.4], 0.5)
    """

    walk: Homotopy | None = None  # from which another path can continue
    onward: Onward | None = None
    start: Places | None = None  # places at the begin, near those of similar statements

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"walk": None, "onward": None, "start": None}

    def __repr__(self) -> str:
        low, high = self.range
        count = len(self.breakpoints)
        return (
            f"<{type(self).__name__} in {self.parameter} from {low:g} to {high:g}, {count} "
            f"breakpoint{'' if count == 1 else 's'}>"
        )

    def continue_to(self, new_weights: ArrayLike) -> SolutionPath:
        """Return the path from this one's end to new weights of samples.

        The factorisation is reused, so that a sequence of updates costs only its events. A path in
        weights can be continued once, and only in the process that computed it: not if it was
        loaded, unpickled or copied.

        Parameters
        ----------
        new_weights : (n,) array
            Weights at the end of the new path, >= 0, in the order of X's rows (the index of a
            Series is ignored).

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
        """Return how `continue_to` continues the path; raise a ValueError if it can't.

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

    def _until(self, last: int) -> SolutionPath:
        """Return the path from its start to one of its recorded points."""
        return self._with(self.points.until(last), ray=False)

    def _since(self, first: int) -> SolutionPath:
        """Return the path from one of its recorded points on."""
        return self._with(self.points.since(first))

    def _with(self, points: Points, **changes: Any) -> SolutionPath:
        """Return the path with other recorded points, and with changes of its options."""
        options: dict[str, Any] = {
            "parameter": self.parameter,
            "scale": self.scale,
            "reading": self.reading_or_none,
            "ray": self.ray,
            "diagnostics": self.diagnostics,
        }
        return SolutionPath(self.line, self.statement, points, **options | changes)

    @overload
    def objective_value(self, t: float = ...) -> float: ...

    @overload
    def objective_value(self, t: Parameters) -> Floats: ...

    def objective_value(self, t: float | Parameters = MISSING) -> float | Floats:
        """Return the objective at t, or (k,) at k parameters, recomputed from the data.

        Examples
        --------
        >>> from solution_paths import lasso_path
        >>> path = lasso_path([[1.0, 0.0], [0.0, 1.0]], [3.0, 1.0], fit_intercept=False)
        >>> round(path.objective_value(1.0), 9)
        3.0
        >>> path.objective_value([1.0, 3.0]).round(9).tolist()
        [3.0, 5.0]
        """
        s, scale = self._statement_parameters(t), self.scale
        values = np.empty(len(s))
        at_zero = np.atleast_1d(np.asarray(t)) == 0
        limit = at_zero & (scale.inverse and scale.divided)  # w is constant there
        if limit.any():
            near = self._statement_parameters(self.breakpoints[0] * np.array([0.5, 0.25]))
            low, high = self._primal(near)
            values[limit] = (high - low) / (near[1] - near[0]) * scale.unit
        if not limit.all():
            factor = scale.value(s[~limit]) if scale.divided else 1.0
            values[~limit] = self._primal(s[~limit]) * factor
        values *= scale.objective
        return float(values[0]) if single(t) else values

    def _primal(self, s: Floats) -> Floats:
        return np.asarray(self._judged(np.empty(0, dtype=np.int64), s)[1].primal)

    def decision_function(self, X_new: Rows, t: float | Parameters = MISSING) -> Floats:
        """Return the (m,) values f(x) at t, or (m, k) at k parameters.

        With several outputs (m, o) or (m, o, k).

        Parameters
        ----------
        X_new : (m, d) array or CSR
            Rows; with a precomputed kernel, the (m, n) kernel values with the training rows.
        t : float or (k,) array
            Parameter value, or several in any order.

        Examples
        --------
        >>> from solution_paths import svm_path
        >>> path = svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> path.decision_function([[0.0], [4.0]], 0.25).round(9).tolist()
        [-0.75, 1.25]
        """
        rows = self.reading.checked(X_new)
        if self.reading.kind in (*NUMBERS, "nearest"):
            f = self.reading.decisions(rows, *self._at(t))
        else:
            f = decisions_at(self, rows, t)
        f = f[:, 0] if f.shape[1] == 1 else f
        return f[..., 0] if single(t) else f

    def predict(self, X_new: Rows, t: float | Parameters = MISSING) -> NDArray[Any]:
        """Return (m,) predicted labels or values at t, or (m, k) at k parameters.

        Of two labels the larger one is predicted where f >= 0; see `decision_function`.

        Examples
        --------
        >>> from solution_paths import svm_path
        >>> path = svm_path([[0.0], [1.0], [2.0], [3.0]], ["no", "yes", "no", "yes"])
        >>> path.predict([[0.0], [4.0]], 0.25).tolist()
        ['no', 'yes']
        """
        rows = self.reading.checked(X_new)
        if self.reading.kind in NUMBERS:
            w, v = self._at(t)
            predictions = self.reading.labels(self.reading.decisions(rows, w, v), w, v)
        else:
            predictions = self.reading.classes[labels_at(self, rows, t)]
        return predictions[..., 0] if single(t) else predictions

    # -- the whole path at once ---------------------------------------------------------------

    def kinks(self) -> Floats:
        """Return the parameters at which weights or free variables change direction, ascending.

        They are breakpoints, without the ends of the path. At the other breakpoints only duals
        change direction: of tied rows, or where more rows are on the margin than the weights have
        coordinates. The number of these depends on the order in which the walk treats ties. The
        weights of a model with a ridge are unique, and so are their kinks. With a kernel, kinks are
        those of the function that the weights represent.

        Two directions are equal if they differ, in the statement's parameter (1 / lam or 1 / lam2
        for a path in these), by less than 2**-30 of the faster rate, or by no more than the
        rounding of the recorded points. A jump by more than 2**-30 of the solution is a kink, too.
        Points within 2**-46 of the parameter are one point.

        Returns
        -------
        (k,) array

        Examples
        --------
        With every row duplicated, w and b are constant while duals still move:

        >>> import numpy as np
        >>> from solution_paths import svm_path
        >>> X, y = np.repeat([[0.0], [1.0], [2.0], [3.0]], 2, axis=0), [0, 0, 1, 1, 0, 0, 1, 1]
        >>> path = svm_path(X, y)
        >>> path.breakpoints.round(6).tolist(), path.kinks().round(6).tolist()
        ([0.0, 0.166667, 0.666667], [0.166667])
        """
        parameters = self.scale.value(kinks(self))
        return np.unique(parameters[np.isfinite(parameters)])

    def crossings(self, X_new: Rows) -> list[Floats]:
        """Return, for each row, the exact parameters at which its decision changes sign.

        Between two breakpoints f(x) is linear in the statement's parameter, so each change of sign
        (f >= 0 counts as positive) is the root of a line, or a jump of the path. Many rows are
        processed in blocks of at most 32 MB of decisions.

        Examples
        --------
        >>> from solution_paths import svm_path
        >>> path = svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 0, 0, 1])
        >>> [where.round(9).tolist() for where in path.crossings([[0.5], [2.5]])]
        [[], [1.0]]
        """
        rows = self.reading.checked(X_new)
        if self.reading.outputs > 1:
            raise ValueError("crossings is for one output a row; this path has several.")
        roots = [np.sort(self.scale.value(values)) for values in evaluation.crossings(self, rows)]
        return [values[np.isfinite(values)] for values in roots]

    def error_curve(
        self,
        X_val: Rows,
        y_val: ArrayLike,
        metric: Judge | None = None,
        sample_weight: ArrayLike | None = None,
        queries: ArrayLike | None = None,
    ) -> Curve:
        """Return a validation error as an exact function of the parameter.

        It is a step function (errors of labels and of ranks), or piecewise linear (``absolute``,
        ``pinball``) or quadratic (``squared``), on the whole path: if this is unbounded the last
        edge is inf. It costs as much as `crossings`, and 32 bytes for each piece.

        Parameters
        ----------
        X_val, y_val : (m, d), (m,)
            Validation data.
        metric : str, (str, value) or (k, k) array, optional
            The mean error; the default depends on the model:

            - for values ``squared``; for a robust centre ``absolute``; for a quantile ``pinball``,
              the loss of its tau (for a path in tau that of each tau, by which they can't be
              compared); for any of them ``("pinball", tau)``;
            - for ranks ``pairs``, the share of pairs of rows of a query in the wrong order, where
              ties count half; also for values and ordered classes;
            - for labels ``zero_one``; ``balanced_error``, in which all classes have the same
              weight; a matrix of costs of each label (row) and prediction (column) in the order of
              the classes; for ordered classes ``absolute`` and ``squared``, of their distance;
            - for labels 1 less scikit-learn's scores ``f1_macro``, ``f1_weighted`` and the same for
              ``precision`` and ``recall``; for two labels ``f1``, ``precision``, ``recall``,
              ``roc_auc`` and ``average_precision``, of the label 1, else the larger one, or as in
              ``("f1", "spam")``. They change only where a decision crosses zero, the last two where
              it crosses that of another row;
            - of an `ApproximatePath` also ``log_loss`` of labels, and of counts ``deviance``, their
              mean deviance. These are curved between breakpoints: they are approximated by
              parabolas, within 1e-7 of the largest value on each.

            scikit-learn's names are accepted, too. With two labels ``absolute`` and ``squared``
            compare decisions with any numbers.
        sample_weight : (m,) array, optional
            Weights of the rows in the mean, >= 0, not all zero.
        queries : (m,) array, optional
            The query of each row, for ``pairs``; by default all rows belong to one query.

        Returns
        -------
        Curve

        Raises
        ------
        ValueError
            For bad input, and for a metric that the model doesn't support.

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
        check_index(X_val, y_val, "y_val", "X_val")
        classes = self.reading.classes
        checked = check_metric(metric, self._metrics, self.reading.kind, classes)
        return self._error_curve(X_val, y_val, checked, sample_weight, queries)

    @property
    def _metrics(self) -> tuple[str, ...]:
        """The metrics that the model supports, the default first."""
        return JUDGED[self.reading.kind]

    def _error_curve(
        self,
        X_val: Rows,
        y_val: ArrayLike,
        metric: Metric,
        sample_weight: ArrayLike | None = None,
        queries: ArrayLike | None = None,
        classes: Any = None,
    ) -> Curve:
        """Return a validation error; the path may know only some of ``classes``."""
        rows = self.reading.checked(X_val, "X_val")
        curve = self._curve(rows, y_val, metric, sample_weight, queries, classes)
        return replace(curve, log=self.parameter in (*SCALES, "nu"))

    def _curve(
        self,
        rows: Any,
        y: ArrayLike,
        metric: Metric,
        weights: ArrayLike | None,
        queries: ArrayLike | None,
        classes: Any,
    ) -> Curve:
        """Return a validation error as a function of the parameter."""
        return evaluation.error_curve(self, rows, y, metric, weights, queries, classes)

    def best(
        self,
        X_val: Rows,
        y_val: ArrayLike,
        metric: Judge | None = None,
        sample_weight: ArrayLike | None = None,
        queries: ArrayLike | None = None,
    ) -> Best:
        """Return the exact minimiser of a validation error over the whole path.

        Parameters
        ----------
        X_val, y_val, metric, sample_weight, queries
            See `error_curve`, also for the default metric.

        Returns
        -------
        Best
            Least value, the intervals where it is reached (to inf where the path is unbounded), and
            the middle of the widest, up to the last edge. For a cost or a penalty widths and middle
            are those of logarithms.

        Examples
        --------
        >>> from solution_paths import svm_path
        >>> path = svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 0, 0, 1])
        >>> best = path.best([[0.5], [2.5]], [0, 1])
        >>> best.value, best.intervals.round(9).tolist()
        (0.0, [[1.0, inf]])
        """
        return self.error_curve(X_val, y_val, metric, sample_weight, queries).best()

    # -- certificate --------------------------------------------------------------------------

    def certify(
        self,
        n_random: int = 100,
        seed: int = 0,
        at_breakpoints: bool | None = None,
        at: float | Parameters | None = None,
    ) -> Certificate:
        """Judge solutions by code that reads the statement and knows nothing of the walk.

        Ends, and points on a ray beyond the last breakpoint, are always judged, unless ``at`` names
        the parameters.

        Parameters
        ----------
        n_random : int, default 100
            Number of points between breakpoints, and of breakpoints if there are more.
        seed : int, default 0
        at_breakpoints : bool, optional
            Judge every breakpoint, or none but the ends; by default ``n_random`` of them.
        at : float or (k,) array, optional
            Judge only these parameters.

        Returns
        -------
        Certificate
            Whether it holds, fails or is undecided, and the worst violation and gap with their
            parameters. Of an `OutlierPath` an `OutlierCertificate`.

        Examples
        --------
        >>> from solution_paths import svm_path
        >>> path = svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> path.certify(at_breakpoints=True).ok
        True
        """
        check_number(n_random, "n_random", least=0, whole=True)
        check_number(seed, "seed", least=0, whole=True)
        nodes: Places = np.empty(0, dtype=np.int64)
        if at is not None:
            return self._certificate(nodes, self._statement_parameters(at))
        return self._certificate(*self._some(n_random, seed, at_breakpoints))

    def _certificate(self, nodes: Places, others: Floats) -> Certificate:
        """Return the certificate of recorded points and other parameters."""
        return self._summary(*self._judged(nodes, others))

    def _some(self, n_random: int, seed: int, at_breakpoints: bool | None) -> tuple[Places, Floats]:
        """Return recorded points and other parameters to judge."""
        rng, t = np.random.default_rng(seed), self.points.t
        nodes = np.unique([0, len(t) - 1])
        if at_breakpoints:
            nodes = np.arange(len(t))
        elif at_breakpoints is None:
            chosen = rng.choice(len(t), size=min(n_random, len(t)), replace=False)
            nodes = np.union1d(nodes, chosen)
        pieces = np.flatnonzero(np.diff(t) > 0)
        pieces = rng.permutation(pieces)[:n_random]
        between = t[pieces] + rng.uniform(size=len(pieces)) * (t[pieces + 1] - t[pieces])
        return nodes, np.concatenate([between, self._on_the_ray()])

    def _beside_jumps(self) -> Places:
        """Return the recorded points from and to which solutions jump."""
        return np.empty(0, dtype=np.int64)

    def _on_the_ray(self) -> Floats:
        """Return parameters beyond the last breakpoint if the path is unbounded."""
        last = float(self.points.t[-2 if len(self.points) > 1 else -1])
        return (
            last + (np.array(RAY_FACTORS) - 1.0) * (abs(last) or 1.0) if self.ray else np.empty(0)
        )

    def _judged(self, nodes: Places, others: Floats, anew: bool = True) -> tuple[Floats, Verdict]:
        """Return parameters, and the verdicts on recorded points, then on others.

        The problems are stated ``anew`` or, for a quick check, evaluated: see `Line.together`.
        """
        s = np.concatenate([self.points.t[nodes], others])
        return s, Verdict.together([judge(*each) for each in self._answers(nodes, others, anew)])

    def _answers(
        self, nodes: Places, others: Floats, anew: bool = True
    ) -> Iterator[tuple[Any, Answer]]:
        """Yield the problems at the same parameters, and the answers to them, in blocks."""
        s = np.concatenate([self.points.t[nodes], others])
        size = max(1, min(SOLUTIONS_JUDGED, NUMBERS_JUDGED // self.statement.solution_size))
        for first in range(0, len(s), size):
            block = s[first : first + size]
            yield self.line.together(block, anew), self._answer(block)

    def _summary(self, s: Floats, verdict: Verdict) -> Certificate:
        return summary(self.scale.value(s), verdict)

    # -- pictures and files -------------------------------------------------------------------

    def plot(
        self,
        what: str | None = None,
        ax: Axes | None = None,
        max_lines: int | None = None,
        *,
        mark: float | None = None,
    ) -> Axes:
        """Plot coefficients (linear models) or duals against the parameter.

        A parameter that is a scale has a logarithmic axis if it spans a decade. The largest
        coefficients are named, as many as fit; duals are coloured by the samples' classes. Where
        the path jumps, dotted lines join the values on both sides, with open circles if jumps are
        few.

        Parameters
        ----------
        what : {"coef", "dual"}, optional
            By default coefficients if there are at most 50 of them.
        ax : matplotlib Axes, optional
        max_lines : int, optional
            Largest number of curves drawn. Of coefficients, by default 200, those that become
            largest; of duals, by default all up to 60 rows, else 24 of rows whose dual moves,
            spread evenly by its mean: then the range of 80 % of a class's rows is shaded.
        mark : float, optional
            A parameter to mark, for example a chosen one. The names are those of the coefficients
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

    def save(self, file: File) -> None:
        """Write the path to an .npz file (no pickles inside), atomically.

        The file contains the problem's arrays at one parameter, their rates, and the recorded
        points; it can be read without the model.

        Parameters
        ----------
        file : path-like or binary file object
            A file's name, which gets the suffix ``.npz`` if it has none and whose missing folders
            are created; or a file that is open for writing bytes.

        Examples
        --------
        >>> import io
        >>> from solution_paths import SolutionPath, svm_path
        >>> path = svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> file = io.BytesIO()  # or the name of a file
        >>> path.save(file)
        >>> file.seek(0)
        0
        >>> SolutionPath.load(file).breakpoints.round(9).tolist()
        [0.0, 0.333333333]
        """
        storage.write(file, self)

    @classmethod
    def load(cls, file: File) -> SolutionPath:
        """Read a path that `save` wrote, from a file's name or a binary file object.

        The suffix ``.npz`` may be left out.

        Examples
        --------
        >>> import io
        >>> from solution_paths import SolutionPath, svm_path
        >>> file = io.BytesIO()
        >>> svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]).save(file)
        >>> SolutionPath.load(io.BytesIO(file.getvalue())).certify().ok
        True
        """
        return storage.read(file, SolutionPath)
