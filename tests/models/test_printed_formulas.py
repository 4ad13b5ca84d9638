"""The papers' formulas, number by number: written out here a second time, in 40 digits and without logarithms."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp, mpf

import pathveil as pv

published = pv.published

CHAIN = pv.MarkovChain("abc", [[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5]])
OTHER = pv.MarkovChain("abc", [[0.4, 0.3, 0.3], [0.05, 0.5, 0.45], [0.25, 0.25, 0.5]])


@pytest.fixture(autouse=True)
def forty_digits():
    with mp.workdps(40):
        yield


def close(number):
    return pytest.approx(float(number), rel=1e-10, abs=0)


def exact(*numbers):
    """Decimals as they are written."""
    return [mpf(repr(number)) for number in numbers]


@pytest.mark.parametrize(("k", "eta", "N", "n", "gamma"), [(20.6, 0.073, 98, 5, 0.0004), (7.5, 0.15, 7, 3, 0.02)])
def test_the_epsilon_of_mcm(k, eta, N, n, gamma):
    c, e, g = exact(k, eta, gamma)

    def printed(shift):
        ratio = mp.beta(c * e, c * (1 - 2 * e)) / mp.beta(c * (e + shift), c * (1 - 2 * e - shift))
        return mp.log(ratio * ((1 - (n - 1) * g) / g) ** (c / N))

    assert published.mcm_epsilon(k, eta, N, n, gamma) == close(printed(mpf(1) / N))
    assert published.mcm_epsilon_corrected(k, eta, N, n, gamma) == close(printed(min(mpf(1) / N, (1 - e) / 2 - e)))


def test_the_corrected_epsilon_of_mcm_stops_where_both_entries_are_equal():
    # η = 0.3 leaves 0.7 for the pair; from (0.3, 0.4) the entries are equal after 0.05, long before 1/N = 0.25.
    k, eta, N, gamma = exact(10, 0.3, 4, 0.3)
    ratio = mp.beta(k * eta, k * mpf("0.4")) / mp.beta(k * mpf("0.35"), k * mpf("0.35"))
    stopped = mp.log(ratio) + k / N * mp.log((1 - 2 * gamma) / gamma)
    assert published.mcm_epsilon_corrected(10, 0.3, 4, 3, 0.3) == close(stopped)
    assert published.mcm_epsilon(10, 0.3, 4, 3, 0.3) < stopped


@pytest.mark.parametrize(("k", "eta", "n", "gamma"), [(20.6, 0.073, 5, 0.004), (9.0, 0.2, 3, 0.05)])
def test_the_delta_of_mcm_is_the_sum_over_the_entries_of_a_corner(k, eta, n, gamma):
    c, e, g = exact(k, eta, gamma)
    corner = [e] * (n - 1) + [1 - (n - 1) * e]
    below = [mp.betainc(c * p, c * (1 - p), 0, g, regularized=True) for p in corner]
    assert published.mcm_delta(k, eta, n, gamma) == close(mp.fsum(below))


def test_no_published_delta_exceeds_one():
    assert published.mcm_delta(2.0, 0.1, 5, 0.19) == 1
    assert published.mdm_delta(2.0, 0.1, [5], 0.19) == published.mdm_delta_corrected(2.0, 0.1, [5], 0.19) == 1


@pytest.mark.parametrize(("eta", "N", "n", "gamma"), [(0.073, 98, 5, 0.0004), (0.2, 11, 3, 0.01)])
def test_epsilon_star_of_mcm(eta, N, n, gamma):
    e, g = exact(eta, gamma)
    c = 3 / (2 * e)
    ratio = mp.beta(c * e, c * (1 - 2 * e)) / mp.beta(c * (e + mpf(1) / N), c * (1 - 2 * e - mpf(1) / N))
    assert published.mcm_strongest_epsilon(eta, N, n, gamma) == close(
        mp.log(ratio) + c / N * mp.log((1 - (n - 1) * g) / g)
    )


@pytest.mark.parametrize(("k", "N", "n"), [(20.6, 98, 5), (0.5, 40, 8), (3.0, 10, 3)])
def test_corollary_1_and_lemma_8_of_mcm(k, N, n):
    c = mpf(repr(k))
    corner = [mpf(1) / N] * (n - 1) + [1 - mpf(n - 1) / N]
    kl = mp.fsum(p * (mp.log(p) + mp.digamma(c) - mp.digamma(c * p)) for p in corner)
    assert published.mcm_kl_bound(k, N, n) == close(kl)
    one, rest = mpf(1) / N, mpf(n - 1) / N
    lemma_8 = 2 * one ** (c * (1 - rest)) * rest ** (c * (1 - one)) / (c * mp.beta(c * one, c * rest))
    assert published.mcm_lemma_8_bound(k, N, n) == close(lemma_8)


def printed_column_norm_of_z() -> float:
    """‖(I - P - 1πᵀ)⁻¹‖₁, with the papers' sign: column by column."""
    pi = CHAIN.stationary_distribution
    Z = np.linalg.inv(np.eye(3) - CHAIN.matrix.toarray() - np.array([pi, pi, pi]))
    return max(sum(abs(Z[i, j]) for i in range(3)) for j in range(3))


def test_lemmas_5_and_6_of_mcm():
    # |P - P̃| has the rows (0.1, 0, 0.1), (0.05, 0.1, 0.15) and (0, 0, 0): its columns sum to 0.15, 0.1 and 0.25.
    assert published.mcm_lemma_5_bound(CHAIN, OTHER) == pytest.approx(0.25 * printed_column_norm_of_z())
    rate = sum(
        CHAIN.stationary_distribution[i] * p * np.log(p / q)
        for i in range(3)
        for p, q in zip(CHAIN.matrix.toarray()[i], OTHER.matrix.toarray()[i], strict=True)
    )
    assert published.mcm_lemma_6_bound(CHAIN, OTHER) == pytest.approx((2 * rate) ** 0.5)


def test_theorems_4_and_5_of_mcm():
    k, N = [20.0, 50.0, 11.0], [30, 90, 17]
    bounds = [published.mcm_kl_bound(k_i, N_i, 3) for k_i, N_i in zip(k, N, strict=True)]
    root = (2 * sum(p * bound for p, bound in zip(CHAIN.stationary_distribution, bounds, strict=True))) ** 0.5
    assert published.mcm_theorem_5_bound(CHAIN, k, N) == pytest.approx(root)
    assert published.mcm_theorem_4_bound(CHAIN, k, N) == pytest.approx(0.5 * printed_column_norm_of_z() * root)


@pytest.mark.parametrize(
    ("k", "eta", "eta_bar", "b", "w", "gamma"),
    [(9.87, 0.1, 0.051, 0.025, 2, 0.001), (12.0, 0.07, 0.2, 0.3, 4, 0.01), (20.0, 0.2, 0.05, 1.0, 3, 0.3)],
)
def test_the_epsilon_of_mdm(k, eta, eta_bar, b, w, gamma):
    c, e, rest, move, g = exact(k, eta, eta_bar, b, gamma)
    move, mass = move / 2, 1 - rest

    def printed(shift):
        ratio = mp.beta(c * e, c * (mass - e)) / mp.beta(c * (e + shift), c * (mass - e - shift))
        return mp.log(ratio) + c * move * mp.log((1 - (w - 1) * g) / g)

    assert published.mdm_epsilon(k, eta, eta_bar, b, w, gamma) == close(printed(move))
    equal = mass / 2 - e
    assert published.mdm_epsilon_corrected(k, eta, eta_bar, b, w, gamma) == close(printed(min(move, equal)))


def test_the_delta_of_mdm():
    c, e, g = exact(9.87, 0.1, 0.001)
    one = mp.betainc(c * e, c * (1 - e), 0, g, regularized=True)
    assert published.mdm_delta(9.87, 0.1, [4, 2, 3], 0.001) == close(2 * one)
    assert published.mdm_delta_corrected(9.87, 0.1, [4, 2, 3], 0.001) == close(4 * one)


@pytest.mark.parametrize(("k", "eta", "eta_bar", "w"), [(9.0, 0.1, 0.3, [2, 3, 2]), (2.5, 0.2, 0.1, [3, 1, 2])])
def test_theorem_3_of_mdm(k, eta, eta_bar, w):
    c, e, rest = exact(k, eta, eta_bar)
    absolute = mp.gamma(c) * 2 ** (1 - c) / (mp.gamma(c / 2) ** 2 * c)
    squared = 1 / (4 * (c + 1))

    def least(size):
        other = rest + (size - 1) * e
        return 4 * (e ** (c * (1 - other)) * other ** (c * (1 - e)) / (c * mp.beta(c * e, c * other))) ** 2

    variance = 9 * squared - max(least(size) for size in w)
    norm = 3 * absolute + mp.sqrt(mpf(2) / 3 * variance)
    assert published.mdm_theorem_3_bound(CHAIN, k, eta, eta_bar, w) == pytest.approx(
        printed_column_norm_of_z() * float(norm), rel=1e-9
    )
    assert published.mdm_theorem_2_bounds(k) == (close(absolute), close(squared))
