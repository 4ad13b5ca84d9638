"""What all kinds of cells have in common: places as symbols of a public system.

A *cell* is a piece of the map. Its name is a symbol, a trip is the word of the cells that it passes, and the system
says which cell may follow which: its neighbours, and itself if `stay` is set. All of it is declared, nothing is learned
from points.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from scipy import sparse

from pathveil.errors import InvalidParameterError, InvalidSystemError, UnknownSymbolError
from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.places.filling import ShortestWays
from pathveil.places.geometry import Bounds, Projection
from pathveil.places.trips import MakesWords, Trips, WordMaker, words_of_table
from pathveil.randomness.source import RandomSource, checked_source
from pathveil.systems.alphabet import Alphabet
from pathveil.systems.markov_chain import MarkovChain
from pathveil.systems.symbol_distance import SymbolDistance

if TYPE_CHECKING:
    from datetime import timedelta


Placing = Literal["centre", "uniform"]
Moves = Literal["neighbours", "any"]
Ring = list[tuple[float, float]]
"""Corners as (latitude, longitude), the first of them not repeated."""

_REACH = 4  # the default radius of `distance`, in typical distances to the nearest neighbour
MOST_CELLS = 1_000_000


class Cells(ABC):
    """Cells of a map. Subclasses say where they are; everything here works on their names and neighbours."""

    symbols: tuple[str, ...]
    """The names of the cells, in their order: cell i has code i."""
    stay: bool
    """May a cell follow itself? Then repeated cells of a trip are kept, otherwise they are merged."""
    moves: Moves
    """What may follow a cell: its neighbours, or any cell, as in tables of origins and destinations."""
    projection: Projection
    source: str
    """One line that says which cells these are."""
    _ways: ShortestWays | None = None

    @abstractmethod
    def codes_at(self, latitudes: FloatArray, longitudes: FloatArray) -> IntArray:
        """The code of the cell of each point, -1 for points outside all cells."""

    @abstractmethod
    def outline(self, symbol: str) -> list[Ring]:
        """The outer rings of a cell: one, or several where it has several parts."""

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """What `cells_from_document` makes the same cells of: plain values for JSON."""

    @property
    @abstractmethod
    def extent(self) -> Bounds:
        """A box around all cells."""

    @abstractmethod
    def _neighbours(self) -> tuple[IntArray, IntArray]:
        """All pairs of codes (a, b) of different cells such that b may follow a."""

    @abstractmethod
    def _centres(self) -> tuple[FloatArray, FloatArray]:
        """x and y of a point in the middle of each cell, in metres."""

    @abstractmethod
    def _uniform_points(self, codes: IntArray, source: RandomSource) -> tuple[FloatArray, FloatArray]:
        """A random latitude and longitude in each of these cells."""

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {symbol: code for code, symbol in enumerate(self.symbols)}

    @cached_property
    def system(self) -> MarkovChain | Alphabet:
        """The public system: each cell is followed by its neighbours (and itself, with `stay`), or by any cell."""
        if self.moves == "any":
            return Alphabet(self.symbols)
        shape = (len(self.symbols), len(self.symbols))
        origins, destinations = self._neighbours()
        if self.stay:
            everywhere = np.arange(len(self.symbols))
            origins, destinations = (np.concatenate([ends, everywhere]) for ends in (origins, destinations))
        ones = np.ones(len(origins))
        return MarkovChain.from_counts(self.symbols, sparse.csr_array((ones, (origins, destinations)), shape=shape))

    @cached_property
    def places_in_metres(self) -> FloatArray:
        """One row (x, y) for each cell: metres to the east and to the north of the centre of the map."""
        return np.column_stack(self._centres())

    @property
    def coordinates(self) -> dict[str, tuple[float, float]]:
        """{symbol: (x, y)} in metres to the east and to the north of the centre of the map."""
        return {symbol: (x, y) for symbol, (x, y) in zip(self.symbols, self.places_in_metres.tolist(), strict=True)}

    @cached_property
    def spacing(self) -> float:
        """Metres from the centre of a cell to that of its nearest neighbour, in the median."""
        origins, destinations = self._neighbours()
        if not len(origins):
            return 0.0
        place = self.places_in_metres
        lengths = np.hypot(*(place[origins] - place[destinations]).T)
        nearest = np.full(len(self.symbols), np.inf)
        np.minimum.at(nearest, origins, lengths)
        return float(np.median(nearest[np.isfinite(nearest)]))

    @property
    def distance(self) -> SymbolDistance:
        """The distance between cells with a radius of four times the `spacing`; `distance_within` takes another."""
        return self.distance_within(_REACH * self.spacing)

    def distance_within(self, radius: float | None) -> SymbolDistance:
        """Metres between the centres of cells; beyond `radius` all are equally far (None: nothing is cut off)."""
        return SymbolDistance.from_coordinates(
            dict(zip(self.symbols, self.places_in_metres.tolist(), strict=True)), radius
        )

    def centre(self, symbol: str) -> tuple[float, float]:
        """Latitude and longitude of the middle of a cell."""
        latitudes, longitudes = self.centres()
        code = self._code(symbol)
        return float(latitudes[code]), float(longitudes[code])

    def centres(self) -> tuple[FloatArray, FloatArray]:
        """Latitudes and longitudes of the middles of all cells, in their order."""
        return self._centres_in_degrees

    @cached_property
    def _centres_in_degrees(self) -> tuple[FloatArray, FloatArray]:
        return self.projection.to_degrees(*self._centres())

    def cell_at(self, latitude: float, longitude: float) -> str | None:
        """The cell of one point; None outside."""
        code = int(self.codes_at(np.array([float(latitude)]), np.array([float(longitude)]))[0])
        return None if code < 0 else self.symbols[code]

    def between(self, origins: IntArray, destinations: IntArray) -> tuple[IntArray, IntArray]:
        """The cells strictly between two cells, for many pairs: all codes in one array, and how many for each pair.

        The rule is public and fixed: a way with the fewest cells; among the cells that may come next on such a way,
        the one whose centre is nearest to the destination, and of several the first. Where no way leads there, -1.
        Where any cell may follow any other, there is nothing between.
        """
        if isinstance(self.system, Alphabet):
            return np.empty(0, dtype=np.int64), np.zeros(len(origins), dtype=np.int64)
        if self._ways is None:
            self._ways = ShortestWays(self.system.matrix, self.places_in_metres)
        return self._ways.between(origins, destinations)

    def words(
        self,
        table: Any,
        *,
        latitude: str | None = None,
        longitude: str | None = None,
        user: str | None = None,
        time: str | None = None,
        gap: str | float | timedelta | None = "30min",
    ) -> Trips:
        """Points in memory to words of cells, one for each trip: a list, with `users`, `begins` and `counts` beside it.

        `table` is a frame of pandas, polars or geopandas, an Arrow table, a mapping of columns, or trajectories of
        movingpandas; `latitude`, `longitude`, `user` and `time` name its columns. Where they are left out, the names
        that scikit-mobility and movingpandas use are looked for, and the geometry of geopandas.

        The points of a person are sorted by time. A trip ends where nothing is known for longer than `gap` (a number of
        seconds, "90s", "30min", "2h", "1d", or None: never), and where it leaves the cells; points outside are
        dropped. Between cells that are no neighbours the trip is filled along `between`. `counts` says how often, for
        the curator: sensitive as the points are.
        """
        return words_of_table(self.word_maker(gap), self.symbols, table, (latitude, longitude, user, time))

    def word_maker(self, gap: str | float | timedelta | None) -> MakesWords:
        """What makes words of sorted batches of points, from a table or from files."""
        return WordMaker(self, gap)

    def points(
        self, words: Iterable[Sequence[Any]], *, place: Placing = "centre", rng: RandomSource | None = None
    ) -> list[list[tuple[float, float]]]:
        """The points of words of cells: for each word a list of (latitude, longitude).

        `place` is "centre", or "uniform" for random points of the cells. Neither tells more than the words do.
        """
        listed = [list(word) for word in words]
        codes = np.array([self._code(symbol) for word in listed for symbol in word], dtype=np.int64)
        latitudes, longitudes = self.degrees_of(codes, place, rng)
        pairs = iter(zip(latitudes.tolist(), longitudes.tolist(), strict=True))
        return [[next(pairs) for _ in word] for word in listed]

    def degrees_of(
        self, codes: IntArray, place: Placing = "centre", rng: RandomSource | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """A latitude and a longitude for each code."""
        if place == "uniform":
            return self._uniform_points(codes, checked_source(rng))
        if place != "centre":
            raise InvalidParameterError(f"place is 'centre' or 'uniform', not {place!r}")
        latitudes, longitudes = self.centres()
        return latitudes[codes], longitudes[codes]

    def _code(self, symbol: Any) -> int:
        try:
            return self._codes[symbol]
        except (KeyError, TypeError):
            raise UnknownSymbolError(
                f"{symbol!r} is not one of the {len(self.symbols)} cells. Give the cells that the words were made with."
            ) from None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.symbols)} cells: {self.source})"


def checked_moves(moves: Any) -> Moves:
    """What may follow a cell."""
    if moves not in get_args(Moves):
        raise InvalidParameterError(f"moves is 'neighbours' or 'any', not {moves!r}")
    chosen: Moves = moves
    return chosen


def require_two_cells(names: Sequence[str], where: str) -> None:
    """An error unless there are at least two cells, and not too many."""
    if len(names) < 2:
        raise InvalidSystemError(f"{where}: {len(names)} cell is not enough, a trip needs two. Take smaller cells.")
