"""The papers' mechanisms, taken literally, against enumeration."""

import math
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import chisquare

import pathveil as pv
from tests.reference import printed
from tests.reference.enumeration import (
    exponential_law,
    feasible_words,
    hamming,
    permute_and_flip_law,
    worst_loss,
)
from tests.reference.random_systems import systems_with_word

pytestmark = pytest.mark.reference

# The transition system has a dead end (2), two actions with one effect (a and b from 0) and a plan's end that matters.
ERRANDS = pv.TransitionSystem(
    {(0, "a"): 1, (0, "b"): 1, (0, "c"): 0, (1, "a"): 0, (1, "c"): 1, (1, "b"): 2}, initial=0, accepting={0, 1}
)
ROADS = pv.MarkovChain.from_edges(
    [("y0", "y1"), ("y0", "y2"), ("y1", "y2"), ("y2", "y1"), ("y2", "y0"), ("y1", "y1")], initial="y0"
)


def word_law(mechanism, world):
    """The law over words that follows from the mechanism's law over distances: uniform within each distance."""
    words = feasible_words(world, len(mechanism.word))
    distances = {v: hamming(v, mechanism.word) for v in words}
    return {v: mechanism.law[d] / mechanism.counts[d] for v, d in distances.items()}


def p_value(draws, law):
    """Chi-square test of draws against a law over words."""
    seen = Counter(draws)
    assert set(seen) <= set(law)
    assert min(law.values()) * len(draws) >= 5, "too few draws for the chi-square approximation"
    return chisquare([seen[v] for v in law], [len(draws) * p for p in law.values()]).pvalue


@given(systems_with_word(feasible=False), st.floats(0.1, 12), st.integers(1, 3), st.floats(0.2, 3))
def test_lev_with_its_multiplicity_is_the_exponential_mechanism(world_and_word, epsilon, k, alpha):
    world, word = world_and_word
    system = printed.DeterministicTransitionSystem.of(world)
    mechanism = printed.LevMechanism(world.symbols, word, epsilon, k, alpha, system)
    theta = epsilon * alpha * (k + alpha) / (2 * k)
    law = exponential_law(world, word, theta, utility=lambda d: 1 / (d + alpha))
    assert word_law(mechanism, world) == pytest.approx(law, rel=1e-12)


def test_equation_18_as_printed_loses_6_82_where_it_claims_1():
    # Two adjacent words can be at distances ℓ and ℓ+1 of one output; its probability is ρ(ℓ)/N(ℓ).
    mechanism = printed.LevMechanism(range(19), (0,) * 31, epsilon=1.0, multiplicity=False)
    logs = [math.log(p / number) for p, number in zip(mechanism.law, mechanism.counts, strict=True)]
    assert max(abs(a - b) for a, b in pairwise(logs)) == pytest.approx(6.82, abs=0.005)


@pytest.mark.parametrize(("multiplicity", "keeps_promise"), [(True, True), (False, False)])
def test_only_the_corrected_equation_18_keeps_its_epsilon(multiplicity, keeps_promise):
    world, epsilon = pv.Alphabet("abcd"), 1.0
    mechanisms = [
        printed.LevMechanism(world.symbols, word, epsilon, multiplicity=multiplicity)
        for word in feasible_words(world, 3)
    ]
    loss = worst_loss({mechanism.word: word_law(mechanism, world) for mechanism in mechanisms}, adjacency=1)
    assert (loss <= epsilon) is keeps_promise


@given(systems_with_word(), st.floats(0.1, 12), st.integers(1, 3))
def test_the_sum_over_subsets_is_permute_and_flip(world_and_word, epsilon, b):
    world, word = world_and_word
    words = feasible_words(world, len(word))
    assume(len(words) <= 10)
    counts = [sum(hamming(v, word) == ell for v in words) for ell in range(len(word) + 1)]
    law = permute_and_flip_law(world, word, epsilon / (2 * b))
    per_class = [math.fsum(p for v, p in law.items() if hamming(v, word) == ell) for ell in range(len(word) + 1)]
    # The alternating sum cancels: its largest term is below 2^10, hence an absolute tolerance.
    assert printed.pf_error_law(counts, epsilon, b) == pytest.approx(per_class, abs=1e-12)


def test_the_sum_over_subsets_refuses_more_than_twelve_words():
    with pytest.raises(ValueError, match="at most 12 words"):
        printed.PfMechanism("ab", tuple("abab"), epsilon=1.0)


# Each test below is deterministic (seeded); for a fresh seed a right sampler fails with probability 1e-4.
FALSE_ALARM = 1e-4

SAMPLED = {
    "LEV, free alphabet": (
        pv.Alphabet("abc"),
        printed.LevMechanism("abc", tuple("ab"), epsilon=2.0),
    ),
    "LEV, plans": (
        ERRANDS,
        printed.LevMechanism(
            ERRANDS.symbols, tuple("aca"), 2.0, system=printed.DeterministicTransitionSystem.of(ERRANDS)
        ),
    ),
    "PF Mechanism 1": (
        pv.Alphabet("abc"),
        printed.PfMechanism("abc", tuple("ab"), epsilon=2.0),
    ),
    "PF Mechanism 2": (
        ROADS,
        printed.PfMechanism(
            ROADS.symbols, ("y1", "y2", "y1"), 2.0, chain=printed.DeterministicTransitionSystem.of(ROADS)
        ),
    ),
}


@pytest.mark.parametrize("name", SAMPLED)
def test_drawing_a_distance_and_running_the_policy_gives_the_law(name):
    world, mechanism = SAMPLED[name]
    rng = pv.insecure_seed(20)
    draws = [mechanism.draw(rng) for _ in range(6000)]
    law = word_law(mechanism, world)
    assert math.fsum(law.values()) == pytest.approx(1.0, abs=1e-12)
    assert p_value(draws, law) > FALSE_ALARM


@pytest.mark.parametrize("name", SAMPLED)
def test_the_same_test_notices_a_wrong_law(name):
    world, mechanism = SAMPLED[name]
    rng = pv.insecure_seed(20)
    draws = [mechanism.draw(rng) for _ in range(6000)]
    law = word_law(mechanism, world)
    planted = {v: p * (1.3 if v == mechanism.word else 1.0) for v, p in law.items()}
    total = math.fsum(planted.values())
    assert p_value(draws, {v: p / total for v, p in planted.items()}) < FALSE_ALARM
