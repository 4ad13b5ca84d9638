"""What guarantees of words say in words, and what is said before a proof takes long."""

from __future__ import annotations

import itertools

import pytest

import pathveil as pv
from pathveil.numerics import long_work
from tests.worlds import LETTER_CHAIN

LETTERS = pv.Alphabet("ab")


@pytest.mark.parametrize(("adjacency", "differs"), [(1, "at most 1 symbol"), (2, "at most 2 symbols")])
@pytest.mark.parametrize("kind", [pv.Exponential, pv.PermuteAndFlip, pv.CertifiedExponential, pv.Online])
def test_the_unit_names_the_words_that_the_promise_compares_with(
    kind: type[pv.WordMechanism], adjacency: int, differs: str
) -> None:
    for world, on_infeasible in ((LETTERS, "refuse"), (LETTER_CHAIN, "refuse"), (LETTER_CHAIN, "nearest")):
        guarantee = kind(world, 1.0, adjacency, on_infeasible=on_infeasible).guarantee
        among_feasible = kind is pv.CertifiedExponential and world is LETTER_CHAIN and on_infeasible == "refuse"
        assert (
            guarantee.unit
            == f"any other {'feasible ' * among_feasible}word of the same length that differs in {differs}"
        )
        refused = any("feasible (others are refused)" in one for one in guarantee.public)
        assert refused == (world is LETTER_CHAIN and on_infeasible == "refuse")
        assert any("length of the word" in one for one in guarantee.public)


def test_the_state_before_the_word_is_public_where_words_begin_after_one() -> None:
    after = pv.MarkovChain.from_edges([("a", "b"), ("b", "a"), ("a", "a")], initial="b")
    assert "the state before the word ('b')" in pv.Exponential(after, 1.0).guarantee.public
    assert not any("before the word" in one for one in pv.Exponential(LETTER_CHAIN, 1.0).guarantee.public)


@pytest.mark.parametrize("kind", [pv.Exponential, pv.PermuteAndFlip, pv.CertifiedExponential, pv.Online])
def test_with_distances_the_unit_says_how_far_symbols_move(kind: type[pv.WordMechanism]) -> None:
    points = {"a": (0.0, 0.0), "b": (1.0, 0.0), "c": (9.0, 0.0)}
    distance = pv.SymbolDistance.from_coordinates(points, radius=4.0)
    for options, moved in (({}, ""), ({"within": 2.0}, ", which is at most 2 away from the true one")):
        guarantee = kind(LETTER_CHAIN, 1.0, distance=distance, **options).guarantee  # type: ignore[call-arg]
        feasible = "feasible " * (kind is pv.CertifiedExponential)
        said = f"any other {feasible}word of the same length that differs in at most 1 symbol{moved}"
        assert guarantee.unit.startswith(said)
        assert ("1 of 3 symbols" in guarantee.unit) == bool(options)
        assert any(one.endswith("(radius 4)") for one in guarantee.public)
        assert guarantee.sampling.startswith("drawn exactly")
    several = kind(LETTER_CHAIN, 1.0, 2, distance=distance, within=2.0).guarantee  # type: ignore[call-arg]
    assert "at most 2 symbols, each of them at most 2 away" in several.unit


@pytest.mark.parametrize(
    ("options", "lengths", "said"),
    [
        (
            {},
            [3, 4, 5, 5],
            "a proof for each length of words will take about 40 s more; `max_length=5` takes one proof",
        ),
        ({"max_length": 9}, [3, 4, 5, 9], "a proof for each length of words will take about 60 s more"),
    ],
)
def test_proofs_for_many_lengths_are_announced(options, lengths, said, monkeypatch, caplog) -> None:
    ticks = itertools.count(0.0, 20.0)
    monkeypatch.setattr(long_work.time, "monotonic", lambda: next(ticks))
    pv.CertifiedExponential(LETTERS, 1.0, **options).prepare(lengths)
    [message] = caplog.messages
    assert message.startswith(said)
    assert ("max_length" in message) == (not options)


@pytest.mark.parametrize(("options", "lengths"), [({}, "4 symbols"), ({"max_length": 4}, "up to 4 symbols")])
def test_a_proof_that_takes_long_is_announced_with_its_length_and_epsilon(
    options, lengths, monkeypatch, caplog
) -> None:
    monkeypatch.setattr("pathveil.words.certificate.certificate.least_work", lambda *_: 7e9)
    pv.CertifiedExponential(LETTER_CHAIN, 2.5, contexts=1, **options).prepare([4])
    assert caplog.messages[0].startswith(f"the proof for words of {lengths} at ε = 2.5 will take about 6 minutes")


def test_a_system_that_is_too_large_for_a_proof_is_published_with_the_reason(monkeypatch) -> None:
    monkeypatch.setattr("pathveil.words.certificate.certificate.least_work", lambda *_: 1e15)
    certificate = pv.CertifiedExponential(LETTER_CHAIN, 2.5).certificate(7)
    assert certificate.method == ("published calibration: bounds for 5 transitions at 7 positions would take too long")
    assert certificate.loss <= 2.5
    assert certificate.theta == pytest.approx(1.25)
