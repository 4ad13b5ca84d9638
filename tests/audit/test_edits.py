"""Audits of the mechanisms for edit distance: right ones pass, planted bugs are found.

Statistical audits run at confidence 1 - 1e-6: a correct mechanism is flagged with a probability of at most 1e-6 each.
"""

from __future__ import annotations

import numpy as np
import pytest

import pathveil as pv
from pathveil.audit.neighbours import edit_neighbours_of
from tests.audit import planted
from tests.reference.edits import levenshtein
from tests.statistics import FALSE_ALARM

SURE = 1 - FALSE_ALARM
KINDS = (pv.EditExponential, pv.EditPermuteAndFlip, pv.CertifiedEditExponential)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cap", [None, 3])
def test_right_mechanisms_are_not_refuted_and_the_bound_stays_below_the_true_loss(kind, cap) -> None:
    mechanism = kind(planted.CHAIN, 4.0, lengths=(2, 5), cap=cap)
    exact = pv.audit_exhaustively(mechanism)
    assert exact.holds
    assert (exact.inputs, exact.lengths) == ("feasible", (2, 5))
    audit = pv.audit_statistically(mechanism, draws=20_000, confidence=SURE, rng=pv.insecure_seed(1))
    assert audit.holds
    assert 0.4 * exact.loss < audit.epsilon_lower <= exact.loss
    assert levenshtein(audit.word, audit.neighbour) == 1


def test_infeasible_words_are_compared_where_they_are_accepted() -> None:
    mechanism = pv.EditPermuteAndFlip(planted.CHAIN, 3.0, lengths=(2, 3), on_infeasible="nearest")
    exact = pv.audit_exhaustively(mechanism)
    assert (exact.inputs, exact.holds) == ("any", True)
    assert "2 to 3 symbols" in str(exact)
    wrong = planted.TooFewEdits(planted.CHAIN, 3.0, lengths=(2, 3), on_infeasible="nearest")
    assert not pv.audit_exhaustively(wrong).holds
    # (2, 2) cannot occur in the chain.
    options = {"draws": 20_000, "confidence": SURE, "rng": pv.insecure_seed(1)}
    audit = pv.audit_statistically(mechanism, (2, 2), **options)
    assert audit.holds
    assert 0.5 < audit.epsilon_lower <= exact.loss
    with pytest.raises(pv.InfeasibleWordError):
        pv.audit_statistically(pv.EditPermuteAndFlip(planted.CHAIN, 3.0, lengths=(2, 3)), (2, 2), (2, 0), **options)


def test_twice_the_tilt_with_permute_and_flip_is_found_by_both_audits() -> None:
    wrong = planted.TooFewEdits(planted.CHAIN, 3.0, lengths=(2, 5))
    exact = pv.audit_exhaustively(wrong)
    assert not exact.holds
    assert exact.loss > 3.5
    audit = pv.audit_statistically(wrong, draws=40_000, confidence=SURE, rng=pv.insecure_seed(1))
    assert not audit.holds
    assert 3.0 < audit.epsilon_lower <= exact.loss
    right = pv.EditPermuteAndFlip(planted.CHAIN, 3.0, lengths=(2, 5))
    assert pv.audit_statistically(right, draws=40_000, confidence=SURE, rng=pv.insecure_seed(1)).holds


def test_a_mechanism_that_keeps_the_length_is_found() -> None:
    world = pv.Alphabet("abc")
    wrong = planted.KeepsTheLength(world, 2.0, lengths=(2, 5))
    audit = pv.audit_statistically(wrong, "abca", draws=10_000, confidence=SURE, rng=pv.insecure_seed(1))
    assert not audit.holds
    assert audit.epsilon_lower > 5  # the true loss is infinite
    assert len(audit.word) != len(audit.neighbour)
    right = pv.EditExponential(world, 2.0, lengths=(2, 5))
    assert pv.audit_statistically(right, "abca", draws=10_000, confidence=SURE, rng=pv.insecure_seed(1)).holds


def test_a_draw_that_does_not_follow_its_own_law_is_found_by_drawing_alone() -> None:
    wrong = planted.RareTruth(planted.CHAIN, 1.0, lengths=(3, 6), cap=4)
    assert pv.audit_exhaustively(wrong).holds  # the law is right, the program is not
    audit = pv.audit_statistically(wrong, draws=40_000, confidence=SURE, rng=pv.insecure_seed(1))
    assert not audit.holds
    right = pv.EditExponential(planted.CHAIN, 1.0, lengths=(3, 6), cap=4)
    assert pv.audit_statistically(right, draws=40_000, confidence=SURE, rng=pv.insecure_seed(1)).holds


@pytest.mark.parametrize("feasible", [True, False])
@pytest.mark.parametrize("adjacency", [1, 2, 6])
def test_neighbours_are_all_words_within_the_edits_or_a_sample_of_them(feasible, adjacency) -> None:
    world, word = planted.CHAIN, (0, 1, 2, 0)
    found = edit_neighbours_of(world, word, adjacency, (3, 5), feasible, 10**6, pv.insecure_seed(1))
    every = [()]
    expected = set()
    for _ in range(5):
        every = [(*one, symbol) for one in every for symbol in world.symbols]
        expected |= {
            one
            for one in every
            if len(one) >= 3 and 1 <= levenshtein(one, word) <= adjacency and (not feasible or world.is_feasible(one))
        }
    assert len(found) == len(expected)
    assert set(found) == expected
    few = edit_neighbours_of(world, word, adjacency, (3, 5), feasible, 5, pv.insecure_seed(1))
    assert 0 < len(few) <= 5
    assert set(few) <= expected


def test_words_that_the_promise_does_not_compare_are_refused() -> None:
    mechanism = pv.EditExponential(pv.Alphabet("abc"), 1.0, lengths=(2, 4))
    for neighbour, why in (("acb", "2 edits apart"), ("abc", "0 edits apart"), ("ab" * 3, "2 to 4 symbols")):
        with pytest.raises(pv.PathVeilError, match=why):
            pv.audit_statistically(mechanism, "abc", neighbour, draws=1_000)
    with pytest.raises(pv.InvalidParameterError, match="this one knows them"):
        pv.audit_statistically(mechanism, "abc", "ab", epsilon=1.0)
    with pytest.raises(pv.InvalidParameterError, match="leave it out"):
        pv.audit_exhaustively(mechanism, 3)
    with pytest.raises(pv.InvalidParameterError, match="give the length"):
        pv.audit_exhaustively(pv.Exponential(pv.Alphabet("abc"), 1.0))
    with pytest.raises(pv.InvalidParameterError, match="promises nothing about them"):
        pv.audit_exhaustively(pv.CertifiedEditExponential(planted.CHAIN, 1.0, lengths=(2, 3)), inputs="any")
    with pytest.raises(pv.InvalidParameterError, match="privatize_many"):
        pv.audit_jointly(mechanism, ["abc", "ab"], "ab")


def test_any_words_can_be_compared_for_a_promise_about_all_of_them() -> None:
    mechanism = pv.EditExponential(planted.CHAIN, 2.0, lengths=(2, 3))
    losses = [pv.audit_exhaustively(mechanism, inputs=inputs).loss for inputs in ("feasible", "any")]
    assert losses[0] <= losses[1] <= 2.0


def test_drawn_rows_hold_the_private_words() -> None:
    from pathveil.audit.black_boxes import EditBlackBox

    mechanism = pv.EditExponential(planted.CHAIN, 2.0, lengths=(2, 5))
    rows = EditBlackBox(mechanism, pv.insecure_seed(1)).draw((0, 1, 2), 50)
    private = mechanism.privatize_many([(0, 1, 2)] * 50, pv.insecure_seed(1))
    for row, word in zip(rows, private, strict=True):
        assert row[-1] == len(word)
        assert mechanism.world.decode(row[: len(word)].tolist()) == word
        assert (row[len(word) : -1] == -1).all()
    assert isinstance(rows, np.ndarray)
