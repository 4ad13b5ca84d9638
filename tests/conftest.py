"""Shared test settings.

Hypothesis repeats the same examples on every run, so that a red build is always a real change. To explore new ones:
`HYPOTHESIS_PROFILE=explore make test`.
"""

import os

import matplotlib
from hypothesis import HealthCheck, settings

matplotlib.use("Agg")
# Spark's Java compiles as little as it can: it lives for seconds.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

settings.register_profile("repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", deadline=None, max_examples=1000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
