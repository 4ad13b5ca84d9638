"""The number of errors of a private word by its generating function, without a table of error classes.

F(u) = Σ u^errors over the feasible words is one pass backwards through the word, for any complex u (generating_kernel).
Where all words are drawn with weights z^errors, E[u^errors] = F(zu)/F(z); this file computes such expectations, and

- the mean from a single pass: at u = 1 + ih with a tiny h, the imaginary part is h times the derivative (no digits are
  lost, since nothing is subtracted);
- probabilities from values at roots of unity, by a Fourier transform. So many roots are taken that what lies beyond
  them has a probability below 10^-17: P(errors ≥ M) ≤ e^(-sM) E[e^(s·errors)] for every s > 0.

Every value comes out with an absolute error of about 10^-15. (docs/mathematics.md, "Large systems and long words")

Messages of states far from a feasible word may be too small for floating point. What is lost with them is less than
η Σ_i (weight of all ways to position i) · (largest message there), with η the smallest number that is held. Both are
at most m^i and m^(n-i) with m = 1 + |u|(d-1), d the largest degree, while F(|u|) ≥ 1. Where that is not small enough,
a value whose messages lie far apart is not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import ceil, exp, ldexp, log

import numpy as np
import numpy.typing as npt

from pathveil.errors import TooLargeError
from pathveil.numerics.arrays import BoolArray, FloatArray, IntArray
from pathveil.randomness.blocks import run_all
from pathveil.systems.compiled import CompiledSystem

ComplexArray = npt.NDArray[np.complex128]

_STEP = 1e-30  # h
_NEGLIGIBLE = 1e-17
_SMALLEST = 1e-225  # η, with messages that are brought back to 1 before they change by more than e^200
_EXPONENTS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0)  # the s that are tried
_SEVERAL = 6  # values, from which on one pass for eight of them takes less time than one for each
_MOST_WORK = 3e12  # additions: about twenty minutes


_CHEAP_TABLE = 1 << 19  # positions squared times edges: about twenty milliseconds


def classes_are_cheap(compiled: CompiledSystem, length: int) -> bool:
    """Is counting error classes done before the loops of this room would be loaded? Always on free alphabets."""
    return compiled.is_free or length * length * compiled.edge_count <= _CHEAP_TABLE


@dataclass(frozen=True)
class Value:
    """E[u^errors] up to a factor: log of its size at a real u, and the mean number of errors there."""

    log: float
    mean: float


class GeneratingFunction:
    """F for one word. `right_factors`, `other_factors` and `right_z` are those of the kernel (f, g, and v = right_z·u);
    without them, F is that of the exponential mechanism. `reached` says which states count at which position.
    """

    def __init__(
        self,
        compiled: CompiledSystem,
        codes: IntArray,
        right_factors: FloatArray | None = None,
        other_factors: FloatArray | None = None,
        right_z: float = 1.0,
        reached: BoolArray | None = None,
    ) -> None:
        self._compiled, self._codes, self._right_z = compiled, np.ascontiguousarray(codes), right_z
        self._reached = compiled.reachable(len(codes)) if reached is None else reached
        ones = np.ones(compiled.state_count)
        self._right = ones if right_factors is None else right_factors
        self._other = ones if other_factors is None else other_factors

    @property
    def length(self) -> int:
        return len(self._codes)

    def at(self, us: Sequence[float]) -> list[Value]:
        """F at these positive numbers: its logarithm, and u F'(u)/F(u)."""
        found = self._values(us)
        if None in found:
            raise TooLargeError(
                f"the weights of a word of {self.length} symbols on {self._compiled.state_count} states lie too far "
                "apart for floating point"
            )
        return [value for value in found if value is not None]

    def _values(self, us: Sequence[float]) -> list[Value | None]:
        """The same, with None where floating point is not enough."""
        values, exponents, far_apart = self._passes(np.array(us) * (1 + 1j * _STEP))
        return [
            Value(log(value.real) + exponent * log(2.0), float(value.imag) / float(value.real) / _STEP)
            if value.real > 0 and (not lost or self._loss_is_negligible(u))
            else None
            for u, value, exponent, lost in zip(
                us, values.tolist(), exponents.tolist(), far_apart.tolist(), strict=True
            )
        ]

    def _loss_is_negligible(self, u: float) -> bool:
        if not self._is_feasible:
            return False
        compiled = self._compiled
        first = int(compiled.offsets[compiled.start + 1] - compiled.offsets[compiled.start])
        ways = log(1 + u * first) + self.length * log(1 + u * (self._degree - 1))
        return ways + log(self.length * self._degree) + log(_SMALLEST) < log(_NEGLIGIBLE)

    @cached_property
    def _is_feasible(self) -> bool:
        """Is the word feasible, and are messages sums of weights u^errors?"""
        return self._right_z == 1.0 and bool(self._compiled.feasible_rows(self._codes[None, :])[0])

    def ratios(self, u: float, roots: int) -> ComplexArray:
        """F(uω^k)/F(u) for k = 0..roots-1, with ω the first of so many roots of unity; `at([u])` says if sound."""
        half = np.exp(2j * np.pi * np.arange(roots // 2 + 1) / roots)
        values, exponents, _ = self._passes(u * half)
        scaled = np.array([v * _power(int(e - exponents[0])) for v, e in zip(values, exponents, strict=True)])
        ratios = np.empty(roots, dtype=np.complex128)
        ratios[: len(half)] = scaled / scaled[0].real
        ratios[len(half) :] = ratios[1 : roots - len(half) + 1][::-1].conj()  # real coefficients
        return ratios

    def roots_needed(self, u: float) -> int:
        """So many roots of unity tell all probabilities apart that are not negligible, at the tilt u."""
        here, *others = self._values([u, *(u * exp(s) for s in _EXPONENTS)])
        most = self.length + 1
        for s, value in zip(_EXPONENTS, others, strict=True):
            if here is not None and value is not None:
                most = min(most, ceil((value.log - here.log - log(_NEGLIGIBLE)) / s) + 1)
        return most

    def _passes(self, us: ComplexArray) -> tuple[ComplexArray, IntArray, BoolArray]:
        from pathveil.words.laws.generating_kernel import LANES, generating_passes

        compiled = self._compiled
        work = len(us) * self.length * compiled.edge_count * 2.0
        if work > _MOST_WORK:
            raise TooLargeError(
                f"the law of the errors of a word of {self.length} symbols on {compiled.edge_count} edges would take "
                f"about {work / 2e9 / 60:,.0f} minutes; its mean takes a single pass"
            )
        values, exponents = np.empty(len(us), dtype=np.complex128), np.empty(len(us), dtype=np.int64)
        far_apart = np.empty(len(us), dtype=bool)

        lanes = 1 if len(us) < _SEVERAL else LANES

        def run(begin: int) -> None:
            some = us[begin : begin + lanes]
            padded = np.full(lanes, some[-1], dtype=np.complex128)
            padded[: len(some)] = some
            found, powers, lost = np.empty(2 * lanes), np.empty(lanes, dtype=np.int64), np.empty(lanes, dtype=bool)
            generating_passes(
                self._codes, compiled.start, compiled.accepting, *self._arrays, self._right, self._other,
                _parts(padded), _parts(padded * self._right_z), self._every(padded), found, powers, lost,
            )  # fmt: skip
            values[begin : begin + lanes] = (found[:lanes] + 1j * found[lanes:])[: len(some)]
            exponents[begin : begin + lanes] = powers[: len(some)]
            far_apart[begin : begin + lanes] = lost[: len(some)]

        run_all([partial(run, begin) for begin in range(0, len(us), lanes)])
        return values, exponents, far_apart

    @cached_property
    def _arrays(self) -> tuple[npt.NDArray[np.generic], ...]:
        compiled = self._compiled
        order, label_offsets = compiled.edges_by_label
        return (
            self._reached, compiled.offsets, compiled.targets, label_offsets,
            compiled.sources[order], compiled.targets[order],
        )  # fmt: skip

    def _every(self, us: ComplexArray) -> int:
        """Positions after which messages are brought back to about 1: no weight changes by more than e^200."""
        growth = float(np.abs(np.log(np.abs(us))).max()) + log(self._degree) + abs(log(self._right_z))
        return max(1, int(200 / growth))

    @cached_property
    def _degree(self) -> int:
        """The largest number of successors, but for a start that is left only once."""
        degrees = np.diff(self._compiled.offsets)
        degrees[self._compiled.start] = 0
        return max(2, int(degrees.max(initial=2)))


def probabilities(ratios: ComplexArray, length: int) -> FloatArray:
    """P(errors = 0..length) from E[ω^errors] at as many roots of unity as there are ratios."""
    pmf = np.zeros(length + 1)
    found = np.fft.fft(ratios).real / len(ratios)
    pmf[: len(found)] = found[: length + 1]
    pmf[pmf < 1e-15] = 0.0  # rounding
    law: FloatArray = pmf / pmf.sum()
    return law


def _parts(values: ComplexArray) -> tuple[float, ...]:
    """Real parts, then imaginary ones."""
    return (*values.real.tolist(), *values.imag.tolist())


def _power(exponent: int) -> float:
    return ldexp(1.0, max(min(exponent, 1000), -1074))
