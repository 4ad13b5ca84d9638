"""Which function draws which chart."""

from __future__ import annotations

from pathveil.markup import Html
from pathveil.report.charts import Bars, Chart, Heat, Lines
from pathveil.report.drawing.bars import drawn_bars
from pathveil.report.drawing.heat import drawn_heat
from pathveil.report.drawing.lines import drawn_lines
from pathveil.report.drawing.network import drawn_network


def drawn(chart: Chart) -> Html:
    """The chart with its legend; it fits any width, or scrolls by itself."""
    if isinstance(chart, Lines):
        return drawn_lines(chart)
    if isinstance(chart, Bars):
        return drawn_bars(chart)
    return drawn_heat(chart) if isinstance(chart, Heat) else drawn_network(chart)
