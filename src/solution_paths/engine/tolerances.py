"""The tolerances of the walker: each is relative, and each says relative to what."""

from __future__ import annotations

from .compiled import struct


@struct
class Tolerances:
    """Tolerances and limits of the walker.

    Attributes
    ----------
    tie : float
        Events whose slack is within ``tie`` of the nearest one, relative to the scale of the kink
        or level concerned, count as simultaneous (Harris' ratio test); the one with the largest
        relative velocity is taken. Values that duals tell apart (``fine``) don't tie, nor do those
        of rows that differ by more than this part of what a level moves them: while costs are
        small, all may be within 1e-14 of their kinks. A value that has moved by less counts as
        unmoved: rows found at their kinks stay there, and leavers need no second correction.
    noise : float
        A velocity below ``noise`` times the sum of the absolute terms it was added up from is
        rounding noise, and no event. (Rows that depend on the pinned ones have velocity zero in
        exact arithmetic.)
    dependent : float
        The same for a coordinate that was shown to depend on the pinned ones, relative to the
        velocities of their kinks. At a start a pivot below this share of its row's squared length
        counts as dependent.
    dual_noise : float
        The same for the velocity of a pinned dual, relative to the largest one.
    null_noise : float
        The same along a null vector: an exchange on a smaller entry would leave a system that is
        singular but for rounding.
    singular : float
        A refined Schur pivot below ``singular`` times its rounding unit, the squared sum of the
        lengths of what it is combined from, is zero: the pinned system is singular, and the walk
        goes on along its null vector at fixed t (the exchange). Without a ridge the unit is the sum
        of the pivot's own terms, and what residuals are worth is added (`rounding_of_form`).
    parallel : float
        The same for the length (not squared) of the part of a row that is independent of the
        pinned rows, which is known to the rounding of the rows themselves.
    cautious : float
        A pivot below ``cautious`` times the squared length of its row is computed from the residual
        vector, not as a difference.
    trusted : float
        So is every pivot of rows while a solve leaves more than this share of its right-hand side.
        And a direction is refined that leaves more than this share of w's speed: whether w moves at
        all is open then.
    fresh : float
        A factor whose solves leave more than this share is computed afresh, if it is not new; an
        inverse at once.
    gap : float
        The pinned equations are solved down to this part of the objective, as far as rounding lets.
    fine : float
        They are also solved down to what is worth this part of a level to a dual. Values nearer to
        each other than that, times the least pivot squared, tie.
    outside : float
        How far a correction may freely take a dual beyond its level, relative to the distance
        between its two levels; and a dual that is held at its kink as noise may run beyond.
    lost : float
        Largest violation of a kink or level, relative to the data's scale, above which the path is
        lost and the walk stops: what the library promises of KKT violations.
    enough : int
        Rows at their kinks that are compared before the fastest of them is taken.
    stall : int
        Steps in a row at one t after which ties are broken at random; after ten times as many
        the smallest index is taken (Bland), after a hundred times as many the walk stops.
    """

    tie: float = 1e-14
    noise: float = 1e-15
    dependent: float = 1e-9
    dual_noise: float = 1e-11
    null_noise: float = 1e-8
    singular: float = 1e-14
    parallel: float = 1e-13
    cautious: float = 1e-3
    trusted: float = 1e-8
    fresh: float = 1e-3
    gap: float = 1e-12
    fine: float = 1e-9
    outside: float = 1e-10
    lost: float = 1e-8
    enough: int = 2000
    stall: int = 200


DEFAULT = Tolerances()
