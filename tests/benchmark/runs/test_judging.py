"""Certificates of paths, and oracles, as rows of results."""

from types import SimpleNamespace

import numpy as np
import pytest

from path_benchmark.runs import judging
from path_benchmark.runs.rows import Rows
from solution_paths import svm_path


def test_a_paths_certificate_is_a_row_and_the_oracle_is_asked_where_problems_are_small():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(16, 2))
    path, rows = svm_path(X, np.where(X[:, 0] > rng.normal(size=16), 1, 0)), Rows()
    carried = judging.add_certificate(rows, path, kernel="linear")
    (row,) = rows.rows
    assert (row["value"], row["status"]) == (1.0, "ok")
    assert carried["n_breakpoints"] == len(path.breakpoints)
    assert row["gap"] == path.certify(at_breakpoints=True).gap
    assert "sample" not in row["message"]
    states = (("undecided", "certificate undecided"), ("fails", "certificate failed"))
    for status, said in states:
        found = SimpleNamespace(status=status, ok=False, kkt=np.nan, gap=np.inf, rounding=0.1)
        judging.add_given_certificate(rows, path, found, ", a sample")
        told = [rows.rows[-1][k] for k in ("value", "status", "kkt", "gap", "rounding")]
        assert told == [0.0, said, None, None, 0.1]
        assert rows.rows[-1]["message"].endswith(", a sample")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judging, "LARGEST_CERTIFICATE", len(path.breakpoints) * X.size - 1)
        judging.add_certificate(rows, path)
    assert rows.rows[-1]["message"].endswith(", a sample")


@pytest.mark.parametrize("factor", [0.9, 1.0, 1.1])
def test_the_oracles_objective_is_compared_by_its_share_at_every_point(factor, monkeypatch):
    """The largest difference is told, of whichever sign and wherever it is."""
    X = np.random.default_rng(4).normal(size=(16, 2))
    path, rows = svm_path(X, np.where(X[:, 0] > 0, 1, 0)), Rows()
    judged = judging.verify.judge
    factors = iter([1.0, 1.0, 1.0, factor, 1.0, 1.0])  # the oracle's and the path's, in turn

    def judge(problem, answer):
        return SimpleNamespace(primal=judged(problem, answer).primal * next(factors))

    monkeypatch.setattr(judging.verify, "judge", judge)
    monkeypatch.setattr(judging, "ORACLE_ROWS", 16)
    judging.add_oracle_comparison(rows, path, [0.1, 0.3, 0.5], method="path")
    assert rows.rows[0]["value"] == pytest.approx(abs(factor - 1.0), abs=1e-8)
    monkeypatch.setattr(judging, "ORACLE_ROWS", 15)
    judging.add_oracle_comparison(rows, path, [0.1], method="path")
    assert len(rows.rows) == 1  # one row more is too many for the oracle
