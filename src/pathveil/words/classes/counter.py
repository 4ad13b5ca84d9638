"""Classes of words: the feasible outputs around a sensitive word, sorted by how far away they are.

A mechanism that looks at nothing but a distance needs three things to know about a word: how many outputs there are at
each distance, one of them drawn uniformly, and the distance of a given output. There are two such counters: by number
of errors (`ErrorClasses`) and by edit distance (`EditClasses`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

from pathveil.errors import InvalidParameterError
from pathveil.numerics.arrays import IntArray
from pathveil.randomness.source import RandomSource, checked_source


class ClassCounter(ABC):
    """The outputs around one word, by distance. Sensitive: it belongs to the curator."""

    counts: tuple[int, ...]
    """How many outputs each class has, from the nearest on: exact integers."""

    what: str
    """What the distance counts, in the plural."""

    @abstractmethod
    def _draw(self, distance: int, source: RandomSource) -> IntArray: ...

    @abstractmethod
    def distances(self, outputs: Iterable[IntArray]) -> IntArray:
        """The class of each output, given by its symbol codes."""

    def draw(self, distance: int, rng: RandomSource | None = None) -> IntArray:
        """The codes of a word from the class at this distance, each word with exactly the same probability."""
        if not 0 <= distance < len(self.counts) or not self.counts[distance]:
            raise InvalidParameterError(f"no feasible word has exactly {distance} {self.what}")
        return self._draw(distance, checked_source(rng))
