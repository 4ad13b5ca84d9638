"""Bounds for nodes of small systems that keep together what a context does to all symbols.

A box at the run says of each symbol by itself how much it weighs. But the weights of all symbols come from the same
weights where a context begins, and are far from being all at their worst at once. (`whole_contexts_kernel` has the
formula, docs/certified.md, "Whole contexts", the proof.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pathveil.numerics.arrays import BoolArray, FloatArray, IntArray
from pathveil.words.certificate.search.context_tree import ContextTree


@dataclass(frozen=True)
class WholeContexts:
    """One entry for each node: a bound for Z(v)/Z(w), infinite if there is none, and which side leaves more open.

    That is only known where `keeps_both` together gives the best of the bounds.
    """

    bound: FloatArray
    keeps_both: BoolArray
    splits_prefix: BoolArray


def whole_contexts(
    prefixes: ContextTree, suffixes: ContextTree, prefix: IntArray, suffix: IntArray, v: IntArray, z: float
) -> WholeContexts:
    """The bounds of some nodes with these contexts, where v replaces the symbol that the contexts belong to."""
    from pathveil.words.certificate.search.whole_contexts_kernel import whole_contexts as bounds_and_adds

    trees, chosen = (prefixes, suffixes), (prefix, suffix)
    rows = prefixes.row[prefix], suffixes.row[suffix]
    boxes = (prefixes.lo, prefixes.hi), (suffixes.lo, suffixes.hi)
    starts, places, tables = [], [], []
    for tree, own, other_rows, other in zip(trees, chosen, rows[::-1], boxes[::-1], strict=True):
        contexts, place = np.unique(own, return_inverse=True)
        order = np.argsort(place, kind="stable")
        groups = np.searchsorted(place[order], np.arange(len(contexts) + 1))
        with_w, *by_node = tree.products(contexts, groups, v[order], other_rows[order], other)
        back = np.argsort(order, kind="stable")
        starts.append(tree.starts(contexts))
        places.append(place)
        tables.append((with_w, *((one[back], all_of_them[back]) for one, all_of_them in by_node)))
    chain, near = prefixes.chain, (prefixes.near.offsets, prefixes.near.symbols)
    most = max(int(links.degrees.max(initial=0)) for links in (chain.successors, chain.predecessors))
    steps = 1 + max(int(tree.depth[own].max(initial=0)) for tree, own in zip(trees, chosen, strict=True))
    slack = (64 + 2 * chain.symbol_count + steps * (most + 4)) * 2.0**-51
    bounds, (by_prefix, by_suffix) = bounds_and_adds(
        prefixes.current[prefix], v, rows, near, boxes, tuple(starts), tuple(places), tuple(tables), z, slack
    )
    return WholeContexts(bounds.min(axis=0), bounds.argmin(axis=0) == 0, by_prefix >= by_suffix)
