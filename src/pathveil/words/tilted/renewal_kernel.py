"""Compiled draws for short words on Markov chains, where the symbol alone decides the state: O(n²) a word.

There the evidence at position j is a change of rank one, so everything that may follow splits by the next position at
which the private word agrees with the sensitive one. With K_k(a, y) = (1-z) z^k · (number of ways to enter a from y
with exactly k states between), F_k(y) = z^k · (number of ways to go on for k symbols), and b_j the weight of what
follows the word's own state at position j,

    b_j = F_{n-j}(w_j) + Σ_{k>j} b_k K_{k-j-1}(w_k, w_j)

K and F depend on the public system alone. As long as the draw stays on the word, the b_j are all it needs; after an
error the same sum gives the weights of the states it may go to. All terms are positive, so nothing cancels. Words for
which a random number comes closer to a border than rounding can be trusted are marked as in doubt, for `exact`.
"""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np

from pathveil.numerics.jit import kernel, part_of_kernel


@part_of_kernel
def _weight(table: Any, ends: Any, later: Any, cells: Any, position: int, state: int, length: int, size: int) -> Any:
    """β of a state after `position` symbols, from the b of the later positions."""
    # Four sums at a time: one alone would wait for each addition to finish before the next.
    base = state - position * size
    s0, s1, s2, s3 = ends[length - position, state], 0.0, 0.0, 0.0
    k = position
    while k + 3 < length:
        s0 += later[k] * table[cells[k] + base]
        s1 += later[k + 1] * table[cells[k + 1] + base]
        s2 += later[k + 2] * table[cells[k + 2] + base]
        s3 += later[k + 3] * table[cells[k + 3] + base]
        k += 4
    while k < length:
        s0 += later[k] * table[cells[k] + base]
        k += 1
    return (s0 + s1) + (s2 + s3)


@kernel
def draw_words(
    values: Any,
    begins: Any,
    length: int,
    start: int,
    offsets: Any,
    labels: Any,
    targets: Any,
    step_table: Any,
    entered: Any,
    table: Any,
    ends: Any,
    z: float,
    words: Any,
    log_z: Any,
    private: Any,
    margin: float,
    in_doubt: Any,
) -> None:
    """A private word for each word, and log Z; one 64-bit word of keystream for each symbol.

    `table` is K as a flat array [k, symbol, state], `ends` is F, `entered` the state that each symbol leads to.
    """
    state_count = ends.shape[1]
    size = len(entered) * state_count
    later = np.empty(length)
    cells = np.empty(length, np.int64)
    for word in range(len(begins)):
        begin = begins[word]
        for k in range(length):
            cells[k] = np.int64(values[begin + k]) * state_count + k * size
        for k in range(length - 1, -1, -1):
            later[k] = _weight(table, ends, later, cells, k + 1, entered[np.int64(values[begin + k])], length, size)
        y = start
        here = _weight(table, ends, later, cells, 0, start, length, size)
        log_z[word] = log(here)
        in_doubt[word] = False
        for i in range(length):
            symbol = np.int64(values[begin + i])
            uniform = (np.int64(words[word * length + i] >> np.uint64(11)) + 0.5) * 2.0**-53
            mark = uniform * here
            near = margin * here
            right = step_table[y, symbol]
            taken = -1  # an edge with another symbol; -1 for the right symbol
            in_doubt[word] |= right >= 0 and abs(mark - later[i]) < near
            if right < 0 or mark >= later[i]:
                if right >= 0:
                    mark -= later[i]
                mark, near = mark / z, near / z
                for edge in range(offsets[y], offsets[y + 1]):
                    if labels[edge] == symbol:
                        continue
                    other = _weight(table, ends, later, cells, i + 1, targets[edge], length, size)
                    if other > 0.0:
                        taken = edge  # stays, should rounding carry the mark beyond the last edge
                        here = other
                        mark -= other
                        in_doubt[word] |= abs(mark) < near
                        if mark < 0.0:
                            break
            if taken >= 0:
                private[begin + i] = labels[taken]
                y = targets[taken]
            else:
                private[begin + i] = symbol
                y = right
                here = later[i]
