"""Scientific assertions over results: ``python -m solution_paths.reporting.check FOLDER``.

FOLDER is ``results/<suite>``. The exit status is 0 when everything holds, else 1, with one sentence
for each assertion that doesn't.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from ..benchmarking.common import read_results
from ..certify import GAP_LIMIT, KKT_LIMIT

OBJECTIVE_BOUND = 1e-8


def check(results: pd.DataFrame) -> list[str]:
    """Return one sentence for each assertion that doesn't hold over a results table."""
    if not len(results):
        return ["The results table is empty: run the suite first."]
    found = [*_failures(results), *_certificates(results), *_objectives(results)]
    return [*found, *_kinks(results), *_rates(results), *_recovered(results)]


def _where(row: object) -> str:
    return f"{row.experiment} on {row.dataset}, split {row.split}"


def _failures(results: pd.DataFrame) -> list[str]:
    """No experiment failed."""
    failed = results[results["status"] == "failed"]
    return [f"{_where(r)}, method {r.method}: failed: {r.message}" for r in failed.itertuples()]


def _certificates(results: pd.DataFrame) -> list[str]:
    """Every path has a certificate, and it is within the bounds of the design."""
    rows = results[results["metric"] == "certificate"]
    if not len(rows):
        return ["No path has a certificate: expected one row 'certificate' for each path."]
    # Written so that nan fails as well.
    bad = rows[~((rows["kkt"] <= KKT_LIMIT) & (rows["gap"] <= GAP_LIMIT) & (rows["value"] == 1.0))]
    return [
        f"{_where(r)}: the certificate fails (KKT violation {r.kkt:.3g}, bound {KKT_LIMIT:g}; "
        f"gap {r.gap:.3g}, bound {GAP_LIMIT:g})."
        for r in bad.itertuples()
    ]


def _objectives(results: pd.DataFrame) -> list[str]:
    """Objective values agree with the oracle's."""
    rows = results[results["metric"] == "objective_difference"]
    bad = rows[~(rows["value"] <= OBJECTIVE_BOUND)]
    return [
        f"{_where(r)}: the objective differs from the oracle's by {r.value:.3g} relative, bound "
        f"{OBJECTIVE_BOUND:g}."
        for r in bad.itertuples()
    ]


def _kinks(results: pd.DataFrame) -> list[str]:
    """Every path has kinks, fewer than n log n of them where n is known to be at least 100."""
    rows = results[results["metric"] == "kinks"]
    rows = rows[rows["status"] == "ok"]
    found = [f"{_where(r)}: the path has no kink." for r in rows.itertuples() if not r.value > 0]
    sizes = results[results["metric"] == "n_train"].groupby("dataset")["value"].max()
    for r in rows[rows["experiment"].isin(["path", "kinks"])].itertuples():
        n = r.hyper.get("n", sizes.get(r.dataset, np.nan))
        if n >= 100 and not r.value < n * np.log(n):
            found.append(f"{_where(r)}: {r.value:.0f} kinks are not below n log n, n = {n:.0f}.")
    return found


def _rates(results: pd.DataFrame) -> list[str]:
    """Require exact steps that agree with the decision function, TPR falling, TNR rising."""
    rows = results[results["metric"] == "step_errors"]
    found = [
        f"{_where(r)}: {r.value:.0f} decisions differ from the exact steps."
        for r in rows.itertuples()
        if r.value != 0
    ]
    for metric, sign in (("step_tpr", -1.0), ("step_tnr", 1.0)):
        steps = results[results["metric"] == metric]
        for (dataset, split), group in steps.groupby(["dataset", "split"]):
            found += _trend(group, metric, sign, f"{dataset}, split {split}")
    return found


def _trend(group: pd.DataFrame, metric: str, sign: float, where: str) -> list[str]:
    """Monotone up to one tenth: on test data single samples may step the other way."""
    tau = np.array([h["tau"] for h in group["hyper"]])
    value = sign * group["value"].to_numpy()[np.argsort(tau, kind="stable")]
    if not value[-1] > value[0]:
        return [f"{where}: {metric} ends where it began, or beyond: it should move with tau."]
    back = float(np.max(np.maximum.accumulate(value) - value))
    return [f"{where}: {metric} goes back by {back:.3g}, bound 0.1."] if not back <= 0.1 else []


def _recovered(results: pd.DataFrame) -> list[str]:
    """Require that a recovered solution is as good as the path itself."""
    rows = results[results["method"].isin(["recover", "recover_w"]) & (results["metric"] == "time")]
    bad = rows[~(rows["gap"].abs() <= GAP_LIMIT)]
    return [f"{_where(r)}: a recovered solution has the gap {r.gap:.3g}." for r in bad.itertuples()]


def main(arguments: list[str] | None = None) -> int:
    """Check every paper of a suite; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="results/<suite>")
    folder = parser.parse_args(arguments).folder
    files = sorted(folder.glob("*/results.parquet"))
    if not files:
        print(f"{folder} holds no <paper>/results.parquet: run the suite first.", file=sys.stderr)
        return 1
    failed = 0
    for file in files:
        results = read_results(file)
        sentences = check(results)
        for sentence in sentences:
            print(f"{file.parent.name}: {sentence}", file=sys.stderr)
        failed += len(sentences)
        paths = int((results["metric"] == "certificate").sum())
        print(
            f"{file.parent.name}: {len(results)} rows, {paths} paths, {len(sentences)} complaints"
        )
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
