"""Compiled draws by error class on any system: the table of R_i(r, y) for one word at a time, O(n² · edges).

R_i(r, y) is the number of ways to write the symbols after position i, standing in state y, with exactly r errors. It
is kept in floating point, which is safe as long as the largest count is a finite number: only positive terms are added
up. Equal words that follow each other share their table.
"""

from __future__ import annotations

from math import exp, expm1, log
from typing import Any

import numpy as np

from pathveil.systems.jit import kernel, part_of_kernel


@part_of_kernel
def _uniform(word: Any) -> float:
    return min((np.int64(word >> np.uint64(11)) + 0.5) * 2.0**-53, 1.0 - 2.0**-53)


@kernel
def fill_table(
    values: Any,
    begin: int,
    length: int,
    plan: Any,
    plan_offsets: Any,
    offsets: Any,
    labels: Any,
    targets: Any,
    rows: Any,
    table: Any,
) -> None:
    """R of one word. Position i begins at rows[i]; each state there has length - i + 1 numbers, one for each r."""
    for y in plan[plan_offsets[length] : plan_offsets[length + 1]]:
        table[rows[length] + y] = 1.0
    for i in range(length - 1, -1, -1):
        symbol = np.int64(values[begin + i])
        width = length - i  # numbers of a state at position i + 1; here there is one more
        for y in plan[plan_offsets[i] : plan_offsets[i + 1]]:
            here = table[rows[i] + y * (width + 1) : rows[i] + (y + 1) * (width + 1)]
            here[:] = 0.0
            for edge in range(offsets[y], offsets[y + 1]):
                first = rows[i + 1] + targets[edge] * width
                after = table[first : first + width]
                if labels[edge] == symbol:
                    for r in range(width):
                        here[r] += after[r]
                else:
                    for r in range(width):
                        here[r + 1] += after[r]


@part_of_kernel
def _noisy_maximum(counts: Any, scores: Any, words: Any, first: int) -> int:
    """Permute-and-flip: the class that holds the largest score + Exp(1); see law.draw_noisy_maximum."""
    best, chosen = -np.inf, -1
    for errors in range(len(counts)):
        if counts[errors] > 0.0:
            ratio = -log(_uniform(words[first + errors])) / counts[errors]
            noise = -log(ratio) if ratio < 1e-17 else -log(-expm1(-ratio))
            if scores[errors] + noise > best:
                best, chosen = scores[errors] + noise, errors
    return chosen


@part_of_kernel
def _weighted(counts: Any, scores: Any, word: Any) -> int:
    """The exponential mechanism: a class with probability ∝ count · e^score."""
    top = -np.inf
    for errors in range(len(counts)):
        if counts[errors] > 0.0:
            top = max(top, log(counts[errors]) + scores[errors])
    total = 0.0
    for errors in range(len(counts)):
        if counts[errors] > 0.0:
            total += exp(log(counts[errors]) + scores[errors] - top)
    mark, chosen = _uniform(word) * total, -1
    for errors in range(len(counts)):
        weight = exp(log(counts[errors]) + scores[errors] - top) if counts[errors] > 0.0 else 0.0
        if weight > 0.0:
            chosen = errors  # stays, should rounding carry the mark beyond the last class
            mark -= weight
            if mark < 0.0:
                break
    return chosen


@kernel
def draw_words(
    values: Any,
    begins: Any,
    length: int,
    plan: Any,
    plan_offsets: Any,
    offsets: Any,
    labels: Any,
    targets: Any,
    state_count: int,
    rows: Any,
    scores: Any,
    flip: bool,
    words: Any,
    private: Any,
) -> None:
    """A private word for each word; 2 · length + 1 words of keystream each.

    The number of errors comes from permute-and-flip (flip) or from the exponential mechanism with these scores.
    """
    table = np.zeros(rows[length] + state_count)
    start = plan[0]
    counts = table[start * (length + 1) : (start + 1) * (length + 1)]
    for word in range(len(begins)):
        begin = begins[word]
        fresh = word == 0
        if word:
            for i in range(length):
                if values[begin + i] != values[begins[word - 1] + i]:
                    fresh = True
                    break
        if fresh:
            fill_table(
                values, begin, length, plan, plan_offsets, offsets, labels, targets, rows, table
            )  # fmt: skip
        first = word * (2 * length + 1)
        left = _noisy_maximum(counts, scores, words, first) if flip else _weighted(counts, scores, words[first])
        y = start
        for i in range(length):
            symbol = np.int64(values[begin + i])
            width = length - i
            mark = _uniform(words[first + length + 1 + i]) * table[rows[i] + y * (width + 1) + left]
            taken = -1
            for edge in range(offsets[y], offsets[y + 1]):
                r = left if labels[edge] == symbol else left - 1
                weight = table[rows[i + 1] + targets[edge] * width + r] if 0 <= r < width else 0.0
                if weight > 0.0:
                    taken = edge  # stays, should rounding carry the mark beyond the last edge
                    mark -= weight
                    if mark < 0.0:
                        break
            if labels[taken] != symbol:
                left -= 1
            private[begin + i] = labels[taken]
            y = targets[taken]


@kernel
def nearest_classes(
    values: Any,
    begins: Any,
    length: int,
    plan: Any,
    plan_offsets: Any,
    offsets: Any,
    labels: Any,
    targets: Any,
    state_count: int,
    errors: Any,
    sizes: Any,
) -> None:
    """For each word the smallest number of errors of a feasible word, and how many feasible words have it."""
    far = length + 1
    distance, after = np.full(state_count, far), np.full(state_count, far)
    ways, ways_after = np.zeros(state_count), np.zeros(state_count)
    for word in range(len(begins)):
        after[:] = far
        ways_after[:] = 0.0
        for y in plan[plan_offsets[length] : plan_offsets[length + 1]]:
            after[y] = 0
            ways_after[y] = 1.0
        for i in range(length - 1, -1, -1):
            symbol = np.int64(values[begins[word] + i])
            distance[:] = far
            ways[:] = 0.0
            for y in plan[plan_offsets[i] : plan_offsets[i + 1]]:
                for edge in range(offsets[y], offsets[y + 1]):
                    x = targets[edge]
                    if after[x] == far:
                        continue
                    needed = after[x] + (labels[edge] != symbol)
                    if needed < distance[y]:
                        distance[y] = needed
                        ways[y] = 0.0
                    if needed == distance[y]:
                        ways[y] += ways_after[x]
            distance, after = after, distance
            ways, ways_after = ways_after, ways
        errors[word] = after[plan[0]]
        sizes[word] = ways_after[plan[0]]
