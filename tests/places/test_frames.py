"""Frames of other libraries, there and back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import geopandas
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import pathveil as pv
from tests.places.made_up import BOUNDS, columns_of, random_points

CELLS = pv.places.Grid(BOUNDS, 1000.0)
WORDS = [CELLS.symbols[3:7], CELLS.symbols[20:22], (CELLS.symbols[9],)]


@pytest.mark.parametrize("place", ["centre", "uniform"])
def test_words_come_back_from_frames_of_scikit_mobility(place):
    frame = pv.places.to_scikit_mobility(WORDS, CELLS, place=place, rng=pv.insecure_seed(1))
    assert list(frame.columns[:5]) == ["uid", "tid", "datetime", "lat", "lng"]
    again = CELLS.words(frame)
    assert list(again) == WORDS
    assert again.users == [1, 2, 3]


def test_words_come_back_from_trajectories_of_movingpandas_except_single_points():
    trajectories = pv.places.to_movingpandas(WORDS, CELLS)
    assert len(trajectories) == 2
    assert list(CELLS.words(trajectories)) == WORDS[:2]
    assert list(CELLS.words(trajectories.trajectories[0])) == WORDS[:1]


def test_a_frame_of_geopandas_has_a_line_for_each_trip_and_points_in_any_projection_are_read():
    lines = pv.places.to_geopandas(WORDS, CELLS)
    assert lines.crs.to_epsg() == 4326
    assert lines.geometry.geom_type.to_list() == ["LineString", "LineString", "Point"]
    with pytest.raises(pv.InvalidParameterError, match="must be points"):
        CELLS.words(lines.assign(user=1, time=0))
    frame = pv.places.to_scikit_mobility(WORDS, CELLS)
    shapes = geopandas.points_from_xy(frame["lng"], frame["lat"])
    points = geopandas.GeoDataFrame(frame[["uid", "datetime"]], geometry=shapes, crs=4326)
    assert list(CELLS.words(points.to_crs(25832))) == WORDS
    with pytest.raises(pv.InvalidParameterError, match="crs"):
        CELLS.words(points.set_crs(None, allow_override=True))


def test_frames_of_all_kinds_give_the_same_words():
    columns = columns_of(random_points(4, 100))
    expected = CELLS.words(columns)
    for table in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns), pa.table(columns).to_batches()[0]):
        found = CELLS.words(table)
        assert list(found) == list(expected)
        assert found.users == expected.users
    categories = pd.DataFrame(columns).astype({"user": "category"})
    assert CELLS.words(categories).users == expected.users


def test_given_times_are_kept_and_must_fit():
    begin = datetime(2026, 5, 1, 7, tzinfo=UTC)
    times = [[begin + timedelta(minutes=5 * step) for step in range(len(word))] for word in WORDS]
    frame = pv.places.to_scikit_mobility(WORDS, CELLS, times=times)
    assert frame["datetime"].to_list() == [time for one in times for time in one]
    with pytest.raises(pv.InvalidParameterError, match="one entry for each word"):
        pv.places.to_scikit_mobility(WORDS, CELLS, times=times[:1])
