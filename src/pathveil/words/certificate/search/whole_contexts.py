"""Bounds for nodes of small systems that keep together what a context does to all symbols.

A box at the run says of each symbol by itself how much it weighs. But the weights of all symbols come from the same
weights where a context begins, and are far from being all at their worst at once. (`whole_contexts_kernel` has the
formula, docs/certified.md, "Whole contexts", the proof.)
"""

from __future__ import annotations

from dataclasses import dataclass

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
    prefixes: ContextTree, suffixes: ContextTree, prefix: IntArray, suffix: IntArray, v: IntArray, z: float,
    enough: float = 0.0,
) -> WholeContexts:  # fmt: skip
    """The bounds of some nodes with these contexts, where v replaces the symbol that the contexts belong to.

    No better one is looked for once a bound is at most `enough`.
    """
    from pathveil.words.certificate.search.whole_contexts_kernel import whole_contexts as bounds_and_adds

    trees, chosen = (prefixes, suffixes), (prefix, suffix)
    both = list(zip(trees, chosen, strict=True))
    chain, near = prefixes.chain, (prefixes.near.offsets, prefixes.near.symbols)
    links = tuple((tree.chain.predecessors.offsets, tree.chain.predecessors.symbols) for tree in trees)
    most = max(int(of.degrees.max(initial=0)) for of in (chain.successors, chain.predecessors))
    depths = tuple(tree.depth[own] for tree, own in both)
    steps = 1 + max(int(depth.max(initial=0)) for depth in depths)
    slack = (64 + 2 * chain.symbol_count + steps * (most + 4)) * 2.0**-51
    bounds, (by_prefix, by_suffix) = bounds_and_adds(
        prefixes.current[prefix],
        v,
        tuple(tree.row[own] for tree, own in both),
        near,
        tuple((tree.lo, tree.hi) for tree in trees),
        tuple(tree.starts(own) for tree, own in both),
        tuple(tree.paths(own) for tree, own in both),
        depths,
        links,
        z,
        slack,
        enough,
    )
    return WholeContexts(bounds.min(axis=0), bounds.argmin(axis=0) == 0, by_prefix >= by_suffix)
