"""A grid of forecasts: every mechanism at each ε and b, from public quantities only.

`word_grid` is for mechanisms that keep the length of a word, `edit_grid` (edit_grid.py) for edit distance. Both say
what one cell holds; `fill` is the loop over all cells.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pathveil.errors import LengthMismatchError, TooLargeError
from pathveil.numerics.long_work import LongWork
from pathveil.planning.distances import Measured, public_distances
from pathveil.planning.error_curves import fewest
from pathveil.planning.forecast import CANNOT_BE_USED, quick_mechanism
from pathveil.planning.lower_bound import LowerBound, least_expected_errors_each
from pathveil.planning.public_words import average_law, public_words
from pathveil.randomness.source import insecure_seed
from pathveil.systems.system import System, Word, checked_length
from pathveil.words.base import ErrorLaw, checked_epsilon, checked_positive_integer
from pathveil.words.by_name import MECHANISMS
from pathveil.words.certificate import Certificate
from pathveil.words.certified import CertifiedExponential
from pathveil.words.distances import DistanceCertificate, DistanceLaw, DistanceMechanism
from pathveil.words.edit import EditCertificate

EPSILONS = (0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
"""The ε of a grid, unless the caller adds to them."""

_DISTANCE_WORDS = 4  # public words that distances are averaged over

DRAWS = 3
"""Private words that are shown for the sample word, for each mechanism at each ε and b."""


@dataclass(frozen=True)
class Cell:
    """One mechanism at one ε and b: its errors, averaged over feasible words, and what it makes of the sample word.

    `unit` is the unit of the guarantee; `certificate` what the certified mechanism has proved. `kept`: for edit
    distance, how often the private word is as long as the true one. `distances`: with distances between symbols,
    how far a private symbol is from the true one.
    """

    theta: float
    unit: str
    law: ErrorLaw
    sample_law: ErrorLaw
    draws: tuple[Word, ...]
    certificate: Certificate | DistanceCertificate | EditCertificate | None = None
    kept: float | None = None
    distances: DistanceLaw | None = None

    @property
    def mean(self) -> float:
        """What mechanisms are compared by: the mean distance, where distances are known, or the expected errors."""
        return self.law.mean if self.distances is None else self.distances.mean


Cells = list[list[list[Cell | None]]]


@dataclass(frozen=True)
class ForecastGrid:
    """Every mechanism at each ε and b; nothing in it depends on sensitive data.

    `cells[b][e][k]` is about adjacency number b, ε number e and mechanism number k; None where the mechanism cannot be
    used, and then `why_not[k]` says why. With edit distance `lengths` are those that words may have, `cap` is the last
    distance told apart, and there are no lower bounds.
    """

    world: System
    length: int
    epsilons: tuple[float, ...]
    adjacencies: tuple[int, ...]
    names: tuple[str, ...]
    cells: Cells
    bounds: list[list[LowerBound]] | None
    why_not: dict[int, str]
    sample: Word
    sample_given: bool
    lengths: tuple[int, int] | None = None
    cap: int | None = None
    measured: Measured | None = None

    @property
    def what(self) -> str:
        """What is counted."""
        return "errors" if self.lengths is None else "edits"

    def means(self, b: int, k: int) -> list[float | None]:
        """The expected errors of a mechanism over the grid of ε."""
        return [None if (cell := row[k]) is None else cell.law.mean for row in self.cells[b]]

    def best(self, b: int, e: int) -> str:
        """The mechanism with the fewest expected errors at this ε and b."""
        cells = zip(self.names, self.cells[b][e], strict=True)
        return str(fewest({name: None if cell is None else cell.mean for name, cell in cells}))

    def unit(self, b: int, k: int) -> str | None:
        """The unit of a mechanism's guarantee, which is the same at every ε; None where it cannot be used."""
        return next((cell.unit for row in self.cells[b] if (cell := row[k]) is not None), None)


def word_grid(
    world: System,
    length: int,
    adjacency: int = 1,
    *,
    epsilons: Sequence[float] = (),
    sample: Word | None = None,
    only_adjacency: bool = False,
    measured: Measured | None = None,
) -> ForecastGrid:
    """The grid of the mechanisms that keep the length of a word.

    b is 1, 2 and `adjacency`; on a free alphabet, where it costs nothing, 1 to 5. `sample` is a *public* word to show
    private words for; otherwise a feasible word is drawn, always the same one. With distances between symbols
    (`measured`) there are no lower bounds.
    """
    n, b = checked_length(length), checked_positive_integer(adjacency, "adjacency")
    world.require_words(n)
    if sample is not None:
        world.require_feasible(world.encode(sample))
        if len(sample) != n:
            raise LengthMismatchError(f"the sample word has {len(sample)} symbols, but the report is about {n}")
    words = public_words(world, n)
    shown = words[0] if sample is None else sample
    epsilons = with_usual(epsilons)
    wanted = {b} if only_adjacency else {b, *(range(1, 6) if world.compiled.is_free else (1, 2))}
    adjacencies = tuple(sorted(one for one in wanted if one <= max(n, b)))

    def cell_at(name: str, epsilon: float, adjacency: int) -> Cell:
        mechanism = quick_mechanism(world, name, epsilon, adjacency, {} if measured is None else measured.options)
        law = average_law([mechanism.error_law(word) for word in words])
        # The sample word is public and its private words show what to expect: a seed keeps them the same each time.
        source = insecure_seed(0)
        return Cell(
            theta=mechanism.theta(n),
            unit=mechanism.guarantee.unit,
            law=law,
            sample_law=mechanism.error_law(shown),
            draws=tuple(mechanism.privatize(shown, rng=source) for _ in range(DRAWS)),
            certificate=mechanism.certificate(n) if isinstance(mechanism, CertifiedExponential) else None,
            distances=(
                public_distances(mechanism, n, _DISTANCE_WORDS)
                if measured is not None and isinstance(mechanism, DistanceMechanism)
                else None
            ),
        )

    cells, why_not = fill(tuple(MECHANISMS), epsilons, adjacencies, cell_at)
    return ForecastGrid(
        world=world,
        length=n,
        epsilons=epsilons,
        adjacencies=adjacencies,
        names=tuple(MECHANISMS),
        cells=cells,
        bounds=(
            None
            if measured is not None
            else [least_expected_errors_each(world, n, epsilons, one) for one in adjacencies]
        ),
        why_not=why_not,
        sample=shown,
        sample_given=sample is not None,
        measured=measured,
    )


def with_usual(epsilons: Sequence[float]) -> tuple[float, ...]:
    """These ε together with the usual ones, in order."""
    return tuple(sorted({*EPSILONS, *(checked_epsilon(one) for one in epsilons)}))


def fill(
    names: Sequence[str],
    epsilons: Sequence[float],
    adjacencies: Sequence[int],
    cell_at: Callable[[str, float, int], Cell],
) -> tuple[Cells, dict[int, str]]:
    """All cells, and {number of a mechanism that cannot be used: why}. Such a mechanism is not tried again."""
    why_not: dict[int, str] = {}
    work = LongWork("the errors at every ε and b", len(names) * len(epsilons) * len(adjacencies))

    def cell(k: int, epsilon: float, adjacency: int) -> Cell | None:
        if k in why_not:
            return None
        try:
            return cell_at(names[k], epsilon, adjacency)
        except CANNOT_BE_USED as problem:
            why_not[k] = str(problem)
            return None
        finally:
            work.part_done()

    numbers = range(len(names))
    cells = [[[cell(k, epsilon, b) for k in numbers] for epsilon in epsilons] for b in adjacencies]
    if len(why_not) == len(names):
        raise TooLargeError(f"the errors of no mechanism can be computed here: {why_not[0]}")
    return cells, why_not
