"""The certified calibration for edit distance: its bounds and its promise, checked by enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

import pathveil as pv
from pathveil.words.edit.certificate import neighbour_bounds
from pathveil.words.edit.length_range import LengthRange
from tests.reference.edits import edit_counts, words_in_range
from tests.reference.random_systems import SystemWithRange, systems_with_range
from tests.sizes import given_few_and_many

EPSILONS = st.sampled_from([0.5, 1.0, 2.0, 4.0, 6.0, 9.0])


@given_few_and_many(20, 60, case=systems_with_range(), cap=st.integers(1, 5))
def test_no_word_has_more_outputs_at_a_distance_than_the_bound(case: SystemWithRange, cap: int) -> None:
    world, lo, hi = case
    bounds = neighbour_bounds(LengthRange(world.compiled, lo, hi), cap)
    assert bounds is not None
    words = words_in_range(world, lo, hi)
    true = np.max([edit_counts(words, word, cap)[:cap] for word in words], axis=0)
    assert (bounds >= true).all()


@given_few_and_many(
    40,
    120,
    case=systems_with_range(most_words=60),
    epsilon=EPSILONS,
    adjacency=st.integers(1, 2),
    cap=st.none() | st.integers(1, 4),
)
def test_the_true_loss_stays_within_the_certificate_and_that_within_epsilon(
    case: SystemWithRange, epsilon: float, adjacency: int, cap: int | None
) -> None:
    world, lo, hi = case
    mechanism = pv.CertifiedEditExponential(world, epsilon, adjacency, (lo, hi), cap)
    published = pv.EditExponential(world, epsilon, adjacency, (lo, hi), cap)
    certificate = mechanism.certificate
    assert certificate.loss <= epsilon
    assert published.theta() <= mechanism.theta() <= 2 * published.theta()
    assert pv.audit_exhaustively(mechanism).loss <= certificate.loss * (1 + 1e-9) + 1e-12


def test_without_the_bounds_the_same_tilt_would_break_the_promise() -> None:
    # The negative control of the test above: θ = ε/b without a certificate loses more than ε.
    class Careless(pv.EditExponential):
        def theta(self, length: int | None = None) -> float:
            return 2 * super().theta(length)

    assert not pv.audit_exhaustively(Careless(pv.Alphabet("ab"), 3.0, lengths=(1, 4))).holds


def test_on_the_town_the_certified_tilt_is_far_larger_where_epsilon_is_large_enough() -> None:
    town = pv.example_town()
    certified = pv.CertifiedEditExponential(town, 6.0, lengths=(5, 10), cap=6)
    published = pv.EditExponential(town, 6.0, lengths=(5, 10), cap=6)
    assert certified.theta() > 1.9 * published.theta()
    trip = town.random_word(7, pv.insecure_seed(1))
    assert certified.error_law(trip).mean < published.error_law(trip).mean / 5
    low = pv.CertifiedEditExponential(town, 1.0, lengths=(5, 10))
    assert low.certificate.how.startswith("the published calibration")
    assert low.theta() == 0.5


def test_infeasible_words_get_the_published_tilt_and_unit() -> None:
    world = pv.MarkovChain.from_edges([("a", "b"), ("b", "a"), ("a", "a")])
    strict = pv.CertifiedEditExponential(world, 8.0, lengths=(2, 4))
    lenient = pv.CertifiedEditExponential(world, 8.0, lengths=(2, 4), on_infeasible="nearest")
    assert strict.theta() > lenient.theta() == 4.0
    assert strict.guarantee.unit == f"{lenient.guarantee.unit}, both words feasible"
    assert "published" in lenient.certificate.how
    assert pv.audit_exhaustively(lenient).holds


def test_a_system_too_large_for_bounds_gets_the_published_tilt() -> None:
    mechanism = pv.CertifiedEditExponential(pv.example_town(), 8.0, lengths=(2, 1_000), cap=200)
    assert mechanism.theta() == 4.0
    assert "too large" in mechanism.certificate.how


@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 200.0, 1e6])
def test_extreme_epsilons_are_certified_too(epsilon: float) -> None:
    mechanism = pv.CertifiedEditExponential(pv.Alphabet("abc"), epsilon, 2, (1, 30), cap=8)
    assert mechanism.certificate.loss <= epsilon
    assert mechanism.error_law("abc").pmf.sum() == pytest.approx(1.0, abs=1e-12)
