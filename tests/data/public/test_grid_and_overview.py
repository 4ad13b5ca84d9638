"""Grids, and what a person can check about any system."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pathveil as pv
from pathveil.data.public import grid_system, overview_of
from tests.reference.enumeration import feasible_words
from tests.reference.random_systems import systems_with_length
from tests.sizes import given_few_and_many


@given(st.integers(1, 4), st.integers(2, 4), st.sampled_from([4, 8]), st.booleans())
def test_cells_of_a_grid_are_followed_by_their_neighbours(rows: int, columns: int, neighbours: int, stay: bool) -> None:
    saved = grid_system(rows, columns, neighbours, stay=stay)
    assert saved.coordinates is not None
    for one in saved.system.symbols:
        for other in saved.system.symbols:
            (x1, y1), (x2, y2) = saved.coordinates[one], saved.coordinates[other]
            across, up = abs(x1 - x2), abs(y1 - y2)
            apart = across + up if neighbours == 4 else max(across, up)
            assert saved.system.is_feasible([one, other]) == (apart == 1 or (stay and apart == 0))


def test_cells_are_named_in_the_order_in_which_they_lie() -> None:
    saved = grid_system(2, 11)
    assert saved.system.symbols[:2] == ("r1c01", "r1c02")
    assert saved.system.symbols[-1] == "r2c11"
    assert saved.coordinates is not None
    assert saved.coordinates["r1c01"] == (0.0, 1.0)


@pytest.mark.parametrize(
    ("size", "message"),
    [((0, 5, 4), "two cells"), ((1, 1, 4), "two cells"), ((2, 2, 6), "4 or 8"), ((2000, 2000, 4), "larger cells")],
)
def test_grids_that_make_no_sense_are_refused(size: tuple[int, int, int], message: str) -> None:
    with pytest.raises(pv.PathVeilError, match=message):
        grid_system(*size)


@given_few_and_many(40, 100, pair=systems_with_length())
def test_symbols_that_are_said_to_be_in_no_word_are_in_none(pair: tuple[pv.System, int]) -> None:
    system, length = pair
    found = overview_of(system)
    missing = {*found.unreachable, *found.never_end}
    used = {symbol for word in feasible_words(system, length) for symbol in word}
    assert not missing & used
    assert found.words == system.count(10)


def test_an_overview_names_where_words_get_stuck() -> None:
    # d is a dead end, x is not reached, t and u are a trap from which no last symbol can be reached.
    edges = [("a", "b"), ("b", "a"), ("b", "d"), ("x", "a"), ("a", "t"), ("t", "u"), ("u", "t")]
    found = overview_of(pv.MarkovChain.from_edges(edges, initial={"a"}, final={"b", "d"}))
    assert found.dead_ends == ("d",)
    assert found.unreachable == ("x",)
    assert found.never_end == ("t", "u")
    assert (found.symbols, found.states, found.transitions) == (6, 6, 7)
    assert found.mean_successors == pytest.approx(7 / 6)


def test_an_overview_of_an_alphabet_and_of_an_automaton() -> None:
    letters = overview_of(pv.Alphabet("abc"))
    assert (letters.mean_successors, letters.words, letters.dead_ends) == (3.0, 3**10, ())
    machine = overview_of(pv.Automaton({(0, "a"): {1}, (1, "b"): {0, 2}}, initial=0, accepting=2))
    assert (machine.dead_ends, machine.unreachable, machine.words) == ((), (), 1)
