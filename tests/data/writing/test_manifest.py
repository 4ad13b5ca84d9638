"""What the manifest says, and that it does not depend on the data."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

import pathveil as pv
from pathveil import data
from tests.data.files import LISTS, write_json_lines
from tests.reference.random_systems import systems
from tests.sizes import given_few_and_many

WORLD = pv.Alphabet("abc")


def release(folder: Path, words: list[list[str]], **options: Any) -> dict[str, Any]:
    write_json_lines(folder / "in.jsonl", [{"route": word, "zip": 1, "who": i} for i, word in enumerate(words)])
    mechanism = pv.CertifiedExponential(WORLD, epsilon=2.0, adjacency=2)
    summary = data.privatize_file(folder / "in.jsonl", LISTS, mechanism, folder / "p.jsonl", overwrite=True, **options)
    content: dict[str, Any] = json.loads((folder / "p.jsonl.manifest.json").read_text(encoding="utf-8"))
    assert content["guarantee"] == str(summary.guarantee)
    return content


def test_the_manifest_has_the_guarantee_in_numbers_and_in_words(tmp_path: Path) -> None:
    content = release(tmp_path, [["a", "b"]])
    assert content["epsilon"] == 2.0
    assert content["delta"] == 0.0
    assert "at most 2 symbols" in content["unit"]
    assert "exponential mechanism" in content["mechanism"]
    assert content["seeded"] is False
    assert content["file"] == "p.jsonl"
    assert content["pathveil"] == pv.__version__
    assert content["system"]["fingerprint"] == data.system_fingerprint(WORLD)
    assert "how many words there are" in content["public"]


def test_a_seed_kept_columns_kept_order_and_skipping_are_declared(tmp_path: Path) -> None:
    content = release(tmp_path, [["a"]], rng=pv.insecure_seed(1), keep=["zip"], keep_order=True, on_bad_row="skip")
    assert content["seeded"] is True
    assert "NOT private" in content["guarantee"]
    public = " ".join(content["public"])
    assert "'zip'" in public
    assert "order of the words" in public
    assert "left out" in public


def test_the_seed_of_another_release_is_not_held_against_this_one(tmp_path: Path) -> None:
    write_json_lines(tmp_path / "in.jsonl", [{"route": ["a"]}])
    mechanism = pv.Online(WORLD, epsilon=1.0)
    mechanism.privatize("a", rng=pv.insecure_seed(1))
    summary = data.privatize_file(tmp_path / "in.jsonl", LISTS, mechanism, tmp_path / "p.jsonl")
    assert not summary.guarantee.seeded


def test_two_files_with_the_same_options_have_the_same_manifest(tmp_path: Path) -> None:
    options = {"on_bad_row": "skip", "user": "who", "max_words_per_user": 2}
    one = release(tmp_path, [["a", "b"]], **options)
    other = release(tmp_path, [["c"] * 9, ["a"], ["b"], [], ["unknown"]], **options)
    assert one == other


@given(st.floats(1e-9, 1e6), st.integers(1, 10**6))
def test_the_promise_for_a_user_is_never_rounded_down(epsilon: float, most: int) -> None:
    promise = pv.Online(WORLD, epsilon=epsilon).guarantee
    total, delta = data.user_guarantee(promise, most)
    exact = Fraction(epsilon) * most
    assert exact <= Fraction(total) <= exact * Fraction(1 + 2**-51)
    assert delta == 0


def test_the_fingerprint_ignores_how_a_system_was_written_down() -> None:
    edges = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "c")]
    chain = pv.MarkovChain.from_edges(edges)
    weights = pv.MarkovChain.from_counts(["c", "b", "a"], [[5, 0, 0], [1, 0, 9], [0, 2, 0]])
    assert data.system_fingerprint(chain) == data.system_fingerprint(weights)
    assert data.system_fingerprint(pv.Alphabet("ab")) == data.system_fingerprint(pv.Alphabet("ba"))
    assert data.system_fingerprint(pv.Alphabet([1, 2])) == data.system_fingerprint(pv.Alphabet("12"))


@pytest.mark.parametrize(
    "other",
    [
        pv.MarkovChain.from_edges([("a", "b"), ("b", "a")]),
        pv.MarkovChain.from_edges([("a", "b"), ("b", "a"), ("b", "b")], initial="a"),
        pv.MarkovChain.from_edges([("a", "b"), ("b", "a"), ("b", "b")], final="a"),
        pv.MarkovChain.from_edges([("a", "c"), ("c", "a"), ("c", "c")]),
        pv.Alphabet("ab"),
    ],
)
def test_systems_with_other_words_have_other_fingerprints(other: pv.System) -> None:
    world = pv.MarkovChain.from_edges([("a", "b"), ("b", "a"), ("b", "b")])
    assert data.system_fingerprint(world) != data.system_fingerprint(other)


@given_few_and_many(40, 100, one=systems(), other=systems())
def test_equal_fingerprints_mean_equal_words(one: pv.System, other: pv.System) -> None:
    if data.system_fingerprint(one) == data.system_fingerprint(other):
        assert [one.count(length) for length in range(1, 5)] == [other.count(length) for length in range(1, 5)]


def test_the_fingerprint_of_an_automaton_is_the_same_in_every_process() -> None:
    # Sets of strings are in another order in every process.
    script = (
        "import pathveil as pv; from pathveil import data\n"
        "moves = {(s, a): set('pqrs') for s in 'pqrs' for a in 'xy' if (s, a) != ('q', 'y')}\n"
        "moves['p', 'x'] = {'q', 'r'}; moves['r', 'y'] = {'s'}\n"
        "print(data.system_fingerprint(pv.Automaton(moves, initial={'p', 'q'}, accepting='s')))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(found) == 1


def test_importing_pathveil_does_not_load_the_engine() -> None:
    script = "import sys, pathveil; sys.exit(any(name in sys.modules for name in ('pyarrow', 'duckdb')))"
    subprocess.run([sys.executable, "-c", script], env={"PYTHONPATH": ":".join(sys.path)}, check=True)
