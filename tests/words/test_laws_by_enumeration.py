"""Laws, probabilities and losses of every mechanism on hundreds of random small systems, word by word."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pathveil as pv
from tests.reference.enumeration import (
    Word,
    class_counts,
    feasible_words,
    hamming,
    permute_and_flip_law,
    worst_loss,
)
from tests.reference.random_systems import SystemWithLength, systems_with_length, systems_with_word
from tests.sizes import given_few_and_many
from tests.words.mechanisms import MECHANISMS, build, reference_law

EPSILONS = st.one_of(st.sampled_from([0.1, 1.0, 5.0, 12.0]), st.floats(0.1, 12.0))
ADJACENCIES = st.integers(1, 3)
SystemWithWord = tuple[pv.System, Word]


@pytest.mark.parametrize("name", MECHANISMS)
@given_few_and_many(25, 200, case=systems_with_word(), epsilon=EPSILONS, adjacency=ADJACENCIES)
def test_law_and_probabilities_agree_with_enumeration(
    name: str, case: SystemWithWord, epsilon: float, adjacency: int
) -> None:
    world, word = case
    mechanism = build(name, world, epsilon, adjacency)
    if mechanism is None:
        return
    expected = reference_law(name, mechanism, word)
    law = mechanism.error_law(word)
    assert abs(law.pmf.sum() - 1) <= 1e-12
    by_errors = np.zeros(len(word) + 1)
    for output, probability in expected.items():
        by_errors[hamming(word, output)] += probability
        assert math.exp(mechanism.log_probability(word, output)) == pytest.approx(probability, rel=1e-9, abs=1e-300)
    assert law.pmf == pytest.approx(by_errors, abs=1e-10)
    assert law.mean == pytest.approx(by_errors @ np.arange(len(by_errors)), abs=1e-10)


@pytest.mark.parametrize("name", MECHANISMS)
@given_few_and_many(25, 200, case=systems_with_length(), epsilon=EPSILONS, adjacency=ADJACENCIES)
def test_the_true_loss_over_all_adjacent_feasible_words_stays_within_epsilon(
    name: str, case: SystemWithLength, epsilon: float, adjacency: int
) -> None:
    world, length = case
    mechanism = build(name, world, epsilon, adjacency)
    if mechanism is not None:
        assert pv.audit_exhaustively(mechanism, length).holds


@pytest.mark.parametrize("name", MECHANISMS)
@given_few_and_many(12, 60, case=systems_with_length(), epsilon=EPSILONS, adjacency=ADJACENCIES)
def test_the_true_loss_stays_within_epsilon_when_infeasible_words_are_accepted(
    name: str, case: SystemWithLength, epsilon: float, adjacency: int
) -> None:
    world, length = case
    mechanism = build(name, world, epsilon, adjacency, on_infeasible="nearest")
    if mechanism is not None:
        assert pv.audit_exhaustively(mechanism, length).holds


@pytest.mark.parametrize("name", ["exponential", "permute-and-flip", "online", "inverse utility"])
@given_few_and_many(12, 60, case=systems_with_word(feasible=False), epsilon=EPSILONS)
def test_infeasible_words_have_the_law_of_their_nearest_feasible_words(
    name: str, case: SystemWithWord, epsilon: float
) -> None:
    world, word = case
    mechanism = build(name, world, epsilon, on_infeasible="nearest")
    if mechanism is None:
        return
    expected = reference_law(name, mechanism, word)
    assert abs(mechanism.error_law(word).pmf.sum() - 1) <= 1e-12
    for output, probability in expected.items():
        assert math.exp(mechanism.log_probability(word, output)) == pytest.approx(probability, rel=1e-9, abs=1e-300)


@given(case=systems_with_length(), epsilon=EPSILONS)
@settings(max_examples=25)
def test_the_exhaustive_audit_finds_the_loss_that_listing_finds(case: SystemWithLength, epsilon: float) -> None:
    world, length = case
    mechanism = pv.PermuteAndFlip(world, epsilon)
    laws = {word: permute_and_flip_law(world, word, mechanism.theta(length)) for word in feasible_words(world, length)}
    assert pv.audit_exhaustively(mechanism, length).loss == pytest.approx(worst_loss(laws, 1), rel=1e-8, abs=1e-9)


@given_few_and_many(30, 200, case=systems_with_word(feasible=False))
def test_class_counts_agree_with_enumeration_for_any_word(case: SystemWithWord) -> None:
    world, word = case
    assert list(pv.error_classes(world, word).counts) == class_counts(world, word)


@pytest.mark.parametrize("name", MECHANISMS)
@given_few_and_many(15, 100, case=systems_with_word(), epsilon=EPSILONS, seed=st.integers(0, 1000))
def test_private_words_are_feasible_and_keep_length_and_kind(
    name: str, case: SystemWithWord, epsilon: float, seed: int
) -> None:
    world, word = case
    mechanism = build(name, world, epsilon)
    if mechanism is None:
        return
    private = mechanism.privatize(word, rng=pv.insecure_seed(seed))
    assert isinstance(private, tuple)
    assert len(private) == len(word)
    assert world.is_feasible(private)


@given_few_and_many(25, 200, case=systems_with_word(), epsilon=EPSILONS)
def test_permute_and_flip_errs_at_most_as_much_as_exponential_and_at_least_half(
    case: SystemWithWord, epsilon: float
) -> None:
    world, word = case
    flip = pv.PermuteAndFlip(world, epsilon).error_law(word).mean
    exponential = pv.Exponential(world, epsilon).error_law(word).mean
    assert exponential / 2 - 1e-12 <= flip <= exponential + 1e-12


@given_few_and_many(18, 100, case=systems_with_word(), epsilon=EPSILONS, adjacency=ADJACENCIES)
def test_certified_never_errs_more_than_the_published_calibration(
    case: SystemWithWord, epsilon: float, adjacency: int
) -> None:
    world, word = case
    certified = pv.CertifiedExponential(world, epsilon, adjacency)
    published = pv.Exponential(world, epsilon, adjacency)
    assert certified.theta(len(word)) >= published.theta(len(word)) * (1 - 1e-11)
    assert certified.error_law(word).mean <= published.error_law(word).mean * (1 + 1e-9) + 1e-12
