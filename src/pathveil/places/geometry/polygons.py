"""Polygons on a flat map: which of them holds a point, and random points in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.places.geometry.projection import EqualArea, needed
from pathveil.randomness.source import RandomSource

Shapes = npt.NDArray[np.object_]
Ring = list[tuple[float, float]]


class Polygons:
    """Shapes in metres on an equal-area map, so that uniform on the map is uniform on the ground."""

    def __init__(self, shapes: Shapes, projection: EqualArea) -> None:
        self.shapes, self.projection = shapes, projection
        self._shapely: Any = needed("shapely")
        self._tree = self._shapely.STRtree(shapes)

    @classmethod
    def from_rings(cls, outlines: Sequence[list[Ring]], projection: EqualArea) -> Polygons:
        """From outer rings in degrees."""
        shapely: Any = needed("shapely")
        made = np.empty(len(outlines), dtype=object)
        for i, rings in enumerate(outlines):
            parts = [shapely.Polygon(np.column_stack(projection.to_metres(*np.array(ring).T))) for ring in rings]
            made[i] = parts[0] if len(parts) == 1 else shapely.MultiPolygon(parts)
        return cls(made, projection)

    @classmethod
    def from_degrees(cls, shapes: Shapes, projection: EqualArea) -> Polygons:
        """From shapely's shapes, x the longitude and y the latitude."""

        def flat(places: FloatArray) -> FloatArray:
            return np.column_stack(projection.to_metres(places[:, 1], places[:, 0]))

        return cls(needed("shapely").transform(shapes, flat), projection)

    def holding(self, latitudes: FloatArray, longitudes: FloatArray) -> IntArray:
        """The first shape that holds each point, edges included; -1 where none does."""
        points = self._shapely.points(*self.projection.to_metres(latitudes, longitudes))
        which, shape = self._tree.query(points, predicate="intersects")
        codes = np.full(len(latitudes), len(self.shapes), dtype=np.int64)
        np.minimum.at(codes, which, shape)
        return np.where(codes == len(self.shapes), -1, codes)

    def meeting(self) -> tuple[IntArray, IntArray]:
        """All pairs (a, b), a other than b, of shapes that have a point in common."""
        one, other = self._tree.query(self.shapes, predicate="intersects")
        apart = one != other
        return one[apart].astype(np.int64), other[apart].astype(np.int64)

    def overlap(self, one: IntArray, other: IntArray) -> FloatArray:
        """The part of the smaller shape that lies in the other, for each pair."""
        area = self._shapely.area(self.shapes)
        common = self._shapely.area(self._shapely.intersection(self.shapes[one], self.shapes[other]))
        smaller = np.minimum(area[one], area[other])
        parts: FloatArray = np.divide(common, smaller, out=np.zeros(len(common)), where=smaller > 0)
        return parts

    def inner_points(self) -> tuple[FloatArray, FloatArray]:
        """x and y of a point for each shape: its centroid if that lies inside, otherwise another point inside."""
        centres = self._shapely.centroid(self.shapes)
        inside = self._shapely.contains(self.shapes, centres)
        chosen = np.where(inside, centres, self._shapely.point_on_surface(self.shapes))
        return self._shapely.get_x(chosen), self._shapely.get_y(chosen)

    def uniform_points(self, codes: IntArray, source: RandomSource) -> tuple[FloatArray, FloatArray]:
        """A uniformly random latitude and longitude in each of these shapes: tries in the box around it."""
        boxes = self._shapely.bounds(self.shapes)[codes]
        x, y = np.empty(len(codes)), np.empty(len(codes))
        missing = np.arange(len(codes))
        while len(missing):
            west, south, east, north = boxes[missing].T
            x[missing] = west + source.uniform(len(missing)) * (east - west)
            y[missing] = south + source.uniform(len(missing)) * (north - south)
            inside = self._shapely.contains_xy(self.shapes[codes[missing]], x[missing], y[missing])
            missing = missing[~inside]
        return self.projection.to_degrees(x, y)
