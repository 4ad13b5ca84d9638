"""What the studio releases is, byte for byte, what the commands and the script of the review give with the same seed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from pathveil.ledger.ledger import Ledger
from tests.studio.live import (
    COLUMN,
    MODEL,
    MUCH,
    MUCH_FOR_A_MODEL,
    PATH,
    PUBLIC,
    SYMBOLS,
    SYNTHETIC,
    TRIPS,
    WORD,
    WORDS,
    Answer,
    studio,
)

SEED = {"STUDIO_SEED": "20"}
USER = {**WORD, "unit": "user", "max-words-per-user": "2"}
STEPS = "who,visit,when,page\n" + "".join(
    f"u{visit % 4},{visit},2024-01-01 10:{visit:02}:{step:02},{page}\n"
    for visit in range(12)
    for step, page in enumerate("abc" if visit % 2 else "cab")
)
LONG = {"kind": "long", "case": "visit", "position": "when", "symbol": "page", "user": "who"}
LINES = "".join(f"{word}\n" for word in ["a b c a", "b c a b"] * 6)
LOG = "<log>" + "".join(
    f'<trace><string key="concept:name" value="{case}"/>'
    + "".join(f'<event><string key="concept:name" value="{name}"/></event>' for name in "abc")
    + "</trace>"
    for case in range(12)
) + "</log>"  # fmt: skip
CELLS = "user,time,lat,lon\n" + "".join(
    f"u{trip % 3},2024-01-{1 + trip:02} 10:{minute:02}:00,{50.005 + 0.01 * (minute % 3)},{4.005 + 0.01 * (minute % 2)}\n"
    for trip in range(9)
    for minute in range(4)
)
POINTS = {"kind": "points", "latitude": "lat", "longitude": "lon", "time": "time", "user": "user", "gap": "30min"}
GRID = {"world": "grid", "grid": "1000", "bounds": "50.0, 4.0, 50.04, 4.03"}
KINDS = {
    "words of a column": ("trips.csv", TRIPS, (COLUMN, PUBLIC, SYMBOLS, WORDS, MUCH)),
    "words of a long table": ("steps.csv", STEPS, (LONG, PUBLIC, SYMBOLS, WORDS, MUCH)),
    "words of a text": ("lines.txt", LINES, ({"kind": "text"}, PUBLIC, SYMBOLS, {**WORDS, "format": "txt"}, MUCH)),
    "words of a log": ("log.xes", LOG, ({"kind": "log"}, PUBLIC, SYMBOLS, {**WORDS, "format": "xes"}, MUCH)),
    "model of words": ("trips.csv", TRIPS, (COLUMN, PUBLIC, WORD, MODEL, MUCH_FOR_A_MODEL)),
    "synthetic, of people": ("steps.csv", STEPS, (LONG, PUBLIC, USER, SYNTHETIC, MUCH_FOR_A_MODEL)),
    "synthetic, with times": ("steps.csv", STEPS, (LONG, PUBLIC, WORD, {**SYNTHETIC, "times": "yes"}, MUCH_FOR_A_MODEL)),
    "synthetic log": ("log.xes", LOG, ({"kind": "log"}, PUBLIC, WORD, {**SYNTHETIC, "format": "xes"}, MUCH_FOR_A_MODEL)),
    "frequent words": (
        "trips.csv", TRIPS,
        (COLUMN, PUBLIC, WORD, {"purpose": "frequent"}, {**MUCH_FOR_A_MODEL, "delta": "1e-6", "total-delta": "1e-5"}),
    ),
    "words of points": ("points.csv", CELLS, (POINTS, GRID, SYMBOLS, {"purpose": "words"}, MUCH)),
    "synthetic points": ("points.csv", CELLS, (POINTS, GRID, USER, {"purpose": "synthetic", "count": "9"}, MUCH_FOR_A_MODEL)),
}  # fmt: skip


def shown(review: Answer, name: str) -> str:
    found = re.search(rf'id="{name}">(.*?)</pre>', review.body.decode(), re.S)
    assert found
    return unescape(found[1])


def released(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "releases/1").iterdir()}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_commands_and_script_of_the_review_give_the_same_bytes(tmp_path: Path, kind: str):
    name, content, forms = KINDS[kind]
    environment = {**os.environ, **PATH, **SEED}
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "pathveil").write_text(f'#!/bin/sh\nexec {sys.executable} -m pathveil "$@"\n')
    (tools / "pathveil").chmod(0o700)
    with studio(tmp_path / "my $projects; touch x", SEED) as running:
        project = running.project("one")
        review = running.walk(project, name, content.encode(), *forms)
        folder = running.folder_of(project)
        before = tmp_path / "before"
        shutil.copytree(folder, before)
        running.release(project, review)
        running.wait(project, 1)
        assert running.get(f"{project}/releases/1").status == 200
        compared = running.post(f"{project}/releases/1/curator")
        assert compared.status == 303, compared.refusal
        assert not (folder / "releases/1/curator.html").exists()
    mine = released(folder)

    shutil.move(folder, tmp_path / "the studio's")
    shutil.copytree(before, folder)  # the commands name the folder
    lines = shown(review, "commands")
    done = subprocess.run(
        ["sh", "-e", "-c", lines], cwd=tmp_path, capture_output=True, text=True,
        env={**environment, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    by_hand = released(folder)
    assert by_hand.keys() == mine.keys()
    different = {one for one in mine if by_hand[one] != mine[one]}
    assert different <= {"report.html"}, different  # which says when it was written
    [charge] = [entry for entry in Ledger.open(folder / "budget.db").entries() if entry.kind == "charged"]

    scripted = tmp_path / "scripted"
    shutil.copytree(before, scripted)
    if (folder / "sensitive/words-1.parquet").exists():
        shutil.copy(folder / "sensitive/words-1.parquet", scripted / "sensitive")
    (scripted / "seeded-script").write_text(shown(review, "script"))
    done = subprocess.run(
        [sys.executable, "seeded-script"], cwd=scripted, capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    by_script = released(scripted)
    assert {
        one for one in mine if "report" not in one and "geojson" not in one and one != "frequent.json"
    } == by_script.keys()
    # One process draws the model and the synthetic words from it, so that these are not drawn with the first bits.
    assert {one for one in by_script if by_script[one] != mine[one]} <= {
        one for one in mine if one.startswith("synthetic")
    }
    [again] = [entry for entry in Ledger.open(scripted / "budget.db").entries() if entry.kind == "charged"]
    assert again.amount == charge.amount
    assert again.content["guarantee"] == charge.content["guarantee"]
