"""Shared test settings.

Hypothesis repeats the same examples on every run, so that a red build is always a real change. To explore new ones:
`HYPOTHESIS_PROFILE=explore make test`.
"""

import gc
import os

import matplotlib
import pytest
from hypothesis import HealthCheck, settings

matplotlib.use("Agg")
# Spark's Java compiles as little as it can: it lives for seconds.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

settings.register_profile("repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", deadline=None, max_examples=1000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


def pytest_collection() -> None:
    """What collection makes is there to stay: looking for garbage in it again and again took a third of the time."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever asks for a Spark session or a browser is marked so; `make test` leaves it to `make test-all`."""
    for item in items:
        for name in ("spark", "browser"):
            if name in getattr(item, "fixturenames", ()):
                item.add_marker(name)
