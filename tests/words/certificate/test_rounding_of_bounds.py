"""Bounds that are attained, against exact fractions: rounding must not carry them to the unsafe side."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import product

import pytest
from flint import arb, ctx, fmpq

import pathveil as pv
from pathveil.words.base import tilt_factor
from pathveil.words.certificate import ChainCertifier, SymbolChain
from tests.reference.enumeration import feasible_words, hamming
from tests.worlds import CHAIN, FOUR_PLACES, LETTER_CHAIN

# One way only, with ends that not every symbol can be.
STREETS = pv.MarkovChain.from_edges(
    [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (2, 0), (3, 0), (3, 3), (1, 1)], initial=[0, 1, 3], final=[0, 2, 3]
)
WORLDS = (CHAIN, LETTER_CHAIN, FOUR_PLACES, STREETS)
TILTS = (0.013, 0.31, 0.77, 1.1, 1.9, 2.6, 3.7, 5.3, 8.9, 17.0)


def certifier(world: pv.System, length: int, adjacency: int = 1) -> ChainCertifier:
    """With contexts of whole words, so that nothing but rounding stands between a bound and the truth."""
    made = ChainCertifier.of(world.compiled, length, adjacency, up_to=False, budget=10**5)
    assert isinstance(made, ChainCertifier)
    return made


def exact_ratios(chain: SymbolChain, word: list[int], z: Fraction) -> list[list[Fraction]]:
    """s_i(y) = α_i(y)/α_i(w_i): what all walks to y weigh beside those to the word's own symbol, the error there left
    out."""
    follows = chain.successors.matrix.toarray() > 0
    symbols, weights, ratios = range(chain.symbol_count), [Fraction(int(x)) for x in chain.first], []
    for here in word:
        ratios.append([weight / weights[here] for weight in weights])
        weights = [sum(weights[x] * (1 if x == here else z) for x in symbols if follows[x, y]) for y in symbols]
    return ratios


@pytest.mark.parametrize("world", WORLDS)
def test_boxes_contain_the_exact_ratios_of_every_word_and_little_else(world):
    proof, m = certifier(world, 3), len(world.symbols)
    words = [world.encode(word).tolist() for word in feasible_words(world, 3)]
    for theta, (bounds, way) in product(TILTS, ((proof._prefixes, 1), (proof._suffixes, -1))):
        z = tilt_factor(theta)
        boxes, seen = bounds.boxes(z), defaultdict(list)
        for word in words:
            for i, ratios in enumerate(exact_ratios(bounds.chain, word[::way], Fraction(z))):
                for y, ratio in enumerate(ratios):
                    seen[i, word[::way][i], y].append(ratio)
        for (i, c, y), ratios in seen.items():
            low, high = (float(ends[c * m + y]) for ends in (boxes[i].lo, boxes[i].hi))
            assert Fraction(low) <= min(ratios)
            assert max(ratios) <= Fraction(high)
            if i < 2:  # one way leads to these ratios, so that nothing but rounding stands between them and the box
                assert (low, high) == pytest.approx((float(min(ratios)), float(max(ratios))), rel=1e-12, abs=1e-200)


def test_boxes_without_a_margin_for_rounding_would_be_noticed(monkeypatch):
    monkeypatch.setattr("pathveil.words.certificate.ratio_bounds.rounding_margin", lambda _: 0.0)
    with pytest.raises(AssertionError):
        test_boxes_contain_the_exact_ratios_of_every_word_and_little_else(LETTER_CHAIN)


def exact_log(quotient: Fraction) -> arb:
    return arb(fmpq(quotient.numerator, quotient.denominator)).log()


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize(("length", "adjacency"), [(2, 1), (2, 2), (3, 1)])
def test_a_certified_loss_is_never_below_the_exact_one_and_meets_it_where_nothing_is_left_open(
    world, length, adjacency
):
    proof, words = certifier(world, length, adjacency), feasible_words(world, length)
    pairs = [(w, v) for w, v in product(words, repeat=2) if 0 < hamming(w, v) <= adjacency]
    with ctx.workprec(200):
        for theta in TILTS:
            certificate, z = proof.certify(theta), Fraction(tilt_factor(theta))
            sums = {w: sum(z ** hamming(w, u) for u in words) for w in words}
            # The loss is attained by the word itself.
            exact = [exact_log(sums[v] / sums[w] / z ** hamming(w, v)) for w, v in pairs]
            assert all(certificate.loss >= loss for loss in exact)
            changes = [exact_log(sums[v] / sums[w]) for w, v in pairs if hamming(w, v) == 1]
            assert all(certificate.run_bounds[1] >= change for change in changes)
            if adjacency == 1:
                largest = max(float(loss) for loss in exact)
                assert certificate.loss == pytest.approx(largest, rel=1e-9 if length == 2 else 0.2)
