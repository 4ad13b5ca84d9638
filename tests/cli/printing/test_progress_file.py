"""PATHVEIL_PROGRESS: how far a command is, for whoever shows it elsewhere, and nothing about hidden data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pathveil.cli.app import main
from pathveil.cli.printing import ProgressBar

LINE = "privatize trips.csv --column route --alphabet zones.txt --epsilon 8 --yes --ledger budget.db --output out.csv"


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "progress").mkdir()
    monkeypatch.setenv("PATHVEIL_PROGRESS", str(tmp_path / "progress" / "progress.json"))
    Path("trips.csv").write_text("route\n" + "a b c\n" * 20)
    Path("zones.txt").write_text("a\nb\nc\n")
    return tmp_path / "progress" / "progress.json"


def test_what_is_done_stands_in_the_file_as_json_and_nothing_else_is_left(written: Path):
    with ProgressBar(silent=False, unit="points") as bar:
        bar("checking", 7)
        bar("checking", 8)  # too soon to be written
    assert json.loads(written.read_text()) == {"stage": "checking", "done": 7, "total": None, "unit": "points"}
    assert [path.name for path in written.parent.iterdir()] == ["progress.json"]


def test_a_bar_that_is_silent_writes_nothing(written: Path):
    with ProgressBar(silent=True) as bar:
        bar("checking", 7)
    assert not written.exists()


def test_a_file_that_cannot_be_written_is_no_reason_to_stop(written: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATHVEIL_PROGRESS", str(written.parent / "none" / "progress.json"))
    with ProgressBar(silent=False) as bar:
        bar("checking", 7)


def test_under_a_ledger_nothing_about_the_data_is_written_unless_the_curator_asks(written: Path):
    assert main(["ledger", "init", "budget.db", "--epsilon", "20", "--unit", "symbols", "--adjacency", "1"]) == 0
    assert main(LINE.split()) == 0
    assert not written.exists()
    assert main([*LINE.split(), "--overwrite", "--curator"]) == 0
    assert json.loads(written.read_text())["done"] > 0
