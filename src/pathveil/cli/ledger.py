"""`pathveil ledger`: make a budget, look at it, check it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pathveil.cli.options import Distance, Json, Places, takes_bundles
from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pathveil.privacy.units import Unit

ledger_app = typer.Typer(
    help="Keep a budget, so that all releases of a data set together give away no more than you said.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
LedgerPath = Annotated[Path, typer.Argument(metavar="LEDGER", help="The file of the ledger.")]


_CHOICE = """\
what shall the budget protect? One budget has one unit, and every release is charged what it costs in that unit:
  --unit symbols --adjacency b                          b symbols of one word; lengths are public
  --unit same-length                                    all symbols of one word; lengths are public
  --unit moved-symbols --adjacency b --within r --coordinates FILE
                                                        b symbols, each moved by at most r
  --unit word --max-length L                            a whole word, its length included
  --unit user --max-words-per-user k --max-length L     all words of a person
  --unit user-symbols --max-words-per-user k            all symbols in all words of a person (with --adjacency b: b
                                                        symbols in each); how many words and how long is public
  --unit transition                                     the destination of one transition; where each starts is public
  --unit step                                           one step of a decision process
  --unit episode                                        all steps of one episode of a decision process
The wider the unit, the more a release costs, and the more the budget promises."""

# What each unit asks for.
_ASKED = {
    "symbols": {"adjacency"},
    "moved-symbols": {"adjacency", "within", "coordinates"},
    "same-length": set(),
    "word": {"max_length"},
    "user": {"max_words_per_user", "max_length"},
    "user-symbols": {"max_words_per_user"},
    "transition": set(),
    "step": set(),
    "episode": set(),
}


@dataclass(frozen=True)
class Protected:
    """What the budget protects: the name of a unit, and what this unit asks for."""

    unit: Annotated[
        Literal[
            "symbols", "moved-symbols", "same-length", "word", "user", "user-symbols", "transition", "step", "episode"
        ]
        | None,
        typer.Option(help="What the budget protects; it has to be named, and cannot be changed later."),
    ] = None
    adjacency: Annotated[
        int | None,
        typer.Option(min=1, help="Units symbols and user-symbols: how many symbols of a word are protected together."),
    ] = None
    within: Annotated[
        float | None, typer.Option(help="Unit moved-symbols: how far a symbol may be moved and still be protected.")
    ] = None
    coordinates: Annotated[
        str | None,
        typer.Option(
            metavar="FILE[:SYMBOL,X,Y]",
            help="Unit moved-symbols: where the symbols lie; releases must give the same file.",
        ),
    ] = None
    max_length: Annotated[
        int | None, typer.Option(min=1, help="Units word and user: the greatest length of a word.")
    ] = None
    max_words_per_user: Annotated[
        int | None, typer.Option(min=1, help="Units user and user-symbols: the most words that a person has.")
    ] = None
    user: Annotated[
        str | None,
        typer.Option(
            help="Units user and user-symbols: the column that says whose word it is; a release that keeps fewer words "
            "of each of these users costs less."
        ),
    ] = None
    neighbours: Annotated[
        Literal["replace", "add-remove"],
        typer.Option(help="Units word, user, step and episode: one of them becomes another, or is there or not."),
    ] = "replace"

    def made(self) -> Unit:
        """The unit; wrong use where something is missing, or given and not asked for."""
        from pathveil.privacy import units

        name, neighbours = self._checked(), self.neighbours
        if name == "symbols":
            return units.Symbols(self.adjacency or 1)
        if name == "moved-symbols":
            measured = Places(self.coordinates, None, self.within).measured(Distance())
            assert measured is not None
            within = self.within or 0.0
            if not measured.distance.within(within).largest_cost:
                raise InvalidParameterError(
                    f"no two symbols are within {within:g} of each other: such a budget would protect nothing"
                )
            return units.MovedSymbols(self.adjacency or 1, within, measured.distance.fingerprint)
        if name == "word":
            return units.Word(self.max_length, neighbours)
        if name == "user":
            return units.User(self.max_words_per_user, self.max_length, neighbours)
        if name == "user-symbols":
            return units.UserSymbols(self.max_words_per_user or 1, self.adjacency)
        if name in ("step", "episode"):
            return units.Step(neighbours) if name == "step" else units.Episode(neighbours)
        return units.SameLength() if name == "same-length" else units.Transition()

    def _checked(self) -> str:
        name = self.unit
        if self.user is not None and name not in ("user", "user-symbols"):
            raise InvalidParameterError("--user is for --unit user and --unit user-symbols")
        if name is None:
            raise InvalidParameterError(_CHOICE)
        for option in ("adjacency", "within", "coordinates", "max_length", "max_words_per_user"):
            if name == "user-symbols" and option == "adjacency":
                continue  # may be left out: all symbols
            value = getattr(self, option)
            if (option in _ASKED[name]) != (value is not None):
                verb = "needs" if value is None else "does not go with"
                raise InvalidParameterError(f"--unit {name} {verb} --{option.replace('_', '-')}")
        if self.neighbours != "replace" and name not in ("word", "user", "step", "episode"):
            raise InvalidParameterError(
                f"--neighbours {self.neighbours} is for --unit word, user, step and episode, not for {name}"
            )
        return name


@ledger_app.command()
@takes_bundles
def init(
    *,
    path: LedgerPath,
    epsilon: Annotated[float, typer.Option(help="The total ε that all releases together may cost.")],
    delta: Annotated[float, typer.Option(help="The total δ that all releases together may cost.")] = 0.0,
    protects: Protected,
    composition: Annotated[
        Literal["basic", "pld"],
        typer.Option(help="basic: releases add up. pld: optimal composition of releases of one size, fixed now."),
    ] = "basic",
    each_epsilon: Annotated[
        float | None, typer.Option(help="With pld: the most ε that any single release will cost.")
    ] = None,
    each_delta: Annotated[float, typer.Option(help="With pld: the most δ that any single release will cost.")] = 0.0,
) -> None:
    """Make a budget for a data set: how much all releases together may give away (--epsilon), and about what (--unit).

    Every release is charged what it costs in that unit, and refused if too little is left. A file that exists already
    is never touched. The wider the unit, the more a release costs, and the more the
    budget promises: symbols < same-length < word < user.

    Examples:

    [bold]pathveil ledger init budget.db --epsilon 10 --unit symbols --adjacency 1[/bold]

    [bold]pathveil ledger init budget.db --epsilon 10 --delta 1e-5 --unit user --max-words-per-user 3
    --max-length 40[/bold]
    """
    from pathveil.ledger.ledger import Ledger

    protected = protects.made()
    if (composition == "pld") != (each_epsilon is not None):
        raise InvalidParameterError("--each-epsilon belongs to --composition pld, which needs it")
    each = None if each_epsilon is None else (each_epsilon, each_delta)
    made = Ledger.create(path, epsilon, delta, unit=protected, user=protects.user, composition=composition, each=each)
    note = ""
    if composition == "pld":
        note = f"; by optimal composition that is {made.to_dict()['releases']} releases of this size or smaller"
    typer.echo(f"{path}: a budget of {made.total} for {protected}{note}")


@ledger_app.command()
def show(path: LedgerPath, as_json: Json = False) -> None:
    """What was spent, what is left and what each charge was for. For those who may read the data: not for release.

    Example: [bold]pathveil ledger show budget.db --json[/bold]
    """
    from pathveil.ledger.ledger import Ledger

    content = Ledger.open(path).to_dict()
    if as_json:
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
        return
    _print(path, content)


@ledger_app.command()
def verify(
    path: LedgerPath,
    head: Annotated[
        str | None, typer.Option(help="The head of an earlier verification, kept elsewhere: it must still be there.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check that nobody has changed the budget's file. Note the head down elsewhere, and hand it in next time.

    Example: [bold]pathveil ledger verify budget.db[/bold]
    """
    from pathveil.ledger.ledger import Ledger

    found = Ledger.open(path).verify(head)
    if as_json:
        typer.echo(json.dumps({"entries": found.entries, "head": found.head}))
    else:
        typer.echo(f"{path}: {found}")


def _print(path: Path, content: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    out = Console(soft_wrap=True)
    budget = content["budget"]
    out.print(
        f"{escape(str(path))}: ε = {budget['epsilon']}, δ = {budget['delta']} for {escape(content['unit'])}",
        highlight=False,
    )
    if content["releases"] is not None:
        each = content["each"]
        out.print(f"at most {content['releases']} releases of ε = {each['epsilon']}, δ = {each['delta']} each")
    if content["charges"]:
        table = Table()
        for header in ("", "charged", "ε", "δ", "status", "for", "how the cost comes about"):
            table.add_column(header)
        for charge in content["charges"]:
            amount = charge["epsilon"], charge["delta"]
            shown = (charge["number"], charge["time"], *amount, charge["status"])
            table.add_row(*map(str, shown), escape(charge["command"]), escape(charge["conversion"]))
        table.add_section()
        for name in ("spent", "remaining"):
            table.add_row("", name, str(content[name]["epsilon"]), str(content[name]["delta"]), "", "", "")
        Console().print(table)
    else:
        out.print("nothing was charged so far")
    if not content["buys"]:
        out.print("No release that this version makes can be expressed in this unit.")
    elif content["remaining"]["epsilon"]:
        out.print("What is left would buy one release of at most")
        for one in content["buys"]:
            out.print(f"  ε = {one['epsilon']:g} for {escape(one['protects'])}", highlight=False)
