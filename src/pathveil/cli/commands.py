"""Which commands there are.

Modules of this room import numerical libraries inside functions only: `pathveil --help` has to be quick.
"""

from __future__ import annotations

from typing import Annotated

import typer

from pathveil.cli.audit import audit_app
from pathveil.cli.compare import compare
from pathveil.cli.inspect_model import inspect
from pathveil.cli.ledger import ledger_app
from pathveil.cli.model import model
from pathveil.cli.plan import plan
from pathveil.cli.privatize import privatize
from pathveil.cli.report import report_app
from pathveil.cli.stream import stream
from pathveil.cli.synthesize import synthesize
from pathveil.cli.system import system_app

app = typer.Typer(
    name="pathveil",
    help="Release symbolic trajectories and Markov models under differential privacy.",
    no_args_is_help=True,
    # A traceback with the values of variables in it could show sensitive words.
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (plan, privatize, stream, model, synthesize, inspect, compare):
    app.command()(command)
app.add_typer(audit_app, name="audit")
app.add_typer(ledger_app, name="ledger")
app.add_typer(report_app, name="report")
app.add_typer(system_app, name="system")


def _print_version(wanted: bool) -> None:
    if wanted:
        from pathveil import __version__

        typer.echo(f"pathveil {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[  # the callback does the work
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    pass


@app.command()
def demo() -> None:
    """A tour: a sensitive trip through a synthetic town, released at three levels of privacy.

    Example: [bold]pathveil demo[/bold]
    """
    from pathveil.cli.demo import run_demo

    run_demo()
