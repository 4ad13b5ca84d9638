"""The baselines: sensitivities by enumeration, noise by brute force, projection."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx

import pathveil as pv
from pathveil.models.counting import count_transitions
from pathveil.models.laplace import (
    concentrated_budget,
    count_noises,
    gaussian_noise,
    laplace_noise,
    noisy_rows,
    pair_gaussian_delta,
    pair_gaussian_noise,
    sensitivities,
)
from pathveil.models.people import ONE_WORD


def _largest_changes(neighbours) -> tuple[int, int]:
    """The largest 1-norm and squared 2-norm of the difference of two tables of counts, over all given pairs."""
    largest = [0, 0]
    for w, v in neighbours:
        difference = count_transitions([w], 3) - count_transitions([v], 3)
        largest[0] = max(largest[0], int(np.abs(difference).sum()))
        largest[1] = max(largest[1], int((difference**2).sum()))
    return largest[0], largest[1]


def test_one_symbol_changes_the_table_by_exactly_the_stated_norms():
    words = list(itertools.product(range(3), repeat=4))
    pairs = ((w, v) for w in words for v in words if sum(x != y for x, y in zip(w, v, strict=True)) == 1)
    assert _largest_changes(pairs) == sensitivities("symbol", None, ONE_WORD)["transitions"] == (4, 6)


@pytest.mark.parametrize("length", [2, 3, 4])
def test_one_word_changes_the_table_by_exactly_the_stated_norms(length):
    words = [w for n in range(1, length + 1) for w in itertools.product(range(3), repeat=n)]
    assert _largest_changes(itertools.product(words, words)) == sensitivities("word", length, ONE_WORD)["transitions"]


def test_one_destination_changes_two_counts_by_one():
    assert sensitivities("transition", None, ONE_WORD) == {"transitions": (2, 2)}


def test_laplace_scales_are_rounded_up_and_hardly():
    for epsilon in (0.1, 1.0, 3.73):
        scale = laplace_noise(epsilon, 2).scale
        assert Fraction(2) / Fraction(epsilon) <= scale
        assert float(scale) < 2 / epsilon * (1 + 1e-5)


def test_the_variance_of_laplace_noise_is_exact():
    noise = laplace_noise(0.9, 2)
    q = math.exp(-1 / float(noise.scale))
    x = np.arange(-400, 401)
    assert noise.variance == pytest.approx(float((x**2 * q ** np.abs(x)).sum() / (q ** np.abs(x)).sum()))


def test_the_exact_gaussian_profile_agrees_with_a_double_sum():
    for variance, epsilon in ((0.7, 1.0), (2.93, 3.73), (30.0, 0.5)):
        z = np.arange(-150, 151)
        p = np.exp(-(z**2) / (2 * variance))
        p /= p.sum()
        joint = np.outer(p, p)
        # One count rises and the other falls: the ratio of the joint law to itself shifted by (1, -1).
        loss = (z[:, None] - z[None, :] + 1) / variance
        exact = float((joint * np.maximum(0, 1 - np.exp(epsilon - loss))).sum())
        assert pair_gaussian_delta(variance, epsilon) == pytest.approx(exact, rel=1e-9)


def test_gaussian_noise_for_one_transition_is_the_least_and_beats_concentrated_accounting():
    for epsilon, delta in ((3.73, 3e-6), (0.5, 1e-9)):
        noise = pair_gaussian_noise(epsilon, delta)
        assert pair_gaussian_delta(float(noise.scale), epsilon) <= delta
        assert pair_gaussian_delta(float(noise.scale) * 0.999, epsilon) > delta
        assert noise.scale < gaussian_noise(concentrated_budget(epsilon, delta), 2).scale


def test_the_gaussian_column_of_the_large_floor_table_comes_out():
    ratio = math.sqrt(pair_gaussian_noise(3.73, 3e-6).scale) / (math.sqrt(2) * 2 / 3.73)
    assert ratio == pytest.approx(2.26, abs=0.005)


def test_concentrated_budgets_imply_the_promise_through_the_continuous_gaussian():
    # ρ-zCDP of a unit Gaussian shift has an exact (ε, δ); the conversion must lie on its safe side, and not far off.
    from scipy import stats

    epsilon, delta = 1.0, 1e-6
    rho = concentrated_budget(epsilon, delta)
    mu = math.sqrt(2 * rho)
    exact = stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)
    assert delta / 20 < exact < delta


@pytest.mark.parametrize("seed", range(3))
def test_no_noise_that_was_settled_on_costs_more_than_was_asked_for(seed):
    # Exact rational arithmetic: shares that sum to 1 only nearly, ε that are no binary fractions.
    draw = random.Random(seed)
    for _ in range(50):
        epsilon = round(10 ** draw.uniform(-6, 3), draw.randrange(1, 9)) or 0.1
        weights = [draw.random() + 0.01 for _ in range(3)]
        shares = {part: w / sum(weights) for part, w in zip(("transitions", "first", "lengths"), weights, strict=True)}
        noises = count_noises("laplace", epsilon, 0.0, "word", 6, shares)
        spent = sum(Fraction(change) / noises[part].scale for part, change in zip(shares, (10, 2, 2), strict=True))
        assert spent <= Fraction(epsilon)
        assert spent <= Fraction(repr(epsilon))
        # Scales are rounded up to multiples of 2⁻²⁰, and no further.
        for part, change in zip(shares, (10, 2, 2), strict=True):
            assert float(noises[part].scale - Fraction(change) / (Fraction(shares[part]) * Fraction(epsilon))) < 2e-6


def test_budgets_for_gaussian_noise_imply_the_promise_in_sixty_digits():
    for epsilon in (1e-9, 1e-3, 0.7, 12.0, 1e3):
        for delta in (1e-30, 1e-6, 0.3):
            rho = concentrated_budget(epsilon, delta)
            with ctx.workdps(60):
                # The continuous Gaussian with this ρ has the profile Φ(μ/2 - ε/μ) - e^ε Φ(-μ/2 - ε/μ), μ² = 2ρ.
                mu, root = (2 * arb(rho)).sqrt(), arb(2).sqrt()
                above, below = (((arb(epsilon) / mu - sign * mu / 2) / root).erfc() / 2 for sign in (1, -1))
                assert above - arb(epsilon).exp() * below <= arb(delta)


def test_the_profile_of_gaussian_noise_on_a_pair_is_rounded_up_and_hardly():
    for variance, epsilon in ((Fraction(7, 10), 1.0), (Fraction(293, 100), 3.73), (Fraction(1, 50), 1e3), (30, 1e-9)):
        with ctx.workdps(60):
            σ2, e = arb(variance.numerator) / variance.denominator, arb(epsilon)
            z = range(-150, 151)
            p = [(-(x**2) / (2 * σ2)).exp() for x in z]
            joint = [
                sum((p[i] * p[i - t] for i in range(max(0, t), min(301, 301 + t))), arb(0)) for t in range(-90, 91)
            ]
            excess = [(t + 1) / σ2 - e for t in range(-90, 91)]
            lost = sum((m * (1 - (-x).exp()) for m, x in zip(joint, excess, strict=True) if x > 0), arb(0))
            exact = lost / sum(joint, arb(0))
            reported = arb(pair_gaussian_delta(variance, epsilon))
            assert exact <= reported
            assert reported <= exact * (1 + 1e-10) + 2e-300


def test_gaussian_noise_for_a_pair_keeps_hostile_promises():
    for epsilon, delta in ((1e-2, 1e-30), (1.0, 1e-30), (30.0, 1e-30), (5.0, 0.4), (1e3, 1e-6)):
        assert pair_gaussian_delta(pair_gaussian_noise(epsilon, delta).scale, epsilon) <= delta


def test_shares_of_the_budget_add_up_to_it():
    shares = {"transitions": 0.8, "first": 0.1, "lengths": 0.1}
    laplace = count_noises("laplace", 2.0, 0.0, "word", 6, shares)
    changes = {"transitions": 10, "first": 2, "lengths": 2}
    assert sum(changes[part] / laplace[part].scale for part in shares) <= 2
    gaussian = count_noises("gaussian", 2.0, 1e-6, "word", 6, shares)
    squares = {"transitions": 50, "first": 2, "lengths": 2}
    spent = sum(squares[part] / (2 * gaussian[part].scale) for part in shares)
    assert float(spent) <= concentrated_budget(2.0, 1e-6)


def test_rows_without_records_are_uniform_and_rows_without_support_empty():
    counts = np.array([[5, 5, 0], [0, 0, 0], [0, 0, 0]])
    inside = np.array([[1, 1, 1], [1, 0, 1], [0, 0, 0]], dtype=bool)
    rows = noisy_rows(pv.insecure_seed(1), counts, inside, laplace_noise(1.0, 2), counts.sum(axis=1))
    assert rows[1].tolist() == [0.5, 0, 0.5]
    assert rows[2].tolist() == [0, 0, 0]
    assert rows[0].sum() == pytest.approx(1)


def test_noise_has_the_stated_variance_and_less_would_be_noticed():
    # 40,000 draws; the variance's relative standard error is 1.1%, five of them: false-alarm probability below 1e-6.
    noise = laplace_noise(1.0, 2)
    draws = noise.draw(pv.insecure_seed(5), 40_000)
    assert draws.var() == pytest.approx(noise.variance, rel=0.06)
    assert draws.var() != pytest.approx(laplace_noise(1.3, 2).variance, rel=0.06)
