"""Markov chains: a word is a sequence of states.

For private words only the *support* matters, that is which state may follow which; the probabilities are kept for
everything that a chain is used for besides.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from itertools import chain as joined
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from pathveil.errors import InvalidSystemError
from pathveil.systems.compiled import CompiledSystem
from pathveil.systems.system import Symbol, System, as_set, in_natural_order, unique_symbols

if TYPE_CHECKING:
    import networkx

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

    def __init__(
        self,
        states: Iterable[Symbol],
        matrix: Matrix,
        initial: Any = None,
        final: Any = None,
    ) -> None:
        self.symbols = unique_symbols(states, "states")
        self._adopt(_as_csr(matrix, len(self.symbols)), initial, final)
        sums = np.asarray(self.matrix.sum(axis=1)).ravel()
        for row in np.flatnonzero(np.abs(sums - 1) > _ROW_SUM_TOLERANCE):
            raise InvalidSystemError(
                f"row {row + 1} (state {self.symbols[row]!r}) sums to {sums[row]:.12g}, not to 1. Give "
                "probabilities, or use MarkovChain.from_counts, which divides by the row sums and allows dead ends."
            )

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
        scale = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0)
        made = cls.__new__(cls)
        made.symbols = states
        made._adopt(sparse.csr_array(sparse.diags_array(scale) @ weights), initial, final)
        return made

    @classmethod
    def from_edges(cls, edges: Iterable[tuple[Symbol, Symbol]], initial: Any = None, final: Any = None) -> MarkovChain:
        """From (from, to) pairs; every successor is equally likely. A pair given twice counts once."""
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
        states = in_natural_order(graph.nodes)
        number = {state: i for i, state in enumerate(unique_symbols(states, "states"))}
        weights = sparse.lil_array((len(states), len(states)))
        for a, b, data in graph.edges(data=True):
            value = 1.0 if weight is None else float(data[weight])
            weights[number[a], number[b]] = value
            if not graph.is_directed():
                weights[number[b], number[a]] = value
        return cls._from_weights(states, _as_csr(weights, len(states)), initial, final)

    def _can_finish(self) -> bool:
        n = len(self.symbols)
        first = np.array([symbol in self.first for symbol in self.symbols])
        final = np.array([symbol in self.final for symbol in self.symbols])
        support = self.matrix.astype(bool).astype(np.int64)
        reached = (support.T @ first) > 0 if self.starts_after else first
        for _ in range(n):
            grown = reached | ((support.T @ reached) > 0)
            if (grown == reached).all():
                break
            reached = grown
        return bool((reached & final).any())

    @property
    def state_names(self) -> tuple[Hashable, ...]:
        """The chain's states; None where a word has not begun yet and no public state comes before it."""
        return self.symbols if self.starts_after else (*self.symbols, None)

    def _compile(self) -> CompiledSystem:
        """States keep their codes; unless words start after a public state, one more state stands before them."""
        n = len(self.symbols)
        rows, columns = self.matrix.nonzero()
        edges = [(int(a), int(b), int(b)) for a, b in zip(rows, columns, strict=True)]
        final = np.array([symbol in self.final for symbol in self.symbols])
        if self.starts_after:
            return CompiledSystem.from_edges(n, self._codes[self.initial], edges, final)
        edges += [(n, self._codes[symbol], self._codes[symbol]) for symbol in self.first]
        return CompiledSystem.from_edges(n, n, edges, np.append(final, False))

    def to_networkx(self) -> networkx.MultiDiGraph[Any]:
        """One edge for each possible transition, with its `probability`; the entered state is its `symbol`."""
        import networkx

        graph: networkx.MultiDiGraph[Any] = networkx.MultiDiGraph()
        graph.add_nodes_from(self.symbols)
        coo = self.matrix.tocoo()
        for row, column, value in zip(*coo.coords, coo.data, strict=True):
            a, b = self.symbols[row], self.symbols[column]
            graph.add_edge(a, b, symbol=b, probability=float(value))
        return graph

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


def _as_pair(edge: Any, position: int) -> tuple[Symbol, Symbol]:
    try:
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
