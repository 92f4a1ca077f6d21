"""How the functions of the walk are compiled.

Lean functions don't count references: numba would count one for each array of a tuple handed on,
some 200 ns a call, forty times the work of a short row. Such a function must not create arrays.
"""

from __future__ import annotations

from numba import njit

lean = njit(cache=True, _nrt=False)
sums = njit(cache=True, _nrt=False, fastmath=True)  # terms may be added up in any order
inline = njit(cache=True, _nrt=False, forceinline=True)
inner = njit(cache=True, _nrt=False, fastmath=True, forceinline=True)  # sums in hot loops
