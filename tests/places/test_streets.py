"""Snapping to a road network: the best choice of all, and always a feasible word."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

import pathveil as pv
from pathveil.data.points import read_cells, save_cells
from tests.reference import matching

# Nine junctions in a square, 200 m apart; streets both ways, except that the middle row is one-way to the east.
SIDE = 0.0018
JUNCTIONS = {(r, c): (53.14 + SIDE * r, 8.2 + 1.6 * SIDE * c) for r in range(3) for c in range(3)}
WAYS = [
    (a, b)
    for a in JUNCTIONS
    for b in JUNCTIONS
    if abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1 and not (a[0] == b[0] == 1 and b[1] < a[1])
]
NAMES = {way: f"{way[0][0]}{way[0][1]}-{way[1][0]}{way[1][1]}" for way in WAYS}
LINES = {NAMES[a, b]: (JUNCTIONS[a], JUNCTIONS[b]) for a, b in WAYS}
FOLLOWS = [(NAMES[one], NAMES[other]) for one in WAYS for other in WAYS if one[1] == other[0] and other[1] != one[0]]
STREETS = pv.places.Streets(LINES, FOLLOWS, radius=120.0, reach=3)


def drive(*junctions, noise=0.0, seed=1):
    """Points in the middle of each street of a drive, and at a quarter."""
    rng = np.random.default_rng(seed)
    points = []
    for a, b in pairwise(junctions):
        begin, end = np.array(JUNCTIONS[a]), np.array(JUNCTIONS[b])
        points += [begin + part * (end - begin) + rng.normal(0, noise, 2) for part in (0.25, 0.6)]
    return points


def table(points):
    latitude, longitude = zip(*points, strict=True)
    return {"user": ["p"] * len(points), "time": list(range(len(points))), "lat": latitude, "lng": longitude}


def test_a_drive_comes_back_as_its_streets_in_the_right_direction():
    drive_1 = [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)]
    [word] = STREETS.words(table(drive(*drive_1, noise=1e-4)))
    assert word == tuple(NAMES[way] for way in pairwise(drive_1))


def test_against_a_one_way_street_the_word_is_still_feasible():
    trips = STREETS.words(table(drive((1, 2), (1, 1), (1, 0))))
    assert all(STREETS.system.is_feasible(word) for word in trips)


@pytest.mark.parametrize("seed", range(12))
def test_the_matcher_finds_the_best_choice_of_all(seed):
    rng = np.random.default_rng(seed)
    latitude = rng.uniform(53.1395, 53.1442, 4)
    longitude = rng.uniform(8.1995, 8.2064, 4)
    near = [one[:5] for one in STREETS.candidates(latitude, longitude)]
    if not all(near):
        near = [one for one in near if one]
    expected = matching.best_cost(STREETS, near)
    found = STREETS.match(near)
    if expected is None:
        assert len(found) > 1
        return
    [codes] = found
    squares = [dict(one)[code] for one, code in zip(near, codes, strict=True)]
    symbols = 1 + sum(matching.moves(STREETS, a, b) for a, b in pairwise(codes))
    assert (sum(squares), symbols) == expected
    word = [STREETS.symbols[code] for code in STREETS.word_of(codes)]
    assert len(word) == symbols
    assert STREETS.system.is_feasible(word)


def test_candidates_are_all_segments_within_the_radius():
    rng = np.random.default_rng(3)
    latitude, longitude = rng.uniform(53.139, 53.145, 40), rng.uniform(8.199, 8.207, 40)
    to_metres = STREETS.projection.to_metres
    for place, near in zip(
        np.column_stack(to_metres(latitude, longitude)), STREETS.candidates(latitude, longitude), strict=True
    ):
        expected = {}
        for code, symbol in enumerate(STREETS.symbols):
            ends = [tuple(float(one) for one in to_metres(*end)) for end in LINES[symbol]]
            far = matching.distance(tuple(place), *ends)
            if far <= STREETS.radius:
                expected[code] = round(10 * far) ** 2
        assert dict(near) == expected


def test_points_far_from_any_street_are_dropped_and_jumps_beyond_reach_cut():
    points = [*drive((0, 0), (0, 1)), np.array([53.2, 8.2]), *drive((0, 1), (0, 2))]
    trips = STREETS.words(table(points))
    assert len(trips) == 1
    assert trips.counts.outside == 1
    short = pv.places.Streets(LINES, FOLLOWS, radius=60.0, reach=1)
    trips = short.words(table([*drive((0, 0), (0, 1)), *drive((2, 1), (2, 2))]))
    assert len(trips) == 2
    assert trips.counts.cut_at_islands == 1
    counts = trips.counts
    assert counts.symbols == counts.points - counts.outside - counts.merged + counts.filled


def test_gaps_and_people_end_trips():
    points = table(drive((0, 0), (0, 1), (0, 2)))
    points["time"] = [0, 60, 7200, 7260]
    assert len(STREETS.words(points, gap="30min")) == 2
    # A drive of an hour without a long pause is one trip.
    [_] = STREETS.words(points | {"time": [0, 1200, 2400, 3600]}, gap="30min")
    points["user"] = ["a", "b", "b", "b"]
    trips = STREETS.words(points, gap="30min")
    assert trips.users == ["a", "b", "b"]
    assert (trips.counts.people, trips.counts.cut_at_gaps) == (2, 1)


def test_streets_are_saved_with_their_lines_and_their_points_lie_on_them(tmp_path):
    save_cells(STREETS, tmp_path / "streets.json")
    again = read_cells(tmp_path / "streets.json")
    assert again.document() == json.loads(json.dumps(STREETS.document()))
    assert (again.system.matrix != STREETS.system.matrix).nnz == 0
    codes = np.arange(len(STREETS.symbols))
    latitudes, longitudes = STREETS.degrees_of(codes, "uniform", pv.insecure_seed(1))
    for code, near in zip(codes, STREETS.candidates(latitudes, longitudes), strict=True):
        assert dict(near)[code] == 0


def test_networks_that_make_no_sense_are_refused():
    metres = {name: ((5e6 + i, 4e5), (5e6, 4e5)) for i, name in enumerate(LINES)}
    with pytest.raises(pv.InvalidSystemError, match="EPSG:4326"):
        pv.places.Streets(metres, FOLLOWS)
    for wrong in ({"radius": 0}, {"radius": float("inf")}, {"reach": 0}, {"reach": True}):
        with pytest.raises(pv.InvalidParameterError):
            pv.places.Streets(LINES, FOLLOWS, **wrong)
