"""How many positions of a word have a feasible neighbour: another symbol fits there, all else equal."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from pathveil.numerics.arrays import FloatArray
from pathveil.words.certificate.symbol_chain import SymbolChain


def protected_positions(chain: SymbolChain, length: int) -> float | None:
    """Σ over positions of the share of feasible words in which another symbol fits there; None without such words."""
    m = chain.symbol_count
    # Symbols m and m+1 stand before and after the word, so that both ends are ordinary positions.
    first, last = np.flatnonzero(chain.first), np.flatnonzero(chain.last)
    sources = np.concatenate([chain.successors.owners, np.full(len(first), m), last])
    targets = np.concatenate([chain.successors.symbols, first, np.full(len(last), m + 1)])
    steps = sparse.csr_array((np.ones(len(sources)), (sources, targets)), shape=(m + 2, m + 2))
    prefix, suffix = [_one_at(m, m + 2)], [_one_at(m + 1, m + 2)]
    for _ in range(length + 1):
        # Only ratios matter, so each vector is scaled; counts themselves would overflow.
        prefix.append(_scaled(np.asarray(steps.T @ prefix[-1])))
        suffix.append(_scaled(np.asarray(steps @ suffix[-1])))
    between = sparse.csr_array(steps @ steps)
    free = between.copy()
    free.data[free.data < 2] = 0.0
    share = 0.0
    for before, after in zip(prefix[:length], suffix[length - 1 :: -1], strict=True):
        words = float(before @ np.asarray(between @ after))
        if not words > 0:
            return None  # no feasible word of exactly this length
        share += float(before @ np.asarray(free @ after)) / words
    return share


def _one_at(symbol: int, size: int) -> FloatArray:
    vector = np.zeros(size)
    vector[symbol] = 1.0
    return vector


def _scaled(vector: FloatArray) -> FloatArray:
    top = vector.max()
    return vector / top if top > 0 else vector
