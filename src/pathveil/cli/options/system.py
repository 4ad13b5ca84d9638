"""The public system that was asked for. It comes from a public file, never from the sensitive one."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pathveil.systems.system import System

_PANEL = "The public system (give one)"
_WHY_NOT_LEARNED = """The system (which symbols there are, and which may follow which) is not learned from the sensitive
file. A street that only one person uses would then be in the release because of that person, and no ε covers that.
Two ways are safe:
  1. Give a system from a public source: a road map as --edges, a site map as --alphabet.
  2. Learn a private chain first, over public states, for a share of the budget, and give it as the system:
       pathveil model INPUT ... --states STATES.txt --epsilon 1 --delta 1e-6 --output model.json
       pathveil privatize INPUT ... --chain model.json --epsilon 2 --output private.csv"""


@dataclass(frozen=True)
class SystemFile:
    """The file that holds the public system; one of these has to be given."""

    edges: Annotated[
        Path | None,
        typer.Option(help="CSV with the columns from,to: which symbol may follow which.", rich_help_panel=_PANEL),
    ] = None
    alphabet: Annotated[
        Path | None,
        typer.Option(help="Text, one symbol a line: every word over them.", rich_help_panel=_PANEL),
    ] = None
    chain: Annotated[
        Path | None,
        typer.Option(help="JSON of a Markov chain or of a private model.", rich_help_panel=_PANEL),
    ] = None
    automaton: Annotated[
        Path | None,
        typer.Option(help="CSV (from,symbol,to) or JSON of an automaton.", rich_help_panel=_PANEL),
    ] = None

    @property
    def given(self) -> dict[str, Path]:
        """The options that were used, and their files."""
        return {f"--{name}": path for name, path in vars(self).items() if path is not None}

    def read(self, sensitive: Sequence[str] = ()) -> System:
        """Read the one system that was given; wrong use if there is none, or several, or if it is a sensitive file."""
        if len(self.given) > 1:
            raise InvalidParameterError(f"give one public system, not {' and '.join(self.given)}")
        if not self.given:
            explanation = f"\n\n{_WHY_NOT_LEARNED}" if sensitive else ""
            raise InvalidParameterError(
                "the public system is missing: give one of --edges, --alphabet, --chain, --automaton." + explanation
            )
        [(option, path)] = self.given.items()
        refuse_sensitive(option, path, sensitive)
        from pathveil.data import reading

        readers: dict[str, Callable[[Path], System]] = {
            "--edges": reading.read_edges,
            "--alphabet": reading.read_alphabet,
            "--chain": reading.read_chain,
            "--automaton": reading.read_automaton,
        }
        return readers[option](path)


def refuse_sensitive(option: str, path: Path, sensitive: Sequence[str]) -> None:
    """Wrong use if a file that is meant to be public is the sensitive input."""
    if not path.exists():
        return
    from pathveil.release.destinations import named_files

    for source in sensitive:
        inside = Path(source).is_dir() and Path(source).resolve() in path.resolve().parents
        if inside or any(os.path.samefile(path, file) for file in named_files(source)):
            raise InvalidParameterError(f"{option} {path} is the sensitive input itself.\n\n{_WHY_NOT_LEARNED}")
