"""A directly-follows graph as a picture: activities in boxes from top to bottom, the thicker an arrow the commoner."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from pathveil.markup import short
from pathveil.report.axes import COLOURS, plain
from pathveil.report.drawing import Box
from pathveil.report.follows.counts import END, START, Follows
from pathveil.report.follows.layers import layered

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LETTERS = 16  # of a line in a box
_WIDE, _HIGH = 1.75, 1.1  # inches from one place to the next, across and down
_LETTER, _LINE = 0.075, 0.16  # inches that a letter and a line take
_ASIDE = 0.09  # arrows that go up attach so far beside those that go down
_ALONG = (0.5, 0.36, 0.64, 0.25, 0.75)  # where on its arrow a number may stand

Point = tuple[float, float]


def draw_follows(follows: Follows, most: int, ax: Axes | None) -> Axes:
    """Draw the strongest arrows, and say how much that is of all."""
    edges = follows.strongest(most)
    plan = layered(edges)
    boxes = {activity: _box(follows, activity, place) for activity, place in plan.places.items()}
    every = [*plan.places.values(), *(point for way in plan.ways.values() for point in way)]
    left, right = min(x for x, _ in every) - 0.65, max(x for x, _ in every) + 0.75
    bottom = max(y for _, y in every) + 0.5
    if ax is None:
        import matplotlib.pyplot as plt

        size = (max(4.5, _WIDE * (right - left)), max(3.5, _HIGH * (bottom + 0.5)))
        _, ax = plt.subplots(figsize=size, layout="constrained")
    ax.set_axis_off()
    ax.set_xlim(left, right)
    ax.set_ylim(bottom, -0.5)  # words begin at the top
    top, taken = max(edges.values()), list(boxes.values())
    for edge, amount in sorted(edges.items(), key=lambda one: (-one[1], one[0])):
        (a, b), wide = edge, 0.6 + 4.0 * amount / top
        options = _loop(ax, boxes[a], wide) if a == b else _arrow(ax, plan.ways[edge], boxes[a], boxes[b], wide)
        label = f"{amount:.2g}" if follows.are_shares else short(int(amount))
        _number(ax, label, options, taken)
    for activity, box in boxes.items():
        _activity(ax, follows, activity, box)
    if len(edges) < len(follows.amounts):
        kept = sum(edges.values()) / sum(follows.amounts.values())
        ax.set_title(f"{len(edges)} of {len(follows.amounts)} arrows, {kept:.1%} of all steps", fontsize=10, loc="left")
    return ax


def _text(follows: Follows, activity: int) -> list[str]:
    if activity in (START, END):
        return ["▶" if activity == START else "■"]
    return wrap(follows.names[activity], _LETTERS) or [follows.names[activity]]


def _box(follows: Follows, activity: int, place: Point) -> Box:
    lines = _text(follows, activity)
    count = 0 if follows.are_shares else 1
    if activity in (START, END):
        return Box(*place, 0.01, 0.3 / _HIGH)
    wide = _LETTER * max(max(map(len, lines)), 4) + 0.16
    return Box(*place, wide / _WIDE, (_LINE * (len(lines) + count) + 0.14) / _HIGH)


def _activity(ax: Axes, follows: Follows, activity: int, box: Box) -> None:
    from matplotlib.patches import FancyBboxPatch

    lines = [plain(line) for line in _text(follows, activity)]
    if activity in (START, END):
        shape = {"boxstyle": "circle,pad=0.25", "fc": "0.25", "ec": "0.25"}
        ax.text(box.x, box.y, lines[0], ha="center", va="center", color="white", fontsize=9, bbox=shape, zorder=5)
        return
    if not follows.are_shares:
        lines.append(short(int(follows.visits(activity))))
    corner = box.x - box.width / 2, box.y - box.height / 2
    ax.add_patch(
        FancyBboxPatch(corner, box.width, box.height, boxstyle="round,pad=0,rounding_size=0.04", fc="#e8f1f8",
                       ec=COLOURS[0], zorder=4)
    )  # fmt: skip
    ax.text(box.x, box.y, "\n".join(lines), ha="center", va="center", fontsize=9, zorder=5)


def _arrow(ax: Axes, way: Sequence[Point], start: Box, goal: Box, wide: float) -> list[Point]:
    """From the edge of one box to that of the other, upright at both ends; returns where its number may stand.

    Arrows that go up keep to one side, those that go down to the other.
    """
    down = way[-1][1] > way[0][1]
    side = 1 if down else -1
    first = way[0][0] - side * min(_ASIDE, start.width / 8), way[0][1] + side * start.height / 2
    last = way[-1][0] - side * min(_ASIDE, goal.width / 8), way[-1][1] - side * (goal.height / 2 + 0.02)
    points = [first]
    pieces = list(pairwise([first, *way[1:-1], last]))
    for (x0, y0), (x1, y1) in pieces:
        points += [(x0, (y0 + y1) / 2), (x1, (y0 + y1) / 2), (x1, y1)]
    _draw(ax, points, 3, wide)
    middle = len(pieces) // 2
    ranked = sorted(range(len(pieces)), key=lambda i: abs(i - middle))
    return [_on_curve(*pieces[i], t) for i in ranked for t in _ALONG]


def _on_curve(p: Point, q: Point, t: float) -> Point:
    """A point of the cubic curve between two points that is upright in both."""
    return p[0] + (q[0] - p[0]) * (3 * t**2 - 2 * t**3), p[1] + (q[1] - p[1]) * (1.5 * (1 - t) * t + t**3)


def _loop(ax: Axes, box: Box, wide: float) -> list[Point]:
    """From the right side of a box and back to it; returns where its number may stand."""
    right = box.x + box.width / 2
    out, up, down = right + 0.2, box.y - 0.1, box.y + 0.1
    _draw(ax, [(right, up), (out, up), (out, box.y), (out, down), (right + 0.01, down)], 2, wide)
    return [(out + 0.08, box.y)]


def _draw(ax: Axes, points: Sequence[Point], degree: int, wide: float) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    curve = Path.CURVE4 if degree == 3 else Path.CURVE3
    path = Path(points, [Path.MOVETO, *[curve] * (len(points) - 1)])
    look: dict[str, Any] = {"color": "0.55", "linewidth": wide, "mutation_scale": 7 + 2.0 * wide, "zorder": 2}
    ax.add_patch(FancyArrowPatch(path=path, arrowstyle="-|>", capstyle="butt", **look))


def _number(ax: Axes, label: str, options: Sequence[Point], taken: list[Box]) -> None:
    """Where it covers least of boxes and other numbers."""
    size = (_LETTER * 0.9 * len(label) + 0.03) / _WIDE, _LINE * 0.95 / _HIGH
    best = min((Box(*place, *size) for place in options), key=lambda box: sum(box.covers(one) for one in taken))
    taken.append(best)
    shape = {"boxstyle": "round,pad=0.05", "fc": "white", "ec": "none", "alpha": 0.8}
    ax.text(best.x, best.y, label, ha="center", va="center", fontsize=8, color="0.1", bbox=shape, zorder=6)
