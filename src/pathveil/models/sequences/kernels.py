"""Compiled loops over events: counting them, adding up their logarithms, and drawing words event by event.

The *events* of a word x1…xn are: it begins with x1, x2 follows x1, …, it ends after xn. Words of the greatest length
may have been cut, so that they end there is no event. What a model says: in each row how likely each next symbol is if the
word goes on, and the odds that it ends, which are multiplied by a factor for each length.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pathveil.numerics.jit import kernel, part_of_kernel


@part_of_kernel
def _row(values: Any, begin: int, position: int, beginning: int, slots: Any, children: Any) -> Any:
    """The deepest row for what comes before `position` in the word that begins at `begin`."""
    row = values[begin + position - 1] if position > 0 else beginning
    back = 2
    while slots[row] >= 0:
        row = children[slots[row], values[begin + position - back] if position >= back else beginning]
        back += 1
    return row


@part_of_kernel
def _cell(row: int, symbol: int, offsets: Any, symbols: Any) -> Any:
    """The cell of a row for a next symbol, or -1."""
    low, high = offsets[row], offsets[row + 1]
    while low < high:
        middle = (low + high) >> 1
        if symbols[middle] < symbol:
            low = middle + 1
        else:
            high = middle
    return low if low < offsets[row + 1] and symbols[low] == symbol else -1


@part_of_kernel
def _odds_of_ending(odds: float, factor: float) -> Any:
    """Where nothing but the end can follow, no factor changes that."""
    return odds if odds == np.inf else odds * factor


@kernel
def count_events(
    values: Any,
    word_offsets: Any,
    times: Any,
    max_length: int,
    events: int,
    slots: Any,
    children: Any,
    offsets: Any,
    symbols: Any,
    first_row: int,
    counts: Any,
) -> int:
    """Add the first `events` events of each word to `counts`, as far as they fall into rows from `first_row` on.

    Returns the number of the first word with an event that has no cell, or -1.
    """
    end = children.shape[1] - 1
    for word in range(len(times)):
        begin, length = word_offsets[word], word_offsets[word + 1] - word_offsets[word]
        known = length + 1 if length < max_length else length
        for position in range(min(known, events)):
            row = _row(values, begin, position, end, slots, children)
            if row < first_row:
                continue
            cell = _cell(row, values[begin + position] if position < length else end, offsets, symbols)
            if cell < 0:
                return word
            counts[cell - offsets[first_row]] += times[word]
    return -1


@kernel
def add_logarithms(
    values: Any,
    word_offsets: Any,
    max_length: int,
    slots: Any,
    children: Any,
    offsets: Any,
    symbols: Any,
    logs: Any,
    odds: Any,
    factors: Any,
    totals: Any,
) -> None:
    """The logarithm of the probability of each word; `logs` are those of the cells, given that the word goes on."""
    end = children.shape[1] - 1
    for word in range(len(totals)):
        begin, length = word_offsets[word], word_offsets[word + 1] - word_offsets[word]
        known = length + 1 if length < max_length else length
        total = 0.0
        for position in range(known):
            row = _row(values, begin, position, end, slots, children)
            ending = _odds_of_ending(odds[row], factors[position])
            if position == length:
                total -= math.log1p(1.0 / ending) if ending > 0.0 else np.inf
                continue
            cell = _cell(row, values[begin + position], offsets, symbols)
            if cell < 0 or ending == np.inf:
                total = -np.inf
                break
            total += logs[cell] - math.log1p(ending)
        totals[word] = total


@part_of_kernel
def _chosen(row: int, number: float, offsets: Any, inner: Any, cumulative: Any) -> Any:
    """The first cell of the row whose cumulative probability exceeds `number`."""
    low, high = offsets[row], offsets[row] + inner[row] - 1
    while low < high:
        middle = (low + high) >> 1
        if cumulative[middle] <= number:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def draw_words(
    words: Any,
    lengths: Any,
    done: int,
    given: int,
    slots: Any,
    children: Any,
    offsets: Any,
    symbols: Any,
    inner: Any,
    cumulative: Any,
    odds: Any,
    factors: Any,
    numbers: Any,
) -> int:
    """Complete the words from number `done` on, which begin with `given` symbols, as long as there are numbers.

    `numbers` are uniform in (0, 1), one for each event. Returns how many words are done now.
    """
    end, longest, used = children.shape[1] - 1, words.shape[1], 0
    flat = words.reshape(-1)
    while done < len(words) and used + longest + 1 <= len(numbers):
        begin, position = done * longest, given
        while position < longest:
            row = _row(flat, begin, position, end, slots, children)
            number, ending = numbers[used], _odds_of_ending(odds[row], factors[position])
            used += 1
            stop = ending / (1.0 + ending) if ending < np.inf else 1.0
            if number < stop or inner[row] == 0:
                break
            rest = (number - stop) / (1.0 - stop)
            flat[begin + position] = symbols[_chosen(row, rest, offsets, inner, cumulative)]
            position += 1
        lengths[done] = position
        done += 1
    return done


@kernel
def find_rows(words: Any, chosen: Any, position: int, slots: Any, children: Any, rows: Any) -> None:
    """The row at `position` of each of the chosen words."""
    flat = words.reshape(-1)
    for i in range(len(chosen)):
        rows[i] = _row(flat, chosen[i] * words.shape[1], position, children.shape[1] - 1, slots, children)


@kernel
def extend(
    words: Any, chosen: Any, position: int, rows: Any, offsets: Any, symbols: Any, inner: Any, cumulative: Any,
    numbers: Any,
) -> None:  # fmt: skip
    """Write the next symbol of each of the chosen words, which are in `rows` and go on."""
    for i in range(len(chosen)):
        cell = _chosen(rows[i], numbers[i], offsets, inner, cumulative)
        words[chosen[i], position] = symbols[cell]
