"""Many words as two arrays: the codes of all symbols one after another, and where each word begins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from pathveil.models.counting import States, encode_words
from pathveil.numerics.arrays import BoolArray, IntArray
from pathveil.systems.system import Word


@dataclass(frozen=True, eq=False)
class CodedWords:
    """Word i has the codes `values[offsets[i]:offsets[i + 1]]`; it stands for `times[i]` equal words."""

    values: IntArray
    offsets: IntArray
    times: IntArray
    max_words_per_user: int | None = None
    """Set where at most so many words of each person are among them, chosen at random: whoever does that declares it."""

    def __len__(self) -> int:
        return len(self.times)

    @property
    def lengths(self) -> IntArray:
        """The number of symbols of each word."""
        return np.diff(self.offsets)

    @classmethod
    def from_arrays(cls, values: IntArray, offsets: IntArray, times: IntArray | None = None) -> CodedWords:
        """Words that are codes already; each of them once, unless `times` says how often."""
        values, offsets = np.ascontiguousarray(values, dtype=np.int64), np.ascontiguousarray(offsets, dtype=np.int64)
        counted = np.ones(len(offsets) - 1, dtype=np.int64) if times is None else np.asarray(times, dtype=np.int64)
        return cls(values, offsets, counted)

    @classmethod
    def from_words(cls, words: Iterable[Word], states: States, max_length: int) -> CodedWords:
        """Words as people write them, cut after `max_length` symbols; errors name the word and the position."""
        return cls.from_codes(encode_words(words, states, max_length))

    @classmethod
    def from_codes(cls, words: list[list[int]], times: IntArray | None = None) -> CodedWords:
        """A list of words that are lists of codes."""
        offsets = np.zeros(len(words) + 1, dtype=np.int64)
        np.cumsum([len(word) for word in words], out=offsets[1:])
        flat = [code for word in words for code in word]
        return cls.from_arrays(np.array(flat, dtype=np.int64), offsets, times)

    def cut(self, max_length: int) -> CodedWords:
        """The same words, none longer than `max_length`."""
        lengths = self.lengths
        if not len(self) or int(lengths.max()) <= max_length:
            return self
        position = np.arange(len(self.values)) - np.repeat(self.offsets[:-1], lengths)
        offsets = np.zeros(len(self.offsets), dtype=np.int64)
        np.cumsum(np.minimum(lengths, max_length), out=offsets[1:])
        return replace(self, values=self.values[position < max_length], offsets=offsets)

    def select(self, chosen: BoolArray) -> CodedWords:
        """The words for which `chosen` is true."""
        lengths = self.lengths
        offsets = np.zeros(int(chosen.sum()) + 1, dtype=np.int64)
        np.cumsum(lengths[chosen], out=offsets[1:])
        values = self.values[np.repeat(chosen, lengths)]
        return replace(self, values=values, offsets=offsets, times=self.times[chosen])

    def distinct(self) -> CodedWords:
        """Each word once, with how often it occurs. The order is the same whatever the order of the words was."""
        width = np.uint16 if not len(self.values) or int(self.values.max()) < 2**16 else np.uint32
        packed = self.values.astype(f">{np.dtype(width).str[1:]}").tobytes()
        places = (self.offsets * np.dtype(width).itemsize).tolist()
        found: Counter[bytes] = Counter()
        if bool(np.all(self.times == 1)):
            found.update(packed[a:b] for a, b in zip(places[:-1], places[1:], strict=True))
        else:
            for a, b, times in zip(places[:-1], places[1:], self.times.tolist(), strict=True):
                found[packed[a:b]] += times
        texts = sorted(found)
        offsets = np.zeros(len(texts) + 1, dtype=np.int64)
        np.cumsum([len(text) // np.dtype(width).itemsize for text in texts], out=offsets[1:])
        values = np.frombuffer(b"".join(texts), dtype=np.dtype(width).newbyteorder(">")).astype(np.int64)
        times = np.array([found[text] for text in texts], dtype=np.int64)
        return replace(self, values=values, offsets=offsets, times=times)

    def length_counts(self, max_length: int) -> IntArray:
        """[k]: how many words have k + 1 symbols."""
        counted = np.zeros(max_length, dtype=np.int64)
        np.add.at(counted, self.lengths - 1, self.times)
        return counted
