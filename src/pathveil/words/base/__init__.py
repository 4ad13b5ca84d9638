"""What all word mechanisms share: the base classes, batches of words, laws of errors, and tilts."""

from pathveil.words.base.batch import SameLength, Words, flat_words, take_cells
from pathveil.words.base.law import ErrorLaw, exponential_log_law, log_counts, log_sum, permute_and_flip_log_law
from pathveil.words.base.mechanism import (
    OnInfeasible,
    SameLengthMechanism,
    WordMechanism,
    checked_adjacency,
    checked_epsilon,
    hamming_distances,
)
from pathveil.words.base.tilt import LARGEST_TILT, doubt, linear_scores, share, tilt_factor
from pathveil.words.base.utility import HammingUtility, InverseUtility, Utility

__all__ = [
    "LARGEST_TILT",
    "ErrorLaw",
    "HammingUtility",
    "InverseUtility",
    "OnInfeasible",
    "SameLength",
    "SameLengthMechanism",
    "Utility",
    "WordMechanism",
    "Words",
    "checked_adjacency",
    "checked_epsilon",
    "doubt",
    "exponential_log_law",
    "flat_words",
    "hamming_distances",
    "linear_scores",
    "log_counts",
    "log_sum",
    "permute_and_flip_log_law",
    "share",
    "take_cells",
    "tilt_factor",
]
