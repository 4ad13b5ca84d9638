"""What does the work: this process, or Apache Spark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import typer

from pathveil.errors import InvalidParameterError

_WORK = "What does the work"


@dataclass(frozen=True)
class Work:
    """What does the work."""

    engine: Annotated[
        Literal["embedded", "spark"],
        typer.Option(help="This process, or Apache Spark (Parquet files; docs/spark.md).", rich_help_panel=_WORK),
    ] = "embedded"
    master: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Spark's master, such as spark://host:7077; local[*] if not given.",
            rich_help_panel=_WORK,
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.master is not None and self.engine != "spark":
            raise InvalidParameterError("--master is for --engine spark")
