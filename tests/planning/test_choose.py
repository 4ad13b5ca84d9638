"""The choice of a mechanism: from public words only, and with its reason."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

import pathveil as pv
from pathveil.planning import choose as choosing
from pathveil.planning.choose import candidates, choose
from pathveil.planning.lengths import LengthMix
from pathveil.planning.public_words import expected_errors, public_words
from pathveil.planning.word_curves import word_curves
from pathveil.words.by_name import MECHANISMS
from tests.reference.enumeration import feasible_words, hamming
from tests.reference.random_systems import SystemWithLength, systems_with_length
from tests.sizes import given_few_and_many
from tests.worlds import RING, hub_and_spoke

LETTERS = pv.MarkovChain.from_edges([("a", "b"), ("b", "a"), ("b", "c"), ("c", "a"), ("a", "a")])
TOWN = pv.example_town()
HUBS = hub_and_spoke(12, hubs=2, flights=2)  # online errs less at ε = 1, and the certified mechanism at ε = 5
TOGGLE = pv.TransitionSystem({(0, "a"): 1, (1, "a"): 0, (0, "b"): 0, (1, "b"): 1}, initial=0)


@pytest.mark.parametrize(
    "world",
    [
        pv.Alphabet("abc"),
        RING,
        TOGGLE,
        pytest.param(TOWN, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("epsilon", [0.5, 5.0])
def test_the_chosen_mechanism_has_the_fewest_expected_errors_on_public_words(world: pv.System, epsilon: float) -> None:
    best = pv.best_mechanism(world, length=5, epsilon=epsilon)
    candidates = [
        kind(world, epsilon) for kind in (pv.CertifiedExponential, pv.PermuteAndFlip, pv.Exponential, pv.Online)
    ]
    source = pv.insecure_seed(0)
    words = [world.random_word(5, source) for _ in range(12)]
    means = [np.mean([m.error_law(word).mean for word in words]) for m in (best, *candidates)]
    assert means[0] <= min(means[1:]) * (1 + 1e-6)
    assert best.reason is not None
    assert type(best).__name__ in best.reason


def test_the_choice_says_why_and_does_not_touch_entropy_or_data() -> None:
    first, second = (pv.best_mechanism(TOWN, length=6, epsilon=2.0) for _ in range(2))
    assert first.reason == second.reason
    assert not first.guarantee.seeded  # the public sample's seed is not a release
    with pytest.raises(pv.NoFeasibleWordError, match="length 5"):
        pv.best_mechanism(pv.MarkovChain.from_edges([("a", "b")]), length=5, epsilon=1.0)


def test_a_choice_averages_over_twelve_public_words_or_one_where_all_are_alike() -> None:
    words = public_words(TOWN, 6)
    assert len(words) == 12
    assert words == public_words(TOWN, 6)
    assert len(set(words)) > 6
    assert all(TOWN.is_feasible(word) and len(word) == 6 for word in words)
    assert len(public_words(pv.Alphabet("ab"), 5)) == 1
    mechanism = pv.PermuteAndFlip(TOWN, 2.0)
    expected = np.mean([mechanism.error_law(word).mean for word in words])
    assert expected_errors(mechanism, TOWN, 6) == pytest.approx(expected, rel=1e-12)


def test_what_is_too_dear_to_compute_is_not_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise pv.TooLargeError("too large")

    monkeypatch.setattr(pv.PermuteAndFlip, "_law", refuse)
    best = pv.best_mechanism(TOGGLE, 3, 1.0)
    assert not isinstance(best, pv.PermuteAndFlip)
    assert "PermuteAndFlip unknown" in str(best.reason)


def test_nothing_else_is_chosen_where_the_default_cannot_be_forecast(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise pv.TooLargeError("too large")

    monkeypatch.setattr(pv.CertifiedExponential, "_law", refuse)
    best = pv.best_mechanism(TOWN, 6, 5.0)
    assert isinstance(best, pv.CertifiedExponential), "that another errs less is not known"
    assert str(best.reason).startswith("CertifiedExponential: unknown")


def test_the_reason_names_all_candidates_with_their_errors() -> None:
    best = pv.best_mechanism(TOGGLE, length=4, epsilon=3.0, adjacency=2)
    assert (best.epsilon, best.adjacency, best.world) == (3.0, 2, TOGGLE)
    means = {
        kind.__name__: expected_errors(kind(TOGGLE, 3.0, 2), TOGGLE, 4)
        for kind in (pv.CertifiedExponential, pv.PermuteAndFlip, pv.Online)
    }
    least = min(means, key=means.__getitem__)
    others = ", ".join(f"{name} {mean:.3g}" for name, mean in means.items() if name != least)
    assert best.reason == (
        f"{least}: {means[least]:.3g} expected errors in 4 symbols; {others}"
        " (CertifiedExponential promises among feasible words, the others among all of that length)"
    )
    assert pv.Exponential(LETTERS, 1.0).reason is None
    dead_end = pv.TransitionSystem({(0, "a"): 1, (1, "a"): 0, (0, "b"): 0, (1, "b"): 2}, initial=0)
    assert "Online" not in str(pv.best_mechanism(dead_end, 2, 1.0).reason)
    assert "Online" not in str(pv.best_mechanism(pv.Alphabet("ab"), 2, 1.0).reason)


def test_a_range_or_a_declared_distribution_of_lengths_decides() -> None:
    best = pv.best_mechanism(HUBS, length=(2, 4), epsilon=5.0)
    shares = {}
    for kind in (pv.CertifiedExponential, pv.PermuteAndFlip, pv.Online):
        wrong = sum(expected_errors(kind(HUBS, 5.0), HUBS, length) for length in (2, 3, 4))
        shares[kind] = wrong / (2 + 3 + 4)
    assert type(best) is min(shares, key=shares.__getitem__)
    assert str(best.reason).startswith(f"{type(best).__name__}: {shares[type(best)]:.1%} of the symbols wrong in words")
    same = pv.best_mechanism(HUBS, length={2: 10, 3: 10, 4: 10}, epsilon=5.0)
    assert same.reason == best.reason


@pytest.mark.parametrize("epsilon", [1.0, 5.0])
def test_every_command_and_function_has_the_same_winner(epsilon: float) -> None:
    chosen = type(pv.best_mechanism(HUBS, 3, epsilon))
    assert chosen is (pv.Online if epsilon == 1.0 else pv.CertifiedExponential)
    named = choose(candidates(HUBS, epsilon), LengthMix({3: 1}), seconds=20.0).name
    assert MECHANISMS[named] is chosen
    assert pv.forecast(HUBS, 3, epsilon).best.mechanism == named
    assert word_curves(HUBS, 3, 1).best(epsilon) == named


@given_few_and_many(
    40, 100, system=systems_with_length(), epsilon=st.sampled_from([0.3, 2.0, 6.0]), adjacency=st.integers(1, 2)
)
def test_no_candidate_promises_less_than_the_certified_mechanism(
    system: SystemWithLength, epsilon: float, adjacency: int
) -> None:
    world, length = system
    compared = candidates(world, epsilon, adjacency)
    words = feasible_words(world, length)
    codes = np.array([world.encode(word) for word in words])
    for name, mechanism in compared.items():
        assert mechanism.epsilon == epsilon
        laws = np.array([mechanism.log_probabilities(one, codes) for one in codes])
        for i, word in enumerate(words):
            for j, other in enumerate(words):
                if hamming(word, other) <= adjacency:  # the pairs that the certified mechanism protects
                    assert (laws[i] - laws[j]).max() <= epsilon * (1 + 1e-9), name


def test_bounded_work_looks_at_fewer_lengths_and_words_or_at_none() -> None:
    mix = LengthMix(dict.fromkeys(range(2, 30), 1))
    compared = {"permute-and-flip": pv.PermuteAndFlip(TOWN, 2.0)}
    full = choose(compared, mix)
    assert len(full.looked_at) == 5
    one_law = choosing.seconds_for_a_law(TOWN.compiled, 29)
    fewer = choose(compared, mix, seconds=14 * one_law)
    assert 1 <= len(fewer.looked_at) < 5
    assert fewer.share == pytest.approx(full.share, rel=0.2)
    none = choose(compared, mix, seconds=0.1 * one_law)
    assert (none.share, none.name) == (None, "permute-and-flip")
    assert "would take about" in none.why_not["permute-and-flip"]


def test_long_words_over_a_free_alphabet_are_forecast_in_no_time() -> None:
    letters = pv.Alphabet("abcdef")
    choice = choose(candidates(letters, 2.0), LengthMix({1_000_000: 3}), seconds=20.0)
    wrong = 5 * np.exp(-2.0)
    assert choice.name == "certified"
    assert choice.share == pytest.approx(wrong / (1 + wrong))


def test_edits_are_compared_among_the_edit_mechanisms_and_tables_are_bounded() -> None:
    compared = candidates(LETTERS, 4.0, lengths=(2, 5), cap=4)
    assert list(compared) == ["certified", "permute-and-flip"]
    choice = choose(compared, LengthMix({2: 1, 5: 1}), seconds=20.0)
    means = {
        name: sum(expected_errors(mechanism, LETTERS, length) for length in (2, 5)) / 7
        for name, mechanism in compared.items()
    }
    assert choice.shares == pytest.approx(means)
    assert choice.name == min(means, key=means.__getitem__)
    unknown = choose(candidates(pv.example_city(900), 4.0, lengths=(2, 40)), LengthMix({40: 1}))
    assert (unknown.share, unknown.name) == (None, "certified")
    assert "Give a smaller `cap`" in unknown.why_not["certified"]
