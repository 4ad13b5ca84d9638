"""Where rounding could decide a rejection, it is not left to decide; and elsewhere no time is lost with doubts.

The feasible words around a word are given as a list of their numbers of errors, so that every sum is known.
"""

from __future__ import annotations

from math import exp, expm1, fsum, inf, log, log1p
from typing import Any

import numpy as np
import pytest

import pathveil as pv
from pathveil.randomness.lazy import LazyUniform
from pathveil.randomness.source import RandomSource, as_uniform
from pathveil.words.base.doubt import rounding_margin
from pathveil.words.base.tilt import tilt_factor
from pathveil.words.tilted import rejection
from pathveil.words.tilted.logs import log_margin
from pathveil.words.tilted.rejection import (
    FlipByRejection,
    Surroundings,
    Tries,
    _finite,
    _uniform_error,
    truncated_exponential,
)
from tests.reference.enumeration import feasible_words, hamming
from tests.worlds import CHAIN, PLANS

FIRST = np.array([0])


class ListedFlip:
    """As `FlipByRejection`, for a word whose feasible words have these numbers of errors.

    `margin` is what it says about its sums, and `off` by how much they are wrong.
    """

    length = 2

    def __init__(self, errors: list[int], z: float, margin: float = 0.0, off: float = 0.0) -> None:
        self.z, self.theta = z, -log(z)
        self.least = min(errors)
        self.best = errors.count(self.least)
        self.powers = [z ** (e - self.least) for e in errors if e > self.least]
        self._margin, self._off = margin, off
        self.asked: list[list[int]] = []
        self.exact: Any = None

    def nearest(self, _: np.ndarray, begins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.full(len(begins), self.least), np.full(len(begins), float(self.best))

    def log_partition(self, r: int, _: np.ndarray, begins: np.ndarray) -> np.ndarray:
        total = (self.best + fsum(p**r for p in self.powers)) * (1 + self._off)
        return np.full(len(begins), log(total) - r * self.theta * self.least)

    def margin(self, _: int) -> float:
        return self._margin

    def exactly(self, codes: list[int]) -> Any:
        self.asked.append(codes)
        return self.exact

    def around(self, words: int = 1) -> Surroundings:
        values, begins = np.arange(words * self.length), np.arange(words) * self.length
        return Surroundings(self, values, begins, self.log_partition(1, values, begins))  # type: ignore[arg-type]

    def x(self, t: float) -> float:
        return fsum(-log1p(-p * t) - p * t for p in [*self.powers, *[1.0] * (self.best - 1)])

    def change(self, t: float) -> float:
        """By how much x changes if t changes by a small part of itself, divided by that part."""
        return fsum((p * t) ** 2 / (1 - p * t) for p in [*self.powers, *[1.0] * (self.best - 1)])


def keystream(*uniforms: float) -> np.ndarray:
    return np.array([int(u * 2**64) for u in uniforms], dtype=np.uint64)


def decided(around: Surroundings, t: float, error: float, limit: float) -> tuple[bool, bool]:
    """(kept, in doubt)"""
    kept, in_doubt = around._keep(FIRST, np.array([t]), np.array([error]), keystream(exp(-limit)))
    return bool(kept[0]), bool(in_doubt[0])


def assert_seldom_in_doubt(around: Surroundings, t: float, error: float, x: float, reach: float) -> None:
    """Farther than `reach`: only where a bound for the terms that are missing just suffices, or does not."""
    doubts = 0
    for steps in np.geomspace(6, 600, 12):
        for side in (1, -1):
            kept, in_doubt = decided(around, t, error, x + side * (steps * reach + 1e-13))
            assert kept == (side > 0)
            doubts += in_doubt
    assert doubts <= 3


LISTS = {
    "one best word": [0, 1, 1, 1, 2, 2, 3],
    "several best words": [2, 2, 2, 2, 3, 3, 4],
    "best words only": [1] * 5,
    "many words": [0] + [1] * 40 + [2] * 400,
}


@pytest.mark.parametrize("where", LISTS)
@pytest.mark.parametrize("z", [0.1, 0.7])
@pytest.mark.parametrize("t", [0.05, 0.4, 0.9])
def test_an_inexact_t_is_in_doubt_as_far_as_it_can_carry_the_decision(where: str, z: float, t: float) -> None:
    flip, error = ListedFlip(LISTS[where], z), 1e-6
    around, x = flip.around(), flip.x(t)
    reach = error * flip.change(t)
    # A decision that is taken early rests on a bound for the terms that were not added, which moves with t as well.
    early = error * t * fsum(flip.powers) * t * z / (1 - t * z) ** 2
    if x > 20:
        return  # so small a uniform number is in doubt itself
    for side in (1, -1):
        assert decided(around, t, error, x + 0.95 * side * reach)[1]
    assert_seldom_in_doubt(around, t, error, x, reach + early)


@pytest.mark.parametrize("where", LISTS)
@pytest.mark.parametrize("z", [0.1, 0.7])
@pytest.mark.parametrize("t", [0.05, 0.4, 0.9])
def test_a_decision_without_doubt_is_right_even_if_the_sums_are_as_wrong_as_they_may_be(
    where: str, z: float, t: float
) -> None:
    margin = 1e-6
    honest = ListedFlip(LISTS[where], z)
    x = honest.x(t)
    if x > 20:
        return
    # Each sum behind the series counts all words.
    first, *later = (t**r / r * (honest.best + fsum(p**r for p in honest.powers)) for r in range(1, 200))
    reach, early = margin * fsum(later), margin * first * t * z / (1 - t * z)
    for off in (-margin, margin):
        around = ListedFlip(LISTS[where], z, margin, off).around()
        for steps in (-2.2, -1.0, -0.5, -0.1, 0.1, 0.5, 1.0, 2.2):
            kept, in_doubt = decided(around, t, 0.0, x + steps * reach)
            assert in_doubt or kept == (steps > 0)
        assert_seldom_in_doubt(around, t, 0.0, x, reach + early)


@pytest.mark.parametrize("z", [0.3, 0.8])
@pytest.mark.parametrize("t", [0.2, 0.6])
def test_where_a_bound_of_the_missing_terms_decides_it_is_in_doubt_twice_as_far_as_it_can_move(
    z: float, t: float
) -> None:
    """One best word: without any term, x is at most t E_1 · tz/(1 - tz)."""
    errors = LISTS["one best word"]
    first, share = t * fsum(ListedFlip(errors, z).powers), t * z / (1 - t * z)
    part = 1e-6
    moved_by_t = part * first * share * (1 + 1 / (1 - t * z))
    moved_by_sum = part * (first + t) * share
    for margin, error, moved in [(0.0, part, moved_by_t), (part, 0.0, moved_by_sum)]:
        around = ListedFlip(errors, z, margin).around()
        assert decided(around, t, error, first * share + 1.98 * moved) == (True, True)
        assert decided(around, t, error, first * share + 2.02 * moved) == (True, False)


def test_a_limit_is_in_doubt_as_far_as_the_bits_go_that_were_not_looked_at() -> None:
    """999 other best words; u of 2^-30 is known to a cell of 2^-53."""
    flip, u = ListedFlip([0] * 1000, 0.5), 2.0**-30
    around, limit = flip.around(), -log(u)
    low, high = 0.0, 0.9
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if flip.x(middle) < limit else (low, middle)
    slope = flip.change(low) / low
    for moved, in_doubt in [(2.0**-54 / u, True), (40 * limit * 2.0**-54 / u, False)]:
        for side in (1, -1):
            t = low + side * moved / slope
            kept, doubtful = around._keep(FIRST, np.array([t]), np.zeros(1), keystream(u))
            assert doubtful.tolist() == [in_doubt]
            assert in_doubt or kept.tolist() == [side < 0]


def test_rounding_alone_leaves_hardly_anything_in_doubt() -> None:
    flip = ListedFlip(LISTS["several best words"], 0.4)
    around, t = flip.around(), 0.6
    x = flip.x(t)
    assert decided(around, t, 0.0, x + 1e-13) == (True, False)
    assert decided(around, t, 0.0, x - 1e-13) == (False, False)
    assert decided(around, t, 0.0, x)[1]


def test_many_words_are_decided_as_one_by_one() -> None:
    flip = ListedFlip(LISTS["several best words"], 0.6)
    count = 400
    source = pv.insecure_seed(4)
    t, words = source.uniform(count), source.keystream(count)
    errors = np.where(np.arange(count) % 7 == 0, 1e-3, 1e-9)
    kept, in_doubt = flip.around(count)._keep(np.arange(count), t, errors, words)
    assert 0 < in_doubt.sum() < count / 7
    for k in range(count):
        one, doubtful = flip.around()._keep(FIRST, t[k : k + 1], errors[k : k + 1], words[k : k + 1])
        assert (kept[k], in_doubt[k]) == (one[0], doubtful[0])
        assert in_doubt[k] or kept[k] == (flip.x(t[k]) < -log(as_uniform(words)[k]))


def test_sums_are_asked_for_once_and_only_for_words_that_need_them(monkeypatch: pytest.MonkeyPatch) -> None:
    flip = ListedFlip([1, 1, 2, 3], 0.5)
    around, asked = flip.around(5), []
    original = ListedFlip.log_partition

    def watched(self: ListedFlip, r: int, values: np.ndarray, begins: np.ndarray) -> np.ndarray:
        asked.append((r, begins.tolist()))
        return original(self, r, values, begins)

    monkeypatch.setattr(ListedFlip, "log_partition", watched)
    for which in ([1, 3], [3, 4], [1, 4]):
        for r in (1, 2, 3):
            expected = [0.5**r + 0.25**r] * 2
            assert around._others(r, np.array(which)) == pytest.approx(expected, rel=1e-12)
    assert asked == [(2, [2, 6]), (3, [2, 6]), (2, [8]), (3, [8])]


def test_rounding_never_makes_a_sum_negative() -> None:
    around = ListedFlip([1, 1, 1], 0.5, off=-1e-9).around()
    assert around._others(1, FIRST).tolist() == [0.0]
    assert around._others(2, FIRST).tolist() == [0.0]
    assert ListedFlip([0], 0.5, off=-1e-9).around()._lambda.tolist() == [0.0]


# ------------------------------------------------------------------------------------------------ errors of t


@pytest.mark.parametrize("u", [2.0**-30, 0.01, 0.5, 0.75, 1 - 2.0**-30])
def test_a_uniform_number_has_the_stated_error(u: float) -> None:
    [error] = _uniform_error(keystream(u))
    assert error == pytest.approx(2.0**-51 / (u * (1 - u)), rel=1e-6, abs=0)
    cell = 2.0**-53
    for rate in (1e-9, 0.5, 5.0, 300.0):
        low, high = truncated_exponential(np.full(2, rate), np.array([u - cell, u + cell]))
        assert (high - low) / low <= error * (1 + 1e-9) + 1e-14
    assert abs(log(u + cell) - log(u - cell)) <= error * -log(u) * (1 + 1e-9) + 1e-15


def test_errors_that_are_not_small_count_as_infinite() -> None:
    assert _finite(np.array([0.0, 2.0**-13, 2.0**-12, 1.0])).tolist() == [0.0, 2.0**-13, inf, inf]


@pytest.mark.parametrize("rate", [1e-6, 0.3, 0.99, 2.0, 50.0, 1e6])
def test_the_stated_error_of_t_covers_a_rate_that_is_off(rate: float) -> None:
    """λ + 1 is a sum with the relative error `margin`; t must not move by more than twelve times that."""
    margin = 1e-9
    u = np.linspace(0.01, 0.99, 50)
    t = truncated_exponential(np.full(50, rate), u)
    for off in (-margin, margin):
        moved = truncated_exponential(np.full(50, rate + off * (rate + 1)), u)
        assert (np.abs(moved - t) <= 12 * margin * t).all()
    # And it is not stated for more.
    flip = ListedFlip([0, 1, 1], 0.4, margin)
    tries = flip.around(30).draw_t(np.arange(30), pv.insecure_seed(1))
    assert tries.error == pytest.approx(_uniform_error(tries.keystream) + 12 * margin, rel=1e-12, abs=0)


def test_a_truncated_exponential_is_flat_without_a_rate_and_never_reaches_one() -> None:
    u = np.array([0.25, np.nextafter(1.0, 0.0)])
    assert truncated_exponential(np.full(2, 1e-300), u).tolist() == u.tolist()
    assert truncated_exponential(np.full(2, 1e-280), u) == pytest.approx(u, rel=1e-14)
    for rate in (0.0, 1e-15, 1e-3, 1.0, 30.0):
        t = truncated_exponential(np.full(2, rate), u)
        assert t[1] < 1.0
        if rate:
            assert t[0] == pytest.approx(-log1p(0.25 * expm1(-rate)) / rate, rel=1e-14)


# ----------------------------------------------------------------------------------------------- draws of t


class WordsInOrder(RandomSource):
    """Hands out these keystream words, and none beyond."""

    def __init__(self, words: list[int]) -> None:
        super().__init__(bytes(32), seed=0)
        self.left = list(words)

    def fill(self, words: np.ndarray) -> None:
        for k in range(len(words)):
            words[k] = self.left.pop(0)


class Answers:
    """Stands in for `ExactComparisons`: gives these answers in turn."""

    def __init__(self, *answers: bool) -> None:
        self.answers = list(answers)
        self.questions: list[tuple[int, ...]] = []

    def keeps_t(self, uniform: LazyUniform, limit: LazyUniform) -> bool:
        self.questions.append((uniform.numerator, limit.numerator))
        return self.answers.pop(0)

    def keeps_word(self, uniform: LazyUniform, second: LazyUniform, errors: int) -> bool:
        self.questions.append((uniform.numerator, second.numerator, errors))
        return self.answers.pop(0)


def border(flip: ListedFlip, u: int) -> int:
    """The limit that just equals x, for the t that belongs to a keystream word."""
    rate = flip.best - 1 + fsum(flip.powers)
    [t] = truncated_exponential(np.array([rate]), as_uniform(np.array([u], dtype=np.uint64)))
    return int(exp(-flip.x(t)) * 2**64)


def test_a_t_in_doubt_is_decided_exactly_and_its_number_is_kept_for_later() -> None:
    flip = ListedFlip([0, 1, 1, 2], 0.5)
    flip.exact = Answers(True)
    first, second = 3 << 62, 1 << 62
    limit = border(flip, second)
    tries = flip.around(2).draw_t(np.arange(2), WordsInOrder([first, second, 1 << 40, limit]))
    assert flip.exact.questions == [(second, limit)]
    assert flip.asked == [[2, 3]]  # the codes of the second word
    assert tries.keystream.tolist() == [first, second]
    assert list(tries.continued) == [1]
    source = pv.insecure_seed(1)
    assert tries.number(1, source) is tries.continued[1]
    assert tries.number(1, source).numerator == second
    assert tries.number(0, source).numerator == first


def test_a_t_that_is_rejected_is_drawn_again_with_a_new_number() -> None:
    flip = ListedFlip([0, 1, 1, 2], 0.5)
    flip.exact = Answers(False)
    first, second, third = 3 << 62, 1 << 62, 1 << 61
    source = WordsInOrder([second, first, border(flip, second), 1 << 40, third, 1 << 40])
    tries = flip.around(2).draw_t(np.arange(2), source)
    assert not source.left
    assert tries.keystream.tolist() == [third, first]
    rate = fsum(flip.powers)
    expected = truncated_exponential(np.full(2, rate), as_uniform(tries.keystream))
    assert tries.t == pytest.approx(expected, rel=1e-12)
    assert not tries.continued  # what was continued was not used


def test_without_room_for_exact_comparisons_floating_point_decides() -> None:
    flip = ListedFlip([0, 1, 1, 2], 0.5)
    second = 1 << 62
    tries = flip.around().draw_t(FIRST, WordsInOrder([second, border(flip, second) - (1 << 13)]))
    assert tries.keystream.tolist() == [second]
    assert len(flip.asked) == 1
    assert not tries.continued


def test_rates_beyond_floating_point_mean_that_t_is_zero_and_every_word_is_kept() -> None:
    flip = ListedFlip([0, 1, 1, 2], 0.5)
    values, begins = np.arange(4), np.array([0, 2])
    around = Surroundings(flip, values, begins, np.array([800.0, 5e5]))  # type: ignore[arg-type]
    assert around._lambda.tolist() == [inf, inf]
    tries = around.draw_t(np.arange(2), pv.insecure_seed(3))
    assert tries.t.tolist() == [0.0, 0.0]
    assert around.keep_words(np.arange(2), tries, np.array([0, 5]), pv.insecure_seed(1)).tolist() == [True, True]
    assert not flip.asked


# ------------------------------------------------------------------------------------------- draws of words


def kept_words(flip: ListedFlip, t: float, error: float, errors: int, u: float) -> bool:
    tries = Tries(np.array([t]), np.array([error]), keystream(0.5), {})
    [kept] = flip.around().keep_words(FIRST, tries, np.array([errors]), WordsInOrder([int(u * 2**64)]))
    return bool(kept)


@pytest.mark.parametrize("errors", [1, 3])
@pytest.mark.parametrize("t", [0.2, 0.9])
def test_a_word_is_kept_below_its_ratio_and_in_doubt_only_close_to_it(errors: int, t: float) -> None:
    z, error = 0.6, 1e-7
    flip = ListedFlip([0, 1], z)
    flip.exact = Answers(*[True] * 4)
    p = z**errors
    ratio = (1 - t) / (1 - p * t)
    reach = error * t / (1 - p * t)  # by how much u must move to make up for t
    assert kept_words(flip, t, error, errors, ratio - 1.01 * reach)
    assert not kept_words(flip, t, error, errors, ratio + 1.01 * reach)
    assert not flip.asked
    assert kept_words(flip, t, error, errors, ratio - 0.99 * reach)
    assert kept_words(flip, t, error, errors, ratio + 0.99 * reach)  # since the exact comparison says so
    assert len(flip.asked) == 2
    assert flip.exact.questions[0] == (1 << 63, int((ratio - 0.99 * reach) * 2**64), errors)
    # With a t that is exact, rounding alone is in doubt.
    assert not kept_words(flip, t, 0.0, errors, ratio + 1e-14 / (1 - p * t))
    assert len(flip.asked) == 2
    assert kept_words(flip, t, 0.0, errors, ratio + 5e-15 / (1 - p * t))
    assert len(flip.asked) == 3


def test_a_best_word_is_kept_without_any_comparison() -> None:
    flip = ListedFlip([0, 1], 0.5)
    flip.exact = Answers()
    assert kept_words(flip, 0.999999, 1.0, 0, 1 - 2.0**-20)
    assert not flip.asked


def test_an_unknown_error_of_t_leaves_every_other_word_in_doubt() -> None:
    flip = ListedFlip([0, 1], 0.5)
    flip.exact = Answers(False)
    assert not kept_words(flip, 0.5, 2.0**-12, 1, 2.0**-20)
    assert len(flip.asked) == 1


# --------------------------------------------------------------------------------------------- the real ones


@pytest.mark.parametrize(("world", "word"), [(CHAIN, (0, 1, 2, 2)), (PLANS, ("a", "b", "c", "b"))])
@pytest.mark.parametrize("room", [True, False])
def test_partitions_at_every_tilt_are_those_of_the_listed_words(
    world: pv.System, word: tuple[Any, ...], room: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rejection, "lanes_fit", lambda *_: room)
    theta, values = 0.7, np.tile(world.encode(word), 2)
    flip = FlipByRejection(world.compiled, len(word), theta, feasible=True)
    assert flip.z == tilt_factor(theta)
    assert flip.theta == -log(flip.z)
    assert flip.length == len(word)
    for r in (1, 2, 5):
        expected = log(fsum(exp(-r * theta * hamming(word, v)) for v in feasible_words(world, len(word))))
        partition = flip.log_partition(r, values, np.array([len(word)]))
        assert partition == pytest.approx([expected], rel=1e-12)
        margin = flip.margin(r)
        assert margin == log_margin(world.compiled, len(word), r * theta) + rounding_margin(8 * r * len(word))
    assert sorted(flip._tilts) == [1, 2, 5]


def test_feasible_words_are_their_own_only_nearest_word() -> None:
    flip = FlipByRejection(CHAIN.compiled, 3, 1.0, feasible=True)
    errors, sizes = flip.nearest(np.zeros(6, dtype=np.int64), np.array([0, 3]))
    assert errors.tolist() == [0, 0]
    assert sizes.tolist() == [1.0, 1.0]


def test_exact_comparisons_are_made_as_long_as_their_table_fits() -> None:
    for length, fits in [(3, True), (20_000, False)]:
        flip = FlipByRejection(CHAIN.compiled, length, 1.0, feasible=True)
        assert (flip.exactly([0] * length) is not None) == fits
