"""Compiled walks through the graph of `kernels`: backwards to count words, forwards from a number to its word.

Numbers of words are exact. They are stored in limbs of 32 bits, lowest first, each in a 64-bit cell, so that the sums
over all ways of a node fit before carries are passed on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pathveil.numerics.jit import kernel

_BITS = 32
_MASK = np.uint64((1 << _BITS) - 1)


@kernel
def count_words(
    layers: Any, nodes: Any, links: Any, ways: Any, lo: int, cap: int, accepting: Any, completions: Any
) -> Any:
    """values[node, ℓ]: how many allowed words continue from the node and end in class ℓ, for ℓ = 0..c, in limbs.

    `completions[i, y]` is how many continue from y after i symbols, whatever their class.
    """
    limbs = completions.shape[2]
    width = (cap + 1) * limbs
    values = np.zeros((len(nodes) - 1, width), dtype=np.uint64)
    for i in range(len(layers) - 2, -1, -1):
        for node in range(layers[i], layers[i + 1]):
            if i >= lo and accepting[nodes[node, 1]]:
                values[node, nodes[node, 0] * limbs] += np.uint64(1)
            for link in range(nodes[node, 2], nodes[node + 1, 2]):
                to, way = links[link, 0], links[link, 1]
                times = np.uint64(ways[way, 2])
                if to >= 0 and times == 1:
                    for k in range(width):
                        values[node, k] += values[to, k]
                elif to >= 0:
                    for k in range(width):
                        values[node, k] += times * values[to, k]
                else:
                    for limb in range(limbs):
                        values[node, cap * limbs + limb] += times * completions[i + 1, ways[way, 1], limb]
            if limbs > 1:
                for k in range(width):
                    if (k + 1) % limbs:
                        values[node, k + 1] += values[node, k] >> np.uint64(_BITS)
                        values[node, k] &= _MASK
    return values.reshape((len(nodes) - 1, cap + 1, limbs))


@kernel
def _at_least(number: Any, other: Any) -> bool:
    for limb in range(len(number) - 1, -1, -1):
        if number[limb] != other[limb]:
            return bool(number[limb] > other[limb])
    return True


@kernel
def _subtract(number: Any, other: Any) -> None:
    """number -= other, where that is not negative."""
    borrow = np.uint64(0)
    for limb in range(len(number)):
        taken = other[limb] + borrow
        borrow = np.uint64(1) if number[limb] < taken else np.uint64(0)
        number[limb] = (number[limb] + (borrow << np.uint64(_BITS))) - taken


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
def find_word(
    rank: Any,
    distance: int,
    nodes: Any,
    links: Any,
    ways: Any,
    values: Any,
    symbols: Any,
    lo: int,
    accepting: Any,
    completions: Any,
    system: Any,
    word: Any,
) -> int:
    """Word number `rank` (from 0; limbs, used up) of the class into `word`; its length.

    Every rank below the number of words in the class gives another word. A larger rank gives -1.
    """
    cap = values.shape[1] - 1
    product = np.empty_like(rank)
    i, node, to, y = np.int64(0), np.int64(0), np.int64(-1), np.int64(nodes[0, 1])
    while node >= 0:
        if i >= lo and accepting[y] and nodes[node, 0] == distance and _ends_here(rank, product):
            return int(i)
        which = -1
        for link in range(nodes[node, 2], nodes[node + 1, 2]):
            to, way = links[link, 0], links[link, 1]
            if to < 0 and distance < cap:
                continue
            share = values[to, distance] if to >= 0 else completions[i + 1, ways[way, 1]]
            which = _take(rank, share, ways[way, 2], product)
            if which >= 0:
                y = ways[way, 1]
                if ways[way, 0] < len(symbols):
                    word[i] = symbols[ways[way, 0]]
                else:
                    word[i] = _other_symbol(ways[way, 3], which, system, symbols)
                break
        if which < 0:
            return -1  # the rank is not below the number of words
        i, node = i + 1, to
    # Out of reach of the cap: any completion will do.
    return int(_complete(rank, i, y, lo, accepting, completions, system, product, word))
