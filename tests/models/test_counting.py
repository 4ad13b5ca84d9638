"""From words and pairs to tables: every way of counting against the plainest one."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

import pathveil as pv
from pathveil.models.counting import States, count_pairs, count_transitions, count_words, encode_words


def plain_table(pairs: list, states: States) -> list[list[int]]:
    """Merged states in the order of their first member."""
    seen = Counter((states.code(a, ""), states.code(b, "")) for a, b in pairs)
    return [[seen[i, j] for j in range(len(states.merged))] for i in range(len(states.merged))]


MERGED = States("abcd", {"a": "x", "b": "y", "c": "x", "d": "z"})


def test_merged_states_stand_in_the_order_in_which_they_first_occur():
    assert MERGED.given == tuple("abcd")
    assert MERGED.merged == tuple("xyz")
    assert [MERGED.code(state, "") for state in "abcd"] == [0, 1, 0, 2]
    plain = States("ba", None)
    assert plain.merged == ("b", "a")
    assert [plain.code(state, "") for state in "ab"] == [1, 0]


def test_tables_and_first_symbols_are_summed_over_merged_states():
    assert MERGED.merge_first(np.array([1, 10, 100, 1000])).tolist() == [101, 10, 1000]
    table = np.arange(16).reshape(4, 4)
    expected = [
        [sum(table[i, j] for i in rows for j in columns) for columns in ([0, 2], [1], [3])]
        for rows in ([0, 2], [1], [3])
    ]
    assert MERGED.merge_table(table).tolist() == expected
    with pytest.raises(pv.InvalidCountsError, match="there are 4 states"):
        MERGED.merge_first(np.zeros(3, dtype=np.int64))
    for shape in ((4, 3), (3, 4), (3, 3)):
        with pytest.raises(pv.InvalidCountsError, match="there are 4 states"):
            MERGED.merge_table(np.zeros(shape, dtype=np.int64))


@pytest.mark.parametrize(
    "states",
    [
        np.array([3, 5, 9]),
        np.array([-5, 0, 4090]),
        np.array([0, 1, 4095]),
        np.array([0, 1, 4096]),
        np.array([-(2**62), 1 - 2**62, 2 - 2**62]),
        np.array([-(2**63), 1 - 2**63, 2 - 2**63]),
        np.array([2**62, 2**62 + 1, 2**62 + 7]),
        np.array([2**63, 2**63 + 1, 2**64 - 1], dtype=np.uint64),
        np.array([2**64 - 3, 2**64 - 2, 2**64 - 1], dtype=np.uint64),
        np.array([3, 4, 250], dtype=np.uint8),
        np.array([-128, 0, 127], dtype=np.int8),
        np.array(["left", "right", "up"]),
        np.array([True, False]),
    ],
    ids=lambda states: f"{states.dtype} {states[0]}",
)
def test_an_array_of_pairs_is_counted_like_a_list_whatever_its_numbers_and_however_many(states):
    pairs = states[np.random.default_rng(2).integers(0, len(states), (41, 2))]
    known = States(states.tolist(), None)
    expected = np.array(plain_table(pairs.tolist(), known))
    assert count_pairs(pairs, known).tolist() == expected.tolist()
    assert count_pairs(np.tile(pairs, (4_000, 1)), known).tolist() == (4_000 * expected).tolist()


def test_the_first_bad_pair_is_named_by_its_number_however_many_there_are():
    known = States([0, 1, 5], None)
    for place, side, which in ((0, 0, "from"), (65_535, 1, "to"), (65_536, 0, "from"), (149_999, 1, "to")):
        pairs = np.ones((150_000, 2), dtype=np.int64)
        pairs[place, side] = 3
        pairs[149_999, 1] = 3
        with pytest.raises(pv.UnknownSymbolError, match=f"pair number {place + 1}: '{which}' is 3, which"):
            count_pairs(pairs, known)


def test_states_that_cannot_be_sorted_are_counted_from_an_array_of_objects_too():
    states = [1, "a", None, (2, 3)]
    pairs = np.empty((20, 2), dtype=object)
    for i in range(20):
        pairs[i, 0], pairs[i, 1] = states[i % 4], states[i % 3]
    known = States(states, None)
    assert count_pairs(pairs, known).tolist() == plain_table(pairs.tolist(), known)


def test_no_pairs_make_an_empty_table():
    for nothing in ([], iter([]), np.empty((0, 2), dtype=np.int64), np.empty((0, 2), dtype="U1")):
        assert count_pairs(nothing, MERGED).tolist() == [[0] * 3] * 3


def test_pairs_that_are_lists_or_mixed_are_counted_one_by_one():
    pairs = [["a", "b"], ("b", "d"), ["a", "b"], "cd"]
    assert count_pairs(pairs, MERGED).tolist() == plain_table(pairs, MERGED)
    with pytest.raises(pv.UnknownSymbolError, match="pair number 3: 'to' is 'q', which is not one of the 4 states"):
        count_pairs([["a", "b"], ["b", "c"], ["a", "q"]], MERGED)
    with pytest.raises(pv.InvalidCountsError, match="pair number 2 is 7"):
        count_pairs([["a", "b"], 7], MERGED)


def test_words_are_encoded_and_cut():
    assert encode_words(["abcd", "d"], MERGED, None) == [[0, 1, 0, 2], [2]]
    assert encode_words(["abcd", "d", "ab"], MERGED, 2) == [[0, 1], [2], [0, 1]]
    assert encode_words([("a", "d")], MERGED, 3) == [[0, 2]]
    with pytest.raises(pv.UnknownSymbolError, match="word number 2, position 3 is 'q'"):
        encode_words(["abcd", "abq"], MERGED, None)
    # What is cut off is not looked at.
    assert encode_words(["abq"], MERGED, 2) == [[0, 1]]
    with pytest.raises(pv.EmptyWordError, match="word number 3"):
        encode_words(["a", "b", ""], MERGED, None)


def test_what_is_in_words_is_counted_like_by_hand():
    words = [[0, 1, 0, 2], [2], [0, 0], [1, 1, 1, 1, 2]]
    found = count_words(words, 4)
    pairs = Counter(pair for word in words for pair in pairwise(word))
    assert found.transitions.tolist() == [[pairs[i, j] for j in range(4)] for i in range(4)]
    assert found.transitions.dtype == np.int64
    assert found.first.tolist() == [2, 1, 1, 0]
    assert found.lengths.tolist() == [1, 1, 0, 1, 1]
    assert count_transitions([], 2).tolist() == count_transitions([[1], [0]], 2).tolist() == [[0, 0], [0, 0]]
    nothing = count_words([], 2)
    assert (nothing.first.tolist(), nothing.lengths.tolist()) == ([0, 0], [0])
