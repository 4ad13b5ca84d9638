"""Compiled loops over batches of words of any lengths: `offsets[i]:offsets[i + 1]` are the cells of word i."""

from __future__ import annotations

from typing import Any

import numpy as np

from pathveil.numerics.jit import kernel

_FEW = 8  # edges


@kernel
def first_outside(values: Any, begin: int, end: int, symbol_count: int) -> int:
    """The first cell in [begin, end) that holds no symbol code; -1 if there is none."""
    smallest, largest = values[begin], values[begin]
    for value in values[begin:end]:  # without an exit, so that several cells are looked at in one instruction
        smallest, largest = min(smallest, value), max(largest, value)
    if smallest < 0 or largest >= symbol_count:
        for cell in range(begin, end):
            if values[cell] < 0 or values[cell] >= symbol_count:
                return cell
    return -1


@kernel
def mark_feasible(
    values: Any,
    offsets: Any,
    first: int,
    last: int,
    edge_offsets: Any,
    labels: Any,
    targets: Any,
    start: int,
    accepting: Any,
    step_table: Any,
    entered: Any,
    feasible: Any,
) -> None:
    """feasible[i] for the words i in [first, last): walk along the word, edge by edge.

    `step_table` holds the target of every (state, symbol), or nothing; then edges are looked up by bisection. `entered`
    has the state that each symbol leads to, or nothing where that depends on the state: with it a step need not wait
    for the one before.
    """
    if step_table.size:
        for word in range(first, last):
            state = start
            for cell in range(offsets[word], offsets[word + 1]):
                state = step_table[state, np.int64(values[cell])]
                if state < 0:
                    break
            feasible[word] = state >= 0 and accepting[state]
        return
    for word in range(first, last):
        state = start
        alive = True
        for cell in range(offsets[word], offsets[word + 1]):
            symbol = np.int64(values[cell])
            low, high = edge_offsets[state], edge_offsets[state + 1]
            while high - low > _FEW:
                middle = (low + high) >> 1
                if labels[middle] <= symbol:
                    low = middle
                else:
                    high = middle
            found = -1
            for edge in range(low, high):  # without an exit, which the processor would often guess wrong
                found = edge if labels[edge] == symbol else found
            if found < 0:
                alive = False
                break
            state = entered[symbol] if len(entered) else targets[found]
        feasible[word] = alive and accepting[state]
