"""Edit classes against listing all words; and the numbers that a network and a dictionary word must give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pathveil as pv
from pathveil.words.edit.classes import EditClasses
from pathveil.words.edit.distances import distances_from
from pathveil.words.edit.length_range import LengthRange
from tests.reference.edits import edit_counts, levenshtein, words_in_range
from tests.reference.random_systems import SystemWithRange, systems_with_range
from tests.sizes import given_few_and_many
from tests.statistics import FALSE_ALARM, chi_square_p_value

CAPS = st.none() | st.integers(1, 7)
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@st.composite
def systems_with_range_and_word(draw: st.DrawFn) -> tuple[SystemWithRange, tuple[object, ...]]:
    """A word over the symbols of the system: feasible or not, as long as the range allows or not."""
    world, lo, hi = draw(systems_with_range())
    symbol = st.sampled_from(world.symbols)
    return (world, lo, hi), tuple(draw(st.lists(symbol, min_size=1, max_size=hi + 1)))


@given_few_and_many(37, 150, case=systems_with_range_and_word(), cap=CAPS)
def test_every_word_of_every_class_has_one_number(
    case: tuple[SystemWithRange, tuple[object, ...]], cap: int | None
) -> None:
    (world, lo, hi), word = case
    words = words_in_range(world, lo, hi)
    classes = pv.edit_classes(world, word, (lo, hi), cap)
    last = len(classes.counts) - 1
    assert list(classes.counts) == edit_counts(words, word, last)
    numbered = {
        world.decode(classes.word_at(distance, rank).tolist()): distance
        for distance, count in enumerate(classes.counts)
        for rank in range(count)
    }
    assert numbered == {v: min(levenshtein(word, v), last) for v in words}
    assert classes.distances([world.encode(v) for v in words]).tolist() == [numbered[v] for v in words]
    with pytest.raises(pv.InvalidParameterError, match="no word number"):
        classes.word_at(last, classes.counts[last])


@given(v=st.text("abc", max_size=6), w=st.text("abc", max_size=6))
def test_the_distance_is_the_one_found_by_trying(v: str, w: str) -> None:
    codes = [np.array(["abc".index(letter) for letter in word], dtype=np.int64) for word in (v, w)]
    assert distances_from(codes[0], [codes[1]])[0] == levenshtein(tuple(v), tuple(w))


def test_the_dictionary_word_has_the_known_numbers_of_neighbours() -> None:
    classes = pv.edit_classes(pv.Alphabet(LETTERS), "confidential", (8, 16), cap=4)
    assert classes.counts[:4] == (1, 638, 194_296, 37_850_824)
    assert sum(classes.counts) == sum(26**n for n in range(8, 17))


def test_caps_only_join_the_classes_beyond_them() -> None:
    town = pv.example_town()
    trip = town.random_word(14, pv.insecure_seed(5))
    fine = pv.edit_classes(town, trip, (10, 18), cap=9).counts
    coarse = pv.edit_classes(town, trip, (10, 18), cap=5).counts
    assert coarse == (*fine[:5], sum(fine[5:]))
    assert sum(fine) == sum(town.count(n) for n in range(10, 19))


def test_symbols_that_do_not_occur_act_alike_however_many_there_are() -> None:
    world, few = pv.Alphabet(range(10_000)), pv.Alphabet(range(60))
    word = [3, 1, 4, 1, 5, 9, 2, 6]
    classes = pv.edit_classes(world, word, (4, 14), cap=4)
    assert sum(classes.counts) == sum(10_000**n for n in range(4, 15))
    assert classes.counts[1] == 8 * 9_999 + 9 * 10_000 - 8 + 8  # substitutions, insertions, deletions
    # No larger than for 60 symbols, but for the digits of the counts.
    assert classes.node_count == pv.edit_classes(few, word, (4, 14), cap=4).node_count
    for distance in range(5):
        far = classes.draw(distance, pv.insecure_seed(distance))
        assert min(distances_from(np.array(word), [far])[0], 4) == distance
        assert ((far >= 0) & (far < 10_000)).all()


def test_the_far_class_is_drawn_uniformly() -> None:
    # False-alarm probability 1e-6.
    world, word = pv.MarkovChain.from_edges([(0, 0), (0, 1), (1, 0), (1, 2), (2, 0)]), (0, 1, 2, 0)
    classes = pv.edit_classes(world, word, (3, 6), cap=2)
    far = [v for v in words_in_range(world, 3, 6) if levenshtein(word, v) >= 2]
    assert classes.counts[2] == len(far) > 20
    source = pv.insecure_seed(11)
    draws = [world.decode(classes.draw(2, source).tolist()) for _ in range(10_000)]
    uniform = {v: 1 / len(far) for v in far}
    assert chi_square_p_value(draws, uniform) > FALSE_ALARM
    # Negative control: one word twice as likely.
    assert chi_square_p_value(draws + [far[0]] * (len(draws) // len(far)), uniform) < FALSE_ALARM


def test_numbers_of_words_beyond_any_float_are_exact() -> None:
    # Binary words: deleting the tail and writing another one reaches every word, so the counts add up to all of them.
    counts = pv.edit_classes(pv.Alphabet("ab"), "ab" * 30, (1, 1_100), cap=3).counts
    assert sum(counts) == 2**1_101 - 2
    assert counts[0] == 1
    assert counts[1] == 60 + 61 + 1 + 60  # substitutions; insertions: one more letter than runs; deletions: one a run


def test_a_table_that_would_not_fit_is_refused_with_a_way_out() -> None:
    town = pv.example_town()
    trip = town.random_word(14, pv.insecure_seed(5))
    words = LengthRange(town.compiled, 10, 18)
    with pytest.raises(pv.TooLargeError, match="smaller `cap`"):
        EditClasses(words, town.encode(trip), 9, largest_table=10_000)
    assert EditClasses(words, town.encode(trip), 2, largest_table=10_000).counts[0] == 1


@pytest.mark.parametrize("distance", [-1, 3])
def test_a_class_without_words_cannot_be_drawn_from(distance: int) -> None:
    classes = pv.edit_classes(pv.Alphabet("a"), "aa", (1, 2), cap=5)
    assert classes.counts == (1, 1, 0)
    with pytest.raises(pv.InvalidParameterError, match="edits"):
        classes.draw(distance)


def counted(world: pv.System, word: tuple[object, ...], lo: int, hi: int, cap: int | None) -> None:
    """The counts, and the distance of some words of each class, against one distance at a time."""
    classes = pv.edit_classes(world, word, (lo, hi), cap)
    last = len(classes.counts) - 1
    codes = world.encode(word)
    expected = [0] * (last + 1)
    waiting = [((), world.compiled.start)]
    while waiting:
        written, y = waiting.pop()
        if len(written) >= lo and world.compiled.accepting[y]:
            expected[min(distances_from(codes, [np.array(written)])[0], last)] += 1
        if len(written) < hi:
            waiting.extend(((*written, a), to) for a, to in world.compiled.moves[y].items())
    assert list(classes.counts) == expected
    for distance, count in enumerate(expected):
        ranks = range(0, count, max(count // 5, 1))
        found = {tuple(classes.word_at(distance, rank).tolist()) for rank in ranks}
        assert len(found) == len(ranks)
        assert all(min(apart, last) == distance for apart in distances_from(codes, map(np.array, found)))


@pytest.mark.parametrize("cap", [7, 8, 9, None])  # rows are packed in one way below 8, in another from 8 on
@pytest.mark.parametrize("word", ["abba", "aabbaabba", "b"])
def test_wide_rows_count_like_narrow_ones(word: str, cap: int | None) -> None:
    counted(pv.Alphabet("ab"), tuple(word), 1, 9, cap)


@pytest.mark.parametrize("cap", [3, 15, 16, None])
def test_rows_of_more_than_sixteen_entries_count_right(cap: int | None) -> None:
    # Pairs ab or ba, one after the other: few words, though long ones.
    pairs = pv.TransitionSystem({(0, "a"): 1, (1, "b"): 0, (0, "b"): 2, (2, "a"): 0}, initial=0, accepting={0})
    counted(pairs, tuple("abbaababbaabbabaabba"), 17, 20, cap)


def test_rows_with_distances_beyond_a_byte_count_right() -> None:
    counts = pv.edit_classes(pv.Alphabet("a"), "a" * 300, (10, 301)).counts
    assert counts == (1, 2, *[1] * 289, *[0] * 11)
