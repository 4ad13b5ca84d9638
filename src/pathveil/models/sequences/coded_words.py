"""Many words as two arrays: the codes of all symbols one after another, and where each word begins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pathveil.models.counting import States, encode_words
from pathveil.numerics.arrays import AnyIntArray, BoolArray, IntArray
from pathveil.systems.system import Word


@dataclass(frozen=True, eq=False)
class CodedWords:
    """Word i has the codes `values[offsets[i]:offsets[i + 1]]`; it stands for `times[i]` equal words."""

    values: IntArray
    offsets: IntArray
    times: IntArray
    max_words_per_user: int | None = None
    """Set where at most so many words of each person are among them, chosen at random; whoever chose declares it."""

    def __len__(self) -> int:
        return len(self.times)

    @property
    def lengths(self) -> IntArray:
        """The number of symbols of each word."""
        return np.diff(self.offsets)

    @classmethod
    def from_arrays(cls, values: AnyIntArray, offsets: AnyIntArray, times: IntArray | None = None) -> CodedWords:
        """Words that are codes already; each of them once, unless `times` says how often."""
        codes, places = np.ascontiguousarray(values, dtype=np.int64), np.ascontiguousarray(offsets, dtype=np.int64)
        counted = np.ones(len(places) - 1, dtype=np.int64) if times is None else np.asarray(times, dtype=np.int64)
        return cls(codes, places, counted)

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
        import pyarrow as pa
        import pyarrow.compute as pc

        width = np.dtype(">u2" if not len(self.values) or int(self.values.max()) < 2**16 else ">u4")
        buffers = [None, pa.py_buffer(self.offsets * width.itemsize), pa.py_buffer(self.values.astype(width))]
        # Numbers with their high byte first are in order where the bytes are.
        texts = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(self), buffers)
        encoded = pc.dictionary_encode(texts)
        times = np.zeros(len(encoded.dictionary), dtype=np.int64)
        np.add.at(times, encoded.indices.to_numpy(), self.times)
        order = pc.array_sort_indices(encoded.dictionary).to_numpy()
        order = order[times[order] > 0]
        words = pa.concat_arrays([encoded.dictionary.take(pa.array(order))])
        _, offsets, values = words.buffers()
        ends = np.frombuffer(offsets, dtype=np.int64)[: len(words) + 1] // width.itemsize
        codes = np.frombuffer(values or b"", dtype=width)[: ends[-1]] if len(words) else np.zeros(0)
        return replace(self, values=codes.astype(np.int64), offsets=ends.copy(), times=times[order])

    @classmethod
    def joined(cls, parts: Sequence[CodedWords]) -> CodedWords:
        """The words of all parts, one part after the other."""
        offsets = np.zeros(sum(map(len, parts)) + 1, dtype=np.int64)
        np.cumsum(np.concatenate([np.zeros(0, dtype=np.int64), *(part.lengths for part in parts)]), out=offsets[1:])
        nothing = np.zeros(0, dtype=np.int64)
        values = np.concatenate([nothing, *(part.values for part in parts)])
        return cls(values, offsets, np.concatenate([nothing, *(part.times for part in parts)]))

    def length_counts(self, max_length: int) -> IntArray:
        """[k]: how many words have k + 1 symbols."""
        counted = np.zeros(max_length, dtype=np.int64)
        np.add.at(counted, self.lengths - 1, self.times)
        return counted
