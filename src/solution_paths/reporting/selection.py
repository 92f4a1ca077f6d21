"""What tables, figures and claims are made of: selections from a results table, and verdicts."""

from __future__ import annotations

import numpy as np
import pandas as pd

TITLES = {
    "breast_cancer": "Breast cancer",
    "gaussian_classes": "Two Gaussian classes",
    "quantile_toy": "Two clouds",
    "two_moons": "Two moons",
}
SUPPORTED, NOT_SUPPORTED, INCONCLUSIVE = "supported", "not supported", "inconclusive"


def title(dataset: str) -> str:
    """Name of a data set as people write it."""
    return TITLES.get(dataset, dataset.replace("_", " ").capitalize())


def only(results: pd.DataFrame, **wanted: object) -> pd.DataFrame:
    """Rows whose columns have the wanted values and that hold a number."""
    keep = results["value"].notna()
    for column, value in wanted.items():
        keep &= results[column] == value
    return results[keep]


def hyper(rows: pd.DataFrame, key: str) -> pd.Series:
    """One hyper-parameter of each row, None where it has none."""
    return pd.Series([h.get(key) for h in rows["hyper"]], index=rows.index, dtype=object)


def mean(rows: pd.DataFrame) -> tuple[float, float, int]:
    """Mean, standard deviation and number of the values."""
    values = rows["value"].to_numpy(float)
    if not len(values):
        return np.nan, np.nan, 0
    return values.mean(), values.std(ddof=1) if len(values) > 1 else np.nan, len(values)


def failures(results: pd.DataFrame, *experiments: str) -> list[str]:
    """List each kind of failure in some experiments (in all, if none is named) in a sentence."""
    bad = results[~results["status"].isin(["ok", "inaccurate"])]
    if experiments:
        bad = bad[bad["experiment"].isin(experiments)]
    groups = bad.groupby(["experiment", "dataset", "method", "status", "message"], dropna=False)
    return [
        f"{title(dataset)}, {experiment}, {method}: {status} ({short(message)}); {len(rows)} rows."
        for (experiment, dataset, method, status, message), rows in groups
    ]


def short(message: str | None, most: int = 200) -> str:
    """Return a message cut to a length that fits a table."""
    text = message or "no reason given"
    return text if len(text) <= most else text[: most - 1] + "…"


def claim(claim: str, dataset: str, verdict: str, evidence: str) -> dict:
    """Return one row of the claims table."""
    return {"claim": claim, "dataset": dataset, "verdict": verdict, "evidence": evidence}


def verdict(holds: bool) -> str:
    """Return the verdict on a sentence that holds, or doesn't."""
    return SUPPORTED if holds else NOT_SUPPORTED
