"""Shared test settings.

Hypothesis repeats the same examples on every run, so that a red build is always a real change. To explore new ones:
`HYPOTHESIS_PROFILE=explore make test`.
"""

import atexit
import contextlib
import gc
import importlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import matplotlib
import pytest
from hypothesis import HealthCheck, settings

from tests.programs import Programs

matplotlib.use("Agg")
# Spark's Java compiles as little as it can: it lives for seconds.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

_TESTS = Path(__file__).parent
_ALL_TESTS = pytest.Config.ArgsSource.TESTPATHS  # no file was named
_EARLY = ("planning", "audit", "test_distances.py", "report")  # folders, or files in any folder
_MEMORY = Path("/dev/shm")
if "TMPDIR" not in os.environ and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > 1 << 30:
    # Ledgers wait for the disk at every charge, and these files may well be lost.
    os.environ["TMPDIR"], tempfile.tempdir = str(_MEMORY), None

settings.register_profile("repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", deadline=None, max_examples=1000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.fixture(scope="session")
def programs() -> Iterator[Programs]:
    """Runs `pathveil` as a program of its own."""
    made = Programs()
    yield made
    made.close()


def pytest_collection(session: pytest.Session) -> None:
    """What collection makes is there to stay: looking for garbage in it again and again took a third of the time."""
    gc.disable()
    if os.environ.get("PYTEST_XDIST_WORKER") == "gw1" and session.config.args_source is _ALL_TESTS:
        # Rewriting the assertions of all files takes seconds, and all processes come to the same file at the same time.
        # When one begins at the end, each finds on the disk what the other has done.
        for path in sorted(_TESTS.rglob("test_*.py"), reverse=True):
            with contextlib.suppress(Exception, pytest.skip.Exception):  # collection will say what is wrong
                importlib.import_module(".".join(path.relative_to(_TESTS.parent).with_suffix("").parts))


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(100_000, 10, 10)  # and what tests load later is large enough to be looked through less often
    gc.enable()


# At the very end, libraries look for what they left behind; pytest, which does so twice, needs what tests left only.
atexit.register(gc.unfreeze)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever asks for a Spark session or a browser is marked so; `make test` leaves it to `make test-all`.

    Two processes start at the first test and in the middle. What comes first here compiles the same loops as
    `tests/words`, so that one of the processes does it, and the other finds them on the disk when it comes there.
    """
    items.sort(key=lambda item: min(map(_EARLY.index, {*item.path.parts} & {*_EARLY}), default=len(_EARLY)))
    for item in items:
        for name in ("spark", "browser"):
            if name in getattr(item, "fixturenames", ()):
                item.add_marker(name)
