"""The picture of the house: which room uses which, drawn from the imports. `python -m tests.house --picture` writes it.

It says only whether one room uses another, not how often, so that it changes when the house does and not with every
import. Type checkers' imports do not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests import house

FILE = Path(__file__).parent.parent / "docs" / "development" / "rooms.svg"

_LABELS, _HEADERS, _CELL, _EDGE = 410, 90, 28, 12


def used_rooms() -> dict[str, set[str]]:
    """For each room, in the order of the house, the rooms that its files import."""
    existing = {house.room_of(name) for name in house.files()}
    uses: dict[str, set[str]] = {room: set() for room in house.ORDER if room in existing}
    for one in house.run_time(house.imports()):
        here, there = house.room_of(one.importer), house.room_of(one.imported)
        if here and there and here != there:
            uses[here].add(there)
    return uses


def drawing() -> str:
    """An SVG: one row and one column for each room, and a dot where the room of the row uses that of the column."""
    uses = used_rooms()
    width = 2 * _EDGE + _LABELS + _CELL * len(uses)
    height = 2 * _EDGE + _HEADERS + _CELL * len(uses)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">',
            "<title>Which room of PathVeil uses which</title>",
            f'<rect width="{width}" height="{height}" fill="white"/>',
            *_headers(list(uses)),
            *(line for row, (room, used) in enumerate(uses.items()) for line in _row(row, room, used, list(uses))),
            "</svg>\n",
        ]
    )


def _headers(rooms: list[str]) -> Iterator[str]:
    y = _EDGE + _HEADERS - 8
    for column, room in enumerate(rooms):
        x = _EDGE + _LABELS + _CELL * column + _CELL // 2
        yield f'<text x="{x}" y="{y}" transform="rotate(-55 {x} {y})" font-size="13" fill="#333">{room}</text>'


def _row(row: int, room: str, used: set[str], rooms: list[str]) -> Iterator[str]:
    y, left = _EDGE + _HEADERS + _CELL * row, _EDGE + _LABELS
    middle = y + _CELL // 2
    if row % 2 == 0:
        yield f'<rect x="{_EDGE}" y="{y}" width="{_LABELS + _CELL * len(rooms)}" height="{_CELL}" fill="#f3f3f7"/>'
    yield f'<text x="{_EDGE + 6}" y="{middle + 5}" font-size="14" font-weight="bold" fill="#222">{room}</text>'
    inside = [name.rpartition(".")[2] for name in house.subrooms() if name.split(".")[1] == room]
    yield f'<text x="{_EDGE + 104}" y="{middle + 4}" font-size="11" fill="#666">{" · ".join(inside)}</text>'
    for column, other in enumerate(rooms):
        x = left + _CELL * column + _CELL // 2
        if other == room:
            yield f'<rect x="{x - 9}" y="{middle - 9}" width="18" height="18" fill="#c5cae9"/>'
        elif other in used:
            yield f'<circle cx="{x}" cy="{middle}" r="5" fill="#3f51b5"/>'
