"""Times of words, counted one by one with the calendar of the standard library. Slow and literal.

Data are a list of (word, times): a text, and a datetime for each of its symbols.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime

TimedWord = tuple[str, tuple[datetime, ...]]


def hours(data: list[TimedWord]) -> Counter[int]:
    """In which hour of the week words begin."""
    return Counter(times[0].weekday() * 24 + times[0].hour for _, times in data)


def duration_bin(seconds: float) -> int:
    """0 below one second, then a bin for each doubling, up to 23."""
    found = 0
    while seconds >= 1 and found < 23:
        seconds /= 2
        found += 1
    return found


def durations(data: list[TimedWord], max_length: int, counted: int) -> Counter[tuple[str, int]]:
    """How long it took from a symbol to the next: the first `counted` of each word, which is cut."""
    found: Counter[tuple[str, int]] = Counter()
    for word, times in data:
        gaps = [(times[i + 1] - times[i]).total_seconds() for i in range(len(times[:max_length]) - 1)]
        found.update((word[i], duration_bin(gap)) for i, gap in enumerate(gaps[:counted]))
    return found
