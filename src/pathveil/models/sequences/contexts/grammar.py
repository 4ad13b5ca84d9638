"""What can follow what, publicly: the cells of every table that a model of sequences counts.

Symbols have the codes 0..m-1. The code m stands for the beginning where something follows it, and for the end where it
follows something. Row x lists, in order, what can follow the symbol x (the end among them), row m what words can begin
with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from pathveil.errors import InvalidParameterError, TooLargeError
from pathveil.models.frequencies import checked_support
from pathveil.numerics.arrays import BoolArray, IntArray
from pathveil.systems.system import Symbol, System

MOST_CELLS = 2**26
"""The largest table: 64 million counts, about 2 GB with everything that is computed from them."""


@dataclass(frozen=True, eq=False)
class Grammar:
    """Row x has the cells `following[offsets[x]:offsets[x + 1]]`."""

    offsets: IntArray
    following: IntArray

    @property
    def symbols(self) -> int:
        """How many symbols there are (m)."""
        return len(self.offsets) - 2

    @property
    def widths(self) -> IntArray:
        """How many symbols can follow each symbol, and the beginning."""
        return np.diff(self.offsets)

    @property
    def is_free(self) -> bool:
        """Can everything follow everything?"""
        return len(self.following) == self.symbols * (self.symbols + 2)

    @classmethod
    def of(cls, states: tuple[Symbol, ...], support: npt.ArrayLike | System | None) -> Grammar:
        """All that the public `support` allows: everything (None), a table over the states, or a system of them."""
        size = len(states)
        if support is None:
            _require_cells(size * (size + 1) + size, "without a support every state can follow every other")
            row = np.append(np.tile(np.arange(size + 1), size), np.arange(size))
            return cls(np.append(np.arange(size + 1) * (size + 1), len(row)), row)
        if isinstance(support, System):
            return cls._of_system(states, support)
        if sparse.issparse(support):
            table: Any = support
            if table.shape != (size, size):
                raise InvalidParameterError(f"support has the shape {table.shape}, but there are {size} states")
            sources, targets = table.nonzero()
        else:
            sources, targets = np.nonzero(checked_support(support, (size, size), "support"))
        ends = np.arange(size)
        return cls._from_pairs(size, sources.astype(np.int64), targets.astype(np.int64), ends, ends)

    @classmethod
    def _of_system(cls, states: tuple[Symbol, ...], system: System) -> Grammar:
        """The words of a public system whose symbols decide its states; they may be in another order."""
        compiled = system.compiled
        entered = compiled.symbol_states
        if entered is None:
            raise InvalidParameterError(
                "support: in this system a symbol does not decide what can follow it. Give a Markov chain, an alphabet "
                "or a table of transitions that can occur."
            )
        if set(system.symbols) != set(states):
            odd = next(iter(set(system.symbols) ^ set(states)))
            raise InvalidParameterError(f"support: {odd!r} is not a symbol of both the system and the states")
        code = {state: place for place, state in enumerate(states)}
        renamed = np.array([code[symbol] for symbol in system.symbols], dtype=np.int64)
        finishing = _can_finish(compiled.sources, compiled.targets, compiled.accepting)
        # Several symbols may lead to one state (on an alphabet all do): each of them gets the row of that state.
        used = np.flatnonzero(entered >= 0)
        at = entered[used]
        widths = np.diff(compiled.offsets)[at]
        firsts = np.repeat(compiled.offsets[at] - np.cumsum(widths) + widths, widths)
        edges = firsts + np.arange(int(widths.sum()))
        going_on = finishing[compiled.targets[edges]]
        begins = (compiled.sources == compiled.start) & finishing[compiled.targets]
        return cls._from_pairs(
            len(states),
            np.repeat(renamed[used], widths)[going_on],
            renamed[compiled.labels[edges[going_on]]],
            renamed[compiled.labels[begins]],
            renamed[used][compiled.accepting[at]],
        )

    @classmethod
    def _from_pairs(cls, size: int, sources: IntArray, targets: IntArray, begins: IntArray, ends: IntArray) -> Grammar:
        rows = np.concatenate([sources, ends, np.full(len(begins), size)])
        cells = np.concatenate([targets, np.full(len(ends), size), begins])
        _require_cells(len(rows), "so many transitions can occur")
        if not len(begins):
            raise InvalidParameterError("support: no word can begin and come to an end in this system")
        keys = np.unique(rows * (size + 1) + cells)
        offsets = np.searchsorted(keys, np.arange(size + 2) * (size + 1))
        return cls(offsets.astype(np.int64), (keys % (size + 1)).astype(np.int64))

    def allows(self, row: IntArray, symbol: IntArray) -> BoolArray:
        """Can this symbol (or the end) follow that one (or the beginning)?"""
        if self.is_free:
            is_empty: BoolArray = (row == self.symbols) & (symbol == self.symbols)
            return ~is_empty  # a word has at least one symbol
        keys = np.repeat(np.arange(self.symbols + 1), self.widths) * (self.symbols + 1) + self.following
        wanted = row * (self.symbols + 1) + symbol
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        found: BoolArray = keys[place] == wanted
        return found

    def to_dict(self) -> dict[str, Any]:
        """For a file; rows as their widths."""
        return {"widths": self.widths, "following": self.following}


def _can_finish(sources: IntArray, targets: IntArray, accepting: BoolArray) -> BoolArray:
    """The states from which an accepting one can be reached: words that enter others never come to an end."""
    order = np.argsort(targets, kind="stable")
    begin = np.searchsorted(targets[order], np.arange(len(accepting) + 1))
    finishing = accepting.copy()
    waiting = np.flatnonzero(accepting).tolist()
    while waiting:
        state = waiting.pop()
        for source in sources[order[begin[state] : begin[state + 1]]].tolist():
            if not finishing[source]:
                finishing[source] = True
                waiting.append(source)
    return finishing


def _require_cells(cells: int, why: str) -> None:
    if cells > MOST_CELLS:
        told = (
            f"a model of pairs would need noise on {cells:,} counts, because {why}; {MOST_CELLS:,} are possible. Give "
            "a public `support` (which state can follow which), or merge states."
        )
        raise TooLargeError(told, without_content=told)
