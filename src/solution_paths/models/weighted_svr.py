"""Instance-weighted support vector regression: from any weights to any weights."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from ..objectives import Tube
from ..path import Path
from ..validation import Floats, Rows, check_index
from ..walks.staircase import Staircases, epsilon_insensitive, equality, stack
from ..walks.walker import start
from .common import Callback, check_walk, operator_of, path_function, regression
from .weighted_svm import costs_between, weighted_path


@path_function
def weighted_svr_path(
    X: Rows,
    y: ArrayLike,
    weights_from: ArrayLike,
    weights_to: ArrayLike,
    epsilon: float,
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
    """Compute the weighted SVR for all weights on the line between two weight vectors.

    Minimises, for every theta in [0, 1], ::

        1/2 ||w||^2 + sum_i C_i max(0, |y_i - w.x_i - b| - epsilon),
        C = (1 - theta) weights_from + theta weights_to,

    with a free bias b.

    Parameters
    ----------
    X, kernel, gamma, degree, coef0, diagonal, lazy, callback, check
        See `weighted_svm_path`.
    y : (n,) array
        Real targets.
    weights_from, weights_to : (n,) arrays or scalars
        Weights C_i >= 0, not all zero.
    epsilon : float
        Half-width of the insensitive tube, >= 0, in the units of y.

    Returns
    -------
    Path
        In ``theta``; ``dual`` is signed, ``|a_i| <= C_i``, and w = sum_i a_i x_i.

    Raises
    ------
    ValueError, TypeError
        For bad input; the message names the argument and the remedy.
    PathError
        When the path can't be followed to its end; ``error.path`` is the certified part.

    References
    ----------
    Karasuyama, Harada, Sugiyama and Takeuchi, "Multi-parametric solution-path algorithm for
    instance-weighted support vector machines", section 4.3.

    Examples
    --------
    The outlier at 3 loses its weight:

    >>> from solution_paths import weighted_svr_path
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> y = [0.0, 1.0, 2.0, 9.0, 4.0, 5.0]
    >>> weights = [0.05, 0.05, 0.05, 0.0, 0.05, 0.05]
    >>> path = weighted_svr_path(X, y, weights_from=0.05, weights_to=weights, epsilon=0.1)
    >>> [path.predict([[3.0]], theta).round(3).tolist() for theta in (0.0, 0.5, 1.0)]
    [[2.55], [2.525], [2.5]]
    >>> path.certify().ok
    True
    """
    check_walk(lazy, callback)
    check_index(X, weights_from, "weights_from")
    check_index(X, weights_to, "weights_to")
    objective = weighted_tube(
        **regression(X, y, kernel, gamma, degree, coef0),
        weights_from=weights_from,
        weights_to=weights_to,
        epsilon=epsilon,
        diagonal=diagonal,
    )
    walker = start(operator_of(objective), tube_staircases(objective), 0.0, lazy=lazy)
    return weighted_path(walker, objective, tube_staircases, callback, check)


def weighted_tube(
    X: Rows,
    y: Floats,
    weights_from: ArrayLike,
    weights_to: ArrayLike,
    epsilon: float,
    **options: Any,
) -> Tube:
    """Return the weighted SVR's objective, in t = theta; ``.at(theta)`` is that of one vector.

    Parameters
    ----------
    X : (n, d) array or CSR matrix, or (n, n) Gram matrix
    y : (n,) array
        Real targets.
    weights_from, weights_to, epsilon
        See `weighted_svr_path`.
    options
        Others of `Tube`.
    """
    costs = costs_between(weights_from, weights_to, y)
    return Tube(X, y, **costs, epsilon0=epsilon, bias="free", **options)


def tube_staircases(objective: Tube) -> Staircases:
    """Return the staircases of a weighted SVR with free bias."""
    y, cost0, cost1 = objective.walked_targets, objective.cost0, objective.cost1
    tube = epsilon_insensitive(y, objective.epsilon0, cost0, 0.0, cost1)
    return stack(tube, equality())
