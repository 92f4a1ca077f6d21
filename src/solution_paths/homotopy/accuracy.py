"""How accurately unknowns are known: the one place where precision is decided.

Numbers decide two things in a step: which coordinate reaches a limit first (the first and the
second of the ratio test), and whether the new system is singular (a pivot and zero). As in
computational geometry, such a decision is *filtered*: numbers of limited accuracy come with bounds
of their errors, the decision is taken by them where it is the same whatever the errors are, and
else again with numbers that are known to rounding. So accuracy costs nothing where no decision
needs it.

Errors are relative to the largest unknown (in units), and are estimated by how fast corrections
shrink in iterative refinement:

==========  =====================================================================================
`ROUNDING`  what refinement can reach; a decision in doubt is taken with it
`SOLVED`    what point and rates of large systems are solved to
`CARRIED`   up to here errors of a point may grow from event to event, until it is solved for again;
            what the errors of values cost, in the objective, stays below it, too
`RESPONSE`  what a response must have to change rates by its multiples: one product with the inverse
==========  =====================================================================================

Where a coordinate changes its place the rates turn, and the new line begins at the old one's point.
If t is wrong there, so is that point, by as much times the turn: `is_magnified`. Then that event is
looked for again, with numbers that are known to rounding.

In systems of up to `FEW` unknowns a residual costs no more than the other work of an event, and all
is solved to rounding at once.

Sources: S. Fortune and C. J. Van Wyk, "Static analysis yields efficient exact integer arithmetic
for computational geometry" (1996); J. R. Shewchuk, "Adaptive precision floating-point arithmetic
and fast robust geometric predicates" (1997).
"""

from __future__ import annotations

from .compiled import inline, lean
from .state import RATE, ROWS, VALUE
from .tolerances import CARRIED, FEW, FINE, KEPT, MARGIN, RESPONSE, ROUNDING, SOLVED


@inline
def has_few(w):
    """Tell whether all is solved to rounding."""
    return w.now.solved + w.now.eliminated <= FEW


@inline
def goal_of_point(w):
    """Return what point and rates are solved to."""
    return ROUNDING if has_few(w) else SOLVED


@inline
def goal_of_response(w):
    """Return what the response to a unit perturbation is solved to.

    Among limits of variables ties are frequent.
    """
    careful = has_few(w) or w.now.careful > 0 or w.map.limited > 0
    return ROUNDING if careful else RESPONSE


@inline
def is_near_zero(pivot, whole):
    """Tell whether a pivot, with these absolute terms, is so near to 0 as errors of responses."""
    return abs(pivot) <= MARGIN * RESPONSE * whole


@lean
def is_accurate(w, step):
    """Tell whether point and rates are known well enough as they are carried, up to a step on."""
    now = w.now
    if not now.carried or (has_few(w) and w.error[RATE] > FINE * w.peak[RATE]):
        return False
    return is_point_known(w, w.error[VALUE] + step * w.error[RATE], step)


@lean
def is_point_known(w, error, step):
    """Tell whether the point may have that error, up to a step from here.

    An error of a row's value costs its slope, which must be little in comparison with the duals.
    """
    now = w.now
    if has_few(w) and error > FINE * w.peak[VALUE]:
        return False
    cost = error * w.sensitivity[ROWS] * (now.width + step * now.width_rate)
    return error <= CARRIED * w.peak[VALUE] and cost <= CARRIED * now.value * now.held


@inline
def is_magnified(w, error):
    """Tell whether a change of places makes too much of the error of t."""
    return error > CARRIED * w.peak[VALUE]


@inline
def is_kept(w, goal):
    """Tell whether a point that is carried along stays as it is while rates are solved for."""
    carried = w.now.carried and goal > ROUNDING
    return carried and is_point_known(w, w.error[VALUE] / KEPT, 0.0)
