"""What files say, checked: words as codes of the public system, counts of transitions, and public systems."""

from pathveil.data.reading.checking import Checker, OnBadRow, checker_for, no_word_to_release
from pathveil.data.reading.opening import opened
from pathveil.data.reading.system_files import (
    read_alphabet,
    read_automaton,
    read_chain,
    read_coordinates,
    read_edges,
    read_length_counts,
    read_model,
    read_row_sizes,
    read_successors,
    read_support,
)
from pathveil.data.reading.transitions import CuratorCounts, PairColumns, WordTally, count_transitions
from pathveil.data.reading.words import CheckedWords, check_words, count_lengths, read_words

__all__ = [
    "CheckedWords",
    "Checker",
    "CuratorCounts",
    "OnBadRow",
    "PairColumns",
    "WordTally",
    "check_words",
    "checker_for",
    "count_lengths",
    "count_transitions",
    "no_word_to_release",
    "opened",
    "read_alphabet",
    "read_automaton",
    "read_chain",
    "read_coordinates",
    "read_edges",
    "read_length_counts",
    "read_model",
    "read_row_sizes",
    "read_successors",
    "read_support",
    "read_words",
]
