"""Which commands there are.

Modules of this room import numerical libraries inside functions only: `pathveil --help` has to be quick.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pathveil.cli.audit import audit_app
from pathveil.cli.compare import compare
from pathveil.cli.inspect_model import inspect
from pathveil.cli.ledger import ledger_app
from pathveil.cli.model import model
from pathveil.cli.places import places
from pathveil.cli.plan import plan
from pathveil.cli.privatize import privatize
from pathveil.cli.report import report_app
from pathveil.cli.stream import stream
from pathveil.cli.synthesize import synthesize
from pathveil.cli.system import system_app
from pathveil.errors import InvalidParameterError

_HELP = (
    "Share trips, visits to a web site or the steps of a process without giving away much about any one of them.",
    # One line for each job: line breaks inside a paragraph stay.
    """Be guided through all of it, in a browser: [bold]studio[/bold]
Protect my sequences: [bold]plan[/bold] (how private, how wrong?), [bold]privatize[/bold]
Learn a model and make synthetic sequences: [bold]model[/bold], [bold]synthesize[/bold]
Check what is promised, and show it: [bold]audit[/bold], [bold]report[/bold]
Keep a budget over several releases: [bold]ledger[/bold]
Come from points on a map, and go back there: [bold]places[/bold]""",
    "Every sequence is replaced by a private one, or synthetic ones are made from a private model. You say how much "
    "may be given away about any single one, as a number called ε (epsilon, --epsilon): the smaller it is, the more "
    "private the result, and the more of it is wrong. This is differential privacy: it holds whatever a reader knows "
    "already.",
    "A [bold]word[/bold] is one sequence, and its [bold]symbols[/bold] are what it is made of: a trip and its streets, "
    "a visit and its pages, a case and its steps.",
    "Example: [bold]pathveil privatize visits.csv --case visit --order time --symbol page --alphabet pages.txt "
    "--epsilon 5 --output private.csv[/bold]",
)
_PROTECT, _LEARN = "Protect my sequences", "Learn a model and make synthetic sequences"
_CHECK, _BUDGET, _PUBLIC = "Check it, and show it", "Keep a budget", "Say what is public"

app = typer.Typer(
    name="pathveil",
    help="\n\n".join(_HELP),
    no_args_is_help=True,
    # A traceback with the values of variables in it could show sensitive words.
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def demo() -> None:
    """A tour of a minute: one trip through a made-up town, released at three levels of privacy.

    Example: [bold]pathveil demo[/bold]
    """
    from pathveil.cli.demo import run_demo

    run_demo()


def studio(
    projects: Annotated[
        Path, typer.Option(help="The folder that projects are kept in; it is made if it is not there.")
    ] = Path("pathveil-projects"),
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on; 0: any that is free.")] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the link, and open no browser.")] = False,
) -> None:
    """From a file to a release, step by step, in a browser. Everything stays on this computer.

    A link is printed and opened; it works once, for the browser that opens it. Projects can be left and taken up again.
    Needs pip install 'pathveil\\[studio]'.

    Example: [bold]pathveil studio --projects ~/releases[/bold]
    """
    try:
        from pathveil.studio import serve
    except ModuleNotFoundError as missing:
        raise InvalidParameterError(
            f"the studio needs {missing.name}, which is not installed: pip install 'pathveil[studio]'"
        ) from None
    serve(projects, port=port, open_browser=not no_browser, say=typer.echo)


# Jobs come in this order; commands before groups of commands.
for job, commands in {
    _PROTECT: (demo, studio, plan, privatize, stream),
    _LEARN: (model, synthesize, inspect),
    _CHECK: (compare,),
    _PUBLIC: (places,),
}.items():
    for command in commands:
        app.command(rich_help_panel=job)(command)
app.add_typer(audit_app, name="audit", rich_help_panel=_CHECK)
app.add_typer(report_app, name="report", rich_help_panel=_CHECK)
app.add_typer(ledger_app, name="ledger", rich_help_panel=_BUDGET)
app.add_typer(system_app, name="system", rich_help_panel=_PUBLIC)


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
