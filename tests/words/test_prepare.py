"""`prepare`: proofs are made when they are asked for, once for each length, and draws find them ready."""

from __future__ import annotations

import pytest

import pathveil as pv

TOWN = pv.example_town()


@pytest.fixture
def proofs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lengths for which a certificate is made, in order."""
    made: list[int] = []
    certify = pv.CertifiedExponential._certify

    def noticed(mechanism: pv.CertifiedExponential, length: int) -> pv.Certificate:
        made.append(length)
        return certify(mechanism, length)

    monkeypatch.setattr(pv.CertifiedExponential, "_certify", noticed)
    return made


def test_each_length_is_proved_once_and_draws_do_not_wait(proofs: list[int]) -> None:
    mechanism = pv.CertifiedExponential(TOWN, epsilon=3.0)
    told: list[tuple[str, int]] = []
    mechanism.prepare([4, 2, 4], lambda stage, done: told.append((stage, done)))
    assert proofs == [2, 4]
    assert told == [("proving", 1), ("proving", 2)]
    mechanism.prepare([2])
    mechanism.privatize_many([TOWN.random_word(n, pv.insecure_seed(n)) for n in (2, 4)], rng=pv.insecure_seed(1))
    assert proofs == [2, 4]


def test_a_draw_proves_what_was_not_prepared_before_it_draws(proofs: list[int]) -> None:
    mechanism = pv.CertifiedExponential(TOWN, epsilon=3.0)
    mechanism.privatize_many([TOWN.random_word(n, pv.insecure_seed(n)) for n in (3, 2, 3)], rng=pv.insecure_seed(1))
    assert proofs == [2, 3]


def test_one_certificate_serves_all_lengths_up_to_a_limit(proofs: list[int]) -> None:
    mechanism = pv.CertifiedExponential(TOWN, epsilon=3.0, max_length=5)
    mechanism.prepare(range(1, 6))
    assert proofs == [5]
    with pytest.raises(pv.InvalidParameterError, match="longer than `max_length"):
        mechanism.prepare([6])


def test_edit_mechanisms_prove_one_certificate() -> None:
    mechanism = pv.CertifiedEditExponential(TOWN, epsilon=3.0, lengths=(2, 4))
    told: list[tuple[str, int]] = []
    assert "certificate" not in vars(mechanism)
    mechanism.prepare([2, 3], lambda stage, done: told.append((stage, done)))
    assert "certificate" in vars(mechanism)
    assert told == [("proving", 1)]


@pytest.mark.parametrize("kind", [pv.Exponential, pv.PermuteAndFlip, pv.Online])
def test_mechanisms_without_a_certificate_have_nothing_to_prepare(kind: type[pv.WordMechanism]) -> None:
    kind(TOWN, epsilon=3.0).prepare([2, 3], lambda *_: pytest.fail("nothing is proved"))
