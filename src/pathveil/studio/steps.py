"""The steps: what each page shows, and what becomes of the form that it sends.

A form is taken over only when it makes sense. Otherwise a `Refusal` says so beside the field, in the words of whoever
found out: this page, or the command that was run.
"""

from __future__ import annotations

import filecmp
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from pathveil.data.public import SavedSystem, overview_of
from pathveil.data.recognised import Recognised, recognise
from pathveil.errors import PathVeilError
from pathveil.studio.choices import COLUMNS, FIELDS, Choices, Refusal
from pathveil.studio.making import command_for_system, run
from pathveil.studio.projects import Project, as_argument, readable_file, require_data

FORMATS = ("csv", "parquet", "jsonl", "txt", "xes")
"""What words can be written as."""

_NEEDED = {
    "points": {"latitude": "the latitude", "longitude": "the longitude", "time": "the time"},
    "long": {"case": "the word that a row belongs to", "position": "the order of the rows", "symbol": "the symbol"},
    "column": {"column": "the words"},
    "text": {},
    "log": {},
}
_WORLDS = ("alphabet", "edges", "saved", "graphml", "gtfs", "bpmn", "pnml")
_MAPS = ("grid", "hexagons", "zones")
_TYPED = "public/symbols.txt"  # symbols that were typed into the page
_SHOWN = 24  # symbols of a public system
_LARGEST_OVERVIEW = 50_000  # symbols; looking at more from all sides takes too long for a page
_LARGEST = 1e6


def take_file(project: Project, path: str) -> None:
    """A sensitive file: recognised, and what was guessed put into the fields."""
    found = readable_file(path, project, "input")
    path = as_argument(path, project)
    require_data(found)
    looked = _recognised(found)
    choices = project.choices
    guess = {"position" if name == "order" else name: value for name, value in looked.guess.items()}
    choices.values |= dict.fromkeys(FIELDS["file"], "") | {"input": path, "kind": looked.kind, **guess}
    if looked.kind == "points":
        choices.values["gap"] = "30min"
    if choices["separator"] == " ":
        choices.values["separator"] = ""
    choices.reopen("file")
    project.write(choices)


def _recognised(path: Path) -> Recognised:
    try:
        return recognise(path)
    except PathVeilError as problem:
        raise Refusal("input", str(problem).replace(str(path), path.name)) from None


def file_shown(project: Project, choices: Choices) -> dict[str, Any]:
    """What was recognised in the file."""
    if not choices["input"]:
        return {"looked": None}
    path = readable_file(choices["input"], project, "input")
    return {"looked": _recognised(path), "size": path.stat().st_size, "file_name": path.name}


def take_columns(project: Project, choices: Choices) -> None:
    """How the file is read."""
    if not choices["input"]:
        raise Refusal("input", "Choose a file first.")
    looked = _recognised(readable_file(choices["input"], project, "input"))
    choices.values["input"] = as_argument(choices["input"], project)
    kind = choices["kind"]
    tables = ("points", "long", "column")
    possible = tables if looked.kind in tables else (looked.kind,)
    if kind not in possible:
        raise Refusal("kind", f"A {looked.format} file cannot be read like that.")
    for name, what in _NEEDED[kind].items():
        if not choices[name]:
            raise Refusal(name, f"Which column has {what}?")
    for name in COLUMNS:
        if kind in tables and choices[name] and choices[name] not in looked.columns:
            raise Refusal(name, f"The file has no column {choices[name]!r}.")


def public_shown(project: Project, choices: Choices) -> dict[str, Any]:
    """What is known about the public system, if there is one."""
    shown: dict[str, Any] = {"is_map": choices["kind"] == "points", "found": None, "shown_symbols": ()}
    if "public" in choices.done and project.system.exists():
        system = SavedSystem.read(project.system).system
        shown["shown_symbols"] = [str(symbol) for symbol in system.symbols[:_SHOWN]]
        shown["symbol_count"] = len(system.symbols)
        if len(system.symbols) <= _LARGEST_OVERVIEW:
            shown["found"] = overview_of(system)
    return shown


def take_public(project: Project, choices: Choices) -> None:
    """Write the public system, by the command that anybody could run."""
    world = choices["world"]
    if world not in (_MAPS if choices["kind"] == "points" else _WORLDS):
        raise Refusal("world", "Choose what is known to everybody.")
    if choices["input"] and world == "alphabet" and choices["symbols"]:
        if choices["public-file"] not in ("", _TYPED):
            raise Refusal("symbols", "There are symbols here, and a file below. Empty one of the two.")
        typed = project.folder / _TYPED
        lines = [line.strip() for line in choices["symbols"].splitlines() if line.strip()]
        typed.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        choices.values |= {"public-file": _TYPED, "names": ""}
    if world == "grid":
        choices.number("grid", 1, _LARGEST, "The side of a cell in metres")
    if world == "hexagons":
        choices.whole("hexagons", 0, 15, "The resolution of the hexagons")
    if world in ("grid", "hexagons"):
        if not re.fullmatch(r"\s*-?[\d.]+\s*(,\s*-?[\d.]+\s*){3}", choices["bounds"]):
            raise Refusal("bounds", "Give south, west, north and east in degrees, such as 39.7, 116.1, 40.1, 116.7.")
        choices.values["bounds"] = re.sub(r"\s", "", choices["bounds"])
    else:
        if not choices["public-file"]:
            raise Refusal("symbols" if world == "alphabet" else "public-file", "Which file says so? Choose one.")
        given = readable_file(choices["public-file"], project, "public-file")
        choices.values["public-file"] = as_argument(choices["public-file"], project)
        if _is_sensitive(given, project, choices):
            raise Refusal("public-file", "This is the sensitive file itself. What is public must come from elsewhere: "
                          "a list made from the data would show which symbols occur in them.")  # fmt: skip
    command = command_for_system(choices)
    outcome = run(command, project.folder, project.folder / "sensitive" / "checks")
    if outcome.code:
        raise placed(outcome.message, choices, "public", "public-file" if choices["public-file"] else "world")


def _is_sensitive(given: Path, project: Project, choices: Choices) -> bool:
    """Whether a file is the sensitive one, by whatever name, or a copy of it, or lies where sensitive files lie."""
    data = readable_file(choices["input"], project, "input")
    inside = given.is_relative_to((project.folder / "sensitive").resolve())
    return inside or given.samefile(data) or filecmp.cmp(given, data, shallow=False)


def take_protected(project: Project, choices: Choices) -> None:
    """The unit. A budget that was opened has one for ever."""
    unit = choices["unit"]
    if unit not in ("symbols", "word", "user"):
        raise Refusal("unit", "Choose what the promise is about.")
    if unit == "user" and not (choices["user"] or choices["kind"] == "log"):
        raise Refusal("unit", "The file has no column that says whose word it is. Choose one on the first page, "
                      "or protect a whole word.")  # fmt: skip
    if unit == "user" and choices["kind"] == "log":
        raise Refusal("unit", "Persons are told apart by a column of a table; an event log (.xes) has none here. "
                      "Protect a whole case, or hand in the log as a table.")  # fmt: skip
    if unit == "symbols" and choices["kind"] == "points" and choices["within"]:
        choices.number("within", 1, _LARGEST, "How far away, in metres")
    if unit in ("word", "user"):
        choices.whole("max-length", 1, 100_000, "The greatest length")
        if choices["neighbours"] not in ("replace", "add-remove"):
            raise Refusal("neighbours", "Choose what is compared.")
    if unit == "user":
        choices.whole("max-words-per-user", 1, 1_000_000, "How many words of a person are used")
    if project.ledger is not None:
        before = project.choices
        names = ("unit", "within") if unit == "symbols" else FIELDS["protected"]
        for name in names:
            if before[name] != choices[name]:
                raise Refusal(name, "The budget of this project was opened for what is chosen already, and a budget "
                              "has one unit for ever. Begin another project for another unit.")  # fmt: skip


def take_need(_project: Project, choices: Choices) -> None:
    """The purpose, as far as the unit allows it."""
    purpose, unit = choices["purpose"], choices["unit"]
    if purpose not in ("words", "synthetic", "model", "frequent"):
        raise Refusal("purpose", "Choose what you need.")
    if purpose == "words" and unit != "symbols":
        raise Refusal("purpose", "Private words are one for each sensitive word, so that they can protect symbols of a "
                      "word, not a whole one. Choose synthetic words, or protect symbols.")  # fmt: skip
    if purpose != "words" and unit == "symbols":
        raise Refusal("purpose", "A model protects a whole word or a person here. Go back to what is protected, or "
                      "choose private words.")  # fmt: skip
    if purpose == "synthetic":
        choices.whole("count", 1, 100_000_000, "How many synthetic words")
    if purpose in ("words", "synthetic") and choices["kind"] != "points" and choices["format"] not in FORMATS:
        raise Refusal("format", "Choose a format.")


def take_amount(project: Project, choices: Choices) -> None:
    """ε, b and δ, and what all releases together may cost."""
    epsilon = choices.number("epsilon", 0.001, 100, "ε")
    if choices["purpose"] == "words":
        choices.whole("adjacency", 1, 100, "How many symbols are protected together")
        choices.whole("length", 1, 100_000, "The usual length of a word")
        choices.values["delta"] = ""
    else:
        choices.whole("words", 1, 10**12, "About how many words there are")
        if choices["purpose"] == "frequent" and not choices["delta"]:
            raise Refusal("delta", "Words that many have can only be found with a δ above 0.")
        if choices["delta"]:
            choices.number("delta", 1e-15, 0.1, "δ")
    if project.ledger is None:
        total = choices.number("total-epsilon", 0.001, 1000, "The budget")
        if not isfinite(total) or total < epsilon:
            raise Refusal("total-epsilon", f"The budget has to be at least ε = {epsilon:g}, which this release takes.")
        if choices["delta"]:
            most = choices.number("total-delta", 1e-15, 0.1, "The budget for δ")
            if most < float(choices["delta"]):
                raise Refusal("total-delta", f"It has to be at least δ = {choices['delta']}, which this release takes.")
        else:
            choices.values["total-delta"] = ""


def take_review(_project: Project, _choices: Choices) -> None:
    """Nothing is chosen there."""


@dataclass(frozen=True)
class Step:
    """What a page shows beside the fields, and how its form is taken over."""

    shown: Callable[[Project, Choices], Mapping[str, Any]]
    take: Callable[[Project, Choices], None]


def _nothing(_project: Project, _choices: Choices) -> Mapping[str, Any]:
    return {}


FORMS: Mapping[str, Step] = {
    "file": Step(file_shown, take_columns),
    "public": Step(public_shown, take_public),
    "protected": Step(_nothing, take_protected),
    "need": Step(_nothing, take_need),
    "amount": Step(_nothing, take_amount),
    "review": Step(_nothing, take_review),
}


_ABOUT_THE_WORLD = r"unknown symbol|infeasible word|\bis on line \d+ already"
_PHRASES = (
    (r"the budget does not cover(.|\n)*difference: ε = 0,", "delta"),
    (r"the budget does not cover", "epsilon"),
    (r"bounds are \(", "bounds"),
    (r"latitude and longitude|is no latitude|is no longitude", "latitude"),
    (r"cells are more than", "grid"),
    (r"hexagons of resolution", "hexagons"),
)
"""What commands say without naming an option, and the field that it is about."""


def placed(message: str, choices: Choices, step: str, otherwise: str = "") -> Refusal:
    """The message of a command, beside the field that it is about.

    That is the option which it names, or the field whose value it quotes; of fields of this step first. The command
    that makes the public system knows of no other fields.
    """
    order = [*FIELDS[step], *(name for fields in FIELDS.values() for name in fields if step != "public")]
    field = _by_phrase(message, choices, order)
    for name in order:
        option = {"names": "--zone-name", "position": "--(order|position)"}.get(name, f"--{name}")
        if not field and (re.search(rf"{option}(?![\w-])", message) or re.match(rf"`?{name}`? is ", message)):
            field = name
    for name in order:
        if not field and choices[name] and repr(choices[name]) in message:
            field = name
    if not field and step != "public" and choices["input"] and Path(choices["input"]).name in message:
        field = "input"
    if "unknown symbol" in message and field in ("symbols", "public-file"):
        message += "\nAdd it here only if it is public anyway, not because it is in the data."
    return Refusal(field or otherwise, message)


def _by_phrase(message: str, choices: Choices, order: Sequence[str]) -> str:
    missing = re.search(r"there is no column ('.*?'|\".*?\");", message)
    if missing:
        return next((name for name in order if choices[name] and repr(choices[name]) == missing[1]), "")
    if "must name the columns" in message:
        return "from" if choices["world"] == "edges" else "names"
    if re.search("time of the form|ISO time|holds no time", message):
        return "time-format" if choices["kind"] == "long" else "time"
    whole = re.search(r"unknown symbol '[^']*[\s,;|>][^']*'", message)
    if whole and choices["kind"] in ("column", "text"):
        return "separator"  # what should be several symbols was read as one
    if re.search(_ABOUT_THE_WORLD, message):
        return "symbols" if choices["world"] == "alphabet" and choices["symbols"] else "public-file"
    return next((name for phrase, name in _PHRASES if re.search(phrase, message)), "")
