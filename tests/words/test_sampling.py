"""Draws follow the exact laws. Every test here has false-alarm probability 1e-6 and a negative control."""

import math

import numpy as np
import pytest

import pathveil as pv
from tests.reference.enumeration import Word, feasible_words
from tests.statistics import FALSE_ALARM, chi_square_p_value
from tests.words.mechanisms import MECHANISMS, build
from tests.worlds import CHAIN, PLANS

WORDS: dict[str, tuple[pv.System, Word]] = {
    "alphabet": (pv.Alphabet("abc"), tuple("abc")),
    "chain": (CHAIN, (0, 1, 2, 0)),
    "plans": (PLANS, ("a", "b", "c", "b")),
}
DRAWS = 6_000  # enough for every negative control, by far


def output_law(mechanism: pv.WordMechanism, word: Word) -> dict[Word, float]:
    outputs = feasible_words(mechanism.world, len(word))
    return {output: math.exp(mechanism.log_probability(word, output)) for output in outputs}


@pytest.mark.parametrize("where", WORDS)
@pytest.mark.parametrize("name", MECHANISMS)
def test_private_words_follow_the_law_of_the_mechanism(name: str, where: str) -> None:
    world, word = WORDS[where]
    mechanism = build(name, world, 2.0)
    if mechanism is None:
        assert where == "plans"
        return
    source = pv.insecure_seed(2)
    draws = mechanism.privatize_many([word] * DRAWS, rng=source)
    assert chi_square_p_value(draws, output_law(mechanism, word)) > FALSE_ALARM
    # Negative control: a third less noise is noticed.
    other = build(name, world, 3.0)
    assert other is not None
    assert (
        chi_square_p_value(other.privatize_many([word] * DRAWS, rng=source), output_law(mechanism, word)) < FALSE_ALARM
    )


@pytest.mark.parametrize("name", MECHANISMS)
def test_arrays_lists_and_single_words_are_drawn_alike(name: str) -> None:
    word = (0, 1, 2, 0)
    mechanism = build(name, CHAIN, 2.0)
    assert mechanism is not None
    source = pv.insecure_seed(3)
    law = output_law(mechanism, word)
    array = mechanism.privatize_array(np.tile(word, (DRAWS, 1)), rng=source)
    assert chi_square_p_value(map(tuple, array.tolist()), law) > FALSE_ALARM
    assert chi_square_p_value((mechanism.privatize(word, rng=source) for _ in range(1_000)), law) > FALSE_ALARM


def test_streams_are_drawn_like_words() -> None:
    word = (0, 1, 2, 0)
    mechanism = pv.Online(CHAIN, 2.0)
    source = pv.insecure_seed(4)

    def streamed() -> Word:
        stream = mechanism.stream(rng=source)
        return tuple(stream.push(symbol) for symbol in word)

    assert chi_square_p_value((streamed() for _ in range(1_500)), output_law(mechanism, word)) > FALSE_ALARM


@pytest.mark.parametrize("where", WORDS)
def test_words_of_a_class_are_drawn_uniformly(where: str) -> None:
    world, word = WORDS[where]
    classes = pv.error_classes(world, word)
    source = pv.insecure_seed(5)
    for errors, count in enumerate(classes.counts):
        if not count:
            with pytest.raises(pv.InvalidParameterError, match=f"exactly {errors} errors"):
                classes.draw(errors, source)
            continue
        draws = [world.decode(classes.draw(errors, source).tolist()) for _ in range(1_500)]
        outputs = [v for v in feasible_words(world, len(word)) if sum(a != b for a, b in zip(v, word)) == errors]  # noqa: B905
        uniform = {v: 1 / len(outputs) for v in outputs}
        assert len(outputs) == count
        assert chi_square_p_value(draws, uniform) > FALSE_ALARM
        if count > 1:  # negative control: one word twice as likely
            biased = draws + [outputs[0]] * (len(draws) // count)
            assert chi_square_p_value(biased, uniform) < FALSE_ALARM


def test_the_noisy_maximum_follows_the_integral_where_classes_are_astronomically_large() -> None:
    world, word = pv.Alphabet(range(19)), [0] * 32
    mechanism = pv.PermuteAndFlip(world, 8.0)
    private = mechanism.privatize_array(np.zeros((DRAWS, 32), dtype=int), rng=pv.insecure_seed(6))
    errors = np.count_nonzero(private, axis=1).tolist()
    assert chi_square_p_value(errors, dict(enumerate(mechanism.error_law(word).pmf))) > FALSE_ALARM
    control = pv.PermuteAndFlip(world, 8.5).error_law(word).pmf
    assert chi_square_p_value(errors, dict(enumerate(control))) < FALSE_ALARM


def test_long_words_and_extreme_tilts_do_not_underflow() -> None:
    town = pv.example_town()
    trip = town.random_word(1_000, pv.insecure_seed(8))
    for epsilon in (1e-9, 1.0, 60.0, 1e6):
        private = pv.Exponential(town, epsilon).privatize(trip)
        assert town.is_feasible(private)
    assert pv.Exponential(town, 1e6).privatize(trip) == trip
    assert pv.CertifiedExponential(town, 1e6, max_length=300, contexts=1).privatize(trip[:300]) == trip[:300]
