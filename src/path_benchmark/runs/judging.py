"""Rows of every paper's experiments about a path: its certificate, and an oracle's objectives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from path_benchmark import solvers
from solution_paths import verify
from solution_paths.problem import Product
from solution_paths.verify.verdict import Certificate, Verdict

from ..data.protocols import Split
from ..solvers import Answer
from ..solvers.clarabel_solver import by_clarabel
from .rows import Rows, or_none

# Largest number of rows at which objectives are compared with the oracle's: a solve then takes well
# under a second.
ORACLE_ROWS = 1000
# Largest breakpoints x entries of the data (of the matrix, with a kernel) at which every breakpoint
# is judged, which takes some minutes. The row's message has the number of points.
LARGEST_CERTIFICATE = 1e11


def data_of(path: Any) -> Any:
    """Return a path's data: the kernel matrix, or the rows of the first group of losses."""
    X = path.line.start.losses[0].X
    if path.line.start.kernel is not None:
        return path.line.start.kernel
    return X.factors[-1] if isinstance(X, Product) else X


def add_certificate(rows: Rows, path: Any, **columns: Any) -> dict[str, Any]:
    """Add the certificate of a path as a row; return the columns of other rows of the path.

    Every breakpoint is judged, or a sample of 1,000 if that would take many minutes.
    """
    X = data_of(path)
    entries = X.shape[0] ** 2 if not path.linear else X.nnz if sp.issparse(X) else X.size
    everywhere = len(path.breakpoints) * entries <= LARGEST_CERTIFICATE
    certificate = path.certify(at_breakpoints=True) if everywhere else path.certify(n_random=1000)
    return add_given_certificate(
        rows, path, certificate, "" if everywhere else ", a sample", **columns
    )


def add_given_certificate(
    rows: Rows, path: Any, certificate: Certificate, remark: str = "", **columns: Any
) -> dict[str, Any]:
    """Add a path's certificate, computed before; return the columns of other rows of the path."""
    carried = {
        "method": "path",
        "n_breakpoints": len(path.breakpoints),
        "kkt": or_none(certificate.kkt),
        "gap": or_none(certificate.gap),
        "rounding": or_none(certificate.rounding),
        **columns,
    }
    status = {"holds": "ok", "undecided": "certificate undecided"}.get(
        certificate.status, "certificate failed"
    )
    rows.add(
        "certificate",
        float(certificate.ok),
        **carried,
        status=status,
        message=f"{certificate}{remark}",
    )
    return carried


def verdict_columns(verdict: Verdict) -> dict[str, Any]:
    """Return the columns of a verdict: KKT violation, gap and rounding."""
    return {name: or_none(getattr(verdict, name)) for name in ("kkt", "gap", "rounding")}


def solver_columns(name: str, answer: Answer, verdict: Verdict) -> dict[str, Any]:
    """Return the columns of a row about a solver's answer and its verdict."""
    return {
        "method": name,
        "method_version": solvers.get(name).version(),
        "cpu_s": or_none(answer.cpu_s),
        "wall_s": or_none(answer.wall_s),
        "status": "ok" if answer.status == "solved" else answer.status,
        "message": answer.message,
        **verdict_columns(verdict),
    }


def answer_of(path: Any, t: float) -> Answer:
    """Return a path's solution at t, for the judge."""
    w = path.coef(t) if path.linear else None
    return Answer(alpha=path.dual(t), w=w, b=path.intercept(t))


def add_oracle_comparison(rows: Rows, path: Any, points: Iterable[float], **columns: Any) -> None:
    """Add the largest relative difference of the path's objective from Clarabel's, if n is small.

    The same judge evaluates both.
    """
    if data_of(path).shape[0] > ORACLE_ROWS:
        return
    worst = 0.0
    for t in points:
        problem, answer = path.stated_at(float(t))
        theirs, ours = (
            float(verify.judge(problem, candidate).primal)
            for candidate in (by_clarabel(problem), answer)
        )
        worst = max(worst, abs(ours - theirs) / abs(theirs))
    rows.add("objective_difference", worst, **columns)


def describe(rows: Rows, parts: Split, raw_training_X: Any = None) -> None:
    """Add sizes, shares of positives and zeros of a split's parts.

    Zeros are counted in ``raw_training_X`` if it is given, as a scaling may move zeros.
    """
    named = {"train": parts.train, "validation": parts.validation, "test": parts.test}
    for name, part in named.items():
        if part is None:
            continue
        rows.add(f"n_{name}", len(part.y), method="data")
        if len(part.y) and np.isin(part.y, (-1.0, 1.0)).all():
            rows.add(f"positive_share_{name}", float(np.mean(part.y > 0)), method="data")
    X = parts.train.X if raw_training_X is None else raw_training_X
    filled = X.count_nonzero() if sp.issparse(X) else np.count_nonzero(X)
    rows.add("dim", X.shape[1], method="data")
    rows.add("zero_percent", 100.0 * (1.0 - filled / np.prod(X.shape)), method="data")
