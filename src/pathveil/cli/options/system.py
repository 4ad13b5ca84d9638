"""The public system that was asked for. It comes from a public file, never from the sensitive one."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pathveil.errors import InvalidParameterError
from pathveil.release.destinations import named_files

if TYPE_CHECKING:
    from pathveil.systems.system import System

_WHY_NOT_LEARNED = """The system (which symbols there are, and which may follow which) is not learned from the sensitive
file. A street that only one person uses would then be in the release because of that person, and no ε covers that.
Two ways are safe:
  1. Give a system from a public source: a road map as --edges, a site map as --alphabet.
  2. Learn a private chain first, over public states, for a share of the budget, and give it as the system:
       pathveil model INPUT ... --states STATES.txt --epsilon 1 --delta 1e-6 --output model.json
       pathveil privatize INPUT ... --chain model.json --epsilon 2 --output private.csv"""


def public_system(
    *,
    edges: Path | None,
    alphabet: Path | None,
    chain: Path | None,
    automaton: Path | None,
    sensitive: Sequence[str] = (),
) -> System:
    """Read the one system that was given; wrong use if there is none, or several, or if it is the sensitive file."""
    given = {"--edges": edges, "--alphabet": alphabet, "--chain": chain, "--automaton": automaton}
    chosen = {option: path for option, path in given.items() if path is not None}
    if len(chosen) > 1:
        raise InvalidParameterError(f"give one public system, not {' and '.join(chosen)}")
    if not chosen:
        explanation = f"\n\n{_WHY_NOT_LEARNED}" if sensitive else ""
        raise InvalidParameterError(f"the public system is missing: give one of {', '.join(given)}.{explanation}")
    [(option, path)] = chosen.items()
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
    for source in sensitive:
        inside = Path(source).is_dir() and Path(source).resolve() in path.resolve().parents
        if inside or any(os.path.samefile(path, file) for file in named_files(source)):
            raise InvalidParameterError(f"{option} {path} is the sensitive input itself.\n\n{_WHY_NOT_LEARNED}")
