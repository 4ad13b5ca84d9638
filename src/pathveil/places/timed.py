"""Cells with the time of day in the symbol: `r3c5@06:00` is a cell between six o'clock and the next bin.

A step leads to a cell that may follow, in the same bin or in the next one; where a bin ends, a cell may follow itself.
The last bin of a day is followed by the first. Cells that are filled in belong to the bin that the step began in.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

import numpy as np

from pathveil.errors import InvalidParameterError, TooLargeError
from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.places.cells import MOST_CELLS, Cells, Ring
from pathveil.places.geometry import Bounds
from pathveil.places.streets import Streets
from pathveil.places.trips import WordMaker, gap_in_microseconds, seconds_of
from pathveil.randomness.source import RandomSource
from pathveil.systems.symbol_distance import SymbolDistance

_DAY = 86_400


class TimedCells(Cells):
    """Cells with bins of the day, each as long as `times` ("6h"): a whole number of them makes a day.

    Bins are those of the times as they are given: UTC, where they name no zone. The `gap` at which trips end may not be
    longer than a bin.

    >>> import pathveil as pv
    >>> cells = pv.places.TimedCells(pv.places.Grid((53.10, 8.15, 53.18, 8.28), 3000.0), "12h")
    >>> cells.symbols[:3], cells.system.is_feasible(["r1c1@00:00", "r1c1@12:00", "r2c2@12:00"])
    (('r1c1@00:00', 'r1c1@12:00', 'r1c2@00:00'), True)
    """

    def __init__(self, cells: Cells, times: str | float | timedelta) -> None:
        seconds = seconds_of(times, "times")
        if seconds is None or seconds != int(seconds) or int(seconds) % 60 or _DAY % int(seconds) or seconds == _DAY:
            raise InvalidParameterError(f"times: bins of whole minutes that make a day, such as '6h', not {times!r}")
        if isinstance(cells, TimedCells | Streets):
            raise InvalidParameterError("times belong to a Grid, Hexagons or Zones")
        self.cells, self.seconds, self.bins = cells, int(seconds), _DAY // int(seconds)
        if len(cells.symbols) * self.bins > MOST_CELLS:
            raise TooLargeError(
                f"{len(cells.symbols):,} cells with {self.bins} bins are more than {MOST_CELLS:,} symbols"
            )
        self.stay, self.moves, self.projection = cells.stay, cells.moves, cells.projection
        clocks = [f"{start // 3600:02}:{start // 60 % 60:02}" for start in range(0, _DAY, self.seconds)]
        self.symbols = tuple(f"{symbol}@{clock}" for symbol in cells.symbols for clock in clocks)
        self.source = f"{cells.source}; {self.bins} bins of a day"

    @property
    def extent(self) -> Bounds:
        return self.cells.extent

    def codes_at(self, latitudes: FloatArray, longitudes: FloatArray) -> IntArray:  # noqa: ARG002
        raise InvalidParameterError("a point without a time lies in no cell with times: use `cells.cells`")

    def timed_codes(self, latitudes: FloatArray, longitudes: FloatArray, times: IntArray) -> IntArray:
        """The code of each point at its time, in microseconds; -1 outside."""
        codes = self.cells.codes_at(latitudes, longitudes)
        bins = times // 1_000_000 % _DAY // self.seconds
        return np.where(codes < 0, -1, codes * self.bins + bins)

    def between(self, origins: IntArray, destinations: IntArray) -> tuple[IntArray, IntArray]:
        """As between the cells; what is filled in belongs to the bin that the step began in."""
        codes, counts = self.cells.between(origins // self.bins, destinations // self.bins)
        return codes * self.bins + np.repeat(origins % self.bins, np.maximum(counts, 0)), counts

    def word_maker(self, gap: str | float | timedelta | None) -> _TimedWords:
        longest = gap_in_microseconds(gap)
        if longest is None or longest > self.seconds * 1_000_000:
            raise InvalidParameterError(
                f"gap is {gap!r}, longer than a bin of {self.seconds // 60} minutes: a trip would leap over one"
            )
        return _TimedWords(self, gap)

    def distance_within(self, radius: float | None) -> SymbolDistance:  # noqa: ARG002
        raise InvalidParameterError("symbols that differ in time have no distance in metres: use that of `cells.cells`")

    def outline(self, symbol: str) -> list[Ring]:
        return self.cells.outline(self.cells.symbols[self._code(symbol) // self.bins])

    def document(self) -> dict[str, Any]:
        return {"kind": "timed", "cells": self.cells.document(), "seconds": self.seconds}

    def _neighbours(self) -> tuple[IntArray, IntArray]:
        origins, destinations = self.cells._neighbours()
        everywhere = np.arange(len(self.cells.symbols))
        pairs = []
        for bin in range(self.bins):
            following = (bin + 1) % self.bins
            pairs.append((origins * self.bins + bin, destinations * self.bins + bin))
            pairs.append((origins * self.bins + bin, destinations * self.bins + following))
            pairs.append((everywhere * self.bins + bin, everywhere * self.bins + following))
        return cast(tuple[IntArray, IntArray], tuple(np.concatenate(ends) for ends in zip(*pairs, strict=True)))

    def _centres(self) -> tuple[FloatArray, FloatArray]:
        x, y = self.cells._centres()
        return np.repeat(x, self.bins), np.repeat(y, self.bins)

    def _uniform_points(self, codes: IntArray, source: RandomSource) -> tuple[FloatArray, FloatArray]:
        return self.cells._uniform_points(codes // self.bins, source)


class _TimedWords(WordMaker):
    """Makes words whose symbols know the time."""

    def __init__(self, cells: TimedCells, gap: str | float | timedelta | None) -> None:
        super().__init__(cells, gap)
        self._timed = cells

    def _codes_of(self, latitudes: FloatArray, longitudes: FloatArray, times: IntArray) -> IntArray:
        return self._timed.timed_codes(latitudes, longitudes, times)
