"""The compiled loops draw from the same laws as the plain ones."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import mpmath
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pathveil as pv
from pathveil.randomness import blocks
from pathveil.randomness.source import RandomSource
from pathveil.words.base.batch import Batch
from pathveil.words.base.tilt import tilt_factor
from pathveil.words.tilted import draw as tilted
from pathveil.words.tilted.engines import Engine, LaneEngine, RenewalEngine
from pathveil.words.tilted.logs import log_normalisers
from pathveil.words.tilted.rejection import FlipByRejection
from pathveil.words.tilted.response import keystream_values_per_symbol
from pathveil.words.tilted.sparse import SparseEngine
from tests.reference.enumeration import Word, exponential_law, feasible_words, hamming
from tests.reference.planted import PlantedSource, law_of
from tests.reference.random_systems import systems_with_word
from tests.sizes import given_few_and_many
from tests.statistics import FALSE_ALARM, chi_square_p_value, counted_rows
from tests.words.engines import engines, without_step_table
from tests.words.mechanisms import MECHANISMS, build
from tests.worlds import CHAIN, PLANS

SystemWithWord = tuple[pv.System, Word]
TILTS = st.sampled_from([1e-9, 0.3, 1.0, 4.0, 20.0])


@pytest.fixture
def blocks_run(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many blocks each large batch was cut into."""
    run: list[int] = []
    original = blocks.run_all
    monkeypatch.setattr(blocks, "run_all", lambda tasks: run.append(len(tasks)) or original(tasks))
    return run


# ----------------------------------------------------------------------------------------------------- tilted draws


@given_few_and_many(10, 50, case=systems_with_word(feasible=False), theta=TILTS)
def test_every_loop_draws_each_word_with_the_probability_that_listing_gives(case: SystemWithWord, theta: float) -> None:
    world, word = case
    expected = {tuple(world.encode(v)): p for v, p in exponential_law(world, word, theta).items()}
    codes, begins = world.encode(word), np.array([0])
    for engine in engines(world, len(word), theta):

        def draw(source: RandomSource, engine: Engine = engine) -> tuple[int, ...]:
            private = np.empty_like(codes)
            engine.draw(codes, begins, private, source)
            return tuple(private.tolist())

        law = law_of(draw, len(word))
        assert law.keys() <= expected.keys()
        for output, probability in expected.items():
            assert law.get(output, 0.0) == pytest.approx(probability, abs=1e-12)


def test_the_reading_of_laws_notices_a_wrong_one() -> None:
    engine, codes = LaneEngine(CHAIN.compiled, 3, 1.0), np.array([0, 1, 2])

    def draw(source: RandomSource) -> tuple[int, ...]:
        private = np.empty_like(codes)
        engine.draw(codes, np.array([0]), private, source)
        return tuple(private.tolist())

    other = exponential_law(CHAIN, (0, 1, 2), 1.0 + 1e-9)
    assert any(abs(p - other[output]) > 1e-12 for output, p in law_of(draw, 3).items())


@given_few_and_many(
    30, 60, case=systems_with_word(feasible=False), theta=st.one_of(TILTS, st.sampled_from([46.0, 300.0, 1e6, 1e100]))
)
def test_every_loop_knows_the_normaliser(case: SystemWithWord, theta: float) -> None:
    world, word = case
    codes = world.encode(word)
    distances = [hamming(word, v) for v in feasible_words(world, len(word))]
    nearest = min(distances)
    used = -math.log(tilt_factor(theta))  # no floating-point number is e^-1000
    expected = math.log(math.fsum(math.exp(-used * (d - nearest)) for d in distances)) - used * nearest
    for engine in engines(world, len(word), theta):
        if isinstance(engine, RenewalEngine) and theta > 20:
            continue  # `engine_for` does not use it there
        private = np.empty_like(codes)
        [log_z] = engine.draw(codes, np.array([0]), private, pv.insecure_seed(1))
        assert log_z == pytest.approx(expected, rel=1e-12, abs=1e-12)
        assert world.is_feasible([world.symbols[code] for code in private])


@pytest.mark.parametrize("theta", [1e-9, 0.5, 5.0, 60.0, 300.0, 1e6, 1e100])
def test_long_words_and_extreme_tilts_keep_their_precision(theta: float) -> None:
    town, length = pv.example_town(), 400
    source = pv.insecure_seed(5)
    feasible = town.encode(town.random_word(length, source))
    infeasible = np.random.default_rng(1).integers(0, len(town.symbols), length)
    values, begins = np.concatenate([feasible, infeasible]), np.array([0, length])
    private = np.empty_like(values)
    used = -math.log(tilt_factor(theta))
    for make in (SparseEngine, tilted.engine_for):
        log_z = make(town.compiled, length, theta).draw(values, begins, private, source)
        assert log_z == pytest.approx(log_normalisers(town.compiled, values.reshape(2, -1), used), rel=1e-12)
        assert town.compiled.feasible_rows(private.reshape(2, -1)).all()
    if theta >= 60:  # nothing but the nearest words is likely
        assert private[:length].tolist() == feasible.tolist()
        [least], _ = FlipByRejection(town.compiled, length, theta, feasible=False).nearest(infeasible, np.array([0]))
        assert np.count_nonzero(private[length:] != infeasible) == least > 0


def test_a_word_that_fits_one_part_first_and_another_part_later_is_not_lost_to_underflow() -> None:
    # Two rings without a way from one to the other: every feasible word has at least 300 errors, and so have the
    # states that are best at the end compared with those that are best at the beginning.
    rings = pv.MarkovChain.from_edges([(0, 1), (1, 0), (2, 3), (3, 2)])
    word = np.array([0, 1] * 150 + [2, 3] * 150)
    for theta in (3.0, 50.0):
        private = np.empty_like(word)
        engine = LaneEngine(rings.compiled, len(word), theta)
        [log_z] = engine.draw(word, np.array([0]), private, pv.insecure_seed(1))
        assert log_z == pytest.approx(math.log(2) - 300 * theta, rel=1e-12)
        assert np.count_nonzero(private != word) == 300


def test_states_with_many_successors_and_systems_without_a_step_table_are_drawn_alike() -> None:
    edges = [(a, b) for a in range(9) for b in range(9) if (a * b) % 4 != 3]
    word = np.tile([0, 5, 7, 2, 8, 8], (40, 1))
    dense = pv.MarkovChain.from_edges(edges)
    assert dense.compiled.step_table.size
    searched = without_step_table(pv.MarkovChain.from_edges(edges))
    ring = pv.MarkovChain.from_edges([(a, (a + 1) % 1_100) for a in range(1_100)])
    assert ring.compiled.step_table.shape == searched.compiled.step_table.shape
    results = []
    for world in (dense, searched):
        private = np.empty_like(word.ravel())
        log_z = LaneEngine(world.compiled, 6, 0.7).draw(
            word.ravel(), np.arange(0, 240, 6), private, pv.insecure_seed(3)
        )
        assert log_z == pytest.approx(log_normalisers(world.compiled, word, 0.7), rel=1e-12)
        results.append(private.tolist())
    assert not searched.compiled.step_table.size
    assert results[0] == results[1]


# --------------------------------------------------------------------------------------------------- free alphabets


@given(m=st.integers(2, 10_000), theta=st.floats(1e-6, 700.0))
def test_the_right_symbol_is_never_more_than_e_to_theta_times_as_likely_as_another(m: int, theta: float) -> None:
    each = keystream_values_per_symbol(m, theta)[0]
    with mpmath.workdps(60):
        z = mpmath.exp(-mpmath.mpf(theta))
        assert mpmath.mpf(2**64 - (m - 1) * each) / each <= 1 / z
        # Not much less likely either: up to the last digits of e^-θ, and the last keystream word.
        assert each <= 2**64 * z / (1 + (m - 1) * z) * (1 + mpmath.mpf(2) ** -50) + 1


def test_each_keystream_word_stands_for_one_symbol() -> None:
    from pathveil.words.free_kernels import respond

    m, each = 5, keystream_values_per_symbol(5, 1.0)[0]
    edges = [0, each - 1, each, 2 * each - 1, 2 * each, 4 * each - 1, 4 * each, 2**64 - 1]
    values, private = np.full(len(edges), 3), np.empty(len(edges), dtype=np.int64)
    respond(values, 0, len(edges), m, np.uint64(each), np.array(edges, dtype=np.uint64), private)
    assert private.tolist() == [4, 4, 0, 0, 1, 2, 3, 3]


@pytest.mark.parametrize("m", [2, 3, 20, 255, 100_003])
@pytest.mark.parametrize("power", [1, 2**16, 2**39 + 1, 2**40 - 1, 2**40, 2**41 + 7, 2**46, 2**46 - 1, None])
def test_the_symbol_that_owns_a_keystream_word_is_the_quotient(m: int, power: int | None) -> None:
    """Around every multiple of what a symbol owns, and the last words; also with powers of two, and as much as fits."""
    from pathveil.words.free_kernels import respond

    each = 2**64 // m if power is None else power
    multiples = [k * each for k in {*range(min(m, 300)), *range(m // 2 - 5, m // 2 + 5), *range(m - 5, m)}]
    words = [w for k in multiples for w in range(k - 2, k + 3) if 0 <= w < 2**64] + [2**64 - 1, 2**63, 2**63 - 1]
    values, private = np.full(len(words), m - 1), np.empty(len(words), dtype=np.int64)
    respond(values, 0, len(words), m, np.uint64(each), np.array(words, dtype=np.uint64), private)
    assert private.tolist() == [w // each if w < (m - 1) * each else m - 1 for w in words]


def test_a_keystream_word_that_would_favour_a_position_is_not_used() -> None:
    from pathveil.words.free_kernels import place_errors

    values, private = np.zeros(3, dtype=np.int64), np.empty(3, dtype=np.int64)
    again, in_doubt = np.empty(1, dtype=bool), np.empty(1, dtype=bool)
    bounds = np.array([0, 2**63, 3 * 2**62], dtype=np.uint64)
    # 2^64 is 1 more than a multiple of 3 (and of 3 · 5), so of the words 0 and its like exactly one is too many.
    for word, expected in [(0, True), (1, False)]:
        words = np.array([2, word, 0, 0], dtype=np.uint64)
        place_errors(values, np.array([0]), 3, 6, bounds, words, private, again, in_doubt)
        assert again[0] == expected
        assert not in_doubt[0]


# ------------------------------------------------------------------------------------------------- whole mechanisms

WORLDS: dict[str, tuple[pv.System, list[Word]]] = {
    "alphabet": (pv.Alphabet("abc"), [tuple("abc"), tuple("ca")]),
    "chain": (CHAIN, [(0, 1, 2, 0), (1, 2)]),
    "plans": (PLANS, [("a", "b", "c", "b"), ("a", "b", "a")]),
}
DRAWS = 25_000  # with any of these: more than plain loops are given, and more than one block


def output_law(mechanism: pv.WordMechanism, word: Word) -> dict[Word, float]:
    """By the codes of each output."""
    world = mechanism.world
    outputs = feasible_words(world, len(word))
    return {tuple(world.encode(v).tolist()): math.exp(mechanism.log_probability(word, v)) for v in outputs}


@pytest.mark.parametrize("where", WORLDS)
@pytest.mark.parametrize("name", MECHANISMS)
def test_ragged_batches_follow_the_law_of_the_mechanism(name: str, where: str, blocks_run: list[int]) -> None:
    world, words = WORLDS[where]
    mechanism, other = build(name, world, 2.0), build(name, world, 3.0)
    if mechanism is None or other is None:
        assert where == "plans"
        return
    ends = np.cumsum([len(word) for word in words])
    offsets = np.append(0, (np.arange(DRAWS)[:, None] * ends[-1] + ends).ravel())
    batch = Batch(np.tile(np.concatenate([world.encode(word) for word in words]), DRAWS), offsets)
    source = pv.insecure_seed(12)
    private, control = (one._draw(batch, source).reshape(DRAWS, -1) for one in (mechanism, other))
    is_response = where == "alphabet" and name not in ("inverse utility", "permute-and-flip")
    assert is_response or max(blocks_run) > 1
    for word, end in zip(words, ends, strict=True):
        law = output_law(mechanism, word)
        # False-alarm probability 1e-6. Negative control: a third less noise is noticed.
        drawn, less_noise = (counted_rows(rows[:, end - len(word) : end]) for rows in (private, control))
        assert chi_square_p_value(drawn, law) > FALSE_ALARM
        assert chi_square_p_value(less_noise, law) < FALSE_ALARM


def test_randomized_response_is_cut_into_blocks_as_well(blocks_run: list[int]) -> None:
    """Four symbols, equally often. False-alarm probability 1e-6; negative control: a little less noise."""
    each = 600_000
    words = np.repeat(np.arange(4), each).reshape(-1, 4)
    for epsilon, fits in ((1.0, True), (1.01, False)):
        private = pv.Online(pv.Alphabet("abcd"), epsilon).privatize_array(words, rng=pv.insecure_seed(2))
        counts = np.bincount(private.ravel() + 4 * words.ravel(), minlength=16).reshape(4, 4)
        law = {k: math.exp((k == 0) * 1.0) / (3 + math.e) for k in range(4)}
        found = [chi_square_p_value({(k - x) % 4: int(counts[x, k]) for k in range(4)}, law) for x in range(4)]
        assert (min(found) > FALSE_ALARM) == fits
    assert max(blocks_run) > 1


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_seed_gives_the_same_words_on_any_number_of_processors(
    name: str, blocks_run: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    mechanism = build(name, CHAIN, 1.0)
    assert mechanism is not None
    words = np.tile([[0, 1, 2, 0], [1, 0, 0, 0], [2, 0, 1, 1]], (14_000, 1))
    results = []
    for count in (1, 2, 5):
        monkeypatch.setattr(blocks, "processors", lambda count=count: count)
        results.append(mechanism.privatize_array(words, rng=pv.insecure_seed(4)))
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])
    assert not np.array_equal(results[0], mechanism.privatize_array(words, rng=pv.insecure_seed(5)))
    assert min(blocks_run) > 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pa.int32(), pa.uint64()])
@pytest.mark.parametrize("name", MECHANISMS)
def test_codes_of_every_kind_are_read_and_written(name: str, kind: pa.DataType, blocks_run: list[int]) -> None:
    mechanism = build(name, CHAIN, 1e6)
    assert mechanism is not None
    words = pa.array([[0, 1, 2, 0], [1, 0], [2]] * DRAWS, type=pa.list_(kind))
    private = mechanism.privatize_arrow(words)
    assert private.equals(words)
    assert private.type == words.type
    assert max(blocks_run) > 1


def test_a_process_that_is_forked_after_a_batch_can_draw_batches_too(blocks_run: list[int]) -> None:
    mechanism = pv.Exponential(CHAIN, 1.0)
    words = np.tile([0, 1, 2, 0], (40_000, 1))
    mine = mechanism.privatize_array(words)
    child = os.fork()
    if child == 0:  # pragma: no cover - runs in the child
        repeated = np.array_equal(mechanism.privatize_array(words), mine)
        os._exit(1 if repeated else 0)
    assert os.waitpid(child, 0)[1] == 0
    assert not np.array_equal(mechanism.privatize_array(words), mine)
    assert min(blocks_run) > 1


def test_nothing_is_compiled_for_a_single_word_but_certificates_of_chains() -> None:
    script = (
        "import sys, pathveil as pv\n"
        "for world in (pv.Alphabet('abc'), pv.MarkovChain.from_edges(['ab', 'ba', 'bc', 'ca'])):\n"
        "    for m in (pv.Exponential, pv.PermuteAndFlip, pv.Online):\n"
        "        m(world, 1.0).privatize('abc')\n"
        "pv.CertifiedExponential(pv.Alphabet('abc'), 1.0).privatize('abc')\n"
        "sys.exit('numba' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_an_error_in_a_block_is_raised_and_stops_the_others() -> None:
    done = []

    def fail() -> None:
        raise RuntimeError("block 0")

    with pytest.raises(RuntimeError, match="block 0"):
        blocks.run_all([fail, *([lambda: done.append(1)] * 3)])


def test_feasible_words_are_found_where_a_state_has_many_edges() -> None:
    """More than are looked at one after the other."""
    hub = pv.MarkovChain.from_edges([(0, k) for k in range(1, 40)] + [(k, 0) for k in range(1, 40, 2)])
    words = np.array([[0, k, 0, (k * 7) % 41] for k in range(1, 40)] * 100)
    words[words > 39] = 39
    codes = np.vectorize(lambda place: hub.encode([place])[0])(words)
    expected = [hub.is_feasible(word) for word in words.tolist()]
    assert 0 < sum(expected) < len(expected)
    from pathveil.systems.feasible_kernel import mark_feasible

    compiled, found = hub.compiled, np.empty(len(words), dtype=bool)
    for entered in (np.empty(0, dtype=np.int64), compiled.symbol_states):
        mark_feasible(
            codes.reshape(-1), np.arange(len(words) + 1) * 4, 0, len(words), compiled.offsets, compiled.labels,
            compiled.targets, compiled.start, compiled.accepting, np.empty((0, 0), dtype=np.int32), entered, found,
        )  # fmt: skip
        assert found.tolist() == expected


@given_few_and_many(20, 40, case=systems_with_word(feasible=False), data=st.data())
def test_compiled_checks_find_the_same_words_feasible(case: SystemWithWord, data: st.DataObject) -> None:
    from pathveil.systems.feasible_kernel import mark_feasible

    world, _ = case
    compiled = world.compiled
    symbol = st.integers(0, len(world.symbols) - 1)
    listed = data.draw(st.lists(st.lists(symbol, min_size=1, max_size=5), min_size=1))
    words = Batch(np.concatenate([np.array(w) for w in listed]), np.cumsum([0, *map(len, listed)]))
    expected = [world.is_feasible([world.symbols[code] for code in word]) for word in listed]
    no_table, no_states = np.empty((0, 0), dtype=np.int32), np.empty(0, dtype=np.int64)
    known = [no_states] if compiled.symbol_states is None else [no_states, compiled.symbol_states]
    for table, entered in [(compiled.step_table, no_states), *((no_table, states) for states in known)]:
        found = np.empty(len(listed), dtype=bool)
        mark_feasible(
            words.values, words.offsets, 0, len(listed), compiled.offsets, compiled.labels, compiled.targets,
            compiled.start, compiled.accepting, table, entered, found,
        )  # fmt: skip
        assert found.tolist() == expected
    assert compiled.feasible_words(words.values, words.offsets).tolist() == expected


def test_large_batches_are_checked_by_compiled_loops_and_name_the_first_bad_word() -> None:
    words = np.tile([0, 1, 2, 0], (600_000, 1))  # more than two blocks
    words[310_000] = [0, 2, 2, 0]
    words[590_000] = [0, 2, 2, 0]
    with pytest.raises(pv.InfeasibleWordError, match="row 310000: infeasible"):
        pv.Exponential(CHAIN, 1.0).privatize_array(words)
    words[299_000, 2], words[400_000, 1] = 3, -1
    with pytest.raises(pv.UnknownSymbolError, match="row 299000, column 2: code 3"):
        pv.Exponential(CHAIN, 1.0).privatize_array(words)


def test_planted_words_are_what_the_sampler_gets() -> None:
    assert PlantedSource([5, 6]).keystream(3).tolist() == [5, 6, 5]
