"""The largest change of log Z over one run of symbols, by branch and bound over what stands around the run."""

from pathveil.words.certificate.search.all_words import AllWords
from pathveil.words.certificate.search.branch_and_bound import BranchAndBound, Outcome
from pathveil.words.certificate.search.concrete_words import WordLengths
from pathveil.words.certificate.search.context_tree import ContextTree
from pathveil.words.certificate.search.free_walks import LARGEST_FREE, free_box

__all__ = ["LARGEST_FREE", "AllWords", "BranchAndBound", "ContextTree", "Outcome", "WordLengths", "free_box"]
