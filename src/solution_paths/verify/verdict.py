"""Verdicts on solutions and certificates of paths: one set of thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..validation import Floats

KKT_LIMIT = 1e-7
MOST_EXAMINED = 1000  # solutions that are judged, at most, to find the certified part of a path
GAP_LIMIT = 1e-9
SAID = {"holds": "holds", "fails": "FAILS", "undecided": "is UNDECIDED"}
ERROR_LIMIT = 1e-6  # of an answer that can be relied on, see `Verdict.error`
NOT_HOLDING = np.array(["undecided", "fails"])
Entry: TypeAlias = Any  # a float, or (B,) floats


def status_of(gap: float, rounding: float, resolution: float, limit: float) -> str:
    """Return "holds", "fails" or "undecided" for a violation known within its rounding.

    It holds if violation plus rounding is within the limit. It fails if violation minus rounding
    is beyond the limit and beyond twice the resolution, the violation that rounding of the solution
    to double precision may cause: no solution in doubles need be nearer.
    """
    return str(statuses(gap, rounding, resolution, limit))


def statuses(gap: Entry, rounding: Entry, resolution: Entry, limit: float) -> NDArray[np.str_]:
    """Return `status_of` of arrays, entry by entry."""
    with np.errstate(invalid="ignore"):  # a gap and its rounding may both be infinite
        beyond = gap - np.asarray(rounding) > np.fmax(limit, 2 * np.asarray(resolution))
        fails = np.isnan(gap) | (np.asarray(gap) == np.inf) | beyond
        return np.where(
            gap + np.asarray(rounding) <= limit, "holds", NOT_HOLDING[fails.astype(int)]
        )


def worst_of(*states: str) -> str:
    """Return "fails" before "undecided" before "holds"."""
    return min(states, key=("fails", "undecided", "holds").index)


@dataclass(frozen=True)
class Verdict:
    """The judgement of a solution (or of B of them: then each entry is a (B,) array).

    Attributes
    ----------
    primal, dual : float
        Objective values, recomputed; nan where the solution has no such part. Duals are clipped to
        their box before the dual objective is computed.
    gap : float
        ``(primal - lower bound) / max(|primal|, |lower bound|)``. The denominator is at least the
        size of which 1e-9 is the error from rounding of the data: where the objective vanishes.
        The lower bound is the dual objective, or the bound that was passed in for a solution
        without duals. Infinite where duals violate their constraints by more than 1e-7.
    kkt : float
        Largest violation of feasibility, complementarity, stationarity and balance; see
        `Certificate`. nan without duals.
    rounding, kkt_rounding : float
        Bounds of their errors from evaluation in floating point.
    resolution, kkt_resolution : float
        Gap and violation that rounding w and b (duals and K for a kernel) to double may cause.
    error, least_error : float
        Upper and lower bound of the solution's error: the smaller of its gap and its KKT violation
        in each coordinate's own units, rounding added and subtracted. If the gap is small, the
        objective is nearly optimal; if the violation is, the solution is optimal for data that
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
        """Whether the error is surely at most 1e-6: a bool, or (B,) of them."""
        return self.error <= ERROR_LIMIT

    @property
    def wrong(self) -> Entry:
        """Whether the error is surely larger than 1e-6: a bool, or (B,) of them."""
        return ~(np.asarray(self.least_error) <= ERROR_LIMIT)

    def ok(self, gap_limit: float = GAP_LIMIT, kkt_limit: float = KKT_LIMIT) -> bool:
        """Return True when both numbers are surely within their limits; nan is a refusal.

        ``kkt_limit=np.inf`` asks for the gap alone, for solutions without duals.
        """
        return bool(np.all(self.holds(gap_limit, kkt_limit)))

    def holds(
        self, gap_limit: float = GAP_LIMIT, kkt_limit: float = KKT_LIMIT
    ) -> NDArray[np.bool_]:
        """Return for each solution whether it is `ok`."""
        kkt = np.asarray(self.kkt + self.kkt_rounding <= kkt_limit) | (kkt_limit == np.inf)
        return kkt & np.asarray(self.gap + self.rounding <= gap_limit)

    def alone(self) -> Verdict:
        """Return the verdict on the first solution, in floats."""
        return Verdict(*(float(np.ravel(values)[0]) for values in vars(self).values()))

    def amended(self, where: NDArray[Any], other: Verdict) -> Verdict:
        """Return this verdict with the solutions ``where`` replaced by those of ``other``."""
        merged = {}
        for name, values in vars(self).items():
            merged[name] = np.array(np.broadcast_to(values, np.shape(self.primal)))
            merged[name][where] = getattr(other, name)
        return Verdict(**merged)

    @classmethod
    def together(cls, verdicts: Sequence[Verdict]) -> Verdict:
        """Return the verdicts on several lots of solutions as one."""
        columns = zip(*(vars(fields).values() for fields in verdicts), strict=True)
        return cls(
            *(np.concatenate([np.atleast_1d(values) for values in fields]) for fields in columns)
        )

    def fault(self) -> tuple[int, float, bool] | None:
        """Return place and error of the worst of B solutions, and whether it is surely above 1e-6.

        The error is `least_error` if it is sure, else `error`. None: all solutions are reliable.
        """
        if np.all(self.reliable):
            return None
        sure = bool(np.any(self.wrong))
        size = np.nan_to_num(self.least_error if sure else self.error, nan=np.inf)
        worst = int(np.argmax(size))
        return worst, float(np.ravel(size)[worst]), sure

    @property
    def status(self) -> str:
        """Whether one solution "holds" or "fails", or neither is sure: "undecided"."""
        return worst_of(
            status_of(self.gap, self.rounding, self.resolution, GAP_LIMIT),
            status_of(self.kkt, self.kkt_rounding, self.kkt_resolution, KKT_LIMIT),
        )


@dataclass(frozen=True)
class Certificate:
    """Worst violations over all points that were judged.

    Attributes
    ----------
    kkt : float
        Largest KKT violation: how far a value and its dual are from the graph of their loss or
        penalty, relative to the data's scale; duals out of balance with a free variable count too.
    gap : float
        Largest relative duality gap, ``(primal - dual) / max(|primal|, |dual|)``. Nothing is
        subtracted from it.
    rounding : float
        Bound of the gap's error from evaluation in floating point. The judge sums in double
        precision, and in twice that where it can't decide. A kernel's matrix is data: the problem
        that is judged is the one with the matrix as rounded.
    kkt_at, gap_at : float
        Parameter values where these occur.
    n_points : int
        Number of parameter values that were judged.
    kkt_rounding : float
        Bound of the KKT violation's error.
    resolution : float
        The largest gap that rounding the solution to double precision may cause.
    status : {"holds", "fails", "undecided"}
        Whether kkt <= 1e-7 and gap <= 1e-9, the bounds that this library promises, surely hold or
        surely fail. A number within its rounding of a bound is undecided. So is a gap beyond it by
        no more than twice the resolution: data in other units may decide. The worst of all points.
    error, error_at : float
        Largest error of a solution, and where: the smaller of its gap and its KKT violation (each
        coordinate in its own units), rounding added.
    reliable : bool
        Whether ``error`` is at most 1e-6. If it isn't, path functions and estimators warn; a
        certificate that doesn't hold may still be reliable.

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
        """Whether the error of every solution that was judged is surely at most 1e-6."""
        return self.error <= ERROR_LIMIT

    def __str__(self) -> str:
        return (
            f"certificate {SAID[self.status]}: KKT violation {self.kkt:.1e} +- "
            f"{self.kkt_rounding:.1e} (at {self.kkt_at:.6g}; limit {KKT_LIMIT:g}), "
            f"relative duality gap {self.gap:.1e} +- {self.rounding:.1e} "
            f"(at {self.gap_at:.6g}; limit {GAP_LIMIT:g}; a solution in double precision "
            f"resolves {self.resolution:.1e}), {self.n_points} points"
        )


def states(verdict: Verdict) -> NDArray[np.str_]:
    """Return the status of each solution."""
    gap = statuses(verdict.gap, verdict.rounding, verdict.resolution, GAP_LIMIT)
    kkt = statuses(verdict.kkt, verdict.kkt_rounding, verdict.kkt_resolution, KKT_LIMIT)
    return np.where((gap == "fails") | (kkt == "holds"), gap, kkt)


def evenly(count: int, most: int = MOST_EXAMINED) -> NDArray[np.int64]:
    """Return at most ``most`` of ``count`` indices, evenly spread, both ends included."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.int64))


def last_holding(verdict: Verdict) -> int:
    """Return the index of the last solution that holds with none before it that fails, or -1."""
    state = states(verdict)
    failed = np.flatnonzero(state == "fails")
    holding = np.flatnonzero(state[: failed[0] if len(failed) else None] == "holds")
    return int(holding[-1]) if len(holding) else -1


def summary(points: Floats, verdict: Verdict) -> Certificate:
    """Return the certificate: the worst of all verdicts."""
    # a NaN is a violation, never a pass
    kkt, gap = (np.where(np.isnan(v), np.inf, v) for v in (verdict.kkt, verdict.gap))
    rounding, resolution, kkt_rounding, error = (
        np.where(np.isnan(v), np.inf, v)
        for v in (verdict.rounding, verdict.resolution, verdict.kkt_rounding, verdict.error)
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
        worst_of(*set(states(verdict).tolist())),
        float(error.max()),
        float(points[error.argmax()]),
    )
