"""Words of cells as frames of other libraries, which are loaded only here. `Cells.words` takes such frames back.

Times are those that are given (a time for each symbol, as `synthesize_events` makes them), or made up: a minute from
symbol to symbol, from 1970 on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from pathveil.errors import InvalidParameterError
from pathveil.places.cells import Cells, Placing
from pathveil.places.geometry import needed
from pathveil.randomness.source import RandomSource

if TYPE_CHECKING:
    import geopandas
    import movingpandas
    import pandas

Words = Iterable[Sequence[Any]]
Times = Iterable[Iterable[Any]]


def to_scikit_mobility(
    words: Words,
    cells: Cells,
    *,
    times: Times | None = None,
    place: Placing = "centre",
    rng: RandomSource | None = None,
) -> pandas.DataFrame:
    """A frame as scikit-mobility's `TrajDataFrame` takes it: lat, lng, datetime, uid and tid, and the cell.

    Each trip is a user of its own (uid), because private words do not say whose they are.
    """
    pandas = needed("pandas", "spark")
    listed = [tuple(word) for word in words]
    points = cells.points(listed, place=place, rng=rng)
    numbers = [number for number, word in enumerate(listed, start=1) for _ in word]
    columns = {
        "uid": numbers,
        "tid": numbers,
        "datetime": _moments(listed, times),
        "lat": [latitude for word in points for latitude, _ in word],
        "lng": [longitude for word in points for _, longitude in word],
        "cell": [symbol for word in listed for symbol in word],
    }
    return pandas.DataFrame(columns)


def to_geopandas(
    words: Words,
    cells: Cells,
    *,
    place: Placing = "centre",
    rng: RandomSource | None = None,
) -> geopandas.GeoDataFrame:
    """One row a trip: its number, its cells, and a line (a point for a single cell), in degrees (EPSG:4326)."""
    geopandas, shapely = needed("geopandas"), needed("shapely")
    listed = [tuple(word) for word in words]
    points = cells.points(listed, place=place, rng=rng)
    shapes = [
        shapely.Point(line[0][::-1]) if len(line) == 1 else shapely.LineString([point[::-1] for point in line])
        for line in points
    ]
    columns = {"trip": range(1, len(listed) + 1), "word": listed}
    return geopandas.GeoDataFrame(columns, geometry=shapes, crs="EPSG:4326")


def to_movingpandas(
    words: Words,
    cells: Cells,
    *,
    times: Times | None = None,
    place: Placing = "centre",
    rng: RandomSource | None = None,
) -> movingpandas.TrajectoryCollection:
    """Trajectories, named by `traj_id`. movingpandas has none of a single point: such trips are left out."""
    movingpandas, geopandas = needed("movingpandas"), needed("geopandas")
    frame = to_scikit_mobility(words, cells, times=times, place=place, rng=rng)
    points = geopandas.points_from_xy(frame["lng"], frame["lat"])
    columns = {"traj_id": frame["tid"], "t": frame["datetime"].dt.tz_localize(None), "cell": frame["cell"]}
    table = geopandas.GeoDataFrame(columns, geometry=points, crs="EPSG:4326")
    return movingpandas.TrajectoryCollection(table, traj_id_col="traj_id", t="t")


def _moments(words: list[tuple[Any, ...]], times: Times | None) -> list[Any]:
    if times is None:
        begin = datetime(1970, 1, 1, tzinfo=UTC)
        return [begin + timedelta(minutes=step) for word in words for step in range(len(word))]
    given = [list(one) for one in times]
    if list(map(len, given)) != list(map(len, words)):
        raise InvalidParameterError("times has to have one entry for each word, with as many times as it has symbols")
    moments = needed("pandas", "spark").to_datetime([time for one in given for time in one], utc=True)
    return list(moments)
