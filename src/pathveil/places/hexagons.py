"""Hexagons of H3, which follow the globe: every cell has six neighbours at nearly the same distance."""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from pathveil.errors import InvalidParameterError, TooLargeError
from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.places.cells import MOST_CELLS, Cells, Moves, Ring, checked_moves, require_two_cells
from pathveil.places.geometry import Bounds, EqualArea, Polygons, needed
from pathveil.randomness.source import RandomSource

_FINEST = 15


class Hexagons(Cells):
    """The hexagons of H3 that `bounds` touch, at a `resolution` from 0 to 15 (8: some 530 m a side, 0.7 km²).

    `bounds` are (south, west, north, east) in degrees, and public. Points outside them are dropped although a hexagon
    at the edge may reach there. With `stay`, a cell may follow itself; with `moves="any"`,
    any cell any other. Needs `pip install 'pathveil[places]'`.
    """

    def __init__(self, bounds: Any, resolution: int, *, stay: bool = False, moves: Moves = "neighbours") -> None:
        self._h3 = needed("h3.api.basic_str")
        self.bounds = Bounds.checked(bounds)
        if isinstance(resolution, bool) or not isinstance(resolution, int) or not 0 <= resolution <= _FINEST:
            raise InvalidParameterError(f"resolution is a whole number from 0 to {_FINEST}, not {resolution!r}")
        if self.bounds.crosses_date_line:
            raise InvalidParameterError("bounds of Hexagons cannot cross the date line: make two of them, or a Grid")
        self.resolution, self.stay, self.moves = resolution, bool(stay), checked_moves(moves)
        self.projection: EqualArea = EqualArea(*self.bounds.middle)
        self._require_few()
        corners = [
            (self.bounds.south, self.bounds.west),
            (self.bounds.south, self.bounds.east),
            (self.bounds.north, self.bounds.east),
            (self.bounds.north, self.bounds.west),
        ]
        box = self._h3.LatLngPoly(corners)
        self.symbols = tuple(sorted(self._h3.h3shape_to_cells_experimental(box, resolution, contain="overlap")))
        self.source = f"{len(self.symbols)} hexagons of H3, resolution {resolution}"
        require_two_cells(self.symbols, self.source)

    def _require_few(self) -> None:
        """The number of cells is estimated before they are made."""
        south, west, north, east = self.bounds.as_list()
        corners = np.array([south, south, north, north]), np.array([west, east, east, west])
        x, y = self.projection.to_metres(*corners)
        area = (x.max() - x.min()) * (y.max() - y.min()) / 1e6
        estimate = area / self._h3.average_hexagon_area(self.resolution, unit="km^2")
        if estimate > MOST_CELLS:
            raise TooLargeError(
                f"some {estimate:,.0f} hexagons of resolution {self.resolution} are more than {MOST_CELLS:,}: take a "
                "smaller resolution"
            )

    @property
    def extent(self) -> Bounds:
        return self.bounds

    @cached_property
    def _numbers(self) -> dict[int, int]:
        """{H3's number of a cell: its code}."""
        return {self._h3.str_to_int(symbol): code for code, symbol in enumerate(self.symbols)}

    def codes_at(self, latitudes: FloatArray, longitudes: FloatArray) -> IntArray:
        cell_of: Any = needed("h3.api.basic_int").latlng_to_cell
        numbers, resolution = self._numbers, self.resolution
        codes = np.full(len(latitudes), -1, dtype=np.int64)
        inside = np.flatnonzero(self.bounds.contain(latitudes, longitudes))
        points = zip(latitudes[inside].tolist(), longitudes[inside].tolist(), strict=True)
        found = (numbers.get(cell_of(latitude, longitude, resolution), -1) for latitude, longitude in points)
        codes[inside] = np.fromiter(found, np.int64, len(inside))
        return codes

    def outline(self, symbol: str) -> list[Ring]:
        self._code(symbol)
        return [[(float(latitude), float(longitude)) for latitude, longitude in self._h3.cell_to_boundary(symbol)]]

    def document(self) -> dict[str, Any]:
        return {
            "kind": "hexagons",
            "bounds": self.bounds.as_list(),
            "resolution": self.resolution,
            "stay": self.stay,
            "moves": self.moves,
        }

    def _neighbours(self) -> tuple[IntArray, IntArray]:
        codes = self._codes
        pairs = (
            (code, codes[other])
            for symbol, code in codes.items()
            for other in self._h3.grid_disk(symbol, 1)
            if other != symbol and other in codes
        )
        listed = np.fromiter(chain.from_iterable(pairs), np.int64).reshape(-1, 2)
        return listed[:, 0], listed[:, 1]

    def _centres(self) -> tuple[FloatArray, FloatArray]:
        places = np.array([self._h3.cell_to_latlng(symbol) for symbol in self.symbols])
        return self.projection.to_metres(places[:, 0], places[:, 1])

    @cached_property
    def _polygons(self) -> Polygons:
        return Polygons.from_rings([self.outline(symbol) for symbol in self.symbols], self.projection)

    def _uniform_points(self, codes: IntArray, source: RandomSource) -> tuple[FloatArray, FloatArray]:
        return self._polygons.uniform_points(codes, source)
