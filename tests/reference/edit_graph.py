"""The graph of all words by edit distance from one word, with dictionaries: what `edit_kernels` packs into arrays.

A node is (row, y): the capped distances of what is written from every beginning of the word, and the system's state.
Entries that cannot lead to a word closer than the cap are set to the cap, and rows with nothing else are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pathveil.systems.compiled import CompiledSystem

Row = tuple[int, ...]
Node = tuple[Row, int]
Way = tuple[int, int, tuple[int, ...]]  # kind (a symbol of the word, or all others), target, symbol codes


def edits_to_go(compiled: CompiledSystem, codes: Sequence[int], cap: int) -> dict[tuple[int, int], int]:
    """{(j, y): the fewest edits from state y to an accepted end when j symbols of the word are done}, at most cap.

    Every step there is, tried until nothing changes.
    """
    n, states = len(codes), range(compiled.state_count)
    least = {(j, y): 0 if j == n and compiled.accepting[y] else cap for j in range(n + 1) for y in states}
    changed = True
    while changed:
        changed = False
        for j, y in least:
            options = [least[j, to] + 1 for to in compiled.moves[y].values()]
            if j < n:
                options.append(least[j + 1, y] + 1)
                options += [least[j + 1, to] + (code != codes[j]) for code, to in compiled.moves[y].items()]
            if options and min(options) < least[j, y]:
                least[j, y] = min(options)
                changed = True
    return least


@dataclass
class EditGraph:
    """The nodes of layer i are the keys of `layers[i]`, in no order; their links are (way, next node or None: far)."""

    compiled: CompiledSystem
    codes: list[int]
    lo: int
    hi: int
    cap: int
    looks_ahead: bool
    """Whether entries are also left out where the system leads nowhere near, not only where lengths do."""
    layers: list[dict[Node, list[tuple[Way, Node | None]]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._to_go = edits_to_go(self.compiled, self.codes, self.cap) if self.looks_ahead else {}
        self._completions: dict[tuple[int, int], int] = {}
        self._values: dict[tuple[int, Node], list[int]] = {}
        layer = {self.initial}
        for i in range(self.hi + 1):
            self.layers.append({node: self._links(i, node) for node in layer})
            layer = {to for links in self.layers[-1].values() for _, to in links if to is not None}

    @property
    def initial(self) -> Node:
        return tuple(min(j, self.cap) for j in range(len(self.codes) + 1)), self.compiled.start

    def completions(self, i: int, y: int) -> int:
        """How many allowed words continue from state y after i symbols."""
        if (i, y) not in self._completions:
            ends = int(i >= self.lo and self.compiled.accepting[y])
            further = self.compiled.moves[y].values() if i < self.hi else ()
            self._completions[i, y] = ends + sum(self.completions(i + 1, to) for to in further)
        return self._completions[i, y]

    def ways(self, y: int) -> list[Way]:
        """Symbols of the word in order, then the others in bundles by where they lead."""
        moves = self.compiled.moves[y]
        symbols = sorted(set(self.codes))
        own = [(kind, moves[code], (code,)) for kind, code in enumerate(symbols) if code in moves]
        others: dict[int, list[int]] = {}
        for code in sorted(set(moves) - set(symbols)):
            others.setdefault(moves[code], []).append(code)
        return own + [(len(symbols), to, tuple(others[to])) for to in sorted(others)]

    def _links(self, i: int, node: Node) -> list[tuple[Way, Node | None]]:
        row, y = node
        links: list[tuple[Way, Node | None]] = []
        for way in self.ways(y) if i < self.hi else ():
            _, target, symbols = way
            if self.completions(i + 1, target):
                following = self._pruned(self._after(row, symbols[0]), i + 1, target)
                links.append((way, (following, target) if min(following) < self.cap else None))
        return links

    def _after(self, row: Row, code: int) -> Row:
        following = [row[0] + 1]
        for j, own in enumerate(self.codes, start=1):
            following.append(min(row[j - 1] + (own != code), row[j] + 1, following[-1] + 1))
        return tuple(min(entry, self.cap) for entry in following)

    def _pruned(self, row: Row, i: int, y: int) -> Row:
        kept = []
        for j, entry in enumerate(row):
            of_word = (
                len(self.codes) - j
            )  # symbols that are still to be accounted for; lo - i to hi - i will be written
            demanded = max(0, of_word - (self.hi - i), (self.lo - i) - of_word, self._to_go.get((j, y), 0))
            kept.append(entry if entry + demanded < self.cap else self.cap)
        return tuple(kept)

    def values(self, i: int, node: Node) -> list[int]:
        """How many allowed words continue from a node and end at distance 0, 1, ..., cap or more."""
        if (i, node) not in self._values:
            counts = [0] * (self.cap + 1)
            row, y = node
            if i >= self.lo and self.compiled.accepting[y]:
                counts[row[-1]] += 1
            for (_, target, symbols), to in self.layers[i][node]:
                if to is None:
                    counts[-1] += len(symbols) * self.completions(i + 1, target)
                else:
                    for distance, count in enumerate(self.values(i + 1, to)):
                        counts[distance] += len(symbols) * count
            self._values[i, node] = counts
        return self._values[i, node]

    def word_at(self, distance: int, rank: int) -> list[int]:
        """Word number `rank` of a class: shorter words before their continuations, then in the order of the links."""
        node: Node | None = self.initial
        y, written = self.compiled.start, []
        while True:
            i = len(written)
            if i >= self.lo and self.compiled.accepting[y] and (node is None or node[0][-1] == distance):
                if rank == 0:
                    return written
                rank -= 1
            if node is not None:
                branches = [(symbols, target, to) for (_, target, symbols), to in self.layers[i][node]]
            else:
                moves = self.compiled.moves[y]
                targets = sorted(set(moves.values()))
                branches = [(tuple(sorted(a for a in moves if moves[a] == to)), to, None) for to in targets]
            for symbols, target, to in branches:
                if to is not None:
                    share = self.values(i + 1, to)[distance]
                else:
                    share = self.completions(i + 1, target) if distance == self.cap else 0
                if rank < share * len(symbols):
                    written.append(symbols[rank // share])
                    rank, node, y = rank % share, to, target
                    break
                rank -= share * len(symbols)
            else:
                raise ValueError("there is no such word")
