"""What a symbol further back changes, whichever symbol it is: people come back to where they were, and stay.

Before a row is drawn towards the row above it, what is expected of it is corrected by what all rows of the depth have
in common. Its cells are put into a few classes: does the cell continue with the oldest symbol of the context, with the
last one, with the end or with another one, and is the oldest symbol the beginning, the last one again, or another? A
class has thousands of times the counts of a cell, so that its sum says more than noise where no single row does.
"""

from __future__ import annotations

import numpy as np

from pathveil.models.sequences.contexts.tree import NONE, ContextTree
from pathveil.numerics.arrays import FloatArray, IntArray

_KINDS_OF_CELLS = 4
_KINDS_OF_ROWS = 5
_ROUNDS = 10
_USUAL = 1.0  # how far a class is from what the rows above say, before any count: as much as it has itself
_LEAST = 0.02  # no class falls below this part of what the rows above say
_TINY = 1e-300


def corrected_by_class(
    tree: ContextTree, depth: int, count: FloatArray, variance: FloatArray, expected: FloatArray, size: FloatArray
) -> FloatArray:
    """The expected probabilities of the cells of a depth, with the sums of all classes as they were counted."""
    rows = tree.rows_at(depth)
    row = tree.row_of_cell[tree.cells_at(depth)] - rows.start
    kind = _classes(tree, depth)
    number = _KINDS_OF_ROWS * _KINDS_OF_CELLS
    mean = size[row] * expected
    before = np.bincount(kind, mean, number)
    noise = np.bincount(kind, variance, number)
    trusted = (_USUAL * before) ** 2
    trusted = trusted / (trusted + noise + _TINY)
    wanted = before + trusted * (np.bincount(kind, count, number) - before)
    wanted = np.maximum(wanted, _LEAST * before)
    total = np.maximum(np.bincount(row, mean, len(size)), _TINY)
    for _ in range(_ROUNDS):
        mean = mean * (wanted / np.maximum(np.bincount(kind, mean, number), _TINY))[kind]
        mean = mean * (total / np.maximum(np.bincount(row, mean, len(size)), _TINY))[row]
    corrected: FloatArray = np.where(size[row] > 0, mean / np.maximum(size, _TINY)[row], expected)
    return corrected


def _classes(tree: ContextTree, depth: int) -> IntArray:
    """The class of each cell of a depth."""
    rows, cells = tree.rows_at(depth), tree.cells_at(depth)
    oldest, last = tree.oldest[rows], tree.last[rows]
    kind = np.full(len(oldest), 4)
    kind[oldest == last] = 3
    kind[(oldest == last) & _all_equal(tree)[rows]] = 2
    kind[oldest == tree.grammar.symbols] = 1
    kind[oldest == NONE] = 0
    row = tree.row_of_cell[cells] - rows.start
    following = tree.symbols[cells]
    of_cell = np.full(len(following), 3)
    of_cell[following == oldest[row]] = 2
    of_cell[following == last[row]] = 1
    of_cell[following == tree.grammar.symbols] = 0
    classes: IntArray = kind[row] * _KINDS_OF_CELLS + of_cell
    return classes


def _all_equal(tree: ContextTree) -> FloatArray:
    """Are all symbols of the context of a row the same?"""
    equal = np.ones(tree.row_count, dtype=bool)
    for depth in range(2, tree.depth + 1):
        rows = tree.rows_at(depth)
        equal[rows] = equal[tree.parent[rows]] & (tree.oldest[rows] == tree.last[rows])
    return equal
