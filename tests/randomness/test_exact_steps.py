"""The steps of exact draws, one at a time, with numbers that are known in advance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from flint import arb

import pathveil as pv
from pathveil.randomness import discrete
from pathveil.randomness.decisions import InDoubtError
from pathveil.randomness.discrete import LARGEST_SCALE, discrete_gaussian, discrete_laplace
from pathveil.randomness.exact import draw_below, draw_below_each, draw_index
from pathveil.randomness.lazy import LazyUniform
from tests.reference.planted import ContinuedSource


class Bytes:
    """Hands out these bytes, and asks for exactly as many."""

    def __init__(self, *pieces: bytes) -> None:
        self.pieces = list(pieces)

    def bytes(self, count: int) -> bytes:
        piece = self.pieces.pop(0)
        assert len(piece) == count
        return piece


@pytest.mark.parametrize(
    ("bound", "pieces", "drawn"),
    [
        (1, [b""], 0),
        (2, [b"\x80"], 1),
        (2, [b"\x7f"], 0),
        (3, [b"\xff", b"\xc0", b"\x80"], 2),  # the two highest bits; 3 is drawn again
        (256, [b"\xff"], 255),
        (257, [b"\xff\xff", b"\x00\x80"], 256),  # nine bits of two bytes, the lowest byte first
        (2**64 + 1, [b"\xff" * 9, b"\x80" + b"\xff" * 7 + b"\x7f"], 2**64 - 1),
    ],
)
def test_a_draw_below_a_bound_takes_the_fewest_bytes_and_tries_again_above_it(
    bound: int, pieces: list[bytes], drawn: int
) -> None:
    source = Bytes(*pieces)
    assert draw_below(source, bound) == drawn  # type: ignore[arg-type]
    assert not source.pieces


def test_words_are_drawn_again_as_often_as_it_takes_and_only_where_it_must_be() -> None:
    words = [[0, 0, 9, 3], [0, 5], [0], [17]]

    class Words:
        def keystream(self, count: int) -> np.ndarray:
            drawn = np.array(words.pop(0), dtype=np.uint64)
            assert len(drawn) == count
            return drawn

    # 2⁶⁴ leaves 1 modulo 3 and modulo 5, so that the word 0 has no place there; modulo 8 it leaves nothing.
    bounds = np.array([3, 5, 8, 3], dtype=np.uint64)
    assert draw_below_each(Words(), bounds).tolist() == [17 % 3, 5 % 5, 9 % 8, 3 % 3]  # type: ignore[arg-type]
    assert not words


def test_an_index_is_where_a_number_below_the_sum_falls(monkeypatch: pytest.MonkeyPatch) -> None:
    from pathveil.randomness import exact

    weights = [2, 0, 3, 1]
    found = []
    for number in range(6):
        monkeypatch.setattr(exact, "draw_below", lambda _, bound, number=number: number if bound == 6 else None)
        found.append(draw_index(pv.insecure_seed(0), weights))
    assert found == [0, 0, 2, 2, 2, 3]


def test_small_bounds_take_one_word_each_and_large_ones_as_many_bytes_as_they_need() -> None:
    for bound in (1, 10, 2**63 - 1):
        bounds = np.full(50, bound, dtype=np.uint64)
        expected = draw_below_each(pv.insecure_seed(1), bounds).tolist()
        assert discrete._below(pv.insecure_seed(1), bound, 50).tolist() == expected
    for bound in (2**63, 2**64, 2**100 + 1):
        source = pv.insecure_seed(1)
        expected = [draw_below(source, bound) for _ in range(5)]
        assert discrete._below(pv.insecure_seed(1), bound, 5).tolist() == expected


@pytest.mark.parametrize(
    ("draw", "largest"), [(discrete_laplace, LARGEST_SCALE), (discrete_gaussian, LARGEST_SCALE**2)]
)
def test_noise_ends_at_the_largest_scale(draw: Callable, largest: int) -> None:
    assert LARGEST_SCALE == 2**48
    drawn = draw(pv.insecure_seed(2), Fraction(largest), 20)
    # Twenty draws of a scale (or deviation) of 2⁴⁸: all of them below an eighth of it, or one above 32 times as much,
    # with probability below 1e-12.
    assert 2**45 < np.abs(drawn).max() < 2**53
    for beyond in (Fraction(largest) + Fraction(1, 2**60), largest + 1):
        with pytest.raises(pv.InvalidParameterError, match="at most"):
            draw(pv.insecure_seed(2), beyond, 1)
    assert draw(pv.insecure_seed(2), 3, 5).tolist() == draw(pv.insecure_seed(2), Fraction(3), 5).tolist()


def test_accepted_candidates_are_kept_in_order_and_asked_for_in_batches() -> None:
    asked = []

    def candidates(tries: int) -> np.ndarray:
        asked.append(tries)
        return np.arange(len(asked) * 100, len(asked) * 100 + 7)

    found = discrete._collect(candidates, 16, acceptance=0.5)
    assert found.tolist() == [*range(100, 107), *range(200, 207), 300, 301]
    # Twice as many as are missing, and sixteen more.
    assert asked == [48, 34, 20]
    assert discrete._collect(candidates, np.int64(0), acceptance=0.5).tolist() == []  # type: ignore[arg-type]
    assert len(asked) == 3


@pytest.mark.parametrize(
    ("draw", "candidates"), [(discrete_laplace, "_laplace_candidates"), (discrete_gaussian, "_gaussian_candidates")]
)
def test_one_batch_is_enough_for_many_draws_and_hardly_larger_than_that(
    draw: Callable, candidates: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[int] = []
    unchanged = getattr(discrete, candidates)
    monkeypatch.setattr(discrete, candidates, lambda *a: tries.append(a[-1]) or unchanged(*a))
    draw(pv.insecure_seed(1), Fraction(1000), 5_000)
    assert len(tries) == 1
    assert tries[0] < 15_000


def _planted(monkeypatch: pytest.MonkeyPatch, **outcomes: Sequence[Sequence[object]]) -> dict[str, list[tuple]]:
    """Put known outcomes in place of random steps; returns what each of them was asked."""
    asked: dict[str, list[tuple]] = {name: [] for name in outcomes}
    for name, given in outcomes.items():
        waiting = list(given)

        def step(_source: object, *rest: object, name=name, waiting=waiting) -> np.ndarray:
            asked[name].append(tuple(x.tolist() if isinstance(x, np.ndarray) else x for x in rest))
            return np.array(waiting.pop(0))

        monkeypatch.setattr(discrete, f"_{name}", step)
    return asked


def test_a_laplace_candidate_is_its_remainder_and_quotient_divided_and_signed(monkeypatch: pytest.MonkeyPatch) -> None:
    # Scale 7/2. Kept remainders 3, 6, 1, 0; X = U + 7V = 17, 6, 22, 0 and again 0; halves 8, 3, 11, 0, 0.
    asked = _planted(
        monkeypatch,
        below=[np.array([3, 5, 6, 1, 0, 0], dtype=object)],
        exp_coins=[[True, False, True, True, True, True]],
        geometric=[[2, 0, 3, 0, 0]],
        coins_one_in=[[True, False, False, True, False]],
    )
    found = discrete._laplace_candidates(pv.insecure_seed(0), 7, 2, 6)
    assert found.tolist() == [-8, 3, 11, 0]  # of the two zeros the one with a minus is thrown away
    assert found.dtype == np.int64
    assert asked["below"] == [(7, 6)]
    assert asked["exp_coins"] == [([3, 5, 6, 1, 0, 0], 7)]
    assert asked["geometric"] == [(5,)]
    assert asked["coins_one_in"] == [(2, 5)]


@pytest.mark.parametrize(
    ("variance", "t"), [(Fraction(7, 2), 2), (Fraction(4), 3), (Fraction(99, 10), 4), (Fraction(1, 5), 1)]
)
def test_a_gaussian_candidate_is_kept_with_the_chance_that_makes_up_for_the_proposal(
    variance: Fraction, t: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = _planted(monkeypatch, laplace_candidates=[[0, -3, 5]], exp_coins=[[True, False, True]])
    assert discrete._gaussian_candidates(pv.insecure_seed(0), variance, 9).tolist() == [0, 5]
    assert asked["laplace_candidates"] == [(t, 1, 9)]
    [(numerators, denominator)] = asked["exp_coins"]
    for y, numerator in zip((0, 3, 5), numerators, strict=True):
        assert Fraction(numerator, denominator) == (y - variance / t) ** 2 / (2 * variance)


def test_a_geometric_number_counts_heads_before_the_first_tails(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = _planted(monkeypatch, exp_minus_one_coins=[[True, False, True], [False, True], [True], [False]])
    assert discrete._geometric(pv.insecure_seed(0), 3).tolist() == [1, 0, 3]
    assert asked["exp_minus_one_coins"] == [(3,), (2,), (1,), (1,)]


def test_a_coin_of_exp_minus_one_flips_one_in_two_one_in_three_and_so_on(monkeypatch: pytest.MonkeyPatch) -> None:
    # The first tails at flip 2, 3 and 4 (flip 1 always shows heads); heads where that number is odd.
    asked = _planted(monkeypatch, coins_one_in=[[False, True, True], [False, True], [False]])
    assert discrete._exp_minus_one_coins(pv.insecure_seed(0), 3).tolist() == [False, True, False]
    assert asked["coins_one_in"] == [(2, 3), (3, 2), (4, 1)]


def test_a_coin_of_a_small_exponent_flips_the_exponent_over_one_two_three(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = _planted(monkeypatch, coins=[[False, True, True], [False, True], [False]])
    numerators = np.array([1, 2, 3], dtype=object)
    assert discrete._fraction_exp_coins(pv.insecure_seed(0), numerators, 4).tolist() == [True, False, True]
    assert asked["coins"] == [([1, 2, 3], 4), ([2, 3], 8), ([3], 12)]


def test_a_coin_of_a_large_exponent_needs_heads_for_every_whole_part_and_for_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Exponents 2¾, 0, 1, 2¼ and 1½, in quarters. The fourth shows tails at its second whole part, the fifth at once.
    asked = _planted(
        monkeypatch,
        exp_minus_one_coins=[[True, True, True, False], [True, False]],
        fraction_exp_coins=[[True, False, True]],
    )
    numerators = np.array([11, 0, 4, 9, 6], dtype=object)
    assert discrete._exp_coins(pv.insecure_seed(0), numerators, 4).tolist() == [True, False, True, False, False]
    assert asked["exp_minus_one_coins"] == [(4,), (2,)]
    assert asked["fraction_exp_coins"] == [([3, 0, 0], 4)]


def test_coins_of_one_in_k_show_heads_when_a_number_below_k_is_zero() -> None:
    numbers = draw_below_each(pv.insecure_seed(1), np.full(100, 5, dtype=np.uint64))
    assert discrete._coins_one_in(pv.insecure_seed(1), 5, 100).tolist() == (numbers == 0).tolist()


def test_a_number_is_refined_no_further_than_asked() -> None:
    uniform = LazyUniform(3, ContinuedSource([2**64 - 1, 1]), bits=4)
    assert uniform.to(4).contains(arb(3) / 16)
    assert (uniform.numerator, uniform.bits) == (3, 4)
    uniform.to(5)
    assert (uniform.numerator, uniform.bits) == (4 * 2**64 - 1, 68)
    uniform.to(68)
    assert uniform.bits == 68
    uniform.to(69)
    assert (uniform.numerator, uniform.bits) == ((4 * 2**64 - 1) * 2**64 + 1, 132)


def test_a_cut_is_in_doubt_only_when_all_bits_that_were_asked_for_are_there() -> None:
    # ½ exactly: the first word leaves it open on which side of the first weight it lies.
    weights = [arb(1, 2**-70), arb(1)]
    uniform = LazyUniform(2**63, ContinuedSource([0, 0, 0]))
    with pytest.raises(InDoubtError):
        uniform.cut(weights, 64)
    assert uniform.bits == 64
    with pytest.raises(InDoubtError):
        uniform.cut(weights, 65)
    assert uniform.bits == 128
    assert LazyUniform(0, ContinuedSource([])).cut([arb(1)], 64) == 0
    assert LazyUniform(2**64 - 1, ContinuedSource([])).cut([arb(1), arb(1), arb(1)], 64) == 2
    assert LazyUniform(2**63, ContinuedSource([])).cut([arb(1), arb(1), arb(1)], 64) == 1
