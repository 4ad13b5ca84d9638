"""All word mechanisms, for tests that hold for each of them."""

from __future__ import annotations

from collections.abc import Callable

import pathveil as pv

Build = Callable[..., pv.WordMechanism]


def lev(world: pv.System, epsilon: float, adjacency: int = 1, **options: str) -> pv.WordMechanism:
    return pv.Exponential(world, epsilon, adjacency, pv.InverseUtility(alpha=1.0), **options)  # type: ignore[arg-type]


MECHANISMS: dict[str, Build] = {
    "exponential": pv.Exponential,
    "inverse utility": lev,
    "permute-and-flip": pv.PermuteAndFlip,
    "certified": pv.CertifiedExponential,
    "online": pv.Online,
}


def build(name: str, world: pv.System, epsilon: float, adjacency: int = 1, **options: str) -> pv.WordMechanism | None:
    """The mechanism, or None where `Online` rightly refuses the system."""
    try:
        return MECHANISMS[name](world, epsilon, adjacency, **options)
    except (pv.DeadEndError, pv.InvalidSystemError):
        assert name == "online"
        return None
