"""Figures of trips: as the literal versions say, and at their best and worst where trips are."""

from __future__ import annotations

import math
from collections import Counter

import pytest

import pathveil as pv
from tests.places.made_up import BOUNDS
from tests.reference import trip_figures as literal

CELLS = pv.places.Grid(BOUNDS, 1500.0)


def trips(seed, count, length=6):
    rng = pv.insecure_seed(seed)
    return [CELLS.system.random_word(2 + i % length, rng) for i in range(count)]


def test_figures_are_those_of_the_literal_versions():
    ours, theirs = trips(1, 90), trips(2, 60)
    found, place = pv.trip_metrics(ours, theirs, CELLS), CELLS.coordinates
    visits = [Counter(symbol for word in words for symbol in word) for words in (ours, theirs)]
    ends = [Counter((word[0], word[-1]) for word in words) for words in (ours, theirs)]
    assert found.density == pytest.approx(literal.divergence(*visits))
    assert found.trips == pytest.approx(literal.divergence(*ends))
    for name, figure in (("lengths", literal.length), ("diameters", literal.diameter)):
        values = [[figure(word, place) for word in words] for words in (ours, theirs)]
        both = (literal.binned(one, max(values[0])) for one in values)
        assert getattr(found, name) == pytest.approx(literal.divergence(*both))
    top = [
        {piece for piece, _ in sorted(literal.pieces(words).items(), key=lambda one: (-one[1], one[0]))[:100]}
        for words in (ours, theirs)
    ]
    assert found.patterns == pytest.approx(len(top[0] & top[1]) / 100)


def test_the_same_trips_are_perfect_and_others_are_not():
    ours = trips(1, 80)
    perfect = pv.trip_metrics(ours, list(reversed(ours)) * 2, CELLS)
    assert perfect.density == perfect.trips == perfect.lengths == perfect.diameters == 0
    assert perfect.range_queries == 0
    assert perfect.hot_spots == perfect.patterns == 1
    assert perfect.ranks == pytest.approx(1)
    north, south = [CELLS.symbols[:2]] * 5, [CELLS.symbols[-2:]] * 5
    nothing = pv.trip_metrics(north, south, CELLS)
    assert nothing.density == nothing.trips == pytest.approx(math.log(2))
    assert nothing.patterns == nothing.hot_spots == 0
    assert nothing.range_queries > 0


def test_the_figures_print_with_their_direction_and_a_warning():
    text = str(pv.trip_metrics(trips(1, 20), trips(2, 20), CELLS))
    assert text.startswith("For the curator only")
    assert text.count("lower is better") == 5
    assert text.count("higher is better") == 3


def test_no_trips_and_strangers_are_refused():
    with pytest.raises(pv.InvalidParameterError, match="no released trip"):
        pv.trip_metrics(trips(1, 3), [], CELLS)
    with pytest.raises(pv.InvalidParameterError, match="'nowhere'"):
        pv.trip_metrics(trips(1, 3), [("nowhere",)], CELLS)
