"""Draws by marks and gaps: literally the same words from the same numbers, whatever the reach."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

import mpmath
import numpy as np
import pytest

import pathveil as pv
from pathveil.words.base.tilt import tilt_factor
from pathveil.words.local import LocalDraw, LocalWorld
from pathveil.words.local.marks_kernel import _walk_between
from pathveil.words.local.walk_counts import WalkCounts
from pathveil.words.tilted.engines import LaneEngine, MarksEngine
from tests.reference.enumeration import exponential_law, feasible_words
from tests.reference.literal_marks import draw as draw_literally
from tests.reference.literal_marks import law as law_literally
from tests.reference.planted import PlantedSource
from tests.statistics import FALSE_ALARM, chi_square_p_value
from tests.worlds import CHAIN, TOWN, UNEVEN

AFTER = pv.MarkovChain.from_edges([(0, 1), (1, 2), (2, 0), (1, 0), (2, 2)], initial=2, final={0, 2})
TWO_PARTS = pv.MarkovChain.from_edges([(0, 1), (1, 0), (0, 0), (2, 3), (3, 2), (2, 4), (4, 4)])
WORLDS = {"chain": CHAIN, "uneven": UNEVEN, "after a state": AFTER, "two parts": TWO_PARTS}


def local(world: pv.System) -> LocalWorld:
    found = LocalWorld.of(world.compiled)
    assert found is not None
    return found


def rows(words: list, world: pv.System) -> np.ndarray:
    return np.array([world.encode(word) for word in words])


@pytest.mark.reference
@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
def test_marks_and_gaps_are_the_exponential_mechanism(world: pv.System) -> None:
    z = Fraction(1, 7)
    for word in feasible_words(world, 4)[::5]:
        expected = exponential_law(world, word, log(7))
        found = law_literally(world.compiled, world.encode(word).tolist(), z)
        assert sum(found.values()) == 1
        by_word = {world.decode(codes): float(p) for codes, p in found.items()}
        assert by_word == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("theta", [4.0, 7.0])
@pytest.mark.parametrize("reach", [1, 2, 4])
@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
def test_every_word_is_that_of_the_literal_loop_or_in_doubt(world: pv.System, reach: int, theta: float) -> None:
    """The remainder is allowed to be large here, so that the comparisons that it could decide are met, too."""
    source, z = pv.insecure_seed(1), tilt_factor(theta)
    codes = rows(world.random_words(6, 24, source), world)
    numbers = source.keystream(24 * 7).reshape(24, 7)
    draw = LocalDraw(local(world), 6, z, reach, largest_remainder=0.9)
    private = np.full(codes.size, -1)
    drawn = draw.draw(codes.reshape(-1), np.arange(24) * 6, numbers, private)
    sure = ~(drawn.in_doubt | drawn.undrawn)
    assert np.all(private.reshape(codes.shape)[~sure] == -1)
    for word, row, result in zip(codes[sure], numbers[sure], private.reshape(codes.shape)[sure], strict=True):
        expected = draw_literally(world.compiled, word.tolist(), Fraction(z), uniforms(row))
        assert tuple(result) == expected
    if theta == 7.0 and reach > 1:
        assert sure.mean() > 0.8


def uniforms(row: np.ndarray) -> list[Fraction]:
    return [Fraction(2 * int(value) + 1, 2**65) for value in row]


@pytest.mark.parametrize("reach", [1, 2, 5])
@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
def test_words_in_doubt_are_drawn_again_from_the_same_bits_without_rounding(world: pv.System, reach: int) -> None:
    """With an endless margin every word is in doubt, and the exact loop has to come to the same words."""
    theta = 6.0
    codes = rows(world.random_words(6, 12, pv.insecure_seed(3)), world)
    engine = MarksEngine(world.compiled, 6, theta, reach, margin=np.inf)
    for word in codes:
        numbers = pv.insecure_seed(int(word.sum())).keystream(7)
        private = np.empty(6, dtype=np.int64)
        engine.draw(word, np.array([0]), private, Continued(numbers.tolist()))
        expected = draw_literally(world.compiled, word.tolist(), Fraction(tilt_factor(theta)), uniforms(numbers))
        assert tuple(private) == expected


class Continued(PlantedSource):
    """Numbers that go on with a one and then zeros: they lie in the middle of their cells."""

    def __init__(self, words: list[int]) -> None:
        super().__init__(words)

    def bytes(self, count: int) -> bytes:
        assert count == 8
        return (1 << 63).to_bytes(8, "little")


@pytest.mark.parametrize("numbers", ["low", "high", "mixed"])
def test_extreme_numbers_lead_to_excursions_that_the_exact_loop_follows(numbers: str) -> None:
    """Numbers near 1 ask for the longest gaps, up to words without any mark."""
    rng = np.random.default_rng(1)
    for trial in range(20):
        word = CHAIN.encode(CHAIN.random_word(5, pv.insecure_seed(trial)))
        row = rng.integers(0, 2**64, 6, dtype=np.uint64)
        if numbers != "mixed":
            row[:] = 1 if numbers == "low" else 2**64 - 1 - trial
        elif trial % 2:
            row[0] = 2**64 - 1
        engine, private = MarksEngine(CHAIN.compiled, 5, 8.0, 2), np.empty(5, dtype=np.int64)
        engine.draw(word, np.array([0]), private, Continued(row.tolist()))
        expected = draw_literally(CHAIN.compiled, word.tolist(), Fraction(tilt_factor(8.0)), uniforms(row))
        assert tuple(private) == expected


@pytest.mark.parametrize("theta", [1.8, 2.4, 4.9])
@pytest.mark.parametrize("reach", [2, 4, 8, 12])
def test_the_remainder_holds_what_is_left_out_in_60_digits(theta: float, reach: int) -> None:
    city, length, z = pv.example_city(100), 20, tilt_factor(theta)
    codes = rows(city.random_words(length, 5, pv.insecure_seed(4)), city)
    draw = LocalDraw(local(city), length, z, reach, largest_remainder=np.inf)
    keystream = pv.insecure_seed(5).keystream(5 * (length + 1)).reshape(5, -1)
    drawn = draw.draw(codes.reshape(-1), np.arange(5) * length, keystream, np.empty(codes.size, dtype=np.int64))
    with mpmath.workdps(60):
        for word, log_z, remainder in zip(codes, drawn.log_z, drawn.remainders, strict=True):
            whole = partition_function(city, word.tolist(), mpmath.mpf(z))
            found = mpmath.exp(mpmath.mpf(float(log_z)))
            assert found <= whole * (1 + mpmath.mpf(10) ** -12)
            if remainder < 1:  # beyond that it says nothing
                assert whole <= found * (1 + float(remainder)) * (1 + mpmath.mpf(10) ** -12)
    assert np.all(drawn.remainders <= local(city).remainder(reach, length, z))


def partition_function(world: pv.System, word: list[int], z: mpmath.mpf) -> mpmath.mpf:
    compiled = world.compiled
    after = [mpmath.mpf(int(one)) for one in compiled.accepting]
    for code in reversed(word):
        after = [
            mpmath.fsum((1 if label == code else z) * after[target] for label, target in moves.items())
            for moves in compiled.moves
        ]
    return after[compiled.start]


def test_draws_have_the_law_of_the_mechanism() -> None:
    """Whole words of a small chain, then numbers of errors in a city. False alarms: once in a million runs each."""
    word = (0, 1, 2, 2, 0, 1)
    engine = MarksEngine(CHAIN.compiled, 6, 2.5, 5)
    assert chi_square_p_value(drawn_words(engine, CHAIN, word, 20_000), exponential_law(CHAIN, word, 2.5)) > FALSE_ALARM
    # Negative control: another tilt is found out.
    assert chi_square_p_value(drawn_words(engine, CHAIN, word, 20_000), exponential_law(CHAIN, word, 2.3)) < FALSE_ALARM
    city = pv.example_city(400)
    mechanism = pv.Exponential(city, 6.0)
    trip = city.random_word(30, pv.insecure_seed(8))
    codes = np.tile(city.encode(trip), (20_000, 1))
    errors = np.count_nonzero(mechanism.privatize_array(codes, rng=pv.insecure_seed(9)) != codes, axis=1).tolist()
    for wrong, epsilon in ((False, 6.0), (True, 6.3)):
        law = dict(enumerate(pv.Exponential(city, epsilon).error_law(trip).pmf.tolist()))
        assert (chi_square_p_value(errors, law) < FALSE_ALARM) == wrong


def drawn_words(engine: MarksEngine, world: pv.System, word: tuple, count: int) -> list:
    codes = np.tile(world.encode(word), count)
    private = np.empty_like(codes)
    engine.draw(codes, np.arange(count) * len(word), private, pv.insecure_seed(7))
    return [world.decode(row) for row in private.reshape(count, -1).tolist()]


@pytest.mark.parametrize("theta", [1.3, 3.0, 12.0])
def test_long_words_stay_within_the_range_of_floating_point(theta: float) -> None:
    word = TOWN.encode(TOWN.random_word(8_000, pv.insecure_seed(1)))
    world, z = local(TOWN), tilt_factor(theta)
    reach = world.reach_for(1e-4, 8_000, z) or 60
    draw = LocalDraw(world, 8_000, z, reach, largest_remainder=np.inf)
    keystream = pv.insecure_seed(2).keystream(8_001).reshape(1, -1)
    drawn = draw.draw(word, np.array([0]), keystream, np.empty_like(word))
    expected = LaneEngine(TOWN.compiled, 8_000, theta).log_partition(word, np.array([0]))
    assert drawn.log_z[0] == pytest.approx(expected[0], rel=1e-4, abs=1e-4)
    assert theta > 2 or expected[0] > 720, "this one is meant to be beyond the largest number"


def test_a_word_that_jumps_is_drawn_by_passing_over_the_system() -> None:
    city = pv.example_city(400)
    jumps = city.encode([0, 399, 20, 200, 3, 77, 5, 300, 9, 350] * 2)
    engine, private = MarksEngine(city.compiled, 20, 6.0, 6), np.empty(20, dtype=np.int64)
    drawn = LocalDraw(local(city), 20, exp(-6.0), 6).draw(
        jumps, np.array([0]), pv.insecure_seed(1).keystream(21).reshape(1, -1), private
    )
    assert drawn.undrawn[0]
    engine.draw(jumps, np.array([0]), private, pv.insecure_seed(1))
    assert city.compiled.feasible_rows(private[None, :])[0]
    mechanism = pv.Exponential(city, 12.0, on_infeasible="nearest")
    assert city.is_feasible(mechanism.privatize(city.decode(jumps.tolist()), rng=pv.insecure_seed(2)))


def test_a_hub_that_everything_leads_to_is_left_to_the_other_loops() -> None:
    spokes = 20_000
    world = pv.MarkovChain.from_edges([(0, k) for k in range(1, spokes)] + [(k, 0) for k in range(1, spokes)])
    mechanism = pv.Exponential(world, 60.0)
    trip = [0, 5] * 10
    assert mechanism.privatize(trip, rng=pv.insecure_seed(1)) == tuple(trip)


def test_counts_are_kept_and_grow_with_the_words() -> None:
    city = pv.example_city(2_500)
    mechanism, source = pv.Exponential(city, 10.0), pv.insecure_seed(1)
    first = city.random_words(40, 300, source)
    alone = [mechanism.privatize(word, rng=pv.insecure_seed(3)) for word in first[:3]]
    together = mechanism.privatize_many(first, rng=pv.insecure_seed(4))
    assert all(city.is_feasible(word) for word in together)
    assert alone == [mechanism.privatize(word, rng=pv.insecure_seed(3)) for word in first[:3]]


@pytest.mark.parametrize("reach", [1, 2, 3, 6])
@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
def test_lists_have_every_state_that_so_many_steps_lead_to_or_from_with_the_number_of_walks(
    world: pv.System, reach: int
) -> None:
    asked = local(world).entered
    place, begins, states, counts = WalkCounts(local(world), reach).around(np.concatenate([asked, asked]))
    edges = world.compiled.adjacency.toarray().astype(int)
    edges[world.compiled.start] *= bool(edges[:, world.compiled.start].any())  # a start that nothing leads back to
    ahead = (reach + 1) // 2
    for state in asked.tolist():
        for steps in range(1, reach + 1):
            cells = slice(*begins[place[state], steps - 1 : steps + 1])
            walks = np.linalg.matrix_power(edges if steps <= ahead else edges.T, steps - ahead * (steps > ahead))[state]
            assert sorted(states[cells]) == np.flatnonzero(walks).tolist()
            assert np.array_equal(counts[cells], walks[states[cells]])


def test_words_in_doubt_are_drawn_once_more_with_a_longer_reach_from_the_same_bits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All of them here, since the first reach is far too short; none has to be drawn exactly."""
    city, length = pv.example_city(400), 20
    codes = rows(city.random_words(length, 200, pv.insecure_seed(6)), city).reshape(-1)
    begins, drawn = np.arange(200) * length, []
    monkeypatch.setattr(MarksEngine, "_can_be_exact", False)
    for reach, longer in ((2, 14), (14, None)):
        engine, private = MarksEngine(city.compiled, length, 4.0, reach, longer_reach=longer), np.empty_like(codes)
        log_z = engine.draw(codes, begins, private, pv.insecure_seed(7))
        drawn.append((private.tolist(), log_z.tolist()))
    assert drawn[0] == drawn[1]
    assert np.count_nonzero(np.array(drawn[0][0]) != codes) > 50
    alone = LocalDraw(local(city), length, tilt_factor(4.0), 2)
    numbers = pv.insecure_seed(7).keystream(200 * (length + 1)).reshape(200, -1)
    first = alone.draw(codes, begins, numbers, np.empty_like(codes))
    assert (first.in_doubt | first.undrawn).mean() > 0.9


@pytest.mark.parametrize(("places", "is_drawn"), [(100, True), (70_000, False)])
def test_a_walk_over_a_gap_longer_than_the_lists_is_in_doubt_where_too_much_lies_around_it(
    places: int, is_drawn: bool
) -> None:
    """So many places lie three steps before its end, and only two of them two steps behind its beginning."""
    spokes, away = range(7, 7 + places), 7 + places
    roads = [(0, 7), (0, 8), (6, 5), (5, 4), (4, 4), *((away, k) for k in spokes), *((k, 6) for k in spokes)]
    chain = pv.MarkovChain.from_edges(roads)
    world = local(chain)
    state = {place: int(world.entered[chain.encode([place])[0]]) for place in range(9) if place not in (1, 2, 3)}
    lists = WalkCounts(world, 4).around(np.array([state[0], state[4]]))
    edges = (world.forward_edges, world.backward_edges)
    numbers, states = np.array([3 << 62, 0, 0], dtype=np.uint64), np.full(3, -1)
    drawn = _walk_between(state[0], state[4], 4, 2.0, 4, lists, edges, numbers, 1e-12, states)
    assert drawn == is_drawn
    if drawn:
        assert states.tolist() == [state[8], state[6], state[5]]


@pytest.mark.parametrize(("most", "is_counted"), [(1_000, True), (120, False), (90, False)])
def test_a_state_with_too_many_edges_or_states_around_it_gets_no_lists(most: int, is_counted: bool) -> None:
    """A hundred states, each before each: 10,000 edges."""
    world = pv.MarkovChain.from_edges([(a, b) for a in range(100) for b in range(100)])
    counts = WalkCounts(local(world), 4, most_states=most)
    place = counts.around(np.arange(3))[0]
    assert (place[:3] >= 0).all() if is_counted else (place[:3] == -2).all()
