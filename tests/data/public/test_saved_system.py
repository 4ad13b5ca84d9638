"""A system that is saved and read again has the same words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import strategies as st

import pathveil as pv
from pathveil import data
from pathveil.data.public import SavedSystem, grid_system
from tests.reference import random_systems
from tests.sizes import given_few_and_many

SYSTEMS = st.one_of(
    random_systems.alphabets_with_length(),
    random_systems.markov_chains_with_length(),
    random_systems.transition_systems_with_length(),
    random_systems.automata_with_length(),
).map(lambda pair: pair[0])


@given_few_and_many(40, 100, system=SYSTEMS)
def test_the_same_words_are_feasible_after_saving(system: pv.System) -> None:
    again = SavedSystem.from_json(SavedSystem(system).to_json()).system
    assert again.symbols == system.symbols
    assert data.system_fingerprint(again) == data.system_fingerprint(system)


def test_where_it_came_from_where_symbols_lie_and_what_others_added_is_kept() -> None:
    roads = pv.MarkovChain.from_edges([("a", "b"), ("b", "a")], initial={"a"}, final="b")
    saved = SavedSystem(roads, "a map", {"a": (1.0, 2.5)}, {"cells": {"size": 500}})
    again = SavedSystem.from_json(saved.to_json())
    assert (again.source, again.coordinates, again.more) == ("a map", {"a": (1.0, 2.5)}, {"cells": {"size": 500}})
    assert again.system.count(2) == 1
    assert again.to_json() == saved.to_json()


def test_the_first_lines_say_what_the_file_is() -> None:
    lines = grid_system(2, 2).to_json().splitlines()
    assert "pathveil public system" in lines[1]
    assert "--system" in lines[3]
    assert "grid of 2 rows and 2 columns" in lines[4]


def test_symbols_need_not_be_texts() -> None:
    system = pv.MarkovChain.from_edges([((1, "x"), 2.5), (2.5, None)])
    assert SavedSystem.from_json(SavedSystem(system).to_json()).system.symbols == system.symbols


def test_a_map_needs_a_place_for_every_state() -> None:
    roads = pv.MarkovChain.from_edges([("a", "b"), ("b", "a")])
    assert SavedSystem(roads, "", {"a": (0.0, 0.0)}).map is None
    assert SavedSystem(roads, "", {"a": (0.0, 0.0), "b": (1.0, 0.0)}).map is not None
    assert SavedSystem(pv.Alphabet("ab"), "", {"a": (0.0, 0.0), "b": (1.0, 0.0)}).map is None


def changed(**parts: object) -> str:
    document = json.loads(grid_system(1, 3).to_json())
    return json.dumps({**document, **parts})


AUTOMATON = {"states": 2, "moves": [[0, 0, 1]], "initial": [0], "accepting": [1]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("[" * 100_000, "not JSON|nested thousands deep"),
        ("{}", "not a saved system"),
        (pv.MarkovChain.from_edges([("a", "a")]).to_json(), "not a saved system.*--chain"),
        (changed(version=2), "version 2 of the format"),
        (changed(source=3), "`source` is a text"),
        (changed(kind="tree"), "`kind` is"),
        (changed(system=None), "`kind` is"),
        (changed(symbols=None), "`symbols` is missing"),
        (changed(symbols=["a", "a", "b"]), "stands twice"),
        (changed(system={"successors": [[1], [0]]}), "one list for each of the 3 symbols"),
        (changed(system={"successors": [[1], [0, 2], [3]]}), "successors: only whole numbers from 0 to 2"),
        (changed(system={"successors": [[1], [0, 2], [1.0]]}), "successors: only whole numbers"),
        (changed(system={"successors": [[1], [0], [True]]}), "successors: only whole numbers"),
        (changed(system={"successors": [[1], [0, 2], [1]], "first": [7]}), "first: only whole numbers"),
        (changed(system={"successors": [[1], [0, 2], [1]], "after": "a"}), "after: only whole numbers"),
        (changed(coordinates=[[0, 0]]), "one entry for each of the 3"),
        (changed(coordinates=[[0, 0], None, [0, "1"]]), "the coordinates of 'r1c3'"),
        (changed(coordinates=[[0, 0], None, [0, 1e999]]), "the coordinates of 'r1c3'"),
        (changed(coordinates=[[0, 0], None, [0, 10**400]]), "the coordinates of 'r1c3'"),
        (changed(kind="automaton", system=AUTOMATON), "symbols that no move writes"),
        (changed(kind="automaton", system={**AUTOMATON, "moves": [[0, 0]]}), "move number 1"),
        (changed(kind="automaton", system={**AUTOMATON, "moves": [[0, 9, 1]]}), "move number 1"),
        (changed(kind="automaton", system={**AUTOMATON, "initial": None}), "initial"),
        (changed(kind="automaton", system={**AUTOMATON, "states": "2"}), "a number of `states`"),
    ],
)
def test_files_that_hold_no_system_are_refused_by_name(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "world.json").write_text(text)
    with pytest.raises(pv.PathVeilError, match=rf"(?s)world\.json.*({message})"):
        SavedSystem.read(tmp_path / "world.json")


def test_a_missing_file_and_other_encodings_are_refused(tmp_path: Path) -> None:
    (tmp_path / "latin.json").write_bytes(b'{"format": "\xe4"}')
    for name, message in (("none.json", "cannot be read"), ("latin.json", "not UTF-8")):
        with pytest.raises(pv.DataFileError, match=message):
            SavedSystem.read(tmp_path / name)
