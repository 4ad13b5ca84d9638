"""When words begin and how long it takes from a symbol to the next: read, learned with noise, and drawn again."""

from pathveil.models.sequences.times.learning import learn_times
from pathveil.models.sequences.times.learned import LearnedTimes, TimedWords
from pathveil.models.sequences.times.moments import TimesKind, WordTimes

__all__ = ["LearnedTimes", "TimedWords", "TimesKind", "WordTimes", "learn_times"]
