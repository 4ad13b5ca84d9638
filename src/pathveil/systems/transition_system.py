"""Deterministic transition systems: a word is a plan, the sequence of actions that drives the system."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pathveil.errors import InvalidSystemError
from pathveil.systems.compiled import CompiledSystem
from pathveil.systems.system import Symbol, System, Word, as_set, numbered

if TYPE_CHECKING:
    import networkx

State = Hashable


class TransitionSystem(System):
    """The plans of a deterministic transition system (LEV, Definitions 4 and 5).

    `moves` maps (state, action) to the next state. A plan is feasible if every action is possible in its turn and
    the last state is accepting; `accepting=None` accepts everywhere.

    >>> import pathveil as pv
    >>> lift = pv.TransitionSystem({(1, "up"): 2, (2, "down"): 1, (2, "up"): 3, (3, "down"): 2}, initial=1)
    >>> lift.count(3), lift.run(["up", "up", "down"])
    (2, (1, 2, 3, 2))
    """

    def __init__(self, moves: Mapping[tuple[State, Symbol], State], initial: State, accepting: Any = None) -> None:
        self.moves = dict(moves)
        for key in self.moves:
            if not isinstance(key, tuple) or len(key) != 2:
                raise InvalidSystemError(f"moves: the key {key!r} is not a pair (state, action)")
        if not self.moves:
            raise InvalidSystemError("no actions: a system needs at least one")
        leaving, actions = zip(*self.moves, strict=True)
        self.symbols, self._labels = numbered(actions, "actions")
        self.states, ends = numbered((*leaving, *self.moves.values()), "states")
        self._sources, self._targets = ends.reshape(2, -1)
        if initial not in self.states:
            raise InvalidSystemError(
                f"initial: {initial!r} is not one of the states. A plan starts in one known state; for several "
                "possible ones use Automaton."
            )
        self.initial = initial
        everywhere = accepting is None
        self.accepting = frozenset(self.states) if everywhere else as_set(accepting, self.states, "accepting")
        if not everywhere and not self.accepting & self._reachable():
            raise InvalidSystemError(
                "accepting: no accepting state can be reached from the initial state, so no plan is feasible"
            )

    def _reachable(self) -> set[State]:
        following: list[list[int]] = [[] for _ in self.states]
        for state, target in zip(self._sources.tolist(), self._targets.tolist(), strict=True):
            following[state].append(target)
        reached, waiting = set(), [self.states.index(self.initial)]
        while waiting:
            state = waiting.pop()
            if state not in reached:
                reached.add(state)
                waiting.extend(following[state])
        return {self.states[state] for state in reached}

    def run(self, plan: Word) -> tuple[State, ...]:
        """The states that a feasible plan visits, the initial one first."""
        codes = self.encode(plan)
        self.require_feasible(codes)
        return tuple(self.states[state] for state in self.compiled.path(codes.tolist()))

    @property
    def state_names(self) -> tuple[Hashable, ...]:
        """The states as they were given."""
        return self.states

    def _compile(self) -> CompiledSystem:
        accepting = np.fromiter(map(self.accepting.__contains__, self.states), bool, len(self.states))
        start = self.states.index(self.initial)
        return CompiledSystem.from_arrays(
            len(self.symbols), start, self._sources, self._labels, self._targets, accepting
        )

    def to_networkx(self) -> networkx.MultiDiGraph[Any]:
        """One edge for each move, with the action as its `symbol`."""
        import networkx

        graph: networkx.MultiDiGraph[Any] = networkx.MultiDiGraph()
        for state in self.states:
            graph.add_node(state, initial=state == self.initial, accepting=state in self.accepting)
        graph.add_edges_from((s, target, {"symbol": action}) for (s, action), target in self.moves.items())
        return graph

    def __repr__(self) -> str:
        return (
            f"TransitionSystem({len(self.states)} states, {len(self.symbols)} actions, {len(self.moves)} moves; "
            f"starts in {self.initial!r})"
        )
