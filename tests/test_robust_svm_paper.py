"""The robust SVM paper's timing experiments on small real runs."""

import numpy as np
import pytest

from path_benchmark.papers.robust_svm import outputs
from path_benchmark.papers.robust_svm.experiments import PAPER
from path_benchmark.reporting.study import hyper
from small_runs import small_run
from test_quantile_svm_paper import repository_config


def config():
    """Return the repository's configuration, its quick suite made smaller still."""
    whole = repository_config() | {"offline": True}
    paper = whole["papers"]["robust_svm"]
    small = {"splits": 1, "costs": [0.1, 1.0], "repeats": 2, "kernels": ["rbf"]}
    paper["suites"]["quick"] = {
        "cost": {"datasets": ["breast_cancer"], **small},
        "candidates": {"datasets": ["drlad_simulation"], "candidates": [2, 4], **small},
    }
    whole["papers"] = {"robust_svm": paper}
    return whole


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return small_run(PAPER, config(), tmp_path_factory.mktemp("robust_svm"))


def test_cccp_is_timed_as_users_run_it_and_at_matched_accuracy(study):
    found = outputs.cost_ratios(study).set_index(["path", "tolerance"])
    assert set(found.index) == {(p, t) for p in ("OP-theta", "OP-s") for t in (1e-3, 1e-6)}
    assert (found["op"] > 0).all()
    for path in ("OP-theta", "OP-s"):
        loose, tight = found.loc[path, 1e-3], found.loc[path, 1e-6]
        assert loose["op"] == tight["op"]
        assert np.isnan(tight["excess"])
        assert -0.5 < loose["excess"] < 1.0
        assert loose["ratio"] == loose["op"] / loose["cccp"]


def test_paths_are_timed_with_their_check_whose_share_stands_beside(study):
    share = study.only(experiment="cost", metric="check_share")
    assert share.groupby("method").size().to_dict() == {"op_s": 2, "op_theta": 2}
    assert share["value"].between(-1.0, 1.0).all()
    assert outputs.cost_ratios(study)["check"].notna().all()


def test_every_repeat_of_every_number_of_candidates_is_a_row(study):
    own = study.only(experiment="candidates", metric="time")
    counts = own.groupby(["method", hyper(own, "candidates")]).size().to_dict()
    expected = {("op_s", 0): 2, ("op_theta", 0): 2}
    expected |= {(f"cccp_{h}", k): 2 for h in ("s", "theta") for k in (2, 4)}
    assert counts == expected
