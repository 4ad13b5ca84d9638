"""The inner loops of the certificate: arrays in, arrays out, no policy.

`ratio_bounds` and `runs` explain the quantities; g(y) is what a step makes of s, for the new symbol y.
Arguments that belong together come as tuples: a box is (lo, hi, dropped, offsets, kept), the intervals of its kept
pairs and where they lie; links are (offsets, symbols). Pairs that are not kept have the lower end 0 and the upper end
`dropped`. While a symbol c is at hand, its intervals stand in two arrays `low` and `high`, one number for each y.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pathveil.numerics.jit import checked_kernel, part_of_kernel


@part_of_kernel
def _lay_out(c: int, shift: int, box: Any, low: Any, high: Any) -> None:
    """Write the intervals of the pairs that are kept for c, which begin `shift` places later, to low and high."""
    lo, hi, _, offsets, kept = box
    for j in range(offsets[c], offsets[c + 1]):
        low[kept[j]], high[kept[j]] = lo[j + shift], hi[j + shift]


@part_of_kernel
def _clear_away(c: int, box: Any, low: Any, high: Any) -> None:
    """Undo `_lay_out`: all pairs count as dropped again."""
    _, _, dropped, offsets, kept = box
    for j in range(offsets[c], offsets[c + 1]):
        low[kept[j]], high[kept[j]] = 0.0, dropped[kept[j]]


@part_of_kernel
def _denominator(
    new: int, z: float, low: Any, high: Any, successors: Any, predecessors: Any, both_low: Any, both_high: Any
) -> Any:
    """Both ends of g(new); adds up for each y, in both_low and both_high, what it shares with g(y)."""
    (next_offsets, next_symbols), (before_offsets, before_symbols) = successors, predecessors
    bottom_low, bottom_high = 0.0, 0.0
    for j in range(before_offsets[new], before_offsets[new + 1]):
        x = before_symbols[j]
        x_low, x_high = z * low[x], z * high[x]
        bottom_low += x_low
        bottom_high += x_high
        if x_high > 0.0:
            for k in range(next_offsets[x], next_offsets[x + 1]):
                both_low[next_symbols[k]] += x_low
                both_high[next_symbols[k]] += x_high
    return 1.0 + bottom_low, 1.0 + bottom_high


@part_of_kernel
def _forget_shared(new: int, successors: Any, predecessors: Any, both_low: Any, both_high: Any) -> None:
    """Set what `_denominator` added up back to 0."""
    (next_offsets, next_symbols), (before_offsets, before_symbols) = successors, predecessors
    for j in range(before_offsets[new], before_offsets[new + 1]):
        x = before_symbols[j]
        for k in range(next_offsets[x], next_offsets[x + 1]):
            both_low[next_symbols[k]], both_high[next_symbols[k]] = 0.0, 0.0


@part_of_kernel
def _numerator(y: int, z: float, direct: float, low: Any, high: Any, predecessors: Any) -> Any:
    """Both ends of g(y): the direct step c→y, if there is one, and all ways over other symbols."""
    before_offsets, before_symbols = predecessors
    sum_low, sum_high = 0.0, 0.0
    for k in range(before_offsets[y], before_offsets[y + 1]):
        sum_low += low[before_symbols[k]]
        sum_high += high[before_symbols[k]]
    return direct + z * sum_low, direct + z * sum_high


@part_of_kernel
def _upper_end(
    top_high: float,
    bottom_low: float,
    both_low: float,
    both_high: float,
    direct: float,
    slack: float,
    tiny: float,
    huge: float,
) -> float:
    """The largest that g(y) / g(new) can be; what the two share is taken where it makes the quotient largest."""
    # What only the numerator or only the denominator has. Subtracting may cancel, so the slack is relative to the
    # whole; the direct step c→y is never part of what is subtracted.
    above = max(top_high - both_high, direct) + slack * top_high
    below = max(bottom_low - both_low - slack * bottom_low, 1.0)
    both = both_low if above >= below else both_high
    # An upper end that underflowed to 0 would stay there; a tiny number above it stays sound.
    upper = max((above + both) / (below + both) * (1.0 + slack), tiny)
    return upper if top_high < np.inf and upper < huge else np.inf


@part_of_kernel
def _lower_end(
    top_low: float, bottom_high: float, both_low: float, both_high: float, direct: float, slack: float
) -> float:
    """The smallest that g(y) / g(new) can be."""
    if not bottom_high < np.inf:
        return 0.0
    above = max(top_low - both_low - slack * top_low, direct)
    below = max(bottom_high - both_high, 1.0) + slack * bottom_high
    both = both_high if above >= below else both_low
    return (above + both) / (below + both) * (1.0 - slack)


@checked_kernel
def step_boxes(
    box: Any,
    rows: Any,
    last_symbol: Any,
    extensions: Any,
    new_rows: Any,
    successors: Any,
    predecessors: Any,
    z: float,
    slack: float,
    tiny: float,
    huge: float,
) -> Any:
    """The boxes of one position from those of the position before, for every context: (lo, hi).

    Context k owns the slice `rows[k]:rows[k+1]` of the box, one interval for each kept y of its last symbol; an upper
    end may be infinite: nothing is known. `extensions` are (parent, current, child): the context that is extended, the
    new symbol, and the context that this gives, whose row begins at new_rows[child]. Those of one parent stand
    together.
    """
    (_, _, dropped, kept_offsets, kept), (parent, current, child) = box, extensions
    next_offsets, next_symbols = successors
    m = len(dropped)
    new_lo, new_hi = np.full(new_rows[-1], np.inf), np.zeros(new_rows[-1])
    # For the context at hand: bounds of s(x) for every x ≠ c, whether c→y, and g(y) where it was needed already.
    low, high, direct = np.zeros(m), dropped.copy(), np.zeros(m)
    top_low, top_high, known_for = np.empty(m), np.empty(m), np.full(m, -1)
    # For the extension at hand: the weight of the predecessors that y shares with the new symbol.
    both_low, both_high = np.zeros(m), np.zeros(m)
    extension = 0
    while extension < len(parent):
        context = parent[extension]
        c = last_symbol[context]
        _lay_out(c, rows[context] - kept_offsets[c], box, low, high)
        low[c], high[c] = 0.0, 0.0
        for j in range(next_offsets[c], next_offsets[c + 1]):
            direct[next_symbols[j]] = 1.0
        while extension < len(parent) and parent[extension] == context:
            new, place = current[extension], new_rows[child[extension]]
            bottom_low, bottom_high = _denominator(
                new, z, low, high, successors, predecessors, both_low, both_high
            )  # fmt: skip
            for j in range(kept_offsets[new], kept_offsets[new + 1]):
                y = kept[j]
                if known_for[y] != context:
                    known_for[y] = context
                    top_low[y], top_high[y] = _numerator(y, z, direct[y], low, high, predecessors)
                upper = _upper_end(
                    top_high[y], bottom_low, both_low[y], both_high[y], direct[y], slack, tiny, huge
                )  # fmt: skip
                lower = _lower_end(top_low[y], bottom_high, both_low[y], both_high[y], direct[y], slack)
                if y == new:
                    upper, lower = 1.0, 1.0
                new_hi[place] = max(new_hi[place], upper)
                new_lo[place] = min(new_lo[place], lower if lower > tiny else 0.0)
                place += 1
            _forget_shared(new, successors, predecessors, both_low, both_high)
            extension += 1
        for j in range(next_offsets[c], next_offsets[c + 1]):
            direct[next_symbols[j]] = 0.0
        _clear_away(c, box, low, high)
    return new_lo, new_hi


@checked_kernel
def unite_rows(box: Any, rows: Any, last_symbol: Any) -> Any:
    """One box for each current symbol, the smallest that contains those of all contexts that end in it: (lo, hi)."""
    lo, hi, _, kept_offsets, kept = box
    lower, upper = np.full(len(kept), np.inf), np.zeros(len(kept))
    for context in range(len(last_symbol)):
        c = last_symbol[context]
        shift = rows[context] - kept_offsets[c]
        for j in range(kept_offsets[c], kept_offsets[c + 1]):
            lower[j] = min(lower[j], lo[j + shift])
            upper[j] = max(upper[j], hi[j + shift])
            if kept[j] == c:
                lower[j], upper[j] = 1.0, 1.0  # whatever happens
    return lower, upper


@checked_kernel
def largest_quotient_of_single_symbols(w: Any, v: Any, prefix: Any, suffix: Any, z: float, slack: float) -> float:
    """The largest Z(v)/Z(w) when the symbol w is replaced by v, over all pairs: (a + z(1+o)) / (1 + z(a+o)).

    a is the upper end for v and o the sum of the lower ends of all symbols other than v and w. Pairs with the same w
    should stand together: what belongs to w is looked up when w changes.
    """
    suffix_lo, _, suffix_dropped, suffix_offsets, suffix_kept = suffix
    prefix_dropped = prefix[2]
    before_low, before_high = np.zeros(len(prefix_dropped)), prefix_dropped.copy()
    after_low, after_high = np.zeros(len(prefix_dropped)), suffix_dropped.copy()
    others, largest, c = 0.0, 0.0, -1
    for pair in range(len(w)):
        if w[pair] != c:
            if c >= 0:
                _clear_away(c, prefix, before_low, before_high)
                _clear_away(c, suffix, after_low, after_high)
            c = w[pair]
            _lay_out(c, 0, prefix, before_low, before_high)
            _lay_out(c, 0, suffix, after_low, after_high)
            others = 0.0
            for j in range(suffix_offsets[c], suffix_offsets[c + 1]):
                y = suffix_kept[j]
                if y != c:
                    others += before_low[y] * suffix_lo[j]
        y = v[pair]
        a = before_high[y] * after_high[y]
        # Subtracting may cancel, so the slack is relative to the whole.
        o = max(others * (1.0 - slack) - before_low[y] * after_low[y], 0.0)
        if not a < np.inf:
            return np.inf
        largest = max(largest, (a + z * (1.0 + o)) / (1.0 + z * (a + o)))
    return largest
