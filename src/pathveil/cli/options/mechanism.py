"""What draws private words: the names of the mechanisms, and what separates the words that they protect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pathveil.systems.system import System
    from pathveil.words.edit import EditMechanism

_DIGITS = 30  # Python refuses to read numbers of thousands of digits, and no word is that long

MechanismName = Literal["certified", "permute-and-flip", "exponential", "online"]  # known without loading them
OnInfeasible = Literal["refuse", "nearest"]
Epsilon = Annotated[float, typer.Option(help="ε, the privacy parameter: less is more private.")]
Adjacency = Annotated[int, typer.Option(help="b: words that differ in at most so many symbols are protected.")]


@dataclass(frozen=True)
class Distance:
    """Substitutions, or edits: `--distance edit --lengths 5:20 --cap 6`."""

    distance: Annotated[
        Literal["hamming", "edit"],
        typer.Option(
            help="What separates adjacent words: substitutions, which leave the length public, or edits: insertions, "
            "deletions and substitutions, which protect the length too."
        ),
    ] = "hamming"
    lengths: Annotated[
        str | None,
        typer.Option(
            metavar="LO:HI", help="Edit distance: the shortest and the longest word, for example 5:20. They are public."
        ),
    ] = None
    cap: Annotated[
        int | None,
        typer.Option(help="Edit distance: from so many edits on, words count as equally far. Smaller tables."),
    ] = None

    def __post_init__(self) -> None:
        if self.distance != "edit":
            if self.lengths is not None or self.cap is not None:
                raise InvalidParameterError("--lengths and --cap belong to --distance edit")
            return
        lo, colon, hi = self._lengths_parts()
        if not (colon and lo.isdecimal() and hi.isdecimal() and len(lo) + len(hi) < _DIGITS):
            shown = "is missing" if self.lengths is None else f"is not {self.lengths!r}"
            raise InvalidParameterError(
                f"--lengths {shown}: with --distance edit give the shortest and the longest word, for example "
                "--lengths 5:20. They are public, so they must not be read off the data."
            )

    @property
    def between(self) -> tuple[int, int] | None:
        """The shortest and the longest word for edit distance, None otherwise."""
        if self.distance != "edit":
            return None
        lo, _, hi = self._lengths_parts()
        return int(lo), int(hi)

    def _lengths_parts(self) -> list[str]:
        return [part.strip() for part in (self.lengths or "").partition(":")]

    def edit_mechanism(
        self, name: MechanismName, world: System, epsilon: float, adjacency: int, on_infeasible: OnInfeasible
    ) -> EditMechanism:
        """The mechanism of this name for edit distance."""
        from pathveil.words.by_name import EDIT_MECHANISMS

        if name not in EDIT_MECHANISMS:
            raise InvalidParameterError(
                f"--mechanism {name} keeps the length of a word: it does not know --distance edit"
            )
        if self.between is None:
            raise AssertionError("asked for only with --distance edit")
        return EDIT_MECHANISMS[name](world, epsilon, adjacency, self.between, self.cap, on_infeasible=on_infeasible)
