"""Many words at once become codes, and codes become words, as one by one."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from hypothesis import strategies as st

import pathveil as pv
from tests.sizes import given_few_and_many
from tests.worlds import CHAIN, LETTER_CHAIN, TOWN

LETTERS = pv.Alphabet("aé漢\U0001f600\ud800")
PAIRS = pv.Alphabet([(0, 1), "x", 7])


@pytest.mark.parametrize("world", [LETTERS, PAIRS, CHAIN, TOWN], ids=["letters", "pairs", "chain", "town"])
@given_few_and_many(40, 100, data=st.data())
def test_codes_and_words_are_those_of_single_words(world: pv.System, data: st.DataObject) -> None:
    words = data.draw(st.lists(st.lists(st.sampled_from(world.symbols), min_size=1, max_size=5).map(tuple), max_size=6))
    if world is LETTERS:
        words = ["".join(map(str, word)) if data.draw(st.booleans()) else word for word in words]
    encoded = world.encode_many(words)
    assert encoded is not None
    codes, offsets = encoded
    assert codes.tolist() == [code for word in words for code in world.encode(word).tolist()]
    assert np.diff(offsets).tolist() == list(map(len, words))
    assert world.decode_many(codes, offsets, words) == words


@pytest.mark.parametrize(
    "words",
    [["ab", ""], ["ab", "xy"], ["ab", None], [{"a", "b"}], [{"a": 1}], [["a", ["b"]]], ["ab", "a\U0001f600"], [5]],
)
def test_anything_odd_is_left_to_single_words(words: list) -> None:
    assert LETTER_CHAIN.encode_many(words) is None
    with pytest.raises(pv.PathVeilError, match=f"word {len(words)} of {len(words)}: "):
        pv.Online(LETTER_CHAIN, 1.0).privatize_many(words)


@pytest.mark.parametrize("kind", [pv.Exponential, pv.CertifiedExponential, pv.PermuteAndFlip, pv.Online])
def test_lists_and_arrays_give_the_same_words_from_the_same_seed(kind: type) -> None:
    words = TOWN.random_words(6, 400, pv.insecure_seed(1))
    mechanism = kind(TOWN, 3.0)
    codes = np.array([TOWN.encode(word) for word in words])
    private = mechanism.privatize_array(codes, rng=pv.insecure_seed(2)).tolist()
    assert mechanism.privatize_many(words, rng=pv.insecure_seed(2)) == [TOWN.decode(row) for row in private]


@pytest.mark.parametrize("equal", [True, False])
def test_many_thousand_words_come_back_as_they_were(equal: bool) -> None:
    """More than are converted at a time, with more symbols than there are letters below the surrogates."""
    world, rng = pv.Alphabet(range(60_000)), np.random.default_rng(1)
    lengths = np.full(2_500, 40) if equal else rng.integers(1, 80, 2_500)
    words = [tuple(rng.integers(0, 60_000, length).tolist()) for length in lengths]
    words[0] = (0xD800, 0xDFFF, 0, *words[0][3:])
    encoded = world.encode_many(words)
    assert encoded is not None
    assert encoded[0].tolist() == [code for word in words for code in word]
    assert world.decode_many(*encoded, words) == words
    assert gc.isenabled()
    assert world.encode_many([*words, (60_000,)]) is None


def test_a_letter_with_number_zero_is_kept_at_the_end() -> None:
    world = pv.Alphabet("a\0")
    encoded = world.encode_many(["a\0", "\0\0"])
    assert encoded is not None
    assert world.decode_many(*encoded, ["aa", "aa"]) == ["a\0", "\0\0"]


def test_an_infeasible_word_among_many_is_named() -> None:
    words = [*TOWN.random_words(3, 5, pv.insecure_seed(1)), ("Elm5", "Elm4", "Ash1")]
    with pytest.raises(pv.InfeasibleWordError, match="word 6 of 6: infeasible word: 'Ash1' cannot follow 'Elm4'"):
        pv.Exponential(TOWN, 1.0).privatize_many(words)
    assert len(pv.Exponential(TOWN, 1.0, on_infeasible="nearest").privatize_many(words)) == 6
    dead_end = pv.MarkovChain.from_edges([("a", "b")])
    with pytest.raises(pv.NoFeasibleWordError, match="word 2 of 2: "):
        pv.Exponential(dead_end, 1.0, on_infeasible="nearest").privatize_many(["ab", "aba"])
