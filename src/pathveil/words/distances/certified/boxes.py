"""How much one changed symbol can lose on a symbol chain with distances.

α_i(y) is the weight of all prefixes that end in y at position i, the evidence there left out. For every last symbol c
of a feasible prefix and every y a box holds α_i(y)/α_i(c), for all positions at once: it begins with the possible first
symbols, and grows by a step for each further position. Read backwards, the same holds for suffixes. With p before and q
after a position, the weight γ(y) of everything around y then lies in a box, and

    log Z(v)/Z(w) = log Σ γ(y) e^(-θ c(y, v)) / Σ γ(y) e^(-θ c(y, w))

is largest at a corner where γ(y) is at its upper end for the y with the largest quotients of weights. The formulas for
Hamming distance that sum up all other symbols do not hold here.

Where two words differ in a run of positions, the run is changed symbol by symbol. In between, the symbols before a
position come from one word and those after it from the other; both are feasible, so that the boxes hold.
"""

from __future__ import annotations

from functools import cached_property
from math import log

import numpy as np

from pathveil.numerics.arrays import BoolArray, FloatArray, IntArray
from pathveil.systems.compiled import CompiledSystem
from pathveil.words.certificate import SymbolChain
from pathveil.words.distances.prices import SMALLEST, Prices

_MOST_WORK = 4_000_000_000  # of the passes and pairs for one tilt
_SLACK = 1e-12

Sums = tuple[FloatArray, FloatArray]
"""Lower and upper bounds."""


class ChainBoxes:
    """Everything about a chain, a length and an adjacency that does not depend on θ."""

    def __init__(self, chain: SymbolChain, prices: Prices, length: int, adjacency: int, *, up_to: bool) -> None:
        self._chain, self._prices, self._length, self._up_to = chain, prices, length, up_to
        self._alone = adjacency == 1 or length == 1

    @classmethod
    def of(
        cls, compiled: CompiledSystem, prices: Prices, length: int, adjacency: int, *, up_to: bool
    ) -> ChainBoxes | str:
        """Ready for a system, or the reason why not."""
        chain = SymbolChain.of(compiled)
        if chain is None:
            return "equal symbols do not imply equal states in this system, and nothing better is proved"
        count, edges = chain.symbol_count, chain.successors.count
        around = edges * edges / max(count, 1) if adjacency == 1 else count * count
        if 2.0 * length * edges * count + around * count > _MOST_WORK:
            return f"bounds for {count:,} symbols at {length} positions would take too long"
        return cls(chain, prices, length, adjacency, up_to=up_to)

    def symbol_loss(self, theta: float) -> float:
        """A bound on the loss of one changed symbol; of a run, for each of its symbols."""
        from pathveil.words.distances.certified.box_kernel import largest_loss

        prices, count, chain = self._prices, self._chain.symbol_count, self._chain
        z = prices.z(theta)
        low_powers, high_powers = _ends(prices.powers(z))
        before, begun = self._sums(chain, z)
        after, ended = (before, begun) if self._is_symmetric else self._sums(chain.reversed(), z)
        follows = chain.successors.matrix.toarray() > 0
        step, worst = -log(z) * (1 + _SLACK), 0.0
        inner = (before, follows & begun[:, None]), (after, follows.T & ended[:, None])
        ends = (_beginning(chain.first), chain.first[None, :]), (_beginning(chain.last), chain.last[None, :])
        near = np.empty((0, 0), dtype=bool) if prices.near is None else prices.near
        for way_in, way_out in self._places(inner, ends):
            (low_in, high_in), may_come = way_in
            (low_out, high_out), may_go = way_out
            worst = largest_loss(
                prices.costs, near, prices.near is None, step, low_powers, high_powers, low_in, high_in, low_out,
                high_out, np.ascontiguousarray(may_come), np.ascontiguousarray(may_go), self._alone, worst,
            )  # fmt: skip
        return float(worst) * (1 + 1e-9) + count * 1e-15

    def _places(
        self,
        inner: tuple[tuple[Sums, BoolArray], tuple[Sums, BoolArray]],
        ends: tuple[tuple[Sums, BoolArray], tuple[Sums, BoolArray]],
    ) -> list[tuple[tuple[Sums, BoolArray], tuple[Sums, BoolArray]]]:
        """What may stand on either side of a position: the first and the last one have a side without symbols."""
        places = []
        if self._length >= 3:
            places.append((inner[0], inner[1]))
        if self._length >= 2:
            places += [(ends[0], inner[1]), (inner[0], ends[1])]
        if self._length == 1 or self._up_to:
            places.append((ends[0], ends[1]))
        return places

    @cached_property
    def _is_symmetric(self) -> bool:
        chain = self._chain
        one, other = chain.successors, chain.predecessors
        same = np.array_equal(one.offsets, other.offsets) and np.array_equal(one.symbols, other.symbols)
        return same and np.array_equal(chain.first, chain.last)

    def _sums(self, chain: SymbolChain, z: float) -> tuple[Sums, BoolArray]:
        """Bounds of Σ α(x) e^(-θ c(x, p)) over the x before y, relative to α(p), for every p and y.

        And which p some prefix can end with.
        """
        from pathveil.words.distances.certified.box_kernel import incoming, widen

        costs, count = self._prices.costs, chain.symbol_count
        low_powers, high_powers = _ends(self._prices.powers(z))
        links, following = chain.predecessors, chain.successors
        # At the first position all possible symbols weigh the same; a symbol that cannot be first has no box yet.
        low, high = np.full((count, count), np.inf), np.zeros((count, count))
        low[chain.first], high[chain.first] = chain.first, chain.first
        low_sums, high_sums = np.empty((count, count)), np.empty((count, count))
        for _ in range(max(self._length - 1, 1)):
            boxed = np.where(np.isfinite(low), low, 0.0)
            incoming(links.offsets, links.symbols, costs, low_powers, boxed, low_sums)
            incoming(links.offsets, links.symbols, costs, high_powers, high, high_sums)
            low_sums *= 1 - _SLACK
            high_sums *= 1 + _SLACK
            known = np.isfinite(low).all(axis=1)
            offsets, symbols = _only(following.offsets, following.symbols, known)
            new_low, new_high = low.copy(), high.copy()
            widen(
                links.offsets, links.symbols, offsets, symbols, following.offsets, following.symbols, costs,
                low_powers, high_powers, boxed, high, low_sums, high_sums, new_low, new_high,
            )  # fmt: skip
            if np.array_equal(new_low, low) and np.array_equal(new_high, high):
                break
            low, high = new_low, new_high
        boxed = np.where(np.isfinite(low), low, 0.0)
        incoming(links.offsets, links.symbols, costs, low_powers, boxed, low_sums)
        incoming(links.offsets, links.symbols, costs, high_powers, high, high_sums)
        return (low_sums * (1 - _SLACK), high_sums * (1 + _SLACK)), np.isfinite(low).all(axis=1)


def _ends(powers: FloatArray) -> Sums:
    """Bounds of the weights: rounding, and those that floating point cannot hold."""
    return powers * (1 - _SLACK), powers * (1 + _SLACK) + SMALLEST


def _beginning(possible: BoolArray) -> Sums:
    """Before the first position: every possible symbol weighs 1."""
    row = possible.astype(float)[None, :]
    return row, row


def _only(offsets: IntArray, symbols: IntArray, known: BoolArray) -> tuple[IntArray, IntArray]:
    """The lists of those symbols that some feasible prefix ends with."""
    kept = np.repeat(known, np.diff(offsets))
    shorter = np.zeros_like(offsets)
    np.cumsum(np.diff(offsets) * known, out=shorter[1:])
    return shorter, symbols[kept]
