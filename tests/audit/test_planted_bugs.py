"""Every planted bug is refuted, and the same audit lets the mended mechanism pass.

Audits here run at confidence 1 - 1e-6, so a correct mechanism is flagged with a probability of at most 1e-6 in each.
"""

from __future__ import annotations

import numpy as np
import pytest

import pathveil as pv
from tests.audit import planted
from tests.reference import printed
from tests.statistics import FALSE_ALARM

SURE = 1 - FALSE_ALARM


def test_lev_18_without_multiplicity_is_found() -> None:
    release = planted.lev_without_multiplicity("abcd", 1.0, pv.insecure_seed(1))
    options = {"epsilon": 1.0, "draws": 20_000, "confidence": SURE, "rng": pv.insecure_seed(1)}
    audit = pv.audit_statistically(release, "abcdab", "abcdad", **options)
    assert not audit.holds
    assert "REFUTED" in str(audit)
    # The loss of the printed law: a word has the probability of its class, divided by the size of the class.
    law = printed.LevMechanism("abcd", tuple("abcdab"), 1.0, multiplicity=False)
    each = [p / number for p, number in zip(law.law, law.counts, strict=True)]
    exact = max(np.log(each[i] / each[i + 1]) for i in range(6))
    assert 0.5 * exact < audit.epsilon_lower <= exact
    # With the multiplicity the very same audit has nothing to say.
    mended = pv.Exponential(pv.Alphabet("abcd"), 1.0, utility=pv.InverseUtility())
    assert pv.audit_statistically(mended, "abcdab", "abcdad", 20_000, SURE, rng=pv.insecure_seed(1)).holds


def test_permute_and_flip_with_the_tilt_of_the_online_mechanism_is_found() -> None:
    wrong = planted.TooLittleNoise(planted.CHAIN, 2.0)
    assert pv.audit_exhaustively(wrong, length=4).loss > 2.5
    audit = pv.audit_statistically(wrong, (1, 2, 0, 0), draws=40_000, confidence=SURE, rng=pv.insecure_seed(1))
    assert not audit.holds
    right = pv.PermuteAndFlip(planted.CHAIN, 2.0)
    assert pv.audit_statistically(right, (1, 2, 0, 0), draws=20_000, confidence=SURE, rng=pv.insecure_seed(1)).holds


def test_a_halved_certificate_is_found_where_enumeration_shows_that_it_breaks_the_claim() -> None:
    wrong = planted.HalvedCertificate(planted.SPARSE, 1.0)
    exact = pv.audit_exhaustively(wrong, length=4)
    assert exact.loss > 1.1
    audit = pv.audit_statistically(wrong, length=4, draws=300_000, confidence=SURE, rng=pv.insecure_seed(1))
    assert not audit.holds
    assert audit.epsilon_lower <= exact.loss
    right = pv.CertifiedExponential(planted.SPARSE, 1.0)
    assert pv.audit_exhaustively(right, length=4).holds
    assert pv.audit_statistically(right, length=4, draws=300_000, confidence=SURE, rng=pv.insecure_seed(1)).holds


def test_the_maximum_over_rows_is_found_where_every_row_changes() -> None:
    # MDM: k = 9.87, b = 0.025, floor 0.1, and (1.16, 0.011) claimed for 32 rows that may all change.
    one_row = np.array([0.1125, 0.1, 0.7875])
    other_row = np.array([0.1, 0.1125, 0.7875])
    claim = {"epsilon": 1.16, "delta": 0.011, "draws": 30_000, "confidence": SURE, "batched": True}
    release = planted.dirichlet_rows(9.87, seed=1)
    every = pv.audit_statistically(
        release, np.tile(one_row, (32, 1)), np.tile(other_row, (32, 1)), rng=pv.insecure_seed(1), **claim
    )
    assert not every.holds
    profile = pv.DirichletProfile(floor=0.1, concentration=9.87, shift=0.0125)
    exact = pv.ComposedProfile([profile] * 32).epsilon(0.011)
    assert 1.16 < every.epsilon_lower < exact
    # One row that changes is within the claim, by far.
    first = np.tile(one_row, (32, 1))
    second = first.copy()
    second[5] = other_row
    assert pv.audit_statistically(release, first, second, rng=pv.insecure_seed(1), **claim).epsilon_lower < 0.3


def test_a_seed_that_two_words_share_is_found() -> None:
    # Each word alone is released as it should be; the noise of the second, which the attacker knows, undoes the first.
    fair = pv.CertifiedExponential(pv.Alphabet("abc"), 1.0)
    release = planted.one_seed_for_all(fair, pv.insecure_seed(1))
    options = {"epsilon": 1.0, "draws": 1_000, "confidence": SURE, "rng": pv.insecure_seed(1)}
    audit = pv.audit_jointly(release, ["abca", "ccbb"], "abcb", **options)
    assert not audit.holds
    alone = pv.audit_statistically(lambda word: release([word])[0], "abca", "abcb", **options)
    assert alone.holds
    assert pv.audit_jointly(fair, ["abca", "ccbb"], "abcb", 40_000, SURE, rng=pv.insecure_seed(1)).holds


@pytest.mark.parametrize("kind", [pv.Exponential, pv.PermuteAndFlip, pv.Online])
def test_a_seed_that_two_words_share_is_found_on_a_chain(kind: type[pv.WordMechanism]) -> None:
    release = planted.one_seed_for_all(kind(planted.CHAIN, 1.0), pv.insecure_seed(1))
    words, neighbour = [(0, 0, 0, 0), (0, 0, 1, 0)], (0, 0, 1, 0)
    audit = pv.audit_jointly(release, words, neighbour, 1_000, SURE, epsilon=1.0, rng=pv.insecure_seed(1))
    assert not audit.holds


def test_a_biased_draw_inside_a_class_is_found() -> None:
    world = pv.Alphabet("abc")
    wrong, right = planted.FavoursEarlyErrors(world, 2.0), pv.PermuteAndFlip(world, 2.0)
    for word in ("abcab", "abcabcabcabc"):  # few words, each a cell of its own; and too many for that
        audit = pv.audit_uniformity(wrong, word, 20_000, SURE, rng=pv.insecure_seed(1))
        assert not audit.holds
        assert audit.seen != pytest.approx(audit.expected, rel=0.05)
        assert pv.audit_uniformity(right, word, 20_000, SURE, rng=pv.insecure_seed(1)).holds


def test_a_calibration_that_looks_at_the_word_is_found() -> None:
    wrong = planted.LooksAtTheWord(pv.Alphabet("abc"), 1.0)
    audit = pv.audit_statistically(wrong, "abca", draws=100_000, confidence=SURE, rng=pv.insecure_seed(1))
    assert not audit.holds
    # The search finds by itself that it is the first symbol that matters.
    assert audit.word[0] != audit.neighbour[0]
    assert audit.word[1:] == audit.neighbour[1:]


def test_a_laplace_scale_that_is_off_by_two_is_found() -> None:
    counts, other = np.array([40.0, 25.0, 7.0]), np.array([41.0, 25.0, 7.0])
    claim = {"epsilon": 1.0, "draws": 60_000, "confidence": SURE, "batched": True, "rng": pv.insecure_seed(1)}
    wrong = pv.audit_statistically(planted.noisy_counts(0.5, seed=1), counts, other, **claim)
    assert not wrong.holds
    assert 1.6 < wrong.epsilon_lower <= 2.0
    assert pv.audit_statistically(planted.noisy_counts(1.0, seed=1), counts, other, **claim).holds
