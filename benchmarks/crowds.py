"""A crowd on the streets of Oldenburg: shortest ways between places that some people like better than others.

The streets are read from the folder that PATHVEIL_DATA names, or from `shared/data` beside the repository: junctions
with coordinates in metres, and streets between them. Nobody of this crowd exists.

A person lives at a random junction. A trip leads from home to a place, and now and then from one place to another;
places are junctions whose attraction falls like 1/rank (Zipf). The way is the shortest along the streets, with a point
at every junction and a minute between two points.
"""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

import pathveil as pv
from pathveil.places.geometry import FlatMap

FOLDER = Path(os.environ.get("PATHVEIL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
CENTRE = (53.14, 8.21)  # where the town lies on the globe: its coordinates are metres
PLACES = 60
FROM_HOME = 0.6

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Town:
    """Junctions in metres from the centre, and the lengths of streets."""

    places: Floats
    streets: sparse.csr_array

    @classmethod
    def oldenburg(cls) -> Town:
        with open(FOLDER / "oldenburg_nodes.csv", encoding="utf-8") as file:
            rows = [(row["node_id"], float(row["x"]), float(row["y"])) for row in csv.DictReader(file)]
        number = {name: i for i, (name, _, _) in enumerate(rows)}
        places = np.array([(x, y) for _, x, y in rows])
        places -= (places.min(axis=0) + places.max(axis=0)) / 2
        with open(FOLDER / "oldenburg_edges.csv", encoding="utf-8") as file:
            ends = np.array([(number[row["node_a"]], number[row["node_b"]]) for row in csv.DictReader(file)])
        lengths = np.hypot(*(places[ends[:, 0]] - places[ends[:, 1]]).T) + 1.0
        shape = (len(rows), len(rows))
        streets = sparse.csr_array((lengths, (ends[:, 0], ends[:, 1])), shape=shape)
        return cls(places, streets.maximum(streets.T))

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """The square around the town in degrees."""
        half = float(np.abs(self.places).max()) + 1.0
        flat = FlatMap(*CENTRE)
        (south, north), (west, east) = flat.to_degrees(np.array([-half, half]), np.array([-half, half]))
        return float(south), float(west), float(north), float(east)

    def cells(self, rows: int) -> pv.places.Grid:
        """Square cells, so many in each direction."""
        half = float(np.abs(self.places).max()) + 1.0
        return pv.places.Grid(self.bounds, 2 * half / rows)


@dataclass(frozen=True)
class Crowd:
    """Trips as sequences of junctions, and whose each is."""

    ways: list[Ints]
    users: Ints

    def table(self, town: Town) -> dict[str, NDArray[object]]:
        """Points as `Cells.words` and files have them: a user, a time, a latitude, a longitude."""
        lengths = np.array([len(way) for way in self.ways])
        junctions = np.concatenate(self.ways)
        latitudes, longitudes = FlatMap(*CENTRE).to_degrees(*town.places[junctions].T)
        step = np.arange(len(junctions)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        # One trip of a person a day.
        order = np.argsort(self.users, kind="stable")
        day = np.empty(len(order), dtype=np.int64)
        first = np.flatnonzero(np.diff(self.users[order], prepend=-1))
        day[order] = np.arange(len(order)) - np.repeat(first, np.diff(np.append(first, len(order))))
        times = np.repeat(day * 86400 + 28800, lengths) + 60 * step
        return {
            "user": np.repeat(self.users, lengths),
            "time": times,
            "latitude": latitudes,
            "longitude": longitudes,
        }


def crowd(town: Town, trips: int, people: int, seed: int = 1, draw: int = 1) -> Crowd:
    """So many trips of so many people, each with at least one where there are enough.

    `seed` decides which places are liked, `draw` who goes where.
    """
    liked = np.random.default_rng(seed).choice(len(town.places), PLACES, replace=False)
    rng = np.random.default_rng([seed, draw])
    weights = 1 / np.arange(1, PLACES + 1)
    homes = rng.integers(0, len(town.places), people)
    users = np.concatenate([np.arange(min(people, trips)), rng.integers(0, people, max(0, trips - people))])
    goals = liked[rng.choice(PLACES, trips, p=weights / weights.sum())]
    others = liked[rng.choice(PLACES, trips, p=weights / weights.sum())]
    starts = np.where(rng.random(trips) < FROM_HOME, homes[users], others)
    ways: list[Ints] = [np.empty(0, dtype=np.int64)] * trips
    for goal in np.unique(goals):
        _, before = csgraph.dijkstra(town.streets, directed=False, indices=goal, return_predecessors=True)
        for trip in np.flatnonzero(goals == goal):
            way = [int(starts[trip])]
            while way[-1] != goal and before[way[-1]] >= 0:
                way.append(int(before[way[-1]]))
            ways[trip] = np.array(way)
    return Crowd(ways, users)
