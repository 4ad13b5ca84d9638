"""What is printed about a public system, so that a person can see whether it is the one that was meant."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from pathveil.data.public import SavedSystem

_SHOWN = 5


def print_summary(saved: SavedSystem, name: str, *, as_json: bool) -> None:
    """The summary of a system in the file `name`, for people or for machines."""
    from pathveil.data.public import overview_of

    found = overview_of(saved.system)
    placed = len(saved.coordinates or {})
    if as_json:
        facts = {"file": name, "source": saved.source, "kind": type(saved.system).__name__, "coordinates": placed}
        typer.echo(json.dumps(facts | asdict(found), indent=2, ensure_ascii=False, default=str))
        return
    lines = [
        f"{name}: {saved.source or 'a public system'}",
        f"  {found.symbols:,} symbols, {found.states:,} states, {found.transitions:,} transitions; "
        f"{found.mean_successors:.1f} symbols may follow on average",
        f"  words of 10 symbols: {_number(found.words)}",
        f"  where words can only end: {_some(found.dead_ends, 'nowhere, every symbol can be continued')}",
        f"  in no word, because nothing leads there: {_some(found.unreachable, 'none')}",
    ]
    if found.never_end:
        lines.append(f"  in no word, because no end can be reached: {_some(found.never_end, 'none')}")
    missing = f", {found.symbols - placed:,} have none" if 0 < placed < found.symbols else ""
    lines.append(f"  coordinates: {f'{placed:,} symbols{missing}' if placed else 'none'}")
    typer.echo("\n".join(lines))


def _some(symbols: Sequence[Any], none: str) -> str:
    if not symbols:
        return none
    shown = ", ".join(map(str, symbols[:_SHOWN]))
    return f"{len(symbols):,} ({shown}{', …' if len(symbols) > _SHOWN else ''})"


def _number(words: int) -> str:
    if words < 10**9:
        return f"{words:,}"
    digits = len(str(words)) if words.bit_length() < 10_000 else int(words.bit_length() * 0.30103)
    return f"about 10^{digits - 1}"
