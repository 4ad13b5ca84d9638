"""Permute-and-flip by rejection in ball arithmetic: the comparisons that rejection.py could not be sure of.

The quantities are those of rejection.py, for one word. Random numbers come with the bits that were looked at already,
and are continued as needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pathveil.randomness.decisions import InDoubtError, with_enough_digits
from pathveil.randomness.lazy import LazyUniform
from pathveil.systems.compiled import CompiledSystem
from pathveil.words.tilted.exact import backward
from pathveil.words.tilted.visited import Visited

if TYPE_CHECKING:
    from flint import arb


class ExactComparisons:
    """All that one sensitive word needs to decide whether t and the proposed word are kept."""

    def __init__(self, compiled: CompiledSystem, visited: Visited, codes: list[int], z: float) -> None:
        self._compiled, self._visited, self._codes, self._z = compiled, visited, codes, z
        self._nearest, self._best = self._nearest_class()
        self._is_alone = compiled.completions(len(codes))[0][compiled.start] == 1

    def _nearest_class(self) -> tuple[int, int]:
        """d and B: the smallest number of errors of a feasible word, and how many words have it."""
        after = dict.fromkeys(self._compiled.accepting.nonzero()[0].tolist(), (0, 1))
        for code in reversed(self._codes):
            here: dict[int, tuple[int, int]] = {}
            for y, moves in enumerate(self._compiled.moves):
                found = [(after[x][0] + (label != code), after[x][1]) for label, x in moves.items() if x in after]
                if found:
                    least = min(found)[0]
                    here[y] = (least, sum(count for errors, count in found if errors == least))
            after = here
        return after[self._compiled.start]

    def _sum(self, r: int) -> arb:
        """Σ p^r over all feasible words, best ones included."""
        from flint import arb

        tilt = arb(self._z) ** r
        total = backward(self._compiled, self._visited, self._codes, tilt)[0][self._compiled.start]
        return total / tilt**self._nearest

    def keeps_t(self, uniform: LazyUniform, limit: LazyUniform) -> bool:
        """Is e^-x above the second number, for the t that belongs to the first?"""
        if self._is_alone:
            return True  # no other word, nothing to reject: x = 0

        def decide(bits: int) -> bool:
            sums: dict[int, arb] = {}
            return _settled(bits, [uniform, limit], lambda: self._keeps(sums, uniform, limit, bits))

        return with_enough_digits(decide)

    def keeps_word(self, uniform: LazyUniform, second: LazyUniform, errors: int) -> bool:
        """Is the second number below (1-t)/(1 - p t), for the t that belongs to the first?

        `errors` is how many more errors the proposed word has than the nearest ones.
        """
        from flint import arb

        def decide(bits: int) -> bool:
            rate = self._sum(1) - 1

            def compare() -> bool | None:
                t = _time(uniform, rate)
                return _below(second.ball() * (1 - arb(self._z) ** errors * t), 1 - t)

            return _settled(bits, [uniform, second], compare)

        return with_enough_digits(decide)

    def _keeps(self, sums: dict[int, arb], uniform: LazyUniform, limit: LazyUniform, bits: int) -> bool | None:
        from flint import arb

        rate = sums.setdefault(1, self._sum(1)) - 1
        t, bound = _time(uniform, rate), -limit.ball().log()
        x = (self._best - 1) * (-(-t).log1p() - t)
        r = 1
        while True:
            r += 1
            if r not in sums:
                sums[r] = self._sum(r)
            term = t**r / r * (sums[r] - self._best)
            x += term
            # The terms that are missing are positive and fall at least like (t z)^r.
            missing = (term * t * self._z / (1 - t * self._z)).upper()
            if x > bound:
                return False
            if x + missing < bound:
                return True
            if not missing > x * arb(2) ** -bits:
                return None


def _time(uniform: LazyUniform, rate: arb) -> arb:
    """t, whose density is ∝ e^(-λt) on [0, 1], from a uniform number."""
    if not rate > 0:
        raise InDoubtError  # there is a second feasible word, so that λ is positive
    return -(uniform.ball() * (-rate).expm1()).log1p() / rate


def _below(one: arb, other: arb) -> bool | None:
    return True if one < other else False if one >= other else None


def _settled(bits: int, uniforms: list[LazyUniform], compare: Callable[[], bool | None]) -> bool:
    """The answer, with up to `bits` bits of the random numbers."""
    while (answer := compare()) is None:
        if all(uniform.bits >= bits for uniform in uniforms):
            raise InDoubtError
        for uniform in uniforms:
            uniform.refine()
    return answer
