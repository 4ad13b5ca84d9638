"""Edit distance word by word: the obviously right answers for words whose length varies.

Words are tuples of symbols. Nothing here uses the library's counting, its automata or its laws.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import combinations

import mpmath

from pathveil.systems.system import System
from tests.reference.enumeration import Law, Word, feasible_words


@cache
def levenshtein(v: Word, w: Word) -> int:
    """The smallest number of insertions, deletions and substitutions, by trying them at the first symbol."""
    if not v or not w:
        return len(v) + len(w)
    if v[0] == w[0]:
        return levenshtein(v[1:], w[1:])
    return 1 + min(levenshtein(v[1:], w), levenshtein(v, w[1:]), levenshtein(v[1:], w[1:]))


def words_in_range(world: System, lo: int, hi: int) -> list[Word]:
    """Every feasible word of lo to hi symbols."""
    return [word for length in range(lo, hi + 1) for word in feasible_words(world, length)]


def edit_counts(words: Sequence[Word], word: Word, cap: int) -> list[int]:
    """How many of the words are at distance 0, 1, ..., cap or more."""
    counts = [0] * (cap + 1)
    for output in words:
        counts[min(levenshtein(word, output), cap)] += 1
    return counts


def exponential_edit_law(words: Sequence[Word], word: Word, cap: int, theta: float) -> Law:
    """P(w' | w) ∝ exp(-θ min(d, c)), one word at a time."""
    weights = {v: math.exp(-theta * min(levenshtein(word, v), cap)) for v in words}
    total = math.fsum(weights.values())
    return {v: weight / total for v, weight in weights.items()}


def permute_and_flip_edit_law(words: Sequence[Word], word: Word, cap: int, theta: float) -> Law:
    """Permute-and-flip: p_v ∫_0^1 Π_{s≠v} (1 - p_s t) dt with p = e^(-θ(min(d, c) - least)), by numerical quadrature.

    Tanh-sinh quadrature with 30 digits of the integrand as it stands, a factor for each word.
    """
    distances = {v: min(levenshtein(word, v), cap) for v in words}
    least = min(distances.values())
    with mpmath.workdps(30):
        p = {d: mpmath.exp(-mpmath.mpf(theta) * (d - least)) for d in set(distances.values())}
        others = {d: sum(e == d for e in distances.values()) for d in p}
        probability = {}
        for d, accepted in p.items():
            powers = {e: count - (e == d) for e, count in others.items()}

            def integrand(t: mpmath.mpf, powers: dict[int, int] = powers) -> mpmath.mpf:
                return mpmath.fprod((1 - p[e] * t) ** power for e, power in powers.items())

            probability[d] = float(accepted * mpmath.quad(integrand, [0, 1]))
    return {v: probability[d] for v, d in distances.items()}


def worst_edit_loss(laws: dict[Word, Law], adjacency: int) -> float:
    """The largest log-ratio of two probabilities of one output, over inputs at most `adjacency` edits apart."""
    worst = 0.0
    for v, w in combinations(laws, 2):
        if levenshtein(v, w) <= adjacency:
            assert laws[v].keys() == laws[w].keys()
            worst = max(worst, max(abs(math.log(p / laws[w][output])) for output, p in laws[v].items()))
    return worst
