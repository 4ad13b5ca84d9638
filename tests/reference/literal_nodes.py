"""Branch and bound, word by word: which pairs of words a node stands for, and how much log Z really changes for them.

All feasible words are listed, distances are counted, and Z is an exact fraction.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import mpmath
import numpy as np

from pathveil.words.certificate.symbol_chain import SymbolChain

Word = tuple[int, ...]


def words_of(chain: SymbolChain, length: int) -> list[Word]:
    follows = chain.successors.matrix.toarray() > 0
    words: list[Word] = [(c,) for c in range(chain.symbol_count) if chain.first[c]]
    for _ in range(length - 1):
        words = [(*word, y) for word in words for y in np.flatnonzero(follows[word[-1]]).tolist()]
    return [word for word in words if chain.last[word[-1]]]


class Normalisers:
    """Z(w) of all words of one length, as exact fractions."""

    def __init__(self, chain: SymbolChain, length: int, z: float) -> None:
        self.words = words_of(chain, length)
        codes = np.array(self.words, dtype=np.int64).reshape(-1, length)
        powers = [Fraction(z) ** errors for errors in range(length + 1)]
        self.z_of: dict[Word, Fraction] = {}
        for word, row in zip(self.words, codes, strict=True):
            counts = np.bincount((codes != row).sum(axis=1), minlength=length + 1)
            self.z_of[word] = sum((int(n) * power for n, power in zip(counts, powers, strict=True)), Fraction(0))

    def change(self, w: Word, v: Word) -> float:
        """log Z(v) - log Z(w), from 60 digits."""
        quotient = self.z_of[v] / self.z_of[w]
        with mpmath.workdps(60):
            return float(mpmath.log(mpmath.mpf(quotient.numerator) / mpmath.mpf(quotient.denominator)))


@dataclass(frozen=True)
class LiteralNode:
    """Contexts have the symbol next to the run first; a closed one reaches to the end of the word."""

    w: Word
    v: Word
    prefix: Word
    prefix_is_closed: bool
    suffix: Word
    suffix_is_closed: bool

    def pairs(self, normalisers: Normalisers) -> set[tuple[Word, Word]]:
        """All pairs of feasible words that the node stands for."""
        run, found = len(self.w), set()
        for word in normalisers.words:
            for i in range(len(word) - run + 1):
                before, after = word[:i][::-1], word[i + run :]
                if word[i : i + run] != self.w:
                    continue
                if before[: len(self.prefix)] != self.prefix or after[: len(self.suffix)] != self.suffix:
                    continue
                if self.prefix_is_closed and len(before) != len(self.prefix):
                    continue
                if self.suffix_is_closed and len(after) != len(self.suffix):
                    continue
                other = word[:i] + self.v + after
                if other in normalisers.z_of:
                    found.add((word, other))
        return found
