"""Maps of cells, without tiles and without a network: SVG for pages, matplotlib for notebooks."""

from pathveil.report.maps.drawing import Flow, MapData, flows_of, map_figure, maps_side_by_side
from pathveil.report.maps.plot import plot_map
from pathveil.report.maps.radius_chart import add_radius_chart
from pathveil.report.maps.release_map import map_of_release

__all__ = [
    "Flow",
    "MapData",
    "add_radius_chart",
    "flows_of",
    "map_figure",
    "map_of_release",
    "maps_side_by_side",
    "plot_map",
]
