"""Private models of whole words: how they begin, what follows what, how they end, how long they are."""

from pathveil.models.sequences.coded_words import CodedWords
from pathveil.models.sequences.fit import fit_private_sequences
from pathveil.models.sequences.frequent import find_frequent as look_for_frequent
from pathveil.models.sequences.groups import PrivateSequencesByGroup, fit_private_sequences_by_group, is_by_group
from pathveil.models.sequences.private_sequences import PrivateSequences
from pathveil.models.sequences.request import Order, Unit, checked_request
from pathveil.models.sequences.sequence_file import is_sequences
from pathveil.models.sequences.times import A_MONDAY, Times, TimesKind, WordTimes
from pathveil.models.sequences.utility import (
    Comparison,
    PartForecast,
    SequencesForecast,
    SideBySide,
    WordStatistics,
    compare,
    forecast_sequences,
    side_by_side,
)

__all__ = [
    "A_MONDAY",
    "CodedWords",
    "Comparison",
    "Order",
    "PartForecast",
    "PrivateSequences",
    "PrivateSequencesByGroup",
    "SequencesForecast",
    "SideBySide",
    "Times",
    "TimesKind",
    "Unit",
    "WordStatistics",
    "WordTimes",
    "checked_request",
    "compare",
    "fit_private_sequences",
    "fit_private_sequences_by_group",
    "forecast_sequences",
    "is_by_group",
    "is_sequences",
    "look_for_frequent",
    "side_by_side",
]
