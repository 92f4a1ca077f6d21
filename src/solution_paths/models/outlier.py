"""Paths of the robust SVM and the robust SVR for checked samples."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..kernels.centring import shift_of_targets
from ..problem import Pieces, losses
from ..problem.branches import Branches, robust_absolutes, robust_hinges
from ..solution.branched import local_path
from ..solution.outliers import OutlierPath
from ..validation import Floats, check_choice, check_number
from .samples import Samples

HOMOTOPIES = ("theta", "s")
BEFORE_SC = 1.0  # in units of margin: the path in s of the SVM begins so much before s_C
LAST_S = 0.2  # relative to s_R: where the path in s of the SVR ends
BEFORE_SR = 1.1  # relative to s_R: where it begins
LEAST_RESIDUAL = 1e-6  # relative to the targets' range: s_R is taken to be no smaller
LEAST_S = 1e-7  # relative to the targets' range: the smallest threshold that is accepted


def robust_svm_path(
    samples: Samples,
    signs: Floats,
    classes: ArrayLike,
    C: float,
    homotopy: str = "theta",
    weights: Any = 1.0,
    bias: bool = False,
    **options: Any,
) -> OutlierPath:
    """Return the path of samples with labels -1 and +1, which encode two classes.

    Weights (n,) multiply the cost. Options are ``near`` (signed duals near the optimum of the
    standard machine), ``callback`` and ``check`` of `local_path`; others as in `outlier_svm_path`.
    """
    in_theta, C = _checked(homotopy, C)
    costs, used = C * weights, np.broadcast_to(weights, signs.shape) > 0
    machine = partial(samples.machine, free=1.0 if bias else None)

    def moving(t: float) -> list[Pieces]:
        return robust_hinges(signs, costs, *((t, 0.0) if in_theta else (0.0, t)))

    def span(z: Floats) -> tuple[float, float]:
        return (1.0 if in_theta else min(float((signs * z)[used].min()), 0.0) - BEFORE_SC), 0.0

    ends = (0.0, 1.0 if in_theta else -1.0)
    branches = Branches.along(moving, machine, np.where(signs > 0, 1, 0), ends)
    zero, standard = (weights * signs).sum() >= 0, machine(losses.hinge(signs, costs))
    reading = samples.reading("sign", classes, [[1.0] * bias], signs=signs, zero=zero)
    return local_path(standard, branches, span, parameter=homotopy, reading=reading, **options)


def robust_svr_path(
    samples: Samples,
    y: Floats,
    C: float,
    homotopy: str = "theta",
    s: float | None = None,
    weights: Any = 1.0,
    bias: bool = False,
    **options: Any,
) -> OutlierPath:
    """Return the path of samples with targets; see `robust_svm_path` and `outlier_svr_path`."""
    in_theta, C = _checked(homotopy, C)
    costs, used = C * weights, np.broadcast_to(weights, y.shape) > 0
    level = shift_of_targets(y[used]) if bias else 0.0
    y, machine = y - level, partial(samples.machine, free=1.0 if bias else None)
    unit = float(np.ptp(y[used]) or np.abs(y[used]).max() or 1.0)
    threshold = 1.0 if s is None else check_number(s, "s", above=0)
    if (in_theta or s is not None) and threshold < LEAST_S * unit:
        raise ValueError(
            f"s = {threshold:g} is within the rounding of targets whose range is {unit:g}; take a "
            "larger threshold."
        )

    def moving(t: float) -> list[Pieces]:
        return robust_absolutes(y, costs, *((t, threshold) if in_theta else (0.0, t)))

    def span(z: Floats) -> tuple[float, float]:
        largest = max(float(np.abs(y - z)[used].max()), LEAST_RESIDUAL * unit)
        end = LAST_S * largest if s is None else threshold
        return (1.0, 0.0) if in_theta else (max(BEFORE_SR * largest, 2.0 * end), end)

    ends = (0.0, 1.0 if in_theta else unit)
    branches = Branches.along(moving, machine, np.ones(len(y), dtype=np.int64), ends)
    standard = machine(losses.absolute(y, costs))
    reading = samples.reading("robust", bias=[[1.0] * bias], offset=level)
    return local_path(standard, branches, span, parameter=homotopy, reading=reading, **options)


def _checked(homotopy: str, C: float) -> tuple[bool, float]:
    """Check the arguments of both models; return whether theta varies, and C."""
    in_theta = check_choice(homotopy, "homotopy", HOMOTOPIES) == "theta"
    return in_theta, check_number(C, "C", above=0)
