"""One private symbol out for each symbol in, without waiting for the end of the word."""

from __future__ import annotations

from math import exp, nextafter

import numpy as np

from pathveil.errors import DeadEndError, InvalidSystemError
from pathveil.randomness.source import RandomSource
from pathveil.systems.compiled import CompiledSystem, IntArray
from pathveil.systems.system import Symbol, System
from pathveil.words.law import ErrorLaw, FloatArray
from pathveil.words.mechanism import OnInfeasible, SameLengthMechanism
from pathveil.words.tilted import draw_tilted, pick_columns


class Online(SameLengthMechanism):
    """Emits the true symbol with weight 1 and every other feasible successor of the last *output* with weight e^-θ.

    Where the true symbol cannot follow the last output, all successors are equally likely. Given the output so far,
    the next output depends on one true symbol only, so the loss is at most θ at each of the at most b positions where
    two words differ: θ = ε/b, without the factor 2. (docs/mathematics.md, "Online")

    Private for every pair of words within `adjacency` substitutions, feasible or not, and for streams of any length.
    Every state that can be reached needs a successor, or a stream could get stuck; and every state must be accepting,
    since the stream does not know where the word will end.

    >>> import pathveil as pv
    >>> m = pv.Online(pv.Alphabet("abc"), epsilon=60.0)
    >>> stream = m.stream(rng=pv.insecure_seed(1))
    >>> [stream.push(symbol) for symbol in "cab"]
    ['c', 'a', 'b']
    """

    name = "online mechanism"

    def __init__(
        self, world: System, epsilon: float, adjacency: int = 1, *, on_infeasible: OnInfeasible = "refuse"
    ) -> None:
        super().__init__(world, epsilon, adjacency, on_infeasible=on_infeasible)
        compiled = world.compiled
        reached = _reachable(compiled)
        stuck = reached[np.diff(compiled.offsets)[reached] == 0]
        if len(stuck):
            raise DeadEndError(
                f"state {world.state_names[stuck[0]]!r} has no successor, so a stream could get stuck there. Remove "
                "the dead ends from the system, or use a mechanism that sees the whole word."
            )
        ends = np.unique(compiled.targets[np.isin(compiled.sources, reached)])  # where a word can be after a symbol
        if not compiled.accepting[ends].all():
            raise InvalidSystemError(
                "the system restricts the last symbol, but a stream does not know where its word will end. Use a "
                "mechanism that sees the whole word, or a system without that restriction."
            )

    def theta(self, length: int = 1) -> float:  # noqa: ARG002 - the same for every length
        return nextafter(self.epsilon / self.adjacency, 0.0)

    def stream(self, rng: RandomSource | None = None) -> OnlineStream:
        """A new stream, for one word. Feasibility of the true symbols is not checked."""
        return OnlineStream(self, self._source(rng))

    def _draw(self, codes: IntArray, source: RandomSource) -> IntArray:
        compiled = self.world.compiled
        if compiled.is_free:
            return draw_tilted(compiled, codes, self.theta(), source)
        states = np.full(len(codes), compiled.start)
        private = np.empty_like(codes)
        for i in range(codes.shape[1]):
            private[:, i], states = self._emit(states, codes[:, i], source)
        return private

    def _emit(self, states: IntArray, symbols: IntArray, source: RandomSource) -> tuple[IntArray, IntArray]:
        """Outputs and new states for streams side by side."""
        compiled = self.world.compiled
        first = compiled.offsets[states]
        degree = compiled.offsets[states + 1] - first
        columns = np.arange(degree.max())
        padding = columns >= degree[:, None]
        edges = np.where(padding, first[:, None], first[:, None] + columns)
        # A row without the true symbol has the same weight everywhere: uniform, as it should be.
        weights = np.where(compiled.labels[edges] == symbols[:, None], 0.0, -self.theta())
        weights[padding] = -np.inf
        taken = edges[np.arange(len(states)), pick_columns(weights, source)]
        return compiled.labels[taken], compiled.targets[taken]

    def _law(self, codes: IntArray) -> ErrorLaw:
        """Forward over (state, number of errors)."""
        compiled, z = self.world.compiled, exp(-self.theta())
        degree = np.diff(compiled.offsets)
        mass = np.zeros((compiled.state_count, len(codes) + 1))
        mass[compiled.start, 0] = 1.0
        for code in codes:
            right = compiled.labels == code
            possible = np.bincount(compiled.sources[right], minlength=compiled.state_count)
            # Where the true symbol is possible the weights are 1 and z; elsewhere they are all 1.
            normaliser = np.where(possible > 0, 1 + (degree - 1) * z, degree)
            weight = np.where(right | (possible[compiled.sources] == 0), 1.0, z) / normaliser[compiled.sources]
            flow = mass[compiled.sources] * weight[:, None]
            flow[~right, 1:] = flow[~right, :-1]
            flow[~right, 0] = 0.0
            mass = np.zeros_like(mass)
            np.add.at(mass, compiled.targets, flow)
        with np.errstate(divide="ignore"):
            return ErrorLaw(np.log(mass.sum(axis=0)))

    def _log_probabilities(self, codes: IntArray, outputs: IntArray) -> FloatArray:
        compiled, theta = self.world.compiled, self.theta()
        m, degree = compiled.symbol_count, np.diff(compiled.offsets)
        keys = compiled.sources * m + compiled.labels  # sorted, as edges are
        states = np.full(len(outputs), compiled.start)
        total = np.zeros(len(outputs))
        for i, code in enumerate(codes):
            wanted = states * m + code
            found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            possible = keys[found] == wanted
            normaliser = np.where(possible, np.log1p((degree[states] - 1) * exp(-theta)), np.log(degree[states]))
            total -= normaliser + theta * (possible & (outputs[:, i] != code))
            states = compiled.targets[np.searchsorted(keys, states * m + outputs[:, i])]
        return total


class OnlineStream:
    """One word on its way: push a true symbol, get a private one. Made by `Online.stream()`."""

    def __init__(self, mechanism: Online, source: RandomSource) -> None:
        self._mechanism = mechanism
        self._source = source
        self._state = np.array([mechanism.world.compiled.start])
        self._pushed = 0

    def push(self, symbol: Symbol) -> Symbol:
        """The private symbol for the next true symbol."""
        world = self._mechanism.world
        codes = world.encode((symbol,))
        emitted, self._state = self._mechanism._emit(self._state, codes, self._source)
        self._pushed += 1
        return world.symbols[int(emitted[0])]

    def __repr__(self) -> str:
        return f"OnlineStream({self._pushed} symbols so far, {self._mechanism!r})"


def _reachable(compiled: CompiledSystem) -> IntArray:
    reached, waiting = {compiled.start}, [compiled.start]
    while waiting:
        for target in compiled.successors[waiting.pop()]:
            if target not in reached:
                reached.add(target)
                waiting.append(target)
    return np.array(sorted(reached))
