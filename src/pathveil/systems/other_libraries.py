"""Chains of other libraries, taken apart and put together: networkx graphs and QuantEcon's Markov chains.

Neither library is loaded before something of it is asked for.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from pathveil.errors import InvalidSystemError
from pathveil.systems.system import Symbol, in_natural_order

if TYPE_CHECKING:
    import networkx
    import quantecon

    from pathveil.systems.markov_chain import MarkovChain


def weights_of_networkx(
    graph: networkx.Graph[Any], weight: str | None
) -> tuple[tuple[Symbol, ...], sparse.lil_array[Any]]:
    """Nodes in their natural order, and the weight of every edge (1 where `weight` is None)."""
    states = in_natural_order(graph.nodes)
    number = {state: i for i, state in enumerate(states)}
    weights = sparse.lil_array((len(states), len(states)))
    for a, b, data in graph.edges(data=True):
        if weight is not None and weight not in data:
            raise InvalidSystemError(f"the edge from {a!r} to {b!r} has no attribute {weight!r}")
        value = 1.0 if weight is None else float(data[weight])
        weights[number[a], number[b]] = value
        if not graph.is_directed():
            weights[number[b], number[a]] = value
    return states, weights


def networkx_of(chain: MarkovChain) -> networkx.MultiDiGraph[Any]:
    """One edge for each transition that can occur."""
    import networkx

    graph: networkx.MultiDiGraph[Any] = networkx.MultiDiGraph()
    graph.add_nodes_from(chain.symbols)
    coo = chain.matrix.tocoo()
    for row, column, value in zip(*coo.coords, coo.data, strict=True):
        a, b = chain.symbols[row], chain.symbols[column]
        graph.add_edge(a, b, symbol=b, probability=float(value))
    return graph


def parts_of_quantecon(chain: quantecon.MarkovChain) -> tuple[list[Hashable], Any]:
    """The states and the matrix, dense or sparse. States that are rows of numbers become tuples."""
    if not hasattr(chain, "P") or not hasattr(chain, "state_values"):
        raise InvalidSystemError(f"{type(chain).__name__} is no quantecon.MarkovChain: it has no P and state_values")
    if chain.state_values is None:
        return list(range(chain.P.shape[0])), chain.P
    return _plain(chain.state_values), chain.P


def quantecon_of(states: tuple[Symbol, ...], matrix: sparse.csr_array[Any]) -> quantecon.MarkovChain:
    """QuantEcon's chain of a stochastic matrix."""
    import quantecon

    try:
        values = np.asarray(states)
    except ValueError:  # tuples of several lengths
        values = np.empty(0, dtype=object)
    # numpy makes texts of numbers that stand beside texts; such states would come back as others.
    if values.dtype == object or list(map(repr, _plain(values))) != list(map(repr, states)):
        raise InvalidSystemError("QuantEcon wants states of one type, all numbers or all texts: rename these first")
    return quantecon.MarkovChain(sparse.csr_matrix(matrix), state_values=values)


def _plain(values: Any) -> list[Hashable]:
    return [tuple(value) if isinstance(value, list) else value for value in np.asarray(values).tolist()]
