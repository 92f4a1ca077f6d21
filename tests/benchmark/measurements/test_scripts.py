"""Every script of measurements/ can be imported; computed again, a changed value is noticed."""

import importlib

import again
import pandas as pd
import pytest

from helpers import ROOT

SCRIPTS = sorted(file.stem for file in (ROOT / "measurements").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_import(script):
    importlib.import_module(script)


def _rows(*values):
    same = {"method": "path", "hyper_parameters": "{}", "kernel": "rbf", "repeat": None}
    return pd.DataFrame([{**same, "metric": metric, "value": value} for metric, value in values])


def test_a_value_that_changed_or_is_gone_is_noticed_and_seconds_are_not():
    stored = _rows(("error", 0.25), ("error", 0.5), ("path_seconds", 3.0), ("kinks", 7.0))
    assert again.differences(stored, stored).empty
    slower = _rows(("error", 0.25), ("error", 0.5), ("path_seconds", 4.0), ("kinks", 7.0))
    assert again.differences(stored, slower).empty
    other = _rows(("error", 0.25), ("error", 0.5001), ("path_seconds", 3.0), ("kinks", 7.0))
    assert again.differences(stored, other)["computed"].tolist() == [0.5001]
    fewer = _rows(("error", 0.25), ("error", 0.5), ("path_seconds", 3.0))
    assert again.differences(stored, fewer)["stored"].tolist() == [7.0]
    failed = _rows(("error", None), ("error", 0.5), ("path_seconds", 3.0), ("kinks", 7.0))
    assert again.differences(stored, failed)["stored"].tolist() == [0.25]
