"""What rejection compares in ball arithmetic, against fractions and sixty digits."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import mpmath
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

import pathveil as pv
from pathveil.randomness.decisions import InDoubtError
from pathveil.randomness.lazy import LazyUniform
from pathveil.words.base.law import permute_and_flip_log_law
from pathveil.words.base.tilt import tilt_factor
from pathveil.words.classes.law_balls import exponential_balls, permute_and_flip_balls
from pathveil.words.tilted.reachable_states import ReachableStates
from pathveil.words.tilted.rejection_exact import ExactComparisons, _below, _settled, _time
from tests.reference.enumeration import Word, class_counts, feasible_words, hamming
from tests.reference.planted import ContinuedSource
from tests.reference.random_systems import systems_with_word
from tests.worlds import CHAIN, PLANS

WORDS: dict[str, tuple[pv.System, Word]] = {
    "feasible": (CHAIN, (0, 1, 2)),
    "several nearest words": (CHAIN, (2, 1, 0, 2)),
    "plans": (PLANS, ("c", "c", "c", "a")),
}


def comparisons(world: pv.System, word: Word, theta: float) -> ExactComparisons:
    codes = world.encode(word).tolist()
    return ExactComparisons(world.compiled, ReachableStates.of(world.compiled, len(word)), codes, tilt_factor(theta))


@given(case=systems_with_word(feasible=False), theta=st.sampled_from([0.1, 1.0, 8.0]))
@settings(max_examples=40)
def test_the_nearest_class_and_all_sums_are_those_of_the_listed_words(
    case: tuple[pv.System, Word], theta: float
) -> None:
    world, word = case
    exact = comparisons(world, word, theta)
    counts = class_counts(world, word)
    least = min(errors for errors, count in enumerate(counts) if count)
    assert (exact._nearest, exact._best) == (least, counts[least])
    assert exact._is_alone == (sum(counts) == 1)
    z = Fraction(tilt_factor(theta))
    with ctx.workprec(200):
        for r in (1, 2, 5):
            expected = sum(count * z ** (r * (errors - least)) for errors, count in enumerate(counts) if count)
            value = exact._sum(r)
            assert value.overlaps(arb(expected.numerator) / expected.denominator)
            assert value.rad() < value * arb(2) ** -150


def border(world: pv.System, word: Word, theta: float, u: mpmath.mpf) -> mpmath.mpf:
    """e^-x for the t that belongs to u."""
    z = mpmath.mpf(tilt_factor(theta))
    distances = [hamming(word, v) for v in feasible_words(world, len(word))]
    powers = [z ** (d - min(distances)) for d in distances]
    rate = mpmath.fsum(powers) - 1
    t = -mpmath.log1p(u * mpmath.expm1(-rate)) / rate
    best = distances.count(min(distances))
    others = [p for d, p in zip(distances, powers, strict=True) if d > min(distances)]
    x = (best - 1) * (-mpmath.log1p(-t) - t) + mpmath.fsum(-mpmath.log1p(-p * t) - p * t for p in others)
    return mpmath.exp(-x)


@pytest.mark.parametrize("where", WORDS)
@pytest.mark.parametrize("theta", [0.1, 0.7, 3.0])
def test_where_the_rejection_of_t_is_on_the_border_the_bits_that_follow_decide(where: str, theta: float) -> None:
    world, word = WORDS[where]
    exact = comparisons(world, word, theta)
    first = 0x9E3779B97F4A7C15
    with mpmath.workdps(80):
        # The number for t goes on with zeros but for a last one.
        limit = border(world, word, theta, (mpmath.mpf(first) + mpmath.mpf(2) ** -64) / 2**64) * 2**64
        begin = int(limit)
        middle = int((limit - begin) * 2**64)
        for following, expected in [(middle - 2**40, True), (middle + 2**40, False)]:
            source = ContinuedSource([1, following] + [0] * 40)
            uniform, second = LazyUniform(first, source), LazyUniform(begin, source)
            assert exact.keeps_t(uniform, second) is expected
            assert second.bits > 64
    for far, expected in [(begin - 2**44, True), (begin + 2**44, False)]:
        numbers = [LazyUniform(first, ContinuedSource([])), LazyUniform(far, ContinuedSource([]))]
        assert exact.keeps_t(*numbers) is expected  # no further bits are asked for


def test_a_word_without_others_keeps_every_t() -> None:
    world = pv.MarkovChain.from_edges([("a", "b"), ("b", "a")], initial={"a"})
    exact = comparisons(world, ("a", "b", "a"), 1.0)
    assert exact.keeps_t(LazyUniform(5, ContinuedSource([])), LazyUniform(2**64 - 1, ContinuedSource([])))


def test_a_rate_that_may_be_zero_asks_for_more_digits() -> None:
    uniform = LazyUniform(1 << 63, ContinuedSource([]))
    for rate in (arb(0), arb(1, 2), arb(0, 1)):
        with pytest.raises(InDoubtError):
            _time(uniform, rate)
    with ctx.workprec(100):
        t = _time(uniform, arb(3))
        assert float(t.mid()) == pytest.approx(float(-mpmath.log1p(0.5 * mpmath.expm1(-3)) / 3), rel=1e-15)


def test_balls_are_compared_only_where_they_do_not_overlap() -> None:
    assert _below(arb(1), arb(2)) is True
    assert _below(arb(2), arb(1)) is False
    assert _below(arb(1), arb(1)) is False
    assert _below(arb(1, 1), arb(2)) is None


def test_all_numbers_are_continued_until_the_answer_is_clear_or_the_bits_run_out() -> None:
    source = ContinuedSource(list(range(1, 100)))
    numbers = [LazyUniform(1, source), LazyUniform(2, source, bits=128)]
    answers = iter([None, None, True])
    assert _settled(256, numbers, lambda: next(answers)) is True
    assert [number.bits for number in numbers] == [192, 256]
    assert numbers[0].numerator == (1 << 64 | 1) << 64 | 3
    with pytest.raises(InDoubtError):
        _settled(256, numbers, lambda: None)
    assert [number.bits for number in numbers] == [256, 320]
    with pytest.raises(InDoubtError):
        _settled(256, numbers, lambda: None)
    assert [number.bits for number in numbers] == [256, 320]


# ------------------------------------------------------------------------------------------------- the law

LAWS = {
    "one word": ((1,), [0.0]),
    "one class": ((7,), [-3.0]),
    "best words only where scores end": ((0, 0, 4), [0.0, -1.0, -2.0]),
    "the best score last": ((3, 0, 5, 2), [-4.0, 9.0, -1.5, -0.25]),
    "steep": ((1, 10, 45, 120), [0.0, -30.0, -60.0, -90.0]),
    "flat": ((2, 20, 200), [0.0, -1e-9, -2e-9]),
    "small rate": ((1, 2, 1), [0.0, -9.0, -18.0]),
    "rate between": ((1, 50, 30), [0.0, -0.5, -1.0]),
    "large rate": ((1, 4000, 10**7, 10**10), [0.0, -0.7, -1.4, -2.1]),
    "huge counts": ((1, 10**30, 10**60), [0.0, -1.0, -2.0]),
    "huge best class": ((10**9, 10**9), [0.0, -0.01]),
    "hundreds of digits": ((1, 10**90, 10**180), [0.0, -2.0, -4.0]),
}


@pytest.mark.parametrize("where", LAWS)
def test_the_law_of_permute_and_flip_has_thirteen_digits_wherever_its_mass_lies(where: str) -> None:
    counts, scores = LAWS[where]
    law = permute_and_flip_log_law(counts, np.array(scores))
    with ctx.workprec(160 + 2 * sum(counts).bit_length()):
        balls = permute_and_flip_balls(counts, scores)
        assert sum(balls, arb(0)).contains(1)
        for count, ball, value in zip(counts, balls, law, strict=True):
            if not count:
                assert value == -inf
                assert ball == 0
                continue
            assert ball.rad() < arb(2) ** -100
            if ball > arb(2) ** -90:
                assert value == pytest.approx(float(ball.log().mid()), rel=2e-13, abs=2e-13)


@pytest.mark.parametrize("where", LAWS)
def test_the_exponential_law_in_balls_holds_the_quotients_of_counts_and_exponentials(where: str) -> None:
    counts, scores = LAWS[where]
    with ctx.workprec(160), mpmath.workdps(60):
        weights = [count * mpmath.exp(mpmath.mpf(score)) for count, score in zip(counts, scores, strict=True)]
        for ball, weight in zip(exponential_balls(counts, scores), weights, strict=True):
            assert float(ball.mid()) == pytest.approx(float(weight / mpmath.fsum(weights)), rel=1e-14, abs=0)
            assert ball.rad() <= ball * arb(2) ** -120
