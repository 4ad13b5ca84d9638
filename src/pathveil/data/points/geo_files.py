"""Words of cells back onto the map: points and lines in GeoJSON, GeoParquet and CSV.

    .geojson            a FeatureCollection: a line for each trip, a point for trips of a single cell
    .parquet, .pq       the same as GeoParquet: `trip` and `geometry`
    .csv, .tsv          one row a symbol: trip, step, symbol, latitude, longitude

Coordinates are degrees (WGS 84). Trips are numbered from 1 in the order of the file. All of it is made from released
words and public cells, so it costs no privacy.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pathveil.data.formats import Layout
from pathveil.data.reading import read_words
from pathveil.data.sources import Source, describe, named_format
from pathveil.data.workspace import private_workspace
from pathveil.data.writing import TableWriter, publish, refuse_existing
from pathveil.errors import InvalidParameterError
from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.places import Cells, Placing
from pathveil.randomness.source import RandomSource
from pathveil.systems.alphabet import Alphabet
from pathveil.words.base import Progress

_DIGITS = 6  # of a degree: a tenth of a metre
_GEO = {
    "version": "1.1.0",
    "primary_column": "geometry",
    "columns": {"geometry": {"encoding": "WKB", "geometry_types": ["LineString", "Point"]}},
}


def write_points_of_words(
    source: Source,
    layout: Layout,
    output: Path,
    cells: Cells,
    *,
    place: Placing = "centre",
    overwrite: bool = False,
    rng: RandomSource | None = None,
    progress: Progress | None = None,
) -> int:
    """Write the points of all words of a source (`layout` says how they lie in it); how many words there were.

    `place` is "centre", or "uniform" for random points in the cells. The ending of `output` says what is written.
    """
    target = output.absolute()
    refuse_existing(target, overwrite)
    write = _writer(target)
    report = progress or (lambda _stage, _words: None)
    with private_workspace(target) as workspace:
        trips = _Trips(cells, place, rng, report)
        batches = trips.batches(read_words(source, layout, Alphabet(cells.symbols)))
        write(batches, cells, workspace / "unfinished", target)
        publish(workspace / "unfinished", target, overwrite)
    return trips.count


def _writer(target: Path) -> Any:
    if target.suffix.lower() in (".geojson", ".json"):
        return _write_geojson
    writers = {"parquet": _write_geoparquet, "csv": _write_table}
    format = named_format(target)
    if format not in writers:
        raise InvalidParameterError(f"{target.name}: places are written as .geojson, .parquet or .csv")
    return writers[format]


class _Batch:
    """Trips of a batch: codes, where each trip ends, degrees, and the number of the first trip."""

    def __init__(self, codes: IntArray, offsets: IntArray, degrees: tuple[FloatArray, FloatArray], first: int) -> None:
        self.codes, self.offsets, self.first = codes, offsets, first
        self.latitudes, self.longitudes = degrees

    def lines(self) -> Iterator[tuple[int, FloatArray]]:
        """The number of each trip, and its points, a row (longitude, latitude) each."""
        places = np.column_stack([self.longitudes, self.latitudes])
        for number, (begin, end) in enumerate(pairwise(self.offsets.tolist()), start=self.first):
            yield number, places[begin:end]


class _Trips:
    """Words as trips, counted."""

    def __init__(self, cells: Cells, place: Placing, rng: RandomSource | None, report: Progress) -> None:
        self._cells, self._place, self._rng, self._report = cells, place, rng, report
        self.count = 0

    def batches(self, words: Iterable[pa.RecordBatch]) -> Iterator[_Batch]:
        for batch in words:
            listed = batch.column(0)
            offsets = listed.offsets.to_numpy().astype(np.int64)
            codes = listed.values.to_numpy()[offsets[0] : offsets[-1]].astype(np.int64)
            degrees = self._cells.degrees_of(codes, self._place, self._rng)
            yield _Batch(codes, offsets - offsets[0], degrees, self.count + 1)
            self.count += batch.num_rows
            self._report("writing", self.count)


def _write_geojson(batches: Iterable[_Batch], _cells: Cells, path: Path, _target: Path) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"type": "FeatureCollection", "features": [')
        between = "\n"
        for batch in batches:
            for number, places in batch.lines():
                listed = np.round(places, _DIGITS).tolist()
                single = len(listed) == 1
                geometry = {
                    "type": "Point" if single else "LineString",
                    "coordinates": listed[0] if single else listed,
                }
                feature = {"type": "Feature", "properties": {"trip": number}, "geometry": geometry}
                file.write(between + json.dumps(feature))
                between = ",\n"
        file.write("\n]}\n")


def _write_geoparquet(batches: Iterable[_Batch], _cells: Cells, path: Path, _target: Path) -> None:
    schema = pa.schema([("trip", pa.int64()), ("geometry", pa.binary())], metadata={"geo": json.dumps(_GEO)})
    with pq.ParquetWriter(path, schema) as writer:
        for batch in batches:
            numbers, lines = zip(*batch.lines(), strict=True)
            writer.write_table(pa.table([pa.array(numbers), pa.array(map(well_known_binary, lines))], schema=schema))


def well_known_binary(places: FloatArray) -> bytes:
    """A point, or a line, as WKB: byte order, kind, how many points, then x and y of each."""
    coordinates = np.ascontiguousarray(places, dtype="<f8").tobytes()
    if len(places) == 1:
        return struct.pack("<BI", 1, 1) + coordinates
    return struct.pack("<BII", 1, 2, len(places)) + coordinates


def _write_table(batches: Iterable[_Batch], cells: Cells, path: Path, target: Path) -> None:
    delimiter = "\t" if ".tsv" in target.suffixes[-2:] else ","
    names = pa.array(cells.symbols, pa.string())
    with TableWriter(pa.OSFile(str(path), "wb"), describe(target), delimiter) as writer:
        for batch in batches:
            lengths = np.diff(batch.offsets)
            rows = {
                "trip": np.repeat(np.arange(len(lengths)) + batch.first, lengths),
                "step": np.arange(len(batch.codes)) - np.repeat(batch.offsets[:-1], lengths) + 1,
                "symbol": names.take(pa.array(batch.codes)),
                "latitude": np.round(batch.latitudes, _DIGITS),
                "longitude": np.round(batch.longitudes, _DIGITS),
            }
            writer.write(pa.table(rows))
