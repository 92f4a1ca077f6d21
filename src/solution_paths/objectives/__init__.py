"""One file for each family: data, objective, prediction, dual, KKT violation and duality gap."""

from .base import Objective, Solution
from .double_margin import DoubleMargin
from .double_net import DoubleMarginNet
from .elastic_net import ElasticNet
from .hinge import Hinge
from .l1_hinge import L1Hinge
from .lasso import Lasso
from .robust import RobustHinge, RobustTube
from .saving import from_arrays, to_arrays
from .tube import Tube

__all__ = [
    "DoubleMargin",
    "DoubleMarginNet",
    "ElasticNet",
    "Hinge",
    "L1Hinge",
    "Lasso",
    "Objective",
    "RobustHinge",
    "RobustTube",
    "Solution",
    "Tube",
    "from_arrays",
    "to_arrays",
]
