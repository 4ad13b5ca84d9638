"""The edit mechanisms on the command line: `--distance edit --lengths 5:20 --cap 6`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pathveil.cli.options.mechanisms import MechanismName
from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pathveil.systems.system import System
    from pathveil.words.edit import EditMechanism

_DIGITS = 30  # Python refuses to read numbers of thousands of digits, and no word is that long


def edit_mechanism(
    name: MechanismName,
    world: System,
    epsilon: float,
    adjacency: int,
    lengths: tuple[int, int],
    cap: int | None,
    on_infeasible: Any = "refuse",
) -> EditMechanism:
    """The mechanism of this name for edit distance."""
    from pathveil.words.by_name import EDIT_MECHANISMS

    if name not in EDIT_MECHANISMS:
        raise InvalidParameterError(f"--mechanism {name} keeps the length of a word: it does not know --distance edit")
    return EDIT_MECHANISMS[name](world, epsilon, adjacency, lengths, cap, on_infeasible=on_infeasible)


def edit_lengths(distance: str, lengths: str | None, cap: int | None) -> tuple[int, int] | None:
    """(lo, hi) for edit distance, None otherwise; an error where the options do not fit together."""
    if distance != "edit":
        if lengths is not None or cap is not None:
            raise InvalidParameterError("--lengths and --cap belong to --distance edit")
        return None
    lo, colon, hi = (part.strip() for part in (lengths or "").partition(":"))
    if not (colon and lo.isdecimal() and hi.isdecimal() and len(lo) + len(hi) < _DIGITS):
        shown = "is missing" if lengths is None else f"is not {lengths!r}"
        raise InvalidParameterError(
            f"--lengths {shown}: with --distance edit give the shortest and the longest word, for example --lengths "
            "5:20. They are public, so they must not be read off the data."
        )
    return int(lo), int(hi)
