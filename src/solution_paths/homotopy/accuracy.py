"""How accurately unknowns are known: the one place where precision is decided.

Numbers decide two things in a step: which coordinate reaches a limit first (the ratio test), and
whether the new system is singular (a pivot against zero). As in computational geometry, such a
decision is *filtered*. Numbers of limited accuracy come with bounds of their errors, and decide
where the errors can't change the decision. Otherwise the decision is repeated with numbers that
are known to rounding. So accuracy costs nothing where no decision needs it.

Errors are relative to the largest unknown (in units), and are estimated by how fast corrections
shrink in iterative refinement:

==========  =====================================================================================
`REFINED`   error that refinement can reach; decisions in doubt are repeated with it
`SOLVED`    error to which point and rates of large systems are solved
`CARRIED`   error to which a point may degrade from event to event before it is solved for again;
            the errors of values also change the objective by no more than this
`RESPONSE`  error of a response, enough to change rates by its multiples: one product with the
            inverse
==========  =====================================================================================

Where a coordinate changes its place, the rates change and a new line begins. An error of t there
is an error of the point, times the change of the rates: `is_magnified`. If it is too large, the
event is searched for again with numbers that are known to rounding. A distance so small that it
counts as zero is neglected there, too: the point moves as if the coordinate were at its limit. If
that `matters`, the event is searched for again with the distance as it is.

In systems of up to `SMALL_SYSTEM` unknowns a residual costs no more than the other work of an
event, and all is solved to rounding at once.

Sources: S. Fortune and C. J. Van Wyk, "Static analysis yields efficient exact integer arithmetic
for computational geometry" (1996); J. R. Shewchuk, "Adaptive precision floating-point arithmetic
and fast robust geometric predicates" (1997).
"""

from __future__ import annotations

from .compiled import inline, lean
from .state import RATE, ROWS, VALUE
from .tolerances import (
    CARRIED,
    KEPT,
    MARGIN,
    NEGLIGIBLE,
    NOISE,
    REFINED,
    RESPONSE,
    SMALL_SYSTEM,
    SOLVED,
)


@inline
def is_small(w):
    """Tell whether all is solved to rounding."""
    return w.now.solved + w.now.eliminated <= SMALL_SYSTEM


@inline
def goal_of_point(w):
    """Return the error to which point and rates are solved."""
    return REFINED if is_small(w) else SOLVED


@inline
def goal_of_response(w):
    """Return the error to which the response to a unit perturbation is solved.

    It is rounding where variables have limits: ties among these are frequent.
    """
    careful = is_small(w) or w.now.careful > 0 or w.map.limited > 0
    return REFINED if careful else RESPONSE


@inline
def is_near_zero(pivot, whole):
    """Tell whether a pivot with these absolute terms may be zero but for the response's error."""
    return abs(pivot) <= MARGIN * RESPONSE * whole


@lean
def is_accurate(w, step):
    """Tell whether the carried point and rates are accurate enough for a step."""
    now = w.now
    if not now.carried or (is_small(w) and w.error[RATE] > NEGLIGIBLE * w.peak[RATE]):
        return False
    return is_point_known(w, w.error[VALUE] + step * w.error[RATE], step)


@lean
def is_point_known(w, error, step):
    """Tell whether an error of the point is small enough for a step.

    An error of a row's value changes the objective by its slope: this must be small beside the
    duals' part of the objective.
    """
    now = w.now
    if is_small(w) and error > NEGLIGIBLE * w.peak[VALUE]:
        return False
    cost = error * w.sensitivity[ROWS] * (now.width + step * now.width_rate)
    return error <= CARRIED * w.peak[VALUE] and cost <= CARRIED * now.value * now.held


@inline
def is_magnified(w, error):
    """Tell whether a point's error that a change of places makes of the error of t is too large."""
    return error > CARRIED * w.peak[VALUE]


@inline
def matters(w, moved):
    """Tell whether a distance that counted as zero moves the point by more than `CARRIED`.

    With a Gram matrix, whose entries are rounded, a smaller distance means nothing.
    """
    return not w.now.fine and w.map.noise == NOISE and is_magnified(w, moved)


@inline
def is_kept(w, goal):
    """Tell whether a carried point is kept while rates are solved for."""
    carried = w.now.carried and goal > REFINED
    return carried and is_point_known(w, w.error[VALUE] / KEPT, 0.0)
