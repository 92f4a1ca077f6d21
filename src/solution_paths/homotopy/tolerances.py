"""All tolerances of compiled code: pure numbers, each relative to a named quantity.

Six are principles. Others follow from these, or from double precision, by the formulas below. The
constants for speed decide the order of work: they change no event, and breakpoints only within the
error `CARRIED`.
"""

from __future__ import annotations

from typing import Final

# Numbers that decide an event are kept as unevaluated sums of two doubles (about 104 bits).

NOISE: Final = 2.0**-76
"""Error of a sum in twofold precision, relative to the sum of its absolute terms.

A distance or a speed below it is zero. Rounding leaves about 2**-100 after refinement; the data of
users, and the ties among them, live at 2**-52. Any value between them serves, except where rows
depend on each other but for 2**-52: a distance whose neglect would move the point by more than
`CARRIED` is not zero if it is above `REFINED`.
"""

FLOOR: Final = 2.0**-16
"""Least size of a term in such a sum, relative to the largest unknown in scaled units.

A term that is zero in exact arithmetic carries the rounding of the numbers it was computed from.
"""

BLUR: Final = 2.0**-48
"""The same as `NOISE` where the map is a Gram matrix of rounded entries.

An entry has an error of about 2**-52 times the lengths of its two rows.
"""

SINGULAR: Final = 2.0**-44
"""Backward error of a null vector, relative to its terms, below which a system is singular.

A relative change of the data by this much would make the system exactly singular. So a coordinate
whose relative speed along a null vector is smaller stands still: to exchange it would leave a
singular system. The carried point of a large system is the optimum for knots that differ by less.
"""

HOLLOW: Final = 2.0**-40
"""Difference of the slopes on both sides of a knot, relative to their terms, that counts as zero.

Where two curved segments join smoothly the slope is a sum of rounded products.
"""

CONTRACTION: Final = 2.0**-6
"""Factor by which each refinement must reduce a correction, until only rounding is left.

An inverse that is slower is computed afresh, and then in twofold precision.
"""

# Derived, for numbers in twofold precision. Errors are relative to the largest unknown.
REFINED: Final = NOISE * FLOOR / 2.0  # error that refinement can reach: rounding
NEGLIGIBLE: Final = 8.0 * REFINED  # error below the rounding of a sum over a row: decides nothing
SOLVED: Final = 2.0**-16 * SINGULAR  # error of solved points and rates of large systems
CARRIED: Final = 2.0**-4 * SINGULAR  # largest error of a point that is updated at events
RESPONSE: Final = 2.0**12 * SINGULAR  # error of the response to a change of places
PIVOT: Final = SINGULAR * FLOOR  # the same where its pivot is compared with zero
MARGIN: Final = 2.0**8  # largest ratio of an error to its estimate
SAFETY: Final = 2.0**3  # largest growth of the contraction since it was last measured
SHRINK: Final = 2.0**-53 * SAFETY  # least contraction of an inverse in double precision

# Derived, for bounds in double precision, whose unit is 2**-53.
DOUBLE: Final = 2.0**-46  # error of a sum, relative to its absolute terms
UPDATED: Final = 2.0**10 * DOUBLE  # the same for a sum that events add to and subtract from
ROUND_UP: Final = 1.0 + 2.0**-40  # factor by which bounds are rounded upwards
ROUND_DOWN: Final = 2.0 - ROUND_UP

# For speed.
SMALL_SYSTEM: Final = 64  # unknowns up to which all is solved to rounding
KEPT: Final = 2.0**-4  # of `CARRIED`: error up to which a point is kept while rates are solved for
MANY_ELIMINATED: Final = 30  # coordinates from which on it pays to eliminate them
CAREFUL: Final = 16  # responses solved to rounding after a doubtful decision: doubts come together
ODOMETER_BLOCK: Final = 64  # coordinates whose odometers are compared together
LOST_STEP: Final = 2.0**-30  # of an odometer's reading: shorter usual steps are lost in rounding
FIRST_LOOK: Final = 2.0  # usual steps: coordinates that are due within them are examined first
LOOK_GROWTH: Final = 8.0  # factor by which that distance then grows
SPEED: Final = (
    "SMALL_SYSTEM",
    "KEPT",
    "MANY_ELIMINATED",
    "CAREFUL",
    "ODOMETER_BLOCK",
    "LOST_STEP",
    "FIRST_LOOK",
    "LOOK_GROWTH",
)
