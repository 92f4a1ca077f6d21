"""Verdicts on solutions and certificates of paths: one set of thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..validation import Floats

KKT_LIMIT = 1e-7
LOOKED_AT = 1000  # solutions, at most, to find the part of a path that is certified
GAP_LIMIT = 1e-9
SAID = {"holds": "holds", "fails": "FAILS", "undecided": "is UNDECIDED"}
ERROR_LIMIT = 1e-6  # of an answer that can be relied on, see `Verdict.error`
SORTS = np.array(["undecided", "fails"])
Entry: TypeAlias = Any  # a float, or (B,) floats


def status_of(gap: float, rounding: float, resolution: float, limit: float) -> str:
    """Return "holds", "fails" or "undecided" for a violation known within its rounding.

    It holds only if it is within the limit however the rounding fell. It fails if it is beyond the
    limit whatever the rounding, and beyond twice what the rounding of the solution itself to
    double precision may cause: nearer than that no solution in doubles need come.
    """
    return str(statuses(gap, rounding, resolution, limit))


def statuses(gap: Entry, rounding: Entry, resolution: Entry, limit: float) -> NDArray[np.str_]:
    """Return the same of many at once."""
    with np.errstate(invalid="ignore"):  # a gap and its rounding may both be infinite
        beyond = gap - np.asarray(rounding) > np.fmax(limit, 2 * np.asarray(resolution))
        fails = np.isnan(gap) | (np.asarray(gap) == np.inf) | beyond
        return np.where(gap + np.asarray(rounding) <= limit, "holds", SORTS[fails.astype(int)])


def worst_of(*states: str) -> str:
    """Return "fails" before "undecided" before "holds"."""
    return min(states, key=("fails", "undecided", "holds").index)


@dataclass(frozen=True)
class Verdict:
    """What was found in a solution (or in B of them: then each entry is a (B,) array).

    Attributes
    ----------
    primal, dual : float
        Objective values, recomputed; nan where the solution has no such part. Duals are clipped to
        their box before they bound.
    gap : float
        ``(primal - lower bound) / max(|primal|, |lower bound|)``; where the objective vanishes,
        relative to what 1e-9 of is no more than rounding of the data makes. The lower bound is the
        solution's own dual objective, or the bound that was passed in when it has no duals.
        Infinite where duals violate their constraints by more than 1e-7: they bound nothing.
    kkt : float
        Largest violation of feasibility, complementarity, stationarity and balance; see
        `Certificate`. nan without duals.
    rounding, kkt_rounding : float
        How far off these may be because they are evaluated in floating point: a bound.
    resolution, kkt_resolution : float
        How large they may become by rounding w and b (duals and K for a kernel) to double.
    error, least_error : float
        The most and the least by which the solution may be off: the smaller of its gap and its KKT
        violation in each coordinate's own units, rounding added and subtracted. Either one, if
        small, makes it a good answer: its objective is the least, or it is optimal for data that
        hardly differ. See ``docs/engine.md``, "When a user is warned".
    """

    primal: Entry
    dual: Entry
    gap: Entry
    kkt: Entry
    rounding: Entry
    kkt_rounding: Entry = 0.0
    resolution: Entry = 0.0
    kkt_resolution: Entry = 0.0
    error: Entry = np.nan
    least_error: Entry = np.nan

    @property
    def reliable(self) -> Entry:
        """Whether the solution is surely off by no more than 1e-6: a bool, or (B,) of them."""
        return self.error <= ERROR_LIMIT

    @property
    def wrong(self) -> Entry:
        """Whether it is surely off by more: a bool, or (B,) of them."""
        return ~(np.asarray(self.least_error) <= ERROR_LIMIT)

    def ok(self, gap_limit: float = GAP_LIMIT, kkt_limit: float = KKT_LIMIT) -> bool:
        """Return True when both numbers are surely within their limits; nan is a refusal.

        ``kkt_limit=np.inf`` asks for the gap alone, for solutions without duals.
        """
        return bool(np.all(self.holds(gap_limit, kkt_limit)))

    def holds(
        self, gap_limit: float = GAP_LIMIT, kkt_limit: float = KKT_LIMIT
    ) -> NDArray[np.bool_]:
        """Return of each solution whether it is `ok`."""
        kkt = np.asarray(self.kkt + self.kkt_rounding <= kkt_limit) | (kkt_limit == np.inf)
        return kkt & np.asarray(self.gap + self.rounding <= gap_limit)

    def alone(self) -> Verdict:
        """Return what was found in one solution that stands in a column, in floats."""
        return Verdict(*(float(np.ravel(values)[0]) for values in vars(self).values()))

    def amended(self, where: NDArray[Any], other: Verdict) -> Verdict:
        """Return what was found in B solutions, for those ``where`` says what another found."""
        merged = {}
        for name, values in vars(self).items():
            merged[name] = np.array(np.broadcast_to(values, np.shape(self.primal)))
            merged[name][where] = getattr(other, name)
        return Verdict(**merged)

    @classmethod
    def together(cls, found: Sequence[Verdict]) -> Verdict:
        """Return what was found in several lots of solutions, in one."""
        parts = zip(*(vars(own).values() for own in found), strict=True)
        return cls(*(np.concatenate([np.atleast_1d(part) for part in own]) for own in parts))

    def fault(self) -> tuple[int, float, bool] | None:
        """Tell which of B solutions is the worst, by how much, and if that is sure; None: reliable.

        If it isn't sure, it is the most by which the solution may be off.
        """
        if np.all(self.reliable):
            return None
        sure = bool(np.any(self.wrong))
        size = np.nan_to_num(self.least_error if sure else self.error, nan=np.inf)
        worst = int(np.argmax(size))
        return worst, float(np.ravel(size)[worst]), sure

    @property
    def status(self) -> str:
        """Whether one solution "holds" or "fails", or the two can't be told apart: "undecided"."""
        return worst_of(
            status_of(self.gap, self.rounding, self.resolution, GAP_LIMIT),
            status_of(self.kkt, self.kkt_rounding, self.kkt_resolution, KKT_LIMIT),
        )


@dataclass(frozen=True)
class Certificate:
    """Worst violations over all points that were looked at.

    Attributes
    ----------
    kkt : float
        Largest KKT violation: how far a value and its dual are from the graph of their loss or
        penalty, relative to the data's scale; duals out of balance with a free variable count too.
    gap : float
        Largest relative duality gap, ``(primal - dual) / max(|primal|, |dual|)``. Nothing is
        subtracted from it.
    rounding : float
        How far off a gap may be, at most, because it is evaluated in floating point. The judge
        sums in double precision, and where that can't decide in twice that precision. A kernel's
        matrix is data to it: the problem that is judged is the one with the matrix as rounded.
    kkt_at, gap_at : float
        Parameter values where these occur.
    n_points : int
        Number of parameter values that were looked at.
    kkt_rounding : float
        The same for the KKT violation.
    resolution : float
        The largest gap that rounding the solution to double precision may cause.
    status : {"holds", "fails", "undecided"}
        Whether kkt <= 1e-7 and gap <= 1e-9, the bounds this library promises, are surely kept, or
        surely broken. What is within its rounding of a bound is undecided, and so is a gap that is
        beyond it, but within twice the resolution: data in other units may decide. The worst of
        all points.
    error, error_at : float
        By how much the worst solution may be off, and where: the smaller of its gap and its KKT
        violation (each coordinate in its own units), with their rounding.
    reliable : bool
        Whether that is at most 1e-6. If it isn't, path functions and estimators warn; a certificate
        that doesn't hold may still be reliable.

    Examples
    --------
    >>> from solution_paths import svm_path
    >>> path = svm_path([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    >>> certificate = path.certify(at_breakpoints=True)
    >>> certificate.status, certificate.kkt <= 1e-7, certificate.gap <= 1e-9
    ('holds', True, True)
    >>> certificate.reliable
    True
    """

    kkt: float
    gap: float
    rounding: float
    kkt_at: float
    gap_at: float
    n_points: int
    kkt_rounding: float = 0.0
    resolution: float = 0.0
    status: str = ""
    error: float = np.nan
    error_at: float = np.nan

    def __post_init__(self) -> None:
        if not self.status:
            object.__setattr__(
                self,
                "status",
                worst_of(
                    status_of(self.gap, self.rounding, self.resolution, GAP_LIMIT),
                    status_of(self.kkt, self.kkt_rounding, 0.0, KKT_LIMIT),
                ),
            )

    @property
    def ok(self) -> bool:
        """Whether the certificate holds: what is undecided doesn't."""
        return self.status == "holds"

    @property
    def reliable(self) -> bool:
        """Whether every solution that was looked at is surely off by no more than 1e-6."""
        return self.error <= ERROR_LIMIT

    def __str__(self) -> str:
        return (
            f"certificate {SAID[self.status]}: KKT violation {self.kkt:.1e} +- "
            f"{self.kkt_rounding:.1e} (at {self.kkt_at:.6g}; limit {KKT_LIMIT:g}), "
            f"relative duality gap {self.gap:.1e} +- {self.rounding:.1e} "
            f"(at {self.gap_at:.6g}; limit {GAP_LIMIT:g}; a solution in double precision "
            f"resolves {self.resolution:.1e}), {self.n_points} points"
        )


def states(found: Verdict) -> NDArray[np.str_]:
    """Return the status of each solution."""
    gap = statuses(found.gap, found.rounding, found.resolution, GAP_LIMIT)
    kkt = statuses(found.kkt, found.kkt_rounding, found.kkt_resolution, KKT_LIMIT)
    return np.where((gap == "fails") | (kkt == "holds"), gap, kkt)


def evenly(count: int, most: int = LOOKED_AT) -> NDArray[np.int64]:
    """Return the places of some of so many points, evenly spread, both ends among them."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.int64))


def last_holding(found: Verdict) -> int:
    """Return the place of the last solution that holds with none before it that fails, or -1."""
    state = states(found)
    failed = np.flatnonzero(state == "fails")
    holding = np.flatnonzero(state[: failed[0] if len(failed) else None] == "holds")
    return int(holding[-1]) if len(holding) else -1


def summary(points: Floats, found: Verdict) -> Certificate:
    """Return the worst of what was found."""
    # a NaN is a violation, never a pass
    kkt, gap = (np.where(np.isnan(v), np.inf, v) for v in (found.kkt, found.gap))
    rounding, resolution, kkt_rounding, error = (
        np.where(np.isnan(v), np.inf, v)
        for v in (found.rounding, found.resolution, found.kkt_rounding, found.error)
    )
    return Certificate(
        float(kkt.max()),
        float(gap.max()),
        float(rounding.max()),
        float(points[kkt.argmax()]),
        float(points[gap.argmax()]),
        len(points),
        float(kkt_rounding.max()),
        float(resolution.max()),
        worst_of(*set(states(found).tolist())),
        float(error.max()),
        float(points[error.argmax()]),
    )
