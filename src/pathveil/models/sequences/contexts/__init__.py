"""The tree of contexts: what can follow what, which contexts have a row, and how likely what follows them is."""

from pathveil.models.sequences.contexts.estimating import Estimate, Measured, drawn_to_expected, estimate
from pathveil.models.sequences.contexts.grammar import MOST_CELLS, Grammar
from pathveil.models.sequences.contexts.tree import NONE, ContextTree

__all__ = ["MOST_CELLS", "NONE", "ContextTree", "Estimate", "Grammar", "Measured", "drawn_to_expected", "estimate"]
