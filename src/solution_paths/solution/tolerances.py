"""All tolerances of what is read from a path: pure numbers, each relative to a named quantity.

Four are principles; those of the walk (`homotopy.tolerances`) and of the judge (`verify.verdict`)
serve here, too. The others say how far an unbounded path is followed, and how accurate curved
errors are.
"""

from __future__ import annotations

from typing import Final

from ..compilation import SOURCES
from ..homotopy.tolerances import HOLLOW, SINGULAR

SOURCES.add(__file__)  # compiled code has some of them

ROUNDED: Final = 2.0**-50
"""Error of a decision or of a value, relative to its absolute terms, each rounded to 2**-53."""

LEFT_AT_ZERO: Final = 2.0 * ROUNDED  # of the largest unknown: a point's zero that changes by less

TIED: Final = SINGULAR
"""Difference of two decisions, margins or residuals that tie, relative to their absolute terms.

They are sums over unknowns of the accuracy of a path's points.
"""

SAME: Final = HOLLOW
"""Difference of the same number found in two ways, relative to its absolute terms."""

COARSE: Final = 2.0**-30
"""Difference of two rates that are the same, relative to the larger: they have half the digits."""

CLEARANCE: Final = 4.0
"""Factor by which a number must exceed the bound of its rounding error, to be taken as it is.

And an uncertified point the end of a path that is truncated before it.
"""

CURVED_TOLERANCE: Final = 1e-7
"""Error of curves that aren't quadratic between breakpoints, relative to their largest value."""

ERROR_ROUNDING: Final = 1e-12
"""Difference of two means of errors that are equal, relative to their size and their unit."""

# Unbounded paths.
FAR_END: Final = 2.0**40  # times |t0|, or 1: the end to which an unbounded path is followed, ...
FARTHER_END: Final = FAR_END**2  # ... and that of a second attempt, or where first events lie
RAY_CLEARANCE: Final = 2.0**10  # times the last breakpoint: no event up to there, and it is a ray
LONG_PATH: Final = 1e4  # times the usual breakpoint: a path of this length may be truncated
