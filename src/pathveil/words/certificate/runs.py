"""Runs: which blocks of r consecutive symbols can replace one another in a feasible word, and what that does to Z.

A run of w is replaced by a run of v that differs from it in every symbol. Before and after, the words agree, so the
two runs have a predecessor and a successor in common (or both begin, or both end, the word).

If w_j→v_(j+1) for some j inside the run, then w_1..w_j v_(j+1)..v_r is feasible as well, and the replacement is two
shorter ones, of r-j and j positions, one after the other; likewise if v_j→w_(j+1). The certificate adds up shorter
runs anyway, so only runs that cannot be split need a bound of their own. In a dense chain those are few.
"""

from __future__ import annotations

from functools import cached_property
from math import inf, log

import numpy as np

from pathveil.numerics.arrays import BoolArray, FloatArray, IntArray, distinct_rows
from pathveil.words.base import rounding_margin, tilt_factor
from pathveil.words.certificate.kept_pairs import KeptPairs
from pathveil.words.certificate.ratio_bounds import Box, united
from pathveil.words.certificate.symbol_chain import SymbolChain

_LARGEST_PAIRS = 1_000_000  # pairs of runs at one place; beyond that K_r = rθ
_LARGEST_WORK = 2_000_000_000  # additions for all pairs at all places; beyond that K_r = rθ
_TOGETHER = 64  # pairs that are looked at together, the worst first; then four times as many, and so on

Pairs = tuple[IntArray, IntArray]
"""(w, v): the run replaced and the run that replaces it, one pair in each row."""

Place = tuple[IntArray, IntArray, Box, Box]
"""Pairs that can stand at one place, and the boxes of what comes before and after."""

BoxArrays = tuple[FloatArray, FloatArray, FloatArray, IntArray, IntArray]


class TooManyPairs(Exception):  # noqa: N818 - a signal inside this file, not an error
    """More pairs of runs than we are willing to compare."""


class Runs:
    """All runs of one length in the words of one symbol chain."""

    def __init__(self, chain: SymbolChain, alive: BoolArray, run: int, *, up_to: bool) -> None:
        self.chain = chain
        self.run = run
        self._alive = alive
        self._up_to = up_to
        self._length = len(alive)
        self.places: list[Pairs] | None
        """For each position where a run can begin, its pairs; None where they are too many."""
        self._is_whole_word = False
        try:
            self.places = self._all_places()
        except TooManyPairs:
            self.places = None

    @cached_property
    def pairs(self) -> Pairs | None:
        """All pairs, wherever they can stand; None where they are too many."""
        if self.places is None:
            return None
        places = {id(w): (w, v) for w, v in self.places}.values()
        both = np.concatenate([np.hstack(pair) for pair in places])
        if len(places) > 1:
            both, _ = distinct_rows(both, self.chain.symbol_count)
        return np.ascontiguousarray(both[:, : self.run]), np.ascontiguousarray(both[:, self.run :])

    def _all_places(self) -> list[Pairs]:
        known: dict[tuple[object, ...], Pairs] = {}
        found = []
        for i in range(self._length - self.run + 1):
            following = self._length - self.run - i  # positions after the run; with `up_to`, at most so many
            place = (i == 0, following == 0, self._alive[i : i + self.run].tobytes())
            if place not in known:
                known[place] = self._pairs(i, following)
            found.append(known[place])
        return found

    def _pairs(self, i: int, following: int) -> Pairs:
        chain, m = self.chain, self.chain.symbol_count
        alive = self._alive[i : i + self.run]
        if i:
            related = chain.share_predecessor
            w, v = self._grown(related.owners, related.symbols, alive)
            joined = chain.share_successor.contains(w[:, -1], v[:, -1]) if following else np.zeros(len(w), dtype=bool)
            if not following or self._up_to:
                joined |= chain.last[w[:, -1]] & chain.last[v[:, -1]]
            return w[joined], v[joined]
        nothing = np.empty((0, self.run), dtype=np.int64)
        found = [(nothing, nothing)]
        if following:
            # At the beginning of a word the runs need not be related, so they are grown from their common end.
            related = chain.share_successor
            w, v = self._grown(related.owners, related.symbols, alive, backwards=True)
            joined = chain.first[w[:, 0]] & chain.first[v[:, 0]]
            found.append((w[joined], v[joined]))
        if self.run == 1 and (not following or self._up_to):
            # Any word of one symbol can become any other, and Z is the same for all of them.
            self._is_whole_word = bool(np.count_nonzero(alive[0] & chain.first & chain.last) > 1)
        elif not following or self._up_to:
            # The run is the whole word.
            if m * m > _LARGEST_PAIRS:
                raise TooManyPairs
            w, v = self._grown(np.repeat(np.arange(m), m), np.tile(np.arange(m), m), alive)
            joined = chain.first[w[:, 0]] & chain.first[v[:, 0]] & chain.last[w[:, -1]] & chain.last[v[:, -1]]
            found.append((w[joined], v[joined]))
        return np.concatenate([w for w, _ in found]), np.concatenate([v for _, v in found])

    def _grown(self, a: IntArray, b: IntArray, alive: BoolArray, *, backwards: bool = False) -> Pairs:
        """All pairs of walks through the run that begin (or end) with the pairs a, b, differ everywhere and cannot
        be split."""
        links = self.chain.predecessors if backwards else self.chain.successors
        order = range(self.run)[::-1] if backwards else range(self.run)
        usable = (a != b) & alive[order[0]][a] & alive[order[0]][b]
        w, v = a[usable][:, None], b[usable][:, None]
        edge = 0 if backwards else -1
        for position in order[1:]:
            if int(links.degrees[w[:, edge]] @ links.degrees[v[:, edge]]) > _LARGEST_PAIRS:
                raise TooManyPairs
            parent, a = links.expand(w[:, edge])
            w, v = w[parent], v[parent]
            parent, b = links.expand(v[:, edge])
            a = a[parent]
            usable = (a != b) & alive[position][a] & alive[position][b]
            usable &= ~(links.contains(w[parent, edge], b) | links.contains(v[parent, edge], a))
            parent, a, b = parent[usable], a[usable][:, None], b[usable][:, None]
            joined = (a, w[parent]), (b, v[parent])
            w, v = (np.hstack(columns if backwards else columns[::-1]) for columns in joined)
        return w, v

    def bound(
        self, theta: float, prefixes: list[Box], suffixes: list[Box], kept: KeptPairs, kept_after: KeptPairs
    ) -> float:
        """The largest log Z(v)/Z(w) over one run of this length; -inf if no run of this length needs a bound.

        `prefixes[i]` is the box after i+1 symbols and `suffixes[j]` the one of the position that j symbols follow.
        """
        run = self.run
        if self.places is None:
            return run * theta
        # Additions for one pair, roughly; single symbols are much cheaper.
        for_each = 1 if run == 1 else kept.pairs.count // self.chain.symbol_count * run * (run + 1) * (run + 2)
        places = {
            (id(w), id(prefix), id(suffix)): (w, v, prefix, suffix)
            for (w, v), prefix, suffix in zip(self.places, prefixes, suffixes[self._length - run :: -1], strict=False)
            if len(w)
        }
        if sum(len(w) * for_each for w, *_ in places.values()) > _LARGEST_WORK:
            return run * theta
        groups: dict[int, list[Place]] = {}
        for place in places.values():
            groups.setdefault(id(place[0]), []).append(place)
        largest = [self._largest_quotient(group, tilt_factor(theta), kept, kept_after) for group in groups.values()]
        changes = [max(0.0, log(one) + 2 * self._slack) if one > 0 else 0.0 for one in largest]
        return max([*changes, 0.0 if self._is_whole_word else -inf])

    @property
    def _slack(self) -> float:
        """The sums have r+1 stages of at most m terms each, and few operations beside: more than their rounding."""
        return rounding_margin((self.chain.symbol_count + 64) * (self.run + 1))

    def _largest_quotient(self, places: list[Place], z: float, kept: KeptPairs, kept_after: KeptPairs) -> float:
        """The largest Z(v)/Z(w) at some places that have the same pairs of runs.

        Boxes that hold at all of these places say which pairs may be the worst. The others need not be looked at once
        a worse one is known.
        """
        w, v, _, _ = places[0]
        if self.run == 1:
            from pathveil.words.certificate.ratio_kernels import largest_quotient_of_single_symbols

            return max(
                float(largest_quotient_of_single_symbols(w[:, 0], v[:, 0], *boxes, z, self._slack))
                for boxes in (_arrays(prefix, suffix, kept, kept_after) for _, _, prefix, suffix in places)
            )
        everywhere = united([prefix for _, _, prefix, _ in places]), united([suffix for _, _, _, suffix in places])
        at_most = self._quotients(w, v, *everywhere, z, kept, kept_after)
        worst_first = np.argsort(-at_most, kind="stable")
        w, v, at_most = w[worst_first], v[worst_first], at_most[worst_first]
        largest, begin, number = 0.0, 0, _TOGETHER
        while begin < len(w) and at_most[begin] > largest:
            some = slice(begin, begin + number)
            for _, _, prefix, suffix in places:
                found = self._quotients(w[some], v[some], prefix, suffix, z, kept, kept_after)
                largest = max(largest, float(found.max()))
            begin, number = begin + number, 4 * number
        return largest

    def _quotients(
        self, w: IntArray, v: IntArray, prefix: Box, suffix: Box, z: float, kept: KeptPairs, kept_after: KeptPairs
    ) -> FloatArray:
        """A bound on Z(v)/Z(w) for each of these pairs of runs of several symbols, at one place."""
        from pathveil.words.certificate.run_kernel import largest_quotients

        links = [(links.offsets, links.symbols) for links in (self.chain.successors, self.chain.predecessors)]
        rows = kept.pairs.offsets[w[:, 0]], kept_after.pairs.offsets[w[:, -1]]
        quotients: FloatArray = largest_quotients(w, v, *_arrays(prefix, suffix, kept, kept_after), *links, z, *rows)
        return quotients


def _arrays(prefix: Box, suffix: Box, kept: KeptPairs, kept_after: KeptPairs) -> list[BoxArrays]:
    """Two boxes as the compiled loops take them."""
    return [
        (box.lo, box.hi, box.dropped, pairs.pairs.offsets, pairs.pairs.symbols)
        for box, pairs in ((prefix, kept), (suffix, kept_after))
    ]
