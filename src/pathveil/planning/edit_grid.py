"""The grid of forecasts for edit distance, where the length of a word is private too."""

from __future__ import annotations

from collections.abc import Sequence

from pathveil.errors import LengthMismatchError, NoFeasibleWordError, TooLargeError
from pathveil.planning.grid import DRAWS, Cell, ForecastGrid, fill, with_usual
from pathveil.planning.public_words import average_law, public_words
from pathveil.randomness.source import insecure_seed
from pathveil.systems.system import System, Word, checked_length
from pathveil.words.base import checked_positive_integer
from pathveil.words.by_name import EDIT_MECHANISMS
from pathveil.words.edit import EditMechanism
from pathveil.words.edit_certified import CertifiedEditExponential
from pathveil.words.edit_exponential import EditExponential


def edit_grid(
    world: System,
    lengths: tuple[int, int],
    cap: int | None = None,
    adjacency: int = 1,
    *,
    length: int | None = None,
    epsilons: Sequence[float] = (),
    sample: Word | None = None,
) -> ForecastGrid:
    """The grid for words of this length (otherwise: of the length of the sample, or in the middle).

    The classes of a word are the same for every mechanism, ε and b, so they are counted once.
    """
    b = checked_positive_integer(adjacency, "adjacency")
    reference = EditExponential(world, 1.0, b, lengths, cap)
    n = _length(reference, length, sample)
    words = public_words(world, n)
    shown = words[0] if sample is None else sample
    try:
        counts = [reference.counts_by_length(word) for word in words]
        sample_counts = reference.counts_by_length(shown)
    except TooLargeError as problem:
        raise TooLargeError(f"the edits of no mechanism can be computed here: {problem}") from None
    epsilons = with_usual(epsilons)
    adjacencies = tuple(sorted({1, 2, b}))

    def cell_at(name: str, epsilon: float, adjacency: int) -> Cell:
        mechanism = EDIT_MECHANISMS[name](world, epsilon, adjacency, reference.lengths, cap)
        mechanism.share_tables(reference)  # of the word that is shown
        laws = [mechanism.laws_from(one) for one in counts]
        return Cell(
            theta=mechanism.theta(),
            unit=mechanism.guarantee.unit,
            law=average_law([law for law, _ in laws]),
            sample_law=mechanism.laws_from(sample_counts)[0],
            draws=tuple(mechanism.privatize_many([shown] * DRAWS, rng=insecure_seed(0))),
            certificate=mechanism.certificate if isinstance(mechanism, CertifiedEditExponential) else None,
            kept=sum(by_length[n] for _, by_length in laws) / len(laws),
        )

    cells, why_not = fill(tuple(EDIT_MECHANISMS), epsilons, adjacencies, cell_at)
    return ForecastGrid(
        world=world,
        length=n,
        epsilons=epsilons,
        adjacencies=adjacencies,
        names=tuple(EDIT_MECHANISMS),
        cells=cells,
        bounds=None,
        why_not=why_not,
        sample=shown,
        sample_given=sample is not None,
        lengths=reference.lengths,
        cap=reference.cap,
    )


def _length(mechanism: EditMechanism, length: int | None, sample: Word | None) -> int:
    """The length of the words to plan for."""
    world, (lo, hi) = mechanism.world, mechanism.lengths
    if sample is not None:
        world.require_feasible(world.encode(sample))
        if length is not None and len(sample) != length:
            raise LengthMismatchError(f"the sample word has {len(sample)} symbols, but the report is about {length}")
        length = len(sample)
    if length is None:
        possible = [n for n in range(lo, hi + 1) if world.count(n)]
        return possible[len(possible) // 2]
    if not lo <= checked_length(length) <= hi:
        raise LengthMismatchError(f"words of {lo} to {hi} symbols are planned for, not of {length}")
    if not world.count(length):
        raise NoFeasibleWordError(f"the system has no feasible word of length {length}: choose another one")
    return length
