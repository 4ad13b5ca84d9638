"""Supports of doubly stochastic matrices, against listing all permutations and all cycles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pathveil.errors import InvalidParameterError
from pathveil.models.control.birkhoff import possible_entries, shortest_cycle
from tests.reference.doubly_stochastic import possible_by_permutations, shortest_cycle_by_listing

supports = st.integers(1, 5).flatmap(
    lambda n: st.lists(st.booleans(), min_size=n * n, max_size=n * n).map(lambda x: np.array(x).reshape(n, n))
)


@given(supports)
@settings(max_examples=150)
def test_possible_entries_are_those_of_some_permutation(support):
    expected = possible_by_permutations(support)
    if expected.any():
        assert (possible_entries(support) == expected).all()
    else:
        with pytest.raises(InvalidParameterError, match="between them"):
            possible_entries(support)


def test_the_rows_named_have_too_few_columns():
    support = np.array([[1, 1, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 1, 1]], dtype=bool)
    with pytest.raises(InvalidParameterError, match="the rows 1, 2, 3 have only the columns 1, 2 between them"):
        possible_entries(support)


@given(supports)
@settings(max_examples=40)
def test_the_shortest_cycle_is_found(support):
    support = support[:4, :4]
    assert shortest_cycle(support) == shortest_cycle_by_listing(support)


def test_a_ring_of_rows_has_no_shorter_cycle():
    ring = np.eye(7, dtype=bool) | np.roll(np.eye(7, dtype=bool), 1, axis=1)
    assert shortest_cycle(ring) == 7
    assert shortest_cycle(np.eye(3, dtype=bool)) is None
