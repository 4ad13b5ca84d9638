"""Whichever loop draws, in whatever pieces; the margins; and the parts of the loops without a compiler."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import pathveil as pv
from pathveil.randomness.lazy import LazyUniform
from pathveil.randomness.source import as_uniform
from pathveil.words.base.batch import Batch
from pathveil.words.base.doubt import draw_block, rounding_margin
from pathveil.words.base.tilt import LARGEST_TILT, largest_part, linear_scores, tilt_factor
from pathveil.words.tilted import draw as tilted
from pathveil.words.tilted import exact as tilted_exact
from pathveil.words.tilted.engines import LaneEngine, LogEngine, RenewalEngine
from pathveil.words.tilted.exact import draw_exactly, fits, sampling
from pathveil.words.tilted.logs import log_margin, log_normalisers, pick_columns
from pathveil.words.tilted.reachable_states import ReachableStates
from pathveil.words.tilted.response import keystream_values_per_symbol
from pathveil.words.tilted.sparse import SparseEngine
from tests.reference.literal_draws import draw_tilted, uniforms_of
from tests.reference.planted import ContinuedSource, PlantedSource
from tests.words.engines import words_of
from tests.worlds import DEAD_END_PLANS, TOWN, UNEVEN


def dense_chain(states: int) -> pv.MarkovChain:
    return pv.MarkovChain(range(states), np.full((states, states), 1 / states))


# ---------------------------------------------------------------------------------------------- which loop draws


@pytest.mark.parametrize("theta", [1e-6, 0.3, 5.0, 60.0, 116.0, 117.0, 300.0, LARGEST_TILT])
@pytest.mark.parametrize("length", [1, 5, 60])
def test_whichever_loop_is_chosen_knows_the_normaliser_and_draws_feasible_words(length, theta):
    """Weights leave the range of numbers at some of these tilts; a loop that cannot do with them is not chosen."""
    for world in (dense_chain(40), UNEVEN, DEAD_END_PLANS, TOWN):
        if not world.count(length):
            continue
        rows = words_of(world, length, 20)
        private = np.empty(rows.size, dtype=np.int64)
        engine = tilted.engine_for(world.compiled, length, theta)
        log_z = engine.draw(rows.reshape(-1), np.arange(20) * length, private, pv.insecure_seed(1))
        assert log_z == pytest.approx(log_normalisers(world.compiled, rows, theta), rel=1e-9, abs=1e-9)
        assert world.compiled.feasible_rows(private.reshape(rows.shape)).all()


def test_a_few_words_of_one_length_among_many_of_another_have_their_own_tilt():
    """Three words are drawn in another way than thousands; both lie between each other."""
    source = pv.insecure_seed(2)
    long = [TOWN.encode(TOWN.random_word(5, source)) for _ in range(3)]
    short = [TOWN.encode(TOWN.random_word(4, source)) for _ in range(50)] * 60
    batch = [long[0], *short[:1_000], long[1], *short[1_000:], long[2]]
    words = Batch(np.concatenate(batch), np.cumsum([0, *map(len, batch)]))
    for tilts, kept in [({5: 100.0, 4: 100.0}, (5, 4)), ({5: 100.0, 4: 0.1}, (5,)), ({5: 1e-6, 4: 100.0}, (4,))]:
        private = tilted.draw_tilted(TOWN.compiled, words, tilts.__getitem__, pv.insecure_seed(1))
        drawn = [private[begin:end] for begin, end in pairwise(words.offsets.tolist())]
        for length in (5, 4):
            same = [np.array_equal(one, word) for one, word in zip(drawn, batch, strict=True) if len(word) == length]
            assert all(same) == (length in kept)


# ------------------------------------------------------------------------------------------------ free alphabets


@pytest.mark.parametrize("cells", [100, 2**16 - 1, 2**16, 2**20 + 2**16 + 5])
@pytest.mark.parametrize("symbols", ["a", "abcde"])
def test_small_and_large_batches_over_free_alphabets_take_each_keystream_word_once(cells, symbols):
    compiled = pv.Alphabet(symbols).compiled
    values = np.random.default_rng(1).integers(0, len(symbols), cells)
    private = tilted.draw_tilted(compiled, Batch.from_rows(values[None, :]), lambda _: 1.5, pv.insecure_seed(4))
    if symbols == "a":
        assert not private.any()
        return
    source = pv.insecure_seed(4)
    size = 2**20  # cells for each branch of the source
    branches = source.branches(-(-cells // size)) if cells > size else [source]
    words = np.concatenate([branch.keystream(min(size, cells - k * size)) for k, branch in enumerate(branches)])
    each = keystream_values_per_symbol(5, 1.5)[0]
    owner = np.minimum(words // np.uint64(each), 4).astype(np.int64)
    assert private.tolist() == ((values + np.where(owner < 4, owner + 1, 0)) % 5).tolist()


def test_each_length_over_a_free_alphabet_has_its_own_tilt():
    compiled = pv.Alphabet("abc").compiled
    lengths = np.array([2, 3] * 2000)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    words = Batch(np.zeros(offsets[-1], dtype=np.int64), offsets)
    private = tilted.draw_tilted(compiled, words, lambda length: 300.0 if length == 2 else 1e-9, pv.insecure_seed(1))
    rows = np.split(private, offsets[1:-1])
    assert not np.concatenate(rows[0::2]).any()
    wrong = np.count_nonzero(np.concatenate(rows[1::2]))
    assert abs(wrong - 4000) < 5 * math.sqrt(6000 * 2 / 9)  # false alarms below 1e-6
    # The same tilt for all: as if they were one word.
    alike = tilted.draw_tilted(compiled, words, lambda _: 1.0, pv.insecure_seed(2))
    whole = Batch.from_rows(words.values[None, :])
    assert alike.tolist() == tilted.draw_tilted(compiled, whole, lambda _: 1.0, pv.insecure_seed(2)).tolist()


@pytest.mark.parametrize("theta", [0.1, 1.0, 30.0, 690.0])
def test_wrong_symbols_own_their_share_of_all_keystream_words_rounded_up(theta):
    for m in (2, 3, 200):
        z = Fraction(tilt_factor(theta))
        share_of_one = 2**64 * z / (1 + (m - 1) * z)
        assert 0 <= keystream_values_per_symbol(m, theta)[0] - share_of_one < 1


def test_the_normaliser_of_a_free_alphabet_is_a_power():
    codes = np.array([0, 1, 2, 0, 0])
    for theta in (0.0, 0.7, 20.0):
        expected = 5 * math.log1p(2 * math.exp(-theta))
        assert tilted.log_normaliser(pv.Alphabet("abc").compiled, codes, theta) == pytest.approx(expected, rel=1e-14)
    expected = draw_tilted(DEAD_END_PLANS.compiled, codes.tolist(), math.exp(-0.7), [0.5] * 5, 0.0).total
    assert tilted.log_normaliser(DEAD_END_PLANS.compiled, codes, 0.7) == pytest.approx(math.log(expected), rel=1e-13)


# ---------------------------------------------------------------------------------------- margins and the tilt in use


@pytest.mark.parametrize(("world", "length", "theta"), [(UNEVEN, 5, 1.0), (UNEVEN, 50, 12.0), (TOWN, 14, 3.3)])
def test_margins_are_four_times_the_roundings_that_a_border_can_have_seen(world, length, theta):
    """As docs/exact-sampling.md counts them: d + 4 for each position, with two positions for the comparison."""
    compiled, unit = world.compiled, 2.0**-53
    d = compiled.largest_degree
    for make in (LaneEngine, SparseEngine):
        assert make(compiled, length, theta)._margin == 4 * (length + 2) * (d + 4) * unit
    if compiled.symbol_states is not None:
        assert RenewalEngine(compiled, length, theta)._margin == 4 * (length + 2) * (length + d + 4) * unit
    size = length * (theta + math.log(d))
    margin = log_margin(compiled, length, theta)
    assert margin == 4 * (length + 2) * (math.floor(4 * size) + d + 48) * unit
    assert margin == rounding_margin((length + 2) * (math.floor(4 * size) + d + 48))


def test_lanes_are_rescaled_before_weights_can_leave_the_range_of_numbers():
    for theta in (0.0, 0.5, 20.0, 99.0, 150.0, 500.0):
        growth = theta + math.log(UNEVEN.compiled.largest_degree)
        every = LaneEngine(UNEVEN.compiled, 5, theta)._arguments[-1]
        assert every >= 1
        assert every == 1 or every * growth <= 200 < (every + 1) * growth


def test_a_share_is_the_largest_number_of_which_all_parts_fit():
    many = [(epsilon, parts) for epsilon in (0.1, 0.7, 1.0, 9.0) for parts in range(1, 30)]
    for epsilon, parts in [*many, (1.0, 49), (1e-300, 7), (700.0, 1), (2000.0, 2)]:
        part = largest_part(epsilon, parts)
        if part < LARGEST_TILT:
            assert Fraction(part) * parts <= Fraction(epsilon) < Fraction(math.nextafter(part, math.inf)) * parts
    assert largest_part(1380.0, 2) == largest_part(1e9, 1) == LARGEST_TILT == 690.0
    assert largest_part(689.0, 1) == 689.0


def test_scores_are_multiples_of_a_step_that_loses_only_the_bits_it_must():
    for theta in (1.0, 0.1, math.pi, 1e-9, 690.0):
        for largest in (1, 2, 3, 4, 7, 8, 1000):
            scores = linear_scores(theta, largest)
            step = -Fraction(scores[1])
            assert [Fraction(each) for each in scores] == [-k * step for k in range(largest + 1)]
            assert step <= Fraction(theta)
            unit = Fraction(math.ulp(theta)) * 2 ** largest.bit_length()
            assert step % unit == 0
            assert Fraction(theta) - step < unit
    assert linear_scores(1.0, 0).tolist() == [0.0]


def test_the_factor_in_use_is_two_numbers_above_the_exponential():
    for theta in (1e-3, 0.5, 1.0, 7.0, 100.0):
        above = math.nextafter(math.nextafter(math.exp(-theta), math.inf), math.inf)
        assert tilt_factor(theta) == above
    assert tilt_factor(0.0) == tilt_factor(1e-17) == 1.0


# --------------------------------------------------------------------------------------------------- logarithms


def test_columns_are_picked_in_proportion_and_doubted_near_borders():
    weights = np.log([[1.0, 2.0, 1.0], [5.0, 0.0, 5.0], [3.0, 1.0, 0.0]])
    weights[np.isneginf(weights)] = -np.inf
    shifted = weights + np.array([[700.0], [-5000.0], [0.0]])  # only differences count
    borders = [[0.25, 0.75, 1.0], [0.5, 0.5, 1.0], [0.75, 1.0, 1.0]]
    for u in np.linspace(0.001, 0.999, 499):
        words = np.full(3, int(u * 2**64), dtype=np.uint64)
        columns, in_doubt = pick_columns(shifted, words, 0.01)
        for row in range(3):
            assert columns[row] == next(k for k, border in enumerate(borders[row]) if u < border)
            assert in_doubt[row] == any(abs(u - border) < 0.01 for border in borders[row])
    columns, in_doubt = pick_columns(shifted, np.full(3, 2**64 - 1, dtype=np.uint64), 0.0)
    assert columns.tolist() == [2, 2, 1]
    assert not in_doubt.any()


def drawn_with_logs(world: pv.System, codes: np.ndarray, theta: float) -> np.ndarray:
    count, length = codes.shape
    private = np.empty(codes.size, dtype=np.int64)
    engine = LogEngine(world.compiled, length, theta)
    log_z = engine.draw(codes.reshape(-1), np.arange(count) * length, private, pv.insecure_seed(1))
    assert log_z == pytest.approx(log_normalisers(world.compiled, codes, theta), rel=1e-12, abs=1e-12)
    return private.reshape(codes.shape)


def test_a_batch_that_is_worked_on_in_chunks_has_its_words_in_order():
    dense = dense_chain(30)  # 930 edges: a chunk holds some two thousand words
    rows = np.random.default_rng(1).integers(0, 30, (5_000, 2))
    assert drawn_with_logs(dense, rows, 200.0).tolist() == rows.tolist()
    few = words_of(DEAD_END_PLANS, 6, 11)
    feasible = DEAD_END_PLANS.compiled.feasible_rows(few)
    private = drawn_with_logs(DEAD_END_PLANS, few, 200.0)
    assert private[feasible].tolist() == few[feasible].tolist()
    assert DEAD_END_PLANS.compiled.feasible_rows(private).all()
    assert drawn_with_logs(DEAD_END_PLANS, few[:0], 1.0).shape == (0, 6)


def test_logarithms_know_the_normaliser_where_nothing_fits():
    line = pv.TransitionSystem({(0, "a"): 1, (1, "b"): 2, (2, "b"): 2, (0, "c"): 3}, initial=0, accepting={2})
    codes = np.array([[0, 1, 1], [1, 0, 0], [2, 2, 2]])
    assert log_normalisers(line.compiled, codes, 400.0).tolist() == pytest.approx([0.0, -1200.0, -1200.0], rel=1e-14)


# ------------------------------------------------------------------------------------------- sparse, and exactly


@pytest.mark.parametrize("theta", [1.0, 28.0, 29.5, 199.0, 200.5, LARGEST_TILT])
def test_words_whose_weights_lie_far_apart_are_drawn_all_the_same(theta):
    """Nobody leaves a state, so a word that changes it half way has weights e^(-16θ) apart: 10^-205 at θ = 29.5."""
    apart = pv.MarkovChain.from_edges([(0, 0), (1, 1)])
    torn, even = [0] * 16 + [1] * 16, [0] * 8 + [1] * 16 + [0] * 8
    values, private = np.array(even + torn + even), np.empty(96, dtype=np.int64)
    engine = SparseEngine(apart.compiled, 32, theta)
    log_z = engine.draw(values, np.array([0, 32, 64]), private, pv.insecure_seed(1))
    assert log_z == pytest.approx([math.log(2) - 16 * theta] * 3, rel=1e-13)
    assert (np.count_nonzero((private != values).reshape(3, 32), axis=1) == 16).all()


def test_balls_draw_what_the_plain_loop_draws():
    for world, length in ((UNEVEN, 6), (DEAD_END_PLANS, 7), (UNEVEN, 1)):
        codes = words_of(world, length, 12)
        words = np.random.default_rng(2).integers(0, 2**64, codes.shape, dtype=np.uint64)
        visited, z = ReachableStates.of(world.compiled, length), tilt_factor(0.8)
        for word, numbers in zip(codes.tolist(), words.tolist(), strict=True):
            uniforms = [LazyUniform(bits, ContinuedSource([])) for bits in numbers]
            drawn = draw_exactly(world.compiled, visited, word, z, uniforms)
            assert drawn == draw_tilted(world.compiled, word, Fraction(z), uniforms_of(numbers), 0.0).word


def test_only_words_in_doubt_are_drawn_again_each_from_its_own_numbers():
    length, begins = 4, np.array([6, 1, 11])
    rows = words_of(DEAD_END_PLANS, length, 3)
    values = np.zeros(15, dtype=np.int64)
    for begin, row in zip(begins, rows, strict=True):
        values[begin : begin + length] = row
    numbers = np.random.default_rng(3).integers(0, 2**64, (3, length), dtype=np.uint64)
    compiled, z = DEAD_END_PLANS.compiled, tilt_factor(0.5)
    reachable = ReachableStates.of(compiled, length)

    def draw(in_doubt, exactly):
        def loop(keystream):
            assert keystream.tolist() == numbers.tolist()
            return np.array(in_doubt)

        private = np.full(15, -1)
        source = PlantedSource(numbers.reshape(-1).tolist())
        draw_block(values, begins, length, private, source, keystream_values=length, loop=loop, exactly=exactly)
        return private.tolist()

    def exactly(codes, uniforms):
        return draw_exactly(compiled, reachable, codes.tolist(), z, uniforms)

    expected = np.full(15, -1)
    for k in (0, 2):
        drawn = draw_tilted(compiled, rows[k].tolist(), Fraction(z), uniforms_of(numbers[k].tolist()), 0.0)
        expected[begins[k] : begins[k] + length] = drawn.word
    assert draw([True, False, True], exactly) == expected.tolist()
    assert draw([False] * 3, exactly) == [-1] * 15
    assert draw([True] * 3, None) == [-1] * 15  # there is no room: what the loop drew stays


def test_words_are_decided_exactly_as_long_as_their_table_fits():
    count = DEAD_END_PLANS.compiled.state_count
    assert fits(DEAD_END_PLANS.compiled, 9, 10 * count)
    assert not fits(DEAD_END_PLANS.compiled, 9, 10 * count - 1)
    assert "words of more than 9 symbols" in sampling(DEAD_END_PLANS.compiled, 10 * count)
    assert "words of more than 8 symbols" in sampling(DEAD_END_PLANS.compiled, 10 * count - 1)
    assert tilted_exact.LARGEST_EXACT_DRAW == 2**21
    assert as_uniform(np.array([0], dtype=np.uint64))[0] == 2.0**-54
    assert PlantedSource([7]).keystream(2).tolist() == [7, 7]


@pytest.mark.parametrize("largest_table", [0, 1 << 27])
@pytest.mark.parametrize("theta", [0.4, 8.0])
def test_states_too_far_from_the_word_to_count_are_lost_without_harm(theta: float, largest_table: int) -> None:
    """A road of 300 junctions: at its end a private word would have 150 errors, e^-1200 at θ = 8. With and without all
    messages in memory, the loop without logarithms draws what logarithms say."""
    road = pv.MarkovChain.from_edges([(a, b) for a in range(300) for b in (a - 1, a, a + 1) if 0 <= b < 300])
    rng = np.random.default_rng(3)
    words = np.clip(np.cumsum(rng.integers(-1, 2, (4, 150)), axis=1) + 20, 0, 299)
    keystream = rng.integers(0, 2**64, (4, 150), dtype=np.uint64)
    drawn = []
    for engine in (SparseEngine(road.compiled, 150, theta, largest_table), LogEngine(road.compiled, 150, theta)):
        private = np.empty(words.size, dtype=np.int64)
        log_z, in_doubt, undrawn = engine._loop(words.reshape(-1), np.arange(4) * 150, keystream, private)
        assert not (in_doubt | undrawn).any()
        drawn.append((private.tolist(), log_z))
    assert drawn[0][0] == drawn[1][0]
    assert drawn[0][1] == pytest.approx(drawn[1][1], rel=1e-12)
