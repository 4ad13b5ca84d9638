"""`pathveil privatize`: shapes of input, what is released, what is charged."""

from __future__ import annotations

import gzip
import hashlib
import json
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pathveil.ledger.ledger import Ledger
from tests.data.files import read_csv, read_xes

# So weak that words come back unchanged (an error has a probability below 1e-20): shows what happens around the draw.
NO_PRIVACY = "--epsilon 60"
TRIPS = f"privatize trips.parquet --column route --edges roads.csv {NO_PRIVACY} --output out.parquet"

XES = """<log><trace><event><string key="concept:name" value="home"/></event>
<event><string key="concept:name" value="cart"/></event></trace></log>"""


def test_words_are_released_in_another_order_and_columns_are_dropped(run):
    assert run(TRIPS).code == 0
    sensitive = pq.read_table("trips.parquet").column("route").to_pylist()
    released = pq.read_table("out.parquet")
    assert released.column_names == ["route"]
    assert sorted(released.column("route").to_pylist()) == sorted(sensitive)
    assert released.column("route").to_pylist() != sensitive  # 40! orders


def test_keeping_order_and_columns_works_and_warns(folder, run):
    ran = run(TRIPS + " --keep-order --keep day")
    assert ran.code == 0
    assert "day" in ran.err
    assert "order of the words is released" in ran.err
    released, sensitive = pq.read_table("out.parquet"), pq.read_table("trips.parquet")
    assert released.to_pydict() == sensitive.select(["route", "day"]).to_pydict()
    public = json.loads((folder / "out.parquet.manifest.json").read_text())["public"]
    assert any("'day'" in item for item in public)


def test_plain_text_and_event_logs_need_no_column(folder, run):
    assert run(f"privatize lines.txt --alphabet pages.txt {NO_PRIVACY} --output out.txt").code == 0
    assert sorted((folder / "out.txt").read_text().splitlines()) == ["cart", "help help home", "home cart"]
    (folder / "log.xes.gz").write_bytes(gzip.compress(XES.encode()))
    assert run(f"privatize log.xes.gz --alphabet pages.txt {NO_PRIVACY} --output out.xes").code == 0
    assert 'value="cart"' in (folder / "out.xes").read_text()


def test_the_ending_of_the_output_says_what_is_written(folder, run):
    assert run("ledger init budget.db --epsilon 70 --unit symbols --adjacency 1").code == 0
    visits = f"privatize visits.csv --case visit --order step --symbol page --alphabet pages.txt {NO_PRIVACY}"
    assert run(f"{visits} --ledger budget.db --output out.xes").code == 0
    words: dict[str, list[str]] = {}
    for row in read_csv(folder / "visits.csv"):
        words.setdefault(row["visit"], []).append(row["page"])
    assert sorted(read_xes(folder / "out.xes")) == sorted(words.values())
    assert json.loads((folder / "out.xes.manifest.json").read_text())["file"] == "out.xes"
    [charge] = json.loads(run("ledger show budget.db --json").out)["charges"]
    assert charge["output"] == "sha256:" + hashlib.sha256((folder / "out.xes").read_bytes()).hexdigest()
    # And back again: a long table, whose columns have names of their own.
    assert run(f"privatize out.xes --alphabet pages.txt {NO_PRIVACY} --output back.csv").code == 0
    assert list(read_csv(folder / "back.csv")[0]) == ["case", "position", "symbol"]
    assert run(TRIPS.replace("out.parquet", "out.csv --keep day")).code == 0
    assert len(read_csv(folder / "out.csv")[0]["route"].split()) >= 6


def test_a_curator_compares_what_has_another_format_now(run):
    assert run(TRIPS.replace("out.parquet", "out.xes")).code == 0
    line = "report curator --input trips.parquet --column route --edges roads.csv --private out.xes"
    assert run(f"{line} --output curator.html").code == 0


def test_an_event_log_with_a_document_type_is_refused(folder, run):
    bomb = '<!DOCTYPE log [<!ENTITY a "home"><!ENTITY b SYSTEM "file:///etc/hostname">]>'
    (folder / "log.xes").write_text(bomb + XES.replace('"home"', '"&a;"').replace('"cart"', '"&b;"'))
    ran = run("privatize log.xes --alphabet pages.txt --epsilon 1 --output out.xes")
    assert ran.code == 1
    assert not (folder / "out.xes").exists()


def test_standard_input_and_the_module_form_work_in_a_process_of_their_own(folder):
    line = f"privatize - --format jsonl --column w --alphabet pages.txt {NO_PRIVACY} --output out.jsonl --quiet"
    done = subprocess.run(
        [sys.executable, "-m", "pathveil", *line.split()], input=b'{"w":["home","help"]}\n', capture_output=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert json.loads((folder / "out.jsonl").read_text()) == {"w": ["home", "help"]}


def test_a_limit_for_users_is_charged_to_a_budget_for_persons(folder, run):
    assert (
        run(
            "ledger init budget.db --epsilon 6 --unit user-symbols --max-words-per-user 5 --adjacency 1 --user driver"
        ).code
        == 0
    )
    line = (
        "privatize trips.parquet --column route --edges roads.csv --epsilon 2 --user driver --max-words-per-user 3 "
        "--ledger budget.db --output out.parquet --json --curator"
    )
    ran = run(line)
    assert ran.code == 0, ran.err
    summary = json.loads(ran.out)["for_the_curator_only"]
    assert summary["words_released"] == 7 * 3
    assert summary["largest_words_per_user"] == 6
    shown = json.loads(run("ledger show budget.db --json").out)
    manifest = json.loads((folder / "out.parquet.manifest.json").read_text())
    assert shown["spent"]["epsilon"] == manifest["per_user"]["epsilon"] == manifest["budget"]["epsilon"] == 6.0
    assert "3 words of a person" in manifest["budget"]["conversion"]
    # The words of a user are used up.
    refused = run(line.replace("out.parquet", "more.parquet"))
    assert refused.code == 1
    assert "requested:  ε = 6" in refused.err
    assert not (folder / "more.parquet").exists()


def test_what_does_not_fit_the_budget_is_refused_in_three_lines_and_writes_nothing(folder, run):
    assert run("ledger init budget.db --epsilon 3 --unit symbols --adjacency 1").code == 0
    ran = run(TRIPS.replace("60", "4") + " --ledger budget.db")
    assert ran.code == 1
    assert ran.err.splitlines()[-3:] == [
        "requested:  ε = 4, δ = 0",
        "remaining:  ε = 3, δ = 0",
        "difference: ε = 1, δ = 0",
    ]
    assert not list(folder.glob("out.parquet*"))
    assert not list(folder.glob(".pathveil-*"))


def test_bad_input_costs_nothing(folder, run):
    assert run("ledger init budget.db --epsilon 3 --unit symbols --adjacency 1").code == 0
    (folder / "lines.txt").write_text("home cart\nhome exit\n")
    ran = run("privatize lines.txt --alphabet pages.txt --epsilon 1 --ledger budget.db --output out.txt")
    assert ran.code == 1
    assert "lines.txt, line 2, position 2" in ran.err
    assert "exit" not in ran.err
    assert json.loads(run("ledger show budget.db --json").out)["charges"] == []
    # Left out on demand: counted, explained, and in the manifest.
    ran = run(
        "privatize lines.txt --alphabet pages.txt --epsilon 1 --ledger budget.db --output out.txt --on-bad-row skip "
        "--curator"
    )
    assert ran.code == 0
    assert "1 words were left out" in ran.out
    assert any("left out" in item for item in json.loads((folder / "out.txt.manifest.json").read_text())["public"])


def test_the_fingerprint_in_the_ledger_tells_the_same_input_from_another(folder, run):
    assert run("ledger init budget.db --epsilon 9 --unit symbols --adjacency 1").code == 0
    for source, output in (("lines.txt", "1.txt"), ("lines.txt", "2.txt"), ("other.txt", "3.txt")):
        (folder / "other.txt").write_text("home\n")
        line = f"privatize {source} --alphabet pages.txt --epsilon 1 --ledger budget.db --output {output}"
        assert run(line).code == 0
    first, second, third = json.loads(run("ledger show budget.db --json").out)["charges"]
    assert first["fingerprint"] == second["fingerprint"] != third["fingerprint"]


@pytest.mark.parametrize("system", ["", "--edges trips.csv"])
def test_asking_to_learn_the_system_from_the_sensitive_file_gets_the_two_safe_ways(folder, run, system):
    ran = run(f"privatize trips.csv --column pickup --epsilon 1 --output out.csv {system}")
    assert ran.code == 2
    assert "not learned from the sensitive" in ran.err
    assert "pathveil model" in ran.err
    assert not (folder / "out.csv").exists()


def test_a_private_model_is_a_public_system(run):
    model = "model trips.parquet --column route --unit transition --states zones.txt --epsilon 1 --delta 1e-6"
    assert run(model + " --support roads.csv --output model.json").code == 0
    line = "privatize trips.parquet --column route --chain model.json --epsilon 2 --on-infeasible nearest"
    ran = run(line + " --output out.parquet")
    assert ran.code == 0, ran.err


@pytest.mark.parametrize(
    "sources", ["lines.txt ./lines.txt", "lines.txt l*.txt", "lines.txt link.txt", "lines.txt hard.txt"]
)
@pytest.mark.parametrize(
    "command", ["privatize {} --alphabet pages.txt", "model {} --unit word --max-length 3 --states pages.txt"]
)
def test_words_that_would_be_read_twice_are_refused_because_they_would_cost_twice(folder, run, sources, command):
    (folder / "zones.txt").unlink()
    (folder / "link.txt").symlink_to("lines.txt")
    (folder / "hard.txt").hardlink_to("lines.txt")
    ran = run(f"{command.format(sources)} --epsilon 1 --output out.txt")
    assert ran.code == 2
    assert "twice" in ran.err
    assert not (folder / "out.txt").exists()


@pytest.mark.parametrize(
    "output", ["lines.txt", "./lines.txt", "pages.txt", "budget.db", "budget.db-wal", "other.db", "link.txt"]
)
def test_overwriting_never_replaces_what_the_command_itself_reads(folder, run, output):
    assert run("ledger init budget.db --epsilon 9 --unit symbols --adjacency 1").code == 0
    assert run("ledger init other.db --epsilon 9 --unit symbols --adjacency 1").code == 0
    (folder / "link.txt").symlink_to("lines.txt")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    line = f"privatize lines.txt --alphabet pages.txt --epsilon 1 --ledger budget.db --overwrite --output {output}"
    ran = run(line + " --format text")
    assert ran.code == 2
    assert "Choose another name" in ran.err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_public_system_must_not_be_one_of_the_files_that_a_pattern_stands_for(folder, run):
    ran = run("privatize l*.txt --alphabet lines.txt --epsilon 1 --output out.txt")
    assert ran.code == 2
    assert "is the sensitive input itself" in ran.err
    assert not (folder / "out.txt").exists()


def test_a_file_that_is_taken_for_a_chain_is_never_followed_to_another_file(folder, run):
    (folder / "chain.json").write_text("lines.txt")
    ran = run("privatize lines.txt --chain chain.json --epsilon 1 --output out.txt")
    assert ran.code == 1
    assert "chain.json: this is not the JSON of a chain" in ran.err


@pytest.mark.parametrize(
    "mistake",
    [
        "--output nowhere/out.txt",
        "--output out.xes --keep day",
        "--output out.txt --keep day",
        "--output out.txt --user driver --max-words-per-user 2",
        "--output out.txt --max-length 2",
    ],
)
def test_a_mistake_in_the_options_costs_nothing_either(run, mistake):
    assert run("ledger init budget.db --epsilon 3 --unit symbols --adjacency 1").code == 0
    ran = run(f"privatize lines.txt --alphabet pages.txt --epsilon 1 --ledger budget.db {mistake}")
    assert ran.code in (1, 2)
    assert json.loads(run("ledger show budget.db --json").out)["charges"] == []


def test_a_refused_or_failed_charge_leaves_nothing_behind(folder, run, monkeypatch):
    from pathveil.ledger.store import Appender

    assert (
        run(
            "ledger init budget.db --epsilon 6 --unit user-symbols --max-words-per-user 5 --adjacency 1 --user driver"
        ).code
        == 0
    )
    line = (
        "privatize trips.parquet --column route --edges roads.csv --epsilon {} --user driver --max-words-per-user 3 "
        "--ledger budget.db --output out.parquet"
    )
    # Refused: the user's 3ε is too much, though ε is not; or neither fits.
    for epsilon in (3, 7):
        assert run(line.format(epsilon)).code == 1
        assert json.loads(run("ledger show budget.db --json").out)["charges"] == []

    def no_space(_self, _content):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as planted:
        planted.setattr(Appender, "append", no_space)
        ran = run(line.format(2))
    assert ran.code == 1
    assert "No space left" in ran.err
    assert json.loads(run("ledger show budget.db --json").out)["charges"] == []
    assert not list(folder.glob("out.parquet*"))
    assert not list(folder.glob(".pathveil-*"))
    assert run(line.format(2)).code == 0
    [charge] = json.loads(run("ledger show budget.db --json").out)["charges"]
    assert charge["epsilon"] == 6.0


def test_the_greatest_number_of_words_of_a_user_reaches_the_terminal_and_nothing_else(folder, run):
    """Two inputs that differ only in how many words the busiest driver has: 6 and 40. M = 3 in both."""
    line = (
        "privatize trips.parquet --column route --edges roads.csv --epsilon 2 --user driver --max-words-per-user 3 "
        "--ledger budget.db --output out.parquet --curator"
    )
    manifests, ledgers, terminals = [], [], []
    for drivers in (7, 1):
        table = pq.read_table("trips.parquet").to_pydict()
        table["driver"] = [f"d{i % drivers}" for i in range(40)]
        pq.write_table(pa.table(table), "trips.parquet")
        assert run("ledger init budget.db --epsilon 6 --unit symbols --adjacency 1").code == 0
        terminals.append(run(line).out)
        manifests.append((folder / "out.parquet.manifest.json").read_bytes())
        ledgers.append([_without_times_and_keys(entry.content) for entry in Ledger.open("budget.db").entries()])
        assert pq.read_table("out.parquet").column_names == ["route"]
        for path in (*folder.glob("out.parquet*"), *folder.glob("budget.db*")):
            path.unlink()
    assert manifests[0] == manifests[1]
    assert ledgers[0] == ledgers[1]
    assert "has 6; " in terminals[0]
    assert "has 40; " in terminals[1]


def _without_times_and_keys(entry):
    """What an entry says, but for the clock, the keyed fingerprint of the input and the digest of the output."""
    return {name: value for name, value in entry.items() if name not in ("time", "fingerprint", "output")}


@pytest.mark.parametrize("more", ["", " --overwrite", " --engine spark --overwrite"])
def test_the_root_of_all_folders_is_no_output(run, more):
    ran = run(f"privatize trips.parquet --column route --edges roads.csv --epsilon 5 --output /{more}")
    assert ran.code != 0
    assert "is a folder" in ran.err
