"""The tree of contexts: which part of what came before decides how likely each next symbol is.

A *row* stands for a set of histories and has one cell for each symbol that can follow them. At depth 1 there is a row
for each last symbol, and one for the beginning of a word. A row that was *opened* is divided at the next depth by the
symbol before: one row for each symbol that was given one of its own, and one, the *rest*, for all others. So the counts
of the rows below an opened row sum to its own. The row of a history is the deepest that it belongs to.

Rows and cells of all depths are numbered in the order in which they were made: those of a depth lie side by side.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pathveil.models.sequences.contexts.grammar import Grammar
from pathveil.numerics.arrays import IntArray

NONE = -1


@dataclass(eq=False)
class ContextTree:
    """The rows, grown a depth at a time by `open`."""

    grammar: Grammar
    parent: IntArray
    last: IntArray
    """The last symbol of the histories of each row."""
    oldest: IntArray
    """The symbol that is furthest back in the histories of each row, or the beginning; NONE for a rest."""
    flow: IntArray
    """The cell of the depth above whose count says how often the histories of the row occur; NONE where none does."""
    cell_offsets: IntArray
    symbols: IntArray
    """The next symbol that each cell counts."""
    above: IntArray
    """The cell of the parent's row with the same next symbol; NONE at depth 1."""
    slots: IntArray
    """Where an opened row has its line in `children`; NONE for others."""
    children: IntArray
    """A line for each opened row: the row that each symbol (or the beginning) before leads to."""
    histories: IntArray
    """Of the deepest rows: their symbols from the last to the oldest; the oldest of a rest is NONE."""
    row_bounds: list[int] = field(default_factory=list)
    """Rows of depth d are `row_bounds[d - 1]` to `row_bounds[d]`."""

    @classmethod
    def of_pairs(cls, grammar: Grammar) -> ContextTree:
        """Depth 1: a row for each last symbol, and one for the beginning."""
        rows = grammar.symbols + 1
        nothing = np.full(rows, NONE, dtype=np.int64)
        return cls(
            grammar,
            parent=nothing,
            last=np.arange(rows),
            oldest=np.arange(rows),
            flow=nothing.copy(),
            cell_offsets=grammar.offsets.copy(),
            symbols=grammar.following.copy(),
            above=np.full(len(grammar.following), NONE, dtype=np.int64),
            slots=nothing.copy(),
            children=np.empty((0, rows), dtype=np.int64),
            histories=np.arange(rows)[:, None],
            row_bounds=[0, rows],
        )

    @property
    def depth(self) -> int:
        """How many symbols the longest contexts have."""
        return len(self.row_bounds) - 1

    @property
    def row_count(self) -> int:
        return len(self.parent)

    @property
    def cell_count(self) -> int:
        return len(self.symbols)

    def rows_at(self, depth: int) -> slice:
        """The rows of a depth."""
        return slice(self.row_bounds[depth - 1], self.row_bounds[depth])

    def cells_at(self, depth: int) -> slice:
        """The cells of a depth."""
        rows = self.rows_at(depth)
        return slice(int(self.cell_offsets[rows.start]), int(self.cell_offsets[rows.stop]))

    @property
    def row_of_cell(self) -> IntArray:
        """The row that each cell belongs to."""
        return np.repeat(np.arange(self.row_count), np.diff(self.cell_offsets))

    def candidates(self) -> tuple[IntArray, IntArray, IntArray]:
        """Rows that the next depth could have: (row to be divided, symbol before, cell that says how often).

        The history z x1…xk occurs as often as xk follows z x1…x(k-1): that is a cell of the deepest depth, unless that
        history has no row of its own. It would lie below the row of x1…xk. What begins a word has nothing before it.
        """
        cells = np.arange(self.cells_at(self.depth).start, self.cell_count)
        owner, last = self.row_of_cell[cells] - self.rows_at(self.depth).start, self.symbols[cells]
        history = np.column_stack([last, self.histories[owner]])
        good = (last < self.grammar.symbols) & (history[:, -1] != NONE)
        history, cells = history[good], cells[good]
        row = history[:, 0]
        for symbol in history[:, 1:-1].T:
            line = self.slots[row]
            row = np.where(line >= 0, self.children[np.maximum(line, 0), symbol] if len(self.children) else NONE, NONE)
        first = self.rows_at(self.depth).start
        # Only rows of the deepest depth with histories of their own are divided further.
        own = (row >= first) & (self.histories[np.maximum(row - first, 0), -1] != NONE)
        return row[own], history[own, -1], cells[own]

    def open(self, rows: IntArray, before: IntArray, flow: IntArray) -> None:
        """Add a depth: below each of `rows` a row for each symbol `before` that is named with it, and a rest.

        The three arrays have one entry for each new row with a symbol of its own; `flow` are the cells that say how
        often their histories occur.
        """
        opened, place = np.unique(rows, return_inverse=True)
        order = np.lexsort((before, place))
        rows, before, flow, place = rows[order], before[order], flow[order], place[order]
        # The rows of each opened row come one after another, its rest last.
        owner = np.concatenate([place, np.arange(len(opened))])
        made_flow = np.concatenate([flow, np.full(len(opened), NONE)])
        symbol = np.concatenate([before, np.full(len(opened), self.grammar.symbols + 1)])
        order = np.lexsort((symbol, owner))
        owner, made_flow, symbol = owner[order], made_flow[order], symbol[order]
        number = self.row_count + np.arange(len(owner))
        lines = np.empty((len(opened), self.grammar.symbols + 1), dtype=np.int64)
        rest = symbol == self.grammar.symbols + 1
        lines[:] = number[rest][:, None]
        lines[owner[~rest], symbol[~rest]] = number[~rest]
        parents = opened[owner]
        widths = np.diff(self.cell_offsets)[parents]
        starts = np.repeat(self.cell_offsets[parents], widths)
        within = np.arange(int(widths.sum())) - np.repeat(np.cumsum(widths) - widths, widths)
        above = starts + within
        oldest = np.where(rest, NONE, symbol)
        self.histories = np.column_stack([self.histories[parents - self.rows_at(self.depth).start], oldest])
        self.slots[opened] = len(self.children) + np.arange(len(opened))
        self.children = np.concatenate([self.children, lines])
        self.parent = np.concatenate([self.parent, parents])
        self.last = np.concatenate([self.last, self.last[parents]])
        self.oldest = np.concatenate([self.oldest, oldest])
        self.flow = np.concatenate([self.flow, made_flow])
        self.slots = np.concatenate([self.slots, np.full(len(owner), NONE, dtype=np.int64)])
        self.cell_offsets = np.concatenate([self.cell_offsets, self.cell_offsets[-1] + np.cumsum(widths)])
        self.symbols = np.concatenate([self.symbols, self.symbols[above]])
        self.above = np.concatenate([self.above, above])
        self.row_bounds.append(self.row_count)
