"""Compiled draws by marks and gaps, for systems where the symbol decides the state: O(n · reach) a word.

With N_g(x, y) the number of walks of g steps from x to y, Out(g, x) that of walks from x that end accepted, and B_i the
weight of everything that may follow a mark at position i of the word w (position 0 is the start),

    B_i = Σ_{g=1..reach} N_g(w_i, w_(i+g)) z^(g-1) (1-z) B_(i+g)  +  Out(n-i, w_i) z^(n-i)  if n-i ≤ reach.

First the marks are drawn from these terms, one after the other; then, between two marks, one of the walks, all of them
equally likely. Longer gaps are left out. What they would add to B_i, relatively, is bounded for each word (growth.py
has the letters): with T_i = z^k (1-z) C ρ B_(i+k+1) + z ρ T_(i+1), at most A_k(w_i) T_i for every position, and these
bounds add up. A comparison that this remainder or rounding could decide leaves the word in doubt, and so does a mark
beyond the reach. A word whose remainder is too large is not drawn here at all; that depends on the word, not on random
bits.

Each word takes n + 1 keystream values: number i for the choice at a mark at position i, or for the symbol there.
Counts lie in hash tables, one for each state y of the words, of the states x from which y can be reached.
"""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np

from pathveil.numerics.jit import kernel, part_of_kernel

_UNIT = 2.0**-512  # weights beyond 2^256 are counted in a larger unit
_TOP = 2.0**256
_EDGES = 64  # of a state near y, on average; where there are more, y gets no table


@kernel
def _walks(x: int, y: int, steps: int, tables: Any) -> Any:
    """N_steps(x, y)."""
    place, masks, keys, nearest, begins, counts = tables
    first, mask = place[y], masks[y]
    slot = (x * 40503) & mask
    while keys[first + slot] != x:
        if keys[first + slot] < 0:
            return 0.0
        slot = (slot + 1) & mask
    slot += first
    if steps < nearest[slot]:
        return 0.0
    return counts[begins[slot] + steps - nearest[slot]]


@part_of_kernel
def _uniform(value: Any) -> Any:
    return (np.int64(value >> np.uint64(11)) + 0.5) * 2.0**-53


@kernel
def count_walks(
    wanted: Any,
    reach: int,
    most_states: int,
    offsets: Any,
    predecessors: Any,
    scratch: Any,
    place: Any,
    masks: Any,
    keys: Any,
    nearest: Any,
    begins: Any,
    counts: Any,
    used: Any,
) -> int:
    """Make the tables of these states; returns how many were made before there was no more room.

    `used` holds the first free cell of the tables and of the counts. `scratch` is -1 for each state, before and after.
    A state with more than `most_states` around it, or too many edges between them, gets none; `place` is then -2.
    """
    states = np.empty(most_states + 1, np.int64)
    ways = np.zeros((most_states + 1, reach + 1))  # of so many steps, from each state to y
    first_step = np.empty(most_states + 1, np.int64)
    # The edges around y, from places in `states` to places in `states`: each is looked up in the system only once.
    near_offsets, near = np.zeros(most_states + 2, np.int64), np.empty(_EDGES * (most_states + 1), np.int32)
    for number in range(len(wanted)):
        y = wanted[number]
        found, followed, edges, too_many = 1, 0, 0, False
        states[0], scratch[y], first_step[0] = y, 0, 0
        ways[0, 0] = 1.0
        for step in range(reach):
            last = found
            for k in range(followed, last):
                x = states[k]
                too_many |= edges + offsets[x + 1] - offsets[x] > len(near)
                for edge in range(offsets[x], offsets[x + 1]):
                    slot = scratch[predecessors[edge]]
                    too_many |= slot < 0 and found > most_states
                    if too_many:
                        break
                    if slot < 0:
                        slot = found
                        found += 1
                        states[slot], scratch[predecessors[edge]], first_step[slot] = predecessors[edge], slot, step + 1
                    near[edges] = slot
                    edges += 1
                if too_many:
                    break
                near_offsets[k + 1] = edges
            if too_many:
                break
            followed = last
            for k in range(last):
                here = ways[k, step]
                if here > 0.0:
                    for edge in range(near_offsets[k], near_offsets[k + 1]):
                        ways[near[edge], step + 1] += here
        size, cells = 1, 0
        while size < 2 * found:
            size *= 2
        for k in range(found):
            cells += reach + 1 - first_step[k]
        enough = too_many or (used[0] + size <= len(keys) and used[1] + cells <= len(counts))
        if too_many:
            place[y] = -2
        elif enough:
            first, free, mask = used[0], used[1], size - 1
            keys[first : first + size] = -1
            for k in range(found):
                x = states[k]
                slot = (x * 40503) & mask
                while keys[first + slot] >= 0:
                    slot = (slot + 1) & mask
                slot += first
                keys[slot], nearest[slot], begins[slot] = x, first_step[k], free
                for step in range(first_step[k], reach + 1):
                    counts[free] = ways[k, step]
                    free += 1
            place[y], masks[y] = first, mask
            used[0], used[1] = first + size, free
        for k in range(found):
            scratch[states[k]] = -1
            ways[k] = 0.0
        if not enough:
            return number
    return len(wanted)


@kernel
def _backwards(
    length: int,
    reach: int,
    route: Any,
    powers: Any,
    into: Any,
    onward: Any,
    leaving: Any,
    arriving: Any,
    tables: Any,
    bounds: Any,
    weight: Any,
    units: Any,
    total: Any,
    terms: Any,
) -> Any:
    """The terms of each B_i and their sums; returns log Z and a bound on what longer gaps would add, relatively.

    B_i is weight[i] · 2^(512 units[i]); total[i] and terms[i] are in the unit of the position after i. terms[i, 0]
    stands for no further mark.
    """
    z, rest = powers[1], 1.0 - powers[1]
    ahead_factor, ahead_rate, behind_factor, behind_rate, log_unmarked = bounds
    unit, missing, remainder = 0, 0.0, 0.0
    weight[length], units[length] = onward[0, route[length]], 0
    for i in range(length - 1, -1, -1):
        found = 0.0
        for g in range(1, min(reach, length - i) + 1):
            j = i + g
            term = _walks(route[i], route[j], g, tables) if i else into[g, route[j]]
            if term > 0.0:
                term *= powers[g - 1] * rest * weight[j]
                if units[j] != unit:
                    term = term * _UNIT if units[j] == unit - 1 else 0.0
                found += term
            terms[i, g] = term
        if i and length - i <= reach:
            terms[i, 0] = onward[length - i, route[i]] * powers[length - i] * _UNIT**unit
            found += terms[i, 0]
        elif i:
            # B of later positions is off by less than itself, or the word is not drawn.
            later = 2.0 * rest * weight[i + reach + 1] * (1.0 if units[i + reach + 1] == unit else _UNIT)
            last = z if length - i == reach + 1 else 0.0
            missing = missing * z * ahead_rate + powers[reach] * ahead_factor * ahead_rate * (later + last)
            remainder += leaving[route[i]] * missing / found
        total[i], weight[i], units[i] = found, found, unit
        if found > _TOP and i:
            weight[i], units[i] = found * _UNIT, unit + 1
            missing *= _UNIT
            unit += 1
    # Before the first mark: ways from anywhere to a later mark, and words without any mark.
    power, missing = powers[reach] * rest * behind_factor * behind_rate, 0.0
    for g in range(reach + 1, length + 1):
        if power < 1e-300 or units[g] < unit - 1:
            break
        missing += 2.0 * power * arriving[route[g]] * weight[g] * (1.0 if units[g] == unit else _UNIT)
        power *= z * behind_rate
    shift = unit * 512.0 * log(2.0)
    missing += np.exp(min(log_unmarked - shift, 700.0))
    return log(total[0]) + shift, remainder + missing / total[0]


@kernel
def _walk_between(
    x: int, y: int, steps: int, tables: Any, offsets: Any, targets: Any, values: Any, margin: float, states: Any
) -> bool:
    """The states between x and y on one of the walks of so many steps; False if rounding could decide."""
    for g in range(steps - 1, 0, -1):
        here = _walks(x, y, g + 1, tables)
        mark, reached, after = _uniform(values[steps - g - 1]) * here, 0.0, -1
        for edge in range(offsets[x], offsets[x + 1]):
            ways = _walks(targets[edge], y, g, tables)
            if ways > 0.0:
                reached += ways
                if abs(reached - mark) < margin * here:
                    return False
                if mark < reached:
                    after = targets[edge]
                    break
        if after < 0:
            return False
        x = after
        states[steps - g - 1] = x
    return True


@kernel
def _walk_by_ways(
    x: int, steps: int, ways: Any, offsets: Any, ends: Any, values: Any, margin: float, states: Any
) -> bool:
    """A walk from x of so many steps; ways[g, y] is the number of walks that go on from y for g steps.

    Backwards from x, too, with the edges the other way round. False if rounding could decide.
    """
    for g in range(steps - 1, -1, -1):
        here = ways[g + 1, x]
        mark, reached, after = _uniform(values[steps - g - 1]) * here, 0.0, -1
        for edge in range(offsets[x], offsets[x + 1]):
            on = ways[g, ends[edge]]
            if on > 0.0:
                reached += on
                if abs(reached - mark) < margin * here:
                    return False
                if mark < reached:
                    after = ends[edge]
                    break
        if after < 0:
            return False
        x = after
        states[steps - g - 1] = x
    return True


@kernel
def _forwards(
    length: int,
    reach: int,
    route: Any,
    total: Any,
    terms: Any,
    into: Any,
    onward: Any,
    tables: Any,
    offsets: Any,
    targets: Any,
    predecessor_offsets: Any,
    predecessors: Any,
    margin: float,
    near: float,
    values: Any,
    states: Any,
) -> Any:
    """The states of the private word from one row of the keystream; False if it is in doubt."""
    states[:] = -1
    i = 0
    while i < length:
        mark, reached, chosen = _uniform(values[i]) * total[i], 0.0, 0
        for g in range(1, min(reach, length - i) + 1):
            if terms[i, g] > 0.0:
                reached += terms[i, g]
                if abs(reached - mark) < near * total[i]:
                    return False
                if mark < reached:
                    chosen = g
                    break
        if chosen == 0:  # no further mark, or one beyond the reach
            if i == 0 or length - i > reach:
                return False
            return _walk_by_ways(
                route[i], length - i, onward, offsets, targets, values[i + 1 :], margin, states[i + 1 :]
            )
        y = route[i + chosen]
        states[i + chosen] = y
        if i:
            if not _walk_between(
                route[i], y, chosen, tables, offsets, targets, values[i + 1 :], margin, states[i + 1 :]
            ):
                return False
        # From the first mark backwards, with the values in that order, too: into[p + 1] is p steps from a first symbol.
        elif not _walk_by_ways(
            y, chosen - 1, into[1:], predecessor_offsets, predecessors, values[chosen - 1 : 0 : -1], margin,
            states[chosen - 1 : 0 : -1],
        ):  # fmt: skip
            return False
        i += chosen
    return True


@kernel
def draw_by_marks(
    values: Any,
    word_begins: Any,
    length: int,
    reach: int,
    system: Any,
    ways: Any,
    tables: Any,
    z: float,
    bounds: Any,
    largest_remainder: float,
    margin: float,
    keystream: Any,
    private: Any,
    log_z: Any,
    remainders: Any,
    in_doubt: Any,
    undrawn: Any,
) -> None:
    """A private word for each word; which of them are in doubt, and which have too large a remainder.

    `system` has the state that each symbol enters, the symbol of each state, and the edges both ways; `ways` has
    into[p, x], the number of ways to x in p symbols, onward[g, x] = Out(g, x), and the numbers of all walks of `reach`
    steps from and to each state; `tables` is what count_walks made.
    """
    entered, symbols, offsets, targets, predecessor_offsets, predecessors = system
    into, onward, leaving, arriving = ways
    place = tables[0]
    route, states = np.empty(length + 1, np.int64), np.empty(length + 1, np.int64)
    weight, total, terms = np.empty(length + 1), np.empty(length + 1), np.empty((length + 1, reach + 1))
    units = np.empty(length + 1, np.int64)
    powers = np.empty(reach + 1)
    powers[0] = 1.0
    for g in range(1, reach + 1):
        powers[g] = powers[g - 1] * z
    for word in range(len(word_begins)):
        begin = word_begins[word]
        in_doubt[word], undrawn[word], remainders[word] = False, False, np.inf
        for i in range(length):
            route[i + 1] = entered[np.int64(values[begin + i])]
            undrawn[word] |= route[i + 1] < 0 or place[route[i + 1]] < 0
        if undrawn[word]:
            continue
        log_z[word], remainders[word] = _backwards(
            length, reach, route, powers, into, onward, leaving, arriving, tables, bounds, weight, units, total, terms
        )
        if not remainders[word] < largest_remainder:
            undrawn[word] = True
            continue
        row = keystream[word * (length + 1) : (word + 1) * (length + 1)]
        in_doubt[word] = not _forwards(
            length, reach, route, total, terms, into, onward, tables, offsets, targets, predecessor_offsets,
            predecessors, margin, margin + remainders[word], row, states,
        )  # fmt: skip
        if not in_doubt[word]:
            for i in range(length):
                private[begin + i] = symbols[states[i + 1]]
