"""How numbers are written for people: one notation in a column, seconds with their SI unit."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

NOTHING = "—"
# Before a unit: narrow, and no place to break a line.
THIN = "\u202f"
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
# Positional notation between these; powers of ten beyond.
_SMALL, _LARGE = 1e-4, 1e7
PRINTED = 4  # decimals that papers print at most


def known(value: object) -> bool:
    """Tell whether a value is a number that can be written."""
    return isinstance(value, int | float | np.number) and not math.isnan(value)


def seconds(value: float, digits: int = 2) -> str:
    """Write a time with its SI unit: 0.0062 is "6.2 ms"."""
    if not known(value):
        return NOTHING
    if value == 0.0:
        return f"0{THIN}s"
    value = float(f"{value:.{digits - 1}e}")
    unit, name = next(((u, n) for u, n in _UNITS if abs(value) >= u), _UNITS[-1])
    return f"{significant(value / unit, digits)}{THIN}{name}"


def significant(value: float, digits: int = 3) -> str:
    """Write a number with so many significant digits, without a power of ten where possible.

    Digits before the point stay: 1106 is not 1110.
    """
    if not known(value):
        return NOTHING
    if value == 0.0 or math.isinf(value):
        return f"{value:g}"
    if not _SMALL <= abs(value) < _LARGE:
        return power(value, digits)
    return f"{value:.{places(value, digits)}f}"


def places(value: float, digits: int) -> int:
    """Return the decimals that show so many significant digits of a value."""
    rounded = float(f"{value:.{digits - 1}e}")
    return max(0, digits - 1 - math.floor(math.log10(abs(rounded)))) if rounded else 0


def trimmed(values: Iterable[float], decimals: int) -> int:
    """Return how many of so many decimals are needed: none that are 0 in every number."""
    texts = [f"{value:.{decimals}f}" for value in values]
    while decimals > 0 and all(text.endswith("0") for text in texts):
        texts, decimals = [text[:-1] for text in texts], decimals - 1
    return decimals


def power(value: float, digits: int = 2, bare: bool = True) -> str:
    """Write a number as a multiple of a power of ten: 1.6×10⁻¹²; ``bare``: 10⁻³, not 1.0×10⁻³."""
    head, exponent = f"{value:.{digits - 1}e}".split("e")
    ten = "10" + str(int(exponent)).translate(_SUPERSCRIPT)
    if bare and abs(float(head)) == 1.0:
        return ten if value > 0 else f"-{ten}"
    return f"{head}×{ten}"


def column(values: Iterable[object], digits: int = 3) -> list[str]:
    """Write the numbers of a column in one notation.

    Whole numbers stay whole; else the largest shows ``digits`` significant digits and the smallest
    at least two, unless that takes too many decimals: then all are multiples of powers of ten.
    """
    values = list(values)
    sizes = [abs(float(v)) for v in values if known(v) and v != 0 and not math.isinf(v)]
    if all(size == int(size) and size < _LARGE for size in sizes):
        return [f"{v:.0f}" if known(v) and not math.isinf(v) else _odd(v) for v in values]
    low, high = min(sizes), max(sizes)
    if low < _SMALL or high >= _LARGE:
        plain = [known(v) and v != 0 and not math.isinf(v) for v in values]
        return [power(v, bare=False) if p else _odd(v) for v, p in zip(values, plain, strict=True)]
    decimals = trimmed(sizes, max(places(high, digits), min(places(low, 2), 4)))
    return [f"{v:.{decimals}f}" if known(v) and not math.isinf(v) else _odd(v) for v in values]


def _odd(value: object) -> str:
    return f"{value:g}" if known(value) else NOTHING


def together(first: float, second: float, digits: int = 4) -> tuple[str, str, str]:
    """Write two numbers that are compared, and second minus first, with the same decimals.

    A first one of at most four decimals is printed somewhere: it keeps them, and gets no others.
    """
    if any(known(v) and math.isinf(v) for v in (first, second)):
        return significant(first), significant(second), "0" if first == second else NOTHING
    sizes = [abs(float(v)) for v in (first, second) if known(v) and v]
    whole = all(size == int(size) for size in sizes)
    difference = second - first if known(first) and known(second) else math.nan
    if whole and all(size < _LARGE for size in sizes):
        return _fixed(first, 0), _fixed(second, 0), _fixed(difference, 0, sign=True)
    if min(sizes) < _SMALL or max(sizes) >= _LARGE:
        return tuple(power(v) if known(v) and v else _odd(v) for v in (first, second, difference))
    decimals = min(max(places(size, digits) for size in sizes), 4 if min(sizes) >= 1e-2 else 6)
    decimals = trimmed(sizes, decimals)
    printed = _decimals(repr(float(first)).removesuffix(".0")) if known(first) else None
    return (
        _fixed(first, decimals if printed is None or printed > PRINTED else printed),
        _fixed(second, decimals),
        _fixed(difference, decimals, sign=True),
    )


def _fixed(value: float, decimals: int, sign: bool = False) -> str:
    if not known(value):
        return NOTHING
    text = f"{value:{'+' if sign else ''}.{decimals}f}"
    return f"{0:.{decimals}f}" if sign and float(text) == 0.0 else text


def relative(first: float, second: float) -> str:
    """Write how far the second number is from the first, in per cent; from tenfold on as a factor.

    Returns
    -------
    str
        "+3.2 %", "×28", or nothing where there is nothing to compare with.
    """
    if not (known(first) and known(second)) or first == 0 or np.isinf([first, second]).any():
        return NOTHING
    share = (second - first) / abs(first)
    if abs(share) >= 9.0:
        return f"×{significant(second / first, 2)}"
    text = f"{100 * share:+.1f}"
    return f"{'0.0' if float(text) == 0.0 else text}{THIN}%"


def padded(texts: Iterable[str]) -> list[str]:
    """Pad numbers behind with spaces as wide as digits, so that their points stand in one line."""
    texts = list(texts)
    decimals = [_decimals(text) for text in texts]
    most = max((d for d in decimals if d is not None), default=0)
    return [
        text if d is None or d == most else _widened(text, d, most)
        for text, d in zip(texts, decimals, strict=True)
    ]


def _decimals(text: str) -> int | None:
    """Count the digits behind a plain number's point; None for other texts."""
    number = text.split(THIN)[0]
    try:
        float(number)
    except ValueError:
        return None
    return len(number.split(".")[1]) if "." in number else 0


def _widened(text: str, decimals: int, most: int) -> str:
    number, *unit = text.split(THIN)
    space = ("\u2008" if decimals == 0 else "") + "\u2007" * (most - decimals)
    return THIN.join([number + space, *unit])


def count(number: int, one: str, many: str = "") -> str:
    """Write a number of things: "1 task", "3 tasks"."""
    return f"{number} {one if number == 1 else many or one + 's'}"
