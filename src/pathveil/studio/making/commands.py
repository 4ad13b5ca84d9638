"""The commands that do what was chosen. They run in the folder of the project, and can be copied.

Nothing else decides what is released: the studio runs exactly these, in this order.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from pathveil.studio.choices import Choices
from pathveil.studio.projects import LEDGER, SYSTEM

SINGLE_CHARACTERS = "characters"
"""The separator of words whose symbols are single characters."""

_OPTIONS_OF_KINDS = {
    "column": ("column", "separator"),
    "text": ("separator",),
    "long": ("case", "position", "symbol", "time-format"),
    "log": ("symbol",),
}
_SIMPLE_SYSTEMS = ("graphml", "gtfs", "bpmn", "pnml")


@dataclass(frozen=True)
class Command:
    """One command: what it does in a few words, its arguments, the file that it makes, and whether it is charged."""

    does: str
    arguments: tuple[str, ...]
    makes: str
    charged: bool = False
    printed: bool = False
    """Whether the file is what the command prints."""

    def __str__(self) -> str:
        """As it is typed in a shell."""
        typed = shlex.join(("pathveil", *self.arguments))
        return f"{typed} > {shlex.quote(self.makes)}" if self.printed else typed

    @property
    def resumed(self) -> tuple[str, ...]:
        """The arguments of a second attempt: a charge that is there already is used, not paid again."""
        return (*self.arguments, "--resume") if self.charged else self.arguments


def words_of_points(number: int) -> str:
    """Where the words lie that points become, of each release its own."""
    return f"sensitive/words-{number}.parquet"


def command_for_system(choices: Choices) -> Command:
    """What writes the public system."""
    given, file = choices["world"], choices["public-file"]
    if given in ("grid", "hexagons", "zones"):
        what = {
            "grid": ("--grid", choices["grid"], "--bounds", choices["bounds"]),
            "hexagons": ("--hexagons", choices["hexagons"], "--bounds", choices["bounds"]),
            "zones": ("--zones", file, *_option("zone-name", choices["names"])),
        }[given]
        return Command("the map", ("places", *what, "--system", SYSTEM, "--overwrite", "--quiet"), SYSTEM)
    if given in _SIMPLE_SYSTEMS:
        arguments: tuple[str, ...] = (given, file)
    elif given == "edges":
        columns = f":{choices['from']},{choices['to']}" if choices["from"] and choices["to"] else ""
        arguments = ("convert", "--edges", f"{file}{columns}", *(("--both-ways",) if choices["both-ways"] else ()))
    elif given == "saved":
        arguments = ("convert", "--system", file)
    else:
        column = f":{choices['names']}" if choices["names"] else ""
        arguments = ("convert", "--alphabet", f"{file}{column}")
    return Command("what is public", ("system", *arguments, "--output", SYSTEM, "--overwrite", "--quiet"), SYSTEM)


def commands_for_release(choices: Choices, number: int, *, new_budget: bool) -> list[Command]:
    """Everything that release number `number` takes, in its order."""
    steps = []
    if choices["kind"] == "points":
        columns = [part for name in ("latitude", "longitude", "user", "time", "gap") for part in _given(choices, name)]
        words = words_of_points(number)
        made = ("--system", SYSTEM, "--output", words, "--overwrite")
        steps.append(Command("points to words", ("places", choices["input"], *columns, *made), words))
    if new_budget:
        steps.append(Command("the budget", ("ledger", "init", LEDGER, *_budget(choices)), LEDGER))
    folder = f"releases/{number}"
    if choices["purpose"] == "words":
        steps += _private_words(choices, number)
        charged = f"{folder}/{_words_file(choices, 'private')}"
    else:
        steps += _model(choices, number)
        charged = f"{folder}/model.json"
    page = f"{folder}/report.html"
    arguments = ("report", "release", f"{charged}.manifest.json", "--ledger", LEDGER, *_on_a_map(choices))
    steps.append(Command("the report", (*arguments, "--output", page, "--overwrite", "--quiet"), page))
    return steps


def command_for_curator(choices: Choices, number: int) -> Command:
    """The comparison of what was released with the data. It contains both."""
    output = f"sensitive/release-{number}/curator.html"
    if choices["purpose"] == "words":
        released: tuple[str, ...] = (
            "--system",
            SYSTEM,
            "--private",
            f"releases/{number}/{_words_file(choices, 'private')}",
        )
    else:
        released = ("--model", f"releases/{number}/model.json")
    given = ("--input", _input(choices, number), *_where_words_are(choices), *released)
    made = ("--output", output, "--overwrite", "--quiet")
    return Command("the comparison", ("report", "curator", *given, *made), output)


def _private_words(choices: Choices, number: int) -> list[Command]:
    output = f"releases/{number}/{_words_file(choices, 'private')}"
    private = ["--system", SYSTEM, *_moved(choices)]
    private += ["--epsilon", choices["epsilon"], "--adjacency", choices["adjacency"]]
    agreed = ("--yes",) if choices["yes"] else ()
    arguments = ("privatize", _input(choices, number), *_where_words_are(choices), *private, *agreed, *_charged(output))
    return [Command("private words", arguments, output, charged=True), *_back(choices, output)]


def _model(choices: Choices, number: int) -> list[Command]:
    folder = f"releases/{number}"
    model = f"{folder}/model.json"
    learned = ["--order", "auto", *_unit(choices), *_given(choices, "delta"), "--system", SYSTEM]
    if choices["times"] and choices["kind"] == "long":
        learned += ["--time", choices["position"]]
    arguments = (
        "model",
        _input(choices, number),
        *_where_words_are(choices),
        *learned,
        "--epsilon",
        choices["epsilon"],
    )
    steps = [Command("the private model", (*arguments, *_charged(model)), model, charged=True)]
    if choices["purpose"] == "frequent":
        listed = f"{folder}/frequent.json"
        steps.append(Command("frequent words", ("inspect", model, "--json"), listed, printed=True))
    if choices["purpose"] == "synthetic":
        output = f"{folder}/{_words_file(choices, 'synthetic')}"
        made = ("--count", choices["count"], *_output_columns(choices), "--output", output, "--overwrite", "--quiet")
        steps += [Command("synthetic words", ("synthesize", model, *made), output), *_back(choices, output)]
    return steps


def _back(choices: Choices, words: str) -> list[Command]:
    """Words of cells as lines on a map."""
    if choices["kind"] != "points":
        return []
    output = f"{words.rsplit('.', 1)[0]}.geojson"
    arguments = ("places", "--back", words, "--system", SYSTEM, "--output", output, "--overwrite", "--quiet")
    return [Command("back onto the map", arguments, output)]


def _on_a_map(choices: Choices) -> list[str]:
    """For the map of the release, where places are known."""
    if choices["kind"] != "points":
        return []
    words = ["--column", "word"] if choices["purpose"] == "words" else []
    return ["--system", SYSTEM, *words]


def _words_file(choices: Choices, name: str) -> str:
    return f"{name}.{'parquet' if choices['kind'] == 'points' else choices['format']}"


def _input(choices: Choices, number: int) -> str:
    return words_of_points(number) if choices["kind"] == "points" else choices["input"]


def _where_words_are(choices: Choices) -> list[str]:
    if choices["kind"] == "points":
        return ["--column", "word"]
    options = _OPTIONS_OF_KINDS[choices["kind"]]
    given = [part for name in options if name != "separator" for part in _given(choices, name)]
    if "separator" in options and choices["separator"]:
        given += ["--separator", "" if choices["separator"] == SINGLE_CHARACTERS else choices["separator"]]
    return given


def _output_columns(choices: Choices) -> list[str]:
    """Synthetic words stand in a table as the sensitive ones do, if the format has columns."""
    if choices["kind"] == "long" and choices["format"] in ("csv", "parquet", "jsonl"):
        # The order column of the data may hold times, which these are not: they count.
        return ["--case", choices["case"], "--order", "step", "--symbol", choices["symbol"]]
    if choices["kind"] == "column" and choices["format"] in ("csv", "parquet", "jsonl"):
        return ["--column", choices["column"]]
    return []


def user_column(choices: Choices) -> str:
    """The column that says whose word it is; words that were points have one of their own."""
    return "user" if choices["kind"] == "points" else choices["user"]


def _unit(choices: Choices) -> list[str]:
    """What a model protects."""
    names = ("unit", "max-length", "neighbours")
    protected = [part for name in names for part in _given(choices, name)]
    if choices["unit"] == "user":
        protected += ["--user", user_column(choices), "--max-words-per-user", choices["max-words-per-user"]]
    return protected


def _budget(choices: Choices) -> list[str]:
    """The options of a new ledger."""
    total = ["--epsilon", choices["total-epsilon"], *_option("delta", choices["total-delta"])]
    if choices["unit"] == "symbols":
        kind = "moved-symbols" if _moved(choices) else "symbols"
        return [*total, "--unit", kind, *_moved(choices), "--adjacency", choices["adjacency"]]
    return [*total, *_unit(choices)]


def _moved(choices: Choices) -> list[str]:
    """On a map: protect a place among those that are near it."""
    if choices["kind"] != "points" or choices["unit"] != "symbols" or not choices["within"]:
        return []
    return ["--coordinates", SYSTEM, "--within", choices["within"]]


def _charged(output: str) -> tuple[str, ...]:
    # The person at the page holds the data, so messages may quote them.
    return ("--ledger", LEDGER, "--curator", "--output", output)


def _given(choices: Choices, name: str) -> list[str]:
    return _option(name, choices[name])


def _option(name: str, value: str) -> list[str]:
    return [f"--{name}", value] if value else []
