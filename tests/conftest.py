"""Hypothesis profiles: ``HYPOTHESIS_PROFILE=long pytest tests/test_engine_properties.py``.

Also a clean copy of the checkout, for tests that run the workflow.
"""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "ci",
    max_examples=60,
    derandomize=True,
    deadline=None,
    suppress_health_check=SLOW,
    phases=[Phase.explicit, Phase.generate],  # the long profile makes failures small
)
settings.register_profile("long", max_examples=1500, deadline=None, suppress_health_check=SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

collect_ignore = ["typing_client.py"]  # a type checker reads it, nothing runs it

# Files that take a minute or more: first where others run beside them, so that none is left to run
# alone; last where one runs after the other, so that what is found cheaply is found soon.
LONGEST = (
    "test_workflow.py",
    "test_estimators.py",
    "test_page_in_browser.py",
    "test_faults.py",
    "test_survey.py",
    "test_reference.py",
    "test_distributionally_robust_paper.py",
    "test_sparse_rows.py",
)

ROOT = Path(__file__).resolve().parents[1]
NOT_IN_GIT = (".git", ".venv", ".snakemake", "data", "results", "logs", "build")


def pytest_collection_modifyitems(config, items):
    parallel = hasattr(config, "workerinput")
    items.sort(key=lambda item: (item.path.name in LONGEST) != parallel)


def clean_copy(target):
    """Copy the checkout, without anything fetched or computed.

    Compiled code comes along: numba's caches are as good there as here.
    """

    def ignored(folder, names):
        return [name for name in names if Path(folder) == ROOT and name.startswith(NOT_IN_GIT)]

    return Path(shutil.copytree(ROOT, target, ignore=ignored))


@pytest.fixture
def checkout(tmp_path):
    """Return a clean copy of the checkout."""
    return clean_copy(tmp_path / "checkout")
