"""Words drawn uniformly from a system, with counts in exact integers or in floating point."""

from __future__ import annotations

from collections import Counter
from itertools import count

import pytest

import pathveil as pv
from pathveil.systems.uniform_words import count_words, draw_uniformly, exact_row
from tests.reference.enumeration import feasible_words
from tests.statistics import FALSE_ALARM, chi_square_p_value
from tests.worlds import CHAIN, DEAD_END_PLANS, LETTER_CHAIN, PLANS, TOWN, UNEVEN


@pytest.mark.parametrize("world", [CHAIN, PLANS, DEAD_END_PLANS, UNEVEN])
def test_counts_agree_with_listing_all_words(world: pv.System) -> None:
    for length in range(1, 5):
        assert world.count(length) == len(feasible_words(world, length))
        assert exact_row(world.compiled, length)[world.compiled.start] == count_words(world.compiled, length)


@pytest.mark.parametrize("exact_table", [1 << 18, 0])
@pytest.mark.parametrize("world", [CHAIN, DEAD_END_PLANS, UNEVEN])
def test_all_words_are_equally_likely(world: pv.System, exact_table: int) -> None:
    """False alarms: once in a million runs for each case."""
    drawn = draw_uniformly(world.compiled, 4, 6_000, pv.insecure_seed(4), exact_table=exact_table)
    words = [world.decode(codes) for codes in drawn]
    possible = feasible_words(world, 4)
    assert chi_square_p_value(words, dict.fromkeys(possible, 1 / len(possible))) > FALSE_ALARM
    # Negative control: a walk that takes each successor equally often does not draw words equally often.
    source, walked = pv.insecure_seed(5), []
    numbers = (number for _ in count() for number in source.keystream(1_000).tolist())
    while len(walked) < 6_000:
        state, codes = world.compiled.start, []
        while len(codes) < 4 and (edges := list(world.compiled.moves[state].items())):
            label, state = edges[next(numbers) % len(edges)]
            codes.append(label)
        if len(codes) == 4 and world.compiled.accepting[state]:
            walked.append(world.decode(codes))
    assert chi_square_p_value(walked, dict.fromkeys(possible, 1 / len(possible))) < FALSE_ALARM


def test_a_word_whose_counts_lie_far_apart_is_drawn_by_integers() -> None:
    """A dead end that every step may take: few words go on from it, and floating point must not decide about them."""
    steps = [(a, b) for a in range(14) for b in range(14)]
    world = pv.MarkovChain.from_edges([*steps, (0, "out"), ("out", "on"), ("on", "out")], initial={"out"})
    (word,) = draw_uniformly(world.compiled, 300, 1, pv.insecure_seed(1), exact_table=0)
    assert Counter(world.decode(word)) == {"out": 150, "on": 150}


def test_tables_are_kept_and_serve_every_length() -> None:
    world = pv.MarkovChain.from_edges([(a, b) for a in range(6) for b in range(6) if a != b])
    long, short = world.random_word(30, pv.insecure_seed(1)), world.random_word(5, pv.insecure_seed(1))
    assert (len(long), len(short)) == (30, 5)
    again = pv.MarkovChain.from_edges([(a, b) for a in range(6) for b in range(6) if a != b])
    assert again.random_word(5, pv.insecure_seed(1)) == short


def test_words_on_a_large_city_take_rows_that_are_made_twice_rather_than_kept() -> None:
    city = pv.example_city(40_000)
    words = city.random_words(900, 3, pv.insecure_seed(1))
    assert len(set(words)) == 3
    assert all(city.is_feasible(word) for word in words)


def test_several_words_at_once_are_as_many_and_as_long_as_asked_for() -> None:
    assert all(TOWN.is_feasible(word) and len(word) == 9 for word in TOWN.random_words(9, 7, pv.insecure_seed(2)))
    assert all(isinstance(word, str) for word in LETTER_CHAIN.random_words(5, 2, pv.insecure_seed(2)))
    with pytest.raises(pv.NoFeasibleWordError):
        pv.MarkovChain.from_edges([("a", "b")]).random_words(3, 2)
