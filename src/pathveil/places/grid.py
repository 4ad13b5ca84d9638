"""Square cells in metres, with king moves: to the eight cells around. It needs no further library."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pathveil.errors import InvalidParameterError, TooLargeError
from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.places.cells import MOST_CELLS, Cells, Moves, Ring, checked_moves, require_two_cells
from pathveil.places.geometry import Bounds, FlatMap
from pathveil.randomness.source import RandomSource

_SMALLEST = 1.0  # metres: GPS knows no better, and whoever says less means degrees
_MOST_DISTORTION = 0.1
_ROUNDING = 1e-9  # bounds that are a whole number of cells wide get that many


class Grid(Cells):
    """Square cells of `cell` metres, from the north-western corner of `bounds` on. Row 1 is the northernmost.

    `bounds` are (south, west, north, east) in degrees, and public: never take them from the points. The last row and
    column end where the bounds end. With `stay`, a cell may follow itself; with `moves="any"`,
    any cell any other.

    The map is flat (`FlatMap`): a cell is as high as asked for everywhere, and as wide at the middle latitude of the
    bounds; at their edges its width is off by `distortion`. More than 10% is refused.

    >>> import pathveil as pv
    >>> cells = pv.places.Grid(bounds=(41.6, -87.9, 42.1, -87.5), cell=500.0)
    >>> cells.cell_at(41.8789, -87.6359), len(cells.symbols)
    ('r050c44', 7504)
    """

    def __init__(self, bounds: Any, cell: float, *, stay: bool = False, moves: Moves = "neighbours") -> None:
        self.bounds = Bounds.checked(bounds)
        self.cell = _checked_cell(cell)
        self.stay, self.moves = bool(stay), checked_moves(moves)
        middle = self.bounds.middle
        self.projection: FlatMap = FlatMap(*middle)
        self.distortion = max(self.projection.distortion(edge) for edge in (self.bounds.south, self.bounds.north))
        """By which part cells at the edges are too wide or too narrow: 0.01 is one percent."""
        if self.distortion > _MOST_DISTORTION:
            raise InvalidParameterError(
                f"the bounds are so high that square cells would be {self.distortion:.0%} off at their edges. Take "
                "smaller bounds, or Hexagons or Zones, which follow the globe."
            )
        self.width = self.bounds.width * self.projection.metres_east
        self.height = self.bounds.height * self.projection.metres_north
        self.rows = max(1, math.ceil(self.height / self.cell - _ROUNDING))
        self.columns = max(1, math.ceil(self.width / self.cell - _ROUNDING))
        self.source = f"grid of {self.rows} rows and {self.columns} columns, cells of {self.cell:g} m"
        if self.rows * self.columns > MOST_CELLS:
            raise TooLargeError(
                f"{self.rows:,} times {self.columns:,} cells are more than {MOST_CELLS:,}: take larger cells, in metres"
            )
        digits = len(str(self.rows)), len(str(self.columns))
        self.symbols = tuple(
            f"r{row + 1:0{digits[0]}}c{column + 1:0{digits[1]}}"
            for row in range(self.rows)
            for column in range(self.columns)
        )
        require_two_cells(self.symbols, f"bounds of {self.width:.0f} by {self.height:.0f} m, cells of {self.cell:g} m")

    @property
    def extent(self) -> Bounds:
        return self.bounds

    def codes_at(self, latitudes: FloatArray, longitudes: FloatArray) -> IntArray:
        inside = self.bounds.contain(latitudes, longitudes)
        down = (self.bounds.north - latitudes) * (self.projection.metres_north / self.cell)
        right = (longitudes - self.bounds.west) % 360 * (self.projection.metres_east / self.cell)
        # On the southern and eastern edge rounding must not lead out of the last cell.
        rows = np.clip(np.where(inside, down, 0.0), 0, self.rows - 1).astype(np.int64)
        columns = np.clip(np.where(inside, right, 0.0), 0, self.columns - 1).astype(np.int64)
        codes: IntArray = np.where(inside, rows * self.columns + columns, -1)
        return codes

    def between(self, origins: IntArray, destinations: IntArray) -> tuple[IntArray, IntArray]:
        """The cells strictly between two cells, for many pairs: all codes in one array, and how many for each pair.

        The rule is public and fixed: the straight line from cell to cell, each step to the nearest cell on it (halves
        away from the origin); as many steps as a king needs.
        """
        if self.moves == "any":
            return super().between(origins, destinations)
        down = destinations // self.columns - origins // self.columns
        right = destinations % self.columns - origins % self.columns
        steps = np.maximum(np.abs(down), np.abs(right))
        counts = np.maximum(steps - 1, 0)
        pair = np.repeat(np.arange(len(origins)), counts)
        step = np.arange(len(pair)) - np.repeat(np.cumsum(counts) - counts, counts) + 1
        rows = origins[pair] // self.columns + _rounded(step * down[pair], steps[pair])
        columns = origins[pair] % self.columns + _rounded(step * right[pair], steps[pair])
        return rows * self.columns + columns, counts

    def outline(self, symbol: str) -> list[Ring]:
        west, east, south, north = (float(side[0]) for side in self._sides(np.array([self._code(symbol)])))
        x, y = np.array([west, east, east, west]), np.array([south, south, north, north])
        latitudes, longitudes = self.projection.to_degrees(x, y)
        return [list(zip(latitudes.tolist(), longitudes.tolist(), strict=True))]

    def document(self) -> dict[str, Any]:
        return {
            "kind": "grid",
            "bounds": self.bounds.as_list(),
            "cell": self.cell,
            "stay": self.stay,
            "moves": self.moves,
        }

    def _sides(self, codes: IntArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """West, east, south and north of cells in metres; no cell reaches beyond the bounds."""
        rows, columns = (codes // self.columns).astype(float), (codes % self.columns).astype(float)
        west, north = columns * self.cell - self.width / 2, self.height / 2 - rows * self.cell
        east, south = np.minimum(west + self.cell, self.width / 2), np.maximum(north - self.cell, -self.height / 2)
        return west, east, south, north

    def _neighbours(self) -> tuple[IntArray, IntArray]:
        codes = np.arange(self.rows * self.columns)
        rows, columns = codes // self.columns, codes % self.columns
        origins, destinations = [], []
        for down in (-1, 0, 1):
            for right in (-1, 0, 1):
                inside = (rows + down >= 0) & (rows + down < self.rows)
                inside &= (columns + right >= 0) & (columns + right < self.columns)
                if (down, right) != (0, 0):
                    origins.append(codes[inside])
                    destinations.append(codes[inside] + down * self.columns + right)
        return np.concatenate(origins), np.concatenate(destinations)

    def _centres(self) -> tuple[FloatArray, FloatArray]:
        west, east, south, north = self._sides(np.arange(len(self.symbols)))
        return (west + east) / 2, (south + north) / 2

    def _uniform_points(self, codes: IntArray, source: RandomSource) -> tuple[FloatArray, FloatArray]:
        west, east, south, north = self._sides(codes)
        x = west + source.uniform(len(codes)) * (east - west)
        y = south + source.uniform(len(codes)) * (north - south)
        return self.projection.to_degrees(x, y)


def _rounded(numerators: IntArray, denominators: IntArray) -> IntArray:
    """The quotients as whole numbers, halves away from zero; in integers, so that every machine agrees."""
    rounded: IntArray = np.sign(numerators) * ((2 * np.abs(numerators) + denominators) // (2 * denominators))
    return rounded


def _checked_cell(cell: Any) -> float:
    if isinstance(cell, bool) or not isinstance(cell, int | float | np.number) or not math.isfinite(cell) or cell <= 0:
        raise InvalidParameterError(f"cell is the side of a cell in metres, a positive number, not {cell!r}")
    if cell < _SMALLEST:
        raise InvalidParameterError(
            f"cell is the side of a cell in metres; {cell:g} is less than one. A thousandth of a degree is some 111 m."
        )
    return float(cell)
