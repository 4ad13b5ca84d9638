"""What a model learns beside words: when they happened, and which group each is in.

Times become seconds on the clock on the wall. Those with a zone are taken in the zone of the first one of their word,
so that hours of the week are those of the place, and a clock that is put forwards in between adds no hour. What cannot
be read spoils the word, and is reported like anything else that is wrong with a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pathveil.data.formats import Extra, RawWords, shortest_form, users_of
from pathveil.errors import DataFileError, InvalidParameterError
from pathveil.numerics.arrays import FloatArray, IntArray

_EPOCH = datetime(1970, 1, 1)
_FAR = 1e12  # seconds; what is farther from 1970 than 30,000 years is no time
_NO_TIME = (
    "a time is missing or not written as 2024-12-31 23:59:00, with or without a zone, or as seconds since the "
    "beginning of 1970 (`time_format` names another form)"
)
_EARLIER = "a time is earlier than the one before it: sort the symbols of a word by time"
_ZONES = "some of its times have a zone and some have none"
_UNLISTED = "there must be one time for each symbol"
_NO_GROUP = "the group is missing"
_OTHER_GROUP = "the group is not among the public ones"
_GROUPS = "its rows are in different groups"


@dataclass(frozen=True)
class Beside:
    """Turns what stands beside raw words into numbers: the last of their kept columns.

    A time becomes seconds (a list of them where each symbol has one), a group its place among the public `groups`.
    """

    time: str | None = None
    formats: tuple[str, ...] = ()
    group: str | None = None
    groups: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if (self.group is None) != (not self.groups):
            raise InvalidParameterError("`group` and the public list of all groups belong together: give both or none")
        for form in self.formats:
            if "%z" in form.lower():
                raise InvalidParameterError(f"`time_format` {form!r}: times with a zone are read as 2024-12-31T23:59Z")

    @property
    def columns(self) -> Extra:
        """The columns to be read for it."""
        return Extra(time=self.time, group=self.group)

    def read(self, batches: Iterable[RawWords], are_json: bool) -> Iterator[RawWords]:
        """The same words with numbers beside them, and what is wrong with some of these."""
        codes = {shortest_form(name): place for place, name in enumerate(self.groups)}
        if len(codes) < len(self.groups):
            raise InvalidParameterError("two of the public groups have one name: numbers are the same however written")
        for raw in batches:
            kept, spoiled = list(raw.kept), dict(raw.spoiled)
            if self.group is not None:
                kept[-1] = _group_codes(kept[-1], raw, codes, f"column {self.group!r}", are_json, spoiled)
            if self.time is not None:
                place = -1 if self.group is None else -2
                kept[place] = _seconds(kept[place], raw, self.formats, spoiled)
            yield replace(raw, kept=tuple(kept), spoiled=spoiled)


def _spoil(spoiled: dict[int, str], words: Iterable[int], reason: str) -> None:
    for word in words:
        spoiled.setdefault(int(word), reason)


def _group_codes(
    values: pa.Array, raw: RawWords, codes: dict[str, int], column: str, are_json: bool, spoiled: dict[int, str]
) -> pa.Array:
    """The place of each word's group; 0 where the word is spoiled anyway."""
    found = users_of(values.flatten() if _is_listed(values) else values, column, are_json)
    encoded = found.names.dictionary_encode()
    known = np.array([codes.get(shortest_form(name), -2) for name in encoded.dictionary.to_pylist()] + [-1])
    places: IntArray = known[encoded.indices.fill_null(len(known) - 1).to_numpy()]
    if _is_listed(values):  # a row for each symbol: all of a word must agree
        starts, lengths = _runs(raw.words)
        differing = np.flatnonzero(places != np.repeat(places[starts], lengths))
        _spoil(spoiled, np.searchsorted(starts, differing, side="right") - 1, _GROUPS)
        places = places[starts]
    _spoil(spoiled, np.flatnonzero(places == -1), _NO_GROUP)
    _spoil(spoiled, np.flatnonzero(places == -2), _OTHER_GROUP)
    return pa.array(np.maximum(places, 0))


def _seconds(values: pa.Array, raw: RawWords, formats: Sequence[str], spoiled: dict[int, str]) -> pa.Array:
    """Seconds of each word, or a list of them; anything where the word is spoiled."""
    if not _is_listed(values):
        local, _ = _clock(values, formats)
        _spoil(spoiled, np.flatnonzero(~(np.abs(local) < _FAR)), _NO_TIME)
        return pa.array(local)
    lengths = pc.list_value_length(raw.words).fill_null(0).to_numpy().astype(np.int64)
    times = pc.list_value_length(values).fill_null(0).to_numpy().astype(np.int64)
    _spoil(spoiled, np.flatnonzero(lengths != times), _UNLISTED)
    local, offset = _clock(values.flatten(), formats)
    starts = np.cumsum(times) - times
    word = np.repeat(np.arange(len(times)), times)
    first = starts[word]  # the place of the first time of its word
    _spoil(spoiled, word[~(np.abs(local) < _FAR)], _NO_TIME)
    _spoil(spoiled, word[np.isnan(offset) != np.isnan(offset[first])], _ZONES)
    seconds = np.where(np.isnan(offset), local, local - offset + offset[first])
    earlier = np.append(False, (np.diff(seconds) < 0) & (np.diff(word) == 0)) if len(seconds) else np.zeros(0, bool)
    _spoil(spoiled, word[earlier], _EARLIER)
    offsets = pa.array(np.append(0, np.cumsum(times)).astype(np.int32))
    return pa.ListArray.from_arrays(offsets, pa.array(seconds))


def _clock(values: pa.Array, formats: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """Seconds on the clock on the wall, and by how much it is ahead of UTC; not-a-number where there is none."""
    kind = values.type
    nothing: FloatArray = np.full(len(values), np.nan)
    if pa.types.is_timestamp(kind):
        utc = _since_1970(values)
        if kind.tz is None:
            return utc, nothing
        local = _since_1970(pc.local_timestamp(values))
        return local, local - utc
    if pa.types.is_date(kind):
        return _since_1970(values.cast(pa.timestamp("us"))), nothing
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return values.cast(pa.float64()).to_numpy(zero_copy_only=False), nothing
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind):
        encoded = values.cast(pa.string()).dictionary_encode()
        read = np.array([*(_moment(text, formats) for text in encoded.dictionary.to_pylist()), (np.nan, np.nan)])
        both = read[encoded.indices.fill_null(len(read) - 1).to_numpy()]
        return both[:, 0], both[:, 1]
    what = "the column of times holds no times: texts, time stamps or seconds are needed"
    raise DataFileError(f"{what}, not {kind}", without_content=what)


def _since_1970(values: pa.Array) -> FloatArray:
    whole = values.cast(pa.timestamp("us", values.type.tz), safe=False).cast(pa.int64())
    return np.asarray(whole.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)) / 1e6


def _moment(text: str, formats: Sequence[str]) -> tuple[float, float]:
    """Seconds on the clock on the wall and its zone, of one text; not-a-number where there is none."""
    written = text.strip()
    for form in formats:
        try:
            return (datetime.strptime(written, form) - _EPOCH).total_seconds(), np.nan
        except ValueError:
            continue
    try:
        return float(written), np.nan
    except ValueError:
        pass
    if written[4:5] == "/" == written[7:8]:
        written = written.replace("/", "-", 2)
    try:
        found = datetime.fromisoformat(written)
    except ValueError:
        return np.nan, np.nan
    zone = found.utcoffset()
    local = (found.replace(tzinfo=None) - _EPOCH).total_seconds()
    return local, np.nan if zone is None else zone.total_seconds()


def _is_listed(values: pa.Array) -> bool:
    return bool(pa.types.is_list(values.type) or pa.types.is_large_list(values.type))


def _runs(words: pa.ListArray) -> tuple[IntArray, IntArray]:
    """Where each word begins among all symbols, and how many it has."""
    lengths = pc.list_value_length(words).fill_null(0).to_numpy().astype(np.int64)
    return np.cumsum(lengths) - lengths, lengths
