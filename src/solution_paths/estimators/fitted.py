"""What was fitted: one path or one for each class, their predictions and exact errors."""

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
VALUES = 4_000_000  # that are held at a time, of all classes at all breakpoints


class Followed(NamedTuple):
    """A path, from where to where it is known, and its error where it broke off."""

    path: SolutionPath
    begin: float
    end: float
    error: PathError | None


class Fitted:
    """What an estimator keeps of its training data: paths in one parameter.

    Attributes
    ----------
    paths : list of SolutionPath
    labels : list
        Whose against the rest the paths are; None for a path alone.
    begin, end : float
        From where to where all paths are known, in the estimator's parameter.
    errors : list of PathError
        Of the paths that broke off.
    unit : float
        What the paths' parameter is where the estimator's is 1.
    rows : (n,) int array
        The rows that they are of, of all that were given: those with some weight.
    kept : (n,) int array or None
        The same, where that says which columns of kernel values are used.
    codes : (n,) int array or None
        The classes of these rows, as indices into those of the estimator.
    """

    rows: NDArray[np.int64]
    kept: NDArray[np.int64] | None = None
    codes: NDArray[np.int64] | None = None

    def __init__(self, found: list[Followed], labels: list[Any] | None = None, unit: float = 1.0):
        self.paths: list[Any] = [own.path for own in found]
        self.labels = [None] * len(found) if labels is None else labels
        self.begin = max((own.begin for own in found), default=0.0) / unit
        self.end = min((own.end for own in found), default=np.inf) / unit
        self.errors = [own.error for own in found if own.error is not None]
        self.unit = unit

    @property
    def path(self) -> SolutionPath | list[SolutionPath] | None:
        """The path, or those of all classes in their order; None where there is none."""
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
        return check_number(t, name, above=above, least=least, most=most(self.end))

    def place(self, path: SolutionPath, t: float) -> float:
        """Return the parameter of one of the paths where the estimator's is t."""
        return inside(path, t * self.unit)

    def certificates(self, t: float) -> list[tuple[Any, SolutionPath, Certificate]]:
        """Return labels, paths and certificates of the solutions at t that are not reliable."""
        found = [
            (label, path, path.certify(at=[self.place(path, t)]))
            for label, path in zip(self.labels, self.paths, strict=True)
        ]
        return [own for own in found if not own[2].reliable]

    def expansions(self, t: float) -> Floats:
        """Return (outputs, n): what each training row counts in f(x) = sum_i a_i k(x_i, x) + b."""
        return np.vstack([path.expansion(self.place(path, t)) for path in self.paths])

    def columns(self, K: Any) -> Any:
        """Return the kernel values with the training rows that have a weight."""
        return K if self.kept is None else K[:, self.kept]

    def decision(self, X: Any, t: float) -> Floats:
        """Return f, or (m,) predictions, at t."""
        path = self.paths[0]
        return path.decision_function(X, self.place(path, t))

    def error(
        self, X: Any, y: NDArray[Any], metric: Metric, weights: Floats, classes: Any = None
    ) -> Curve:
        """Return the mean error, over weighted rows, as an exact function of the parameter.

        Of labels with all that there are, of which a fold may know some only: an unknown one is
        wrong everywhere.
        """
        return self.paths[0]._error_curve(X, y, metric, weights, classes=classes)

    def coefs(self, t: float) -> Floats:
        """Return the coefficients of linear models, (1, d) or (classes, d)."""
        return np.vstack([path.coef(self.place(path, t)) for path in self.paths])

    def intercepts(self, t: float) -> Floats:
        """Return biases, (1,) or (classes,)."""
        return np.hstack([path.intercept(self.place(path, t)) for path in self.paths])


class OneVsRest(Fitted):
    """A path for two classes, or one for each of more, against all others.

    Parameters
    ----------
    fit : callable
        Maps X and two labels (-1, +1, where there are more classes) to a path, and what else is
        given here.
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
        if len(self.classes) == 2:  # a path alone knows its labels
            super().__init__([followed(fit, X, y, *others, **options)])
            return
        found: list[Followed] = []
        for label in self.classes.tolist():
            with warnings.catch_warnings():
                if found:  # what there is to say of X has been said
                    warnings.simplefilter("ignore", PathWarning)
                own = np.where(y == label, 1.0, -1.0)
                found.append(followed(fit, X, own, *others, label=label, **options))
        super().__init__(found, self.classes.tolist())

    def decision(self, X: Any, t: float) -> Floats:
        """Return f, (m,) or (m, classes), at parameter t."""
        if len(self.paths) == 1:
            return super().decision(X, t)
        places = [self.place(path, t) for path in self.paths]
        return joint_decision(self.paths, X, self.unit * t, places)

    def label(self, f: Floats) -> NDArray[Any]:
        """Return the labels that decisions stand for."""
        positive = self.paths[0].reading.positive
        return self.classes[np.argmax(f, axis=1) if f.ndim == 2 else positive(f).astype(int)]

    def error(
        self, X: Any, y: NDArray[Any], metric: Metric, weights: Floats, classes: Any = None
    ) -> Curve:
        """Return the mean error as an exact step function; see `Fitted.error`."""
        if len(self.paths) == 1:
            found = super().error(X, y, metric, weights, classes)
        else:
            every = self.classes if classes is None else classes
            right, known = indices(every, y), indices(every, self.classes)

            def judge(ends: tuple[float, float], labels: Labels) -> Curve:
                own = labels._replace(first=known[labels.first], after=known[labels.after])
                return label_error(ends, own, right, weights, metric, every)

            found = self._joint_error(X, judge)
        return found.over(self.begin, self.end)

    def _joint_error(self, X: Any, judge: Callable[[tuple[float, float], Labels], Curve]) -> Curve:
        """Return an error of the label of the largest decision, by what makes one of labels."""
        joint, ends = Joint(self.paths), np.array([self.begin, self.end])
        size = max(1, VALUES // (len(joint.t) * len(self.paths)))
        parts = [joint.labels(X[k : k + size]) for k in range(0, X.shape[0], size)]
        curve = judge((self.begin, self.end), Labels.together(parts).until(self.end))
        known = self.paths[0].scale.value(joint.edges[[0, -1]])
        known = known[(known > ends[0]) & (known < ends[1])]
        curve = curve.on(np.union1d(curve.edges, known))
        return replace(curve, log=self.paths[0].parameter in SCALES)


def followed(
    fit: Callable[..., SolutionPath], *arguments: Any, label: Any = None, **options: Any
) -> Followed:
    """Return a path as far as it could be followed; errors name the class against the rest.

    One in a penalty is constant after its last value, where w = 0.
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
    if lost is None:  # one that was told where to stop isn't known below that
        return Followed(path, begin if "limit" in path.diagnostics else 0.0, np.inf, None)
    zero = end < np.inf and path.linear and not path.coef(end).any()
    return Followed(path, begin, np.inf if zero else end, lost)


def _against(label: Any) -> str:
    return f"The class {label!r} against the rest"


def most(end: float) -> float | None:
    """Return a limit as `check_number` takes it."""
    return end if end < np.inf else None


def inside(path: SolutionPath, t: float) -> float:
    """Return t, or the path's nearest value: beyond it a path in a penalty doesn't change."""
    return min(max(t, path.range[0]), path.range[1]) if path.parameter in PENALTIES else t
