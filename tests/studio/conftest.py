"""One studio for all tests that only ask it something."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.studio.live import LiveStudio, studio


@pytest.fixture(scope="session")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveStudio]:
    with studio(tmp_path_factory.mktemp("studio") / "projects") as running:
        yield running
        assert running.process.poll() is None, running.log.read_text()
