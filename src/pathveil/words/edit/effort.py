"""What the table of a word will cost, before it is made: nodes, seconds and bytes, from public quantities.

The nodes are counted for a word of the public system, with caps from 1 on, as long as that is done soon. Beyond, the
growth from one cap to the next is extrapolated: its logarithm falls by the same factor from cap to cap. On free
alphabets of 11 and 26 symbols and on the example town, estimates were within a factor of 3 (`python
benchmarks/edits.py` prints them beside what was measured).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log

from pathveil.errors import TooLargeError
from pathveil.numerics.arrays import IntArray
from pathveil.words.edit.length_range import LengthRange
from pathveil.words.edit.tables import EditTables

_LOOKED_AT = 1 << 20  # numbers in the largest table that is made for an estimate: less than half a second
_MOST = 500.0  # the largest logarithm of a number of nodes
_SLOWER = 2.5  # growth falls by no more than this share of the length: with long words it goes on for long
_NARROW_LINK = 45e-9  # seconds, for caps below 8,
_WIDE_LINK = 100e-9  # and from 8 on, where there are 10^5 links: more of them leave the caches
_ADDITION = 0.5e-9  # for each of the numbers behind a link
_A_WORD = 20e-6  # seconds for what does not depend on the table
_NODE, _LINK, _NUMBER = 16, 8, 8  # bytes


@dataclass(frozen=True)
class EditEffort:
    """What one word takes that has not occurred before: nodes of its table, seconds of one processor, bytes."""

    cap: int
    nodes: float
    seconds: float
    memory: float


class EditEfforts:
    """`at(cap)` is the effort for this public word and words like it."""

    def __init__(self, words: LengthRange, codes: IntArray) -> None:
        self._words = words
        self._codes = codes
        self._counted: dict[int, tuple[int, int]] = {}  # {cap: nodes and links}
        self._too_large: int | None = None

    def at(self, cap: int) -> EditEffort:
        """The effort with this cap."""
        nodes, links = self._size(cap)
        a_link = _NARROW_LINK if cap < 8 else _WIDE_LINK * max(links / 1e5, 1.0) ** 0.2
        columns = (cap + 8) // 8 * 8 if self._words.limbs == 1 else (cap + 1) * self._words.limbs
        memory = nodes * (_NODE + _NUMBER * columns) + links * _LINK
        return EditEffort(cap, nodes, _A_WORD + links * (a_link + columns * _ADDITION), memory)

    def largest_cap(self, seconds: float) -> int | None:
        """The largest cap with which a word takes no longer than that; None if there is none."""
        caps = [cap for cap in range(1, self._words.hi + 1) if self.at(cap).seconds <= seconds]
        return max(caps, default=None)

    def _size(self, cap: int) -> tuple[float, float]:
        """Nodes and links of the table."""
        for one in range(1, cap + 1):
            if one not in self._counted and (self._too_large is None or one < self._too_large):
                self._count(one)
        if cap in self._counted:
            return self._counted[cap]
        if not self._counted:
            return float(_LOOKED_AT), float(_LOOKED_AT)
        last = max(self._counted)
        nodes, links = self._counted[last]
        grown = log(nodes)
        growth, slower = self._growth(last)
        for _ in range(cap - last):
            growth *= slower
            grown = min(grown + growth, _MOST)
        return exp(grown), exp(grown) * links / nodes

    def _growth(self, last: int) -> tuple[float, float]:
        """By how much the logarithm of the nodes grew with the last cap, and what becomes of that with the next."""
        # Caps from 8 on keep nodes that smaller ones leave out, so a step across is no growth.
        logs = [log(self._counted[cap][0]) for cap in range(8 if last >= 10 else 2, last + 1)]
        least = max(1 - _SLOWER / len(self._codes), 0.5)
        if len(logs) < 3:
            return log(3.0), least
        before, growth = logs[-2] - logs[-3], logs[-1] - logs[-2]
        return growth, min(max(growth / before, least), 1.0) if before > 0 else least

    def _count(self, cap: int) -> None:
        try:
            tables = EditTables(self._words, [self._codes], cap, _LOOKED_AT)
        except TooLargeError:
            self._too_large = cap
        else:
            self._counted[cap] = max(len(tables.graphs[1]) - 1, 1), len(tables.graphs[2])
