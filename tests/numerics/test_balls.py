"""Enclosures: the exact result, by ball arithmetic in high precision, is always inside, and not lost in the radius."""

from __future__ import annotations

from collections.abc import Callable

import flint
import numpy as np
import pytest

from pathveil.numerics import balls
from pathveil.numerics.balls import Balls, sum_last

RNG = np.random.default_rng(1)
COUNT = 3000


def _spread(low: float, high: float, signed: bool = False) -> np.ndarray:
    """Numbers of every size between two powers of ten."""
    numbers = 10 ** RNG.uniform(low, high, COUNT)
    return numbers * RNG.choice([-1, 1], COUNT) if signed else numbers


def _largest_miss(found: Balls, exact: Callable[[int], flint.arb]) -> float:
    """How far the exact numbers are from the centres, in radii, at most."""
    worst = 0.0
    with flint.ctx.workprec(300):
        for i, (mid, rad) in enumerate(zip(found.mid.tolist(), found.rad.tolist(), strict=True)):
            miss = abs(flint.arb(mid) - exact(i))
            worst = max(worst, float((miss / flint.arb(rad)).upper()) if rad else float(miss.upper() > 0) * 1e9)
    return worst


FUNCTIONS = {
    "log": (Balls.log, flint.arb.log, _spread(-300, 300)),
    "log near 1": (Balls.log, flint.arb.log, 1 + _spread(-16, -0.5, signed=True)),
    "log1p": (Balls.log1p, flint.arb.log1p, _spread(-300, 0)),
    "log1p, negative": (Balls.log1p, flint.arb.log1p, -_spread(-300, -0.31)),
    "exp": (Balls.exp, flint.arb.exp, _spread(-20, 2.84, signed=True)),
    "one_minus_exp": (Balls.one_minus_exp, lambda x: -(-x).expm1(), _spread(-300, 3)),
    "sqrt": (Balls.sqrt, flint.arb.sqrt, _spread(-300, 300)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_encloses_its_exact_value_closely(name):
    ours, exact, points = FUNCTIONS[name]
    found = ours(Balls.exact(points))
    assert _largest_miss(found, lambda i: exact(flint.arb(points[i]))) < 1
    assert (found.rad <= 2.0**-45 * np.abs(found.mid)).all()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_encloses_the_values_at_both_ends_of_its_argument(name):
    ours, exact, points = FUNCTIONS[name]
    rad = np.abs(points) * 10 ** RNG.uniform(-15, -3, COUNT) * (0.1 if "log1p" in name else 1)
    found = ours(Balls(points, rad))
    for sign in (-1, 1):
        miss = _largest_miss(found, lambda i, s=sign: exact(flint.arb(points[i]) + s * flint.arb(rad[i])))
        assert miss < 1


@pytest.mark.parametrize("name", ["log", "exp", "one_minus_exp"])
def test_an_error_of_a_few_hundred_units_in_the_last_place_would_be_noticed(name, monkeypatch):
    # The negative control of the two tests above.
    series, exponential = balls._log_ratio, balls._exp
    monkeypatch.setattr(balls, "_log_ratio", lambda z: series(z) * (1 + 2.0**-44))
    monkeypatch.setattr(balls, "_exp", lambda x: exponential(x) * (1 + 2.0**-44))
    ours, exact, points = FUNCTIONS[name]
    assert _largest_miss(ours(Balls.exact(points)), lambda i: exact(flint.arb(points[i]))) > 1


def test_sums_products_and_quotients_enclose_every_pair_of_points_inside():
    x, y = _spread(-8, 8, signed=True), _spread(-8, 8, signed=True)
    left, right = (Balls(v, np.abs(v) * 10 ** RNG.uniform(-16, -2, COUNT)) for v in (x, y))
    results = {"+": left + right, "-": left - right, "*": left * right, "/": left / right}
    operations = {"+": lambda p, q: p + q, "-": lambda p, q: p - q, "*": lambda p, q: p * q, "/": lambda p, q: p / q}
    for sign in results:
        for s, t in ((1, 1), (1, -1), (-1, 1), (-1, -1)):

            def exact(i, s=s, t=t, sign=sign):
                p = flint.arb(left.mid[i]) + s * flint.arb(left.rad[i])
                return operations[sign](p, flint.arb(right.mid[i]) + t * flint.arb(right.rad[i]))

            assert _largest_miss(results[sign], exact) < 1


def test_a_sum_of_many_is_enclosed_to_nearly_full_accuracy():
    numbers = RNG.uniform(0, 1, (5, 1001))
    found = sum_last(Balls.exact(numbers))
    for i in range(5):
        exact = sum(flint.fmpq(*x.as_integer_ratio()) for x in numbers[i].tolist())
        assert abs(flint.arb(found.mid[i]) - flint.arb(exact)) < found.rad[i]
    assert (found.rad < 1e-14 * found.mid).all()


def test_what_cannot_be_enclosed_has_an_infinite_radius():
    touching = Balls(np.array([1e-3]), np.array([2e-3]))
    assert np.isinf(touching.log().rad).all()
    assert np.isinf((Balls.exact([1.0]) / touching).rad).all()
    assert np.isinf(Balls.exact([701.0]).exp().rad).all()
    assert np.isinf(Balls(np.array([0.0]), np.array([2.0])).exp().rad).all()


def test_exponentials_below_the_smallest_float_are_enclosed_around_zero():
    found = Balls.exact([-1e5]).exp()
    assert found.mid[0] == 0
    assert 0 < found.rad[0] < 1e-300
