"""Permute-and-flip by rejection and by class: the same law, and every piece of the rejection by itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import strategies as st

import pathveil as pv
from pathveil.words.classes.batches import class_blocks, table_fits
from pathveil.words.tilted.rejection import FlipByRejection, Surroundings, truncated_exponential
from tests.reference.enumeration import (
    Word,
    class_counts,
    exponential_law,
    feasible_words,
    hamming,
    permute_and_flip_law,
)
from tests.reference.random_systems import systems_with_word
from tests.sizes import given_few_and_many
from tests.statistics import FALSE_ALARM, chi_square_p_value
from tests.worlds import CHAIN, PLANS

SystemWithWord = tuple[pv.System, Word]
NODES, WEIGHTS = np.polynomial.legendre.leggauss(60)
T, DT = (1 + NODES) / 2, WEIGHTS / 2


def acceptances(world: pv.System, word: Word, theta: float) -> dict[Word, float]:
    """p of every feasible word, relative to the best."""
    distances = {v: hamming(word, v) for v in feasible_words(world, len(word))}
    return {v: math.exp(-theta * (d - min(distances.values()))) for v, d in distances.items()}


@given_few_and_many(30, 60, case=systems_with_word(feasible=False), theta=st.sampled_from([0.05, 0.5, 1.0, 3.0]))
def test_what_rejection_keeps_has_the_law_of_permute_and_flip(case: SystemWithWord, theta: float) -> None:
    world, word = case
    p = acceptances(world, word, theta)
    # g(t) as the docstring has it; at most 64 words, so 60 nodes integrate the polynomial to rounding.
    best = sum(value == 1.0 for value in p.values())
    g = (1 - T) ** (best - 1) * np.prod([1 - value * T for value in p.values() if value < 1.0], axis=0)
    g = g if np.ndim(g) else np.full_like(T, g)
    kept = {
        v: value * (1.0 if value == 1.0 else (DT * g * (1 - T) / (1 - value * T)).sum() / (DT * g).sum())
        for v, value in p.items()
    }
    expected = permute_and_flip_law(world, word, theta)
    for v, probability in expected.items():
        assert kept[v] / sum(kept.values()) == pytest.approx(probability, rel=1e-10)
    assert all(kept[v] >= p[v] / 2 for v in p)


@given_few_and_many(
    30, 60, case=systems_with_word(feasible=False), theta=st.sampled_from([0.01, 0.5, 2.0, 10.0]), data=st.data()
)
def test_t_is_kept_exactly_where_the_whole_series_says_so(
    case: SystemWithWord, theta: float, data: st.DataObject
) -> None:
    world, word = case
    codes, begins = world.encode(word), np.array([0])
    flip = FlipByRejection(world.compiled, len(word), theta, feasible=False)
    log_z = flip.log_partition(1, codes, begins)
    around = Surroundings(flip, codes, begins, log_z)
    counts = class_counts(world, word)
    least = min(ell for ell, count in enumerate(counts) if count)
    assert around.nearest.tolist() == [least]
    assert around._best.tolist() == [counts[least]]
    others = [p for p in acceptances(world, word, theta).values() if p < 1.0]
    for r in (1, 2, 3, 5):
        assert around._others(r, begins)[0] == pytest.approx(math.fsum(p**r for p in others), rel=1e-10, abs=1e-13)
    rate = counts[least] - 1 + math.fsum(others)
    assert around._lambda[0] == pytest.approx(rate, rel=1e-12, abs=1e-13)
    t = data.draw(st.floats(0.0, 0.999))
    log_g = (counts[least] - 1) * math.log1p(-t) + math.fsum(math.log1p(-p * t) for p in others)
    x = -log_g - rate * t
    for limit, expected in [(x + 1e-9, True), (x - 1e-9, False)]:
        if 1e-9 <= limit < 10:
            words = np.array([int(math.exp(-limit) * 2**64)], dtype=np.uint64)
            kept, _ = around._keep(begins, np.array([t]), np.array([1e-14]), words)
            assert kept.tolist() == [expected]


def test_the_truncated_exponential_is_inverted_exactly() -> None:
    rates = np.array([0.0, 1e-15, 0.3, 5.0, 1e4, 1e300, np.inf])
    u = pv.insecure_seed(1).uniform(len(rates))
    t = truncated_exponential(rates, u)
    assert ((t >= 0) & (t < 1)).all()
    with np.errstate(over="ignore"):
        cdf = np.expm1(-rates[2:5] * t[2:5]) / np.expm1(-rates[2:5])
    assert cdf == pytest.approx(u[2:5], rel=1e-12)
    assert t[:2] == pytest.approx(u[:2])
    assert t[6] == 0.0


CASES: dict[str, tuple[pv.System, Word]] = {
    "chain": (CHAIN, (0, 1, 2, 0)),
    "plans": (PLANS, ("a", "b", "c", "b")),
    "infeasible": (CHAIN, (2, 1, 0, 2)),
    "two words": (pv.MarkovChain.from_edges([(0, 1), (1, 0)]), (0,)),
}


@pytest.mark.parametrize("where", CASES)
@pytest.mark.parametrize("theta", [0.2, 1.0, 2.5])
def test_words_have_the_law_of_permute_and_flip_by_rejection_and_of_their_scores_by_class(
    where: str, theta: float
) -> None:
    """False-alarm probability 1e-6 for each check; negative controls: a third more tilt, or twice of it."""
    world, word = CASES[where]
    compiled, count = world.compiled, 30_000 if theta < 1 else 10_000
    values = np.tile(world.encode(word), count)
    begins = np.arange(count) * len(word)
    by_rejection, by_class = np.empty_like(values), np.empty_like(values)
    feasible = world.is_feasible(word)
    FlipByRejection(compiled, len(word), theta, feasible=feasible).draw(
        values, begins, by_rejection, pv.insecure_seed(7)
    )
    assert table_fits(compiled, len(word))
    scores = -theta * np.arange(len(word) + 1.0)
    for block in class_blocks(compiled, values, begins, scores, by_class):
        block(pv.insecure_seed(8))
    for private, law_of, more in ((by_rejection, permute_and_flip_law, 4 / 3), (by_class, exponential_law, 2)):
        drawn = [world.decode(row) for row in private.reshape(count, -1).tolist()]
        assert chi_square_p_value(drawn, law_of(world, word, theta)) > FALSE_ALARM
        assert chi_square_p_value(drawn, law_of(world, word, theta * more)) < FALSE_ALARM


@given_few_and_many(30, 60, case=systems_with_word(feasible=False))
def test_the_compiled_table_counts_the_classes(case: SystemWithWord) -> None:
    world, word = case
    assert table_counts(world, word, 1) == class_counts(world, word)


def table_counts(world: pv.System, word: pv.Word, spacing: int) -> list[float]:
    """How many feasible words have 0, 1, ... errors, from the compiled table with every so many positions kept."""
    from pathveil.words.classes.kernels import LANES, class_graph, fill_table, reached_states, strips

    compiled, length, states = world.compiled, len(word), world.compiled.state_count
    starts = strips(length, spacing)
    table = np.full((starts[-1], states + 1, LANES), np.nan)
    fill_table(
        world.encode(word), 0, length,
        reached_states(length, compiled.start, compiled.offsets, compiled.targets), compiled.accepting,
        class_graph(compiled.symbol_count, compiled.offsets, compiled.labels, compiled.targets), spacing, starts,
        np.zeros((3, states + 1, LANES)), np.full((2, length + 1, states), np.nan), table,
    )  # fmt: skip
    right = length - np.arange(length + 1)
    counts: list[float] = table[starts[right // LANES], compiled.start, right % LANES].tolist()
    return counts


@pytest.mark.parametrize("length", [15, 16, 17, 31, 32, 33, 47])
@pytest.mark.parametrize("spacing", [1, 15])
def test_the_compiled_table_of_longer_words_counts_the_classes(length: int, spacing: int) -> None:
    town = pv.example_town()
    trip = town.random_word(length, pv.insecure_seed(length))
    for word in (trip, trip[::-1]):  # the second one is not feasible
        exact = pv.error_classes(town, word).counts
        assert table_counts(town, word, spacing) == pytest.approx(exact, rel=1e-12)


def draw_words(world: pv.System, word: pv.Word, times: int, scores: np.ndarray, rng: pv.RandomSource) -> np.ndarray:
    """Words drawn by class for one word, again and again."""
    codes = world.encode(word)
    values, private = np.tile(codes, times), np.empty(times * len(codes), dtype=np.int64)
    begins = np.arange(times) * len(codes)
    for block in class_blocks(world.compiled, values, begins, scores, private):
        block(rng)
    return private.reshape(times, -1)


def test_keeping_few_positions_of_a_table_does_not_change_what_is_drawn() -> None:
    """Seven draws from a large table keep every fifteenth position, eight keep all; both read the same keystream."""
    town, length = pv.example_town(), 170
    trip = town.random_word(length, pv.insecure_seed(1))
    for word in (trip, trip[::-1]):
        for theta in (0.0, 1.0, 3.0):
            scores = -theta * np.arange(length + 1.0)
            few = draw_words(town, word, 7, scores, pv.insecure_seed(3))
            many = draw_words(town, word, 8, scores, pv.insecure_seed(3))
            assert np.array_equal(few, many[:7])
            assert all(town.is_feasible(town.decode(row)) for row in many.tolist())
            assert not np.array_equal(few[1:], many[:6])


def test_a_longer_word_of_a_class_is_uniform() -> None:
    """40 symbols, three strips of the table: the words with one error. False-alarm probability 1e-6.

    Negative control: the same draws against a law with one word half as likely as the others.
    """
    town, length, count = pv.example_town(), 40, 20_000
    trip = tuple(town.random_word(length, pv.insecure_seed(5)))
    classes = pv.error_classes(town, trip)
    wanted = next(errors for errors in range(1, length) if classes.counts[errors])
    scores = np.where(np.arange(length + 1) == wanted, 0.0, -1e9)
    drawn = [town.decode(row) for row in draw_words(town, trip, count, scores, pv.insecure_seed(6)).tolist()]
    assert all(hamming(trip, word) == wanted for word in drawn)
    words = sorted(set(drawn))
    assert len(words) == classes.counts[wanted]
    law = dict.fromkeys(words, 1 / len(words))
    assert chi_square_p_value(drawn, law) > FALSE_ALARM
    law[words[0]] /= 2
    assert chi_square_p_value(drawn, {word: p / sum(law.values()) for word, p in law.items()}) < FALSE_ALARM


def test_words_too_long_for_a_table_are_drawn_by_rejection() -> None:
    town = pv.example_town()
    trip = town.random_word(1_200, pv.insecure_seed(1))
    mechanism = pv.PermuteAndFlip(town, 8.0)
    private = mechanism.privatize(trip, rng=pv.insecure_seed(2))
    assert town.is_feasible(private)
    # More than 120 of 1,200 symbols wrong has a probability below 1e-6 at about 3.5 expected errors.
    assert 0 < hamming(tuple(trip), tuple(private)) < 120
    assert mechanism.error_law(trip).mean == pytest.approx(3.456, abs=0.001)  # by its generating function
    with pytest.raises(pv.TooLargeError, match="Use Exponential"):
        mechanism.log_probability(trip, private)
