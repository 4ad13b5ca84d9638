"""Private doubly stochastic matrices: what an exchange costs, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb, ctx

import pathveil as pv
from pathveil.models.control.consensus import metropolis_weights, noisy_edges
from pathveil.models.control.doubly_stochastic import calibrated_for_exchange
from pathveil.models.control.projection import nearest_doubly_stochastic
from pathveil.privacy.units import Exchange, Mass

PROMISE = {"epsilon": 1.0, "delta": 1e-6, "change": 0.01}


def _matrix(n: int = 5, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return nearest_doubly_stochastic(rng.dirichlet(np.ones(n), size=n), np.ones((n, n), dtype=bool))


def _composed_delta(epsilon: float, profile: pv.DirichletProfile) -> float:
    """δ(ε) of two rows of one profile: E δ₁(ε - loss of the other row), δ₁ by incomplete betas, in 40 digits.

    The integrand is analytic and falls off at both ends, so sums at equal distances converge geometrically; twice as
    many of them must agree to 12 digits.
    """

    def summed(points: int) -> arb:
        a, h = arb(profile.concentration) * arb(profile.floor), arb(profile.concentration) * arb(profile.shift)
        end, total = 40 / a.sqrt(), arb(0)
        beta = ((a + h).lgamma() + a.lgamma() - (2 * a + h).lgamma()).exp()
        for i in range(-points, points + 1):
            u = end * i / points
            density = ((a + h) * u - (2 * a + h) * u.exp().log1p()).exp() / beta
            e = epsilon - h * u
            v = 1 / (1 + (e / h).exp())
            total += density * (v.beta_lower(a, a + h, 1) - e.exp() * v.beta_lower(a + h, a, 1))
        return total * end / points

    with ctx.workprec(400):
        coarse, fine = summed(80), summed(160)
        assert abs(coarse - fine) < 1e-12 * fine
        return float(fine)


def test_an_exchange_costs_two_rows_and_not_the_worst_of_them():
    unit = Exchange(0.01)
    row = calibrated_for_exchange(np.array([4, 4]), unit, 1.0, 1e-4)[0].profile
    truth = _composed_delta(1.0, row)
    assert 0.98e-4 < truth <= 1e-4
    assert pv.ComposedProfile([row] * 2).delta(1.0) == pytest.approx(truth, rel=1e-3)
    # A maximum over rows would have claimed this ε at the same noise: less than two thirds of the true one.
    assert row.epsilon(1e-4) < 0.75
    assert pv.ComposedProfile([row] * 2).epsilon(1e-4) == pytest.approx(1.0, abs=1e-3)


def test_rows_of_all_sizes_have_one_profile():
    unit = Exchange(0.02, rows=3)
    made = calibrated_for_exchange(np.array([2, 7, 1, 40, 2]), unit, 1.0, 1e-6)
    assert made[2] is None
    base, *others = (row.profile for row in made if row is not None)
    for other in others:
        assert other.a >= base.a * (1 - 1e-12)
        assert other.h <= base.h * (1 + 1e-12)
        assert (other.a, other.h) == pytest.approx((base.a, base.h), rel=1e-9)
    assert pv.ComposedProfile([base] * 3).delta(1.0) <= 1e-6
    for row in (row for row in made if row is not None):
        assert row.mixing == pytest.approx(row.size * row.floor)
        assert row.shift == pytest.approx((1 - row.mixing) * unit.amount, rel=1e-6)


def _two_by_two_delta(p: float, s: float, row, epsilon: float) -> float:
    """The true δ of releasing both rows of [[p, 1-p], [1-p, p]] against the same with p + s, on a dense grid."""
    from scipy import stats

    x = 1 / (1 + np.exp(-np.linspace(-9, 9, 700)))
    x = np.append(x[x < 0.5], 1 - x[x < 0.5][::-1])
    edges = np.concatenate([[0], (x[1:] + x[:-1]) / 2, [1]])

    def law(q: float) -> np.ndarray:
        mixed = (1 - row.mixing) * q + row.floor
        return np.diff(stats.beta.cdf(edges, row.concentration * mixed, row.concentration * (1 - mixed)))

    first = np.multiply.outer(law(p), law(1 - p))
    second = np.multiply.outer(law(p + s), law(1 - p - s))
    return max(
        float(np.maximum(one - math.exp(epsilon) * two, 0).sum()) for one, two in ((first, second), (second, first))
    )


def test_no_two_by_two_matrix_loses_more_than_promised():
    row = calibrated_for_exchange(np.array([2, 2]), Exchange(0.1), 1.0, 1e-2)[0]
    found = [_two_by_two_delta(p, 0.1, row, 1.0) for p in np.linspace(0, 0.9, 10)]
    assert max(found) <= 1e-2
    # A planted error: noise for one row only is not enough for an exchange.
    one_row = pv.concentration_for(1.0, 1e-2, row.floor, row.shift)
    weak = type(row)(row.size, row.floor, row.mixing, row.shift, one_row)
    assert max(_two_by_two_delta(p, 0.1, weak, 1.0) for p in (0.0, 0.45, 0.9)) > 1e-2


def test_rows_and_columns_sum_to_one_and_zeros_stay():
    support = np.array([[1, 1, 1, 0], [1, 1, 0, 0], [0, 1, 1, 1], [0, 0, 1, 1]], dtype=bool)
    P = nearest_doubly_stochastic(np.random.default_rng(0).random((4, 4)), support)
    for make in ("nearest", "scaling"):
        release = pv.private_doubly_stochastic(P, **PROMISE, support=support, make=make, rng=pv.insecure_seed(3))
        assert np.abs(release.values.sum(axis=0) - 1).max() < 1e-12
        assert np.abs(release.values.sum(axis=1) - 1).max() < 1e-12
        assert not release.values[~support].any()
    chain = pv.MarkovChain(list(range(4)), release.values)
    assert chain.stationary_distribution == pytest.approx(np.full(4, 0.25))


def test_the_release_is_as_close_as_the_forecast_says():
    P = _matrix(6)
    squares = []
    for seed in range(20):
        release = pv.private_doubly_stochastic(P, **PROMISE, rng=pv.insecure_seed(seed))
        squares.append(np.linalg.norm(release.values - P) ** 2)
        difference = abs(release.convergence_factor - pv.convergence_factor(P))
        assert difference <= np.linalg.norm(release.values - P)
    assert math.sqrt(np.mean(squares)) <= 1.1 * release.forecast.frobenius  # the mean of 20
    assert math.sqrt(np.mean(squares)) >= 0.3 * release.forecast.frobenius


def test_the_guarantee_names_the_exchange():
    release = pv.private_doubly_stochastic(_matrix(), **PROMISE)
    assert release.guarantee.protects == Exchange(0.01, 2)
    assert "through 2 rows" in str(release.guarantee)
    assert "grid" in release.guarantee.sampling
    symmetric = pv.private_doubly_stochastic(np.full((3, 3), 1 / 3), **PROMISE, symmetric=True)
    assert symmetric.guarantee.sampling == "sampled exactly, in integers"
    ring = np.eye(4, dtype=bool) | np.roll(np.eye(4, dtype=bool), 1, axis=1)
    release = pv.private_doubly_stochastic(np.where(ring, 0.5, 0.0), **PROMISE, support=ring)
    assert release.guarantee.protects == Exchange(0.01, 4)


def test_scaling_that_cannot_settle_takes_the_nearest_matrix_and_says_so():
    made = (
        pv.private_doubly_stochastic(
            np.eye(3), epsilon=3.0, delta=1e-6, change=0.02, make="scaling", rng=pv.insecure_seed(seed)
        ).made
        for seed in range(12)
    )
    assert "nearest" in made


def _ring_graph(n: int = 12) -> np.ndarray:
    ring = np.roll(np.eye(n, dtype=bool), 1, axis=1)
    return ring | ring.T


def test_symmetric_weights_stay_symmetric_and_averaging_settles():
    graph = _ring_graph()
    W = metropolis_weights(graph)
    for epsilon in (0.1, 1.0, 100.0):
        release = pv.private_doubly_stochastic(
            W, epsilon=epsilon, change=0.05, symmetric=True, support=graph, rng=pv.insecure_seed(5)
        )
        assert (release.values == release.values.T).all()
        assert np.abs(release.values.sum(axis=0) - 1).max() < 1e-12
        assert not release.values[~graph & ~np.eye(12, dtype=bool)].any()
        assert release.convergence_factor < 1
        assert release.guarantee.delta == 0
    assert release.convergence_factor == pytest.approx(pv.convergence_factor(W), abs=0.02)


def test_weights_that_would_stand_still_get_a_little_of_public_ones():
    guarded = [
        pv.private_doubly_stochastic(
            metropolis_weights(_ring_graph()), epsilon=0.01, change=0.05, symmetric=True, support=_ring_graph(),
            rng=pv.insecure_seed(seed),
        )
        for seed in range(8)
    ]  # fmt: skip
    assert any(release.guarded for release in guarded)
    assert all(release.convergence_factor < 1 for release in guarded)


def test_two_weights_that_differ_by_the_change_are_at_most_as_far_apart_as_the_noise_allows():
    # The noise is of scale Δ/ε on integers: Δ must cover every pair of weights that differ by at most s.
    change, rng = 0.013, np.random.default_rng(0)
    weights = rng.random(2000) * (1 - change)
    grid = 2.0 ** math.ceil(math.log2(2**20 / change))
    apart = np.abs(np.floor((weights + change) * grid) - np.floor(weights * grid)).max()
    _, variance = noisy_edges(pv.insecure_seed(0), weights[:1], change, 1.0)
    scale = math.sqrt(variance / 2) * grid
    assert apart <= scale <= apart * 1.001


def test_what_is_refused():
    P = _matrix(4)
    cases = [
        (P + np.eye(4) * 0.1, {}, pv.InvalidCountsError, "row 1"),
        (np.array([[0.5, 0.5], [0.7, 0.3]]), {}, pv.InvalidCountsError, "column 1 of the matrix sums to 1.2, 0.2 away"),
        (P[:2], {}, pv.InvalidCountsError, "square"),
        (np.eye(3), {"support": np.eye(3)}, pv.InvalidParameterError, "no cycle"),
        (P, {"rows": 1}, pv.InvalidParameterError, "2 rows at least"),
        (P, {"change": 0.0}, pv.InvalidParameterError, "at least 1e-09"),
        (P, {"make": "wish"}, pv.InvalidParameterError, "nearest"),
        (P, {"delta": None}, pv.InvalidParameterError, "delta"),
        (P, {"symmetric": True}, pv.InvalidCountsError, "entry 1, 2"),
        (P, {"support": np.eye(4)}, pv.InvalidCountsError, "cannot occur"),
    ]
    for matrix, wrong, error, told in cases:
        with pytest.raises(error, match=told):
            pv.private_doubly_stochastic(matrix, **(PROMISE | wrong))


def test_a_promise_about_an_exchange_covers_smaller_ones_only():
    wide, narrow = Exchange(0.02, 3), Exchange(0.01, 2)
    assert wide.route_to(narrow).steps == 1
    for other in (Exchange(0.02, 4), Exchange(0.03, 3), Exchange(0.02, 3, symmetric=True), Mass(0.01)):
        with pytest.raises(pv.UnitMismatchError):
            wide.route_to(other)
