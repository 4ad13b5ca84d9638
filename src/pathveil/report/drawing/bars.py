"""Bars, standing or lying. Lying ones have their names beside them as text that wraps, however long it is."""

from __future__ import annotations

from pathveil.markup import Html, joined, short, tag
from pathveil.report.charts import Bars, Series
from pathveil.report.drawing.frame import axes, legend, percent, plot
from pathveil.report.drawing.scales import scale_of, ticks_of

_NARROW = 290  # pixels that a plot has on a telephone: labels below the bars have to fit there
_THICK = 14
_LONGEST = 80.0  # percent; the number stands behind the bar


def drawn_bars(chart: Bars) -> Html:
    picture = _lying(chart) if chart.flat else _standing(chart)
    return joined([picture, legend(chart.series, _sample) if len(chart.series) > 1 else None])


def _sample(one: Series) -> list[Html]:
    return [tag("rect", x=6, y=1, width=22, height=12, class_=f"bar fill s{one.style}")]


def _top(chart: Bars) -> float:
    return max((value or 0.0 for one in chart.series for value in one.values), default=0.0) or 1.0


def _standing(chart: Bars) -> Html:
    top, count = _top(chart), len(chart.labels)
    y = scale_of("linear", 0.0, top)
    width = 0.86 * 100 / count / len(chart.series)
    longest = max(len(label) for label in chart.labels[:-1] or chart.labels)
    every = max(1, -(-count * (8 * longest + 6) // _NARROW))
    xticks = [((i + 0.5) * 100 / count, chart.labels[i]) for i in range(0, count, every)]
    parts: list[object] = [axes(chart.xlabel, chart.ylabel, xticks, ticks_of("linear", 0.0, top, 5), y)]
    for k, one in enumerate(chart.series):
        for i, value in enumerate(one.values):
            height = y(value or 0.0)
            parts.append(
                tag(
                    "rect",
                    tag("title", f"{chart.labels[i]}, {one.name}: {short(value or 0.0)}"),
                    class_=f"bar fill s{one.style}",
                    x=percent((i + 0.07) * 100 / count + k * width),
                    y=percent(100 - height),
                    width=percent(width),
                    height=percent(height),
                )
            )
    return plot(chart.title, *parts)


def _lying(chart: Bars) -> Html:
    top = _top(chart)
    rows = []
    for i, label in enumerate(chart.labels):
        bars = []
        for k, one in enumerate(chart.series):
            value = one.values[i] or 0.0
            place = _LONGEST * value / top
            bars.append(
                tag("rect", class_=f"bar fill s{one.style}", x=0, y=k * _THICK + 1, width=percent(place),
                    height=_THICK - 2)
            )  # fmt: skip
            bars.append(tag("text", short(value), x=percent(place), dx=5, y=(k + 1) * _THICK - 3, class_="tick"))
        size = _THICK * len(chart.series)
        rows.append(tag("div", tag("span", label), tag("svg", *bars, width="100%", height=size), class_="lying"))
    what = tag("p", f"{chart.ylabel}: {chart.xlabel}" if chart.ylabel else chart.xlabel, class_="soft")
    return joined([what, tag("div", *rows, role="img", aria_label=chart.title)])
