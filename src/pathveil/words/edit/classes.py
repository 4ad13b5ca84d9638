"""Edit classes: the feasible words at each edit distance from a word, counted and drawn from exactly.

N(ℓ) is the number of feasible words, of any allowed length, at Levenshtein distance ℓ; the last class has all words at
distance c or more. Words are counted once, although many scripts of insertions, deletions and substitutions lead to the
same word: what is counted are paths through the capped-row automaton (`EditAutomaton`), which is deterministic, in
step with the system. (docs/edit-distance.md)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from pathveil.errors import InvalidParameterError, TooLargeError
from pathveil.numerics.arrays import IntArray
from pathveil.randomness.exact import draw_below
from pathveil.randomness.source import RandomSource
from pathveil.systems.system import System, Word
from pathveil.words.classes import ClassCounter
from pathveil.words.edit.distances import distances_from
from pathveil.words.edit.length_range import LengthRange, checked_cap, checked_range

_LARGEST_EDIT_TABLE = 1 << 28  # numbers: 2 GiB


class EditClasses(ClassCounter):
    """The feasible words of `words` around one word, by edit distance up to the cap.

    >>> import pathveil as pv
    >>> pv.edit_classes(pv.Alphabet("abc"), "ab", lengths=(1, 3)).counts
    (1, 13, 21, 4)
    """

    what = "edits"

    def __init__(self, words: LengthRange, codes: IntArray, cap: int, largest_table: int = _LARGEST_EDIT_TABLE) -> None:
        from pathveil.words.edit.kernels import find_nodes
        from pathveil.words.edit.walk import count_words

        self._words = words
        self._codes = codes
        self._cap = cap
        listed = codes.tolist()
        symbols = sorted(set(listed))
        self._symbols = np.array(symbols, dtype=np.int64)
        kind_of = {symbol: kind for kind, symbol in enumerate(symbols)}
        compiled = words.compiled
        most = max(largest_table // ((cap + 1) * words.limbs), 1)
        graph = find_nodes(
            np.array([kind_of[code] for code in listed], dtype=np.int64),
            self._symbols,
            words.lo,
            words.hi,
            cap,
            words.edges,
            compiled.start,
            compiled.accepting,
            words.alive,
            most,
        )
        if not len(graph[0]):
            raise TooLargeError(
                f"counting the words by edit distance from a word of {len(codes)} symbols exactly would take more than "
                f"{largest_table * 8 / 2**30:.2g} GiB. Give a smaller `cap`: from that distance on words count as "
                "equally far."
            )
        values = count_words(*graph, words.lo, cap, compiled.accepting, words.completions)
        self._table: tuple[Any, ...] = (*graph, values)
        self.counts = words.numbers(values[0])

    @property
    def node_count(self) -> int:
        """How many nodes (row, state of the system, symbols written) the table has."""
        return len(self._table[-1])

    @property
    def size(self) -> int:
        """How many bytes the table takes."""
        return sum(part.nbytes for part in self._table)

    def word_at(self, distance: int, rank: int) -> IntArray:
        """The codes of word number `rank` of a class, from 0; every word of the class has one number."""
        from pathveil.words.edit.walk import find_word

        if not 0 <= distance <= self._cap or not 0 <= rank < self.counts[distance]:
            raise InvalidParameterError(f"there is no word number {rank} at {distance} edits")
        words = self._words
        word = np.empty(words.hi, dtype=np.int64)
        length = find_word(
            words.limbs_of(rank),
            distance,
            *self._table[1:],
            self._symbols,
            words.lo,
            words.compiled.accepting,
            words.completions,
            words.edges,
            word,
        )
        if length < 0:
            raise AssertionError("a rank below the number of words of a class always leads to one of them")
        return word[:length].copy()

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
