"""What `make fuzz` found, and what its kind suggested, each with the smallest input that shows it."""

from __future__ import annotations

import json

import pytest

import pathveil as pv
from pathveil.cli.options import Distance
from pathveil.data.public import read_model, read_row_sizes
from pathveil.models.model_file import model_json
from pathveil.report.released import read_manifest

DEEP = "[" * 100_000


@pytest.mark.parametrize("text", ["0:" + "1" * 5000, "\x1d:2", "²:3", "1:", ":", "-1:2", "1:2:3", "1.0:2"])
def test_lengths_that_are_no_numbers_are_wrong_use(text):
    with pytest.raises(pv.InvalidParameterError, match="5:20"):
        Distance("edit", text)


def test_lengths_with_odd_white_space_around_them_are_read():
    assert Distance("edit", "0\x1d: 2").between == (0, 2)  # `int` itself does not take this white space off


def test_row_sizes_with_odd_white_space_around_them_are_read(folder):
    (folder / "sizes.csv").write_text("state,records\na,41\x1f\n")
    assert read_row_sizes(folder / "sizes.csv") == {"a": 41}


@pytest.fixture
def manifest(folder, run):
    line = "privatize trips.parquet --column route --alphabet zones.txt --epsilon 1 --yes --user driver"
    assert run(f"{line} --max-words-per-user 2 --output out.parquet").code == 0
    return folder / "out.parquet.manifest.json"


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": 10**400},
        {"epsilon": True},
        {"delta": -1e-9},
        {"public": "the length"},
        {"public": [""]},
        {"public": [None]},
        {"seeded": 0},
        {"system": {}},
        {"system": {"description": 1, "fingerprint": "x"}},
        {"per_user": {}},
        {"per_user": []},
        {"per_user": {"max_words": 0.5}},
        {"per_user": {"max_words": 2, "epsilon": 0.1, "delta": 0.0, "unit": "u"}},
    ],
)
def test_an_edited_manifest_is_no_manifest(manifest, run, change):
    content = json.loads(manifest.read_text())
    read_manifest(manifest)
    manifest.write_text(json.dumps({**content, **change}))
    with pytest.raises(pv.DataFileError, match="not what PathVeil writes"):
        read_manifest(manifest)
    assert run(f"report release {manifest} --output release.html").code == 1


def test_files_nested_thousands_deep_are_refused(manifest, run):
    manifest.write_text(DEEP)
    assert run(f"report release {manifest} --output release.html").code == 1
    manifest.write_text('{"format": "pathveil Markov chain", "states": ' + DEEP)
    assert run(f"inspect {manifest}").code == 1


@pytest.fixture
def model(folder):
    fitted = pv.fit_private_chain(
        words=[["a", "b"], ["b", "a", "a"]] * 20, states="ab", unit="transition", mechanism="laplace", epsilon=2.0
    )
    path = folder / "model.json"
    path.write_text(model_json(fitted, fitted.guarantee))
    return path


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("guarantee", {"epsilon": "much"}),
        ("guarantee", {"epsilon": None}),
        ("guarantee", {"public": 5}),
        ("guarantee", {"unit": ["a"]}),
        ("model", {"rows": {"0": {}, "1": {}}}),
        ("model", {"rows": [{}, {}]}),
        ("model", {"rows": [{"records": "many", "rmse": None}] * 2}),
        ("model", {"rows": [{"records": None, "rmse": [1]}] * 2}),
        ("model", {"mechanism": 3}),
        ("model", {"first": [1e308, 1e308]}),
        ("model", {"first": [True, True]}),
        ("model", {"lengths": [float("inf")]}),
        ("model", {"lengths": 3}),
    ],
)
def test_an_edited_model_is_refused_by_every_command_that_reads_it(model, run, part, change):
    read_model(model)
    content = json.loads(model.read_text())
    model.write_text(json.dumps({**content, part: {**content[part], **change}}))
    for line in (
        "inspect model.json",
        "inspect model.json --json",
        "synthesize model.json --count 2 -o s.txt --length 3",
    ):
        ran = run(line)
        assert ran.code == 1
        assert "not what PathVeil writes" in ran.err
