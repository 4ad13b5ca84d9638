"""Audits of models of sequences: the shipped fit stands, and planted errors are found.

False alarms: an audit refutes a true claim with probability at most 1e-4.
"""

from __future__ import annotations

import pytest

import pathveil as pv
from pathveil.models.laplace import CountNoise
from pathveil.models.sequences import measuring

QUICK = {"draws": 1000, "confidence": 1 - 1e-4}


def plant_noise(monkeypatch, module, tenths):
    right = module.laplace_noise
    monkeypatch.setattr(
        module, "laplace_noise", lambda *given: CountNoise("laplace", right(*given).scale * tenths / 10)
    )


@pytest.mark.slow
def test_the_shipped_fit_stands_and_a_fifth_of_its_noise_does_not(monkeypatch):
    found = pv.audit_sequences(2.0, 0.05, unit="user", max_words_per_user=2, rng=pv.insecure_seed(1), **QUICK)
    assert [name for name, one in found.items() if one.holds] == ["whole fits", "kept words"]
    plant_noise(monkeypatch, measuring, 2)
    found = pv.audit_sequences(2.0, neighbours="add-remove", rng=pv.insecure_seed(1), **QUICK)
    assert not found["whole fits"].holds
