"""Compiled loops over events: counting them, adding up their logarithms, and drawing words event by event.

The *events* of a word x1…xn are: it begins with x1, x2 follows x1, …, it ends after xn. Words of the greatest length
may have been cut, so that they end there is no event. What a model says: in each row how likely each next symbol is if
the word goes on, and the odds that it ends, which are multiplied by a factor for each length.
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


@kernel
def fill_following(
    spelled: Any, slots: Any, children: Any, offsets: Any, inner: Any, symbols: Any, following: Any
) -> None:
    """For each cell of a next symbol the row that the word is in then; `spelled` has the context of a row, last first.

    A context that is longer than that of a row has a row of its own only where the shorter ones that it begins with
    have one. So what `spelled` says of a row is enough.
    """
    beginning, known = children.shape[1] - 1, spelled.shape[1]
    for row in range(len(inner)):
        for cell in range(offsets[row], offsets[row] + inner[row]):
            after, back = symbols[cell], 0
            while slots[after] >= 0:
                after = children[slots[after], spelled[row, back] if back < known else beginning]
                back += 1
            following[cell] = after


@kernel
def go_on(going: Any, offsets: Any, inner: Any, shares: Any, following: Any, after: Any) -> None:
    """Which part of all words is in each row after another symbol, where `going` is in each before it."""
    after[:] = 0.0
    for row in range(len(going)):
        if going[row] > 0.0:
            for cell in range(offsets[row], offsets[row] + inner[row]):
                after[following[cell]] += going[row] * shares[cell]


@kernel
def fill_aliases(offsets: Any, inner: Any, shares: Any, accepted: Any, others: Any) -> None:
    """Tables to draw a cell of a row with one number: take cell i with `accepted[i]`, otherwise `others[i]`.

    Each cell has room for 1/n of a row of n cells. One that has less shares its room with one that has too much.
    """
    waiting = np.empty(inner.max() if len(inner) else 0, dtype=np.int64)
    for row in range(len(inner)):
        low, width = offsets[row], inner[row]
        small, large = 0, width  # small ones are at the front, large ones at the back
        for cell in range(low, low + width):
            accepted[cell], others[cell] = shares[cell] * width, cell
            if accepted[cell] < 1.0:
                waiting[small] = cell
                small += 1
            else:
                large -= 1
                waiting[large] = cell
        while small > 0 and large < width:
            one, other = waiting[small - 1], waiting[large]
            others[one] = other
            accepted[other] -= 1.0 - accepted[one]
            small -= 1
            if accepted[other] < 1.0:
                large += 1
                waiting[small] = other
                small += 1
        for i in range(small):  # what rounding has left over
            accepted[waiting[i]] = 1.0
        for i in range(large, width):
            accepted[waiting[i]] = 1.0


@kernel
def draw_words(
    words: Any,
    lengths: Any,
    done: int,
    given: int,
    first_row: int,
    offsets: Any,
    inner: Any,
    symbols: Any,
    accepted: Any,
    others: Any,
    following: Any,
    odds: Any,
    factors: Any,
    going: Any,
    rows: Any,
    bits: Any,
) -> int:
    """Complete the words from number `done` on, which begin with `given` symbols, as long as there are random bits.

    With their given symbols they are in `first_row`. Each event takes 64 bits, of which 53 are used. As many words as
    `going` and `rows` have room for are drawn side by side, a symbol of each at a time: what is looked up for one does
    not wait for the others, and nothing depends on a guess which of them end. Returns how many words are done now.
    """
    longest, used, last_cell = words.shape[1], 0, np.uintp(len(symbols) - 1)
    while done < len(words):
        count = min(len(going), len(words) - done)
        if used + count * (longest - given) > len(bits):
            break
        for i in range(count):
            going[i], rows[i] = done + i, first_row
        for position in range(given, longest):
            left = 0
            for i in range(count):
                word, row = np.uintp(going[i]), np.uintp(rows[i])
                ending = _odds_of_ending(odds[row], factors[position])
                number = (np.float64(bits[used + i] >> np.uint64(11)) + 0.5) * 2.0**-53
                # The word ends with probability e/(1+e); otherwise the number, moved and stretched, is uniform again.
                # Where nothing but the end can follow, it is not a number.
                number = number * (1.0 + ending) - ending
                goes_on = number > 0.0
                place = (min(number, 0.9999999999999999) if goes_on else 0.0) * inner[row]
                within = np.uintp(place)
                cell = min(np.uintp(offsets[row]) + within, last_cell)
                other = np.uintp(others[cell])
                cell = other if place - within >= accepted[cell] else cell
                words[word, position] = symbols[cell] if goes_on else 0
                lengths[word] = position
                going[left], rows[left] = word, following[cell]
                left += goes_on
            used += count
            count = left
        for i in range(count):
            lengths[going[i]] = longest
        done += min(len(going), len(words) - done)
    return done
