"""Laws and bounds as printed, the choice of a mechanism, and which way a batch is drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pathveil as pv
from pathveil.words.base.law import ErrorLaw
from tests.reference.enumeration import Word, exponential_law, feasible_words, hamming, permute_and_flip_law
from tests.statistics import FALSE_ALARM, chi_square_p_value, counted_rows
from tests.words.mechanisms import MECHANISMS, build, reference_law
from tests.worlds import CHAIN, LETTER_CHAIN, PLANS, TOGGLE

# --------------------------------------------------------------------------------------------------- laws


SMALL: dict[str, tuple[pv.System, list[Word]]] = {
    "alphabet": (pv.Alphabet("abc"), [tuple("a"), tuple("cab")]),
    "chain": (CHAIN, [(0, 1, 2), (2, 1, 0, 0)]),  # the second one is not feasible
    "plans": (PLANS, [("a", "b", "a"), ("c", "c", "c", "c")]),
    "toggle": (TOGGLE, [tuple("abb")]),
    "one successor": (pv.MarkovChain.from_edges([(0, 1), (1, 0), (1, 2), (2, 0)], initial=1), [(0, 1, 2), (2, 2, 2)]),
}


@pytest.mark.parametrize("where", SMALL)
@pytest.mark.parametrize("name", MECHANISMS)
def test_laws_and_probabilities_are_those_of_the_listed_words(name: str, where: str) -> None:
    world, words = SMALL[where]
    mechanism = build(name, world, 1.4, 2, on_infeasible="nearest")
    if mechanism is None:
        assert where == "plans"
        return
    for word in words:
        expected = reference_law(name, mechanism, word)
        outputs = [v for v in feasible_words(world, len(word)) if v in expected]
        assert math.fsum(expected.values()) == pytest.approx(1.0, abs=1e-12)
        codes = np.array([world.encode(v) for v in outputs])
        found = np.exp(mechanism.log_probabilities(world.encode(word), codes))
        assert found == pytest.approx([expected[v] for v in outputs], rel=1e-10)
        by_errors = [math.fsum(p for v, p in expected.items() if hamming(v, word) == k) for k in range(len(word) + 1)]
        law = mechanism.error_law(word)
        assert law.pmf == pytest.approx(by_errors, rel=1e-10, abs=1e-15)


def test_quantiles_are_reached_in_spite_of_rounding() -> None:
    with np.errstate(divide="ignore"):
        law = ErrorLaw(np.log(np.array([0.25, 0.0, 0.5, 0.25 - 1e-13])))
    assert [law.quantile(q) for q in (0.0, 0.25, 0.2500001, 0.75, 0.7500001, 1.0)] == [0, 0, 2, 2, 3, 3]
    assert law.mean == pytest.approx(1.75)
    assert law.variance == pytest.approx(0.25 * 1.75**2 + 0.5 * 0.25**2 + 0.25 * 1.25**2)
    for q in (-1e-9, 1 + 1e-9, math.nan):
        with pytest.raises(pv.InvalidParameterError, match="from 0 to 1"):
            law.quantile(q)


@pytest.mark.parametrize(("n", "m", "epsilon", "adjacency"), [(3, 2, 1.0, 1), (4, 2, 4.0, 2), (2, 4, 2.0, 1)])
def test_theorem_2_is_evaluated_as_printed(n: int, m: int, epsilon: float, adjacency: int) -> None:
    """Φ(ℓ) = P(ℓ)/(N(ℓ) e^(-θℓ)), from the law word by word."""
    world, word = pv.Alphabet(range(m)), (0,) * n
    theta = epsilon / (2 * adjacency)
    flip, plain = permute_and_flip_law(world, word, theta), exponential_law(world, word, theta)
    phi = {hamming(word, v): p / math.exp(-theta * hamming(word, v)) for v, p in flip.items()}
    mean = math.fsum(p * phi[hamming(word, v)] for v, p in plain.items())
    upper = math.fsum(p * hamming(word, v) for v, p in plain.items())
    low, high = pv.permute_and_flip_bounds(n, m, epsilon, adjacency)
    assert high == pytest.approx(upper, rel=1e-12)
    assert low == pytest.approx(upper - n * (phi[0] - phi[n]) / (4 * mean), rel=1e-9)


def test_one_symbol_leaves_no_room_for_errors() -> None:
    assert pv.permute_and_flip_bounds(3, 1, 1.0) == (0.0, 0.0)
    for arguments in [(0, 2, 1.0), (3, 0, 1.0), (3, 2, 0.0), (3, 2, 1.0, 0)]:
        with pytest.raises(pv.InvalidParameterError):
            pv.permute_and_flip_bounds(*arguments)  # type: ignore[arg-type]


def test_the_tail_bound_is_evaluated_as_printed() -> None:
    assert pv.permute_and_flip_tail_bound(20, 15.0) == pytest.approx(2 * math.exp(-2 * 225 / 400))
    assert pv.permute_and_flip_tail_bound(7, 6.0) == pytest.approx(2 * math.exp(-2 * 36 / 49))
    assert pv.permute_and_flip_tail_bound(20, 1.0) == 1.0
    for deviation in (0.0, -1.0, math.nan):
        with pytest.raises(pv.InvalidParameterError, match="positive"):
            pv.permute_and_flip_tail_bound(20, deviation)


# -------------------------------------------------------------------------------------------- certificates


def test_one_certificate_is_made_for_each_length_or_for_all() -> None:
    each = pv.CertifiedExponential(TOGGLE, 2.0)
    assert (each.max_length, each.contexts) == (None, 40_000)
    assert each.certificate(3) is each.certificate(3)
    assert each.certificate(3) is not each.certificate(4)
    assert (each.certificate(3).length, each.certificate(3).up_to) == (3, False)
    assert each.theta(4) == each.certificate(4).theta
    one = pv.CertifiedExponential(TOGGLE, 2.0, max_length=4, contexts=7)
    assert (one.max_length, one.contexts) == (4, 7)
    assert one.certificate(1) is one.certificate(4)
    assert (one.certificate(1).length, one.certificate(1).up_to) == (4, True)
    with pytest.raises(pv.InvalidParameterError, match="a word of 5 symbols is longer than `max_length=4`"):
        one.certificate(5)
    with pytest.raises(pv.NoFeasibleWordError):
        pv.CertifiedExponential(pv.MarkovChain.from_edges([("a", "b")]), 1.0).certificate(3)
    for world in (pv.Alphabet("ab"), LETTER_CHAIN):
        nearest = pv.CertifiedExponential(world, 2.0, 2, on_infeasible="nearest").certificate(3)
        assert nearest.theta == pytest.approx(0.5, rel=1e-9)
        assert "infeasible words are accepted" in nearest.method
    assert pv.CertifiedExponential(pv.Alphabet("ab"), 2.0, 2, max_length=9).certificate(3).up_to


def test_certified_probabilities_are_those_of_the_tilted_law() -> None:
    mechanism = pv.CertifiedExponential(TOGGLE, 2.0)
    outputs = feasible_words(TOGGLE, 3)
    codes = np.array([TOGGLE.encode(v) for v in outputs])
    expected = exponential_law(TOGGLE, tuple("aba"), mechanism.theta(3))
    found = np.exp(mechanism.log_probabilities(TOGGLE.encode("aba"), codes))
    assert found == pytest.approx([expected[v] for v in outputs], rel=1e-9)
    exact = pv.Exponential(TOGGLE, 2.0)
    expected = exponential_law(TOGGLE, tuple("aba"), exact.theta(3))
    assert np.exp(exact.log_probabilities(TOGGLE.encode("aba"), codes)) == pytest.approx(
        [expected[v] for v in outputs], rel=1e-9
    )


# ----------------------------------------------------------------------------- which way a batch is drawn


def test_rejection_blocks_cover_every_word_once() -> None:
    """More words than a block holds, each drawn from its own place. False-alarm probability 1e-6."""
    mechanism = pv.PermuteAndFlip(CHAIN, 2.0)
    rows = np.tile(np.array([[0, 1, 2], [2, 2, 0]]), (30_000, 1))
    private = mechanism.privatize_array(rows, rng=pv.insecure_seed(1))
    for k, word in enumerate([(0, 1, 2), (2, 2, 0)]):
        assert (
            chi_square_p_value(counted_rows(private[k::2]), permute_and_flip_law(CHAIN, word, mechanism.theta(3)))
            > FALSE_ALARM
        )
    exact = pv.PermuteAndFlip(CHAIN, 1e6)
    assert np.array_equal(exact.privatize_array(rows), rows)


def test_large_batches_of_words_that_are_not_feasible_have_their_law() -> None:
    """Two hundred words, each 47 times: too many for plain loops.

    The number of errors against the sum of the laws of all words, which varies less than equal draws would: the
    false-alarm probability is below 1e-6. Negative control: a third more tilt.
    """
    different = np.random.default_rng(1).integers(0, 3, (200, 12))
    rows = np.tile(different, (47, 1))
    mechanism, other = (pv.PermuteAndFlip(CHAIN, epsilon, on_infeasible="nearest") for epsilon in (2.0, 2.7))
    pmf = np.mean([mechanism.error_law(tuple(row)).pmf for row in different.tolist()], axis=0)
    law = dict(enumerate(pmf.tolist()))
    for drawing, fits in ((mechanism, True), (other, False)):
        private = drawing.privatize_array(rows, rng=pv.insecure_seed(3))
        assert CHAIN.compiled.feasible_rows(private).all()
        errors = np.count_nonzero(private != rows, axis=1).tolist()
        assert (chi_square_p_value(errors, law) > FALSE_ALARM) == fits
