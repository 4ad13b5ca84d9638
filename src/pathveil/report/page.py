"""One self-contained HTML file: style, script and data are inside, and the page forbids itself anything from outside.

The content security policy names the hashes of the page's own style and script. So even if some text found a way out of
its element, a browser would not run it, and the page cannot load or send anything.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib import resources
from typing import Any

import pathveil
from pathveil.markup import Html, embedded_json, joined, table, tag
from pathveil.report.charts import Bars, Chart, Heat, Lines, Network, to_json


class Page:
    """A report that grows section by section. Charts that are added to it can also be drawn to files."""

    def __init__(self, title: str, lead: str, *, alarm: str | None = None, badge: str | None = None) -> None:
        self.title = title
        self.charts: dict[str, Chart] = {}
        self._lead, self._alarm, self._badge = lead, alarm, badge
        self._sections: list[Html] = []
        self._data: dict[str, Any] = {}
        self._scripts = ["charts.js"]

    def add(self, heading: str, *parts: object) -> None:
        """A section with a heading."""
        number = f"section-{len(self._sections) + 1}"
        self._sections.append(tag("section", tag("h2", heading, id=number), *parts, aria_labelledby=number))

    def chart(self, key: str, chart: Chart, *, drawn_by_script: bool = False) -> Html:
        """The place of a chart, with its numbers as a table for those who cannot or do not want to see it.

        `drawn_by_script`: the page's own script decides what is drawn there.
        """
        self.charts[key] = chart
        if not drawn_by_script:
            self._data.setdefault("charts", {})[key] = to_json(chart)
        numbers = None if drawn_by_script else _numbers(key, chart)
        return tag(
            "figure",
            tag("figcaption", chart.title),
            tag("div", class_="canvas"),
            numbers if numbers is None else tag("details", tag("summary", "The numbers as a table"), numbers),
            data_chart=key,
        )

    def script(self, name: str, **data: Any) -> None:
        """A further script from the package, and what it needs to know."""
        self._scripts.append(name)
        self._data.update(data)

    def render(self) -> str:
        """The whole file."""
        style = _asset("report.css")
        script = "".join(_asset(name) for name in self._scripts)
        allowed = f"style-src {_hash(style)}; script-src {_hash(script)}"
        policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
        alarm = None if self._alarm is None else tag("p", self._alarm, class_="alarm", role="alert")
        head = tag(
            "head",
            tag("meta", charset="utf-8"),
            tag("meta", http_equiv="Content-Security-Policy", content=policy),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", name="color-scheme", content="light dark"),
            tag("meta", name="referrer", content="no-referrer"),
            tag("title", self.title),
            tag("style", Html(style)),
        )
        body = tag(
            "body",
            tag("a", "Skip to the content", href="#content", class_="skip"),
            tag(
                "header",
                alarm,
                tag("h1", self.title),
                None if self._badge is None else tag("p", tag("span", self._badge, class_="badge")),
                tag("p", self._lead, class_="lead"),
                tag("noscript", tag("p", "The charts need JavaScript; all tables and texts are here without it.")),
            ),
            tag("main", *self._sections, id="content", tabindex="-1"),
            tag(
                "footer",
                tag("p", f"Written by PathVeil {pathveil.__version__}. This file loads nothing and sends nothing."),
            ),
            tag("script", embedded_json({"charts": {}, **self._data}), type="application/json", id="data"),
            tag("script", Html(script)),
            class_=None if self._alarm is None else "sensitive",
        )
        return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _asset(name: str) -> str:
    text = resources.files("pathveil.report").joinpath("assets", name).read_text(encoding="utf-8")
    if "</" in text:
        raise AssertionError(f"{name} could end the element that holds it")
    return text


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def scrolling(content: Html, label: str) -> Html:
    """Something wide that scrolls by itself, with the keyboard too, so that the page never does."""
    return tag("div", content, class_="scroll", tabindex="0", role="region", aria_label=label)


def copyable(key: str, caption: str, headers: Sequence[object], rows: Sequence[Sequence[object]]) -> Html:
    """A table with a button that copies it in a form that spreadsheets take."""
    button = tag("button", "Copy table", type="button", data_copy=key, aria_label=f"Copy table: {caption}")
    return joined([scrolling(table(caption, headers, rows, id=key), caption), tag("p", button)])


def paragraphs(texts: Sequence[str]) -> Html:
    return joined([tag("p", text) for text in texts])


def bullets(items: Sequence[object]) -> Html:
    return tag("ul", *(tag("li", item) for item in items))


def facts(listed: Sequence[tuple[str, object]]) -> Html:
    """Names and values, one below the other."""
    return tag("dl", *(joined([tag("dt", name), tag("dd", value)]) for name, value in listed), class_="facts")


def _numbers(key: str, chart: Chart) -> Html:
    """A chart's content as a table."""
    headers: list[object]
    rows: list[list[object]]
    if isinstance(chart, Lines):
        headers = [chart.xlabel, *(one.name for one in chart.series)]
        rows = [[f"{x:g}", *(one.values[i] for one in chart.series)] for i, x in enumerate(chart.x)]
    elif isinstance(chart, Bars):
        headers = [chart.xlabel if not chart.flat else chart.ylabel, *(one.name for one in chart.series)]
        rows = [[label, *(one.values[i] for one in chart.series)] for i, label in enumerate(chart.labels)]
    elif isinstance(chart, Heat):
        headers = [f"{chart.ylabel} \N{RIGHTWARDS ARROW} {chart.xlabel}", *chart.names]
        rows = [[name, *map(float, row)] for name, row in zip(chart.names, chart.values, strict=True)]
    else:
        headers, rows = ["word", "way"], _ways(chart)
    return copyable(f"{key}-numbers", chart.title, headers, rows)


def _ways(chart: Network) -> list[list[object]]:
    return [
        [path.name, " \N{RIGHTWARDS ARROW} ".join(chart.names[node] for node in path.nodes)] for path in chart.paths
    ]
