"""Distances on the command line: planned, released, charged, audited, and refused where they make no sense."""

from __future__ import annotations

import io
import json
import re

import pytest

import pathveil as pv

PLACES = "--coordinates cells.csv:cell,east,north"
TRIPS = "privatize trips.csv --case trip --order step --symbol cell --alphabet cells.txt"


@pytest.fixture
def town(folder):
    """Nine cells of 500 m, and three trips."""
    cells = [(i, j) for i in range(3) for j in range(3)]
    (folder / "cells.txt").write_text("".join(f"c{i}{j}\n" for i, j in cells))
    rows = "".join(f"c{i}{j},{500 * i},{500 * j}\n" for i, j in cells)
    (folder / "cells.csv").write_text("cell,east,north\n" + rows)
    trips = ["c00 c01 c11", "c22 c21 c20", "c11 c12 c22"]
    steps = [f"{k},{i},{cell}\n" for k, trip in enumerate(trips) for i, cell in enumerate(trip.split())]
    (folder / "trips.csv").write_text("trip,step,cell\n" + "".join(steps))
    return folder


@pytest.mark.usefixtures("town")
def test_a_plan_shows_distances_the_best_radius_and_the_unit(run):
    ran = run(f"plan --alphabet cells.txt --length 3 --epsilon 1 --epsilon 3 {PLACES} --within 600 --json")
    assert ran.code == 0, ran.err
    plan = json.loads(ran.out)
    remarks = " ".join(plan["remarks"])
    assert "R = 0: " in remarks
    assert "Best: R = " in remarks
    assert "at most 600 away" in remarks
    means = {row["mechanism"]: row["error"] for row in plan["forecasts"] if row["epsilon"] == 3}
    assert 0 < means["certified"] < means["exponential"] < 1000


def test_a_release_says_its_unit_and_is_charged_in_a_budget_of_that_unit_only(town, run):
    ran = run(f"ledger init near.db --epsilon 10 --unit moved-symbols --adjacency 1 --within 100 {PLACES}")
    assert (ran.code, "would protect nothing" in ran.err) == (2, True)
    made = f"--unit moved-symbols --adjacency 1 --within 600 {PLACES}"
    assert run(f"ledger init near.db --epsilon 10 {made}").code == 0
    assert run("ledger init far.db --epsilon 10 --unit symbols --adjacency 1").code == 0
    ran = run(f"{TRIPS} --epsilon 2 {PLACES} --within 600 --ledger far.db --output refused.csv")
    assert ran.code == 2
    assert "out of reach" in ran.err
    assert not (town / "refused.csv").exists()
    assert json.loads(run("ledger show far.db --json").out)["spent"]["epsilon"] == 0
    ran = run(f"{TRIPS} --epsilon 2 {PLACES} --within 600 --ledger near.db --output near.csv")
    assert ran.code == 0, ran.err
    assert "away on average" in ran.err
    manifest = json.loads((town / "near.csv.manifest.json").read_text())
    assert manifest["protects"]["kind"] == "moved-symbols"
    assert "at most 600 away from the true one" in manifest["unit"]
    ran = run(f"{TRIPS} --epsilon 3 {PLACES} --radius 800 --ledger near.db --output far.csv")  # however far covers it
    assert ran.code == 0, ran.err
    assert json.loads(run("ledger show near.db --json").out)["spent"]["epsilon"] == 5


@pytest.mark.usefixtures("town")
def test_an_audit_compares_what_is_near(run):
    ran = run(f"audit exhaustive --alphabet cells.txt --length 1 --epsilon 2 {PLACES} --within 600")
    assert ran.code == 0, ran.err
    assert "24 ordered pairs" in " ".join(ran.out.split())


def test_reports_tell_errors_in_metres(town, run):
    ran = run(f"report plan --alphabet cells.txt --length 2 {PLACES} --within 600 --output plan.html")
    assert ran.code == 0, ran.err
    page = (town / "plan.html").read_text()
    assert "How far from the true symbol?" in page
    assert "each moved by at most 600" in page
    assert "Which radius?" in page
    assert "Mean distance of a private symbol by radius, at ε = 2" in page
    assert run(f"{TRIPS} --epsilon 2 {PLACES} --within 600 --keep-order --output near.csv").code == 0
    made = "report curator --input trips.csv --case trip --order step --symbol cell --alphabet cells.txt"
    ran = run(f"{made} --private near.csv {PLACES} --within 600 --output curator.html")
    assert ran.code == 0, ran.err
    page = (town / "curator.html").read_text()
    assert "expected distance of a private symbol" in page
    assert "mean distance of a private symbol" in page
    # Without the distances nobody can say what was to be expected; Hamming's law is not taken for it.
    assert run(f"{TRIPS} --epsilon 2 {PLACES} --keep-order --output far.csv").code == 0
    ran = run(f"{made} --private far.csv --output curator2.html")
    assert ran.code == 0, ran.err
    assert "expected distance" not in (town / "curator2.html").read_text()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("--within 600", "need --coordinates"),
        ("--radius 600", "need --coordinates"),
        (f"{PLACES} --within 100", "nothing would be protected"),
        (f"{PLACES} --radius -1", "radius"),
        (f"{PLACES} --distance edit --lengths 1:3", "does not go with --distance edit"),
        ("--coordinates cells.csv", "must name the columns"),
        ("--coordinates degrees.csv --within 500", "look like degrees"),
        ("--coordinates some.csv", "no distance is known for 8 of 9 symbols"),
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_is_written(town, run, options, why):
    (town / "degrees.csv").write_text("symbol,x,y\nc00,8.1,53.1\nc01,8.2,53.2\n")
    (town / "some.csv").write_text("symbol,x,y\nc00,0,0\n")
    ran = run(f"{TRIPS} --epsilon 2 {options} --output out.csv")
    assert ran.code == (1 if "columns" in why else 2), ran.out  # a file that cannot be read is no wrong use
    assert why in ran.err
    assert not (town / "out.csv").exists()


def test_the_radius_is_chosen_by_forecast_said_and_promised(town, run):
    ran = run(f"{TRIPS} --epsilon 2 {PLACES} --mechanism certified --output near.csv")
    assert ran.code == 0, ran.err
    told = re.search(r"radius (\S+), the best by a forecast .* of about (\S+), and (\S+) if", ran.err)
    assert told is not None
    manifest = json.loads((town / "near.csv.manifest.json").read_text())
    assert f"the distances between symbols (radius {told[1]})" in manifest["public"]
    cells = {f"c{i}{j}": (500.0 * i, 500.0 * j) for i in range(3) for j in range(3)}
    curve = pv.radius_curve(
        pv.Alphabet(cells), 3, 2.0, distance=pv.SymbolDistance.from_coordinates(cells), mechanism="certified"
    )
    assert float(told[1]) == float(f"{curve.best:.4g}")
    assert float(told[2]) <= float(told[3])
    ran = run(f"{TRIPS} --epsilon 2 {PLACES} --radius 800 --output far.csv")
    assert "by a forecast from what is public: a mean" not in ran.err


@pytest.mark.usefixtures("town")
def test_a_stream_and_a_comparison_know_distances(run, monkeypatch):
    ran = run(f"compare --alphabet cells.txt --length 3 --epsilon 2 {PLACES} --within 600 --json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    assert found["within"] == 600
    distances = [row["distance"] for row in found["mechanisms"]]
    assert distances == pytest.approx(sorted(distances))
    assert found["best"] == found["mechanisms"][0]["mechanism"]
    ran = run(f"compare --alphabet cells.txt --length 3 --epsilon 2 {PLACES} --within 600")
    assert "mean distance" in ran.out
    lines = io.BytesIO(b"c00\nc01\n\nc22\n")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(lines))
    ran = run(f"stream --alphabet cells.txt --epsilon 50 {PLACES} --within 600")
    assert ran.code == 0, ran.err
    assert "at most 600 away from the true one" in ran.err
    assert ran.out.split("\n") == ["c00", "c01", "", "c22", ""]
