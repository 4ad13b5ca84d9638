"""A command that takes bundles is, for typer, a command that takes their fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from pathveil.cli.commands import app
from pathveil.cli.options import takes_bundles


@dataclass(frozen=True)
class Inner:
    second: Annotated[int, typer.Option(help="a number")] = 2

    def __post_init__(self) -> None:
        if self.second < 0:
            raise ValueError("second is negative")


@dataclass(frozen=True)
class Outer:
    file: Annotated[str, typer.Option("--input", "-i")]
    inner: Inner
    flag: Annotated[bool, typer.Option("--flag")] = False


@dataclass(frozen=True)
class Rival:
    flag: Annotated[bool, typer.Option("--flag")] = False


def command(*, first: int = 1, outer: Outer, last: Annotated[float, typer.Option()]) -> None:
    """What it does."""
    typer.echo(f"{first} {outer} {last}")


def invoke(*line: str):
    made = typer.Typer()
    made.command()(takes_bundles(command))
    return CliRunner().invoke(made, list(line), env={"COLUMNS": "200"})


def test_options_arrive_in_their_bundles_at_any_depth():
    done = invoke("-i", "a", "--second", "5", "--flag", "--first", "7", "--last", "0.5")
    assert done.output == f"7 {Outer('a', Inner(5), True)} 0.5\n"


def test_options_that_are_not_given_have_the_defaults_of_their_fields():
    assert invoke("--input", "a", "--last", "1").output == f"1 {Outer('a', Inner())} 1.0\n"


def test_what_must_be_given_comes_first_and_the_rest_as_it_is_declared():
    shown = invoke("--help").output
    places = [shown.index(name) for name in ("--input", "--last", "--first", "--second", "--flag")]
    assert places == sorted(places)
    assert "What it does." in shown
    assert "a number" in shown


def test_a_field_without_a_default_has_to_be_given():
    done = invoke("--last", "1")
    assert done.exit_code == 2
    assert "--input" in done.output


def test_a_bundle_may_refuse_what_it_is_given():
    assert str(invoke("-i", "a", "--last", "1", "--second", "-1").exception) == "second is negative"


def test_two_bundles_cannot_both_have_an_option():
    def twice(*, outer: Outer, rival: Rival) -> None:
        raise AssertionError((outer, rival))

    with pytest.raises(ValueError, match="duplicate parameter name: 'flag'"):
        takes_bundles(twice)


def test_a_command_is_still_called_by_its_name():
    assert takes_bundles(command).__name__ == "command"


def test_no_command_has_two_options_of_one_name():
    """Fields of different names may still be declared with the same option."""

    def names(group):
        for one in group.commands.values():
            if hasattr(one, "commands"):
                yield from names(one)
            else:
                yield one.name, [option for parameter in one.params for option in parameter.opts]

    for name, options in names(typer.main.get_command(app)):
        assert len(set(options)) == len(options), name
