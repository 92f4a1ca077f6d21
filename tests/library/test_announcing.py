"""What is said while functions are compiled: what, and what is left; and where nothing is said."""

from __future__ import annotations

import io
import sys

import pytest

from solution_paths import announcing
from solution_paths.announcing import Announcer
from solution_paths.compilation import callees, name_of
from solution_paths.homotopy import loop, twofold
from solution_paths.homotopy.operations import operated


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Notebook(io.StringIO):
    """As `ipykernel.iostream.OutStream`, which is no terminal."""

    __module__ = "ipykernel.iostream"


class Clock:
    """Seconds that pass as the test says."""

    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(announcing, "time", made)
    return made


def said(monkeypatch, clock, stream, seconds, total=10, slow=True):
    """Return what is written while an entry and its callees are compiled, so long each."""
    monkeypatch.setattr(sys, "stderr", stream)
    announcer = Announcer()
    announcer.begin("homotopy.operations.operated", total, slow)
    for _ in range(total):
        clock.now += seconds
        announcer.step()
    clock.now += seconds
    announcer.end()
    return stream.getvalue()


@pytest.mark.parametrize("stream", [Terminal, Notebook])
def test_one_line_is_rewritten_and_wiped_in_a_terminal_and_in_a_notebook(
    monkeypatch, clock, stream
):
    first, *rest = said(monkeypatch, clock, stream(), 2.0).split("\n")
    assert "compiling for this processor, once (`python -m solution_paths`" in first
    (rest,) = rest
    lines = [line.strip() for line in rest.split("\r")]
    name = "solution_paths: homotopy.operations.operated"
    assert lines[1] == f"{name}: 0 of 10 functions ..."
    # two seconds for each of the other five, and as much as three for the optimiser
    assert lines[6] == f"{name}: 5 of 10 functions, about 16 s left ..."
    assert lines[11].endswith("10 functions are read; optimising them together ...")
    assert lines[12:] == ["", ""]  # blanks over it


def test_elsewhere_a_line_is_written_every_quarter_of_a_minute(monkeypatch, clock):
    lines = said(monkeypatch, clock, io.StringIO(), 4.0, total=20).splitlines()
    assert "compiling for this processor, once" in lines[0]
    counts = [line.rpartition(": ")[2].partition(" of")[0] for line in lines[1:]]
    assert counts == [
        "0",
        "4",
        "8",
        "12",
        "16",
        "20 functions are read; optimising them together ...",
    ]
    assert all(line.startswith("solution_paths: ") for line in lines)


def test_nothing_is_said_of_what_takes_less_than_a_second(monkeypatch, clock):
    assert said(monkeypatch, clock, Terminal(), 0.05, slow=False) == ""
    assert said(monkeypatch, clock, io.StringIO(), 0.05, slow=False) == ""


def test_what_turns_out_to_take_longer_is_told(monkeypatch, clock):
    text = said(monkeypatch, clock, io.StringIO(), 0.6, slow=False)
    assert len(text.splitlines()) == 2
    assert "2 of 10 functions" in text


def test_the_count_is_that_of_the_functions_that_are_compiled():
    assert callees(twofold.weighted_squares) == {
        twofold.scaled_add,
        twofold.accumulate,
        twofold.normalise,
        twofold.two_sum,
    }
    assert loop.solve_afresh in callees(operated)
    assert len(callees(operated)) > 90
    assert callees(twofold.two_sum) == set()
    assert name_of(operated) == "homotopy.operations.operated"
