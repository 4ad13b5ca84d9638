"""Where the names of points go, so that none covers another: the best of several places around each point."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

_AROUND = ((1, 0), (1, 1), (1, -1), (-1, 0), (-1, 1), (-1, -1), (0, 1), (0, -1))
"""Right, left, above and below of the point, and the corners between."""

_RINGS = (1.0, 2.2, 3.6, 5.2)  # how far from the point, in gaps


class Box(NamedTuple):
    """A rectangle by its middle and its size."""

    x: float
    y: float
    width: float
    height: float

    def covers(self, other: Box) -> float:
        """The area that both have in common."""
        wide = min(self.x + self.width / 2, other.x + other.width / 2) - max(
            self.x - self.width / 2, other.x - other.width / 2
        )
        high = min(self.y + self.height / 2, other.y + other.height / 2) - max(
            self.y - self.height / 2, other.y - other.height / 2
        )
        return wide * high if wide > 0 and high > 0 else 0.0


def placed(
    points: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    gap: float,
    area: Box | None = None,
    ways: Sequence[Sequence[tuple[float, float]]] = (),
) -> list[Box]:
    """A box for the label of each point, all in the same units; `area` is where they should stay.

    Avoided are points, the boxes of labels that were placed before, and the `ways` from point to point of drawn words.

    Points with few others near them are served last: they have room anyway.
    """
    discs = [Box(x, y, 1.6 * gap, 1.6 * gap) for x, y in points]
    discs += [_between(p, q, t / 8, gap) for way in ways for p, q in pairwise(way) for t in range(1, 8)]
    crowd = [sum(abs(a - x) + abs(b - y) < 12 * gap for a, b in points) for x, y in points]
    found: dict[int, Box] = {}
    for i in sorted(range(len(points)), key=lambda i: (-crowd[i], i)):
        (x, y), (width, height) = points[i], sizes[i]
        best, least = None, float("inf")
        for ring in _RINGS:
            for across, up in _AROUND:
                away = ring * gap + height / 2
                box = Box(x + across * (ring * gap + width / 2), y + up * away * (0.6 if across else 1), width, height)
                cost = _cost(box, [*discs, *found.values()], area) + 0.02 * ring * width * height
                if cost < least - 1e-9:
                    best, least = box, cost
            if best is not None and least <= 0.02 * ring * width * height:
                break
        assert best is not None
        found[i] = best
    return [found[i] for i in range(len(points))]


def _between(p: tuple[float, float], q: tuple[float, float], t: float, size: float) -> Box:
    return Box(p[0] + (q[0] - p[0]) * t, p[1] + (q[1] - p[1]) * t, size, size)


def _cost(box: Box, others: Sequence[Box], area: Box | None) -> float:
    covered = sum(box.covers(other) for other in others)
    outside = 0.0 if area is None else box.width * box.height - box.covers(area)
    return covered + 2 * outside
