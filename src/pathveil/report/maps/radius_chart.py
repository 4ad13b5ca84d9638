"""Which radius is best: a chart of the mean distance of a private symbol against R."""

from __future__ import annotations

from pathveil.markup import Html, tag
from pathveil.planning.distances import RadiusCurve
from pathveil.report.charts import Lines, Series
from pathveil.report.page import Page, copyable


def add_radius_chart(page: Page, curve: RadiusCurve, epsilon: float) -> None:
    """A section with the curve and its numbers, at one ε. R = 0 is Hamming distance."""
    radii = list(curve.means)
    chart = Lines(
        f"Mean distance of a private symbol by radius, at ε = {epsilon:g}",
        radii,
        [Series("mean distance", list(curve.means.values()), 0)],
        "radius R, from which on all symbols are equally far",
        "mean distance",
        mark=curve.best,
    )
    rows: list[list[object]] = [[f"{radius:.4g}", curve.means[radius], curve.mechanisms[radius]] for radius in radii]
    said: Html = tag(
        "p",
        f"The best radius is {curve.best:.4g}, by a forecast over public words: pathveil privatize takes it where "
        "--radius is not given. R = 0 counts wrong symbols only; the largest cuts nothing off.",
    )
    headers = ["radius", "mean distance", "mechanism"]
    page.add(
        "Which radius?", said, page.chart("radius", chart), copyable("radii", "Mean distance by radius", headers, rows)
    )
