"""How far apart symbols are: a public metric, and its costs in whole steps."""

from pathveil.systems.symbol_distance.distance import Closeness, Costs, SymbolDistance

__all__ = ["Closeness", "Costs", "SymbolDistance"]
