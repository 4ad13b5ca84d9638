"""What can be read from the text of a report."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path


@dataclass
class Table:
    """A table of a page: its caption, its headers and its rows, all as text."""

    caption: str = ""
    rows: list[list[str]] = field(default_factory=list)

    @property
    def headers(self) -> list[str]:
        return self.rows[0]

    @property
    def body(self) -> list[list[str]]:
        return self.rows[1:]

    def column(self, name: str) -> list[str]:
        return [row[self.headers.index(name)] for row in self.body]

    def numbers(self, name: str) -> dict[str, float]:
        """A column of numbers by the names of the rows."""
        return {row[0]: float(row[self.headers.index(name)]) for row in self.body}


class Content(HTMLParser):
    """The words of a page, without its style; which elements it has; its tables; and what it points to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.addresses: list[str] = []
        self.attributes: set[str] = set()
        self.tables: dict[str, Table] = {}
        self.figures: list[tuple[str, str]] = []
        self._parts: list[str] = []
        self._inside: list[str] = []
        self._table = Table()
        self._into: list[str] | None = None
        self.feed(path.read_text(encoding="utf-8"))
        self.close()
        self.text = " ".join(" ".join(self._parts).split())

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        known = dict(attributes)
        self.elements.append(name)
        self.attributes |= known.keys()
        self.addresses += [value or "" for key, value in attributes if key in ("href", "src", "action", "style")]
        if name in ("style", "script"):
            self._inside.append(name)
        if name == "table":
            self._table = self.tables[known.get("id") or ""] = Table()
        elif name == "tr":
            self._table.rows.append([])
        elif name in ("th", "td", "caption"):
            self._into = []
        elif "data-figure" in known:
            self._into = []
            self.figures.append((str(known["data-figure"]), ""))

    def handle_endtag(self, name: str) -> None:
        if self._inside and self._inside[-1] == name:
            self._inside.pop()
        if name in ("th", "td", "caption") and self._into is not None:
            text, self._into = " ".join("".join(self._into).split()), None
            if name == "caption":
                self._table.caption = text
            else:
                self._table.rows[-1].append(text)
        elif name == "strong" and self.figures and not self.figures[-1][1] and self._into is not None:
            self.figures[-1], self._into = (self.figures[-1][0], "".join(self._into)), None

    def handle_data(self, data: str) -> None:
        if not self._inside:
            self._parts.append(data)
            if self._into is not None:
                self._into.append(data)


def table_of(path: Path, name: str) -> Table:
    """One table of a page."""
    return Content(path).tables[name]


def charts_of(path: Path) -> dict[str, Table]:
    """The numbers of every chart of a page."""
    suffix = "-numbers"
    return {name.removesuffix(suffix): one for name, one in Content(path).tables.items() if name.endswith(suffix)}
