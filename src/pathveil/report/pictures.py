"""A chart as a PNG or SVG file."""

from __future__ import annotations

from pathlib import Path

from pathveil.report.charts import Chart
from pathveil.report.plots import chart_size, draw


def save_chart(chart: Chart, path: Path) -> None:
    """Draw a chart to a file whose name ends in .png or .svg. The same chart gives the same bytes."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=chart_size(chart), layout="constrained")
    FigureCanvasAgg(figure)
    draw(chart, figure.add_subplot())
    # Without these, an SVG holds the time and random names.
    with matplotlib.rc_context({"svg.hashsalt": "pathveil", "svg.fonttype": "none"}):
        figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
