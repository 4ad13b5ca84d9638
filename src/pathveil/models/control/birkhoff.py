"""Which doubly stochastic matrices a support allows: matchings, entries that can be positive, and the shortest cycle.

A *support* marks the entries of a square matrix that may differ from zero. Read it as a graph between rows and columns.

- By Birkhoff's theorem a doubly stochastic matrix is a mixture of permutation matrices, that is of perfect matchings of
  this graph. There is one exactly if no set of rows has fewer columns than rows between them (Hall).
- An entry can be positive exactly if some perfect matching uses it. Given one matching, these are the entries that lie
  on a cycle of the graph in which matched edges lead back from columns to rows, and the matched entries themselves: the
  two ends are in one strongly connected component.
- Two doubly stochastic matrices on the support differ by mass that goes round cycles of the graph. The shortest cycle,
  through t rows and t columns, is the smallest change that there can be: t = 2 where two rows share two columns.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from pathveil.errors import InvalidParameterError
from pathveil.numerics.arrays import BoolArray, IntArray


def possible_entries(support: BoolArray) -> BoolArray:
    """The entries of the support that are positive in some doubly stochastic matrix.

    `InvalidParameterError` with a set of rows that has too few columns where there is no such matrix at all.
    """
    from scipy import sparse
    from scipy.sparse import csgraph

    graph = sparse.csr_matrix(support.astype(np.int8))
    column_of: IntArray = csgraph.maximum_bipartite_matching(graph, perm_type="column").astype(np.int64)
    if (column_of < 0).any():
        rows, columns = _crowded_rows(support, column_of)
        raise InvalidParameterError(
            f"no doubly stochastic matrix has this support: the rows {_listed(rows)} have only the columns "
            f"{_listed(columns)} between them, and {len(rows)} rows need as many columns"
        )
    # Row i leads to row k if i may use the column that k is matched with.
    steps = graph[:, column_of]
    _, component = csgraph.connected_components(steps, directed=True, connection="strong")
    of_column = np.empty(len(column_of), dtype=np.int64)
    of_column[column_of] = component
    possible: BoolArray = support & (component[:, None] == of_column[None, :])
    return possible


def _crowded_rows(support: BoolArray, column_of: IntArray) -> tuple[IntArray, IntArray]:
    """Rows that have fewer columns between them than they are: those that a row without a column can put out of
    theirs."""
    row_of = np.full(support.shape[1], -1)
    matched = np.flatnonzero(column_of >= 0)
    row_of[column_of[matched]] = matched
    start = int(np.flatnonzero(column_of < 0)[0])
    rows, columns, waiting = {start}, set(), deque([start])
    while waiting:
        for column in np.flatnonzero(support[waiting.popleft()]).tolist():
            if column not in columns:
                columns.add(column)
                row = int(row_of[column])  # the matching is as large as can be, so every column met has a row
                if row not in rows:
                    rows.add(row)
                    waiting.append(row)
    return np.array(sorted(rows), dtype=np.int64), np.array(sorted(columns), dtype=np.int64)


def shortest_cycle(support: BoolArray) -> int | None:
    """Through how many rows the shortest cycle of the support goes; None where there is no cycle."""
    shared = support.astype(np.float32) @ support.T.astype(np.float32)
    np.fill_diagonal(shared, 0)
    if (shared > 1.5).any():
        return 2
    return _longer_cycle(support)


def _longer_cycle(support: BoolArray) -> int | None:
    """The same where no two rows share two columns: from each row breadth first, until two ways meet."""
    size = len(support)
    columns_of = [np.flatnonzero(row).tolist() for row in support]
    rows_of = [np.flatnonzero(column).tolist() for column in support.T]
    best: int | None = None
    for start in range(size):
        # Nodes are rows (0 to size-1) and columns (size to 2·size-1); `parent` is the edge a node was reached by.
        distance, parent, waiting = {start: 0}, {start: -1}, deque([start])
        while waiting:
            node = waiting.popleft()
            if best is not None and distance[node] >= best:
                break
            ahead = [size + j for j in columns_of[node]] if node < size else rows_of[node - size]
            for other in ahead:
                if other == parent[node]:
                    continue
                if other in distance:
                    found = (distance[node] + distance[other] + 1) // 2
                    best = found if best is None else min(best, found)
                else:
                    distance[other], parent[other] = distance[node] + 1, node
                    waiting.append(other)
    return best


def _listed(numbers: IntArray, most: int = 10) -> str:
    """Numbers as people count them, from 1, the first few."""
    shown = ", ".join(str(number + 1) for number in numbers[:most].tolist())
    return shown if len(numbers) <= most else f"{shown}, … ({len(numbers)} in all)"
