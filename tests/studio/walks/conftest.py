"""One studio and one browser for all walks; each begins a project of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome

from tests.chromium import MISSING, chromium, is_installed
from tests.studio.walks.made_up import write_files
from tests.studio.walks.walking import Walk, studio_running


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    if not is_installed():
        pytest.skip(MISSING)
    with chromium(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.fixture(scope="session")
def studio(browser: Chrome, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    """A browser that has opened the link."""
    folder = tmp_path_factory.mktemp("projects")
    with studio_running(folder) as link:
        browser.get(link)
        yield Walk(browser, browser.current_url, folder)


@pytest.fixture
def walk(studio: Walk) -> Walk:
    """The same with a usual screen, and nothing left of what the console said before."""
    studio.screen()
    studio.driver.get_log("browser")
    return studio


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small files of four kinds."""
    folder = tmp_path_factory.mktemp("files")
    write_files(folder)
    return folder
