"""Reports of small files, and a real browser to open them in."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver

from pathveil.cli.app import main
from tests.chromium import MISSING, chromium, is_installed
from tests.cli.conftest import folder, run, write_inputs
from tests.remembered import certificates_are_proved_once, proved_once

__all__ = ["certificates_are_proved_once", "folder", "run"]

# The lines of the documentation; but the planning report is about short words, whose certificates take less time.
PLAN = "report plan --edges roads.csv --length 3 --adjacency 1 --output plan.html"
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


@pytest.fixture(scope="session")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a release and its three reports, made by the commands."""
    made = tmp_path_factory.mktemp("reports")
    write_inputs(made)
    with contextlib.chdir(made), proved_once():
        for line in (LEDGER, PRIVATIZE, PLAN, CURATOR, RELEASE):
            assert main(line.split()) == 0, line
    return made


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    """Chromium without a window, with nothing of its own to say to the network."""
    if not is_installed():
        pytest.skip(MISSING)
    with chromium(tmp_path_factory.mktemp("profile")) as driver:
        yield driver
