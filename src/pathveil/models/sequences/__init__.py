"""Private models of whole words: how they begin, what follows what, how they end, how long they are."""

from pathveil.models.sequences.coded_words import CodedWords
from pathveil.models.sequences.fit import fit_private_sequences
from pathveil.models.sequences.private_sequences import PrivateSequences

__all__ = ["CodedWords", "PrivateSequences", "fit_private_sequences"]
