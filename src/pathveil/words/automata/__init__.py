"""The automata of the papers and their pictures, for readers of the papers and for checking by eye."""

from pathveil.words.automata.distance import DistanceAutomaton
from pathveil.words.automata.edit import EditAutomaton

__all__ = [
    "DistanceAutomaton",
    "EditAutomaton",
]
