"""Edit classes: the feasible words at each edit distance from a word, counted and drawn from exactly.

N(ℓ) is the number of feasible words, of any allowed length, at Levenshtein distance ℓ; the last class has all words at
distance c or more. Words are counted once, although many scripts of insertions, deletions and substitutions lead to the
same word: what is counted are paths through the capped-row automaton (`EditAutomaton`), which is deterministic, in
step with the system. (docs/edit-distance.md)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

import numpy as np

from pathveil.errors import InvalidParameterError
from pathveil.numerics.arrays import IntArray
from pathveil.randomness.exact import draw_below
from pathveil.randomness.source import RandomSource
from pathveil.systems.system import System, Word
from pathveil.words.classes import ClassCounter
from pathveil.words.edit.distances import distances_from
from pathveil.words.edit.length_range import LengthRange, checked_cap, checked_range
from pathveil.words.edit.tables import LARGEST_EDIT_TABLE, EditTables


class EditClasses(ClassCounter):
    """The feasible words of `words` around one word, by edit distance up to the cap.

    >>> import pathveil as pv
    >>> pv.edit_classes(pv.Alphabet("abc"), "ab", lengths=(1, 3)).counts
    (1, 13, 21, 4)
    """

    what = "edits"

    def __init__(self, words: LengthRange, codes: IntArray, cap: int, largest_table: int = LARGEST_EDIT_TABLE) -> None:
        self._fill(EditTables(words, [codes], cap, largest_table), 0, codes)

    @classmethod
    def from_tables(cls, tables: EditTables, owner: int, codes: IntArray) -> Self:
        """The classes around word number `owner` of the tables, which has these codes."""
        made = cls.__new__(cls)
        made._fill(tables, owner, codes)
        return made

    def _fill(self, tables: EditTables, owner: int, codes: IntArray) -> None:
        self._tables = tables
        self._owner = owner
        self._codes = codes
        self.counts = tables.counts[owner]
        self._cap = len(self.counts) - 1

    @property
    def node_count(self) -> int:
        """How many nodes (row, state of the system, symbols written) the table has."""
        return int(self._tables.layers[self._owner, -1])

    @property
    def size(self) -> int:
        """How many bytes the table takes, with those of other words that were made together with it."""
        return self._tables.size

    def word_at(self, distance: int, rank: int) -> IntArray:
        """The codes of word number `rank` of a class, from 0; every word of the class has one number."""
        if not 0 <= distance <= self._cap or not 0 <= rank < self.counts[distance]:
            raise InvalidParameterError(f"there is no word number {rank} at {distance} edits")
        return self._tables.words_at([self._owner], [distance], [rank])[0]

    def _draw(self, distance: int, source: RandomSource) -> IntArray:
        return self.word_at(distance, draw_below(source, self.counts[distance]))

    def distances(self, outputs: Iterable[IntArray]) -> IntArray:
        capped: IntArray = np.minimum(distances_from(self._codes, outputs), self._cap)
        return capped


def edit_classes(world: System, word: Word, lengths: tuple[int, int | None], cap: int | None = None) -> EditClasses:
    """The edit classes of a word among the feasible words of these lengths. The word itself need not be one of them."""
    lo, hi = checked_range(world, lengths)
    codes = world.encode(word)
    words = LengthRange(world.compiled, lo, hi)
    return EditClasses(words, codes, checked_cap(cap, max(hi, len(codes))))
