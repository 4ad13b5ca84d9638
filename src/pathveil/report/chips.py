"""Words as people read them: one chip for each symbol, with its whole name; lines break between chips.

Colours help to find a symbol again, and never say anything that the text does not say. A wrong symbol has a sign in
front and a broken border.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pathveil.markup import Html, name_of, tag
from pathveil.report.alignment import MISSING, Place
from pathveil.systems.system import Symbol

LONGEST = 40
"""Symbols of a word that are shown."""

WRONG = "≠"
"""What stands before a wrong symbol."""

_COLOURS = 8


def word_chips(symbols: Sequence[Symbol], codes: Sequence[int], who: str | None = None) -> Html:
    """A word, from the codes of its symbols; `who` is a name in front of it."""
    return place_chips(symbols, [(code, False) for code in codes], who)


def place_chips(symbols: Sequence[Symbol], places: Sequence[Place], who: str | None = None) -> Html:
    """A private word beside the true one, with its wrong symbols marked."""
    name = None if who is None else tag("span", who, class_="who")
    shown: Iterable[object] = (_chip(symbols, *place) for place in places[:LONGEST])
    more = len(places) - LONGEST
    return tag("span", name, *shown, f"… and {more:,} more" if more > 0 else None, class_="word")


def _chip(symbols: Sequence[Symbol], code: int | None, wrong: bool) -> Html:
    name = MISSING if code is None else name_of(symbols[code])
    colour = "" if code is None else f" c{code % _COLOURS}"
    sign = tag("span", WRONG, class_="sign") if wrong else None
    return tag("span", sign, name, class_=f"chip{colour}{' wrong' if wrong else ''}")
