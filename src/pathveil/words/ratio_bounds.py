"""Bounds on how the weight of prefixes is spread over the symbols, whatever the word was so far.

Setting: a *symbol chain*, where the last symbol alone decides which symbols may follow. For a word w, α_i(y) is the
weight Σ z^(errors) of all prefixes that end in y at position i, the error at i itself left out, and

    s_i(y) = α_i(y) / α_i(w_i).

From c = w_i to the next symbol c' of the word, with z = e^-θ,

    g(y) = [c→y] + z Σ_{x→y, x≠c} s_i(x),      s_{i+1}(y) = g(y) / g(c').

A *box* is an entrywise interval [lo, hi] that contains s_i for every prefix that ends alike. We carry one box for
each *context*, the last h symbols of a prefix, and h is as large as a budget allows: a longer memory gives narrower
boxes. Suffixes are the same thing on the reversed chain.

Two details make the boxes narrow. A predecessor x shared by y and c' has one value, not its upper bound in g(y) and
its lower bound in g(c'): the ratio (N+U)/(D+U) is largest at one end of U. And a context that no feasible word can
have at this position is left out. Rounding is outward at every step. (docs/certified.md)
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy import sparse

from pathveil.systems.compiled import BoolArray, CompiledSystem, IntArray
from pathveil.words.law import FloatArray


@dataclass(frozen=True)
class SymbolChain:
    """Which symbol may follow which, which may come first and which last."""

    follows: BoolArray
    first: BoolArray
    last: BoolArray

    @classmethod
    def of(cls, compiled: CompiledSystem) -> SymbolChain | None:
        """The symbol chain of a system; None where equal symbols do not imply equal states."""
        entered = compiled.symbol_states
        if entered is None:
            return None
        m = compiled.symbol_count
        allowed = np.zeros((compiled.state_count, m), dtype=bool)
        allowed[compiled.sources, compiled.labels] = True
        used = entered >= 0
        follows = np.zeros((m, m), dtype=bool)
        follows[used] = allowed[entered[used]]
        return cls(follows, allowed[compiled.start], used & compiled.accepting[entered])

    def reversed(self) -> SymbolChain:
        return SymbolChain(self.follows.T.copy(), self.last, self.first)

    def alive(self, length: int, *, up_to: bool) -> BoolArray:
        """Row i-1: the symbols that position i of some feasible word can have.

        The word has the given length, or with `up_to` any length up to it.
        """
        forward = np.zeros((length, len(self.first)), dtype=bool)
        forward[0] = self.first
        for i in range(1, length):
            forward[i] = self.follows.T @ forward[i - 1]
        backward = self.last.copy()
        for i in range(length - 1, -1, -1):
            forward[i] &= backward
            backward = (self.follows @ backward) | (self.last if up_to else False)
        return forward


@dataclass(frozen=True)
class ContextLevel:
    """The contexts of one position, and how they arise from those of the position before (absent at the first).

    `parent` and `current` have one entry for each way to extend a context of the previous position by one symbol,
    sorted by the context that results: those of context k begin at `begins[k]`.
    """

    last_symbol: IntArray
    parent: IntArray
    current: IntArray
    begins: IntArray


def context_levels(chain: SymbolChain, alive: BoolArray, budget: int) -> list[ContextLevel]:
    """Contexts for every position, at most about `budget` of them altogether (but at least one for each symbol)."""
    length = len(alive)
    memory = _memory(chain.follows, length, budget)
    none = np.empty(0, dtype=np.int64)
    contexts = np.flatnonzero(alive[0])[:, None]
    levels = [ContextLevel(contexts[:, -1], none, none, none)]
    for i in range(1, length):
        parent, current = np.nonzero(chain.follows[contexts[:, -1]] & alive[i])
        extended = np.hstack([contexts[parent], current[:, None]])[:, -memory:]
        contexts, child = np.unique(extended, axis=0, return_inverse=True)
        order = np.argsort(child.ravel(), kind="stable")
        begins = np.searchsorted(child.ravel()[order], np.arange(len(contexts)))
        levels.append(ContextLevel(contexts[:, -1], parent[order], current[order], begins))
    return levels


def _memory(follows: BoolArray, length: int, budget: int) -> int:
    """The largest h for which the walks of h symbols, once for each position, stay within the budget."""
    walks = np.ones(len(follows))
    memory = 1
    while memory < length:
        walks = follows @ walks
        if walks.sum() * length > budget:
            break
        memory += 1
    return memory


Box = tuple[FloatArray, FloatArray]
"""(lo, hi), each with one row for each current symbol c = w_i and one column for each y. Rows of symbols that
cannot stand at that position are empty intervals: lo = inf, hi = 0."""


def prefix_boxes(chain: SymbolChain, levels: list[ContextLevel], z: float) -> list[Box]:
    """For every position the box of s_i for each current symbol, over all prefixes."""
    m = len(chain.first)
    follows = chain.follows.astype(float)
    steps = sparse.csr_array(follows)
    predecessors = sparse.csc_array(follows)
    # Sums of at most m non-negative terms, a few products and one quotient: this is more than their rounding error.
    slack = (m + 64) * 2.0**-51

    lo = hi = np.tile(chain.first.astype(float), (len(levels[0].last_symbol), 1))
    boxes = [_by_symbol(levels[0].last_symbol, lo, hi, m)]
    # On long words at a small θ an upper end may grow without bound. It then ends as inf or nan, which no later step
    # turns back into a number, and the certificate falls back to K_r = rθ.
    with np.errstate(over="ignore", invalid="ignore"):
        for before, level in pairwise(levels):
            lo, hi = _step(lo, hi, before.last_symbol, level, z, follows, steps, predecessors, slack)
            boxes.append(_by_symbol(level.last_symbol, lo, hi, m))
    return boxes


def _step(
    lo: FloatArray,
    hi: FloatArray,
    c: IntArray,
    level: ContextLevel,
    z: float,
    follows: FloatArray,
    steps: sparse.csr_array,
    predecessors: sparse.csc_array,
    slack: float,
) -> Box:
    """The boxes of one position from those of the position before, for every context."""
    rows = np.arange(len(c))
    other_lo, other_hi = lo.copy(), hi.copy()
    other_lo[rows, c] = other_hi[rows, c] = 0.0
    g_lo = follows[c] + z * (other_lo @ steps)
    g_hi = follows[c] + z * (other_hi @ steps)

    parent, new = level.parent, level.current
    shared_lo = z * _shared(other_lo, parent, new, predecessors, steps)
    shared_hi = z * _shared(other_hi, parent, new, predecessors, steps)
    here = (np.arange(len(parent)), new)
    direct = follows[c][parent]
    numerator_lo, numerator_hi = g_lo[parent], g_hi[parent]
    denominator_lo, denominator_hi = numerator_lo[here][:, None], numerator_hi[here][:, None]

    # What only the numerator or only the denominator has. Subtracting may cancel, so the slack is relative to the
    # whole; the direct step [c→y] is never part of what is subtracted.
    only_top = np.maximum(numerator_hi - shared_hi, direct) + slack * numerator_hi
    only_bottom = np.maximum(denominator_lo - shared_lo - slack * denominator_lo, 1.0)
    shared = np.where(only_top >= only_bottom, shared_lo, shared_hi)
    # An upper end that underflowed to 0 would stay there; a tiny number above it is as good and stays sound.
    new_hi = np.maximum((only_top + shared) / (only_bottom + shared) * (1 + slack), 1e-290)

    only_top = np.maximum(numerator_lo - shared_lo - slack * numerator_lo, direct)
    only_bottom = np.maximum(denominator_hi - shared_hi, 1.0) + slack * denominator_hi
    shared = np.where(only_top >= only_bottom, shared_hi, shared_lo)
    new_lo = (only_top + shared) / (only_bottom + shared) * (1 - slack)

    new_lo[here] = new_hi[here] = 1.0
    return np.minimum.reduceat(new_lo, level.begins, axis=0), np.maximum.reduceat(new_hi, level.begins, axis=0)


def _shared(
    weights: FloatArray,
    parent: IntArray,
    new: IntArray,
    predecessors: sparse.csc_array,
    steps: sparse.csr_array,
) -> FloatArray:
    """For each extension and symbol y: the summed weight of the common predecessors of y and the new symbol."""
    if 10 * steps.nnz > steps.shape[0] ** 2:  # dense chains: the sparse product below would be slower
        follows = steps.toarray()
        dense: FloatArray = (weights[parent] * follows.T[new]) @ follows
        return dense
    starts, degrees = predecessors.indptr[new], np.diff(predecessors.indptr)[new]
    bounds = np.concatenate([[0], np.cumsum(degrees)])
    columns = predecessors.indices[np.repeat(starts - bounds[:-1], degrees) + np.arange(bounds[-1])]
    values = weights[np.repeat(parent, degrees), columns]
    shape = (len(parent), weights.shape[1])
    product: npt.NDArray[np.float64] = (sparse.csr_array((values, columns, bounds), shape=shape) @ steps).toarray()
    return product


def _by_symbol(last_symbol: IntArray, lo: FloatArray, hi: FloatArray, m: int) -> Box:
    """One box for each current symbol: the union over the contexts that end in it."""
    order = np.argsort(last_symbol, kind="stable")
    present, begins = np.unique(last_symbol[order], return_index=True)
    lower, upper = np.full((m, m), np.inf), np.zeros((m, m))
    if len(present):
        lower[present] = np.minimum.reduceat(lo[order], begins, axis=0)
        upper[present] = np.maximum.reduceat(hi[order], begins, axis=0)
    return lower, upper


def unite(a: Box, b: Box) -> Box:
    """The smallest box that contains both."""
    return np.minimum(a[0], b[0]), np.maximum(a[1], b[1])
