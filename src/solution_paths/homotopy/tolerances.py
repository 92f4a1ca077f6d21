"""The tolerances of compiled code, all of them: each is a pure number, relative to what it says.

Six are principles. Others follow from these, or from double precision, by the formulas below. Those
for speed alone say what is tried, looked at or kept first: they change no digit of a breakpoint
beyond what errors of `CARRIED` do, and no event.
"""

from __future__ import annotations

from typing import Final

# Numbers that decide an event are kept as unevaluated sums of two doubles (about 104 bits).

NOISE: Final = 2.0**-76
"""What a sum in twofold precision is worth, relative to the sum of its absolute terms.

A room or a speed below it is zero. Rounding leaves about 2**-100 after refinement; the data of
users, and the ties among them, live at 2**-52. Anything between serves.
"""

FLOOR: Final = 2.0**-16
"""Least size of a term in such a sum, relative to the largest unknown in scaled units.

A term that is zero in exact arithmetic is known to the rounding of what it was computed from, not
to that of its own value.
"""

BLUR: Final = 2.0**-48
"""The same as `NOISE` where the map is a Gram matrix of rounded entries.

An entry is right to some 2**-52 of the lengths of its two rows.
"""

SINGULAR: Final = 2.0**-44
"""Backward error of a null vector, relative to its terms, below which a system is singular.

A change of the data by this share would make the system singular exactly. So along a null vector
what is slower than this share stands still: to exchange it would leave such a system. By the same
share knots may differ from those whose optimum a point is that large systems carry along.
"""

HOLLOW: Final = 2.0**-40
"""Difference of the slopes on both sides of a knot, relative to their terms, that counts as none.

Where two curved segments join smoothly the slope is a sum of rounded products.
"""

CONTRACTION: Final = 2.0**-6
"""Factor by which each refinement must reduce a correction, until only rounding is left.

An inverse that is slower is computed afresh, and then in twofold precision.
"""

# Derived, for numbers in twofold precision.
ROUNDING: Final = NOISE * FLOOR / 2.0  # what refinement can reach, of the largest unknown
FINE: Final = 8.0 * ROUNDING  # what no sum over a row feels: such errors decide nothing
SOLVED: Final = 2.0**-16 * SINGULAR  # what point and rates of large systems are solved to
CARRIED: Final = 2.0**-4 * SINGULAR  # up to here errors of points grow from event to event
RESPONSE: Final = 2.0**12 * SINGULAR  # what a response to a change of places is solved to
PIVOT: Final = SINGULAR * FLOOR  # the same where its pivot is compared with zero
MARGIN: Final = 2.0**8  # by which an error may be larger than its estimate
SAFE: Final = 2.0**3  # by which an inverse may be worse than it was when last seen
SHRINK: Final = 2.0**-53 * SAFE  # of corrections: no inverse in double precision makes them less

# Derived, for bounds in double precision, whose unit is 2**-53.
DOUBLE: Final = 2.0**-46  # what a sum is worth, relative to its absolute terms
UPDATED: Final = 2.0**10 * DOUBLE  # the same of a sum that events add to and subtract from
UP: Final = 1.0 + 2.0**-40  # times a bound: no less than what it bounds, for all its rounding
DOWN: Final = 2.0 - UP

# For speed.
FEW: Final = 64  # unknowns of systems in which all is solved to rounding
KEPT: Final = 2.0**-4  # share of `CARRIED` up to which a point isn't solved for with its rates
CAREFUL: Final = 16  # responses to rounding after a decision in doubt, which seldom comes alone
BLOCK: Final = 64  # coordinates whose odometers are looked at together
FAR: Final = 2.0**-30  # usual steps that are shorter, beside what an odometer shows, are lost in it
NEAR: Final = 2.0  # usual steps of an odometer: what is due in them is looked at first, ...
NEXT: Final = 8.0  # ... then what is due in so many times as many
SPEED: Final = ("FEW", "KEPT", "CAREFUL", "BLOCK", "FAR", "NEAR", "NEXT")
