"""The inner loops of `all_words`, which explains the quantities."""

from __future__ import annotations

from typing import Any

import numpy as np

from pathveil.numerics.jit import checked_kernel


@checked_kernel
def prolonged(weights: Any, ends: Any, successors: Any, predecessors: Any, z: float) -> Any:
    """(weights, ends) of all words that are one symbol longer than these, one word in each row.

    Row k has the weights that the word spreads to the position after it, and `ends[k]` its last symbol.
    """
    (after, following), (before, leading) = successors, predecessors
    m = weights.shape[1]
    number = 0
    for end in ends:
        number += after[end + 1] - after[end]
    new_weights, new_ends = np.empty((number, m)), np.empty(number, np.int64)
    spread = np.empty(m)
    row = 0
    for k in range(len(ends)):
        # z^[x≠s] = z + (1-z)[x=s]: what is spread whatever the next symbol s is, and what s adds.
        top = 0.0
        for y in range(m):
            total = 0.0
            for j in range(before[y], before[y + 1]):
                total += weights[k, leading[j]]
            spread[y] = total
            top = max(top, total)
        scale = 1.0 / top if top > 0.0 else 1.0
        for y in range(m):
            spread[y] *= z * scale
        for i in range(after[ends[k]], after[ends[k] + 1]):
            s = following[i]
            for y in range(m):
                new_weights[row, y] = spread[y]
            for j in range(after[s], after[s + 1]):
                new_weights[row, following[j]] += (1.0 - z) * scale * weights[k, s]
            new_ends[row] = s
            row += 1
    return new_weights, new_ends


@checked_kernel
def largest_quotient(weights: Any, ends: Any, partners: Any, shared: Any, others: Any, gain: float) -> float:
    """The largest Z(v)/Z(w) for words that begin with one of these and end with one of the others; at least 1.

    A word that ends in p can go on with any of `partners[1]` from partners[0][p] on, and the symbols that fit between
    the two are those of `shared`. `others` are the weights from the other side, one column for each word, and where
    the columns of each partner begin. `gain` is 1/z - 1.
    """
    (from_partner, partner), (from_shared, symbols), (columns, from_column) = partners, shared, others
    most = 1
    for q in range(len(from_column) - 1):
        most = max(most, from_column[q + 1] - from_column[q])
    total, largest, smallest = np.empty(most), np.empty(most), np.empty(most)
    best = 1.0
    for k in range(len(ends)):
        for i in range(from_partner[ends[k]], from_partner[ends[k] + 1]):
            begin = from_column[partner[i]]
            width = from_column[partner[i] + 1] - begin
            for j in range(width):
                total[j], largest[j], smallest[j] = 0.0, 0.0, np.inf
            for y in range(weights.shape[1]):
                for j in range(width):
                    total[j] += weights[k, y] * columns[y, begin + j]
            for y in symbols[from_shared[i] : from_shared[i + 1]]:
                for j in range(width):
                    here = weights[k, y] * columns[y, begin + j]
                    largest[j], smallest[j] = max(largest[j], here), min(smallest[j], here)
            for j in range(width):
                upper, lower = total[j] + gain * largest[j], total[j] + gain * smallest[j]
                if upper > best * lower:
                    best = upper / lower
    return best
