"""Draws with distances in O(n · surroundings) a word, where weights fall fast.

With a steep tilt hardly a private symbol is far from the true one. So only states within a cost of k steps from the
word's own are looked at: the message β_i(y) = Σ w(x, s) β_{i+1}(y, s) over the symbols s of y's edges, x the true one,
is summed over those nearby. What that leaves out is bounded by public numbers. Let S be the largest cost between two
symbols that may follow each other, d the largest number of edges of a state (the start left out), z the weight of one
step, and

    G  the largest sum of weights of a state's edges into a corridor,
    O = d z^(k+1), what its edges out of it weigh at most,
    F = d z^(k+1-2S), what all edges of a state outside weigh at most: the word and the walk have both come no nearer
      than by S since, for costs obey the triangle inequality and the word is feasible.

Then, with B_i for the largest true message anywhere, out_i for the largest one outside, and lost_i for what is missing
in any message of the corridor,

    out_i ≤ F B_{i+1},    lost_i ≤ G lost_{i+1} + O out_{i+1},
    B_i ≤ max(the largest in the corridor + lost_i, out_i).

At the last symbol, after which B = 1, nothing is left out.
A word for which twice that could decide a comparison is in doubt; the passes over the whole system draw it again, from
the same bits.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from pathveil.numerics.arrays import AnyIntArray, BoolArray, FloatArray, IntArray, UintArray
from pathveil.systems.compiled import CompiledSystem
from pathveil.words.distances.prices import SMALLEST, Prices

_LEFT_OUT = 1e-5  # of all weight at a position, about: words in doubt take longer, a wider corridor as well
_PAYS = 6  # an edge in a corridor takes so many times as long as one in passes over many words at once
_ROWS = 32  # of the costs: enough to see how wide corridors are
_LARGEST_TABLE = 1 << 25  # messages, for each thread


class Corridor:
    """Ready for feasible words at one weight z of a step, of any length."""

    def __init__(self, compiled: CompiledSystem, prices: Prices, z: float, widest: int) -> None:
        from pathveil.words.distances.corridor.corridor_kernel import growth_nearby, symbols_nearby

        assert compiled.symbol_states is not None
        self._compiled, self._prices, self._entered = compiled, prices, compiled.symbol_states
        self._powers = prices.powers(z)
        self._offsets, self._near, others = symbols_nearby(prices.costs, self._powers, widest)
        self._others: FloatArray = (others + len(others) * SMALLEST) * (1 + 1e-9)
        order, label_offsets = compiled.edges_by_label
        grown = growth_nearby(
            self._offsets, self._near, prices.costs, self._powers, label_offsets, compiled.sources[order],
            compiled.state_count, compiled.start,
        )  # fmt: skip
        degree, step = _degree(compiled), log(z)
        outside = exp(min(0.0, (widest + 1 - 2 * _longest_step(compiled, prices)) * step))
        bounds = [grown, degree * max(exp((widest + 1) * step), SMALLEST), degree * outside]
        self._bounds = np.array(bounds) * (1 + 1e-9)
        self._initial = np.zeros(compiled.symbol_count, dtype=bool)
        self._initial[compiled.labels[compiled.offsets[compiled.start] : compiled.offsets[compiled.start + 1]]] = True

    @classmethod
    def if_it_pays(cls, compiled: CompiledSystem, prices: Prices, length: int, z: float, words: int) -> Corridor | None:
        """None where passes over the whole system are faster, or this cannot be used. Public, all it depends on."""
        states = compiled.symbol_states
        if states is None or len(np.unique(states)) < len(states) or states.min() < 0 or compiled.start in states:
            return None
        if (length + 1) * compiled.state_count > _LARGEST_TABLE or length < 2 or words * length < len(states):
            return None
        if z >= 1:
            return None
        # About n O F of all weight is left out, which is n d² z^(2k + 2 - 2S).
        half = log(_LEFT_OUT / (length * _degree(compiled) ** 2)) / log(z) / 2
        widest = int(half) + _longest_step(compiled, prices)
        if widest >= prices.steps:
            return None
        rows = np.linspace(0, len(states) - 1, min(len(states), _ROWS)).astype(int)
        width = float((prices.costs[rows] <= widest).sum(axis=1).mean())
        return cls(compiled, prices, z, widest) if width * _PAYS < len(states) else None

    def draw(
        self,
        values: AnyIntArray,
        begins: IntArray,
        length: int,
        keystream: UintArray,
        private: AnyIntArray,
        margin: float,
    ) -> BoolArray:
        """Private words, written to the cells of the words that begin here; which of them are in doubt?"""
        from pathveil.words.distances.corridor.corridor_kernel import draw_in_corridors

        compiled, in_doubt = self._compiled, np.zeros(len(begins), dtype=bool)
        draw_in_corridors(
            values, begins, length, self._offsets, self._near, self._others, compiled.offsets, compiled.labels,
            self._entered, self._initial, compiled.accepting, self._prices.costs, self._powers, self._bounds, margin,
            keystream.reshape(-1), private, in_doubt,
        )  # fmt: skip
        return in_doubt


def _degree(compiled: CompiledSystem) -> int:
    """The most edges of a state that is not the start."""
    degrees = np.diff(compiled.offsets)
    return int(np.delete(degrees, compiled.start).max(initial=1))


def _longest_step(compiled: CompiledSystem, prices: Prices) -> int:
    """The largest cost between two symbols that may follow each other."""
    states = compiled.symbol_states
    assert states is not None
    entering = np.full(compiled.state_count, -1)
    entering[states] = np.arange(len(states))
    before = entering[compiled.sources]
    return int(prices.costs[before[before >= 0], compiled.labels[before >= 0]].max(initial=0))
