"""What follows what: directly-follows graphs of words and of private models, counted and drawn."""

from pathveil.report.follows.counts import END, START, Follows, follows_of, successor_counts
from pathveil.report.follows.graph import draw_follows

__all__ = ["END", "START", "Follows", "draw_follows", "follows_of", "successor_counts"]
