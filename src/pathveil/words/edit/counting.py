"""Compiled passes back through the graph of `kernels`: how many words there are behind each node, class by class.

Numbers of words are exact. Where none exceeds 63 bits, each is one cell. Otherwise they are stored in limbs of 32 bits,
lowest first, each in a 64-bit cell, so that the sums over all ways of a node fit before carries are passed on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pathveil.numerics.jit import kernel, part_of_kernel

_BITS = 32
_MASK = np.uint64((1 << _BITS) - 1)
_1, _2, _3, _4, _5, _6, _7 = (np.uint64(column) for column in range(1, 8))


@part_of_kernel
def _add_eight(values: Any, here: Any, there: Any, times: Any) -> None:
    """Add so many times eight columns of one node to those of another. (A loop would be compiled worse.)"""
    a, b, c, d = values[there], values[there + _1], values[there + _2], values[there + _3]
    e, f, g, h = values[there + _4], values[there + _5], values[there + _6], values[there + _7]
    a, b, c, d = times * a, times * b, times * c, times * d
    e, f, g, h = times * e, times * f, times * g, times * h
    a, b, c, d = a + values[here], b + values[here + _1], c + values[here + _2], d + values[here + _3]
    e, f, g, h = e + values[here + _4], f + values[here + _5], g + values[here + _6], h + values[here + _7]
    values[here], values[here + _1], values[here + _2], values[here + _3] = a, b, c, d
    values[here + _4], values[here + _5], values[here + _6], values[here + _7] = e, f, g, h


@kernel
def _count_small(graph: Any, lo: int, cap: int, accepting: Any, completions: Any, values: Any) -> None:
    """`count_words` where every number fits into a single limb, into `values`: rows of multiples of eight, all zero.

    What is missing in the sum over all classes, since ways out of reach have no link, belongs to class c.
    """
    layers, nodes, links, ways = graph
    width = np.uint64(values.shape[1])  # with a sign, an index might count from the end
    flat = values.reshape(values.size)
    for i in range(len(layers) - 2, -1, -1):
        for link in range(nodes[layers[i], 2], nodes[layers[i + 1], 2]):
            times = np.uint64(ways[links[link, 1], 2])
            here, there = np.uint64(links[link, 2]) * width, np.uint64(links[link, 0]) * width
            for _ in range(width >> np.uint64(3)):
                _add_eight(flat, here, there, times)
                here += np.uint64(8)
                there += np.uint64(8)
        for node in range(layers[i], layers[i + 1]):
            own, y = values[node], nodes[node, 1]
            if i >= lo and accepting[y]:
                own[nodes[node, 0]] += np.uint64(1)
            own[cap - 1] += np.uint64(nodes[node, 3])
            missing = completions[i, y, 0]
            for k in range(cap):
                missing -= own[k]
            own[cap] = missing


@kernel
def _subtract(number: Any, other: Any) -> None:
    """number -= other, where that is not negative."""
    borrow = np.uint64(0)
    for limb in range(len(number)):
        taken = other[limb] + borrow
        borrow = np.uint64(1) if number[limb] < taken else np.uint64(0)
        number[limb] = (number[limb] + (borrow << np.uint64(_BITS))) - taken


@kernel
def _count_large(graph: Any, lo: int, cap: int, accepting: Any, completions: Any, values: Any) -> None:
    """`count_words` with several limbs, into `values`, which are zero."""
    layers, nodes, links, ways = graph
    limbs = completions.shape[2]
    for i in range(len(layers) - 2, -1, -1):
        for node in range(layers[i], layers[i + 1]):
            if i >= lo and accepting[nodes[node, 1]]:
                values[node, nodes[node, 0] * limbs] += np.uint64(1)
            values[node, (cap - 1) * limbs] += np.uint64(nodes[node, 3])
            for link in range(nodes[node, 2], nodes[node + 1, 2]):
                to, times = links[link, 0], np.uint64(ways[links[link, 1], 2])
                for k in range(cap * limbs):
                    values[node, k] += times * values[to, k]
            for k in range(cap * limbs):
                if (k + 1) % limbs:
                    values[node, k + 1] += values[node, k] >> np.uint64(_BITS)
                    values[node, k] &= _MASK
            missing = values[node, cap * limbs : (cap + 1) * limbs]
            for limb in range(limbs):  # a slice would be compiled for seconds, together with the message of its error
                missing[limb] = completions[i, nodes[node, 1], limb]
            for k in range(cap):
                _subtract(missing, values[node, k * limbs : (k + 1) * limbs])


@kernel
def count_words(
    layers: Any,
    begins: Any,
    nodes: Any,
    links: Any,
    ways: Any,
    lo: int,
    cap: int,
    accepting: Any,
    completions: Any,
    room: Any,
) -> Any:
    """values[node, ℓ]: how many allowed words continue from the node and end in class ℓ, for ℓ = 0..c, in limbs.

    For all graphs that `find_graphs` found. `completions[i, y]` is how many words continue from y after i symbols,
    whatever their class. With a single limb there may be more columns than classes; they are zero. The values lie in
    `room`, if that is large enough.
    """
    limbs = completions.shape[2]
    width = (cap + 8) // 8 * 8 if limbs == 1 else (cap + 1) * limbs
    size = begins[-1, 0] * width
    flat = room[:size] if size <= len(room) else np.empty(size, dtype=np.uint64)
    flat[:] = 0
    values = flat.reshape((begins[-1, 0], width))
    for k in range(len(begins) - 1):
        graph = (
            layers[k],
            nodes[begins[k, 0] : begins[k + 1, 0]],
            links[begins[k, 1] : begins[k + 1, 1]],
            ways[begins[k, 2] : begins[k + 1, 2]],
        )
        own = values[begins[k, 0] : begins[k + 1, 0]]
        if limbs == 1:
            _count_small(graph, lo, cap, accepting, completions, own)
        else:
            _count_large(graph, lo, cap, accepting, completions, own)
    return values.reshape((len(values), width // limbs, limbs))
