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

_HUGE = 1e60  # numbers of walks and ends of boxes beyond it give no bound here
_TINY = 1e-200
_STEPS = 12  # at most, towards the largest quotient; any of them gives a bound
_TURNS = 6  # values of λ that are tried at most; any of them gives a bound
_AT_W, _AT_V, _MIDDLE, _LOWEST = range(4)  # what is led back from the run to where a context begins


@checked_kernel
def _lead_back(
    c: int, v: int, path: Any, depth: int, row: int, near: Any, other: Any, predecessors: Any, z: float, table: Any
) -> bool:
    """What a unit weight at each symbol x where a context begins amounts to at the run, for four vectors there.

    table[:, x] becomes M(x, c), M(x, d), Σ M(x, y)β₀(y) with β₀ in the middle of the box of the other side, and the
    same with β₀ at its lower ends. False if these numbers are too large.
    """
    (near_offsets, near_symbols), (lo, hi), (offsets, symbols) = near, other, predecessors
    m = table.shape[1]
    rows, new = np.zeros((m, 4)), np.empty((m, 4))
    for j in range(near_offsets[c + 1] - near_offsets[c]):
        y = near_symbols[near_offsets[c] + j]
        if not hi[row + j] < _HUGE:
            return False
        rows[y, _MIDDLE], rows[y, _LOWEST] = 0.5 * (lo[row + j] + hi[row + j]), lo[row + j]
    rows[c, _AT_W] = rows[v, _AT_V] = 1.0
    largest = 0.0
    for step in range(depth):
        new[:] = 0.0
        for s in range(m):
            for j in range(offsets[s], offsets[s + 1]):
                x = symbols[j]
                for i in range(4):
                    new[x, i] += rows[s, i]
        for x in range(m):
            factor = 1.0 if x == path[step] else z
            for i in range(4):
                new[x, i] *= factor
                largest = max(largest, new[x, i])
        rows, new = new, rows
    for x in range(m):
        for i in range(4):
            table[i, x] = rows[x, i]
    return largest < _HUGE


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
    low: Any, high: Any, table: Any, ends: Any, at_worst: bool, factor: float, z: float, guess: float, slack: float,
    work: Any,
) -> float:  # fmt: skip
    """More than Σ αeβ₀ for λ = factor, whatever the weights from low to high are where the context begins.

    `ends` is the interval of β(d); β₀ is in the middle of its box, or in the worst corner.
    """
    gains, sizes = work
    at_v = ends[1] if at_worst else 0.5 * (ends[0] + ends[1])
    for s in range(len(gains)):
        both = table[_LOWEST, s] + table[_AT_V, s] * (ends[1] - ends[0]) if at_worst else table[_MIDDLE, s]
        gain = (1.0 - z) * (table[_AT_V, s] * at_v)
        lost = z * (factor - 1.0) * both + factor * (1.0 - z) * table[_AT_W, s]
        gains[s], sizes[s] = gain - lost, gain + lost
    largest: float = _largest(low, high, gains, sizes, table[_AT_W], guess, slack)
    return largest


@checked_kernel
def _sums_at_run(c: int, v: int, p: int, q: int, near: Any, boxes: Any) -> Any:
    """(Σ α₀β₀, Σ of both lower ends, α₀β₀ of v, by how much both can differ there, the sum of that for the others).

    Then the interval of β(v), and that of α(v). The first is infinite where boxes are too wide to be used.
    """
    (offsets, symbols), ((before_lo, before_hi), (after_lo, after_hi)) = near, boxes
    total, least, at_v, spread_at_v, others = 0.0, 0.0, np.inf, 0.0, 0.0
    ends_after, ends_before = (0.0, 0.0), (0.0, 0.0)
    for j in range(offsets[c + 1] - offsets[c]):
        y, low, high, low_after, high_after = (
            symbols[offsets[c] + j], before_lo[p + j], before_hi[p + j], after_lo[q + j], after_hi[q + j]
        )  # fmt: skip
        if not (high < _HUGE and high_after < _HUGE):
            return (np.inf, 0.0, 0.0, 0.0, 0.0), (ends_after, ends_before)
        a, b = 0.5 * (low + high), 0.5 * (low_after + high_after)
        spread = max(high - a, a - low) * max(high_after - b, b - low_after)
        total += a * b
        least += low * low_after
        if y == v:
            at_v, spread_at_v = a * b, spread
            ends_after, ends_before = (low_after, high_after), (low, high)
        elif y != c:
            others += spread
    return (total if at_v < np.inf else np.inf, least, at_v, spread_at_v, others), (ends_after, ends_before)


@checked_kernel
def whole_contexts(
    w: Any, v: Any, rows: Any, near: Any, boxes: Any, starts: Any, paths: Any, depths: Any, links: Any, z: float,
    slack: float, enough: float,
) -> Any:  # fmt: skip
    """For each node: bounds for Z(v)/Z(w), and what not knowing how the prefix and the suffix begin adds to N - λD.

    The bounds are one with both contexts as a whole, one with the prefix and one with the suffix; infinite where there
    is none, or where it would not be the smallest, or an earlier one is at most `enough`. Pairs have the prefix first.
    `rows`: where the boxes at the run begin, in `boxes` (lo, hi); `starts`: (lo, hi) of the weights where each context
    begins, one row for each node; `paths` and `depths`: its symbols, the one next to the run first; `links`: the
    predecessors on the way from the run to there.
    """
    m = starts[0][0].shape[1]
    work = np.empty(m), np.empty(m)
    tables = np.empty((4, m)), np.empty((4, m))
    bounds, adds = np.full((3, len(w)), np.inf), np.zeros((2, len(w)))
    for node in range(len(w)):
        (total, least, at_v, spread_at_v, others), ends = _sums_at_run(
            w[node], v[node], rows[0][node], rows[1][node], near, boxes
        )
        known = total < np.inf
        for side in range(2):
            known = known and _lead_back(
                w[node], v[node], paths[side][node], depths[side][node], rows[1 - side][node], near, boxes[1 - side],
                links[side], z, tables[side],
            )  # fmt: skip
        if not known:
            continue
        least, unit = (z * least + 1.0 - z) * (1.0 - slack), z * total + 1.0 - z
        best = np.inf
        for kind in range(3):
            # The first λ of the others is the best bound so far: if that does not do, they have no better one.
            factor = min(best, (z * total + (1.0 - z) * at_v) / unit if kind == 0 else best)
            before, excess_before, slope = factor, 0.0, unit
            for turn in range(_TURNS):
                factor = min(max(factor, 1.0), 1.0 / z)
                lost = z * (factor - 1.0) * total + factor * (1.0 - z)
                middle = (1.0 - z) * at_v - lost
                excess, doubt = 0.0, 0.0
                for side in range(2):
                    if kind == 0 or side == kind - 1:
                        low, high = starts[side][0][node], starts[side][1][node]
                        part = _one_side(low, high, tables[side], ends[side], kind > 0, factor, z, middle, slack, work)
                        excess += part
                        doubt += abs(part)
                        if kind == 0:
                            adds[side, node] = part - middle
                if kind == 0:
                    second = z * (factor - 1.0) * others + max(1.0 - factor * z, 0.0) * spread_at_v
                    excess += second - middle
                    doubt += second + (1.0 - z) * at_v + lost
                excess += 4.0 * slack * doubt
                bound = (factor + max(excess, 0.0) / least) * (1.0 + slack)
                if bound < best:
                    best = bounds[kind, node] = bound
                if not (excess < np.inf and abs(excess) > 1e-4 * unit) or (kind > 0 and turn == 0 and excess > 0.0):
                    break
                if turn > 0 and (excess_before - excess) * (factor - before) > 0.0:
                    slope = (excess_before - excess) / (factor - before)
                before, excess_before = factor, excess
                factor += excess / slope
            if best <= enough:
                break
    return bounds, adds
