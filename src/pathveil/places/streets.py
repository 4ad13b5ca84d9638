"""Points snapped to a road network, so that every trip stays feasible.

The *matcher*: a point may lie on any segment within `radius` metres of it (a candidate). Of all ways to choose one
candidate for each point of a trip such that each can be reached from the one before with at most `reach` moves, the one
is taken with the smallest sum of squared distances; of equally near ones that with the fewest symbols, and of those the
first. That is a shortest path over the candidates, found exactly (dynamic programming); distances count in whole
decimetres, so that equal ones are equal on every machine. Between two chosen segments that do not follow each other,
the shortest way of the network is filled in (`between`). A point without candidates is dropped; where nothing can be
reached, a new trip begins. All of it reads public roads and the trip itself, nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from pathveil.errors import InvalidParameterError, InvalidSystemError
from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.places.cells import Cells, Ring, require_two_cells
from pathveil.places.geometry import Bounds, FlatMap, require_degrees
from pathveil.places.trips import COLUMNS, PointCounts, WordBatch, gap_in_microseconds
from pathveil.randomness.source import RandomSource

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

Line = tuple[tuple[float, float], tuple[float, float]]
"""Where a segment begins and ends, as (latitude, longitude)."""

Candidate = tuple[int, int]
"""The code of a segment, and the squared distance of a point from it, in square decimetres."""

_EDGE = 0.001  # degrees around the network: points beyond are outside in any case
_LONGEST_PIECE = 4  # a long segment is found by points on it, so many radii apart at most


class Streets(Cells):
    """Segments of a road network as symbols: `lines` says where each lies, `follows` which may follow which.

    `radius` is how far from its segment a point may lie, in metres; `reach` how many moves at most lead from the
    segment of a point to that of the next. `data.read_cells` makes streets of what `pathveil system graphml` wrote.
    """

    def __init__(
        self,
        lines: Mapping[str, Line],
        follows: Iterable[tuple[str, str]],
        *,
        radius: float = 50.0,
        reach: int = 6,
    ) -> None:
        self.symbols, self.stay, self.moves = tuple(lines), False, "neighbours"
        require_two_cells(self.symbols, "the network")
        if not (isinstance(radius, int | float) and math.isfinite(radius) and radius > 0):
            raise InvalidParameterError(f"radius is a positive number of metres, not {radius!r}")
        if isinstance(reach, bool) or not isinstance(reach, int) or reach < 1:
            raise InvalidParameterError(f"reach is a whole number of moves from 1 on, not {reach!r}")
        self.radius, self.reach = float(radius), reach
        self._lines = np.array([list(lines[symbol]) for symbol in self.symbols], dtype=float).reshape(-1, 2, 2)
        self._extent = self._checked_extent()
        self.projection: FlatMap = FlatMap(*self._extent.middle)
        self._follows = self._checked_follows(follows)
        self.source = f"{len(self.symbols)} segments of a road network"
        ends = [np.column_stack(self.projection.to_metres(*self._lines[:, end].T)) for end in (0, 1)]
        self._begins, self._ends = ends
        self._tree, self._piece_of = self._pieces()
        self._reachable: dict[int, dict[int, int]] = {}

    def _checked_extent(self) -> Bounds:
        latitudes, longitudes = self._lines[..., 0], self._lines[..., 1]
        if not np.isfinite(self._lines).all() or np.abs(latitudes).max() > 90 or np.abs(longitudes).max() > 180:
            raise InvalidSystemError(
                "the coordinates of the network are no degrees. Save it in WGS 84 (EPSG:4326), not projected."
            )
        low, high = self._lines.min(axis=(0, 1)) - _EDGE, self._lines.max(axis=(0, 1)) + _EDGE
        return Bounds.checked((low[0], low[1], high[0], high[1]))

    def _checked_follows(self, follows: Iterable[tuple[str, str]]) -> tuple[IntArray, IntArray]:
        pairs = sorted({(self._code(a), self._code(b)) for a, b in follows})
        listed = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        return listed[:, 0], listed[:, 1]

    def _pieces(self) -> tuple[cKDTree, IntArray]:
        """Points along all segments, and whose each is: whatever is near a segment is near one of its points."""
        from scipy.spatial import cKDTree

        apart = self.radius * _LONGEST_PIECE
        counts = np.maximum(1, np.ceil(np.hypot(*(self._ends - self._begins).T) / apart).astype(np.int64))
        owner = np.repeat(np.arange(len(counts)), counts)
        part = (np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts) + 0.5) / np.repeat(counts, counts)
        return cKDTree(self._begins[owner] + part[:, None] * (self._ends - self._begins)[owner]), owner

    @property
    def extent(self) -> Bounds:
        return self._extent

    def candidates(self, latitudes: FloatArray, longitudes: FloatArray) -> list[list[Candidate]]:
        """For each point the segments within the radius, in their order."""
        places = np.column_stack(self.projection.to_metres(latitudes, longitudes))
        near = self._tree.query_ball_point(places, self.radius * (1 + _LONGEST_PIECE / 2) + 1e-6)
        found = []
        for place, pieces in zip(places, near, strict=True):
            codes = np.unique(self._piece_of[pieces])
            far = _distances(place, self._begins[codes], self._ends[codes])
            squares = np.round(10 * far).astype(np.int64) ** 2
            inside = far <= self.radius
            found.append(list(zip(codes[inside].tolist(), squares[inside].tolist(), strict=True)))
        return found

    def codes_at(self, latitudes: FloatArray, longitudes: FloatArray) -> IntArray:
        """The nearest segment of each point by itself; words are made by the matcher instead."""
        near = self.candidates(latitudes, longitudes)
        return np.array([min(one, key=lambda c: (c[1], c[0]))[0] if one else -1 for one in near], dtype=np.int64)

    def match(self, candidates: Sequence[Sequence[Candidate]]) -> list[list[int]]:
        """The best codes for the points of a trip: one list of codes, or several where it had to be cut."""
        trips: list[list[int]] = []
        while candidates:
            best, length = self._best(candidates)
            trips.append(best)
            candidates = candidates[length:]
        return trips

    def _best(self, candidates: Sequence[Sequence[Candidate]]) -> tuple[list[int], int]:
        """The best codes for as many points as can be matched together, and how many points that are."""
        # For each candidate of the current point: (squares, symbols) so far, and for each point where it came from.
        costs = {code: (square, 1) for code, square in candidates[0]}
        came_from: list[dict[int, int]] = []
        for following in candidates[1:]:
            reached: dict[int, tuple[int, int]] = {}
            before: dict[int, int] = {}
            for code, square in following:
                options = [
                    (squares + square, symbols + moves, previous)
                    for previous, (squares, symbols) in costs.items()
                    if (moves := self._moves(previous).get(code)) is not None
                ]
                if options:
                    squares, symbols, before[code] = min(options)
                    reached[code] = (squares, symbols)
            if not reached:
                break
            costs = reached
            came_from.append(before)
        codes = [min(costs, key=lambda code: (*costs[code], code))]
        for before in reversed(came_from):
            codes.append(before[codes[-1]])
        return codes[::-1], len(codes)

    def _moves(self, origin: int) -> dict[int, int]:
        """How many moves lead to each segment within reach; none to the segment itself."""
        if origin not in self._reachable:
            follows = self.system.matrix  # type: ignore[union-attr]  # streets are always a chain
            steps, edge = {origin: 0}, [origin]
            for step in range(1, self.reach + 1):
                after = {
                    int(code) for one in edge for code in follows.indices[follows.indptr[one] : follows.indptr[one + 1]]
                }
                edge = sorted(after - steps.keys())
                steps |= dict.fromkeys(edge, step)
            self._reachable[origin] = steps
        return self._reachable[origin]

    def word_of(self, codes: Sequence[int]) -> IntArray:
        """The word of matched codes: repeats merged, ways filled in."""
        kept = [code for i, code in enumerate(codes) if i == 0 or code != codes[i - 1]]
        ends = np.array(kept, dtype=np.int64)
        between, counts = self.between(ends[:-1], ends[1:])
        places = np.cumsum(np.concatenate([[0], counts + 1]))
        word = np.empty(int(places[-1]) + 1, dtype=np.int64)
        own = np.zeros(len(word), dtype=bool)
        own[places] = True
        word[own], word[~own] = ends, between
        return word

    def snapping(self, radius: float) -> Streets:
        """The same streets with another radius."""
        lines = {symbol: ((a, b), (c, d)) for symbol, ((a, b), (c, d)) in zip(self.symbols, self._lines, strict=True)}
        pairs = zip(*(ends.tolist() for ends in self._follows), strict=True)
        follows = [(self.symbols[a], self.symbols[b]) for a, b in pairs]
        return Streets(lines, follows, radius=radius, reach=self.reach)

    def word_maker(self, gap: str | float | timedelta | None) -> StreetWords:
        return StreetWords(self, gap)

    def outline(self, symbol: str) -> list[Ring]:
        (a, b), (c, d) = self._lines[self._code(symbol)].tolist()
        return [[(a, b), (c, d)]]

    def document(self) -> dict[str, Any]:
        """Beside the system, which says what follows what: [x, y, x, y] of each segment, and how points are snapped."""
        lines = self._lines[:, :, ::-1].reshape(-1, 4).tolist()
        return {"lines": lines, "snapping": {"radius": self.radius, "reach": self.reach}}

    def _neighbours(self) -> tuple[IntArray, IntArray]:
        return self._follows

    def _centres(self) -> tuple[FloatArray, FloatArray]:
        middles = (self._begins + self._ends) / 2
        return middles[:, 0], middles[:, 1]

    def _uniform_points(self, codes: IntArray, source: RandomSource) -> tuple[FloatArray, FloatArray]:
        part = source.uniform(len(codes))[:, None]
        places = self._begins[codes] + part * (self._ends - self._begins)[codes]
        return self.projection.to_degrees(places[:, 0], places[:, 1])


def _distances(place: FloatArray, begins: FloatArray, ends: FloatArray) -> FloatArray:
    """Metres from a point to segments; the same for a segment and the way back."""
    swap = (begins[:, 0] > ends[:, 0]) | ((begins[:, 0] == ends[:, 0]) & (begins[:, 1] > ends[:, 1]))
    low, high = np.where(swap[:, None], ends, begins), np.where(swap[:, None], begins, ends)
    along = high - low
    length = (along**2).sum(axis=1)
    part = np.divide(((place - low) * along).sum(axis=1), length, out=np.zeros(len(low)), where=length > 0)
    nearest = low + np.clip(part, 0, 1)[:, None] * along
    far: FloatArray = np.hypot(*(nearest - place).T)
    return far


class StreetWords:
    """Makes words of sorted batches of points on a road network, a trip at a time. `counts` grows along."""

    def __init__(self, streets: Streets, gap: str | float | timedelta | None) -> None:
        self._streets, self._gap = streets, gap_in_microseconds(gap)
        self.counts = PointCounts()

    def words(self, batches: Iterable[pa.RecordBatch]) -> Iterator[WordBatch]:
        """The words of all points."""
        waiting: list[tuple[Any, int, float, float]] = []
        for batch in batches:
            self.counts.points += batch.num_rows
            for point in zip(*(batch.column(name).to_pylist() for name in COLUMNS), strict=True):
                if not waiting or waiting[-1][0] != point[0]:
                    self.counts.people += 1
                    ends = bool(waiting)
                else:
                    ends = self._gap is not None and point[1] - waiting[-1][1] > self._gap
                    self.counts.cut_at_gaps += ends
                if ends:
                    yield from self._trip(waiting)
                    waiting = []
                waiting.append(point)
        if waiting:
            yield from self._trip(waiting)

    def _trip(self, points: list[tuple[Any, int, float, float]]) -> Iterator[WordBatch]:
        users, times, latitudes, longitudes = zip(*points, strict=True)
        where = np.array(latitudes), np.array(longitudes)
        require_degrees(*where)
        near = self._streets.candidates(*where)
        kept = [i for i, one in enumerate(near) if one]
        self.counts.outside += len(points) - len(kept)
        done = 0
        for codes in self._streets.match([near[i] for i in kept]):
            word = self._streets.word_of(codes)
            begin = times[kept[done]]
            self._count(codes, word, first=done == 0)
            done += len(codes)
            offsets = np.array([0, len(word)])
            yield WordBatch(word, offsets, pa.array([users[0]]), np.array([begin], dtype=np.int64))

    def _count(self, codes: list[int], word: IntArray, *, first: bool) -> None:
        distinct = 1 + sum(a != b for a, b in pairwise(codes))
        self.counts.merged += len(codes) - distinct
        self.counts.filled += len(word) - distinct
        self.counts.cut_at_islands += not first
        self.counts.words += 1
        self.counts.symbols += len(word)
        self.counts.longest = max(self.counts.longest, len(word))
