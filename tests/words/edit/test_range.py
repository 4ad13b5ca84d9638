"""What the edit mechanisms work out in advance about the words of a range, against plain recursion."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import pathveil as pv
from pathveil.systems.compiled import CompiledSystem
from pathveil.words.edit.length_range import LengthRange, checked_cap, checked_range, require_length
from tests.reference.edit_graph import EditGraph

# Bundles of several symbols, a state that is never reached (4) and one from which nothing is accepted (3).
HOUSE = pv.TransitionSystem(
    {(0, "a"): 1, (0, "b"): 0, (0, "c"): 1, (0, "d"): 0, (1, "a"): 2, (1, "b"): 0, (1, "c"): 2, (1, "d"): 3}
    | {(2, "b"): 0, (2, "d"): 0, (3, "a"): 3, (4, "a"): 0},
    initial=0,
    accepting={0, 2},
)


def test_bundles_join_the_edges_between_the_same_two_states():
    compiled = HOUSE.compiled
    offsets, labels, targets, bundles, begins, order = LengthRange(compiled, 1, 3).edges
    assert (offsets is compiled.offsets, labels is compiled.labels, targets is compiled.targets) == (True, True, True)
    found = [
        (y, int(targets[order[begins[bundle]]]), labels[order[begins[bundle] : begins[bundle + 1]]].tolist())
        for y in range(compiled.state_count)
        for bundle in range(bundles[y], bundles[y + 1])
    ]
    a, b, c, d = range(4)
    assert found == [
        *[(0, 0, [b, d]), (0, 1, [a, c])],
        *[(1, 0, [b]), (1, 2, [a, c]), (1, 3, [d])],
        *[(2, 0, [b, d]), (3, 3, [a]), (4, 0, [a])],
    ]
    assert sorted(order.tolist()) == list(range(compiled.edge_count))
    assert all(part.dtype == np.int64 for part in (bundles, begins, order))


@pytest.mark.parametrize(("lo", "hi"), [(1, 1), (2, 5), (4, 4), (3, 40), (1, 150)])
def test_completions_are_counted_wherever_a_word_can_pass(lo, hi):
    compiled = HOUSE.compiled
    words = LengthRange(compiled, lo, hi)
    literal = EditGraph(compiled, [0], lo, hi, 1, looks_ahead=False)
    assert words.total == literal.completions(0, compiled.start) > 0
    assert words.limbs == (1 if words.total < 1 << 63 else -(-words.total.bit_length() // 32))
    reached = {compiled.start}
    for i in range(hi + 1):
        for y in range(compiled.state_count):
            passed = literal.completions(i, y) if y in reached else 0
            assert words.alive[i, y] == (passed > 0)
            assert sum(int(limb) << (32 * k) for k, limb in enumerate(words.completions[i, y])) == passed
        reached = {to for y in reached for to in compiled.moves[y].values()}
    assert words.completions.shape == (hi + 1, compiled.state_count, words.limbs)
    assert words.completions.max() < 1 << 32


def test_numbers_fit_exactly_into_their_limbs():
    for symbols, length, limbs in ((2, 31, 1), (2, 62, 1), (2, 63, 2), (2, 64, 3), (1, 5, 1)):
        words = LengthRange(pv.Alphabet(range(symbols)).compiled, length, length)
        assert words.limbs == limbs
        assert words.total == symbols**length
    words = LengthRange(pv.Alphabet("ab").compiled, 64, 64)
    numbers = (0, 1, (1 << 32) - 1, 1 << 32, (1 << 64) - 1, 1 << 64)
    assert words.limbs_of([(5 << 64) + (4 << 32) + 3, 7]).tolist() == [[3, 4, 5], [7, 0, 0]]
    assert words.numbers(words.limbs_of(numbers)) == numbers
    assert words.limbs_of([1]).dtype == np.uint64
    assert words.numbers(np.array([[7], [8]], dtype=np.uint64)) == (7, 8)


def test_a_system_without_words_of_the_range_has_none():
    pairs = pv.TransitionSystem({(0, "a"): 1, (1, "b"): 0}, initial=0, accepting={0})
    words = LengthRange(pairs.compiled, 3, 3)
    assert (words.total, words.limbs) == (0, 1)
    assert not words.alive.any()
    assert not words.completions.any()


@pytest.mark.parametrize(
    ("moves", "accepting", "longest"),
    [
        ({(0, "a"): 1}, {1}, 1),
        ({(0, "a"): 1, (1, "a"): 2, (0, "b"): 2}, {2}, 2),
        ({(0, "a"): 1, (1, "a"): 2, (2, "a"): 3, (3, "a"): 4}, {1, 3}, 3),  # what follows the last end does not count
        ({(0, "a"): 2, (2, "a"): 1, (1, "b"): 3, (1, "a"): 1}, {2}, 1),  # a cycle from which nothing is accepted
        ({(0, "a"): 1, (2, "a"): 2, (2, "b"): 1}, {1}, 1),  # a cycle that is never reached
        ({(0, s): 1 for s in "abc"} | {(1, "b"): 2, (0, "d"): 2, (2, "a"): 3}, {0, 3}, 3),
    ],
)
def test_the_longest_word_of_a_finite_language_is_found(moves, accepting, longest):
    world = pv.TransitionSystem(moves, initial=0, accepting=accepting)
    assert checked_range(world, None) == (1, longest)
    assert checked_range(world, (1, None)) == (1, longest)
    assert checked_range(world, [longest, longest + 3]) == (longest, longest + 3)


def test_where_a_cycle_lies_on_the_way_there_is_no_longest_word():
    world = pv.TransitionSystem({(0, "a"): 1, (1, "a"): 1, (1, "b"): 2}, initial=0, accepting={2})
    with pytest.raises(pv.InvalidParameterError, match="any length"):
        checked_range(world, (2, None))
    assert checked_range(world, (2, 2)) == (2, 2)


@pytest.mark.parametrize("edges", [[(1, 0, 2)], [(0, 0, 1), (2, 0, 2)], [(0, 0, 0)]])
def test_without_any_word_there_is_no_longest_either(edges):
    compiled = CompiledSystem.from_edges(1, 0, edges, np.array([False, False, True]))
    with pytest.raises(pv.NoFeasibleWordError):
        checked_range(SimpleNamespace(compiled=compiled), None)


def test_the_empty_word_alone_is_no_word():
    world = pv.TransitionSystem({(1, "a"): 0}, initial=0, accepting={0})
    with pytest.raises(pv.NoFeasibleWordError):
        checked_range(world, None)


def test_a_range_may_be_one_length_and_no_less():
    letters = pv.Alphabet("ab")
    assert checked_range(letters, (3, 3)) == (3, 3)
    with pytest.raises(pv.InvalidParameterError, match="greater than the longest"):
        checked_range(letters, (4, 3))
    for length in (3, 4, 5):
        require_length(length, (3, 5))
    for length in (2, 6):
        with pytest.raises(pv.LengthMismatchError, match="3 to 5"):
            require_length(length, (3, 5))


def test_a_cap_is_a_whole_number_from_one_on_and_at_most_the_longest_length():
    assert [checked_cap(cap, 9) for cap in (None, 1, 8, 9, 10, np.int64(4))] == [9, 1, 8, 9, 9, 4]
    for cap in (0, -3, True, 2.0, "2", [2]):
        with pytest.raises(pv.InvalidParameterError, match="cap"):
            checked_cap(cap, 9)
