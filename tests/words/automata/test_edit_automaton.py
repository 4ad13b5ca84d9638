"""The capped-row automaton against trying all edits, and its picture."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pathveil as pv
from tests.reference.edits import levenshtein


@given(
    word=st.text("abc", min_size=1, max_size=5), output=st.text("abcd", min_size=1, max_size=6), cap=st.integers(1, 7)
)
def test_rows_are_the_capped_distances_from_all_beginnings_of_the_word(word: str, output: str, cap: int) -> None:
    automaton = pv.EditAutomaton(pv.Alphabet("abcd"), word, cap)
    row = automaton.read(output)
    assert row == tuple(min(levenshtein(tuple(output), tuple(word[:j])), cap) for j in range(len(word) + 1))
    assert automaton.distance(output) == row[-1]


@pytest.mark.parametrize(("word", "cap"), [("ab", 1), ("aba", 2), ("abc", 3), ("a", 4)])
def test_states_are_the_rows_of_all_words(word: str, cap: int) -> None:
    automaton = pv.EditAutomaton(pv.Alphabet("abc"), word, cap)
    # Longer words than this are far from it, whatever they are.
    read = {automaton.read(output) for n in range(1, len(word) + cap + 1) for output in product("abc", repeat=n)}
    assert set(automaton.states) == {automaton.initial, *read}
    assert automaton.far in read
    for (source, target), symbols in automaton.edges.items():
        assert all(automaton.step(source, symbol) == target for symbol in symbols)
    for row in automaton.states:
        assert sorted(s for (source, _), symbols in automaton.edges.items() if source == row for s in symbols) == [
            *"abc"
        ]


def test_steps_are_worked_out_when_they_are_needed_and_symbols_that_do_not_occur_share_them() -> None:
    automaton = pv.EditAutomaton(pv.Alphabet(range(10_000)), [1, 2, 3], cap=3)
    assert automaton.known_steps == 0
    for symbol in range(4, 10_000):
        automaton.step(automaton.initial, symbol)
    assert automaton.known_steps == 1
    automaton.distance([1, 2, 3])
    assert automaton.known_steps == 4


def test_every_row_but_the_far_one_is_drawn_once() -> None:
    import matplotlib.pyplot as plt

    automaton = pv.EditAutomaton(pv.Alphabet("abcd"), "abc", cap=2)
    figure, given_axes = plt.subplots()
    ax = automaton.draw(given_axes)
    assert ax is given_axes
    written = [text.get_text() for text in ax.texts]
    for row in automaton.states:
        shown = " ".join("·" if entry == 2 else str(entry) for entry in row)
        assert written.count(shown) == (0 if row == automaton.far else 1)
    assert written.count("d = 0") == 1
    plt.close(figure)
    new = automaton.draw()
    assert new.figure is not figure
    plt.close(new.figure)  # type: ignore[arg-type]


def test_the_cap_cannot_be_left_out() -> None:
    with pytest.raises(pv.InvalidParameterError, match="give the cap"):
        pv.EditAutomaton(pv.Alphabet("ab"), "ab", cap=None)  # type: ignore[arg-type]
    with pytest.raises(pv.InvalidParameterError, match="at least 1"):
        pv.EditAutomaton(pv.Alphabet("ab"), "ab", cap=0)
