"""Declared bounds: a box of latitudes and longitudes that is public, because nobody took it from the data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pathveil.errors import InvalidParameterError
from pathveil.numerics.arrays import BoolArray, FloatArray

_FURTHEST = 85.0  # degrees from the equator: beyond, a box of longitudes is a wedge around a pole
_WIDEST = 180.0  # degrees
_ORDER = "bounds are (south, west, north, east) in degrees"


@dataclass(frozen=True)
class Bounds:
    """A box in degrees. Where `west` is larger than `east`, it lies across the date line."""

    south: float
    west: float
    north: float
    east: float

    @classmethod
    def checked(cls, given: Any) -> Bounds:
        """From four numbers; an error that says what is wrong with them."""
        try:
            south, west, north, east = (float(value) for value in given)
        except (TypeError, ValueError):
            raise InvalidParameterError(f"{_ORDER}: four numbers, not {given!r}") from None
        listed = f"({south:g}, {west:g}, {north:g}, {east:g})"
        if not all(map(math.isfinite, (south, west, north, east))):
            raise InvalidParameterError(f"{_ORDER}; {listed} are not four finite numbers")
        if max(abs(south), abs(north)) > 90 or max(abs(west), abs(east)) > 180:
            if max(abs(west), abs(east)) <= 90 and max(abs(south), abs(north)) <= 180:
                raise InvalidParameterError(
                    f"{_ORDER}; {listed} has latitudes beyond 90: latitude and longitude are swapped"
                )
            raise InvalidParameterError(
                f"{_ORDER}; {listed} lies beyond 90 degrees north or south, or 180 east or west. Metres have to be "
                "turned into degrees first."
            )
        if max(abs(south), abs(north)) > _FURTHEST:
            raise InvalidParameterError(
                f"{_ORDER}; {listed} reaches beyond {_FURTHEST:g} degrees, to a pole, where no flat map is right. "
                "Are latitude and longitude swapped?"
            )
        if south >= north:
            raise InvalidParameterError(f"{_ORDER}; {listed} is empty: the south must lie below the north")
        width = (east - west) % 360
        if west == east:
            raise InvalidParameterError(f"{_ORDER}; {listed} is empty: west and east are the same")
        if width > _WIDEST:
            raise InvalidParameterError(
                f"{_ORDER}; {listed} spans {width:g} degrees of longitude. Bounds across the date line have a west "
                "above the east, and no bounds are wider than half the world."
            )
        return cls(south, west, north, east)

    @property
    def width(self) -> float:
        """Degrees of longitude."""
        return (self.east - self.west) % 360

    @property
    def height(self) -> float:
        """Degrees of latitude."""
        return self.north - self.south

    @property
    def middle(self) -> tuple[float, float]:
        """Latitude and longitude of the centre."""
        return (self.south + self.north) / 2, longitude_between(self.west + self.width / 2)

    @property
    def crosses_date_line(self) -> bool:
        return self.west > self.east

    def as_list(self) -> list[float]:
        return [self.south, self.west, self.north, self.east]

    def contain(self, latitudes: FloatArray, longitudes: FloatArray) -> BoolArray:
        """Which points lie inside, edges included."""
        inside: BoolArray = (latitudes >= self.south) & (latitudes <= self.north)
        # Exact comparisons where the box does not cross the date line: a point on the edge belongs to it.
        eastwards = longitudes >= self.west
        westwards = longitudes <= self.east
        inside &= (eastwards | westwards) if self.crosses_date_line else (eastwards & westwards)
        return inside


def longitude_between(longitude: float) -> float:
    """The same meridian as a number from -180 to 180."""
    return (longitude + 180) % 360 - 180 if abs(longitude) > 180 else longitude


def require_degrees(latitudes: FloatArray, longitudes: FloatArray) -> None:
    """An error if points are no degrees, with the reason that is most likely."""
    wrong = ~((np.abs(latitudes) <= 90) & (np.abs(longitudes) <= 180))
    if not wrong.any():
        return
    i = int(np.flatnonzero(wrong)[0])
    latitude, longitude = float(latitudes[i]), float(longitudes[i])
    if abs(longitude) <= 90 and abs(latitude) <= 180:
        what, way_out = "is no latitude", "Latitude and longitude are swapped: exchange the two columns."
    elif abs(latitude) > 1000 or abs(longitude) > 1000:
        what, way_out = "are no degrees", "These look like metres: turn them into degrees (WGS 84, EPSG:4326) first."
    else:
        what, way_out = "are no degrees", "Latitudes lie within ±90, longitudes within ±180. Correct such points."
    raise InvalidParameterError(
        f"a point with latitude {latitude:g} and longitude {longitude:g} {what}. {way_out}",
        without_content=f"a point {what}. {way_out}",
    )


def seem_swapped(bounds: Sequence[Bounds], latitudes: FloatArray, longitudes: FloatArray) -> bool:
    """Would most points lie inside if latitude and longitude were exchanged, and do hardly any as they are?"""
    if not len(latitudes):
        return False
    inside = sum(int(one.contain(latitudes, longitudes).sum()) for one in bounds)
    exchanged = sum(int(one.contain(longitudes, latitudes).sum()) for one in bounds)
    return inside * 10 < len(latitudes) < exchanged * 2
