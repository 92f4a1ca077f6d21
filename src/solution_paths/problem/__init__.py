"""A model, stated once as data: losses, penalties, a map, a ridge and free variables.

Every convex model of this library is a `Problem`, for one value of its parameters::

    minimise over w, v    sum_i f_i(z_i) + sum_j penalty_j(w_j) + ridge/2 ||w||^2 + linear'v
    where                 z = X w + B v

with convex piecewise linear-quadratic f_i and penalty_j (`pieces`), several groups of losses if
need be (`Losses`), a kernel in the place of X, free variables v (a bias, thresholds, the margin of
a nu-SVM) and an l1 constraint. Constraints are functions whose domain ends: a sign, an order of
thresholds, an equality (`penalties`).

A path needs only a function of one parameter that returns a `Problem`: `along` takes the rates from
two evaluations, and checks at a third that knots, slopes and balances move affinely. Solvers and
the judge (`solution_paths.verify`) read the statement alone.

Examples
--------
A custom loss, an asymmetric tube: predictions may be too low by 1 or too high by 0.5 at no cost;
beyond that, too high costs three times as much as too low. The cost t is the parameter:

>>> import numpy as np
>>> from solution_paths.problem import Losses, Problem, along, pieces
>>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0.0, 3.0, 1.0, 5.0])
>>> def model(t):
...     tube = pieces(knots=[y - 1.0, y + 0.5], slopes=[-t, 0.0, 3.0 * t])
...     return Problem(Losses(tube, X, free=1.0), ridge=1.0)
>>> along(model, 0.0, 2.0).rates["losses[0].slopes"][0]
array([-1.,  0.,  3.])

The judge tells how far any answer is from the optimum. Here w = 0.5 and b = 0.5
are right for t = 1, and the duals prove it:

>>> from solution_paths.verify import Answer, judge
>>> judge(model(1.0), Answer([0.5], [0.5], [[-0.25, 1.0, -1.75, 1.0]])).status
'holds'
>>> judge(model(1.0), Answer([0.5], [0.4], [[-0.25, 1.0, -1.75, 1.0]])).status
'fails'
"""

from . import losses, penalties
from .branches import Branches
from .line import Line, along
from .maps import Product, Repeated, differences
from .pieces import Pieces, pieces
from .statement import L1Constraint, Losses, Problem

__all__ = [
    "Branches",
    "L1Constraint",
    "Line",
    "Losses",
    "Pieces",
    "Problem",
    "Product",
    "Repeated",
    "along",
    "differences",
    "losses",
    "penalties",
    "pieces",
]
