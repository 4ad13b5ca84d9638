"""The lower bound against the best mechanism there is, found by linear programming."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

import pathveil as pv
from pathveil.planning.lower_bound import least_expected_errors


def best_expected_errors(words: list[tuple[str, ...]], epsilon: float, adjacency: int) -> float:
    """The least average error of any ε-private mechanism on these words: a linear program over all of its entries."""
    n = len(words)
    distance = np.array([[sum(a != b for a, b in zip(w, v, strict=True)) for v in words] for w in words])
    constraints = []
    for w, v in product(range(n), repeat=2):
        if w != v and distance[w, v] <= adjacency:
            for output in range(n):  # P(output | w) ≤ e^ε P(output | v)
                row = np.zeros((n, n))
                row[w, output], row[v, output] = 1.0, -np.exp(epsilon)
                constraints.append(row.ravel())
    rows = np.kron(np.eye(n), np.ones(n))
    inequalities = np.array(constraints) if constraints else None
    zeros = np.zeros(len(constraints)) if constraints else None
    found = linprog(distance.ravel() / n, inequalities, zeros, rows, np.ones(n), bounds=(0, 1), method="highs")
    assert found.success
    return float(found.fun)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize(("symbols", "length"), [("ab", 3), ("abc", 2)])
def test_on_a_free_alphabet_the_bound_is_the_best_there_is_and_the_certified_mechanism_reaches_it(
    symbols, length, epsilon
):
    world = pv.Alphabet(symbols)
    best = best_expected_errors([tuple(w) for w in product(symbols, repeat=length)], epsilon, 1)
    bound = least_expected_errors(world, length, epsilon)
    assert bound.proved
    assert bound.errors == pytest.approx(best, rel=1e-6)
    assert pv.CertifiedExponential(world, epsilon).error_law(symbols[0] * length).mean == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("adjacency", [1, 2])
@pytest.mark.parametrize(
    "edges", [["ab", "bc", "ca", "ac"], ["aa", "ab", "ba"], ["ab", "ac", "bd", "cd", "da"], ["ab", "ba"]]
)
def test_elsewhere_no_mechanism_is_below_the_bound(edges, adjacency, epsilon):
    world = pv.MarkovChain.from_edges([tuple(edge) for edge in edges])
    words = [w for w in product(world.symbols, repeat=4) if world.is_feasible(w)]
    best = best_expected_errors(words, epsilon, adjacency)
    bound = least_expected_errors(world, 4, epsilon, adjacency)
    assert bound.proved
    assert -1e-12 <= bound.errors <= best + 1e-7
    if best > 1e-6 and adjacency == 1 and epsilon == 3.0:
        assert bound.errors > best / 3  # and it says something


def test_with_larger_adjacency_a_free_alphabet_keeps_the_bound_too():
    words = [tuple(w) for w in product("ab", repeat=3)]
    bound = least_expected_errors(pv.Alphabet("ab"), 3, 1.0, adjacency=2)
    assert 0 < bound.errors <= best_expected_errors(words, 1.0, 2) + 1e-7


def test_where_words_are_too_many_to_list_the_bound_says_that_it_is_an_estimate():
    bound = least_expected_errors(pv.example_town(), 14, 5.0)
    assert not bound.proved
    assert "estimated" in bound.how


def test_where_neighbours_cannot_be_counted_the_bound_is_0_and_says_why():
    bound = least_expected_errors(pv.Alphabet("ab"), 50_000, 1.0)
    assert bound.errors == 0
    assert "no better one than 0 was computed" in bound.how
    assert "GiB" in bound.how
