"""Arrow list arrays of words: the same law as word by word, and errors that name the word."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest

import pathveil as pv
from tests.reference.random_systems import systems
from tests.sizes import given_few_and_many

WORDS = [[0, 1, 2], [2], [1, 1], [0, 2, 2], [2, 0]]


@pytest.mark.parametrize("kind", [pa.list_(pa.int32()), pa.large_list(pa.int64()), pa.list_(pa.uint16())])
def test_the_result_has_the_type_and_the_lengths_of_the_input(kind: pa.DataType) -> None:
    words = pa.array(WORDS, type=kind)
    mechanism = pv.PermuteAndFlip(pv.Alphabet("abc"), epsilon=1.0)
    private = mechanism.privatize_arrow(words, rng=pv.insecure_seed(1))
    assert private.type == kind
    assert [len(word) for word in private.to_pylist()] == [3, 1, 2, 3, 2]
    assert mechanism.guarantee.seeded


def test_at_a_huge_epsilon_every_word_comes_back_in_its_place() -> None:
    words = pa.array([[9], *WORDS], type=pa.list_(pa.int32())).slice(1)
    private = pv.Online(pv.Alphabet("abc"), epsilon=200.0).privatize_arrow(words)
    assert private.to_pylist() == WORDS


def test_one_length_is_drawn_as_privatize_array_draws_it() -> None:
    codes = np.array([[0, 1, 2], [2, 1, 0], [1, 1, 1]])
    mechanism = pv.CertifiedExponential(pv.Alphabet("abc"), epsilon=1.0)
    by_array = mechanism.privatize_array(codes, rng=pv.insecure_seed(3))
    by_arrow = mechanism.privatize_arrow(pa.array(codes.tolist()), rng=pv.insecure_seed(3))
    assert by_arrow.to_pylist() == by_array.tolist()


@pytest.mark.parametrize(
    ("words", "error", "says"),
    [
        (pa.array([[0], None]), pv.EmptyWordError, "word 1 is null"),
        (pa.array([[0], []], type=pa.list_(pa.int8())), pv.EmptyWordError, "word 1 is empty"),
        (pa.array([[0, 1], [0, None]]), pv.InvalidParameterError, "word 1: the code at position 2"),
        (pa.array([[0], [0, 3]]), pv.UnknownSymbolError, "word 1, position 2: code 3"),
        (pa.array([[0, 1], [1], [2, 0]]), pv.InfeasibleWordError, "word 2: infeasible"),
        (pa.array([["a"]]), pv.InvalidParameterError, "list<"),
        ([[0]], pv.InvalidParameterError, "not list"),
    ],
)
def test_bad_batches_are_refused_with_the_number_of_the_word(words: pa.Array, error: type, says: str) -> None:
    line = pv.MarkovChain.from_edges([("a", "b"), ("b", "c"), ("b", "a")])
    with pytest.raises(error, match=says):
        pv.Exponential(line, epsilon=1.0).privatize_arrow(words)


def test_infeasible_words_are_accepted_where_the_mechanism_says_so() -> None:
    line = pv.MarkovChain.from_edges([("a", "b"), ("b", "a")])
    mechanism = pv.PermuteAndFlip(line, epsilon=1.0, on_infeasible="nearest")
    [word] = mechanism.privatize_arrow(pa.array([[0, 0]])).to_pylist()
    assert word in ([0, 1], [1, 0])


@given_few_and_many(40, 100, data=st.data())
def test_rows_are_feasible_exactly_where_each_word_is(data: st.DataObject) -> None:
    world = data.draw(systems())
    length = data.draw(st.integers(1, 5))
    words = data.draw(st.lists(st.lists(st.integers(0, len(world.symbols) - 1), min_size=length, max_size=length)))
    codes = np.array(words, dtype=np.int64).reshape(-1, length)
    expected = [world.is_feasible([world.symbols[code] for code in word]) for word in words]
    assert world.compiled.feasible_rows(codes).tolist() == expected
