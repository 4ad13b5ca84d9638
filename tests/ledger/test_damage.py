"""Files that were damaged, exchanged, or are no ledgers: a typed error that says what to do, never a wrong number."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest

import pathveil as pv
from pathveil.ledger.entries import text_and_hash
from pathveil.ledger.store import LedgerFile
from tests.faults.faults import no_file_beyond, nobody
from tests.ledger.conftest import SYMBOL, WORD, charge
from tests.ledger.tampering import edit


@pytest.fixture
def used(new_ledger, tmp_path) -> Path:
    """A ledger with seven entries."""
    ledger = new_ledger(1.0, 1e-5)
    for number in range(3):
        ledger.complete(charge(ledger, 0.1, unit=(SYMBOL, WORD)[number % 2], request=f"request {number}"))
    return tmp_path / "budget.db"


def test_entries_cannot_be_changed_or_removed_by_accident(used):
    with closing(sqlite3.connect(used)) as connection:
        for statement in ("UPDATE entries SET content = ''", "DELETE FROM entries WHERE number = 3"):
            with pytest.raises(sqlite3.IntegrityError):
                connection.execute(statement)


@pytest.mark.parametrize(
    ("statement", "what", "intact"),
    [
        ("UPDATE entries SET content = replace(content, '0.1', '0.0') WHERE number = 3", "entry 3 was changed", 3),
        ("UPDATE entries SET hash = upper(hash) WHERE number = 3", "entry 3 was changed", 3),
        ("UPDATE entries SET content = 7 WHERE number = 0", "entry 0", 0),
        ("UPDATE entries SET content = x'ff' WHERE number = 2", "entry 2", 2),
        ("DELETE FROM entries WHERE number = 2", "entry 2 is missing", 2),
        ("DELETE FROM entries WHERE number >= 5", "there are 5 entries where 7 were written", 5),
        ("DELETE FROM entries", "there are 0 entries", 0),
        ("INSERT INTO entries SELECT 7, content, hash FROM entries WHERE number = 6", "entry 7 was changed", 7),
        ("UPDATE entries SET number = -1 WHERE number = 1", "entry 0 is missing", 0),
        ("UPDATE entries SET number = 100 WHERE number = 6", "entry 6 is missing", 6),
        ("CREATE TRIGGER quiet AFTER INSERT ON entries BEGIN SELECT 1; END", "its tables are not those", 0),
    ],
)
def test_edited_rows_are_found_and_the_place_is_named(used, statement, what, intact):
    whole = pv.Ledger.open(used)
    edit(used, statement)
    for attempt in (lambda: pv.Ledger.open(used), whole.verify, lambda: charge(whole, 0.1), whole.to_dict):
        with pytest.raises(pv.DamagedLedgerError, match=what) as damage:
            attempt()
        assert "create a new ledger with what is left" in str(damage.value)
        assert len(damage.value.intact) == intact


def test_swapped_rows_are_found(used):
    edit(
        used,
        "UPDATE entries SET number = 99 WHERE number = 3",
        "UPDATE entries SET number = 3 WHERE number = 5",
        "UPDATE entries SET number = 5 WHERE number = 99",
    )
    with pytest.raises(pv.DamagedLedgerError, match="entry 3"):
        pv.Ledger.open(used)


def test_entries_of_someone_who_also_forged_the_hashes_give_typed_errors(used):
    last = pv.Ledger.open(used).entries()[-1].hash
    for content in ({"kind": "charged"}, {"kind": "completed", "charge": 1}, {"kind": "spell"}, {}):
        copy = shutil.copy(used, used.with_name("forged.db"))
        text, found = text_and_hash(7, content, last)
        edit(copy, f"INSERT INTO entries VALUES (7, '{text}', '{found}')", "PRAGMA user_version = 8")
        with pytest.raises(pv.DamagedLedgerError):
            pv.Ledger.open(copy)


def test_a_ledger_that_forged_entries_overdrew_does_not_verify(used):
    ledger = pv.Ledger.open(used)
    content = {**ledger.entries()[1].content, "epsilon": "5"}
    text, found = text_and_hash(7, content, ledger.entries()[-1].hash)
    quoted = text.replace("'", "''")
    edit(used, f"INSERT INTO entries VALUES (7, '{quoted}', '{found}')", "PRAGMA user_version = 8")
    with pytest.raises(pv.DamagedLedgerError, match="more was charged than the budget"):
        ledger.verify()
    with pytest.raises(pv.BudgetExceededError):
        charge(ledger, 0.0)


def test_an_older_copy_put_back_is_whole_but_lacks_the_head_that_was_noted(used):
    copy = shutil.copy(used, used.with_name("copy.db"))
    ledger = pv.Ledger.open(used)
    charge(ledger, 0.1)
    head = ledger.verify().head
    os.replace(copy, used)
    ledger.verify()  # by itself it cannot know
    with pytest.raises(pv.DamagedLedgerError, match="an older copy was put in its place"):
        ledger.verify(head)


def test_another_ledger_in_its_place_is_noticed(used, tmp_path):
    ledger = pv.Ledger.open(used)
    pv.Ledger.create(tmp_path / "other.db", 100.0, unit=pv.units.Symbols(1))
    os.replace(tmp_path / "other.db", used)
    with pytest.raises(pv.LedgerError, match="another ledger was put in this one's place"):
        charge(ledger, 0.1)


def test_a_flipped_byte_is_found_or_changes_nothing(used, tmp_path):
    whole = pv.Ledger.open(used).to_dict()
    raw = used.read_bytes()
    copy = tmp_path / "flipped.db"
    found = harmless = 0
    # Every byte of the header and where the tree begins; elsewhere one in seven (pages are mostly entries).
    for place in [*range(200), *range(200, len(raw), 7)]:
        changed = bytearray(raw)
        changed[place] ^= (0x01, 0x80, 0x24, 0xFF)[place % 4]
        copy.write_bytes(changed)
        try:
            ledger = pv.Ledger.open(copy)
            ledger.verify()
            assert ledger.to_dict() == whole, f"byte {place} changed what the ledger says, and nobody noticed"
            harmless += 1
        except pv.LedgerError:
            found += 1
        for companion in ("-wal", "-shm"):
            Path(f"{copy}{companion}").unlink(missing_ok=True)
    # What may be flipped without harm is room that no entry uses.
    assert found > 300
    assert harmless > 100


def test_a_flipped_byte_in_the_text_of_an_entry_is_always_found(used, tmp_path):
    raw = used.read_bytes()
    copy = tmp_path / "flipped.db"
    with closing(sqlite3.connect(used)) as connection:
        text = connection.execute("SELECT content || hash FROM entries WHERE number = 3").fetchone()[0].encode()
    begin = raw.index(text)
    for place in range(begin, begin + len(text), 3):
        copy.write_bytes(raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :])
        with pytest.raises(pv.DamagedLedgerError, match="entry 3 was changed"):
            pv.Ledger.open(copy)


def test_charging_a_ledger_with_a_flipped_byte_never_ends_in_another_error_or_in_more_budget(used, tmp_path):
    raw = used.read_bytes()
    for place in range(0, len(raw), 61):
        copy = tmp_path / f"{place}.db"
        copy.write_bytes(raw[:place] + bytes([raw[place] ^ 0x11]) + raw[place + 1 :])
        try:
            ledger = pv.Ledger.open(copy)
            charge(ledger, 0.3)
            ledger.verify()
            assert ledger.spent.epsilon == Decimal("0.6")
        except pv.LedgerError:
            pass


def test_a_file_cut_off_anywhere_is_found(used, tmp_path):
    raw = used.read_bytes()
    copy = tmp_path / "cut.db"
    for length in [*range(0, len(raw), 97), len(raw) - 1, 4096, 8192]:
        if length < len(raw):
            copy.write_bytes(raw[:length])
            with pytest.raises(pv.LedgerError):
                pv.Ledger.open(copy).verify()


@pytest.mark.parametrize("content", [b"", b"not a ledger\n" * 1000, b"SQLite format 3\0" + bytes(5000), b"PAR1"])
def test_other_files_are_refused_with_their_name(tmp_path, content):
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    with pytest.raises(pv.LedgerError, match=r"data\.csv"):
        pv.Ledger.open(path)
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["data.csv"]


def test_another_programs_sqlite_file_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE entries (number INTEGER PRIMARY KEY, content TEXT, hash TEXT)")
    before = path.read_bytes()
    with pytest.raises(pv.LedgerError, match="not a PathVeil ledger"):
        pv.Ledger.open(path)
    assert path.read_bytes() == before


def test_what_is_no_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(pv.LedgerError, match="not a file"):
        pv.Ledger.open(tmp_path / "pipe")
    with pytest.raises(pv.LedgerError, match="not a file"):
        pv.Ledger.open(tmp_path)
    with pytest.raises(pv.LedgerError, match="No such file"):
        pv.Ledger.open(tmp_path / "missing.db")
    assert not (tmp_path / "missing.db").exists()


def test_paths_that_lead_nowhere_are_refused(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path in (tmp_path / "loop", "nul\0byte"):
        with pytest.raises(pv.LedgerError):
            pv.Ledger.open(path)


def test_creating_never_touches_an_existing_file(used, tmp_path):
    before = used.read_bytes()
    with pytest.raises(pv.LedgerError, match="never overwritten"):
        pv.Ledger.create(used, 5.0, unit=pv.units.Symbols(1))
    assert used.read_bytes() == before
    with pytest.raises(pv.LedgerError, match="No such file"):
        pv.Ledger.create(tmp_path / "no folder" / "budget.db", 5.0, unit=pv.units.Symbols(1))


def test_a_log_left_from_another_ledger_is_not_mixed_into_a_new_one(tmp_path):
    (tmp_path / "budget.db-wal").write_bytes(b"something")
    with pytest.raises(pv.LedgerError, match="left from another ledger"):
        pv.Ledger.create(tmp_path / "budget.db", 1.0, unit=pv.units.Symbols(1))
    assert os.listdir(tmp_path) == ["budget.db-wal"]


def test_a_second_name_for_the_file_is_refused(used, tmp_path):
    os.link(used, tmp_path / "second.db")
    with pytest.raises(pv.LedgerError, match="2 names"):
        pv.Ledger.open(used)


def test_a_newer_format_is_named(used):
    first = {**pv.Ledger.open(used).entries()[0].content, "format": 3}
    text, found = text_and_hash(0, first, "0" * 64)
    edit(
        used,
        "DELETE FROM entries",
        f"INSERT INTO entries VALUES (0, '{text}', '{found}')",
        "PRAGMA user_version = 1",
    )
    with pytest.raises(pv.LedgerError, match="format 3"):
        pv.Ledger.open(used)
    assert json.loads(text)["format"] == 3


@pytest.mark.parametrize(("file_mode", "folder_mode"), [(0o444, 0o755), (0o644, 0o555), (0o444, 0o555)])
def test_a_ledger_that_cannot_be_written_can_be_read_but_not_charged(used, file_mode, folder_mode):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(shutil.copy(used, folder))
        path.chmod(file_mode)
        Path(folder).chmod(folder_mode)
        if os.geteuid() == 0 and folder_mode == 0o755:
            os.chown(folder, 65534, 65534)
        with nobody():
            ledger = pv.Ledger.open(path)
            assert ledger.spent.epsilon == Decimal("0.3")
            ledger.verify()
            with pytest.raises(pv.LedgerError, match="cannot be opened or written"):
                charge(ledger, 0.1)
            if folder_mode == 0o555:
                with pytest.raises(pv.LedgerError, match="Permission denied"):
                    pv.Ledger.create(Path(folder) / "new.db", 1.0, unit=pv.units.Symbols(1))
        Path(folder).chmod(0o755)


def test_a_ledger_that_may_not_be_read_says_so(used):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = Path(shutil.copy(used, folder))
        path.chmod(0)
        with nobody(), pytest.raises(pv.LedgerError, match="cannot be opened"):
            pv.Ledger.open(path)


@pytest.mark.parametrize("size", [0, 1000, 4096, 5000])
def test_on_a_full_disk_nothing_is_charged_and_the_ledger_stays_whole(used, tmp_path, size):
    ledger = pv.Ledger.open(used)
    before = ledger.entries()
    with no_file_beyond(size), pytest.raises(pv.LedgerError, match="release nothing"):
        charge(ledger, 0.1)
    assert ledger.entries() == before
    ledger.verify()
    with no_file_beyond(size), pytest.raises(pv.LedgerError, match="nothing was created"):
        pv.Ledger.create(tmp_path / "new.db", 1.0, unit=pv.units.Symbols(1))
    assert not list(tmp_path.glob("*new*"))
    charge(ledger, 0.1)


def test_a_ledger_that_stays_locked_is_given_up_on_with_an_explanation(used):
    hurried = LedgerFile(used, patience=0.05)
    with closing(sqlite3.connect(used, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(pv.LedgerError, match=r"locked for 0\.05 seconds"), hurried.appending():
            pass
        assert len(hurried.read()) == 7  # reading goes on
        other.execute("ROLLBACK")
    with hurried.appending() as appender:
        assert len(appender.entries) == 7
    charge(pv.Ledger.open(used), 0.1)
