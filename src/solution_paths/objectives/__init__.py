"""One file for each family: data, objective, prediction, dual, KKT violation and duality gap."""

from .base import Objective, Solution
from .hinge import Hinge
from .robust import RobustHinge, RobustTube
from .saving import FAMILIES, from_arrays, to_arrays
from .tube import Tube

__all__ = [
    "FAMILIES",
    "Hinge",
    "Objective",
    "RobustHinge",
    "RobustTube",
    "Solution",
    "Tube",
    "from_arrays",
    "to_arrays",
]
