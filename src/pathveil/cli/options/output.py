"""The file that is written, and what is printed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the output if it is there already.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for machines.")]


@dataclass(frozen=True)
class Output:
    """A file with a manifest beside it."""

    path: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="The file to write. Beside it comes a manifest, which says what is promised."
        ),
    ]
    overwrite: Overwrite = False

    @property
    def target(self) -> Path:
        """The file as a path that does not depend on the current folder."""
        return self.path.absolute()


@dataclass(frozen=True)
class Printing:
    """What a command says: its result for people or for machines, or nothing."""

    quiet: Quiet = False
    as_json: Json = False

    @property
    def silent(self) -> bool:
        """Whether nothing may move on the terminal while people wait."""
        return self.quiet or self.as_json
