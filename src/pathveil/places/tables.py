"""Tables of points in memory: frames of pandas, polars and geopandas, Arrow, plain columns, trajectories.

Nothing of these libraries is imported: whoever has such a table has loaded its library.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pathveil.errors import InvalidParameterError

_USUAL = {
    "latitude": ("latitude", "lat"),
    "longitude": ("longitude", "lng", "lon"),
    "user": ("user", "uid", "user_id", "traj_id", "trajectory_id"),
    "time": ("time", "datetime", "timestamp", "t"),
}
"""The names that scikit-mobility, movingpandas and many files have for the columns."""


def table_of_points(
    table: Any, *, latitude: str | None, longitude: str | None, user: str | None, time: str | None
) -> pa.Table:
    """The columns user, time (microseconds since 1970), latitude and longitude (degrees) of any table of points."""
    columns = _columns_of(table)
    chosen = {"user": user, "time": time, "latitude": latitude, "longitude": longitude}
    found = {role: _named(columns, role, name) for role, name in chosen.items()}
    lengths = {len(values) for values in found.values()}
    if len(lengths) > 1:
        raise InvalidParameterError("the columns of the points have different lengths")
    made = {
        "user": _users(found["user"]),
        "time": microseconds(found["time"]),
        **{role: _degrees(found[role], role) for role in ("latitude", "longitude")},
    }
    for role, values in made.items():
        if values.null_count:
            row = int(np.flatnonzero(values.is_null().to_numpy(zero_copy_only=False))[0])
            raise InvalidParameterError(f"row {row + 1} has no {role}: correct it, or leave such rows out")
    return pa.table(made)


def _columns_of(table: Any) -> Mapping[str, Any]:
    """{name: values} of a table of any kind."""
    if hasattr(table, "to_point_gdf"):  # movingpandas: a trajectory, or a collection of them
        table = table.to_point_gdf()
    if hasattr(table, "geometry") and hasattr(table, "to_crs"):
        return _columns_of_geometry(table)
    if isinstance(table, pa.Table | pa.RecordBatch):
        return {name: table.column(name) for name in table.schema.names}
    if isinstance(table, Mapping):
        return dict(table)
    if hasattr(table, "columns") and hasattr(table, "__getitem__"):
        return _with_index(table)
    raise InvalidParameterError(
        f"points come as a frame of pandas, polars or geopandas, an Arrow table, a mapping of columns, or trajectories "
        f"of movingpandas, not as {type(table).__name__}"
    )


def _columns_of_geometry(frame: Any) -> dict[str, Any]:
    """A frame of geopandas: its points, turned into degrees where it says what they are."""
    if frame.crs is None:
        raise InvalidParameterError(
            "the frame does not say what its coordinates are: set frame.crs ('EPSG:4326' if they are degrees)"
        )
    points = frame.geometry.to_crs(4326)
    if not (points.geom_type == "Point").all():
        raise InvalidParameterError("the geometry of the frame must be points, one for each row")
    columns = _with_index(frame.drop(columns=frame.geometry.name))
    columns.pop("latitude", None), columns.pop("longitude", None)
    return {**columns, "latitude": points.y.to_numpy(), "longitude": points.x.to_numpy()}


def _with_index(frame: Any) -> dict[str, Any]:
    columns = {str(name): frame[name] for name in frame.columns}
    index = getattr(frame, "index", None)  # movingpandas keeps the times there
    name = getattr(index, "name", None)
    if name is not None and str(name) not in columns:
        columns[str(name)] = index.to_series().reset_index(drop=True)  # type: ignore[union-attr]
    return columns


def _named(columns: Mapping[str, Any], role: str, name: str | None) -> Any:
    if name is None:
        name = next((usual for usual in _USUAL[role] if usual in columns), None)
        if name is None:
            listed = ", ".join(map(repr, columns))
            raise InvalidParameterError(f"which column is the {role}? The table has {listed}: name it, {role}='…'")
    if name not in columns:
        raise InvalidParameterError(f"the table has no column {name!r}; it has {', '.join(map(repr, columns))}")
    return columns[name]


def _arrow(values: Any) -> pa.Array:
    """One Arrow array of a column, whatever it was."""
    if hasattr(values, "to_arrow"):  # polars
        values = values.to_arrow()
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if isinstance(values, pa.Array):
        return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
    if isinstance(values, np.ndarray) and values.dtype.kind == "M":  # Arrow knows no datetime64 in minutes or hours
        values = values.astype("datetime64[us]")
    try:
        made = pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError) as problem:
        raise InvalidParameterError(f"a column cannot be read: {problem}") from None
    return made.dictionary_decode() if pa.types.is_dictionary(made.type) else made


def _users(values: Any) -> pa.Array:
    users = _arrow(values)
    return users.cast(pa.string()) if pa.types.is_large_string(users.type) else users


def _degrees(values: Any, role: str) -> pa.Array:
    numbers = _arrow(values)
    try:
        return numbers.cast(pa.float64())
    except pa.ArrowException as problem:
        raise InvalidParameterError(f"the {role} must be numbers of degrees: {problem}") from None


def microseconds(values: Any) -> pa.Array:
    """Times as microseconds since 1970 in UTC: `datetime`s, texts as in ISO 8601, or numbers of seconds.

    Times without a zone are taken to be in UTC.
    """
    times = _arrow(values)
    kind = times.type
    try:
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            times = _parsed(times)
        elif pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind):
            seconds = times.cast(pa.float64())
            return pc.round(pc.multiply(seconds, 1e6)).cast(pa.int64())
        elif pa.types.is_date(kind):
            times = times.cast(pa.timestamp("s"))
        return times.cast(pa.timestamp("us", getattr(times.type, "tz", None)), safe=False).cast(pa.int64())
    except pa.ArrowException as problem:
        raise InvalidParameterError(
            f"the times cannot be read ({problem}): give datetimes, texts such as 2026-11-18T06:30:00, or seconds"
        ) from None


def _parsed(texts: pa.Array) -> pa.Array:
    try:
        return texts.cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        return texts.cast(pa.timestamp("us", "UTC"))  # all of them name their zone
