"""An audit flags a correct mechanism no more often than it says."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

import pathveil as pv
from pathveil.audit.confidence import loss_lower_bounds
from tests.sizes import small_and_large
from tests.statistics import FALSE_ALARM

CONFIDENCE = 0.9


def most_flagged(runs: int) -> int:
    """Tests count false alarms and fail above this number. If alarms have their stated probability of 10%, that happens
    with a probability of at most 1e-6."""
    return int(stats.binom.isf(FALSE_ALARM, runs, 1 - CONFIDENCE))


def flips(loss: float, seed: int) -> Callable[[str, int], list[str]]:
    """Randomized response on each bit: its loss is exactly this, for every pair of adjacent words."""
    generator = np.random.default_rng(seed)

    def release(word: str, size: int) -> list[str]:
        turned = generator.random((size, len(word))) < 1 / (1 + np.exp(loss))
        bits = np.array(list(word), dtype=np.int64) ^ turned
        return ["".join(map(str, row)) for row in bits.tolist()]

    return release


def flagged(loss: float, claimed: float, runs: int) -> int:
    """How many audits refute the claim, each with a search for the worst neighbour."""
    release, world, rng = flips(loss, seed=1), pv.Alphabet("01"), pv.insecure_seed(1)
    return sum(
        not pv.audit_statistically(
            release, "01", draws=1000, confidence=CONFIDENCE, epsilon=claimed, world=world, batched=True, rng=rng
        ).holds
        for _ in range(runs)
    )


@small_and_large("runs", 150, 1000)
def test_audits_of_a_claim_that_is_exactly_true_keep_their_level(runs: int) -> None:
    # The hardest correct mechanism: nothing is left between loss and claim.
    assert flagged(loss=1.0, claimed=1.0, runs=runs) <= most_flagged(runs)


def test_the_same_audits_notice_a_claim_that_is_too_small() -> None:
    assert flagged(loss=1.6, claimed=1.0, runs=100) > most_flagged(150)


@pytest.mark.parametrize("delta", [0.0, 0.05])
@pytest.mark.parametrize("q", [0.3, 0.02, 0.0005])
def test_the_bound_exceeds_the_true_loss_no_more_often_than_stated(q: float, delta: float) -> None:
    # The counts of an event with P(E|word) = e^ε P(E|neighbour) + δ, drawn forty thousand times.
    generator, runs, draws = np.random.default_rng(1), 40_000, 2_000
    epsilon = 1.0
    p = np.exp(epsilon) * q + delta
    n, m = generator.poisson(draws, runs), generator.poisson(draws, runs)
    x, y = generator.binomial(n, p), generator.binomial(m, q)
    bounds = loss_lower_bounds(x, y, (n, m), 0.05, delta)
    most = stats.binom.isf(FALSE_ALARM, runs, 0.05)
    assert np.count_nonzero(bounds > epsilon) <= most
    if q > 0.01:  # the test can fail: ratios without a margin are too large half of the time
        estimates = loss_lower_bounds(x, y, (n, m), 0.5, delta)
        assert np.count_nonzero(estimates > epsilon) > most


def test_a_hundred_tests_of_uniformity_keep_their_level() -> None:
    runs = 100
    fair, rng = pv.PermuteAndFlip(pv.Alphabet("ab"), 1.0), pv.insecure_seed(1)
    alarms = sum(not pv.audit_uniformity(fair, "abab", 1000, CONFIDENCE, rng=rng).holds for _ in range(runs))
    # Above this with a probability of at most 1e-6, if alarms have 10%.
    assert alarms <= stats.binom.isf(FALSE_ALARM, runs, 1 - CONFIDENCE)


def test_no_correct_release_of_frequencies_is_flagged() -> None:
    # A correct claim at confidence 1 - 1e-6: a false alarm has a probability of at most 1e-6.
    claim, rng = {"epsilon": 0.5, "delta": 1e-2}, pv.insecure_seed(1)

    def release(counts: list[int]) -> pv.PrivateFrequencies:
        return pv.private_frequencies(counts, **claim, rng=rng)

    counts, other = [31, 28, 20, 9, 10], [31, 28, 20, 10, 9]
    assert pv.audit_statistically(release, counts, other, 1_000, 1 - FALSE_ALARM, **claim, rng=rng).holds
