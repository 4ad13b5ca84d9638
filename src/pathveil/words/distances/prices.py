"""What a mechanism has to know about distances: costs in the order of a system's symbols, and who may go where."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import log, nextafter

import numpy as np

from pathveil.errors import InvalidParameterError
from pathveil.numerics.arrays import BoolArray, FloatArray, IntArray
from pathveil.privacy.units import MovedSymbols, Symbols
from pathveil.systems.symbol_distance import Closeness, Costs, SymbolDistance
from pathveil.systems.system import System
from pathveil.words.base import LARGEST_TILT, rounding_margin, tilt_factor

SMALLEST_LOG = -700.0
"""Weights below e^-700 count as nothing: less than floating point holds, and `lost` bounds what that can change."""
SMALLEST = 1e-304

_POWER_ROUNDINGS = 2_000  # behind a weight: its exponent of up to 700 is rounded, and so is the exponential function


class Prices:
    """The costs of a system's symbols, and the unit: however far (`within` is None), or moved by at most that."""

    def __init__(self, world: System, distance: SymbolDistance, within: float | None) -> None:
        self.distance = distance.ordered(world.symbols)
        self.costs: Costs = self.distance.costs
        self.steps = self.distance.steps
        self.within: float | None = None
        if within is None:
            self.near: BoolArray | None = None
            self.largest_cost = int(self.costs.max(initial=0))
            self.alone = 0
            return
        closeness: Closeness = self.distance.within(within)
        self.within = closeness.reach
        self.near, self.largest_cost, self.alone = self.distance.near(within), closeness.largest_cost, closeness.alone
        if not self.largest_cost:
            nearest = _nearest(self.distance)
            raise InvalidParameterError(
                f"no two symbols are within {self.within:g} of each other, so nothing would be protected. The "
                f"two nearest are {nearest:.6g} apart; is `within` given in the units of the coordinates?"
            )

    @classmethod
    def of(cls, world: System, distance: SymbolDistance | None, within: float | None) -> Prices | None:
        """None for plain Hamming distance; an error for options that do not go together."""
        if distance is None:
            if within is not None:
                raise InvalidParameterError("`within` needs a distance between symbols: pass `distance=…`, too")
            return None
        if not isinstance(distance, SymbolDistance):
            raise InvalidParameterError(f"`distance` is a pv.SymbolDistance, not {type(distance).__name__}")
        return cls(world, distance, within)

    @property
    def rho(self) -> float:
        """ρ: the largest cost of a move that the unit allows."""
        return self.largest_cost / self.steps

    def theta(self, epsilon: float, parts: int) -> float:
        """The largest θ for which `parts` moves of cost ρ weigh at most ε, but no larger than computers can hold."""
        if not self.largest_cost:
            return LARGEST_TILT
        theta = epsilon * self.steps / (parts * self.largest_cost)
        while Fraction(theta) * self.largest_cost * parts > Fraction(epsilon) * self.steps:
            theta = nextafter(theta, 0.0)
        return min(theta, LARGEST_TILT * self.steps)

    def z(self, theta: float) -> float:
        """The weight of one step, as the number that is used: never below e^(-θ/q)."""
        # The division is rounded; a number below it is on the safe side.
        return tilt_factor(nextafter(theta / self.steps, 0.0))

    def used_theta(self, theta: float) -> float:
        """-q log z: what really is used for θ."""
        return -log(self.z(theta)) * self.steps

    def unit(self, adjacency: int, *, feasible: bool = False) -> Symbols | MovedSymbols:
        """The unit as a value that can be compared with others."""
        if self.within is None:
            return Symbols(adjacency, feasible=feasible)
        return MovedSymbols(adjacency, self.within, self.distance.fingerprint, feasible=feasible)

    def sentence(self, covers: str, adjacency: int) -> str:
        """The unit in words."""
        differs = f"{covers} that differs in at most {adjacency} symbol{'s' * (adjacency > 1)}"
        if self.within is None:
            return differs
        moved = f"{'each of them' if adjacency > 1 else 'which is'} at most {self.within:g} away from the true one"
        count = len(self.distance.symbols)
        alone = f" ({self.alone:,} of {count:,} symbols have no other that near: they are not protected)"
        return f"{differs}, {moved}{alone if self.alone else ''}"

    def word_costs(self, codes: IntArray, outputs: IntArray) -> IntArray:
        """The cost of each row of outputs, in steps."""
        total: IntArray = self.costs[codes, outputs].sum(axis=1, dtype=np.int64)
        return total

    def powers(self, z: float, multiple: int = 1) -> FloatArray:
        """z^(k · multiple) for every cost k, right to `margin`; 0 below e^-700."""
        key = z, multiple
        if key not in self._powers:
            if len(self._powers) > 64:
                self._powers.clear()
            exponents = np.arange(self.steps + 1) * (multiple * log(z))
            self._powers[key] = np.where(exponents >= SMALLEST_LOG, np.exp(exponents), 0.0)
        return self._powers[key]

    @cached_property
    def _powers(self) -> dict[tuple[float, int], FloatArray]:
        return {}

    @staticmethod
    def margin(roundings: int, positions: int = 1) -> float:
        """How far rounding can carry a sum of products of so many weights, with so many more roundings at each."""
        return rounding_margin((positions + 2) * (roundings + _POWER_ROUNDINGS))


def _nearest(distance: SymbolDistance) -> float:
    least = np.inf
    for code in range(len(distance.symbols)):
        row = distance.distances_from(code).copy()
        row[code] = np.inf
        least = min(least, float(row.min()))
    return least
