from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from math import isqrt

import flint
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import pathveil as pv
from pathveil.randomness import discrete
from pathveil.randomness.discrete import discrete_gaussian, discrete_laplace

LAPLACE_SCALES = [Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(1 / 0.68), Fraction(40)]
GAUSSIAN_VARIANCES = [Fraction(1, 5), Fraction(1), Fraction(7, 2), Fraction(12.34567), Fraction(400)]


def laplace_weight(x: np.ndarray, scale: Fraction) -> np.ndarray:
    return np.exp(-np.abs(x) / float(scale))


def gaussian_weight(x: np.ndarray, variance: Fraction) -> np.ndarray:
    return np.exp(-(x**2) / (2 * float(variance)))


def chi_square_p_value(
    draws: np.ndarray, weight: Callable[[np.ndarray, Fraction], np.ndarray], parameter: Fraction
) -> float:
    """Draws against P(x) ∝ weight(x): one cell for each value that is expected 20 times or more, one for each tail."""
    x = np.arange(-3000, 3001)
    pmf = weight(x, parameter)
    pmf /= pmf.sum()
    reach = int(np.abs(x[pmf * len(draws) >= 20]).max())
    inside = np.abs(x) <= reach
    expected = np.concatenate([[pmf[x < -reach].sum()], pmf[inside], [pmf[x > reach].sum()]]) * len(draws)
    cells = np.clip(draws, -reach - 1, reach + 1) + reach + 1
    observed = np.bincount(cells, minlength=len(expected))
    if expected[0] < 5:  # tails too thin for the chi-square approximation join their neighbours
        expected, observed = (np.r_[a[0] + a[1], a[2:-2], a[-2] + a[-1]] for a in (expected, observed))
    return float(stats.chisquare(observed, expected).pvalue)


# Each of these tests alarms falsely with probability 1e-6 over the choice of the seed.
FALSE_ALARM = 1e-6


@pytest.mark.parametrize("scale", LAPLACE_SCALES, ids=str)
def test_discrete_laplace_draws_follow_the_stated_law(scale: Fraction) -> None:
    draws = discrete_laplace(pv.insecure_seed(1), scale, 60_000)
    assert chi_square_p_value(draws, laplace_weight, scale) > FALSE_ALARM


@pytest.mark.parametrize("scale", LAPLACE_SCALES, ids=str)
def test_the_laplace_test_notices_a_scale_that_is_ten_percent_too_small(scale: Fraction) -> None:
    draws = discrete_laplace(pv.insecure_seed(1), scale * Fraction(9, 10), 60_000)
    assert chi_square_p_value(draws, laplace_weight, scale) < FALSE_ALARM


@pytest.mark.parametrize("variance", GAUSSIAN_VARIANCES, ids=str)
def test_discrete_gaussian_draws_follow_the_stated_law(variance: Fraction) -> None:
    draws = discrete_gaussian(pv.insecure_seed(2), variance, 60_000)
    assert chi_square_p_value(draws, gaussian_weight, variance) > FALSE_ALARM


@pytest.mark.parametrize("variance", GAUSSIAN_VARIANCES, ids=str)
def test_the_gaussian_test_notices_a_variance_that_is_ten_percent_too_small(variance: Fraction) -> None:
    draws = discrete_gaussian(pv.insecure_seed(2), variance * Fraction(9, 10), 60_000)
    assert chi_square_p_value(draws, gaussian_weight, variance) < FALSE_ALARM


def test_the_law_is_the_same_for_scales_beyond_64_bit_fractions() -> None:
    # Numerator and denominator need 100 bits; the value is 5/2 for all practical purposes.
    scale = Fraction(5 * 2**98 + 1, 2**99 + 1)
    draws = discrete_laplace(pv.insecure_seed(3), scale, 30_000)
    assert chi_square_p_value(draws, laplace_weight, Fraction(5, 2)) > FALSE_ALARM  # false alarms: 1e-6


class Script:
    """Stands in for the coins: shows the outcomes it was given and remembers how likely each of them was."""

    def __init__(self, outcomes: tuple[bool, ...]) -> None:
        self.outcomes = outcomes
        self.flips = 0
        self.probability = Fraction(1)

    def flip(self, chance: Fraction) -> np.ndarray:
        if self.flips == len(self.outcomes):
            raise ScriptEndedError
        shown = self.outcomes[self.flips]
        self.flips += 1
        self.probability *= chance if shown else 1 - chance
        return np.array([shown])

    def coins(self, _source: object, numerators: np.ndarray, denominator: int) -> np.ndarray:
        return self.flip(Fraction(numerators[0], denominator))

    def coins_one_in(self, _source: object, k: int, _count: int) -> np.ndarray:
        return self.flip(Fraction(1, k))


class ScriptEndedError(Exception):
    pass


def enumerate_branches(monkeypatch: pytest.MonkeyPatch, gamma: Fraction, least: Fraction) -> tuple[Fraction, Fraction]:
    """The exact probability of heads, and of branches that were cut off because they are rarer than `least`."""
    heads = cut_off = Fraction(0)
    waiting: list[tuple[bool, ...]] = [()]
    while waiting:
        script = Script(waiting.pop())
        monkeypatch.setattr(discrete, "_coins", script.coins)
        monkeypatch.setattr(discrete, "_coins_one_in", script.coins_one_in)
        try:
            numerators = np.array([gamma.numerator], dtype=object)
            shown = discrete._exp_coins(pv.insecure_seed(0), numerators, gamma.denominator)
            heads += script.probability * int(shown[0])
        except ScriptEndedError:
            if script.probability < least:
                cut_off += script.probability
            else:
                waiting += [(*script.outcomes, False), (*script.outcomes, True)]
    return heads, cut_off


@pytest.mark.parametrize("gamma", [Fraction(0), Fraction(1, 7), Fraction(9, 10), Fraction(1), Fraction(5, 3)], ids=str)
def test_the_branches_of_the_exponential_coin_add_up_to_its_probability(
    monkeypatch: pytest.MonkeyPatch, gamma: Fraction
) -> None:
    heads, cut_off = enumerate_branches(monkeypatch, gamma, Fraction(1, 10**18))
    with mpmath.workdps(40):
        wanted = mpmath.exp(-mpmath.mpf(gamma.numerator) / gamma.denominator)
        lower = mpmath.mpf(heads.numerator) / heads.denominator
        upper = lower + mpmath.mpf(cut_off.numerator) / cut_off.denominator
        rounding = mpmath.mpf(10) ** -38
        assert lower - rounding <= wanted <= upper + rounding
    assert cut_off < Fraction(1, 10**15)


class FixedWords:
    """A source whose next 64-bit word is known, followed by the bytes given."""

    def __init__(self, word: int, then: bytes = b"") -> None:
        self.word, self.then = word, then

    def keystream(self, count: int) -> np.ndarray:
        return np.full(count, self.word, dtype=np.uint64)

    def bytes(self, count: int) -> bytes:
        taken, self.then = self.then[:count], self.then[count:]
        assert len(taken) == count
        return taken


@given(data=st.data(), denominator=st.integers(1, 2**200))
@settings(max_examples=50)
def test_a_coin_compares_its_first_64_bits_with_the_ratio(data: st.DataObject, denominator: int) -> None:
    numerator = data.draw(st.integers(0, denominator))
    threshold = (numerator << 64) // denominator
    for word, wanted in [(threshold - 1, True), (threshold + 1, False)]:
        if 0 <= word < 2**64:
            shown = discrete._coins(FixedWords(word), np.array([numerator], dtype=object), denominator)  # type: ignore[arg-type]
            assert bool(shown[0]) is wanted


def test_a_coin_whose_first_bits_tie_looks_at_the_rest_of_the_ratio() -> None:
    # 2/3 in base 2**64 leaves a remainder of 2 parts in 3: the draw below 3 decides, 2 bits of one byte.
    threshold = (2 << 64) // 3
    assert (2 << 64) % 3 == 2
    for leftover, wanted in [(0, True), (1, True), (2, False)]:
        source = FixedWords(threshold, bytes([leftover << 6]))
        shown = discrete._coins(source, np.array([2], dtype=object), 3)  # type: ignore[arg-type]
        assert bool(shown[0]) is wanted


def test_certain_and_impossible_coins_never_err() -> None:
    for word in (0, 2**64 - 1):
        source = FixedWords(word, bytes(8))
        shown = discrete._coins(source, np.array([0, 5], dtype=object), 5)  # type: ignore[arg-type]
        assert shown.tolist() == [False, True]


@pytest.mark.parametrize("draw", [discrete_laplace, discrete_gaussian])
@pytest.mark.parametrize("parameter", [Fraction(0), Fraction(-1, 2), 0.5, float("nan"), "1", True, None, 2**97])
def test_a_parameter_that_is_not_a_positive_fraction_is_refused(draw: Callable, parameter: object) -> None:
    with pytest.raises(pv.InvalidParameterError, match=r"scale|variance"):
        draw(pv.insecure_seed(1), parameter, 3)


@pytest.mark.parametrize("draw", [discrete_laplace, discrete_gaussian])
@pytest.mark.parametrize("count", [-1, 2.0, True, None])
def test_a_count_that_is_not_a_whole_number_is_refused(draw: Callable, count: object) -> None:
    with pytest.raises(pv.InvalidParameterError, match="count"):
        draw(pv.insecure_seed(1), Fraction(1), count)


@pytest.mark.parametrize("draw", [discrete_laplace, discrete_gaussian])
def test_as_many_draws_come_as_were_asked_for(draw: Callable) -> None:
    for count in (0, 1, 17):
        drawn = draw(pv.insecure_seed(4), Fraction(2), count)
        assert drawn.shape == (count,)
        assert drawn.dtype == np.int64


@pytest.mark.parametrize("scale", [Fraction(7, 2), Fraction(1, 3), Fraction(5), Fraction(12, 5)], ids=str)
def test_the_steps_of_a_laplace_draw_multiply_out_to_the_stated_law_in_sixty_digits(scale: Fraction) -> None:
    t, s = scale.numerator, scale.denominator
    with flint.ctx.workdps(60):

        def kept(magnitude: int) -> flint.arb:
            """P(a candidate is kept and has this magnitude): remainder, its coin, quotient, and one sign or two."""
            total = flint.arb(0)
            for x in range(magnitude * s, (magnitude + 1) * s):
                remainder, quotient = x % t, x // t
                coin = (-flint.arb(remainder) / t).exp()
                heads = (-flint.arb(quotient)).exp() * (1 - (-flint.arb(1)).exp())
                total += coin / t * heads
            return total / 2 if magnitude == 0 else total

        for y in range(1, 12):
            ratio = (-flint.arb(y) * s / t).exp()
            assert (kept(y) / 2 / kept(0)).overlaps(ratio)
            assert not (kept(y) / 2 / kept(0)).overlaps(ratio * (1 + flint.arb(10) ** -40))


@pytest.mark.parametrize("variance", [Fraction(1, 5), Fraction(7, 2), Fraction(1001, 10)], ids=str)
def test_the_steps_of_a_gaussian_draw_multiply_out_to_the_stated_law_in_sixty_digits(variance: Fraction) -> None:
    p, q = variance.numerator, variance.denominator
    t = isqrt(p // q) + 1
    with flint.ctx.workdps(60):

        def kept(y: int) -> flint.arb:
            """Proposal, times the coin whose exponent the sampler writes as a ratio of integers."""
            return (-flint.arb(y) / t).exp() * (-flint.arb((y * q * t - p) ** 2) / (2 * p * q * t * t)).exp()

        for y in range(1, 12):
            ratio = (-flint.arb(y * y) * q / (2 * p)).exp()
            assert (kept(y) / kept(0)).overlaps(ratio)
            assert not (kept(y) / kept(0)).overlaps(ratio * (1 + flint.arb(10) ** -40))


def test_draws_beyond_one_batch_follow_the_stated_law() -> None:
    scale = Fraction(2)
    draws = discrete_laplace(pv.insecure_seed(3), scale, discrete.LARGEST_BATCH)  # at least two batches
    assert len(draws) == discrete.LARGEST_BATCH
    assert chi_square_p_value(draws, laplace_weight, scale) > FALSE_ALARM
    half = len(draws) // 2  # the second batch has bits of its own
    assert abs(np.corrcoef(draws[:half], draws[half:])[0, 1]) < 5 / half**0.5  # false alarm: 6e-7


@pytest.mark.slow
def test_the_memory_of_a_draw_does_not_grow_with_the_candidates_that_are_tried() -> None:
    tracemalloc.start()
    draws = discrete_laplace(pv.insecure_seed(3), Fraction(2), 2 * discrete.LARGEST_BATCH)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3 * draws.nbytes + 250 * discrete.LARGEST_BATCH  # all at once: 600 MB
