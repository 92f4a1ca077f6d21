"""Instance-weighted support vector machine: from any weights to any weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..objectives import Hinge
from ..objectives.machine import Machine
from ..path import Path
from ..validation import Floats, Labels, Rows, check_index, check_rows, check_weights, shown
from ..walks.staircase import Staircases, equality, hinge, stack
from ..walks.walker import Walker, start
from .common import (
    Callback,
    Progress,
    check_walk,
    classification,
    finish,
    operator_of,
    path_function,
    walk_leg,
)

Build: TypeAlias = Callable[[Any], Staircases]  # the staircases of an objective
NO_CLASSES: Labels = np.empty(0)  # regression


@path_function
def weighted_svm_path(
    X: Rows,
    y: ArrayLike,
    weights_from: ArrayLike,
    weights_to: ArrayLike,
    *,
    kernel: str = "linear",
    gamma: float | str | None = None,
    degree: int = 3,
    coef0: float = 0.0,
    diagonal: float = 0.0,
    lazy: bool = True,
    callback: Callback | None = None,
    check: str = "warn",
) -> Path:
    """Compute the weighted SVM for all weights on the line between two weight vectors.

    Minimises, for every theta in [0, 1], ::

        1/2 ||w||^2 + sum_i C_i max(0, 1 - y_i (w.x_i + b)),
        C = (1 - theta) weights_from + theta weights_to,

    with a free bias b. A weight of zero takes an instance out: an instance that enters has weight
    zero in ``weights_from``, one that leaves in ``weights_to``. `Path.continue_to` goes on from
    the end to further weights.

    Parameters
    ----------
    X : (n, d) array or CSR matrix, or (n, n) Gram matrix with ``kernel="precomputed"``
        Rows are samples.
    y : (n,) array
        Two labels; the larger one is +1.
    weights_from, weights_to : (n,) arrays or scalars
        Weights C_i >= 0; both classes need some weight along the whole line.
    kernel, gamma, degree, coef0
        See `quantile_svm_path`.
    diagonal : float, default 0.0
        Added to the diagonal of the kernel matrix (the paper adds 1e-6).
    lazy, callback, check
        See `quantile_svm_path`; done is a share of the way in theta, to which the start, which
        grows weights_from from zero, doesn't count.

    Returns
    -------
    Path
        In ``theta``; ``dual`` gives 0 <= alpha_i <= C_i.

    Raises
    ------
    ValueError, TypeError
        For bad input; the message names the argument and the remedy.
    PathError
        When the path can't be followed to its end; ``error.path`` is the certified part.

    References
    ----------
    Karasuyama, Harada, Sugiyama and Takeuchi, "Multi-parametric solution-path algorithm for
    instance-weighted support vector machines", equations (2), (3), (7) and (9).

    Examples
    --------
    The sample at 2, whose label is doubtful, loses its weight:

    >>> from solution_paths import weighted_svm_path
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> y = ["no", "no", "yes", "no", "yes", "yes"]
    >>> path = weighted_svm_path(X, y, weights_from=10.0, weights_to=[10, 10, 0, 10, 10, 10])
    >>> [decision.round(3).tolist() for decision in path.crossings([[3.0]])]  # where it flips
    [[0.55]]
    >>> path.predict([[3.0]], 0.5).tolist(), path.predict([[3.0]], 0.6).tolist()
    (['yes'], ['no'])
    >>> path.dual(1.0).round(3).tolist()  # who determines the decision in the end
    [0.0, 0.0, 0.0, 2.0, 2.0, 0.0]
    >>> path.certify().ok
    True
    """
    check_walk(lazy, callback)
    check_index(X, weights_from, "weights_from")
    check_index(X, weights_to, "weights_to")
    objective = weighted_hinge(
        **classification(X, y, kernel, gamma, degree, coef0),
        weights_from=weights_from,
        weights_to=weights_to,
        diagonal=diagonal,
    )
    walker = start(operator_of(objective), hinge_staircases(objective), 0.0, lazy=lazy)
    return weighted_path(walker, objective, hinge_staircases, callback, check)


def weighted_hinge(
    X: Rows, y: Floats, weights_from: ArrayLike, weights_to: ArrayLike, **options: Any
) -> Hinge:
    """Return the weighted SVM's objective, in t = theta; ``.at(theta)`` is that of one vector.

    Parameters
    ----------
    X : (n, d) array or CSR matrix, or (n, n) Gram matrix
    y : (n,) array
        Labels -1 and +1.
    weights_from, weights_to : (n,) arrays or scalars
        See `weighted_svm_path`.
    options
        Others of `Hinge`.
    """
    classes = options.get("classes", Hinge.classes)
    costs = costs_between(weights_from, weights_to, y, classes)
    return Hinge(X, y, **costs, bias="free", **options)


def hinge_staircases(objective: Machine) -> Staircases:
    """Return the staircases of a weighted SVM with free bias."""
    return stack(hinge(objective.y, objective.cost0, objective.cost1), equality())


def weighted_path(
    walker: Walker,
    objective: Machine,
    build: Build,
    callback: Callback | None,
    check: str,
) -> Path:
    """Walk theta from 0 to 1, from a walker at its start; the path can be continued."""
    progress = Progress(callback, 1, walker.start_events)
    progress(0.0, 0)
    return _leg(walker, objective, build, progress, check, walker.start_events)


def _leg(
    walker: Walker,
    objective: Machine,
    build: Build,
    progress: Progress,
    check: str,
    start_events: int = 0,
) -> Path:
    # Levels keep their relative accuracy where t is zero: at the end where weights are smaller.
    end = 1.0 if objective.costs(1.0).sum() < objective.costs(0.0).sum() else 0.0
    if end:
        walker.begin(build(objective).substitute(1.0), -1.0)
    leg, _, error = walk_leg(walker, 1.0 - end, end, 1.0, progress)
    diagnostics = walker.statistics() | {"start_events": start_events}

    def usable(new_weights: ArrayLike) -> Floats:
        return check_usable(new_weights, objective.y, "new_weights", objective.classes)

    def resume(new_weights: Floats) -> Path:
        reached = objective.costs(1.0)
        onward = objective.with_costs(reached, new_weights - reached)
        walker.begin(build(onward), 0.0)
        return _leg(walker, onward, build, Progress(progress.callback, 1), check)

    resumed = None if error else (usable, resume)
    return finish("theta", [leg], objective, diagnostics, error, resumed, check)


def update_instances(
    path: Path, *, enter: ArrayLike = (), leave: ArrayLike = (), weight: ArrayLike | None = None
) -> Path:
    """Let instances enter and leave a training set: exact incremental and decremental learning.

    The weights of those that enter grow from zero, of those that leave shrink to zero, along one
    line; the cost is that of the events in between, not of a new training. ``dual(1.0)`` and
    ``predict(X, 1.0)`` of the result belong to the new training set.

    Parameters
    ----------
    path : Path
        From `weighted_svm_path` or `weighted_svr_path`, or from this function; it can be continued
        once. Its ``X`` holds every instance that may ever take part, at weight zero until then.
    enter, leave : (k,) int arrays, default ()
        Rows of ``X`` whose weight is zero, and rows whose weight is not.
    weight : scalar or (k,) array, optional
        Weights of those that enter; by default the largest weight there is.

    Returns
    -------
    Path
        In ``theta``, from the old training set (0) to the new one (1).

    Raises
    ------
    ValueError
        For a row out of range, one that enters although it takes part, or leaves although it does
        not; the message names it.

    References
    ----------
    Karasuyama et al. (see `weighted_svm_path`), section 4.1; the problem is that of Cauwenberghs
    and Poggio (2001), "Incremental and decremental support vector machine learning".

    Examples
    --------
    >>> import numpy as np
    >>> from solution_paths import update_instances, weighted_svm_path
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [1.6]])
    >>> y = np.array([-1, -1, 1, 1, -1])
    >>> weights = np.array([1.0, 1.0, 1.0, 1.0, 0.0])  # the fifth is yet to come
    >>> path = weighted_svm_path(X, y, weights, weights)
    >>> path = update_instances(path, enter=[4], leave=[1])
    >>> path.dual(1.0).round(3)
    array([0.089, 0.   , 1.   , 0.089, 1.   ])
    >>> path.certify().ok
    True
    """
    if not isinstance(path, Path):
        raise TypeError(
            f"path must be a Path, not {shown(path)}; compute one with weighted_svm_path."
        )
    path.check_continuable()
    weights = path.objective.costs(1.0)
    new = moved_weights(weights, enter, leave, weight)
    classes = np.asarray(path.objective.classes)
    labels = classes[(path.objective.y > 0).astype(int)] if len(classes) else None
    check_someone_stays(new, labels)
    return path.continue_to(new)


def moved_weights(
    weights: Floats, enter: ArrayLike, leave: ArrayLike, weight: ArrayLike | None
) -> Floats:
    """Return the weights once some instances have entered, and others left."""
    enter, leave = (
        check_rows(chosen, len(weights), name)
        for name, chosen in (("enter", enter), ("leave", leave))
    )
    for row in enter[weights[enter] > 0][:1]:
        raise ValueError(f"enter names row {row}, which takes part already; leave it out.")
    for row in leave[weights[leave] == 0][:1]:
        raise ValueError(f"leave names row {row}, which takes no part; leave it out.")
    new = weights.copy()
    new[leave] = 0.0
    largest = weights.max() if weight is None else weight
    new[enter] = check_weights(largest, len(enter), "weight", of="enter")
    return new


def check_someone_stays(weights: Floats, labels: Labels | None) -> None:
    """Refuse to let a whole class leave, or in regression (without labels) everyone."""
    lost = without_weight(weights, labels)
    if lost:
        raise ValueError(
            f"leave takes out every instance{lost}, so that the free bias is undetermined; keep at "
            "least one of them."
        )


def without_weight(weights: Floats, labels: Labels | None) -> str:
    """Say which class has no weight at all, as labels are written; "" where each has some."""
    if not weights.any():
        return " that had a weight"
    for label in [] if labels is None else np.unique(labels).tolist():
        if not weights[labels == label].any():
            return f" of the class {label!r}"
    return ""


def check_usable(weights: ArrayLike, y: Floats, name: str, classes: Labels) -> Floats:
    """Return weights with which a free bias is determined: some weight, in both classes.

    ``classes`` are the labels that -1 and +1 in y stand for; in regression there are none.
    """
    weights = check_weights(weights, len(y), name)
    if not weights.any():
        raise ValueError(f"{name} is zero everywhere; give some instance a positive weight.")
    for side, label in zip((-1.0, 1.0), np.asarray(classes).tolist(), strict=False):
        if not (weights[y == side] > 0).any():
            raise ValueError(
                f"{name} is zero for every instance of the class {label!r}, so that the free bias "
                "is undetermined; give at least one of them a positive weight."
            )
    return weights


def check_sample_weight(weights: ArrayLike | None, X: Rows, samples: dict[str, Any]) -> Floats:
    """Return the weights of checked samples, by `classification`: all 1 where none are given."""
    check_index(X, weights, "sample_weight")
    weights = 1.0 if weights is None else weights
    return check_usable(weights, samples["y"], "sample_weight", samples["classes"])


def costs_between(
    weights_from: ArrayLike, weights_to: ArrayLike, y: Floats, classes: Labels = NO_CLASSES
) -> dict[str, Any]:
    """Check two weight vectors; return the costs on the line between them, by name."""
    before = check_usable(weights_from, y, "weights_from", classes)
    return {"cost0": before, "cost1": check_usable(weights_to, y, "weights_to", classes) - before}
