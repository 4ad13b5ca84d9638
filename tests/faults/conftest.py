"""The same small files and the same way to run commands as for the other tests of the command line, only faster."""

import pytest
import typer.main

from tests.cli.conftest import folder, run
from tests.cli.promises import _COMMAND

__all__ = ["folder", "run"]


@pytest.fixture(autouse=True)
def signatures_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading the signatures of all commands takes longer than most runs here."""
    monkeypatch.setattr(typer.main, "get_command", _COMMAND)
