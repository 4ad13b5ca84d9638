"""What a command that has released something tells the curator."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from pathveil.cli.printing.spelling import with_options

if TYPE_CHECKING:
    from pathveil.privacy.guarantee import Guarantee


def echo_notice(text: str) -> None:
    """What a person should know, whatever else is printed."""
    print(f"pathveil: {text}", file=sys.stderr)


class _Notices(logging.Handler):
    """Messages of the library, in the form that all notices have."""

    def emit(self, record: logging.LogRecord) -> None:
        echo_notice(record.getMessage())


def pass_messages_on(*, silent: bool) -> None:
    """Print what the library says before long work, unless nothing but errors is to be printed."""
    logging.getLogger("pathveil").handlers = [logging.NullHandler() if silent else _Notices()]


def echo_cost(cost: Mapping[str, Any] | None) -> None:
    """What the release cost in the unit of the budget, if there is one."""
    if cost is not None:
        typer.echo(f"Charged: {cost['conversion']}")


def echo_json(
    output: Path,
    promise: Guarantee,
    for_the_curator_only: Mapping[str, Any],
    cost: Mapping[str, Any] | None,
    how: Mapping[str, Any] | None = None,
) -> None:
    """The result for machines, `how` it was made included; what depends on the data without noise stands apart."""
    result: dict[str, Any] = {
        "output": str(output),
        "manifest": f"{output}.manifest.json",
        "epsilon": promise.epsilon,
        "delta": promise.delta,
        "unit": promise.unit,
        "guarantee": str(promise),
        **(how or {}),
        "for_the_curator_only": for_the_curator_only,
    }
    if cost is not None:
        result["charged"] = dict(cost)
    typer.echo(json.dumps(result, indent=2, ensure_ascii=False))


def echo_tied(count: int) -> None:
    """How many words have symbols whose order nothing but the file says, if any."""
    if count:
        typer.echo(
            f"For you only: {count:,} words have rows with equal values of --order; these stay in the order of the "
            "file (--ties refuse makes them bad rows, a second --order decides between them)"
        )


def echo_limited(largest: int | None, dropped: int) -> None:
    """What a limit of words per user did, if there was one."""
    if largest is not None:
        typer.echo(
            f"For you only: the user with most words has {largest:,}; {dropped:,} words were over the limit and dropped"
        )


def echo_skipped(count: int, what: str, examples: Sequence[str]) -> None:
    """How many words or rows were left out, if any."""
    if count:
        typer.echo(f"For you only: {count:,} {what} were left out, for example")
        for example in examples:
            typer.echo(f"  {with_options(example)}")
