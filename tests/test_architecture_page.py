"""docs/development/architecture.md is right about what is where: paths, names, the picture, and the stops of walks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import house, house_picture

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "development" / "architecture.md").read_text(encoding="utf-8")
PATH = r"`((?:[\w]+/)+(?:\w+\.py)?|\w+\.py)`"


def _place(path: str) -> Path:
    """Where a path of the page leads: into the package, or into the repository where it begins with another folder."""
    return ROOT / path if path.startswith(("tests/", "src/")) else house.PACKAGE / path


def test_every_path_on_the_page_exists():
    paths = re.findall(PATH, PAGE)
    assert len(paths) > 60
    assert [path for path in paths if not _place(path).exists()] == []


def test_names_in_brackets_after_a_path_are_defined_there():
    named = re.findall(PATH + r" \(`(\w+)(?:\.(\w+))?`\)", PAGE)
    assert len(named) >= 6
    for path, name, method in named:
        text = _place(path).read_text()
        assert re.search(rf"^(class|def) {name}\b", text, re.MULTILINE), (path, name)
        assert not method or re.search(rf"^    def {method}\b", text, re.MULTILINE), (path, method)


def test_every_room_and_sub_room_is_on_the_page_and_rooms_stand_in_their_order():
    rooms = re.findall(r"^\| `(\w+)/` \|", PAGE, re.MULTILINE)
    assert rooms == list(house_picture.used_rooms())
    for subroom in house.subrooms():
        assert f"`{subroom.removeprefix('pathveil.').replace('.', '/')}/`" in PAGE


def test_the_picture_is_that_of_todays_imports():
    drawn = house_picture.FILE.read_text(encoding="utf-8")
    assert drawn == house_picture.drawing(), "draw it again: python -m tests.house --picture"


@pytest.mark.slow
def test_the_walks_pass_the_files_that_the_page_names():
    from tests.walks import taken

    sections = [part.partition("\n") for part in PAGE.split("\n### ")[1:]]
    walks = list(taken())
    assert len(walks) == len(sections)
    for (what, entered), (title, _, text) in zip(walks, sections, strict=True):
        assert what.startswith(title.lower()), (what, title)
        # Proofs are made once, before the call that is watched.
        stops = [path for path in re.findall(PATH, text) if path.endswith(".py") and "certificate" not in path]
        passed = {name.removeprefix("pathveil.").replace(".", "/") + ".py" for name in entered}
        assert [path for path in stops if path not in passed] == [], title
