"""What the papers print: their numbers come out, and where a statement is wrong, an input shows it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

import pathveil as pv
from pathveil.models import accuracy
from pathveil.models.dirichlet import draw_dirichlet

published = pv.published


def chain(matrix) -> pv.MarkovChain:
    return pv.MarkovChain(range(len(matrix)), matrix)


def random_pair(rng: np.random.Generator, n: int) -> tuple[pv.MarkovChain, pv.MarkovChain]:
    return chain(rng.dirichlet(np.ones(n), size=n)), chain(rng.dirichlet(np.ones(n), size=n))


def test_the_formulas_give_the_numbers_of_the_papers_settings():
    assert published.mcm_epsilon(20.6, 0.073, 98, 5, 0.0004) == pytest.approx(2.2119, abs=5e-5)
    assert published.mdm_epsilon(9.87, 0.1, 0.051, 0.025, 2, 0.001) == pytest.approx(1.1678, abs=5e-5)
    assert published.mdm_epsilon(98.7, 0.1, 0.051, 0.025, 2, 0.001) == pytest.approx(11.1292, abs=5e-5)


def test_epsilon_star_is_the_formula_at_the_smallest_concentration_of_assumption_4():
    eta, N = 0.073, 98
    log_beta = special.betaln
    term = log_beta(1.5, 1.5 / eta - 3) - log_beta(1.5 + 1.5 / (eta * N), 1.5 / eta - 3 - 1.5 / (eta * N))
    printed = term + 1.5 / (eta * N) * math.log((1 - 4 * 0.0004) / 0.0004)
    assert published.mcm_strongest_epsilon(eta, N, 5, 0.0004) == pytest.approx(printed, rel=1e-12)


def test_published_accounting_holds_for_one_row_but_loses_a_factor_of_four_and_more():
    for profile, epsilon, delta in (
        (pv.DirichletProfile(0.073, 20.6, 1 / 98), 2.2119, published.mcm_delta(20.6, 0.073, 5, 0.0004)),
        (pv.DirichletProfile(0.1, 9.87, 0.0125), 1.1678, published.mdm_delta_corrected(9.87, 0.1, [2], 0.001)),
    ):
        assert profile.delta(epsilon) < delta
        assert profile.epsilon(delta) < epsilon / 3


@pytest.mark.slow
def test_the_published_delta_is_the_chance_of_an_entry_below_gamma():
    # 200,000 draws at the corner; 5 standard deviations, false-alarm probability 6e-7, and a control at half of γ.
    k, eta, n, gamma, count = 20.6, 0.073, 5, 0.004, 200_000
    corner = np.array([eta] * (n - 1) + [1 - (n - 1) * eta])
    draws = draw_dirichlet(pv.insecure_seed(8), np.tile(k * corner, (count, 1)))
    delta = published.mcm_delta(k, eta, n, gamma)
    slack = 5 * math.sqrt(delta * (1 - delta) / count) + delta**2
    assert abs((draws < gamma).any(axis=1).mean() - delta) < slack
    assert abs((draws < gamma / 2).any(axis=1).mean() - delta) > slack


def test_mdm_delta_takes_the_smallest_over_rows_where_the_largest_is_needed():
    w = [2, 4, 3]
    printed, largest = (f(9.87, 0.1, w, 0.001) for f in (published.mdm_delta, published.mdm_delta_corrected))
    assert printed == pytest.approx(largest / 2)


@pytest.mark.slow
def test_mdm_claims_for_every_row_what_holds_for_one():
    row = pv.DirichletProfile(floor=0.1, concentration=9.87, shift=0.0125)
    claimed = published.mdm_epsilon(9.87, 0.1, 0.051, 0.025, 2, 0.001)
    assert row.delta(claimed) < 0.011  # one row: true
    # Every row: false, already by a lower bound on δ from 4,000 draws of 32 losses (margin above 20 deviations).
    parameters = np.tile([row.a + row.h, row.a], (32 * 4_000, 1))
    x = draw_dirichlet(pv.insecure_seed(2), parameters)
    loss = row.h * np.log(x[:, 0] / x[:, 1]).reshape(-1, 32).sum(axis=1)
    assert np.maximum(0, 1 - np.exp(claimed - loss)).mean() > 0.1
    assert pv.ComposedProfile([row] * 32).epsilon(0.011) > 2.5 * claimed


def test_published_epsilon_is_too_small_beyond_the_middle_of_the_pairs_mass_when_gamma_is_large():
    k, eta, eta_bar, b, w, gamma = 20.0, 0.2, 0.05, 1.0, 3, 0.3  # all of MDM's assumptions hold
    mass = 1 - eta_bar

    def worst_loss(shift: float) -> float:
        """The loss at the best output of Ω₁ for a pair at the floor that moves this much."""
        log_ratio = special.betaln(k * eta, k * (mass - eta)) - special.betaln(
            k * (eta + shift), k * (mass - eta - shift)
        )
        return float(log_ratio + k * shift * math.log((1 - (w - 1) * gamma) / gamma))

    printed = published.mdm_epsilon(k, eta, eta_bar, b, w, gamma)
    corrected = published.mdm_epsilon_corrected(k, eta, eta_bar, b, w, gamma)
    worst = max(worst_loss(shift) for shift in np.linspace(0, b / 2, 201))
    assert printed < worst - 1
    assert worst <= corrected
    assert published.mcm_epsilon_corrected(20.6, 0.073, 98, 5, 0.0004) == published.mcm_epsilon(
        20.6, 0.073, 98, 5, 0.0004
    )


def test_column_sums_do_not_bound_the_change_of_the_stationary_distribution():
    # By hand: π = (½, ½), π̃ = (5/6, 1/6), so the change is 2/3. Z is a permutation, and the columns differ by 0.4.
    before, after = chain([[0.5, 0.5], [0.5, 0.5]]), chain([[0.9, 0.1], [0.5, 0.5]])
    change = np.abs(before.stationary_distribution - after.stationary_distribution).sum()
    assert change == pytest.approx(2 / 3)
    assert published.mcm_lemma_5_bound(before, after) == pytest.approx(0.4)
    assert accuracy.stationary_error_bound(before, 0.8) >= change


def test_column_sums_fail_for_some_random_chains_and_row_sums_for_none():
    rng = np.random.default_rng(0)
    failures = 0
    for _ in range(300):
        before, after = random_pair(rng, 2)
        change = np.abs(before.stationary_distribution - after.stationary_distribution).sum()
        failures += change > published.mcm_lemma_5_bound(before, after)
        row_norm = np.abs((before.matrix - after.matrix).toarray()).sum(axis=1).max()
        assert change <= accuracy.stationary_error_bound(before, row_norm) * (1 + 1e-9)
    assert failures > 0


def test_pinsker_does_not_bound_the_matrix_norm_but_does_bound_the_stationary_change():
    rng = np.random.default_rng(1)
    failures = 0
    for _ in range(200):
        before, after = random_pair(rng, 5)
        norm = np.abs((before.matrix - after.matrix).toarray()).sum(axis=0).max()
        failures += norm > published.mcm_lemma_6_bound(before, after)
        change = np.abs(before.stationary_distribution - after.stationary_distribution).sum()
        assert change <= accuracy.stationary_error_from_kl(before, after) * (1 + 1e-9)
    assert failures > 80


@pytest.mark.slow
def test_theorem_5_of_mcm_fails_for_a_noisy_row_of_a_rarely_visited_state():
    # Counts (495, 495, 10) twice and (2, 1, 1): all assumptions hold with η = 0.01 and 0.24 and k ≥ 3/(2η).
    P = np.array([[0.495, 0.495, 0.01], [0.495, 0.495, 0.01], [0.5, 0.25, 0.25]])
    k, N = np.array([1e6, 1e6, 6.25]), [1000, 1000, 4]
    truth = chain(P)
    source = pv.insecure_seed(6)
    changes = np.array(
        [
            abs(chain(draw_dirichlet(source, k[:, None] * P)).ergodicity_coefficient - truth.ergodicity_coefficient)
            for _ in range(1500)
        ]
    )
    standard_error = changes.std() / math.sqrt(len(changes))
    bound = published.mcm_theorem_5_bound(truth, k.tolist(), N)
    assert changes.mean() - 10 * standard_error > bound
    assert changes.mean() < accuracy.expected_ergodicity_error(P, k)


@pytest.mark.slow
def test_expected_stationary_errors_stay_below_the_corrected_bound():
    rng = np.random.default_rng(4)
    P = rng.dirichlet(np.full(4, 3.0), size=4)
    truth, k = chain(P), 200.0
    source = pv.insecure_seed(9)
    errors = [
        np.abs(chain(draw_dirichlet(source, k * P)).stationary_distribution - truth.stationary_distribution).sum()
        for _ in range(500)
    ]
    assert np.mean(errors) < accuracy.expected_stationary_error(truth, k)
    assert published.mdm_theorem_3_bound(truth, k, 0.01, 0.01, [3] * 4) > 0
    assert published.mcm_theorem_4_bound(truth, [k] * 4, [1000] * 4) > 0


def test_corollary_1_of_mcm_is_right_though_its_proof_has_the_sign_of_trigamma_wrong():
    assert (special.polygamma(1, np.linspace(0.1, 50, 100)) > 0).all()
    k, N, n = 20.6, 98, 5
    zeta = {x: math.log((x + 1) / N) - special.digamma((x + 1) * k / N) for x in (0, N - n)}
    printed = (n - 1) / N * zeta[0] + (N - n + 1) / N * zeta[N - n] + special.digamma(k)
    assert published.mcm_kl_bound(k, N, n) == pytest.approx(printed, rel=1e-9)
    rng = np.random.default_rng(0)
    for _ in range(100):
        counts = 1 + rng.multinomial(N - n, rng.dirichlet(np.full(n, 0.5)))
        assert accuracy.expected_kl(counts / N, k) <= published.mcm_kl_bound(k, N, n) * (1 + 1e-12)


def test_lemma_8_of_mcm_stays_below_the_error_of_every_entry_and_far_below():
    for k, N, n in ((20.6, 98, 5), (3.0, 10, 3), (0.5, 40, 8)):
        bound = pv.published.mcm_lemma_8_bound(k, N, n)
        errors = accuracy.expected_absolute_error(np.arange(1, N - n + 2) / N, k)
        assert 0 < bound < errors.min() / 3


def test_the_sets_in_the_proof_of_mcm_lemma_1_leave_most_bad_outputs_out():
    # With two rows, Ω₁×Ω₁ and Ω₂×Ω₂ miss every output with one good and one bad row.
    bad = published.mcm_delta(20.6, 0.073, 5, 0.0004)
    assert (1 - bad) ** 2 + bad**2 < 1 - bad


def test_theorem_2_of_mdm_bounds_both_moments_of_every_entry():
    absolute, squared = published.mdm_theorem_2_bounds(9.87)
    p = np.linspace(0.01, 0.99, 99)
    assert accuracy.expected_absolute_error(p, 9.87).max() == pytest.approx(absolute)
    assert accuracy.expected_squared_error(p, 9.87).max() == pytest.approx(squared)
