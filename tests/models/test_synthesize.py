"""Synthetic words: their lengths and first symbols by planted numbers, their transitions by a chain without choice."""

from __future__ import annotations

import numpy as np
import pytest

import pathveil as pv
from pathveil.models.synthesize import synthesize, synthetic_codes
from tests.reference.planted import PlantedSource

CYCLE = pv.MarkovChain("abc", [[0, 1, 0], [0, 0, 1], [1, 0, 0]])
A_FIRST = np.array([1.0, 0.0, 0.0])


def _uniform(*numbers: float) -> PlantedSource:
    return PlantedSource([int(number * 2**64) for number in numbers])


def test_words_follow_the_chain_and_begin_where_they_are_told():
    for first, word in (([1, 0, 0], "abcab"), ([0, 1, 0], "bcabc"), ([0, 0, 1], "cabca")):
        made = synthesize(CYCLE, 3, 5, first=np.array(first, dtype=float), lengths=None, rng=None)
        assert made == [word] * 3


def test_without_first_symbols_words_begin_anywhere():
    made = synthesize(CYCLE, 200, 1, first=None, lengths=None, rng=pv.insecure_seed(1))
    assert set(made) == {"a", "b", "c"}


@pytest.mark.parametrize(("number", "size"), [(0.0, 2), (0.2, 2), (0.2501, 3), (0.7499, 3), (0.7501, 5), (0.999999, 5)])
def test_lengths_are_drawn_in_proportion_to_what_the_model_learned(number, size):
    # A quarter has two symbols, half has three, and a quarter five; the numbers need not sum to 1.
    lengths = np.array([0.0, 0.5, 1.0, 0.0, 0.5])
    paths, sizes = synthetic_codes(CYCLE, 2, None, first=A_FIRST, lengths=lengths, rng=_uniform(number))
    assert sizes.tolist() == [size, size]
    assert paths.shape == (2, size)
    made = synthesize(CYCLE, 2, None, first=A_FIRST, lengths=lengths, rng=_uniform(number))
    assert made == ["abcab"[:size]] * 2


def test_paths_are_as_long_as_the_longest_word_and_words_are_cut_to_their_length():
    lengths = np.array([1.0, 0.0, 1.0])
    rng = _uniform(0.9, 0.1, 0.9)
    paths, sizes = synthetic_codes(CYCLE, 3, None, first=A_FIRST, lengths=lengths, rng=rng)
    assert sizes.tolist() == [3, 1, 3]
    assert paths.shape == (3, 3)
    assert synthesize(CYCLE, 3, None, first=A_FIRST, lengths=lengths, rng=rng) == ["abc", "a", "abc"]
    assert synthetic_codes(CYCLE, 2, 1, first=A_FIRST, lengths=None, rng=None)[0].shape == (2, 1)


def test_a_length_that_is_given_goes_before_lengths_that_were_learned():
    made = synthesize(CYCLE, 2, 4, first=A_FIRST, lengths=np.array([1.0]), rng=None)
    assert made == ["abca", "abca"]


@pytest.mark.parametrize(
    ("states", "word"),
    [
        ("ab", "aba"),
        (["a", "bb"], ("a", "bb", "a")),
        ([1, 2], (1, 2, 1)),
        ([(1, 2), (3, 4)], ((1, 2), (3, 4), (1, 2))),
        (["a", 2], ("a", 2, "a")),
    ],
)
def test_words_are_strings_where_every_state_is_one_character(states, word):
    there_and_back = pv.MarkovChain(states, [[0, 1], [1, 0]])
    assert synthesize(there_and_back, 2, 3, first=np.array([1.0, 0.0]), lengths=None, rng=None) == [word, word]


@pytest.mark.parametrize(
    ("count", "length"), [(0, 3), (-1, 3), (2.0, 3), (True, 3), (2, 0), (2, -1), (2, 2.5), (2, True)]
)
def test_words_without_symbols_and_no_words_at_all_are_refused(count, length):
    with pytest.raises(pv.InvalidParameterError, match="at least 1"):
        synthesize(CYCLE, count, length, first=None, lengths=None, rng=None)
