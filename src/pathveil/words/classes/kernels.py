"""Compiled draws by error class on any system: the table of R_i(g, y) for one word at a time, O(n² · edges).

R_i(g, y) is the number of ways to write the symbols after position i, standing in state y, so that exactly g of them
are the word's own. It is kept in floating point, which is safe as long as the largest count is a finite number: only
positive terms are added up.

The table is made in strips of sixteen g, each from the last position to the first, so that what a strip works on stays
in the cache however long the word is. A whole table does not stay there, so only every fifteenth position is kept, and
the draw makes those in between again: standing at a kept position with g symbols to match, it needs the sixteen numbers
up to g only. Where the table is small, or many equal words that follow each other share it, all positions are kept.
Both ways add the same numbers in the same order.

Words for which a random number comes closer to a border than rounding can be trusted are marked as in doubt, for
`batches` to decide them by exact integers.
"""

from __future__ import annotations

from math import exp, log
from typing import Any

import numpy as np

from pathveil.numerics.jit import kernel, part_of_kernel

LANES = 16  # numbers of one strip
_SPACING = LANES - 1  # positions from one that is kept to the next
_SMALL_TABLE = 1 << 19  # numbers
_MANY_DRAWS = 8  # from one table


@part_of_kernel
def _uniform(bits: Any) -> float:
    return min((np.int64(bits >> np.uint64(11)) + 0.5) * 2.0**-53, 1.0 - 2.0**-53)


def _vector_instructions() -> tuple[Any, Any]:
    """For rows of sixteen: sum((row, a, b, ...)) is row = a + b + ...; shift(row, a, first) is row = (first, *a[:-1]).

    As loops these become sixteen steps one by one: the compiler unrolls them, and then has to expect that storing the
    first number changes what is read next.
    """
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    vector = ir.VectorType(ir.DoubleType(), LANES)

    def place(context: Any, builder: Any, kind: Any, array: Any) -> Any:
        return builder.bitcast(context.make_array(kind)(context, builder, array).data, vector.as_pointer())

    def load(context: Any, builder: Any, kind: Any, array: Any) -> Any:
        row = builder.load(place(context, builder, kind, array))
        row.align = 8  # rows begin at any number, not only where a whole vector would
        return row

    def sum_code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds, arrays = tuple(signature.args[0]), cgutils.unpack_tuple(builder, arguments[0])  # type: ignore[no-untyped-call]
        total = load(context, builder, kinds[1], arrays[1])
        for kind, array in zip(kinds[2:], arrays[2:], strict=True):
            total = builder.fadd(total, load(context, builder, kind, array))
        builder.store(total, place(context, builder, kinds[0], arrays[0])).align = 8
        return context.get_dummy_value()

    def shift_code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        moved = load(context, builder, signature.args[1], arguments[1])
        first = builder.insert_element(moved, arguments[2], ir.IntType(32)(0))
        order = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [LANES, *range(LANES - 1)])
        row = builder.shuffle_vector(moved, first, order)
        builder.store(row, place(context, builder, signature.args[0], arguments[0])).align = 8
        return context.get_dummy_value()

    @intrinsic
    def vector_sum(_: Any, rows: Any) -> Any:
        return types.void(rows), sum_code

    @intrinsic
    def vector_shift(_: Any, row: Any, moved: Any, first: Any) -> Any:
        return types.void(row, moved, first), shift_code

    return vector_sum, vector_shift


_sum, _shift = _vector_instructions()


@kernel
def class_graph(symbol_count: int, offsets: Any, labels: Any, targets: Any) -> Any:
    """(offsets, targets, four, label_offsets, label_edges, label_sources), the edges as `_step` wants them.

    four[y] are the first four successors of y; where there are fewer, the number of states stands for one that leads
    nowhere. The edges with label a, and the states they leave in increasing order, are the slice
    label_offsets[a]:label_offsets[a + 1] of label_edges and label_sources.
    """
    state_count = len(offsets) - 1
    four = np.full((state_count, 4), state_count)
    label_offsets = np.zeros(symbol_count + 1, np.int64)
    for label in labels:
        label_offsets[label + 1] += 1
    for label in range(symbol_count):
        label_offsets[label + 1] += label_offsets[label]
    label_edges, label_sources = np.empty(len(labels), np.int64), np.empty(len(labels), np.int64)
    free = label_offsets.copy()
    for y in range(state_count):
        for edge in range(offsets[y], offsets[y + 1]):
            if edge - offsets[y] < 4:
                four[y, edge - offsets[y]] = targets[edge]
            place = free[labels[edge]]
            label_edges[place], label_sources[place] = edge, y
            free[labels[edge]] += 1
    return offsets, targets, four, label_offsets, label_edges, label_sources


@kernel
def reached_states(length: int, start: int, offsets: Any, targets: Any) -> Any:
    """Row i marks the states in which a word can be after i symbols."""
    reached = np.zeros((length + 1, len(offsets) - 1), np.bool_)
    reached[0, start] = True
    for i in range(length):
        for y in range(len(offsets) - 1):
            if reached[i, y]:
                for edge in range(offsets[y], offsets[y + 1]):
                    reached[i + 1, targets[edge]] = True
    return reached


@part_of_kernel
def _step(symbol: int, reached: Any, graph: Any, after: Any, below: Any, here: Any, top: Any) -> None:
    """One position backwards, sixteen g at a time: `here` from `after`, the position that follows.

    `below` has the number beneath the sixteen of `after`; the last of `here` are repeated in `top`. States that no word
    reaches are left at 0.
    """
    offsets, targets, four, label_offsets, label_edges, label_sources = graph
    following, end = label_offsets[symbol], label_offsets[symbol + 1]
    for y in range(len(reached)):
        row = here[y]
        right = -1
        if following < end and label_sources[following] == y:
            right = label_edges[following]
            following += 1
        if not reached[y]:
            row[:] = 0.0
        elif right < 0:
            _sum((row, after[four[y, 0]], after[four[y, 1]], after[four[y, 2]], after[four[y, 3]]))
            for edge in range(offsets[y] + 4, offsets[y + 1]):
                _sum((row, row, after[targets[edge]]))
        else:
            x = targets[right]
            _shift(row, after[x], below[x])
            for edge in range(offsets[y], offsets[y + 1]):
                if edge != right:
                    _sum((row, row, after[targets[edge]]))
        top[y] = row[LANES - 1]
    here[len(reached)] = 0.0  # the successor that a state with fewer than four does not have


@kernel
def strips(length: int, spacing: int) -> Any:
    """Where each strip of sixteen g begins in the table, counted in positions kept; last, the number of all of them."""
    starts = np.zeros(length // LANES + 2, np.int64)
    for strip in range(length // LANES + 1):
        starts[strip + 1] = starts[strip] + (length - strip * LANES) // spacing + 1
    return starts


@kernel
def fill_table(
    values: Any,
    begin: int,
    length: int,
    reached: Any,
    accepting: Any,
    graph: Any,
    spacing: int,
    starts: Any,
    spare: Any,
    edges_of_strips: Any,
    table: Any,
) -> None:
    """R of one word where `spacing` divides the position: table[starts[g // 16] + i // spacing, y, g % 16].

    A strip ends where fewer than its g symbols follow; what lies beyond is 0.
    """
    edges_of_strips[0] = 0.0
    for strip in range(length // LANES + 1):
        below, top = edges_of_strips[strip & 1], edges_of_strips[(strip + 1) & 1]
        last = length - strip * LANES
        after = spare[2]  # zeros
        for i in range(last, -1, -1):
            here = table[starts[strip] + i // spacing] if i % spacing == 0 else spare[i & 1]
            if i == length:
                here[:] = 0.0
                for y in range(len(accepting)):
                    here[y, 0] = accepting[y]
            else:
                _step(
                    np.int64(values[begin + i]), reached[i], graph, after, below[i + 1], here, top[i]
                )  # fmt: skip
            after = here


@part_of_kernel
def _fill_between(
    values: Any,
    begin: int,
    length: int,
    reached: Any,
    accepting: Any,
    graph: Any,
    starts: Any,
    kept: int,
    g: int,
    nothing: Any,
    table: Any,
    between: Any,
) -> None:
    """The positions from a kept one to the next: between[i - kept, y, 15 - d] is R_i(g - d, y) for d ≤ i - kept."""
    end = min(kept + _SPACING, length)
    here = between[end - kept]
    here[:] = 0.0
    for lane in range(LANES):
        wanted = g - (LANES - 1) + lane
        if 0 <= wanted <= length - end:
            for y in range(len(accepting)):  # as slices, their shapes are compared, which takes seconds to compile
                if end == length:
                    here[y, lane] = accepting[y]
                else:
                    here[y, lane] = table[starts[wanted // LANES] + end // _SPACING, y, wanted % LANES]
    for i in range(end - 1, kept, -1):
        _step(
            np.int64(values[begin + i]), reached[i], graph, between[i + 1 - kept], nothing[0],
            between[i - kept], nothing[1],
        )  # fmt: skip


@part_of_kernel
def _weigh(counts: Any, scores: Any, weights: Any) -> None:
    """What the exponential mechanism gives each class, count · e^score, relative to the largest."""
    top = -np.inf
    for errors in range(len(counts)):
        weights[errors] = log(counts[errors]) + scores[errors] if counts[errors] > 0.0 else -np.inf
        top = max(top, weights[errors])
    for errors in range(len(counts)):
        weights[errors] = exp(weights[errors] - top)


@part_of_kernel
def _weighted(weights: Any, bits: Any, margin: float) -> Any:
    """The exponential mechanism: a class with probability ∝ weight, and whether that is in doubt."""
    total = 0.0
    for weight in weights:
        total += weight
    mark, chosen, in_doubt = _uniform(bits) * total, -1, False
    for errors in range(len(weights)):
        if weights[errors] > 0.0:
            chosen = errors  # stays, should rounding carry the mark beyond the last class
            mark -= weights[errors]
            in_doubt |= abs(mark) < margin * total
            if mark < 0.0:
                break
    return chosen, in_doubt


@kernel
def _next_word(values: Any, begins: Any, word: int, length: int) -> int:
    """The first word after this one that is different from it."""
    for other in range(word + 1, len(begins)):
        for i in range(length):
            if values[begins[other] + i] != values[begins[word] + i]:
                return other
    return len(begins)


@kernel
def draw_from_tables(
    values: Any,
    begins: Any,
    length: int,
    symbol_count: int,
    start: int,
    accepting: Any,
    offsets: Any,
    labels: Any,
    targets: Any,
    scores: Any,
    keystream: Any,
    private: Any,
    margin: float,
    weight_margin: float,
    in_doubt: Any,
) -> None:
    """A private word for each word, from the exponential mechanism with these scores; length + 1 keystream values each.

    The first says how many errors there are, the others which symbol comes next.
    """
    graph = class_graph(symbol_count, offsets, labels, targets)
    reached = reached_states(length, start, offsets, targets)
    state_count = len(accepting)
    all_kept, few_kept = strips(length, 1), strips(length, _SPACING)
    table = np.empty((all_kept[-1], state_count + 1, LANES))  # memory that is never written is never taken
    small = table.size <= _SMALL_TABLE
    spare, edges_of_strips = np.zeros((3, state_count + 1, LANES)), np.empty((2, length + 1, state_count))
    between, nothing = np.empty((LANES, state_count + 1, LANES)), np.zeros((2, state_count))
    counts, weights, filled = np.empty(length + 1), np.empty(length + 1), 0
    whole, starts = True, all_kept
    for word in range(len(begins)):
        begin = begins[word]
        if word == filled:
            filled = _next_word(values, begins, word, length)
            whole = small or filled - word >= _MANY_DRAWS
            starts = all_kept if whole else few_kept
            fill_table(
                values, begin, length, reached, accepting, graph, 1 if whole else _SPACING, starts, spare,
                edges_of_strips, table,
            )  # fmt: skip
            for errors in range(length + 1):
                counts[errors] = table[starts[(length - errors) // LANES], start, (length - errors) % LANES]
            _weigh(counts, scores, weights)
        first = word * (length + 1)
        errors, in_doubt[word] = _weighted(weights, keystream[first], weight_margin)
        y, g, total, highest = start, length - errors, counts[errors], 0
        for i in range(length):
            symbol = np.int64(values[begin + i])
            if not whole and i % _SPACING == 0:
                highest = g
                _fill_between(values, begin, length, reached, accepting, graph, starts, i, g, nothing, table, between)
            mark = _uniform(keystream[first + 1 + i]) * total
            near = margin * total
            taken = -1
            for edge in range(offsets[y], offsets[y + 1]):
                after = g - 1 if labels[edge] == symbol else g
                if not 0 <= after < length - i:
                    continue
                x = targets[edge]
                if whole:
                    weight = table[starts[after // LANES] + i + 1, x, after % LANES]
                else:
                    weight = between[i % _SPACING + 1, x, LANES - 1 - highest + after]
                if weight > 0.0:
                    taken = edge  # stays, should rounding carry the mark beyond the last edge
                    total = weight
                    mark -= weight
                    in_doubt[word] |= abs(mark) < near
                    if mark < 0.0:
                        break
            if labels[taken] == symbol:
                g -= 1
            private[begin + i] = labels[taken]
            y = targets[taken]
