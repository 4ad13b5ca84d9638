"""Zones with outlines of their own, from GeoJSON: counties, traffic zones, quarters of a town."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pathveil.errors import FileItselfError, InvalidParameterError, InvalidSystemError
from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.places.cells import Cells, Moves, Ring, checked_moves, require_two_cells
from pathveil.places.geometry import Bounds, EqualArea, Polygons, Shapes, needed
from pathveil.randomness.source import RandomSource

_OVERLAP = 0.01  # of the smaller zone: simplified borders overlap in slivers, and a point there is in the first zone
_USUAL_NAMES = ("name", "NAME", "id", "ID", "tile_id", "tile_ID")


class Zones(Cells):
    """Zones from GeoJSON: a file, its text, or the object itself. A zone may follow another where they touch.

    `name` is the property of a feature that names its zone; if it is not given, the usual ones are looked for. Names
    are read as texts. Zones that overlap by more than 1% of the smaller are refused. With `stay`, a zone may follow
    itself; with `moves="any"`, any zone any other, as in tables of origins and destinations. Needs
    `pip install 'pathveil[places]'`.
    """

    def __init__(
        self,
        geojson: str | Path | Mapping[str, Any],
        *,
        name: str | None = None,
        stay: bool = False,
        moves: Moves = "neighbours",
    ) -> None:
        shapely: Any = needed("shapely")
        where, document = _read(geojson)
        features = _features(document, where)
        name = _name_property(features, name, where)
        self.symbols = tuple(_symbol(feature, name, where, i) for i, feature in enumerate(features))
        require_two_cells(self.symbols, where)
        for i, symbol in enumerate(self.symbols):
            if symbol in self.symbols[:i]:
                raise InvalidSystemError(f"{where}: two zones are called {symbol!r} ({name}); name another property")
        self.stay, self.moves = bool(stay), checked_moves(moves)
        self._features = [
            {"type": "Feature", "properties": {"name": symbol}, "geometry": feature["geometry"]}
            for symbol, feature in zip(self.symbols, features, strict=True)
        ]
        shapes = np.empty(len(features), dtype=object)
        for i, feature in enumerate(features):
            shapes[i] = _shape(feature, self.symbols[i], where)
        self._extent = _extent(shapely.total_bounds(shapes), where)
        self.projection: EqualArea = EqualArea(*self._extent.middle)
        self._in_degrees: Shapes = shapes
        self._polygons = Polygons.from_degrees(shapes, self.projection)
        self.source = f"{len(self.symbols)} zones of {where}"
        self._meeting = self._polygons.meeting()
        self._refuse_overlaps(where)

    def _refuse_overlaps(self, where: str) -> None:
        one, other = (ends[self._meeting[0] < self._meeting[1]] for ends in self._meeting)
        overlap = self._polygons.overlap(one, other)
        for i in np.flatnonzero(overlap > _OVERLAP)[:1]:
            raise InvalidSystemError(
                f"{where}: the zones {self.symbols[one[i]]!r} and {self.symbols[other[i]]!r} overlap "
                f"({overlap[i]:.0%} of the smaller). A point must lie in one zone: cut one of them."
            )

    @property
    def extent(self) -> Bounds:
        return self._extent

    def codes_at(self, latitudes: FloatArray, longitudes: FloatArray) -> IntArray:
        codes = np.full(len(latitudes), -1, dtype=np.int64)
        near = np.flatnonzero(self._extent.contain(latitudes, longitudes))  # far points may not even be on the map
        codes[near] = self._polygons.holding(latitudes[near], longitudes[near])
        return codes

    def outline(self, symbol: str) -> list[Ring]:
        shape = self._in_degrees[self._code(symbol)]
        parts = shape.geoms if shape.geom_type == "MultiPolygon" else [shape]
        return [[(float(y), float(x)) for x, y, *_ in part.exterior.coords[:-1]] for part in parts]

    def document(self) -> dict[str, Any]:
        collection = {"type": "FeatureCollection", "features": self._features}
        return {"kind": "zones", "zones": collection, "stay": self.stay, "moves": self.moves}

    def _neighbours(self) -> tuple[IntArray, IntArray]:
        return self._meeting

    def _centres(self) -> tuple[FloatArray, FloatArray]:
        return self._polygons.inner_points()

    def _uniform_points(self, codes: IntArray, source: RandomSource) -> tuple[FloatArray, FloatArray]:
        return self._polygons.uniform_points(codes, source)


def _read(geojson: str | Path | Mapping[str, Any]) -> tuple[str, Any]:
    """What messages call the source, and the object in it."""
    if isinstance(geojson, Mapping):
        return "GeoJSON", geojson
    if isinstance(geojson, str) and geojson.lstrip().startswith("{"):
        where, text = "GeoJSON", geojson
    else:
        where = str(geojson)
        try:
            text = Path(geojson).read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise FileItselfError(f"{where}: this is not UTF-8, as GeoJSON is") from None
        except OSError as problem:
            raise FileItselfError(f"{where}: cannot be read ({problem.strerror or problem})") from None
        where = Path(geojson).name
    try:
        return where, json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise InvalidSystemError(f"{where}: this is not JSON ({problem})") from None


def _features(document: Any, where: str) -> list[dict[str, Any]]:
    features = document.get("features") if isinstance(document, Mapping) else None
    if not isinstance(features, list) or not all(isinstance(one, Mapping) and one.get("geometry") for one in features):
        raise InvalidSystemError(f"{where}: GeoJSON of zones is a FeatureCollection whose features have a geometry")
    return features


def _name_property(features: list[dict[str, Any]], name: str | None, where: str) -> str:
    present = set.intersection(*(set(one.get("properties") or {}) for one in features)) if features else set()
    if name is None:
        name = next((usual for usual in _USUAL_NAMES if usual in present), None)
    if name is None or name not in present:
        listed = ", ".join(sorted(map(repr, present))) or "none"
        wanted = "which property names a zone?" if name is None else f"not all zones have a property {name!r}."
        raise InvalidParameterError(f"{where}: {wanted} All zones have: {listed}. Give one of them as `name`.")
    return name


def _symbol(feature: Mapping[str, Any], name: str, where: str, number: int) -> str:
    value = feature["properties"][name]
    if value is None or value == "" or isinstance(value, dict | list):
        raise InvalidSystemError(f"{where}, feature {number + 1}: its {name!r} is {value!r}, no name for a zone")
    return str(value)


def _shape(feature: Mapping[str, Any], symbol: str, where: str) -> Any:
    shapely: Any = needed("shapely")
    kind = feature["geometry"].get("type")
    if kind not in ("Polygon", "MultiPolygon"):
        raise InvalidSystemError(f"{where}: zone {symbol!r} is a {kind}; zones are polygons")
    try:
        shape = shapely.from_geojson(json.dumps(feature["geometry"]))
    except (shapely.errors.GEOSException, TypeError, ValueError) as problem:
        raise InvalidSystemError(f"{where}: the outline of zone {symbol!r} cannot be read ({problem})") from None
    shape = shape if shape.is_valid else shapely.make_valid(shape)
    if shape.geom_type == "GeometryCollection":  # what mending leaves besides areas are lines and points
        shape = shapely.union_all([part for part in shape.geoms if part.geom_type in ("Polygon", "MultiPolygon")])
    if shape.is_empty or shape.geom_type not in ("Polygon", "MultiPolygon"):
        raise InvalidSystemError(f"{where}: zone {symbol!r} has no area")
    return shape


def _extent(box: FloatArray, where: str) -> Bounds:
    west, south, east, north = box.tolist()
    if not all(map(math.isfinite, (west, south, east, north))) or max(abs(west), abs(east)) > 180 or abs(north) > 90:
        raise InvalidSystemError(
            f"{where}: the outlines reach to x = {east:g}, y = {north:g}: these are no degrees of longitude and "
            "latitude. Save the zones in WGS 84 (EPSG:4326), as GeoJSON has to be."
        )
    if east - west > 180:
        raise InvalidSystemError(f"{where}: the zones span {east - west:g} degrees of longitude: cut at the date line")
    return Bounds.checked((south, west, north, east))
