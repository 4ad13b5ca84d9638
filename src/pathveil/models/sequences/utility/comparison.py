"""How alike two sets of words are: for the curator, who may look at the original, and for benchmarks. Not for release.

Each figure is a distance between two distributions (0: alike, 1: nothing in common; half the sum of all differences),
or the part of the commonest things of the original that are among the commonest of the other, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from pathveil.models.sequences.coded_words import CodedWords
from pathveil.numerics.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class Comparison:
    """Distances between an original and other words (for the curator)."""

    starts: float
    ends: float
    lengths: float
    pairs: float
    triples: float
    words: float
    top_words: float
    """Which part of the 20 commonest words of the original are among the 20 commonest of the others."""
    top_strings: dict[int, float]
    """The same for the k commonest pieces of words (of any length), for several k."""


class WordStatistics:
    """What `compare` needs of a set of words, counted once."""

    def __init__(self, words: CodedWords, symbols: int) -> None:
        self.words, self.symbols = words.distinct(), symbols
        self._pieces: dict[int, tuple[list[bytes], IntArray]] = {}
        self._top_strings: list[bytes] = []
        self._top_count = 0
        words = self.words
        first, last = words.values[words.offsets[:-1]], words.values[words.offsets[1:] - 1]
        self.starts: FloatArray = np.bincount(first, words.times, symbols).astype(float)
        self.ends: FloatArray = np.bincount(last, words.times, symbols).astype(float)
        self.lengths: FloatArray = np.bincount(words.lengths, words.times).astype(float)

    def pieces(self, length: int) -> tuple[list[bytes], IntArray]:
        """The pieces of so many symbols that occur in the words, and how often."""
        if length not in self._pieces:
            growing = _Pieces(self.words, self.symbols)
            for _ in range(length):
                growing.grow()
            self._pieces[length] = growing.spelled(np.arange(len(growing.counts))), growing.counts
        return self._pieces[length]

    @cached_property
    def whole(self) -> tuple[list[bytes], IntArray]:
        """The different words, and how often each occurs."""
        values, places = self.words.values.tobytes(), (self.words.offsets * 8).tolist()
        return [values[a:b] for a, b in pairwise(places)], self.words.times

    def top_strings(self, count: int) -> list[bytes]:
        """The commonest pieces of any length; of equally common ones the shorter, then the first in order."""
        if count > self._top_count:
            self._top_strings, self._top_count = self._find_top_strings(count), count
        return self._top_strings[:count]

    def _find_top_strings(self, count: int) -> list[bytes]:
        growing, found, least = _Pieces(self.words, self.symbols), list[tuple[int, int, bytes]](), 1
        while True:
            growing.grow(least)
            best = np.argsort(-growing.counts, kind="stable")[:count]
            times = growing.counts[best].tolist()
            found += [(-n, growing.length, key) for n, key in zip(times, growing.spelled(best), strict=True)]
            found = sorted(found)[:count]
            least = -found[-1][0] if len(found) == count else 1
            if not times or times[0] < least:  # a longer piece is never commoner than the shorter ones in it
                return [key for _, _, key in found]


class _Pieces:
    """All pieces of words of one length, which grows; each is known by a number."""

    def __init__(self, words: CodedWords, symbols: int) -> None:
        self.length, self._values, self._symbols = 0, words.values, symbols
        position = np.arange(len(words.values)) - np.repeat(words.offsets[:-1], words.lengths)
        self._left = np.repeat(words.lengths, words.lengths) - position
        self._times = np.repeat(words.times, words.lengths)
        self._begins = np.arange(len(words.values))
        self._number = np.zeros(len(words.values), dtype=np.int64)
        self._names: list[IntArray] = []
        self.counts = np.array([len(words.values)])

    def grow(self, least: int = 1) -> None:
        """One symbol more; pieces that occur less often than `least` are not followed further."""
        going = (self._left[self._begins] > self.length) & (self.counts[self._number] >= least)
        self._begins, number = self._begins[going], self._number[going]
        # Numbered anew at each length, so that no piece is too long for 64 bits.
        keys = number * self._symbols + self._values[self._begins + self.length]
        names, self._number = _numbered(keys, len(self.counts) * self._symbols)
        self._names.append(names)
        self.counts = np.bincount(self._number, self._times[self._begins], len(names)).astype(np.int64)
        self.length += 1

    def spelled(self, numbers: IntArray) -> list[bytes]:
        """The codes of pieces as bytes."""
        codes = np.empty((len(numbers), self.length), dtype=np.int64)
        for step in range(self.length - 1, -1, -1):
            name = self._names[step][numbers]
            codes[:, step], numbers = name % self._symbols, name // self._symbols
        return [line.tobytes() for line in codes]


def _numbered(keys: IntArray, limit: int) -> tuple[IntArray, IntArray]:
    """The different keys, sorted, and the place of each key among them; all are below `limit`."""
    if limit > 4 * len(keys) + 1024:
        names, places = np.unique(keys, return_inverse=True)
        return names, places
    is_there = np.zeros(limit, dtype=bool)  # no need to sort where most numbers occur
    is_there[keys] = True
    return np.flatnonzero(is_there), (np.cumsum(is_there) - 1)[keys]


def compare(original: WordStatistics, other: WordStatistics, tops: Sequence[int] = (50, 100, 200)) -> Comparison:
    """The distances between two sets of words."""
    mine, others = _top_words(original, 20), _top_words(other, 20)
    strings, other_strings = original.top_strings(max(tops)), other.top_strings(max(tops))
    return Comparison(
        starts=_distance(original.starts, other.starts),
        ends=_distance(original.ends, other.ends),
        lengths=_distance(original.lengths, other.lengths),
        pairs=_keyed_distance(original.pieces(2), other.pieces(2)),
        triples=_keyed_distance(original.pieces(3), other.pieces(3)),
        words=_keyed_distance(original.whole, other.whole),
        top_words=len(mine & others) / max(len(mine), 1),
        top_strings={k: len({*strings[:k]} & {*other_strings[:k]}) / max(len(strings[:k]), 1) for k in tops},
    )


def _top_words(statistics: WordStatistics, count: int) -> set[bytes]:
    keys, times = statistics.whole
    return {keys[i] for i in np.argsort(-times, kind="stable")[:count]}


def _distance(one: FloatArray, other: FloatArray) -> float:
    longest = max(len(one), len(other))
    padded = [np.pad(counts, (0, longest - len(counts))) / max(counts.sum(), 1) for counts in (one, other)]
    return float(np.abs(padded[0] - padded[1]).sum() / 2)


def _keyed_distance(one: tuple[list[bytes], IntArray], other: tuple[list[bytes], IntArray]) -> float:
    totals = max(int(one[1].sum()), 1), max(int(other[1].sum()), 1)
    difference = {key: times / totals[0] for key, times in zip(one[0], one[1].tolist(), strict=True)}
    for key, times in zip(other[0], other[1].tolist(), strict=True):
        difference[key] = difference.get(key, 0.0) - times / totals[1]
    return float(sum(map(abs, difference.values()))) / 2
