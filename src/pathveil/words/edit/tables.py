"""The tables of several words at once, in arrays that they share: what `EditClasses` and batches read.

A table is a graph (`kernels` says of what) and, for each of its nodes and each class, the exact number of words that
pass through the node and end in the class.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from pathveil.errors import TooLargeError
from pathveil.numerics.arrays import IntArray
from pathveil.randomness.blocks import cuts, run_all
from pathveil.words.edit.length_range import LengthRange

LARGEST_EDIT_TABLE = 1 << 28  # numbers: 2 GiB
_SMALL = 1_000  # edges
_ENOUGH = 1 << 22  # numbers in the tables of several words: 32 MiB
_TOGETHER = 64  # words that are counted in one go


class Room:
    """Memory in which tables are made, to be used again and again: to get it anew would take longer than to use it."""

    def __init__(self, words: int) -> None:
        """For so many small tables; larger ones get memory of their own."""
        self.size = words
        self.graphs: tuple[Any, ...] = (
            np.empty((words * 1_500, 7), dtype=np.int32),
            np.empty((words * 2_500, 3), dtype=np.int32),
            np.empty((words * 500, 4), dtype=np.int64),
            np.empty((words * 1_500, 2), dtype=np.int64),
        )
        self.values = np.empty(words * 12_000, dtype=np.uint64)

    def holds(self, *arrays: Any) -> bool:
        """Do all of these lie in this room?"""
        own = (*self.graphs, self.values)
        return all(np.may_share_memory(array, room) for array, room in zip(arrays, own, strict=True))


class EditTables:
    """The tables of the first of these words: as many of them as fit into some megabytes, but at least one.

    Raises `TooLargeError` where already the first table would have more than `largest_table` numbers.
    """

    def __init__(
        self,
        words: LengthRange,
        listed: Sequence[IntArray],
        cap: int,
        largest_table: int = LARGEST_EDIT_TABLE,
        room: Room | None = None,
    ) -> None:
        from pathveil.words.edit.counting import count_words
        from pathveil.words.edit.kernels import find_graphs

        self._words = words
        self._cap = cap
        room = room or Room(0)
        compiled = words.compiled
        numbered, floors, has_edge = _prepared(words, listed, cap)
        width = (cap + 1) * words.limbs
        layers, begins, nodes, links, ways, edge = find_graphs(
            numbered,
            (words.lo, words.hi, cap),
            compiled.symbol_count,
            (words.edges, compiled.start, words.alive),
            floors,
            has_edge,
            (max(largest_table // width, 1), _ENOUGH // width),
            room.graphs,
        )
        if len(begins) == 1:
            raise TooLargeError(
                f"counting the words by edit distance from a word of {len(listed[0])} symbols exactly would take more "
                f"than {largest_table * 8 / 2**30:.2g} GiB. Give a smaller `cap`: from that distance on words count as "
                "equally far."
            )
        values = count_words(
            layers, begins, nodes, links, ways, words.lo, cap, compiled.accepting, words.completions, room.values
        )
        self.is_borrowed = room.size > 0 and room.holds(nodes, links, ways, edge, values)
        """Does the memory belong to the room, so that the next tables made there overwrite these?"""
        self.layers: IntArray = layers
        used = begins[-1]
        self.graphs: tuple[Any, ...] = (
            begins,
            nodes[: used[0]],
            links[: used[1]],
            ways[: used[2]],
            edge[: used[3]],
            values,
        )
        """Where the parts of each table begin, and all nodes, links, ways, rows at the edge and numbers of words."""
        self._numbered = numbered
        self.counts: list[tuple[int, ...]] = [words.numbers(first[: cap + 1]) for first in values[begins[:-1, 0]]]
        """The sizes of the classes around each word."""

    def __len__(self) -> int:
        """How many words have their tables here."""
        return len(self.counts)

    @property
    def size(self) -> int:
        """How many bytes the tables take."""
        return sum(part.nbytes for part in self.graphs)

    def words_at(self, owners: Sequence[int], distances: Sequence[int], ranks: Sequence[int]) -> list[IntArray]:
        """For each of these: the codes of word number `rank` of the class at this distance from word `owner`."""
        from pathveil.words.edit.walk import find_words

        words = self._words
        found = np.empty((len(ranks), words.hi), dtype=np.int64)
        lengths = find_words(
            words.limbs_of(ranks),
            np.array(distances, dtype=np.int64),
            np.array(owners, dtype=np.int64),
            self._cap,
            self.graphs,
            self._numbered,
            words.lo,
            (words.compiled.accepting, words.completions, words.edges),
            found,
        ).tolist()
        if min(lengths, default=0) < 0:
            raise AssertionError("a rank below the number of words of a class always leads to one of them")
        return [word[:length] for word, length in zip(found, lengths, strict=True)]


def near_counts(words: LengthRange, listed: Sequence[IntArray], cap: int) -> IntArray:
    """The sizes of the classes around each word, without their tables: for caps below 8, and up to 2^63 words in all.

    A row that begins with -1 says that the word needs its table.
    """
    from pathveil.words.edit.kernels import count_near

    compiled = words.compiled
    sizes = np.zeros((len(listed), cap + 1), dtype=np.int64)

    def count(begin: int, end: int) -> None:
        numbered, floors, has_edge = _prepared(words, listed[begin:end], cap)
        system = (words.edges, compiled.start, words.alive)
        limits, some = (words.lo, words.hi, cap), sizes[begin:end]
        count_near(numbered, limits, compiled.symbol_count, system, compiled.accepting, floors, has_edge, some)

    run_all([partial(count, *cut) for cut in cuts(len(listed), _TOGETHER)])
    sizes[:, cap] = words.total - sizes[:, :cap].sum(axis=1)
    return sizes


def _prepared(words: LengthRange, listed: Sequence[IntArray], cap: int) -> tuple[Any, IntArray, bool]:
    """The words with symbols numbered; what can still lead near them; and whether that is known of all entries."""
    from pathveil.words.edit.preparing import find_floors, with_kinds

    compiled = words.compiled
    numbered = with_kinds(np.concatenate(listed), np.cumsum([0, *map(len, listed)]), compiled.symbol_count)
    if cap >= 8:
        return numbered, np.empty((len(listed), 0, 0), dtype=np.int64), False
    # Worth while where the system is small and not free: about half of the nodes turn out to lead nowhere near.
    looks_ahead = compiled.state_count > 1 and len(words.edges[1]) <= _SMALL
    floors = find_floors(numbered, words.lo, words.hi, cap, words.edges, compiled.accepting, looks_ahead)
    return numbered, floors, looks_ahead or compiled.is_free
