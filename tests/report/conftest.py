"""Reports of small files, and a real browser to open them in."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

from pathveil.cli.app import main
from tests.cli.conftest import folder, run, write_inputs
from tests.remembered import certificates_are_proved_once

__all__ = ["certificates_are_proved_once", "folder", "run"]

# The lines of the documentation; but the planning report is about short words, whose certificates take less time.
PLAN = "report plan --edges roads.csv --length 4 --adjacency 1 --output plan.html"
LEDGER = "ledger init budget.db --epsilon 10 --unit symbols --adjacency 1 --delta 1e-5"
PRIVATIZE = (
    "privatize trips.parquet --column route --edges roads.csv --epsilon 5 --adjacency 1 --ledger budget.db "
    "--output private.parquet"
)
CURATOR = (
    "report curator --input trips.parquet --column route --edges roads.csv --private private.parquet "
    "--output curator.html"
)
RELEASE = "report release private.parquet.manifest.json --output release.html"

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")


@pytest.fixture(scope="session")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a release and its three reports, made by the commands."""
    made = tmp_path_factory.mktemp("reports")
    write_inputs(made)
    with contextlib.chdir(made):
        for line in (LEDGER, PRIVATIZE, PLAN, CURATOR, RELEASE):
            assert main(line.split()) == 0, line
    return made


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    """Chromium without a window, with nothing of its own to say to the network."""
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("chromium and chromedriver are not installed (Debian: chromium, chromium-driver)")
    options = Options()
    options.binary_location = CHROMIUM
    for flag in (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-dev-shm-usage",
        f"--user-data-dir={tmp_path_factory.mktemp('profile')}",
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    # Selenium asks a proxy for the way to its own driver where one is set.
    os.environ["NO_PROXY"] = ",".join(filter(None, [os.environ.get("NO_PROXY"), "localhost,127.0.0.1"]))
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    driver.execute_cdp_cmd("Network.enable", {})
    yield driver
    driver.quit()
