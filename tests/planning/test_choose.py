"""The choice of a mechanism: from public words only, and with its reason."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pathveil as pv
from pathveil.planning.public_words import expected_errors, public_words

LETTERS = pv.MarkovChain.from_edges([("a", "b"), ("b", "a"), ("b", "c"), ("c", "a"), ("a", "a")])
TOWN = pv.example_town()
TOGGLE = pv.TransitionSystem({(0, "a"): 1, (1, "a"): 0, (0, "b"): 0, (1, "b"): 1}, initial=0)


@pytest.mark.parametrize(
    "world",
    [
        pv.Alphabet("abc"),
        TOWN,
        TOGGLE,
    ],
)
@pytest.mark.parametrize("epsilon", [0.5, 5.0])
def test_the_chosen_mechanism_has_the_fewest_expected_errors_on_public_words(world: pv.System, epsilon: float) -> None:
    best = pv.best_mechanism(world, length=8, epsilon=epsilon)
    candidates = [
        kind(world, epsilon) for kind in (pv.CertifiedExponential, pv.PermuteAndFlip, pv.Exponential, pv.Online)
    ]
    source = pv.insecure_seed(0)
    words = [world.random_word(8, source) for _ in range(12)]
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
    assert expected_errors(pv.PermuteAndFlip(TOGGLE, 1.0), TOGGLE, 3) == math.inf
    best = pv.best_mechanism(TOGGLE, 3, 1.0)
    assert not isinstance(best, pv.PermuteAndFlip)
    assert "PermuteAndFlip inf" in str(best.reason)


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
