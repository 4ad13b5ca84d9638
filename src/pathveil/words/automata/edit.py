"""The capped-row automaton of a word: a deterministic machine that knows the edit distance of whatever it reads.

LEV's Algorithm 1 builds the Levenshtein automaton of a word, in which a read word has many runs: one for each way to
turn it into the given word. Words must be counted once, so here the runs are followed all together. The state after
reading u is the row (d(u, w[:0]), ..., d(u, w[:n])) of the edit-distance table, every entry cut off at the cap c, and
two rows that agree after the cut are one state. The distance of u is the last entry.

The mechanisms follow these rows in compiled loops, in step with the system. This object is for looking at, for checking
and for measuring distances.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from pathveil.errors import InvalidParameterError
from pathveil.systems.system import Symbol, System, Word
from pathveil.words.edit import checked_cap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = tuple[int, ...]


class EditAutomaton:
    """Reads words over the symbols of a system and knows their edit distance from `word`, up to the cap.

    Rows are found when they are first needed: `step` costs O(n) once for each row and symbol, and symbols that do not
    occur in the word share one step. `states` and `edges` list everything that can be reached.

    The automaton is made from the sensitive word and shows it: it is for the curator, never for release.

    >>> import pathveil as pv
    >>> automaton = pv.EditAutomaton(pv.Alphabet("abcd"), "abc", cap=2)
    >>> automaton.initial, automaton.step(automaton.initial, "b")
    ((0, 1, 2, 2), (1, 1, 1, 2))
    >>> automaton.distance("bc"), automaton.distance("cab")
    (1, 2)
    >>> automaton
    EditAutomaton(length 3, cap 2: 13 states)
    """

    def __init__(self, world: System, word: Word, cap: int) -> None:
        if cap is None:
            raise InvalidParameterError("without a cap the automaton has no end of states; give the cap")
        self.world = world
        self._codes: list[int] = world.encode(word).tolist()
        self._kinds = {code: kind for kind, code in enumerate(dict.fromkeys(self._codes))}
        self.cap = checked_cap(cap, 1 << 30)
        self._steps: dict[tuple[Row, int], Row] = {}

    @property
    def length(self) -> int:
        """n, the length of the word."""
        return len(self._codes)

    @property
    def initial(self) -> Row:
        """The row before anything is read: nothing is j insertions away from the first j symbols."""
        return tuple(min(j, self.cap) for j in range(self.length + 1))

    @property
    def far(self) -> Row:
        """The row from which no word comes closer than the cap any more."""
        return (self.cap,) * (self.length + 1)

    def step(self, row: Row, symbol: Symbol) -> Row:
        """The row after reading one more symbol."""
        return self._step(row, int(self.world.encode([symbol])[0]))

    def _step(self, row: Row, code: int) -> Row:
        key = row, self._kinds.get(code, -1)
        if key not in self._steps:
            following = [min(row[0] + 1, self.cap)]
            for j, own in enumerate(self._codes, start=1):
                following.append(min(row[j - 1] + (own != code), row[j] + 1, following[-1] + 1, self.cap))
            self._steps[key] = tuple(following)
        return self._steps[key]

    def read(self, output: Word) -> Row:
        """The row after reading a whole word."""
        row = self.initial
        for code in self.world.encode(output).tolist():
            row = self._step(row, code)
        return row

    def distance(self, output: Word) -> int:
        """min(edit distance of the output from the word, cap)."""
        return self.read(output)[-1]

    @cached_property
    def edges(self) -> Mapping[tuple[Row, Row], tuple[Symbol, ...]]:
        """{(row, next row): the symbols that lead there}, for all rows that can be reached, `far` included."""
        found: dict[tuple[Row, Row], list[Symbol]] = {}
        waiting, seen = [self.initial], {self.initial}
        while waiting:
            row = waiting.pop()
            for code, symbol in enumerate(self.world.symbols):
                following = self._step(row, code)
                found.setdefault((row, following), []).append(symbol)
                if following not in seen:
                    seen.add(following)
                    waiting.append(following)
        return MappingProxyType({ends: tuple(symbols) for ends, symbols in found.items()})

    @cached_property
    def states(self) -> tuple[Row, ...]:
        """All rows that can be reached, sorted."""
        return tuple(sorted({self.initial, *_ends(self.edges)}))

    @property
    def known_steps(self) -> int:
        """How many steps have been worked out so far."""
        return len(self._steps)

    def draw(self, ax: Axes | None = None) -> Axes:
        """A picture in the manner of LEV's Figure 1: symbols of the word to the right, edits upwards.

        A row stands where its smallest entry is. Draws into the given matplotlib axes or into a new figure.
        """
        from pathveil.words.automata.edit_picture import draw_edit_automaton

        return draw_edit_automaton(self, ax)

    def __repr__(self) -> str:
        return f"EditAutomaton(length {self.length}, cap {self.cap}: {len(self.states)} states)"


def _ends(edges: Mapping[tuple[Row, Row], object]) -> Iterable[Row]:
    return (end for ends in edges for end in ends)
