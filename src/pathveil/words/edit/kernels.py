"""Compiled loops behind `EditClasses`: the graph of all words by edit distance from one word.

Terms. The *row* of a written beginning u has the entries min(d(u, w[:j]), c) for j = 0..n: the last line of the
edit-distance table between u and the word w, cut off at the cap c. A *node* is a row together with the state y of the
system after u and the number i of symbols in u. Nodes from which no allowed word is closer than c are left out: all
that can still be written from there is in class c, and the system's own counts say how much that is. A *way* is a
bundle of the system's edges out of y that lead to the same state with symbols that act alike: one symbol of w, or all
symbols that do not occur in w.

The *edge of the ball* needs no nodes, where c < 8 and it is known which entries can still be completed. If all entries
of a row are c - 1 or c, no further edit is allowed: for each entry j that is c - 1, what is left of the word, w[j:],
leads to class c - 1, and everything else to class c. So a link to such a row has only the entries themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pathveil.numerics.jit import kernel, part_of_kernel

_WANTED = -2
_NO_KIND = 1 << 60  # of a symbol that does not occur in the word
_ONES = 0x0111111111111111  # the same in each of 15 entries of 4 bits
_SEVENS, _EIGHTS, _ALL = 7 * _ONES, 8 * _ONES, 15 * _ONES
_SPREAD = 0x9E3779B97F4A7C1  # spreads the bits of a number over 64; what does not fit is dropped
_1, _2, _3 = np.uint64(1), np.uint64(2), np.uint64(3)  # with a sign, an index might count from the end
_LAYER = 1 << 12  # rows behind a layer, where words are counted without their graph


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


@part_of_kernel
def _one_less(x: Any) -> Any:
    """Every entry of a packed row that is not 0, less by 1."""
    return x - (((x + _SEVENS) & _EIGHTS) >> 3)


@kernel
def _matches(i: int, word: Any) -> Any:
    """For each kind of symbol: 15 in the entries of a narrow row of layer i where the word has that symbol, else 0."""
    kinds, kind_count, _, _, cap = word
    begin = max(0, i - cap + 1)
    matches = np.zeros(kind_count, dtype=np.int64)
    for j in range(max(begin, 1), min(len(kinds), i + cap - 1) + 1):
        matches[kinds[j - 1]] |= 15 << (4 * (j - begin))
    return matches


@part_of_kernel
def _with_matches(row: Any, matched: Any) -> Any:
    """A packed row that a symbol not in the word would lead to, with better entries, and deletions after those.

    Without a match no entry gains by deletions: the row before has been through them, and all of it moved by the same
    one edit. (What was left out there as leading nowhere near leads nowhere near by deletions either.)
    """
    new = _larger(row, matched)
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
def _rows_behind(count: int, shift: int, rows: Any, matches: Any, floors: Any) -> None:
    """Narrow rows become those after a symbol that matches there; entries that are not above the floor become c.

    The band moves by `shift`. There is no branch, so that several rows go at once.
    """
    for k in range(count):
        diagonal = rows[k] << (4 * (1 - shift))
        other = _one_less(_larger(rows[k] >> (4 * shift), diagonal))
        matched = matches[k] & diagonal
        new = _with_matches(other, matched)
        new = new if matched != 0 else other
        rows[k] = new & _where_at_least(new, floors[k])


@kernel
def _link_narrow_nodes(
    i: int, word: Any, graph: Any, ways: Any, rows: Any, new_rows: Any, room: Any, floors: Any, edge_count: int
) -> Any:
    """`_link_nodes` for c < 8, where a row is 4 bits for each of at most 13 entries; every node has a row of its own.

    An entry that is not above the floor of the node's state leads nowhere near any more. First the rows behind all ways
    are worked out. Those inside of the ball are moved to the front, and with `has_edge` those at its edge go to `edge`,
    and the number of words in class c - 1 behind them to the node. Then the rows inside are looked up. In `places`
    nodes of earlier layers count as empty, so one hash table serves all layers. Loops are flat, since the processor
    often guesses wrong where a short one ends.
    """
    (layers, nodes, links, edge), (ways_of, alive) = graph, ways
    (behind, places), (floor_of, has_edge) = room, floors
    row_of, match_of, floor_at, node_of, way_of = behind[0], behind[1], behind[2], behind[3], behind[4]
    before, first = layers[i - 1], layers[i]
    shift = max(0, i - word[4] + 1) - max(0, i - word[4])  # how far the band has moved
    matches = _matches(i, word)
    looked_ahead = 1 if floor_of.shape[1] > 1 else 0  # otherwise all states have the same floor
    inner = ~_ONES if has_edge else -1  # the bits that only rows inside of the ball have
    last = 4 * (len(word[0]) - max(0, i - word[4] + 1))  # where the row has the distance of what was written
    last_bits = 15 if 0 <= last < 60 else 0  # outside of the band it is c
    floor_here, alive_here = floor_of[i], alive[i]
    count = 0
    for node in range(before, first):
        nodes[node, 3], end = 0, nodes[node, 6]
        for begin in range(nodes[node, 5], end, 4):
            for k in range(4):  # what is too much is overwritten
                node_of[count + k], way_of[count + k] = node, begin + k
            count += min(4, end - begin)
    for k in range(count):
        kind, target = ways_of[way_of[k], 0], ways_of[way_of[k], 1]
        row_of[k], match_of[k] = rows[node_of[k] - before, 0], matches[kind]
        floor_at[k] = floor_here[target * looked_ahead] if alive_here[target] else _EIGHTS
    _rows_behind(count, shift, row_of, match_of, floor_at)
    node_count, link_count, wanted = first, nodes[before, 2], 0
    nodes[before, 4] = edge_count
    for k in range(count):
        kept, node, way = row_of[k], node_of[k], way_of[k]
        is_inside = 1 if kept & inner != 0 else 0
        is_edge = (1 if kept != 0 else 0) - is_inside
        row_of[wanted], node_of[wanted], way_of[wanted] = kept, node, way
        edge[edge_count, 0], edge[edge_count, 1] = kept, way
        entries = ((kept * _ONES) >> 56) & 15  # their sum; at the edge, where each is 0 or 1, their number
        nodes[node, 3] += entries * ways_of[way, 2] * is_edge
        wanted += is_inside
        edge_count += is_edge
        nodes[node + 1, 2], nodes[node + 1, 4] = link_count + wanted, edge_count
    for node in range(before, first):
        if nodes[node, 5] == nodes[node, 6]:  # no way out
            nodes[node + 1, 2], nodes[node + 1, 4] = nodes[node, 2], nodes[node, 4]
    for k in range(wanted):
        kept, way = row_of[k], way_of[k]
        target = ways_of[way, 1]
        at, to = _look_up(kept, target, first, nodes, new_rows, places)
        if to < first:
            to = places[at] = node_count
            nodes[to, 0], nodes[to, 1] = word[4] - (kept >> (last & 63) & last_bits), target
            new_rows[to - first, 0] = kept
            node_count += 1
        links[link_count + k, 0], links[link_count + k, 1], links[link_count + k, 2] = to, way, node_of[k]
    nodes[node_count, 2] = link_count + wanted
    return node_count, link_count + wanted, edge_count


@kernel
def _find_ways(y: int, system: Any, symbols: Any, kind_of: Any, ways: Any, count: int) -> int:
    """Append the ways out of y to `ways` (columns: kind, target, multiplicity, edge or bundle); the new count.

    Kind k < len(symbols) is that symbol of the word, kind len(symbols) all others; `kind_of` has that for each symbol.
    """
    offsets, labels, targets, bundles, bundle_begins, by_target = system
    first, begin, end = count, offsets[y], offsets[y + 1]
    few = end - begin < 4 * len(symbols)  # edges: then look at each of them, otherwise at each symbol
    for k in range(end - begin if few else len(symbols)):
        edge = begin + (k if few else np.searchsorted(labels[begin:end], symbols[k]))
        if edge < end and (kind_of[labels[edge]] < len(symbols) if few else labels[edge] == symbols[k]):
            ways[count, 0], ways[count, 1] = kind_of[labels[edge]], targets[edge]
            ways[count, 2], ways[count, 3] = 1, edge
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


@part_of_kernel
def _write_four(four: Any, target: Any, to: Any) -> None:
    target[to], target[to + _1], target[to + _2], target[to + _3] = four


@part_of_kernel
def _read_four(source: Any, begin: Any) -> Any:
    return source[begin], source[begin + _1], source[begin + _2], source[begin + _3]


@part_of_kernel
def _list_ways(row: Any, times: Any, way: int, end: int, by_way: Any, items: int, behind: Any) -> Any:
    """Append the ways out of a node, four at a time and without a branch; what is too much is overwritten."""
    target_by, size_by, match_by, floor_by = by_way
    row_of, match_of, floor_at, target_of, times_of = behind
    for first in range(way, end, 4):
        begin, to = np.uint64(first), np.uint64(items)
        _write_four(_read_four(match_by, begin), match_of, to)
        _write_four(_read_four(floor_by, begin), floor_at, to)
        _write_four(_read_four(target_by, begin), target_of, to)
        a, b, c, d = _read_four(size_by, begin)
        _write_four((times * a, times * b, times * c, times * d), times_of, to)
        _write_four((row, row, row, row), row_of, to)
        items += min(4, end - first)
    return items


@kernel
def _keep_inside(items: int, inner: int, row_of: Any, target_of: Any, times_of: Any) -> Any:
    """Move what is inside of the ball to the front: (how many those are, how many words lead along its edge)."""
    inside, at_edge = 0, np.int64(0)
    for k in range(items):
        kept, target, times = row_of[k], target_of[k], times_of[k]
        is_inside = 1 if kept & inner != 0 else 0
        at_edge += times * (((kept * _ONES) >> 56) & 15) * (1 - is_inside)
        row_of[inside], target_of[inside], times_of[inside] = kept, target, times
        inside += is_inside
    return inside, at_edge


@kernel
def _merge_rows(
    items: int, row_of: Any, target_of: Any, times_of: Any, first: int, places: Any, rows: Any, states: Any, times: Any
) -> Any:
    """Equal rows at the same state become one node, with numbers from `first` on in the hash table; how many nodes."""
    mask, count = _table_size(2 * items) - 1, np.int64(0)
    for k in range(items):
        kept, target = row_of[k], target_of[k]
        at = (((kept ^ (kept >> 29)) + target) * _SPREAD >> 32) & mask
        to = places[at] - first
        while to >= 0 and (rows[to] != kept or states[to] != target):
            at = (at + 1) & mask
            to = places[at] - first
        if to < 0:
            places[at], to = first + count, count
            rows[to], states[to], times[to] = kept, target, 0
            count += 1
        times[to] += times_of[k]
    return count


@kernel
def _count_near(
    word: Any, symbols: Any, kind_of: Any, system: Any, accepting: Any, floors: Any, room: Any, first: Any, sizes: Any
) -> Any:
    """Add to sizes[ℓ], for ℓ < c < 8, how many allowed words are ℓ edits from this one, layer by layer.

    A node is known here by its row and its state, and has the number of beginnings that lead to it; nothing of a layer
    is kept once the next one is there. Nodes have numbers from `first` on, and whatever the hash table `places` says of
    smaller ones is out of date. Returns the first number that is free, or -1 if there is no room for all rows behind
    a layer.
    """
    (kinds, _, lo, hi, cap), (edges, start, alive), (floor_of, has_edge) = word, system, floors
    rows, states, times, next_rows, next_states, next_times, behind, places, ways, by_way, way_bounds = room
    row_of, match_of, floor_at, target_of, times_of = behind
    target_by, size_by, match_by, floor_by = by_way
    looked_ahead = 1 if floor_of.shape[1] > 1 else 0
    inner = ~_ONES if has_edge else -1
    way_bounds[:] = -1
    count, way_count = np.int64(1), np.int64(0)
    rows[0], states[0], times[0] = _first_row(len(kinds), cap, 4)[0, 0], start, 1
    for i in range(hi + 1):
        last = 4 * (len(kinds) - max(0, i - cap + 1))
        if i >= lo and 0 <= last < 60:
            for node in range(count):
                if accepting[states[node]]:
                    sizes[cap - (rows[node] >> last & 15)] += times[node]
        if i == hi or count == 0:
            break
        items = 0
        for node in range(count):
            y = states[node]
            if way_bounds[y, 0] < 0:
                way_bounds[y, 0] = way_count
                way_count = _find_ways(y, edges, symbols, kind_of, ways, way_count)
                way_bounds[y, 1] = way_count
                for way in range(way_bounds[y, 0], way_count):
                    target_by[way], size_by[way] = ways[way, 1], ways[way, 2]
            items += way_bounds[y, 1] - way_bounds[y, 0]
        if items + 4 > len(row_of):
            return -1
        matches, floor_here, alive_here = _matches(i + 1, word), floor_of[i + 1], alive[i + 1]
        for way in range(way_count):
            target = target_by[way]
            match_by[way] = matches[ways[way, 0]]
            floor_by[way] = floor_here[target * looked_ahead] if alive_here[target] else _EIGHTS
        items = 0
        for node in range(count):
            bounds = way_bounds[states[node]]
            items = _list_ways(rows[node], times[node], bounds[0], bounds[1], by_way, items, behind)
        shift = max(0, i + 2 - cap) - max(0, i + 1 - cap)
        _rows_behind(items, shift, row_of, match_of, floor_at)
        items, at_edge = _keep_inside(items, inner, row_of, target_of, times_of)
        sizes[cap - 1] += at_edge
        count = _merge_rows(
            items, row_of, target_of, times_of, first, places, next_rows, next_states, next_times
        )  # fmt: skip
        first += count
        rows, next_rows = next_rows, rows
        states, next_states = next_states, states
        times, next_times = next_times, times
    return first


@kernel
def count_near(
    words: Any, limits: Any, symbol_count: int, system: Any, accepting: Any, floors: Any, has_edge: bool, sizes: Any
) -> None:
    """sizes[word, ℓ] for ℓ < c < 8: how many allowed words are ℓ edits away, where no number exceeds 63 bits.

    The arguments are those of `find_graphs`; -1 in sizes[word, 0] says that too many rows had to be told apart.
    """
    (kinds, offsets, symbols, symbol_offsets), (lo, hi, cap) = words, limits
    edges, _, alive = system
    kind_of = np.full(symbol_count, _NO_KIND, dtype=np.int64)
    most_ways = 2 * len(edges[1]) + 4  # four at a time are copied
    of_layer, of_ways = np.empty((11, _LAYER), np.int64), np.empty((4, most_ways), np.int64)
    room = (
        of_layer[0], of_layer[1], of_layer[2], of_layer[3], of_layer[4], of_layer[5],
        (of_layer[6], of_layer[7], of_layer[8], of_layer[9], of_layer[10]), np.full(4 * _LAYER, -1, np.int64),
        np.empty((most_ways, 4), np.int64), (of_ways[0], of_ways[1], of_ways[2], of_ways[3]),
        np.empty((alive.shape[1], 2), np.int64),
    )  # fmt: skip
    first = np.int64(0)
    for k in range(len(offsets) - 1):
        own = symbols[symbol_offsets[k] : symbol_offsets[k + 1]]
        word = (kinds[offsets[k] : offsets[k + 1]], len(own) + 1, lo, hi, cap)
        for kind in range(len(own)):
            kind_of[own[kind]] = kind
        free = _count_near(word, own, kind_of, system, accepting, (floors[k], has_edge), room, first, sizes[k])
        for kind in range(len(own)):
            kind_of[own[kind]] = _NO_KIND
        first = max(first, free)
        if free < 0:
            sizes[k, 0] = -1
            first += _LAYER


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
    (layers, nodes, links, _), (ways_of, alive) = graph, ways
    acts_like = np.full(kind_count, kind_count - 1, dtype=np.int64)
    for j in range(max(0, i - cap), min(len(kinds), i + cap - 1)):
        acts_like[kinds[j]] = kinds[j]  # a symbol that occurs only outside the band acts like one that does not occur
    steps = np.full((row_count, kind_count), -1, dtype=np.int32)
    for node in range(layers[i - 1], layers[i]):
        for way in range(nodes[node, 5], nodes[node, 6]):
            if alive[i, ways_of[way, 1]]:
                steps[nodes[node, 3], acts_like[ways_of[way, 0]]] = _WANTED
    slots = np.full(_table_size(min(most, steps.size)), -1, dtype=np.int32)
    row_count = _step_rows(rows, steps, new_rows, slots, kinds, i, lo, hi, cap, log)
    places = np.full(_table_size(most), -1, dtype=np.int32)
    states = alive.shape[1]
    node_count, link_count = layers[i], nodes[layers[i - 1], 2]
    for node in range(layers[i - 1], layers[i]):
        nodes[node, 2] = link_count
        row = nodes[node, 3]
        for way in range(nodes[node, 5], nodes[node, 6]):
            target = ways_of[way, 1]
            after = steps[row, acts_like[ways_of[way, 0]]]
            if after < 0 or not alive[i, target]:
                continue
            at = ((after * states + target) * _SPREAD >> 32) & (len(places) - 1)
            while places[at] >= 0 and (nodes[places[at], 3] != after or nodes[places[at], 1] != target):
                at = (at + 1) & (len(places) - 1)
            if places[at] < 0:
                nodes[node_count, 1], nodes[node_count, 3] = target, after
                places[at] = node_count
                node_count += 1
            links[link_count, 0], links[link_count, 1], links[link_count, 2] = places[at], way, node
            link_count += 1
        nodes[node, 3], nodes[node, 4] = 0, 0
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
def _find_nodes(
    word: Any, symbols: Any, kind_of: Any, system: Any, floors: Any, most: int, room: Any, begin: Any
) -> Any:
    """The graph of one word, in the arrays of `room` from row numbers `begin` on, or in larger ones if they are full.

    Returns (layers, nodes, links, ways, edge), whose rows before `begin` stay, and the numbers of new rows: none at all
    if there would be more than `most` nodes.
    """
    (kinds, _, _, hi, cap), (edges, start, alive), (all_nodes, all_links, all_ways, all_edge) = word, system, room
    n = len(kinds)
    log = 4 if cap < 16 else 3 if cap < 256 else 2  # 2^log entries of a row share 64 bits
    # Numbers that change begin as np.int64: a plain 0 would make numba compile what they are given to twice.
    node_count = row_count = np.int64(1)
    way_count = link_count = edge_count = np.int64(0)
    rows = _first_row(n, cap, log)
    new_rows = np.empty_like(rows)
    way_bounds = np.full((alive.shape[1], 2), -1, dtype=np.int32)
    all_ways = _with_room(all_ways, begin[2], begin[2] + 2 * len(edges[1]))
    all_nodes = _with_room(all_nodes, begin[0], begin[0] + 2)
    ways, nodes = all_ways[begin[2] :], all_nodes[begin[0] :]
    nodes[0, 0], nodes[0, 1], nodes[0, 2], nodes[0, 3] = min(n, cap), start, 0, 0
    layers = np.zeros(hi + 2, dtype=np.int64)
    layers[1] = 1
    places = np.empty(0, dtype=np.int32)
    behind = np.empty((5, 0), dtype=np.int64)
    for i in range(1, hi + 1):
        if layers[i - 1] == layers[i]:  # whatever is longer is far away
            layers[i + 1 :] = node_count
            break
        further = np.int64(1)  # links out of the last layer at most, and one that is written but does not count
        for node in range(layers[i - 1], layers[i]):
            y = nodes[node, 1]
            if way_bounds[y, 0] < 0:
                way_bounds[y, 0] = way_count
                way_count = _find_ways(y, edges, symbols, kind_of, ways, way_count)
                way_bounds[y, 1] = way_count
            nodes[node, 5], nodes[node, 6] = way_bounds[y, 0], way_bounds[y, 1]
            further += nodes[node, 6] - nodes[node, 5]
        all_nodes = _with_room(all_nodes, begin[0] + node_count, begin[0] + node_count + further)
        all_links = _with_room(all_links, begin[1] + link_count, begin[1] + link_count + further)
        all_edge = _with_room(all_edge, begin[3] + edge_count, begin[3] + edge_count + further)
        new_rows = _with_room(new_rows, np.int64(0), further)
        nodes, links, edge = all_nodes[begin[0] :], all_links[begin[1] :], all_edge[begin[3] :]
        nodes[layers[i - 1], 2] = link_count
        graph, ways_out = (layers, nodes, links, edge), (ways, alive)
        if cap < 8:
            if len(places) < _table_size(further):
                places = np.full(2 * _table_size(further), -1, dtype=np.int32)
                behind = np.empty((5, len(places)), dtype=np.int64)
            node_count, link_count, edge_count = _link_narrow_nodes(
                i, word, graph, ways_out, rows, new_rows, (behind, places), floors, edge_count
            )
        else:
            node_count, link_count, row_count = _link_nodes(
                i, word, graph, ways_out, rows, row_count, new_rows, further, log
            )
            _note_last_entries(i, n, cap, log, new_rows, layers[i], node_count, nodes)
        if node_count > most:
            return layers, all_nodes, all_links, all_ways, all_edge, (0, 0, 0, 0)
        layers[i + 1] = node_count
        rows, new_rows = new_rows, rows
    for node in range(layers[hi], node_count + 1):
        nodes[node, 2], nodes[node, 3], nodes[node, 4], nodes[node, 5], nodes[node, 6] = link_count, 0, edge_count, 0, 0
    return layers, all_nodes, all_links, all_ways, all_edge, (node_count + 1, link_count, way_count, edge_count)


@kernel
def find_graphs(
    words: Any, limits: Any, symbol_count: int, system: Any, floors: Any, has_edge: bool, most: Any, room: Any
) -> Any:
    """The graphs of many words, one after the other in the same arrays: all nodes, layer by layer, and their links.

    `words` are the words one after the other, with the symbols of each numbered from 0 (their kinds), the offsets of
    the words, the symbols of each, and the offsets of those; `limits` are lo, hi and c. `system` has the edges, the
    first state, and for i and y whether a word of allowed length can be completed from y after i symbols. `floors` come
    from `preparing.find_floors` where c < 8.

    Returns (layers, begins, nodes, links, ways, edge). Nodes have the columns last entry of the row, y, first link, how
    many words of class c - 1 are behind its rows at the edge of the ball, the first of those rows, and the first way
    and the end of the ways out of y. Links have the columns node behind, way, node before; `edge` has rows (1 in each
    entry that is c - 1) and ways. What is behind all other ways is out of reach of the cap. `begins[k]` is where nodes,
    links, ways and rows at the edge of word k begin; the numbers in them count from there. Every word has one node more
    than it needs, which says where its last links end. `begins` ends before a word that would have more nodes than the
    first number of `most`, and once there are more than the second in all. The arrays are those of `room` (nodes,
    links, ways, edge) unless these are too small.
    """
    (kinds, offsets, symbols, symbol_offsets), (lo, hi, cap), (most_nodes, enough) = words, limits, most
    nodes, links, ways, edge = room
    count = len(offsets) - 1
    kind_of = np.full(symbol_count, _NO_KIND, dtype=np.int64)
    begins = np.zeros((count + 1, 4), dtype=np.int64)
    layers = np.empty((count, hi + 2), dtype=np.int64)
    for k in range(count):
        own = symbols[symbol_offsets[k] : symbol_offsets[k + 1]]
        word = (kinds[offsets[k] : offsets[k + 1]], len(own) + 1, lo, hi, cap)
        for kind in range(len(own)):
            kind_of[own[kind]] = kind
        found, nodes, links, ways, edge, sizes = _find_nodes(
            word, own, kind_of, system, (floors[k], has_edge), most_nodes, (nodes, links, ways, edge), begins[k]
        )
        for kind in range(len(own)):
            kind_of[own[kind]] = _NO_KIND
        if sizes[0] == 0 or (k > 0 and begins[k, 0] + sizes[0] > enough):
            count = k
            break
        for i in range(hi + 2):  # not `layers[k] = found`: see `_with_room`
            layers[k, i] = found[i]
        for what in range(4):
            begins[k + 1, what] = begins[k, what] + sizes[what]
    return layers[:count], begins[: count + 1], nodes, links, ways, edge
