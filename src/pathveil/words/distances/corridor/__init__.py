"""Draws with distances that look at the surroundings of a word only."""

from pathveil.words.distances.corridor.corridor import Corridor

__all__ = ["Corridor"]
