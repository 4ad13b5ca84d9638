"""One private symbol out for each symbol in, without waiting for the end of the word."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, partial
from math import exp

import numpy as np
import numpy.typing as npt

from pathveil.errors import DeadEndError, InvalidParameterError, InvalidSystemError, UnknownSymbolError
from pathveil.numerics.arrays import AnyIntArray, FloatArray, IntArray, UintArray
from pathveil.randomness.blocks import cuts, run_blocks
from pathveil.randomness.source import RandomSource
from pathveil.systems.compiled import CompiledSystem
from pathveil.systems.symbol_distance import SymbolDistance
from pathveil.systems.system import Symbol, System
from pathveil.words.base import (
    Batch,
    ErrorLaw,
    OnInfeasible,
    checked_positive_integer,
    largest_part,
)
from pathveil.words.distances import (
    DistanceMechanism,
    OnlineDraw,
    marginals,
    online_log_probabilities,
    online_theta,
    online_transitions,
    wrong_symbols,
)
from pathveil.words.laws import classes_are_cheap, online_law
from pathveil.words.tilted import LAST_VALUE, draw_tilted, keystream_values_per_symbol, redraw_unowned

_SMALL = 1 << 16  # symbols: less is done before the compiled loops would be loaded
_BLOCK_CELLS = 1 << 16  # symbols for a thread at a time
_LARGEST_STEP = 1 << 22  # streams times successors, where there are no compiled loops for large batches


class Online(DistanceMechanism):
    """Emits the true symbol with weight 1 and every other feasible successor of the last *output* with weight e^-θ.

    Where the true symbol cannot follow the last output, all successors are equally likely. Given the output so far,
    the next output depends on one true symbol only, so the loss is at most θ at each of the at most b positions where
    two words differ: θ = ε/b, without the factor 2. (docs/mathematics.md, "Online")

    With a `distance` between symbols, a successor y weighs e^(-θ c(x, y)), x being the true symbol. What these weights
    add up to depends on x, so θ is at least ε/(2bρ), and larger where the true largest loss allows it.

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
        self,
        world: System,
        epsilon: float,
        adjacency: int = 1,
        *,
        on_infeasible: OnInfeasible = "refuse",
        distance: SymbolDistance | None = None,
        within: float | None = None,
    ) -> None:
        super().__init__(
            world, epsilon, adjacency, on_infeasible=on_infeasible, distance=distance, within=within
        )  # fmt: skip
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
        if self._prices is not None:
            return self._priced_theta
        return largest_part(self.epsilon, self.adjacency)

    @property
    def is_uniform_within_class(self) -> bool:
        return False

    @cached_property
    def _priced_theta(self) -> float:
        assert self._prices is not None
        return online_theta(self.world.compiled, self._prices, self.epsilon, self.adjacency)

    @cached_property
    def _priced(self) -> OnlineDraw | None:
        if self._prices is None:
            return None
        return OnlineDraw(self.world.compiled, self._prices, self.theta())

    def stream(self, rng: RandomSource | None = None) -> OnlineStream:
        """A new stream, for one word. Feasibility of the true symbols is not checked."""
        return OnlineStream(self, self._source(rng))

    def streams(self, count: int, rng: RandomSource | None = None) -> OnlineStreams:
        """Many new streams side by side, each for one word."""
        return OnlineStreams(self, checked_positive_integer(count, "the number of streams"), self._source(rng))

    def _draw(self, words: Batch, source: RandomSource) -> AnyIntArray:
        compiled = self.world.compiled
        if self._priced is not None:
            return self._priced.draw(words, source)
        if compiled.is_free:
            return draw_tilted(compiled, words, self.theta, source)
        private = np.empty_like(words.values)
        if len(words.values) < _SMALL or self._redraws:
            for part in words.by_length:
                states = np.full(len(part.begins), compiled.start)
                for cells in part.cells.T:
                    private[cells], states = self._emit(states, words.values[cells], source)
            return private
        from pathveil.words.online_kernel import draw_online

        def draw(first: int, last: int, branch: RandomSource) -> None:
            noise = branch.keystream(int(words.offsets[last] - words.offsets[first]))
            draw_online(
                words.values, words.offsets, first, last, compiled.offsets, compiled.labels, compiled.targets,
                compiled.start, self._each, noise, private,
            )  # fmt: skip

        size = 1 + _BLOCK_CELLS * len(words) // len(words.values)  # words
        run_blocks([partial(draw, *cut) for cut in cuts(len(words), size)], source)
        return private

    @cached_property
    def _shares(self) -> tuple[UintArray, UintArray]:
        """Entries d: how many keystream values stand for each wrong one of d successors, and the last that is used."""
        each = np.ones(self.world.compiled.largest_degree + 1, dtype=np.uint64)
        last = np.full_like(each, LAST_VALUE)
        for degree in np.unique(np.diff(self.world.compiled.offsets)):
            if degree > 1:
                each[degree], last[degree] = keystream_values_per_symbol(int(degree), self.theta())
        return each, last

    @property
    def _each(self) -> UintArray:
        return self._shares[0]

    @cached_property
    def _redraws(self) -> bool:
        """Are there keystream values that belong to nobody? Only at a tiny θ; the compiled loops do without."""
        return bool((self._shares[1] < np.uint64(LAST_VALUE)).any())

    def _emit(
        self, states: IntArray, symbols: AnyIntArray, source: RandomSource, largest_step: int = _LARGEST_STEP
    ) -> tuple[IntArray, IntArray]:
        """Outputs and new states for streams side by side: as online_kernel.py, before it would be loaded."""
        if self._priced is not None:
            each = zip(states.tolist(), symbols.tolist(), source.keystream(len(states)).tolist(), strict=True)
            moved = np.array([self._priced.step(state, symbol, bits, source) for state, symbol, bits in each])
            return moved[:, 0], moved[:, 1]
        if self._redraws and len(states) > (size := 1 + largest_step // len(self._each)):
            steps = [self._emit(states[i:j], symbols[i:j], source) for i, j in cuts(len(states), size)]
            return np.concatenate([step[0] for step in steps]), np.concatenate([step[1] for step in steps])
        compiled, keystream = self.world.compiled, source.keystream(len(states))
        first = compiled.offsets[states]
        degree = compiled.offsets[states + 1] - first
        if self._redraws:
            redraw_unowned(keystream, self._shares[1][degree], source)
        columns = np.arange(degree.max())
        edges = first[:, None] + np.minimum(columns, degree[:, None] - 1)
        is_true = compiled.labels[edges] == symbols[:, None]
        true, possible = np.argmax(is_true, axis=1), is_true.any(axis=1)
        each, count = self._each[degree], degree.astype(np.uint64)
        wrong = (keystream // each).astype(np.int64)
        wrong += wrong >= true
        # Where the true symbol cannot follow, all are alike, up to one value: the high half of the product of value and
        # degree, or the remainder if not all values are used. Both shares lie between those of wrong and right symbols.
        half, low_half = np.uint64(32), np.uint64(0xFFFFFFFF)
        any_of_them = ((keystream >> half) * count + (((keystream & low_half) * count) >> half)) >> half
        if self._redraws:
            any_of_them = keystream % count
        chosen = np.where(keystream < (count - np.uint64(1)) * each, wrong, true)
        taken = first + np.where(possible, chosen, any_of_them.astype(np.int64))
        return compiled.labels[taken], compiled.targets[taken]

    def _law(self, codes: IntArray) -> ErrorLaw:
        """Forward over (state, number of errors)."""
        if self._prices is not None:
            return wrong_symbols(self.world.compiled, self._transitions(codes), codes)
        compiled, z = self.world.compiled, exp(-self.theta())
        if not classes_are_cheap(compiled, len(codes)):
            return online_law(compiled, codes, self.theta())
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

    def _transitions(self, codes: IntArray) -> Iterator[FloatArray]:
        assert self._prices is not None
        return online_transitions(self.world.compiled, self._prices, codes, self.theta())

    def _marginals(self, codes: IntArray) -> FloatArray:
        return marginals(self.world.compiled, self._transitions(codes), len(codes))

    def _log_probabilities(self, codes: IntArray, outputs: IntArray) -> FloatArray:
        if self._prices is not None:
            return online_log_probabilities(self.world.compiled, self._prices, codes, outputs, self.theta())
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


class OnlineStreams:
    """Many words on their way: push the next true symbol of each, get a private one for each. All have the same length.

    The law of each stream is that of `OnlineStream`. Made by `Online.streams(count)`.

    >>> import pathveil as pv
    >>> streams = pv.Online(pv.Alphabet("abc"), epsilon=60.0).streams(4, rng=pv.insecure_seed(1))
    >>> streams.push([0, 2, 1, 1])
    array([0, 2, 1, 1])
    """

    def __init__(self, mechanism: Online, count: int, source: RandomSource) -> None:
        self._mechanism = mechanism
        self._source = source
        self._states = np.full(count, mechanism.world.compiled.start)
        self._pushed = 0

    def push(self, codes: npt.ArrayLike) -> IntArray:
        """Private symbol codes for the next true symbol codes, one of each stream, in the same order."""
        compiled = self._mechanism.world.compiled
        symbols = np.asarray(codes)
        if symbols.shape != self._states.shape or not np.issubdtype(symbols.dtype, np.integer):
            raise InvalidParameterError(
                f"push takes one symbol code for each of the {len(self._states)} streams, in an array of whole "
                f"numbers, not {symbols.dtype} of shape {symbols.shape}"
            )
        outside = compiled.first_outside(symbols)
        if outside >= 0:
            raise UnknownSymbolError(
                f"stream {outside}: code {symbols[outside]} is not from 0 to {compiled.symbol_count - 1}"
            )
        private = np.empty(len(symbols), dtype=np.int64)
        if len(symbols) < _SMALL or self._mechanism._redraws:
            private[:], self._states = self._mechanism._emit(self._states, symbols, self._source)
        else:
            self._push_blocks(symbols, private)
        self._pushed += 1
        return private

    def _push_blocks(self, symbols: AnyIntArray, private: IntArray) -> None:
        from pathveil.words.online_kernel import push_symbols

        compiled, each = self._mechanism.world.compiled, self._mechanism._each

        def push(first: int, last: int, branch: RandomSource) -> None:
            push_symbols(
                symbols, first, last, compiled.offsets, compiled.labels, compiled.targets, each,
                branch.keystream(last - first), self._states, private,
            )  # fmt: skip

        run_blocks([partial(push, *cut) for cut in cuts(len(symbols), _BLOCK_CELLS)], self._source)

    def __repr__(self) -> str:
        return f"OnlineStreams({len(self._states)} streams, {self._pushed} symbols so far, {self._mechanism!r})"


def _reachable(compiled: CompiledSystem) -> IntArray:
    reached, waiting = {compiled.start}, [compiled.start]
    while waiting:
        for target in compiled.successors[waiting.pop()]:
            if target not in reached:
                reached.add(target)
                waiting.append(target)
    return np.array(sorted(reached))
