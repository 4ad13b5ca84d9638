"""How few errors any ε-private mechanism can have: what a mechanism is to be compared with.

If w and v are adjacent, M(w) = v at least e^-ε times as often as M(v) = v. So whoever returns words unchanged with high
probability must also return wrong ones, and an expected error averaged over all feasible words cannot be arbitrarily
small. (docs/mathematics.md, "How good could it be?")
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, exp, inf

import numpy as np

from pathveil.errors import TooLargeError
from pathveil.numerics.arrays import FloatArray
from pathveil.randomness.source import insecure_seed
from pathveil.systems.compiled import CompiledSystem
from pathveil.systems.system import System, checked_length
from pathveil.systems.uniform_words import EXACT_TABLE
from pathveil.words.base import checked_epsilon, checked_positive_integer, exponential_log_law
from pathveil.words.classes import classes_of_codes, counts_near, free_counts
from pathveil.words.laws import classes_are_cheap

_LARGEST_ENUMERATION = 2_000  # words; beyond that a sample stands for all
_SAMPLE = 200
_FEWEST = 10  # words of a sample that are looked at at least
_MOST_MOVES = 200_000_000  # from one state to the next, for all of them: some seconds


@dataclass(frozen=True)
class LowerBound:
    """No mechanism with this ε has fewer errors on average over all feasible words of this length.

    `proved` is False where the average over words was estimated from a public sample of them: then a mechanism may have
    a little fewer.
    """

    errors: float
    proved: bool
    how: str


def least_expected_errors(world: System, length: int, epsilon: float, adjacency: int = 1) -> LowerBound:
    """A lower bound on the expected errors of any ε-private mechanism, averaged over uniformly random feasible words.

    >>> import pathveil as pv
    >>> from pathveil.planning.lower_bound import least_expected_errors
    >>> binary = pv.Alphabet("01")
    >>> mechanism = pv.CertifiedExponential(binary, epsilon=5.0)
    >>> round(least_expected_errors(binary, 5, epsilon=5.0).errors, 4), round(mechanism.error_law("00000").mean, 4)
    (0.0335, 0.0335)
    """
    return least_expected_errors_each(world, length, [epsilon], adjacency)[0]


def least_expected_errors_each(
    world: System,
    length: int,
    epsilons: Sequence[float],
    adjacency: int = 1,
    *,
    list_up_to: int = _LARGEST_ENUMERATION,
    most_moves: int = _MOST_MOVES,
) -> list[LowerBound]:
    """The same for several ε: words and their neighbours are looked at only once. 0 where counting takes too much.

    Of more than `list_up_to` feasible words a sample stands for all, and nothing is proved. It is smaller where more
    than `most_moves` moves lead to the neighbours of its words.
    """
    n, b = checked_length(length), checked_positive_integer(adjacency, "adjacency")
    grid = [checked_epsilon(epsilon) for epsilon in epsilons]
    world.require_words(n)
    try:
        return _bounds(world, n, grid, b, list_up_to, most_moves)
    except TooLargeError as problem:
        return [LowerBound(0.0, True, f"no better one than 0 was computed: {problem}")] * len(grid)


def _bounds(world: System, n: int, grid: list[float], b: int, list_up_to: int, most_moves: int) -> list[LowerBound]:
    if world.compiled.is_free:
        return [_free_bound(len(world.symbols), n, epsilon, b) for epsilon in grid]
    total = world.count(n) if (n + 1) * world.compiled.state_count <= EXACT_TABLE else inf
    is_listed = total <= list_up_to
    if is_listed:
        words = list(_all_words(world, n))
    else:
        source = insecure_seed(0)  # public words: the seed is no secret
        words = [world.encode(word).tolist() for word in world.random_words(n, _SAMPLE, source)]
    near = _all_counts_near(world.compiled, words, b, most_moves, may_stop=not is_listed)
    known = f" of {total:,}" if total < inf else ""
    how = f"over all {total:,} feasible words" if is_listed else f"estimated from {len(near)}{known} feasible words"
    return [LowerBound(_neighbour_bound(near, epsilon), is_listed, how) for epsilon in grid]


def _all_counts_near(
    compiled: CompiledSystem, words: list[list[int]], b: int, most_moves: int, may_stop: bool
) -> list[tuple[float, ...]]:
    """For each word: how many feasible words have 1, ..., b errors. `may_stop`: or for the first words only."""
    if classes_are_cheap(compiled, len(words[0])):
        return [classes_of_codes(compiled, np.array(word, dtype=np.int64)).counts[1 : b + 1] for word in words]
    near: list[tuple[float, ...]] = []
    each = most_moves // min(_FEWEST, len(words))
    for word in words:
        counts, moves = counts_near(compiled, word, min(b, len(word)), each)
        near.append(counts)
        most_moves -= moves
        if most_moves <= 0 and len(near) < len(words):
            if not may_stop:
                raise TooLargeError(f"there are too many words near each of the {len(words):,} words to look at them")
            break
    return near


def _free_bound(m: int, n: int, epsilon: float, b: int) -> LowerBound:
    """On a free alphabet all words are alike, so P(M(w) = v) may be taken as a function p(d) of the distance.

    For b = 1, p(d+1) ≥ e^-ε p(d): p(d)e^(εd) rises, the errors are stochastically largest for rising weights, and
    p(d) ∝ e^(-εd) is the best there is. For larger b only p(d) ≥ e^(-ε⌈d/b⌉) p(0) is used, and that each error is at
    least one.
    """
    counts = free_counts(m, n)
    scores = np.array([-epsilon * ceil(d / b) for d in range(n + 1)])
    law = np.exp(exponential_log_law(counts, scores))
    mean = float(law @ np.arange(n + 1))
    return LowerBound(mean if b == 1 else min(1.0, mean), True, "all words of a free alphabet are alike")


def _neighbour_bound(near: Sequence[Sequence[float]], epsilon: float) -> float:
    """With q(v) = P(M(v) = v), word v is returned for each adjacent word w at least e^-ε q(v) of the time.

    Whatever else is not right has at least one error. Averaged over words, the errors are at least
    1 - mean of q·(1 + A - S), where A = e^-ε · (number of adjacent words) and S = e^-ε · (their errors), and
    probabilities leave room for mean of q·(1 + A) ≤ 1 only. The best q is found greedily.
    """
    A = exp(-epsilon) * np.array([float(sum(counts)) for counts in near])
    S = exp(-epsilon) * np.array([float(sum(d * count for d, count in enumerate(counts, start=1))) for counts in near])
    return 1 - _best_share(value=1 + A - S, weight=1 + A) / len(near)


def _best_share(value: FloatArray, weight: FloatArray) -> float:
    """The largest Σ q·value with 0 ≤ q ≤ 1 and Σ q·weight ≤ number of words."""
    room, total = float(len(value)), 0.0
    for i in np.argsort(-value / weight):
        if value[i] <= 0 or room <= 0:
            break
        q = min(1.0, room / float(weight[i]))
        total += q * float(value[i])
        room -= q * float(weight[i])
    return total


def _all_words(world: System, length: int) -> Iterator[list[int]]:
    compiled = world.compiled
    alive = compiled.completable(length)
    waiting: list[tuple[int, list[int]]] = [(compiled.start, [])]
    while waiting:
        state, word = waiting.pop()
        if len(word) == length:
            yield word
            continue
        for symbol, target in compiled.moves[state].items():
            if alive[len(word) + 1][target]:
                waiting.append((target, [*word, symbol]))
