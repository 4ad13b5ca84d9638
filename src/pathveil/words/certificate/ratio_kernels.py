"""The inner loops of the certificate, compiled at first use: arrays in, arrays out, no policy.

`ratio_bounds` and `runs` explain the quantities. Lists of symbols are given as offsets and symbols (`Links`).
"""

from __future__ import annotations

import numpy as np

from pathveil.numerics.arrays import FloatArray, IntArray


def step_boxes(
    lo: FloatArray,
    hi: FloatArray,
    rows: IntArray,
    dropped: FloatArray,
    last_symbol: IntArray,
    parent: IntArray,
    current: IntArray,
    child: IntArray,
    new_rows: IntArray,
    kept_offsets: IntArray,
    kept: IntArray,
    next_offsets: IntArray,
    next_symbols: IntArray,
    before_offsets: IntArray,
    before_symbols: IntArray,
    z: float,
    slack: float,
    tiny: float,
    huge: float,
) -> tuple[FloatArray, FloatArray]:
    """The boxes of one position from those of the position before, for every context.

    Context k owns the slice `rows[k]:rows[k+1]` of lo and hi, one number for each kept y of its last symbol.
    `dropped[y]` bounds the ratio of every y that is not kept. An upper end may be infinite: nothing is known.
    """
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
        begin, end, shift = kept_offsets[c], kept_offsets[c + 1], rows[context] - kept_offsets[c]
        for j in range(begin, end):
            low[kept[j]], high[kept[j]] = lo[j + shift], hi[j + shift]
        low[c], high[c] = 0.0, 0.0
        for j in range(next_offsets[c], next_offsets[c + 1]):
            direct[next_symbols[j]] = 1.0
        while extension < len(parent) and parent[extension] == context:
            new = current[extension]
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
            bottom_low, bottom_high = 1.0 + bottom_low, 1.0 + bottom_high

            place = new_rows[child[extension]]
            for j in range(kept_offsets[new], kept_offsets[new + 1]):
                y = kept[j]
                if known_for[y] != context:
                    known_for[y] = context
                    sum_low, sum_high = 0.0, 0.0
                    for k in range(before_offsets[y], before_offsets[y + 1]):
                        sum_low += low[before_symbols[k]]
                        sum_high += high[before_symbols[k]]
                    top_low[y], top_high[y] = direct[y] + z * sum_low, direct[y] + z * sum_high
                # What only the numerator or only the denominator has. Subtracting may cancel, so the slack is
                # relative to the whole; the direct step c→y is never part of what is subtracted.
                above = max(top_high[y] - both_high[y], direct[y]) + slack * top_high[y]
                below = max(bottom_low - both_low[y] - slack * bottom_low, 1.0)
                both = both_low[y] if above >= below else both_high[y]
                # An upper end that underflowed to 0 would stay there; a tiny number above it stays sound.
                upper = max((above + both) / (below + both) * (1.0 + slack), tiny)
                if not (top_high[y] < np.inf and upper < huge):
                    upper = np.inf

                lower = 0.0
                if bottom_high < np.inf:
                    above = max(top_low[y] - both_low[y] - slack * top_low[y], direct[y])
                    below = max(bottom_high - both_high[y], 1.0) + slack * bottom_high
                    both = both_high[y] if above >= below else both_low[y]
                    lower = (above + both) / (below + both) * (1.0 - slack)
                if y == new:
                    upper, lower = 1.0, 1.0
                new_hi[place] = max(new_hi[place], upper)
                new_lo[place] = min(new_lo[place], lower if lower > tiny else 0.0)
                place += 1

            for j in range(before_offsets[new], before_offsets[new + 1]):
                x = before_symbols[j]
                for k in range(next_offsets[x], next_offsets[x + 1]):
                    both_low[next_symbols[k]], both_high[next_symbols[k]] = 0.0, 0.0
            extension += 1
        for j in range(next_offsets[c], next_offsets[c + 1]):
            direct[next_symbols[j]] = 0.0
        for j in range(begin, end):
            low[kept[j]], high[kept[j]] = 0.0, dropped[kept[j]]
    return new_lo, new_hi


def unite_rows(
    lo: FloatArray, hi: FloatArray, rows: IntArray, last_symbol: IntArray, kept_offsets: IntArray, kept: IntArray
) -> tuple[FloatArray, FloatArray]:
    """One box for each current symbol: the smallest that contains those of all contexts that end in it."""
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


def largest_quotient_of_single_symbols(
    w: IntArray,
    v: IntArray,
    prefix_lo: FloatArray,
    prefix_hi: FloatArray,
    prefix_dropped: FloatArray,
    prefix_offsets: IntArray,
    prefix_kept: IntArray,
    suffix_lo: FloatArray,
    suffix_hi: FloatArray,
    suffix_dropped: FloatArray,
    suffix_offsets: IntArray,
    suffix_kept: IntArray,
    z: float,
    slack: float,
) -> float:
    """The largest Z(v)/Z(w) when the symbol w is replaced by v, over all pairs: (a + z(1+o)) / (1 + z(a+o)).

    a is the upper end for v and o the sum of the lower ends of all symbols other than v and w. Pairs with the same w
    should stand together: what belongs to w is looked up when w changes.
    """
    m = len(prefix_dropped)
    before_low, before_high = np.zeros(m), prefix_dropped.copy()
    after_low, after_high = np.zeros(m), suffix_dropped.copy()
    others, largest, c = 0.0, 0.0, -1
    for pair in range(len(w)):
        if w[pair] != c:
            if c >= 0:
                for j in range(prefix_offsets[c], prefix_offsets[c + 1]):
                    before_low[prefix_kept[j]], before_high[prefix_kept[j]] = 0.0, prefix_dropped[prefix_kept[j]]
                for j in range(suffix_offsets[c], suffix_offsets[c + 1]):
                    after_low[suffix_kept[j]], after_high[suffix_kept[j]] = 0.0, suffix_dropped[suffix_kept[j]]
            c = w[pair]
            for j in range(prefix_offsets[c], prefix_offsets[c + 1]):
                before_low[prefix_kept[j]], before_high[prefix_kept[j]] = prefix_lo[j], prefix_hi[j]
            others = 0.0
            for j in range(suffix_offsets[c], suffix_offsets[c + 1]):
                y = suffix_kept[j]
                after_low[y], after_high[y] = suffix_lo[j], suffix_hi[j]
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
