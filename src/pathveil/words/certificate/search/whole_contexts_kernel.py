"""The inner loops of the bounds that keep together what a context of a node does to all symbols.

Weights α before and β after the run are in units of those of the word's own symbol c. With e(y) = z^[y≠d] - λz^[y≠c]
and sums over y, Z(v)/Z(w) = N/D is at most λ + max(N - λD, 0)/D, and for any weights α₀ and β₀

    N - λD = Σ αeβ = Σ αeβ₀ + Σ α₀eβ - Σ α₀eβ₀ + Σ (α-α₀)e(β-β₀).

The first two sums are quotients of linear functions of the weights where the contexts begin, and the last one is small
of second order. If β₀ is the corner of its box where β is worst, then Σ αeβ ≤ Σ αeβ₀ alone will do, and the same for α.
(docs/certified.md, "Whole contexts")
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pathveil.numerics.jit import checked_kernel
from pathveil.words.certificate.search.context_kernel import begin_at_run, largest_number, step_back

_HUGE = 1e60  # numbers of walks and ends of boxes beyond it give no bound here
_TINY = 1e-200
_STEPS = 12  # at most, towards the largest quotient; any of them gives a bound
_TURNS = 5  # values of λ that are tried at most; any of them gives a bound


@checked_kernel
def products(
    current: Any, paths: Any, depths: Any, groups: Any, v: Any, other_rows: Any, other: Any, near: Any,
    predecessors: Any, z: float,
) -> Any:  # fmt: skip
    """What the weights at the run are for a unit weight at each symbol x where a context begins.

    The nodes of context e are groups[e] to groups[e+1]; `other` is (lo, hi) of the box of the other side, that of a
    node from other_rows on. The result has M(x, c), one row for each context; then for each node M(x, d)β₀(d) and
    Σ M(x, y)β₀(y), with β₀ in the middle of its box; then the same with β₀ in the worst corner. Contexts with numbers
    that are too large get infinite ones.
    """
    (near_offsets, near_symbols), (lo, hi) = near, other
    m = len(predecessors[0]) - 1
    place, states, others = np.full(m, -1), np.empty(m, np.int64), np.empty(m, np.int64)
    table, other_table = np.empty((m, m)), np.empty((m, m))
    with_w = np.zeros((len(current), m))
    with_v, with_all = np.zeros((len(v), m)), np.zeros((len(v), m))
    worst_v, worst_all = np.zeros((len(v), m)), np.zeros((len(v), m))
    for e in range(len(current)):
        c, depth = current[e], depths[e]
        begin, columns = near_offsets[c], near_offsets[c + 1] - near_offsets[c]
        of, count = begin_at_run(c, near_symbols[begin : begin + columns], states, table), columns
        for step in range(depth):
            count = step_back(states, count, table, columns, predecessors, place, others, other_table)
            states, others, table, other_table = others, states, other_table, table
            for k in range(count):
                if states[k] != paths[e, step]:
                    for j in range(columns):
                        table[k, j] *= z
        if largest_number(table, count, columns) > _HUGE:
            with_w[e] = np.inf
            continue
        for k in range(count):
            with_w[e, states[k]] = table[k, of]
        for node in range(groups[e], groups[e + 1]):
            row, of_v = other_rows[node], 0
            for j in range(columns):
                if near_symbols[begin + j] == v[node]:
                    of_v = j
            low_v, high_v = lo[row + of_v], hi[row + of_v]
            for k in range(count):
                lowest, highest, s, to_v = 0.0, 0.0, states[k], table[k, of_v]
                for j in range(columns):
                    lowest += table[k, j] * lo[row + j]
                    highest += table[k, j] * hi[row + j]
                with_v[node, s], with_all[node, s] = to_v * (0.5 * (low_v + high_v)), 0.5 * (lowest + highest)
                worst_v[node, s], worst_all[node, s] = to_v * high_v, lowest + to_v * (high_v - low_v)
    return with_w, (with_v, with_all), (worst_v, worst_all)


@checked_kernel
def _largest(low: Any, high: Any, gains: Any, sizes: Any, units: Any, quotient: float, slack: float) -> float:
    """More than Σ a·gains / Σ a·units for all a with low ≤ a ≤ high, where gains are off by slack·sizes at most."""
    for _ in range(_STEPS):
        above, below = 0.0, 0.0
        for s in range(len(low)):
            a = high[s] if gains[s] > quotient * units[s] else low[s]
            above += a * gains[s]
            below += a * units[s]
        if not (below > 0.0 and above > quotient * below + 1e-9 * abs(quotient * below)):
            break
        quotient = above / below
    excess, doubt, least = 0.0, 0.0, 0.0
    for s in range(len(low)):
        gain = gains[s] - quotient * units[s]
        excess += (high[s] if gain > 0.0 else low[s]) * gain
        doubt += high[s] * (sizes[s] + abs(quotient) * units[s])
        least += low[s] * units[s]
    least *= 1.0 - slack
    if not least > _TINY:
        return np.inf
    return quotient + max(excess + 2.0 * slack * doubt, 0.0) / least * (1.0 + slack)


@checked_kernel
def _one_side(
    start: Any, with_w: Any, with_v: Any, with_all: Any, factor: float, z: float, guess: float, slack: float, work: Any
) -> float:
    """More than Σ αeβ₀ for λ = factor, whatever the weights in the box `start` are where the context begins."""
    gains, sizes = work
    for s in range(len(gains)):
        lost = z * (factor - 1.0) * with_all[s] + factor * (1.0 - z) * with_w[s]
        gains[s] = (1.0 - z) * with_v[s] - lost
        sizes[s] = (1.0 - z) * with_v[s] + lost
    low, high = start
    largest: float = _largest(low, high, gains, sizes, with_w, guess, slack)
    return largest


@checked_kernel
def _sums_at_run(c: int, v: int, p: int, q: int, near: Any, boxes: Any) -> Any:
    """(Σ α₀β₀, Σ of both lower ends, α₀β₀ of v, by how much both can differ there, the sum of that for the others).

    The first is infinite where boxes are too wide to be used.
    """
    (offsets, symbols), ((before_lo, before_hi), (after_lo, after_hi)) = near, boxes
    total, least, at_v, spread_at_v, others = 0.0, 0.0, np.inf, 0.0, 0.0
    for j in range(offsets[c + 1] - offsets[c]):
        y, low, high, low_after, high_after = (
            symbols[offsets[c] + j], before_lo[p + j], before_hi[p + j], after_lo[q + j], after_hi[q + j]
        )  # fmt: skip
        if not (high < _HUGE and high_after < _HUGE):
            return np.inf, 0.0, 0.0, 0.0, 0.0
        a, b = 0.5 * (low + high), 0.5 * (low_after + high_after)
        spread = max(high - a, a - low) * max(high_after - b, b - low_after)
        total += a * b
        least += low * low_after
        if y == v:
            at_v, spread_at_v = a * b, spread
        elif y != c:
            others += spread
    return (total if at_v < np.inf else np.inf), least, at_v, spread_at_v, others


@checked_kernel
def whole_contexts(
    w: Any, v: Any, rows: Any, near: Any, boxes: Any, starts: Any, contexts: Any, tables: Any, z: float, slack: float
) -> Any:
    """For each node: bounds for Z(v)/Z(w), and what not knowing how the prefix and the suffix begin adds to N - λD.

    The bounds are one with both contexts as a whole, one with the prefix and one with the suffix. Pairs have the prefix
    first. `rows`: where the boxes at the run begin, in `boxes` (lo, hi); `starts`: (lo, hi) of the weights where each
    of the `contexts` begins, one row for each; `tables`: as `products` returns them.
    """
    m = tables[0][0].shape[1]
    work = np.empty(m), np.empty(m)
    bounds, adds = np.full((3, len(w)), np.inf), np.zeros((2, len(w)))
    for node in range(len(w)):
        total, least, at_v, spread_at_v, others = _sums_at_run(
            w[node], v[node], rows[0][node], rows[1][node], near, boxes
        )
        known = total < np.inf
        for side in range(2):
            known &= tables[side][0][contexts[side][node], 0] < np.inf
        if not known:
            continue
        least, unit = (z * least + 1.0 - z) * (1.0 - slack), z * total + 1.0 - z
        for kind in range(3):
            factor = (z * total + (1.0 - z) * at_v) / unit
            for _ in range(_TURNS):
                factor = min(max(factor, 1.0), 1.0 / z)
                lost = z * (factor - 1.0) * total + factor * (1.0 - z)
                middle = (1.0 - z) * at_v - lost
                excess, doubt = 0.0, 0.0
                for side in range(2):
                    if kind == 0 or side == kind - 1:
                        e = contexts[side][node]
                        with_w, with_v, with_all = (
                            tables[side][0][e],
                            tables[side][1][0][node],
                            tables[side][1][1][node],
                        )
                        if kind > 0:
                            with_v, with_all = tables[side][2][0][node], tables[side][2][1][node]
                        start = starts[side][0][e], starts[side][1][e]
                        part = _one_side(start, with_w, with_v, with_all, factor, z, middle, slack, work)
                        excess += part
                        doubt += abs(part)
                        if kind == 0:
                            adds[side, node] = part - middle
                if kind == 0:
                    second = z * (factor - 1.0) * others + max(1.0 - factor * z, 0.0) * spread_at_v
                    excess += second - middle
                    doubt += second + (1.0 - z) * at_v + lost
                excess += 4.0 * slack * doubt
                bounds[kind, node] = min(bounds[kind, node], (factor + max(excess, 0.0) / least) * (1.0 + slack))
                if not (excess < np.inf and abs(excess) > 1e-4 * unit):
                    break
                factor += excess / unit
    return bounds, adds
