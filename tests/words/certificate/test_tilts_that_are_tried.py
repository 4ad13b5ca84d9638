"""The order in which tilts are tried, from losses that are made up."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from pathveil.words.certificate.largest_tilt import FINEST_STEP, largest_tilt


@dataclass(frozen=True)
class Proof:
    theta: float
    loss: float
    given_up_at: float | None = None


LOSSES: dict[str, Callable[[float], float]] = {
    "a jump": lambda theta: theta if theta < 1.7 else theta + 1,
    "a late jump": lambda theta: theta if theta < 1.97 else 2 * theta,
    "an early jump": lambda theta: theta if theta < 1.02 else 1.9 * theta,
    "two jumps": lambda theta: theta + (theta > 1.2) * 0.5 + (theta > 1.6),
    "a steep end": lambda theta: theta + (theta / 2) ** 60,
    "a curve": lambda theta: theta * (1 + 0.8 * math.exp(-theta)),
}


@pytest.mark.parametrize("name", LOSSES)
def test_the_gap_is_halved_after_two_tilts_in_a_row_that_left_more_than_half_of_it(name: str) -> None:
    tried: list[Proof] = []

    def certify(theta: float, _: float) -> Proof:
        tried.append(Proof(theta, LOSSES[name](theta)))
        return tried[-1]

    epsilon = 2.0
    best = largest_tilt(certify, epsilon, 1, 1.0)
    first = next(k for k, proof in enumerate(tried) if proof.loss <= epsilon)
    passed, failed, far, halved = tried[first], tried[first - 1], 0, 0
    for proof in tried[first + 1 :]:
        gap = failed.theta - passed.theta
        assert gap > FINEST_STEP * passed.theta
        share = (proof.theta - passed.theta) / gap
        assert 0 < share < 1
        if far == 2:
            assert share == pytest.approx(1 / 2)
            halved, far = halved + 1, -1
        passed, failed = (proof, failed) if proof.loss <= epsilon else (passed, proof)
        far = far + 1 if failed.theta - passed.theta > gap / 2 or far < 0 else 0
    assert best == passed
    assert passed.theta == max(proof.theta for proof in tried if proof.loss <= epsilon)
    assert halved > 0 or name == "a curve"
    assert passed.loss >= epsilon * (1 - FINEST_STEP) or failed.theta - passed.theta <= FINEST_STEP * passed.theta
