"""The best way to choose a segment for each point, by trying all of them."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise, product

from pathveil.places import Streets

Point = tuple[float, float]


def distance(point: Point, begin: Point, end: Point) -> float:
    """From a point to a segment, all of them in metres."""
    (x, y), (a, b), (c, d) = point, begin, end
    length = (c - a) ** 2 + (d - b) ** 2
    part = min(1.0, max(0.0, ((x - a) * (c - a) + (y - b) * (d - b)) / length))
    return math.hypot(a + part * (c - a) - x, b + part * (d - b) - y)


@cache
def moves(streets: Streets, origin: int, destination: int) -> float:
    """How many moves lead from a segment to another; infinite if not within reach."""
    edge = {origin}
    for step in range(streets.reach + 1):
        if destination in edge:
            return step
        edge = {
            other
            for one in edge
            for other, symbol in enumerate(streets.symbols)
            if streets.system.is_feasible([streets.symbols[one], symbol])
        }
    return math.inf


def best_cost(streets: Streets, near: list[list[tuple[int, int]]]) -> tuple[int, float] | None:
    """The smallest (sum of squares, symbols) of all feasible choices; None if there is none."""
    costs = []
    for choice in product(*near):
        steps = sum(moves(streets, a, b) for (a, _), (b, _) in pairwise(choice))
        if steps < math.inf:
            costs.append((sum(square for _, square in choice), 1 + steps))
    return min(costs, default=None)
