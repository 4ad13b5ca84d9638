"""Charts as SVG and HTML markup: no script draws them, so they are there on paper and under any security policy."""

from pathveil.report.drawing.chart import drawn
from pathveil.report.drawing.frame import scrolling
from pathveil.report.drawing.labels import Box, placed

__all__ = ["Box", "drawn", "placed", "scrolling"]
