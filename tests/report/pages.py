"""What can be read from the text of a report."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any


def data_of(path: Path) -> dict[str, Any]:
    """The data that a page hands to its script."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', path.read_text(encoding="utf-8"))
    assert found is not None
    return json.loads(found[1])


class Content(HTMLParser):
    """The words of a page, without style and scripts; which elements it has; and what it points to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.addresses: list[str] = []
        self._parts: list[str] = []
        self._inside: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))
        self.close()
        self.text = " ".join(" ".join(self._parts).split())

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append(name)
        self.addresses += [value or "" for key, value in attributes if key in ("href", "src", "action", "style")]
        if name in ("style", "script"):
            self._inside.append(name)

    def handle_endtag(self, name: str) -> None:
        if self._inside and self._inside[-1] == name:
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        if not self._inside:
            self._parts.append(data)
