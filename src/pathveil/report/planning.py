"""The numbers of a planning report: every mechanism over a grid of ε and b, from public quantities only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pathveil.errors import DeadEndError, InvalidSystemError, LengthMismatchError, TooLargeError
from pathveil.numerics.arrays import FloatArray
from pathveil.planning.choose import public_words
from pathveil.planning.lower_bound import LowerBound, least_expected_errors_each
from pathveil.randomness.source import insecure_seed
from pathveil.report.explain import certificate_in_words
from pathveil.systems.system import System, Word, checked_length
from pathveil.words.base import ErrorLaw, WordMechanism, checked_adjacency, checked_epsilon
from pathveil.words.by_name import MECHANISMS
from pathveil.words.certified import CertifiedExponential

EPSILONS = (0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
"""Where the slider for ε can stand, unless the caller adds to them."""

CONTEXTS = 4_000
"""Quick certificates: a release takes longer over them (40,000), which can only help."""

DRAWS = 3
"""Private words that are shown for the sample word, for each mechanism at each ε and b."""


@dataclass(frozen=True)
class Cell:
    """One mechanism at one ε and b: its errors, averaged over feasible words, and what it makes of the sample word.

    `kept`: for edit distance, how often the private word is as long as the true one.
    """

    theta: float
    law: ErrorLaw
    sample_law: ErrorLaw
    draws: tuple[Word, ...]
    kept: float | None = None


@dataclass(frozen=True)
class Planning:
    """Everything that a planning report shows; nothing in it depends on sensitive data.

    `cells[b][e][k]` is about adjacency number b, ε number e and mechanism number k; None where the mechanism cannot be
    used, and then `why_not[k]` says why. `units[b][k]` is the unit of the guarantee, `explained[b][e]` the certificate
    in words. With edit distance `lengths` are those that words may have, `cap` is the last distance told apart, and
    there are no lower bounds.
    """

    world: System
    length: int
    epsilons: tuple[float, ...]
    adjacencies: tuple[int, ...]
    names: tuple[str, ...]
    cells: list[list[list[Cell | None]]]
    bounds: list[list[LowerBound]] | None
    explained: list[list[list[str]]]
    units: list[list[str | None]]
    why_not: dict[int, str]
    sample: Word
    sample_given: bool
    lengths: tuple[int, int] | None = None
    cap: int | None = None

    @property
    def what(self) -> str:
        """What is counted."""
        return "errors" if self.lengths is None else "edits"

    def means(self, b: int, k: int) -> list[float | None]:
        """The expected errors of a mechanism over the grid of ε."""
        return [None if (cell := row[k]) is None else cell.law.mean for row in self.cells[b]]


def plan_words(
    world: System,
    length: int,
    adjacency: int = 1,
    *,
    epsilons: Sequence[float] = (),
    sample: Word | None = None,
    only_adjacency: bool = False,
) -> Planning:
    """Work out the grid. The slider for b has 1, 2 and `adjacency`; on a free alphabet, where it costs nothing, 1 to 5.

    `sample` is a *public* word to show private words for; otherwise a feasible word is drawn, always the same one.
    """
    n, b = checked_length(length), checked_adjacency(adjacency)
    world.require_words(n)
    if sample is not None:
        world.require_feasible(world.encode(sample))
        if len(sample) != n:
            raise LengthMismatchError(f"the sample word has {len(sample)} symbols, but the report is about {n}")
    words = public_words(world, n)
    shown = words[0] if sample is None else sample
    grid = grid_of(epsilons)
    stops = {b} if only_adjacency else {b, *(range(1, 6) if world.compiled.is_free else (1, 2))}
    adjacencies = tuple(sorted(stop for stop in stops if stop <= max(n, b)))
    why_not: dict[int, str] = {}
    cells: list[list[list[Cell | None]]] = []
    explained: list[list[list[str]]] = []
    units: list[list[str | None]] = []
    for stop in adjacencies:
        cells.append([])
        explained.append([])
        units.append([None] * len(MECHANISMS))
        for epsilon in grid:
            row: list[Cell | None] = []
            for k, name in enumerate(MECHANISMS):
                made = None if k in why_not else _usable(world, name, epsilon, stop, why_not, k)
                cell = None if made is None else _cell(made, n, words, shown, why_not, k)
                row.append(cell)
                if made is not None and cell is not None:
                    units[-1][k] = made.guarantee.unit
                if name == "certified":
                    known = made if cell is not None and isinstance(made, CertifiedExponential) else None
                    explained[-1].append([] if known is None else certificate_in_words(known.certificate(n), epsilon))
            cells[-1].append(row)
    if len(why_not) == len(MECHANISMS):
        raise TooLargeError(f"the errors of no mechanism can be computed here: {why_not[0]}")
    bounds = [_bounds(world, n, grid, stop) for stop in adjacencies]
    return Planning(
        world=world,
        length=n,
        epsilons=grid,
        adjacencies=adjacencies,
        names=tuple(MECHANISMS),
        cells=cells,
        bounds=bounds,
        explained=explained,
        units=units,
        why_not=why_not,
        sample=shown,
        sample_given=sample is not None,
    )


def grid_of(epsilons: Sequence[float]) -> tuple[float, ...]:
    """Where the slider for ε can stand."""
    return tuple(sorted({*EPSILONS, *(checked_epsilon(one) for one in epsilons)}))


def build(world: System, name: str, epsilon: float, adjacency: int) -> WordMechanism:
    """A mechanism by its name, with a quick certificate where it has one."""
    if name == "certified":
        return CertifiedExponential(world, epsilon, adjacency, contexts=CONTEXTS)
    return MECHANISMS[name](world, epsilon, adjacency)


def _usable(
    world: System, name: str, epsilon: float, adjacency: int, why_not: dict[int, str], k: int
) -> WordMechanism | None:
    try:
        return build(world, name, epsilon, adjacency)
    except (DeadEndError, InvalidSystemError, TooLargeError) as problem:
        why_not[k] = str(problem)
        return None


def _cell(
    mechanism: WordMechanism, length: int, words: Sequence[Word], sample: Word, why_not: dict[int, str], k: int
) -> Cell | None:
    # The sample word is public and its private words show what to expect: a seed keeps the report the same each time.
    source = insecure_seed(0)
    try:
        law = average_law([mechanism.error_law(word) for word in words])
        sample_law = mechanism.error_law(sample)
        draws = tuple(mechanism.privatize(sample, rng=source) for _ in range(DRAWS))
    except TooLargeError as problem:
        why_not[k] = str(problem)
        return None
    return Cell(mechanism.theta(length), law, sample_law, draws)


def _bounds(world: System, length: int, epsilons: Sequence[float], adjacency: int) -> list[LowerBound]:
    try:
        return least_expected_errors_each(world, length, epsilons, adjacency)
    except TooLargeError as problem:
        return [LowerBound(0.0, True, f"no better one than 0 was computed: {problem}")] * len(epsilons)


def average_law(laws: Sequence[ErrorLaw]) -> ErrorLaw:
    """The law of the errors of a word that is chosen at random among several; lengths may differ."""
    pmf: FloatArray = np.zeros(max(len(law.pmf) for law in laws))
    for law in laws:
        pmf[: len(law.pmf)] += law.pmf / len(laws)
    with np.errstate(divide="ignore"):
        return ErrorLaw(np.log(pmf))
