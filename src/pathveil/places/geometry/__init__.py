"""What cells are measured with: declared bounds, degrees to metres and back, polygons."""

from pathveil.places.geometry.bounds import Bounds, require_degrees, seem_swapped
from pathveil.places.geometry.polygons import Polygons, Shapes
from pathveil.places.geometry.projection import EqualArea, FlatMap, Projection, needed

__all__ = [
    "Bounds",
    "EqualArea",
    "FlatMap",
    "Polygons",
    "Projection",
    "Shapes",
    "needed",
    "require_degrees",
    "seem_swapped",
]
