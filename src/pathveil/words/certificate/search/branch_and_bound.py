"""The largest change of log Z over one run, by branch and bound: only what attains the maximum is looked at closely.

A *node* is a pair of runs with a context on either side (`context_tree`). It stands for all pairs of feasible words
that have the runs and the contexts; the boxes of the two contexts bound Z(v)/Z(w) for all of them. A node is split by
making one of its contexts longer: every pair of words of the node belongs to one of the new ones. The bound of a search
is the largest bound of all nodes that are left at its end, so it may end at any time. The node with the largest bound
is followed down to two whole words now and then, whose change of log Z says what no proof can go below.

Nothing depends on a clock: budgets are numbers of nodes. (docs/certified.md, "Branch and bound")
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pathveil.numerics.arrays import BoolArray, FloatArray, IntArray
from pathveil.words.certificate.search.concrete_words import WordLengths, change_of_log_z, climbed
from pathveil.words.certificate.search.context_tree import ContextTree
from pathveil.words.certificate.search.whole_contexts import whole_contexts

_TOLERANCE = 0.03  # a bound that exceeds a change found by no more than this share of it is good enough
_WORK = 500  # in dense systems longer contexts cost more than nodes: so much work on them counts as one node
_BATCH = 1_024  # nodes that are split together
_WORTH_CLIMBING = 0.5  # words whose change is smaller than the best by more than this share are left alone
_PASSED = 300_000_000  # transitions that are passed, at most, to see how much log Z changes between words
_DIVE = 60  # splits on the way to two whole words


@dataclass(frozen=True)
class Nodes:
    """One entry for each node: its pair of runs, its contexts, its bound, and whether to split its prefix next."""

    pair: IntArray
    prefix: IntArray
    suffix: IntArray
    bound: FloatArray
    splits_prefix: BoolArray

    def __len__(self) -> int:
        return len(self.pair)

    def at(self, chosen: IntArray | BoolArray) -> Nodes:
        return Nodes(
            self.pair[chosen], self.prefix[chosen], self.suffix[chosen], self.bound[chosen], self.splits_prefix[chosen]
        )

    @classmethod
    def joined(cls, parts: list[Nodes]) -> Nodes:
        return cls(
            np.concatenate([part.pair for part in parts]),
            np.concatenate([part.prefix for part in parts]),
            np.concatenate([part.suffix for part in parts]),
            np.concatenate([part.bound for part in parts]),
            np.concatenate([part.splits_prefix for part in parts]),
        )


@dataclass(frozen=True)
class Outcome:
    """No change of log Z exceeds `bound`, and some pair of words has the change `found`."""

    bound: float
    found: float
    nodes: int


class BranchAndBound:
    """The search among some pairs of runs of one length, w replaced by v, one pair in each row."""

    def __init__(
        self, w: IntArray, v: IntArray, prefixes: ContextTree, suffixes: ContextTree, lengths: WordLengths,
        theta: float, z: float,
    ) -> None:  # fmt: skip
        self.w, self.v = w, v
        self.prefixes, self.suffixes = prefixes, suffixes
        self._lengths = lengths
        self._theta, self._z = theta, z
        self.run = w.shape[1]
        self._goal = self._best = 0.0
        passes = lengths.length * prefixes.chain.successors.count
        self._most_dives = max(_PASSED // max(passes, 1), 2)

    def roots(self) -> Nodes:
        """One node for each pair of runs, about whose contexts nothing is said."""
        number = len(self.w)
        return self._bounded(
            np.arange(number), self.w[:, 0].copy(), self.w[:, -1].copy(), np.full(number, self.run * self._theta)
        )

    def search(self, ceiling: float, *, enough: float = 0.0, too_much: float = np.inf, budget: int) -> Outcome:
        """Split until the bound is at most `enough` or close to a change found, or a change exceeds `too_much`.

        `ceiling` is a bound that is known already.
        """
        nodes = self.roots()
        settled, found, spent, rounds, dives = 0.0, 0.0, 0, 0, 0
        self.prefixes.begin()
        self.suffixes.begin()
        self._goal = self._best = 0.0
        while len(nodes):
            if (rounds & (rounds - 1) == 0 or rounds % 16 == 0) and dives < self._most_dives:
                dives += 1
                change, more = self._dive(nodes.at(np.array([int(nodes.bound.argmax())])))
                found, spent = max(found, change), spent + more
            whole = nodes.at(~(self.prefixes.can_grow(nodes.prefix) | self.suffixes.can_grow(nodes.suffix)))
            if len(whole) and whole.bound.max() > found:
                found = max(found, self._change(whole.at(np.array([int(whole.bound.argmax())]))))
            self._goal = max(enough, found * (1 + _TOLERANCE))
            done = nodes.bound <= self._goal
            done |= ~(self.prefixes.can_grow(nodes.prefix) | self.suffixes.can_grow(nodes.suffix))
            settled = max(settled, float(nodes.bound[done].max(initial=0.0)))
            nodes = nodes.at(~done)
            worked = self.prefixes.work + self.suffixes.work
            if not len(nodes) or found > too_much or settled >= ceiling or max(spent, worked // _WORK) >= budget:
                break
            number = min(_BATCH, len(nodes))
            chosen = np.zeros(len(nodes), dtype=bool)
            chosen[np.argpartition(-nodes.bound, number - 1)[:number]] = True
            parts = self.split(nodes.at(chosen))
            spent += len(parts)
            nodes = Nodes.joined([nodes.at(~chosen), parts])
            rounds += 1
        bound = max(settled, float(nodes.bound.max(initial=0.0)))
        return Outcome(min(bound, ceiling), found, spent)

    def split(self, nodes: Nodes) -> Nodes:
        """Nodes that together stand for the same pairs of words, each with one context longer or closed."""
        prefix_can, suffix_can = self.prefixes.can_grow(nodes.prefix), self.suffixes.can_grow(nodes.suffix)
        by_prefix = prefix_can & (nodes.splits_prefix | ~suffix_can)
        parts = [nodes.at(~prefix_can & ~suffix_can)]
        for tree, chosen in ((self.prefixes, by_prefix), (self.suffixes, suffix_can & ~by_prefix)):
            if not chosen.any():
                continue
            parent = nodes.at(chosen)
            own = parent.prefix if tree is self.prefixes else parent.suffix
            tree.grow(own)
            number = tree.children[own]
            stuck = tree.first_child[own] < 0  # there would have been too much work
            parts.append(parent.at(stuck))
            owner = np.repeat(np.arange(len(own)), number)
            child = tree.first_child[own][owner] + np.arange(len(owner)) - (np.cumsum(number) - number)[owner]
            fits = self._fits(tree, child, parent.pair[owner])
            owner, child = owner[fits], child[fits]
            prefix, suffix = (child, parent.suffix[owner]) if tree is self.prefixes else (parent.prefix[owner], child)
            possible = self._can_happen(parent.pair[owner], prefix, suffix)
            parts.append(
                self._bounded(
                    parent.pair[owner][possible], prefix[possible], suffix[possible], parent.bound[owner][possible]
                )
            )
        return Nodes.joined(parts)

    def _fits(self, tree: ContextTree, child: IntArray, pair: IntArray) -> BoolArray:
        """May the symbol next to the run stand beside v, too? (Children were made for w.)"""
        edge = self.v[pair, 0 if tree is self.prefixes else -1]
        closed = tree.is_closed[child]
        beside = tree.chain.predecessors.contains(edge, tree.symbol[child])
        fits: BoolArray = np.where(
            tree.depth[child] == 0, tree.chain.first[edge], (tree.depth[child] > 1) | closed | beside
        )
        return fits

    def _can_happen(self, pair: IntArray, prefix: IntArray, suffix: IntArray) -> BoolArray:
        from pathveil.words.certificate.search.word_kernel import can_happen

        w, v, lengths = self.w[pair], self.v[pair], self._lengths
        sides = [
            (tree.symbol[own], tree.depth[own], tree.is_closed[own])
            for tree, own in ((self.prefixes, prefix), (self.suffixes, suffix))
        ]
        # Contiguous for runs of any length, since the loop is compiled once for each layout.
        ends = tuple(np.ascontiguousarray(one[:, end]) for end in (0, -1) for one in (w, v))
        answer: BoolArray = can_happen(
            *sides, ends, lengths.before, lengths.after, self.run, lengths.length, lengths.up_to
        )
        return answer

    def _bounded(self, pair: IntArray, prefix: IntArray, suffix: IntArray, known: FloatArray) -> Nodes:
        """Nodes with their bounds, which are no larger than what is known already."""
        before, after, near = self.prefixes, self.suffixes, self.prefixes.near
        rows = before.row[prefix], after.row[suffix]
        w, v = self.w[pair], self.v[pair]
        # As in `Runs`: more than the rounding of the sums over one stage for each symbol of the run.
        slack = (before.chain.symbol_count + 64) * (self.run + 1) * 2.0**-51
        if self.run == 1:
            from pathveil.words.certificate.search.context_kernel import single_bounds

            largest, if_prefix, if_suffix = single_bounds(
                w[:, 0], v[:, 0], *rows, (near.offsets, near.symbols), (before.lo, before.hi), (after.lo, after.hi),
                self._z, slack,
            )  # fmt: skip
            splits_prefix = if_prefix <= if_suffix
            if before.is_free and after.is_free:
                worth = np.flatnonzero(np.log(np.maximum(largest, 1.0)) > self._goal)
                enough = np.exp(self._goal) * (1 - 2 * slack)
                whole = whole_contexts(before, after, prefix[worth], suffix[worth], v[worth, 0], self._z, enough)
                decides = whole.keeps_both & (whole.bound < largest[worth])
                splits_prefix[worth] = np.where(decides, whole.splits_prefix, splits_prefix[worth])
                largest[worth] = np.minimum(largest[worth], whole.bound)
        else:
            from pathveil.words.certificate.run_kernel import largest_quotients

            boxes = [(tree.lo, tree.hi, tree.beyond, near.offsets, near.symbols) for tree in (before, after)]
            links = [(links.offsets, links.symbols) for links in (before.chain.successors, before.chain.predecessors)]
            largest = largest_quotients(w, v, *boxes, *links, self._z, *rows)
            splits_prefix = before.depth[prefix] <= after.depth[suffix]
        bound = np.log(np.maximum(largest, 1.0)) + 2 * slack
        # Where a bound came out as no number, what is known already stands.
        return Nodes(pair, prefix, suffix, np.fmin(bound, known), splits_prefix)

    def _dive(self, node: Nodes) -> tuple[float, int]:
        """(change of log Z between two words that a node leads to, nodes looked at): always on to the largest bound."""
        spent = 0
        for _ in range(_DIVE):
            parts = self.split(node)
            spent += len(parts)
            if not len(parts):
                return 0.0, spent
            following = parts.at(np.array([int(parts.bound.argmax())]))
            if following.prefix[0] == node.prefix[0] and following.suffix[0] == node.suffix[0]:
                break
            node = following
        return self._change(node), spent

    def _change(self, node: Nodes) -> float:
        """How much log Z changes between two of the words of a node; 0 if it has none."""
        pair, prefix, suffix = int(node.pair[0]), int(node.prefix[0]), int(node.suffix[0])
        words = self._lengths.completed(
            self.prefixes.symbols_of(prefix),
            bool(self.prefixes.is_closed[prefix]),
            (self.w[pair].tolist(), self.v[pair].tolist()),
            self.suffixes.symbols_of(suffix),
            bool(self.suffixes.is_closed[suffix]),
        )
        if words is None:
            return 0.0
        change = change_of_log_z(self.prefixes.chain, *words, self._z)
        if not self.prefixes.is_free or change < self._best * (1 - _WORTH_CLIMBING):
            return change
        better = climbed(self.prefixes.chain, *words, self._z)
        self._best = max(self._best, change, change_of_log_z(self.prefixes.chain, *better, self._z))
        return self._best
