"""Small facts about distance automata: what they accept is written out, and what cannot be accepted is refused."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pytest

import pathveil as pv
from pathveil.words.automata.distance import _checked_errors, _described, _readable

FIGURE = pv.DistanceAutomaton(pv.Alphabet("abc"), "abc", errors=2)


@pytest.mark.parametrize(
    ("errors", "length", "text"),
    [
        ((0, 1, 2, 3), 3, "any number of errors"),
        ((0,), 3, "exactly 0 errors"),
        ((1,), 3, "exactly 1 error"),
        ((2,), 3, "exactly 2 errors"),
        ((0, 1), 3, "at most 1 error"),
        ((0, 1, 2), 3, "at most 2 errors"),
        ((1, 2), 3, "1 or 2 errors"),
        ((0, 2), 3, "0 or 2 errors"),
        ((0, 2, 3), 4, "0, 2 or 3 errors"),
        ((1, 2, 3), 4, "1, 2 or 3 errors"),
    ],
)
def test_numbers_of_errors_are_put_into_words(errors, length, text):
    assert _described(errors, length) == text


def test_large_counts_are_put_as_powers_of_ten():
    assert (_readable(999_999_999), _readable(10**9), _readable(2 * 10**12)) == (
        "999999999",
        "about 10^9.0",
        "about 10^12.3",
    )


def test_errors_may_be_one_number_several_or_all():
    assert _checked_errors(None, 3) == (0, 1, 2, 3)
    assert _checked_errors(0, 3) == (0,)
    assert _checked_errors(3, 3) == (3,)
    assert _checked_errors([3, 1, 1], 3) == (1, 3)
    assert _checked_errors(np.int64(2), 3) == (2,)
    assert _checked_errors((n for n in (2, 0)), 3) == (0, 2)
    for bad in (-1, 4, True, 1.0, "1", "", [], [0, 4], [False], object()):
        with pytest.raises(pv.InvalidParameterError, match="errors"):
            _checked_errors(bad, 3)


def test_edges_come_from_left_to_right_and_know_whether_they_are_errors():
    assert [(edge.source, edge.target, edge.symbols, edge.is_error) for edge in FIGURE.edges] == [
        ((0, 0), (1, 0), ("a",), False),
        ((0, 0), (1, 1), ("b", "c"), True),
        ((1, 0), (2, 1), ("a", "c"), True),
        ((1, 1), (2, 2), ("a", "c"), True),
        ((1, 1), (2, 1), ("b",), False),
        ((2, 1), (3, 2), ("a", "b"), True),
        ((2, 2), (3, 2), ("c",), False),
    ]
    with pytest.raises(FrozenInstanceError):
        FIGURE.edges[0].symbols = ("b",)
    assert FIGURE.edges[0] == pv.DistanceAutomaton(pv.Alphabet("abc"), "abc", errors=2).edges[0]


def test_tables_are_worked_out_once_and_cannot_be_changed():
    assert FIGURE.edges is FIGURE.edges
    assert FIGURE.V is FIGURE.V
    assert FIGURE.mu is FIGURE.mu
    assert FIGURE.accepting is FIGURE.accepting
    with pytest.raises(TypeError):
        FIGURE.V[0, 0] = 13
    with pytest.raises(TypeError):
        FIGURE.mu[(0, 0), (1, 0)] = Fraction(1)


def test_the_graph_marks_its_ends():
    nodes = pv.DistanceAutomaton(pv.Alphabet("ab"), "ab", errors=[0, 2]).to_networkx().nodes
    assert {q for q in nodes if nodes[q]["initial"]} == {(0, 0)}
    assert {q for q in nodes if nodes[q]["accepting"]} == {(2, 0), (2, 2)}
    assert all((nodes[q]["position"], nodes[q]["errors"]) == q for q in nodes)
    assert {q: nodes[q]["V"] for q in nodes} == {(0, 0): 2, (1, 0): 1, (1, 1): 1, (2, 0): 1, (2, 2): 1}


def test_states_beyond_the_largest_number_of_errors_are_left_out():
    automaton = pv.DistanceAutomaton(pv.Alphabet("ab"), "abab", errors=[0, 1])
    assert max(e for _, e in automaton.states) == 1
    assert automaton.count == 5
    assert list(automaton.states) == sorted(automaton.states)
    expected = {(i, 0): 5 - i for i in range(5)} | {(i, 1): 1 for i in range(1, 5)}
    assert expected == automaton.V
