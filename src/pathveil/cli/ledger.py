"""`pathveil ledger`: make a budget, look at it, check it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from pathveil.cli.options import Json
from pathveil.errors import InvalidParameterError

ledger_app = typer.Typer(
    help="A privacy budget in a file: make one, look at it, check it.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
LedgerPath = Annotated[Path, typer.Argument(metavar="LEDGER", help="The file of the ledger.")]


@ledger_app.command()
def init(
    path: LedgerPath,
    epsilon: Annotated[float, typer.Option(help="The total ε that each unit may spend.")],
    delta: Annotated[float, typer.Option(help="The total δ that each unit may spend.")] = 0.0,
    composition: Annotated[
        Literal["basic", "pld"],
        typer.Option(help="basic: releases add up. pld: optimal composition of releases of one size, fixed now."),
    ] = "basic",
    each_epsilon: Annotated[
        float | None, typer.Option(help="With pld: the most ε that any single release will cost.")
    ] = None,
    each_delta: Annotated[float, typer.Option(help="With pld: the most δ that any single release will cost.")] = 0.0,
) -> None:
    """Make a new ledger. A file that exists already is never touched.

    Example: [bold]pathveil ledger init budget.db --epsilon 10 --delta 1e-5[/bold]
    """
    from pathveil.ledger.ledger import Ledger

    if (composition == "pld") != (each_epsilon is not None):
        raise InvalidParameterError("--each-epsilon belongs to --composition pld, which needs it")
    each = None if each_epsilon is None else (each_epsilon, each_delta)
    made = Ledger.create(path, epsilon, delta, composition=composition, each=each)
    note = ""
    if composition == "pld":
        note = f"; by optimal composition that is {made.to_dict()['releases']} releases of this size or smaller"
    typer.echo(f"{path}: a budget of {made.total} for each unit{note}")


@ledger_app.command()
def show(path: LedgerPath, as_json: Json = False) -> None:
    """What was spent, what is left and what each charge was for. For the curator: not for release.

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
    """Check every entry and the chain between them. Note the head down elsewhere, and hand it in next time.

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
    out.print(
        f"{escape(str(path))}: ε = {content['budget']['epsilon']}, δ = {content['budget']['delta']} for each unit"
    )
    if content["releases"] is not None:
        each = content["each"]
        out.print(f"at most {content['releases']} releases of ε = {each['epsilon']}, δ = {each['delta']} each")
    out = Console()
    for unit in content["units"]:
        table = Table(title=f"unit: {escape(unit['unit'])}", title_justify="left")
        for header in ("", "charged", "ε", "δ", "status", "for"):
            table.add_column(header)
        for charge in content["charges"]:
            if charge["unit"] == unit["unit"]:
                amount = charge["epsilon"], charge["delta"]
                shown = (charge["number"], charge["time"], *amount, charge["status"], escape(charge["command"]))
                table.add_row(*map(str, shown))
        table.add_section()
        for name in ("spent", "remaining"):
            table.add_row("", name, str(unit[name]["epsilon"]), str(unit[name]["delta"]), "", "")
        out.print(table)
    if not content["units"]:
        out.print("nothing was charged so far")
