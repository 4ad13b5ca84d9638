"""Words on large systems by local work: only the surroundings of a word are looked at, and what that leaves out is
bounded."""

from pathveil.words.local.corridor import Corridor, surroundings
from pathveil.words.local.growth import Growth, LocalWorld
from pathveil.words.local.marks import LocalDraw
from pathveil.words.local.marks_exact import draw_exactly_by_marks
from pathveil.words.local.walk_counts import MOST_BYTES

__all__ = ["MOST_BYTES", "Corridor", "Growth", "LocalDraw", "LocalWorld", "draw_exactly_by_marks", "surroundings"]
