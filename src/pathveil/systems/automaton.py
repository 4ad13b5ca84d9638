"""Finite automata: the words that lead from the start to an accepting state.

A nondeterministic automaton may have several runs for one word. Counting runs would count that word several times
and give it too much probability, so the automaton is made deterministic first (subset construction).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pathveil.errors import InvalidSystemError
from pathveil.systems.compiled import CompiledSystem
from pathveil.systems.system import Symbol, System, as_set, in_natural_order, unique_symbols

if TYPE_CHECKING:
    import networkx

State = Hashable


class Automaton(System):
    """The language of a nondeterministic finite automaton.

    `moves` maps (state, symbol) to the collection of states that may follow. `initial` is one state or several,
    `accepting` likewise; None accepts in every state.

    >>> import pathveil as pv
    >>> ends_in_ab = pv.Automaton({(0, "a"): {0, 1}, (0, "b"): {0}, (1, "b"): {2}}, initial=0, accepting=2)
    >>> ends_in_ab.count(4), ends_in_ab.is_feasible("bbab")
    (4, True)
    """

    def __init__(
        self,
        moves: Mapping[tuple[State, Symbol], Iterable[State]],
        initial: Any,
        accepting: Any = None,
    ) -> None:
        self.moves = {key: _as_targets(key, targets) for key, targets in moves.items()}
        self.symbols = unique_symbols(in_natural_order(symbol for _, symbol in self.moves))
        named = [state for state, _ in self.moves] + [s for targets in self.moves.values() for s in targets]
        self.states = unique_symbols(in_natural_order(named), "states")
        self.initial = as_set(initial, self.states, "initial")
        self.accepting = as_set(self.states if accepting is None else accepting, self.states, "accepting")
        if not any(subset & self.accepting for subset in self.subsets):
            raise InvalidSystemError(
                "accepting: no accepting state can be reached from the initial state, so no word is feasible"
            )

    @cached_property
    def subsets(self) -> tuple[frozenset[State], ...]:
        """The states of the deterministic automaton: sets of states that some word reaches together."""
        return tuple(self._deterministic)

    @cached_property
    def _deterministic(self) -> dict[frozenset[State], dict[Symbol, frozenset[State]]]:
        outgoing: dict[State, list[tuple[Symbol, frozenset[State]]]] = {}
        for (state, symbol), targets in self.moves.items():
            outgoing.setdefault(state, []).append((symbol, targets))
        found: dict[frozenset[State], dict[Symbol, frozenset[State]]] = {}
        waiting = [self.initial]
        while waiting:
            subset = waiting.pop()
            if subset in found:
                continue
            reached: dict[Symbol, frozenset[State]] = {}
            for state in subset:
                for symbol, targets in outgoing.get(state, ()):
                    if targets:
                        reached[symbol] = reached.get(symbol, frozenset()) | targets
            found[subset] = reached
            waiting.extend(reached.values())
        return found

    @property
    def state_names(self) -> tuple[Hashable, ...]:
        """The subsets: states of the deterministic automaton."""
        return self.subsets

    def _compile(self) -> CompiledSystem:
        number = {subset: i for i, subset in enumerate(self.subsets)}
        edges = (
            (number[subset], self._codes[symbol], number[target])
            for subset, reached in self._deterministic.items()
            for symbol, target in reached.items()
        )
        accepting = np.array([bool(subset & self.accepting) for subset in self.subsets])
        return CompiledSystem.from_edges(len(self.symbols), number[self.initial], edges, accepting)

    def to_networkx(self) -> networkx.MultiDiGraph[Any]:
        """The automaton as it was given, one edge for each (state, symbol, next state)."""
        import networkx

        graph: networkx.MultiDiGraph[Any] = networkx.MultiDiGraph()
        for state in self.states:
            graph.add_node(state, initial=state in self.initial, accepting=state in self.accepting)
        for (state, symbol), targets in self.moves.items():
            graph.add_edges_from((state, target, {"symbol": symbol}) for target in targets)
        return graph

    def __repr__(self) -> str:
        return (
            f"Automaton({len(self.states)} states, {len(self.symbols)} symbols; "
            f"{len(self.subsets)} states when made deterministic)"
        )


def _as_targets(key: Any, targets: Any) -> frozenset[State]:
    if not isinstance(key, tuple) or len(key) != 2:
        raise InvalidSystemError(f"moves: the key {key!r} is not a pair (state, symbol)")
    if isinstance(targets, str) or not isinstance(targets, Iterable):
        raise InvalidSystemError(
            f"moves: {key!r} leads to {targets!r}, which is not a collection of states; write {{{targets!r}}} for one"
        )
    return frozenset(targets)
