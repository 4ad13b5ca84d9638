"""Gamma variates: their law, the enclosures they come in, and the slow path that settles what those leave open."""

from __future__ import annotations

import math

import flint
import numpy as np
import pytest
from scipy import special, stats

import pathveil as pv
from pathveil.models import gamma
from pathveil.models.gamma import GammaVariates
from pathveil.numerics import balls
from pathveil.numerics.balls import Balls


def _variates(seed: int, shapes: np.ndarray, widening: float = 1.0) -> GammaVariates:
    source = pv.insecure_seed(seed)
    spare = source.branches(1)[0]
    return GammaVariates(source, spare, Balls.exact(shapes), lambda i: flint.arb(float(shapes[i])), widening)


def _logs(variates: GammaVariates) -> np.ndarray:
    return np.log(variates.value.mid) + variates.scale.mid


@pytest.mark.parametrize("shape", [1e-3, 0.2, 1.0, 3.7, 1e4])
def test_gamma_variates_have_the_gamma_law(shape):
    # Kolmogorov–Smirnov at false-alarm probability 1e-6 for each shape; fixed seed.
    assert _ks_of_logs(_logs(_variates(11, np.full(20_000, shape))), shape) > 1e-6


def test_the_same_test_notices_a_shape_that_is_off_by_a_few_percent():
    assert _ks_of_logs(_logs(_variates(11, np.full(20_000, 3.7 * 1.05))), 3.7) < 1e-6


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
    standard = (_variates(3, np.full(count, shape)).value.mid - shape) / math.sqrt(shape)
    assert abs(standard.mean()) < 5 / math.sqrt(count)
    assert abs(standard.var() - 1) < 5 * math.sqrt(2 / count)


SHAPES = 10 ** np.random.default_rng(1).uniform(-6, 12, 400)


def test_every_enclosure_contains_the_variate_computed_from_more_bits():
    variates = _variates(2, SHAPES)
    for i in range(len(SHAPES)):
        with flint.ctx.workprec(332):
            for found, close in zip((variates.value, variates.scale), variates.closely(i, 300), strict=True):
                assert abs(close - flint.arb(found.mid[i])) <= flint.arb(found.rad[i])
        assert variates.value.rad[i] < 1e-9 * variates.value.mid[i]


def test_more_bits_only_narrow_what_fewer_bits_said():
    variates = _variates(5, SHAPES[:20])
    for i in range(20):
        for first, second in zip(variates.closely(i, 100), variates.closely(i, 400), strict=True):
            assert first.overlaps(second)
            assert second.rad() <= first.rad()


def _same_bits(seed: int, shapes: np.ndarray) -> float:
    """How many variates are made from the same bits when every decision is forced onto the slow path."""
    fast = _variates(seed, shapes)
    slow = _variates(seed, shapes, widening=1e30)
    assert len(slow._refined) > 0.95 * len(shapes)
    return float(((fast._w == slow._w) & (fast._v == slow._v)).mean())


def test_decisions_forced_onto_the_slow_path_are_the_same():
    assert _same_bits(7, SHAPES) == 1.0


def test_a_logarithm_that_is_wrong_by_a_percent_changes_decisions_and_is_noticed(monkeypatch):
    # The negative control: the fast path with a planted error, the slow path without.
    right = balls._log_ratio
    monkeypatch.setattr(balls, "_log_ratio", lambda z: right(z) * 1.01)
    assert _same_bits(7, SHAPES) < 1.0


def test_a_planted_error_in_the_far_smaller_part_of_the_exponent_is_noticed_too(monkeypatch):
    right = gamma._beyond_cube
    monkeypatch.setattr(gamma, "_beyond_cube", lambda y: right(y) * 1.2)
    assert _same_bits(7, np.full(1500, 1.0)) < 1.0


def test_the_exponent_beyond_the_cube_is_enclosed():
    y = np.concatenate([np.linspace(-0.999, 3, 400), 10 ** np.random.default_rng(2).uniform(-9, 0, 200)])
    rad = 1e-12 * np.abs(y)
    found = gamma._beyond_cube(Balls(y, rad))
    with flint.ctx.workprec(400):
        for i in range(len(y)):
            for side in (-1, 0, 1):
                x = flint.arb(y[i]) + side * flint.arb(rad[i])
                exact = 3 * (x.log1p() - x + x**2 / 2 - x**3 / 3)
                assert abs(exact - flint.arb(found.mid[i])) <= flint.arb(found.rad[i])


def test_nothing_is_known_of_a_point_that_may_lie_outside():
    found = gamma._beyond_cube(Balls(np.array([-1.0, -2.0]), np.array([1e-3, 1e-3])))
    assert not np.isfinite(found.rad).any()


def test_the_rectangle_is_high_enough():
    with flint.ctx.workprec(100):
        assert flint.arb(gamma._HALF_HEIGHT) > (2 / flint.arb(1).exp()).sqrt()
