"""What charts with axes share. Places are percentages of the plot, so it fits any width and text keeps its size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pathveil.markup import Html, joined, short, tag
from pathveil.report.charts import Series

DASHES = (None, "9 4", "2 4", "12 4 2 4", "1 5")
"""How the line of each style is broken; colours alone would not tell curves apart."""

_SIZE = 3.8


def percent(value: float) -> str:
    """A place for an attribute."""
    return f"{value:.2f}%"


def plot(title: str, *content: object) -> Html:
    """The picture itself, inside the room that its axes need."""
    return tag("div", tag("svg", *content, class_="plot", role="img", aria_label=title), class_="framed")


def axes(
    xlabel: str, ylabel: str, xticks: Iterable[tuple[float, str]], yticks: Iterable[float], y: Callable[[float], float]
) -> Html:
    """Grid lines, numbers and names of both axes. `xticks` are places in percent with what is written there."""
    parts: list[object] = []
    for value in yticks:
        place = percent(100 - y(value))
        parts.append(tag("line", class_="grid", x1="0", x2="100%", y1=place, y2=place))
        parts.append(tag("text", short(value), x="-7", y=place, dy=".35em", text_anchor="end", class_="tick"))
    for place_of_tick, label in xticks:
        parts.append(tag("text", label, x=percent(place_of_tick), y="100%", dy="1.4em", text_anchor="middle",
                         class_="tick"))  # fmt: skip
    parts.append(tag("line", class_="axis", x1="0", x2="100%", y1="100%", y2="100%"))
    parts.append(tag("text", xlabel, x="50%", y="100%", dy="3em", text_anchor="middle"))
    parts.append(tag("text", ylabel, x="-46", y="0", dy="-.8em"))
    return joined(parts)


def marker(style: int, x: str, y: str) -> Html:
    """A sign for a point: a disc, a square, a triangle, a diamond or a dot."""
    r, named = _SIZE, f"fill s{style}"
    if style == 1:
        shape = tag("rect", class_=named, x=-r, y=-r, width=2 * r, height=2 * r)
    elif style in (2, 3):
        corners = [(0, -r - 1.2), (r + 1.2, r), (-r - 1.2, r)] if style == 2 else [
            (0, -r - 1.6), (r + 1.6, 0), (0, r + 1.6), (-r - 1.6, 0)
        ]  # fmt: skip
        shape = tag("polygon", class_=named, points=" ".join(f"{a:g},{b:g}" for a, b in corners))
    else:
        shape = tag("circle", class_=named, r=2.2 if style == 4 else r)
    return tag("svg", shape, x=x, y=y)


def legend(series: Sequence[Series], sample: Callable[[Series], Iterable[Html]]) -> Html:
    """The name of each series beside a sample of it."""
    items = [
        tag("li", tag("svg", *sample(one), width=34, height=14, viewBox="0 0 34 14", aria_hidden="true"), one.name)
        for one in series
    ]
    return tag("ul", *items, class_="legend")


def scrolling(content: Html, label: str) -> Html:
    """Something wide that scrolls by itself, with the keyboard too, so that the page never does."""
    return tag("div", content, class_="scroll", tabindex="0", role="region", aria_label=label)
