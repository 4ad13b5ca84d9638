"""Files of points to files of words: as in memory, whatever the format; and what is refused."""

from __future__ import annotations

import csv
import gzip
import json
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pathveil as pv
from pathveil.data.points import PointColumns, write_words_of_points
from tests.places.made_up import BOUNDS, FOUR_ZONES, columns_of, random_points

CELLS = pv.places.Grid(BOUNDS, 1000.0)
NAMES = PointColumns("lat", "lon", "who", "when")
POINTS = random_points(11, 300)


def rows():
    return [{"who": who, "when": when, "lat": lat, "lon": lon} for who, when, lat, lon in POINTS]


def write(folder, name):
    path = folder / name
    table = pa.Table.from_pylist(rows())
    if name.endswith(".parquet"):
        whens = pa.array([round(1e6 * when) for when in table["when"].to_pylist()], pa.timestamp("us"))
        pq.write_table(table.set_column(1, "when", whens), path)
    elif name.endswith(".jsonl"):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows()))
    else:
        with gzip.open(path, "wt") if name.endswith(".gz") else open(path, "w") as file:
            writer = csv.DictWriter(file, ["when", "who", "lon", "lat"], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows())
    return path


@pytest.mark.parametrize("name", ["points.csv", "points.csv.gz", "points.parquet", "points.jsonl"])
def test_words_of_a_file_are_those_of_a_table_in_memory(name, tmp_path):
    output = tmp_path / "words.parquet"
    counts = write_words_of_points(write(tmp_path, name), output, CELLS, NAMES, gap="10min")
    expected = CELLS.words(columns_of(POINTS), gap="10min")
    found = pq.read_table(output)
    assert found.column_names == ["word", "user", "begin"]
    assert [tuple(word) for word in found["word"].to_pylist()] == list(expected)
    assert found["user"].to_pylist() == expected.users
    assert found["begin"].to_pylist() == expected.begins
    assert counts == expected.counts
    assert os.stat(output).st_mode & 0o077 == 0, "only the owner may read sensitive words"


def test_words_can_be_written_as_csv_and_json_lines(tmp_path):
    source = write(tmp_path, "points.csv")
    expected = list(CELLS.words(columns_of(POINTS)))
    write_words_of_points(source, tmp_path / "words.csv", CELLS, NAMES)
    write_words_of_points(source, tmp_path / "words.jsonl", CELLS, NAMES)
    with open(tmp_path / "words.csv") as file:
        assert [tuple(row["word"].split()) for row in csv.DictReader(file)] == expected
    lines = (tmp_path / "words.jsonl").read_text().splitlines()
    assert [tuple(json.loads(line)["word"]) for line in lines] == expected


def test_rows_that_are_no_points_end_the_work_or_are_counted(tmp_path):
    source = write(tmp_path, "points.csv")
    with open(source, "a") as file:
        file.write("soon,p1,8.2,53.14\n0,,8.2,53.14\n0,p1,nan,53.14\n")
    output = tmp_path / "words.parquet"
    with pytest.raises(pv.DataFileError, match=r"row 301 .*'when' holds no time"):
        write_words_of_points(source, output, CELLS, NAMES)
    assert not output.exists()
    counts = write_words_of_points(source, output, CELLS, NAMES, on_bad_row="skip")
    assert (counts.unreadable, counts.points) == (3, 300)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"cells": pv.places.Grid((10.0, 10.0, 10.1, 10.1), 1000.0)}, "no point lies inside"),
        ({"columns": PointColumns("lon", "lat", "who", "when")}, "swapped"),
        ({"columns": PointColumns("latitude", "lon", "who", "when")}, "no column 'latitude'"),
        ({"output": "words.txt"}, "parquet, .jsonl or .csv"),
        ({"source": "points.txt"}, "no such file"),
        ({"gap": "soon"}, "length of time"),
    ],
)
def test_what_cannot_be_done_is_said_and_leaves_nothing_behind(change, says, tmp_path):
    write(tmp_path, "points.csv")
    asked = {"source": "points.csv", "output": "words.parquet", "cells": CELLS, "columns": NAMES, "gap": "1h"} | change
    with pytest.raises(pv.PathVeilError, match=says):
        write_words_of_points(
            tmp_path / asked["source"],
            tmp_path / asked["output"],
            asked["cells"],
            asked["columns"],
            gap=asked["gap"],
        )
    assert [path.name for path in tmp_path.iterdir()] == ["points.csv"]


def test_names_with_blanks_are_not_written_as_texts_with_blanks(tmp_path):
    features = [{**one, "properties": {"name": f"zone {i}"}} for i, one in enumerate(FOUR_ZONES["features"])]
    zones = pv.places.Zones({"type": "FeatureCollection", "features": features})
    with pytest.raises(pv.PathVeilError, match="zone 0"):
        write_words_of_points(write(tmp_path, "points.csv"), tmp_path / "words.csv", zones, NAMES)
    counts = write_words_of_points(tmp_path / "points.csv", tmp_path / "words.jsonl", zones, NAMES)
    assert counts.words
