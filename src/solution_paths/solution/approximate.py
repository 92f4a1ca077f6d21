"""Approximate paths, for optima that move along curves: straight lines within a proved gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ..glm import LOSSES, Lines
from ..homotopy.statement import ParametricKKT
from ..problem import Line, Losses, Problem, pieces
from ..validation import Floats, Rows, check_counts, check_shares
from ..verify import curved
from ..verify.verdict import SAID, Certificate, Verdict, statuses, worst_of
from . import evaluation
from .archive import Arrays, File, Store, read_archive, write_archive
from .curves import Curve
from .metrics import Metric
from .path import SolutionPath
from .points import Places, Points
from .reading import Reading
from .recorded import MISSING, Parameters
from .storage import put_reading, take_reading

FORMAT = 2
LOSSES_JUDGED = 1_000_000  # losses that are judged together
CURVED_METRICS = ("log_loss", "deviance")  # means of the losses themselves
STORED = ("X", "y", "weights", "loss", "l1_ratio", "eps")


@dataclass(frozen=True)
class GapCertificate(Certificate):
    """The largest duality gap over all judged points, and the limit that the path promises.

    ``gap`` and ``rounding`` are relative to the objective of the best constant. KKT violations are
    not computed: ``kkt`` is nan.

    Attributes
    ----------
    limit : float
        The ``eps`` of the path.
    """

    limit: float = 0.0

    @classmethod
    def of(cls, s: Floats, gap: Floats, rounding: Floats, limit: float) -> GapCertificate:
        """Return the certificate of points at parameters s (K,), given gaps and their rounding."""
        gap, rounding = (np.where(np.isnan(v), np.inf, v) for v in (gap, rounding))
        bounds = gap + rounding
        states = statuses(gap, rounding, 0.0, limit)
        return cls(
            np.nan,
            float(gap.max()),
            float(rounding.max()),
            np.nan,
            float(s[gap.argmax()]),
            len(s),
            status=worst_of(*states.tolist()),
            error=float(bounds.max()),
            error_at=float(s[bounds.argmax()]),
            limit=limit,
        )

    @property
    def reliable(self) -> bool:
        """Whether every judged point keeps the limit, rounding included."""
        return self.ok

    def __str__(self) -> str:
        return (
            f"certificate {SAID[self.status]}: duality gap {self.gap:.1e} +- "
            f"{self.rounding:.1e} of the best constant's objective "
            f"(at {self.gap_at:.6g}; limit {self.limit:g}), {self.n_points} points"
        )


def _of_rows(X: Any) -> tuple[Line, ParametricKKT]:
    """Return rows without functions, and where the unknowns (a, w, b) hold duals, w and b."""
    n, d = X.shape
    problem = Problem(Losses(pieces([0.0], [0.0, 0.0], n=n), X, free=1.0))
    no_equations = sp.csr_array((n, d + 1))
    layout = ParametricKKT(no_equations, None, np.zeros(d + 1), None, [], 1.0, X, 1, [n])
    return Line(_not_stated, 0.0, 1.0, problem, {}, {}), layout


def _not_stated(t: float) -> Problem:
    """Refuse to state curved losses as a `Problem`."""
    raise ValueError(
        "The losses of this path are curved, so that its optima follow no lines: leave rows "
        'out by cv="loo" of its estimator, take sets of labels from conformal_labels, and '
        "intervals from ConditionalConformal."
    )


class ApproximatePath(SolutionPath):
    """Solutions within a bound of the optimum, at every value of a parameter.

    The optima move along curves; the path follows them by straight lines between breakpoints. It
    has the methods of a `SolutionPath`. `logistic_path` and `poisson_path` return it.

    Attributes
    ----------
    parameter, breakpoints, range
        See `SolutionPath`. At a breakpoint the gap is at most a hundredth of ``eps``, or a quarter
        where the best constant is the solution.
    eps : float
        Upper limit of the duality gap, relative to ``null``.
    bounds : (K - 1,) array
        A proved bound of the relative gap between neighbouring breakpoints.
    null : float
        The objective of the best constant, w = 0.

    Examples
    --------
    >>> from solution_paths import logistic_path
    >>> path = logistic_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], lam_min=0.01)
    >>> path
    <ApproximatePath in lam from 0.01 to inf, 5 breakpoints, within 0.0001>
    >>> path.predict([[0.5], [2.5]], 0.1).tolist()
    [0, 1]
    """

    def __init__(
        self,
        X: Any,
        y: Floats,
        lines: Lines,
        reading: Reading,
        *,
        loss: str,
        weights: Floats,
        l1_ratio: float,
        eps: float,
    ):
        points = Points.from_arrays(lines.lam, np.hstack([lines.a, lines.w, lines.b[:, None]]))
        options: dict[str, Any] = {"parameter": "lam", "reading": reading, "ray": lines.ray}
        super().__init__(*_of_rows(X), points, **options)
        self.X, self.y, self.weights, self.loss = X, y, weights, loss
        self.l1_ratio, self.eps, self.bounds, self.lines = l1_ratio, eps, lines.bounds, lines
        losses = LOSSES[loss](y)
        self.null = float(weights @ losses.value(np.full(len(y), losses.centre(weights))))

    def __getstate__(self) -> dict[str, Any]:
        return vars(self)

    def mean(self, X_new: Rows, t: float | Parameters = MISSING) -> Floats:
        """Return expected targets at t, (m,) or (m, k): counts, or the larger label's probability.

        Parameters
        ----------
        X_new, t
            See `decision_function`.

        Examples
        --------
        >>> from solution_paths import logistic_path
        >>> path = logistic_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], lam_min=0.01)
        >>> path.mean([[0.5], [2.5]], 0.1).round(2).tolist()
        [0.31, 0.69]
        """
        return LOSSES[self.loss].mean(self.decision_function(X_new, t))

    def predict(self, X_new: Rows, t: float | Parameters = MISSING) -> NDArray[Any]:
        """Return predicted labels, or expected counts, at t, (m,), or (m, k) at k parameters."""
        if self.reading.kind == "count":
            return self.mean(X_new, t)
        return super().predict(X_new, t)

    def _curve(
        self,
        rows: Any,
        y: ArrayLike,
        metric: Metric,
        weights: ArrayLike | None,
        queries: ArrayLike | None,
        classes: Any,
    ) -> Curve:
        if metric.name not in CURVED_METRICS:
            return super()._curve(rows, y, metric, weights, queries, classes)
        m = rows.shape[0]
        shares = check_shares(weights, m, "X_val")
        shares = np.full(m, 1.0 / m) if shares is None else shares
        of_counts = metric.name == "deviance"
        if of_counts:
            targets = check_counts(y, m, "y_val", "X_val")
        else:
            positive = evaluation.codes(self.reading.classes, y, m) > 0
            targets = np.where(positive, 1.0, -1.0)
        curve = evaluation.loss_curve(
            self, rows, lambda block: LOSSES[self.loss](targets[block]), shares
        )
        return curve.times(2.0) if of_counts else curve

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, within {self.eps:g}>"

    def _within_bounds(self, duals: Floats, s: Floats, group: int) -> Floats:
        """Return duals as they were computed."""
        return duals

    def _judged(self, nodes: Places, others: Floats, anew: bool = True) -> tuple[Floats, Verdict]:
        model: dict[str, Any] = {k: getattr(self, k) for k in ("loss", "weights", "l1_ratio")}
        s, verdicts = np.concatenate([self.points.t[nodes], others]), []
        for block in np.array_split(s, len(s) * len(self.y) // LOSSES_JUDGED + 1):
            w, b, (a,) = self.statement.answer(self.points.unknowns(block))
            values = curved.gaps(self.X, self.y, block, w.T, b[:, 0], a.T, **model)
            gap, rounding = values.gap / self.null, values.rounding / self.null
            unknown = np.full(len(block), np.nan)
            verdicts.append(
                Verdict(values.primal, values.dual, gap, unknown, rounding, *[unknown] * 5)
            )
        return s, Verdict.together(verdicts)

    def _summary(self, s: Floats, verdict: Verdict) -> Certificate:
        return GapCertificate.of(s, verdict.gap, verdict.rounding, self.eps)

    def save(self, file: File) -> None:
        """Write the path, with its data, to an .npz file (no pickles inside), atomically."""
        store = Store({k: np.asarray(v) for k, v in self.lines._asdict().items()})
        meta = {
            "kind": type(self).__name__,
            "format": FORMAT,
            "reading": put_reading(self.reading, store),
            **{k: store.put(getattr(self, k), k) for k in STORED},
        }
        write_archive(file, meta, store.arrays)

    @classmethod
    def load(cls, file: File) -> ApproximatePath:
        """Read a path that `save` wrote, from a file's name or a binary file object."""

        def build(meta: dict[str, Any], arrays: Arrays) -> ApproximatePath:
            store = Store(arrays)
            reading = take_reading(meta["reading"], store)
            if reading is None:
                raise ValueError("the path has no reading")
            lines = Lines(*(arrays[k] for k in Lines._fields))
            stored = {k: store.take(meta.get(k), k) for k in STORED}
            return cls(lines=lines, reading=reading, **stored)

        return read_archive(file, build, cls.__name__, FORMAT)
