"""Curves. Those that coincide are drawn once, under all their names; close ones differ in width, dashes and markers."""

from __future__ import annotations

from collections.abc import Sequence

from pathveil.markup import Html, joined, short, tag
from pathveil.report.charts import Lines, Series, coinciding_merged
from pathveil.report.drawing.frame import DASHES, axes, legend, marker, percent, plot
from pathveil.report.drawing.scales import scale_of, ticks_of

_FEW = 24  # points of a curve that get markers
_DEPTH = 1e-6  # a logarithmic axis reaches no farther down than this part of the largest value


def drawn_lines(chart: Lines) -> Html:
    series = coinciding_merged(chart.series)
    logarithmic = chart.yscale == "log"
    values = [v for one in series for v in one.values if v is not None and (v > 0 or not logarithmic)]
    high = max(values, default=1.0)
    low = max(min(values, default=0.1), high * _DEPTH) if logarithmic else min(0.0, *values, 0.0)
    x, y = scale_of(chart.xscale, chart.x[0], chart.x[-1]), scale_of(chart.yscale, low, high)
    xticks = [(x(value), short(value)) for value in ticks_of(chart.xscale, chart.x[0], chart.x[-1], 7)]
    parts: list[object] = [axes(chart.xlabel, chart.ylabel, xticks, ticks_of(chart.yscale, low, high, 6), y)]
    parts += [
        tag("line", class_=f"mark {named}".strip(), x1=percent(x(at)), x2=percent(x(at)), y1="-2%", y2="100%")
        for at, named in chart.marks
    ]
    markers: list[Html] = []
    curves: list[Html] = []
    for k, one in enumerate(series):
        points = [
            (x(chart.x[i]), 100 - y(v)) for i, v in enumerate(one.values) if v is not None and v >= low and v <= high
        ]
        curves.append(_curve(one, points, k))
        if len(points) <= _FEW:
            # Staggered: where two curves lie on each other, the markers of both are seen in turn.
            markers += [marker(one.style, *map(percent, p)) for i, p in enumerate(points) if i % len(series) == k]
    stretched = tag("svg", *curves, viewBox="0 0 100 100", preserveAspectRatio="none", width="100%", height="100%")
    names = legend(series, lambda one: _sample(one, len(chart.x) <= _FEW))
    return joined([plot(chart.title, *parts, stretched, *markers), names])


def _curve(one: Series, points: Sequence[tuple[float, float]], k: int) -> Html:
    """An earlier curve is wider, so that it still shows under a later one."""
    path = " ".join(f"{a:.2f},{b:.2f}" for a, b in points)
    return tag("polyline", class_=f"curve stroke s{one.style} w{min(k, 4)}", stroke_dasharray=DASHES[one.style],
               points=path)  # fmt: skip


def _sample(one: Series, with_marker: bool) -> list[Html]:
    named = f"curve stroke s{one.style}"
    line = tag("line", x1=1, x2=33, y1=7, y2=7, class_=named, stroke_dasharray=DASHES[one.style])
    return [line, marker(one.style, "17", "7")] if with_marker else [line]
