"""Real points and real zones, from the file to the map, by commands alone."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

from tests.real_data import FOLDER, needs_real_data

pytestmark = [pytest.mark.slow, needs_real_data]


def test_real_gps_points_become_words_private_words_and_lines(folder, run):
    points = FOLDER / "geolife_points.csv.gz"
    columns = "--latitude lat --longitude lng --user uid --time datetime"
    ran = run(
        f"places {points} {columns} --grid 2000 --bounds 39.8,116.2,40.1,116.6 --output words.parquet "
        "--system cells.json --json"
    )
    assert ran.code == 0, ran.err
    counts = json.loads(ran.out)
    assert (counts["points"], counts["people"]) == (217_653, 2)
    assert 0 < counts["outside"] < counts["points"] / 4
    for line in (
        "privatize words.parquet --column word --system cells.json --epsilon 12 --mechanism exponential "
        "--output private.parquet",
        "places --back private.parquet --system cells.json --output private.geojson",
    ):
        ran = run(line)
        assert ran.code == 0, f"{line}: {ran.err}"
    features = json.loads((folder / "private.geojson").read_text())["features"]
    assert len(features) == counts["words"]


def test_real_zones_and_counted_flows_become_a_model_and_a_map(folder, run):
    for line in (
        f"places --zones {FOLDER / 'ny_counties_2011.geojson'} --any-moves --system zones.json",
        f"model {FOLDER / 'ny_commuting_2011.csv'} --from origin --to destination --count flow --system zones.json "
        "--epsilon 1 --output model.json",
        "synthesize model.json --count 500 --length 2 --output synthetic.parquet",
        "places --back synthetic.parquet --system zones.json --place uniform --output synthetic.geojson",
        "places --back synthetic.parquet --system zones.json --output synthetic.html",
    ):
        ran = run(line)
        assert ran.code == 0, f"{line}: {ran.err}"
    words = pq.read_table(folder / "synthetic.parquet")["word"].to_pylist()
    assert len(json.loads((folder / "synthetic.geojson").read_text())["features"]) == len(words) == 500
    assert (folder / "synthetic.html").read_text().count('class="place"') == 62
