"""One self-contained HTML file without a script: style, text and pictures are inside, and nothing comes from outside.

The content security policy names the hash of the one style sheet, which is the same for every page. So even if some
text found a way out of its element, a browser would not run it, and the page cannot load or send anything.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib import resources

import pathveil
from pathveil.markup import Html, joined, table, tag
from pathveil.report.charts import Bars, Chart, Heat, Lines, Network
from pathveil.report.drawing import drawn, scrolling


class Page:
    """A report that grows section by section. Charts that are added to it can also be drawn to files."""

    def __init__(self, title: str, lead: str, *, alarm: str | None = None, badge: str | None = None) -> None:
        self.title = title
        self.charts: dict[str, Chart] = {}
        self._lead, self._alarm, self._badge = lead, alarm, badge
        self._sections: list[Html] = []
        self._left_out: list[object] = []

    def add(self, heading: str, *parts: object) -> None:
        """A section with a heading."""
        self._sections.append(_section(len(self._sections) + 1, heading, *parts))

    def leave_out(self, what: str) -> None:
        """One line at the end of the page, instead of a section that only says why it is empty."""
        self._left_out.append(what)

    def chart(self, key: str, chart: Chart) -> Html:
        """A chart of the page, which is also drawn when its pictures are asked for."""
        self.charts[key] = chart
        return figure(key, chart)

    def render(self) -> str:
        """The whole file."""
        alarm = None if self._alarm is None else tag("p", self._alarm, class_="alarm", role="alert")
        head = tag(
            "head",
            tag("meta", charset="utf-8"),
            tag("meta", http_equiv="Content-Security-Policy", content=content_security_policy()),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", name="color-scheme", content="light dark"),
            tag("meta", name="referrer", content="no-referrer"),
            tag("title", self.title),
            tag("style", Html(_style())),
        )
        rest = _section(len(self._sections) + 1, "Left out", bullets(self._left_out)) if self._left_out else None
        body = tag(
            "body",
            tag("a", "Skip to the content", href="#content", class_="skip"),
            tag(
                "header",
                alarm,
                tag("h1", self.title),
                None if self._badge is None else tag("p", tag("span", self._badge, class_="badge")),
                tag("p", self._lead, class_="lead"),
            ),
            tag("main", *self._sections, rest, id="content", tabindex="-1"),
            tag(
                "footer",
                tag("p", f"Written by PathVeil {pathveil.__version__}. This file loads nothing and sends nothing."),
            ),
            class_=None if self._alarm is None else "sensitive",
        )
        return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _section(number: int, heading: str, *parts: object) -> Html:
    name = f"section-{number}"
    return tag("section", tag("h2", heading, id=name), *parts, aria_labelledby=name)


def content_security_policy() -> str:
    """What a page needs, for its own head and for whoever serves it: one style sheet, known by its hash."""
    digest = base64.b64encode(hashlib.sha256(_style().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


@cache
def _style() -> str:
    text = resources.files("pathveil.report").joinpath("assets", "report.css").read_text(encoding="utf-8")
    if "</" in text:
        raise AssertionError("the style sheet could end the element that holds it")
    return text


def figure(key: str, chart: Chart) -> Html:
    """A chart, with its numbers as a table for those who cannot or do not want to see it."""
    numbers = tag("details", tag("summary", "The numbers as a table"), _numbers(key, chart), class_="numbers")
    return tag("figure", tag("figcaption", chart.title), drawn(chart), numbers, data_chart=key)


def listed(key: str, caption: str, headers: Sequence[object], rows: Sequence[Sequence[object]]) -> Html:
    """A table that scrolls where it is too wide."""
    return scrolling(table(caption, headers, rows, id=key), caption)


def paragraphs(texts: Sequence[str]) -> Html:
    return joined([tag("p", text) for text in texts])


def bullets(items: Sequence[object]) -> Html:
    return tag("ul", *(tag("li", item) for item in items))


def facts(named: Sequence[tuple[str, object]]) -> Html:
    """Names and values, one below the other."""
    return tag("dl", *(joined([tag("dt", name), tag("dd", value)]) for name, value in named), class_="facts")


def figures(named: Sequence[tuple[str, str, str]]) -> Html:
    """The few numbers that matter, large: the name of each for tests and links, what it is, and the number itself."""
    items = [tag("li", tag("span", label), tag("strong", value, data_figure=key)) for key, label, value in named]
    return tag("ul", *items, class_="figures")


def _numbers(key: str, chart: Chart) -> Html:
    """A chart's content as a table, with more digits than the eye sees in the picture."""
    headers: list[object]
    rows: list[list[object]]
    if isinstance(chart, Lines):
        headers = [chart.xlabel, *(one.name for one in chart.series)]
        rows = [[f"{x:g}", *(_digits(one.values[i]) for one in chart.series)] for i, x in enumerate(chart.x)]
    elif isinstance(chart, Bars):
        headers = [chart.xlabel if not chart.flat else chart.ylabel, *(one.name for one in chart.series)]
        rows = [[label, *(_digits(one.values[i]) for one in chart.series)] for i, label in enumerate(chart.labels)]
    elif isinstance(chart, Heat):
        headers = [f"{chart.ylabel} \N{RIGHTWARDS ARROW} {chart.xlabel}", *chart.names]
        rows = [[name, *map(_digits, row)] for name, row in zip(chart.names, chart.values, strict=True)]
    else:
        headers, rows = ["word", "way"], _ways(chart)
    return listed(f"{key}-numbers", chart.title, headers, rows)


def _digits(value: float | None) -> str | None:
    return None if value is None else f"{value:.6g}"


def _ways(chart: Network) -> list[list[object]]:
    return [
        [path.name, " \N{RIGHTWARDS ARROW} ".join(chart.names[node] for node in path.nodes)] for path in chart.paths
    ]
