"""Errors on free alphabets: which keystream words are drawn again, and that the law is exactly right then.

A position takes a number below k(m-1) out of a keystream word. Some keystream words would favour small numbers and must
not be used. What is drawn again in their place makes a difference, too small to be seen in any sample.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import strategies as st

import pathveil as pv
from pathveil.randomness.source import RandomSource
from pathveil.words.base.batch import Batch
from pathveil.words.base.tilt import linear_scores
from pathveil.words.classes import free_counts
from pathveil.words.classes.batches import free_blocks, keystream_bounds
from pathveil.words.classes.selection import EXPONENTIAL, PERMUTE_AND_FLIP
from tests.sizes import given_few_and_many

Law = dict[tuple[int, tuple[int, ...]], Fraction]  # (number of errors, where they are)


def law_with_short_words(length: int, errors_law: list[Fraction], bits: int, redrawn: str) -> Law:
    """The law if keystream words had few bits: every one of them is tried. Two symbols, so that only places matter.

    `redrawn` is what is drawn again after a word that must not be used: "everything", the "positions", or that "word".
    """
    size = 2**bits
    law: Law = defaultdict(Fraction)
    lost = [Fraction(0)] * (length + 1)  # the probability of drawing again, by number of errors

    def place(errors: int, i: int, left: int, places: tuple[int, ...], probability: Fraction) -> None:
        if not left:
            law[errors, places] += probability
            return
        bound = length - i
        usable = [word * bound // size for word in range(size) if word * bound % size >= size % bound]
        if redrawn != "word":
            lost[errors] += probability * Fraction(size - len(usable), size)
            probability *= Fraction(len(usable), size)
        hits = sum(number < left for number in usable)
        place(errors, i + 1, left - 1, (*places, i), probability * Fraction(hits, len(usable)))
        if hits < len(usable):
            place(errors, i + 1, left, places, probability * Fraction(len(usable) - hits, len(usable)))

    for errors, probability in enumerate(errors_law):
        place(errors, 0, errors, (), probability)
    if redrawn == "everything":
        return {outcome: share / (1 - sum(lost)) for outcome, share in law.items()}
    return {
        (errors, places): share * errors_law[errors] / (errors_law[errors] - lost[errors])
        for (errors, places), share in law.items()
    }


@pytest.mark.parametrize(("length", "bits"), [(4, 3), (4, 5), (5, 4), (7, 6)])
def test_only_drawing_the_single_keystream_word_again_leaves_the_law_as_it_is(length: int, bits: int) -> None:
    errors_law = [Fraction(k + 1, sum(range(length + 2))) for k in range(length + 1)]
    right = {
        (k, places): errors_law[k] / comb(length, k)
        for k in range(length + 1)
        for places in combinations(range(length), k)
    }
    assert law_with_short_words(length, errors_law, bits, "word") == right
    # Negative controls. Both are wrong; the first in the number of errors, the second in the places.
    everything, positions = (law_with_short_words(length, errors_law, bits, way) for way in ("everything", "positions"))
    numbers = [
        [sum(share for (k, _), share in law.items() if k == n) for n in range(length + 1)]
        for law in (everything, positions)
    ]
    assert numbers[0] != errors_law
    assert numbers[1] == errors_law
    assert positions != right


class Script(RandomSource):
    """Hands out these keystream words, one after the other, and no more."""

    def __init__(self, words: list[int]) -> None:
        super().__init__(bytes(32), seed=0)
        self.left = words

    def fill(self, words: np.ndarray) -> None:
        words[:] = np.array(self.left[: len(words)], dtype=np.uint64)
        self.left = self.left[len(words) :]


def placed(codes: list[int], errors: int, numbers: list[int], m: int) -> list[int]:
    """What keystream words stand for, with Python's integers."""
    private = []
    for i, (code, word) in enumerate(zip(codes, numbers, strict=True)):
        number = word * (len(codes) - i) * (m - 1) >> 64
        hit = number < errors * (m - 1)
        errors -= hit
        private.append((code + 1 + number % (m - 1)) % m if hit else code)
    return private


@given_few_and_many(40, 100, m=st.integers(3, 50), length=st.integers(1, 12), data=st.data())
def test_a_word_that_must_not_be_used_is_replaced_and_number_and_other_positions_stay(
    m: int, length: int, data: st.DataObject
) -> None:
    selection = data.draw(st.sampled_from([EXPONENTIAL, PERMUTE_AND_FLIP]))
    scores = linear_scores(0.4, length)
    bounds = [0, *keystream_bounds(selection, free_counts(m, length), tuple(scores.tolist())), 2**64 - 1]
    rows = data.draw(st.integers(1, 3))
    codes = [data.draw(st.lists(st.integers(0, m - 1), min_size=length, max_size=length)) for _ in range(rows)]
    errors = [data.draw(st.integers(1, length)) for _ in range(rows)]

    def refused(i: int, word: int) -> bool:
        bound = (length - i) * (m - 1)
        return word * bound % 2**64 < 2**64 % bound

    # A keystream value of 0 must not be used unless its bound divides 2^64; hardly any other is refused somewhere.
    usable = st.integers(2**40, 2**64 - 1).filter(lambda word: not any(refused(i, word) for i in range(length)))
    numbers = [data.draw(st.lists(st.just(0) | usable, min_size=length, max_size=length)) for _ in range(rows)]
    fresh = data.draw(st.lists(usable, min_size=rows * length, max_size=rows * length))

    def looked_at(row: int) -> int:
        """How many positions come before the last error, or a word that is refused on the way."""
        left = errors[row]
        for i, word in enumerate(numbers[row]):
            if not left:
                return i
            left -= (word * (length - i) * (m - 1) >> 64) < left * (m - 1)
        return length

    again = [any(refused(i, w) for i, w in enumerate(numbers[row][: looked_at(row)])) for row in range(rows)]
    spare, expected = iter(fresh), [list(row) for row in numbers]
    for i, row in product(range(length), range(rows)):
        if again[row] and refused(i, numbers[row][i]):
            expected[row][i] = next(spare)
    middles = [(bounds[k] + bounds[k + 1]) // 2 for k in errors]
    source = Script([word for row in range(rows) for word in (middles[row], *numbers[row])] + fresh)
    values, private = np.array(codes).reshape(-1), np.full(rows * length, -1)
    [block] = free_blocks(m, values, Batch.from_rows(np.array(codes)).by_length[0], scores, private, selection)
    block(source)
    assert private.reshape(rows, length).tolist() == [
        placed(codes[row], errors[row], expected[row], m) for row in range(rows)
    ]
    assert source.left == list(spare)
    assert (private != values).reshape(rows, length).sum(axis=1).tolist() == errors


def test_the_number_of_errors_is_not_drawn_again() -> None:
    """As above, by hand: two errors of two, the first keystream word for a position is refused."""
    scores = linear_scores(1.0, 2)
    values, private = np.array([0, 0]), np.array([-1, -1])
    source = Script([2**64 - 5, 0, 2**63, 2**62])  # then nothing is left
    [block] = free_blocks(4, values, Batch.from_rows(values[None, :]).by_length[0], scores, private, PERMUTE_AND_FLIP)
    block(source)
    assert source.left == []
    assert (private != 0).all()
    assert pv.PermuteAndFlip(pv.Alphabet("abcd"), 2.0).theta(2) == 1.0  # the tilt above
