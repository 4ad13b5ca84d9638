"""The times of sensitive words, as people have them, checked and turned into seconds.

Seconds are counted from the beginning of 1970 on the clock on the wall: times with a zone are taken in the zone that
the first time of their word has, so that hours of the week are those of the place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pathveil.errors import InvalidParameterError
from pathveil.models.sequences.coded_words import CodedWords
from pathveil.numerics.arrays import BoolArray, FloatArray, IntArray

TimesKind = Literal["starts", "symbols"]
"""Whether only the start of each word has a time, or each of its symbols."""


@dataclass(frozen=True, eq=False)
class WordTimes:
    """When each word begins and, where that is known, the time of each symbol (in the order of all symbols)."""

    starts: FloatArray
    symbols: FloatArray | None = None

    @property
    def kind(self) -> TimesKind:
        """What has a time."""
        return "starts" if self.symbols is None else "symbols"

    @classmethod
    def read(cls, times: Iterable[Any] | npt.NDArray[Any], lengths: IntArray) -> WordTimes:
        """One entry for each word: its start, or a list with the time of each of its symbols.

        `lengths` are those of the words. Times are `datetime`, `numpy.datetime64` or seconds since the beginning of
        1970. Raises InvalidParameterError where one is missing, or earlier than the one before in its word.
        """
        entries = times if isinstance(times, np.ndarray) and times.dtype != object else list(times)
        if isinstance(times, str | bytes) or len(entries) != len(lengths):
            raise InvalidParameterError(
                f"`times` has {len(entries)} entries, but there are {len(lengths)} words: give one for each word",
                without_content="`times` must have one entry for each word",
            )
        if isinstance(entries, list) and entries and _is_listed(entries[0]):
            return cls._of_symbols(entries, lengths)
        if isinstance(entries, list):
            for number, entry in enumerate(entries, 1):
                if _is_listed(entry):
                    raise _wrong(number, "it is a list, but others are not: give all words a start, or all a list")
            entries = [_on_the_wall(entry, entry) for entry in entries]
        starts = _as_seconds(entries)
        for word in np.flatnonzero(~np.isfinite(starts)):
            raise _wrong(int(word) + 1, "it is missing")
        return cls(starts)

    @classmethod
    def _of_symbols(cls, entries: list[Any], lengths: IntArray) -> WordTimes:
        flat: list[Any] = []
        for number, (entry, length) in enumerate(zip(entries, lengths.tolist(), strict=True), 1):
            if not _is_listed(entry):
                raise _wrong(number, "it is no list, but others are: give all words a start, or all a list")
            listed = list(entry)
            if len(listed) != length:
                raise _wrong(number, f"it lists {len(listed)} times for {length} symbols")
            flat.extend(_on_the_wall(time, listed[0]) for time in listed)
        seconds = _as_seconds(flat)
        offsets = np.append(0, np.cumsum(lengths))
        for place in np.flatnonzero(~np.isfinite(seconds)):
            raise _wrong(int(np.searchsorted(offsets, place, side="right")), "one of its times is missing")
        goes_back = np.diff(seconds) < 0
        goes_back[offsets[1:-1] - 1] = False  # the next word may be earlier
        for place in np.flatnonzero(goes_back):
            word = int(np.searchsorted(offsets, place, side="right"))
            position = int(place - offsets[word - 1]) + 2
            raise _wrong(word, f"symbol {position} is earlier than the one before it. Sort its symbols by time")
        return cls(seconds[offsets[:-1]], seconds)

    def cut(self, lengths: IntArray, max_length: int) -> WordTimes:
        """Those of the first `max_length` symbols of each word; `lengths` are those of the words that are not cut."""
        if self.symbols is None:
            return self
        position = np.arange(len(self.symbols)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return WordTimes(self.starts, self.symbols[position < max_length])

    def select(self, words: CodedWords, chosen: BoolArray) -> WordTimes:
        """Those of the chosen ones among these words."""
        symbols = None if self.symbols is None else self.symbols[np.repeat(chosen, words.lengths)]
        return WordTimes(self.starts[chosen], symbols)


def _is_listed(entry: Any) -> bool:
    return (isinstance(entry, Sequence) and not isinstance(entry, str | bytes)) or getattr(entry, "ndim", 0) == 1


def _on_the_wall(time: Any, first: Any) -> Any:
    """A time with a zone as one without, on the clock of the place where the first one of its word was taken."""
    if isinstance(time, datetime) and time.tzinfo is not None and getattr(first, "tzinfo", None) is not None:
        # The offset at the first time: a clock that is put forwards in between adds no hour.
        return time.astimezone(timezone(first.utcoffset())).replace(tzinfo=None)
    return time


def _as_seconds(entries: list[Any] | npt.NDArray[Any]) -> FloatArray:
    """Seconds since the beginning of 1970; not-a-number where a time is missing."""
    try:
        values = np.asarray(entries)
        if values.dtype == object:
            values = _objects(entries)
    except (TypeError, ValueError, OverflowError):
        values = np.empty(0, dtype="U1")
    if values.dtype.kind == "M":
        seconds: FloatArray = values.astype("datetime64[us]").astype(np.int64) / 1e6
        return np.where(np.isnat(values), np.nan, seconds)
    if values.dtype.kind in "iuf" and values.ndim == 1:
        return values.astype(np.float64)
    raise InvalidParameterError(
        "`times` has entries that are no times: give datetimes (all with a zone or all without), numpy.datetime64, or "
        "seconds since the beginning of 1970; turn texts into times first"
    )


def _objects(entries: Any) -> npt.NDArray[Any]:
    missing = [entry is None for entry in entries]
    if all(isinstance(entry, int | float | None) for entry in entries):
        return np.array([np.nan if gone else entry for entry, gone in zip(entries, missing, strict=True)])
    if any(getattr(entry, "tzinfo", None) is not None for entry in entries):
        raise ValueError("some with a zone, some without")
    return np.array(["NaT" if gone else entry for entry, gone in zip(entries, missing, strict=True)], "datetime64[us]")


def _wrong(word: int, why: str) -> InvalidParameterError:
    return InvalidParameterError(
        f"`times`, word number {word}: {why}", without_content=f"`times` of word number {word} cannot be used"
    )
