"""The curator's report: sensitive words against private ones. Everything here is for the curator only."""

from pathveil.report.curator.comparison import Comparison, compare, read_all
from pathveil.report.curator.page import curator_page
from pathveil.report.curator.sequences import sequence_page
from pathveil.report.curator.trips import add_map

__all__ = [
    "Comparison",
    "add_map",
    "compare",
    "curator_page",
    "read_all",
    "sequence_page",
]
