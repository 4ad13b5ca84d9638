"""The picture of a capped-row automaton: what stands where, on automata so small that every place is known."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import pathveil as pv
from pathveil.words.automata.edit_picture import _entries, _layout

TINY = pv.EditAutomaton(pv.Alphabet("ab"), "a", cap=2)
AUTOMATON = pv.EditAutomaton(pv.Alphabet("abcde"), "ab", cap=2)


def is_arrow(text):
    return getattr(text, "arrow_patch", None) is not None


def test_rows_stand_where_their_smallest_entry_is():
    places, bands = _layout(TINY)
    # Two rows have their first smallest entry 1 at 0: they share a place, and the second is moved a little.
    assert TINY.states == ((0, 1), (1, 0), (1, 1), (2, 1), (2, 2))
    assert bands == {0: (-0.5, 0.5), 1: (0.5, 1.5)}
    assert places == {(0, 1): (0, 0.0), (1, 0): (1, 0.0), (1, 1): (0, 1.0), (2, 1): (1, 1.0)}


def test_rows_at_one_place_are_stacked_around_the_middle_of_their_band():
    places, bands = _layout(AUTOMATON)
    edges = list(bands.values())
    assert edges[0][0] == -0.5
    assert all(before[1] == after[0] for before, after in pairwise(edges))
    assert AUTOMATON.far not in places
    assert places.keys() == set(AUTOMATON.states) - {AUTOMATON.far}
    for edits, (lower, upper) in bands.items():
        stacks = {}
        for row, (x, y) in places.items():
            if min(row) == edits:
                assert lower + 0.5 <= y <= upper - 0.5
                stacks.setdefault(row.index(edits), []).append((x, y))
        assert max(map(len, stacks.values())) == upper - lower
        for j, stack in stacks.items():
            heights = [y for _, y in stack]
            assert sum(heights) / len(heights) == pytest.approx((lower + upper) / 2)
            assert np.diff(heights).tolist() == [1.0] * (len(heights) - 1)
            assert [x for x, _ in stack] == [j + 0.16 * (number % 2) for number in range(len(stack))]
    assert max(upper - lower for lower, upper in edges) >= 2


def test_rows_are_written_at_their_places_and_entries_at_the_cap_are_dots(axes):
    AUTOMATON.draw(axes)
    places, _ = _layout(AUTOMATON)
    assert _entries((0, 1, 2, 3), 2) == "0 1 · 3"
    for row, place in places.items():
        (found,) = [text for text in axes.texts if text.get_text() == _entries(row, 2) and not is_arrow(text)]
        assert found.get_position() == place
        assert found.get_fontsize() == 8.0
        # The distance stands above a row that is closer than the cap.
        above = [text for text in axes.texts if text.get_text().startswith("d = ") and text.xy == place]
        assert [text.get_text() for text in above] == ([f"d = {row[-1]}"] if row[-1] < 2 else [])
        for text in above:
            assert text.xyann == (0, 11)
            assert text.get_fontsize() == 7.0
            assert text.get_zorder() > found.get_zorder()


def test_arrows_join_rows_and_are_broken_where_an_edit_was_made(axes):
    AUTOMATON.draw(axes)
    places, _ = _layout(AUTOMATON)
    expected = {
        (places[source], places[target]): (min(source) == min(target), symbols)
        for (source, target), symbols in AUTOMATON.edges.items()
        if AUTOMATON.far not in (source, target)
    }
    arrows = {(text.xyann, text.xy): text for text in axes.texts if is_arrow(text)}
    assert arrows.keys() == expected.keys()
    labels = [text for text in axes.texts if text.get_bbox_patch() is not None and text.get_zorder() == 2]
    assert len(labels) == len(expected)
    rows = min(text.get_zorder() for text in axes.texts if text.get_text() in {_entries(row, 2) for row in places})
    for (start, end), (matches, symbols) in expected.items():
        arrow = arrows[start, end]
        assert arrow.arrow_patch.get_linestyle() == ("-" if matches else "--")
        assert (arrow.arrow_patch.shrinkA, arrow.arrow_patch.shrinkB) == (16, 16)
        assert arrow.arrow_patch.get_linewidth() == 0.9
        shown = ",".join(symbols) if len(symbols) <= 3 else f"{len(symbols)} of 5"
        third = tuple(a + 0.36 * (b - a) for a, b in zip(start, end, strict=True))
        (label,) = [text for text in labels if text.get_position() == pytest.approx(third)]
        assert label.get_text() == shown
        assert label.get_fontsize() == 7.0
        assert label.get_bbox_patch().get_alpha() == 0.8
        assert arrow.get_zorder() < label.get_zorder() < rows
    assert {len(symbols) for _, symbols in expected.values()} >= {1, 3}


@pytest.mark.parametrize(("letters", "shown"), [("abc", "b,c"), ("abcd", "b,c,d"), ("abcde", "4 of 5"), ("a$", r"\$")])
def test_more_than_three_symbols_are_counted(axes, letters, shown):
    pv.EditAutomaton(pv.Alphabet(letters), "a", cap=2).draw(axes)
    assert shown in [text.get_text() for text in axes.texts]


def test_odd_numbers_of_edits_have_a_light_ground_and_everything_lies_within_the_axes(axes):
    pv.EditAutomaton(pv.Alphabet("ab"), "ab", cap=4).draw(axes)
    automaton = pv.EditAutomaton(pv.Alphabet("ab"), "ab", cap=4)
    places, bands = _layout(automaton)
    grounds = [(patch.get_y(), patch.get_y() + patch.get_height()) for patch in axes.patches]
    assert grounds == [bands[1], bands[3]]
    assert {patch.get_zorder() for patch in axes.patches} == {0}
    assert axes.get_xlim() == (-0.6, 2.6)
    assert axes.get_ylim() == (-0.5, bands[3][1])
    assert axes.get_xticks().tolist() == [0, 1, 2]
    assert axes.get_yticks().tolist() == [(lower + upper) / 2 for lower, upper in bands.values()]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["0", "1", "2", "3"]
    assert axes.get_xlabel() == "symbols of the word accounted for, where the row is smallest"
    assert axes.get_ylabel() == "edits, where the row is smallest"
    assert not any(spine.get_visible() for spine in axes.spines.values())
    assert {tick.tick1line.get_markersize() for tick in axes.xaxis.get_major_ticks()} == {0.0}
    assert len(set(places.values())) == len(places)


def test_a_new_figure_has_room_for_every_row():
    import matplotlib.pyplot as plt

    ax = TINY.draw()
    assert ax.figure.get_size_inches().tolist() == pytest.approx([1.9 * 2.4, 1.0 * 2.7 + 0.4])
    plt.close(ax.figure)


def test_what_is_far_away_stays_far_away_whatever_follows():
    automaton = pv.EditAutomaton(pv.Alphabet("abc"), "abc", cap=2)
    assert automaton.far == (2, 2, 2, 2)
    assert automaton.initial == (0, 1, 2, 2)
    assert automaton.step(automaton.far, "a") == automaton.far
    assert (automaton.length, automaton.cap) == (3, 2)
    assert pv.EditAutomaton(pv.Alphabet("abc"), "abc", cap=1 << 20).cap == 1 << 20
    assert automaton.edges is automaton.edges  # worked out once
    assert list(automaton.states) == sorted(automaton.states)
