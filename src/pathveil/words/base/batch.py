"""Words of different lengths, one after the other in one array, taken apart into groups of equal length.

`offsets[i]:offsets[i + 1]` are the cells of word i, as in an Arrow list array.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pathveil.errors import EmptyWordError, InvalidParameterError
from pathveil.numerics.arrays import AnyIntArray, IntArray

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True)
class SameLength:
    """The words of one length within a batch."""

    length: int
    numbers: IntArray
    """Which words of the batch these are."""
    begins: IntArray
    """The first cell of each of them."""

    @property
    def cells(self) -> IntArray:
        """All their cells, one row a word."""
        cells: IntArray = self.begins[:, None] + np.arange(self.length)
        return cells


@dataclass(frozen=True)
class Words:
    """A batch of words: word i has the symbol codes `values[offsets[i]:offsets[i + 1]]`."""

    values: AnyIntArray
    offsets: AnyIntArray
    equal_length: int | None = None
    """The length of all words, where that is known beforehand."""

    @classmethod
    def from_rows(cls, codes: IntArray) -> Words:
        """Words of equal length, one row each; nothing is copied."""
        batch, length = codes.shape
        return cls(codes.reshape(-1), np.arange(batch + 1, dtype=np.int64) * length, length)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def lengths(self) -> list[int]:
        """The different lengths, in increasing order."""
        if self.equal_length is not None:
            return [self.equal_length]
        found: list[int] = np.unique(np.diff(self.offsets)).tolist()
        return found

    @cached_property
    def by_length(self) -> list[SameLength]:
        """The batch taken apart, so that each part can be worked on as a table. Lengths in increasing order."""
        begins = self.offsets[:-1].astype(np.int64)
        if self.equal_length is not None:
            return [SameLength(self.equal_length, np.arange(len(begins)), begins)]
        lengths = np.diff(self.offsets).astype(np.int64)
        if not len(lengths):
            return []
        # Short numbers are sorted digit by digit, which is much faster.
        order = np.argsort(lengths.astype(np.uint16) if lengths.max() < 2**16 else lengths, kind="stable")
        starts = np.flatnonzero(np.diff(lengths[order], prepend=-1))
        parts = np.split(order, starts[1:])
        return [SameLength(int(lengths[numbers[0]]), numbers, begins[numbers]) for numbers in parts]


def flat_words(words: pyarrow.ListArray) -> tuple[AnyIntArray, AnyIntArray]:
    """The codes of all words in one array, and the offsets from 0; an error for words that are no words."""
    import pyarrow
    import pyarrow.types as kinds

    kind = getattr(words, "type", None)
    listed = isinstance(words, pyarrow.Array) and (kinds.is_list(kind) or kinds.is_large_list(kind))
    if not listed or not kinds.is_integer(words.type.value_type):
        raise InvalidParameterError(
            f"an Arrow list array of whole numbers (symbol codes) is needed, not {kind or type(words).__name__}"
        )
    if words.null_count:
        missing = int(np.flatnonzero(words.is_null().to_numpy(zero_copy_only=False))[0])
        raise EmptyWordError(f"word {missing} is null: leave it out, there is nothing to release for it")
    raw = words.offsets.to_numpy()
    offsets = raw - raw[0] if raw[0] else raw
    empty = np.flatnonzero(np.diff(offsets) == 0)
    if len(empty):
        raise EmptyWordError(f"word {empty[0]} is empty: a word needs at least one symbol")
    values = words.values.slice(raw[0], raw[-1] - raw[0])
    if values.null_count:
        cell = int(np.flatnonzero(values.is_null().to_numpy(zero_copy_only=False))[0])
        word = int(np.searchsorted(offsets, cell, side="right")) - 1
        raise InvalidParameterError(f"word {word}: the code at position {cell - offsets[word] + 1} is null")
    return values.to_numpy(), offsets


def take_cells(offsets: AnyIntArray, rows: IntArray) -> tuple[AnyIntArray, AnyIntArray]:
    """The cells of these words, one word after the other, and the offsets that go with them."""
    begins = offsets[rows]
    lengths = offsets[rows + 1] - begins
    taken = np.zeros(len(rows) + 1, dtype=offsets.dtype)  # no wider than they came: half the memory to go through
    np.cumsum(lengths, out=taken[1:])
    return np.arange(taken[-1], dtype=offsets.dtype) + np.repeat(begins - taken[:-1], lengths), taken
