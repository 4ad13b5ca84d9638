"""The certificate against the true change of the normaliser, and what it reports."""

import math
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import strategies as st

import pathveil as pv
from pathveil.words.base.tilt import LARGEST_TILT
from pathveil.words.certificate.certificate import ChainCertifier
from tests.reference.enumeration import feasible_words, hamming
from tests.reference.random_systems import SystemWithLength, markov_chains_with_length
from tests.sizes import given_few_and_many
from tests.worlds import RING, TOWN

THETAS = st.one_of(st.sampled_from([0.05, 0.5, 1.0, 2.0, 6.0, 12.0, 800.0]), st.floats(0.01, 12.0))


def true_losses(world: pv.System, length: int, theta: float) -> dict[int, float]:
    """The largest dθ + |log Z(v) - log Z(w)| over feasible words at each distance d, by listing all words."""
    words = feasible_words(world, length)
    log_z = {w: math.log(math.fsum(math.exp(-theta * hamming(v, w)) for v in words)) for w in words}
    losses: dict[int, float] = {}
    for v, w in combinations(words, 2):
        d = hamming(v, w)
        losses[d] = max(losses.get(d, 0.0), d * theta + abs(log_z[v] - log_z[w]))
    return losses


@given_few_and_many(
    100,
    400,
    case=markov_chains_with_length(),
    theta=THETAS,
    adjacency=st.integers(1, 3),
    budget=st.sampled_from([1, 30, 300, 40_000]),
    pairs=st.sampled_from([1, 6, 12, 16]),
)
def test_the_certified_loss_covers_the_true_one_at_every_distance(
    case: SystemWithLength, theta: float, adjacency: int, budget: int, pairs: int
) -> None:
    world, length = case
    certifier = ChainCertifier.of(world.compiled, length, adjacency, up_to=False, budget=budget, pairs=pairs)
    assert isinstance(certifier, ChainCertifier)
    certificate = certifier.certify(theta)
    for distance, loss in true_losses(world, length, theta).items():
        if distance <= adjacency:
            assert loss <= certificate.loss * (1 + 1e-12)
        assert loss <= certificate.loss_at(distance) * (1 + 1e-12)
        assert certificate.loss_at(distance) <= 2 * distance * theta * (1 + 1e-11)


@given_few_and_many(
    37,
    150,
    case=markov_chains_with_length(),
    theta=THETAS,
    adjacency=st.integers(1, 2),
    more=st.integers(0, 3),
    pairs=st.sampled_from([1, 6, 16]),
)
def test_one_certificate_covers_all_lengths_up_to_a_maximum(
    case: SystemWithLength, theta: float, adjacency: int, more: int, pairs: int
) -> None:
    world, length = case
    certifier = ChainCertifier.of(world.compiled, length + more, adjacency, up_to=True, budget=300, pairs=pairs)
    assert isinstance(certifier, ChainCertifier)
    certificate = certifier.certify(theta)
    for shorter in range(1, length + 1):
        for distance, loss in true_losses(world, shorter, theta).items():
            if distance <= adjacency:
                assert loss <= certificate.loss * (1 + 1e-12)


@given_few_and_many(25, 100, case=markov_chains_with_length())
def test_the_average_number_of_positions_with_a_neighbour_is_exact(case: SystemWithLength) -> None:
    world, length = case
    counted = [len(world.neighbour_positions(word)) for word in feasible_words(world, length)]
    certificate = pv.CertifiedExponential(world, 1.0).certificate(length)
    assert certificate.protected_positions == pytest.approx(sum(counted) / len(counted), abs=1e-9)


CLAIMS = [*product([1, 2], [1e-9, 0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 1e6]), (3, 1e-9), (3, 5.0)]
IN_THE_TOWN_TOO = [(1, 2.0), (1, 1e6), (2, 5.0)]


@pytest.mark.parametrize(
    ("world", "adjacency", "epsilon"),
    [
        *(pytest.param(RING, *claim, id=f"ring-{claim}") for claim in CLAIMS),
        *(
            pytest.param(TOWN, *claim, id=f"town-{claim}", marks=() if claim in IN_THE_TOWN_TOO else pytest.mark.slow)
            for claim in [*CLAIMS, (6, 5.0)]
        ),
    ],
)
def test_the_claim_is_never_too_small(world: pv.System, adjacency: int, epsilon: float) -> None:
    mechanism = pv.CertifiedExponential(world, epsilon, adjacency, contexts=100)
    certificate = mechanism.certificate(6)
    b = adjacency
    assert certificate.loss <= epsilon
    lowest = min(epsilon / (2 * b) * (1 - 1e-11), LARGEST_TILT)
    assert lowest <= certificate.theta <= epsilon / b
    assert set(certificate.run_bounds) <= set(range(1, b + 1))
    assert all(bound <= run * certificate.theta for run, bound in certificate.run_bounds.items())
    assert b * certificate.theta <= certificate.loss


@pytest.mark.parametrize(
    ("world", "budgets"),
    [(RING, (1, 1_000)), *(pytest.param(world, (1, 1_000, 4_000), marks=pytest.mark.slow) for world in (RING, TOWN))],
)
def test_a_larger_budget_of_contexts_gives_a_larger_tilt(world: pv.System, budgets: tuple[int, ...]) -> None:
    thetas = [pv.CertifiedExponential(world, 1.0, contexts=budget).theta(25) for budget in budgets]
    assert all(less < more for less, more in pairwise(thetas))


def test_one_certificate_serves_long_words_and_refuses_longer_ones() -> None:
    mechanism = pv.CertifiedExponential(pv.example_town(), 5.0, max_length=200, contexts=1)
    certificate = mechanism.certificate(3)
    assert certificate is mechanism.certificate(200)
    assert certificate.theta > 4.9
    with pytest.raises(pv.InvalidParameterError, match="longer than `max_length=200`"):
        mechanism.certificate(201)


def test_boxes_that_grow_beyond_all_numbers_say_no_more_than_the_published_calibration() -> None:
    certifier = ChainCertifier.of(pv.example_town().compiled, 1_500, 1, up_to=False, budget=1)
    assert isinstance(certifier, ChainCertifier)
    assert certifier._shallow(0.5, 1) == 0.5
    assert certifier.certify(0.5).run_bounds[1] < 0.5  # from walks without a word


def test_an_adjacency_beyond_the_length_is_as_good_as_the_length() -> None:
    world = pv.MarkovChain.from_edges([(0, 1), (1, 0), (1, 2), (2, 0), (0, 0)])
    certificate = pv.CertifiedExponential(world, 1.0, adjacency=10**6).certificate(4)
    assert certificate.loss <= 1.0
    assert max(certificate.run_bounds) <= 4
    with pytest.raises(pv.InvalidParameterError, match="at least 1"):
        certificate.loss_at(-1)


def test_a_free_alphabet_pays_nothing_for_the_normaliser() -> None:
    certificate = pv.CertifiedExponential(pv.Alphabet("abc"), 3.0, adjacency=2).certificate(7)
    assert certificate.loss <= 3.0
    assert certificate.theta == pytest.approx(1.5, rel=1e-15)
    assert set(certificate.run_bounds.values()) == {0.0}
    assert certificate.loss_at(5) == pytest.approx(5 * 1.5)
    # A chain in which everything may follow everything is the same thing, up to rounding.
    full = pv.MarkovChain(range(3), np.full((3, 3), 1 / 3))
    assert pv.CertifiedExponential(full, 3.0, adjacency=1).theta(7) == pytest.approx(3.0, rel=2e-3)


def test_plans_of_a_transition_system_get_the_published_calibration() -> None:
    # The same action leads to different states, so equal symbols do not imply equal states.
    world = pv.TransitionSystem({(0, "a"): 1, (1, "a"): 0, (0, "b"): 0, (1, "b"): 1}, initial=0)
    certificate = pv.CertifiedExponential(world, 4.0).certificate(5)
    assert certificate.theta == pytest.approx(2.0, rel=1e-9)
    assert "published" in certificate.method


def test_plans_whose_action_names_the_next_state_are_certified_like_a_chain() -> None:
    edges = [(a, b) for a in range(4) for b in range(4) if (a + b) % 3]
    chain = pv.MarkovChain.from_edges(edges, initial=1)
    plans = pv.TransitionSystem({(a, b): b for a, b in edges}, initial=1)
    certificates = [pv.CertifiedExponential(world, 4.0).certificate(6) for world in (chain, plans)]
    assert certificates[0].theta == certificates[1].theta > 2.1


def test_a_certificate_halved_would_break_the_claim() -> None:
    """Negative control: there are chains where half of the certified change is less than the true one."""
    world = pv.MarkovChain.from_edges([(0, 1), (0, 2), (1, 3), (2, 3), (3, 0), (1, 0), (1, 1)], initial={0})
    certificate = pv.CertifiedExponential(world, 2.0).certificate(3)
    loss = true_losses(world, 3, certificate.theta)[1]
    assert loss <= certificate.loss
    assert loss > certificate.theta + certificate.run_bounds[1] / 2


def test_a_certificate_says_in_words_what_it_covers() -> None:
    text = str(pv.CertifiedExponential(pv.example_town(), 5.0).certificate(14))
    assert "feasible words" in text
    assert "positions have a feasible neighbour" in text


def test_losses_beyond_the_adjacency_are_proved_when_asked_for_and_never_worse_than_published(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []
    searched = ChainCertifier._searched

    def watched(self: ChainCertifier, theta: float, run: int, *given: float) -> object:
        asked.append(run)
        return searched(self, theta, run, *given)

    monkeypatch.setattr(ChainCertifier, "_searched", watched)
    certificate = pv.CertifiedExponential(pv.example_town(), 3.0, contexts=100).certificate(8)
    assert set(asked) == {1}
    losses = [certificate.loss_at(distance) for distance in range(1, 9)]
    assert losses == sorted(losses)
    assert all(loss <= 2 * d * certificate.theta * (1 + 1e-11) for d, loss in enumerate(losses, start=1))
    assert losses[1] < 2.2 * losses[0] < 4 * certificate.theta  # where runs of two counted 4θ before
    assert certificate.found <= certificate.run_bounds[1]
    before = len(asked)
    assert losses == [certificate.loss_at(distance) for distance in range(1, 9)]
    assert len(asked) == before


def test_a_certificate_does_not_depend_on_what_was_asked_before() -> None:
    """The budget ends in the middle here, and what an earlier question has computed must not make it last longer."""
    fresh, asked = (ChainCertifier.of(TOWN.compiled, 25, 1, up_to=False, budget=300) for _ in range(2))
    assert isinstance(fresh, ChainCertifier)
    assert isinstance(asked, ChainCertifier)
    for within in (0.72, 0.9, 0.63):
        asked.certify(0.6, within)
    first, second = asked.certify(0.6), fresh.certify(0.6)
    assert (first.run_bounds, first.found) == (second.run_bounds, second.found)
