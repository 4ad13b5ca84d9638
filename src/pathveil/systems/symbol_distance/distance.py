"""How far apart symbols are: a public metric, and its costs in whole steps.

A mistake that puts a trip into the neighbouring cell is smaller than one that puts it across town. Mechanisms that know
distances weigh a private word by Σ c(w_i, w'_i), where c(x, y) = min(distance/R, 1) is rounded **up** to a multiple of
1/q: rounding up keeps the triangle inequality, which the promise rests on, rounding down or to nearest breaks it. The
distances themselves are kept, for errors in metres. (docs/distances.md)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from pathveil.errors import InvalidParameterError, TooLargeError
from pathveil.numerics.arrays import BoolArray, FloatArray, IntArray
from pathveil.numerics.jit import compile_on_first_call
from pathveil.systems.system import Symbol, unique_symbols

Costs = npt.NDArray[np.uint16]
"""Steps from symbol to symbol: cost times q, at most q."""

STEPS = 10_000
"""q, if nobody says otherwise: a ten-thousandth of the radius is far below what places are known to."""
LARGEST_STEPS = 2**15 - 1  # two of them still fit into 16 bits
MOST_SYMBOLS = 10_000  # 200 MB of costs
_DOUBTFUL = 1e-12  # of a number of steps; its rounding error is a hundredth of that
_GENEROUS = 1 + 1e-9  # rounding must not put a symbol out of reach that lies just within
_ROWS = 256  # at a time


@dataclass(frozen=True)
class Closeness:
    """What lies within so far of each other: the unit "moved by at most `reach`" rests on these numbers."""

    reach: float
    largest_cost: int
    """The largest cost in steps of two symbols within reach of each other: ρ is this over q."""
    alone: int
    """How many symbols have no other symbol within reach: there this unit protects nothing."""


class SymbolDistance:
    """A metric on symbols, with a radius R beyond which all are equally far.

    >>> import pathveil as pv
    >>> d = pv.SymbolDistance.from_coordinates({"a": (0, 0), "b": (300, 400), "c": (0, 5000)}, radius=800.0)
    >>> d.distance("a", "b"), d.cost("a", "b"), d.cost("a", "c")
    (500.0, 0.625, 1.0)
    >>> d.within(600.0).alone
    1
    """

    def __init__(
        self,
        symbols: Sequence[Symbol],
        radius: float | None,
        steps: int,
        *,
        points: FloatArray | None = None,
        matrix: FloatArray | None = None,
        fingerprint: str | None = None,
    ) -> None:
        """Use `from_coordinates`, `from_matrix` or `from_function`."""
        self._symbols = unique_symbols(symbols)
        if len(self._symbols) > MOST_SYMBOLS:
            raise TooLargeError(
                f"{len(self._symbols):,} symbols: costs between all of them fit for up to {MOST_SYMBOLS:,}. "
                "Take larger cells."
            )
        if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or not 1 <= steps <= LARGEST_STEPS:
            raise InvalidParameterError(f"`steps` is a whole number from 1 to {LARGEST_STEPS:,}, not {steps!r}")
        self._steps = int(steps)
        self._points, self._matrix, self._fingerprint = points, matrix, fingerprint
        self._radius = self._farthest if radius is None else _checked_radius(radius)

    @classmethod
    def from_coordinates(
        cls, points: Mapping[Symbol, Sequence[float]], radius: float | None = None, *, steps: int = STEPS
    ) -> SymbolDistance:
        """Straight lines between points of the plane: {symbol: (x, y)}, best in metres.

        `radius` is R; None for the largest distance there is, so that nothing is cut off, and 0 for plain Hamming
        distance, where every other symbol is equally far.
        """
        if not isinstance(points, Mapping):
            raise InvalidParameterError(f"coordinates are a mapping {{symbol: (x, y)}}, not {type(points).__name__}")
        listed = np.empty((len(points), 2))
        for number, (symbol, point) in enumerate(points.items()):
            try:
                x, y = point
                listed[number] = float(x), float(y)
            except (TypeError, ValueError):
                raise InvalidParameterError(f"the coordinates of {symbol!r} are two numbers, not {point!r}") from None
            if not np.isfinite(listed[number]).all() or np.abs(listed[number]).max() > 1e150:
                raise InvalidParameterError(f"the coordinates of {symbol!r} are not finite: {point!r}")
        return cls(tuple(points), radius, steps, points=listed)

    @classmethod
    def from_matrix(
        cls, symbols: Iterable[Symbol], matrix: npt.ArrayLike, radius: float | None = None, *, steps: int = STEPS
    ) -> SymbolDistance:
        """Any metric, for instance travel times: `matrix[i, j]` is the distance from symbol i to symbol j."""
        listed = unique_symbols(symbols)
        try:
            table = np.array(matrix, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidParameterError("the matrix of distances holds something that is no number") from None
        if table.shape != (len(listed), len(listed)):
            raise InvalidParameterError(f"{len(listed)} symbols need a square matrix, not one of shape {table.shape}")
        _require_distances(listed, table)
        made = cls(listed, radius, steps, matrix=table)
        _ = made.costs  # the triangle inequality is checked here
        return made

    @classmethod
    def from_function(
        cls,
        symbols: Iterable[Symbol],
        function: Callable[[Any, Any], float],
        radius: float | None = None,
        *,
        steps: int = STEPS,
    ) -> SymbolDistance:
        """The same by a function of two symbols."""
        listed = unique_symbols(symbols)
        if not callable(function):
            raise InvalidParameterError(f"the distance is a function of two symbols, not {function!r}")
        return cls.from_matrix(listed, [[function(x, y) for y in listed] for x in listed], radius, steps=steps)

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """The symbols, in the order of rows and columns."""
        return self._symbols

    @property
    def radius(self) -> float:
        """R: from here on all symbols are equally far; 0 for Hamming distance."""
        return self._radius

    @property
    def steps(self) -> int:
        """q: costs are whole multiples of 1/q; 1 for Hamming distance."""
        return self._steps if self.radius > 0 else 1

    @property
    def points(self) -> FloatArray | None:
        """The coordinates, a row for each symbol; None where distances did not come from coordinates."""
        return None if self._points is None else self._points.copy()

    @property
    def coordinates(self) -> dict[Symbol, tuple[float, float]] | None:
        """The same as a mapping."""
        if self._points is None:
            return None
        return {symbol: (x, y) for symbol, (x, y) in zip(self.symbols, self._points.tolist(), strict=True)}

    def distance(self, x: Symbol, y: Symbol) -> float:
        """The distance of two symbols, in the units of the coordinates."""
        return float(self.distances_from(self._code(x))[self._code(y)])

    def cost(self, x: Symbol, y: Symbol) -> float:
        """c(x, y): from 0 to 1, a multiple of 1/q."""
        return int(self.costs[self._code(x), self._code(y)]) / self.steps

    def distances_from(self, codes: int | IntArray) -> FloatArray:
        """The distances of one symbol, or of several, from all symbols: by number, a row for each."""
        if self._matrix is not None:
            rows: FloatArray = self._matrix[codes]
            return rows
        assert self._points is not None
        x, y = self._points.T
        apart: FloatArray = np.hypot(
            np.abs(self._points[codes, 0][..., None] - x), np.abs(self._points[codes, 1][..., None] - y)
        )
        return apart

    @cached_property
    def costs(self) -> Costs:
        """q·c(x, y) for all symbols, as whole numbers: a metric, exactly. Different symbols cost a step at least."""
        count = len(self.symbols)
        costs = np.full((count, count), self.steps, dtype=np.uint16)
        if self.radius > 0:
            for rows in self._blocks:
                steps = self.distances_from(rows) * (self.steps / self.radius)
                costs[rows] = np.clip(np.ceil(steps), 1, self.steps)
                if self._points is not None:
                    self._settle(costs, rows, steps)
        costs[np.arange(count), np.arange(count)] = 0
        if self._matrix is not None and self.radius > 0:
            self._require_triangles(costs)
        costs.flags.writeable = False
        return costs

    @cached_property
    def fingerprint(self) -> str:
        """A short name of the distances, whatever the radius: units are compared only where it is the same.

        It is that of all symbols that were given, also where a system uses only some of them.
        """
        if self._fingerprint is not None:
            return self._fingerprint
        digest = sha256()
        order = sorted(range(len(self.symbols)), key=lambda code: repr(self.symbols[code]))
        for code in order:
            own = self._points[code] if self._points is not None else self.distances_from(code)[order]
            digest.update(f"{self.symbols[code]!r} {own.tolist()}\n".encode())
        return digest.hexdigest()[:16]

    def with_radius(self, radius: float | None) -> SymbolDistance:
        """The same distances with another R."""
        return SymbolDistance(
            self.symbols, radius, self._steps, points=self._points, matrix=self._matrix, fingerprint=self.fingerprint
        )

    def ordered(self, symbols: Sequence[Symbol]) -> SymbolDistance:
        """For the symbols of a system, in their order; those that are left out are named."""
        if tuple(symbols) == self.symbols:
            return self
        missing = [symbol for symbol in symbols if symbol not in self._codes]
        if missing:
            named = ", ".join(repr(symbol) for symbol in missing[:3]) + (", …" if len(missing) > 3 else "")
            raise InvalidParameterError(
                f"no distance is known for {len(missing):,} of {len(symbols):,} symbols of the system: {named}. "
                "Give coordinates for all of them."
            )
        rows = np.array([self._codes[symbol] for symbol in symbols], dtype=np.int64)
        return SymbolDistance(
            tuple(symbols),
            self.radius,
            self._steps,
            points=None if self._points is None else self._points[rows],
            matrix=None if self._matrix is None else self._matrix[np.ix_(rows, rows)],
            fingerprint=self.fingerprint,
        )

    def near(self, reach: float) -> BoolArray:
        """For all symbols: are they within reach of each other? Nobody is within reach of itself."""
        reach = _checked_reach(reach)
        near = np.empty((len(self.symbols), len(self.symbols)), dtype=bool)
        for rows in self._blocks:
            near[rows] = self.distances_from(rows) <= reach * _GENEROUS
        near[np.arange(len(near)), np.arange(len(near))] = False
        return near

    def within(self, reach: float) -> Closeness:
        """How far symbols within reach can cost, and how many have nobody there."""
        near = self.near(reach)
        largest = int(self.costs[near].max(initial=0))
        return Closeness(float(reach), largest, int(np.count_nonzero(~near.any(axis=1))))

    @cached_property
    def _codes(self) -> dict[Symbol, int]:
        return {symbol: code for code, symbol in enumerate(self.symbols)}

    def _code(self, symbol: Symbol) -> int:
        try:
            return self._codes[symbol]
        except (KeyError, TypeError):
            raise InvalidParameterError(f"no distance is known for {symbol!r}") from None

    @property
    def _blocks(self) -> Iterable[IntArray]:
        count = len(self.symbols)
        return (np.arange(begin, min(begin + _ROWS, count)) for begin in range(0, count, _ROWS))

    @property
    def _farthest(self) -> float:
        """The largest distance; 1 where all symbols are at one place."""
        return max(float(self.distances_from(rows).max()) for rows in self._blocks) or 1.0

    def _settle(self, costs: Costs, rows: IntArray, steps: FloatArray) -> None:
        """Round up without error where rounding may have decided: points on a grid lie whole steps apart.

        Points are what their floating-point coordinates say, so that exact costs keep the triangle inequality.
        """
        assert self._points is not None
        nearest = np.rint(steps)
        close = (np.abs(steps - nearest) <= _DOUBTFUL * nearest) & (nearest > 0) & (nearest <= self.steps)
        known: dict[tuple[float, float, float, float], int] = {}
        ratio = (Fraction(self.steps) / Fraction(self.radius)) ** 2
        for i, j in zip(*np.nonzero(close), strict=True):
            (x, y), (u, v) = self._points[rows[i]], self._points[j]
            key = _difference(x, u) + _difference(y, v)
            if key not in known:
                apart = (Fraction(key[0]) + Fraction(key[1])) ** 2 + (Fraction(key[2]) + Fraction(key[3])) ** 2
                whole = int(nearest[i, j])
                known[key] = whole if whole**2 >= ratio * apart else whole + 1
            costs[rows[i], j] = min(known[key], self.steps)

    def _require_triangles(self, costs: Costs) -> None:
        """Costs become the shortest ways between symbols, which may round a step off; more than that is an error."""
        given = costs.astype(np.int32)
        compile_on_first_call(_shortest_ways)(costs)
        worst = int(np.argmax(given - costs))
        i, j = divmod(worst, len(costs))
        if given[i, j] - int(costs[i, j]) <= 1:
            return
        between = int(np.argmin(given[i] + given[:, j]))
        x, y, z = self.symbols[i], self.symbols[j], self.symbols[between]
        raise InvalidParameterError(
            f"not a metric: from {x!r} to {y!r} it is {self.distance(x, y):g}, but by way of {z!r} only "
            f"{self.distance(x, z) + self.distance(z, y):g}. Take the shortest ways as distances."
        )

    def __repr__(self) -> str:
        return f"SymbolDistance({len(self.symbols)} symbols, radius={self.radius:g}, steps={self.steps})"


def _difference(one: float, other: float) -> tuple[float, float]:
    """|one - other| as the sum of two floating-point numbers, without error."""
    larger, smaller = max(one, other), min(one, other)
    rounded = larger - smaller
    back = rounded - larger
    return float(rounded), float((larger - (rounded - back)) - (smaller + back))


def _shortest_ways(costs: Any) -> None:
    count = len(costs)
    for k in range(count):
        by = costs[k]
        for i in range(count):
            first, row = costs[i, k], costs[i]
            for j in range(count):
                way = np.uint16(first + by[j])
                row[j] = min(row[j], way)


def _checked_radius(radius: Any) -> float:
    try:
        value = float("nan") if isinstance(radius, str | bool) else float(radius)
    except (TypeError, ValueError):
        value = float("nan")
    if not (value == 0 or 1e-150 <= value <= 1e150):
        raise InvalidParameterError(
            f"the radius is a finite number, in the units of the distances, not {radius!r}: none at all for the "
            "largest distance there is, 0 for Hamming distance"
        )
    return value


def _checked_reach(reach: Any) -> float:
    try:
        value = float("nan") if isinstance(reach, str | bool) else float(reach)
    except (TypeError, ValueError):
        value = float("nan")
    if not (isfinite(value) and value > 0):
        raise InvalidParameterError(
            f"`within` is a positive, finite number, in the units of the distances, not {reach!r}; leave it out to "
            "protect symbols however far they are moved"
        )
    return value


def _require_distances(symbols: Sequence[Symbol], table: FloatArray) -> None:
    """An error that names a pair of symbols whose distance cannot be one."""

    def refuse(where: BoolArray, what: str) -> None:
        if where.any():
            i, j = divmod(int(np.argmax(where)), len(symbols))
            raise InvalidParameterError(f"the distance from {symbols[i]!r} to {symbols[j]!r} is {table[i, j]}: {what}")

    refuse(~np.isfinite(table), "distances are finite numbers")
    refuse(table < 0, "distances are not negative")
    refuse(np.diag(np.diag(table) != 0), "a symbol is at no distance from itself")
    refuse(table != table.T, "the way back must be as long")
