"""Maps of cells, without tiles and without a network: SVG for pages, matplotlib for notebooks."""

from pathveil.report.maps.drawing import Flow, MapData, flows_of, map_figure, maps_side_by_side
from pathveil.report.maps.plot import plot_map

__all__ = ["Flow", "MapData", "flows_of", "map_figure", "maps_side_by_side", "plot_map"]
