"""Gamma variates as exact functions of uniform real numbers.

The algorithm is Marsaglia and Tsang's (2000) transformation with a ratio of uniforms in place of a normal variate. For
a shape α ≥ 1 let d = α - ⅓. If x has the density π(x) = exp(-x²/2 + d·C(y)), y = x/(3√d) > -1, up to a constant, with

    C(y) = 3 (log(1+y) - y + y²/2 - y³/3) ≤ 0,

then d(1+y)³ is a gamma variate of shape α. As π(x) ≤ e^(-x²/2), points (v, w) uniform in the rectangle 0 < w < 1,
|v| < √(2/e), of which those with w² ≤ π(v/w) are kept, give such an x = v/w: nearly three out of four are kept. For
α < 1 a variate of shape α + 1 is multiplied by U^(1/α).

All of this is about real numbers. Here the uniform numbers are known to 52 bits first, and every quantity is enclosed
(`Balls`). Where the enclosures leave a decision open, it is made in ball arithmetic with as many more bits as it takes.
The kept numbers stay available, so that variates can be enclosed as closely as anyone wants later.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from pathveil.numerics.arrays import BoolArray, FloatArray
from pathveil.numerics.balls import Balls
from pathveil.randomness.decisions import InDoubtError, with_enough_digits
from pathveil.randomness.lazy import LazyUniform
from pathveil.randomness.source import RandomSource
from pathveil.randomness.uniform_reals import FIRST_BITS, enclosed, first_bits

if TYPE_CHECKING:
    from flint import arb

ExactShape = Callable[[int], "arb"]  # the shape of a variate, to the precision of the context

_HALF_HEIGHT = 0.8578  # any number of at least √(2/e) = 0.85776… will do
_NEAR = 0.25
_TERMS = [3 * (-1.0) ** (r + 1) / r for r in range(4, 28)]


class GammaVariates:
    """One gamma variate for each shape, enclosed; `scale` is log U/α for shapes below 1 and 0 for the others.

    A variate is value·e^scale: of tiny shapes the variate itself would often be below the smallest float.
    """

    def __init__(
        self, source: RandomSource, spare: RandomSource, shapes: Balls, exact: ExactShape, widening: float = 1.0
    ) -> None:
        """`exact(i)` is the i-th shape; further bits of the uniform numbers come from `spare`.

        Enclosures that are widened so many times before a decision make it the slow way more often, and no other.
        """
        self._spare, self._exact, self._widening = spare, exact, widening
        self._refined: dict[int, tuple[LazyUniform, LazyUniform]] = {}
        self._powers: dict[int, LazyUniform] = {}
        count = len(shapes.mid)
        self.boosted = shapes.mid < 1
        self._d = shapes + self.boosted.astype(float) - Balls.constant(1 / 3)
        self._w, self._v = np.empty(count, dtype=np.uint64), np.empty(count, dtype=np.uint64)
        y = self._draw(source)
        grown = y + 1.0
        self.value = self._d * (grown * grown.square())
        self.scale = Balls.exact(np.zeros(count))
        self._u = np.zeros(count, dtype=np.uint64)
        if self.boosted.any():
            small = self.boosted
            self._u[small] = first_bits(source, int(small.sum()))
            logs = enclosed(self._u[small]).log() / shapes[small]
            self.scale.mid[small], self.scale.rad[small] = logs.mid, logs.rad

    def _draw(self, source: RandomSource) -> Balls:
        """The y of every variate; the bits that made it are kept."""
        root = self._d.sqrt() * 3.0
        kept = Balls.exact(np.zeros(len(root.mid)))
        waiting = np.arange(len(root.mid))
        while len(waiting):
            w, v = first_bits(source, len(waiting)), first_bits(source, len(waiting))
            chance = enclosed(w)
            x = (enclosed(v) * 2.0 - 1.0) * _HALF_HEIGHT / chance
            y = x / root[waiting]
            room = self._d[waiting] * _beyond_cube(y) - x.square() * 0.5 - chance.log() * 2.0
            accepted = room.mid > self._widening * room.rad
            rejected = (-room.mid > self._widening * room.rad) | (y.widened(self._widening).upper < -1)
            for place in np.flatnonzero(~(accepted | rejected)):
                accepted[place] = self._decide(int(waiting[place]), int(w[place]), int(v[place]))
            taken = waiting[accepted]
            self._w[taken], self._v[taken] = w[accepted], v[accepted]
            kept.mid[taken], kept.rad[taken] = y.mid[accepted], y.rad[accepted]
            waiting = waiting[~accepted]
        return kept

    def _decide(self, i: int, w: int, v: int) -> bool:
        """Is this point kept? With more and more bits, until the answer is certain."""
        point = LazyUniform(w, self._spare, FIRST_BITS), LazyUniform(v, self._spare, FIRST_BITS)

        def decide(bits: int) -> bool:
            d, chance, x, y = self._point(i, point, bits)
            if y <= -1:
                return False
            if y > -1:
                room = 3 * d * (y.log1p() - y + y**2 / 2 - y**3 / 3) - x**2 / 2 - 2 * chance.log()
                if room > 0:
                    return True
                if room < 0:
                    return False
            raise InDoubtError

        kept = with_enough_digits(decide)
        if kept:
            self._refined[i] = point
        return kept

    def _point(self, i: int, point: tuple[LazyUniform, LazyUniform], bits: int) -> tuple[arb, arb, arb, arb]:
        from flint import arb

        d = self._exact(i) + int(self.boosted[i]) - arb(1) / 3
        chance = point[0].to(bits)
        x = arb(_HALF_HEIGHT) * (2 * point[1].to(bits) - 1) / chance
        return d, chance, x, x / (3 * d.sqrt())

    def closely(self, i: int, bits: int) -> tuple[arb, arb]:
        """(value, scale) of the i-th variate, from so many bits of each of its uniform numbers.

        To be called by a decision of so many bits.
        """
        from flint import arb

        point = self._refined.setdefault(
            i,
            (
                LazyUniform(int(self._w[i]), self._spare, FIRST_BITS),
                LazyUniform(int(self._v[i]), self._spare, FIRST_BITS),
            ),
        )
        d, _, _, y = self._point(i, point, bits)
        value = d * (1 + y) ** 3
        if not self.boosted[i]:
            return value, arb(0)
        power = self._powers.setdefault(i, LazyUniform(int(self._u[i]), self._spare, FIRST_BITS))
        return value, power.to(bits).log() / self._exact(i)


def _beyond_cube(y: Balls) -> Balls:
    """C(y) = 3 (log(1+y) - y + y²/2 - y³/3), enclosed; nothing is known (nan) where y may be -1 or less."""
    size = np.abs(y.mid)
    near = (size < _NEAR) & (y.rad < 1e-3)
    mid, rad = np.empty_like(size), np.empty_like(size)
    # The series from the fourth power on. Its terms add up to less than y⁴ in size; what is left out is below |y|^28,
    # which is less than 2⁻⁴⁷y⁴, and Horner's rule loses less than 60·2⁻⁵³y⁴. The slope -3y³/(1+y) is at most 4.1|y|³.
    e = y.mid[near]
    series = np.full_like(e, _TERMS[-1])
    for coefficient in _TERMS[-2::-1]:
        series *= e
        series += coefficient
    square, reach = e * e, size[near] + y.rad[near]
    mid[near] = series * (square * square)
    rad[near] = reach * reach * reach * (2.0**-45 * reach + 5 * y.rad[near]) + 1e-300
    far = y[~near]
    if len(far.mid):
        found = ((far + 1.0).log() - far + far.square() * 0.5 - far * far.square() * Balls.constant(1 / 3)) * 3.0
        mid[~near], rad[~near] = found.mid, found.rad
    return Balls(mid, rad)


def floors_below(balls: Balls, end: float, widening: float = 1.0) -> tuple[FloatArray, BoolArray]:
    """Whole parts of numbers that are known to lie between 0 and `end`, and which of them are certain."""
    wide = balls.widened(widening)
    low = np.floor(np.maximum(wide.lower, 0.0))
    return low, low == np.minimum(np.floor(wide.upper), end - 1)
