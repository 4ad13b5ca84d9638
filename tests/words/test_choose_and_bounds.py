import numpy as np
import pytest

import pathveil as pv


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0, 10.0])
@pytest.mark.parametrize(("n", "m"), [(5, 2), (20, 2), (5, 10), (1, 3), (3, 1)])
def test_theorem_2_bounds_the_exact_expectation(n: int, m: int, epsilon: float) -> None:
    low, high = pv.permute_and_flip_bounds(n, m, epsilon)
    law = pv.PermuteAndFlip(pv.Alphabet(range(m)), epsilon).error_law([0] * n)
    assert low - 1e-12 <= law.mean <= high + 1e-12
    assert high == pytest.approx(pv.Exponential(pv.Alphabet(range(m)), epsilon).error_law([0] * n).mean)


def test_the_tail_bound_holds_for_the_exact_law() -> None:
    law = pv.PermuteAndFlip(pv.Alphabet("ab"), 1.0).error_law("a" * 20)
    for deviation in (0.5, 3.0, 8.0, 15.0):
        tail = law.pmf[np.abs(np.arange(21) - law.mean) >= deviation].sum()
        assert tail <= pv.permute_and_flip_tail_bound(20, deviation)
    with pytest.raises(pv.InvalidParameterError, match="positive"):
        pv.permute_and_flip_tail_bound(20, 0.0)


@pytest.mark.parametrize(
    "world",
    [
        pv.Alphabet("abc"),
        pv.example_town(),
        pv.TransitionSystem({(0, "a"): 1, (1, "a"): 0, (0, "b"): 0, (1, "b"): 1}, initial=0),
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
    first, second = (pv.best_mechanism(pv.example_town(), length=6, epsilon=2.0) for _ in range(2))
    assert first.reason == second.reason
    assert not first.guarantee.seeded  # the public sample's seed is not a release
    with pytest.raises(pv.NoFeasibleWordError, match="length 5"):
        pv.best_mechanism(pv.MarkovChain.from_edges([("a", "b")]), length=5, epsilon=1.0)
