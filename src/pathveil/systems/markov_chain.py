"""Markov chains: a word is a sequence of states.

For private words only the *support* matters, that is which state may follow which; the probabilities are kept for
everything that a chain is used for besides.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from functools import cached_property
from itertools import chain as joined
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from pathveil.errors import InvalidParameterError, InvalidSystemError
from pathveil.numerics.arrays import BoolArray, FloatArray, IntArray
from pathveil.randomness.source import RandomSource, checked_source
from pathveil.systems import chain_analysis, chain_file, other_libraries, simulation
from pathveil.systems.compiled import CompiledSystem
from pathveil.systems.system import Symbol, System, as_set, checked_length, in_natural_order, unique_symbols

if TYPE_CHECKING:
    import networkx
    import quantecon

Matrix = npt.ArrayLike | sparse.sparray | sparse.spmatrix

_ROW_SUM_TOLERANCE = 1e-8


class MarkovChain(System):
    """The state sequences of a Markov chain.

    `states` fixes the order of rows and columns; `matrix[i, j]` is the probability of going from state i to
    state j, dense or scipy sparse. How words begin:

    - `initial=None`: with any state, and the first symbol is protected like the others;
    - `initial={...}`: with one of these states, which are public as a set;
    - `initial=y0`: after the public state y0, which is *not* part of the word (PF's convention).

    `final` (one state or a set) restricts the last symbol; None allows every state. The named constructors accept
    dead ends (states without successors); words then simply cannot pass through them.

    >>> import pathveil as pv
    >>> town = pv.MarkovChain.from_edges([("home", "park"), ("park", "work"), ("work", "park"), ("park", "home")])
    >>> town.is_feasible(["home", "park", "work"]), town.is_feasible(["home", "work"]), town.count(3)
    (True, False, 6)
    """

    #: What was promised when the chain was made from sensitive data; kept by `to_json` and `from_json`.
    guarantee: dict[str, Any] | None = None

    def __init__(
        self,
        states: Iterable[Symbol],
        matrix: Matrix,
        initial: Any = None,
        final: Any = None,
    ) -> None:
        self.symbols = unique_symbols(states, "states")
        self._adopt(_as_csr(matrix, len(self.symbols)), initial, final)
        _require_row_sums(self.matrix, self.symbols)

    def _adopt(self, matrix: sparse.csr_array, initial: Any, final: Any) -> None:
        self.matrix = matrix
        self.initial = initial
        # A set of first states, unless one public state comes before the word.
        self.starts_after = initial is not None and _is_one_of(initial, self.symbols)
        self.first = as_set(self.symbols if initial is None else initial, self.symbols, "initial")
        self.final = as_set(self.symbols if final is None else final, self.symbols, "final")
        if not self._can_finish():
            raise InvalidSystemError(
                "final: none of these states can be reached from the possible first states, so no word is feasible"
            )

    @classmethod
    def _from_weights(
        cls, states: tuple[Symbol, ...], weights: sparse.csr_array, initial: Any, final: Any
    ) -> MarkovChain:
        """Rows divided by their sums; rows without weight stay empty (dead ends)."""
        sums = np.asarray(weights.sum(axis=1)).ravel()
        matrix = weights.copy()
        matrix.data = weights.data / np.repeat(sums, np.diff(weights.indptr))
        matrix.eliminate_zeros()  # a quotient may be too small for a floating-point number
        made = cls.__new__(cls)
        made.symbols = states
        made._adopt(matrix, initial, final)
        return made

    @classmethod
    def from_edges(cls, edges: Iterable[tuple[Symbol, Symbol]], initial: Any = None, final: Any = None) -> MarkovChain:
        """From (from, to) pairs; every successor is equally likely. A pair given twice counts once.

        The edges become public with the first release: never collect them from the sensitive words.
        """
        pairs = list(dict.fromkeys(_as_pair(edge, i) for i, edge in enumerate(edges)))
        if not pairs:
            raise InvalidSystemError("no edges: a chain needs at least one (from, to) pair")
        states = in_natural_order(joined.from_iterable(pairs))
        number = {state: i for i, state in enumerate(states)}
        rows, columns = np.array([(number[a], number[b]) for a, b in pairs]).T
        shape = (len(states), len(states))
        weights = sparse.csr_array((np.ones(len(pairs)), (rows, columns)), shape=shape)
        return cls._from_weights(states, weights, initial, final)

    @classmethod
    def from_counts(
        cls, states: Iterable[Symbol], counts: Matrix, initial: Any = None, final: Any = None
    ) -> MarkovChain:
        """From a matrix of non-negative counts or weights; each row is divided by its sum.

        Counts of sensitive words are themselves sensitive: which of them are zero would become public here.
        """
        listed = unique_symbols(states, "states")
        return cls._from_weights(listed, _as_csr(counts, len(listed)), initial, final)

    @classmethod
    def from_dict(
        cls, rows: Mapping[Symbol, Mapping[Symbol, float]], initial: Any = None, final: Any = None
    ) -> MarkovChain:
        """From {state: {next state: probability}}. A state with an empty row, or none, is a dead end."""
        states = in_natural_order(joined(rows, joined.from_iterable(rows.values())))
        number = {state: i for i, state in enumerate(unique_symbols(states, "states"))}
        entries = [(number[a], number[b], p) for a, row in rows.items() for b, p in row.items()]
        table = np.array(entries, dtype=float).reshape(-1, 3)
        shape = (len(states), len(states))
        matrix = sparse.csr_array((table[:, 2], (table[:, 0].astype(int), table[:, 1].astype(int))), shape=shape)
        for state, row in rows.items():
            if row and not abs(sum(row.values()) - 1) <= _ROW_SUM_TOLERANCE:
                raise InvalidSystemError(f"the row of state {state!r} sums to {sum(row.values()):.12g}, not to 1")
        return cls._from_weights(states, _as_csr(matrix, len(states)), initial, final)

    @classmethod
    def from_networkx(
        cls,
        graph: networkx.Graph[Any],
        weight: str | None = None,
        initial: Any = None,
        final: Any = None,
    ) -> MarkovChain:
        """From a networkx graph; an undirected edge can be used both ways.

        Probabilities are proportional to the edge attribute `weight`, or equal where it is None.
        """
        states, weights = other_libraries.weights_of_networkx(graph, weight)
        return cls._from_weights(unique_symbols(states, "states"), _as_csr(weights, len(states)), initial, final)

    @classmethod
    def from_quantecon(cls, chain: quantecon.MarkovChain, initial: Any = None, final: Any = None) -> MarkovChain:
        """From a `quantecon.MarkovChain`; its `state_values` become the states, or 0, 1, … where it has none."""
        states, matrix = other_libraries.parts_of_quantecon(chain)
        return cls(states, matrix, initial, final)

    def _can_finish(self) -> bool:
        """Is some last state among, or accessible from, the states that a word can begin with?"""
        final, reached = self._among(self.final), np.zeros(len(self.symbols), dtype=bool)
        new = np.flatnonzero(self._among(self.first))
        if self.starts_after:
            new = np.unique(self.matrix[new].indices).astype(np.int64)
        while len(new):
            if final[new].any():
                return True
            reached[new] = True
            after = np.unique(self.matrix[new].indices).astype(np.int64)
            new = after[~reached[after]]
        return False

    @property
    def state_names(self) -> tuple[Hashable, ...]:
        """The chain's states; None where a word has not begun yet and no public state comes before it."""
        return self.symbols if self.starts_after else (*self.symbols, None)

    def _compile(self) -> CompiledSystem:
        """States keep their codes; unless words start after a public state, one more state stands before them."""
        n = len(self.symbols)
        rows, columns = (axis.astype(np.int64) for axis in self.matrix.nonzero())
        final = self._among(self.final)
        if self.starts_after:
            return CompiledSystem.from_arrays(n, self._codes[self.initial], rows, columns, columns, final)
        first = np.flatnonzero(self._among(self.first))
        entered = np.concatenate([columns, first])
        sources = np.concatenate([rows, np.full(len(first), n)])
        return CompiledSystem.from_arrays(n, n, sources, entered, entered, np.append(final, False))

    def _among(self, chosen: frozenset[Symbol]) -> BoolArray:
        """For each state: is it one of these?"""
        if len(chosen) == len(self.symbols):
            return np.ones(len(self.symbols), dtype=bool)
        return np.fromiter((symbol in chosen for symbol in self.symbols), bool, len(self.symbols))

    @property
    def _stochastic(self) -> sparse.csr_array:
        """The matrix, once it is sure that every row is a probability distribution."""
        chain_analysis.require_stochastic(self.matrix, self.symbols)
        return self.matrix

    def _named(self, classes: list[IntArray]) -> tuple[tuple[Symbol, ...], ...]:
        return tuple(tuple(self.symbols[i] for i in members) for members in classes)

    @cached_property
    def communication_classes(self) -> tuple[tuple[Symbol, ...], ...]:
        """Groups of states that can be reached from each other."""
        return self._named(chain_analysis.communication_classes(self.matrix))

    @cached_property
    def recurrent_classes(self) -> tuple[tuple[Symbol, ...], ...]:
        """The communication classes that cannot be left."""
        return self._named(chain_analysis.recurrent_classes(self._stochastic))

    @property
    def is_irreducible(self) -> bool:
        """Can every state be reached from every other one?"""
        return len(self.communication_classes) == 1 and bool(self.matrix.nnz)

    @cached_property
    def is_aperiodic(self) -> bool:
        """Has every recurrent class period 1? Then the distribution of the state settles down."""
        return chain_analysis.is_aperiodic(self._stochastic)

    @cached_property
    def stationary_distribution(self) -> FloatArray:
        """The probability of each state in the long run, π with πP = π, in the order of the states.

        An error that names the recurrent classes if there is more than one.
        """
        return _read_only(chain_analysis.stationary_distribution(self._stochastic, self.symbols))

    @cached_property
    def stationary_distributions(self) -> FloatArray:
        """One row for each of the `recurrent_classes`; every stationary distribution is a mixture of the rows."""
        return _read_only(chain_analysis.stationary_distributions(self._stochastic))

    @cached_property
    def fundamental_matrix(self) -> FloatArray:
        """Z = (I - P + 1πᵀ)⁻¹: how the stationary distribution answers to a change of the matrix."""
        return _read_only(chain_analysis.fundamental_matrix(self.matrix, self.stationary_distribution))

    @cached_property
    def ergodicity_coefficient(self) -> float:
        """τ_∞ of the transition matrix (MCM, Definition 7): no smaller than |λ₂|, and cheap."""
        return chain_analysis.ergodicity_coefficient(self._stochastic)

    @cached_property
    def second_eigenvalue(self) -> float:
        """|λ₂|, the second largest modulus of an eigenvalue: how fast the start is forgotten."""
        return chain_analysis.second_eigenvalue(self._stochastic)

    def kl_rate(self, other: MarkovChain) -> float:
        """The Kullback–Leibler divergence of this chain from another per step, in nats (MCM, Definition 8).

        Both chains have the same states, in any order. Infinite if this chain makes transitions that the other
        cannot make.
        """
        if set(self.symbols) != set(other.symbols):
            raise InvalidParameterError("kl_rate compares chains that have the same states; these do not")
        order = [other._codes[symbol] for symbol in self.symbols]
        theirs = sparse.csr_array(other._stochastic[order][:, order])
        return chain_analysis.kl_rate(self.matrix, theirs, self.stationary_distribution)

    def simulate(
        self, length: int, size: int = 1, rng: RandomSource | None = None, *, start: npt.ArrayLike | None = None
    ) -> IntArray:
        """`size` random paths of `length` states, as codes: one path a row; `decode` turns a row into states.

        `start` gives the probability of each state to be the first. Without it, each possible first state is
        equally likely, or, if words begin after a public state, the first state is one that follows it. `final`
        restricts which words are feasible, not what the chain does.
        """
        source = checked_source(rng)
        length = checked_length(length)
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
            raise InvalidParameterError(f"size is a number of paths of at least 1, not {size!r}")
        tables = self._alias_tables
        if start is None and self.starts_after:
            before = np.full(int(size), self._codes[self.initial])
            return np.ascontiguousarray(simulation.simulate(tables, before, length + 1, source)[:, 1:])
        weights = np.array([symbol in self.first for symbol in self.symbols], dtype=float)
        if start is not None:
            weights = _as_distribution(start, len(self.symbols))
        cumulative = np.cumsum(weights)
        # Divided by its own last entry, so that it ends with exactly 1 and every uniform number is below that.
        first = np.searchsorted(cumulative / cumulative[-1], source.uniform(int(size)), side="right")
        return simulation.simulate(tables, first, length, source)

    @cached_property
    def _alias_tables(self) -> simulation.AliasTables:
        return simulation.AliasTables.from_matrix(self._stochastic)

    def to_json(self, path: str | Path | None = None, guarantee: Mapping[str, Any] | None = None) -> str:
        """The chain as JSON text, also written to `path` if one is given; `from_json` reads both.

        `guarantee` is saved along; without it, the `guarantee` that the chain carries.
        """
        codes = self._codes
        text = chain_file.write(
            chain_file.ChainParts(
                states=self.symbols,
                matrix=self.matrix,
                after=codes[self.initial] if self.starts_after else None,
                first=None if self.initial is None else sorted(codes[state] for state in self.first),
                final=None if len(self.final) == len(codes) else sorted(codes[state] for state in self.final),
                guarantee=self.guarantee if guarantee is None else guarantee,
            )
        )
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    @classmethod
    def from_json(cls, source: str | Path) -> MarkovChain:
        """From a file, or from the text itself, which begins with a brace."""
        is_text = isinstance(source, str) and source.lstrip().startswith("{")
        parts = chain_file.read(str(source) if is_text else Path(source).read_text(encoding="utf-8"))
        made = cls.__new__(cls)
        made.symbols = parts.states
        initial: Any = None
        if parts.after is not None:
            initial = parts.states[parts.after]
        elif parts.first is not None:
            initial = frozenset(parts.states[i] for i in parts.first)
        final = None if parts.final is None else frozenset(parts.states[i] for i in parts.final)
        _require_row_sums(parts.matrix, parts.states, allow_dead_ends=True)
        made._adopt(parts.matrix, initial, final)
        made.guarantee = None if parts.guarantee is None else dict(parts.guarantee)
        return made

    def to_networkx(self) -> networkx.MultiDiGraph[Any]:
        """One edge for each possible transition, with its `probability`; the entered state is its `symbol`."""
        return other_libraries.networkx_of(self)

    def to_quantecon(self) -> quantecon.MarkovChain:
        """A `quantecon.MarkovChain` with the same matrix, sparse, and the states as its `state_values`.

        QuantEcon knows no first and last states: they are left behind. It has no dead ends either, and no states of
        mixed types: those are errors.
        """
        return other_libraries.quantecon_of(self.symbols, self._stochastic)

    def __repr__(self) -> str:
        begins = (
            "words begin anywhere"
            if self.initial is None
            else f"words begin after {self.initial!r}"
            if self.starts_after
            else f"words begin in one of {len(self.first)} states"
        )
        ends = "" if len(self.final) == len(self.symbols) else f" and end in one of {len(self.final)}"
        return f"MarkovChain({len(self.symbols)} states, {self.matrix.nnz} transitions; {begins}{ends})"


def _as_csr(matrix: Matrix, size: int) -> sparse.csr_array:
    """A square matrix of finite, non-negative numbers as sparse rows, without stored zeros."""
    try:
        csr = sparse.csr_array(matrix if sparse.issparse(matrix) else np.asarray(matrix, dtype=float), dtype=float)
    except (TypeError, ValueError) as problem:
        raise InvalidSystemError(f"the matrix cannot be read as numbers: {problem}") from None
    if csr.shape != (size, size):
        raise InvalidSystemError(f"the matrix has shape {csr.shape}, but there are {size} states")
    coo = csr.tocoo()
    for k in np.flatnonzero(~(np.isfinite(coo.data) & (coo.data >= 0))):
        row, column = (int(axis[k]) for axis in coo.coords)
        raise InvalidSystemError(
            f"entry ({row + 1}, {column + 1}) of the matrix is {coo.data[k]}: entries must be finite and not negative"
        )
    csr = csr.copy()
    csr.sum_duplicates()
    csr.eliminate_zeros()
    return csr


def _require_row_sums(matrix: sparse.csr_array, states: tuple[Symbol, ...], allow_dead_ends: bool = False) -> None:
    sums = np.asarray(matrix.sum(axis=1)).ravel()
    wrong = np.abs(sums - 1) > _ROW_SUM_TOLERANCE
    if allow_dead_ends:
        wrong &= sums != 0
    for row in np.flatnonzero(wrong):
        raise InvalidSystemError(
            f"row {row + 1} (state {states[row]!r}) sums to {sums[row]:.12g}, not to 1. Give "
            "probabilities, or use MarkovChain.from_counts, which divides by the row sums and allows dead ends."
        )


def _as_distribution(start: npt.ArrayLike, size: int) -> FloatArray:
    try:
        weights = np.asarray(start, dtype=float)
    except (TypeError, ValueError) as problem:
        raise InvalidParameterError(f"start cannot be read as numbers: {problem}") from None
    if weights.shape != (size,) or not (weights >= 0).all() or abs(weights.sum() - 1) > _ROW_SUM_TOLERANCE:
        raise InvalidParameterError(f"start: give one probability for each of the {size} states, summing to 1")
    return weights


def _read_only(array: FloatArray) -> FloatArray:
    """Shared by everyone who asks for the property, so nobody may change it."""
    array.flags.writeable = False
    return array


def _as_pair(edge: Any, position: int) -> tuple[Symbol, Symbol]:
    try:
        if isinstance(edge, Mapping):  # unpacking would take its keys
            raise TypeError
        source, target = edge
        hash((source, target))
    except (TypeError, ValueError):
        raise InvalidSystemError(
            f"edge number {position + 1} is {edge!r}: an edge is a pair (from, to) of hashable symbols"
        ) from None
    return source, target


def _is_one_of(candidate: Any, symbols: tuple[Symbol, ...]) -> bool:
    try:
        return candidate in set(symbols)
    except TypeError:
        return False
