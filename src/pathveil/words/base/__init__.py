"""What all word mechanisms share: the base classes, batches of words, laws of errors, and tilts."""

from pathveil.words.base.batch import Batch, SameLength, flat_words, take_cells
from pathveil.words.base.doubt import draw_block, rounding_margin
from pathveil.words.base.law import (
    ErrorLaw,
    LazyLaw,
    exponential_log_law,
    log_counts,
    log_sum,
    permute_and_flip_log_law,
)
from pathveil.words.base.mechanism import (
    OnInfeasible,
    Progress,
    SameLengthMechanism,
    WordMechanism,
    checked_epsilon,
    checked_positive_integer,
    hamming_distances,
)
from pathveil.words.base.tilt import LARGEST_TILT, largest_part, linear_scores, tilt_factor
from pathveil.words.base.utility import HammingUtility, InverseUtility, Utility

__all__ = [
    "LARGEST_TILT",
    "Batch",
    "ErrorLaw",
    "HammingUtility",
    "InverseUtility",
    "LazyLaw",
    "OnInfeasible",
    "Progress",
    "SameLength",
    "SameLengthMechanism",
    "Utility",
    "WordMechanism",
    "checked_epsilon",
    "checked_positive_integer",
    "draw_block",
    "exponential_log_law",
    "flat_words",
    "hamming_distances",
    "largest_part",
    "linear_scores",
    "log_counts",
    "log_sum",
    "permute_and_flip_log_law",
    "rounding_margin",
    "take_cells",
    "tilt_factor",
]
