"""Draws by marks and gaps without rounding and without a remainder: what the compiled loop leaves in doubt.

The same decisions from the same random numbers, in the same order (marks_kernel.py): counts are exact integers, weights
are balls that hold what rounding and longer gaps may add. Where a ball is too wide to decide, gaps twice as long are
looked at, up to the whole word; then there is no remainder any more, and more digits decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pathveil.numerics.arrays import IntArray
from pathveil.randomness.decisions import InDoubtError, with_enough_digits
from pathveil.randomness.lazy import LazyUniform
from pathveil.words.local.growth import LocalWorld

if TYPE_CHECKING:
    from flint import arb

Level = dict[int, int]


def draw_exactly_by_marks(
    world: LocalWorld, codes: IntArray, z: float, reach: int, uniforms: Sequence[LazyUniform]
) -> list[int]:
    """The private word for a feasible word, from one random number for each position and one more."""
    counts = _ExactCounts(world)
    route = [world.compiled.start, *world.entered[codes].tolist()]

    def decide(bits: int) -> list[int]:
        gap = min(reach, len(codes))
        while True:
            try:
                return _Marks(counts, route, z, gap).walk(uniforms, bits)
            except InDoubtError:
                if gap == len(codes):
                    raise
                gap = min(2 * gap, len(codes))

    states = with_enough_digits(decide)
    symbol = {state: code for code, state in enumerate(world.entered.tolist()) if state in set(states)}
    return [symbol[state] for state in states]


class _ExactCounts:
    """Walks counted in integers, each level of them once."""

    def __init__(self, world: LocalWorld) -> None:
        self.world = world
        compiled = world.compiled
        self._edges = {True: world.forward_edges, False: world.backward_edges}
        self._levels: dict[tuple[int, bool], list[Level]] = {}
        start = compiled.start
        self._first = frozenset(compiled.targets[compiled.offsets[start] : compiled.offsets[start + 1]].tolist())

    def neighbours(self, state: int, *, forwards: bool) -> list[int]:
        offsets, ends = self._edges[forwards]
        found: list[int] = ends[offsets[state] : offsets[state + 1]].tolist()
        return found

    def level(self, state: int, steps: int, *, forwards: bool) -> Level:
        """{other state: number of walks of so many steps from here to it, or from it to here}."""
        levels = self._levels.setdefault((state, forwards), [{state: 1}])
        while len(levels) <= steps:
            following: Level = {}
            for x, ways in levels[-1].items():
                for y in self.neighbours(x, forwards=forwards):
                    following[y] = following.get(y, 0) + ways
            levels.append(following)
        return levels[steps]

    def between(self, x: int, y: int, steps: int) -> int:
        return self.level(y, steps, forwards=False).get(x, 0)

    def into(self, y: int, symbols: int) -> int:
        """The number of ways to y in so many symbols."""
        return sum(ways for x, ways in self.level(y, symbols - 1, forwards=False).items() if x in self._first)

    def onward(self, x: int, steps: int) -> int:
        """The number of ways to go on from x for so many symbols and be accepted."""
        accepting = self.world.compiled.accepting
        return sum(ways for y, ways in self.level(x, steps, forwards=True).items() if accepting[y])

    def all_from(self, x: int, steps: int) -> int:
        return sum(self.level(x, steps, forwards=True).values())

    def all_to(self, y: int, steps: int) -> int:
        return sum(self.level(y, steps, forwards=False).values())


class _Marks:
    """The sums over marks of one word, with gaps of up to `reach` steps."""

    def __init__(self, counts: _ExactCounts, route: list[int], z: float, reach: int) -> None:
        from flint import arb

        self._counts, self._route, self._reach = counts, route, reach
        self._length = len(route) - 1
        self._z: Any = arb(z)

    @cached_property
    def _terms(self) -> list[list[arb]]:
        """For each position the weights of the gaps 1, 2, …, and last of no further mark, or of what is left out."""
        from flint import arb

        n, k, z, counts, route = self._length, self._reach, self._z, self._counts, self._route
        ahead, behind = counts.world.forward, counts.world.backward
        anything = arb(0.5, 0.5)  # between nothing and all of it
        weight: list[Any] = [arb(0)] * (n + 1)
        weight[n] = arb(counts.onward(route[n], 0))
        terms: list[list[Any]] = [[] for _ in range(n)]
        missing = arb(0)
        for i in range(n - 1, -1, -1):
            for g in range(1, min(k, n - i) + 1):
                ways = counts.between(route[i], route[i + g], g) if i else counts.into(route[g], g)
                terms[i].append(ways * z ** (g - 1) * (1 - z) * weight[i + g])
            if n - i <= k:
                ways = counts.onward(route[i], n - i) if i else self._all_words()
                terms[i].append(ways * z ** (n - i))
            elif i:
                last = z ** (n - i) * ahead.factor * arb(ahead.rate) ** (n - i - k) if n - i == k + 1 else arb(0)
                missing = missing * z * ahead.rate + last
                missing += z**k * (1 - z) * ahead.factor * ahead.rate * weight[i + k + 1].upper()
                terms[i].append(anything * (missing * counts.all_from(route[i], k)).upper())
            else:
                left_out = counts.world.first_states * z * ahead.factor * (z * ahead.rate) ** (n - 1)
                for g in range(k + 1, n + 1):
                    bound = behind.factor * arb(behind.rate) ** (g - k) * counts.all_to(route[g], k)
                    left_out += z ** (g - 1) * (1 - z) * bound * weight[g].upper()
                terms[i].append(anything * left_out.upper())
            weight[i] = sum(terms[i][1:], terms[i][0])
        return terms

    def _all_words(self) -> int:
        """How many words there are; asked for only when gaps are as long as the word."""
        from pathveil.systems.uniform_words import count_words

        return count_words(self._counts.world.compiled, self._length)

    def walk(self, uniforms: Sequence[LazyUniform], bits: int) -> list[int]:
        """The states of the private word; an InDoubtError where balls are too wide."""
        n, counts, route = self._length, self._counts, self._route
        states, i = [-1] * (n + 1), 0
        while i < n:
            terms = self._terms[i]
            gap = uniforms[i].cut(terms, bits) + 1
            if gap == len(terms):
                if n - i > self._reach:
                    raise InDoubtError  # a mark beyond the reach, or none
                self._go_on(states, i, uniforms)
                break
            states[i + gap] = y = route[i + gap]
            if i == 0:
                self._come_from(states, gap, uniforms)
            else:
                x = route[i]
                for left in range(gap - 1, 0, -1):
                    following = counts.neighbours(x, forwards=True)
                    x = following[uniforms[i + gap - left].pick([counts.between(v, y, left) for v in following])]
                    states[i + gap - left] = x
            i += gap
        return states[1:]

    def _come_from(self, states: list[int], first: int, uniforms: Sequence[LazyUniform]) -> None:
        """The states before the first mark, from the last of them to the first."""
        x = states[first]
        for p in range(first - 1, 0, -1):
            before = self._counts.neighbours(x, forwards=False)
            x = states[p] = before[uniforms[p].pick([self._counts.into(v, p) for v in before])]

    def _go_on(self, states: list[int], last: int, uniforms: Sequence[LazyUniform]) -> None:
        """The states after the last mark; with no mark at all, a word of all there are."""
        x = self._route[last]
        for p in range(last + 1, self._length + 1):
            following = self._counts.neighbours(x, forwards=True)
            weights = [self._counts.onward(v, self._length - p) for v in following]
            x = states[p] = following[uniforms[p].pick(weights)]
