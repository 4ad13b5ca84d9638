"""Every loop of the exponential mechanism, word by word, against the plain one: the same numbers, the same answers."""

from __future__ import annotations

from functools import partial

import mpmath
import numpy as np
import pytest

import pathveil as pv
from pathveil.systems.system import System
from pathveil.words.base.doubt import draw_block
from pathveil.words.base.tilt import tilt_factor
from pathveil.words.tilted import engines as engine_file
from pathveil.words.tilted import logs as tilted_logs
from pathveil.words.tilted.engines import LaneEngine, LogEngine, RenewalEngine
from pathveil.words.tilted.reachable_states import ReachableRows, ReachableStates
from pathveil.words.tilted.sparse import SparseEngine
from tests.reference.literal_draws import Drawn, draw_tilted, uniforms_of
from tests.reference.planted import PlantedSource
from tests.words.engines import without_step_table, words_of
from tests.worlds import DEAD_END_PLANS, UNEVEN

MARGIN = 0.02
CASES: list[tuple[System, int]] = [
    (UNEVEN, 9),
    (UNEVEN, 1),
    (UNEVEN, 2),
    (UNEVEN, 12),
    (DEAD_END_PLANS, 7),
    (DEAD_END_PLANS, 4),
]
ENGINES = [LaneEngine, partial(LaneEngine, step=2), LogEngine, SparseEngine, RenewalEngine]


def numbers_for(count: int, seed: int = 0) -> np.ndarray:
    """Keystream words that stay away from 0: what is a border there depends on symbols of weight 0."""
    return np.random.default_rng(seed).integers(2**59, 2**64, count, dtype=np.uint64)


def literally(world: System, codes: np.ndarray, theta: float, numbers: np.ndarray, margin: float) -> list[Drawn]:
    rows = zip(codes.tolist(), numbers.reshape(codes.shape).tolist(), strict=True)
    z = mpmath.mpf(tilt_factor(theta))
    return [draw_tilted(world.compiled, word, z, uniforms_of(row), margin) for word, row in rows]


@pytest.fixture
def doubts(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Which words the loops would hand over to exact arithmetic; nothing is."""
    found: list[bool] = []

    def floating_point_has_the_last_word(*arguments, loop, exactly, **named):
        def noted(keystream):
            in_doubt = loop(keystream)
            found.extend(in_doubt.tolist())
            return in_doubt

        assert exactly is not None
        draw_block(*arguments, loop=noted, exactly=None, **named)

    monkeypatch.setattr(engine_file, "draw_block", floating_point_has_the_last_word)
    monkeypatch.setattr(tilted_logs, "log_margin", lambda *_: MARGIN)
    return found


@pytest.mark.parametrize("theta", [0.3, 2.5])
@pytest.mark.parametrize(("world", "length"), CASES)
@pytest.mark.parametrize("make", ENGINES)
def test_each_number_falls_on_the_symbol_and_into_the_doubt_that_the_plain_loop_finds(
    make, world, length, theta, doubts
):
    if make is RenewalEngine and world is DEAD_END_PLANS:
        assert world.compiled.symbol_states is None
        return
    codes = words_of(world, length, 37)
    numbers = numbers_for(codes.size)
    expected = literally(world, codes, theta, numbers, MARGIN)
    # Not from the first cell on, not in order, and with cells between that are nobody's.
    order = np.random.default_rng(1).permutation(37)
    begins = 3 + order * (length + 2)
    values = np.zeros(3 + 37 * (length + 2), dtype=np.int64)
    private = np.full_like(values, -1)
    for begin, word in zip(begins, codes, strict=True):
        values[begin : begin + length] = word
    engine = make(world.compiled, length, theta)
    engine._margin = MARGIN
    log_z = engine.draw(values, begins, private, PlantedSource(numbers.tolist()))
    drawn = [private[begin : begin + length].tolist() for begin in begins]
    assert drawn == [each.word for each in expected]
    assert doubts == [each.in_doubt for each in expected]
    assert log_z == pytest.approx([float(mpmath.log(each.total)) for each in expected], rel=1e-12, abs=1e-14)
    assert np.count_nonzero(private == -1) == len(values) - 37 * length
    if length > 4:
        assert {True, False} == set(doubts)


def test_without_a_step_table_the_same_symbols_are_found_by_bisection(doubts):
    edges = [(a, b) for a in range(7) for b in range(a + 1)] + [(0, 5), (0, 6), (1, 4)]
    world = without_step_table(pv.MarkovChain.from_edges(edges, initial={0, 3, 6}))
    codes = words_of(world, 8, 40)
    numbers = numbers_for(codes.size)
    engine = LaneEngine(world.compiled, 8, 1.0)
    engine._margin = MARGIN
    private = np.empty(codes.size, dtype=np.int64)
    engine.draw(codes.reshape(-1), np.arange(40) * 8, private, PlantedSource(numbers.tolist()))
    expected = literally(world, codes, 1.0, numbers, MARGIN)
    assert private.reshape(40, 8).tolist() == [each.word for each in expected]
    assert doubts == [each.in_doubt for each in expected]


PLAN = pv.TransitionSystem(
    {(0, "a"): 1, (0, "b"): 1, (0, "c"): 3, (1, "b"): 2, (2, "a"): 0, (2, "c"): 1, (3, "a"): 4},
    initial=0,
    accepting={1},
)


@pytest.mark.parametrize("world", [UNEVEN, DEAD_END_PLANS, PLAN])
def test_messages_that_are_made_twice_have_the_same_digits(world):
    length = next(n for n in (13, 14, 15) if world.count(n))
    codes, words = words_of(world, length, 20), np.arange(20) * length
    found = set()
    for step in (1, 2, 3, 5, length - 1, length, None):
        private = np.empty(codes.size, dtype=np.int64)
        engine = LaneEngine(world.compiled, length, 1.5, step=step)
        log_z = engine.draw(codes.reshape(-1), words, private, pv.insecure_seed(4))
        found.add((private.tobytes(), log_z.tobytes()))
    assert len(found) == 1


@pytest.mark.parametrize("world", [UNEVEN, DEAD_END_PLANS, PLAN, pv.example_town()])
def test_sets_of_states_that_are_held_once_are_those_of_each_position(world):
    for length in (1, 2, 3, 12, 13):
        each, once = ReachableStates.of(world.compiled, length), ReachableRows.of(world.compiled, length)
        assert once.marks[once.rows].tolist() == each.marks.tolist()
        for i, row in enumerate(once.rows.tolist()):
            states = once.states[once.offsets[row] : once.offsets[row + 1]]
            assert states.tolist() == each.states[each.offsets[i] : each.offsets[i + 1]].tolist()


@pytest.mark.usefixtures("doubts")
@pytest.mark.parametrize("make", ENGINES)
def test_numbers_at_both_ends_of_the_unit_interval_take_the_first_and_the_last_symbol(make):
    word = np.array([3, 6, 0, 5, 2])
    for number in (0, 2**64 - 1):
        private = np.empty_like(word)
        make(UNEVEN.compiled, 5, 0.5).draw(word, np.array([0]), private, PlantedSource([number]))
        [expected] = literally(UNEVEN, word[None, :], 0.5, np.full(5, number, dtype=np.uint64), 0.0)
        assert private.tolist() == expected.word


@pytest.mark.usefixtures("doubts")
@pytest.mark.parametrize("make", ENGINES)
def test_a_keystream_word_stands_for_the_middle_of_its_cell(make):
    """Two symbols that are equally likely: the border is 1/2, which begins a cell of 2^11 keystream words."""
    fork = pv.MarkovChain.from_edges([(0, 1), (0, 2), (1, 0), (2, 0)], initial=0)
    for number, expected in [(2**63 - 1, 1), (2**63, 2)]:
        word, private = np.array([0]), np.empty(1, dtype=np.int64)
        make(fork.compiled, 1, 1.0).draw(word, np.array([0]), private, PlantedSource([number]))
        assert private.tolist() == [expected]


@pytest.mark.parametrize("theta", [0.01, 3.0, 45.0, 70.0, 150.0])
@pytest.mark.parametrize("count", [1, 16, 17, 40])
def test_partition_functions_are_right_however_often_messages_are_rescaled(theta, count):
    length = 13
    codes = words_of(DEAD_END_PLANS, length, count)
    engine = LaneEngine(DEAD_END_PLANS.compiled, length, theta)
    with mpmath.workdps(60):
        z = mpmath.mpf(tilt_factor(theta))
        expected = [
            float(mpmath.log(draw_tilted(DEAD_END_PLANS.compiled, word, z, [0.5] * length, 0.0).total))
            for word in codes.tolist()
        ]
    found = engine.log_partition(codes.reshape(-1), np.arange(count) * length)
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-13)
    private = np.empty(codes.size, dtype=np.int64)
    drawn = engine.draw(codes.reshape(-1), np.arange(count) * length, private, pv.insecure_seed(1))
    assert drawn == pytest.approx(expected, rel=1e-12, abs=1e-13)


def test_lanes_are_rescaled_by_powers_of_two_and_reported_where_their_weights_lie_too_far_apart():
    from pathveil.words.tilted.lane_kernels import LANES, _rescale

    states = np.array([0, 2, 3])
    message = np.full((4, LANES), 3.0)
    message[1] = 1e300  # no state of this position
    message[:, 1] = [2.0**-600, 7.0, 2.0**-601, 2.0**-603]
    message[:, 2] = [1.0, 7.0, 1.1e-200, 1.0]
    message[:, 3] = [1.0, 7.0, 0.9e-200, 1.0]
    message[:, 4] = [1.0, 7.0, np.inf, 1.0]
    message[:, 5] = [0.5, 7.0, 0.25, 0.4]
    message[:, 6] = [0.0, 7.0, 0.0, 0.0]
    before = message.copy()
    exponents, unscale = np.arange(float(LANES)), np.full(LANES, 9.0)
    sound = np.ones(LANES, dtype=bool)
    _rescale(message, states, exponents, unscale, sound)
    assert np.flatnonzero(~sound).tolist() == [3, 4, 6]
    powers = np.full(LANES, 2)
    powers[[1, 2, 3, 4, 5, 6]] = [-599, 1, 0, 0, 0, 0]
    assert (exponents - np.arange(LANES)).tolist() == powers.tolist()
    assert unscale.tolist() == (2.0**powers).tolist()
    assert np.array_equal(message[1], before[1])
    assert np.array_equal(message[states], before[states] * 2.0**-powers)


def test_a_word_that_leaves_the_range_of_numbers_says_nothing_about_its_neighbours_in_a_batch():
    """Two rings without a way from one to the other: a word that changes rings half way has weights far apart."""
    rings = pv.MarkovChain.from_edges([(0, 1), (1, 0), (2, 3), (3, 2)])
    length, theta = 60, 20.0
    torn, whole = [0, 1] * 15 + [2, 3] * 15, [0, 1] * 30
    codes = np.array([whole, torn, *[whole] * 20, torn, *[[2, 3] * 30] * 3])
    begins = np.arange(len(codes)) * length
    engine = LaneEngine(rings.compiled, length, theta)
    private = np.empty(codes.size, dtype=np.int64)
    log_z = engine.draw(codes.reshape(-1), begins, private, pv.insecure_seed(2))
    expected = np.where(np.isin(np.arange(len(codes)), [1, 22]), np.log(2.0) - 30 * theta, 0.0)
    assert log_z == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert engine.log_partition(codes.reshape(-1), begins) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    errors = np.count_nonzero(private.reshape(codes.shape) != codes, axis=1)
    assert errors.tolist() == np.where(expected == 0, 0, 30).tolist()
