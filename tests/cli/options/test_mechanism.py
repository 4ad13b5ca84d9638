"""`--distance edit` in privatize, plan and compare."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

import pathveil as pv
from tests.cli.conftest import ROADS

PRIVATIZE = (
    "privatize trips.parquet --column route --edges roads.csv --epsilon 3 --distance edit --output private.parquet"
)


@pytest.mark.parametrize("mechanism", ["certified", "permute-and-flip", "exponential"])
def test_private_words_have_lengths_in_the_range_and_the_manifest_says_so(folder, run, mechanism):
    ran = run(f"{PRIVATIZE} --lengths 5:9 --cap 6 --mechanism {mechanism}")
    assert ran.code == 0, ran.err
    world = pv.MarkovChain.from_edges(ROADS)
    private = pq.read_table("private.parquet").column("route").to_pylist()
    assert len(private) == 40
    assert all(world.is_feasible(tuple(word)) and 5 <= len(word) <= 9 for word in private)
    sensitive = pq.read_table("trips.parquet").column("route").to_pylist()
    assert sorted(map(len, private)) != sorted(map(len, sensitive))
    manifest = json.loads((folder / "private.parquet.manifest.json").read_text())
    assert "any 1 insertion, deletion or substitution in one word, its length included" in manifest["unit"]
    assert "lengths 5 to 9 public" in manifest["unit"]
    assert "edit distance" in manifest["mechanism"]


def test_a_word_outside_the_range_costs_nothing(folder, run):
    assert run("ledger init budget.db --epsilon 10 --unit symbols --adjacency 1").code == 0
    ran = run(f"{PRIVATIZE} --lengths 7:9 --ledger budget.db")
    assert ran.code != 0
    assert "7 to 9 symbols" in ran.err
    assert not (folder / "private.parquet").exists()
    assert json.loads(run("ledger show budget.db --json").out)["charges"] == []
    ran = run(f"{PRIVATIZE} --lengths 7:9 --ledger budget.db --on-bad-row skip")
    assert ran.code == 0, ran.err
    private = pq.read_table("private.parquet").column("route").to_pylist()
    sensitive = pq.read_table("trips.parquet").column("route").to_pylist()
    assert len(private) == sum(len(word) >= 7 for word in sensitive)


@pytest.mark.usefixtures("folder")
def test_work_that_takes_long_is_announced_with_a_cap_that_is_quicker(run, monkeypatch):
    quick = [
        f"{PRIVATIZE} --lengths 5:9 --mechanism exponential --overwrite",
        "plan --edges roads.csv --length 7 --distance edit --lengths 5:9 --epsilon 3",
        "plan --edges roads.csv --length 7 --epsilon 3",
    ]
    for line in quick:
        assert "will take" not in run(line).err
    # Estimates as they would be for large systems.
    warnings = []
    monkeypatch.setattr(
        "pathveil.planning.effort.edit_warning",
        lambda *about: warnings.append(about[1:]) or "this will take up to about 9 hours; `cap=3` would take about 1 s",
    )
    monkeypatch.setattr("pathveil.planning.word_curves.seconds_for_forecasts", lambda *_: 1234.0)
    for line, said in zip(quick, ["--cap 3 would take", "--cap 3 would take", "up to about 1,234 s"], strict=True):
        ran = run(line)
        assert ran.code == 0, ran.err
        assert "this will take up to about" in ran.err
        assert said in ran.err
        assert "will take" not in run(f"{line} --quiet").err
    assert [about[0] for about in warnings] == [(5, 9)] * 2


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ("--distance edit", "--lengths"),
        ("--distance edit --lengths 5", "5:20"),
        ("--distance edit --lengths 9:5", "greater than the longest"),
        ("--distance edit --lengths 5:9 --cap 0", "cap"),
        ("--distance edit --lengths 5:9 --mechanism online", "online"),
        ("--distance edit --lengths 5:9 --max-length 9", "--max-length"),
        ("--lengths 5:9", "--distance edit"),
        ("--cap 3", "--distance edit"),
    ],
)
def test_options_that_do_not_fit_together_are_refused(run, options, complaint):
    line = "privatize trips.parquet --column route --edges roads.csv --epsilon 3 --output private.parquet"
    ran = run(f"{line} {options}")
    assert ran.code != 0
    assert complaint in ran.err


def test_compare_and_plan_tell_expected_edits(run):
    compared = run("compare --edges roads.csv --length 6 --epsilon 7 --distance edit --lengths 4:8 --json")
    assert compared.code == 0, compared.err
    content = json.loads(compared.out)
    assert content["lengths"] == [4, 8]
    errors = {one["mechanism"]: one["errors"] for one in content["mechanisms"]}
    assert set(errors) == {"certified", "permute-and-flip", "exponential"}
    assert errors["certified"] < errors["permute-and-flip"] < errors["exponential"]
    assert "edits" in run("compare --edges roads.csv --length 6 --epsilon 7 --distance edit --lengths 4:8").out
    planned = run("plan --edges roads.csv --length 6 --epsilon 7 --distance edit --lengths 4:8 --cap 8 --json")
    assert planned.code == 0, planned.err
    forecasts = {one["mechanism"]: one["error"] for one in json.loads(planned.out)["forecasts"]}
    assert forecasts == pytest.approx({name: error / 6 for name, error in errors.items()})
    refused = run("plan --rows sizes.csv --distance edit --lengths 4:8")
    assert refused.code != 0
    assert "--length" in refused.err
