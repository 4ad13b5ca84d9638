"""All words of files as codes, each different word once with how often it occurs: for a private model of sequences.

They are as sensitive as the files. They are for `fit_private_sequences`, not for release.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from pathveil.data.counted_rows import require_countable
from pathveil.data.formats import Extra, Layout
from pathveil.data.reading.checking import Checker, OnBadRow, no_word_to_release
from pathveil.data.reading.moments import Beside
from pathveil.data.reading.user_limit import limit_for
from pathveil.data.reading.words import checked_words
from pathveil.data.sources import Format, Source
from pathveil.errors import InvalidParameterError
from pathveil.models.sequences import CodedWords, WordTimes
from pathveil.numerics.arrays import IntArray
from pathveil.randomness.source import RandomSource
from pathveil.systems.alphabet import Alphabet
from pathveil.systems.system import Symbol
from pathveil.words.base import Progress, flat_words

_ONE_ROW = "Write one row for each word."
_WAITING = 1 << 22  # symbols


@dataclass(frozen=True)
class CuratorWords:
    """All words, each different one once, and what was left out. Not for release.

    The other figures are those of `CuratorCounts`.
    """

    words: CodedWords
    """Each different word once; or, with times or groups, each word by itself."""
    rows_skipped: int
    skipped_examples: tuple[str, ...]
    words_tied: int = 0
    words_over_limit: int = 0
    largest_words_per_user: int | None = None
    times: WordTimes | None = None
    users: list[str] | None = None
    """Whose each word is, where none of a person's words is left out yet."""
    groups: IntArray | None = None
    """The place of each word's group among all groups."""


def read_coded_words(
    source: Source,
    layout: Layout,
    states: Iterable[Symbol],
    *,
    max_length: int,
    count: str | None = None,
    user: str | None = None,
    max_words_per_user: int | None = None,
    on_bad_row: OnBadRow = "fail",
    format: Format | None = None,
    progress: Progress | None = None,
    beside: Beside | None = None,
    rng: RandomSource | None = None,
) -> CuratorWords:
    """The words of a source over public states, cut after `max_length` symbols.

    `count`, `user` and `max_words_per_user` are as in `count_transitions`. What comes out does not depend on the order
    of the words in the files, except through which words of a person are chosen. With times or groups (`beside`) words
    are neither put together nor left out: `users` are for the fit, which chooses among checked words.
    """
    if beside is not None:
        DistinctWords(max_length)
        if count is not None:
            raise InvalidParameterError(
                "`count` does not go with times or groups: equal words have others. " + _ONE_ROW
            )
        limit_for(user, max_words_per_user)
        checker, who = Checker(Alphabet(states), on_bad_row), (user, max_words_per_user)
        return _each_word(source, layout, checker, who, beside, format, progress)
    checker, limit = Checker(Alphabet(states), on_bad_row), limit_for(user, max_words_per_user)
    found, report = DistinctWords(max_length), progress or (lambda _stage, _words: None)
    with checked_words(source, layout, checker, Extra(user, (), count), limit, format=format, rng=rng) as (
        words,
        files,
    ):
        for batch in words:
            found.add(batch.column(0), None if count is None else batch.column(1).to_numpy())
            require_countable(found.symbols, files[0])
            report("counting", found.count)
        if not found.count:
            raise no_word_to_release(files, checker)
    return CuratorWords(
        replace(found.words(), max_words_per_user=max_words_per_user),
        checker.skipped.count,
        tuple(checker.skipped.examples),
        words_tied=checker.words_tied,
        words_over_limit=0 if limit is None else limit.dropped,
        largest_words_per_user=None if limit is None else limit.measured,
    )


def _each_word(
    source: Source,
    layout: Layout,
    checker: Checker,
    who: tuple[str | None, int | None],
    beside: Beside,
    format: Format | None,
    progress: Progress | None,
) -> CuratorWords:
    """All words in the order of the files, with what stands beside them."""
    columns: list[list[pa.Array]] = []
    user, most = who
    count, report, extra = 0, progress or (lambda _stage, _words: None), replace(beside.columns, user=user)
    with checked_words(source, layout, checker, extra, beside=beside, format=format) as (words, files):
        for batch in words:
            columns.append(batch.columns)
            count += batch.num_rows
            report("counting", count)
        if not count:
            raise no_word_to_release(files, checker)
    coded, *others = (pa.concat_arrays(parts) for parts in zip(*columns, strict=True))
    codes, offsets = flat_words(coded)
    users, often = None, np.zeros(0, dtype=np.int64)
    if user is not None:
        names = others.pop(0)
        users, often = names.to_pylist(), names.value_counts().field("counts").to_numpy()
    return CuratorWords(
        CodedWords.from_arrays(codes, offsets),
        checker.skipped.count,
        tuple(checker.skipped.examples),
        words_tied=checker.words_tied,
        words_over_limit=0 if most is None else int(np.maximum(often - most, 0).sum()),
        largest_words_per_user=None if user is None else int(often.max()),
        times=None if beside.time is None else _word_times(others.pop(0)),
        users=users,
        groups=None if beside.group is None else others.pop(0).to_numpy(),
    )


def _word_times(seconds: pa.Array) -> WordTimes:
    if not pa.types.is_list(seconds.type):
        return WordTimes(seconds.to_numpy())
    starts = seconds.offsets.to_numpy()[:-1] - seconds.offsets[0].as_py()
    listed = seconds.flatten().to_numpy()
    return WordTimes(listed[starts], listed)


class DistinctWords:
    """Collects words, cut after `max_length` symbols, and puts equal ones together as they come."""

    def __init__(self, max_length: int, room: int = _WAITING) -> None:
        """`room`: symbols that are collected before equal words are put together."""
        if isinstance(max_length, bool) or not isinstance(max_length, int) or max_length < 1:
            raise InvalidParameterError(f"`max_length` is a whole number of at least 1, not {max_length!r}")
        self._max_length = max_length
        self._parts: list[CodedWords] = []
        self._waiting, self._room, self._least_room = 0, room, room
        self.count = 0
        """How many words came so far."""
        self.symbols = 0
        """How many symbols they have."""

    def add(self, words: pa.ListArray, times: IntArray | None = None) -> None:
        """Words that are lists of codes, each of them `times` times."""
        codes, offsets = flat_words(words)
        part = CodedWords.from_arrays(codes, offsets, times).cut(self._max_length)
        self.count += int(part.times.sum())
        # Python's numbers: counts in a file may add up to more than 64 bits hold.
        self.symbols += (
            sum(map(int.__mul__, part.times.tolist(), part.lengths.tolist())) if times is not None else len(codes)
        )
        self._parts.append(part)
        self._waiting += len(part.values)
        if self._waiting > self._room:
            merged = self.words()
            self._parts, self._waiting = [merged], len(merged.values)
            self._room = max(self._least_room, 2 * self._waiting)

    def words(self) -> CodedWords:
        """All words so far, each different one once, sorted."""
        return CodedWords.joined(self._parts).distinct()
