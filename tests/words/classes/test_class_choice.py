"""By class: which way a batch is drawn, how a class is chosen, and when rounding is not trusted with it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import accumulate, pairwise, product
from math import inf, log
from typing import Any

import mpmath
import numpy as np
import pytest

import pathveil as pv
from pathveil.randomness.lazy import LazyUniform
from pathveil.randomness.source import as_uniform
from pathveil.words import free_kernels
from pathveil.words.base.batch import Batch
from pathveil.words.base.doubt import rounding_margin
from pathveil.words.base.law import log_counts, log_sum
from pathveil.words.classes import kernels as class_kernels
from pathveil.words.classes.batches import (
    class_blocks,
    cut_law,
    equal_together,
    free_blocks,
    is_small,
    keystream_bounds,
    table_fits,
)
from pathveil.words.classes.hamming import (
    SystemClasses,
    draw_by_class,
    draw_free,
    equal_rows,
    free_counts,
    replace,
)
from pathveil.words.classes.selection import EXPONENTIAL, PERMUTE_AND_FLIP, Selection
from tests.reference.enumeration import feasible_words, hamming
from tests.reference.planted import ContinuedSource
from tests.statistics import FALSE_ALARM, chi_square_p_value, counted_rows
from tests.worlds import CHAIN, TOWN

SELECTIONS = {"exponential": EXPONENTIAL, "permute-and-flip": PERMUTE_AND_FLIP}


def zeros(batch: int, length: int) -> Batch:
    return Batch.from_rows(np.zeros((batch, length), dtype=np.int64))


# ------------------------------------------------------------------------------------------- which way


def test_so_many_symbols_that_compiled_loops_cannot_multiply_are_always_small() -> None:
    class Many:
        is_free, symbol_count = True, 2**24

    assert is_small(Many(), zeros(2**16, 2))  # type: ignore[arg-type]
    Many.symbol_count -= 1
    assert not is_small(Many(), zeros(2**16, 2))  # type: ignore[arg-type]


def test_counts_that_would_not_fit_into_memory_are_refused() -> None:
    with pytest.raises(pv.TooLargeError, match="20000 symbols on 44 states"):
        SystemClasses(TOWN.compiled, np.zeros(20_000, dtype=np.int64))
    with pytest.raises(pv.TooLargeError, match="CertifiedExponential"):
        free_counts(4, 100_000)


def test_counts_in_a_compiled_table_stay_below_the_largest_floating_point_number() -> None:
    """Eleven symbols, each followed by any other: 11 · 10^(n-1) words of n symbols."""
    others = pv.MarkovChain.from_edges([(a, b) for a in range(11) for b in range(11) if a != b])
    assert others.compiled.largest_degree == 11
    assert table_fits(others.compiled, 288)  # 11^288 < 10^300
    assert table_fits(others.compiled, 299)
    assert not table_fits(others.compiled, 300)
    # The longest words that any table holds have far too many words, but not where there is nothing to choose.
    circle = pv.MarkovChain.from_edges([(0, 1), (1, 2), (2, 0)], initial={0})
    assert table_fits(circle.compiled, 3_000)


# ------------------------------------------------------------------------------------ cut into blocks


def test_the_compiled_draw_is_told_how_far_to_trust_its_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """At least as many roundings as there are, and not ten times as many."""
    told: list[Any] = []

    def watched(*arguments: Any) -> None:
        told.extend(arguments)
        arguments[-1][:] = False

    monkeypatch.setattr(class_kernels, "draw_from_tables", watched)
    length, theta = 14, 5.0
    begins, values = np.arange(3) * length, np.zeros(3 * length, dtype=np.int64)
    scores = -theta * np.arange(length + 1.0)
    [block] = class_blocks(TOWN.compiled, values, begins, scores, np.empty_like(values))
    block(pv.insecure_seed(1))
    words, margin, weight_margin = told[10], *told[12:14]
    assert len(words) == 3 * (length + 1)  # a number for the class, then one for each symbol
    # Each of n positions adds as many terms as there are successors, and every sum is rounded.
    roundings = length * TOWN.compiled.largest_degree
    assert rounding_margin(roundings) <= margin <= rounding_margin(3 * roundings + 100)
    # Weights are products of counts and exponentials: logarithms of up to 700 and scores, added and rounded.
    assert margin + rounding_margin(16 * (700 + 70)) <= weight_margin <= margin + rounding_margin(16 * (2_000 + 2 * 70))
    assert weight_margin - margin >= rounding_margin(16 * 2 * 70)
    # Larger scores are trusted less: each is rounded, and so is its distance to the largest.
    told.clear()
    [block] = class_blocks(TOWN.compiled, values, begins, 100 * scores, np.empty_like(values))
    block(pv.insecure_seed(1))
    assert told[12] == margin
    assert told[13] - weight_margin == pytest.approx(rounding_margin(16 * 2 * 99 * 70), rel=1e-9, abs=0)


def test_words_on_free_alphabets_are_repeated_or_decided_exactly_where_the_loop_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The compiled loop leaves word 1 in doubt and asks for words 0 and 3 again; word 2 is done at once."""
    length, symbols, calls = 3, 4, []
    scores = -1.0 * np.arange(length + 1.0)
    values = np.array([0, 1, 2] * 4)
    private = np.full(12, -1)

    def placed(*arguments: Any) -> None:
        _, begins, n, m, bounds, words, out, again, in_doubt = arguments
        assert (n, m, len(words), out is private) == (length, symbols, len(begins) * (length + 1), True)
        assert bounds.tolist() == keystream_bounds(EXPONENTIAL, free_counts(symbols, length), tuple(scores.tolist()))
        calls.append(begins.tolist())
        for begin in begins:
            out[begin : begin + length] = 100 * len(calls)
        again[:], in_doubt[:] = False, False
        if len(calls) == 1:
            again[[0, 1, 3]] = True
            in_doubt[1] = True
            words[:] = 0  # no error
            words[4] = 2**64 - 1  # but for the second word, as many as there can be
        else:
            rows = words.reshape(-1, length + 1)
            assert not rows[:, 0].any()  # the number of errors stays
            assert rows[:, 1:].all()  # positions get new numbers

    monkeypatch.setattr(free_kernels, "place_errors", placed)
    part = Batch.from_rows(values.reshape(4, length)).by_length[0]
    [block] = free_blocks(symbols, values, part, scores, private, EXPONENTIAL)
    block(pv.insecure_seed(5))
    assert calls == [[0, 3, 6, 9], [0, 9]]
    assert private[[0, 1, 2, 9, 10, 11]].tolist() == [200] * 6
    assert private[6:9].tolist() == [100] * 3
    assert (private[3:6] != values[3:6]).all()
    assert set(private[3:6].tolist()) <= set(range(symbols))


@pytest.mark.parametrize("kind", SELECTIONS)
def test_compiled_batches_on_free_alphabets_have_their_law(kind: str) -> None:
    """False-alarm probability 1e-6; negative control: a third more tilt."""
    way, word, count = SELECTIONS[kind], (2, 0, 1), 6_000
    world = pv.Alphabet(range(3))
    values, private = np.tile(np.array(word), count), np.empty(3 * count, dtype=np.int64)
    scores = -0.9 * np.arange(4.0)
    [block] = free_blocks(3, values, zeros(count, 3).by_length[0], scores, private, way)
    block(pv.insecure_seed(2))
    drawn = [tuple(row) for row in private.reshape(count, 3).tolist()]
    for tilt, fits in [(0.9, True), (1.2, False)]:
        shares = np.exp(way.log_shares(free_counts(3, 3), -tilt * np.arange(4.0)))
        law = {v: float(shares[hamming(v, word)]) for v in feasible_words(world, 3)}
        assert (chi_square_p_value(drawn, law) > FALSE_ALARM) == fits


def test_equal_words_follow_each_other_and_different_ones_are_counted() -> None:
    rows = np.array(list(product(range(3), repeat=5)))
    shuffled = np.random.default_rng(1).permutation(np.concatenate([rows, rows[:100], rows[:7]]))
    words = Batch.from_rows(shuffled)
    begins = equal_together(words.values, words.by_length[0])
    assert sorted(begins.tolist()) == list(range(0, 350 * 5, 5))
    in_order = [tuple(words.values[begin : begin + 5].tolist()) for begin in begins]
    changes = sum(one != other for one, other in pairwise(in_order))
    assert changes == 242


def test_equal_words_are_found_however_many_there_are() -> None:
    rows = np.array([[1, 2, 3], [4, 5, 6]] * 60_000)
    words = Batch.from_rows(rows)
    begins = equal_together(words.values, words.by_length[0])
    first = sorted(begins[:60_000].tolist())
    assert first in ([*range(0, 360_000, 6)], [*range(3, 360_000, 6)])
    one = Batch.from_rows(np.array([[7]]))
    assert equal_together(one.values, one.by_length[0]).tolist() == [0]


# ------------------------------------------------------------------------------------ borders of classes


@pytest.mark.parametrize("kind", SELECTIONS)
@pytest.mark.parametrize(("n", "m", "theta"), [(1, 2, 0.5), (3, 3, 1.0), (4, 2, 8.0), (3, 2, 60.0), (9, 30, 0.2)])
def test_bounds_are_the_cumulated_law_in_keystream_words(kind: str, n: int, m: int, theta: float) -> None:
    counts = free_counts(m, n)
    scores = tuple((-theta * np.arange(n + 1.0)).tolist())
    bounds = keystream_bounds(SELECTIONS[kind], counts, scores)
    assert len(bounds) == n
    with mpmath.workdps(60):
        p = [mpmath.exp(mpmath.mpf(score)) for score in scores]
        if kind == "exponential":
            weights = [count * value for count, value in zip(counts, p, strict=True)]
        else:

            def game(fewer: int | None, t: mpmath.mpf) -> mpmath.mpf:
                powers = [
                    (1 - value * t) ** (count - (k == fewer))
                    for k, (count, value) in enumerate(zip(counts, p, strict=True))
                ]
                return mpmath.fprod(powers)

            if sum(counts) > 200:
                return  # the exponents are too large for this way to integrate
            weights = [
                count * value * mpmath.quad(lambda t, k=k: game(k, t), [0, 0.5, 1])
                for k, (count, value) in enumerate(zip(counts, p, strict=True))
            ]
        cumulated = accumulate(weight / mpmath.fsum(weights) * 2**64 for weight in weights)
        for bound, reached in zip(bounds, cumulated, strict=False):
            assert bound <= reached + 1e-9
            assert bound >= min(reached - 1 - 1e-9, 2**64 - 1)
            assert 0 <= bound < 2**64


def test_classes_without_words_have_no_keystream_words() -> None:
    assert keystream_bounds(EXPONENTIAL, (0, 1, 0, 1), (0.0, -1.0, -2.0, -1.0))[0] == 0
    bounds = keystream_bounds(EXPONENTIAL, (0, 1, 0, 1), (0.0, -1.0, -2.0, -1.0))
    assert abs(bounds[1] - 2**63) <= 1
    assert bounds[2] == bounds[1]
    assert keystream_bounds(EXPONENTIAL, (5, 0, 0), (0.0, -1.0, -2.0)) in ([2**64 - 1] * 2, [2**64 - 2] * 2)


@pytest.mark.parametrize("kind", SELECTIONS)
def test_a_number_falls_on_the_class_where_the_cumulated_law_passes_it(kind: str) -> None:
    counts, scores = (1, 0, 4, 9), np.array([0.0, -0.5, -1.0, -1.5])
    law = np.exp(SELECTIONS[kind].log_law(counts, scores))
    for u in np.linspace(0.001, 0.999, 37):
        uniform = LazyUniform(int(u * 2**64), ContinuedSource([]))
        assert cut_law(SELECTIONS[kind], counts, scores, uniform) == np.flatnonzero(np.cumsum(law) > u)[0]


# --------------------------------------------------------------------------------------- the noisy maximum


def exact_values(kind: str, log_n: np.ndarray, scores: np.ndarray, u: np.ndarray) -> list[mpmath.mpf]:
    """score + largest noise of each class, in forty digits."""
    values = []
    for size, score, number in zip(log_n.tolist(), scores.tolist(), u.tolist(), strict=True):
        if size == -inf:
            values.append(mpmath.mpf(-inf))
            continue
        ratio = -mpmath.log(mpmath.mpf(number)) / mpmath.exp(mpmath.mpf(size))
        values.append(score - (mpmath.log(ratio) if kind == "exponential" else mpmath.log(-mpmath.expm1(-ratio))))
    return values


@pytest.mark.parametrize("kind", SELECTIONS)
@pytest.mark.parametrize("counts", [(1, 5, 20, 0, 9), (3, 10**12, 10**25, 10**40, 1), (1, 1, 0, 0, 0)])
def test_the_class_of_the_largest_noise_is_chosen_and_rarely_in_doubt(kind: str, counts: tuple[int, ...]) -> None:
    scores = np.array([0.0, -2.0, -4.0, -6.0, -8.0])
    log_n = log_counts(counts)
    words = pv.insecure_seed(6).keystream(5 * 60).reshape(60, 5)
    chosen, in_doubt = SELECTIONS[kind]._largest(log_n[None, :], scores, words)
    assert not in_doubt.any()
    with mpmath.workdps(60):
        for row, number in enumerate(chosen.tolist()):
            values = exact_values(kind, log_n, scores, as_uniform(words[row]))
            assert number == values.index(max(values))


@pytest.mark.parametrize("kind", SELECTIONS)
@pytest.mark.parametrize("size", [1, 10**6, 10**100])
@pytest.mark.parametrize("u", [2.0**-30, 0.3, 1 - 2.0**-30])
def test_two_classes_are_in_doubt_as_far_as_bits_and_rounding_can_carry_them(kind: str, size: int, u: float) -> None:
    """The same number for two classes of one size; only the scores tell them apart."""
    log_n = log_counts((size, size))[None, :]
    words = np.array([[int(u * 2**64)] * 2], dtype=np.uint64)
    with mpmath.workdps(60):
        # A number is known to 2^-53: by how much can that move its noise?
        ends = [exact_values(kind, log_n[0, :1], np.zeros(1), np.array([u + side * 2.0**-54]))[0] for side in (-1, 1)]
        reach = float(ends[1] - ends[0])
    for apart, expected in [(0.9 * reach, True), (40 * 2.0**-53 / (u * (1 - u)) + 1e-11, False)]:
        for side in (1, -1):
            scores = np.array([0.0, side * apart])
            chosen, in_doubt = SELECTIONS[kind]._largest(log_n, scores, words)
            assert in_doubt.tolist() == [expected]
            assert expected or chosen.tolist() == [int(side > 0)]


@pytest.mark.parametrize("kind", SELECTIONS)
def test_numbers_next_to_0_or_1_are_always_in_doubt(kind: str) -> None:
    log_n = log_counts((5, 5))[None, :]
    # Within 2^-12 of 1 the bound for its noise has not enough digits: from 2^-39 on.
    for near, expected in [(2**12, True), (7 * 2**22, True), (9 * 2**22, False), (2**27, False)]:
        _, in_doubt = SELECTIONS[kind]._largest(log_n, np.zeros(2), np.array([[near, 2**63]], dtype=np.uint64))
        assert in_doubt.tolist() == [expected]
        word = 2**64 - near
        words = np.array([[word, 2**63]], dtype=np.uint64)
        _, in_doubt = SELECTIONS[kind]._largest(log_n, np.zeros(2), words)
        assert in_doubt.tolist() == [expected]


@pytest.mark.parametrize("kind", SELECTIONS)
def test_classes_without_words_are_neither_chosen_nor_doubted(kind: str) -> None:
    log_n = log_counts((0, 4, 0))[None, :]
    words = np.array([[2**11, 2**63, 2**64 - 1]], dtype=np.uint64)
    chosen, in_doubt = SELECTIONS[kind]._largest(log_n, np.array([1e6, 0.0, 1e6]), words)
    assert chosen.tolist() == [1]
    assert in_doubt.tolist() == [False]


@pytest.mark.parametrize("kind", SELECTIONS)
def test_each_row_may_have_classes_of_its_own(kind: str) -> None:
    way, scores = SELECTIONS[kind], np.array([0.0, -1.0, -2.0])
    table = [(1, 0, 0), (0, 3, 0), (0, 0, 7), (4, 4, 4)]
    words = np.full((4, 3), 2**63, dtype=np.uint64)
    words[3] = [2**63 + 9, 2**63 + 9, 5]
    assert way.choose(table[:3], scores, words[:3], pv.insecure_seed(1)).tolist() == [0, 1, 2]
    # In doubt: a tie is settled with the counts of its own row.
    flat = np.array([0.0, 0.0, -50.0])
    source = ContinuedSource([1 << 60, 0, 0])
    assert way.choose(table, flat, words, source).tolist() == [0, 1, 2, 0]


@pytest.mark.parametrize("kind", SELECTIONS)
def test_exact_choices_are_those_of_forty_digits(kind: str) -> None:
    counts, scores = (1, 0, 20, 10**15), np.array([0.0, 50.0, -3.0, -34.0])
    words = pv.insecure_seed(8).keystream(4 * 40).reshape(40, 4)
    chosen = [SELECTIONS[kind].choose_exactly(counts, scores, row, ContinuedSource([])) for row in words]
    assert len(set(chosen)) == 3
    with mpmath.workdps(40):
        for row, number in zip(words, chosen, strict=True):
            values = exact_values(kind, log_counts(counts), scores, as_uniform(row))
            assert number == values.index(max(values))


def test_the_largest_of_many_exponential_noises_keeps_its_precision() -> None:
    noise = PERMUTE_AND_FLIP.noise
    with mpmath.workdps(40):
        for log_ratio in (-700.0, -41.0, -40.0, -39.0, -20.0, -1.0, 0.0, 2.0, 5.0):
            exact = -mpmath.log(-mpmath.expm1(-mpmath.exp(mpmath.mpf(log_ratio))))
            assert noise(np.array([log_ratio]))[0] == pytest.approx(float(exact), rel=1e-13)


@pytest.mark.parametrize("kind", SELECTIONS)
def test_words_of_a_class_share_its_probability(kind: str) -> None:
    counts, scores = (1, 0, 5, 10**30), np.array([0.0, -1.0, -2.0, -70.0])
    way = SELECTIONS[kind]
    law, shares = way.log_law(counts, scores), way.log_shares(counts, scores)
    assert shares[1] == -inf
    assert shares[[0, 2, 3]] == pytest.approx(law[[0, 2, 3]] - [0.0, log(5), 30 * log(10)], rel=1e-13)


def test_logarithms_are_summed_without_overflow() -> None:
    assert log_sum(np.array([1000.0, 1000.0])) == pytest.approx(1000 + log(2), rel=1e-15)
    assert log_sum(np.array([-2000.0, -inf])) == -2000.0
    assert log_sum(np.array([-inf, -inf])) == -inf


# --------------------------------------------------------------------------------------- words of a class


def test_replaced_symbols_are_uniform_among_the_others_and_the_rest_stays() -> None:
    """False-alarm probability 1e-6."""
    codes = np.tile(np.array([[0, 1, 2, 3]]), (3_000, 1))
    wrong = np.zeros(codes.shape, dtype=bool)
    wrong[:, [1, 3]] = True
    private = replace(codes, wrong, 4, pv.insecure_seed(2))
    assert codes.tolist() == [[0, 1, 2, 3]] * 3_000
    assert (private[:, [0, 2]] == codes[:, [0, 2]]).all()
    law = {(a, b): 1 / 9 for a in (0, 2, 3) for b in (0, 1, 2)}
    assert chi_square_p_value(map(tuple, private[:, [1, 3]].tolist()), law) > FALSE_ALARM
    assert replace(np.zeros((2, 2), dtype=np.int64), wrong[:2, :2] & False, 1, pv.insecure_seed(1)).tolist() == [
        [0, 0],
        [0, 0],
    ]


@pytest.mark.parametrize("errors", [0, 1, 2, 3])
def test_a_word_with_so_many_errors_is_uniform_on_a_free_alphabet(errors: int) -> None:
    """False-alarm probability 1e-6 each."""
    world, word = pv.Alphabet(range(3)), (2, 0, 1)
    codes = np.tile(np.array([word]), (4_000, 1))
    drawn = draw_free(codes, np.full(4_000, errors), 3, pv.insecure_seed(errors))
    possible = [v for v in feasible_words(world, 3) if hamming(v, word) == errors]
    assert chi_square_p_value(map(tuple, drawn.tolist()), dict.fromkeys(possible, 1 / len(possible))) > FALSE_ALARM
    one = pv.error_classes(world, word).draw(errors, pv.insecure_seed(1))
    assert hamming(tuple(one.tolist()), word) == errors


def test_a_class_without_words_cannot_be_drawn_from() -> None:
    found = pv.error_classes(pv.MarkovChain.from_edges([(0, 1), (1, 0)]), (0, 1, 0))
    assert found.counts == (1, 0, 0, 1)
    assert found.draw(0).tolist() == [0, 1, 0]
    assert found.draw(3).tolist() == [1, 0, 1]
    for distance in (-1, 1, 2, 4):
        with pytest.raises(pv.InvalidParameterError, match=f"exactly {distance} errors"):
            found.draw(distance)
    assert found.distances([np.array([0, 1, 0]), np.array([1, 1, 1]), np.array([1, 0, 1])]).tolist() == [0, 2, 3]


def test_a_walk_is_offered_the_number_of_words_behind_each_symbol() -> None:
    word = (0, 1, 2, 0)
    found = SystemClasses(CHAIN.compiled, CHAIN.encode(word))
    for errors, count in enumerate(found.counts):
        offered: list[list[int]] = []

        def pick(weights: list[int], offered: list[list[int]] = offered) -> int:
            offered.append(weights)
            return len(weights) - 1 - weights[::-1].index(max(weights))

        if not count:
            continue
        walked = tuple(CHAIN.symbols[code] for code in found.walk(errors, pick))
        assert hamming(walked, word) == errors
        for i, weights in enumerate(offered):
            words = Counter(
                v[i] for v in feasible_words(CHAIN, 4) if v[:i] == walked[:i] and hamming(v, word) == errors
            )
            assert [w for w in weights if w] == [words[s] for s in sorted(words)]


def test_equal_rows_are_listed_with_all_their_places() -> None:
    rows = np.array([[2, 1], [0, 5], [2, 1], [0, 0], [2, 1]])
    found = {tuple(row.tolist()): places.tolist() for row, places in equal_rows(rows)}
    assert found == {(0, 0): [3], (0, 5): [1], (2, 1): [0, 2, 4]}


@pytest.mark.parametrize(("world", "count"), [(pv.Alphabet(range(3)), 140_000), (CHAIN, 1_500)])
def test_plain_batches_by_class_have_their_law_also_across_chunks(world: pv.System, count: int) -> None:
    """Two lengths, of which the free alphabet's are cut into chunks. False-alarm probability 1e-6 for each check."""
    short, long = (1, 0), (0, 1, 2)
    values = np.tile(np.array([*short, *long]), count)
    offsets = np.arange(2 * count + 1) // 2 * 5 + np.arange(2 * count + 1) % 2 * 2
    words = Batch(values, offsets)
    private = draw_by_class(
        world.compiled, words, EXPONENTIAL, lambda n: -0.8 * np.arange(n + 1.0), pv.insecure_seed(4)
    )
    for word, begins in [(short, offsets[:-1:2]), (long, offsets[1::2])]:
        drawn = counted_rows(private[begins[:, None] + np.arange(len(word))])
        weights = {v: Fraction(np.exp(-0.8 * hamming(v, word))) for v in feasible_words(world, len(word))}
        law = {v: float(weight / sum(weights.values())) for v, weight in weights.items()}
        assert chi_square_p_value(drawn, law) > FALSE_ALARM


def test_selections_are_told_apart_by_their_noise() -> None:
    assert isinstance(EXPONENTIAL, Selection)
    assert EXPONENTIAL.noise(np.array([2.0, -3.0])).tolist() == [-2.0, 3.0]
