"""Audits of mechanisms that are not ours."""

from __future__ import annotations

from dataclasses import replace
from math import log
from types import ModuleType

import numpy as np
import pytest

import pathveil as pv
from tests.statistics import FALSE_ALARM

SURE = 1 - FALSE_ALARM  # a correct mechanism is flagged with a probability of at most 1e-6


@pytest.fixture(scope="module")
def dp() -> ModuleType:
    opendp: ModuleType = pytest.importorskip("opendp.prelude", reason="opendp is not installed")
    opendp.enable_features("contrib")
    return opendp


@pytest.mark.slow
def test_randomized_response_of_opendp_keeps_its_claim_and_no_smaller_one(dp: ModuleType) -> None:
    respond = dp.m.make_randomized_response(["a", "b", "c"], prob=0.6)
    claimed = respond.map(1)
    assert claimed == pytest.approx(log(3))

    def release(word: str) -> str:
        return "".join(respond(symbol) for symbol in word)

    options = {"draws": 6_000, "confidence": SURE, "world": pv.Alphabet("abc"), "rng": pv.insecure_seed(1)}
    audit = pv.audit_statistically(release, "ab", epsilon=claimed, **options)
    assert audit.holds
    # At a third of the claim: OpenDP cannot be seeded, and a wrong alarm here must be as good as impossible.
    assert not replace(audit, claimed=claimed / 3).holds


@pytest.mark.slow
def test_laplace_noise_of_opendp_keeps_its_claim_and_no_smaller_one(dp: ModuleType) -> None:
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    noisy = dp.m.make_laplace(*space, scale=1.0)
    counts, other = np.array([40, 25, 7]), np.array([41, 25, 7])
    options = {"draws": 20_000, "confidence": SURE, "rng": pv.insecure_seed(1)}

    def release(counts: np.ndarray) -> list[int]:
        return noisy(counts.tolist())

    audit = pv.audit_statistically(release, counts, other, epsilon=noisy.map(1), **options)
    assert audit.holds
    assert not replace(audit, claimed=noisy.map(1) / 3).holds
