"""Whatever is typed becomes one argument of a command, and never an option or a line of a script."""

from __future__ import annotations

import ast
import shlex

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st

from pathveil.cli.commands import app
from pathveil.studio.choices import Choices
from pathveil.studio.making import command_for_curator, command_for_system, commands_for_release, script_for
from tests.sizes import given_few_and_many
from tests.studio.kinds import KINDS

ODD = st.sampled_from(["-x", "--ledger=evil.db", "--", "-", "--yes", "a b", "a\nb", "';rm -rf ~;'", "$(x)", '"', "'",
                       "\\", "#", "'''", '"""', "{0}", "%s", "\nimport os", "\r", "\u2028", "a:b", "é"])  # fmt: skip
TYPED = ODD | st.text(min_size=1, max_size=12).filter(lambda text: "\0" not in text)
TREE = typer.main.get_command(app)


def parsed(arguments: tuple[str, ...]) -> dict[str, object]:
    """What the command line makes of the arguments."""
    command, rest = TREE, list(arguments)
    while hasattr(command, "commands"):
        command = command.commands[rest.pop(0)]
    with command.make_context("pathveil", rest) as context:
        return dict(context.params)


def chosen(kind: str, typed: dict[str, str]) -> Choices:
    values = {"input": "sensitive/x.csv", "public-file": "public/x.csv", "format": "csv", "gap": "30min"}
    for form in KINDS[kind][2]:
        values |= form
    return Choices(values | typed)


FIELDS = {
    "words of a column": {"column": "column", "separator": "separator"},
    "words of a long table": {"case": "case", "position": "order", "symbol": "symbol", "time-format": "time_format"},
    "words of a log": {"symbol": "symbol"},
    "synthetic, of people": {"case": "case", "symbol": "symbol", "user": "user"},
    "words of points": {"latitude": "latitude", "longitude": "longitude", "user": "user", "time": "time"},
}


@pytest.mark.parametrize(
    ("kind", "field", "option"), [(k, f, o) for k, some in FIELDS.items() for f, o in some.items()]
)
@given_few_and_many(10, 30, text=TYPED)
def test_what_is_typed_is_the_value_of_its_own_option_and_of_no_other(kind, field, option, text):
    usual, choices = chosen(kind, {field: "usual"}), chosen(kind, {field: text})
    first = "places" if kind == "words of points" else "model" if "synthetic" in kind else "privatize"
    commands = commands_for_release(choices, 1, new_budget=True)
    for command in commands:
        typed = shlex.split(str(command))
        assert typed[1 : 1 + len(command.arguments)] == list(command.arguments)
    mine = next(one for one in commands if one.arguments[0] == first)
    other = next(one for one in commands_for_release(usual, 1, new_budget=True) if one.arguments[0] == first)
    found, expected = parsed(mine.arguments), parsed(other.arguments)
    kept = "" if (field, text) == ("separator", "characters") else text
    assert found.pop(option) in (kept, [kept], (kept,))
    expected.pop(option)
    assert found == expected
    shlex.split(str(command_for_curator(choices, 1)))


@settings(max_examples=30)
@given(kind=st.sampled_from(sorted(FIELDS)), texts=st.lists(TYPED, min_size=6, max_size=6))
def test_a_script_stays_the_same_program_whatever_columns_are_called(kind, texts):
    fields = ("column", "case", "position", "symbol", "user", "time-format")

    def program(values: list[str]) -> str:
        choices = chosen(kind, dict(zip(fields, values, strict=True)))
        tree = ast.parse(script_for(choices, commands_for_release(choices, 1, new_budget=True)))
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                node.value = ""
        return ast.dump(tree)

    assert program(texts) == program(["usual"] * 6)


@settings(max_examples=30)
@given(text=TYPED)
def test_names_for_the_public_system_are_one_argument(text):
    for world in ("alphabet", "edges", "zones"):
        values = {"world": world, "public-file": "public/x.csv", "names": text, "from": text, "to": text}
        command = command_for_system(Choices(values))
        assert shlex.split(str(command)) == ["pathveil", *command.arguments]
        assert len([one for one in command.arguments if text in one and one not in ("system", "places")]) >= 1
        parsed(command.arguments)  # all of it is understood
