"""Words on large systems by local work: only the surroundings of a word are looked at, and what that leaves out is
bounded."""

from pathveil.words.local.corridor import Corridor, corridor
from pathveil.words.local.growth import Growth, LocalWorld

__all__ = ["Corridor", "Growth", "LocalWorld", "corridor"]
