"""Hypothesis profiles: ``HYPOTHESIS_PROFILE=long pytest tests/library/homotopy``.

``--write-known`` writes down the numbers of `helpers.known`. `checkout`, `finished_checkout`: for
tests that run the workflow.
"""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

pytest.register_assert_rewrite("helpers")

from helpers import known  # noqa: E402
from helpers.workflow import clean_copy, finished_once  # noqa: E402

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
    "benchmark/workflow/test_workflow.py",
    "library/estimators/test_scikit_learn.py",
    "benchmark/reporting/test_page_in_browser.py",
    "benchmark/workflow/test_faults.py",
    "library/models/test_every_model.py",
    "benchmark/runs/test_reference.py",
    "benchmark/papers/test_distributionally_robust.py",
    "library/models/test_sparse_rows.py",
)


def pytest_addoption(parser):
    parser.addoption("--write-known", action="store_true", help="write tests/data/known anew")


def pytest_configure(config):
    known.WRITE = config.getoption("--write-known")


def pytest_collection_modifyitems(config, items):
    parallel = hasattr(config, "workerinput")
    items.sort(
        key=lambda item: (
            (item.nodeid.partition("::")[0].removeprefix("tests/") in LONGEST) != parallel
        )
    )


@pytest.fixture
def checkout(tmp_path):
    """Return a clean copy of the checkout."""
    return clean_copy(tmp_path / "checkout")


@pytest.fixture(scope="session")
def finished_original(tmp_path_factory):
    """Run a suite of two cells, once for all tests of a process, which only copy it."""
    return finished_once(tmp_path_factory.mktemp("finished"))


@pytest.fixture
def finished_checkout(finished_original, tmp_path):
    """Return a copy of the checkout in which a suite of two cells is finished."""
    return Path(shutil.copytree(finished_original, tmp_path / "checkout"))
