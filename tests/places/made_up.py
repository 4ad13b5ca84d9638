"""Cells and points that several tests share."""

from __future__ import annotations

import numpy as np

import pathveil as pv

BOUNDS = (53.10, 8.15, 53.18, 8.28)

Point = tuple[str, float, float, float]


def square(west: float, south: float, side: float = 0.02) -> list[list[float]]:
    east, north = west + side, south + side
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


def zones_of(**rings: list[list[float]]) -> dict[str, object]:
    """A FeatureCollection of polygons with one ring each."""
    return {
        "type": "FeatureCollection",
        "features": [
            {"type": "Feature", "properties": {"name": name}, "geometry": {"type": "Polygon", "coordinates": [ring]}}
            for name, ring in rings.items()
        ],
    }


# Four zones in a row, of which the last is an island.
FOUR_ZONES = zones_of(a=square(8.16, 53.12), b=square(8.18, 53.12), c=square(8.20, 53.12), island=square(8.24, 53.12))


def all_cells() -> list[pv.places.Cells]:
    return [
        pv.places.Grid(BOUNDS, 1000.0),
        pv.places.Grid(BOUNDS, 1700.0, stay=True),
        pv.places.Hexagons(BOUNDS, 7),
        pv.places.Zones(FOUR_ZONES),
    ]


def random_points(seed: int, count: int) -> list[Point]:
    """People who jump about, some of them out of the bounds, in no order."""
    rng = np.random.default_rng(seed)
    users = rng.integers(0, 4, count)
    times = rng.permutation(count) * 60.0 + rng.integers(0, 2, count) * 3000.0
    latitude, longitude = rng.uniform(53.09, 53.19, count), rng.uniform(8.14, 8.29, count)
    return [
        (f"p{user}", float(time), float(lat), float(lng))
        for user, time, lat, lng in zip(users, times, latitude, longitude, strict=True)
    ]


def columns_of(points: list[Point]) -> dict[str, list[object]]:
    """The points as columns for `Cells.words`."""
    user, time, latitude, longitude = zip(*points, strict=True)
    return {"user": list(user), "time": list(time), "latitude": list(latitude), "longitude": list(longitude)}
