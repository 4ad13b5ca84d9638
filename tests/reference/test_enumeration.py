"""The reference itself against answers that can be written down by hand."""

import math

import pytest
from hypothesis import given

import pathveil as pv
from tests.reference import enumeration as by_hand
from tests.reference.random_systems import MOST_WORDS, systems_with_length, systems_with_word

pytestmark = pytest.mark.reference


def test_the_words_of_a_chain_are_those_that_follow_its_edges():
    chain = pv.MarkovChain.from_edges([("a", "b"), ("b", "a"), ("b", "b")])
    assert by_hand.feasible_words(chain, 2) == [("a", "b"), ("b", "a"), ("b", "b")]


def test_class_counts_of_a_free_alphabet_are_binomial():
    assert by_hand.class_counts(pv.Alphabet("abc"), tuple("abca")) == [math.comb(4, ell) * 2**ell for ell in range(5)]


def test_the_exponential_law_of_one_binary_symbol_is_logistic():
    law = by_hand.exponential_law(pv.Alphabet("ab"), ("a",), theta=1.5)
    assert law[("b",)] == pytest.approx(1 / (1 + math.exp(1.5)), rel=1e-14)


def test_the_exponential_law_follows_another_utility():
    law = by_hand.exponential_law(pv.Alphabet("ab"), ("a",), theta=2.0, utility=lambda d: 1 / (d + 1))
    assert law[("a",)] == pytest.approx(1 / (1 + math.exp(-1.0)), rel=1e-14)


def test_permute_and_flip_by_enumeration_gives_the_known_law():
    law = by_hand.permute_and_flip_law(pv.Alphabet("ab"), tuple("abbab"), theta=2.5)
    per_class = [0.0] * 6
    for output, probability in law.items():
        per_class[by_hand.hamming(output, tuple("abbab"))] += probability
    known = [
        0.788777776512027,
        0.179918002860097,
        0.0288426094509728,
        0.00236304890325872,
        9.69703320747701e-5,
        1.59194157046577e-6,
    ]
    assert per_class == pytest.approx(known, rel=1e-13)


@given(systems_with_word(feasible=False))
def test_the_integral_is_the_game_of_permuting_and_flipping(world_and_word):
    world, word = world_and_word
    words = by_hand.feasible_words(world, len(word))[:10]
    # Any subset of the words will do for comparing the two; the game is too slow for all of them.
    distances = [by_hand.hamming(word, v) for v in words]
    least = min(distances)
    game = by_hand.law_by_permuting_and_flipping([math.exp(-0.7 * (d - least)) for d in distances])
    listed = pv.Automaton(_one_path_for_each(words), initial="start", accepting="end")
    law = by_hand.permute_and_flip_law(listed, word, theta=0.7)
    assert [law[v] for v in words] == pytest.approx(game, rel=1e-12)


def _one_path_for_each(words):
    moves = {}
    for word in words:
        for i, symbol in enumerate(word):
            source = word[:i] if i else "start"
            target = word[: i + 1] if i + 1 < len(word) else "end"
            moves.setdefault((source, symbol), set()).add(target)
    return moves


def test_permute_and_flip_of_an_infeasible_word_shares_the_best_class():
    chain = pv.MarkovChain.from_edges([("a", "b"), ("b", "a")])
    law = by_hand.permute_and_flip_law(chain, ("a", "a"), theta=3.0)
    assert law == pytest.approx({("a", "b"): 0.5, ("b", "a"): 0.5})


def test_worst_loss_is_found_by_hand():
    laws = {("a",): {("a",): 0.8, ("b",): 0.2}, ("b",): {("a",): 0.4, ("b",): 0.6}}
    assert by_hand.worst_loss(laws, adjacency=1) == pytest.approx(math.log(3))


def test_worst_loss_is_infinite_when_an_output_gives_the_word_away():
    laws = {("a",): {("a",): 1.0}, ("b",): {("a",): 0.4, ("b",): 0.6}}
    assert by_hand.worst_loss(laws, adjacency=1) == math.inf


def test_worst_loss_ignores_words_that_are_not_adjacent():
    laws = {("a", "a"): {("a",): 1.0}, ("b", "b"): {("b",): 1.0}}
    assert by_hand.worst_loss(laws, adjacency=1) == 0.0


@given(systems_with_length())
def test_random_systems_are_small_and_never_empty(world_and_length):
    world, length = world_and_length
    assert 1 <= length <= 4
    assert 1 <= len(by_hand.feasible_words(world, length)) <= MOST_WORDS
