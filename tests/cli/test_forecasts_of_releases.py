"""`pathveil privatize` says beforehand how many symbols will be wrong, takes the best mechanism, and asks for --yes."""

from __future__ import annotations

import io
import json
import sys
from itertools import product
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import pathveil as pv
from pathveil.cli.privatize import say_if_long
from pathveil.planning.effort import seconds_for_words
from pathveil.planning.public_words import expected_errors
from tests.cli.conftest import ROADS
from tests.worlds import hub_and_spoke

HUBS = hub_and_spoke(30, hubs=2, flights=2)
TRIPS = "privatize trips.parquet --column route --edges roads.csv --output out.parquet"
FREE = "privatize trips.parquet --column route --alphabet zones.txt --output out.parquet"
FLIGHTS = "privatize flights.txt --edges flights.csv --output out.txt"
LITTLE = "this release says little; `pathveil plan` shows which ε would do"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def flights(folder: Path) -> None:
    source = pv.insecure_seed(1)
    pairs = [pair for pair in product(HUBS.symbols, repeat=2) if HUBS.is_feasible(pair)]
    (folder / "flights.csv").write_text("from,to\n" + "".join(f"{a},{b}\n" for a, b in pairs))
    words = [HUBS.random_word(3 + 6 * (i % 2), source) for i in range(20)]
    (folder / "flights.txt").write_text("".join(" ".join(map(str, word)) + "\n" for word in words))


def share(mechanism: pv.WordMechanism, words: dict[int, int]) -> float:
    wrong = sum(count * expected_errors(mechanism, mechanism.world, length) for length, count in words.items())
    return wrong / sum(length * count for length, count in words.items())


def test_the_best_mechanism_is_taken_and_it_is_said_why(folder, run, flights):
    assert flights is None
    kinds = {"certified": pv.CertifiedExponential, "permute-and-flip": pv.PermuteAndFlip, "online": pv.Online}
    expected = {name: share(kind(HUBS, 5.0), {3: 10, 9: 10}) for name, kind in kinds.items()}
    best = min(expected, key=expected.__getitem__)
    assert best == "online", "otherwise this network shows nothing"
    ran = run(f"{FLIGHTS} --epsilon 5 --yes")
    assert ran.code == 0, ran.err
    assert f"Mechanism: online, the best by public forecast: {100 * expected['online']:.3g}% of the symbols" in ran.err
    assert f"certified {100 * expected['certified']:.3g}%" in ran.err
    assert "Its promise is among all words of that length" in ran.err
    assert f"To expect: about {100 * expected['online']:.2g}% of the symbols wrong." in ran.err
    manifest = json.loads((folder / "out.txt.manifest.json").read_text())
    assert manifest["mechanism"].startswith("online mechanism")
    told = json.loads(run(f"{FLIGHTS} --epsilon 5 --yes --json --overwrite").out)
    assert told["mechanism"] == "online"
    assert told["forecasts"] == pytest.approx(expected)
    assert told["expected_errors_a_symbol"] == pytest.approx(expected["online"])


def test_a_mechanism_that_is_named_is_taken(folder, run, flights):
    assert flights is None
    for name, kind in (
        ("certified", "exponential mechanism (certified"),
        ("exponential", "exponential mechanism (published"),
    ):
        ran = run(f"{FLIGHTS} --epsilon 5 --mechanism {name} --yes --overwrite")
        assert ran.code == 0, ran.err
        assert "the best by public forecast" not in ran.err
        assert "To expect: about " in ran.err
        assert json.loads((folder / "out.txt.manifest.json").read_text())["mechanism"].startswith(kind)
    ran = run(f"{FLIGHTS} --epsilon 5 --max-length 9 --yes --overwrite")
    assert json.loads((folder / "out.txt.manifest.json").read_text())["mechanism"].startswith(
        "exponential mechanism (c"
    )


@pytest.mark.parametrize("more", ["", " --quiet", " --json", " --mechanism certified"])
def test_a_release_that_says_little_needs_yes_and_costs_nothing_without(folder, run, more):
    assert run("ledger init budget.db --epsilon 10 --unit symbols --adjacency 1").code == 0
    before = sorted(path.name for path in folder.iterdir())
    ran = run(f"{FREE} --epsilon 0.1 --ledger budget.db{more}")
    assert ran.code == 2
    assert LITTLE in ran.err
    assert "--yes" in ran.err
    assert "Traceback" not in ran.err
    assert sorted(path.name for path in folder.iterdir()) == before
    assert json.loads(run("ledger show budget.db --json").out)["charges"] == []
    ran = run(f"{FREE} --epsilon 0.1 --ledger budget.db --yes{more}")
    assert ran.code == 0, ran.err
    assert len(json.loads(run("ledger show budget.db --json").out)["charges"]) == 1


def test_a_release_that_says_enough_is_not_asked_about(run):
    ran = run(f"{TRIPS} --epsilon 6 --quiet")
    assert (ran.code, ran.out, ran.err) == (0, "", "")


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 1), ("\n", 1), ("", 1)])
def test_on_a_terminal_it_is_a_question(folder, run, monkeypatch, answer, code):
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    monkeypatch.setattr("pathveil.cli.printing.forecast._is_terminal", lambda _: True)
    ran = run(f"{FREE} --epsilon 0.1")
    assert ran.code == code
    assert LITTLE in ran.err
    assert (folder / "out.parquet").exists() == (code == 0)
    assert "Traceback" not in ran.err


def test_the_choice_depends_on_nothing_but_lengths(folder, run):
    """All inputs of two words with given lengths, over a small world: one choice and one forecast."""
    (folder / "small.csv").write_text("from,to\na,b\nb,a\nb,c\nc,a\na,a\n")
    world = pv.MarkovChain.from_edges([("a", "b"), ("b", "a"), ("b", "c"), ("c", "a"), ("a", "a")])
    words = {n: ["".join(word) for word in product("abc", repeat=n) if world.is_feasible(word)] for n in (2, 3)}
    said = set()
    for one, other in product(words[2], words[3]):
        (folder / "small.txt").write_text(f"{' '.join(one)}\n{' '.join(other)}\n")
        ran = run("privatize small.txt --edges small.csv --epsilon 2 --output small-out.txt --yes --overwrite")
        assert ran.code == 0, ran.err
        said.add(tuple(line for line in ran.err.splitlines() if line.startswith(("Mechanism:", "To expect:"))))
    assert len(said) == 1
    assert len(words[2]) * len(words[3]) > 30
    assert len(said.pop()) == 2


def test_with_edit_distance_the_forecast_knows_the_declared_range_only(folder, run):
    edit = "--distance edit --lengths 5:9 --cap 4 --epsilon 4 --yes --overwrite --output private.parquet"
    said = set()
    for part in (slice(0, 3), slice(3, 10)):
        pq.write_table(pq.read_table("trips.parquet")[part], "some.parquet")
        ran = run(f"privatize some.parquet --column route --edges roads.csv {edit}")
        assert ran.code == 0, ran.err
        said.add(tuple(line for line in ran.err.splitlines() if line.startswith(("Mechanism:", "To expect:"))))
    (told,) = said
    assert "edits for 100 symbols" in told[0]
    ran = run(f"privatize trips.parquet --column route --edges roads.csv {edit} --json")
    assert set(json.loads(ran.out)["forecasts"]) == {"certified", "permute-and-flip"}
    ran = run("privatize trips.parquet --column route --edges roads.csv --distance edit --lengths 5:9 --cap 4 "
              "--epsilon 0.1 --output never.parquet")  # fmt: skip
    assert ran.code == 2
    assert "edits for every 100 symbols" in ran.err
    assert not (folder / "never.parquet").exists()


def test_a_budget_that_protects_lengths_refuses_before_anything_is_said_about_them(run):
    assert run("ledger init budget.db --epsilon 10 --unit word --max-length 9").code == 0
    ran = run(f"{TRIPS} --epsilon 0.1 --ledger budget.db")
    assert ran.code != 0
    assert "%" not in ran.out + ran.err


def test_a_forecast_that_would_take_long_is_not_started(folder, run, monkeypatch):
    monkeypatch.setattr("pathveil.planning.choose.seconds_for_a_law", lambda *_: 3600.0)
    ran = run(f"{TRIPS} --epsilon 0.1")
    assert ran.code == 0, ran.err
    assert "Mechanism: certified, the default" in ran.err
    assert "How many symbols will be wrong is not known: a forecast would take about" in ran.err
    assert json.loads((folder / "out.parquet.manifest.json").read_text())["mechanism"].startswith("exponential")


def test_plan_and_compare_mark_the_winner(run):
    best = pv.forecast(pv.MarkovChain.from_edges(ROADS), 6, 3.0).best.mechanism
    ran = run("compare --edges roads.csv --length 6 --epsilon 3")
    assert f"{best}*" in ran.out
    assert json.loads(run("compare --edges roads.csv --length 6 --epsilon 3 --json").out)["best"] == best
    ran = run("plan --edges roads.csv --length 6 --epsilon 3")
    marked = [line for line in ran.out.splitlines() if "*│" in line]
    assert len(marked) == 1
    assert best in marked[0]
    assert "pathveil privatize takes the mechanism that is marked" in " ".join(ran.out.split())
    told = json.loads(run("plan --edges roads.csv --length 6 --epsilon 3 --json").out)
    assert told["best"] == [{"epsilon": 3.0, "mechanism": best}]


def test_plan_takes_a_range_or_a_declared_distribution_of_lengths(folder, run):
    told = json.loads(run("plan --edges roads.csv --length 4:6 --epsilon 3 --json").out)
    assert told["lengths_of_words"] == [4, 6]
    errors = {row["mechanism"]: row["error"] for row in told["forecasts"]}
    world = pv.MarkovChain.from_edges(ROADS)
    assert errors["permute-and-flip"] == pytest.approx(share(pv.PermuteAndFlip(world, 3.0), {4: 1, 5: 1, 6: 1}))
    (folder / "lengths.csv").write_text("length,words\n4,30\n6,10\n")
    told = json.loads(run("plan --edges roads.csv --length lengths.csv --epsilon 3 --json").out)
    errors = {row["mechanism"]: row["error"] for row in told["forecasts"]}
    assert errors["permute-and-flip"] == pytest.approx(share(pv.PermuteAndFlip(world, 3.0), {4: 30, 6: 10}))
    assert "Averaged over all 2 lengths" in " ".join(told["remarks"])


@pytest.mark.parametrize(
    ("length", "content", "code", "why"),
    [
        ("x", None, 2, "a range such as 5:40"),
        ("0", None, 2, "at least 1"),
        ("9:4", None, 2, "not 9 to 4"),
        ("5:", None, 2, "a range such as 5:40"),
        ("gone.csv", None, 1, "gone.csv"),
        ("bad.csv", "length,words\n0,3\n", 1, "bad.csv, line 2"),
        ("bad.csv", "length,words\n4,-3\n", 1, "positive number"),
        ("bad.csv", "length,words\n4,3\n4,2\n", 1, "twice"),
        ("bad.csv", "length,words\n", 1, "no row"),
        ("bad.csv", "length\n4\n", 1, "length, words"),
    ],
)
def test_lengths_that_make_no_sense_are_named(folder, run, length, content, code, why):
    if content is not None:
        (folder / "bad.csv").write_text(content)
    ran = run(f"plan --edges roads.csv --length {length} --epsilon 3")
    assert ran.code == code
    assert why in ran.err
    assert "Traceback" not in ran.err


def test_a_message_comes_before_draws_that_take_longer_than_ten_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    city = pv.example_city(100_000)
    mechanism = pv.Exponential(city, 0.5)  # nothing is local at this tilt
    few, many = {100: 1}, {100: 1_000_000}
    say_if_long(seconds_for_words(mechanism, "exponential", few))
    assert capsys.readouterr().err == ""
    say_if_long(seconds_for_words(mechanism, "exponential", many))
    assert "pathveil: drawing will take about " in capsys.readouterr().err
    # At a larger one the cost no longer depends on the city.
    say_if_long(seconds_for_words(pv.Exponential(city, 20.0), "exponential", {100: 10_000}))
    assert capsys.readouterr().err == ""
