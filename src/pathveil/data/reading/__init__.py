"""What files say, checked: words as codes of the public system, counts of transitions, and counts of equal words."""

from pathveil.data.reading.checking import SKIP_BAD_ROWS, Checker, OnBadRow, checker_for, no_word_to_release
from pathveil.data.reading.coded_words import CuratorWords, DistinctWords, read_coded_words
from pathveil.data.reading.count_columns import columns_like_counts
from pathveil.data.reading.moments import Beside
from pathveil.data.reading.opening import opened
from pathveil.data.reading.steps import CuratorSteps, StepColumns, read_steps
from pathveil.data.reading.transitions import CuratorCounts, PairColumns, WordTally, count_transitions
from pathveil.data.reading.user_limit import UserLimit, limit_for
from pathveil.data.reading.words import CheckedWords, check_words, checked_words, count_lengths, read_words

__all__ = [
    "SKIP_BAD_ROWS",
    "Beside",
    "CheckedWords",
    "Checker",
    "CuratorCounts",
    "CuratorSteps",
    "CuratorWords",
    "DistinctWords",
    "OnBadRow",
    "PairColumns",
    "StepColumns",
    "UserLimit",
    "WordTally",
    "check_words",
    "checked_words",
    "checker_for",
    "columns_like_counts",
    "count_lengths",
    "count_transitions",
    "limit_for",
    "no_word_to_release",
    "opened",
    "read_coded_words",
    "read_steps",
    "read_words",
]
