"""Hypothesis profiles: ``HYPOTHESIS_PROFILE=long pytest tests/test_engine_properties.py``."""

import os

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
