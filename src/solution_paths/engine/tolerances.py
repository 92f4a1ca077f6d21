"""Every tolerance of the walker, in one place: each is relative, and each says relative to what."""

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
        relative velocity is taken.
    noise : float
        A velocity below ``noise`` times the sum of the absolute terms it was added up from is
        rounding noise, and no event. (Rows that depend on the pinned ones have velocity zero in
        exact arithmetic.)
    dependent : float
        The same for a coordinate that was shown to depend on the pinned ones, relative to the
        velocities of their kinks.
    dual_noise : float
        The same for the velocity of a pinned dual, relative to the largest one.
    null_noise : float
        The same along a null vector: an exchange on a smaller entry would leave a system that is
        singular but for rounding.
    suspect : float
        A pivot below ``suspect`` times the sum of its absolute terms is computed again with one
        step of iterative refinement before it is believed.
    worn : float
        Estimated growth of the inverse's rounding errors above which they are measured. With a
        measured error above it corrections can't wait and directions are refined, and above a
        hundredth of it events are approached in two steps.
    inverse : float
        Measured relative error of the inverse above which it is computed afresh.
    singular : float
        A refined pivot below ``singular`` times the sum of its absolute terms is zero: the pinned
        system is singular, and the walk goes on along its null vector at fixed t (the exchange).
    residual : float
        Residual of the pinned equations, relative to the data's scale, above which the pinned
        duals are corrected before a node is recorded.
    outside : float
        How far a correction may freely take a dual beyond its level, relative to the distance
        between its two levels. (A pinned sample has no loss: its dual's error is none of the gap.)
    lost : float
        Largest violation of a kink or level, relative to the data's scale, that is accepted when
        the walk looks at all coordinates; above it the path is lost, and the walk stops.
    correct_each : int
        Pinned coordinates for each event that may pass between two corrections of their duals,
        where the problem is well scaled and the inverse accurate; else every event is followed by
        one, unless it is a linear model's whose w has not moved.
    well_scaled : float
        What rounding makes of a value, relative to the data's scale, above which corrections
        can't wait and events are approached in two steps.
    travelled : float
        With rows: what the duals have travelled since X'a was summed up, relative to their present
        sizes, above which it is summed up afresh; its rounding errors are as many times those of
        a fresh sum.
    enough : int
        Rows at their kinks that are compared before the fastest of them is taken.
    refresh_every : int
        Events between two corrections of the accumulated rounding errors.
    stall : int
        Zero-length steps in a row after which ties are broken at random; after ten times as many
        the smallest index is taken (Bland), after a hundred times as many the walk stops.
    """

    tie: float = 1e-12
    noise: float = 1e-13
    dependent: float = 1e-9
    dual_noise: float = 1e-11
    null_noise: float = 1e-8
    suspect: float = 1e-6
    worn: float = 1e-9
    inverse: float = 1e-5
    singular: float = 1e-14
    residual: float = 1e-14
    outside: float = 1e-10
    lost: float = 1e-8
    correct_each: int = 32
    well_scaled: float = 1e-10
    travelled: float = 4.0
    enough: int = 2000
    refresh_every: int = 64
    stall: int = 200
