"""Points to words: from person, time, latitude and longitude to one word of cells for each trip.

The points come in batches, sorted by person and time; `WordMaker` keeps no more than the trip that is not over yet. All
steps read one point and the one before it:

    another person, or a pause longer than `gap`        a new trip
    a point outside all cells                           dropped; the next one inside begins a new trip
    the same cell again                                 dropped, or kept where cells may follow themselves
    a cell that is no neighbour                         the cells between, by the fixed rule of the cells
    a cell that no way leads to                         a new trip

The same code makes words of tables in memory and of files of any size.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pathveil.errors import InvalidParameterError
from pathveil.numerics.arrays import BoolArray, FloatArray, IntArray
from pathveil.places.geometry import Bounds, require_degrees, seem_swapped
from pathveil.places.tables import table_of_points

COLUMNS = ("user", "time", "latitude", "longitude")
"""What a batch of points has: any type, microseconds since 1970, degrees, degrees."""

_BATCH = 1 << 17  # points at a time
_UNITS = {"s": 1, "min": 60, "h": 3600, "d": 86400}
_SECOND = 1_000_000  # in microseconds


class Locating(Protocol):
    """What is asked of cells here."""

    symbols: tuple[str, ...]
    stay: bool

    @property
    def extent(self) -> Bounds: ...

    def codes_at(self, latitudes: FloatArray, longitudes: FloatArray) -> IntArray: ...

    def between(self, origins: IntArray, destinations: IntArray) -> tuple[IntArray, IntArray]: ...


@dataclass
class PointCounts:
    """What became of the points. For the curator: as sensitive as the points themselves."""

    points: int = 0
    unreadable: int = 0
    """Rows of a file that are no points, left out on request."""
    outside: int = 0
    """Points outside all cells, dropped."""
    people: int = 0
    words: int = 0
    symbols: int = 0
    filled: int = 0
    """Symbols that no point lies in: cells between two points that are no neighbours."""
    merged: int = 0
    """Points in the same cell as the point before, dropped."""
    cut_at_gaps: int = 0
    cut_at_bounds: int = 0
    """Points inside right after one outside: a trip that leaves the cells and comes back is two words."""
    cut_at_islands: int = 0
    """Steps between cells that no way connects: two words."""
    longest: int = 0
    """Symbols of the longest word."""

    def as_dict(self) -> dict[str, int]:
        return dict(vars(self))


class Trips(list[tuple[Hashable, ...]]):
    """Words of cells, one for each trip, as a list. Sensitive as the points that they were made of."""

    users: list[Any]
    """Whose each word is."""
    begins: list[Any]
    """When each word began: a `datetime` in UTC."""
    counts: PointCounts


@dataclass(frozen=True)
class WordBatch:
    """Finished words: codes of cells, word after word, and where each word ends."""

    codes: IntArray
    offsets: IntArray
    users: pa.Array
    begins: IntArray
    """Microseconds since 1970."""


def seconds_of(gap: str | float | timedelta | None, name: str = "gap") -> float | None:
    """A length of time in seconds, from "90s", "30min", "2h", "1d", a number or a timedelta."""
    if gap is None:
        return None
    if isinstance(gap, timedelta):
        seconds = gap.total_seconds()
    elif isinstance(gap, str) and (match := re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|min|h|d)\s*", gap)):
        seconds = float(match.group(1)) * _UNITS[match.group(2)]
    elif isinstance(gap, int | float) and not isinstance(gap, bool):
        seconds = float(gap)
    else:
        seconds = -1.0
    if not 0 < seconds < float("inf"):
        raise InvalidParameterError(
            f"{name} is a length of time such as '90s', '30min', '2h' or '1d', or a number of seconds, not {gap!r}"
        )
    return seconds


def gap_in_microseconds(gap: str | float | timedelta | None) -> int | None:
    """The same in the unit of batches."""
    seconds = seconds_of(gap)
    return None if seconds is None else round(seconds * _SECOND)


@dataclass
class _Last:
    """The point that the next batch begins after."""

    user: pa.Array  # of one element
    time: int
    code: int  # -1: outside


@dataclass
class _Unfinished:
    """The word that may go on in the next batch."""

    user: pa.Array
    begin: int
    pieces: list[IntArray] = field(default_factory=list)


class WordMaker:
    """Makes words of sorted batches of points. `counts` grows along."""

    def __init__(self, cells: Locating, gap: str | float | timedelta | None) -> None:
        self._cells = cells
        self._gap = gap_in_microseconds(gap)
        self.counts = PointCounts()
        self._last: _Last | None = None
        self._open: _Unfinished | None = None
        self._swapped = 0

    def words(self, batches: Iterable[pa.RecordBatch]) -> Iterator[WordBatch]:
        """The words of all points, batch by batch. The batches have the columns of `COLUMNS`."""
        for batch in batches:
            if batch.num_rows:
                yield from self._push(batch)
        yield from self._finish()
        if self._swapped * 2 > self.counts.points:
            raise InvalidParameterError(
                "nearly all points lie outside the cells, and most would lie inside if latitude and longitude were "
                "exchanged: the two columns are swapped, or the bounds are",
            )

    def _push(self, batch: pa.RecordBatch) -> Iterator[WordBatch]:
        users = batch.column("user")
        times = batch.column("time").to_numpy(zero_copy_only=False)
        latitudes, longitudes = (batch.column(name).to_numpy(zero_copy_only=False) for name in COLUMNS[2:])
        require_degrees(latitudes, longitudes)
        codes = self._codes_of(latitudes, longitudes, times)
        if seem_swapped([self._cells.extent], latitudes, longitudes):
            self._swapped += len(codes)
        same_user, before_times, before_codes = self._before(users, times, codes)
        self.counts.points += len(codes)
        self.counts.people += int((~same_user).sum())
        self.counts.outside += int((codes < 0).sum())
        inside = np.flatnonzero(codes >= 0)
        pauses = (times - before_times)[inside]
        steps = self._steps(inside, codes[inside], before_codes[inside], same_user[inside], pauses)
        self._last = _Last(users.slice(len(users) - 1), int(times[-1]), int(codes[-1]))
        yield from self._assembled(steps, users, times)

    def _codes_of(self, latitudes: FloatArray, longitudes: FloatArray, times: IntArray) -> IntArray:  # noqa: ARG002
        """The symbol of each point, -1 outside. Where symbols know the time, they depend on it."""
        return self._cells.codes_at(latitudes, longitudes)

    def _before(self, users: pa.Array, times: IntArray, codes: IntArray) -> tuple[BoolArray, IntArray, IntArray]:
        """For each point: is the point before of the same person? When was it, and in which cell?"""
        same = np.zeros(len(codes), dtype=bool)
        if len(codes) > 1:
            same[1:] = pc.equal(users.slice(1), users.slice(0, len(users) - 1)).to_numpy(zero_copy_only=False)
        earlier, cells = np.empty_like(times), np.empty_like(codes)
        earlier[1:], cells[1:] = times[:-1], codes[:-1]
        earlier[0], cells[0] = times[0], -1
        if self._last is not None:
            same[0] = bool(pc.equal(users.slice(0, 1), self._last.user)[0].as_py())
            earlier[0], cells[0] = self._last.time, self._last.code
        return same, earlier, cells

    def _steps(
        self, inside: IntArray, own: IntArray, previous: IntArray, same_user: BoolArray, pauses: IntArray
    ) -> _Steps:
        """What each point inside adds to the words; `own` is its cell, `previous` that of the point before."""
        pause = np.zeros(len(inside), dtype=bool) if self._gap is None else pauses > self._gap
        begins = ~same_user | pause | (previous < 0)
        self.counts.cut_at_gaps += int((same_user & pause).sum())
        self.counts.cut_at_bounds += int((same_user & ~pause & (previous < 0)).sum())
        stays = ~begins & (own == previous)
        moves = np.flatnonzero(~begins & ~stays)
        between, lengths = self._cells.between(previous[moves], own[moves])
        self.counts.cut_at_islands += int((lengths < 0).sum())
        begins[moves[lengths < 0]] = True
        adds = np.ones(len(inside), dtype=np.int64)
        if not self._cells.stay:
            adds[stays] = 0
            self.counts.merged += int(stays.sum())
        adds[moves] += np.maximum(lengths, 0)
        self.counts.filled += len(between)
        return _Steps(inside, own, begins, adds, between)

    def _assembled(self, steps: _Steps, users: pa.Array, times: IntArray) -> Iterator[WordBatch]:
        """All words that are finished with this batch; the last one stays open."""
        if not len(steps.points):
            return
        flat, ends = steps.flat()
        first = np.flatnonzero(steps.begins)
        begins_at = (ends - steps.adds)[first]  # a point that begins a word adds itself alone
        head = flat[: begins_at[0]] if len(first) else flat
        if self._open is not None:
            self._open.pieces.append(head)
        if not len(first):
            return
        finished = self._closed()
        bounds = np.append(begins_at, len(flat))
        rows = steps.points[first]
        codes, offsets = flat[bounds[0] : bounds[-2]], bounds[:-1] - bounds[0]
        if len(first) > 1:
            batch = WordBatch(codes, offsets, users.take(pa.array(rows[:-1])), times[rows[:-1]])
            finished = [*finished, self._counted(batch)]
        last = int(rows[-1])
        self._open = _Unfinished(users.slice(last, 1), int(times[last]), [flat[bounds[-2] :]])
        yield from finished

    def _closed(self) -> list[WordBatch]:
        if self._open is None:
            return []
        codes = np.concatenate(self._open.pieces)
        begins = np.array([self._open.begin], dtype=np.int64)
        batch = WordBatch(codes, np.array([0, len(codes)]), self._open.user, begins)
        self._open = None
        return [self._counted(batch)]

    def _finish(self) -> Iterator[WordBatch]:
        yield from self._closed()

    def _counted(self, batch: WordBatch) -> WordBatch:
        self.counts.words += len(batch.offsets) - 1
        self.counts.symbols += len(batch.codes)
        self.counts.longest = max(self.counts.longest, int(np.diff(batch.offsets).max()))
        return batch


@dataclass(frozen=True)
class _Steps:
    """For each point inside: its row, its cell, does it begin a word, and how many symbols does it add?"""

    points: IntArray
    codes: IntArray
    begins: BoolArray
    adds: IntArray
    between: IntArray

    def flat(self) -> tuple[IntArray, IntArray]:
        """All symbols one after the other, and where those of each point end."""
        ends = np.cumsum(self.adds)
        flat = np.empty(int(ends[-1]), dtype=np.int64)
        own = np.zeros(len(flat), dtype=bool)
        adding = self.adds > 0
        own[ends[adding] - 1] = True
        flat[own] = self.codes[adding]
        flat[~own] = self.between
        return flat, ends


class MakesWords(Protocol):
    """Makes words of sorted batches of points."""

    counts: PointCounts

    def words(self, batches: Iterable[pa.RecordBatch]) -> Iterator[WordBatch]: ...


def words_of_table(maker: MakesWords, symbols: Sequence[str], table: Any, names: tuple[str | None, ...]) -> Trips:
    """The words of points in memory (`Cells.words`)."""
    latitude, longitude, user, time = names
    points = table_of_points(table, latitude=latitude, longitude=longitude, user=user, time=time)
    # Points of one moment are sorted, too, so that the order of the rows makes no difference.
    order = pc.sort_indices(points, sort_keys=[(name, "ascending") for name in COLUMNS])
    trips = Trips()
    trips.users, begins = [], list[IntArray]()
    names_of = np.array(symbols, dtype=object)
    for batch in maker.words(points.take(order).combine_chunks().to_batches(_BATCH)):
        symbols = names_of[batch.codes].tolist()
        trips.extend(tuple(symbols[begin:end]) for begin, end in pairwise(batch.offsets.tolist()))
        trips.users.extend(batch.users.to_pylist())
        begins.append(batch.begins)
    every = np.concatenate(begins) if begins else np.empty(0, dtype=np.int64)
    trips.begins = pa.array(every, pa.timestamp("us", "UTC")).to_pylist()
    trips.counts = maker.counts
    return trips
