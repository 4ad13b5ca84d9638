"""Whatever a killed run leaves on the disk before its charge is sealed, nobody can read what it had drawn.

Otherwise `--resume` would give words away: nine kills, nine draws, one charge.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import tempfile
import zlib
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pathveil.cli.app import main
from pathveil.data.reading.user_limit import UserLimit
from pathveil.data.writing import manifest, private_file, shuffle, table_writer
from pathveil.ledger.ledger import Ledger
from pathveil.privacy.units import Symbols
from tests.cli.kill_server import SERVER

SYMBOLS = [f"Symbol{i:02}ToBeFound" for i in range(40)]
# Each word is 24 symbols in a row of the alphabet. At so large an ε a private word is the word itself.
CODES = [[(7 * word + i) % 40 for i in range(24)] for word in range(400)]
PRIVATIZE = (
    "privatize in.{0} --column route --alphabet symbols.txt --epsilon 900 --ledger budget.db --output out.{0} -q"
)
USERS = PRIVATIZE + " --user who --max-words-per-user 3"
EDITS = PRIVATIZE + " --distance edit --lengths 23:25 --cap 1"
MODEL = (
    "model in.{0} --column route --unit symbol --states symbols.txt --epsilon 900 --ledger budget.db "
    "--output out.json --matrix out.csv -q"
)
STEPS = {
    "charge": (Ledger, "charge"),
    "seal": (Ledger, "seal"),
    "deal": (shuffle, "_deal"),
    "limit": (UserLimit, "_surplus"),
    "write": (table_writer.TableWriter, "write"),
    "manifest": (manifest, "write_manifest"),
}


def run(folder: str, line: str, moment: str) -> None:
    """Run a command that kills itself just before or just after a step."""
    os.chdir(folder)
    tempfile.tempdir = f"{folder}/tmp"
    private_file.shuffled = partial(shuffle.shuffled, in_memory=4_000)  # so that words have to be dealt out to files
    when, step = moment.split()
    owner, name = STEPS[step]
    whole = getattr(owner, name)

    def dying(*arguments, **options):
        if when == "after":
            whole(*arguments, **options)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(owner, name, dying)
    sys.exit(main(line.split()))


def killed(folder: Path, line: str, moment: str) -> None:
    child = SERVER.Process(target=run, args=(str(folder), line, moment))
    child.start()
    child.join(120)
    assert child.exitcode == -signal.SIGKILL


@pytest.fixture
def prepared(tmp_path: Path) -> Path:
    (tmp_path / "tmp").mkdir()
    (tmp_path / "symbols.txt").write_text("".join(f"{symbol}\n" for symbol in SYMBOLS))
    rows = [{"route": [SYMBOLS[code] for code in word], "who": i % 150} for i, word in enumerate(CODES)]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "in.parquet")
    Ledger.create(tmp_path / "budget.db", epsilon=9000.0, unit=Symbols(1))
    return tmp_path


def left_behind(folder: Path) -> dict[Path, bytes]:
    """Files in private workspaces, wherever these are; what the database engine holds is input, not drawn."""
    found = [path for place in (folder, folder / "tmp") for path in place.glob(".pathveil-*/**/*")]
    return {path: path.read_bytes() for path in found if path.is_file() and "overflow" not in path.parts}


def readable(content: bytes) -> bool:
    """Is there a symbol in it, a run of a word's codes, or anything but noise?"""
    runs = [bytes(word[:6]) for word in CODES]
    return (
        any(symbol.encode() in content for symbol in SYMBOLS)
        or any(run in content for run in runs)
        or (len(content) > 500 and len(zlib.compress(content)) < 0.98 * len(content))
    )


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
@pytest.mark.parametrize(
    ("line", "moment"),
    [
        (PRIVATIZE, "after charge"),
        (PRIVATIZE, "after deal"),
        (PRIVATIZE, "after write"),
        (PRIVATIZE + " --keep-order", "before seal"),
        (PRIVATIZE, "before seal"),
        (EDITS, "before seal"),
        (USERS, "before limit"),
        (USERS, "before seal"),
        (MODEL, "before seal"),
    ],
)
def test_killed_before_the_seal_a_run_leaves_nothing_that_can_be_read(prepared: Path, line, moment, format):
    killed(prepared, line.format(format), moment)
    assert not list(prepared.glob("out*"))
    for path, content in left_behind(prepared).items():
        assert not readable(content), path


def test_the_search_finds_words_where_they_may_be_read(prepared: Path) -> None:
    """The negative control: once the charge is sealed, the words are on the disk, and the search says so."""
    killed(prepared, PRIVATIZE.format("jsonl"), "after manifest")
    assert any(map(readable, left_behind(prepared).values()))
    assert readable((prepared / "in.parquet").read_bytes())


@pytest.mark.parametrize(
    ("line", "output", "kills"),
    [
        (PRIVATIZE, "out.jsonl", 3),
        (MODEL, "out.json", 2),
        pytest.param(PRIVATIZE, "out.jsonl", 9, marks=pytest.mark.slow),
    ],
)
def test_many_kills_and_a_run_to_the_end_give_one_output_for_one_charge(prepared: Path, line, output, kills):
    line = line.format("jsonl") + " --resume"
    for moment in ["after charge", *["before seal"] * (kills - 1)]:
        killed(prepared, line, moment)
        assert not any(map(readable, left_behind(prepared).values()))
        assert not (prepared / output).exists()
    child = SERVER.Process(target=finish, args=(str(prepared), line))
    child.start()
    child.join(120)
    assert child.exitcode == 0
    assert SYMBOLS[0] in (prepared / output).read_text()
    [charge] = Ledger.open(prepared / "budget.db").to_dict()["charges"]
    digest = hashlib.sha256((prepared / output).read_bytes()).hexdigest()
    assert (charge["status"], charge["output"]) == ("completed", f"sha256:{digest}")
    assert not left_behind(prepared)


def finish(folder: str, line: str) -> None:
    os.chdir(folder)
    sys.exit(main(line.split()))
