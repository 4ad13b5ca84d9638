"""When words begin and how long it takes from a symbol to the next: read, learned with noise, and drawn again."""

from pathveil.models.sequences.times.bins import DURATIONS, HOURS
from pathveil.models.sequences.times.learned import A_MONDAY, LearnedTimes, TimedWords, Times, checked_monday
from pathveil.models.sequences.times.learning import learn_times
from pathveil.models.sequences.times.moments import TimesKind, WordTimes

__all__ = [
    "A_MONDAY",
    "DURATIONS",
    "HOURS",
    "LearnedTimes",
    "TimedWords",
    "Times",
    "TimesKind",
    "WordTimes",
    "checked_monday",
    "learn_times",
]
