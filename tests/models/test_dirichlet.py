"""Gamma and Dirichlet variates: their law, their range, and the loss that the profile is about."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special, stats

import pathveil as pv
from pathveil.models.dirichlet import draw_dirichlet, log_gamma_variates


@pytest.mark.parametrize("shape", [1e-3, 0.2, 1.0, 3.7, 1e4])
def test_gamma_variates_have_the_gamma_law(shape):
    # Kolmogorov–Smirnov at false-alarm probability 1e-6 for each shape; fixed seed.
    logs = log_gamma_variates(pv.insecure_seed(11), np.full(20_000, shape))
    assert _ks_of_logs(logs, shape) > 1e-6


def test_the_same_test_notices_a_shape_that_is_off_by_a_few_percent():
    logs = log_gamma_variates(pv.insecure_seed(11), np.full(20_000, 3.7 * 1.04))
    assert _ks_of_logs(logs, 3.7) < 1e-6


def _ks_of_logs(logs: np.ndarray, shape: float) -> float:
    """P-value. For tiny shapes the values underflow, but P(G < e^l) ≈ e^(shape·l)/Γ(shape+1) there."""
    with np.errstate(under="ignore"):
        values = np.exp(logs)
    tail = np.exp(shape * np.minimum(logs, 0.0) - special.gammaln(shape + 1))
    uniform = np.where(logs < -30, tail, special.gammainc(shape, values))
    return float(stats.kstest(uniform, "uniform").pvalue)


def test_huge_shapes_keep_the_right_mean_and_spread():
    # Five standard errors: false-alarm probability about 1e-6 for both statements together.
    shape, count = 1e12, 40_000
    standard = (np.exp(log_gamma_variates(pv.insecure_seed(3), np.full(count, shape))) - shape) / math.sqrt(shape)
    assert abs(standard.mean()) < 5 / math.sqrt(count)
    assert abs(standard.var() - 1) < 5 * math.sqrt(2 / count)


def test_rows_are_on_the_simplex_strictly_positive_on_the_support_and_zero_off_it():
    parameters = np.array([[1e-5, 1e-5, 0.0, 1e-5], [1e9, 2e9, 3e9, 0.0], [0.5, 0.5, 0.5, 0.5]])
    for seed in range(200):
        draw = draw_dirichlet(pv.insecure_seed(seed), parameters)
        assert draw.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
        assert ((draw > 0) == (parameters > 0)).all()


def test_every_entry_of_a_row_has_its_beta_law():
    # Four Kolmogorov–Smirnov tests at 1e-6 each.
    parameters = np.array([0.3, 2.0, 5.0, 0.7])
    draws = draw_dirichlet(pv.insecure_seed(5), np.tile(parameters, (20_000, 1)))
    for i, parameter in enumerate(parameters):
        law = stats.beta(parameter, parameters.sum() - parameter)
        assert stats.kstest(draws[:, i], law.cdf).pvalue > 1e-6


DRAWS = 1_000_000
PROFILE = pv.DirichletProfile(floor=0.073, concentration=20.6, shift=1 / 98)


def _loss_crossings(seed: int, concentration: float, epsilon: float) -> tuple[int, int]:
    """How often the loss passes ε under either input of the worst pair, in 10^6 draws of three entries each."""
    floor, shift, rest = PROFILE.floor, PROFILE.shift, 1 - 2 * PROFILE.floor - PROFILE.shift
    counts = []
    for p in ((floor + shift, floor, rest), (floor, floor + shift, rest)):
        draws = draw_dirichlet(pv.insecure_seed(seed), np.tile(concentration * np.array(p), (DRAWS, 1)))
        loss = PROFILE.h * np.log(draws[:, 0] / draws[:, 1])
        counts.append(int((loss > epsilon).sum()))
    return counts[0], counts[1]


def _z_scores(crossings: tuple[int, int], epsilon: float) -> list[float]:
    a, h = PROFILE.a, PROFILE.h
    v = special.expit(-epsilon / h)
    expected = special.betainc(a, a + h, v), special.betainc(a + h, a, v)
    assert expected[0] - math.exp(epsilon) * expected[1] == pytest.approx(PROFILE.delta(epsilon), rel=1e-9)
    return [(c - DRAWS * e) / math.sqrt(DRAWS * e * (1 - e)) for c, e in zip(crossings, expected, strict=True)]


def test_the_loss_of_a_million_draws_crosses_epsilon_as_often_as_the_profile_says():
    # Two binomial counts, each within 5 standard deviations: false-alarm probability 1.2e-6.
    epsilon = 0.629
    assert max(abs(z) for z in _z_scores(_loss_crossings(1, PROFILE.concentration, epsilon), epsilon)) < 5


def test_the_loss_crosses_too_often_when_the_noise_is_ten_percent_short():
    # The negative control: draws with more spread than the profile was computed for.
    epsilon = 0.629
    assert max(abs(z) for z in _z_scores(_loss_crossings(1, 0.9 * PROFILE.concentration, epsilon), epsilon)) > 5
