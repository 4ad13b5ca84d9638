"""Exact counts in limbs of 32 bits, and the walk from a number to its word, against Python's own integers."""

from __future__ import annotations

import random

import numpy as np
import pytest

import pathveil as pv
from pathveil.words.edit.classes import EditClasses
from pathveil.words.edit.length_range import LengthRange
from tests.reference.edit_graph import EditGraph

LIMBS = 3
# Around the edges of limbs, and a few in between.
NUMBERS = sorted(
    {edge + near for edge in (0, 1 << 32, 1 << 64) for near in (-2, -1, 0, 1, 2) if edge + near >= 0}
    | {7, 1 << 31, 1 << 63, (1 << 95) + 5, (1 << 96) - 1, 0x123456789ABCDEF0123}
)


def in_limbs(number):
    return np.array([(number >> (32 * limb)) % (1 << 32) for limb in range(LIMBS)], dtype=np.uint64)


def as_number(limbs):
    assert all(0 <= limb < 1 << 32 for limb in limbs.tolist())
    return sum(limb << (32 * place) for place, limb in enumerate(limbs.tolist()))


def test_numbers_in_limbs_are_compared_like_numbers():
    from pathveil.words.edit.walk import _at_least, _is_zero

    for a in NUMBERS:
        assert _is_zero(in_limbs(a)) == (a == 0)
        for b in NUMBERS:
            assert _at_least(in_limbs(a), in_limbs(b)) == (a >= b)


def test_numbers_in_limbs_are_subtracted_with_borrows():
    from pathveil.words.edit.walk import _subtract

    for a in NUMBERS:
        for b in NUMBERS:
            if a >= b:
                difference = in_limbs(a)
                _subtract(difference, in_limbs(b))
                assert as_number(difference) == a - b


def test_numbers_in_limbs_are_multiplied_with_carries():
    from pathveil.words.edit.walk import _multiply

    product = np.empty(LIMBS, dtype=np.uint64)
    for a in NUMBERS:
        for times in (0, 1, 2, 3, 1_000_003, (1 << 31) - 1):
            _multiply(in_limbs(a), times, product)
            assert as_number(product) == a * times % (1 << 32 * LIMBS)


@pytest.mark.parametrize("value", [1, 5, (1 << 32) - 1, 1 << 32, (1 << 64) - 3])
@pytest.mark.parametrize("times", [1, 2, 3, 7, 10_000])
def test_a_rank_falls_into_one_of_the_equal_shares_or_beyond_them(value, times):
    from pathveil.words.edit.walk import _take

    product = np.empty(LIMBS, dtype=np.uint64)
    for which in sorted({0, 1, times // 2, times - 1, times, times + 3}):
        for rest in sorted({0, value // 2, value - 1}):
            rank = in_limbs(which * value + rest)
            expected = which if which < times else -1
            assert _take(rank, in_limbs(value), times, product) == expected
            left = rest if which < times else (which - times) * value + rest
            assert as_number(rank) == left
            if (which + times) * value < 1 << 63:
                alone = np.array([which * value + rest], dtype=np.uint64)
                assert _take(alone, np.array([value], dtype=np.uint64), times, product[:1]) == expected
                assert alone.tolist() == [left]


@pytest.mark.parametrize("which", [(), (2,), (0, 1), (3, 6), (1, 5, 6)])
def test_other_symbols_are_numbered_without_those_of_the_word(which):
    from pathveil.words.edit.walk import _other_symbol

    # Every second symbol leads to state 1, the others back to state 0.
    world = pv.TransitionSystem({(0, a): a % 2 for a in range(9)} | {(1, 3): 0}, initial=0)
    edges = LengthRange(world.compiled, 1, 1).edges
    symbols = np.array(which, dtype=np.int64)
    for bundle, leading in ((0, [0, 2, 4, 6, 8]), (1, [1, 3, 5, 7])):
        others = [a for a in leading if a not in which]
        assert [_other_symbol(bundle, k, edges, symbols) for k in range(len(others))] == others


# Symbols 0 to 39 stay, 40 to 69 go over, and from there 100 symbols lead back and 3 stay.
HALLS = pv.TransitionSystem(
    {(0, a): int(a >= 40) for a in range(70)} | {(1, a): int(a >= 100) for a in range(103)}, initial=0, accepting={0}
)
CASES = {
    "one limb": (pv.Alphabet("abcd"), "abca", 2, 6, 3),
    "one limb of 54 bits": (pv.Alphabet(range(500)), [3, 1, 4, 1, 5], 3, 6, 4),
    "three limbs": (pv.Alphabet(range(5_000)), [3, 1, 4, 1, 5], 3, 6, 4),
    "repeated endings": (pv.Alphabet("ab"), "abababab", 4, 12, 5),
    "four limbs": (HALLS, [5, 41, 7, 101, 41, 100], 4, 17, 5),
    "wide rows": (HALLS, [5, 41, 7, 101, 41, 2, 2], 6, 10, 8),
}


@pytest.mark.parametrize("case", CASES)
def test_words_are_numbered_in_the_order_of_the_graph(case):
    world, word, lo, hi, cap = CASES[case]
    codes = world.encode(word)
    classes = EditClasses(LengthRange(world.compiled, lo, hi), codes, cap)
    ahead = cap < 8 and world.compiled.state_count > 1
    graph = EditGraph(world.compiled, codes.tolist(), lo, hi, cap, ahead)
    assert list(classes.counts) == graph.values(0, graph.initial)
    rng = random.Random(1)
    for distance, count in enumerate(classes.counts):
        ranks = {0, 1, count // 2, count - 2, count - 1, *(rng.randrange(count + 1) for _ in range(30))}
        for rank in sorted(rank for rank in ranks if 0 <= rank < count):
            assert classes.word_at(distance, rank).tolist() == graph.word_at(distance, rank)


# Nothing follows the second symbol here, and a word that begins with c ends at once.
PLAN = pv.TransitionSystem({(0, "a"): 1, (0, "b"): 1, (1, "b"): 2, (0, "c"): 2}, initial=0, accepting={1, 2})


@pytest.mark.parametrize(
    ("world", "word", "lo", "hi", "cap", "distance"),
    [
        (pv.Alphabet("abc"), "abca", 2, 5, 3, 1),
        (pv.Alphabet("abc"), "abca", 2, 5, 3, 3),
        (PLAN, "ab", 1, 3, 3, 0),
        (PLAN, "ab", 1, 3, 3, 1),
        (PLAN, "ab", 1, 3, 1, 1),
        (PLAN, "cc", 1, 3, 1, 1),
    ],
)
def test_a_number_beyond_the_last_word_leads_to_none(world, word, lo, hi, cap, distance):
    from pathveil.words.edit.walk import find_words

    words = LengthRange(world.compiled, lo, hi)
    classes = EditClasses(words, world.encode(word), cap)
    tables, last = classes._tables, classes.counts[distance] - 1
    ranks = [last, *(last + 1 + beyond for beyond in (0, 1, 2, 5, 1_000))]
    lengths = find_words(
        words.limbs_of(ranks),
        np.full(len(ranks), distance),
        np.zeros(len(ranks), dtype=np.int64),
        cap,
        tables.graphs,
        tables._numbered,
        lo,
        (world.compiled.accepting, words.completions, words.edges),
        np.empty((len(ranks), hi + 5), dtype=np.int64),
    ).tolist()
    assert lengths[0] >= lo
    assert lengths[1:] == [-1] * 5
    with pytest.raises(AssertionError, match="rank"):
        tables.words_at([0], [distance], [last + 1])


def test_plans_that_end_early_are_numbered_too():
    for word in ("ab", "cc", "b"):
        for cap in (1, 2, 3):
            classes = pv.edit_classes(PLAN, word, (1, 3), cap)
            found = [
                "".join(PLAN.decode(classes.word_at(distance, rank).tolist()))
                for distance, count in enumerate(classes.counts)
                for rank in range(count)
            ]
            assert sorted(found) == ["a", "ab", "b", "bb", "c"]


def _cycle(size: int) -> pv.MarkovChain:
    """A ring of streets with one street beside it: words of any length, and few of them."""
    ring = [(f"a{i}", f"a{(i + 1) % size}") for i in range(size)]
    return pv.MarkovChain.from_edges([*ring, ("a0", "b"), ("b", "a2")])


@pytest.mark.parametrize("cap", [2, 3, 5, 7])
@pytest.mark.parametrize("length", [17, 30, 44])
def test_each_number_of_a_class_is_a_word_of_its_own_however_long_the_word(length: int, cap: int) -> None:
    # Rows hold entries near the diagonal only; what lies beyond must not be mistaken for one of them.
    world = _cycle(12)
    word = tuple(f"a{i % 12}" for i in range(length))
    classes = pv.edit_classes(world, word, lengths=(length - 1, length + 1), cap=cap)
    for distance, count in enumerate(classes.counts):
        found = [tuple(classes.word_at(distance, rank).tolist()) for rank in range(count)]
        assert len(set(found)) == count
        assert all(length - 1 <= len(codes) <= length + 1 and world.is_feasible(world.decode(codes)) for codes in found)
        assert set(classes.distances(np.array(codes) for codes in found).tolist()) <= {distance}


def test_long_words_over_two_letters_stay_in_their_range_of_lengths() -> None:
    word = ("0110100110010110" * 3)[:40]
    mechanism = pv.EditExponential(pv.Alphabet("01"), 20.0, lengths=(39, 41), cap=4)
    drawn = mechanism.privatize_many([word] * 500, rng=pv.insecure_seed(1))
    assert {len(private) for private in drawn} <= {39, 40, 41}
