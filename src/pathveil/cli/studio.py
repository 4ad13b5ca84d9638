"""`pathveil studio`: the guided page in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pathveil.errors import InvalidParameterError


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
