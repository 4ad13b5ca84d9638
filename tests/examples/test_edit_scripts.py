"""The scripts about edit distance still run, with settings small enough for a test."""

from __future__ import annotations

import pytest

import pathveil as pv
from tests.examples.pictures import assert_is_picture

pytestmark = pytest.mark.slow


def test_the_price_of_private_lengths_is_what_the_theory_says(script):
    lines = list(script("examples", "edit_accuracy").table((5.0, 8.0), trips=1, cap=7))
    cells = [[float(cell) for cell in line.split("|")[2:7]] for line in lines[2:4]]
    for flip_errors, errors, flip_edits, edits, theta in cells:
        assert errors < flip_errors < flip_edits
        assert errors < edits < flip_edits
        assert theta > 4


@pytest.mark.parametrize("log", ["help desk", "bike-days"])
def test_a_real_log_is_released_and_its_lengths_change_less_at_larger_epsilon(script, log):
    lengths = script("examples", "edit_lengths")
    if not lengths.FOLDER.is_dir():
        pytest.skip("the real data are not on this machine")
    lines = list(lengths.lines(log, (1.0, 3.0, 5.0, 12.0), most=60, rng=pv.insecure_seed(1)))
    assert len(lines) == 12
    changed = [float(line.split("|")[5].strip(" %")) for line in lines]
    for mechanism in range(3):
        of_one = changed[4 * mechanism : 4 * mechanism + 4]
        assert of_one[0] > 80
        assert of_one[3] < of_one[2]
    assert changed[11] < 5  # the certified mechanism at ε = 12


def test_the_benchmark_measures_speed_and_memory(script, tmp_path):
    edits = script("benchmarks", "edits")
    rows = edits.goals(words=40, repeats=1, longest=8)
    assert len(rows) == 4
    for row in rows:
        assert set(row) == {"work", "compared_with", "ratio", "goal", "met", "detail"}
        assert row["met"] == (row["ratio"] >= row["goal"])
    measured = edits.cost(lengths=(6, 10), caps=(2, 3), repeats=1)
    assert [one["nodes"] for one in measured] == sorted(one["nodes"] for one in measured[:2]) + sorted(
        one["nodes"] for one in measured[2:]
    )
    edits.draw(tmp_path / "cost.png", measured)
    assert_is_picture(tmp_path / "cost.png")
