"""How much noise counts get: scales by hand, accounting by brute force, and what is done when a proof is missing."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

import pathveil as pv
from pathveil.models import laplace
from pathveil.models.laplace import (
    CountNoise,
    concentrated_budget,
    count_noises,
    gaussian_noise,
    laplace_noise,
    noisy_rows,
    pair_gaussian_delta,
    pair_gaussian_noise,
)
from pathveil.randomness.discrete import discrete_gaussian, discrete_laplace

GRID = 2**20


def up(scale: Fraction) -> Fraction:
    return Fraction(math.ceil(scale * GRID), GRID)


def test_scales_are_the_next_multiple_of_two_to_the_minus_twenty():
    # 1/3 of ε as a fraction: exact. 0.1 as a float: the decimal is below the binary number, and the smaller ε counts.
    assert laplace_noise(Fraction(1, 3), 2) == CountNoise("laplace", Fraction(6))
    assert laplace_noise(Fraction(3), 2).scale == up(Fraction(2, 3)) == Fraction(699051, GRID)
    assert Fraction(1, 10) < Fraction(0.1)
    assert laplace_noise(0.1, 4).scale == 40
    assert Fraction(3, 10) > Fraction(0.3)
    assert laplace_noise(0.3, 3).scale == up(3 / Fraction(0.3)) == 10 + Fraction(1, GRID)
    assert gaussian_noise(0.5, 6) == CountNoise("gaussian", Fraction(6))
    assert gaussian_noise(Fraction(1, 3), 2).scale == 3
    assert gaussian_noise(3.0, 2).scale == up(Fraction(1, 3))


def test_an_epsilon_that_is_no_positive_finite_number_has_no_scale():
    for epsilon in (0.0, -1.0, math.inf, math.nan, Fraction(0)):
        with pytest.raises(pv.InvalidParameterError, match="positive, finite"):
            laplace_noise(epsilon, 2)
    assert laplace_noise(1e-9, 2).scale == 2 * 10**9


def test_noise_beyond_the_samplers_range_is_refused_and_noise_at_its_end_is_not():
    least = Fraction(1, GRID)
    assert CountNoise("laplace", Fraction(2**48)).scale == 2**48
    assert CountNoise("gaussian", Fraction(2**96)).scale == 2**96
    for kind, scale in (("laplace", 2**48 + least), ("gaussian", 2**96 + least)):
        with pytest.raises(pv.UnreachablePrivacyError, match="beyond 64-bit"):
            CountNoise(kind, scale)


def test_the_variance_is_exact_for_laplace_noise_and_the_parameter_for_gaussian_noise():
    assert CountNoise("gaussian", Fraction(7, 2)).variance == 3.5
    # 2q/(1-q)² with q = e^(-1/b); b = 1/ln 2 up to rounding gives q = 1/2 and the variance 4.
    assert CountNoise("laplace", Fraction(1 / math.log(2))).variance == pytest.approx(4, rel=1e-12)


def test_each_kind_draws_from_its_own_law():
    # The first draws of a fixed seed: those of the sampler that is meant.
    for kind, sampler in (("laplace", discrete_laplace), ("gaussian", discrete_gaussian)):
        drawn = CountNoise(kind, Fraction(50)).draw(pv.insecure_seed(1), 100)
        assert drawn.tolist() == sampler(pv.insecure_seed(1), Fraction(50), 100).tolist()


def test_parts_of_a_release_share_the_budget_exactly():
    shares = {"transitions": 0.5, "first": 0.25, "lengths": 0.25}
    scales = {part: noise.scale for part, noise in count_noises("laplace", 2.0, 0.0, "word", 6, shares).items()}
    # ε = 1 for changes of 2·5, ε = ½ for changes of 2.
    assert scales == {"transitions": 10, "first": 4, "lengths": 4}
    rho = Fraction(concentrated_budget(2.0, 1e-6))
    found = count_noises("gaussian", 2.0, 1e-6, "word", 6, shares)
    assert {noise.kind for noise in found.values()} == {"gaussian"}
    # Squared changes of 2·5² and 2: variances of 50/(2·ρ/2) and 2/(2·ρ/4).
    expected = {"transitions": up(50 / rho), "first": up(4 / rho), "lengths": up(4 / rho)}
    assert {part: noise.scale for part, noise in found.items()} == expected
    # Shares that do not sum to 1 are taken relative to their sum.
    assert count_noises("laplace", 2.0, 0.0, "symbol", None, {"transitions": 0.25})["transitions"].scale == 2
    assert count_noises("gaussian", 2.0, 1e-6, "symbol", None, {"transitions": 1.0})["transitions"].scale == up(3 / rho)
    one = count_noises("gaussian", 2.0, 1e-6, "transition", None, {"transitions": 1.0})
    assert one == {"transitions": pair_gaussian_noise(2.0, 1e-6)}


def literal_pair_delta(variance: float, epsilon: float) -> float:
    """One count rises by 1 and another falls by 1: the whole joint law of both noises, in floating point."""
    z = np.arange(-math.ceil(12 * math.sqrt(variance)) - 3, math.ceil(12 * math.sqrt(variance)) + 4)
    p = np.exp(-(z**2) / (2 * variance))
    joint = np.outer(p, p) / p.sum() ** 2
    loss = (z[:, None] - z[None, :] + 1) / variance
    above = loss > epsilon
    return float((joint[above] * -np.expm1(epsilon - loss[above])).sum())


@pytest.mark.parametrize(
    ("variance", "epsilon"),
    [(0.02, 20.0), (0.3, 1.0), (0.3, 5.0), (2.93, 3.73), (30.0, 0.5), (900.0, 0.01), (900.0, 0.1), (2500.0, 0.05)],
)
def test_both_ways_to_account_for_a_pair_agree_with_the_joint_law(variance, epsilon):
    expected = literal_pair_delta(variance, epsilon)
    assert pair_gaussian_delta(variance, epsilon) == pytest.approx(expected, rel=1e-9, abs=0)
    assert laplace._near_pair_gaussian_delta(variance, epsilon) == pytest.approx(expected, rel=1e-9, abs=0)


def test_the_delta_of_a_pair_is_a_probability_and_never_quite_zero():
    assert pair_gaussian_delta(1e-4, 1.0) == 1.0
    # A loss of more than 10⁶ would need a sum of noises beyond 60 deviations.
    assert pair_gaussian_delta(1.0, 1e6) == 1e-300
    assert laplace._near_pair_gaussian_delta(1.0, 1e6) == 0


@pytest.mark.parametrize(("epsilon", "delta"), [(3.73, 3e-6), (0.5, 1e-9), (0.02, 1e-4), (30.0, 0.01)])
def test_noise_for_a_pair_is_the_least_to_seven_digits(epsilon, delta):
    scale = pair_gaussian_noise(epsilon, delta).scale
    assert (scale * GRID).denominator == 1
    assert pair_gaussian_delta(scale, epsilon) <= delta
    assert pair_gaussian_delta(scale - scale / 10**7 - Fraction(2, GRID), epsilon) > delta


def test_noise_for_a_pair_that_cannot_be_proven_is_replaced_by_noise_that_can(monkeypatch):
    epsilon, delta = 1.0, 1e-6
    safe = gaussian_noise(concentrated_budget(epsilon, delta), 2)
    assert pair_gaussian_noise(epsilon, delta).scale < safe.scale
    with monkeypatch.context() as patch:
        patch.setattr(laplace, "pair_gaussian_delta", lambda *_: 1.0001e-6)
        assert pair_gaussian_noise(epsilon, delta) == safe
    with monkeypatch.context() as patch:  # proven, but no better
        patch.setattr(laplace, "largest_passing", lambda *_, **__: float(safe.scale) + 1)
        patch.setattr(laplace, "concentrated_budget", lambda *_: float(1 / safe.scale))
        assert pair_gaussian_noise(epsilon, delta) == gaussian_noise(float(1 / safe.scale), 2)


def test_very_large_noise_for_a_pair_is_accounted_for_by_concentration(monkeypatch):
    def must_not_be_called(*_):
        raise AssertionError

    monkeypatch.setattr(laplace, "_near_pair_gaussian_delta", must_not_be_called)
    noise = pair_gaussian_noise(1e-4, 1e-6)
    assert noise == gaussian_noise(concentrated_budget(1e-4, 1e-6), 2)
    assert noise.scale > 1e8
    with pytest.raises(AssertionError):
        pair_gaussian_noise(1e-3, 1e-6)


def literal_log_delta(rho, epsilon, alpha):
    """The logarithm of Proposition 12's δ at one order α, in the arithmetic of the context."""
    rho, epsilon, alpha = mpf(rho), mpf(epsilon), mpf(alpha)
    return mp.log(mp.exp((alpha - 1) * (alpha * rho - epsilon)) / (alpha - 1) * (1 - 1 / alpha) ** alpha)


BUDGETS = [(1e-6, 1e-9), (0.1, 1e-12), (1.0, 1e-6), (7.0, 0.3), (300.0, 1e-30), (1e5, 1e-3)]


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_the_budget_is_the_largest_for_which_some_order_proves_delta(epsilon, delta):
    rho = concentrated_budget(epsilon, delta)
    with mp.workdps(60):

        def least(rho):
            """Over many orders on both sides of the best one."""
            around = math.log(max(1e-3, (epsilon + rho) / (2 * rho)))
            return min(literal_log_delta(rho, epsilon, 1 + mp.exp(around + shift)) for shift in np.linspace(-6, 6, 300))

        assert literal_log_delta(rho, epsilon, laplace._best_order(rho, epsilon)[0]) < mp.log(delta)
        assert least(rho * 1.0001) > mp.log(delta) - 1e-4


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_a_budget_a_little_larger_is_not_confirmed(epsilon, delta):
    rho = concentrated_budget(epsilon, delta)
    assert laplace._implies(rho, epsilon, delta)
    assert not laplace._implies(rho * (1 + 1e-6), epsilon, delta)
    assert not laplace._implies(rho, epsilon, delta * 0.999)
    assert not laplace._implies(rho, epsilon * 0.999, delta)


@pytest.mark.parametrize(
    ("rho", "epsilon"), [(1e-12, 1e-5), (1e-3, 0.3), (0.02, 1.0), (1.0, 1.0), (5.0, 0.5), (40.0, 80.0), (1e3, 1e5)]
)
def test_the_best_order_is_found(rho, epsilon):
    alpha, least = laplace._best_order(rho, epsilon)
    with mp.workdps(40):
        assert least == pytest.approx(float(literal_log_delta(rho, epsilon, alpha)), rel=1e-9, abs=1e-9)
        for factor in (1e-3, 0.1, 0.99, 1.01, 10, 1e3):
            assert literal_log_delta(rho, epsilon, 1 + (alpha - 1) * factor) > least - 1e-9


def test_a_budget_that_is_not_confirmed_is_lowered_until_it_is_in_steps_that_double(monkeypatch):
    epsilon, delta = 1.0, 1e-6
    found = concentrated_budget(epsilon, delta)
    asked = []

    def accepts_the_fifth(rho, *_):
        asked.append(rho)
        return len(asked) == 5

    monkeypatch.setattr(laplace, "_implies", accepts_the_fifth)
    assert concentrated_budget(epsilon, delta) == asked[-1]
    assert asked[0] == found
    steps = [1 - after / before for before, after in itertools.pairwise(asked)]
    assert steps == pytest.approx([1e-12, 2e-12, 4e-12, 8e-12], abs=3e-16)
    # However long it takes, a budget stays positive: no step takes more than half.
    asked.clear()
    monkeypatch.setattr(laplace, "_implies", lambda rho, *_: asked.append(rho) or len(asked) == 60)
    assert concentrated_budget(epsilon, delta) > 0
    assert asked[-1] == asked[-2] / 2


class Known:
    """Noise that is known in advance."""

    def __init__(self, *noise: int) -> None:
        self.noise = np.array(noise)

    def draw(self, _source: object, count: int) -> np.ndarray:
        assert count == len(self.noise)
        return self.noise


def test_rows_of_public_size_are_divided_by_it_and_projected():
    counts = np.array([[6, 4, 0], [0, 0, 0], [1, 0, 1], [0, 0, 0], [0, 1, 0]])
    inside = np.array([[1, 1, 1], [1, 0, 1], [1, 1, 1], [0, 0, 0], [0, 1, 0]], dtype=bool)
    # Noise goes to the rows with records only, row by row. (9, 2, -1)/10 becomes (0.85, 0.15, 0),
    # where both positive entries fall by 0.05; (4, -5, 2)/2 becomes (1, 0, 0), where they fall by 1.
    rows = noisy_rows(pv.insecure_seed(0), counts, inside, Known(3, -2, -1, 3, -5, 1, 7), counts.sum(axis=1))
    assert rows[0] == pytest.approx([0.85, 0.15, 0])
    assert rows[1].tolist() == [0.5, 0, 0.5]
    assert rows[2].tolist() == [1, 0, 0]
    assert rows[3].tolist() == [0, 0, 0]
    assert rows[4].tolist() == [0, 1, 0]


def test_rows_of_protected_size_are_divided_by_their_noisy_sum():
    counts = np.array([[6, 4, 0], [0, 0, 0], [1, 0, 1], [0, 0, 0]])
    inside = np.array([[1, 1, 1], [1, 0, 1], [1, 1, 1], [0, 0, 0]], dtype=bool)
    # (9, 2, -1): a sum of 10. (3, 0, 1): 4. (0, -1, -1): nothing left, so uniform.
    rows = noisy_rows(pv.insecure_seed(0), counts, inside, Known(3, -2, -1, 3, 1, -1, -1, -2), None)
    assert rows[0] == pytest.approx([0.85, 0.15, 0])
    assert rows[1].tolist() == [0.75, 0, 0.25]
    assert rows[2] == pytest.approx([1 / 3] * 3)
    assert rows[3].tolist() == [0, 0, 0]
    # A sum of 1 is a row like any other; a sum of 0 is none.
    inside = np.array([[1, 1]], dtype=bool)
    for noise, expected in (((1, 0), [1, 0]), ((1, -1), [0.5, 0.5])):
        assert noisy_rows(pv.insecure_seed(0), np.zeros((1, 2), dtype=int), inside, Known(*noise), None)[0] == (
            pytest.approx(expected)
        )


@pytest.mark.parametrize("public", [True, False], ids=["public sizes", "noisy sizes"])
def test_a_large_table_is_made_into_the_same_rows_as_each_row_alone(public):
    states = 1100  # more cells than are worked on at a time
    inside = np.zeros((states, states), dtype=bool)
    for step in (1, 2, 5):
        inside[np.arange(states), (np.arange(states) + step) % states] = True
    inside[7] = False
    counts = np.where(inside, 9, 0)
    sizes = counts.sum(axis=1) if public else None
    noise = np.random.default_rng(1).integers(-12, 12, inside.sum()).tolist()
    rows = noisy_rows(pv.insecure_seed(0), counts, inside, Known(*noise), sizes)
    for i in range(0, states, 37):
        before = int(inside[:i].sum())
        one, here = slice(i, i + 1), noise[before : before + int(inside[i].sum())]
        alone = noisy_rows(
            pv.insecure_seed(0), counts[one], inside[one], Known(*here), None if sizes is None else sizes[one]
        )
        assert (rows[i] == alone[0]).all()
