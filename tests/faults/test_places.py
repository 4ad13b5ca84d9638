"""Outputs and ledgers in places where nothing can be written: said before anything is charged."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pathveil.cli.app import main
from tests.cli.conftest import write_inputs
from tests.faults.faults import nobody, statuses

LINES = {
    "privatize": "privatize lines.txt --alphabet pages.txt --epsilon 1 --ledger budget.db --output {}",
    "model": "model lines.txt --unit symbol --states pages.txt --epsilon 1 --ledger budget.db --output {}",
    "synthesize": "synthesize model.json --count 5 --length 3 --output {}",
    "plan": "plan --alphabet pages.txt --length 3 --plot {}.png",
    "report": "report plan --alphabet pages.txt --length 3 --output {}.html",
}


@pytest.fixture
def prepared(folder, run) -> Path:
    assert run("ledger init budget.db --epsilon 10 --unit symbols --adjacency 1").code == 0
    assert run("model lines.txt --unit symbol --states pages.txt --epsilon 1 --output model.json").code == 0
    (folder / "a folder").mkdir()
    for ending in ("", ".png", ".html"):
        (folder / f"taken{ending}").mkdir()
        os.mkfifo(folder / f"pipe{ending}")
    return folder


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("place", ["taken", "pages.txt/out.txt", "none/out.txt", "pipe"])
def test_an_impossible_place_is_refused_and_costs_nothing(prepared, run, name, place):
    before = sorted(path.name for path in prepared.iterdir())
    for more in ("", " --overwrite"):
        ran = run(LINES[name].format(place) + more)
        assert ran.code == 1, ran.err
        assert "Traceback" not in ran.err
        assert place.split("/")[0] in ran.err
    assert statuses(prepared / "budget.db") == []
    assert sorted(path.name for path in prepared.iterdir()) == before
    assert (prepared / "pipe").is_fifo()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users can reach, unlike those of pytest."""
    with tempfile.TemporaryDirectory() as made:
        Path(made).chmod(0o755)
        yield Path(made)


@pytest.mark.parametrize("name", ["privatize", "model", "synthesize", "plan", "report"])
def test_a_folder_that_is_read_only_is_refused_and_costs_nothing(open_folder, run, name, monkeypatch, capsys):
    write_inputs(open_folder)
    monkeypatch.chdir(open_folder)
    assert run("model lines.txt --unit symbol --states pages.txt --epsilon 1 --output model.json").code == 0
    writable, closed = open_folder / "ledgers", open_folder / "closed"
    writable.mkdir(mode=0o777)
    closed.mkdir(mode=0o555)
    assert run(f"ledger init {writable}/budget.db --epsilon 10 --unit symbols --adjacency 1").code == 0
    if os.geteuid() == 0:
        shutil.chown(writable, 65534)
        shutil.chown(writable / "budget.db", 65534)
    with nobody():
        code = main(LINES[name].replace("budget.db", f"{writable}/budget.db").format(f"{closed}/out.txt").split())
    assert code == 1
    assert "Permission denied" in capsys.readouterr().err
    assert statuses(writable / "budget.db") == []
    assert list(closed.iterdir()) == []
