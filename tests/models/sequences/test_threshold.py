"""The δ of frequent words: exact tail sums with 60 digits, all ways to divide a person's words, all outputs listed."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from pathveil.models.laplace import CountNoise, laplace_noise
from pathveil.models.people import WholeWords
from pathveil.models.sequences.frequent import threshold
from tests.reference.sequences import partitions, reach_probability, shown_probability

UNITS = [(people, relation) for people in (None, 1, 2, 3) for relation in ("replace", "add-remove")]


@pytest.fixture(autouse=True)
def _sixty_digits():
    with localcontext() as context:
        context.prec = 60
        yield


def base(noise: CountNoise) -> Decimal:
    """q: how much less likely each larger noise is."""
    return (-Decimal(noise.scale.denominator) / Decimal(noise.scale.numerator)).exp()


def largest_delta(noise: CountNoise, least: int, words: int) -> Decimal:
    """The largest probability that new words of one person show up, over all ways in which these can be equal."""
    q = base(noise)
    return max(shown_probability(counts, least, q) for most in range(1, words + 1) for counts in partitions(most))


SCALES = [
    Fraction(1, 10),
    Fraction(1, 3),
    Fraction(1),
    Fraction(2),
    Fraction(20, 3),
    Fraction(50),
    Fraction(1234567, 1000),
]
DELTAS = [0.4, 0.1, 1e-2, 1e-3, 1e-6, 1e-9, 1e-12, 1e-30, 3e-7]


def test_tail_sums_are_those_of_the_law():
    q = Fraction(2, 3)
    law = {x: (1 - q) / (1 + q) * q ** abs(x) for x in range(-200, 201)}
    for least in range(-6, 7):
        assert float(reach_probability(least, q)) == pytest.approx(float(sum(p for x, p in law.items() if x >= least)))


@pytest.mark.parametrize("words", [1, 2, 3, 5, 8])
def test_new_words_of_a_person_show_up_with_at_most_delta_however_many_are_equal(words):
    for scale, delta in itertools.product(SCALES, DELTAS):
        noise = CountNoise("laplace", scale)
        assert largest_delta(noise, threshold(noise, delta, words), words) <= Decimal(delta)


@pytest.mark.parametrize("words", [1, 2, 3, 5, 8])
def test_no_smaller_threshold_would_do(words):
    for scale, delta in itertools.product(SCALES, DELTAS):
        noise = CountNoise("laplace", scale)
        least = threshold(noise, delta, words)
        if least == words + 1:
            continue  # a word of one person alone is never kept for its count, however large δ is
        smaller = largest_delta(noise, least - 1, words)
        # Different words are added up as if they excluded each other: too much by a factor of at most 1 + kδ.
        assert smaller * (1 + words * Decimal(delta)) > Decimal(delta)


def delta_of_listing(counts: list[int], others: list[int], noise: CountNoise, least: int, epsilon: float) -> float:
    """max over events of P(E) - e^ε P'(E), from all outputs: of each word nothing, or its noisy count.

    Noise is taken up to where less than 10^-13 is left, which counts as shown for sure.
    """
    q = float(base(noise))
    reach = max(*counts, *others) + math.ceil(30 * float(noise.scale)) + 1
    outputs = np.arange(least, max(least + 1, reach))
    one, other = np.ones(1), np.ones(1)
    left_out = 0.0
    for count, changed in zip(counts, others, strict=True):
        laws = []
        for number in (count, changed):
            if number == 0:  # it does not occur, and is never kept
                laws.append(np.append(np.zeros(len(outputs)), 1.0))
                continue
            shown = (1 - q) / (1 + q) * q ** np.abs(outputs - number)
            laws.append(np.append(shown, 1 - float(reach_probability(least - number, base(noise)))))
            left_out += float(reach_probability(int(outputs[-1]) + 1 - number, base(noise)))
        one, other = np.outer(one, laws[0]).ravel(), np.outer(other, laws[1]).ravel()
    return float(np.maximum(one - math.exp(epsilon) * other, 0).sum()) + left_out


def unit_vectors(words: int, most: int) -> list[tuple[int, ...]]:
    return [v for v in itertools.product(range(most + 1), repeat=words) if 0 < sum(v) <= most]


@pytest.mark.parametrize(("people", "relation"), UNITS)
@pytest.mark.parametrize(("epsilon", "delta"), [(2.0, 0.05), (0.8, 0.2), (6.0, 1e-3)])
def test_listing_all_outputs_finds_no_larger_delta(people, relation, epsilon, delta):
    whole, k = WholeWords(relation, people), people or 1
    noise = laplace_noise(epsilon, whole.sensitivity(1)[0])
    least = threshold(noise, delta, k)
    found = []
    removed = unit_vectors(2, k)
    added = [(0, 0)] if relation == "add-remove" else removed if people is None else [(0, 0), *removed]
    for common in ((0, 0), (0, 3), (0, least - 1), (0, least + 2)):
        for minus, plus in itertools.product(removed, added):
            one = [c + m for c, m in zip(common, minus, strict=True)]
            other = [c + p for c, p in zip(common, plus, strict=True)]
            for pair in ((one, other), (other, one)):
                found.append(delta_of_listing(*pair, noise, least, epsilon))
    assert max(found) <= delta * (1 + 1e-9)
    if k <= 2 and least > k + 1:
        # New words are what δ is for, and two words can show the worst of two: so the bound is nearly attained, ...
        assert max(found) > delta * float(base(noise)) * 0.9
        # ... and a threshold that is lower by one breaks the promise.
        equal, different = ([k, 0], [0, 0]), ([1] * k, [0] * k)
        lower = max(delta_of_listing(*pair, noise, least - 1, epsilon) for pair in (equal, different))
        assert lower * (1 + k * delta) > delta
