"""On the command line no message speaks Python: arguments that the library names are shown as options."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest
import typer.main

import pathveil as pv
from pathveil.cli.commands import app
from pathveil.cli.printing.spelling import OPTIONS, with_options
from tests.cli.conftest import Run

SOURCE = Path(pv.__file__).parent


@cache
def trees() -> dict[Path, ast.Module]:
    """What is behind commands, by file."""
    files = {path.relative_to(SOURCE): path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))}
    return {where: ast.parse(text) for where, text in files.items() if "cli" not in where.parts}


def functions() -> Iterator[ast.FunctionDef]:
    for tree in trees().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and (not node.name.startswith("_") or node.name == "__init__"):
                yield node


@cache  # not when the file is loaded: every process that runs tests would read the whole library first
def in_python() -> re.Pattern[str]:
    """An argument that can be nothing else: with an underscore, with a value, or in backticks."""
    arguments = {argument.arg for node in functions() for argument in (*node.args.args, *node.args.kwonlyargs)}
    return re.compile(
        rf"(?<![-\w/.'])(?:{'|'.join(sorted(name for name in arguments if '_' in name.strip('_')))})\b"
        rf"|(?<![-\w])(?:{'|'.join(sorted(arguments))})=|`(?:{'|'.join(sorted(OPTIONS))})\b"
    )


def options(command: Any) -> set[str]:
    inside = getattr(command, "commands", {}).values()
    own = {name for parameter in command.params for name in parameter.opts}
    return own.union(*(options(one) for one in inside))


def test_every_spelling_is_an_option_of_a_command() -> None:
    known = options(typer.main.get_command(app))
    assert {name for spelled in OPTIONS.values() for name in spelled.split(" and ")} <= known


def test_the_pattern_finds_python_and_nothing_else() -> None:
    for text in (
        "max_length is 3",
        "use unit='word'",
        "name the `format`",
        "give `lengths=(1, 2)`",
        "(overwrite=True)",
    ):
        assert in_python().search(text), text
    for text in ("--max-length 3", "--unit word", "name the format", "my/max_length.csv", "the column 'on_bad_row'"):
        assert not in_python().search(text), text


def _texts() -> Iterator[tuple[str, str]]:
    """Every text of an error in the library, without the values that are filled in."""
    for where, tree in trees().items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name.endswith("Error"):
                texts = [*node.args, *(word.value for word in node.keywords if word.arg == "without_content")]
                for text in texts:
                    parts = (part.value for part in ast.walk(text) if isinstance(part, ast.Constant))
                    yield f"{where}:{node.lineno}", " ".join(part for part in parts if isinstance(part, str))


def test_errors_name_arguments_in_backticks_so_that_commands_can_translate_them() -> None:
    assert not [(where, text) for where, text in _texts() if in_python().search(re.sub(r"`[^`]*`", "", text))]


FIT = "model lines.txt --states pages.txt --epsilon 1 --output out.json"
PAIRS = "model trips.csv --from pickup --to dropoff"
WORDS = "privatize lines.txt --alphabet pages.txt --epsilon 1 --output out.txt"
ROUTES = "privatize trips.parquet --column route --edges roads.csv --epsilon 1 --output out.parquet"

PROVOKED = {
    f"{WORDS.replace('out.txt', 'zones.txt')}": "--overwrite",
    f"{FIT.replace('out.json', 'zones.txt')} --unit symbol": "--overwrite",
    "plan --alphabet pages.txt --length 3 --plot old.png": "--overwrite",
    "privatize words.dat --alphabet pages.txt --epsilon 1 --output out.txt": "--format",
    "privatize - --alphabet pages.txt --epsilon 1 --output out.txt": "--format",
    "privatize trips.parquet --column route --alphabet pages.txt --epsilon 1 --output out.parquet": "--on-bad-row skip",
    "privatize lines.txt --alphabet zones.txt --epsilon 1 --output out.txt": "--on-bad-row skip",
    f"{PAIRS} --states pages.txt --epsilon 1 --output out.json": "--on-bad-row skip",
    f"{WORDS} --keep day": "--keep",
    f"{ROUTES} --keep route": "--keep",
    f"{ROUTES} --keep day --keep day": "--keep",
    f"{ROUTES} --user driver": "--max-words-per-user",
    f"{ROUTES} --max-length 3": "--max-length",
    f"{ROUTES} --distance edit": "--lengths",
    f"{WORDS} --distance edit --lengths 2:2 --yes": "--lengths",
    f"{WORDS} --distance edit --lengths 5:2": "--lengths",
    f"{FIT} --unit word": "--max-length",
    f"{FIT} --unit symbol --max-length 4": "--max-length",
    f"{FIT} --unit symbol --mechanism gaussian": "--delta",
    f"{FIT} --unit symbol --delta 1e-6 --mechanism dirichlet": "--mechanism laplace",
    f"{FIT} --unit symbol --split transitions=0.5,first=0.5": "--unit word",
    f"{FIT} --unit word --max-length 3 --split first=1": "--split",
    f"{FIT} --unit word --max-length 3 --split transitions=0.9,first=0.9": "--split",
    f"{FIT} --unit symbol --delta 0": "--mechanism laplace",
    f"{FIT.replace('--epsilon 1', '--epsilon 1e-30')} --unit symbol": "--epsilon",
    f"{PAIRS} --states zones.txt --epsilon 1 --max-length 4 -o out.json": "--max-length",
    "plan --rows sizes.csv --unit word": "--max-length",
    "plan --rows sizes.csv --delta 0.9": "--mechanism laplace",
    "synthesize symbol.json --count 3 --output out.csv": "--length",
    "ledger init out.db --epsilon 1 --delta 1e-6 --unit symbols --adjacency 1 --composition pld": "--each-epsilon",
    "ledger init out.db --epsilon 1 --unit word --max-length 10000000000": "--max-length",
    "ledger init out.db --epsilon 1 --unit user --max-words-per-user 10000000000 --max-length 3": "words-per-user",
    "synthesize spaced.json --count 3 --length 2 --output out.txt": "--separator",
}


@pytest.mark.parametrize(("line", "helps"), PROVOKED.items())
def test_a_message_names_the_option_that_helps(folder: Path, run: Run, line: str, helps: str) -> None:
    (folder / "words.dat").write_text("home cart\n")
    (folder / "old.png").write_text("")
    (folder / "spaced.txt").write_text("on the road\nat home\n")
    if "symbol.json" in line:
        assert run("model lines.txt --unit symbol --states pages.txt --epsilon 1 --output symbol.json").code == 0
    if "spaced.json" in line:
        counts = [[5, 5], [5, 5]]
        pv.fit_private_chain(counts, states=["on the road", "at home"], epsilon=1.0).save(folder / "spaced.json")
    ran = run(line)
    assert ran.code in (1, 2), ran.out
    assert "Traceback" not in ran.err
    said = re.sub(r"\s+", " ", re.sub(r"[│╭╮╰╯─]", " ", click.unstyle(ran.err)))
    assert helps in said
    assert not in_python().search(said), said


def test_messages_without_content_speak_of_options_too(run: Run) -> None:
    assert run("ledger init budget.db --epsilon 9 --unit symbols --adjacency 1").code == 0
    ran = run("privatize lines.txt --alphabet zones.txt --epsilon 1 --ledger budget.db --output out.txt")
    assert ran.code == 1
    assert "--on-bad-row skip" in ran.err
    assert "--curator" in ran.err
    assert not in_python().search(ran.err)


def test_what_is_quoted_from_files_stays_as_it_is() -> None:
    for text in ("my/max_length.csv: cannot be read", "the column 'on_bad_row' is not there", "a `b` and `c=1`"):
        assert with_options(text) == text
