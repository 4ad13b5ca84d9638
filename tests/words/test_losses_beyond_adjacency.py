"""What a mechanism says of two words that are farther apart than adjacent ones, beside the largest loss there is."""

from __future__ import annotations

from itertools import product
from math import ceil

import numpy as np
import pytest

import pathveil as pv
from pathveil.words.laws import exponential_law
from tests.reference.enumeration import feasible_words
from tests.words.mechanisms import MECHANISMS, build
from tests.worlds import LETTER_CHAIN

EPSILON, LENGTH = 1.5, 4


def worst_losses(mechanism: pv.WordMechanism, words: list) -> dict[int, float]:
    """{distance: the largest loss between two feasible words that are so far apart}."""
    rows = [mechanism.world.encode(word) for word in words]
    logs = [np.array([mechanism.log_probability(word, output) for output in words]) for word in words]
    worst: dict[int, float] = {}
    for i, j in product(range(len(words)), repeat=2):
        apart = int(mechanism.distances(rows[i], [rows[j]] if mechanism.cap else rows[j][None, :])[0])
        worst[apart] = max(worst.get(apart, 0.0), float((logs[i] - logs[j]).max()))
    return worst


@pytest.mark.parametrize("adjacency", [1, 2])
@pytest.mark.parametrize("name", MECHANISMS)
def test_epsilon_is_lost_for_every_step_from_a_word_to_the_next(name: str, adjacency: int) -> None:
    mechanism = build(name, LETTER_CHAIN, EPSILON, adjacency)
    assert mechanism is not None
    worst = worst_losses(mechanism, feasible_words(LETTER_CHAIN, LENGTH))
    for apart in range(1, LENGTH + 1):
        stated = mechanism.loss_at(apart, [LENGTH])
        assert worst[apart] <= stated * (1 + 1e-12)
        if name == "certified":
            assert stated == mechanism.certificate(LENGTH).loss_at(apart)  # type: ignore[attr-defined]
        else:
            assert stated == pytest.approx(ceil(apart / adjacency) * EPSILON)
    with pytest.raises(pv.InvalidParameterError):
        mechanism.loss_at(0, [LENGTH])


def test_one_certificate_for_all_lengths_states_the_loss_whichever_lengths_are_asked_for() -> None:
    mechanism = pv.CertifiedExponential(LETTER_CHAIN, EPSILON, max_length=5)
    assert mechanism.loss_at(2) == mechanism.loss_at(2, [3]) == mechanism.certificate(5).loss_at(2)
    with pytest.raises(pv.InvalidParameterError, match="which lengths"):
        pv.CertifiedExponential(LETTER_CHAIN, EPSILON).loss_at(2)


@pytest.mark.parametrize("epsilon", [1.5, 9.0])
@pytest.mark.parametrize("on_infeasible", ["refuse", "nearest"])
@pytest.mark.parametrize("kind", [pv.EditExponential, pv.EditPermuteAndFlip, pv.CertifiedEditExponential])
def test_edits_lose_their_share_up_to_the_cap(kind: type[pv.WordMechanism], on_infeasible: str, epsilon: float) -> None:
    world = pv.Alphabet("ab") if on_infeasible == "nearest" else LETTER_CHAIN
    mechanism = kind(world, epsilon, lengths=(2, 4), cap=3, on_infeasible=on_infeasible)  # type: ignore[call-arg]
    words = [word for length in (2, 3, 4) for word in feasible_words(world, length)]
    worst = worst_losses(mechanism, words)
    theta = mechanism.theta(3)
    stated = [mechanism.loss_at(edits) for edits in (1, 2, 3, 4, 9)]
    assert stated[3] == stated[4] == stated[2]  # no two words are farther apart than the cap
    for edits, loss in enumerate(stated[:3], start=1):
        assert worst[edits] <= loss * (1 + 1e-12)
    proof = mechanism.certificate if kind is pv.CertifiedEditExponential else None  # type: ignore[attr-defined]
    if proof is not None and proof.bounds_all_words:  # then the normaliser is paid for once
        assert stated[:3] == pytest.approx([theta * edits + proof.normaliser_loss for edits in (1, 2, 3)])
    else:
        assert stated[:3] == pytest.approx([2 * theta * edits for edits in (1, 2, 3)])
    assert proof is None or proof.bounds_all_words == (epsilon == 9.0 and on_infeasible == "refuse")


@pytest.mark.parametrize("adjacency", [1, 2])
@pytest.mark.parametrize("within", [None, 1.2])
@pytest.mark.parametrize("kind", [pv.Exponential, pv.CertifiedExponential])
def test_with_distances_the_largest_cost_counts_unless_every_move_is_within_the_unit(
    kind: type[pv.WordMechanism], within: float | None, adjacency: int
) -> None:
    distance = pv.SymbolDistance.from_coordinates({"a": (0.0, 0.0), "b": (1.0, 0.0), "c": (3.0, 0.0)}, steps=300)
    mechanism = kind(LETTER_CHAIN, EPSILON, adjacency, distance=distance, within=within)  # type: ignore[call-arg]
    worst = worst_losses(mechanism, feasible_words(LETTER_CHAIN, LENGTH))
    theta = mechanism.theta(LENGTH)
    for apart in range(1, LENGTH + 1):
        stated = mechanism.loss_at(apart, [LENGTH])
        assert worst[apart] <= stated * (1 + 1e-12)
        steps = ceil(apart / adjacency) * EPSILON
        everywhere = 2 * apart * theta  # θ counts for the largest cost, which is 1
        if within is not None or kind is pv.CertifiedExponential:
            assert stated == pytest.approx(everywhere)
        else:
            assert stated == pytest.approx(min(steps, everywhere))


@pytest.mark.parametrize("name", MECHANISMS)
def test_outputs_at_the_same_distance_are_as_likely_as_each_other_where_a_mechanism_says_so(name: str) -> None:
    mechanism = build(name, LETTER_CHAIN, EPSILON)
    assert mechanism is not None
    words = feasible_words(LETTER_CHAIN, LENGTH)
    codes = [LETTER_CHAIN.encode(word) for word in words]
    spread = 0.0
    for word, row in zip(words, codes, strict=True):
        logs = np.array([mechanism.log_probability(word, output) for output in words])
        apart = mechanism.distances(row, np.array(codes))
        assert (apart == [np.count_nonzero(row != other) for other in codes]).all()
        spread = max(spread, *(float(np.ptp(logs[apart == distance])) for distance in np.unique(apart)))
    assert mechanism.is_uniform_within_class == (spread < 1e-9)


def test_long_words_have_the_law_of_the_tilt_that_was_certified() -> None:
    mechanism = pv.CertifiedExponential(LETTER_CHAIN, 4.0, max_length=400, contexts=100)
    word = "abca" * 100
    law = mechanism.error_law(word)
    expected = exponential_law(LETTER_CHAIN.compiled, LETTER_CHAIN.encode(word), mechanism.theta(400))
    assert law.mean == pytest.approx(expected.mean, rel=1e-12)
    assert law.largest == 400
    assert pv.CertifiedExponential(LETTER_CHAIN, 4.0).error_law("abca").largest == 4
