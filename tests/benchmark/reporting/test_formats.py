"""Numbers as people read them: what is written is the number, to so many digits."""

import numpy as np
import pytest

from path_benchmark.reporting import formats

VALUES = (0.0, 1.0, -1.0, 0.5, 9.996, 99.95, 1106.0, 12345.678, 1.23e-5, 4.5e-9, 7e8, 1e-3, 0.0995)
UPRIGHT = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


def number(text):
    """Return what a text says, which may be a multiple of a power of ten."""
    head, _, exponent = text.rpartition("10")
    if not exponent or exponent[0] not in "⁻⁰¹²³⁴⁵⁶⁷⁸⁹":
        return float(text)
    factor = float(head[:-1]) if head.endswith("×") else -1.0 if head == "-" else 1.0
    return float(f"{factor}e{exponent.translate(UPRIGHT)}")


@pytest.mark.parametrize("digits", [1, 2, 3])
@pytest.mark.parametrize("value", VALUES)
def test_a_number_is_written_to_so_many_digits(value, digits):
    rounded = float(f"{value:.{digits - 1}e}")
    assert number(formats.power(value, digits)) == rounded
    text = formats.significant(value, digits)
    whole = 10.0**digits <= abs(value) < 1e7  # of which no digit before the point is dropped
    assert number(text) == (round(value) if whole else rounded)
    assert ("⁻" in text or "×" in text) == (value != 0 and not 1e-4 <= abs(value) < 1e7)
    said, unit = formats.seconds(value, digits).split(formats.THIN)
    assert number(said) * UNITS[unit] == pytest.approx(rounded)
    assert value == 0 or unit in ("s", "ns") or 1 <= abs(number(said)) < 1000


def test_powers_of_ten_may_stand_alone():
    assert formats.power(1.6e-12) == "1.6×10⁻¹²"
    assert (formats.power(1e-3), formats.power(-1.0)) == ("10⁻³", "-10⁰")
    assert formats.power(1e-3, bare=False) == "1.0×10⁻³"


def test_what_is_no_number_is_a_dash():
    for value in (np.nan, None):
        assert not formats.known(value)
        assert formats.significant(value) == formats.seconds(value) == "—"
    assert formats.known(np.inf)
    assert formats.significant(np.inf) == "inf"
    assert formats.column([None, np.nan]) == ["—", "—"]
    assert formats.column(["a", 1.0]) == ["—", "1"]


def test_decimals_that_are_zero_in_every_number_are_not_needed():
    assert [formats.trimmed([0.5, 1.0], d) for d in range(4)] == [0, 1, 1, 1]
    assert formats.trimmed([0.25, 1.0], 4) == 2
    assert formats.count(0, "box", "boxes") == "0 boxes"
    assert formats.count(1, "box", "boxes") == "1 box"
