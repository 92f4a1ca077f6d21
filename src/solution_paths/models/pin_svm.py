"""Pinball SVM: every tau, or every cost C."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ..problem import Problem, losses
from ..validation import Rows, check_number
from .limits import between, up_to
from .samples import Callback, Samples, SolutionPath, fixed, model_path, what_varies
from .weights import check_sample_weight


def pin_svm_path(
    X: Rows,
    y: ArrayLike,
    *,
    vary: str | None = None,
    tau: float | None = None,
    C: float | None = None,
    tau_from: float = 0.0,
    sample_weight: ArrayLike | None = None,
    C_max: float | None = None,
    kernel: str = "linear",
    gamma: float | str | None = None,
    degree: int = 3,
    coef0: float = 0.0,
    callback: Callback | None = None,
    check: str = "warn",
) -> SolutionPath:
    """Compute the pinball SVM for every tau or every C.

    Minimises ::

        1/2 ||w||^2 + C sum_i max(u_i, -tau u_i),    u_i = 1 - y_i f(x_i),    f(x) = w.x + b,

    with costs C s_i for sample weights s_i. tau = 0 is the hinge loss. There is an optimum only
    while -tau times the weight of the larger class is at most that of the smaller one.

    Parameters
    ----------
    X : (n, d) array or CSR matrix, or (n, n) Gram matrix with ``kernel="precomputed"``
    y : (n,) array
        Two labels; the larger one is +1.
    vary : {"tau", "C"}, optional
        The path's parameter; if not named, the first of these that isn't given.
    tau : float, optional
        In [-1, 1], 0.5 by default; used where C varies.
    C : float, optional
        > 0, 1.0 by default; used where tau varies.
    tau_from : float, default 0.0
        In [-1, 0]: where a path in tau begins.
    sample_weight, C_max, kernel, gamma, degree, coef0, callback, check
        See `svm_path`, for callback and check `solution_path`.

    Returns
    -------
    SolutionPath
        In tau from ``tau_from`` to 1, or in C from 0 up. Of several optimal b it is the middle.

    Raises
    ------
    ValueError, TypeError, PathError
        See `PathError`; a ValueError also means that tau or tau_from has no optimum.

    References
    ----------
    Huang, Shi and Suykens (2014), "Support vector machine classifier with pinball loss", and
    (2017), "Solution path for pin-SVM classifiers with positive and negative tau values".

    Examples
    --------
    >>> from solution_paths import pin_svm_path
    >>> path = pin_svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], tau_from=-0.5)
    >>> path.range, path.predict([[-1.0], [4.0]], 0.5).tolist()
    ((-0.5, 1.0), [0, 1])
    >>> path.certify().ok
    True
    """
    vary = what_varies(vary, {"tau": tau, "C": C}, tau_from=tau_from, C_max=C_max)
    C, tau = fixed("C", C, 1.0, above=0), fixed("tau", tau, 0.5, least=-1, most=1)
    samples = Samples.of(X, kernel, gamma, degree, coef0).centred()
    tau_from = check_number(tau_from, "tau_from", least=-1, most=0)
    signs, classes = samples.labels(y, X)
    weights = check_sample_weight(sample_weight, X, signs, classes)
    sizes = sorted([weights[signs < 0].sum(), weights[signs > 0].sum()])
    name, least = ("tau_from", tau_from) if vary == "tau" else ("tau", tau)
    if least < (limit := -float(sizes[0] / sizes[1])):
        raise ValueError(
            f"{name} = {least:g} has no optimum: the larger class has weight {sizes[1]:g}, the "
            f"smaller one {sizes[0]:g}; choose {name} >= {limit!r}."
        )

    def model(t: float) -> Problem:
        shape, cost = (t, C) if vary == "tau" else (tau, t)
        return samples.machine(losses.pinball_hinge(signs, shape, cost * weights))

    options = between(tau_from, 1.0) if vary == "tau" else up_to(C_max, "C_max")
    options |= {"parameter": vary, "callback": callback, "check": check}
    return model_path(model, **options, reading=samples.reading("sign", classes))
