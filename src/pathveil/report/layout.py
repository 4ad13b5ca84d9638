"""Where the states of a system stand in its picture: at their coordinates, or where distances come out best.

Without coordinates the plane distance of two states shall be the number of moves between them, as far as that goes:
stress majorisation (Gansner, Koren, North 2004), started from classical scaling. No randomness, so the same system
always looks the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import shortest_path

from pathveil.errors import InvalidParameterError, TooLargeError
from pathveil.markup import name_of
from pathveil.report.charts import Network, Path
from pathveil.systems.markov_chain import MarkovChain
from pathveil.systems.system import System, Word

Points = npt.NDArray[np.float64]
Coordinates = Mapping[Any, tuple[float, float]]

LARGEST_PICTURE = 400
"""Systems with more states than this are not drawn: nobody could read the picture."""

_ROUNDS = 60


@dataclass(frozen=True)
class Picture:
    """The drawn states of a system, their places and the edges between them, and where each compiled state is drawn."""

    names: tuple[str, ...]
    places: Points
    edges: tuple[tuple[int, int], ...]
    node_of: Mapping[int, int]

    def path(self, world: System, word: Word) -> list[int]:
        """The nodes that a feasible word visits."""
        codes = world.encode(word)
        world.require_feasible(codes)
        return [self.node_of[state] for state in world.compiled.path(codes.tolist()) if state in self.node_of]

    def network(self, title: str, paths: Sequence[Path] = ()) -> Network:
        """The chart, with words drawn on it."""
        return Network(title, self.names, self.places[:, 0].tolist(), self.places[:, 1].tolist(), self.edges, paths)


def picture_of(world: System, coordinates: Coordinates | None = None) -> Picture:
    """Find a place for every state; an error where there are too many, or where a coordinate is missing."""
    compiled = world.compiled
    before_words = isinstance(world, MarkovChain) and not world.starts_after
    drawn = [state for state in range(compiled.state_count) if not (before_words and state == compiled.start)]
    if len(drawn) > LARGEST_PICTURE:
        raise TooLargeError(f"{len(drawn)} states are too many for a picture; up to {LARGEST_PICTURE} are drawn")
    number = {state: i for i, state in enumerate(drawn)}
    pairs = zip(compiled.sources.tolist(), compiled.targets.tolist(), strict=True)
    edges = tuple(dict.fromkeys((number[a], number[b]) for a, b in pairs if a in number and b in number))
    names = tuple(_name(world.state_names[state]) for state in drawn)
    places = _best_places(len(names), edges) if coordinates is None else _given_places(names, coordinates)
    return Picture(names, places, edges, number)


def _name(state: object) -> str:
    """A state of a determinised automaton is a set of the states that the user knows."""
    if isinstance(state, frozenset):
        return ", ".join(sorted(map(name_of, state)))
    return "start" if state is None else name_of(state)


def _given_places(names: Sequence[str], coordinates: Coordinates) -> Points:
    known = {name_of(symbol): place for symbol, place in coordinates.items()}
    for name in names:
        if name not in known:
            raise InvalidParameterError(f"there are no coordinates for {name!r}: give x and y for every symbol")
    return np.array([known[name] for name in names], dtype=float)


def _best_places(count: int, edges: Sequence[tuple[int, int]]) -> Points:
    if count == 1:
        return np.zeros((1, 2))
    a, b = np.array(edges, dtype=int).reshape(-1, 2).T
    ways = sparse.csr_array((np.ones(len(edges)), (a, b)), shape=(count, count))
    wanted = shortest_path(ways, directed=False, unweighted=True)
    apart = wanted[np.isfinite(wanted)].max() + 2  # parts that are not connected stand beside each other
    wanted[~np.isfinite(wanted)] = apart
    places = _classical_scaling(wanted)
    weights = 1 / np.maximum(wanted, 1) ** 2
    np.fill_diagonal(weights, 0)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    solve = np.linalg.pinv(laplacian)
    for _ in range(_ROUNDS):
        gaps = np.linalg.norm(places[:, None] - places[None], axis=2)
        pull = weights * wanted / np.maximum(gaps, 1e-9)
        np.fill_diagonal(pull, 0)
        places = solve @ ((np.diag(pull.sum(axis=1)) - pull) @ places)
    return places


def _classical_scaling(wanted: Points) -> Points:
    count = len(wanted)
    centre = np.eye(count) - 1 / count
    values, vectors = np.linalg.eigh(-centre @ wanted**2 @ centre / 2)
    top = np.argsort(values)[-2:]
    # The sign of an eigenvector is a matter of chance: the largest entry is made positive.
    axes = vectors[:, top] * np.sign(vectors[np.abs(vectors[:, top]).argmax(axis=0), top])
    spread = axes * np.sqrt(np.maximum(values[top], 1e-6))
    # States that are alike would fall on one point and stay there: a spiral too small to see keeps them apart.
    turns = np.arange(count) * 2.4
    places: Points = spread + 0.05 * np.column_stack([np.cos(turns), np.sin(turns)])
    return places
