"""Degrees to metres and back.

FlatMap      equirectangular around a latitude: two multiplications, nothing to install. At the reference latitude
             lengths are right to 1e-4 up to 50 km, elsewhere off by the factor cos(latitude)/cos(reference): half a
             percent at the edges of a city of 60 km, and `distortion` says how much.
EqualArea    Lambert's azimuthal equal-area projection by pyproj: areas are exact, lengths right to 0.1% within 500 km
             of the centre.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

from pathveil.errors import InvalidParameterError
from pathveil.numerics.arrays import FloatArray
from pathveil.places.geometry.bounds import longitude_between

_EQUATOR_RADIUS = 6_378_137.0  # metres: the ellipsoid of WGS 84
_ECCENTRICITY_SQUARED = 6.694379990141316e-3


class Projection(Protocol):
    """A flat map: x to the east and y to the north, in metres from its centre."""

    def to_metres(self, latitudes: FloatArray, longitudes: FloatArray) -> tuple[FloatArray, FloatArray]: ...

    def to_degrees(self, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]: ...


class FlatMap:
    """Equirectangular around (latitude, longitude), with the radii of the ellipsoid there."""

    def __init__(self, latitude: float, longitude: float) -> None:
        self.latitude, self.longitude = latitude, longitude
        flat = 1 - _ECCENTRICITY_SQUARED * math.sin(math.radians(latitude)) ** 2
        along_meridian = _EQUATOR_RADIUS * (1 - _ECCENTRICITY_SQUARED) / flat**1.5
        across = _EQUATOR_RADIUS / math.sqrt(flat)
        self.metres_north = math.radians(along_meridian)
        """Metres of one degree of latitude."""
        self.metres_east = math.radians(across) * math.cos(math.radians(latitude))
        """Metres of one degree of longitude."""

    def to_metres(self, latitudes: FloatArray, longitudes: FloatArray) -> tuple[FloatArray, FloatArray]:
        east = (np.asarray(longitudes) - self.longitude + 180) % 360 - 180
        return east * self.metres_east, (np.asarray(latitudes) - self.latitude) * self.metres_north

    def to_degrees(self, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        longitudes = self.longitude + np.asarray(x) / self.metres_east
        return self.latitude + np.asarray(y) / self.metres_north, (longitudes + 180) % 360 - 180

    def distortion(self, latitude: float) -> float:
        """By which part lengths from west to east are wrong at a latitude: 0.01 is one percent."""
        return abs(FlatMap(latitude, self.longitude).metres_east / self.metres_east - 1)


class EqualArea:
    """Lambert's azimuthal equal-area projection around (latitude, longitude)."""

    def __init__(self, latitude: float, longitude: float) -> None:
        pyproj: Any = needed("pyproj")
        self.latitude, self.longitude = latitude, longitude_between(longitude)
        self._map = pyproj.Proj(proj="laea", lat_0=self.latitude, lon_0=self.longitude, ellps="WGS84")

    def to_metres(self, latitudes: FloatArray, longitudes: FloatArray) -> tuple[FloatArray, FloatArray]:
        x, y = self._map(np.asarray(longitudes, dtype=float), np.asarray(latitudes, dtype=float))
        return np.asarray(x, dtype=float), np.asarray(y, dtype=float)

    def to_degrees(self, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        longitudes, latitudes = self._map(np.asarray(x, dtype=float), np.asarray(y, dtype=float), inverse=True)
        return np.asarray(latitudes, dtype=float), np.asarray(longitudes, dtype=float)


def needed(library: str, extra: str = "places") -> Any:
    """A library that only this work needs; an error that says how to get it."""
    from importlib import import_module

    try:
        return import_module(library)
    except ImportError:
        raise InvalidParameterError(f"this needs {library}: pip install 'pathveil[{extra}]'") from None
