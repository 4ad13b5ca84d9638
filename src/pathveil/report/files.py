"""A page as an HTML file, or its charts as PNG or SVG files."""

from __future__ import annotations

from pathlib import Path

from pathveil.report.axes import chart_size, draw
from pathveil.report.charts import Chart
from pathveil.report.page import Page


def write_page(page: Page, output: Path, overwrite: bool, *, secret: bool = False) -> None:
    """The page; it appears complete or not at all. If it is secret, only for its owner to read."""
    from pathveil.data.workspace import private_workspace
    from pathveil.data.writing import publish

    target = output.absolute()
    with private_workspace(target) as workspace:
        unfinished = workspace / "unfinished"
        unfinished.write_text(page.render(), encoding="utf-8")
        if secret:
            unfinished.chmod(0o600)
        publish(unfinished, target, overwrite)


def write_charts(page: Page, folder: Path, format: str, overwrite: bool, *, secret: bool = False) -> None:
    """The charts of the page; each file appears complete or not at all. The names of secret ones say so."""
    from pathveil.data.workspace import private_workspace
    from pathveil.data.writing import publish, refuse_existing

    target = folder.absolute()
    target.mkdir(mode=0o700 if secret else 0o777, exist_ok=True)
    named = {key: target / f"{'sensitive-' if secret else ''}{key}.{format}" for key in page.charts}
    for path in named.values():
        refuse_existing(path, overwrite)
    with private_workspace(target / "charts") as workspace:
        for key, path in named.items():
            unfinished = workspace / f"{key}.{format}"
            save_chart(page.charts[key], unfinished)
            publish(unfinished, path, overwrite)


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
