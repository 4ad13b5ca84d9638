"""Which radius is best: a chart of the mean distance of a private symbol against R."""

from __future__ import annotations

from pathveil.markup import tag
from pathveil.planning.distances import RadiusCurve
from pathveil.report.charts import Lines, Series
from pathveil.report.page import Page


def add_radius_chart(page: Page, curve: RadiusCurve, epsilon: float) -> None:
    """A section with the curve, at one ε. R = 0 is Hamming distance."""
    radii = list(curve.means)
    chart = Lines(
        f"Mean distance of a private symbol by radius, at ε = {epsilon:g}",
        radii,
        [Series("mean distance", list(curve.means.values()), 0)],
        "radius R, from which on all symbols are equally far",
        "mean distance",
        marks=[(curve.best, "")],
    )
    best = f"{curve.best:,.0f}" if curve.best >= 1000 else f"{curve.best:.4g}"
    said = tag(
        "p",
        f"The best radius is {best} ({curve.mechanisms[curve.best]}), by a forecast over public words: pathveil "
        "privatize takes it where --radius is not given. R = 0 counts wrong symbols only; the largest cuts nothing "
        "off.",
    )
    page.add("Which radius?", said, page.chart("radius", chart))
