"""Is every word of an error class as likely as every other?

Permute-and-flip and the exponential mechanism draw a number of errors and then, uniformly, a word with so many errors.
If that second draw favours some words, an audit of distances does not see it. This test does. Given that N draws had ℓ
errors, the number of those with symbol a at position i is binomial with probability N(ℓ, i, a)/N(ℓ), where N(ℓ, i, a)
counts the words of the class with that symbol there; so is the number of draws of any one word, with 1/N(ℓ). Each
of these *cells* gets an exact two-sided binomial test, and the risk is divided by the number of cells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from pathveil.audit.exhaustive import feasible_codes
from pathveil.errors import InfeasibleWordError, InvalidParameterError, TooLargeError
from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.randomness.source import RandomSource
from pathveil.systems.compiled import CompiledSystem
from pathveil.systems.system import System, Word
from pathveil.words.base import SameLengthMechanism, WordMechanism, hamming_distances

_FEW = 4096  # so many feasible words are cells of their own


@dataclass(frozen=True)
class UniformityAudit:
    """Whether the words of each error class are equally likely.

    `p_value` is at most 0.01 with a probability of at most 1% if they are (and so on for every other level): the
    smallest of all cells, times the number of `cells`. The cell it comes from: of `of` draws with `errors` errors,
    `seen` had what `where` says, and `expected` were to be expected.
    """

    p_value: float
    confidence: float
    cells: int
    draws: int
    errors: int
    where: str
    seen: int
    of: int
    expected: float

    @property
    def holds(self) -> bool:
        """No class was found to be uneven. That is no proof."""
        return self.p_value >= 1 - self.confidence

    @property
    def verdict(self) -> str:
        """One sentence to act on."""
        p = f"p = {self.p_value:.2g} over {self.cells} cells, confidence {self.confidence:g}"
        if self.holds:
            return f"Not refuted: the words of each error class may be equally likely ({p})."
        return f"REFUTED: the words of an error class are not equally likely ({p}). The stated law is not the real one."

    def __str__(self) -> str:
        return (
            f"{self.verdict}\n"
            f"  worst cell: {self.seen} of {self.of} draws with {self.errors} errors had {self.where}, "
            f"{self.expected:.1f} expected ({self.draws} draws in all)"
        )


def audit_uniformity(
    mechanism: SameLengthMechanism | Callable[[Word], Word],
    word: Word,
    draws: int = 100_000,
    confidence: float = 0.99,
    *,
    world: System | None = None,
    rng: RandomSource | None = None,
) -> UniformityAudit:
    """Test whether, given the number of errors, every word is as likely as every other.

    For one of our mechanisms, or for any function from word to word together with the public `world` of its outputs.

    >>> import pathveil as pv
    >>> fair = pv.PermuteAndFlip(pv.Alphabet("abc"), epsilon=2.0)
    >>> pv.audit_uniformity(fair, "abca", draws=20_000, rng=pv.insecure_seed(1)).holds
    True
    """
    world = _checked_world(mechanism, world)
    if not 0.5 <= confidence < 1:
        raise InvalidParameterError(f"confidence lies between 0.5 and 1 (usual: 0.99), not at {confidence!r}")
    codes = world.encode(word)
    if isinstance(mechanism, SameLengthMechanism):
        outputs = mechanism.privatize_array(np.tile(codes, (draws, 1)), rng)
    else:
        outputs = np.stack([world.encode(mechanism(word)) for _ in range(draws)])
    feasible = world.compiled.feasible_rows(outputs)
    if not feasible.all():
        bad: Any = world.decode(outputs[int(np.argmin(feasible))].tolist())
        raise InfeasibleWordError(f"the mechanism released {bad!r}, which the system could not have produced")
    cells = _Cells()
    _add_symbols(cells, world, codes, outputs)
    if world.count(len(codes)) <= _FEW:
        _add_words(cells, world, codes, outputs, as_string=isinstance(word, str))
    return cells.result(confidence, draws)


def _checked_world(mechanism: object, world: System | None) -> System:
    """The public system of the outputs, for mechanisms that promise what is tested here."""
    if isinstance(mechanism, WordMechanism):
        if not mechanism.is_uniform_within_class:
            raise InvalidParameterError(
                "the online mechanism, like mechanisms with distances, does not promise equal probabilities in a class"
            )
        if not mechanism.keeps_length:
            raise InvalidParameterError("error classes are about words of one length: audit a mechanism that keeps it")
        world = mechanism.world
    if world is None:
        raise InvalidParameterError("give the public world of the outputs: it says how large the error classes are")
    return world


def _add_symbols(cells: _Cells, world: System, codes: IntArray, outputs: IntArray) -> None:
    """Compare, in each error class that was drawn from, how often each symbol stood at each position."""
    distances = hamming_distances(codes, outputs)
    shares = symbol_shares(world.compiled, codes)
    for errors in np.unique(distances):
        of_class = outputs[distances == errors]
        for i, row in enumerate(shares[errors]):
            seen = np.bincount(of_class[:, i], minlength=len(row))
            for symbol in np.flatnonzero((row > 0) & (row < 1)):
                where = f"{world.symbols[symbol]!r} at position {i + 1}"
                cells.add(int(errors), where, int(seen[symbol]), len(of_class), float(row[symbol]))


def _add_words(cells: _Cells, world: System, codes: IntArray, outputs: IntArray, *, as_string: bool) -> None:
    """Compare, where there are few words, how often each of them was drawn."""
    every = feasible_codes(world.compiled, len(codes))
    apart = hamming_distances(codes, every)
    size = np.bincount(apart, minlength=len(codes) + 1)
    found, times = np.unique(outputs, axis=0, return_counts=True)
    count_of = {tuple(one): count for one, count in zip(found.tolist(), times.tolist(), strict=True)}
    drawn = np.bincount(hamming_distances(codes, outputs), minlength=len(codes) + 1)
    for one, errors in zip(every.tolist(), apart.tolist(), strict=True):
        if drawn[errors] and size[errors] > 1:
            where = f"the word {world.decode(one, as_string=as_string)!r}"
            cells.add(errors, where, count_of.get(tuple(one), 0), int(drawn[errors]), 1 / size[errors])


class _Cells:
    """Counts that are to be compared with binomial laws."""

    def __init__(self) -> None:
        self._cells: list[tuple[int, str, int, int, float]] = []

    def add(self, errors: int, where: str, seen: int, of: int, share: float) -> None:
        self._cells.append((errors, where, seen, of, share))

    def result(self, confidence: float, draws: int) -> UniformityAudit:
        if not self._cells:
            raise InvalidParameterError("every error class that was drawn from has one word: there is nothing to test")
        seen, of, share = (np.array([cell[k] for cell in self._cells]) for k in (2, 3, 4))
        tails = np.minimum(stats.binom.cdf(seen, of, share), stats.binom.sf(seen - 1, of, share))
        worst = int(np.argmin(tails))
        p = min(1.0, 2 * float(tails[worst]) * len(self._cells))
        errors, where, times, number, expected = self._cells[worst]
        return UniformityAudit(p, confidence, len(self._cells), draws, errors, where, times, number, number * expected)


def symbol_shares(compiled: CompiledSystem, codes: IntArray) -> FloatArray:
    """[ℓ, i, a]: the share of feasible words with ℓ errors that have symbol a at position i (0 for empty classes).

    Words through an edge are words before it times words after it; errors before, at and after it add up.
    """
    n, S = len(codes), compiled.state_count
    before, after = np.zeros((n + 1, S, n + 1)), np.zeros((n + 1, S, n + 1))
    before[0, compiled.start, 0] = 1.0
    after[n, compiled.accepting, 0] = 1.0
    wrong = compiled.labels[None, :] != codes[:, None]
    for i in range(n):
        _pass_on(before[i + 1], before[i], compiled.sources, compiled.targets, wrong[i])
        j = n - 1 - i
        _pass_on(after[j], after[j + 1], compiled.targets, compiled.sources, wrong[j])
    total = after[0, compiled.start]
    if not np.isfinite(before).all() or not np.isfinite(after).all():
        raise TooLargeError(
            f"the error classes of a word of {n} symbols are too large to count here; audit a shorter one"
        )
    counts = np.zeros((n + 1, n, compiled.symbol_count))
    for i in range(n):
        for e in range(compiled.edge_count):
            through = np.convolve(before[i, compiled.sources[e]], after[i + 1, compiled.targets[e]])[: n + 1]
            shift = int(wrong[i, e])
            counts[shift:, i, compiled.labels[e]] += through[: n + 1 - shift]
    with np.errstate(invalid="ignore", divide="ignore"):
        shares: FloatArray = np.where(total[:, None, None] > 0, counts / total[:, None, None], 0.0)
    # Rounding must not make a certain symbol look uncertain.
    shares[shares > 1 - 1e-12] = 1.0
    return shares


def _pass_on(to: FloatArray, out: FloatArray, from_states: IntArray, to_states: IntArray, wrong: Any) -> None:
    """Add the counts of one step: by state and number of errors, one more error along wrong edges."""
    flow = out[from_states]
    flow[wrong, 1:] = flow[wrong, :-1]
    flow[wrong, 0] = 0.0
    np.add.at(to, to_states, flow)
