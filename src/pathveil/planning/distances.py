"""How far private symbols will be from the true ones, on average over public words; and the best radius for that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pathveil.errors import DeadEndError, InvalidParameterError, InvalidSystemError
from pathveil.planning.public_words import MOST_WORDS, public_words
from pathveil.randomness.source import insecure_seed
from pathveil.systems.symbol_distance import SymbolDistance
from pathveil.systems.system import System
from pathveil.words.by_name import MECHANISMS
from pathveil.words.distances import DistanceLaw, DistanceMechanism
from pathveil.words.permute_and_flip import PermuteAndFlip

_FEW_WORDS = 4  # for each radius
_QUICK = 1_000_000  # symbols times edges times positions, for a certificate
_MOST_SYMBOLS = 2_000  # that are all looked at on a free alphabet


@dataclass(frozen=True)
class Measured:
    """Distances between symbols, and how far they may be moved: what the mechanisms take beside ε and b."""

    distance: SymbolDistance
    within: float | None = None

    @property
    def options(self) -> dict[str, Any]:
        """The same as keyword arguments."""
        return {"distance": self.distance, "within": self.within}


def public_distances(mechanism: DistanceMechanism, length: int, count: int = MOST_WORDS) -> DistanceLaw:
    """The law of the distance of a symbol, averaged over public words, or over all symbols of a free alphabet."""
    world = mechanism.world
    if not world.compiled.is_free:
        return DistanceLaw.average([mechanism.distance_law(word) for word in public_words(world, length, count)])
    if isinstance(mechanism, PermuteAndFlip):  # a symbol is not drawn for itself there
        words = world.random_words(length, count, insecure_seed(0))
        return DistanceLaw.average([mechanism.distance_law(word) for word in words])
    step = -(-len(world.symbols) // _MOST_SYMBOLS)
    return mechanism.distance_law(world.symbols[::step])


@dataclass(frozen=True)
class RadiusCurve:
    """The mean distance of a symbol for several radii R, and the mechanism that has it; 0 is Hamming distance."""

    means: Mapping[float, float]
    mechanisms: Mapping[float, str]

    @property
    def best(self) -> float:
        """The radius with the smallest mean distance; of equal ones the first."""
        return min(self.means, key=lambda radius: self.means[radius])

    def __str__(self) -> str:
        listed = (f"R = {radius:.4g}: {mean:.4g} ({self.mechanisms[radius]})" for radius, mean in self.means.items())
        return f"Mean distance of a symbol by radius: {', '.join(listed)}. Best: R = {self.best:.4g}."


def radius_curve(
    world: System,
    length: int,
    epsilon: float,
    adjacency: int = 1,
    *,
    distance: SymbolDistance,
    within: float | None = None,
    radii: Sequence[float] | None = None,
    mechanism: str | None = None,
) -> RadiusCurve:
    """Which radius is best, by forecast from public quantities. R = 0, which is Hamming distance, takes part.

    Of each radius the best mechanism counts, or the one that is named; certificates for large systems, which take
    long, are left out.

    >>> import pathveil as pv
    >>> line = pv.SymbolDistance.from_coordinates({place: (place, 0) for place in range(30)})
    >>> curve = pv.radius_curve(pv.Alphabet(range(30)), length=1, epsilon=2.0, distance=line)
    >>> curve.means[0.0] > curve.means[curve.best]
    True
    """
    measured = Measured(distance.ordered(world.symbols), within)
    means, mechanisms = {}, {}
    for radius in radii if radii is not None else _radii(measured):
        one = replace(measured, distance=measured.distance.with_radius(radius))
        found = {}
        for name in _names(world, length, radius) if mechanism is None else [mechanism]:
            with suppress(DeadEndError, InvalidSystemError):  # not every system can be streamed
                made = MECHANISMS[name](world, epsilon, adjacency, **one.options)
                assert isinstance(made, DistanceMechanism)
                found[name] = public_distances(made, length, _FEW_WORDS).mean
        if not found:
            continue
        mechanisms[radius] = min(found, key=lambda name: found[name])
        means[radius] = found[mechanisms[radius]]
    if not means:
        raise InvalidParameterError("no radius was given, or no mechanism can be used on this system")
    return RadiusCurve(means, mechanisms)


def _names(world: System, length: int, radius: float) -> list[str]:
    compiled = world.compiled
    if compiled.is_free:
        return ["certified"]
    quick = radius == 0 or compiled.symbol_count * compiled.edge_count * length < _QUICK
    return ["certified"] * quick + ["exponential", "online"]


def _radii(measured: Measured) -> list[float]:
    """0, and from the nearest neighbours to the largest distance, each twice the one before."""
    farthest = measured.distance.with_radius(None).radius
    codes = np.arange(0, len(measured.distance.symbols), max(1, len(measured.distance.symbols) // 64))
    apart = measured.distance.distances_from(codes)
    near = float(np.median(np.where(apart > 0, apart, np.inf).min(axis=1)))
    first = max(2 * near, farthest / 128, measured.within or 0.0)
    found = [0.0]
    while first < farthest * 0.75:
        found.append(first)
        first *= 2
    return [*found, farthest]
