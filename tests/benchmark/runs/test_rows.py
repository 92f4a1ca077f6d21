"""Rows of results."""

import numpy as np
import pytest

from path_benchmark.runs.rows import or_none


@pytest.mark.parametrize("value", [None, np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_written_as_none(value):
    assert or_none(value) is None
    assert or_none(np.float32(0.5)) == 0.5
