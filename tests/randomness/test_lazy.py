"""Numbers whose bits are drawn on demand decide as the whole number would."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from pathveil.randomness.decisions import InDoubtError, with_enough_digits
from pathveil.randomness.lazy import LazyUniform
from tests.reference.planted import ContinuedSource

WORDS = st.lists(
    st.one_of(st.integers(0, 2**64 - 1), st.sampled_from([0, 1, 2**63, 2**63 - 1, 2**64 - 1])), min_size=4, max_size=4
)
WEIGHTS = st.lists(st.integers(0, 10**30), min_size=1, max_size=6).filter(any)


def where(words: list[int], weights: list[int]) -> set[int]:
    """The indices on which a number may fall that begins with these words: exact fractions, nothing else."""
    numerator = 0
    for word in words:
        numerator = numerator << 64 | word
    low, high = Fraction(numerator, 2 ** (64 * len(words))), Fraction(numerator + 1, 2 ** (64 * len(words)))
    total, found = sum(weights), set()
    for index, reached in enumerate(accumulate(weights)):
        begin, end = Fraction(reached - weights[index], total), Fraction(reached, total)
        if low < end and begin < high:
            found.add(index)
    return found


@given(words=WORDS, weights=WEIGHTS)
def test_integers_and_balls_decide_like_fractions(words: list[int], weights: list[int]) -> None:
    possible = where(words, weights)
    if len(possible) > 1:
        return  # these words leave it open
    [expected] = possible
    assert LazyUniform(words[0], ContinuedSource(words[1:])).pick(weights) == expected
    uniform = LazyUniform(words[0], ContinuedSource(words[1:] + [2**63 + 1] * 20))
    balls = [arb(weight) for weight in weights]
    found = with_enough_digits(lambda bits: uniform.cut(balls, bits))
    assert weights[found] > 0
    assert found == expected


def test_more_bits_are_drawn_only_where_the_first_do_not_suffice() -> None:
    for word, bits in [(2**63 - 1, 64), (2**63, 64), (0, 64)]:
        uniform = LazyUniform(word, ContinuedSource([]))
        assert uniform.pick([1, 1]) == int(word >= 2**63)
        assert uniform.bits == bits
    third = 2**64 // 3
    for following, expected in [(0, 0), (2**64 // 3 - 1, 0), (2**64 // 3 + 1, 1), (2**64 - 1, 1)]:
        uniform = LazyUniform(third, ContinuedSource([following]))
        assert uniform.pick([1, 2]) == expected
        assert uniform.bits == 128


def test_a_ball_holds_every_number_that_begins_like_it() -> None:
    uniform = LazyUniform(5, ContinuedSource([7]), bits=3)
    assert uniform.ball().contains(arb(5) / 8)
    assert uniform.ball().contains(arb(6) / 8)
    assert uniform.ball().rad() < 1.01 / 16
    uniform.refine()
    with ctx.workprec(128):
        assert uniform.ball() < (arb(5) + arb(2) ** -60) / 8


def test_digits_are_added_until_nothing_is_in_doubt_and_the_precision_comes_back() -> None:
    before, asked = ctx.prec, []

    def decide(bits: int) -> int:
        asked.append((bits, ctx.prec))
        if bits < 1000:
            raise InDoubtError
        return 3

    assert with_enough_digits(decide) == 3
    assert asked == [(128, 128), (256, 256), (512, 512), (1024, 1024)]
    assert ctx.prec == before
    with pytest.raises(ZeroDivisionError):
        with_enough_digits(lambda _: 1 // 0)
    assert ctx.prec == before
