"""What a model knows about times, and times drawn from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pathveil.errors import InvalidParameterError
from pathveil.models.sequences.times.bins import DURATIONS, HOURS, duration_in
from pathveil.models.sequences.times.moments import TimesKind
from pathveil.numerics.arrays import AnyIntArray, FloatArray, IntArray
from pathveil.randomness.source import RandomSource
from pathveil.systems.system import Word

Times = npt.NDArray[np.datetime64]

A_MONDAY = "2024-01-01"
"""The week in which synthetic words begin, where nobody says which."""


@dataclass(frozen=True, eq=False)
class TimedWords:
    """Synthetic words with the time of their start and, where the model knows durations, of each symbol."""

    words: list[Word]
    starts: Times
    times: list[Times] | None


@dataclass(frozen=True, eq=False)
class LearnedTimes:
    """How likely each hour of the week is for a start, and each bin of durations after each symbol."""

    starts: FloatArray
    """For each of the 168 hours, the first after midnight of Monday."""
    durations: FloatArray | None
    """A line for each symbol, or None where only starts had times."""
    counted: int
    """How many durations of a word, from its first, were counted at most."""

    @property
    def kind(self) -> TimesKind:
        """What had a time in the data."""
        return "starts" if self.durations is None else "symbols"

    def draw(
        self, words: AnyIntArray, lengths: IntArray, monday: np.datetime64, source: RandomSource
    ) -> tuple[Times, Times | None]:
        """The start of each word, and the times of all symbols one word after another, in whole seconds."""
        count = len(lengths)
        hour = np.searchsorted(np.cumsum(self.starts), source.uniform(count), side="right")
        second = np.floor(source.uniform(count) * 3600).astype(np.int64)
        starts = np.minimum(hour, HOURS - 1) * 3600 + second
        if self.durations is None:
            return monday + starts.astype("timedelta64[s]"), None
        inside = np.arange(words.shape[1]) < lengths[:, None]
        gaps = self._gaps(words[inside], source)
        first = np.cumsum(lengths) - lengths
        # Before a word's first symbol is its start, before any other the time that passed after the one before.
        steps = np.append(0, gaps[:-1])
        steps[first] = starts
        running = np.cumsum(steps)
        at = running - np.repeat(running[first] - starts, lengths)
        return monday + starts.astype("timedelta64[s]"), monday + at.astype("timedelta64[s]")

    def _gaps(self, symbols: AnyIntArray, source: RandomSource) -> IntArray:
        """How long it takes after each of these symbols, in seconds."""
        assert self.durations is not None
        ends = np.cumsum(self.durations, axis=1)
        ends /= ends[:, -1:]
        keys = (ends + np.arange(len(ends))[:, None]).ravel()  # row x lies between x and x + 1
        place = np.searchsorted(keys, symbols + source.uniform(len(symbols)), side="right")
        bins = np.clip(place - symbols * DURATIONS, 0, DURATIONS - 1)
        return duration_in(bins, source.uniform(len(symbols)))


def checked_monday(week: Any) -> np.datetime64:
    """The beginning of the week in which synthetic words begin."""
    try:
        day = np.datetime64(week, "D")
        is_monday = not np.isnat(day) and np.is_busday(day, weekmask="1000000")
    except (TypeError, ValueError):
        is_monday = False
    if not is_monday:
        raise InvalidParameterError(f"`week` is {week!r}: give the date of a Monday, such as {A_MONDAY!r}")
    midnight: np.datetime64 = day.astype("datetime64[s]")
    return midnight
