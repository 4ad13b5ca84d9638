"""Small worlds, taken word by word: the obviously right answers that fast code is compared with.

Words are tuples of symbols everywhere. A *law* is a dictionary {output word: probability}. Nothing here uses the
library's counting or its laws: a word is feasible if `world.is_feasible` says so, and everything else follows from
listing all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import combinations, product

import mpmath

from pathveil.systems.system import Symbol, System

Word = tuple[Symbol, ...]
Law = dict[Word, float]


def feasible_words(world: System, length: int) -> list[Word]:
    """Every feasible word of this length, found by trying all m^length candidates."""
    return [word for word in product(world.symbols, repeat=length) if world.is_feasible(word)]


def hamming(v: Word, w: Word) -> int:
    """The number of positions where two words of the same length differ."""
    return sum(a != b for a, b in zip(v, w, strict=True))


def class_counts(world: System, word: Word) -> list[int]:
    """N(ℓ) for ℓ = 0..n: how many feasible words have exactly ℓ errors. `word` itself need not be feasible."""
    counts = [0] * (len(word) + 1)
    for output in feasible_words(world, len(word)):
        counts[hamming(word, output)] += 1
    return counts


def exponential_law(world: System, word: Word, theta: float, utility: Callable[[int], float] | None = None) -> Law:
    """P(w' | w) ∝ exp(θ·u(d(w, w'))), one word at a time. `utility` maps the distance to u; None is u = -d."""
    score = utility or (lambda distance: -distance)
    exponents = {v: theta * score(hamming(word, v)) for v in feasible_words(world, len(word))}
    highest = max(exponents.values())
    weights = {v: math.exp(exponent - highest) for v, exponent in exponents.items()}
    total = math.fsum(weights.values())
    return {v: weight / total for v, weight in weights.items()}


def permute_and_flip_law(world: System, word: Word, theta: float) -> Law:
    """Permute-and-flip with the score -d and acceptance probabilities p_s = e^(-θ(d(w, s) - least distance)).

    In a random order, the output v is reached and accepted with probability p_v ∫_0^1 Π_{s≠v} (1 - p_s t) dt. The
    product is expanded as a polynomial and integrated term by term, which is PF's sum (3) over all subsets. Its terms
    alternate and grow like 2^|L|, hence the many digits.
    """
    words = feasible_words(world, len(word))
    distances = {v: hamming(word, v) for v in words}
    least = min(distances.values())
    with mpmath.workdps(40 + math.ceil(0.4 * len(words))):
        acceptance = {ell: mpmath.exp(-mpmath.mpf(theta) * (ell - least)) for ell in set(distances.values())}
        probability = {
            ell: float(p * _mean_of_product([acceptance[d] for d in _without_one(list(distances.values()), ell)]))
            for ell, p in acceptance.items()
        }
    return {v: probability[distance] for v, distance in distances.items()}


def _without_one(items: list[int], item: int) -> list[int]:
    remaining = list(items)
    remaining.remove(item)
    return remaining


def _mean_of_product(ps: list[mpmath.mpf]) -> mpmath.mpf:
    """∫_0^1 Π (1 - p t) dt over the given p."""
    coefficients = [mpmath.mpf(1)]
    for p in ps:
        shifted = [mpmath.mpf(0), *(p * c for c in coefficients)]
        coefficients = [c - s for c, s in zip([*coefficients, mpmath.mpf(0)], shifted, strict=True)]
    return mpmath.fsum(c / (power + 1) for power, c in enumerate(coefficients))


def law_by_permuting_and_flipping(ps: list[float]) -> list[float]:
    """The law of permute-and-flip from its description as a game, for at most a dozen candidates.

    Draw a candidate at random from those that remain, accept it with its probability p, otherwise remove it and go
    on. Summed over all sets of removed candidates; a check on the integral above.
    """
    everyone = frozenset(range(len(ps)))
    reached = {everyone: 1.0}
    law = [0.0] * len(ps)
    for size in range(len(ps), 0, -1):
        for remaining in map(frozenset, combinations(sorted(everyone), size)):
            share = reached.get(remaining, 0.0) / size
            for candidate in remaining:
                law[candidate] += share * ps[candidate]
                fewer = remaining - {candidate}
                reached[fewer] = reached.get(fewer, 0.0) + share * (1 - ps[candidate])
    return law


def worst_loss(laws: Mapping[Word, Law], adjacency: int) -> float:
    """The largest log(P(output | w) / P(output | v)) over all outputs and all v, w in `laws` within the distance.

    Infinite where one word can lead to an output and an adjacent one cannot; 0.0 where no two words are adjacent.
    """
    worst = 0.0
    for v, w in combinations(laws, 2):
        if hamming(v, w) <= adjacency:
            for output in laws[v].keys() | laws[w].keys():
                p, q = laws[v].get(output, 0.0), laws[w].get(output, 0.0)
                if p == q:
                    continue
                worst = max(worst, abs(math.log(p) - math.log(q)) if p > 0 and q > 0 else math.inf)
    return worst
