"""Laws by generating functions, held against listing all words and against tables of error classes."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest

import pathveil as pv
from pathveil.words.laws import exponential_law, online_law, permute_and_flip_law
from pathveil.words.laws.generating import GeneratingFunction, probabilities
from pathveil.words.local import LocalWorld, surroundings
from tests.reference.enumeration import Word, hamming
from tests.reference.random_systems import systems_with_word
from tests.sizes import given_few_and_many
from tests.words.mechanisms import build, reference_law
from tests.worlds import CHAIN, DEAD_END_PLANS, PLANS, TOGGLE, TOWN, UNEVEN

LAWS = {"exponential": exponential_law, "permute-and-flip": permute_and_flip_law, "online": online_law}
CLASSES = {"exponential": pv.Exponential, "permute-and-flip": pv.PermuteAndFlip, "online": pv.Online}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 12.0])
@given_few_and_many(15, 100, case=systems_with_word())
def test_laws_agree_with_listing_all_words(name: str, epsilon: float, case: tuple[pv.System, Word]) -> None:
    world, word = case
    mechanism = build(name, world, epsilon, 1)
    if mechanism is None or world.compiled.is_free or not world.is_feasible(word):
        return
    expected = np.zeros(len(word) + 1)
    for output, probability in reference_law(name, mechanism, word).items():
        expected[hamming(word, output)] += probability
    law = LAWS[name](world.compiled, world.encode(word), mechanism.theta(len(word)))
    assert law.pmf == pytest.approx(expected, abs=1e-13)
    assert law.mean == pytest.approx(expected @ np.arange(len(expected)), abs=1e-12)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("epsilon", [0.25, 1.0, 3.0, 8.0, 40.0])
@pytest.mark.parametrize(("world", "length"), [(TOWN, 14), (TOWN, 43), (UNEVEN, 30), (PLANS, 25), (TOGGLE, 20)])
def test_laws_agree_with_tables_of_classes(name: str, epsilon: float, world: pv.System, length: int) -> None:
    try:
        mechanism = CLASSES[name](world, epsilon)
    except pv.PathVeilError:
        return  # not every system can be streamed
    for word in world.random_words(length, 3, pv.insecure_seed(length)):
        law = LAWS[name](world.compiled, world.encode(word), mechanism.theta(length))
        expected = mechanism.error_law(word)
        assert not isinstance(expected, type(law)), "this size is meant to be counted by classes"
        assert law.pmf == pytest.approx(expected.pmf, abs=1e-12)
        assert law.mean == pytest.approx(expected.mean, rel=1e-12, abs=1e-12)
        assert law.variance == pytest.approx(expected.variance, rel=1e-9, abs=1e-11)
        for q in (0.1, 0.5, 0.9, 0.99):
            assert law.quantile(q) == expected.quantile(q)


def test_an_infeasible_word_has_a_law_too() -> None:
    for world, word in ((CHAIN, (0, 2, 0, 2, 1)), (DEAD_END_PLANS, tuple("abbac"))):
        mechanism = pv.Exponential(world, 2.0, on_infeasible="nearest")
        law = exponential_law(world.compiled, world.encode(word), mechanism.theta(5))
        assert law.pmf == pytest.approx(mechanism.error_law(word).pmf, abs=1e-14)
        with pytest.raises(pv.TooLargeError, match="infeasible word"):
            permute_and_flip_law(world.compiled, world.encode(word), 1.0)


@pytest.mark.parametrize("theta", [2.5, 4.0, 8.0])
def test_the_surroundings_of_a_word_have_the_law_of_the_whole_city(theta: float) -> None:
    city = pv.example_city(900)
    world, z = LocalWorld.of(city.compiled), exp(-theta)
    assert world is not None
    reach = world.reach_for(1e-15, 80, z)
    assert reach is not None
    for word in city.random_words(80, 3, pv.insecure_seed(1)):
        codes = city.encode(word)
        near, all_of_it = surroundings(world, codes, reach), GeneratingFunction(city.compiled, codes)
        local = GeneratingFunction(near.compiled, near.codes, reached=near.reached)
        assert local.at([z])[0].log == pytest.approx(all_of_it.at([z])[0].log, abs=1e-13)
        assert local.at([z])[0].mean == pytest.approx(all_of_it.at([z])[0].mean, abs=1e-12)
        roots = all_of_it.roots_needed(z)
        assert probabilities(local.ratios(z, roots), 80) == pytest.approx(
            probabilities(all_of_it.ratios(z, roots), 80), abs=1e-13
        )


def test_few_roots_of_unity_do_where_errors_are_rare() -> None:
    codes = TOWN.encode(TOWN.random_word(40, pv.insecure_seed(2)))
    function = GeneratingFunction(TOWN.compiled, codes)
    few = function.roots_needed(exp(-8.0))
    assert few < 20
    assert function.roots_needed(exp(-0.1)) == 41
    everything = probabilities(function.ratios(exp(-8.0), 41), 40)
    assert probabilities(function.ratios(exp(-8.0), few), 40) == pytest.approx(everything, abs=1e-15)
    # Negative control: with too few of them, later probabilities are added to earlier ones.
    folded = probabilities(function.ratios(exp(-1.0), few), 40)
    assert abs(folded - probabilities(function.ratios(exp(-1.0), 41), 40)).max() > 1e-3


def test_the_mean_of_a_long_word_comes_without_its_probabilities() -> None:
    word = TOWN.random_word(3_000, pv.insecure_seed(3))
    short = [TOWN.random_word(300, pv.insecure_seed(seed)) for seed in range(10)]
    for mechanism in (pv.Exponential(TOWN, 4.0), pv.PermuteAndFlip(TOWN, 4.0), pv.Online(TOWN, 4.0)):
        law = mechanism.error_law(word)
        assert "pmf" not in vars(law)
        per_symbol = np.mean([mechanism.error_law(one).mean for one in short]) / 300
        assert law.mean / 3_000 == pytest.approx(per_symbol, rel=0.15)
        assert repr(law).startswith("ErrorLaw(0 to 3000 errors, mean ")


def test_few_words_at_a_small_epsilon_are_left_to_classes() -> None:
    """On a ring of two there are two words of any length: the sums behind permute-and-flip fall too slowly."""
    ring = pv.MarkovChain.from_edges([("a", "b"), ("b", "a")])
    word = "ab" * 400
    with pytest.raises(pv.TooLargeError, match="too many tilts"):
        permute_and_flip_law(ring.compiled, ring.encode(word), 0.0001)
    law = pv.PermuteAndFlip(ring, 0.0002).error_law(word)
    assert law.pmf.sum() == pytest.approx(1, abs=1e-12)
    assert np.flatnonzero(law.pmf).tolist() == [0, 800]


def test_weights_that_lie_too_far_apart_are_never_used() -> None:
    """Two rings, of one and of ten ways on, no way between: the second weighs 10^2000 times more."""
    rings = [(0, 1), (1, 0)] + [(a, b) for a in range(2, 13) for b in range(2, 13) if a != b]
    world = pv.MarkovChain.from_edges(rings)
    codes = world.encode([0, 1] * 1_000)
    with pytest.raises(pv.TooLargeError, match="too far apart"):
        GeneratingFunction(world.compiled, codes).at([0.9])
