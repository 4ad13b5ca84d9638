"""HTML that is safe by construction: whatever is not marked as markup is escaped.

Symbols, file names and column names come from files that anybody may have written. They only ever get onto a page
through `tag`, which leaves no way out of the text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

_NUMBER = re.compile(r"(below |practically )?[+-]?[\d,.]+(e[+-]?\d+)?%?")
_LONG = 40  # characters of a cell beyond which it may break into lines
_VOID = frozenset({"input", "meta", "br"})
# Control characters have no place in HTML; tab and newline are white space.
_CONTROLS = dict.fromkeys((*range(9), 11, *range(13, 32), *range(127, 160)), "�")


class Html(str):
    """Text that is markup already. Made by `tag` and its like only."""


def text_of(value: object) -> str:
    """A value as text that every page can hold: half characters and control characters are made visible."""
    return str(value).encode("utf-8", "backslashreplace").decode("utf-8").translate(_CONTROLS)


def name_of(symbol: object) -> str:
    """A symbol as people read it; one that would be invisible gets a sign."""
    text = text_of(symbol)
    return text if text.strip() else "␣" * max(1, len(text))


def escaped(value: object) -> Html:
    """Markup stays as it is; anything else becomes text."""
    return value if isinstance(value, Html) else Html(html.escape(text_of(value), quote=True))


def tag(name: str, /, *children: object, **attributes: object) -> Html:
    """An element. `class_` is the attribute class, `data_x` is data-x; True is a bare attribute, None leaves it out.

    >>> tag("p", "a < b", class_="note")
    '<p class="note">a &lt; b</p>'
    """
    parts = [name]
    for key, value in attributes.items():
        label = key.rstrip("_").replace("_", "-")
        if value is True:
            parts.append(label)
        elif value is not None and value is not False:
            parts.append(f'{label}="{escaped(str(value))}"')
    opening = f"<{' '.join(parts)}>"
    if name in _VOID:
        return Html(opening)
    return Html(f"{opening}{joined(children)}</{name}>")


def joined(children: Iterable[object]) -> Html:
    """Several pieces, one after the other."""
    return Html("".join(escaped(child) for child in children if child is not None))


def table(caption: str, headers: Sequence[object], rows: Iterable[Sequence[object]], **attributes: object) -> Html:
    """A table whose first column names its rows. Numbers are set to the right."""
    rows = [list(row) for row in rows]
    first = rows[0] if rows else [""] * len(headers)
    head = tag(
        "tr",
        *(
            tag("th", header, scope="col", class_="number" if i and _is_number(first[i : i + 1]) else None)
            for i, header in enumerate(headers)
        ),
    )
    body = [tag("tr", tag("th", row[0], scope="row"), *(_cell(value) for value in row[1:])) for row in rows]
    return tag("table", tag("caption", caption), tag("thead", head), tag("tbody", *body), **attributes)


def _is_number(cells: Sequence[object]) -> bool:
    """Whether all of these are numbers, or texts of a number or a percentage."""
    return bool(cells) and all(
        (isinstance(one, int | float) and not isinstance(one, bool))
        or (type(one) is str and _NUMBER.fullmatch(one) is not None)
        for one in cells
    )


def _cell(value: object) -> Html:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return tag("td", short(value), class_="number")
    if _is_number([value]):
        return tag("td", value, class_="number")
    shown = "–" if value is None else value
    return tag("td", shown, class_="long" if len(str(shown)) > _LONG and not isinstance(shown, Html) else None)


def short(value: float) -> str:
    """A number as people read it: whole numbers in full, others with three digits."""
    if isinstance(value, int) or (abs(value) >= 1000 and float(value).is_integer()):
        return f"{value:,.0f}"
    return f"{value:.3g}" if value == 0 or abs(value) >= 0.001 else f"{value:.1e}"


def card(title: str, facts: Iterable[tuple[str, object]], *more: object) -> Html:
    """How an object shows itself in a notebook: a name, a few facts, and what else there is."""
    listed = [tag("tr", tag("th", name, style="text-align:left"), tag("td", value)) for name, value in facts]
    styled = tag("table", tag("tbody", *listed), style="text-align:left")
    return tag("div", tag("p", tag("strong", title)), styled, *more)
