"""The law of a sampler, read off without chance: feed it chosen keystream words and see where its answer changes.

A sampler decides position by position, each time by comparing one uniform number with sums of weights. So, given the
numbers before, the symbol at a position is a step function of the number there. Its steps, found by bisection, are the
probabilities with which the sampler draws; no statistics, no tolerance but rounding.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pathveil.randomness.source import RandomSource

CELLS = 1 << 53  # uniform numbers are the centres of so many cells


class PlantedSource(RandomSource):
    """Hands out the words it was given, again and again."""

    def __init__(self, words: list[int]) -> None:
        super().__init__(bytes(32), seed=0)
        self._words = np.array(words, dtype=np.uint64)

    def fill(self, words: np.ndarray) -> None:
        words[:] = np.resize(self._words, len(words))


def law_of(draw: Callable[[RandomSource], tuple[int, ...]], length: int) -> dict[tuple[int, ...], float]:
    """{output: probability} of a sampler that takes one word of keystream for each of `length` symbols."""
    law: dict[tuple[int, ...], float] = {}

    def follow(numbers: list[int], probability: float) -> None:
        position = len(numbers)

        def output(number: int) -> tuple[int, ...]:
            planted = [*numbers, number] + [0] * (length - position - 1)
            return draw(PlantedSource([n << 11 for n in planted]))

        if position == length:
            result = draw(PlantedSource([n << 11 for n in numbers]))
            assert result not in law
            law[result] = probability
            return
        for low, high in _steps(lambda number: output(number)[position]):
            follow([*numbers, (low + high) // 2], probability * ((high - low) / CELLS))

    follow([], 1.0)
    return law


def _steps(symbol: Callable[[int], int]) -> list[tuple[int, int]]:
    """[low, high) of every stretch on which the symbol stays the same; no symbol has two of them."""
    steps, low = [], 0
    last = symbol(CELLS - 1)
    while (here := symbol(low)) != last:
        inside, outside = low, CELLS - 1
        while outside - inside > 1:
            middle = (inside + outside) // 2
            if symbol(middle) == here:
                inside = middle
            else:
                outside = middle
        steps.append((low, outside))
        low = outside
    return [*steps, (low, CELLS)]


class ContinuedSource(RandomSource):
    """Hands out these 64-bit words, where single numbers ask for more bits, and none beyond."""

    def __init__(self, words: list[int], first: list[int] | None = None) -> None:
        """`first` are the words for whoever fills an array: again and again, as `PlantedSource`."""
        super().__init__(bytes(32), seed=0)
        self._words = iter(words)
        self._first = first

    def bytes(self, count: int) -> bytes:
        assert count == 8
        return next(self._words).to_bytes(8, "little")

    def fill(self, words: np.ndarray) -> None:
        assert self._first is not None
        words[:] = np.resize(np.array(self._first, dtype=np.uint64), len(words))
