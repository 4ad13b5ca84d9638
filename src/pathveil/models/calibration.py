"""Floor and concentration for one row, from public quantities only.

MCM reads its floor η off the data, which leaks. Here η is public and mixed in: p → (1 - nη) p + η. No input is then
excluded, a change of mass s becomes (1 - nη) s, and the mixing is undone after the draw. A *large* floor is best: far
from the edge of the simplex a draw gives so little away that much less noise suffices, and this outweighs the factor
1/(1 - nη) that undoing the mixing costs. In the limit nη → 1 the mechanism is the Gaussian one. So nη = 0.9 unless
even that is too low for the promise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from pathveil.errors import InvalidParameterError, UnreachablePrivacyError
from pathveil.privacy.profile import (
    DirichletProfile,
    concentration_for,
    concentrations_for,
    largest_passing,
    require_promise,
)

USUAL_MIXING = 0.9
FLOOR_TOLERANCE = 1e-12  # by how much of itself an entry may be below the papers' floor; accounted for
# log δ₀ must stay this far below log δ: closer to it, the last bit of privacy would be bought with all accuracy.
_ROOM_BELOW = 20.0


@dataclass(frozen=True)
class Calibration:
    """How one row is drawn: x ~ Dirichlet(k((1-mixing)·p + floor)); `mixing` is nη, or 0 in the papers' mode."""

    size: int
    floor: float
    mixing: float
    shift: float
    concentration: float

    @property
    def profile(self) -> DirichletProfile:
        return DirichletProfile(self.floor, self.concentration, self.shift)

    @property
    def base(self) -> float:
        """The Dirichlet parameter of an entry without data: kη, rounded up, which only adds privacy."""
        return self.concentration * self.floor * (1 + 2.0**-51) if self.mixing else 0.0

    def step(self, change: float) -> float:
        """What one unit of data adds to a parameter where `change` units may move: all of them ks, rounded down."""
        return self.concentration * self.shift / change * (1 - 2.0**-50)


def plan_floor(
    size: int, change: float, epsilon: float, delta: float, floor: float | None, mix: bool
) -> tuple[float, float, float]:
    """(floor, mixing, shift) of a row with `size` possible entries between two of which mass `change` may move."""
    require_promise(epsilon, delta)
    if not mix:
        if floor is None:
            raise InvalidParameterError(
                "`mix=False` needs a floor: the least value that any entry can have, known to everybody. It must not "
                "be read off the data; leave `mix=True` and no such promise is needed."
            )
        _require_floor(floor, size)
        if size * floor + change > 1 + FLOOR_TOLERANCE:
            raise InvalidParameterError(
                f"a shift of {change:g} is more than the mass that can move: {size} entries of at least {floor:g} "
                f"leave {max(0.0, 1 - size * floor):g}. Lower the floor or the shift."
            )
        # A little below what was promised: for entries that equal the floor but for rounding (`require_floor`).
        return floor * (1 - 4 * FLOOR_TOLERANCE), 0.0, change
    if change > 1:
        raise InvalidParameterError(f"a shift of {change:g} is more than the whole mass of a row, which is 1")
    if floor is not None:
        _require_floor(floor, size)
        return floor, size * floor, (1 - size * floor) * change
    mixing = _usual_mixing(size, change, epsilon, delta)
    return mixing / size, mixing, (1 - mixing) * change


def calibrate(
    size: int, change: float, epsilon: float, delta: float, floor: float | None = None, mix: bool = True
) -> Calibration:
    """The least noise that keeps the promise for one row."""
    planned, mixing, shift = plan_floor(size, change, epsilon, delta, floor, mix)
    return Calibration(size, planned, mixing, shift, concentration_for(epsilon, delta, planned, shift))


def calibrate_each(
    sizes: Sequence[int],
    changes: Sequence[float],
    epsilon: float,
    delta: float,
    floor: float | None = None,
    mix: bool = True,
) -> list[Calibration]:
    """`calibrate` for many rows at once: the same answers, much faster."""
    plans = [plan_floor(n, s, epsilon, delta, floor, mix) for n, s in zip(sizes, changes, strict=True)]
    floors, _, shifts = np.array(plans).reshape(-1, 3).T
    concentrations = concentrations_for(epsilon, delta, floors, shifts)
    return [
        Calibration(n, planned, mixing, shift, float(k))
        for n, (planned, mixing, shift), k in zip(sizes, plans, concentrations, strict=True)
    ]


def _usual_mixing(size: int, change: float, epsilon: float, delta: float) -> float:
    """nη = 0.9, raised as far as δ₀ demands."""
    # With κ = 1 - nη kept, the floor is (1-κ)/n and the shift κ·change: η/s ≥ r means κ ≤ 1/(1 + n·change·r).
    odds = size * change * _least_ratio(epsilon, delta)
    if odds > 1e9:  # undoing the mixing would meet the rounding errors of the draw
        raise UnreachablePrivacyError(
            f"(ε, δ) = ({epsilon:g}, {delta:g}) with a shift of {change:g} over {size} entries leaves nothing but "
            "noise: ask for more ε, or bring more records"
        )
    return max(USUAL_MIXING, odds / (1 + odds))


@lru_cache(maxsize=64)
def _least_ratio(epsilon: float, delta: float) -> float:
    """The least r = η/s at which δ₀ = s/(2η+s)·e^(-εη/s) is well below δ."""
    depth = _ROOM_BELOW - math.log(delta)
    return largest_passing(lambda r: math.log1p(2 * r) + epsilon * r - depth, failing=0.0, passing=depth / epsilon)


def _require_floor(floor: float, size: int) -> None:
    if not 0 < floor * size < 1:
        raise InvalidParameterError(
            f"a floor of {floor:g} for each of {size} entries takes {size * floor:g} of a total of 1: "
            f"the floor must be positive and below 1/{size}"
        )
