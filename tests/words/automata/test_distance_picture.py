"""The picture of a distance automaton: what stands where, on automata so small that every place is known."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import hypot

import numpy as np
import pytest
from matplotlib.collections import LineCollection

import pathveil as pv
from pathveil.words.automata import distance_picture as picture

FIGURE = pv.DistanceAutomaton(pv.Alphabet("abc"), "abc", errors=2)  # PF Figure 1
# Two states share position 1: (1, 1, 1) and (1, 1, 2).
STACKED = pv.DistanceAutomaton(
    pv.TransitionSystem({(0, "a"): 0, (0, "b"): 1, (0, "c"): 2, (1, "a"): 0, (2, "a"): 0, (1, "c"): 1}, initial=0), "aa"
)


def arrows(ax):
    return [text for text in ax.texts if getattr(text, "arrow_patch", None) is not None]


def written(ax):
    """{what stands there: the texts}, without the arrows."""
    found = {}
    for text in ax.texts:
        if getattr(text, "arrow_patch", None) is None:
            found.setdefault(text.get_text(), []).append(text)
    return found


def test_states_stand_at_their_position_and_number_of_errors():
    places, bands = picture._layout(FIGURE)
    assert places == {q: (float(q[0]), float(q[1])) for q in FIGURE.states}
    assert bands == {0: (-0.5, 0.5), 1: (0.5, 1.5), 2: (1.5, 2.5)}


def test_states_at_one_place_are_stacked_in_the_middle_of_a_higher_band():
    places, bands = picture._layout(STACKED)
    assert bands == {0: (-0.5, 0.5), 1: (0.5, 3.5), 2: (3.5, 4.5)}
    assert places[0, 0, 0] == (0.0, 0.0)
    assert places[1, 0, 0] == (1.0, 0.0)
    assert (places[1, 1, 1], places[1, 1, 2]) == ((1.0, 1.5), (1.0, 2.5))
    assert places[2, 0, 0] == (2.0, 0.0)
    assert [places[2, 1, y] for y in range(3)] == [(2.0, 1.0), (2.0, 2.0), (2.0, 3.0)]
    assert places[2, 2, 1] == (2.0, 4.0)


def test_everything_lies_within_the_axes_and_ticks_stand_in_the_middle_of_bands(axes):
    STACKED.draw(axes)
    assert axes.get_xlim() == (-0.5, 2.5)
    assert axes.get_ylim() == (-0.5, 4.5)
    assert axes.get_xticks().tolist() == [0, 1, 2]
    assert axes.get_yticks().tolist() == [0.0, 2.0, 4.0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["0", "1", "2"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("symbols written", "errors")
    assert not any(spine.get_visible() for spine in axes.spines.values())
    assert {tick.tick1line.get_markersize() for tick in axes.xaxis.get_major_ticks()} == {0.0}


def test_every_odd_number_of_errors_has_a_light_ground_behind_everything(axes):
    pv.DistanceAutomaton(pv.Alphabet("ab"), "abab").draw(axes)
    grounds = [(patch.get_y(), patch.get_height()) for patch in axes.patches]
    assert grounds == [(0.5, 1.0), (2.5, 1.0)]
    others = [*axes.texts, *axes.lines]
    assert max(patch.get_zorder() for patch in axes.patches) < min(artist.get_zorder() for artist in others)


@pytest.mark.parametrize(
    ("length", "every_x", "every_y"),
    [(1, 1, 1), (11, 1, 1), (12, 1, 2), (16, 1, 2), (17, 2, 2), (24, 2, 3)],
)
def test_a_long_automaton_has_no_more_ticks_than_can_be_read(axes, length, every_x, every_y):
    pv.DistanceAutomaton(pv.Alphabet("ab"), "a" * length).draw(axes)
    assert axes.get_xticks().tolist() == list(range(0, length + 1, every_x))
    assert axes.get_yticks().tolist() == list(range(0, length + 1, every_y))


def test_states_are_circles_and_accepting_ones_have_a_second_ring(axes):
    FIGURE.draw(axes)
    circles = [(*line.get_xydata()[0].tolist(), line.get_markersize()) for line in axes.lines]
    expected = [(*map(float, q), 26.0) for q in FIGURE.states] + [(3.0, 2.0, 21.0)]
    assert sorted(circles) == sorted(expected)
    outer = {line.get_zorder() for line in axes.lines if line.get_markersize() == 26.0}
    inner = {line.get_zorder() for line in axes.lines if line.get_markersize() == 21.0}
    assert max(outer) < min(inner)
    assert {line.get_markeredgewidth() for line in axes.lines} == {1.0, 0.8}


def test_a_state_carries_its_name_inside_and_v_above(axes):
    FIGURE.draw(axes)
    texts = written(axes)
    for q in FIGURE.states:
        (name,) = texts[f"${q[0]}^{{{q[1]}}}$"]
        assert name.get_position() == q
        above = [text for text in texts[str(FIGURE.V[q])] if text.get_color() == "tab:blue" and text.xy == q]
        assert len(above) == 1
        assert above[0].xyann == (0, 15.0)  # points: just outside of the circle
        assert (name.get_fontsize(), above[0].get_fontsize()) == (8.0, 8.0)
        assert name.get_zorder() > max(line.get_zorder() for line in axes.lines)
        assert above[0].get_zorder() == name.get_zorder()


def test_a_state_of_a_product_shows_the_system_state_below(axes):
    named = pv.MarkovChain.from_edges([("left", "right"), ("right", "left"), ("left", "left")])
    pv.DistanceAutomaton(named, ["left", "right"]).draw(axes)
    names = {text for text in written(axes) if "^" in text}
    assert names == {"$0^{0}$", "$1^{0}$\nleft", "$1^{1}$\nright", "$2^{0}$\nright", "$2^{1}$\nleft", "$2^{2}$\nleft"}


def test_arrows_lead_from_circle_to_circle_and_are_broken_for_errors(axes):
    FIGURE.draw(axes)
    found = {(arrow.xyann, arrow.xy): arrow for arrow in arrows(axes)}
    assert found.keys() == {(edge.source, edge.target) for edge in FIGURE.edges}
    for edge in FIGURE.edges:
        patch = found[edge.source, edge.target].arrow_patch
        assert patch.get_linestyle() == ("--" if edge.is_error else "-")
        assert (patch.shrinkA, patch.shrinkB) == (13.0, 13.0)  # the radius of a circle
        assert patch.get_linewidth() == 0.9
    highest = max(arrow.get_zorder() for arrow in found.values())
    assert highest < min(text.get_zorder() for texts in written(axes).values() for text in texts)
    assert highest < min(line.get_zorder() for line in axes.lines)


def test_symbols_stand_above_and_probabilities_below_a_point_of_the_arrow(axes):
    FIGURE.draw(axes)
    texts = written(axes)
    points = picture._label_places(FIGURE, picture._layout(FIGURE)[0])
    circles = min(line.get_zorder() for line in axes.lines)
    for edge, point in zip(FIGURE.edges, points, strict=True):
        probability = str(FIGURE.mu[edge.source, edge.target]) + (" each" if edge.is_error else "")
        (above,) = [text for text in texts[",".join(edge.symbols)] if text.xy == point]
        (below,) = [text for text in texts[probability] if text.xy == point]
        assert (above.xyann, below.xyann) == ((0, 1), (0, -1))
        assert (above.get_va(), below.get_va()) == ("bottom", "top")
        for text in (above, below):
            assert text.get_fontsize() == 7.0
            assert text.get_zorder() < circles
            assert text.get_bbox_patch().get_alpha() == 0.85


@pytest.mark.parametrize(("others", "shown"), [(3, "b,c,d"), (4, "b,c,d,e"), (5, "5 symbols")])
def test_more_than_four_symbols_are_counted(axes, others, shown):
    pv.DistanceAutomaton(pv.Alphabet("abcdef"[: others + 1]), "a", errors=1).draw(axes)
    assert shown in written(axes)
    assert f"1/{others} each" in written(axes)


def literal_label_places(edges, places):
    """Where labels go, distance by distance."""
    wide, high = 1.75, 1.05  # inches

    def scaled(place):
        return place[0] * wide, place[1] * high

    taken = [((x, y + 0.08), (0.4, 0.48)) for x, y in map(scaled, places.values())]
    lines = [(scaled(places[edge.source]), scaled(places[edge.target])) for edge in edges]
    chosen = []
    for k, ((x0, y0), (x1, y1)) in enumerate(lines):
        best, most = None, -1.0
        for share in (0.45, 0.5, 0.4, 0.55, 0.35, 0.6, 0.3, 0.65, 0.25, 0.7, 0.75):
            x, y = x0 + share * (x1 - x0), y0 + share * (y1 - y0)
            clear = min(max(abs(cx - x) / w, abs(cy - y) / h) for (cx, cy), (w, h) in taken)
            nearest = 1.0
            for m, ((ax, ay), (bx, by)) in enumerate(lines):
                if m != k:
                    squared = (bx - ax) ** 2 + (by - ay) ** 2
                    t = min(max(((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / squared, 0.0), 1.0)
                    nearest = min(nearest, hypot(ax + t * (bx - ax) - x, ay + t * (by - ay) - y) / 0.2)
            clear = min(clear, 0.5 + 0.5 * nearest)
            if clear > most + 1e-9:
                best, most = (x, y), clear
        taken.append((best, (0.36, 0.3)))
        chosen.append((best[0] / wide, best[1] / high))
    return chosen


@pytest.mark.parametrize(
    "automaton",
    [
        FIGURE,
        STACKED,
        pv.DistanceAutomaton(pv.Alphabet("abc"), "abca"),
        pv.DistanceAutomaton(pv.Alphabet("ab"), "a", errors=0),
        pv.DistanceAutomaton(
            pv.MarkovChain.from_edges([("a", "b"), ("b", "a"), ("a", "a"), ("b", "c"), ("c", "a")]), "abc"
        ),
    ],
)
def test_labels_are_where_the_most_room_is(automaton):
    places, _ = picture._layout(automaton)
    found = np.array(picture._label_places(automaton, places))
    assert found == pytest.approx(np.array(literal_label_places(automaton.edges, places)))


def test_labels_of_the_papers_figure_keep_clear_of_each_other_and_of_states():
    places, _ = picture._layout(FIGURE)
    labels = picture._label_places(FIGURE, places)
    for (x0, y0), (x1, y1) in combinations(labels, 2):
        assert abs(x0 - x1) * 1.75 > 0.3 or abs(y0 - y1) * 1.05 > 0.25
    for x, y in labels:
        assert all(hypot((x - a) * 1.75, (y - b) * 1.05) > 0.35 for a, b in places.values())


def test_distances_to_segments_end_at_their_ends():
    starts = np.array([[0.0, 0.0], [0.0, 0.0], [4.0, 0.0], [0.0, 3.0]])
    ends = np.array([[4.0, 0.0], [1.0, 0.0], [9.0, 0.0], [4.0, 0.0]])
    found = picture._distances_to_segments(np.array([1.0, 4.0]), starts, ends)
    assert found == pytest.approx([4.0, 4.0, 5.0, 1.4])


def test_the_shape_of_a_large_automaton_is_dots_lines_and_rings_without_letters(axes):
    automaton = pv.DistanceAutomaton(pv.Alphabet("ab"), "ab" * 20, errors=[0, 2])
    automaton.draw(axes)
    assert not axes.texts
    dots, rings = axes.lines
    assert sorted(map(tuple, dots.get_xydata().tolist())) == sorted((float(i), float(e)) for i, e in automaton.states)
    assert sorted(map(tuple, rings.get_xydata().tolist())) == [(40.0, 0.0), (40.0, 2.0)]
    assert (dots.get_markersize(), rings.get_markersize(), rings.get_markeredgewidth()) == (3.0, 6.0, 0.8)
    (lines,) = [each for each in axes.collections if isinstance(each, LineCollection)]
    assert sorted(map(np.ndarray.tolist, lines.get_segments())) == sorted(
        [list(map(float, edge.source)), list(map(float, edge.target))] for edge in automaton.edges
    )
    assert lines.get_linewidths() == [0.4]
    assert lines.get_zorder() < dots.get_zorder() == rings.get_zorder()


@pytest.mark.parametrize(
    ("automaton", "inches"),
    [
        (FIGURE, (1.75 * 4.2, 1.05 * 3.7 + 0.4)),
        (pv.DistanceAutomaton(pv.Alphabet("a"), "a"), (4.0, 1.05 * 1.7 + 0.4)),
        (STACKED, (1.75 * 3.2, 1.05 * 5.7 + 0.4)),
        (pv.DistanceAutomaton(pv.Alphabet("ab"), "a" * 20), (0.22 * 21.2, 0.22 * 21.7 + 0.4)),
    ],
)
def test_a_new_figure_has_room_for_every_state(automaton, inches):
    import matplotlib.pyplot as plt

    ax = automaton.draw()
    assert ax.figure.get_size_inches().tolist() == pytest.approx(inches)
    plt.close(ax.figure)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("abcdefgh", "abcdefgh"),
        ("abcdefghi", "abcdefg…"),
        (" ", "␣"),
        ("a b", "a b"),
        ("$", r"\$"),
        (frozenset("ba"), "{a,b}"),
        (frozenset({10, 200, 3000}), "{10,200…"),
        (9_999_999, "9999999"),
        (10_000_000, "10^7.0"),
        (-20_000_000, "10^7.3"),
        (10**400, "10^400.0"),
        (Fraction(1, 3), "1/3"),
        (Fraction(123, 4567), "123/4567"),
        (Fraction(1234, 45679), "0.027"),
        (Fraction(1, 123456789), "8.1e-09"),
    ],
)
def test_names_and_numbers_are_short_enough_for_a_circle(value, shown):
    assert picture._short(value) == shown


@pytest.mark.parametrize(("symbols", "word"), [("abc", "a"), ("abc", "abca"), ("abc", "cbacb"), ("abcde", "bbd")])
def test_a_label_lies_on_its_own_arrow_and_clear_of_both_its_ends_however_full_the_picture_is(symbols, word):
    ring = pv.MarkovChain.from_edges([(a, b) for a in symbols for b in symbols if a != b or a in "bd"])
    for world in (pv.Alphabet(symbols), ring):
        if not world.is_feasible(word):
            continue
        automaton = pv.DistanceAutomaton(world, word)
        places, _ = picture._layout(automaton)
        for edge, label in zip(automaton.edges, picture._label_places(automaton, places), strict=True):
            start, end = np.array(places[edge.source]), np.array(places[edge.target])
            along = end - start
            share = ((np.array(label) - start) @ along) / (along @ along)
            assert start + share * along == pytest.approx(np.array(label))
            assert 0.2 < share < 0.8
