"""The largest change of log Z where one symbol is replaced, from all words: for short ones, which are few enough.

A word of k symbols spreads the weights α to the position after it; read backwards, a word of j symbols spreads β to the
position before it. With one symbol between the two, and γ(y) = α(y)β(y),

    Z(v)/Z(w) = (Σγ + (1/z-1) γ(d)) / (Σγ + (1/z-1) γ(c))

if the symbol is c in w and d in v. For every position all words on the side that has fewer are kept, those of the
other side pass by in blocks, and the largest and the smallest γ among the symbols that fit between them give the
largest change. No bound is involved: what comes out is the change itself, up to rounding.
(docs/certified.md, "All words")
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import inf, log

import numpy as np
from scipy import sparse

from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.words.certificate.symbol_chain import Links, SymbolChain

_LARGEST = 512  # symbols; larger systems have too many words anyway
_BLOCK = 1_000_000  # numbers in one block of weights, roughly
_UNDERFLOW = 600.0  # weights stay above e^-600 of the largest

Weights = tuple[FloatArray, IntArray]
"""(weights, ends): what a word spreads to the next position, and its last symbol, one word in each row."""


class AllWords:
    """All words of one length, or of all lengths up to one, of a symbol chain."""

    def __init__(self, chain: SymbolChain, length: int, *, up_to: bool) -> None:
        self._chain = chain
        self._length = length
        self._lengths = range(1 if up_to else length, length + 1)

    @cached_property
    def work(self) -> float:
        """How many products the largest change takes, roughly; infinite where it is not to be computed so."""
        chain, m = self._chain, self._chain.symbol_count
        if m > _LARGEST:
            return inf
        fits = _fitting(chain)
        products = np.where(fits >= 2, m + 2 * fits, 0)
        before, after = _numbers(chain, self._length), _numbers(chain.reversed(), self._length)
        total = sum(float(before[k] @ products @ after[n - 1 - k]) for n in self._lengths for k in range(n))
        return total + m * float(sum(words.sum() for side in (before, after) for words in side[self._length // 2 :]))

    def largest_change(self, z: float) -> tuple[float, float]:
        """(at least, at most) the largest change of log Z, a hair apart."""
        quotient = max(
            self._largest_quotient(self._chain, z, with_middle=True),
            self._largest_quotient(self._chain.reversed(), z, with_middle=False),
        )
        steps = self._length * (max(self._most, 1) + 8)
        slack = (steps + self._chain.symbol_count + 64) * 2.0**-50
        change = log(quotient)
        return max(change - slack, 0.0), change + slack

    def is_accurate(self, theta: float) -> bool:
        """Do weights stay so large that none is lost to underflow?"""
        return self._length * (theta + log(self._most + 1)) < _UNDERFLOW

    @property
    def _most(self) -> int:
        return int(max(self._chain.successors.degrees.max(initial=0), self._chain.predecessors.degrees.max(initial=0)))

    def _largest_quotient(self, chain: SymbolChain, z: float, *, with_middle: bool) -> float:
        """Of all positions with more symbols before than after them; `with_middle`: or as many."""
        from pathveil.words.certificate.search.all_words_kernel import largest_quotient

        kept = [_by_end(part, chain.symbol_count) for part in _kept(chain.reversed(), (self._length + 1) // 2, z)]
        partners, shared = _partners(chain)
        best = 1.0
        for k, (weights, ends) in _passing(chain, self._length, z):
            for n in self._lengths:
                j = n - 1 - k
                if 0 <= j < k or (j == k and with_middle):
                    best = max(best, largest_quotient(weights, ends, partners, shared, kept[j], 1.0 / z - 1.0))
        return best


def _fitting(chain: SymbolChain) -> FloatArray:
    """How many symbols fit between two; the last row and column stand for the ends of a word."""
    follows = chain.successors.matrix.toarray()
    leads = np.vstack([follows, chain.first])
    back = np.column_stack([follows, chain.last])
    fitting: FloatArray = leads @ back
    return fitting


def _numbers(chain: SymbolChain, length: int) -> list[FloatArray]:
    """Entry k: how many words of k symbols end in each symbol, k < length; the empty word ends in none."""
    m = chain.symbol_count
    words, numbers = chain.first.astype(float), [np.append(np.zeros(m), 1.0)]
    for _ in range(1, length):
        numbers.append(np.append(words, 0.0))
        words = np.minimum(np.asarray(chain.predecessors.matrix @ words), 1e18)
    return numbers


def _partners(chain: SymbolChain) -> tuple[tuple[IntArray, IntArray], tuple[IntArray, IntArray]]:
    """For each last symbol p of a word, with which q the rest may begin so that two symbols or more fit between."""
    m = chain.symbol_count
    pairs = Links.of(sparse.csr_array(_fitting(chain) >= 2))
    follows = chain.successors.matrix.toarray() > 0
    leads, back = np.vstack([follows, chain.first]), np.column_stack([follows, chain.last])
    symbols = [np.flatnonzero(leads[p] & back[:, q]) for p, q in zip(pairs.owners, pairs.symbols, strict=True)]
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in symbols], dtype=np.int64)])
    assert len(pairs.offsets) == m + 2
    return (pairs.offsets, pairs.symbols), (offsets, np.concatenate([*symbols, np.empty(0, dtype=np.int64)]))


def _links(chain: SymbolChain) -> tuple[tuple[IntArray, IntArray], tuple[IntArray, IntArray]]:
    """Successors, the first symbols among them as those of a symbol m, and predecessors."""
    after, first = chain.successors, np.flatnonzero(chain.first)
    return (
        (np.append(after.offsets, after.count + len(first)), np.concatenate([after.symbols, first])),
        (chain.predecessors.offsets, chain.predecessors.symbols),
    )


def _empty_word(chain: SymbolChain) -> Weights:
    return chain.first.astype(float)[None, :], np.array([chain.symbol_count])


def _kept(chain: SymbolChain, number: int, z: float) -> list[Weights]:
    """All words of 0, 1, …, number - 1 symbols."""
    from pathveil.words.certificate.search.all_words_kernel import prolonged

    kept, links = [_empty_word(chain)], _links(chain)
    while len(kept) < number:
        kept.append(prolonged(*kept[-1], *links, z))
    return kept


def _by_end(words: Weights, symbol_count: int) -> tuple[FloatArray, IntArray]:
    """One column for each word, and where the columns of each last symbol begin."""
    weights, ends = words
    order = np.argsort(ends, kind="stable")
    return np.ascontiguousarray(weights[order].T), np.searchsorted(ends[order], np.arange(symbol_count + 2))


def _passing(chain: SymbolChain, length: int, z: float) -> Iterator[tuple[int, Weights]]:
    """All words of less than `length` symbols, in blocks of words of k symbols each, with that k."""
    from pathveil.words.certificate.search.all_words_kernel import prolonged

    links = _links(chain)
    degrees = np.diff(links[0][0])
    rows = max(_BLOCK // chain.symbol_count, 1)
    waiting = [(0, _empty_word(chain))]
    while waiting:
        k, (weights, ends) = waiting.pop()
        yield k, (weights, ends)
        if k < length - 1 and len(ends):
            parts = np.cumsum(degrees[ends]) // rows
            for part in np.unique(parts):
                chosen = parts == part
                waiting.append((k + 1, prolonged(weights[chosen], ends[chosen], *links, z)))
