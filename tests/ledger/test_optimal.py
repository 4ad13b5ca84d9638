"""The optimal composition: exact against listing all outcomes, never below the truth, never worse than adding up."""

from __future__ import annotations

from decimal import Decimal

import mpmath
import pytest
from hypothesis import strategies as st

from pathveil.ledger.amounts import Amount, amount_of
from pathveil.ledger.optimal import composed_delta, releases_that_fit
from tests.reference.optimal_composition import delta_by_listing, three_way_response, worst_coin
from tests.sizes import given_few_and_many


def size(epsilon: float, delta: float = 0.0) -> Amount:
    return amount_of(epsilon, delta, "a test")


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("each", [(0.1, 0.0), (0.5, 1e-3), (2.0, 0.2), (0.01, 1e-12)])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 1.0, 1.5])
def test_it_is_what_listing_all_outcomes_gives_and_not_below(count, each, share):
    with mpmath.workdps(80):
        epsilon = share * count * each[0]
        exact = delta_by_listing([worst_coin(mpmath.mpf(str(each[0])), mpmath.mpf(str(each[1])))] * count, epsilon)
        found = mpmath.mpf(str(composed_delta(size(*each), count, Decimal(epsilon))))
        assert exact * (1 - mpmath.mpf("1e-55")) <= found + mpmath.mpf("1e-70")
        assert found <= exact * (1 + mpmath.mpf("1e-30")) + mpmath.mpf("1e-45")


def test_forgetting_one_release_would_show():
    # The negative control of the test above.
    exact = delta_by_listing([worst_coin(0.5, 1e-3)] * 4, 1.2)
    assert float(composed_delta(size(0.5, 1e-3), 3, Decimal("1.2"))) < 0.9 * exact


@pytest.mark.parametrize("epsilon", [0.0, 0.4, 0.9])
def test_a_real_mechanism_never_costs_more(epsilon):
    with mpmath.workdps(40):
        true = delta_by_listing([three_way_response(0.3)] * 4, epsilon)
        bound = composed_delta(size(0.3), 4, Decimal(epsilon))
        assert 0 < true < mpmath.mpf(str(bound))


@given_few_and_many(
    10,
    60,
    epsilon=st.floats(1e-3, 3),
    delta=st.sampled_from([0.0, 1e-15, 1e-9, 1e-4]),
    total_epsilon=st.floats(0.1, 10),
    total_delta=st.sampled_from([1e-10, 1e-5, 0.01]),
)
def test_as_many_fit_as_by_adding_up_or_more_and_one_more_would_not(epsilon, delta, total_epsilon, total_delta):
    each, total = size(epsilon, delta), size(total_epsilon, total_delta)
    fit = releases_that_fit(each, total)
    for count in (fit, fit + 1):
        if each.times(count).fits_in(total):
            assert count <= fit
    assert composed_delta(each, fit, total.epsilon) <= total.delta * (1 + Decimal("1e-30"))
    if fit < 10_000:
        assert composed_delta(each, fit + 1, total.epsilon) > total.delta


def test_more_releases_never_cost_less():
    deltas = [composed_delta(size(0.2, 1e-9), count, Decimal(1)) for count in range(1, 60)]
    assert deltas == sorted(deltas)


def test_a_tiny_delta_is_not_rounded_away():
    assert composed_delta(size(0.1, 1e-300), 3, Decimal(1)) >= Decimal("2.99999e-300")


def test_nothing_is_lost_where_very_many_releases_fit_by_adding_up():
    assert releases_that_fit(size(1e-9), size(1.0, 1e-6)) == 10**9


def test_sizes_that_are_chosen_after_looking_would_break_the_theorem():
    """Why a pld ledger fixes the size beforehand.

    First a release of 0.5. If its loss is +0.5, go on with one release of 2.5, otherwise with three of 1.2. Either list
    of sizes costs at most δ = 0.364 at ε = 2, and yet whoever chooses between them like this reaches 0.478.
    """
    first, large, small = worst_coin(0.5, 0), worst_coin(2.5, 0), worst_coin(1.2, 0)
    allowed = delta_by_listing([first, large], 2.0)
    assert delta_by_listing([first, small, small, small], 2.0) <= allowed < 0.364
    up, down = first[1], first[2]
    reached = delta_by_listing([[up], large], 2.0) + delta_by_listing([[down], small, small, small], 2.0)
    assert reached > 1.3 * allowed
