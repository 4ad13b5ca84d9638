"""One random system with distances, checked in everything: laws, errors, losses and certificates."""

from __future__ import annotations

import numpy as np
import pytest

import pathveil as pv
from pathveil.words.distances.prices import Prices
from tests.reference.distances import Enumerated
from tests.reference.enumeration import feasible_words
from tests.words.distances.random_worlds import random_case

KINDS = (pv.Exponential, pv.PermuteAndFlip, pv.Online, pv.CertifiedExponential)


def check(seed: int) -> dict[str, float]:
    """One random system: laws, errors and losses; returns each mechanism's largest loss as a share of ε."""
    rng = np.random.default_rng(seed)
    world, distance, within = random_case(rng)
    listed = Enumerated(world, distance, within)
    length = int(rng.integers(1, 4 if len(world.symbols) < 4 else 3))
    while not world.count(length):
        length -= 1
    adjacency, epsilon = int(rng.integers(1, 4)), float(rng.choice([0.3, 1, 2, 4, 8]))
    words = [tuple(word) for word in feasible_words(world, length)]
    shares = {}
    for kind in KINDS:
        m = kind(world, epsilon=epsilon, adjacency=adjacency, distance=distance, within=within)
        z = Prices(world, distance, within).z(m.theta(length))
        literal = {
            pv.PermuteAndFlip: listed.permute_and_flip_law,
            pv.Online: listed.online_law,
        }.get(kind, listed.exponential_law)
        chosen = words if len(words) <= 12 else [words[i] for i in rng.choice(len(words), 4, replace=False)]
        if kind is pv.PermuteAndFlip and len(words) > 12:
            chosen = []  # the literal law looks at all subsets
        for word in chosen:
            law, codes = literal(word, z), world.encode(word)
            outputs = np.array([world.encode(output) for output in law])
            found = np.exp(m.log_probabilities(codes, outputs))
            assert found == pytest.approx(list(law.values()), rel=1e-7, abs=1e-14)
            errors = [0.0] * (length + 1)
            for output, p in law.items():
                errors[sum(x != y for x, y in zip(word, output, strict=True))] += p
            assert m.error_law(word).pmf == pytest.approx(errors, abs=1e-8)
            metres = sum(p * listed.metres(word, output) for output, p in law.items())
            assert m.expected_distance(word) == pytest.approx(metres, rel=1e-6, abs=1e-9)
        inputs = "feasible" if kind is pv.CertifiedExponential else "any"
        audit = pv.audit_exhaustively(m, length, inputs=inputs)
        assert audit.holds, (seed, kind)
        if kind is pv.CertifiedExponential:
            # The bound that the tilt rests on is above what really happens, and never above ε.
            certificate = m.certificate(length)
            assert audit.loss <= certificate.loss * (1 + 1e-9) + 1e-12
            assert certificate.loss <= epsilon
            if len(words) <= 12:
                laws = {word: literal(word, z) for word in words}
                for apart in range(1, length + 1):
                    assert listed.worst_loss(laws, apart) <= certificate.loss_at(apart) * (1 + 1e-9) + 1e-12
        shares[kind.__name__] = audit.loss / epsilon
    return shares
