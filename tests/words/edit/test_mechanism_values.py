"""The edit mechanisms on six words, where everything can be worked out by hand."""

from __future__ import annotations

from math import exp, inf, log

import pyarrow as pa
import pytest

import pathveil as pv

TWO = pv.Alphabet("ab")
# From the word a: itself; b, aa, ab, ba at one edit; bb at two.
OUTPUTS = {"a": 0, "b": 1, "aa": 1, "ab": 1, "ba": 1, "bb": 2}


@pytest.mark.parametrize(("adjacency", "cap", "theta"), [(1, None, 1.0), (2, None, 0.5), (3, None, 0.5), (2, 1, 1.0)])
def test_the_law_of_a_tiny_range(adjacency, cap, theta):
    mechanism = pv.EditExponential(TWO, 2.0, adjacency, (1, 2), cap)
    largest = 2 if cap is None else cap
    assert (mechanism.theta(), mechanism.cap, mechanism.lengths, mechanism.output_count) == (theta, largest, (1, 2), 6)
    assert mechanism.accepted_lengths == (1, 2)
    weights = {word: exp(-theta * min(edits, largest)) for word, edits in OUTPUTS.items()}
    total = sum(weights.values())
    for word, weight in weights.items():
        assert mechanism.log_probability("a", word) == pytest.approx(log(weight / total), abs=1e-12)
    by_distance = [0.0] * (largest + 1)
    for word, edits in OUTPUTS.items():
        by_distance[min(edits, largest)] += weights[word] / total
    assert mechanism.error_law("a").pmf == pytest.approx(by_distance, abs=1e-12)
    one = (weights["a"] + weights["b"]) / total
    assert mechanism.length_law("a") == pytest.approx({1: one, 2: 1 - one}, abs=1e-12)


def test_outputs_are_counted_by_length_and_distance():
    assert pv.EditExponential(TWO, 1.0, 1, (1, 2)).counts_by_length("a") == {1: (1, 1, 0), 2: (0, 3, 1)}
    # No word of three symbols is feasible here.
    pairs = pv.TransitionSystem({(0, "a"): 1, (1, "b"): 0, (1, "a"): 0}, initial=0, accepting={0})
    mechanism = pv.EditPermuteAndFlip(pairs, 1.0, 1, (2, 4), cap=3)
    counts = mechanism.counts_by_length("ab")
    assert counts == {2: (1, 1, 0, 0), 3: (0, 0, 0, 0), 4: (0, 0, 3, 1)}
    law, lengths = mechanism.laws_from(counts)
    assert law.pmf == pytest.approx(mechanism.error_law("ab").pmf)
    assert lengths[3] == 0.0
    assert sum(lengths.values()) == pytest.approx(1.0)


def test_words_outside_of_the_range_are_impossible():
    mechanism = pv.EditExponential(TWO, 1.0, lengths=(2, 3))
    possible = [mechanism.log_probability("ab", word) > -inf for word in ("b", "bb", "bbb", "bbbb")]
    assert possible == [False, True, True, False]


def test_the_unit_and_what_is_public_are_written_out():
    one = pv.EditExponential(TWO, 1.0, lengths=(1, 5)).guarantee
    assert one.unit.startswith(
        "the same but for any 1 insertion, deletion or substitution in one word, its length included, "
        "lengths 1 to 5 public"
    )
    assert "that the word has 1 to 5 symbols" in one.public
    assert not any("equally likely" in public for public in one.public)
    two = pv.EditExponential(TWO, 1.0, 2, lengths=(1, 5), cap=4).guarantee
    assert "any 2 insertions, deletions or substitutions in one word" in two.unit
    assert "the cap (words 4 or more edits away are equally likely)" in two.public
    whole = pv.EditExponential(TWO, 1.0, lengths=(1, 5), cap=5).guarantee
    assert not any("equally likely" in public for public in whole.public)


@pytest.mark.parametrize("kind", [pa.list_(pa.int64()), pa.list_(pa.uint8()), pa.large_list(pa.int32())])
def test_arrow_batches_are_cut_and_put_together_again(kind):
    mechanism = pv.EditPermuteAndFlip(TWO, 600.0, lengths=(1, 4))
    for words in ([[0, 1, 1], [1], [0, 0, 0, 0], [1]], [[1, 0]], []):
        private = mechanism.privatize_arrow(pa.array(words, type=kind))
        assert private.type == kind
        assert private.to_pylist() == words
    with pytest.raises(pv.LengthMismatchError, match=r"^word 2: "):
        mechanism.privatize_arrow(pa.array([[0], [1], [0] * 5, [1]], type=kind))


def test_arrow_words_are_drawn_like_listed_ones():
    mechanism = pv.EditExponential(TWO, 1.0, lengths=(1, 4), cap=3)
    words = ["ab", "b", "abba", "ab"]
    codes = pa.array([["ab".index(letter) for letter in word] for word in words])
    listed = mechanism.privatize_many(words, rng=pv.insecure_seed(3))
    arrow = mechanism.privatize_arrow(codes, rng=pv.insecure_seed(3))
    assert ["".join("ab"[code] for code in word) for word in arrow.to_pylist()] == listed
    # Each word has noise of its own: equal words of a batch do not stay equal.
    assert len(set(mechanism.privatize_many(["abab"] * 50, rng=pv.insecure_seed(4)))) > 10


def test_infeasible_words_are_refused_or_drawn_towards():
    chain = pv.MarkovChain.from_edges([("a", "b"), ("b", "a")])
    with pytest.raises(pv.InfeasibleWordError):
        pv.EditExponential(chain, 1.0, lengths=(1, 3)).privatize("aa")
    lenient = pv.EditExponential(chain, 200.0, lengths=(1, 3), on_infeasible="nearest")
    assert lenient.privatize("aa") in {"a", "ab", "ba", "aba"}
    with pytest.raises(pv.LengthMismatchError):
        lenient.privatize("aaaa")
