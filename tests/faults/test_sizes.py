"""Symbols, words, alphabets, ε and probabilities far beyond what people use.

The sizes here are small enough for every day; a symbol of 1 MB, a word of 10^6 symbols and an alphabet of 10^6 symbols
take the same ways.
"""

from __future__ import annotations

import json

import pytest

import pathveil as pv

MECHANISMS = ("certified", "exponential", "permute-and-flip", "online")
LINE = "privatize words.txt {} --epsilon {} --yes --mechanism {} --output out.txt --quiet"
TINY = {
    "format": "pathveil Markov chain",
    "version": 1,
    "states": ["a", "b", "c"],
    "transitions": [
        {"to": [0, 1, 2], "probability": [1e-300, 0.5, 0.5]},
        {"to": [0, 2], "probability": [1e-300, 1.0]},
        {"to": [0, 1], "probability": [5e-324, 1.0]},
    ],
    "initial": None,
    "final": None,
    "guarantee": None,
}


@pytest.fixture(autouse=True)
def public(folder):
    (folder / "letters.txt").write_text("a\nb\nc\n")
    (folder / "chain.json").write_text(json.dumps(TINY))
    (folder / "words.txt").write_text("a b c\na a a\nb c a\n")


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_very_long_symbol_comes_out_whole(folder, run, mechanism):
    name = "x" * 100_000
    (folder / "long.txt").write_text(f"{name}\na\n")
    (folder / "words.txt").write_text(f"a {name}\n{name} {name}\n")
    assert run(LINE.format("--alphabet long.txt", 50, mechanism)).code == 0
    symbols = (folder / "out.txt").read_text().split()
    assert len(symbols) == 4
    assert set(symbols) <= {name, "a"}


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_very_long_word_keeps_its_length(folder, run, mechanism):
    # Permute-and-flip may count all error classes exactly, which takes long for long words.
    length = 500 if mechanism == "permute-and-flip" else 30_000
    (folder / "words.txt").write_text(" ".join("abc"[i % 3] for i in range(length)) + "\na\n")
    assert run(LINE.format("--alphabet letters.txt", 1, mechanism)).code == 0
    assert sorted(len(line.split()) for line in (folder / "out.txt").read_text().splitlines()) == [1, length]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_very_large_alphabet_is_used(folder, run, mechanism):
    (folder / "many.txt").write_text("".join(f"s{i}\n" for i in range(50_000)))
    (folder / "words.txt").write_text("s1 s2 s49999\n")
    assert run(LINE.format("--alphabet many.txt", 80, mechanism)).code == 0
    assert (folder / "out.txt").read_text() == "s1 s2 s49999\n"  # false alarm below 50,000 e^(-40) = 2e-13


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("epsilon", ["1e-9", "1e6"])
@pytest.mark.parametrize("system", ["--alphabet letters.txt", "--chain chain.json"])
def test_extreme_epsilons_and_probabilities_release_feasible_words(folder, run, mechanism, epsilon, system):
    assert run(LINE.format(system, epsilon, mechanism)).code == 0
    words = [tuple(line.split()) for line in (folder / "out.txt").read_text().splitlines()]
    world = pv.MarkovChain.from_json(json.dumps(TINY)) if "chain" in system else pv.Alphabet("abc")
    assert len(words) == 3
    assert all(world.is_feasible(word) for word in words)
    if epsilon == "1e6":  # then nothing is hidden
        assert sorted(words) == [("a", "a", "a"), ("a", "b", "c"), ("b", "c", "a")]
    assert json.loads((folder / "out.txt.manifest.json").read_text())["epsilon"] == float(epsilon)


@pytest.mark.parametrize("epsilon", ["1e101", "inf", "nan", "0", "-1"])
def test_an_epsilon_that_is_none_is_wrong_use(folder, run, epsilon):
    for mechanism in MECHANISMS:
        assert run(LINE.format("--alphabet letters.txt", epsilon, mechanism)).code == 2
    assert (
        run(f"model words.txt --unit transition --states letters.txt --epsilon {epsilon} --delta 1e-6 -o m.json").code
        == 2
    )
    assert not list(folder.glob("out*"))


@pytest.mark.parametrize("unit", ["transition", "symbol", "word --max-length 5"])
@pytest.mark.parametrize("privacy", ["1e-9", "1e6", "1e-9 --delta 1e-6", "1e5 --delta 1e-6", "1e6 --delta 1e-6"])
def test_models_at_extreme_epsilons_work_or_say_why_not(folder, run, unit, privacy):
    ran = run(f"model words.txt --unit {unit} --states letters.txt --epsilon {privacy} --output model.json --quiet")
    assert "Traceback" not in ran.err
    if ran.code == 0:
        assert run("inspect model.json").code == 0
        assert run("synthesize model.json --count 3 --length 4 --output synthetic.txt").code == 0
    else:
        assert ran.code == (2 if privacy.startswith("1e6") else 1)
        assert not (folder / "model.json").exists()


def test_a_chain_of_tiny_probabilities_can_be_inspected_and_simulated(run):
    assert run("inspect chain.json").code == 0
    assert run("synthesize chain.json --count 20 --length 30 --output synthetic.txt").code == 0
