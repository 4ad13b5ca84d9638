"""Who owns which keystream words, as exact numbers: no symbol owns more than e^θ times as many as another."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

import pathveil as pv
from pathveil.randomness.source import RandomSource
from pathveil.words.base.tilt import tilt_factor
from pathveil.words.tilted.response import (
    LAST_VALUE,
    keystream_values_per_symbol,
    redraw_unowned,
    respond_randomly,
)
from tests.statistics import counted_rows

MANY = [2, 3, 4, 5, 7, 16, 100, 1000, 65_537, 999_983, 10**6, 2**24 + 1, 2**31 - 1]
TILTS = [5e-324, 1e-300, 1e-100, 1e-30, 3.3e-19, 1e-18, 1e-16, 1e-12, 1e-9, 2.4e-8, 1e-6, 1e-3, 0.5, 5.0, 44.0, 690.0]


def largest_ratio(symbol_count: int, each: int, last: int) -> Fraction:
    """The most words that somebody owns, by the fewest, whatever is the right symbol, and also where it is impossible.

    Where it is impossible (online), the words that are used are dealt out evenly, up to one.
    """
    used = last + 1
    owned = [each, used - (symbol_count - 1) * each, used // symbol_count, -(-used // symbol_count)]
    assert min(owned) > 0
    return Fraction(max(owned), min(owned))


def keeps(ratio: Fraction, theta: float) -> bool:
    """Is the ratio at most e^θ? Proven: θ is a float of at most 1,074 bits, and 2,500 are looked at."""
    with ctx.workprec(2500):
        bound, exact = arb(theta).exp(), arb(fmpq(ratio.numerator, ratio.denominator))
        assert ratio == 1 or exact < bound or exact > bound
        return ratio == 1 or bool(exact < bound)


@pytest.mark.parametrize("symbol_count", MANY)
def test_no_symbol_owns_more_than_e_to_theta_times_as_much_as_another(symbol_count: int) -> None:
    for theta in TILTS:
        each, last = keystream_values_per_symbol(symbol_count, theta)
        assert last <= LAST_VALUE, theta
        assert keeps(largest_ratio(symbol_count, each, last), theta), theta
        assert LAST_VALUE - last <= symbol_count, theta  # hardly any word is drawn again
        # As likely as it should be, up to the digits of z and one word for each symbol.
        z = Fraction(tilt_factor(theta))
        assert abs(each - 2**64 * z / (1 + (symbol_count - 1) * z)) < 1, theta


@given(
    symbol_count=st.integers(2, 2**31), theta=st.floats(5e-324, 690.0) | st.floats(-323.0, 0.0).map(lambda x: 10.0**x)
)
@settings(max_examples=300)
def test_the_same_for_any_number_of_symbols_and_any_tilt(symbol_count: int, theta: float) -> None:
    each, last = keystream_values_per_symbol(symbol_count, theta)
    assert keeps(largest_ratio(symbol_count, each, last), theta)


@pytest.mark.parametrize(("symbol_count", "epsilon", "loss"), [(10**6, 1e-9, 2.4e-8), (3, 1e-300, 3.3e-19)])
def test_rounding_up_alone_would_lose_more_than_is_promised(symbol_count: int, epsilon: float, loss: float) -> None:
    """Negative control: what wrong symbols owned before too much was noticed."""
    z = Fraction(tilt_factor(epsilon))
    ratio = largest_ratio(symbol_count, ceil(2**64 * z / (1 + (symbol_count - 1) * z)), LAST_VALUE)
    assert not keeps(ratio, epsilon)
    assert float(ratio - 1) == pytest.approx(loss, rel=0.03)
    each, last = keystream_values_per_symbol(symbol_count, epsilon)
    assert last < LAST_VALUE
    assert keeps(largest_ratio(symbol_count, each, last), epsilon)


def test_ordinary_tilts_leave_no_word_to_be_drawn_again() -> None:
    for symbol_count, theta in product([2, 3, 20, 1000, 65_537], [1e-6, 1e-3, 0.1, 1.0, 5.0, 60.0, 690.0]):
        assert keystream_values_per_symbol(symbol_count, theta)[1] == LAST_VALUE
    # Nor does a tilt of next to nothing, where all symbols can own the same.
    assert keystream_values_per_symbol(1024, 1e-300) == (2**54, LAST_VALUE)
    assert keystream_values_per_symbol(3, 1e-300) == (2**64 // 3, 2**64 - 2)


class Script(RandomSource):
    """Hands out these keystream words, one after the other."""

    def __init__(self, words: list[int]) -> None:
        super().__init__(bytes(32), seed=0)
        self.left = words

    def fill(self, words: np.ndarray) -> None:
        words[:] = np.array(self.left[: len(words)], dtype=np.uint64)
        self.left = self.left[len(words) :]

    def branches(self, count: int) -> list[RandomSource]:
        return [self] * count


def test_words_that_belong_to_nobody_are_drawn_again_and_no_others() -> None:
    words = np.array([7, 8, 9, 3, LAST_VALUE], dtype=np.uint64)
    source = Script([100, 4, 8, 9, 8, 77])
    redraw_unowned(words, 8, source)
    assert words.tolist() == [7, 8, 8, 3, 4]
    assert source.left == [9, 8, 77]
    redraw_unowned(words, np.array([7, 8, 7, 3, 3], dtype=np.uint64), Script([7, 4, 3]))  # a bound for each of them
    assert words.tolist() == [7, 8, 7, 3, 3]


@pytest.mark.parametrize("small", [100, 0])
@pytest.mark.parametrize("epsilon", [1e-300, 1e-19])
def test_every_word_of_a_free_alphabet_has_its_owner_at_a_tiny_epsilon(small: int, epsilon: float) -> None:
    for mechanism in (pv.Online(pv.Alphabet("abc"), epsilon), pv.CertifiedExponential(pv.Alphabet("abc"), epsilon)):
        theta = mechanism.theta(1)
        each, last = keystream_values_per_symbol(3, theta)
        owners = {0: "b", each - 1: "b", each: "c", 2 * each - 1: "c", 2 * each: "a", last: "a"}
        assert last == 2**64 - 2
        # The unowned word comes first, and last, and twice in a row.
        numbers, expected = [LAST_VALUE, *owners, LAST_VALUE, LAST_VALUE, each, 0], "b" + "".join(owners.values()) + "c"
        source, private = Script(numbers), np.empty(8, dtype=np.int64)
        respond_randomly(3, np.zeros(8, dtype=np.int64), theta, source, private, small=small)
        assert "".join("abc"[code] for code in private) == expected
        assert source.left == []
        assert mechanism.privatize("a" * 8, rng=Script(numbers)) == expected


def _star() -> pv.MarkovChain:
    """From 0 to 0, 1 and 2, from 1 to 0, 1, 2 and 3, from 2 to 0, from 3 to 0: three, four and one successors."""
    edges = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (1, 3), (2, 0), (3, 0)]
    return pv.MarkovChain.from_edges(edges, initial=0)


def test_online_deals_out_the_words_that_are_used_evenly_where_the_true_symbol_is_impossible() -> None:
    mechanism = pv.Online(_star(), 1e-300)
    each, last = keystream_values_per_symbol(3, mechanism.theta())
    assert (mechanism._redraws, last) == (True, 3 * each - 1)
    for word, emitted in [(0, 0), (1, 1), (2, 2), (last, 2), (last - 1, 1), (last - 2, 0)]:
        assert mechanism.stream(Script([LAST_VALUE, word])).push(3) == emitted  # 3 cannot follow the start
        true = {0: 0, 1: 0, 2: 0, last: 2, last - 1: 2, last - 2: 2}[word]
        assert mechanism.stream(Script([LAST_VALUE, word])).push(2) == true
    # Four successors share all words: none is drawn again there.
    source = Script([0, LAST_VALUE])
    stream = mechanism.stream(source)
    assert [stream.push(0), stream.push(0)] == [1, 0]
    assert source.left == []


@pytest.mark.parametrize("epsilon", [1e-300, 1e-19])
def test_large_batches_online_are_drawn_at_a_tiny_epsilon(epsilon: float) -> None:
    """Three symbols that are equally likely: 5σ, false alarms below 1e-5."""
    mechanism, count = pv.Online(_star(), epsilon), 66_000
    zeros = np.zeros((count, 2), dtype=np.int64)
    drawn = mechanism.privatize_array(zeros, rng=pv.insecure_seed(1))
    pushed = mechanism.streams(count, rng=pv.insecure_seed(2)).push(zeros[:, 0])
    states = np.full(count, mechanism.world.compiled.start)
    cut, _ = mechanism._emit(states, zeros[:, 0], pv.insecure_seed(3), largest_step=5_000)  # a thousand at a time
    for symbols in (drawn[:, 0], pushed, cut):
        assert np.abs(np.bincount(symbols, minlength=3) - count / 3).max() < 5 * np.sqrt(count * 2 / 9)
    assert counted_rows(drawn).keys() == {(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (1, 3), (2, 0)}
