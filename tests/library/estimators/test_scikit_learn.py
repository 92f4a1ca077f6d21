"""What scikit-learn asks of all estimators."""

import warnings

import pytest
from sklearn.utils.estimator_checks import check_estimator

from helpers.estimators import ESTIMATORS
from solution_paths import estimators

pytestmark = pytest.mark.slow

# Each once, as it is by default; what a parameter that is chosen adds is the same for all.
CHECKED = {name: (name, {}) for name in ESTIMATORS} | {
    "DrLAD": ("DrLAD", {"s": 10.0}),
    "DrLAD-cv": ("DrLAD", {"lam2": 0.01, "cv": 2}),
    "L1SVC-cv": ("L1SVC", {"cv": 2}),
    "QuantileSVC-probability": ("QuantileSVC", {"probability": True}),
}
# What no check of scikit-learn's knows.
REFUSED = {"PathSVOR": {"check_classifiers_classes": "an order of strings isn't guessed"}}


@pytest.mark.parametrize("case", CHECKED)
def test_scikit_learns_checks(case):
    name, options = CHECKED[case]
    model, expected = getattr(estimators, name)(**options), REFUSED.get(name, {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        said = check_estimator(model, expected_failed_checks=expected, on_skip=None)
    assert len(said) > 45
    assert {check["status"] for check in said} <= {"passed", "skipped", "xfail"}
    failed = {check["check_name"] for check in said if check["status"] == "xfail"}
    assert failed == set(expected)  # what fails for a reason does fail
    skipped = {check["check_name"] for check in said if check["status"] == "skipped"}
    assert skipped <= {"check_array_api_input"}
