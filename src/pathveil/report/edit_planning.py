"""The numbers of a planning report for edit distance, where the length of a word is private too."""

from __future__ import annotations

from collections.abc import Sequence

from pathveil.errors import LengthMismatchError, NoFeasibleWordError, TooLargeError
from pathveil.planning.choose import public_words
from pathveil.randomness.source import insecure_seed
from pathveil.report.explain import edit_certificate_in_words
from pathveil.report.planning import DRAWS, Cell, Planning, average_law, grid_of
from pathveil.systems.system import System, Word, checked_length
from pathveil.words.base import checked_adjacency
from pathveil.words.by_name import EDIT_MECHANISMS
from pathveil.words.edit import EditMechanism
from pathveil.words.edit_certified import CertifiedEditExponential
from pathveil.words.edit_exponential import EditExponential

Counts = dict[int, tuple[int, ...]]


def plan_edits(
    world: System,
    lengths: tuple[int, int],
    cap: int | None = None,
    adjacency: int = 1,
    *,
    length: int | None = None,
    epsilons: Sequence[float] = (),
    sample: Word | None = None,
) -> Planning:
    """Work out the grid for words of this length (otherwise: of the length of the sample, or in the middle).

    The classes of a word are the same for every mechanism, ε and b, so they are counted once.
    """
    b = checked_adjacency(adjacency)
    any_one = EditExponential(world, 1.0, b, lengths, cap)
    n = _length(any_one, length, sample)
    words = public_words(world, n)
    shown = words[0] if sample is None else sample
    try:
        counts = [any_one.counts_by_length(word) for word in words]
        sample_counts = any_one.counts_by_length(shown)
    except TooLargeError as problem:
        raise TooLargeError(f"the edits of no mechanism can be computed here: {problem}") from None
    grid = grid_of(epsilons)
    adjacencies = tuple(sorted({1, 2, b}))
    cells: list[list[list[Cell | None]]] = []
    explained: list[list[list[str]]] = []
    units: list[list[str | None]] = []
    for stop in adjacencies:
        cells.append([])
        explained.append([])
        units.append([])
        for epsilon in grid:
            made = [kind(world, epsilon, stop, any_one.lengths, cap) for kind in EDIT_MECHANISMS.values()]
            cells[-1].append([_cell(mechanism, n, counts, shown, sample_counts) for mechanism in made])
            units[-1] = [mechanism.guarantee.unit for mechanism in made]
            [certified] = [one for one in made if isinstance(one, CertifiedEditExponential)]
            explained[-1].append(edit_certificate_in_words(certified))
    return Planning(
        world=world,
        length=n,
        epsilons=grid,
        adjacencies=adjacencies,
        names=tuple(EDIT_MECHANISMS),
        cells=cells,
        bounds=None,
        explained=explained,
        units=units,
        why_not={},
        sample=shown,
        sample_given=sample is not None,
        lengths=any_one.lengths,
        cap=any_one.cap,
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


def _cell(mechanism: EditMechanism, length: int, counts: Sequence[Counts], sample: Word, sample_counts: Counts) -> Cell:
    laws = [mechanism.laws_from(one) for one in counts]
    draws = mechanism.privatize_many([sample] * DRAWS, rng=insecure_seed(0))
    return Cell(
        mechanism.theta(),
        average_law([law for law, _ in laws]),
        mechanism.laws_from(sample_counts)[0],
        tuple(draws),
        kept=sum(by_length[length] for _, by_length in laws) / len(laws),
    )
