"""Where the activities of a directly-follows graph stand: in layers from the start down to the end.

An arrow that passes a layer gets a place in it, like a narrow activity without a name, so that it runs around the boxes
and not through them (the method of Sugiyama, Tagawa and Toda, 1981, with simple steps).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pathveil.report.follows.counts import END, START

_ROUNDS = 24
_WIDE, _NARROW = 1.0, 0.42  # the room that a box takes, and an arrow that passes

Edge = tuple[int, int]
Place = int | tuple[Edge, int]
"""An activity, or where an arrow passes a layer."""


@dataclass(frozen=True)
class Layered:
    """Activities and where they stand (x to the right, y downwards), and the points that each arrow passes."""

    places: Mapping[int, tuple[float, float]]
    ways: Mapping[Edge, Sequence[tuple[float, float]]]


def layered(edges: Mapping[Edge, float]) -> Layered:
    """A place for every activity; self-loops take none."""
    layer = layers_of(edges)
    rows: dict[int, list[Place]] = defaultdict(list)
    for activity in sorted(layer):
        rows[layer[activity]].append(activity)
    chains: dict[Edge, list[Place]] = {}
    for edge in sorted(edges, key=lambda one: (-edges[one], one)):
        a, b = edge
        if a == b:
            continue
        step = 1 if layer[b] > layer[a] else -1
        between: list[Place] = [(edge, at) for at in range(layer[a] + step, layer[b], step)]
        for at, passing in zip(range(layer[a] + step, layer[b], step), between, strict=True):
            rows[at].append(passing)
        chains[edge] = [a, *between, b]
    x = _across(rows, chains, edges)
    height = {place: float(at) for at, row in rows.items() for place in row}
    return Layered(
        {activity: (x[activity], height[activity]) for activity in layer},
        {edge: [(x[place], height[place]) for place in chain] for edge, chain in chains.items()},
    )


def layers_of(edges: Mapping[Edge, float]) -> dict[int, int]:
    """The strongest arrows that make no circle say what comes before what; a layer is the longest way from the top."""
    after: dict[int, set[int]] = defaultdict(set)

    def reaches(a: int, b: int) -> bool:
        waiting, seen = [a], {a}
        while waiting:
            one = waiting.pop()
            if one == b:
                return True
            waiting += after[one] - seen
            seen |= after[one]
        return False

    for a, b in sorted(edges, key=lambda edge: (-edges[edge], edge)):
        if a != b and not reaches(b, a):
            after[a].add(b)
    layer = {activity: 0 for edge in edges for activity in edge}
    for _ in range(len(layer)):
        for a, others in list(after.items()):
            for b in others:
                layer[b] = max(layer[b], layer[a] + 1)
    before = {b for others in after.values() for b in others}
    for a in layer.keys() - before - {START}:
        # Only weak arrows lead there, from below: it stands beside what follows it, not beside the start.
        layer[a] = min((layer[b] - 1 for b in after[a]), default=0)
    if END in layer:
        layer[END] = max([layer[END], *(at + 1 for one, at in layer.items() if one != END)])
    return layer


def _across(
    rows: Mapping[int, list[Place]], chains: Mapping[Edge, list[Place]], edges: Mapping[Edge, float]
) -> dict[Place, float]:
    """In its row, everything comes to stand near what it is connected with, and nothing on anything else."""
    near: dict[Place, list[tuple[Place, float]]] = defaultdict(list)
    for edge, chain in chains.items():
        for one, other in pairwise(chain):
            # Strong arrows become straight; places between are drawn to both of their neighbours alike.
            weight = edges[edge] ** 0.5
            near[one].append((other, weight))
            near[other].append((one, weight))
    x: dict[Place, float] = {}
    for row in rows.values():
        x |= _packed(row, {place: float(i) for i, place in enumerate(row)})
    for _ in range(_ROUNDS):
        for at in sorted(rows):
            row = rows[at]
            wanted = {
                place: sum(x[other] * weight for other, weight in near[place])
                / sum(weight for _, weight in near[place])
                if near[place]
                else x[place]
                for place in row
            }
            x |= _packed(row, wanted)
    return x


def _packed(row: list[Place], wanted: Mapping[Place, float]) -> dict[Place, float]:
    """As near as possible to where each wants to stand, in that order, with room between."""
    order = sorted(row, key=lambda place: (wanted[place], str(place)))
    room = [
        ((_WIDE if isinstance(a, int) else _NARROW) + (_WIDE if isinstance(b, int) else _NARROW)) / 2
        for a, b in pairwise(order)
    ]
    rightwards, leftwards = [wanted[order[0]]], [wanted[order[-1]]]
    for place, gap in zip(order[1:], room, strict=True):
        rightwards.append(max(wanted[place], rightwards[-1] + gap))
    for place, gap in zip(order[-2::-1], room[::-1], strict=True):
        leftwards.append(min(wanted[place], leftwards[-1] - gap))
    return {place: (a + b) / 2 for place, a, b in zip(order, rightwards, leftwards[::-1], strict=True)}
