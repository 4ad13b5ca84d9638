"""Estimates of time and memory: how they grow, not what a clock says."""

from __future__ import annotations

import pytest

import pathveil as pv
from pathveil.planning.effort import edit_efforts, edit_warning, memory_for_a_batch, seconds_for_a_word
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
    for name in ("certified", "exponential", "permute-and-flip"):
        times = [seconds_for_a_word(name, map_, 100, 5.0) for map_ in (small, large)]
        assert times[0] == pytest.approx(times[1], rel=0.1)
        assert memory_for_a_batch(name, large, 100, 5.0) < 4 * memory_for_a_batch(name, small, 100, 5.0)
        # Below the growth rate of walks nothing is local, and that is said beforehand.
        assert seconds_for_a_word(name, large, 100, 0.5) > 10 * seconds_for_a_word(name, small, 100, 0.5)
    for name in ("certified", "exponential"):
        assert memory_for_a_batch(name, large, 100, 0.5) < 1 << 28


def test_edit_distance_is_estimated_from_a_public_word_of_the_greatest_length() -> None:
    letters = pv.Alphabet("abcdefghijk")
    row = pv.forecast(letters, 6, 5.0, lengths=(5, 9), cap=4).best
    assert row.seconds is not None
    assert row.memory is not None
    effort = edit_efforts(letters, (5, 9), 6).at(4)
    assert (row.seconds, row.memory) == (effort.seconds, int(effort.memory))
    assert edit_efforts(letters, (5, 9)).at(4).seconds > effort.seconds
    # No word of five symbols is feasible here, so four are the most.
    pairs = pv.TransitionSystem({(0, "a"): 1, (1, "b"): 0}, initial=0, accepting={0})
    assert edit_efforts(pairs, (1, 5)).at(2).nodes >= 1


def test_a_warning_comes_before_long_work_alone_and_proposes_a_cap() -> None:
    letters = pv.Alphabet("abcdefghijk")
    warning = edit_warning(letters, (5, 17), None, 3_500)
    assert warning is not None
    assert "hours" in warning
    assert "`cap=" in warning
    assert "more than a year" in str(edit_warning(letters, (100, 200), None, 10))
    assert edit_warning(letters, (5, 17), 4, 1_000) is None
    assert edit_warning(letters, (5, 17), None, 0) is None
