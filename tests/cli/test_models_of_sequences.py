"""`pathveil model --order`: what is promised, charged, written and told; what is refused, and that it costs nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pathveil as pv
from pathveil.privacy import units
from tests.cli.conftest import Run, write_inputs

MODEL = "model trips.parquet --column route --states zones.txt --epsilon 8 --max-length 9 --output model.json"
ROUTES = f"{MODEL} --order 2"
PERSONS = f"{ROUTES} --user driver --max-words-per-user 3"


def spent(run: Run) -> float:
    return float(json.loads(run("ledger show budget.db --json").out)["spent"]["epsilon"])


def loaded(folder: Path) -> pv.PrivateSequences:
    model = pv.load_model(folder / "model.json")
    assert isinstance(model, pv.PrivateSequences)
    return model


def test_the_command_promises_what_python_promises(folder: Path, run: Run) -> None:
    ran = run(f"{ROUTES} --delta 1e-3 --neighbours add-remove")
    assert ran.code == 0, ran.err
    words = pq.read_table(folder / "trips.parquet")["route"].to_pylist()
    fitted = pv.fit_private_sequences(
        words, states=[f"s{i}" for i in range(8)], epsilon=8.0, delta=1e-3, max_length=9, order=2,
        neighbours="add-remove",
    )  # fmt: skip
    assert (loaded(folder).guarantee, loaded(folder).asked) == (fitted.guarantee, fitted.asked)
    assert str(fitted.guarantee) in ran.out
    assert "a private model of sequences over 8 states, order" in ran.out
    manifest = json.loads((folder / "model.json.manifest.json").read_text())
    assert manifest["protects"] == units.Word(neighbours="add-remove").to_dict()


def test_json_says_what_was_learned(folder: Path, run: Run) -> None:
    told = json.loads(run(f"{PERSONS} --json").out)
    model = loaded(folder)
    assert (told["order"], told["order_asked"], told["frequent_words"]) == (model.order, 2, 0)
    assert (told["own_contexts"], told["contexts"]) == model.own_contexts
    assert told["for_the_curator_only"]["words_over_limit"] == 40 - 3 * 7
    assert told["guarantee"] == str(model.guarantee)
    assert "person" in told["unit"]


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl", "txt", "xes", "csv.gz"])
def test_synthetic_words_come_in_every_format_with_the_promise_of_the_model(
    folder: Path, run: Run, ending: str
) -> None:
    assert run(ROUTES).code == 0
    ran = run(f"synthesize model.json --count 50 --output made.{ending}")
    assert ran.code == 0, ran.err
    assert str(loaded(folder).guarantee) in ran.out
    promised, made = (
        json.loads((folder / f"{name}.manifest.json").read_text()) for name in ("model.json", f"made.{ending}")
    )
    assert made["guarantee"] == promised["guarantee"]
    assert run(f"report release made.{ending}.manifest.json --output page.html").code == 0


def test_synthetic_words_have_the_lengths_of_the_model(folder: Path, run: Run) -> None:
    write_inputs(folder, trips=4000)  # more than a thousand of each length: noise of a hundred is next to impossible
    assert run(f"{ROUTES} --support roads.csv").code == 0
    ran = run("synthesize model.json --count 5 --length 4 --output made.parquet")
    assert (ran.code, "leave out --length" in ran.err) == (2, True)
    assert run("synthesize model.json --count 500 --output made.parquet").code == 0
    made = pq.read_table(folder / "made.parquet")["word"].to_pylist()
    assert {len(word) for word in made} >= {6, 7, 8}
    world = pv.MarkovChain.from_edges(
        [tuple(line.split(",")) for line in (folder / "roads.csv").read_text().split()[1:]]
    )
    assert all(world.is_feasible(word) for word in made)


def test_inspect_shows_the_model(folder: Path, run: Run) -> None:
    pq.write_table(pa.table({"route": [["s1", "s2"]] * 900 + [["s3"]] * 900}), folder / "trips.parquet")
    assert run(f"{ROUTES} --delta 1e-6").code == 0
    shown = run("inspect model.json").out
    assert "s1 s2" in shown
    assert "2 frequent words are kept whole" in " ".join(shown.split())
    told = json.loads(run("inspect model.json --json").out)
    assert [entry["word"] for entry in sorted(told["frequent"], key=lambda entry: len(entry["word"]))] == [
        ["s3"],
        ["s1", "s2"],
    ]
    assert told["guarantee"] == loaded(folder).guarantee.to_dict()


def test_a_system_is_the_support_with_its_beginnings_and_ends(folder: Path, run: Run) -> None:
    ran = run("system convert --edges roads.csv --output cells.json")
    assert ran.code == 0, ran.err
    asked = "model trips.parquet --column route --system cells.json --epsilon 8 --max-length 9 --output model.json"
    ran = run(f"{asked} --order auto")
    assert ran.code == 0, ran.err
    assert not loaded(folder).grammar.is_free
    pq.write_table(pa.table({"route": [["s0", "s4"]]}), folder / "trips.parquet")
    ran = run(f"{asked} --order auto --overwrite")
    assert ran.code == 1
    assert "'s4' cannot follow 's0'" in ran.err


def test_a_long_table_has_an_order_of_rows_and_one_of_the_model(folder: Path, run: Run) -> None:
    visits = (
        "model visits.csv --case visit --symbol page --states pages.txt --epsilon 5 --output model.json --overwrite"
    )
    for orders in ("--order step --order auto", "--order auto --order step", "--order step --order 2"):
        ran = run(f"{visits} --max-length 4 {orders}")
        assert ran.code == 0, ran.err
        assert loaded(folder).asked.order in ("auto", 2)
    ran = run(f"{visits} --max-length 4 --unit word --order step")  # as before: a chain
    assert isinstance(pv.load_model(folder / "model.json"), pv.PrivateChain)
    # Columns without names are numbers, and stay columns.
    (folder / "bare.csv").write_text((folder / "visits.csv").read_text().split("\n", 1)[1])
    bare = (
        "model bare.csv --no-header --case 1 --symbol 3 --states pages.txt --epsilon 5 --output model.json --overwrite"
    )
    assert run(f"{bare} --max-length 4 --unit word --order 2").code == 0
    assert isinstance(pv.load_model(folder / "model.json"), pv.PrivateChain)
    assert run(f"{bare} --max-length 4 --order 2 --order auto").code == 0
    assert loaded(folder).asked.order == "auto"


def test_rows_that_stand_for_several_words_are_several_words(folder: Path, run: Run) -> None:
    pq.write_table(pa.table({"route": [["s1", "s2"], ["s3"]], "n": [5000, 5000]}), folder / "trips.parquet")
    assert run(f"{ROUTES} --delta 1e-6 --count n").code == 0
    assert {len(word) for word, count in loaded(folder).frequent if 4900 < count < 5100} == {1, 2}


# The budget.

UNITS = {
    "--unit word --max-length 9": (ROUTES, 8.0),
    "--unit word --max-length 9 --neighbours add-remove": (f"{ROUTES} --neighbours add-remove", 8.0),
    "--unit user --max-words-per-user 3 --max-length 9": (PERSONS, 8.0),
    "--unit user --max-words-per-user 3 --max-length 9 --neighbours add-remove": (
        f"{PERSONS} --neighbours add-remove",
        8.0,
    ),
    # Removing one word and adding another replaces it.
    "--unit word --max-length 9 --neighbours replace": (f"{ROUTES} --neighbours add-remove", 16.0),
}


@pytest.mark.parametrize("unit", UNITS)
def test_the_budget_is_charged_in_its_unit(run: Run, unit: str) -> None:
    asked, price = UNITS[unit]
    assert run(f"ledger init budget.db --epsilon 20 {unit}").code == 0
    ran = run(f"{asked} --ledger budget.db --json")
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    assert told["charged"]["epsilon"] == price
    assert told["for_the_curator_only"] == {}
    assert spent(run) == price


def test_a_unit_that_does_not_fit_is_refused_before_anything_is_drawn(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pathveil.models.sequences import fit

    monkeypatch.setattr(fit, "Measuring", None)  # drawing anything would be an error of another kind
    # The number of words is public in this promise, and not in this budget.
    assert run("ledger init words.db --epsilon 50 --unit word --max-length 9 --neighbours add-remove").code == 0
    ran = run(f"{ROUTES} --ledger words.db")
    assert (ran.code, "the number of words as public" in ran.err) == (2, True), ran.err
    # A word costs nine times as much where all words of a person are protected.
    assert run("ledger init budget.db --epsilon 50 --unit user --max-words-per-user 9 --max-length 9").code == 0
    ran = run(f"{ROUTES} --ledger budget.db")
    assert (ran.code, "ε = 72" in ran.err) == (1, True), ran.err
    assert spent(run) == 0
    assert not (folder / "model.json").exists()


# Bad input.


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("--order 0", "--order is 0"),
        ("--order 9", "--order is 9"),
        ("--order -1", "--order is -1"),
        ("--order auto --unit symbol", "which protect a word or a person (--unit), not a symbol"),
        ("--order auto --split transitions=0.8,first=0.1,lengths=0.1", "--split is for a chain"),
        ("--order auto --mechanism laplace", "--mechanism is for a chain"),
        ("--order auto --matrix table.csv", "--matrix is for a chain"),
        ("--order auto --unit word --user driver", "are for --unit user"),
        ("--order auto --user driver", "and --max-words-per-user"),
        ("--order auto --user driver --max-words-per-user 0", "greater than or equal to 1"),
        ("--order auto --delta 2", "delta"),
        ("--order auto --epsilon 0", "epsilon"),
        ("--order first --unit word", "a long table needs all three"),
    ],
)  # fmt: skip
def test_options_that_make_no_sense_are_wrong_use(folder: Path, run: Run, options: str, why: str) -> None:
    assert run("ledger init budget.db --epsilon 50 --unit word --max-length 9").code == 0
    ran = run(f"{MODEL} {options} --ledger budget.db")
    assert ran.code == 2
    assert why in " ".join(ran.err.replace("│", " ").split())
    assert spent(run) == 0
    assert not (folder / "model.json").exists()


@pytest.mark.parametrize("length", ["0", "-3", "200000"])
def test_a_length_that_makes_no_sense_is_wrong_use(folder: Path, run: Run, length: str) -> None:
    ran = run(f"{MODEL.replace('--max-length 9', f'--max-length {length}')} --order auto")
    assert ran.code == 2
    assert not (folder / "model.json").exists()
    ran = run(f"{MODEL.replace('--max-length 9', '')} --order auto")
    assert (ran.code, "--order needs --max-length" in ran.err) == (2, True)


def test_pairs_have_no_order(run: Run) -> None:
    ran = run("model trips.csv --from pickup --to dropoff --states zones.txt --epsilon 1 --order 2 --output m.json")
    assert ran.code == 2
    assert "pairs do not say what a word is" in ran.err


def test_states_that_miss_a_symbol_and_users_with_gaps_are_named_to_the_curator_only(folder: Path, run: Run) -> None:
    assert run("ledger init budget.db --epsilon 50 --unit user --max-words-per-user 9 --max-length 9").code == 0
    (folder / "zones.txt").write_text("".join(f"s{i}\n" for i in range(7)))
    ran = run(f"{PERSONS} --ledger budget.db")
    assert (ran.code, "s7" in ran.err, "not one of the public system's" in ran.err) == (1, False, True)
    assert "unknown symbol 's7'" in run(f"{PERSONS} --ledger budget.db --curator").err
    (folder / "zones.txt").write_text("".join(f"s{i}\n" for i in range(8)))
    pq.write_table(pa.table({"route": [["s1"], ["s2"]], "driver": ["d", None]}), folder / "trips.parquet")
    ran = run(f"{PERSONS} --ledger budget.db")
    assert (ran.code, "the user is missing" in ran.err) == (1, True)
    assert spent(run) == 0
    assert not (folder / "model.json").exists()


def test_an_empty_file_is_refused_and_one_word_and_equal_words_give_a_model(folder: Path, run: Run) -> None:
    def write(words: list[list[str]]) -> None:
        pq.write_table(pa.table({"route": pa.array(words, pa.list_(pa.string()))}), folder / "trips.parquet")

    write([])
    ran = run(ROUTES)
    assert (ran.code, "no word to release" in ran.err) == (1, True)
    write([["s1"]])
    assert run(ROUTES).code == 0
    write([["s1", "s2"]] * 1000)
    assert run(f"{ROUTES} --overwrite --delta 1e-6").code == 0
    [(word, count)] = loaded(folder).frequent
    assert (word, abs(count - 1000) < 50) == (("s1", "s2"), True)


def test_an_order_that_cannot_be_afforded_is_not_pretended(folder: Path, run: Run) -> None:
    ran = run(f"{MODEL} --order 4 --epsilon 0.01")
    assert ran.code == 0
    assert loaded(folder).order < 4
    assert "(not 4: longer contexts cannot be told from noise)" in " ".join(ran.out.split())


def test_an_alphabet_of_thirty_thousand_needs_a_support(folder: Path, run: Run) -> None:
    (folder / "zones.txt").write_text("".join(f"s{i}\n" for i in range(30_000)))
    ran = run(ROUTES)
    assert (ran.code, "Give a public --support" in ran.err) == (1, True)
    assert not (folder / "model.json").exists()
    ran = run(f"{ROUTES} --support roads.csv --max-length 4")
    assert ran.code == 0, ran.err
    assert len(loaded(folder).states) == 30_000
