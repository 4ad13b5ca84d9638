"""What the studio releases is, byte for byte, what commands and script of the review give with the same seed."""

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
from tests.studio.kinds import KINDS
from tests.studio.live import PATH, Answer, studio

SEED = {"STUDIO_SEED": "20"}

# Every layout, and every purpose; the others differ from these in one of them only.
SOME = (
    "words of a text",
    "words of a log",
    "synthetic, of people",
    "synthetic, with times",
    "frequent words",
    "words of points",
)


def shown(review: Answer, name: str) -> str:
    found = re.search(rf'id="{name}">(.*?)</pre>', review.body.decode(), re.S)
    assert found
    return unescape(found[1])


def released(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "releases/1").iterdir()}


@pytest.mark.slow
@pytest.mark.parametrize("kind", SOME)
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
        if kind in ("words of a log", "frequent words"):
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
