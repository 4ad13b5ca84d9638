"""What private models of sequences are compared with. Its noise is good enough to compare, not to release.

* `private_tree`: PrivTree for sequences (Zhang, Xiao, Xie: PrivTree, 2016), written anew. A tree of contexts grows
  where a noisy score says so; the noise does not depend on the depth. The other half of ε goes to the leaves. Its rows
  are estimated as ours are, so what differs is how the tree grows, and what is counted.
* `full_order`: Laplace noise on all counts of (last k symbols, next), nothing else.
* `PlainChain`: the first-order chain of `pv.fit_private_chain` with its own law of lengths.

Words have at most L symbols and so at most L events: each symbol, and the end where it comes before L.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import pathveil as pv
from pathveil.models.counting import WordCounts
from pathveil.models.sequences import CodedWords
from pathveil.models.sequences.contexts import drawn_to_expected

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Events:
    """All events of a set of words: whose they are, at which place, what comes, and how often."""

    words: CodedWords
    word: Ints
    place: Ints
    following: Ints
    times: Ints
    symbols: int

    @classmethod
    def of(cls, words: CodedWords, symbols: int, longest: int) -> Events:
        words = words.cut(longest).distinct()
        events = np.minimum(words.lengths + 1, longest)
        word = np.repeat(np.arange(len(words)), events)
        place = np.arange(len(word)) - np.repeat(np.cumsum(events) - events, events)
        ends = place == words.lengths[word]
        following = np.full(len(word), symbols)
        following[~ends] = words.values[(words.offsets[word] + place)[~ends]]
        return cls(words, word, place, following, words.times[word], symbols)

    def back(self, steps: int, chosen: Ints) -> Ints:
        """The symbol so many steps before each chosen event; one more than the last symbol before the word begins."""
        at = self.place[chosen] - steps
        found = self.words.values[np.maximum(self.words.offsets[self.word[chosen]] + at, 0)]
        return np.where(at >= 0, found, self.symbols)


@dataclass(frozen=True)
class ContextTree:
    """What follows a context depends on the deepest node that its last symbols lead to.

    `children[node, symbol]` is the node one symbol further back, -1 where there is none; after the symbols comes the
    begin of the word. `rows[node]` are the probabilities of the symbols and of the end.
    """

    children: Ints
    rows: Floats
    depth: int
    longest: int

    def log_loss(self, words: CodedWords) -> float:
        """Nats per event."""
        events = Events.of(words, self.rows.shape[1] - 1, self.longest)
        everything = np.arange(len(events.word))
        node = np.zeros(len(events.word), dtype=np.int64)
        for steps in range(1, self.depth + 1):
            child = self.children[node, events.back(steps, everything)]
            node = self._deeper(node, child, steps, events.place)
        logs = np.log(self.rows[node, events.following])
        return float(-(logs * events.times).sum() / events.times.sum())

    def synthesize(self, count: int, random: np.random.Generator) -> CodedWords:
        """So many words; a word has at least one symbol."""
        symbols = self.rows.shape[1] - 1
        cumulated = np.cumsum(self.rows, axis=1)
        words = np.full((count, self.longest), symbols)
        active = np.arange(count)
        lengths = np.full(count, self.longest)
        for place in range(self.longest):
            node = np.zeros(len(active), dtype=np.int64)
            for steps in range(1, min(self.depth, place + 1) + 1):
                before = words[active, place - steps] if steps <= place else np.full(len(active), symbols)
                node = self._deeper(node, self.children[node, before], steps, np.full(len(active), place))
            most = cumulated[node, -1 if place else -2]
            drawn = (cumulated[node] <= (random.random(len(active)) * most)[:, None]).sum(axis=1)
            drawn = np.minimum(drawn, symbols if place else symbols - 1)
            lengths[active[drawn == symbols]] = place
            words[active, place] = drawn
            active = active[drawn < symbols]
        return flattened(words, lengths)

    @staticmethod
    def _deeper(node: Ints, child: Ints, steps: int, place: Ints) -> Ints:
        """A step down where there is a child, and the symbols are not used up."""
        return np.where((child >= 0) & (steps <= place + 1), child, node)


def flattened(words: Ints, lengths: Ints) -> CodedWords:
    """Words that stand in the lines of a table."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return CodedWords.from_arrays(words[np.arange(words.shape[1]) < lengths[:, None]], offsets)


class _Growing:
    """A tree in the making: each event stands at a leaf."""

    def __init__(self, events: Events) -> None:
        self.events, self.fan = events, events.symbols + 1
        self.node = np.zeros(len(events.word), dtype=np.int64)
        self.children: list[Ints] = [np.full(self.fan, -1)]
        self.parents, self.closed = [-1], [False]

    def histograms(self) -> Floats:
        """What follows, by the node at which the events stand."""
        flat = np.bincount(
            self.node * self.fan + self.events.following, self.events.times, len(self.parents) * self.fan
        )
        return flat.reshape(-1, self.fan)

    def split(self, nodes: list[int], depth: int) -> list[int]:
        """Give each node all its children, and move the events that stand there. The new nodes that can be split."""
        place = np.full(len(self.parents), -1)
        new = []
        for node in nodes:
            place[node] = len(self.parents)
            self.children[node] = np.arange(self.fan) + len(self.parents)
            self.parents += [node] * self.fan
            self.closed += [False] * (self.fan - 1) + [True]  # nothing comes before the begin
            self.children += [np.full(self.fan, -1) for _ in range(self.fan)]
            new += self.children[node][:-1].tolist()
        moving = np.flatnonzero(place[self.node] >= 0)
        self.node[moving] = place[self.node[moving]] + self.events.back(depth + 1, moving)
        return new

    def noisy(self, scale: float, random: np.random.Generator) -> tuple[Floats, Ints]:
        """Counts with noise on the leaves; nodes above have the sums. And how many noisy leaves are in each sum."""
        counts = self.histograms()
        leaves = np.array([child[0] < 0 for child in self.children])
        counts[leaves] += random.laplace(0, scale, (int(leaves.sum()), self.fan))
        below = leaves.astype(np.int64)
        for node in range(len(self.parents) - 1, 0, -1):
            counts[self.parents[node]] += counts[node]
            below[self.parents[node]] += below[node]
        return counts, below

    def plain(self, scale: float, depth: int, longest: int, random: np.random.Generator) -> ContextTree:
        """The noisy counts without negative ones. A thousandth goes to all symbols alike: none is ruled out."""
        counts, _ = self.noisy(scale, random)
        rows = 0.999 * _nearest_rows(counts, counts.sum(axis=1)) + 0.001 / self.fan
        return ContextTree(np.array(self.children), rows, depth, longest)

    def corrected(self, scale: float, depth: int, longest: int, random: np.random.Generator) -> ContextTree:
        """Each row between its own noisy counts and the row above, as far as noise asks for it: by our own estimate."""
        counts, below = self.noisy(scale, random)
        totals = np.maximum(counts.sum(axis=1), 0.0)
        rows = np.empty_like(counts)
        rows[0] = np.maximum(counts[0], 1.0) / np.maximum(counts[0], 1.0).sum()
        parents = np.array(self.parents)
        here = np.flatnonzero(parents == 0)
        while len(here):
            row = np.repeat(np.arange(len(here)), self.fan)
            variance = np.repeat(2 * scale**2 * below[here].astype(float), self.fan)
            expected = rows[parents[here]].ravel()
            shares, _ = drawn_to_expected(row, len(here), counts[here].ravel(), variance, expected, totals[here])
            rows[here] = shares.reshape(-1, self.fan)
            here = np.flatnonzero(np.isin(parents, here))
        return ContextTree(np.array(self.children), rows, depth, longest)


def _nearest_rows(counts: Floats, totals: Floats) -> Floats:
    """The nearest counts without a negative one that have these totals, as probabilities."""
    wanted = np.maximum(totals, 1e-9)
    down = -np.sort(-counts, axis=1)
    less = (np.cumsum(down, axis=1) - wanted[:, None]) / np.arange(1, counts.shape[1] + 1)
    last = (down > less).sum(axis=1) - 1
    positive = np.maximum(counts - less[np.arange(len(counts)), last][:, None], 0)
    return positive / positive.sum(axis=1, keepdims=True)


def full_order(words: CodedWords, symbols: int, longest: int, epsilon: float, order: int, seed: int) -> ContextTree:
    """All contexts of so many symbols, with noise for words of up to `longest` events (add-remove)."""
    growing, nodes = _Growing(Events.of(words, symbols, longest)), [0]
    for depth in range(order):
        nodes = growing.split(nodes, depth)
    return growing.plain(longest / epsilon, order, longest, np.random.default_rng(seed))


def private_tree(words: CodedWords, symbols: int, longest: int, epsilon: float, seed: int) -> ContextTree:
    """PrivTree for sequences (add-remove): threshold 0, half of ε for the tree, half for the counts of the leaves.

    The score of a context is how often it occurs with another symbol after it than the commonest: where one symbol
    nearly always follows, there is nothing to learn from a longer context. A word changes scores along one path of the
    tree for each of its events, at most `longest`. The score loses `decay` with each symbol and never falls below
    minus `decay` under the threshold, so that noise of one scale is enough for paths of any length. A node is divided
    by all symbols where its score with noise exceeds the threshold.

    What the published method does not have: rows are drawn to the row above by our own estimate where noise is larger
    than what they say (without it, rows of small leaves are noise, and all figures are worse).
    """
    random, growing = np.random.default_rng(seed), _Growing(Events.of(words, symbols, longest))
    fan = growing.fan
    scale = (2 * fan - 1) / (fan - 1) * longest / (epsilon / 2)
    decay = scale * np.log(fan)
    nodes, depth = [0], 0
    while depth < longest:
        counts = growing.histograms()[nodes]
        score = np.maximum(counts.sum(axis=1) - counts.max(axis=1) - depth * decay, -decay)
        wanted = score + random.laplace(0, scale, len(nodes)) > 0
        chosen = [node for node, yes in zip(nodes, wanted.tolist(), strict=True) if yes]
        if not chosen:
            break
        nodes, depth = growing.split(chosen, depth), depth + 1
    return growing.corrected(longest / (epsilon / 2), depth, longest, random)


class PlainChain:
    """`pv.fit_private_chain` for whole words, with first symbols and lengths."""

    def __init__(
        self, words: CodedWords, symbols: int, longest: int, epsilon: float, seed: int, *, neighbours: str,
        delta: float | None = None,
    ) -> None:  # fmt: skip
        words = words.cut(longest)
        inside = np.ones(len(words.values), dtype=bool)
        inside[words.offsets[:-1]] = False
        to = np.flatnonzero(inside)
        times = np.repeat(words.times, words.lengths)[to]
        pairs = np.bincount(words.values[to - 1] * symbols + words.values[to], times, symbols**2)
        first = np.bincount(words.values[words.offsets[:-1]], words.times, symbols)
        counts = WordCounts(
            pairs.reshape(symbols, symbols).astype(np.int64), first.astype(np.int64), words.length_counts(longest)
        )
        self.model = pv.fit_private_chain(
            counts, states=range(symbols), epsilon=epsilon, delta=delta, unit="word", max_length=longest,
            neighbours=neighbours, split={"transitions": 0.8, "first": 0.1, "lengths": 0.1}, rng=pv.insecure_seed(seed),
        )  # type: ignore[call-overload]  # fmt: skip
        self.longest, self.symbols = longest, symbols
        self.steps = self.model.chain.matrix.toarray()

    def log_loss(self, words: CodedWords) -> float:
        """Nats per event; a step of which the noisy chain knows nothing gets a millionth, so that it stays finite."""
        words = words.cut(self.longest)
        inside = np.ones(len(words.values), dtype=bool)
        inside[words.offsets[:-1]] = False
        to = np.flatnonzero(inside)
        logs = np.log(np.maximum(self.steps[words.values[to - 1], words.values[to]], 1e-6)).sum()
        logs += np.log(np.maximum(self.model.first[words.values[words.offsets[:-1]]], 1e-6)).sum()
        law = np.pad(self.model.lengths, (0, self.longest - len(self.model.lengths)))
        logs += np.log(np.maximum(law[words.lengths - 1], 1e-6)).sum()
        return float(-logs / np.minimum(words.lengths + 1, self.longest).sum())

    def synthesize(self, count: int, random: np.random.Generator) -> CodedWords:
        """So many words: first symbols, steps and lengths drawn by their own laws."""
        law = np.asarray(self.model.lengths)
        lengths = random.choice(len(law), count, p=law / law.sum()) + 1
        words = np.zeros((count, self.longest), dtype=np.int64)
        first = np.asarray(self.model.first)
        words[:, 0] = random.choice(self.symbols, count, p=first / first.sum())
        cumulated = np.cumsum(self.steps, axis=1)
        for place in range(1, self.longest):
            going = np.flatnonzero(lengths > place)
            drawn = (cumulated[words[going, place - 1]] <= random.random(len(going))[:, None]).sum(axis=1)
            words[going, place] = np.minimum(drawn, self.symbols - 1)
        return flattened(words, lengths)
