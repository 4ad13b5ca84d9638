"""Which θ are tried on the way to the largest one that passes.

A θ *passes* if its loss is proved to stay within ε; ε/2b always does, and above ε/b nothing can. A proof that fails may
have been given up, or be a rough one where θ = ε/b: what it came to says where to go on, nothing else. Every θ that is
returned was proved itself; the search only decides which are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from pathveil.words.base import largest_part

FINEST_STEP = 1e-3
"""The relative accuracy to which the largest passing θ is looked for."""


class Proof(Protocol):
    """What a proof at one θ came to."""

    @property
    def theta(self) -> float: ...
    @property
    def loss(self) -> float: ...
    @property
    def given_up_at(self) -> float | None: ...


P = TypeVar("P", bound=Proof)


def largest_tilt(certify: Callable[[float, float], P], epsilon: float, b: int, published: float) -> P:
    """The proof with the largest θ that was found to pass; `certify(θ, ε)` proves, `published` is the θ that passes.

    From θ = ε/b downwards: where θ fails with a change K, nothing above (ε-K)/b can pass while K keeps growing on the
    way down, so that is tried next, and then where the line through the last two failures meets ε.
    """
    theta, slope = largest_part(epsilon, b), float(b)
    failed: P | None = None
    before: P | None = None
    while theta > epsilon / (2 * b):
        proof = certify(theta, epsilon)
        if proof.loss <= epsilon:
            break
        if before is not None:
            slope = min(_slope(before, proof, b), b)
        # Where θ = ε/b is given up the proof was a rough one, and is no point of a line.
        before = None if failed is None and proof.given_up_at is not None else proof
        failed = proof
        # A little farther down than the estimate, so as to arrive on the side that passes.
        theta = (theta - (_reached(proof) - epsilon) / slope) * (1 - FINEST_STEP / 4)
    else:
        proof = certify(published, epsilon)
    return proof if failed is None else _refined(certify, proof, failed, before, epsilon, b)


def _refined(certify: Callable[[float, float], P], passed: P, failed: P, before: P | None, epsilon: float, b: int) -> P:
    """The search between a θ that passes and one that does not, until little can be won.

    Where the line through two proofs meets ε, slightly on the side that passes; halfway after two in a row that left
    more than half of the gap. (One is no reason yet: proofs that fail are cheap, being given up, those that pass are
    not.)
    """
    far = 0
    while passed.loss < epsilon * (1 - FINEST_STEP) and failed.theta - passed.theta > FINEST_STEP * passed.theta:
        gap = failed.theta - passed.theta
        slope = passed.loss / passed.theta if before is None else _slope(before, passed, b)
        step = gap / 2 if far == 2 else (epsilon - passed.loss) / slope - FINEST_STEP / 4 * passed.theta
        attempt = certify(passed.theta + min(max(step, gap / 16), gap * 15 / 16), epsilon)
        if attempt.loss <= epsilon:
            passed, before = attempt, passed
        else:
            failed = before = attempt
        far = far + 1 if failed.theta - passed.theta > gap / 2 and far < 2 else 0
    return passed


def _reached(proof: Proof) -> float:
    """The loss that a proof came to."""
    return proof.loss if proof.given_up_at is None else proof.given_up_at


def _slope(one: Proof, other: Proof, b: int) -> float:
    """How fast the loss grows with θ, by two proofs: b if log Z does not change, less where it falls."""
    return max((_reached(one) - _reached(other)) / (one.theta - other.theta), b / 2)
