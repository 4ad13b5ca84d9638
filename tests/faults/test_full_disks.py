"""A disk that is full, at every moment: an earlier output stays, nothing is released uncharged or left lying about."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pathveil.ledger.ledger import Ledger
from pathveil.privacy.units import Symbols
from tests.cli.conftest import write_inputs
from tests.faults.faults import FullDisk, contents, no_file_beyond, statuses

WORDS = "privatize lines.txt --alphabet pages.txt --epsilon 2 --mechanism {} --output out.txt --ledger budget.db"
LINES = {
    **{name: WORDS.format(name) for name in ("certified", "exponential", "permute-and-flip", "online")},
    "edit": WORDS.format("certified") + " --distance edit --lengths 1:4 --yes",
    "dirichlet": "model trips.csv --from pickup --to dropoff --states zones.txt --epsilon 1 --delta 1e-6 "
    "--mechanism dirichlet --ledger budget.db --output out.json --matrix out.csv",
    "laplace": "model lines.txt --unit word --max-length 3 --states pages.txt --epsilon 1 --ledger budget.db --output "
    "out.json",
    "synthesize": "synthesize model.json --count 50 --length 4 --output out.txt",
    "report": "report plan --alphabet pages.txt --length 3 --output out.html",
}
STEPS = ["certified", "dirichlet", *(pytest.param(name, marks=pytest.mark.slow) for name in ("synthesize", "report"))]


def outputs(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("out*")}


def prepare(run, name: str) -> str:
    """A ledger, and an earlier output; returns the line that replaces it."""
    unit = "transition" if name == "dirichlet" else "symbols --adjacency 1"
    assert run(f"ledger init budget.db --epsilon 1000 --unit {unit} --delta 0.1").code == 0
    assert run("model lines.txt --unit symbol --states pages.txt --epsilon 1 --output model.json").code == 0
    assert run(LINES[name]).code == 0
    return f"{LINES[name]} --overwrite --quiet"


@pytest.mark.parametrize("name", STEPS)
def test_whichever_write_fails_the_output_is_the_old_one_or_the_new_one(folder, run, name):
    line = prepare(run, name)
    failures = 0
    for fails in range(1, 40):
        before, spent = outputs(folder), statuses(folder / "budget.db")
        with FullDisk(fails).installed() as disk:
            ran = run(line)
        after = outputs(folder)
        new = {file for file in before if after.get(file) != before[file]}
        added = statuses(folder / "budget.db")[len(spent) :]
        assert set(after) == set(before)
        assert not list(folder.glob(".pathveil-*"))
        if disk.calls < fails:  # there was no such call: this one succeeded
            assert ran.code == 0
            break
        failures += 1
        assert ran.code in (0, 1)
        assert "Traceback" not in ran.err
        assert ran.code == 0 or "No space left" in ran.err
        data = {file for file in before if not file.endswith(".manifest.json")}
        assert not new or data <= new, f"call {fails}: old and new files are mixed: {new}"
        if "--ledger" in line:
            assert len(added) == 1 or not new, f"call {fails}: released and not charged"
            assert ran.code == 1 or added == ["completed"]
    else:
        pytest.fail("the command never succeeded")
    assert failures > 2


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("size", [0, 5_000])
def test_where_no_file_can_grow_an_earlier_output_stays(folder, run, name, size):
    line = prepare(run, name)
    before = contents(folder, "budget.db")
    with no_file_beyond(size):
        ran = run(line)
    assert "Traceback" not in ran.err
    assert ran.code == 1 or size == 5_000
    if ran.code == 1:
        assert len(ran.err.splitlines()[-1]) > 20
        assert contents(folder, "budget.db") == before
    statuses(folder / "budget.db")
    assert run(line).code == 0


@pytest.mark.parametrize(
    ("mechanism", "name"),
    [
        ("certified", "out.txt"),
        *(
            pytest.param(mechanism, "out.txt", marks=pytest.mark.slow)
            for mechanism in ("exponential", "permute-and-flip", "online")
        ),
        pytest.param("certified", "out.txt.gz", marks=pytest.mark.slow),
        ("certified", "out.parquet"),
    ],
)
def test_a_disk_that_fills_up_while_words_are_written_costs_the_charge_and_can_be_resumed(folder, run, mechanism, name):
    (folder / "lines.txt").write_text("home cart help cart home help\n" * (60_000 if name.endswith(".gz") else 10_000))
    Ledger.create(folder / "budget.db", epsilon=10.0, unit=Symbols(1))
    (folder / name).write_text("an earlier output")
    input, column, public = ("lines.txt", "", "pages.txt")
    if name == "out.parquet":
        write_inputs(folder, 20_000)
        input, column, public = ("trips.parquet", "--column route", "zones.txt")
    line = (
        f"privatize {input} {column} --alphabet {public} --epsilon 1 --yes --mechanism {mechanism} --ledger budget.db "
        f"--output {name} --overwrite --quiet"
    )
    with no_file_beyond(50_000):
        ran = run(line)
    assert ran.code == 1
    assert "Traceback" not in ran.err
    assert "File too large" in ran.err
    assert (folder / name).read_text() == "an earlier output"
    assert not list(folder.glob(".pathveil-*"))
    assert statuses(folder / "budget.db") == ["charged, not completed"]
    assert run(f"{line} --resume").code == 0
    assert statuses(folder / "budget.db") == ["completed"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("messages_too", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "line",
    [
        "ledger show budget.db",
        "--help",
        "stream --alphabet pages.txt --epsilon 1 --ledger budget.db",
        "privatize lines.txt --alphabet pages.txt --epsilon 1 --ledger budget.db --output out.txt",
    ],
)
def test_a_standard_output_on_a_full_disk_is_a_failure_without_a_traceback(
    folder, programs, monkeypatch, line, messages_too
):
    Ledger.create(folder / "budget.db", epsilon=10.0, unit=Symbols(1))
    monkeypatch.setenv("COLUMNS", "200")
    with open("/dev/full", "wb") as full:
        if line.startswith(("stream", "privatize")) and not messages_too:
            done = programs.run(*line.split(), input=b"home\n", stdout=full.fileno())
        else:
            done = subprocess.run(
                [sys.executable, "-m", "pathveil", *line.split()],
                input=b"home\n",
                stdout=full,
                stderr=full if messages_too else subprocess.PIPE,
            )
    assert done.returncode == 1
    if not messages_too:
        assert b"No space left on device" in done.stderr
        assert b"Traceback" not in done.stderr
    # What was said to be released was charged; the file itself is there.
    expected = [] if line.startswith(("ledger", "--help")) else ["charged, not completed"]
    if line.startswith("privatize"):
        expected = ["completed"]
        assert (folder / "out.txt.manifest.json").exists()
    assert statuses(folder / "budget.db") == expected


def test_a_release_whose_completion_cannot_be_noted_is_out_and_paid_for(folder, run, monkeypatch):
    from pathveil.errors import LedgerError

    def full(*_arguments, **_options):
        raise LedgerError("the disk is full or failing")

    Ledger.create(folder / "budget.db", epsilon=10.0, unit=Symbols(1))
    monkeypatch.setattr(Ledger, "complete", full)
    ran = run(LINES["certified"])
    assert ran.code == 1
    assert "it is paid for" in ran.err
    assert sorted(outputs(folder)) == ["out.txt", "out.txt.manifest.json"]
    assert statuses(folder / "budget.db") == ["charged, not completed"]
