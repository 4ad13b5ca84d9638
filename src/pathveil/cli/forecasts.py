"""Exact expected errors of the mechanisms on public words: nothing sensitive is read."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pathveil.cli.edit_distance import edit_mechanism
from pathveil.cli.mechanisms import MechanismName

if TYPE_CHECKING:
    from pathveil.systems.system import System
    from pathveil.words.base import WordMechanism


@dataclass(frozen=True)
class Forecast:
    """A mechanism at some ε: the expected number of errors, or why it cannot be used on this system."""

    mechanism: MechanismName
    epsilon: float
    errors: float | None
    theta: float | None
    unit: str | None
    why_not: str | None


def forecast(
    world: System,
    name: MechanismName,
    length: int,
    epsilon: float,
    adjacency: int,
    lengths: tuple[int, int] | None = None,
    cap: int | None = None,
) -> Forecast:
    """Build the mechanism and average its expected errors over feasible words drawn from the public system.

    With `lengths` the mechanism for edit distance: expected edits.
    """
    from pathveil.errors import DeadEndError, InvalidSystemError, TooLargeError
    from pathveil.planning.public_words import expected_errors
    from pathveil.words.by_name import MECHANISMS

    made: WordMechanism
    try:
        if lengths is not None:
            made = edit_mechanism(name, world, epsilon, adjacency, lengths, cap)
        else:
            made = MECHANISMS[name](world, epsilon, adjacency)
        errors = expected_errors(made, world, length)
        if errors == float("inf"):
            raise TooLargeError("the exact expectation would take too much memory")
    except (DeadEndError, InvalidSystemError, TooLargeError) as problem:
        return Forecast(name, epsilon, None, None, None, str(problem))
    return Forecast(name, epsilon, errors, made.theta(length), made.guarantee.unit, None)


@contextlib.contextmanager
def waiting(what: str, silent: bool) -> Iterator[None]:
    """Something that moves on a terminal while people wait."""
    if silent or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield
