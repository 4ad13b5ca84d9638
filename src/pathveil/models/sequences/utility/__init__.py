"""What a model of sequences is worth: forecast before any data are read; for the curator, compared afterwards."""

from pathveil.models.sequences.utility.beside_original import SideBySide, side_by_side
from pathveil.models.sequences.utility.comparison import Comparison, WordStatistics, compare
from pathveil.models.sequences.utility.forecast import PartForecast, SequencesForecast, forecast_sequences
from pathveil.models.sequences.utility.without_privacy import FitWithoutPrivacy, fit_without_privacy

__all__ = [
    "Comparison",
    "FitWithoutPrivacy",
    "PartForecast",
    "SequencesForecast",
    "SideBySide",
    "WordStatistics",
    "compare",
    "fit_without_privacy",
    "forecast_sequences",
    "side_by_side",
]
