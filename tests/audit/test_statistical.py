"""What a statistical audit takes, finds and says."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import pathveil as pv
from pathveil.audit.black_boxes import WordBlackBox
from pathveil.audit.confidence import lower_probability, upper_probability
from pathveil.audit.exhaustive import feasible_codes
from pathveil.audit.neighbours import neighbours_of
from pathveil.words.base.mechanism import hamming_distances
from tests.audit import planted
from tests.words.mechanisms import MECHANISMS, build

# The bounds in this file are at confidence 1 - 1e-6 where a true statement could fail by chance.
SURE = 1 - 1e-6


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_bound_comes_near_the_true_loss_and_stays_below_it(name: str) -> None:
    mechanism = build(name, planted.CHAIN, 2.0)
    assert mechanism is not None
    true = pv.audit_exhaustively(mechanism, length=4).loss
    draws = 20_000 if name in ("permute-and-flip", "inverse utility") else 60_000
    audit = pv.audit_statistically(mechanism, draws=draws, confidence=SURE, length=4, rng=pv.insecure_seed(1))
    assert 0.5 * true < audit.epsilon_lower <= true
    assert audit.holds
    assert audit.claimed == 2.0
    # Adjacent, feasible words were compared.
    assert sum(a != b for a, b in zip(audit.word, audit.neighbour, strict=True)) == 1
    assert planted.CHAIN.is_feasible(audit.word)
    assert planted.CHAIN.is_feasible(audit.neighbour)


def test_infeasible_words_are_compared_where_the_mechanism_accepts_them() -> None:
    # A road with one way through: no feasible word has a feasible neighbour, but infeasible ones have neighbours.
    road = pv.MarkovChain.from_edges([("a", "b"), ("b", "c"), ("c", "a")])
    with pytest.raises(pv.InvalidParameterError, match="nothing to audit"):
        pv.audit_statistically(pv.Exponential(road, 1.0), ("a", "b", "c"), draws=2000)
    accepting = pv.Exponential(road, 1.0, on_infeasible="nearest")
    audit = pv.audit_statistically(accepting, ("a", "b", "c"), draws=10_000, confidence=SURE, rng=pv.insecure_seed(1))
    assert 0.1 < audit.epsilon_lower <= pv.audit_exhaustively(accepting, length=3).loss


def test_a_larger_adjacency_is_searched_as_well() -> None:
    mechanism = pv.CertifiedExponential(pv.Alphabet("abc"), 2.0, adjacency=2)
    audit = pv.audit_statistically(mechanism, "abcab", draws=60_000, confidence=SURE, rng=pv.insecure_seed(1))
    assert sum(a != b for a, b in zip(audit.word, audit.neighbour, strict=True)) == 2
    assert 1.5 < audit.epsilon_lower <= 2.0


def test_a_function_that_changes_the_length_of_words_is_audited() -> None:
    generator = np.random.default_rng(1)

    def release(word: str) -> str:
        return word + "x" * int(generator.integers(0, 3)) if generator.random() < 0.9 else ""

    audit = pv.audit_statistically(release, "ab", "ac", draws=2000, epsilon=1.0, confidence=SURE)
    assert not audit.holds


def test_without_a_claim_the_bound_is_all() -> None:
    audit = pv.audit_statistically(lambda word: word, "a", "b", draws=1000)
    assert audit.holds
    assert audit.epsilon_lower > 3
    assert audit.verdict.startswith("Measured")


def test_the_verdict_names_what_a_person_needs() -> None:
    audit = pv.audit_statistically(lambda word: word, "aa", "ab", draws=1000, epsilon=1.0, rng=pv.insecure_seed(1))
    said = str(audit)
    for part in ("REFUTED", "ε = 1 is claimed", "confidence 0.99", "aa", "ab", "Do not release"):
        assert part in said
    assert (audit.hits[0], audit.hits[1]) == (audit.tested[0], 0)
    assert sum(audit.tested) < audit.draws


def test_an_audit_of_vectors_searches_its_candidates() -> None:
    # Only the last entry has too little noise.
    generator = np.random.default_rng(1)

    def release(counts: np.ndarray, size: int) -> np.ndarray:
        return counts + generator.laplace(scale=[5.0, 5.0, 0.2], size=(size, 3))

    counts = np.array([9.0, 9.0, 9.0])
    audit = pv.audit_statistically(
        release,
        counts,
        candidates=[counts + np.eye(3)[i] for i in range(3)],
        draws=20_000,
        epsilon=1.0,
        confidence=SURE,
        batched=True,
    )
    assert not audit.holds
    assert abs(audit.word - audit.neighbour).tolist() == [0, 0, 1]


def test_outputs_of_another_shape_than_the_input_are_told_apart_by_a_fitted_direction() -> None:
    generator = np.random.default_rng(1)

    def release(counts: np.ndarray, size: int) -> np.ndarray:
        total = counts.sum() + generator.normal(scale=0.2, size=(size, 1))
        return np.hstack([generator.normal(size=(size, 1)), total])

    audit = pv.audit_statistically(
        release, np.zeros(5), np.eye(5)[0], draws=5_000, epsilon=1.0, delta=0.01, confidence=SURE, batched=True
    )
    assert not audit.holds


ROWS, OTHER_ROWS = [[40, 30, 30], [20, 60, 20], [10, 10, 80]], [[60, 10, 30], [20, 60, 20], [10, 10, 80]]


@pytest.mark.parametrize(
    ("release", "first", "second"),
    [
        (lambda counts: pv.private_frequencies(counts, epsilon=1.0, delta=1e-2), ROWS[0], OTHER_ROWS[0]),
        (
            lambda rows: pv.private_matrix(rows, epsilon=1.0, delta=1e-2, change=0.01),
            [[share / 100 for share in row] for row in ROWS],
            [[share / 100 for share in row] for row in OTHER_ROWS],
        ),
        (
            lambda counts: pv.fit_private_chain(counts, states="abc", epsilon=1.0, mechanism="laplace"),
            np.array(ROWS),
            np.array(OTHER_ROWS),
        ),
    ],
    ids=["frequencies", "matrix", "chain"],
)
def test_our_own_releases_of_numbers_are_audited_as_they_are(release: object, first: object, second: object) -> None:
    # Twenty records are not one: the audit has to see that, in whatever the release consists of.
    audit = pv.audit_statistically(
        release, first, second, draws=1000, epsilon=1.0, delta=1e-2, confidence=SURE, rng=pv.insecure_seed(1)
    )  # type: ignore[arg-type]
    assert not audit.holds


def test_clopper_pearson_bounds_are_the_known_ones() -> None:
    # 10 of 100 at 97.5% on either side: a textbook interval. Nothing seen: the rule of three.
    assert float(lower_probability(10, 100, 0.025)) == pytest.approx(0.0490047, abs=1e-6)
    assert float(upper_probability(10, 100, 0.025)) == pytest.approx(0.1762226, abs=1e-6)
    assert float(upper_probability(0, 300, 0.05)) == pytest.approx(1 - 0.05 ** (1 / 300))
    assert (float(lower_probability(0, 5, 0.1)), float(upper_probability(5, 5, 0.1))) == (0.0, 1.0)


@pytest.mark.parametrize("adjacency", [1, 2])
@pytest.mark.parametrize("feasible", [True, False])
def test_neighbours_are_all_words_near_by(adjacency: int, feasible: bool) -> None:
    world, word = planted.CHAIN, (0, 0, 1, 2)
    codes = world.encode(word)
    every = feasible_codes(world.compiled, 4) if feasible else np.array(list(product(range(3), repeat=4)))
    distance = hamming_distances(codes, every)
    expected = {tuple(row) for row in every[(distance > 0) & (distance <= adjacency)].tolist()}
    assert set(neighbours_of(world, word, adjacency, feasible, 1000, pv.insecure_seed(1))) == expected
    few = neighbours_of(world, word, adjacency, feasible, len(expected) - 1, pv.insecure_seed(1))
    assert 0 < len(few) < len(expected)
    assert set(few) <= expected


def test_the_distances_to_both_words_carry_the_likelihood_ratio() -> None:
    # Exponentially many outputs, few classes: within a class the ratio is one number, for every mechanism by distance.
    world, word, neighbour = planted.CHAIN, (0, 0, 1, 2, 0, 0), (0, 0, 0, 0, 0, 0)
    outputs = feasible_codes(world.compiled, 6)
    box = WordBlackBox(lambda given: given, world, 6, None)
    padded = np.hstack([outputs, np.full((len(outputs), 1), 6)])
    classes = box.views(word, neighbour, padded, padded)[0].keys(padded)
    for kind in (pv.Exponential, pv.PermuteAndFlip):
        mechanism = kind(world, 2.0, 2)
        first, second = (mechanism.log_probabilities(world.encode(one), outputs) for one in (word, neighbour))
        for one in np.unique(classes):
            assert np.ptp((first - second)[classes == one]) < 1e-9
    assert len(np.unique(classes)) < len(outputs) / 2


FAIR = pv.CertifiedExponential(pv.Alphabet("ab"), 1.0)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: pv.audit_statistically(FAIR, "ab", draws=10), "at least 1000"),
        (lambda: pv.audit_statistically(FAIR, "ab", confidence=1.0), "between 0.5 and 1"),
        (lambda: pv.audit_statistically(FAIR, "ab", epsilon=1.0), "this one knows"),
        (lambda: pv.audit_statistically(FAIR), "length"),
        (lambda: pv.audit_statistically(FAIR, "ab", "bb", candidates=["aa"]), "not both"),
        (lambda: pv.audit_statistically(FAIR, np.array([0, 1]), np.array([0, 0])), "takes words"),
        (lambda: pv.audit_statistically(FAIR, "ab", "ba"), "differ in 2 symbols"),
        (lambda: pv.audit_jointly(FAIR, ["ab", "aa"], "ba"), "differ in 2 symbols"),
        (lambda: pv.audit_statistically(str, "ab"), "give a neighbour"),
        (lambda: pv.audit_statistically(3, "ab", "bb"), "not int"),
        (lambda: pv.audit_statistically(str, "ab", "bb", delta=1.5), "delta"),
        (lambda: pv.audit_statistically(lambda w, _: [w], "ab", "bb", batched=True), "gave 1"),
        (lambda: pv.audit_statistically(lambda v: v / 0, np.array([1.0]), np.array([2.0])), "finite"),
        (lambda: pv.audit_jointly(FAIR, "ab", "bb"), "at least two words"),
        (lambda: pv.audit_jointly(FAIR, ["ab", "aa"], "bb", epsilon=1.0), "knows its own"),
        (lambda: pv.audit_uniformity(str, "ab"), "public world"),
        (lambda: pv.audit_uniformity(pv.Online(pv.Alphabet("ab"), 1.0), "ab"), "does not promise"),
        (lambda: pv.audit_uniformity(pv.PermuteAndFlip(pv.Alphabet("a"), 1.0), "aa", 100), "nothing to test"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_wrong_use_is_explained(call: object, says: str) -> None:
    with pytest.raises(pv.InvalidParameterError, match=says):
        call()  # type: ignore[operator]


def test_words_of_different_lengths_are_refused_for_mechanisms_that_keep_the_length() -> None:
    with pytest.raises(pv.LengthMismatchError, match="same length"):
        pv.audit_statistically(FAIR, "ab", "aba")


def test_sets_of_words_are_audited_the_empty_one_among_them():
    def shown(words, size):
        return [words if draw < 0.2 else [] for draw in np.random.default_rng(1).random(size)]

    found = pv.audit_statistically(shown, ["home"], ["work"], draws=2000, epsilon=1.0, batched=True)
    assert not found.holds
    assert "home" in found.event or "work" in found.event or "distance" in found.event


def test_numbers_made_from_lists_of_words_are_audited():
    rng = np.random.default_rng(2)

    def noisy(words, size):
        return len(words) + rng.laplace(scale=0.5, size=(size, 1))

    for epsilon, holds in ((1.0, False), (2.0, True)):  # the true loss is 2; a false alarm has probability 1e-6
        found = pv.audit_statistically(
            noisy, ["home", "work"], ["home"], draws=40_000, confidence=1 - 1e-6, epsilon=epsilon, batched=True
        )
        assert found.holds is holds
