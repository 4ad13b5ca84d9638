"""`pathveil places`, both ways, and its words in other commands."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

import pathveil as pv
from pathveil import data
from tests.data.public.public_files import town, written
from tests.places.made_up import FOUR_ZONES, columns_of, random_points

BOUNDS = "53.10,8.15,53.18,8.28"
COLUMNS = "--latitude latitude --longitude longitude --user user --time time"
POINTS = random_points(2, 120)


@pytest.fixture
def points(folder):
    columns = columns_of(POINTS)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    (folder / "points.csv").write_text("\n".join(lines) + "\n")
    (folder / "areas.geojson").write_text(json.dumps(FOUR_ZONES))
    return folder


@pytest.mark.parametrize(
    ("kind", "cells"),
    [
        (f"--grid 2000 --bounds {BOUNDS}", 25),
        (f"--hexagons 7 --bounds {BOUNDS} --stay", 29),
        (f"--grid 4000 --bounds {BOUNDS} --times 12h", 18),
        ("--zones areas.geojson", 4),
        ("--zones areas.geojson --zone-name name", 4),
    ],
)
def test_from_points_to_private_words_and_back_onto_the_map(kind, cells, points, run):
    ran = run(f"places points.csv {COLUMNS} {kind} --output words.parquet --system cells.json")
    assert ran.code == 0, ran.err
    assert f"{cells} cells" in ran.out
    assert "For the curator only" in ran.out
    assert "120  points read" in ran.out
    for line in (
        "privatize words.parquet --column word --system cells.json --epsilon 5 --mechanism exponential "
        "--output private.parquet",
        "model words.parquet --column word --user user --max-words-per-user 3 --max-length 8 --order 1 --unit user "
        "--system cells.json --epsilon 3 --output model.json",
        "synthesize model.json --count 20 --output synthetic.parquet",
        "places --back private.parquet --system cells.json --output private.geojson",
        "places --back synthetic.parquet --system cells.json --place uniform --output synthetic.csv",
    ):
        ran = run(line)
        assert ran.code == 0, f"{line}: {ran.err}"
    features = json.loads((points / "private.geojson").read_text())["features"]
    assert len(features) == pq.read_metadata(points / "words.parquet").num_rows


@pytest.mark.usefixtures("points")
def test_cells_that_were_saved_serve_another_file(run):
    assert run(f"places points.csv {COLUMNS} --grid 2000 --bounds {BOUNDS} -o a.parquet --system c.json").code == 0
    ran = run(f"places points.csv {COLUMNS} -o b.parquet --system c.json --gap 1h --json")
    assert ran.code == 0, ran.err
    facts = json.loads(ran.out)
    grid = pv.places.Grid(tuple(map(float, BOUNDS.split(","))), 2000.0)
    expected = grid.words(columns_of(POINTS), gap="1h").counts
    assert {name: facts[name] for name in expected.as_dict()} == expected.as_dict()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("places points.csv --grid 500 -o w.parquet --system c.json", "--latitude, --longitude, --user, --time"),
        (f"places points.csv {COLUMNS} --grid 500 -o w.parquet --system c.json", "the outermost point"),
        (f"places points.csv {COLUMNS} --grid 0.01 --bounds {BOUNDS} -o w.parquet --system c.json", "metres"),
        (f"places points.csv {COLUMNS} --grid 9 --hexagons 7 -o w.parquet --system c.json", "one kind of cells"),
        (f"places points.csv {COLUMNS} --bounds {BOUNDS} -o w.parquet --system c.json", "which cells"),
        (f"places points.csv {COLUMNS} --zones areas.geojson --bounds 1,2,3,4 -o w.csv --system c.json", "--bounds"),
        (f"places points.csv {COLUMNS} --grid 500 --bounds a,b -o w.parquet --system c.json", "four numbers"),
        (f"places points.csv {COLUMNS} --grid 500 --bounds {BOUNDS} --zone-name x -o w.csv --system c.json", "belongs"),
        (f"places points.csv {COLUMNS} --zones points.csv -o w.parquet --system c.json", "sensitive input"),
        (f"places points.csv {COLUMNS} --column word --grid 5 --bounds {BOUNDS} -o w.csv --system c.json", "--back"),
        (f"places {COLUMNS} --grid 500 --bounds {BOUNDS} --system c.json", "need INPUT"),
        (f"places points.csv {COLUMNS} --grid 500 --bounds {BOUNDS} --system c.json", "--output is missing"),
        ("places --back points.csv --system c.json --grid 500 -o w.geojson", "leave out"),
    ],
)
def test_wrong_use_is_explained(line, says, points, run):
    ran = run(line)
    assert ran.code == 2, ran.err
    assert says in ran.err
    assert not (points / "c.json").exists()


def test_counted_flows_between_zones_become_a_model_and_a_map(points, run):
    (points / "flows.csv").write_text("a,b,n\na,island,200\nb,a,300\nc,c,500\nisland,b,100\n")
    for line in (
        "places --zones areas.geojson --any-moves --system zones.json",
        "model flows.csv --from a --to b --count n --system zones.json --epsilon 2 --output model.json",
        "synthesize model.json --count 50 --length 2 --output synthetic.parquet",
        "places --back synthetic.parquet --system zones.json --output synthetic.geojson",
    ):
        ran = run(line)
        assert ran.code == 0, f"{line}: {ran.err}"
    ran = run("places --back synthetic.parquet --system zones.json --output synthetic.html")
    assert ran.code == 0, ran.err
    assert "50 trips" in (points / "synthetic.html").read_text()
    assert len(json.loads((points / "synthetic.geojson").read_text())["features"]) == 50
    # Where flows begin is public with this unit. Of 50, "c" has 22.7 on average: fewer than 8 once in 10^5 runs.
    origins = [word[0] for word in pq.read_table(points / "synthetic.parquet")["word"].to_pylist()]
    assert origins.count("c") >= 8


def test_points_are_snapped_to_streets_that_osmnx_has_saved(folder, run):
    written(town(), folder)
    assert run("system graphml town.graphml --need-coordinates --output town.json").code == 0
    streets = data.read_cells(folder / "town.json")
    names = streets.system.random_word(4, pv.insecure_seed(2))
    lines = ["user,time,latitude,longitude"]
    lines += [f"p,{60 * i},{lat},{lon}" for i, (lat, lon) in enumerate(streets.points([names])[0])]
    (folder / "drive.csv").write_text("\n".join(lines) + "\n")
    ran = run(f"places drive.csv {COLUMNS} --system town.json --snap 20 --output words.parquet")
    assert ran.code == 0, ran.err
    [word] = pq.read_table(folder / "words.parquet")["word"].to_pylist()
    assert streets.system.is_feasible(word)
    ran = run("places --back words.parquet --system town.json --output drive.geojson")
    assert ran.code == 0, ran.err
    ran = run(f"places drive.csv {COLUMNS} --grid 500 --bounds {BOUNDS} --snap 20 --system c.json -o w.csv")
    assert ran.code == 2
    assert "belongs to streets" in ran.err


def test_distances_between_cells_are_metres(points, run):
    assert run(f"places points.csv {COLUMNS} --grid 3000 --bounds {BOUNDS} -o w.parquet --system c.json").code == 0
    line = "privatize w.parquet --column word --system c.json --coordinates c.json --epsilon 4 --mechanism exponential"
    ran = run(f"{line} --radius 9000 --within 3000 --yes -o p.parquet")
    assert ran.code == 0, ran.err
    assert "3000" in (points / "p.parquet.manifest.json").read_text().replace(",", "")
    ran = run("report curator --input w.parquet --column word --system c.json --private p.parquet -o curator.html")
    assert ran.code == 0, ran.err
    assert "r = 3 km" in (points / "curator.html").read_text()
    ran = run(f"{line} --within 100 --yes -o q.parquet")
    assert ran.code != 0, "nobody lies within 100 m"
    assert not (points / "q.parquet").exists()


def test_work_that_fails_leaves_neither_words_nor_cells(points, run):
    with open(points / "points.csv", "a") as file:
        file.write("p1,soon,53.14,8.2\n")
    line = f"places points.csv {COLUMNS} --grid 2000 --bounds {BOUNDS} -o w.parquet --system c.json"
    ran = run(line)
    assert ran.code == 1
    assert "row 121" in ran.err
    assert "--on-bad-row skip" in ran.err
    assert not (points / "w.parquet").exists()
    assert not (points / "c.json").exists()
    assert run(f"{line} --on-bad-row skip").code == 0
    ran = run("places --back w.parquet --system points.csv -o w.geojson")
    assert ran.code == 1
    assert "not JSON" in ran.err


def test_the_curators_report_has_maps_where_places_are_known(points, run):
    assert run(f"places points.csv {COLUMNS} --grid 6000 --bounds {BOUNDS} -o w.parquet --system c.json").code == 0
    words = "--column word --system c.json"
    for line in (
        f"privatize w.parquet {words} --epsilon 5 --mechanism exponential -o p.parquet",
        f"model w.parquet {words} --unit word --max-length 8 --order 1 --epsilon 3 -o m.json",
        "report plan --system c.json --length 2 -o plan.html",
        f"report curator --input w.parquet {words} --private p.parquet -o curator-words.html",
        f"report curator --input w.parquet {words} --model m.json -o curator-model.html",
        "report curator --input w.parquet --column word --model m.json -o curator-plain.html",
    ):
        ran = run(line)
        assert ran.code == 0, f"{line}: {ran.err}"
    for name, released in (("words", "Private trips"), ("model", "Synthetic trips of the private model")):
        page = (points / f"curator-{name}.html").read_text()
        assert "On the map, before and after" in page
        assert f"<figcaption>{released}</figcaption>" in page
        assert "frequent patterns: F1" in page
    assert "The cells of the map" in (points / "plan.html").read_text()
    assert "On the map" not in (points / "curator-plain.html").read_text()


def test_the_report_of_a_release_has_a_map_of_what_was_released_and_of_nothing_else(points, run):
    assert run(f"places points.csv {COLUMNS} --grid 3000 --bounds {BOUNDS} -o w.parquet --system c.json").code == 0
    words = "--column word --system c.json"
    for line in (
        f"privatize w.parquet {words} --coordinates c.json --within 4000 --epsilon 5 -o p.parquet",
        f"model w.parquet {words} --unit word --max-length 8 --order 1 --epsilon 3 -o m.json",
    ):
        assert run(line).code == 0
    for path in (points / "w.parquet", points / "points.csv"):
        path.unlink()
    for name, options, told in (
        ("p.parquet", words, "Private words"),
        ("m.json", "--system c.json", "Synthetic words of the private model"),
    ):
        ran = run(f"report release {name}.manifest.json {options} -o {name}.html")
        assert ran.code == 0, ran.err
        assert f"<figcaption>{told}</figcaption>" in (points / f"{name}.html").read_text()
    assert "The circle has the radius" in (points / "p.parquet.html").read_text()
    assert run("report release p.parquet.manifest.json --column word -o x.html").code == 2
    (points / "p.parquet").unlink()
    assert "nothing to draw" in run(f"report release p.parquet.manifest.json {words} -o x.html").err
