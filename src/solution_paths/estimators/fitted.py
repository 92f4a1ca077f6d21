"""Fitted models: one path, or one for each class; their predictions and exact errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import PathError, PathWarning
from ..solution import SolutionPath
from ..solution.curves import Curve, Labels
from ..solution.joint import Joint, joint_decision
from ..solution.labels import indices, label_error
from ..solution.metrics import Metric
from ..solution.path import SCALES
from ..validation import Floats, check_number
from ..verify.verdict import Certificate

PENALTIES = ("lam", "lam1")
VALUES_AT_ONCE = 4_000_000  # decisions of all classes at all breakpoints, 32 MB


class Followed(NamedTuple):
    """A path, the interval on which it is known, and the error where it broke off."""

    path: SolutionPath
    begin: float
    end: float
    error: PathError | None


class Fitted:
    """A fitted model: paths in one parameter.

    Attributes
    ----------
    paths : list of SolutionPath
    labels : list
        The class of each path that is one against the rest; None for a single path.
    begin, end : float
        The interval of the estimator's parameter on which all paths are known.
    errors : list of PathError
        Errors of the paths that broke off.
    unit : float
        The paths' parameter where the estimator's is 1.
    rows : (n,) int array
        Indices of the fitted rows: those with positive weight.
    kept : (n,) int array or None
        The same, if columns of kernel values have to be selected by it.
    codes : (n,) int array or None
        The classes of these rows, as indices into the estimator's classes.
    """

    rows: NDArray[np.int64]
    kept: NDArray[np.int64] | None = None
    codes: NDArray[np.int64] | None = None

    def __init__(
        self, followed_paths: list[Followed], labels: list[Any] | None = None, unit: float = 1.0
    ):
        self.paths: list[Any] = [one.path for one in followed_paths]
        self.labels = [None] * len(followed_paths) if labels is None else labels
        self.begin = max((one.begin for one in followed_paths), default=0.0) / unit
        self.end = min((one.end for one in followed_paths), default=np.inf) / unit
        self.errors = [one.error for one in followed_paths if one.error is not None]
        self.unit = unit

    @classmethod
    def of(cls, path: SolutionPath) -> Fitted:
        """Return the model of one path in the estimator's parameter."""
        return cls([Followed(path, *path.range, None)])

    @property
    def path(self) -> SolutionPath | list[SolutionPath] | None:
        """The path, or the paths of all classes in their order; None where there is none."""
        if not self.paths:
            return None
        return self.paths[0] if len(self.paths) == 1 else self.paths

    def check(self, t: float, name: str, above: float | None = None) -> float:
        """Return the parameter as a number that all paths cover."""
        if self.errors:
            t = check_number(t, name, above=above)
            if not self.begin <= t <= self.end:
                error = self.errors[0]
                raise PathError(f"{name} = {t:g} could not be reached: {error}", error.path)
        least = None if above == self.begin else self.begin
        return check_number(t, name, above=above, least=least, most=upper_limit(self.end))

    def place(self, path: SolutionPath, t: float) -> float:
        """Return the parameter of one of the paths where the estimator's is t."""
        return clipped(path, t * self.unit)

    def certificates(self, t: float) -> list[tuple[Any, SolutionPath, Certificate]]:
        """Return labels, paths and certificates of the solutions at t that are not reliable."""
        certificates = [
            (label, path, path.certify(at=[self.place(path, t)]))
            for label, path in zip(self.labels, self.paths, strict=True)
        ]
        return [entry for entry in certificates if not entry[2].reliable]

    def expansions(self, t: float) -> Floats:
        """Return (outputs, n) coefficients a_i of f(x) = sum_i a_i k(x_i, x) + b."""
        return np.vstack([path.expansion(self.place(path, t)) for path in self.paths])

    def columns(self, K: Any) -> Any:
        """Return the kernel values with the training rows of positive weight."""
        return K if self.kept is None else K[:, self.kept]

    def decision(self, X: Any, t: float) -> Floats:
        """Return f, or (m,) predictions, at t."""
        path = self.paths[0]
        return path.decision_function(X, self.place(path, t))

    def predict(self, X: Any, t: float) -> NDArray[Any]:
        """Return the labels or values at t that a single path predicts."""
        path = self.paths[0]
        return path.predict(X, self.place(path, t))

    def error(
        self, X: Any, y: NDArray[Any], metric: Metric, weights: Floats, classes: Any = None
    ) -> Curve:
        """Return the mean error, over weighted rows, as an exact function of the parameter.

        ``classes`` are all classes, of which a fold may know some only: a row of an unknown class
        is an error everywhere.
        """
        return self.paths[0]._error_curve(X, y, metric, weights, classes=classes)

    def coefs(self, t: float) -> Floats:
        """Return the coefficients of linear models, (1, d) or (classes, d)."""
        return np.vstack([path.coef(self.place(path, t)) for path in self.paths])

    def intercepts(self, t: float) -> Floats:
        """Return biases, (1,) or (classes,)."""
        return np.hstack([path.intercept(self.place(path, t)) for path in self.paths])


class OneVsRest(Fitted):
    """A path for two classes, or one for each class against the rest.

    Parameters
    ----------
    fit : callable
        Returns a path, given X, two labels (-1 and +1 where there are more classes) and the other
        arguments.
    X, y : rows and labels
    """

    def __init__(
        self,
        fit: Callable[..., SolutionPath],
        X: Any,
        y: NDArray[Any],
        *others: Any,
        **options: Any,
    ):
        self.classes = np.unique(y)
        if len(self.classes) == 2:  # the path returns the classes
            super().__init__([followed(fit, X, y, *others, **options)])
            return
        followed_paths: list[Followed] = []
        for label in self.classes.tolist():
            with warnings.catch_warnings():
                if followed_paths:  # warnings about X were given before
                    warnings.simplefilter("ignore", PathWarning)
                signs = np.where(y == label, 1.0, -1.0)
                followed_paths.append(followed(fit, X, signs, *others, label=label, **options))
        super().__init__(followed_paths, self.classes.tolist())

    def decision(self, X: Any, t: float) -> Floats:
        """Return f, (m,) or (m, classes), at parameter t."""
        if len(self.paths) == 1:
            return super().decision(X, t)
        places = [self.place(path, t) for path in self.paths]
        return joint_decision(self.paths, X, self.unit * t, places)

    def label(self, f: Floats) -> NDArray[Any]:
        """Return the labels of decisions."""
        positive = self.paths[0].reading.positive
        return self.classes[np.argmax(f, axis=1) if f.ndim == 2 else positive(f).astype(int)]

    def error(
        self, X: Any, y: NDArray[Any], metric: Metric, weights: Floats, classes: Any = None
    ) -> Curve:
        """Return the mean error as an exact step function; see `Fitted.error`."""
        if len(self.paths) == 1:
            curve = super().error(X, y, metric, weights, classes)
        else:
            all_classes = self.classes if classes is None else classes
            right, known = indices(all_classes, y), indices(all_classes, self.classes)

            def judge(ends: tuple[float, float], labels: Labels) -> Curve:
                mapped = labels._replace(first=known[labels.first], after=known[labels.after])
                return label_error(ends, mapped, right, weights, metric, all_classes)

            curve = self._joint_error(X, judge)
        return curve.over(self.begin, self.end)

    def _joint_error(self, X: Any, judge: Callable[[tuple[float, float], Labels], Curve]) -> Curve:
        """Return the error of the label with the largest decision; ``judge`` makes it of labels."""
        joint, ends = Joint(self.paths), np.array([self.begin, self.end])
        size = max(1, VALUES_AT_ONCE // (len(joint.t) * len(self.paths)))
        blocks = [joint.labels(X[k : k + size]) for k in range(0, X.shape[0], size)]
        curve = judge((self.begin, self.end), Labels.together(blocks).until(self.end))
        edges = self.paths[0].scale.value(joint.edges[[0, -1]])
        edges = edges[(edges > ends[0]) & (edges < ends[1])]
        curve = curve.on(np.union1d(curve.edges, edges))
        return replace(curve, log=self.paths[0].parameter in SCALES)


def followed(
    fit: Callable[..., SolutionPath], *arguments: Any, label: Any = None, **options: Any
) -> Followed:
    """Return a path as far as it could be followed; errors name the class against the rest.

    A path in a penalty is constant beyond its last value, where w = 0.
    """
    try:
        path, lost = fit(*arguments, **options), None
    except PathError as error:
        named = error if label is None else PathError(f"{_against(label)}: {error}", error.path)
        if error.path is None or error.path.parameter not in (*PENALTIES, "C", "s"):
            raise named from (None if named is error else error)
        path, lost = error.path, named
    begin, end = path.range
    if path.parameter not in PENALTIES:
        return Followed(path, begin, end, lost)
    if lost is None:  # a path with a limit isn't known below it
        return Followed(path, begin if "limit" in path.diagnostics else 0.0, np.inf, None)
    zero = end < np.inf and path.linear and not path.coef(end).any()
    return Followed(path, begin, np.inf if zero else end, lost)


def _against(label: Any) -> str:
    return f"The class {label!r} against the rest"


def upper_limit(end: float) -> float | None:
    """Return the end of a path as `check_number` takes it: None for infinity."""
    return end if end < np.inf else None


def clipped(path: SolutionPath, t: float) -> float:
    """Return t, clipped to the path's range if that is in a penalty: it is constant beyond."""
    return min(max(t, path.range[0]), path.range[1]) if path.parameter in PENALTIES else t
