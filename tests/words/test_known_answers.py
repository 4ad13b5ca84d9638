"""Numbers that were computed elsewhere, to nine digits and more."""

import numpy as np
import pytest

import pathveil as pv
from tests.reference.printed import LevMechanism

EXACT = 1e-12


def permute_and_flip(n: int, m: int, epsilon: float) -> pv.ErrorLaw:
    return pv.PermuteAndFlip(pv.Alphabet(range(m)), epsilon).error_law([0] * n)


def test_the_permute_and_flip_law_of_five_binary_symbols() -> None:
    expected = [
        0.788777776512027,
        0.179918002860097,
        0.0288426094509728,
        0.00236304890325872,
        9.69703320747701e-5,
        1.59194157046577e-6,
    ]
    assert permute_and_flip(5, 2, 5.0).pmf == pytest.approx(expected, rel=EXACT)


@pytest.mark.parametrize(
    ("n", "m", "epsilon", "mean"),
    [
        (3, 3, 5.0, 0.28234500767705),
        (20, 2, 5.0, 1.42448336180436),
        (14, 3, 0.5, 8.52612136842219),
        (32, 19, 5.0, 19.0839100556081),
    ],
)
def test_expected_errors_of_permute_and_flip(n: int, m: int, epsilon: float, mean: float) -> None:
    assert permute_and_flip(n, m, epsilon).mean == pytest.approx(mean, rel=EXACT)


def test_the_three_calibrations_on_five_binary_symbols() -> None:
    world, word = pv.Alphabet("01"), "00000"
    assert pv.CertifiedExponential(world, 5.0).error_law(word).mean == pytest.approx(0.0335, abs=5e-5)
    assert pv.PermuteAndFlip(world, 5.0).error_law(word).mean == pytest.approx(0.245, abs=5e-4)
    assert pv.Exponential(world, 5.0).error_law(word).mean == pytest.approx(0.379, abs=5e-4)
    # Randomized response: nC/(1+C) with C = e^-θ.
    assert pv.CertifiedExponential(world, 5.0).error_law(word).mean == pytest.approx(5 / (1 + np.exp(5)), rel=EXACT)
    assert pv.Exponential(world, 5.0).error_law(word).mean == pytest.approx(5 / (1 + np.exp(2.5)), rel=EXACT)


def test_lev_equation_18_taken_literally_breaks_its_claim() -> None:
    """LEV (18) without class sizes: claimed ε = 1, true loss 6.82 between adjacent words (n = 31, m = 19)."""
    n, m, epsilon, alpha = 31, 19, 1.0, 1.0
    errors = np.arange(n + 1)
    weights = np.exp(epsilon * alpha * (1 + alpha) / (2 * (errors + alpha)))
    world, word = pv.Alphabet(range(m)), [0] * n
    log_counts = np.log(np.array(pv.error_classes(world, word).counts, dtype=float))
    literal = np.log(weights / weights.sum()) - log_counts
    # An output at distance ℓ from one word is at distance ℓ-1, ℓ or ℓ+1 from an adjacent one.
    assert np.abs(np.diff(literal)).max() == pytest.approx(6.82, abs=0.005)

    corrected = pv.Exponential(world, epsilon, utility=pv.InverseUtility(alpha)).error_law(word).log_pmf - log_counts
    assert np.abs(np.diff(corrected)).max() <= epsilon


def test_the_printed_lev_mechanism_agrees_with_ours_once_its_classes_have_sizes() -> None:
    world, word = pv.Alphabet("abc"), tuple("abca")
    printed = LevMechanism("abc", word, epsilon=1.0, k=1, alpha=1.0)
    ours = pv.Exponential(world, 1.0, 1, pv.InverseUtility(1.0)).error_law(word)
    assert printed.law == pytest.approx(ours.pmf, rel=1e-10)


def test_a_language_with_hundreds_of_digits() -> None:
    world = pv.Alphabet(range(50))
    mechanism = pv.PermuteAndFlip(world, 5.0)
    word = [7] * 300
    assert len(str(world.count(300))) > 500
    law = mechanism.error_law(word)
    assert law.pmf.sum() == pytest.approx(1.0, abs=1e-12)
    assert len(mechanism.privatize(word)) == 300

    town = pv.example_town()
    trip = town.random_word(200, pv.insecure_seed(1))
    assert len(str(town.count(200))) > 70
    on_roads = pv.PermuteAndFlip(town, 5.0)
    assert on_roads.error_law(trip).pmf.sum() == pytest.approx(1.0, abs=1e-12)
    assert town.is_feasible(on_roads.privatize(trip))
