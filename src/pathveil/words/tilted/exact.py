"""Tilted draws in ball arithmetic: what the fast loops cannot decide in floating point is decided here.

A fast loop compares the first bits of a uniform number with sums that carry a rounding error. Where the bits come too
close to a border between two symbols, about once in 10^12 symbols, the word is handed over: the same bits, continued as
far as needed, are compared with the same sums, computed with a rigorous error bound (python-flint's `arb`), with more
digits until no comparison is in doubt. A word then has exactly the probability of docs/mathematics.md, "Exponential
mechanism", at the z that is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pathveil.randomness.decisions import with_enough_digits
from pathveil.randomness.lazy import EXACT, LazyUniform
from pathveil.systems.compiled import CompiledSystem
from pathveil.words.tilted.reachable_states import ReachableStates

if TYPE_CHECKING:
    from flint import arb

LARGEST_EXACT_DRAW = 1 << 21  # positions times states: about a quarter of a gigabyte for one word


def fits(compiled: CompiledSystem, length: int, largest: int) -> bool:
    """Is there room to decide words of this length exactly? If not, floating point has the last word."""
    return (length + 1) * compiled.state_count <= largest


def sampling(compiled: CompiledSystem, largest: int, *, local: bool = False) -> str:
    """What a guarantee says about the draws, if they are exact as long as such a table fits.

    `local`: words that are drawn by local work need no such table.
    """
    longest = largest // compiled.state_count - 1
    if longest < 1 and not local:
        return "drawn in floating point: the system is too large to decide exactly what rounding leaves in doubt"
    passed = ", where the whole system has to be passed over" if local else ""
    which = "words" if longest < 1 else f"words of more than {longest} symbols"
    return f"{EXACT} ({which}{passed}: in floating point)"


def draw_exactly(
    compiled: CompiledSystem, reachable: ReachableStates, codes: list[int], z: float, uniforms: Sequence[LazyUniform]
) -> list[int]:
    """A private word for one word, from one random number for each position."""

    def walk(bits: int) -> list[int]:
        from flint import arb

        return _walk(compiled, codes, arb(z), backward(compiled, reachable, codes, arb(z)), uniforms, bits)

    return with_enough_digits(walk)


def backward(compiled: CompiledSystem, reachable: ReachableStates, codes: list[int], z: arb) -> list[dict[int, arb]]:
    """Message i, for i = 0..n: β_i(y) for every state y in which a feasible word can be there."""
    from flint import arb

    states = [part.tolist() for part in np.split(reachable.states, reachable.offsets[1:-1])]
    messages: list[dict[int, Any]] = [{y: arb(1) for y in states[-1]}]
    for code, here in zip(reversed(codes), reversed(states[:-1]), strict=True):
        after, message = messages[-1], {}
        for y in here:
            others, right = arb(0), arb(0)
            for label, target in compiled.moves[y].items():
                if target in after:
                    if label == code:
                        right = after[target]
                    else:
                        others += after[target]
            message[y] = z * others + right
        messages.append(message)
    messages.reverse()
    return messages


def _walk(
    compiled: CompiledSystem,
    codes: list[int],
    z: arb,
    messages: list[dict[int, arb]],
    uniforms: Sequence[LazyUniform],
    bits: int,
) -> list[int]:
    state, private = compiled.start, []
    for code, after, uniform in zip(codes, messages[1:], uniforms, strict=True):
        # The word's own symbol first, then the others in their order. This order must match the fast loops, or the
        # same bits select another symbol.
        moves = [(label, target) for label, target in compiled.moves[state].items() if target in after]
        moves.sort(key=lambda move: move[0] != code)
        weights = [after[target] if label == code else z * after[target] for label, target in moves]
        label, state = moves[uniform.cut(weights, bits)]
        private.append(label)
    return private
