"""The same release as a Python script, for those who want to go on from there."""

from __future__ import annotations

from pathlib import PurePosixPath

from pathveil.studio.choices import Choices
from pathveil.studio.making.commands import SINGLE_CHARACTERS, Command, user_column
from pathveil.studio.projects import LEDGER, SYSTEM

_HEAD = '''"""What PathVeil Studio did for this release. Run it in the folder of the project."""

from pathlib import Path

import pathveil as pv
from pathveil import data
from pathveil.data.sources import contents
from pathveil.release import Release, {imported}
'''
_WORDS = '''
def best(lengths):
    """The mechanism with the fewest expected errors for words of these lengths, which are public."""
    return pv.best_mechanism(world, lengths, epsilon, adjacency{near})


epsilon, adjacency = {epsilon}, {adjacency}
with Release(ledger, command="script", request="script to {output}", fingerprint=fingerprint) as release:
    runner = runner_for("embedded", None, [source], layout)
    checked_for = pv.PermuteAndFlip(world, epsilon, adjacency)
    release_words(runner, checked_for, Path({output!r}), release, WordChoices(), choose=best)
'''
_MODEL = """
choices = SequenceChoices(
    states=world.symbols,
    support=None if world.compiled.is_free else world,  # where anything may follow anything, nothing is to be said
    epsilon={epsilon},
    delta={delta},
    unit={unit!r},
    max_length={max_length},
    neighbours={neighbours!r},{people}{times}
)
with Release(ledger, command="script", request="script to {output}", fingerprint=fingerprint) as release:
    release_model([source], layout, choices, release, Path({output!r}))
"""
_SYNTHETIC = """
made = SyntheticChoices(count={count}{columns})
release_synthetic(Path({model!r}), Path({output!r}), made)
"""


def script_for(choices: Choices, commands: list[Command]) -> str:
    """A script that does what the commands do, except for points and reports: these two have commands of their own."""
    charged = next(command for command in commands if command.charged)
    source = charged.arguments[1]
    words = choices["purpose"] == "words"
    synthetic = next((command for command in commands if command.arguments[0] == "synthesize"), None)
    imported = ["WordChoices", "release_words", "runner_for"] if words else ["SequenceChoices", "release_model"]
    if synthetic is not None:
        imported = ["SequenceChoices", "SyntheticChoices", "release_model", "release_synthetic"]
    lines = [_HEAD.format(imported=", ".join(imported))]
    if choices["times"] and not words:
        lines.append("from pathveil.data.reading import Beside\n")
    by_command = [command for command in commands if command.arguments[0] in ("places", "report", "inspect")]
    if by_command:
        lines.append("\n# These are done by commands, before and after:\n")
        # A name of a column may go over several lines, and none of them may become a part of the script.
        lines += [f"#   {line}\n" for command in by_command for line in str(command).splitlines()]
    lines.append(f"\nsource = {source!r}\nworld = data.SavedSystem.read(Path({SYSTEM!r})).system\n")
    lines.append(f"Path({str(PurePosixPath(charged.makes).parent)!r}).mkdir(exist_ok=True)\n")
    lines.append(f"layout = {_layout(choices)}\nledger = {_ledger(choices, commands)}\n")
    lines.append("\n\ndef fingerprint():\n    return ledger.fingerprint(contents([source]))\n\n")
    if words:
        values = {name: choices[name] for name in ("epsilon", "adjacency")}
        near = ""
        if choices["kind"] == "points" and choices["within"]:
            lines.append(f"distance = data.read_cells({SYSTEM!r}).distance_within(None)\n\n")
            near = f", distance=distance, within={choices['within']}"
        lines.append(_WORDS.format(**values, near=near, output=charged.makes))
        return "".join(lines)
    person = choices["unit"] == "user"
    people = f"\n    user={user_column(choices)!r},\n    max_words_per_user={choices['max-words-per-user']},"
    lines.append(
        _MODEL.format(
            epsilon=float(choices["epsilon"]),  # as the command reads it: 8.0, which the model says, too
            delta=float(choices["delta"]) if choices["delta"] else None,
            unit=choices["unit"],
            max_length=choices["max-length"],
            neighbours=choices["neighbours"],
            people=people if person else "",
            times=f"\n    beside=Beside(time={choices['position']!r})," if choices["times"] else "",
            output=charged.makes,
        )
    )
    if synthetic is not None:
        names = [name for name in ("case", "order", "symbol", "column") if f"--{name}" in synthetic.arguments]
        values = {name: synthetic.arguments[synthetic.arguments.index(f"--{name}") + 1] for name in names}
        columns = "".join(f", {name}={value!r}" for name, value in values.items())
        lines.append(
            _SYNTHETIC.format(count=choices["count"], columns=columns, model=charged.makes, output=synthetic.makes)
        )
    return "".join(lines)


def _layout(choices: Choices) -> str:
    separator = {"": None, SINGLE_CHARACTERS: ""}.get(choices["separator"], choices["separator"])
    if choices["kind"] == "points":
        return 'data.ListColumn("word")'
    if choices["kind"] == "long":
        more = f", time_format={choices['time-format']!r}" if choices["time-format"] else ""
        order = f"case={choices['case']!r}, order={choices['position']!r}, symbol={choices['symbol']!r}"
        return f"data.LongTable({order}{more})"
    if choices["kind"] == "text":
        return f"data.TextLines(separator={separator!r})"
    if choices["kind"] == "log":
        return f"data.EventLog({choices['symbol']!r})" if choices["symbol"] else "data.EventLog()"
    if choices["input"].endswith((".parquet", ".pq", ".jsonl", ".ndjson")) and not choices["separator"]:
        return f"data.ListColumn({choices['column']!r})"
    return f"data.DelimitedColumn({choices['column']!r}, separator={separator!r})"


def _ledger(choices: Choices, commands: list[Command]) -> str:
    if not any(command.arguments[:2] == ("ledger", "init") for command in commands):
        return f"pv.Ledger.open({LEDGER!r})"
    length, neighbours = choices["max-length"], choices["neighbours"]
    unit, user = f"pv.units.Symbols({choices['adjacency']})", ""
    if choices["unit"] == "word":
        unit = f"pv.units.Word({length}, neighbours={neighbours!r})"
    if choices["unit"] == "user":
        unit = f"pv.units.User({choices['max-words-per-user']}, {length}, neighbours={neighbours!r})"
        user = f", user={user_column(choices)!r}"
    total = f"{choices['total-epsilon']}, {choices['total-delta'] or '0'}"
    return f"pv.Ledger.create({LEDGER!r}, {total}, unit={unit}{user})"
