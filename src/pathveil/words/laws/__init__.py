"""Laws of errors without tables of error classes, for systems and words that are too large for them."""

from pathveil.words.laws.exponential import exponential_law, permute_and_flip_law
from pathveil.words.laws.generating import classes_are_cheap
from pathveil.words.laws.online import online_law

__all__ = ["classes_are_cheap", "exponential_law", "online_law", "permute_and_flip_law"]
