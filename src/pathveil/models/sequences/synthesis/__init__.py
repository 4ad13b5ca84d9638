"""Synthetic words: the law of the words of a model, and words of it that begin or end as somebody wants."""

from pathveil.models.sequences.synthesis.condition import Condition
from pathveil.models.sequences.synthesis.law import WordLaw

__all__ = ["Condition", "WordLaw"]
