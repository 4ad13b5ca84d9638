"""The lower bound on errors, part by part, by hand and by linear programming."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy.optimize import linprog

import pathveil as pv
from pathveil.planning import lower_bound
from pathveil.planning.lower_bound import (
    _all_words,
    _best_share,
    _neighbour_bound,
    least_expected_errors_each,
)
from pathveil.words.classes import counts_near
from tests.reference.enumeration import class_counts, feasible_words
from tests.reference.random_systems import systems_with_word
from tests.sizes import given_few_and_many
from tests.worlds import DEAD_END_PLANS, UNEVEN

# Two symbols at each position, whichever came before: all words are alike, with C(n, d) others at distance d.
PAIRS = pv.MarkovChain.from_edges(
    [(a, b) for a in (0, 1) for b in (2, 3)] + [(b, a) for a in (0, 1) for b in (2, 3)], initial={0, 1}
)


def test_shares_are_given_to_whoever_makes_the_most_of_them():
    rng = np.random.default_rng(1)
    for _ in range(50):
        count = int(rng.integers(1, 8))
        value, weight = rng.uniform(-1, 2, count), rng.uniform(0.2, 4, count)
        best = linprog(-value, weight[None, :], [count], bounds=(0, 1), method="highs")
        assert _best_share(value=value, weight=weight) == pytest.approx(-best.fun, abs=1e-9)
    assert _best_share(value=np.array([-1.0, 0.0]), weight=np.ones(2)) == 0


def test_a_word_is_returned_for_its_neighbours_too():
    # One word of two has a neighbour with one error and two with two: A = 3x, S = 5x with x = e^-ε; the other has none.
    x = math.exp(-2.0)
    assert _neighbour_bound([(1, 2), (0, 0)], 2.0) == pytest.approx(1 - (1 + (1 - 2 * x) * (1 / (1 + 3 * x))) / 2)


@pytest.mark.parametrize(("epsilon", "adjacency"), [(0.5, 1), (2.0, 1), (2.0, 2), (3.0, 3), (1.0, 9)])
@pytest.mark.parametrize(
    ("n", "proved", "how"), [(4, True, "over all 16 "), (11, False, "estimated from 200 of 2,048 ")]
)
def test_where_all_words_are_alike_the_bound_is_a_formula_and_a_sample_gives_it_too(n, proved, how, epsilon, adjacency):
    x = math.exp(-epsilon)
    neighbours = [math.comb(n, d) for d in range(1, min(adjacency, n) + 1)]
    a = x * sum(neighbours)
    s = x * sum(d * count for d, count in enumerate(neighbours, start=1))
    expected = 1 - max(0.0, (1 + a - s) / (1 + a))
    [found] = least_expected_errors_each(PAIRS, n, [epsilon], adjacency)
    assert found.errors == pytest.approx(expected, rel=1e-12)
    assert (found.proved, found.how) == (proved, f"{how}feasible words")


def test_a_sample_comes_close_to_all_words():
    [exact] = least_expected_errors_each(UNEVEN, 3, [4.0])
    [sampled] = least_expected_errors_each(UNEVEN, 3, [4.0], list_up_to=0)
    assert sampled.errors == pytest.approx(exact.errors, rel=0.2)  # the seed is fixed
    assert sampled.errors != exact.errors
    assert sampled == least_expected_errors_each(UNEVEN, 3, [4.0], list_up_to=0)[0]


@pytest.mark.parametrize("epsilon", [0.3, 2.0, 6.0])
def test_a_free_alphabet_has_as_many_errors_as_its_best_law_for_each_adjacency(epsilon):
    m, n = 3, 5
    for b in (1, 2, 3):
        weights = [math.comb(n, d) * (m - 1) ** d * math.exp(-epsilon * math.ceil(d / b)) for d in range(n + 1)]
        mean = sum(d * weight for d, weight in enumerate(weights)) / sum(weights)
        [found] = least_expected_errors_each(pv.Alphabet("abc"), n, [epsilon], b)
        assert found.errors == pytest.approx(mean if b == 1 else min(mean, 1.0), rel=1e-12)
        assert found.proved


@pytest.mark.parametrize("world", [DEAD_END_PLANS, UNEVEN])
@pytest.mark.parametrize("length", [1, 3, 4])
def test_all_words_are_listed_once(world, length):
    found = [tuple(word) for word in _all_words(world, length)]
    expected = {tuple(world.encode(word).tolist()) for word in feasible_words(world, length)}
    assert len(found) == len(expected)
    assert set(found) == expected


def test_several_epsilons_have_the_bounds_that_each_has_alone():
    grid = [0.5, 3.0]
    alone = [least_expected_errors_each(UNEVEN, 3, [epsilon])[0] for epsilon in grid]
    assert least_expected_errors_each(UNEVEN, 3, grid) == alone
    assert alone[0].errors > alone[1].errors > 0
    assert lower_bound.least_expected_errors(UNEVEN, 3, 0.5) == alone[0]


def test_a_bound_cannot_be_changed_afterwards():
    bound = lower_bound.least_expected_errors(PAIRS, 4, 1.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        bound.errors = 0.0


@given_few_and_many(20, 100, case=systems_with_word(), most=st.integers(1, 4))
def test_words_with_few_errors_are_counted_by_looking_at_their_states_alone(case, most):
    world, word = case
    counts = [*class_counts(world, word), *[0] * most]
    found, _ = counts_near(world.compiled, world.encode(word).tolist(), most, most_moves=10**6)
    assert found == tuple(counts[1 : most + 1])


@pytest.fixture(scope="module")
def hub():
    """Everything leads to one place and back, so that most words are near to most others; too many to keep a list."""
    spokes = range(1, 17_001)
    return pv.MarkovChain.from_edges([(0, one) for one in spokes] + [(one, 0) for one in spokes])


@pytest.mark.parametrize("b", [1, 2])
def test_words_near_a_word_on_a_hub_are_counted_like_any_others(hub, b):
    # Away from the hub at every other position, so only these can be wrong: each may be any of the other spokes.
    codes = hub.encode([0, 5, 0, 7, 0, 9]).tolist()
    others = 17_000 - 1
    found, moves = counts_near(hub.compiled, codes, b, most_moves=10**8)
    assert found == (3 * others, 3 * others**2)[:b]
    assert moves < 40 * b * hub.compiled.edge_count


def test_a_sample_is_as_small_as_its_work_demands_and_nothing_is_said_where_one_word_is_too_much(hub):
    [few] = least_expected_errors_each(hub, 6, [2.0], most_moves=4_000_000)
    assert not few.proved
    assert 10 <= int(few.how.split()[2]) < 200
    near = math.exp(-2.0) * 3 * (17_000 - 1)  # every word has that many others next to it
    assert few.errors == pytest.approx(1 - 1 / (1 + near), rel=1e-12)
    [none] = least_expected_errors_each(hub, 6, [2.0], most_moves=40_000)
    assert none.errors == 0
    assert none.how.startswith("no better one than 0 was computed")
