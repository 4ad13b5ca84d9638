"""The plan of the house, held against the imports (docs/development/architecture.md).

A list of exceptions names a reason for each; an exception that is no longer needed fails the test too.
"""

from __future__ import annotations

from collections import Counter

from tests import house

AGAINST_THE_ORDER = {
    ("pathveil.errors", "pathveil.ledger.amounts"): "only for type checkers: an error carries the amounts asked for",
    ("pathveil.errors", "pathveil.ledger.entries"): "only for type checkers: an error carries the last entry",
}

CYCLES: dict[tuple[str, ...], str] = {}

PAST_THE_DOOR: dict[str, str] = {}
"""Sub-rooms whose files may still be imported one by one."""

MOST_FILES = 14
LARGE_FOLDERS: dict[str, str] = {}


def test_rooms_use_only_those_before_them():
    unknown = {house.room_of(name) for name in house.files()} - {"", *house.ORDER}
    assert not unknown, f"say where in house.ORDER these rooms stand: {unknown}"
    place = {room: number for number, room in enumerate(house.ORDER)} | {"": -1}
    wrong = {
        (one.importer, one.imported): str(one)
        for one in house.imports()
        if place[house.room_of(one.imported)] > place[house.room_of(one.importer)] and not _shows_everything(one)
    }
    assert wrong.keys() == AGAINST_THE_ORDER.keys(), wrong


def _shows_everything(one: house.Import) -> bool:
    """The public names, and `python -m pathveil`."""
    return one.importer in ("pathveil", "pathveil.__main__")


def test_no_files_import_each_other_in_a_circle_not_even_lazily():
    found = {tuple(loop) for loop in house.cycles((i.importer, i.imported) for i in house.run_time(house.imports()))}
    assert found == CYCLES.keys()


def test_the_parts_of_a_room_do_not_use_each_other_in_a_circle():
    """A sub-room counts as one part, a file beside it as another."""
    edges = set()
    for one in house.run_time(house.imports()):
        ends = _part(one.importer), _part(one.imported)
        if house.room_of(one.importer) == house.room_of(one.imported) != "" and ends[0] != ends[1]:
            edges.add(ends)
    allowed = {frozenset(loop) for loop in CYCLES}
    assert [loop for loop in house.cycles(edges) if frozenset(loop) not in allowed] == []


def _part(file: str) -> str:
    return ".".join(file.split(".")[:3])


def test_nobody_reaches_past_the_door_of_a_sub_room():
    past = [
        (subroom, one)
        for one in house.imports()
        for subroom in house.subrooms()
        if one.imported.startswith(subroom + ".") and not _is_inside(one.importer, subroom)
    ]
    assert {subroom for subroom, _ in past} == PAST_THE_DOOR.keys(), [
        str(one) for subroom, one in past if subroom not in PAST_THE_DOOR
    ]


def _is_inside(file: str, folder: str) -> bool:
    return file == folder or file.startswith(folder + ".")


def test_every_sub_room_says_what_others_may_use():
    for subroom in house.subrooms():
        if subroom not in PAST_THE_DOOR:
            assert "__all__" in house.files()[subroom].read_text(), subroom


def test_no_folder_is_a_hall():
    directly = Counter(house.folder_of(name) for name in house.files())
    assert {folder for folder, count in directly.items() if count > MOST_FILES} == LARGE_FOLDERS.keys()


# The reader itself: what it must not overlook.

PLANTED = """
from typing import TYPE_CHECKING
from pathveil.words.base import law
from pathveil.words.base.law import ErrorLaw, log_sum
if TYPE_CHECKING:
    from pathveil.cli import app
class Lazy:
    def draw(self):
        def inner():
            import pathveil.report.plots
        if True:
            from pathveil.cli.app import main
"""


def test_imports_are_found_wherever_they_stand(tmp_path):
    file = tmp_path / "planted.py"
    file.write_text(PLANTED)
    known = ["pathveil.words", "pathveil.words.base.law", "pathveil.cli", "pathveil.cli.app", "pathveil.report.plots"]
    found = [(one.imported, one.names, one.when) for one in house.imports_of("planted", file, known)]
    assert found == [
        ("pathveil.words.base.law", (), "loading"),
        ("pathveil.words.base.law", ("ErrorLaw", "log_sum"), "loading"),
        ("pathveil.cli.app", (), "typing"),
        ("pathveil.report.plots", (), "called"),
        ("pathveil.cli.app", ("main",), "called"),
    ]


def test_cycles_are_found_and_only_cycles():
    assert house.cycles([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e")]) == [["a", "b", "c"]]
    assert house.cycles([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]) == []
