"""Points and places in files.

write_words_of_points   a file of points to a file of words of cells, whatever its size
write_points_of_words   words of cells back to points and lines: GeoJSON, GeoParquet, CSV
save_cells, read_cells  cells as the file that --system takes; their geometry stays in it
"""

from pathveil.data.points.geo_files import write_points_of_words
from pathveil.data.points.saved_cells import cells_of, read_cells, save_cells, saved_cells
from pathveil.data.points.word_file import PointColumns, write_words_of_points

__all__ = [
    "PointColumns",
    "cells_of",
    "read_cells",
    "save_cells",
    "saved_cells",
    "write_points_of_words",
    "write_words_of_points",
]
