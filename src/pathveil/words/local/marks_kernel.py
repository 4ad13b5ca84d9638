"""Compiled draws by marks and gaps, for systems where the symbol decides the state: only the word's surroundings count.

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

What is kept for each state of the words are lists: the states that 1, 2, … steps lead to, as far as half of the reach,
and those from which so many steps lead here, each with its number of walks. Two lists together give N_g for a longer
gap: walks from x meet those to y on their way. Half the reach has a quarter of the states around on a map, and less.
"""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np

from pathveil.numerics.jit import kernel, part_of_kernel

_UNIT = 2.0**-512  # weights beyond 2^256 are counted in a larger unit
_TOP = 2.0**256
_EDGES = 64  # for each of the states that one more step may lead to: where there are more, a state gets no lists
_NO_ROOM, _TOO_MANY = -1, -2
_ROOM = 1 << 16  # cells for walks of a gap that is longer than the lists


@part_of_kernel
def _uniform(value: Any) -> Any:
    return (np.int64(value >> np.uint64(11)) + 0.5) * 2.0**-53


@kernel
def _follow(
    state: int, steps: int, edges: Any, most: int, slots: Any, begins: Any, states: Any, counts: Any, free: int
) -> int:
    """List the states that 1, 2, … `steps` steps lead to, each with the number of walks, from cell `free` on.

    Those of k steps lie in the cells from begins[k - 1] to begins[k]. `edges` are offsets and ends. `slots` is -1 for
    each state, before and after. Returns the cell after the last, or that there is _NO_ROOM, or that one more step
    leads to _TOO_MANY states, more than `most`, or has too many edges.
    """
    offsets, ends = edges
    begins[0] = free
    for step in range(steps):
        first, followed, fits = free, 0, True
        for k in range(begins[step - 1] if step else 0, begins[step] if step else 1):
            x, ways = (states[k], counts[k]) if step else (state, 1.0)
            followed += offsets[x + 1] - offsets[x]
            fits &= followed <= _EDGES * most
            if not fits:
                break
            for edge in range(offsets[x], offsets[x + 1]):
                y = ends[edge]
                if slots[y] < 0:
                    fits &= free < len(states) and free - first < most
                    if not fits:
                        break
                    slots[y], states[free], counts[free] = free, y, 0.0
                    free += 1
                counts[slots[y]] += ways
            if not fits:
                break
        for cell in range(first, free):
            slots[states[cell]] = -1
        if not fits:
            return _NO_ROOM if free == len(states) else _TOO_MANY
        begins[step + 1] = free
    return free


@kernel
def count_walks(
    wanted: Any,
    reach: int,
    most: int,
    forwards: Any,
    backwards: Any,
    slots: Any,
    place: Any,
    begins: Any,
    states: Any,
    counts: Any,
    used: Any,
) -> int:
    """Make the lists of these states that have none; returns how many states are done when there is no more room.

    Lists forwards come first, those of one step more than the lists backwards if the reach is odd, and then these:
    begins[place[y], k] is where list k of state y begins, and list k - 1 ends. `used` holds the first free row of
    `begins` and the first free cell. A state with _TOO_MANY around it, which `place` says then, gets none.
    """
    ahead = (reach + 1) // 2
    for number in range(len(wanted)):
        y = wanted[number]
        if place[y] != -1:
            continue
        if used[0] == len(begins):
            return number
        own = begins[used[0]]
        free = _follow(y, ahead, forwards, most, slots, own, states, counts, used[1])
        if free >= 0:
            free = _follow(y, reach - ahead, backwards, most, slots, own[ahead:], states, counts, free)
        if free == _NO_ROOM:
            return number
        if free == _TOO_MANY:
            place[y] = _TOO_MANY
        else:
            place[y] = used[0]
            used[0], used[1] = used[0] + 1, free
    return len(wanted)


@kernel
def _walks_on_the_word(length: int, reach: int, route: Any, lists: Any, met: Any, ways: Any) -> None:
    """ways[i, g] = N_g(w_i, w_(i+g)) for all positions i ≥ 1; `met` is 0 for each state, before and after."""
    place, begins, states, counts = lists
    ahead = (reach + 1) // 2
    for i in range(1, length):
        own, last = place[route[i]], min(reach, length - i)
        for g in range(1, min(ahead, last) + 1):
            target, ways[i, g] = route[i + g], 0.0
            for cell in range(begins[own, g - 1], begins[own, g]):
                if states[cell] == target:
                    ways[i, g] = counts[cell]
                    break
        if last <= ahead:
            continue
        for cell in range(begins[own, ahead - 1], begins[own, ahead]):
            met[states[cell]] = counts[cell]
        for g in range(ahead + 1, last + 1):  # list g of the other state is that of g - ahead steps to it
            other, found = place[route[i + g]], 0.0
            for cell in range(begins[other, g - 1], begins[other, g]):
                found += counts[cell] * met[states[cell]]
            ways[i, g] = found
        for cell in range(begins[own, ahead - 1], begins[own, ahead]):
            met[states[cell]] = 0.0


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
    ways: Any,
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
            term = ways[i, g] if i else into[g, route[j]]
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
def _walk_along(
    x: int, steps: int, here: float, begins: Any, lists: Any, edges: Any, values: Any, margin: float, states: Any
) -> bool:
    """The states on one of the `here` walks of so many steps from x to a state, by the lists of walks to that state.

    False if rounding could decide.
    """
    before, counts = lists
    for g in range(steps - 1, 0, -1):
        mark, reached, after = _uniform(values[steps - g - 1]) * here, 0.0, -1
        for edge in range(edges[0][x], edges[0][x + 1]):
            ways = 0.0
            for cell in range(begins[g - 1], begins[g]):
                if before[cell] == edges[1][edge]:
                    ways = counts[cell]
                    break
            if ways > 0.0:
                reached += ways
                if abs(reached - mark) < margin * here:
                    return False
                if mark < reached:
                    after, here = edges[1][edge], ways
                    break
        if after < 0:
            return False
        x = after
        states[steps - g - 1] = x
    return True


@kernel
def _walk_between(
    x: int, y: int, steps: int, here: float, reach: int, lists: Any, edges: Any, values: Any, margin: float, states: Any
) -> bool:
    """The states between x and y on one of the `here` walks of so many steps; False if rounding could decide."""
    forwards, backwards = edges
    if steps - 1 <= reach // 2:
        begins = lists[1][lists[0][y]][(reach + 1) // 2 :]
        return bool(_walk_along(x, steps, here, begins, lists[2:], forwards, values, margin, states))
    longer = np.empty(steps, np.int32)
    before, counts = np.empty(_ROOM, np.int32), np.empty(_ROOM)
    if _follow(y, steps - 1, backwards, _ROOM, np.full(len(lists[0]), -1, np.int32), longer, before, counts, 0) < 0:
        return False
    return bool(_walk_along(x, steps, here, longer, (before, counts), forwards, values, margin, states))


@kernel
def _walk_by_ways(x: int, steps: int, ways: Any, edges: Any, values: Any, margin: float, states: Any) -> bool:
    """A walk from x of so many steps; ways[g, y] is the number of walks that go on from y for g steps.

    Backwards from x, too, with the edges the other way round. False if rounding could decide.
    """
    for g in range(steps - 1, -1, -1):
        here = ways[g + 1, x]
        mark, reached, after = _uniform(values[steps - g - 1]) * here, 0.0, -1
        for edge in range(edges[0][x], edges[0][x + 1]):
            on = ways[g, edges[1][edge]]
            if on > 0.0:
                reached += on
                if abs(reached - mark) < margin * here:
                    return False
                if mark < reached:
                    after = edges[1][edge]
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
    ways: Any,
    lists: Any,
    edges: Any,
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
            return bool(_walk_by_ways(route[i], length - i, onward, edges[0], values[i + 1 :], margin, states[i + 1 :]))
        y, done = route[i + chosen], True
        states[i + chosen] = y
        if chosen == 1:
            pass
        elif i:
            done = _walk_between(
                route[i], y, chosen, ways[i, chosen], reach, lists, edges, values[i + 1 :], margin, states[i + 1 :]
            )
        else:  # from the first mark backwards, with the values in that order; into[p + 1]: p steps from a first symbol
            backwards = slice(chosen - 1, 0, -1)
            done = _walk_by_ways(y, chosen - 1, into[1:], edges[1], values[backwards], margin, states[backwards])
        if not done:
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
    public: Any,
    lists: Any,
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

    `system` has the state that each symbol enters, the symbol of each state, and the edges both ways; `public` has
    into[p, x], the number of ways to x in p symbols, onward[g, x] = Out(g, x), and the numbers of all walks of `reach`
    steps from and to each state; `lists` is what count_walks made.
    """
    entered, symbols, edges = system
    into, onward, leaving, arriving = public
    place = lists[0]
    route, states = np.empty(length + 1, np.int64), np.empty(length + 1, np.int64)
    weight, total, terms = np.empty(length + 1), np.empty(length + 1), np.empty((length + 1, reach + 1))
    ways, met, units = np.empty((length + 1, reach + 1)), np.zeros(len(place)), np.empty(length + 1, np.int64)
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
        _walks_on_the_word(length, reach, route, lists, met, ways)
        log_z[word], remainders[word] = _backwards(
            length, reach, route, powers, into, onward, leaving, arriving, ways, bounds, weight, units, total, terms
        )
        if not remainders[word] < largest_remainder:
            undrawn[word] = True
            continue
        row = keystream[word * (length + 1) : (word + 1) * (length + 1)]
        in_doubt[word] = not _forwards(
            length, reach, route, total, terms, into, onward, ways, lists, edges, margin, margin + remainders[word],
            row, states,
        )  # fmt: skip
        if not in_doubt[word]:
            for i in range(length):
                private[begin + i] = symbols[states[i + 1]]
