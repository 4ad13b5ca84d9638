"""Compiled loops behind `EditClasses`: the graph of all words by edit distance from one word.

Terms. The *row* of a written beginning u has the entries min(d(u, w[:j]), c) for j = 0..n: the last line of the
edit-distance table between u and the word w, cut off at the cap c. A *node* is a row together with the state y of the
system after u and the number i of symbols in u. Nodes from which no allowed word is closer than c are left out: all
that can still be written from there is in class c, and the system's own counts say how much that is. A *way* is a
bundle of the system's edges out of y that lead to the same state with symbols that act alike: one symbol of w, or all
symbols that do not occur in w.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pathveil.numerics.jit import kernel, part_of_kernel

_WANTED = -2
_SMALL = 1_000  # edges
_ROOM = 4_000  # nodes, to begin with
_ONES = 0x0111111111111111  # the same in each of 15 entries of 4 bits
_SEVENS, _EIGHTS, _ALL = 7 * _ONES, 8 * _ONES, 15 * _ONES
_SPREAD = 0x9E3779B97F4A7C1  # spreads the bits of a number over 64; what does not fit is dropped


@kernel
def _step_rows(
    rows: Any, steps: Any, new_rows: Any, slots: Any, kinds: Any, i: int, lo: int, hi: int, cap: int, log: int
) -> int:
    """Where `steps[row, kind]` is _WANTED: the number of the row after `row` and a symbol of this kind; -1 if useless.

    Symbol number i is written. A row is packed: c minus entry, 64 / 2^log bits each, from the first j that is less than
    c away from the diagonal. So 0 stands for c, and for everything outside. An entry that cannot lead to a word closer
    than the cap any more is set to c, so that more rows agree: at least lo - i and at most hi - i symbols will still
    be written, and n - j of the word have to be accounted for. Returns how many different new rows there are; `slots`
    is an empty hash table for them.
    """
    n, width, last = len(kinds), 6 - log, (1 << log) - 1
    mask = (1 << (1 << width)) - 1
    begin = max(0, i - cap + 1)
    shift = begin - max(0, i - cap)  # how far the band has moved since the rows before
    too_few, too_many = n - (hi - i), n - (lo - i)  # outside of these, lengths alone demand further edits
    count = 0
    for row in range(steps.shape[0]):
        for kind in range(steps.shape[1]):
            if steps[row, kind] != _WANTED:
                continue
            for part in range(new_rows.shape[1]):
                new_rows[count, part] = 0
            closeness = useful = 0
            diagonal = rows[row, 0] & mask if shift else 0
            for place in range(min(n, i + cap - 1) + 1 - begin):
                j, at = begin + place, place + shift
                above = (rows[row, at >> log] >> ((at & last) << width)) & mask
                replaced = diagonal - (1 if kinds[j - 1] != kind else 0)
                closeness = max(max(max(closeness, above) - 1, replaced), 0)
                diagonal = above
                kept = closeness if closeness > max(too_few - j, j - too_many) else 0
                new_rows[count, place >> log] |= kept << ((place & last) << width)
                useful |= kept
            if not useful:
                steps[row, kind] = -1
                continue
            code = 0
            for part in range(new_rows.shape[1]):
                code = (code ^ new_rows[count, part]) * _SPREAD
            at = (code ^ (code >> 31)) & (len(slots) - 1)
            while slots[at] >= 0:
                same = True
                for part in range(new_rows.shape[1]):
                    same &= new_rows[slots[at], part] == new_rows[count, part]
                if same:
                    break
                at = (at + 1) & (len(slots) - 1)
            if slots[at] < 0:
                slots[at] = count
                count += 1
            steps[row, kind] = slots[at]
    return count


@part_of_kernel
def _where_at_least(x: Any, y: Any) -> Any:
    """For packed rows: 15 in every entry where x ≥ y, else 0.

    All entries are compared at once: the highest bit of each is free, so x - y + 8, entry by entry, tells in that bit.
    """
    return ((((x | _EIGHTS) - y) & _EIGHTS) >> 3) * 15


@part_of_kernel
def _larger(x: Any, y: Any) -> Any:
    """The larger entries of two packed rows."""
    mask = _where_at_least(x, y)
    return (x & mask) | (y & ~mask)


@kernel
def _band(i: int, word: Any) -> Any:
    """What the narrow rows of layer i have in common: (shift, inside, differs, demanded).

    `shift` is how far the band has moved, `inside` has ones where it lies; for each kind of symbol, `differs` has 1 in
    the entries where the word has another symbol; `demanded` is 1 more than the edits that lengths alone demand.
    """
    kinds, kind_count, lo, hi, cap = word
    n, begin = len(kinds), max(0, i - cap + 1)
    width = min(n, i + cap - 1) + 1 - begin
    differs = np.full(kind_count, _ONES, dtype=np.int64)
    demanded = np.int64(0)
    for place in range(width):
        j = begin + place
        if j > 0:
            differs[kinds[j - 1]] -= 1 << (4 * place)
        gap = max(0, max(n - (hi - i) - j, j - n + (lo - i)))
        demanded |= (min(gap, 7) + 1) << (4 * place)
    return begin - max(0, i - cap), (1 << (4 * width)) - 1, differs, demanded


@part_of_kernel
def _narrow_row_after(above: Any, diagonal: Any, differs: Any) -> Any:
    """The packed row after one more symbol: the best of an insertion, of a match or substitution, and of deletions."""
    positive = ((diagonal + _SEVENS) & _EIGHTS) >> 3
    new = _larger(above, diagonal - (positive & differs))
    for further in (1, 2, 4):  # one deletion costs 1, and so on: a chain of up to 7 in three steps
        left = (new | _EIGHTS) - _ONES * further
        moved = ((left & (((left & _EIGHTS) >> 3) * 7)) << (4 * further)) & _ALL
        new = _larger(new, moved)
    return new


@part_of_kernel
def _look_up(kept: Any, target: int, first: int, nodes: Any, rows: Any, places: Any) -> Any:
    """(place in the hash table, node there) for this row and state; a node before `first` means that there is none."""
    last = len(places) - 1
    at = (((kept ^ (kept >> 29)) + target) * _SPREAD >> 32) & last
    found = places[at]
    while found >= first and (rows[found - first, 0] != kept or nodes[found, 1] != target):
        at = (at + 1) & last
        found = places[at]
    return at, found


@kernel
def _link_narrow_nodes(
    i: int, word: Any, graph: Any, ways: Any, rows: Any, new_rows: Any, places: Any, floors: Any
) -> Any:
    """`_link_nodes` for c < 8, where a row is 4 bits for each of at most 13 entries; every node has a row of its own.

    An entry that the system does not let come near any more, since it is not above the floor of the node's state, is
    set to c. In `places` nodes of earlier layers count as empty, so one hash table serves all layers.
    """
    (layers, nodes, links), (ways_of, way_bounds, alive) = graph, ways
    before, first = layers[i - 1], layers[i]
    shift, inside, differs, demanded = _band(i, word)
    node_count, link_count = first, nodes[before, 2]
    for node in range(before, first):
        nodes[node, 2] = link_count
        y, row = nodes[node, 1], rows[node - before, 0]
        above = row >> (4 * shift)
        above -= ((above + _SEVENS) & _EIGHTS) >> 3
        diagonal = row << (4 * (1 - shift))
        stepped, new = np.int64(-1), np.int64(0)  # for which `differs`, and the row after it
        for way in range(way_bounds[y, 0], way_bounds[y, 1]):
            target = ways_of[way, 1]
            if not alive[i, target]:
                continue
            if differs[ways_of[way, 0]] != stepped:
                stepped = differs[ways_of[way, 0]]
                new = _narrow_row_after(above, diagonal, stepped) & inside
                new &= _where_at_least(new, demanded)
            to, kept = -1, new
            if len(floors) > 0:
                kept &= _where_at_least(new, floors[target])
            if kept != 0:
                at, to = _look_up(kept, target, first, nodes, new_rows, places)
                if to < first:
                    to = places[at] = node_count
                    nodes[to, 1], nodes[to, 3] = target, to - first
                    new_rows[to - first, 0] = kept
                    node_count += 1
            links[link_count, 0], links[link_count, 1] = to, way
            link_count += 1
    nodes[node_count, 2] = link_count
    return node_count, link_count


@kernel
def _find_edge(y: int, symbol: int, offsets: Any, labels: Any) -> int:
    """The edge of y with this label, or -1."""
    low, high = offsets[y], offsets[y + 1]
    while low < high:
        middle = (low + high) // 2
        if labels[middle] < symbol:
            low = middle + 1
        else:
            high = middle
    return low if low < offsets[y + 1] and labels[low] == symbol else -1


@kernel
def _find_ways(y: int, system: Any, symbols: Any, ways: Any, count: int) -> int:
    """Append the ways out of y to `ways` (columns: kind, target, multiplicity, edge or bundle); the new count.

    Kind k < len(symbols) is that symbol of the word, kind len(symbols) all others.
    """
    offsets, labels, targets, bundles, bundle_begins, by_target = system
    first = count
    for kind in range(len(symbols)):
        edge = _find_edge(y, symbols[kind], offsets, labels)
        if edge >= 0:
            ways[count, 0], ways[count, 1], ways[count, 2], ways[count, 3] = kind, targets[edge], 1, edge
            count += 1
    of_word = count
    for bundle in range(bundles[y], bundles[y + 1]):
        target = targets[by_target[bundle_begins[bundle]]]
        size = bundle_begins[bundle + 1] - bundle_begins[bundle]
        for way in range(first, of_word):
            size -= ways[way, 1] == target
        if size > 0:
            ways[count, 0], ways[count, 1], ways[count, 2], ways[count, 3] = len(symbols), target, size, bundle
            count += 1
    return count


@kernel
def _with_room(array: Any, used: int, needed: int) -> Any:
    """The array, or a copy with at least twice the room, if it has less than is needed."""
    if needed <= len(array):
        return array
    larger = np.empty((max(needed, 2 * len(array)), array.shape[1]), dtype=array.dtype)
    for row in range(used):  # `larger[:used] = array[:used]` takes numba three seconds to compile, for an error message
        for column in range(array.shape[1]):
            larger[row, column] = array[row, column]
    return larger


@kernel
def _edits_to_go(kinds: Any, symbols: Any, cap: int, system: Any, accepting: Any) -> Any:
    """[j, y]: how many edits it takes at least from state y to a feasible end, if j symbols of the word are done."""
    n, (offsets, labels, targets) = len(kinds), system[:3]
    edits = np.full((n + 1, len(accepting)), cap, dtype=np.int64)
    for j in range(n, -1, -1):
        for y in range(len(accepting)):
            if j == n:
                edits[j, y] = 0 if accepting[y] else cap
                continue
            symbol = symbols[kinds[j]]
            least = edits[j + 1, y] + 1  # a deletion
            for edge in range(offsets[y], offsets[y + 1]):
                least = min(least, edits[j + 1, targets[edge]] + (1 if labels[edge] != symbol else 0))
            edits[j, y] = min(least, cap)
        changed = True
        while changed:  # insertions
            changed = False
            for y in range(len(accepting)):
                if edits[j, y] < 2:  # an insertion costs 1, and what follows it 0 at best
                    continue
                for edge in range(offsets[y], offsets[y + 1]):
                    if edits[j, targets[edge]] + 1 < edits[j, y]:
                        edits[j, y] = edits[j, targets[edge]] + 1
                        changed = True
    return edits


@kernel
def _table_size(entries: int) -> int:
    """A power of two for a hash table that stays at most half full."""
    size = 16
    while size < 2 * entries:
        size *= 2
    return size


@kernel
def _link_nodes(
    i: int, word: Any, graph: Any, ways: Any, rows: Any, row_count: int, new_rows: Any, most: int, log: int
) -> Any:
    """Make the nodes of layer i and the links to them from layer i - 1; the numbers of nodes, links and new rows.

    There will be at most `most` links, and the arrays have room for them.
    """
    kinds, kind_count, lo, hi, cap = word
    (layers, nodes, links), (ways_of, way_bounds, alive) = graph, ways
    acts_like = np.full(kind_count, kind_count - 1, dtype=np.int64)
    for j in range(max(0, i - cap), min(len(kinds), i + cap - 1)):
        acts_like[kinds[j]] = kinds[j]  # a symbol that occurs only outside the band acts like one that does not occur
    steps = np.full((row_count, kind_count), -1, dtype=np.int32)
    for node in range(layers[i - 1], layers[i]):
        for way in range(way_bounds[nodes[node, 1], 0], way_bounds[nodes[node, 1], 1]):
            if alive[i, ways_of[way, 1]]:
                steps[nodes[node, 3], acts_like[ways_of[way, 0]]] = _WANTED
    slots = np.full(_table_size(min(most, steps.size)), -1, dtype=np.int32)
    row_count = _step_rows(rows, steps, new_rows, slots, kinds, i, lo, hi, cap, log)
    places = np.full(_table_size(most), -1, dtype=np.int32)
    states = alive.shape[1]
    node_count, link_count = layers[i], nodes[layers[i - 1], 2]
    for node in range(layers[i - 1], layers[i]):
        nodes[node, 2] = link_count
        y, row = nodes[node, 1], nodes[node, 3]
        for way in range(way_bounds[y, 0], way_bounds[y, 1]):
            target = ways_of[way, 1]
            if not alive[i, target]:
                continue
            after, to = steps[row, acts_like[ways_of[way, 0]]], -1
            if after >= 0:
                at = ((after * states + target) * _SPREAD >> 32) & (len(places) - 1)
                while places[at] >= 0 and (nodes[places[at], 3] != after or nodes[places[at], 1] != target):
                    at = (at + 1) & (len(places) - 1)
                if places[at] < 0:
                    nodes[node_count, 1], nodes[node_count, 3] = target, after
                    places[at] = node_count
                    node_count += 1
                to = places[at]
            links[link_count, 0], links[link_count, 1] = to, way
            link_count += 1
    nodes[node_count, 2] = link_count
    return node_count, link_count, row_count


@kernel
def _first_row(n: int, cap: int, log: int) -> Any:
    """The row before anything is written, packed as in `_step_rows`: entry j is j, as j symbols have to be deleted."""
    row = np.zeros((1, (min(2 * cap - 1, n) >> log) + 1), dtype=np.int64)
    for j in range(min(n, cap - 1) + 1):
        row[0, j >> log] |= (cap - j) << ((j & ((1 << log) - 1)) << (6 - log))
    return row


@kernel
def _first_floors(n: int, cap: int, to_go: Any) -> Any:
    """For each state 1 more than the edits to go, packed like a narrow row of layer 0."""
    floors = np.full(to_go.shape[1], _ONES, dtype=np.int64)
    for y in range(len(floors)):
        for j in range(min(n, cap - 1) + 1):
            floors[y] += min(to_go[j, y], 7) << (4 * j)
    return floors


@kernel
def _move_floors(i: int, n: int, cap: int, to_go: Any, floors: Any) -> None:
    """The floors of layer i from those of the layer before: the band moves by one entry, and one comes in."""
    begin, j = max(0, i - cap + 1), i + cap - 1
    for y in range(len(floors)):
        if begin > 0:
            floors[y] = (floors[y] >> 4) + (1 << 56)
        if j <= n:
            floors[y] += min(to_go[j, y], 7) << (4 * (j - begin))


@kernel
def _find_ways_of_layer(
    begin: int, end: int, nodes: Any, system: Any, symbols: Any, ways: Any, way_bounds: Any, way_count: int
) -> Any:
    """Find the ways out of the states of these nodes, where they are not known yet.

    Returns the number of all ways found so far, and how many links may come out of these nodes.
    """
    most = 0
    for node in range(begin, end):
        y = nodes[node, 1]
        if way_bounds[y, 0] < 0:
            way_bounds[y, 0] = way_count
            way_count = _find_ways(y, system, symbols, ways, way_count)
            way_bounds[y, 1] = way_count
        most += way_bounds[y, 1] - way_bounds[y, 0]
    return way_count, most


@kernel
def _note_last_entries(i: int, n: int, cap: int, log: int, rows: Any, begin: int, end: int, nodes: Any) -> None:
    """Write the last entry of its row, the distance of what was written, to each of these nodes of layer i."""
    place = n - max(0, i - cap + 1)  # in the band, or outside of it, where every entry is c
    mask = (1 << (64 >> log)) - 1
    for node in range(begin, end):
        closeness = 0
        if 0 <= place < rows.shape[1] << log:
            closeness = (rows[nodes[node, 3], place >> log] >> ((place & ((1 << log) - 1)) << (6 - log))) & mask
        nodes[node, 0] = cap - closeness


@kernel
def find_nodes(
    kinds: Any,
    symbols: Any,
    lo: int,
    hi: int,
    cap: int,
    system: Any,
    start: int,
    accepting: Any,
    alive: Any,
    most_nodes: int,
) -> Any:
    """All nodes, layer by layer, and the links between them.

    `kinds` is the word with its symbols numbered in `symbols`; `alive[i, y]` tells whether a word of allowed length
    can be completed from y after i symbols. Returns (layers, nodes, links, ways): nodes have the columns last entry of
    the row, y, first link; links the columns node (-1: out of reach of the cap) and way. Nothing at all if there would
    be more than `most_nodes` nodes.
    """
    n, states = len(kinds), alive.shape[1]
    word = (kinds, len(symbols) + 1, lo, hi, cap)
    log = 4 if cap < 16 else 3 if cap < 256 else 2  # 2^log entries of a row share 64 bits
    # Numbers that change begin as np.int64: a plain 0 would make numba compile what they are given to twice.
    way_count, node_count, link_count, row_count = np.int64(0), np.int64(1), np.int64(0), np.int64(1)
    rows = _first_row(n, cap, log)
    new_rows = np.empty_like(rows)
    ways = np.empty((2 * max(len(system[1]), 1), 4), dtype=np.int64)
    way_bounds = np.full((states, 2), -1, dtype=np.int64)
    nodes = np.empty((_ROOM, 4), dtype=np.int32)  # last entry of the row, y, first link, row within the layer
    links = np.empty((2 * _ROOM, 2), dtype=np.int32)
    nodes[0, 0], nodes[0, 1], nodes[0, 2], nodes[0, 3] = min(n, cap), start, 0, 0
    layers = np.zeros(hi + 2, dtype=np.int64)
    layers[1] = 1
    # Worth while where the system is small and not free: about half of the nodes turn out to lead nowhere near.
    looks_ahead = cap < 8 and states > 1 and len(system[1]) <= _SMALL
    to_go = _edits_to_go(kinds, symbols, cap, system, accepting) if looks_ahead else np.empty((0, 0), dtype=np.int64)
    floors = _first_floors(n, cap, to_go)
    places = np.empty(0, dtype=np.int32)
    for i in range(1, hi + 1):
        if layers[i - 1] == layers[i]:  # whatever is longer is far away
            layers[i + 1 :] = node_count
            break
        way_count, most = _find_ways_of_layer(
            layers[i - 1], layers[i], nodes, system, symbols, ways, way_bounds, way_count
        )
        nodes = _with_room(nodes, node_count, node_count + most + 1)
        links = _with_room(links, link_count, link_count + most)
        new_rows = _with_room(new_rows, np.int64(0), most + 1)
        nodes[layers[i - 1], 2] = link_count
        graph, ways_out = (layers, nodes, links), (ways, way_bounds, alive)
        if cap < 8:
            if len(places) < _table_size(most):
                places = np.full(2 * _table_size(most), -1, dtype=np.int32)
            _move_floors(i, n, cap, to_go, floors)
            node_count, link_count = _link_narrow_nodes(i, word, graph, ways_out, rows, new_rows, places, floors)
        else:
            node_count, link_count, row_count = _link_nodes(
                i, word, graph, ways_out, rows, row_count, new_rows, most, log
            )
        if node_count > most_nodes:
            return layers[:0], nodes[:0], links[:0], ways[:0]
        layers[i + 1] = node_count
        rows, new_rows = new_rows, rows
        _note_last_entries(i, n, cap, log, rows, layers[i], node_count, nodes)
    for node in range(layers[hi], node_count + 1):
        nodes[node, 2] = link_count
    return layers, nodes[: node_count + 1].copy(), links[:link_count].copy(), ways[:way_count].copy()
