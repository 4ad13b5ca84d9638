"""How few errors any ε-private mechanism can have: what a mechanism is to be compared with.

If w and v are adjacent, M(w) = v at least e^-ε times as often as M(v) = v. So whoever returns words unchanged with high
probability must also return wrong ones, and an expected error averaged over all feasible words cannot be arbitrarily
small. (docs/mathematics.md, "How good could it be?")
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import ceil, exp
from operator import add

import numpy as np

from pathveil.errors import TooLargeError
from pathveil.numerics.arrays import FloatArray
from pathveil.randomness.source import insecure_seed
from pathveil.systems.compiled import CompiledSystem
from pathveil.systems.system import System, checked_length
from pathveil.words.base import checked_epsilon, checked_positive_integer, exponential_log_law
from pathveil.words.classes import classes_of_codes, free_counts
from pathveil.words.laws import classes_are_cheap

_LARGEST_ENUMERATION = 2_000  # words; beyond that a sample stands for all
_SAMPLE = 200
_MOST_MOVES = 50_000  # from one state to the next, for each of them: some seconds in all


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

    Of more than `list_up_to` feasible words a sample stands for all, and nothing is proved. Where more than
    `most_moves` moves lead to the neighbours of a word, words with any number of errors are counted instead.
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
    total = world.count(n)
    if total <= list_up_to:
        words, proved, how = list(_all_words(world, n)), True, f"over all {total:,} feasible words"
    else:
        source = insecure_seed(0)  # public words: the seed is no secret
        words = [world.encode(word).tolist() for word in world.random_words(n, _SAMPLE, source)]
        proved, how = False, f"estimated from {_SAMPLE} of {total:,} feasible words"
    near = _all_counts_near(world.compiled, words, b, most_moves)
    return [LowerBound(_neighbour_bound(near, epsilon), proved, how) for epsilon in grid]


def _all_counts_near(
    compiled: CompiledSystem, words: list[list[int]], b: int, most_moves: int
) -> list[tuple[int, ...]]:
    """For each word: how many feasible words have 1, ..., b errors."""
    if not classes_are_cheap(compiled, len(words[0])):
        with suppress(TooLargeError):  # for a large b; then all classes are counted
            return [counts_near(compiled, word, b, most_moves) for word in words]
    return [classes_of_codes(compiled, np.array(word, dtype=np.int64)).counts[1 : b + 1] for word in words]


def counts_near(
    compiled: CompiledSystem, codes: Sequence[int], most: int, most_moves: int = _MOST_MOVES
) -> tuple[int, ...]:
    """How many feasible words have 1, 2, ..., `most` errors: only the states of such words are looked at."""
    found: dict[int, list[int]] = {compiled.start: [1] + [0] * most}
    looked_at = 0
    for code in codes:
        before, found = found, {}
        for state, counts in before.items():
            moves = compiled.moves[state]
            looked_at += len(moves)
            for label, target in moves.items():
                ways = counts if label == code else [0, *counts[:-1]]
                if any(ways):
                    known = found.get(target)
                    found[target] = ways if known is None else list(map(add, known, ways))
        if looked_at > most_moves:
            raise TooLargeError(f"too many words differ in up to {most} of {len(codes)} symbols to look at them")
    ends = [counts for state, counts in found.items() if compiled.accepting[state]]
    return tuple(sum(column) for column in zip(*ends, strict=True))[1:]


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


def _neighbour_bound(near: list[tuple[int, ...]], epsilon: float) -> float:
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
