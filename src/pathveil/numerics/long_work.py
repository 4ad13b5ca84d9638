"""A message before work that takes long: how much longer it will take, judged by the parts that are done.

Messages go to the logger `pathveil`, which prints them unless it is told otherwise. Nothing but messages depends on
the clock.
"""

from __future__ import annotations

import logging
import time

_LONG = 10.0  # seconds that nobody should have to wait for without knowing


class LongWork:
    """Work of so many parts, which take about as long as each other.

    `seconds` is an estimate of the whole, where there is one before anything is done. `advice` says what would take
    less time.
    """

    def __init__(self, what: str, parts: int, *, seconds: float = 0.0, advice: str = "") -> None:
        self._what = what
        self._parts = parts
        self._advice = advice
        self._done = 0
        self._said = False
        self._begun = time.monotonic()
        self._say(seconds)

    def part_done(self) -> None:
        """One part of the work is done."""
        self._done += 1
        self._say((time.monotonic() - self._begun) / self._done * (self._parts - self._done))

    def _say(self, seconds: float) -> None:
        if seconds <= _LONG or self._said:
            return
        self._said = True
        more = " more" if self._done else ""
        how_long = f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"
        advice = f"; {self._advice}" if self._advice else ""
        logging.getLogger("pathveil").warning("%s will take about %s%s%s", self._what, how_long, more, advice)
