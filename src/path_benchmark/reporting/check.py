"""Scientific assertions over results that every paper's must meet; each gives sentences."""

from __future__ import annotations

import pandas as pd

from solution_paths.verify.verdict import GAP_LIMIT, KKT_LIMIT

OBJECTIVE_LIMIT = 1e-8


def check(results: pd.DataFrame) -> list[str]:
    """Return one sentence for each assertion that doesn't hold over a results table."""
    if not len(results):
        return ["The results table is empty: run the suite first."]
    complaints = [*_failures(results), *_certificates(results)]
    return [*complaints, *_objectives(results), *_steps(results)]


def where(row: object) -> str:
    """Say which result a row is about."""
    return f"{row.experiment} on {row.dataset}, split {row.split}"


def _failures(results: pd.DataFrame) -> list[str]:
    """No experiment failed."""
    failed = results[results["status"] == "failed"]
    return [f"{where(r)}, method {r.method}: failed: {r.message}" for r in failed.itertuples()]


def _certificates(results: pd.DataFrame) -> list[str]:
    """Every path has a certificate, and it is within the bounds of the design."""
    rows = results[results["metric"] == "certificate"]
    if not len(rows):
        return ["No path has a certificate: expected one row 'certificate' for each path."]
    # Written so that nan fails as well.
    bad = rows[~((rows["kkt"] <= KKT_LIMIT) & (rows["gap"] <= GAP_LIMIT) & (rows["value"] == 1.0))]
    return [
        f"{where(r)}: the certificate fails (KKT violation {r.kkt:.3g}, bound {KKT_LIMIT:g}; "
        f"gap {r.gap:.3g}, bound {GAP_LIMIT:g})."
        for r in bad.itertuples()
    ]


def _objectives(results: pd.DataFrame) -> list[str]:
    """Objective values agree with the oracle's."""
    rows = results[results["metric"] == "objective_difference"]
    bad = rows[~(rows["value"] <= OBJECTIVE_LIMIT)]
    return [
        f"{where(r)}: the objective differs from the oracle's by {r.value:.3g} relative, bound "
        f"{OBJECTIVE_LIMIT:g}."
        for r in bad.itertuples()
    ]


def _steps(results: pd.DataFrame) -> list[str]:
    """Decisions agree with the exact step functions that a path states."""
    rows = results[results["metric"] == "step_errors"]
    bad = rows[~(rows["value"] == 0)]
    return [
        f"{where(r)}: {r.value:.0f} decisions differ from the exact steps."
        for r in bad.itertuples()
    ]
