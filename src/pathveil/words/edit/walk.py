"""Compiled walks through the graph of `kernels`, from the number of a word to the word.

Numbers are exact, in limbs as in `counting`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pathveil.numerics.jit import kernel

_BITS = 32
_MASK = np.uint64((1 << _BITS) - 1)
_ENTRIES = 16  # of four bits each that a packed row of the graph has; a shift by more would wrap around


@kernel
def _subtract_small(number: Any, less: int) -> None:
    """number -= less, which is below 2^31, where that is not negative."""
    borrow = np.uint64(less)
    for limb in range(len(number)):
        if number[limb] >= borrow:
            number[limb] -= borrow
            return
        number[limb] = (number[limb] + (np.uint64(1) << np.uint64(_BITS))) - borrow
        borrow = np.uint64(1)


@kernel
def _subtract(number: Any, other: Any) -> None:
    """number -= other, where that is not negative."""
    borrow = np.uint64(0)
    for limb in range(len(number)):
        taken = other[limb] + borrow
        borrow = np.uint64(1) if number[limb] < taken else np.uint64(0)
        number[limb] = (number[limb] + (borrow << np.uint64(_BITS))) - taken


@kernel
def _at_least(number: Any, other: Any) -> bool:
    for limb in range(len(number) - 1, -1, -1):
        if number[limb] != other[limb]:
            return bool(number[limb] > other[limb])
    return True


@kernel
def _multiply(number: Any, times: int, product: Any) -> None:
    carry = np.uint64(0)
    for limb in range(len(number)):
        carry += number[limb] * np.uint64(times)
        product[limb] = carry & _MASK
        carry >>= np.uint64(_BITS)


@kernel
def _take(rank: Any, value: Any, times: int, product: Any) -> int:
    """Which of `times` equal shares of size `value` the rank falls into, or -1 beyond them; what it exceeds stays."""
    if len(rank) == 1:
        beyond = value[0] * np.uint64(times)
        which = -1 if rank[0] >= beyond else np.int64(rank[0] // value[0])
        rank[0] -= beyond if which < 0 else np.uint64(which) * value[0]
        return int(which)
    _multiply(value, times, product)
    if _at_least(rank, product):
        _subtract(rank, product)
        return -1
    low, high = 0, times  # the rank is at least low shares and less than high
    while high - low > 1:
        middle = (low + high) // 2
        _multiply(value, middle, product)
        if _at_least(rank, product):
            low = middle
        else:
            high = middle
    _multiply(value, low, product)
    _subtract(rank, product)
    return low


@kernel
def _is_zero(number: Any) -> bool:
    any_bit = np.uint64(0)
    for limb in number:
        any_bit |= limb
    return bool(any_bit == 0)


@kernel
def _other_symbol(bundle: int, which: int, system: Any, symbols: Any) -> int:
    """The label of edge number `which` of the bundle, edges with symbols of the word not counted."""
    labels, bundle_begins, by_target = system[1], system[4], system[5]
    begin, end = bundle_begins[bundle], bundle_begins[bundle + 1]
    place = begin + which
    for symbol in symbols:  # in increasing order, as the edges of a bundle are
        low, high = begin, end
        while low < high:
            middle = (low + high) // 2
            if labels[by_target[middle]] < symbol:
                low = middle + 1
            else:
                high = middle
        if low < end and labels[by_target[low]] == symbol and low <= place:
            place += 1
    return int(labels[by_target[place]])


@kernel
def _ends_here(rank: Any, one: Any) -> bool:
    """Is the word that ends here the one looked for: is its rank 0? If not, it is passed over: the rank falls by 1."""
    if _is_zero(rank):
        return True
    one[:] = 0
    one[0] = 1
    _subtract(rank, one)
    return False


@kernel
def _complete(
    rank: Any, i: int, y: int, lo: int, accepting: Any, completions: Any, system: Any, product: Any, word: Any
) -> int:
    """Completion number `rank` of a word that stands in y after i symbols, whatever its distance; the length or -1."""
    labels, targets, bundles, bundle_begins, by_target = system[1], system[2], system[3], system[4], system[5]
    while True:
        if i >= lo and accepting[y] and _ends_here(rank, product):
            return i
        which, target = -1, y
        for bundle in range(bundles[y], bundles[y + 1]):
            begin = bundle_begins[bundle]
            target = targets[by_target[begin]]
            which = _take(rank, completions[i + 1, target], bundle_begins[bundle + 1] - begin, product)
            if which >= 0:
                word[i] = labels[by_target[begin + which]]
                break
        if which < 0:
            return -1
        i, y = i + 1, target


@kernel
def _is_near(word: Any, other: Any, length: int, cap: int, row: Any) -> bool:
    """Are the word and the first `length` symbols of the other less than c edits apart?

    Most are not, and that is seen halfway; `edit_distances` would go on to the end.
    """
    n = len(word)
    for j in range(n + 1):
        row[j] = j
    for symbol in other[:length]:
        diagonal = row[0]
        row[0] += 1
        least = row[0]
        for j in range(1, n + 1):
            above = row[j]
            replaced = diagonal + (1 if word[j - 1] != symbol else 0)
            row[j] = min(replaced, above + 1, row[j - 1] + 1)
            least = min(least, row[j])
            diagonal = above
        if least >= cap:
            return False
    return bool(row[n] < cap)


@kernel
def find_far_words(
    ranks: Any, owners: Any, words: Any, cap: int, lo: int, start: int, public: Any, found: Any, lengths: Any
) -> None:
    """For each rank, which is used up: that of all allowed words (from 0) into the row `owner` of `found`.

    Its length is written to `lengths`, or -1 if it is less than c edits from word number `owner`. `words` are their
    symbols, one after the other, and where they begin.
    """
    (values, offsets), (accepting, completions, system) = words, public
    product, row = np.empty(ranks.shape[1], dtype=np.uint64), np.empty(found.shape[1] + 1, dtype=np.int64)
    for drawn in range(len(ranks)):
        owner = owners[drawn]
        word = found[owner]
        length = _complete(ranks[drawn], 0, start, lo, accepting, completions, system, product, word)
        is_near = _is_near(values[offsets[owner] : offsets[owner + 1]], word, length, cap, row)
        lengths[owner] = -1 if is_near else length


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
def _entries(row: Any) -> int:
    """How many entries of a row at the edge of the ball are c - 1."""
    count = 0
    while row != 0:
        row &= row - 1
        count += 1
    return count


@kernel
def _comes_before(one: int, other: int, kinds: Any) -> bool:
    """Does the rest of the word from `one` on come before that from `other` on, as in a dictionary?"""
    while one < len(kinds) and other < len(kinds):
        if kinds[one] != kinds[other]:
            return bool(kinds[one] < kinds[other])
        one, other = one + 1, other + 1
    return one > other  # it ends first


@kernel
def _end_like_word(which: int, row: Any, i: int, cap: int, own: Any, word: Any) -> int:
    """From a row at the edge of the ball, i symbols being written: end like the sensitive word; the length.

    `which` of the ways to do so, in the order of a dictionary.
    """
    kinds, symbols = own
    begin = max(0, i - cap + 1)
    end = min(begin + _ENTRIES, len(kinds) + 1)
    for j in range(begin, end):
        if row >> (4 * (j - begin)) & 1:
            before = 0
            for other in range(begin, end):
                if other != j and row >> (4 * (other - begin)) & 1 and _comes_before(other, j, kinds):
                    before += 1
            if before == which:
                for k in range(j, len(kinds)):
                    word[i + k - j] = symbols[kinds[k]]
                return int(i + len(kinds) - j)
    return -1


@kernel
def _row_after(row: Any, i: int, cap: int, kind: int, kinds: Any) -> int:
    """The row at the edge of the ball after one more symbol of this kind, which is number i: entries that match."""
    before, begin = max(0, i - cap), max(0, i - cap + 1)
    after = 0
    for j in range(before, min(before + _ENTRIES, len(kinds))):
        if row >> (4 * (j - before)) & 1 and kinds[j] == kind:
            after |= 1 << (4 * (j + 1 - begin))
    return after


@kernel
def _leave(
    rank: Any, row: Any, i: int, y: int, cap: int, own: Any, lo: int, public: Any, product: Any, word: Any
) -> Any:
    """One step of a word of class c from a row at the edge of the ball: (length or -1, row after it, y after it).

    A length of -2 says that the word goes on; -1 that the rank is too large.
    """
    (kinds, symbols), (accepting, completions, system) = own, public
    offsets, labels, targets, bundles, bundle_begins, by_target = system
    to_end = len(kinds) - max(0, i - cap + 1)  # the entry for all of the word
    ends_near = 0 <= to_end < _ENTRIES and row >> (4 * to_end) & 1
    if i >= lo and accepting[y] and not ends_near and _ends_here(rank, product):
        return i, 0, y
    share = np.empty_like(rank)
    for kind in range(len(symbols)):
        edge = _find_edge(y, symbols[kind], offsets, labels)
        if edge >= 0:
            after = _row_after(row, i + 1, cap, kind, kinds)
            for limb in range(len(share)):  # a slice would be compiled for seconds
                share[limb] = completions[i + 1, targets[edge], limb]
            _subtract_small(share, _entries(after))
            if _take(rank, share, 1, product) >= 0:
                word[i] = symbols[kind]
                return -2, after, targets[edge]
    for bundle in range(bundles[y], bundles[y + 1]):
        target = targets[by_target[bundle_begins[bundle]]]
        times = bundle_begins[bundle + 1] - bundle_begins[bundle]
        for symbol in symbols:
            edge = _find_edge(y, symbol, offsets, labels)
            times -= 1 if edge >= 0 and targets[edge] == target else 0
        if times > 0:
            which = _take(rank, completions[i + 1, target], times, product)
            if which >= 0:
                word[i] = _other_symbol(bundle, which, system, symbols)
                return -2, 0, target
    return -1, 0, y


@kernel
def _follow_edge(
    rank: Any,
    distance: int,
    row: Any,
    i: int,
    y: int,
    cap: int,
    own: Any,
    lo: int,
    public: Any,
    product: Any,
    word: Any,
) -> int:
    """Word number `rank` of class c - 1 or c behind a row at the edge of the ball; its length, or -1."""
    if distance < cap:
        return int(_end_like_word(np.int64(rank[0]), row, i, cap, own, word))
    while row != 0:
        length, row, y = _leave(rank, row, i, y, cap, own, lo, public, product, word)
        if length >= -1:
            return int(length)
        i += 1
    accepting, completions, system = public
    return int(_complete(rank, i, y, lo, accepting, completions, system, product, word))


@kernel
def _find_word(
    rank: Any, distance: int, cap: int, graph: Any, own: Any, lo: int, public: Any, product: Any, word: Any
) -> int:
    """Word number `rank` (from 0; limbs, used up) of the class into `word`; its length, or -1 for a larger rank."""
    (nodes, links, ways, edge, values), symbols, (accepting, completions, system) = graph, own[1], public
    share = np.empty_like(rank)
    i, node, y, row = np.int64(0), np.int64(0), np.int64(nodes[0, 1]), np.int64(0)
    while node >= 0:
        if i >= lo and accepting[y] and nodes[node, 0] == distance and _ends_here(rank, product):
            return int(i)
        which, link, at_edge = -1, nodes[node, 2], nodes[node, 4]
        end, end_of_edge = nodes[node + 1, 2], nodes[node + 1, 4]
        for way in range(nodes[node, 5], nodes[node, 6]):
            to, row = np.int64(-1), np.int64(0)
            if link < end and links[link, 1] == way:
                to = np.int64(links[link, 0])
                for limb in range(len(share)):
                    share[limb] = values[to, distance, limb]
                link += 1
            elif distance < cap - 1:
                continue
            else:
                if at_edge < end_of_edge and edge[at_edge, 1] == way:
                    row = edge[at_edge, 0]
                    at_edge += 1
                if distance == cap:
                    for limb in range(len(share)):
                        share[limb] = completions[i + 1, ways[way, 1], limb]
                    _subtract_small(share, _entries(row))
                else:
                    share[:] = 0
                    share[0] = _entries(row)
            which = _take(rank, share, ways[way, 2], product)
            if which >= 0:
                y = ways[way, 1]
                if ways[way, 0] < len(symbols):
                    word[i] = symbols[ways[way, 0]]
                else:
                    word[i] = _other_symbol(ways[way, 3], which, system, symbols)
                i, node = i + 1, to
                break
        if which < 0:
            return -1  # the rank is not below the number of words
    return int(_follow_edge(rank, distance, row, i, y, cap, own, lo, public, product, word))


@kernel
def find_words(
    ranks: Any, distances: Any, owners: Any, cap: int, graphs: Any, words: Any, lo: int, public: Any, found: Any
) -> Any:
    """For each rank, which is used up: that word (from 0) of the class around graph number `owner`, a row of `found`.

    `graphs` are those of `kernels.find_graphs`, with values, of the same `words`; `public` are the accepting states,
    completions and edges. Every rank below the number of words in the class gives another word. Returns the lengths, -1
    for a larger rank.
    """
    begins, nodes, links, ways, edge, values = graphs
    kinds, offsets, symbols, symbol_offsets = words
    product = np.empty(ranks.shape[1], dtype=np.uint64)
    lengths = np.empty(len(ranks), dtype=np.int64)
    for drawn in range(len(ranks)):
        k = owners[drawn]
        graph = (
            nodes[begins[k, 0] : begins[k + 1, 0]],
            links[begins[k, 1] : begins[k + 1, 1]],
            ways[begins[k, 2] : begins[k + 1, 2]],
            edge[begins[k, 3] : begins[k + 1, 3]],
            values[begins[k, 0] : begins[k + 1, 0]],
        )
        own = kinds[offsets[k] : offsets[k + 1]], symbols[symbol_offsets[k] : symbol_offsets[k + 1]]
        lengths[drawn] = _find_word(ranks[drawn], distances[drawn], cap, graph, own, lo, public, product, found[drawn])
    return lengths
