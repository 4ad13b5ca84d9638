"""Inputs that vanish or change while they are read, and clocks that go back."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pathveil.data import sources
from pathveil.ledger import ledger as ledger_module
from tests.faults.faults import contents, statuses

WORDS = "privatize {} --alphabet {} --epsilon 1 --yes --mechanism {} --output out.{} --ledger budget.db --quiet"
INPUTS = {
    "text": WORDS.format("lines.txt", "pages.txt", "{}", "txt"),
    "parquet": WORDS.format("trips.parquet", "zones.txt", "{}", "parquet") + " --column route",
    "long table": WORDS.format("visits.csv", "pages.txt", "{}", "csv") + " --case visit --order step --symbol page",
    "model of words": "model lines.txt --unit symbol --states pages.txt --epsilon 1 --output out.json --ledger "
    "budget.db",
    "model of pairs": "model trips.csv --from pickup --to dropoff --states zones.txt --epsilon 1 --output out.json "
    "--ledger budget.db",
}


def longer(path: Path) -> None:
    with open(path, "ab") as file:
        file.write(path.read_bytes())


def other(path: Path) -> None:
    """As most programs save: under another name first."""
    path.with_name("saved").write_bytes(path.read_bytes())
    os.replace(path.with_name("saved"), path)


def shorter(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


CHANGES = {"longer": longer, "other": other, "shorter": shorter, "gone": Path.unlink, "a folder": None}


def change(path: Path, name: str) -> None:
    if name == "a folder":
        path.unlink()
        path.mkdir()
    else:
        CHANGES[name](path)


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("how", CHANGES)
def test_an_input_that_changes_while_it_is_read_releases_nothing(folder, run, monkeypatch, name, how):
    unit = "transition" if name == "model of pairs" else "symbols --adjacency 1"
    assert run(f"ledger init budget.db --epsilon 10 --unit {unit}").code == 0
    line = INPUTS[name].format("certified")
    path = folder / line.split()[1]
    before = contents(folder, "budget.db", path.name)
    whole = sources.Watch.__init__

    def watch(self, files) -> None:
        whole(self, files)
        change(path, how)  # as soon as reading begins

    monkeypatch.setattr(sources.Watch, "__init__", watch)
    ran = run(line)
    assert ran.code == 1, ran.err
    assert "Traceback" not in ran.err
    assert path.name in ran.err
    assert contents(folder, "budget.db", path.name) == before
    assert set(statuses(folder / "budget.db")) <= {"charged, not completed"}


@pytest.mark.parametrize("mechanism", ["certified", "exponential", "permute-and-flip", "online"])
@pytest.mark.parametrize("how", CHANGES)
def test_an_input_that_changes_between_checking_and_drawing_is_neither_charged_nor_released(
    folder, run, monkeypatch, mechanism, how
):
    """The price was that of the words that were checked."""
    from pathveil.release import runners

    assert run("ledger init budget.db --epsilon 10 --unit symbols --adjacency 1").code == 0
    whole = runners._Embedded.check

    def check(self, *arguments):
        found = whole(self, *arguments)
        change(folder / "lines.txt", how)
        return found

    monkeypatch.setattr(runners._Embedded, "check", check)
    ran = run(INPUTS["text"].format(mechanism))
    assert "Traceback" not in ran.err
    assert ran.code == 1
    assert statuses(folder / "budget.db") == []
    assert not list(folder.glob("out*"))


def test_an_input_that_nobody_touches_is_no_change(run):
    assert run("ledger init budget.db --epsilon 100 --unit symbols --adjacency 1").code == 0
    assert run("ledger init pairs.db --epsilon 100 --unit transition").code == 0
    for name, line in INPUTS.items():
        line = line.replace("budget.db", "pairs.db") if name == "model of pairs" else line
        assert run(f"{line.format('certified')} --overwrite").code == 0


def test_a_clock_that_goes_back_changes_nothing(folder, run, monkeypatch):
    class Clock(datetime):
        years = iter(range(2030, 1970, -1))

        @classmethod
        def now(cls, zone=None):
            return datetime(next(cls.years), 1, 1, tzinfo=zone or UTC)

    monkeypatch.setattr(ledger_module, "datetime", Clock)
    assert run("ledger init budget.db --epsilon 4 --unit symbols --adjacency 1").code == 0
    for number in range(4):
        line = INPUTS["text"].format("certified").replace("out.txt", f"{number}.txt")
        assert run(line).code == 0
        os.utime(folder / "lines.txt", (number, 0))  # older than the release that was made of it
    assert statuses(folder / "budget.db") == ["completed"] * 4
    assert run("ledger verify budget.db").code == 0
    assert run(INPUTS["text"].format("certified")).code == 1  # spent is spent, whatever the time
