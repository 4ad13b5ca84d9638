"""What a promise protects, as values that can be compared.

A *unit* is a set of pairs: two inputs that a release must make hard to tell apart. Promises about different units can
be compared in two ways (docs/ledger.md, "One budget, one unit").

- A unit *covers* another if it compares every pair that the other compares: its promise is then a promise about the
  other, too. Three symbols cover one symbol; a whole word covers any number of its symbols.
- A unit is *within j steps* of a wider one if any pair of the wider one is joined by a chain of j of its own pairs. The
  loss at the end of the chain is at most the sum of the losses along it. A word of three symbols is three steps of one
  symbol.

`Unit.route_to` says how far it is. The family is open: a new kind of release brings a class of its own, which knows the
units that it reaches (`words`: symbols, edits and whole words; `people`: all words of a person; `records`: what models
protect) and a place in `kinds`. Whatever a class does not know is refused, never guessed.

All units compare only inputs that agree in what the releases take as public. In particular, a release that is made on a
public system compares words that this system allows.
"""

from pathveil.privacy.units.kinds import unit_from_dict
from pathveil.privacy.units.people import User, UserSymbols
from pathveil.privacy.units.records import Episode, Exchange, Mass, Record, Step, Transition
from pathveil.privacy.units.unit import LARGEST_NUMBER, Known, Neighbours, Person, Route, Unit
from pathveil.privacy.units.words import Edits, MovedSymbols, SameLength, Symbols, Word

__all__ = [
    "LARGEST_NUMBER",
    "Edits",
    "Episode",
    "Exchange",
    "Known",
    "Mass",
    "MovedSymbols",
    "Neighbours",
    "Person",
    "Record",
    "Route",
    "SameLength",
    "Step",
    "Symbols",
    "Transition",
    "Unit",
    "User",
    "UserSymbols",
    "Word",
    "unit_from_dict",
]
