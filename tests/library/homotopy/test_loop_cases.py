"""Every problem that walks once failed on, as small as it could be made.

``data/cases/engine.json`` holds them. A case with an ``open`` entry is not mended yet; the entry
says what goes wrong, and must go when it is.
"""

import json

import numpy as np
import pytest

from helpers import DATA
from helpers.integer_problems import (
    check_quantile,
    check_svm,
    check_weighted_svm,
    check_weighted_svr,
)

pytestmark = pytest.mark.slow

CASES = json.loads((DATA / "cases" / "engine.json").read_text())
CHECKS = {
    "quantile": (check_quantile, ["lam"]),
    "svm": (check_svm, []),
    "weighted_svm": (check_weighted_svm, ["before", "after"]),
    "weighted_svr": (check_weighted_svr, ["before", "after", "epsilon"]),
}


def _parameter(case):
    marks = [pytest.mark.xfail(strict=True, reason=case["open"])] if "open" in case else []
    return pytest.param(case, id=case["name"], marks=marks)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("case", [_parameter(case) for case in CASES])
def test_stored_case(case):
    check, names = CHECKS[case["path"]]
    rest = [np.array(v) if isinstance(v := case[name], list) else v for name in names]
    check(np.array(case["X"]), np.array(case["y"]), case["kernel"], *rest)
