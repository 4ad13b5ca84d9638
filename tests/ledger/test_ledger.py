"""Charging, completing, refusing, resuming: what a curator relies on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import numpy as np
import pytest

import pathveil as pv
from pathveil.ledger import ledger as ledger_module
from tests.ledger.conftest import SYMBOL, WORD, charge, promise


def test_ten_charges_of_a_tenth_fill_a_budget_of_one_and_the_eleventh_is_refused(new_ledger):
    ledger = new_ledger(1.0)
    for _ in range(10):
        charge(ledger, 0.1)
    assert ledger.spent.epsilon == 1
    assert ledger.remaining.epsilon == 0
    with pytest.raises(pv.BudgetExceededError):
        charge(ledger, 5e-324)  # not even the smallest float
    assert len(ledger.entries()) == 11


def test_sums_over_the_whole_range_of_floats_lose_nothing(new_ledger):
    ledger = new_ledger(1e300)
    charge(ledger, 5e-324)
    with pytest.raises(pv.BudgetExceededError) as refusal:
        charge(ledger, 1e300)
    assert refusal.value.difference.epsilon == Decimal("5e-324")
    assert ledger.remaining.epsilon < Decimal("1e300")


def test_a_refusal_says_requested_remaining_and_difference_on_three_lines_and_charges_nothing(new_ledger):
    ledger = new_ledger(1.0, 1e-5)
    charge(ledger, 0.7, 2e-6)
    with pytest.raises(pv.BudgetExceededError) as refusal:
        charge(ledger, 0.5, 1e-6)
    assert str(refusal.value).splitlines()[1:] == [
        "requested:  ε = 0.5, δ = 0.000001",
        "remaining:  ε = 0.3, δ = 0.000008",
        "difference: ε = 0.2, δ = 0",
    ]
    assert SYMBOL.short in str(refusal.value)
    assert ledger.spent.epsilon == Decimal("0.7")


def test_delta_alone_can_exceed_the_budget(new_ledger):
    ledger = new_ledger(10.0)
    with pytest.raises(pv.BudgetExceededError) as refusal:
        charge(ledger, 0.1, 1e-9)
    assert refusal.value.difference.delta == Decimal("1e-9")
    assert refusal.value.difference.epsilon == 0


def test_promises_about_nested_units_come_out_of_one_budget(new_ledger):
    ledger = new_ledger(1.0)
    charge(ledger, 0.5, unit=WORD)  # whoever protects a word protects each of its symbols
    charge(ledger, 0.3, unit=SYMBOL)
    assert ledger.remaining.epsilon == Decimal("0.2")
    for unit in (SYMBOL, WORD, pv.units.Symbols(5), pv.units.Edits(1, 2, 6)):
        with pytest.raises(pv.BudgetExceededError):
            charge(ledger, 0.3, unit=unit)


def test_a_ledger_has_one_unit_that_has_to_be_named(tmp_path):
    for nothing in ({}, {"unit": None}, {"unit": "symbols"}):
        with pytest.raises(pv.InvalidParameterError, match="say what the budget protects"):
            pv.Ledger.create(tmp_path / "budget.db", 1.0, **nothing)
    assert not list(tmp_path.iterdir())


def test_a_ledger_of_the_time_when_units_were_texts_is_not_continued(new_ledger, tmp_path):
    ledger = new_ledger()
    old = {**ledger._file.read()[0].content, "format": 1}
    ledger_module.LedgerFile(tmp_path / "old.db").create(old)
    with pytest.raises(pv.LedgerError, match=r"cannot be continued\. Create a new ledger"):
        pv.Ledger.open(tmp_path / "old.db")


def test_a_charge_stays_not_completed_until_completed_by_an_entry_of_its_own(new_ledger):
    ledger = new_ledger()
    first = charge(ledger, 0.1)
    before = ledger.entries()
    assert ledger.to_dict()["charges"][0]["status"] == "charged, not completed"
    ledger.complete(first, output="private.csv")
    assert ledger.entries()[: len(before)] == before
    assert ledger.entries()[-1].kind == "completed"
    assert ledger.to_dict()["charges"][0]["status"] == "completed"
    assert ledger.to_dict()["charges"][0]["output"] == "private.csv"
    assert ledger.spent.epsilon == Decimal("0.1")  # completing costs nothing, and gives nothing back


def test_a_charge_is_completed_once_and_only_in_its_own_ledger(new_ledger, tmp_path):
    ledger = new_ledger()
    done = charge(ledger, 0.1)
    ledger.complete(done)
    with pytest.raises(pv.LedgerError, match="completed before"):
        ledger.complete(done)
    other = pv.Ledger.create(tmp_path / "other.db", 1.0, unit=pv.units.Symbols(1))
    with pytest.raises(pv.LedgerError, match="no such charge"):
        other.complete(done)
    assert len(other.entries()) == 1


def test_a_sealed_charge_is_shown_as_not_completed_and_cannot_be_resumed(new_ledger):
    ledger = new_ledger()
    mine = charge(ledger, 0.6, request="march")
    ledger.seal(mine, output="sha256:abc")
    [shown] = ledger.to_dict()["charges"]
    assert (shown["status"], shown["output"]) == ("charged, not completed", "sha256:abc")
    assert ledger.resume(promise(0.6), request="march") is None
    with pytest.raises(pv.LedgerError, match="sealed before"):
        ledger.seal(mine, output="sha256:def")
    ledger.complete(mine)
    [shown] = ledger.to_dict()["charges"]
    assert (shown["status"], shown["output"]) == ("completed", "sha256:abc")


def test_a_rerun_finds_its_open_charge_and_takes_it_over_for_nothing(new_ledger):
    ledger = new_ledger()
    lost = charge(ledger, 0.6, request="march")
    assert ledger.find_open("april") is None
    assert ledger.find_open("march").number == lost.number
    again = ledger.resume(promise(0.6), request="march")
    assert again.number == lost.number
    assert ledger.spent.epsilon == Decimal("0.6")
    # The run that was thought dead is alive: it must not publish a second release under one charge.
    with pytest.raises(pv.LedgerError, match=r"resumed.*Publish nothing"):
        ledger.complete(lost)
    ledger.complete(again)
    assert ledger.find_open("march") is None
    assert ledger.resume(promise(0.6), request="march") is None


@pytest.mark.parametrize(
    ("other", "fingerprint"), [(promise(0.7), "f"), (promise(0.6, unit=WORD), "f"), (promise(0.6), "another file")]
)
def test_a_charge_cannot_be_resumed_for_anything_else(new_ledger, other, fingerprint):
    ledger = new_ledger()
    ledger.charge(promise(0.6), command="x", request="march", fingerprint="f")
    assert ledger.resume(other, request="march", fingerprint=fingerprint) is None
    assert ledger.resume(promise(0.6), request="march", fingerprint="f") is not None


def test_an_entry_records_who_what_when_and_by_which_version(new_ledger):
    ledger = new_ledger()
    ledger.charge(promise(0.25, 0.0), command="pathveil privatize", request="r1", fingerprint="ab")
    found = ledger.to_dict()["charges"][0]
    assert found["command"] == "pathveil privatize"
    assert found["version"] == pv.__version__
    assert found["time"].endswith("+00:00")
    assert found["guarantee"]["public"] == ["the length"]
    assert found["guarantee"]["seeded"] is False
    assert (found["fingerprint"], found["request"], found["epsilon"]) == ("ab", "r1", 0.25)
    assert found["conversion"] == "ε = 0.25 for one symbol: 0.25 in this budget's unit, one symbol (covered)"
    json.dumps(ledger.to_dict(), allow_nan=False)


def test_fingerprints_are_keyed_by_the_ledger_and_the_key_is_in_no_listing(new_ledger, tmp_path):
    ledger = new_ledger()
    other = pv.Ledger.create(tmp_path / "other.db", 1.0, unit=pv.units.Symbols(1))
    assert ledger.fingerprint(b"abc") == ledger.fingerprint([b"a", b"bc"]) != ledger.fingerprint(b"abd")
    assert ledger.fingerprint(b"abc") != other.fingerprint(b"abc")
    key = ledger._file.read()[0].content["key"]
    assert len(key) == 64
    assert key not in json.dumps(ledger.to_dict())
    assert key not in repr(ledger.entries())


def test_a_clock_that_goes_back_changes_nothing(new_ledger, monkeypatch):
    ledger = new_ledger()
    charge(ledger, 0.1)
    monkeypatch.setattr(ledger_module, "_now", lambda: {"time": "1970-01-01T00:00:00+00:00", "version": "0"})
    ledger.complete(charge(ledger, 0.2))
    ledger.verify()
    assert ledger.spent.epsilon == Decimal("0.3")


@pytest.mark.parametrize("bad", [-0.1, float("nan"), float("inf"), True, "1", None, 10**400])
def test_amounts_that_are_none_are_refused_before_anything_is_written(new_ledger, tmp_path, bad):
    ledger = new_ledger()
    with pytest.raises(pv.InvalidParameterError):
        ledger.charge(promise(bad), command="x", request="r")
    with pytest.raises(pv.InvalidParameterError):
        ledger.charge(promise(0.1, bad), command="x", request="r")
    with pytest.raises(pv.InvalidParameterError):
        pv.Ledger.create(tmp_path / "other.db", bad, unit=pv.units.Symbols(1))
    assert not (tmp_path / "other.db").exists()
    assert len(ledger.entries()) == 1


def test_a_delta_of_one_and_a_budget_of_zero_are_refused(new_ledger):
    with pytest.raises(pv.InvalidParameterError, match="promises nothing"):
        new_ledger(1.0, 1.0)
    with pytest.raises(pv.InvalidParameterError, match="something to spend"):
        new_ledger(0.0)


def test_numbers_of_numpy_are_numbers(new_ledger):
    ledger = new_ledger(np.float64(1.0))
    charge(ledger, np.float64(0.1))
    charge(ledger, np.int64(0))
    assert ledger.spent.epsilon == Decimal("0.1")


def test_threads_share_a_ledger_object(new_ledger):
    ledger = new_ledger(1.0)
    barrier = threading.Barrier(8)

    def try_twice() -> int:
        barrier.wait()
        won = 0
        for _ in range(2):
            try:
                charge(ledger, 0.1)
                won += 1
            except pv.BudgetExceededError:
                pass
        return won

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(lambda _: try_twice(), range(8))) == 10


def test_nothing_stays_open_and_nothing_lies_about(new_ledger, tmp_path):
    before = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    with new_ledger() as ledger:
        charge(ledger, 0.1)
        ledger.verify()
    if before:
        assert len(os.listdir("/proc/self/fd")) == len(before)
    assert [path.name for path in tmp_path.iterdir()] == ["budget.db"]
    assert (tmp_path / "budget.db").stat().st_mode & 0o077 == 0  # it holds a key


def test_a_commit_is_forced_to_the_disk_through_a_write_ahead_log(new_ledger):
    with new_ledger()._file.appending() as file:
        pragmas = [file._connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("synchronous", "journal_mode")]
        assert pragmas == [2, b"wal"]  # 2 is FULL


def test_a_link_to_the_file_and_a_change_of_folder_lead_to_the_same_ledger(new_ledger, tmp_path, monkeypatch):
    charge(new_ledger(), 0.1)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "link.db").symlink_to(tmp_path / "budget.db")
    monkeypatch.chdir(tmp_path / "elsewhere")
    ledger = pv.Ledger.open("link.db")
    monkeypatch.chdir(tmp_path)
    charge(ledger, 0.1)
    assert pv.Ledger.open("budget.db").spent.epsilon == Decimal("0.2")


@pytest.mark.parametrize("text", ["", "ε “quoted”\n", "\udc80 from a terminal", "\0", "'; DROP TABLE entries; --"])
def test_any_text_can_be_written_down_and_comes_back(new_ledger, text):
    ledger = new_ledger()
    ledger.complete(ledger.charge(promise(0.1), command=text, request=text), output=text)
    found = pv.Ledger.open(ledger._file.path).to_dict()["charges"][0]
    assert [found[name] for name in ("command", "request", "output")] == [text] * 3


@pytest.mark.parametrize("name", ["command", "request", "fingerprint"])
def test_what_is_no_text_is_refused(new_ledger, name):
    ledger = new_ledger()
    with pytest.raises(pv.InvalidParameterError, match=name):
        ledger.charge(promise(0.1), **{"command": "c", "request": "r", name: b"bytes"})
    assert len(ledger.entries()) == 1


def test_importing_pathveil_does_not_load_sqlite():
    code = "import sys, pathveil; sys.exit('sqlite3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_pld_ledger_counts_releases_and_allows_more_than_adding_up(new_ledger):
    ledger = new_ledger(1.0, 1e-5, composition="pld", each=(0.05, 1e-9))
    allowed = ledger.to_dict()["releases"]
    assert allowed > 20
    for _ in range(allowed - 1):
        charge(ledger, 0.05, 1e-9)
    assert ledger.remaining.epsilon == Decimal("0.05")
    charge(ledger, 0.01)  # a smaller one uses up a release as well
    with pytest.raises(pv.BudgetExceededError, match=f"{allowed} of {allowed} releases were made") as refusal:
        charge(ledger, 0.0)
    assert refusal.value.remaining.epsilon == 0
    ledger.verify()


def test_a_pld_ledger_refuses_a_release_above_the_size_that_was_fixed(new_ledger):
    ledger = new_ledger(4.0, 1e-5, composition="pld", each=(0.1, 1e-9))
    with pytest.raises(pv.BudgetExceededError) as refusal:
        charge(ledger, 0.3)
    assert refusal.value.difference.epsilon == Decimal("0.2")
    with pytest.raises(pv.BudgetExceededError):
        charge(ledger, 0.1, 1e-8)


@pytest.mark.parametrize(
    ("delta", "options"),
    [
        (1e-5, {"composition": "pld"}),
        (0.0, {"composition": "pld", "each": (0.1, 0.0)}),
        (1e-5, {"composition": "pld", "each": (0.0, 0.0)}),
        (1e-5, {"composition": "pld", "each": (2.0, 0.0)}),
        (1e-5, {"composition": "renyi"}),
        (1e-5, {"each": (0.1, 0.0)}),
    ],
)
def test_options_that_make_no_sense_together_are_refused(new_ledger, tmp_path, delta, options):
    with pytest.raises(pv.InvalidParameterError):
        new_ledger(1.0, delta, **options)
    assert not list(tmp_path.iterdir())
