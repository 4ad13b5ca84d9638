from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy import sparse

import pathveil as pv
from tests.sizes import given_few_and_many

PLAIN = st.one_of(
    st.text(max_size=4), st.integers(), st.floats(allow_nan=False), st.booleans(), st.none(), st.just(10**400)
)
STATES = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=4)


def kinds(state: Any) -> Any:
    """A state with the type and sign of everything in it, because 1 == 1.0 == True and 0.0 == -0.0."""
    if isinstance(state, tuple):
        return (tuple, *map(kinds, state))
    return type(state), repr(state)


@given_few_and_many(40, 100, states=st.lists(STATES, min_size=1, max_size=6, unique=True), data=st.data())
def test_states_and_probabilities_survive_exactly(states: list[Any], data: st.DataObject) -> None:
    n = len(states)
    row = st.lists(st.one_of(st.just(0.0), st.floats(1e-300, 1)), min_size=n, max_size=n)
    chain = pv.MarkovChain.from_counts(states, np.array(data.draw(st.lists(row, min_size=n, max_size=n))))
    loaded = pv.MarkovChain.from_json(chain.to_json())
    assert list(map(kinds, loaded.symbols)) == list(map(kinds, states))
    assert loaded.matrix.toarray().tobytes() == chain.matrix.toarray().tobytes()


@pytest.mark.parametrize("stored", [np.array, sparse.csr_array], ids=["dense", "sparse"])
def test_a_file_holds_what_the_text_holds(tmp_path: Path, stored: Any) -> None:
    chain = pv.MarkovChain("ab", stored(np.array([[0.1, 0.9], [1 / 3, 2 / 3]])))
    text = chain.to_json(tmp_path / "chain.json")
    assert (tmp_path / "chain.json").read_text() == text
    for source in (text, tmp_path / "chain.json", str(tmp_path / "chain.json")):
        assert (pv.MarkovChain.from_json(source).matrix.toarray() == chain.matrix.toarray()).all()


@pytest.mark.parametrize("initial", [None, "b", {"b"}, ["a", "c"]])
@pytest.mark.parametrize("final", [None, "a", ["a", "b"]])
def test_first_and_last_symbols_survive(initial: Any, final: Any) -> None:
    chain = pv.MarkovChain("abc", np.full((3, 3), 1 / 3), initial=initial, final=final)
    loaded = pv.MarkovChain.from_json(chain.to_json())
    assert repr(loaded) == repr(chain)
    assert (loaded.first, loaded.final) == (chain.first, chain.final)
    assert loaded.count(4) == chain.count(4)


def test_dead_ends_survive() -> None:
    chain = pv.MarkovChain.from_edges([("a", "b"), ("a", "c"), ("c", "a")])
    loaded = pv.MarkovChain.from_json(chain.to_json())
    assert (loaded.matrix.toarray() == chain.matrix.toarray()).all()


def test_a_state_that_is_no_number_survives() -> None:
    chain = pv.MarkovChain([math.nan, math.inf, (-math.inf, 1)], np.full((3, 3), 1 / 3), initial={math.inf})
    text = chain.to_json()
    assert "NaN" not in text
    assert "Infinity" not in text
    loaded = pv.MarkovChain.from_json(text)
    assert list(map(kinds, loaded.symbols)) == list(map(kinds, chain.symbols))
    assert loaded.first == chain.first


def test_numpy_numbers_become_plain_ones_that_are_equal() -> None:
    chain = pv.MarkovChain(np.arange(2), np.full((2, 2), 0.5))
    loaded = pv.MarkovChain.from_json(chain.to_json())
    assert loaded.symbols == chain.symbols
    assert [type(state) for state in loaded.symbols] == [int, int]


def test_a_chain_without_guarantee_has_none() -> None:
    chain = pv.MarkovChain("ab", np.full((2, 2), 0.5))
    assert chain.guarantee is None
    assert pv.MarkovChain.from_json(chain.to_json()).guarantee is None


def test_a_guarantee_survives_loading_and_saving_again() -> None:
    chain = pv.MarkovChain("ab", np.full((2, 2), 0.5))
    guarantee = {"epsilon": 0.1 + 0.2, "delta": 1e-30, "unit": "one transition", "public": ["states"], "seeded": False}
    loaded = pv.MarkovChain.from_json(chain.to_json(guarantee=guarantee))
    assert loaded.guarantee == guarantee
    assert pv.MarkovChain.from_json(loaded.to_json()).guarantee == guarantee


@pytest.mark.parametrize("guarantee", [{"epsilon": math.inf}, {"epsilon": Fraction(1, 2)}, {"unit": {1, 2}}])
def test_a_guarantee_that_json_cannot_hold_is_refused(guarantee: dict[str, Any]) -> None:
    with pytest.raises(pv.InvalidParameterError, match="guarantee"):
        pv.MarkovChain("ab", np.full((2, 2), 0.5)).to_json(guarantee=guarantee)


@pytest.mark.parametrize("state", [Fraction(1, 2), frozenset("a"), b"bytes", 1j, (1, b"x")], ids=repr)
def test_a_state_that_cannot_be_saved_is_named(state: Any) -> None:
    with pytest.raises(pv.InvalidSystemError, match="only strings, numbers"):
        pv.MarkovChain([state], [[1]]).to_json()


def changed(**fields: Any) -> str:
    text = pv.MarkovChain("ab", [[0.1, 0.9], [0.3, 0.7]]).to_json()
    return json.dumps({**json.loads(text), **fields})


ROW = {"to": [0, 1], "probability": [0.5, 0.5]}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "not JSON"),
        ("{}", "not a saved chain"),
        (changed(format="other"), "not a saved chain"),
        (changed(version=2), "version 2"),
        (changed(states="ab"), "'states'"),
        (changed(states=[]), "no states"),
        (changed(states=["a", "a"]), "twice"),
        (changed(states=["a", {"set": []}]), "state number 2"),
        (changed(states=["a", ["b"]]), "state number 2"),
        (changed(states=["a", {"float": "1.0"}]), "state number 2"),
        (changed(transitions=[ROW]), "2 states, but 1 rows"),
        (changed(transitions=[ROW, 7]), "row 2"),
        (changed(transitions=[ROW, {"to": [0, 1]}]), "'probability'"),
        (changed(transitions=[ROW, {"to": [0, 2], "probability": [0.5, 0.5]}]), "state number 2"),
        (changed(transitions=[ROW, {"to": [0, -1], "probability": [0.5, 0.5]}]), "state number -1"),
        (changed(transitions=[ROW, {"to": [0, True], "probability": [0.5, 0.5]}]), "state number True"),
        (changed(transitions=[ROW, {"to": [1, 1], "probability": [0.5, 0.5]}]), "no state twice"),
        (changed(transitions=[ROW, {"to": [0, 1], "probability": [1.0]}]), "one probability for each"),
        (changed(transitions=[ROW, {"to": [0, 1], "probability": [1.5, -0.5]}]), "probability -0.5"),
        (changed(transitions=[ROW, {"to": [0, 1], "probability": [0.5, math.nan]}]), "probability nan"),
        (changed(transitions=[ROW, {"to": [0, 1], "probability": ["0.5", 0.5]}]), "probability '0.5'"),
        (changed(transitions=[ROW, {"to": [0, 1], "probability": [10**400, 0.5]}]), "probability 1000"),
        (changed(transitions=[ROW, {"to": [0, 1], "probability": [0.5, 0.4]}]), r"row 2 .* sums to 0\.9"),
        (changed(initial="a"), "'initial'"),
        (changed(initial={}), "'among'"),
        (changed(initial={"after": 2}), "state number 2"),
        (changed(initial={"among": []}), "empty"),
        (changed(final={"among": [5]}), "state number 5"),
        (changed(guarantee=3), "'guarantee'"),
    ],
)
def test_a_damaged_file_is_refused_with_the_reason(text: str, complaint: str) -> None:
    with pytest.raises(pv.InvalidSystemError, match=complaint):
        pv.MarkovChain.from_json(text)


def test_a_missing_file_is_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        pv.MarkovChain.from_json(tmp_path / "nowhere.json")
