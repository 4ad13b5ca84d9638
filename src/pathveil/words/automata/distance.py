"""The automata of the papers, to look at: every feasible word near a given one, sorted by where it goes wrong.

Terms. A state q = (i, e) says that i symbols are written and that e of them differ from the word; where the system
has states of its own it is (i, e, y), y being the system's state after those i symbols. An *edge* joins two such
states and carries every symbol that leads from one to the other. V(q) is the number of words that can still be
completed from q, and the policy μ writes each symbol with probability V(next)/V(q), so that a walk from (0, 0) to
an accepting state spells each accepted word with the same probability 1/V(0, 0).

The mechanisms do not need these objects. They are here for readers of the papers, and for checking by eye.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pathveil.errors import InvalidParameterError, NoFeasibleWordError
from pathveil.systems.system import Symbol, System, Word

if TYPE_CHECKING:
    import networkx
    from matplotlib.axes import Axes

DistanceState = tuple[int, int] | tuple[int, int, Hashable]


@dataclass(frozen=True)
class DistanceEdge:
    """All symbols that lead from one state to another, as one edge."""

    source: DistanceState
    target: DistanceState
    symbols: tuple[Symbol, ...]

    @property
    def multiplicity(self) -> int:
        """How many symbols the edge stands for. Words are counted right only if this is not forgotten."""
        return len(self.symbols)

    @property
    def is_error(self) -> bool:
        """True for substitutions, False for the symbol of the word itself."""
        return self.target[1] > self.source[1]


class DistanceAutomaton:
    """The modified Hamming-distance automaton of a word, within a system.

    LEV's Algorithm 1 with substitutions only, cut to the length of the word (LEV Remarks 1 and 2), and its product
    with a system (LEV Definition 13); PF's Definitions 5 and 6. `errors` says which words it accepts: None those at
    any distance, a number ℓ those with exactly ℓ errors, a collection such as `range(3)` those with one of these
    numbers of errors. Only states on the way to an accepted word are kept, so V is positive everywhere. The word
    itself may be infeasible.

    The automaton is made from the sensitive word and shows it: it is for the curator, never for release.

    - `states`, `edges` (merged: one for each pair of states), `initial`, `accepting`
    - `V[q]`: the exact number of accepted words that continue from q; `count` is V[initial]
    - `mu[q, r]`: the exact probability V(r)/V(q) of writing *each single* symbol that leads from q to r. This is
      what the papers print in red; all symbols of the edge together have `multiplicity` times that.

    >>> import pathveil as pv
    >>> automaton = pv.DistanceAutomaton(pv.Alphabet("abc"), "abc", errors=2)
    >>> automaton
    DistanceAutomaton(length 3, exactly 2 errors: 6 states, 7 edges, 12 words)
    >>> automaton.V[0, 0], automaton.mu[(0, 0), (1, 1)]
    (12, Fraction(1, 3))
    """

    def __init__(self, world: System, word: Word, errors: int | Iterable[int] | None = None) -> None:
        self.world = world
        self._codes: list[int] = world.encode(word).tolist()
        self.length = len(self._codes)
        self.errors = _checked_errors(errors, self.length)
        self._steps: dict[tuple[int, int], list[tuple[int, int, tuple[Symbol, ...]]]] = {}
        self._counts = self._count_completions(self._reachable())
        if not self._counts[0]:
            raise NoFeasibleWordError(
                f"no feasible word of length {self.length} has {_described(self.errors, self.length)} with respect to "
                "the given word. Ask for another number of errors, or for `errors=None`."
            )

    def _steps_from(self, y: int, code: int) -> list[tuple[int, int, tuple[Symbol, ...]]]:
        """(further errors, next system state, symbols) for each way on from state y where the word has `code`."""
        if (y, code) not in self._steps:
            grouped: dict[tuple[int, int], list[Symbol]] = {}
            for label, target in self.world.compiled.moves[y].items():
                grouped.setdefault((int(label != code), target), []).append(self.world.symbols[label])
            self._steps[y, code] = [(wrong, target, tuple(symbols)) for (wrong, target), symbols in grouped.items()]
        return self._steps[y, code]

    def _reachable(self) -> list[set[tuple[int, int]]]:
        """For each position the (errors, system state) pairs that some beginning of a word leads to."""
        most = max(self.errors)
        layers = [{(0, self.world.compiled.start)}]
        for code in self._codes:
            layers.append(
                {
                    (e + wrong, target)
                    for e, y in layers[-1]
                    for wrong, target, _ in self._steps_from(y, code)
                    if e + wrong <= most
                }
            )
        return layers

    def _count_completions(self, reachable: list[set[tuple[int, int]]]) -> list[dict[tuple[int, int], int]]:
        """V for each position, from the back; pairs that lead nowhere are left out."""
        accepting = self.world.compiled.accepting
        last = {(e, y): 1 for e, y in sorted(reachable[-1]) if e in self.errors and accepting[y]}
        counts = [last]
        for code, layer in zip(reversed(self._codes), reversed(reachable[:-1]), strict=True):
            after = counts[-1]
            here = {
                (e, y): sum(
                    len(symbols) * after.get((e + wrong, target), 0)
                    for wrong, target, symbols in self._steps_from(y, code)
                )
                for e, y in sorted(layer)
            }
            counts.append({pair: ways for pair, ways in here.items() if ways})
        counts.reverse()
        return counts

    def _named(self, i: int, e: int, y: int) -> DistanceState:
        return (i, e) if self.world.compiled.is_free else (i, e, self.world.state_names[y])

    @cached_property
    def V(self) -> Mapping[DistanceState, int]:  # noqa: N802 (the papers' letter)
        """{state: number of accepted words that continue from it}."""
        return MappingProxyType(
            {self._named(i, e, y): ways for i, layer in enumerate(self._counts) for (e, y), ways in layer.items()}
        )

    @cached_property
    def edges(self) -> tuple[DistanceEdge, ...]:
        """Merged edges, from left to right."""
        return tuple(
            DistanceEdge(self._named(i, e, y), self._named(i + 1, e + wrong, target), symbols)
            for i, (code, layer) in enumerate(zip(self._codes, self._counts, strict=False))
            for e, y in layer
            for wrong, target, symbols in self._steps_from(y, code)
            if (e + wrong, target) in self._counts[i + 1]
        )

    @cached_property
    def mu(self) -> Mapping[tuple[DistanceState, DistanceState], Fraction]:
        """{(state, next state): probability of each symbol between them}; LEV Algorithm 2, PF Algorithms 1 and 2."""
        V = self.V
        return MappingProxyType(
            {(edge.source, edge.target): Fraction(V[edge.target], V[edge.source]) for edge in self.edges}
        )

    @property
    def states(self) -> tuple[DistanceState, ...]:
        """In order of position, then of errors."""
        return tuple(self.V)

    @property
    def initial(self) -> DistanceState:
        return self._named(0, 0, self.world.compiled.start)

    @cached_property
    def accepting(self) -> tuple[DistanceState, ...]:
        """The states in which a whole word has been written."""
        return tuple(self._named(self.length, e, y) for e, y in self._counts[-1])

    @property
    def count(self) -> int:
        """The exact number of accepted words."""
        return self.V[self.initial]

    def to_networkx(self) -> networkx.DiGraph[Any]:
        """Nodes with `position`, `errors`, `V`, `initial`, `accepting`; edges with `symbols`, `multiplicity`, `mu`."""
        import networkx

        graph: networkx.DiGraph[Any] = networkx.DiGraph()
        accepting = set(self.accepting)
        for q, ways in self.V.items():
            graph.add_node(q, position=q[0], errors=q[1], V=ways, initial=q == self.initial, accepting=q in accepting)
        for edge in self.edges:
            graph.add_edge(
                edge.source,
                edge.target,
                symbols=edge.symbols,
                multiplicity=edge.multiplicity,
                is_error=edge.is_error,
                mu=self.mu[edge.source, edge.target],
            )
        return graph

    def draw(self, ax: Axes | None = None) -> Axes:
        """A picture in the papers' manner: V in blue, μ in red, positions to the right, errors upwards.

        Draws into the given matplotlib axes or into a new figure, and returns the axes.
        """
        from pathveil.words.automata.distance_picture import draw_distance_automaton

        return draw_distance_automaton(self, ax)

    def __repr__(self) -> str:
        return (
            f"DistanceAutomaton(length {self.length}, {_described(self.errors, self.length)}: "
            f"{len(self.states)} states, {len(self.edges)} edges, {_readable(self.count)} words)"
        )


def _checked_errors(errors: int | Iterable[int] | None, length: int) -> tuple[int, ...]:
    """The accepted numbers of errors in increasing order."""
    if errors is None:
        return tuple(range(length + 1))
    listed = list(errors) if isinstance(errors, Iterable) and not isinstance(errors, str) else [errors]
    for number in listed:
        try:
            valid = 0 <= operator.index(number) <= length and not isinstance(number, bool)
        except TypeError:
            valid = False
        if not valid:
            raise InvalidParameterError(
                f"errors: {number!r} is not a possible number of errors; a word of length {length} can have 0 to "
                f"{length}. Give one such number, several, or None for all of them."
            )
    if not listed:
        raise InvalidParameterError("errors: the collection is empty; give at least one number of errors, or None")
    return tuple(sorted({operator.index(number) for number in listed}))


def _readable(count: int) -> str:
    return str(count) if count < 10**9 else f"about 10^{math.log10(count):.1f}"


def _described(errors: tuple[int, ...], length: int) -> str:
    if len(errors) == length + 1:
        return "any number of errors"
    if len(errors) == 1:
        return f"exactly {errors[0]} error{'' if errors[0] == 1 else 's'}"
    if errors == tuple(range(errors[-1] + 1)):
        return f"at most {errors[-1]} error{'' if errors[-1] == 1 else 's'}"
    return f"{', '.join(map(str, errors[:-1]))} or {errors[-1]} errors"
