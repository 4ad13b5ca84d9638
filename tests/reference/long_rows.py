"""A long table read in the obvious way: everything in memory, Python's own parser for times, Python's stable sort."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any


def words_of_rows(rows: Sequence[tuple[str, str, str]], key: Callable[[str], Any]) -> dict[str, list[str]]:
    """The words of (case, order, symbol) rows, by case; rows that are equal stay as they stand."""
    words: dict[str, list[str]] = {}
    for case, _, symbol in sorted(rows, key=lambda row: key(row[1])):
        words.setdefault(case, []).append(symbol)
    return words


def time_key(time_format: str) -> Callable[[str], datetime]:
    """A key that sorts texts as the times that they stand for."""
    return lambda text: datetime.strptime(text, time_format)
