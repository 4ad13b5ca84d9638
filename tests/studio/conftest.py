"""One studio for all tests that only ask it something."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.studio.live import PRIVATE_WORDS, TRIPS, LiveStudio, Moments, studio


@pytest.fixture(scope="session")
def all_moments(tmp_path_factory: pytest.TempPathFactory) -> Moments:
    return Moments(tmp_path_factory.mktemp("moments"))


@pytest.fixture
def moments(all_moments: Moments) -> Iterator[Moments]:
    yield all_moments
    for file in all_moments.folder.iterdir():
        file.unlink()


@pytest.fixture(scope="session")
def live(tmp_path_factory: pytest.TempPathFactory, all_moments: Moments) -> Iterator[LiveStudio]:
    with studio(tmp_path_factory.mktemp("studio") / "projects", all_moments.environment) as running:
        yield running
        assert running.process.poll() is None, running.log.read_text()


@pytest.fixture(scope="session")
def reviewed(live: LiveStudio) -> str:
    """A project whose release of private words has been reviewed; make a copy of it."""
    project = live.project("reviewed")
    live.walk(project, "trips.csv", TRIPS.encode(), *PRIVATE_WORDS)
    return project
