"""The tolerances of the homotopy, all of them: each is a pure number, relative to what it says."""

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
