"""A square of shades. Rows have a number and a name, columns the number: so names may be long, and all can be read."""

from __future__ import annotations

from textwrap import wrap

from pathveil.markup import Html, joined, short, tag
from pathveil.report.charts import Heat
from pathveil.report.drawing.frame import scrolling

_SIZES = ((12, 30.0), (24, 24.0), (60, 19.0), (100_000, 6.0))
"""Up to so many states, a square has so many pixels."""

_NAMED = 60
_LETTER = 6.6  # pixels, at 12 pixels of height
_WIDEST = 26  # letters of a line; names get two


def drawn_heat(chart: Heat) -> Html:
    """Not scaled: where there is no room for it, it scrolls."""
    n = len(chart.names)
    cell = next(size for most, size in _SIZES if n <= most)
    named = n <= _NAMED
    labels = [_lines(name, 2 if cell >= 24 else 1) for name in chart.names] if named else []
    digits = len(str(n)) * 8
    left = 12 + digits + _LETTER * max((len(line) for lines in labels for line in lines), default=0) if named else 2
    top = 42.0 if named else 22.0
    parts: list[object] = [tag("text", f"{chart.ylabel}: rows, {chart.xlabel}: columns", x=2, y=14, class_="tick")]
    parts += [_name(i, lines, left - 6, top + (i + 0.5) * cell) for i, lines in enumerate(labels)]
    if named:
        parts += [
            tag("text", i + 1, x=f"{left + (i + 0.5) * cell:.1f}", y=top - 6, text_anchor="middle", class_="tick")
            for i in range(n)
        ]
    for i, row in enumerate(chart.values):
        parts += [
            tag(
                "rect",
                tag("title", f"{chart.names[i]} → {chart.names[j]}: {short(value)}"),
                class_="cell",
                x=f"{left + j * cell:.1f}",
                y=f"{top + i * cell:.1f}",
                width=cell,
                height=cell,
                fill_opacity=f"{0.06 + 0.94 * min(value / chart.top, 1):.3f}",
            )
            for j, value in enumerate(row)
            if value > 0
        ]
    grid = "".join(f"M{left:.1f} {top + i * cell:.1f}h{n * cell:g}" for i in range(0, n + 1, 5 if n > 12 else 1))
    grid += "".join(f"M{left + i * cell:.1f} {top:.1f}v{n * cell:g}" for i in range(0, n + 1, 5 if n > 12 else 1))
    parts.append(tag("path", d=grid, class_="grid"))
    wide, high = f"{left + n * cell + 4:.0f}", f"{top + n * cell + 4:.0f}"
    picture = tag(
        "svg", *parts, role="img", aria_label=chart.title, class_="fixed", width=wide, height=high,
        viewBox=f"0 0 {wide} {high}",
    )  # fmt: skip
    scale = tag(
        "p", f"Darkest: {short(chart.top)}. The row and the column of a state have the same number.", class_="soft"
    )
    return joined([scrolling(picture, chart.title), scale])


def _lines(name: str, most: int) -> list[str]:
    """A name in as many lines at most; what does not fit is in the table of numbers."""
    lines = wrap(name, _WIDEST) or [name]
    return lines if len(lines) <= most else [*lines[: most - 1], f"{lines[most - 1][: _WIDEST - 1]}…"]


def _name(i: int, lines: list[str], right: float, middle: float) -> Html:
    first = middle - 6.5 * (len(lines) - 1) + 4
    texts = [
        tag("text", line, x=f"{right:.1f}", y=f"{first + 13 * k:.1f}", text_anchor="end", class_="tick")
        for k, line in enumerate(lines)
    ]
    return joined([tag("text", i + 1, x=2, y=f"{middle + 4:.1f}", class_="tick quiet"), *texts])
