"""Which run lengths decide the loss, against all ways to fill a distance with runs."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pathveil.words.certificate.certificate import ChainCertifier
from pathveil.words.certificate.run_sums import deciding_runs, harmless_bound, total_loss
from tests.sizes import small_and_large
from tests.worlds import RING, TOWN

bounds_of_runs = st.dictionaries(st.integers(1, 5), st.floats(0, 4), max_size=4)
tilts = st.floats(0.01, 5)


def all_sums(theta: float, bounds: dict[int, float], distance: int) -> list[tuple[float, set[int]]]:
    """(loss, run lengths) of every way to fill a distance with runs."""
    sums = []
    for numbers in product(*(range(distance // run + 1) for run in bounds)):
        if sum(number * run for number, run in zip(numbers, bounds, strict=True)) <= distance:
            used = {run: number for number, run in zip(numbers, bounds, strict=True) if number}
            sums.append((sum(number * (run * theta + bounds[run]) for run, number in used.items()), set(used)))
    return sums


@given(theta=tilts, bounds=bounds_of_runs, distance=st.integers(0, 6))
def test_the_loss_is_the_largest_sum_and_the_deciding_runs_attain_it(theta, bounds, distance):
    sums = all_sums(theta, bounds, distance)
    largest = max(loss for loss, _ in sums)
    assert largest <= total_loss(theta, bounds, distance) <= largest * (1 + 2e-12)
    deciding = deciding_runs(theta, bounds, distance)
    assert any(used == deciding and loss >= largest * (1 - 1e-12) for loss, used in sums)


@given(theta=tilts, bounds=bounds_of_runs, distance=st.integers(1, 6), lower=st.floats(0, 1))
def test_better_bounds_for_runs_that_do_not_decide_leave_the_loss_as_it_is(theta, bounds, distance, lower):
    deciding = deciding_runs(theta, bounds, distance)
    others = {run: bound if run in deciding else bound * lower for run, bound in bounds.items()}
    assert total_loss(theta, others, distance) == total_loss(theta, bounds, distance)


@given(theta=tilts, settled=bounds_of_runs, run=st.integers(1, 5), distance=st.integers(5, 7), more=st.floats(0, 1))
def test_a_harmless_bound_is_the_largest_that_keeps_the_loss(theta, settled, run, distance, more):
    settled.pop(run, None)
    loss = total_loss(theta, settled, distance) * (1 + more)
    harmless = harmless_bound(theta, settled, run, distance, loss)
    if harmless > 0:
        assert total_loss(theta, {**settled, run: harmless}, distance) <= loss
    # A little more would exceed it: the bound is not smaller than need be.
    assert total_loss(theta, {**settled, run: harmless + 1e-6}, distance) > loss * (1 - 1e-9)


@small_and_large("world", RING, TOWN)
@pytest.mark.parametrize("adjacency", [1, 2, 3, pytest.param(4, marks=pytest.mark.slow)])
def test_a_proof_that_was_given_up_never_passes_and_its_bounds_hold(world, adjacency):
    certifier = ChainCertifier.of(world.compiled, 6, adjacency, up_to=False, budget=300)
    assert isinstance(certifier, ChainCertifier)
    given_up = 0
    for theta in (0.2, 0.6, 1.0, 2.0):
        best = certifier.certify(theta)
        for within in (adjacency * theta, 0.6 * best.loss, 0.95 * best.loss, best.loss, 2 * best.loss):
            proof = certifier.certify(theta, within)
            assert proof.loss == total_loss(theta, proof.run_bounds, adjacency)
            assert all(0 <= bound <= run * theta for run, bound in proof.run_bounds.items())
            assert proof.loss >= adjacency * theta + best.found - 1e-9  # two words that were found lose as much
            if proof.given_up_at is not None:
                given_up += 1
                assert within < proof.given_up_at <= proof.loss
    assert given_up
