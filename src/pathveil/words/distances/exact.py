"""Draws with distances in ball arithmetic: what floating point could not decide, from the same bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pathveil.randomness.decisions import with_enough_digits
from pathveil.randomness.lazy import LazyUniform
from pathveil.systems.compiled import CompiledSystem
from pathveil.words.distances.prices import Prices
from pathveil.words.tilted import ReachableStates

if TYPE_CHECKING:
    from flint import arb


class Powers:
    """z^k, each computed once."""

    def __init__(self, z: float, multiple: int = 1) -> None:
        from flint import arb

        self._z, self._known = arb(z) ** multiple, dict[int, Any]()

    def __getitem__(self, k: int) -> arb:
        if k not in self._known:
            self._known[k] = self._z**k
        found: arb = self._known[k]
        return found


def backward(
    compiled: CompiledSystem, prices: Prices, reachable: ReachableStates, codes: Sequence[int], powers: Powers
) -> list[dict[int, arb]]:
    """Message i, for i = 0..n: β_i(y) for every state y in which a feasible word can be there."""
    from flint import arb

    states = [part.tolist() for part in np.split(reachable.states, reachable.offsets[1:-1])]
    messages: list[dict[int, Any]] = [{y: arb(1) for y in states[-1]}]
    for code, here in zip(reversed(codes), reversed(states[:-1]), strict=True):
        after, costs = messages[-1], prices.costs[code].tolist()
        messages.append(
            {
                y: sum(
                    (powers[costs[label]] * after[x] for label, x in compiled.moves[y].items() if x in after), arb(0)
                )
                for y in here
            }
        )
    messages.reverse()
    return messages


def draw_exactly(
    compiled: CompiledSystem,
    prices: Prices,
    reachable: ReachableStates,
    codes: Sequence[int],
    z: float,
    uniforms: Sequence[LazyUniform],
) -> list[int]:
    """A private word for one word, from one random number for each position; edges in their order."""

    def walk(bits: int) -> list[int]:
        powers = Powers(z)
        messages = backward(compiled, prices, reachable, codes, powers)
        state, private = compiled.start, []
        for code, after, uniform in zip(codes, messages[1:], uniforms, strict=True):
            moves = [move for move in compiled.moves[state].items() if move[1] in after]
            weights = [powers[int(prices.costs[code, label])] * after[target] for label, target in moves]
            label, state = moves[uniform.cut(weights, bits)]
            private.append(label)
        return private

    return with_enough_digits(walk)


def cut_exactly(costs: Sequence[int], z: float, uniform: LazyUniform) -> int:
    """Index i with probability ∝ z^costs[i]."""

    def decide(bits: int) -> int:
        powers, least = Powers(z), min(costs)
        return uniform.cut([powers[int(cost - least)] for cost in costs], bits)

    return with_enough_digits(decide)
