"""Private words drawn one at a time, as the mathematics tells it: all weights, their borders, and where numbers fall.

Every fast loop is a function of its keystream: given the numbers, there is one right answer. Here it is found with
plain loops over states and positions, in as many digits as the z that is handed in has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pathveil.systems.compiled import CompiledSystem


class Drawn(NamedTuple):
    """A private word, the weight of all words, and whether a number fell within the margin around a border."""

    word: list[int]
    total: Any
    in_doubt: bool


def uniforms_of(words: Sequence[int]) -> list[float]:
    """The centre of one of 2^53 cells for each 64-bit word."""
    return [((int(word) >> 11) + 0.5) * 2.0**-53 for word in words]


def draw_tilted(compiled: CompiledSystem, codes: list[int], z: Any, uniforms: list[float], margin: float) -> Drawn:
    """P(word) ∝ z^errors over the feasible words; at each position the word's own symbol first, then the others."""
    weights = [[1 if accepted else 0 for accepted in compiled.accepting]]
    for code in reversed(codes):
        after = weights[-1]
        weights.append(
            [
                sum((1 if label == code else z) * after[target] for label, target in moves.items())
                for moves in compiled.moves
            ]
        )
    weights.reverse()
    state, word, in_doubt = compiled.start, [], False
    for code, after, uniform in zip(codes, weights[1:], uniforms, strict=True):
        moves = [(label, target) for label, target in compiled.moves[state].items() if after[target] > 0]
        moves.sort(key=lambda move: move[0] != code)
        parts = [(1 if label == code else z) * after[target] for label, target in moves]
        taken, close = cut(parts, uniform, margin)
        in_doubt |= close
        label, state = moves[taken]
        word.append(label)
    return Drawn(word, weights[0][compiled.start], in_doubt)


def cut(parts: Sequence[Any], uniform: float, margin: float) -> tuple[int, bool]:
    """The part on which uniform · total falls, and whether that is closer to the end of a part than margin · total."""
    total = sum(parts)
    reached, taken, close = 0, len(parts) - 1, False
    for number, part in enumerate(parts):
        reached += part
        close |= bool(abs(reached - uniform * total) < margin * total)
        if uniform * total < reached:
            taken = min(taken, number)
    return taken, close


def class_table(compiled: CompiledSystem, codes: list[int]) -> np.ndarray:
    """R[i, y, g]: the number of ways to write the symbols after position i from state y, g of them the word's own."""
    n = len(codes)
    table = np.zeros((n + 1, compiled.state_count, n + 1))
    table[n, :, 0] = compiled.accepting
    for i in range(n - 1, -1, -1):
        for y, moves in enumerate(compiled.moves):
            for label, target in moves.items():
                if label == codes[i]:
                    table[i, y, 1:] += table[i + 1, target, :-1]
                else:
                    table[i, y] += table[i + 1, target]
    return table


def draw_of_class(
    compiled: CompiledSystem, table: np.ndarray, codes: list[int], errors: int, uniforms: list[float], margin: float
) -> Drawn:
    """A word with so many errors, all of them alike; symbols in their order."""
    state, right, word, in_doubt = compiled.start, len(codes) - errors, [], False
    for i, (code, uniform) in enumerate(zip(codes, uniforms, strict=True)):
        found = []
        for label, target in compiled.moves[state].items():
            left = right - (label == code)
            if left >= 0 and table[i + 1, target, left] > 0:
                found.append((table[i + 1, target, left], label, target, left))
        taken, close = cut([weight for weight, *_ in found], uniform, margin)
        in_doubt |= close
        _, label, state, right = found[taken]
        word.append(label)
    return Drawn(word, table[0, compiled.start, len(codes) - errors], in_doubt)
