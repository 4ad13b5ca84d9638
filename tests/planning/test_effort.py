"""Estimates of time and memory: how they grow, not what a clock says."""

from __future__ import annotations

import pytest

import pathveil as pv
from pathveil.planning.effort import memory_for_a_batch, seconds_for_a_word
from pathveil.words.by_name import MECHANISMS


def ring(states: int, ways: int) -> pv.MarkovChain:
    return pv.MarkovChain.from_edges([(i, (i + step + 1) % states) for i in range(states) for step in range(ways)])


@pytest.mark.parametrize("name", MECHANISMS)
def test_time_grows_with_the_word_and_with_what_has_to_be_looked_at(name: str) -> None:
    few, many, free = ring(20, 2).compiled, ring(20, 6).compiled, pv.Alphabet("abc").compiled
    for compiled in (few, many, free):
        assert seconds_for_a_word(name, compiled, 30) == pytest.approx(3 * seconds_for_a_word(name, compiled, 10))
    more = seconds_for_a_word(name, many, 10) > seconds_for_a_word(name, few, 10)
    assert more == (name != "online"), "the online mechanism looks at the successors of one state only"
    assert seconds_for_a_word(name, free, 10) < seconds_for_a_word(name, few, 10)


@pytest.mark.parametrize("name", MECHANISMS)
def test_memory_holds_a_number_for_every_position_and_state_where_the_whole_word_is_looked_at(name: str) -> None:
    small, large = ring(20, 2).compiled, ring(2_000, 2).compiled
    grown = memory_for_a_batch(name, large, 50) - memory_for_a_batch(name, small, 50)
    assert grown == 0 if name == "online" else grown >= 8 * 50 * (2_000 - 20)
    assert memory_for_a_batch(name, pv.Alphabet("ab").compiled, 10) == memory_for_a_batch(
        name, pv.Alphabet("abcdefgh").compiled, 100
    )


def test_time_and_memory_of_local_draws_hardly_depend_on_the_size_of_the_map() -> None:
    small, large = pv.example_city(10_000).compiled, pv.example_city(160_000).compiled
    for name in ("certified", "exponential"):
        assert seconds_for_a_word(name, small, 100, 5.0) == seconds_for_a_word(name, large, 100, 5.0)
        assert memory_for_a_batch(name, large, 100, 5.0) < 4 * memory_for_a_batch(name, small, 100, 5.0)
        # Below the growth rate of walks nothing is local, and that is said beforehand.
        assert seconds_for_a_word(name, large, 100, 0.5) > 10 * seconds_for_a_word(name, small, 100, 0.5)
        assert memory_for_a_batch(name, large, 100, 0.5) < 1 << 28
    assert seconds_for_a_word("permute-and-flip", large, 100, 5.0) > 1e-3
