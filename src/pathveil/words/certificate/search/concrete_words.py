"""Which lengths contexts can have, and how much log Z really changes between two words: no proof goes below that."""

from __future__ import annotations

import numpy as np

from pathveil.numerics.arrays import BoolArray, IntArray
from pathveil.words.certificate.symbol_chain import SymbolChain

_CLIMB = 24  # symbols next to the run that are replaced on the way to a larger change


class WordLengths:
    """`before[i, s]`: i symbols can lead from a first symbol to s, itself included; `after[j, s]`: from s to a last."""

    def __init__(self, chain: SymbolChain, length: int, *, up_to: bool) -> None:
        self._chain = chain
        self.length = length
        self.up_to = up_to
        self.before = _reached(chain, length)
        self.after = _reached(chain.reversed(), length)

    def splits(self, room: int, prefix: BoolArray, suffix: BoolArray) -> tuple[int, int] | None:
        """The most even (i, j) with i + j = room (or at most that, with `up_to`), prefix[i] and suffix[j]."""
        best: tuple[int, int] | None = None
        for total in range(room, -1, -1) if self.up_to else (room,):
            for i in range(min(total + 1, len(prefix))):
                j = total - i
                if j < len(suffix) and prefix[i] and suffix[j] and (best is None or min(i, j) > min(best)):
                    best = i, j
            if best is not None:
                return best
        return None

    def completed(
        self, prefix: list[int], prefix_is_closed: bool, run: tuple[list[int], list[int]],
        suffix: list[int], suffix_is_closed: bool,
    ) -> tuple[list[int], list[int]] | None:  # fmt: skip
        """Two whole words that agree but for the run; None if there are none.

        Both contexts have the symbol next to the run first.
        """
        w, v = run
        room = self.length - len(prefix) - len(suffix) - len(w)
        if room < 0:
            return None
        only_now = np.array([True])
        more_before = only_now if prefix_is_closed else self._more(self.before, self._chain, prefix, w[0], v[0])
        more_after = (
            only_now if suffix_is_closed else self._more(self.after, self._chain.reversed(), suffix, w[-1], v[-1])
        )
        split = self.splits(room, more_before, more_after)
        if split is None:
            return None
        before = self._walk(self.before, self._chain, prefix, w[0], v[0], split[0])
        after = self._walk(self.after, self._chain.reversed(), suffix, w[-1], v[-1], split[1])
        return [*before[::-1], *w, *after], [*before[::-1], *v, *after]

    def _more(self, reached: BoolArray, chain: SymbolChain, context: list[int], c: int, d: int) -> BoolArray:
        """Entry i: can exactly i more symbols stand beyond the context?"""
        if context:
            more: BoolArray = reached[1:, context[-1]]
            return more
        shared = np.intersect1d(_linked(chain, c), _linked(chain, d))
        none = chain.first[c] & chain.first[d]
        return np.concatenate([[none], reached[1:, shared].any(axis=1)])

    def _walk(self, reached: BoolArray, chain: SymbolChain, context: list[int], c: int, d: int, more: int) -> list[int]:
        """The context and so many more symbols beyond it."""
        found = list(context)
        for left in range(more, 0, -1):
            candidates = _linked(chain, found[-1]) if found else np.intersect1d(_linked(chain, c), _linked(chain, d))
            found.append(int(candidates[reached[left, candidates]][0]))
        return found


def _linked(chain: SymbolChain, c: int) -> IntArray:
    return chain.predecessors.symbols[chain.predecessors.offsets[c] : chain.predecessors.offsets[c + 1]]


def _reached(chain: SymbolChain, length: int) -> BoolArray:
    reached = np.zeros((length + 1, chain.symbol_count), dtype=bool)
    reached[1] = chain.first
    for i in range(2, length + 1):
        reached[i] = chain.predecessors.matrix @ reached[i - 1] > 0
    return reached


def change_of_log_z(chain: SymbolChain, w: list[int], v: list[int], z: float) -> float:
    """log Z(v) - log Z(w), or a little less: by more than the rounding of all sums and of rescaling."""
    from pathveil.words.certificate.search.word_kernel import log_z

    links = chain.predecessors.offsets, chain.predecessors.symbols
    here, there = (log_z(np.array(word), chain.first, chain.last, links, z) for word in (w, v))
    slack = (int(chain.predecessors.degrees.max(initial=0)) + 8) * (len(w) + 8) * 2.0**-50
    return float(there - here - slack * (1 + abs(here)))


def climbed(chain: SymbolChain, w: list[int], v: list[int], z: float, change: float) -> float:
    """The change between two words, made larger by replacing one symbol that they share at a time, while that helps."""
    shared = [i for i in range(len(w)) if w[i] == v[i]]
    middle = next(i for i in range(len(w)) if w[i] != v[i])
    shared = sorted(shared, key=lambda i: abs(i - middle))[:_CLIMB]
    better = True
    while better:
        better = False
        for i in shared:
            for symbol in _fitting(chain, w, v, i):
                one, other = ([*word[:i], symbol, *word[i + 1 :]] for word in (w, v))
                found = change_of_log_z(chain, one, other, z)
                if found > change * (1 + 1e-6):
                    w, v, change, better = one, other, found, True
    return change


def _fitting(chain: SymbolChain, w: list[int], v: list[int], i: int) -> list[int]:
    """The other symbols that both words can have at position i."""
    fits = np.arange(chain.symbol_count)
    for word in (w, v):
        if i:
            fits = np.intersect1d(fits, _linked(chain.reversed(), word[i - 1]))
        if i < len(w) - 1:
            fits = np.intersect1d(fits, _linked(chain, word[i + 1]))
    fits = fits[chain.first[fits]] if i == 0 else fits
    fits = fits[chain.last[fits]] if i == len(w) - 1 else fits
    return [int(symbol) for symbol in fits if symbol != w[i]]
