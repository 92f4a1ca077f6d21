"""A suite of the quantile SVM paper that takes seconds, run once in a session."""

import copy
from pathlib import Path

import pandas as pd

from helpers.small_runs import small_run
from path_benchmark.papers.quantile_svm.experiments import PAPER
from path_benchmark.reporting.study import Study, make_study
from path_benchmark.runs.rows import read_results


def small_config() -> dict:
    """A configuration of the same shape as the workflow's, of seconds."""
    data = {"place": "Table 1", "lam": 1.0e-2, "sizes": [0.6, 0.2, 0.2], "scaling": "none"}
    taus = [0.2, 0.5, 0.8]
    paper = {
        "title": "Quantile SVM",
        "citation": "The paper.",
        "settings": {"intercept_scaling": 1.0},
        "datasets": {
            "two_moons": data,
            "quantile_toy": data,
            "gaussian_classes": data,
            "breast_cancer": {**data, "scaling": "symmetric"},
        },
        "experiments": {
            "path": None,
            "scaling": {"scalings": ["none", "symmetric"], "biases": ["penalised", "free", "none"]},
            "choose_lam": {"grid": [0.01, 0.1]},
            "timing": {
                "methods": ["path", "recover", "liblinear", "lbfgsb", "cvxpy"],
                "taus": taus,
                "repeats": 2,
            },
            "published": {"residuals": [1e-6, 1e-13], "taus": taus, "limit_s": 60.0},
            "start_sets": {
                "scalings": ["none", "unit_interval"],
                "margins": [1e-4],
                "residual": 1e-13,
                "taus": taus,
                "limit_s": 60.0,
            },
            "boundary": {"taus": taus},
            "kinks": {"sizes": [60, 120]},
            "known": {"sizes": [60, 120], "n_test": 50},
            "probability": {"methods": ["path", "platt", "isotonic"], "bins": 5},
            "explore": {"lams": [0.01, 0.1], "grid": [0.25, 0.5, 0.75]},
        },
        "suites": {
            "tiny": {
                "path": {"datasets": ["two_moons", "breast_cancer"], "splits": 2},
                "scaling": {"datasets": ["two_moons"], "splits": 2},
                "choose_lam": {"datasets": ["two_moons"], "splits": 1},
                "timing": {"datasets": ["two_moons"], "splits": 1},
                "published": {"datasets": ["two_moons"], "splits": 1},
                "start_sets": {"datasets": ["two_moons"], "splits": 1},
                "boundary": {"datasets": ["quantile_toy"], "splits": 1},
                "kinks": {"datasets": ["gaussian_classes"], "splits": 2},
                "known": {"datasets": ["gaussian_classes"], "splits": 1},
                "probability": {"datasets": ["two_moons"], "splits": 2},
                "explore": {"datasets": ["two_moons"], "splits": 1},
            }
        },
    }
    papers = {"quantile_svm": copy.deepcopy(paper)}
    return {"offline": True, "suites": {"tiny": "small"}, "papers": papers}


SUITES: list[tuple[Path, Study]] = []


def shared_suite(tmp_path_factory) -> tuple[Path, Study]:
    """Return (results/<suite>, its study); every job is run once in a session of pytest."""
    if not SUITES:
        folder = tmp_path_factory.mktemp("results") / "tiny"
        SUITES.append((folder, small_study(folder / "quantile_svm")))
    return SUITES[0]


def small_study(folder: Path) -> Study:
    """Run every job of the small configuration and collect it."""
    return small_run(PAPER, small_config(), folder, "tiny")


def study_of(results: pd.DataFrame, folder: Path, curves: pd.DataFrame | None = None) -> Study:
    """Return the study of the small configuration with these results."""
    curves = read_results(folder / "curves.parquet") if curves is None else curves
    return make_study(PAPER, small_config(), "tiny", results, curves)
