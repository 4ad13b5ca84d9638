"""Compiled online draws: one 64-bit word of keystream for each symbol, and only integers are compared."""

from __future__ import annotations

from typing import Any

import numpy as np

from pathveil.numerics.jit import kernel, part_of_kernel


@part_of_kernel
def _edge(offsets: Any, labels: Any, state: int, symbol: int, each: Any, word: Any) -> Any:
    """The edge that is taken. `each[d]` of the 2^64 words stand for each wrong successor where there are d."""
    first, last = offsets[state], offsets[state + 1]
    degree = np.uint64(last - first)
    low, high = first, last
    while low < high:
        middle = (low + high) >> 1
        if labels[middle] < symbol:
            low = middle + 1
        else:
            high = middle
    if low == last or labels[low] != symbol:
        # All alike. The high half of the product; shares differ by one word of 2^64, since degrees are below 2^32.
        half, low_half = np.uint64(32), np.uint64(0xFFFFFFFF)
        number = ((word >> half) * degree + (((word & low_half) * degree) >> half)) >> half
        return first + np.int64(number)
    wrong = (degree - np.uint64(1)) * each[last - first]
    if word >= wrong:
        return low
    edge = first + np.int64(word // each[last - first])
    return edge + 1 if edge >= low else edge


@kernel
def draw_words(
    values: Any,
    word_offsets: Any,
    first: int,
    last: int,
    offsets: Any,
    labels: Any,
    targets: Any,
    start: int,
    each: Any,
    words: Any,
    private: Any,
) -> None:
    """Private words for the words [first, last) of a batch."""
    begin = word_offsets[first]
    for word in range(first, last):
        state = start
        for cell in range(word_offsets[word], word_offsets[word + 1]):
            edge = _edge(offsets, labels, state, np.int64(values[cell]), each, words[cell - begin])
            private[cell] = labels[edge]
            state = targets[edge]


@kernel
def push_symbols(
    symbols: Any,
    first: int,
    last: int,
    offsets: Any,
    labels: Any,
    targets: Any,
    each: Any,
    words: Any,
    states: Any,
    private: Any,
) -> None:
    """One symbol of each of the streams [first, last): what is emitted, and where the stream is then."""
    for stream in range(first, last):
        edge = _edge(offsets, labels, states[stream], np.int64(symbols[stream]), each, words[stream - first])
        private[stream] = labels[edge]
        states[stream] = targets[edge]
