"""Charts as markup: what is drawn where, and that every name can be read."""

from __future__ import annotations

import re

import pytest

from pathveil.report.charts import Bars, Heat, Lines, Network, Path, Series
from pathveil.report.drawing import drawn
from pathveil.report.drawing.scales import scale_of, ticks_of

LONG = "Inform the customer that the requested upgrade was scheduled"


def attributes(text: str, element: str, wanted: str) -> list[dict[str, str]]:
    """The attributes of all elements of this kind whose class begins like this."""
    found = [dict(re.findall(r'([\w-]+)="([^"]*)"', one)) for one in re.findall(rf"<{element}( [^>]*)>", text)]
    return [one for one in found if one.get("class", "").startswith(wanted)]


@pytest.mark.parametrize(
    ("kind", "low", "high", "most", "ticks"),
    [
        ("linear", 0.0, 0.33, 5, [0.0, 0.1, 0.2, 0.3]),
        ("linear", 0.0, 12.0, 5, [0.0, 5.0, 10.0]),
        ("log", 0.25, 10.0, 7, [0.5, 1.0, 2.0, 5.0, 10.0]),
        ("log", 1e-5, 1.0, 6, [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0]),
    ],
)
def test_axes_have_round_numbers(kind, low, high, most, ticks) -> None:
    assert ticks_of(kind, low, high, most) == pytest.approx(ticks)
    places = [scale_of(kind, low, high)(tick) for tick in ticks]
    assert all(-1e-9 <= place <= 100 + 1e-9 for place in places)
    assert places == sorted(places)


def test_points_of_a_curve_lie_where_their_numbers_say() -> None:
    chart = Lines(
        "t", [1, 10, 100], [Series("a", [1.0, 3.0, None], 0), Series("b", [2.0, 0.0, 4.0], 1)], "x", "y", "log"
    )
    text = drawn(chart)
    curves = [one["points"] for one in attributes(text, "polyline", "curve")]
    assert curves == ["0.00,75.00 50.00,25.00", "0.00,50.00 50.00,100.00 100.00,0.00"]


def test_bars_are_as_high_as_their_numbers_and_long_names_are_written_in_full() -> None:
    standing = drawn(Bars("t", ["0", "1"], [Series("p", [0.2, 0.8])], "x", "y"))
    assert [one["height"] for one in attributes(standing, "rect", "bar")] == ["25.00%", "100.00%"]
    lying = drawn(Bars("t", [LONG, "<b>"], [Series("p", [1.0, 0.0])], "x", "y", flat=True))
    assert f"<span>{LONG}</span>" in lying
    assert "&lt;b&gt;" in lying


def test_a_heat_map_of_sixty_states_names_every_row_and_numbers_every_column() -> None:
    names = [f"{LONG} {i}" if i % 2 else f"step {i}" for i in range(60)]
    text = drawn(
        Heat("t", names, [[float(i == j) / 2 for j in range(60)] for i in range(60)], "to", "from", darkest=1.0)
    )
    cells = attributes(text, "rect", "cell")
    assert len(cells) == 60
    assert {one["fill-opacity"] for one in cells} == {"0.530"}, "half as dark as the darkest"
    for i in range(60):
        assert text.count(f">{i + 1}</text>") == 2
        assert i % 2 or f">step {i}</text>" in text


def test_arrows_point_along_edges_and_both_ways_where_both_are_possible() -> None:
    chart = Network(
        "t", ["a", "b", "c"], [0, 1, 0], [0, 0, 1], [(0, 1), (1, 0), (0, 2), (2, 2)], [Path("w", [0, 1], 0)]
    )
    text = drawn(chart)
    assert len(attributes(text, "line", "edge")) == 2
    heads = [one["points"].split()[0] for one in attributes(text, "polygon", "arrow")]
    assert len(heads) == 3
    nodes = {one["cx"]: one["cy"] for one in attributes(text, "circle", "node")}
    assert len(heads) == len(set(heads))
    assert 'data-nodes="0 1"' in text
    assert len(nodes) == 2, "a and c stand above each other"
