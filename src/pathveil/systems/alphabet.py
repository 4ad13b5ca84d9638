"""The simplest system: every word over the symbols is feasible."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from pathveil.systems.compiled import CompiledSystem
from pathveil.systems.system import Symbol, System, unique_symbols

if TYPE_CHECKING:
    import networkx


class Alphabet(System):
    """All words over the given symbols.

    >>> import pathveil as pv
    >>> world = pv.Alphabet("abc")
    >>> world.count(4), world.is_feasible("abba"), world.is_feasible("abbd")
    (81, True, False)
    """

    def __init__(self, symbols: Iterable[Symbol]) -> None:
        self.symbols = unique_symbols(symbols)

    @property
    def state_names(self) -> tuple[Hashable, ...]:
        """One state, which carries no information."""
        return (None,)

    def _compile(self) -> CompiledSystem:
        m = len(self.symbols)
        return CompiledSystem(
            symbol_count=m,
            start=0,
            offsets=np.array([0, m], dtype=np.int64),
            labels=np.arange(m, dtype=np.int64),
            targets=np.zeros(m, dtype=np.int64),
            accepting=np.ones(1, dtype=bool),
        )

    def to_networkx(self) -> networkx.MultiDiGraph[Any]:
        """One node with a loop for each symbol."""
        import networkx

        graph: networkx.MultiDiGraph[Any] = networkx.MultiDiGraph()
        graph.add_edges_from((0, 0, {"symbol": symbol}) for symbol in self.symbols)
        return graph

    def __repr__(self) -> str:
        return f"Alphabet({len(self.symbols)} symbols)"
