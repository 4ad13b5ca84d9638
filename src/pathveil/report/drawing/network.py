"""Nodes, edges with arrows, words along them, and labels that keep out of each other's way."""

from __future__ import annotations

from itertools import pairwise
from math import hypot

from pathveil.markup import Html, joined, tag
from pathveil.report.charts import Network, Path, Series
from pathveil.report.drawing.frame import legend, scrolling
from pathveil.report.drawing.labels import Box, placed

_WIDTH = 720.0
_PAD = 46.0
_NAMED = 60
_WITH_ARROWS = 150
_LETTERS = 22  # of a name
_LETTER = 6.4  # pixels

Point = tuple[float, float]


def drawn_network(chart: Network) -> Html:
    """Not scaled down to where its names could not be read: it scrolls instead."""
    places, height = _places(chart)
    n = len(places)
    radius = 6.0 if n <= _NAMED else 4.0 if n <= _WITH_ARROWS else 2.5
    parts: list[object] = [_edges(chart, places, radius, n <= _WITH_ARROWS)]
    for name, (x, y) in zip(chart.names, places, strict=True):
        parts.append(tag("circle", tag("title", name), class_="node", cx=f"{x:.1f}", cy=f"{y:.1f}", r=radius))
    for k, path in enumerate(chart.paths):
        aside = 0.0 if len(chart.paths) == 1 else (3.0 if k % 2 else -3.0)
        parts.append(_word(path, places, radius, aside))
    if n <= _NAMED:
        parts.append(_names(chart, places, radius, height))
    picture = tag(
        "svg", *parts, viewBox=f"0 0 {_WIDTH:g} {height:.0f}", role="img", aria_label=chart.title, class_="wide"
    )
    scrolls = scrolling(picture, chart.title)
    if not chart.paths:
        return scrolls
    return joined([scrolls, legend([Series(path.name, (), path.style) for path in chart.paths], _sample)])


def _sample(one: Series) -> list[Html]:
    named = f"path stroke s{one.style}"
    return [tag("line", x1=2, x2=32, y1=7, y2=7, class_=named, stroke_dasharray="1 7" if one.style else None)]


def _places(chart: Network) -> tuple[list[Point], float]:
    """Where the nodes stand, in pixels; and how high the picture is."""
    low_x, low_y = min(chart.x), min(chart.y)
    across, up = (max(chart.x) - low_x) or 1.0, (max(chart.y) - low_y) or 1.0
    zoom = min((_WIDTH - 2 * _PAD) / across, 620 / up)
    height = up * zoom + 2 * _PAD
    shift = (_WIDTH - across * zoom) / 2
    at = [
        (shift + (x - low_x) * zoom, height - _PAD - (y - low_y) * zoom) for x, y in zip(chart.x, chart.y, strict=True)
    ]
    return at, height


def _edges(chart: Network, places: list[Point], radius: float, with_arrows: bool) -> Html:
    """An edge there and back is one line, with an arrow at both ends."""
    known = set(chart.edges)
    drawn: list[object] = []
    for a, b in chart.edges:
        if a == b or (a > b and (b, a) in known):
            continue
        p, q = places[a], places[b]
        drawn.append(tag("line", class_="edge", x1=f"{p[0]:.1f}", y1=f"{p[1]:.1f}", x2=f"{q[0]:.1f}", y2=f"{q[1]:.1f}"))
        if with_arrows:
            drawn.append(_arrow(p, q, radius, 3.8, "arrow"))
            if (b, a) in known:
                drawn.append(_arrow(q, p, radius, 3.8, "arrow"))
    return tag("g", joined(drawn))


def _arrow(p: Point, q: Point, short_of: float, size: float, named: str) -> Html | None:
    """The head of an arrow from p to q that ends short of q."""
    d = hypot(q[0] - p[0], q[1] - p[1])
    if d < 2 * short_of + size:
        return None
    u = (q[0] - p[0]) / d, (q[1] - p[1]) / d
    tip = q[0] - u[0] * short_of, q[1] - u[1] * short_of
    corners = [(0.0, 0.0), (-2 * size, 0.8 * size), (-2 * size, -0.8 * size)]
    points = " ".join(f"{tip[0] + u[0] * a - u[1] * b:.1f},{tip[1] + u[1] * a + u[0] * b:.1f}" for a, b in corners)
    return tag("polygon", class_=named, points=points)


def _word(path: Path, places: list[Point], radius: float, aside: float) -> Html:
    """A line from node to node, a little aside, so that two words on one street are both seen; a disc at its start."""
    at = [places[node] for node in path.nodes]
    parts: list[object] = [tag("title", path.name)]
    for p, q in pairwise(at):
        d = hypot(q[0] - p[0], q[1] - p[1])
        named = f"path stroke s{path.style}"
        if not d:
            parts.append(tag("circle", class_=named, cx=f"{p[0]:.1f}", cy=f"{p[1]:.1f}", r=radius + 3))
            continue
        off = -(q[1] - p[1]) / d * aside, (q[0] - p[0]) / d * aside
        a, b = (p[0] + off[0], p[1] + off[1]), (q[0] + off[0], q[1] + off[1])
        parts.append(
            tag("line", class_=named, x1=f"{a[0]:.1f}", y1=f"{a[1]:.1f}", x2=f"{b[0]:.1f}", y2=f"{b[1]:.1f}",
                stroke_dasharray="1 7" if path.style else None)
        )  # fmt: skip
        parts.append(_arrow(a, b, radius, 6.0, f"fill s{path.style}"))
    if at:
        parts.append(
            tag("circle", class_=f"fill s{path.style}", cx=f"{at[0][0]:.1f}", cy=f"{at[0][1]:.1f}", r=radius + 1)
        )
    return tag("g", *parts, class_="word", data_nodes=" ".join(map(str, path.nodes)))


def _names(chart: Network, places: list[Point], radius: float, height: float) -> Html:
    texts = [name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…" for name in chart.names]
    sizes = [(_LETTER * len(text) + 2, 13.0) for text in texts]
    ways = [[places[node] for node in path.nodes] for path in chart.paths]
    boxes = placed(places, sizes, radius + 2, Box(_WIDTH / 2, height / 2, _WIDTH, height), ways)
    return tag(
        "g",
        *(
            tag("text", text, class_="halo tick", x=f"{box.x:.1f}", y=f"{box.y + 4:.1f}", text_anchor="middle")
            for text, box in zip(texts, boxes, strict=True)
        ),
    )
