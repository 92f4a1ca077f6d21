"""What every paper's experiments write about a path: its certificate, and an oracle's opinion."""

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

# Objective values are compared with the oracle's where a solve takes well under a second.
ORACLE_ROWS = 1000
# Breakpoints times entries of the data (of the matrix, with a kernel) up to which every breakpoint
# is looked at: some minutes. The row's message says how many points there were.
LARGEST_CERTIFICATE = 1e11


def data_of(path: Any) -> Any:
    """Return the rows that a path is of: of a statement the map of its first group of losses."""
    X = path.line.start.losses[0].X
    if path.line.start.kernel is not None:
        return path.line.start.kernel
    return X.factors[-1] if isinstance(X, Product) else X


def add_certificate(rows: Rows, path: Any, **columns: Any) -> dict[str, Any]:
    """Add the certificate of a path as a row; return what other rows of the path carry.

    Every breakpoint is looked at, or a sample of 1,000 where that would take many minutes.
    """
    X = data_of(path)
    entries = X.shape[0] ** 2 if not path.linear else X.nnz if sp.issparse(X) else X.size
    everywhere = len(path.breakpoints) * entries <= LARGEST_CERTIFICATE
    found = path.certify(at_breakpoints=True) if everywhere else path.certify(n_random=1000)
    return add_found(rows, path, found, "" if everywhere else ", a sample", **columns)


def add_found(
    rows: Rows, path: Any, found: Certificate, remark: str = "", **columns: Any
) -> dict[str, Any]:
    """Add a certificate that a path was found to have; return what other rows of it carry."""
    carried = {
        "method": "path",
        "n_breakpoints": len(path.breakpoints),
        "kkt": or_none(found.kkt),
        "gap": or_none(found.gap),
        "rounding": or_none(found.rounding),
        **columns,
    }
    status = {"holds": "ok", "undecided": "certificate undecided"}.get(
        found.status, "certificate failed"
    )
    rows.add(
        "certificate",
        float(found.ok),
        **carried,
        status=status,
        message=f"{found}{remark}",
    )
    return carried


def verdict_columns(verdict: Verdict) -> dict[str, Any]:
    """Return the columns that hold what the judge found."""
    return {name: or_none(getattr(verdict, name)) for name in ("kkt", "gap", "rounding")}


def solver_columns(name: str, answer: Answer, verdict: Verdict) -> dict[str, Any]:
    """Columns of a row about a solver's answer, as the judge sees it."""
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
    """Return a path's solution as it states it, for the judge."""
    w = path.coef(t) if path.linear else None
    return Answer(alpha=path.dual(t), w=w, b=path.intercept(t))


def add_oracle_comparison(rows: Rows, path: Any, points: Iterable[float], **columns: Any) -> None:
    """Add the largest relative difference of the path's objective from Clarabel's, if n is small.

    The path's answer and the oracle's are scored by the one judge.
    """
    if data_of(path).shape[0] > ORACLE_ROWS:
        return
    worst = 0.0
    for t in points:
        problem, own = path.stated_at(float(t))
        theirs, ours = (
            float(verify.judge(problem, one).primal) for one in (by_clarabel(problem), own)
        )
        worst = max(worst, abs(ours - theirs) / abs(theirs))
    rows.add("objective_difference", worst, **columns)


def describe(rows: Rows, parts: Split, raw_training_X: Any = None) -> None:
    """Add sizes, shares of positives and zeros of a split's parts.

    Zeros are counted in ``raw_training_X`` where it is given, as a scaling would move them.
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
