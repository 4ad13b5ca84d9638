"""The lines that the documentation promises, run as they are written."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

import pathveil as pv
from tests.cli.conftest import ROADS

LEDGER = "ledger init budget.db --epsilon 10 --unit symbols --adjacency 1 --delta 1e-5"
PRIVATIZE = (
    "privatize trips.parquet --column route --edges roads.csv --epsilon 5 --adjacency 1 --ledger budget.db "
    "--output private.parquet"
)
MODEL = (
    "model trips.parquet --column route --unit transition --states zones.txt --epsilon 1 --delta 1e-6 "
    "--ledger budget.db --output model.json"
)


def test_words_of_a_list_column_become_private_words_of_the_public_system(run):
    assert run(LEDGER).code == 0
    ran = run(PRIVATIZE)
    assert ran.code == 0, ran.err
    table = pq.read_table("private.parquet")
    assert table.column_names == ["route"]
    world = pv.MarkovChain.from_edges(ROADS)
    private = table.column("route").to_pylist()
    assert all(world.is_feasible(tuple(word)) for word in private)
    sensitive = pq.read_table("trips.parquet").column("route").to_pylist()
    assert sorted(map(len, private)) == sorted(map(len, sensitive))


def test_the_manifest_says_what_was_promised_and_nothing_that_the_data_decide(folder, run):
    assert run(PRIVATIZE.replace("--ledger budget.db ", "")).code == 0
    manifest = json.loads((folder / "private.parquet.manifest.json").read_text())
    assert (manifest["epsilon"], manifest["delta"], manifest["seeded"]) == (5.0, 0.0, False)
    assert manifest["unit"] == "any other feasible word of the same length that differs in at most 1 symbol"
    assert "certified" in manifest["mechanism"]
    assert "how many words there are" in manifest["public"]
    # Other words, the same manifest.
    table = pq.read_table("trips.parquet")
    pq.write_table(table.slice(0, 5), "trips.parquet")
    assert run(PRIVATIZE.replace("--ledger budget.db ", "") + " --overwrite").code == 0
    assert json.loads((folder / "private.parquet.manifest.json").read_text()) == manifest


def test_a_long_table_gets_fresh_case_numbers_and_orders_from_one(folder, run):
    line = (
        "privatize visits.csv --case visit --order step --symbol page --alphabet pages.txt --epsilon 2 "
        "--output private.csv"
    )
    ran = run(line)
    assert ran.code == 0, ran.err
    header, *rows = (folder / "private.csv").read_text().splitlines()
    assert header == "visit,step,page"
    cells = [row.split(",") for row in rows]
    assert sorted({int(case) for case, _, _ in cells}) == list(range(1, 21))
    assert {page for _, _, page in cells} <= {"home", "cart", "help"}
    for case in range(1, 21):
        orders = [int(order) for number, order, _ in cells if number == str(case)]
        assert orders == list(range(1, len(orders) + 1))


@pytest.mark.parametrize(("mechanism", "delta"), [("", 0.0), (" --mechanism dirichlet", 1e-6)])
def test_a_model_of_words_is_charged_and_saved_with_its_guarantee(folder, run, mechanism, delta):
    assert run("ledger init budget.db --epsilon 10 --delta 1e-5 --unit transition").code == 0
    ran = run(MODEL + mechanism)
    assert ran.code == 0, ran.err
    chain = pv.MarkovChain.from_json(folder / "model.json")
    assert chain.symbols == tuple(f"s{i}" for i in range(8))
    assert chain.guarantee["delta"] == delta
    manifest = json.loads((folder / "model.json.manifest.json").read_text())
    assert manifest["epsilon"] == 1.0
    shown = json.loads(run("ledger show budget.db --json").out)
    assert shown["protects"] == manifest["protects"]
    assert shown["spent"] == {"epsilon": 1.0, "delta": delta}


def test_a_model_of_pairs_needs_no_unit(folder, run):
    line = (
        "model trips.csv --from pickup --to dropoff --states zones.txt --epsilon 1 --delta 1e-6 --output model.json "
        "--matrix matrix.csv"
    )
    ran = run(line)
    assert ran.code == 0, ran.err
    chain = pv.MarkovChain.from_json(folder / "model.json")
    header, *rows = (folder / "matrix.csv").read_text().splitlines()
    assert header.split(",") == ["", *chain.symbols]
    values = [[float(value) for value in row.split(",")[1:]] for row in rows]
    assert values == chain.matrix.toarray().tolist()


@pytest.mark.parametrize("output", ["synthetic.parquet", "synthetic.csv", "synthetic.jsonl.gz", "synthetic.txt"])
def test_synthetic_words_come_from_a_saved_model(folder, run, output):
    assert run(MODEL.replace("--ledger budget.db ", "")).code == 0
    ran = run(f"synthesize model.json --count 100 --length 14 --output {output}")
    assert ran.code == 0, ran.err
    manifest = json.loads((folder / f"{output}.manifest.json").read_text())
    assert manifest["epsilon"] == 1.0
    if output.endswith("parquet"):
        words = pq.read_table(output).column("word").to_pylist()
        assert len(words) == 100
        assert all(len(word) == 14 for word in words)
        assert {symbol for word in words for symbol in word} <= {f"s{i}" for i in range(8)}
    if output.endswith("txt"):
        assert [len(line.split()) for line in (folder / output).read_text().splitlines()] == [14] * 100


def test_a_model_can_learn_where_words_begin_and_how_long_they_are(folder, run):
    line = "model trips.parquet --column route --unit word --max-length 9 --states zones.txt --epsilon 400"
    ran = run(line + " --split transitions=0.6,first=0.2,lengths=0.2 --output model.json")
    assert ran.code == 0, ran.err
    assert run("synthesize model.json --count 500 --output synthetic.parquet").code == 0
    found = pq.read_table(folder / "synthetic.parquet").column("word").to_pylist()
    trips = pq.read_table(folder / "trips.parquet").column("route").to_pylist()
    # At ε = 400 there is next to no noise: what is never in the trips is never in the synthetic words.
    assert {len(word) for word in found} == {len(trip) for trip in trips}
    assert {word[0] for word in found} <= {trip[0] for trip in trips}
    bad = run(line + " --split transitions:0.6 --output other.json")
    assert bad.code == 2
    assert "--split" in bad.err


def test_comparing_shows_every_mechanism_and_what_none_can_beat(run):
    ran = run("compare --edges roads.csv --length 14 --epsilon 5 --adjacency 1")
    assert ran.code == 0, ran.err
    assert "any mechanism: at least" in ran.out
    content = json.loads(run("compare --edges roads.csv --length 14 --epsilon 5 --adjacency 1 --json").out)
    errors = {one["mechanism"]: one["errors"] for one in content["mechanisms"]}
    assert set(errors) == {"certified", "permute-and-flip", "exponential", "online"}
    world = pv.MarkovChain.from_edges(ROADS)
    from pathveil.planning.public_words import expected_errors

    assert errors["permute-and-flip"] == expected_errors(pv.PermuteAndFlip(world, 5.0), world, 14)


def test_planning_finds_the_epsilon_for_a_target_error(folder, run):
    line = "plan --edges roads.csv --length 6 --adjacency 1 --target-error 0.1"
    ran = run(line + " --json --plot plan.png")
    assert ran.code == 0, ran.err
    content = json.loads(ran.out)
    world = pv.MarkovChain.from_edges(ROADS)
    from pathveil.planning.public_words import expected_errors

    needed = content["epsilon_for_target"]["permute-and-flip"]
    assert expected_errors(pv.PermuteAndFlip(world, needed), world, 6) <= 0.6
    assert expected_errors(pv.PermuteAndFlip(world, needed / 1.02), world, 6) > 0.6
    assert (folder / "plan.png").read_bytes().startswith(b"\x89PNG")
    shown = run("plan --alphabet pages.txt --length 14 --target-error 0.1").out
    for name in ("certified", "permute-and-flip", "exponential", "online"):
        assert name in shown
    assert "…" not in shown  # nothing was cut off


def test_planning_a_model_needs_declared_row_sizes_only(folder, run):
    sizes = {f"s{i}": 1000 * (i + 1) for i in range(8)}
    ran = run("plan --rows sizes.csv --delta 1e-6 --target-error 0.002 --json --plot models.svg --epsilon 1")
    assert ran.code == 0, ran.err
    content = json.loads(ran.out)
    expected = pv.compare_models(list(sizes.values()), successors=8, epsilon=1.0, delta=1e-6)
    assert {one["mechanism"]: one["error"] for one in content["forecasts"]} == {m.mechanism: m.rmse for m in expected}
    for name, needed in content["epsilon_for_target"].items():
        for epsilon, enough in ((needed, True), (needed / 1.02, False)):
            again = pv.compare_models(list(sizes.values()), successors=8, epsilon=epsilon, delta=1e-6)
            assert (next(m.rmse for m in again if m.mechanism == name) <= 0.002) == enough
    assert (folder / "models.svg").read_text().startswith("<?xml")
    assert "laplace" in run("plan --rows sizes.csv --unit word --max-length 9").out
    sparse = json.loads(run("plan --rows sizes.csv --edges roads.csv --epsilon 1 --json").out)
    assert [one["mechanism"] for one in sparse["forecasts"]] == ["laplace"]


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        ("plan --edges roads.csv", 2, "--length"),
        ("plan --edges roads.csv --length 8 --rows bad.csv", 2, "--length"),
        ("plan --edges roads.csv --length 8 --delta 1e-6", 2, "--rows"),
        ("plan --rows bad.csv", 1, "bad.csv, line 3: records is '-4'"),
        ("plan --rows small.csv --edges roads.csv", 2, "'s1'"),
        ("plan --rows small.csv --alphabet pages.txt", 2, "--edges"),
        ("plan --rows small.csv --unit word", 2, "--max-length"),
        ("plan --rows small.csv --max-length 4", 2, "--unit word"),
        ("plan --rows small.csv --target-error 2", 2, "between 0 and 1"),
    ],
)
def test_a_plan_that_makes_no_sense_is_explained(folder, run, line, code, says):
    (folder / "bad.csv").write_text("state,records\na,5\nb,-4\n")
    (folder / "small.csv").write_text("state,records\ns0,5\n")
    ran = run(line)
    assert ran.code == code
    assert says in ran.err


def test_the_ledger_shows_what_was_spent_as_json(run):
    assert run(LEDGER).code == 0
    assert run(PRIVATIZE).code == 0
    content = json.loads(run("ledger show budget.db --json").out)
    assert content["budget"] == {"epsilon": 10.0, "delta": 1e-5}
    [charge] = content["charges"]
    assert (charge["epsilon"], charge["status"]) == (5.0, "completed")
    assert len(charge["fingerprint"]) == 64
    assert "trips.parquet" in run("ledger show budget.db").out
    assert "all as written" in run("ledger verify budget.db").out
