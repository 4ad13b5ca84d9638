"""What commands refuse stands beside the field that caused it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pathveil.cli.app import main
from pathveil.studio.choices import Choices, Refusal
from pathveil.studio.making import command_for_system, commands_for_release
from pathveil.studio.projects import Project
from pathveil.studio.steps import placed, take_amount
from tests.studio.kinds import CELLS, KINDS, STEPS
from tests.studio.live import TRIPS

PAIRS = "from,to\na,b\nb,a\nc,a\n"
WORDS, LONG, PEOPLE, POINTS = "words of a column", "words of a long table", "synthetic, of people", "words of points"
EDGES = {"world": "edges", "symbols": "", "public-file": "public/pairs.csv"}

# Which field it has to be, the kind of release, what is chosen otherwise, and what is in the file instead.
REFUSED = {
    "a column that is not there": ("column", WORDS, {"column": "nope"}, None),
    "a user that is not there": ("user", PEOPLE, {"user": "nope"}, None),
    "a symbol that is not public": ("symbols", WORDS, {}, TRIPS.replace("c", "z")),
    "another separator": ("separator", WORDS, {"separator": ","}, None),
    "an impossible word": ("public-file", WORDS, EDGES, None),
    "no such columns of pairs": ("from", WORDS, {**EDGES, "from": "x", "to": "y"}, None),
    "no such column of symbols": ("names", WORDS, {**EDGES, "world": "alphabet", "names": "x"}, None),
    "a symbol twice": ("symbols", WORDS, {"symbols": "a\na"}, None),
    "no saved system": ("public-file", WORDS, {**EDGES, "world": "saved"}, None),
    "no street map": ("public-file", WORDS, {**EDGES, "world": "graphml"}, None),
    "no timetable": ("public-file", WORDS, {**EDGES, "world": "gtfs"}, None),
    "times of another format": ("time-format", LONG, {"time-format": "%d/%m/%Y"}, None),
    "a time that is none": ("time-format", LONG, {}, STEPS.replace("2024-01-01 10:00:00", "yesterday")),
    "a row of no word": ("case", LONG, {}, STEPS.replace("u0,0,", "u0,,")),
    "an ε that says little": ("yes", WORDS, {"epsilon": "0.001", "yes": ""}, None),
    "more than the budget has": ("epsilon", WORDS, {"total-epsilon": "5"}, None),
    "more δ than the budget has": ("delta", "frequent words", {"total-delta": "1e-9"}, None),
    "swapped bounds": ("bounds", POINTS, {"bounds": "50.04,4.0,50.0,4.03"}, None),
    "bounds beyond the pole": ("bounds", POINTS, {"bounds": "50.0,4.0,95.0,4.03"}, None),
    "no bounds": ("bounds", POINTS, {"bounds": ".,.,.,."}, None),
    "cells that are too small": ("grid", POINTS, {"grid": "1", "bounds": "50,4,52,8"}, None),
    "swapped columns": ("latitude", POINTS, {"latitude": "lon", "longitude": "lat"}, None),
    "a latitude beyond the pole": ("latitude", POINTS, {}, CELLS.replace("50.005", "150.005")),
    "a point without a time": ("time", POINTS, {}, CELLS.replace("2024-01-01", "13/13/24")),
    "a gap that is no time": ("gap", POINTS, {"gap": "soon"}, None),
    "a gap like an option": ("gap", POINTS, {"gap": "--yes"}, None),
    "no such attribute": ("symbol", "words of a log", {"symbol": "nope"}, None),
    "an empty line": ("input", "words of a text", {}, "a b\n\nb c\n"),
    "an empty word": ("column", WORDS, {}, "trip,route\n1,\n2,a b\n"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_of_a_command_stands_beside_its_field(case, tmp_path: Path, monkeypatch, capsys):
    expected, kind, other, content = REFUSED[case]
    name, usual, forms = KINDS[kind]
    monkeypatch.chdir(tmp_path)
    for part in ("public", "sensitive", "releases/1"):
        Path(part).mkdir(parents=True)
    Path("sensitive", name).write_text(content or usual)
    Path("public/pairs.csv").write_text(PAIRS)
    values = {"input": f"sensitive/{name}"}
    for form in (*forms, other):
        values |= form
    if values.get("symbols"):
        Path("public/symbols.txt").write_text(values["symbols"] + "\n")
        values["public-file"] = "public/symbols.txt"
    choices = Choices(values)
    for command in (command_for_system(choices), *commands_for_release(choices, 1, new_budget=True)):
        made_public = command.makes == "public/system.json"
        step = "public" if made_public else "amount" if command.arguments[0] == "ledger" else "file"
        capsys.readouterr()
        if main(list(command.arguments)):
            message = capsys.readouterr().err.strip().removeprefix("pathveil: ")
            refusal = placed(message, choices, step, "public-file" if made_public else "")
            assert refusal.field == expected, message
            assert refusal.sentence.startswith(message)
            return
    pytest.fail("no command refused it")


def test_numbers_are_kept_as_commands_and_python_read_them(tmp_path: Path):
    typed = {"epsilon": "02", "adjacency": "1", "length": "1,000", "total-epsilon": "1_0", "purpose": "words"}
    choices = Choices(typed)
    take_amount(Project(tmp_path), choices)
    assert [choices[name] for name in ("epsilon", "length", "total-epsilon")] == ["2.0", "1000", "10.0"]
    for name, wrong in (("epsilon", "nan"), ("epsilon", "inf"), ("epsilon", "1e-9"), ("epsilon", "-1"),
                        ("length", "1.5"), ("length", "0"), ("adjacency", ""), ("total-epsilon", "1")):  # fmt: skip
        with pytest.raises(Refusal) as refusal:
            take_amount(Project(tmp_path), Choices({**typed, name: wrong}))
        assert refusal.value.field == name
