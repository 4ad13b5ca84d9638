"""Which ratios are worth a bound of their own: the pairs (c, y) for which an interval for α(y)/α(c) is kept.

In a road network of thousands of segments nearly all y are far from c: no path that ends in y met the word in its
last steps, and the weight of y is tiny and uninteresting. Kept are the y that share an ancestor with c a few steps
back; every other y has one upper bound, whatever the word is, and the lower bound 0 (`ratio_bounds`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from pathveil.numerics.arrays import BoolArray
from pathveil.words.certificate.symbol_chain import Links, SymbolChain

_MOST_LOST = 1_000_000  # dropped pairs that are followed back to the kept ones they come from


@dataclass(frozen=True)
class KeptPairs:
    """`pairs` lists for each c the kept y, c itself among them.

    `is_edge` marks kept pairs (c, x) from which one step leads to a pair that is not kept, and `is_direct` the y for
    which some pair (c', y) with a common predecessor is not kept. Both say where dropped weight comes from.
    """

    pairs: Links
    is_edge: BoolArray
    is_direct: BoolArray

    @classmethod
    def within(cls, chain: SymbolChain, budget: int, most_lost: int = _MOST_LOST) -> KeptPairs:
        """All pairs if they are at most `budget`; otherwise those with an ancestor in common as few steps back as fit.

        c itself always. Steps are taken whole. On the systems that were measured, a part of the next one made θ at most
        2% larger and took up to twice the time; on one, the work for longer runs became too much and θ 28% smaller.
        """
        m = chain.symbol_count
        if m * m <= budget:
            full = Links(np.arange(m + 1) * m, np.tile(np.arange(m), m))
            return cls(full, np.zeros(m * m, dtype=bool), np.zeros(m, dtype=bool))
        kept = sparse.csr_array(sparse.eye_array(m))
        while True:
            wider = one_step_wider(chain, kept)
            if wider.nnz == kept.nnz or wider.nnz > budget:
                break
            kept = wider
        return cls._of(chain, Links.of(kept), most_lost)

    @classmethod
    def _of(cls, chain: SymbolChain, pairs: Links, most_lost: int) -> KeptPairs:
        lost = sparse.csr_array(one_step_wider(chain, pairs.matrix) - pairs.matrix)
        lost.eliminate_zeros()
        if lost.nnz > most_lost:  # too many to follow back: all kept pairs may hand weight on
            return cls(pairs, pairs.owners != pairs.symbols, np.ones(chain.symbol_count, dtype=bool))
        ones_where_lost = sparse.csr_array((np.ones(lost.nnz), lost.indices, lost.indptr), shape=lost.shape)
        # (c, x) leads to (c', y) if c→c' and x→y.
        origins = Links.of(sparse.csr_array(chain.successors.matrix @ ones_where_lost @ chain.predecessors.matrix))
        is_edge = origins.contains(pairs.owners, pairs.symbols) & (pairs.owners != pairs.symbols)
        related = Links.of(ones_where_lost)
        siblings = chain.share_predecessor.contains(related.owners, related.symbols)
        is_direct = np.zeros(chain.symbol_count, dtype=bool)
        is_direct[related.symbols[siblings]] = True
        return cls(pairs, is_edge, is_direct)


def one_step_wider(chain: SymbolChain, kept: sparse.csr_array) -> sparse.csr_array:
    """The pairs that one step makes of these, and these."""
    wider = sparse.csr_array(chain.predecessors.matrix @ kept @ chain.successors.matrix + kept)
    wider.sum_duplicates()
    wider.data[:] = 1.0
    return wider
