"""`pathveil privatize`: shapes of input, what is released, what is charged."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

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


def test_a_limit_for_users_is_charged_for_the_word_and_for_the_user(folder, run):
    assert run("ledger init budget.db --epsilon 6").code == 0
    line = (
        "privatize trips.parquet --column route --edges roads.csv --epsilon 2 --user driver --max-words-per-user 3 "
        "--ledger budget.db --output out.parquet --json"
    )
    ran = run(line)
    assert ran.code == 0, ran.err
    summary = json.loads(ran.out)["for_the_curator_only"]
    assert summary["words_released"] == 7 * 3
    assert summary["largest_words_per_user"] == 6
    spent = {u["unit"]: u["spent"]["epsilon"] for u in json.loads(run("ledger show budget.db --json").out)["units"]}
    manifest = json.loads((folder / "out.parquet.manifest.json").read_text())
    assert spent == {manifest["unit"]: 2.0, manifest["per_user"]["unit"]: 6.0}
    assert "6" not in json.dumps(manifest["per_user"]["max_words"])
    # The words of a user are used up; a word by itself is not.
    refused = run(line.replace("out.parquet", "more.parquet"))
    assert refused.code == 1
    assert "requested:  ε = 6" in refused.err
    assert not (folder / "more.parquet").exists()


def test_what_does_not_fit_the_budget_is_refused_in_three_lines_and_writes_nothing(folder, run):
    assert run("ledger init budget.db --epsilon 3").code == 0
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
    assert run("ledger init budget.db --epsilon 3").code == 0
    (folder / "lines.txt").write_text("home cart\nhome exit\n")
    ran = run("privatize lines.txt --alphabet pages.txt --epsilon 1 --ledger budget.db --output out.txt")
    assert ran.code == 1
    assert "lines.txt, line 2" in ran.err
    assert "'exit'" in ran.err
    assert json.loads(run("ledger show budget.db --json").out)["charges"] == []
    # Left out on demand: counted, explained, and in the manifest.
    ran = run(
        "privatize lines.txt --alphabet pages.txt --epsilon 1 --ledger budget.db --output out.txt --on-bad-row skip"
    )
    assert ran.code == 0
    assert "1 words were left out" in ran.out
    assert any("left out" in item for item in json.loads((folder / "out.txt.manifest.json").read_text())["public"])


def test_the_fingerprint_in_the_ledger_tells_the_same_input_from_another(folder, run):
    assert run("ledger init budget.db --epsilon 9").code == 0
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
