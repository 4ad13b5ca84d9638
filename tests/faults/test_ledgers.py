"""Ledgers that are damaged or crowded, seen from the command line: refused with advice, or charged exactly."""

from __future__ import annotations

import hashlib
import random
from decimal import Decimal, localcontext
from pathlib import Path

import pytest

import pathveil as pv
from pathveil.ledger.entries import text_and_hash
from tests.faults.faults import contents
from tests.ledger.conftest import promise
from tests.ledger.races import race
from tests.ledger.tampering import edit

LINES = (
    "privatize lines.txt --alphabet pages.txt --epsilon 1 --output out.txt --ledger budget.db",
    "model lines.txt --unit symbol --states pages.txt --epsilon 1 --output out.json --ledger budget.db",
    "ledger show budget.db",
    "ledger verify budget.db",
)


@pytest.fixture
def used(folder, run) -> Path:
    assert run("ledger init budget.db --epsilon 10 --unit symbols --adjacency 1").code == 0
    for number in range(3):
        assert run(LINES[0].replace("out.txt", f"{number}.txt")).code == 0
    return folder / "budget.db"


def test_a_ledger_cut_off_or_with_one_byte_changed_is_refused_with_advice_or_says_what_it_said(folder, run, used):
    raw = used.read_bytes()
    spent = pv.Ledger.open(used).spent.epsilon
    places = random.Random(5)
    # One in each region of the file, and the header more densely.
    chosen = [*range(0, 100, 12), *(places.randrange(begin, begin + 1024) for begin in range(0, len(raw) - 1024, 1024))]
    damages = [raw[:i] + bytes([raw[i] ^ 0x41]) + raw[i + 1 :] for i in chosen]
    damages += [raw[: places.randrange(len(raw))] for _ in range(8)]
    refused = 0
    for number, damaged in enumerate(damages):
        used.write_bytes(damaged)
        for log in ("-wal", "-shm"):
            used.with_name(f"budget.db{log}").unlink(missing_ok=True)
        before = contents(folder, "budget.db")
        ran = run(LINES[number % len(LINES)])
        assert "Traceback" not in ran.err
        if ran.code == 0:
            assert pv.Ledger.open(used).spent.epsilon >= spent
            for made in folder.glob("out.*"):
                made.unlink()
            continue
        refused += 1
        assert ran.code == 1
        assert "budget.db" in ran.err
        assert contents(folder, "budget.db") == before  # nothing was released
        advised = ("create a new ledger with what is left", "not a file", "Make room")
        assert any(text in ran.err for text in advised), ran.err
    assert refused > len(damages) // 3


@pytest.mark.slow
def test_sixty_four_processes_spend_a_budget_to_the_last_digit_and_no_further(tmp_path):
    ledger = pv.Ledger.create(tmp_path / "crowded.db", 5.0, unit=pv.units.Symbols(1))
    assert race(ledger, 64, tries=1) == 50
    assert ledger.spent.epsilon == 5
    assert {charge["status"] for charge in ledger.to_dict()["charges"]} == {"completed"}
    ledger.verify()


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": "-5"},  # would give budget back
        {"epsilon": "NaN"},
        {"epsilon": "Infinity"},
        {"epsilon": "1e-5000"},
        {"epsilon": "0." + "1" * 2000},
        {"epsilon": "0.1", "delta": "-1"},
        {"request": None},
        {"command": 7},
        {"time": None},
        {"fingerprint": []},
    ],
)
def test_a_forged_charge_that_makes_no_sense_is_refused_by_every_question(tmp_path, change):
    path = tmp_path / "forged.db"
    ledger = pv.Ledger.create(path, 1.0, unit=pv.units.Symbols(1))
    charge = ledger.charge(promise(0.1), command="c", request="r")
    content = {**ledger.entries()[charge.number].content, **change}
    content = {name: value for name, value in content.items() if value is not None}
    text, found = text_and_hash(2, content, ledger.entries()[-1].hash)
    quoted = text.replace("'", "''")
    edit(path, f"INSERT INTO entries VALUES (2, '{quoted}', '{found}')", "PRAGMA user_version = 3")
    questions = (
        lambda: pv.Ledger.open(path),
        ledger.verify,
        ledger.to_dict,
        lambda: ledger.charge(promise(0.1), command="c", request="r"),
        lambda: ledger.find_open("r"),
        lambda: ledger.resume(promise(0.1), request="r"),
        lambda: ledger.remaining,
    )
    for question in questions:
        with pytest.raises(pv.DamagedLedgerError, match="create a new ledger"):
            question()


@pytest.mark.parametrize("key", [None, 5, "no hexadecimal"])
def test_a_ledger_without_its_key_makes_no_fingerprints(tmp_path, key):
    path = tmp_path / "forged.db"
    first = pv.Ledger.create(path, 1.0, unit=pv.units.Symbols(1)).entries()[0].content
    text, found = text_and_hash(0, {**first, **({} if key is None else {"key": key})}, "0" * 64)
    edit(path, "DELETE FROM entries", f"INSERT INTO entries VALUES (0, '{text}', '{found}')")
    with pytest.raises(pv.DamagedLedgerError, match="no key"):
        pv.Ledger.open(path).fingerprint(b"data")


def test_an_entry_nested_thousands_deep_is_damage(tmp_path):
    path = tmp_path / "deep.db"
    pv.Ledger.create(path, 1.0, unit=pv.units.Symbols(1))
    text = "[" * 100_000
    found = hashlib.sha256(b"0" * 64 + b"\n" + text.encode()).hexdigest()
    edit(path, "DELETE FROM entries", f"INSERT INTO entries VALUES (0, '{text}', '{found}')")
    with pytest.raises(pv.DamagedLedgerError, match="no JSON"):
        pv.Ledger.open(path)


def test_amounts_at_the_ends_of_what_floats_hold_are_charged_exactly(tmp_path):
    ledger = pv.Ledger.create(tmp_path / "wide.db", 1e6, unit=pv.units.Symbols(1))
    for epsilon in (1e-9, 5e-324, 999_999.0):
        ledger.charge(promise(epsilon), command="c", request="r")
    with localcontext(prec=400):
        assert ledger.spent.epsilon == Decimal("1e-9") + Decimal("5e-324") + 999_999
    with pytest.raises(pv.BudgetExceededError):
        ledger.charge(promise(1.0), command="c", request="r")
