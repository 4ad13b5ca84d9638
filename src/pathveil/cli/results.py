"""What a command that has released something tells the curator."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from pathveil.cli.charging import Paid
    from pathveil.privacy.guarantee import Guarantee


def echo_cost(paid: Paid) -> None:
    """What the release cost in the unit of the budget, if there is one."""
    if paid.for_manifest is not None:
        typer.echo(f"Charged: {paid.for_manifest['conversion']}")


def echo_json(output: Path, promise: Guarantee, for_the_curator_only: Mapping[str, Any], paid: Paid) -> None:
    """The result for machines; what depends on the data without noise stands apart."""
    result: dict[str, Any] = {
        "output": str(output),
        "manifest": f"{output}.manifest.json",
        "epsilon": promise.epsilon,
        "delta": promise.delta,
        "unit": promise.unit,
        "guarantee": str(promise),
        "for_the_curator_only": for_the_curator_only,
    }
    if paid.for_manifest is not None:
        result["charged"] = paid.for_manifest
    typer.echo(json.dumps(result, indent=2, ensure_ascii=False))


def echo_skipped(count: int, what: str, examples: Sequence[str]) -> None:
    """How many words or rows were left out, if any."""
    if count:
        typer.echo(f"For you only: {count:,} {what} were left out, for example")
        for example in examples:
            typer.echo(f"  {example}")
