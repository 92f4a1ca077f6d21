"""The papers' objectives in the form that other packages' solvers take, and their judge."""

from .judge import decision, judge
from .machine import Hinge, Machine, Tube, quantile_hinge
from .robust import Robust, RobustHinge, RobustTube, robust_hinge, robust_tube

__all__ = [
    "Hinge",
    "Machine",
    "Robust",
    "RobustHinge",
    "RobustTube",
    "Tube",
    "decision",
    "judge",
    "quantile_hinge",
    "robust_hinge",
    "robust_tube",
]
