"""Draws have exactly the stated law: what rounding could decide is decided without rounding, from the same bits."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import accumulate
from math import comb

import mpmath
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

import pathveil as pv
from pathveil.randomness.lazy import LazyUniform
from pathveil.words.base import draw_block
from pathveil.words.base.batch import Batch
from pathveil.words.base.doubt import Loop
from pathveil.words.base.law import permute_and_flip_log_law
from pathveil.words.base.tilt import LARGEST_TILT, largest_part, linear_scores, tilt_factor
from pathveil.words.classes import batches as class_batches
from pathveil.words.classes import selection
from pathveil.words.classes.batches import class_blocks, free_blocks, keystream_bounds
from pathveil.words.classes.hamming import SystemClasses, free_counts
from pathveil.words.classes.law_balls import exponential_balls, permute_and_flip_balls
from pathveil.words.classes.selection import EXPONENTIAL, PERMUTE_AND_FLIP, Selection
from pathveil.words.tilted import engines as engine_file
from pathveil.words.tilted import exact as tilted_exact
from pathveil.words.tilted import rejection
from pathveil.words.tilted.engines import LaneEngine, LogEngine
from pathveil.words.tilted.reachable_states import ReachableStates
from pathveil.words.tilted.rejection import FlipByRejection
from pathveil.words.tilted.rejection_exact import ExactComparisons
from pathveil.words.tilted.response import keystream_values_per_symbol
from tests.reference.enumeration import Word, feasible_words, hamming
from tests.reference.planted import ContinuedSource
from tests.reference.random_systems import (
    SystemWithLength,
    markov_chains_with_length,
    systems_with_length,
    systems_with_word,
)
from tests.sizes import given_few_and_many
from tests.words.engines import engines
from tests.worlds import CHAIN, PLANS, TOWN

SELECTIONS = {"exponential": EXPONENTIAL, "permute-and-flip": PERMUTE_AND_FLIP}


@pytest.fixture
def exact_draws(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts the words that were drawn in ball arithmetic."""
    drawn: list[int] = []
    original = engine_file.draw_exactly

    def counted(*arguments: object) -> list[int]:
        drawn.append(1)
        return original(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(engine_file, "draw_exactly", counted)
    return drawn


def put_everything_in_doubt(patch: pytest.MonkeyPatch) -> None:
    """As if rounding could be trusted nowhere: every word of a block is drawn exactly, and no comparison is certain."""

    def doubtful(*words: object, loop: Loop, **how: object) -> None:
        draw_block(*words, loop=lambda keystream: np.ones_like(loop(keystream)), **how)  # type: ignore[arg-type]

    for module in (engine_file, class_batches):
        patch.setattr(module, "draw_block", doubtful)
    for module in (selection, rejection):
        patch.setattr(module, "rounding_margin", lambda roundings: 100.0 * roundings)


def rows_of(world: pv.System, length: int, count: int, *, feasible: bool = True) -> np.ndarray:
    source = pv.insecure_seed(length)
    if not feasible:
        return np.random.default_rng(length).integers(0, len(world.symbols), (count, length))
    return np.array([world.encode(world.random_word(length, source)) for _ in range(count)])


# ----------------------------------------------------------------------------------- the tilt that is used


@given(theta=st.floats(1e-12, 700.0))
def test_the_factor_in_use_is_not_below_the_true_one_and_hardly_above(theta: float) -> None:
    with mpmath.workdps(60):
        true = mpmath.exp(-mpmath.mpf(theta))
        assert true <= tilt_factor(theta) <= true * (1 + mpmath.mpf(2) ** -50)


@given(epsilon=st.floats(1e-9, 1e6), parts=st.integers(1, 1000), largest=st.integers(1, 10_000))
def test_shares_and_scores_never_spend_more_than_epsilon(epsilon: float, parts: int, largest: int) -> None:
    theta = largest_part(epsilon, parts)
    assert Fraction(theta) * parts <= Fraction(epsilon)
    assert theta >= min(epsilon / parts * (1 - 2**-52), LARGEST_TILT)
    scores = linear_scores(theta, largest)
    step = -Fraction(scores[1])
    assert 0 <= Fraction(theta) - step <= Fraction(theta) * Fraction(largest, 2**50)
    assert all(Fraction(scores[k]) == -k * step for k in (0, 1, largest // 2, largest))


def largest_change(scores: np.ndarray, adjacency: int) -> Fraction:
    exact = [Fraction(score) for score in scores.tolist()]
    return max(abs(a - b) for i, a in enumerate(exact) for b in exact[i : i + adjacency + 1])


@given(
    epsilon=st.floats(5e-324, 1e100) | st.floats(1e-3, 10.0),
    alpha=st.floats(1e-100, 1e100) | st.floats(0.0, 20.0).map(lambda power: 10.0**power),
    adjacency=st.integers(1, 9),
    length=st.integers(1, 60),
)
@settings(max_examples=300)
def test_rounded_scores_of_another_utility_never_lie_too_far_apart(
    epsilon: float, alpha: float, adjacency: int, length: int
) -> None:
    """The loss is at most twice the largest change of a score between adjacent words."""
    scores = pv.Exponential(TOWN, epsilon, adjacency, pv.InverseUtility(alpha))._scores(length)
    assert 2 * largest_change(scores, adjacency) <= Fraction(epsilon)
    if 1e-200 < epsilon < 1e50 and 1e-6 < alpha < 1e6 and adjacency <= length:  # and not much nearer than they may
        assert 2 * largest_change(scores, adjacency) >= Fraction(epsilon) * Fraction(1 - 1e-8)


def test_scores_that_are_rounded_one_by_one_can_lie_too_far_apart() -> None:
    """Negative control: utilities near 1/α that differ by 1/α² lose what tells them apart."""
    utility = pv.InverseUtility(1e12)
    theta = 1.0 / (2 * utility.sensitivity(1)) * (1 - 2.0**-48)
    assert 2 * largest_change(theta * utility.score(np.arange(13.0)), 1) > 1 + Fraction(1, 10_000)


def test_a_utility_that_is_not_finite_is_refused() -> None:
    class Cliff(pv.InverseUtility):
        def score(self, errors: np.ndarray) -> np.ndarray:
            return np.where(errors > 2, -np.inf, 0.0)

    with pytest.raises(pv.InvalidParameterError, match="a word of 5 symbols is not finite"):
        pv.Exponential(pv.Alphabet("ab"), 1.0, utility=Cliff()).privatize("ababa")


def exact_law(world: pv.System, word: Word, z: Fraction) -> dict[Word, Fraction]:
    weights = {output: z ** hamming(word, output) for output in feasible_words(world, len(word))}
    total = sum(weights.values())
    return {output: weight / total for output, weight in weights.items()}


def true_loss(world: pv.System, length: int, adjacency: int, z: Fraction) -> mpmath.mpf:
    """The largest |log P(o|v)/P(o|w)| over adjacent feasible words, in 60 digits."""
    words = list(feasible_words(world, length))
    laws = {word: exact_law(world, word, z) for word in words}
    largest = Fraction(1)
    for w in words:
        for v in words:
            if 0 < hamming(w, v) <= adjacency:
                largest = max([largest, *(laws[w][o] / laws[v][o] for o in words)])
    return mpmath.log(mpmath.mpf(largest.numerator) / largest.denominator)


@given_few_and_many(
    20,
    40,
    case=markov_chains_with_length(),
    adjacency=st.integers(1, 2),
    epsilon=st.sampled_from([1e-9, 1e-3, 0.3, 1.0, 5.0]),
)
def test_certificates_bound_the_loss_in_arbitrary_precision(
    case: SystemWithLength, adjacency: int, epsilon: float
) -> None:
    world, length = case
    mechanism = pv.CertifiedExponential(world, epsilon, adjacency)
    certificate = mechanism.certificate(length)
    with mpmath.workdps(60):
        loss = true_loss(world, length, adjacency, Fraction(tilt_factor(certificate.theta)))
        assert loss <= certificate.loss <= epsilon


@given_few_and_many(
    20,
    40,
    case=systems_with_length(),
    adjacency=st.integers(1, 2),
    epsilon=st.sampled_from([1e-9, 1e-3, 0.3, 1.0, 5.0]),
)
def test_the_published_calibration_holds_for_the_number_that_is_used(
    case: SystemWithLength, adjacency: int, epsilon: float
) -> None:
    world, length = case
    theta = pv.Exponential(world, epsilon, adjacency).theta(length)
    with mpmath.workdps(60):
        assert true_loss(world, length, adjacency, Fraction(tilt_factor(theta))) <= epsilon


# ------------------------------------------------------------------------------- tilted draws, decided again


@pytest.mark.parametrize("theta", [1e-9, 0.4, 2.0, 30.0])
@pytest.mark.parametrize(("world", "length", "feasible"), [(CHAIN, 5, True), (PLANS, 6, False), (TOWN, 14, True)])
def test_ball_arithmetic_decides_like_every_fast_loop(
    world: pv.System, length: int, feasible: bool, theta: float, monkeypatch: pytest.MonkeyPatch, exact_draws: list[int]
) -> None:
    """The same words from the same bits. Negative control: another tilt in the fallback gives other words."""
    count = 40
    codes = rows_of(world, length, count, feasible=feasible)
    begins = np.arange(count) * length
    for number in range(len(engines(world, length, theta))):
        drawn = []
        for in_doubt in (False, True):
            with monkeypatch.context() as patch:
                if in_doubt:
                    put_everything_in_doubt(patch)
                private = np.empty(codes.size, dtype=np.int64)
                engines(world, length, theta)[number].draw(codes.reshape(-1), begins, private, pv.insecure_seed(3))
            drawn.append(private.tolist())
            assert len(exact_draws) == (count if in_doubt else 0)
        exact_draws.clear()
        assert drawn[0] == drawn[1]
    if theta == 0.4:
        put_everything_in_doubt(monkeypatch)
        original = tilted_exact.backward
        monkeypatch.setattr(tilted_exact, "backward", lambda a, b, c, z: original(a, b, c, z * 1.3))
        private = np.empty(codes.size, dtype=np.int64)
        engines(world, length, theta)[0].draw(codes.reshape(-1), begins, private, pv.insecure_seed(3))
        assert private.tolist() != drawn[0]


@given_few_and_many(
    30, 60, case=systems_with_word(feasible=False), theta=st.sampled_from([0.2, 1.0, 5.0]), data=st.data()
)
def test_at_the_border_between_two_symbols_the_bits_that_follow_decide(
    case: tuple[pv.System, Word], theta: float, data: st.DataObject
) -> None:
    """The first symbol: its law as exact fractions says on which side of a border a number lies."""
    world, word = case
    law = exact_law(world, word, Fraction(tilt_factor(theta)))
    first: dict[object, Fraction] = {}
    for output, probability in law.items():
        first[output[0]] = first.get(output[0], Fraction(0)) + probability
    order = sorted(first, key=lambda symbol: (symbol != word[0], world.encode((symbol,))[0]))
    borders = list(accumulate(first[symbol] for symbol in order))[:-1]
    if not borders:
        return
    border = data.draw(st.sampled_from(borders))
    begin = int(border * 2**64) + data.draw(st.integers(-1, 1))
    following = data.draw(st.sampled_from([0, 1, 2**63, 2**64 - 1]))
    number = Fraction((begin << 64 | following) * 2 + 1, 2**129)
    expected = order[sum(number >= reached for reached in borders)]
    codes = world.encode(word)
    for engine in engines(world, len(word), theta):
        private = np.empty_like(codes)
        source = ContinuedSource([following] + [2**63 + 12345] * 200, [begin] + [12345 << 40] * (len(word) - 1))
        engine.draw(codes, np.array([0]), private, source)
        assert world.symbols[private[0]] == expected


def test_words_without_room_for_balls_are_drawn_in_floating_point_and_the_guarantee_says_from_where_on(
    monkeypatch: pytest.MonkeyPatch, exact_draws: list[int]
) -> None:
    said = re.search(r"words of more than (\d+) symbols: in floating point", str(pv.Exponential(TOWN, 2.0).guarantee))
    assert said is not None
    longest = int(said[1])
    assert [LogEngine(TOWN.compiled, n, 2.0)._can_be_exact for n in (longest, longest + 1)] == [True, False]

    class NoRoom(LaneEngine):
        _can_be_exact = False  # type: ignore[assignment]

    put_everything_in_doubt(monkeypatch)
    codes, drawn = rows_of(TOWN, 14, 3), []
    for kind, exact in ((NoRoom, 0), (LaneEngine, 3)):
        private = np.empty(codes.size, dtype=np.int64)
        kind(TOWN.compiled, 14, 2.0).draw(codes.reshape(-1), np.arange(3) * 14, private, pv.insecure_seed(1))
        drawn.append(private.tolist())
        assert len(exact_draws) == exact
    assert drawn[0] == drawn[1]


# ------------------------------------------------------------------------------------------------- by class


@pytest.mark.parametrize("kind", SELECTIONS)
@pytest.mark.parametrize("scores", [linear_scores(0.7, 6), linear_scores(9.0, 6), 3.0 / (np.arange(7.0) + 1)])
def test_classes_are_chosen_alike_with_and_without_rounding(
    kind: str, scores: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    way = SELECTIONS[kind]
    counts = tuple(0 if k == 1 else 1 + int(np.exp(-score)) for k, score in enumerate(scores))  # all win now and then
    words = pv.insecure_seed(5).keystream(400 * 7).reshape(400, 7)
    chosen = way.choose([counts], scores, words, pv.insecure_seed(1))
    put_everything_in_doubt(monkeypatch)
    calls = []
    original = Selection.choose_exactly

    def counted(self: Selection, *arguments: object) -> int:
        calls.append(1)
        return original(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(selection.Selection, "choose_exactly", counted)
    again = way.choose([counts], scores, words, pv.insecure_seed(1))
    assert len(calls) == 400
    assert chosen.tolist() == again.tolist()
    assert len(set(chosen.tolist())) > 1
    other = way.choose([counts], scores * 1.5, words, pv.insecure_seed(1))
    assert other.tolist() != chosen.tolist()  # a wrong score would be seen


@pytest.mark.parametrize("kind", SELECTIONS)
def test_two_classes_that_tie_to_the_last_bit_are_told_apart_by_the_bits_that_follow(kind: str) -> None:
    """Equal counts, equal scores: the larger uniform number is the smaller exponential variate, and that one wins."""
    words = np.array([[2**63 + 9, 2**63 + 9]], dtype=np.uint64)
    for following, expected in [((0, 1), 1), ((1, 0), 0)]:
        source = ContinuedSource([bits << 60 for bits in following])
        assert SELECTIONS[kind].choose([(5, 5)], np.zeros(2), words, source).tolist() == [expected]


@pytest.mark.parametrize(("world", "length"), [(CHAIN, 5), (PLANS, 6), (TOWN, 14)])
def test_words_of_a_class_are_drawn_alike_by_floating_point_and_by_integers(
    world: pv.System, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes = np.repeat(rows_of(world, length, 4), 30, axis=0)
    begins, scores = np.arange(len(codes)) * length, linear_scores(0.8, length)
    made = []
    original = SystemClasses.walk
    monkeypatch.setattr(SystemClasses, "walk", lambda *args: made.append(1) or original(*args))
    drawn = []
    for in_doubt in (False, True):
        if in_doubt:
            put_everything_in_doubt(monkeypatch)
        private = np.empty(codes.size, dtype=np.int64)
        for block in class_blocks(world.compiled, codes.reshape(-1), begins, scores, private):
            block(pv.insecure_seed(2))
        drawn.append(private.tolist())
        assert len(made) == (len(codes) if in_doubt else 0)
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("theta", [0.05, 0.8, 3.0, 40.0])
@pytest.mark.parametrize(
    ("world", "length", "feasible"),
    [(CHAIN, 5, True), (PLANS, 6, False), (TOWN, 10, True), (pv.MarkovChain.from_edges([(0, 1), (1, 0)]), 3, False)],
)
def test_rejection_is_decided_alike_with_and_without_rounding(
    world: pv.System, length: int, feasible: bool, theta: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same words from the same bits. Negative control: another tilt in the exact comparisons gives other words."""
    count = 30
    codes = rows_of(world, length, count, feasible=feasible)
    begins = np.arange(count) * length

    def draw() -> list[int]:
        private = np.empty(codes.size, dtype=np.int64)
        flip = FlipByRejection(world.compiled, length, theta, feasible=feasible)
        flip.draw(codes.reshape(-1), begins, private, pv.insecure_seed(8))
        return private.tolist()

    asked: list[str] = []
    for name in ("keeps_t", "keeps_word"):
        original = getattr(ExactComparisons, name)
        monkeypatch.setattr(
            ExactComparisons, name, lambda *args, original=original, name=name: asked.append(name) or original(*args)
        )
    drawn = draw()
    assert not asked
    put_everything_in_doubt(monkeypatch)
    assert draw() == drawn
    if theta < 10:  # beyond, t hardly matters, and rounding even less
        assert asked.count("keeps_t") >= count
    if world is CHAIN and theta == 0.8:
        assert asked.count("keeps_word") > 0
        original_sum = ExactComparisons._sum
        monkeypatch.setattr(ExactComparisons, "_sum", lambda self, r: original_sum(self, r) * 3)
        assert draw() != drawn


def test_where_a_rejection_is_on_the_border_the_bits_that_follow_decide() -> None:
    """The second number against (1-t)/(1 - p t), computed in 60 digits from the law of the system."""
    word, theta = (0, 1, 2), 0.7
    z = Fraction(tilt_factor(theta))
    codes = CHAIN.encode(word).tolist()
    exact = ExactComparisons(CHAIN.compiled, ReachableStates.of(CHAIN.compiled, 3), codes, float(z))
    rate = sum(z ** hamming(word, v) for v in feasible_words(CHAIN, 3)) - 1
    first = 0x9E3779B97F4A7C15
    with mpmath.workdps(80):
        rate = mpmath.mpf(rate.numerator) / rate.denominator
        # t from a number that begins like `first` and goes on with zeros but for a last one.
        u = (mpmath.mpf(first) + mpmath.mpf(2) ** -64) / 2**64
        t = -mpmath.log1p(u * mpmath.expm1(-rate)) / rate
        border = (1 - t) / (1 - mpmath.mpf(float(z)) ** 2 * t) * 2**64
        begin = int(border)
        middle = int((border - begin) * 2**64)
        for following, expected in [(middle - 2**40, True), (middle + 2**40, False)]:
            source = ContinuedSource([1, following] + [0] * 40)
            uniform, second = LazyUniform(first, source), LazyUniform(begin, source)
            assert exact.keeps_word(uniform, second, 2) is expected
            assert second.bits > 64


@pytest.mark.parametrize(("n", "m", "theta"), [(5, 2, 2.5), (8, 4, 0.5), (20, 2, 2.5), (32, 19, 2.5), (3, 3, 100.0)])
def test_the_law_in_balls_is_the_law(n: int, m: int, theta: float) -> None:
    counts, scores = free_counts(m, n), linear_scores(theta, n)
    with ctx.workprec(160):
        law = permute_and_flip_balls(counts, scores.tolist())
        assert sum(law, arb(0)).contains(1)
        assert all(p.rad() < p * arb(2) ** -100 for p in law)
        expected = np.exp(permute_and_flip_log_law(counts, scores))
        assert [float(p.mid()) for p in law] == pytest.approx(expected, rel=1e-11)
        weights = exponential_balls(counts, scores.tolist())
        assert sum(weights, arb(0)).contains(1)
        assert ((weights[0] / weights[1]) * counts[1] / (-arb(scores[1])).exp()).contains(1)
    if n == 5:  # an answer known from elsewhere
        assert float(law[0].mid()) == pytest.approx(0.788777776512027, abs=1e-15)


def test_best_classes_of_several_words_are_integrated_too() -> None:
    counts, scores = (0, 3, 5, 0), [0.0, -1.0, -2.0, -3.0]
    with ctx.workprec(128):
        law = permute_and_flip_balls(counts, scores)
        assert sum(law, arb(0)).contains(1)
    expected = np.exp(permute_and_flip_log_law(counts, np.array(scores)))
    assert [float(p.mid()) for p in law] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("kind", SELECTIONS)
def test_on_free_alphabets_keystream_words_next_to_a_border_are_continued(kind: str) -> None:
    way, n, m = SELECTIONS[kind], 3, 4
    counts, scores = free_counts(m, n), linear_scores(1.0, n)
    bounds = keystream_bounds(way, counts, tuple(scores.tolist()))
    with ctx.workprec(256):
        cumulated = list(accumulate(way.law_balls(counts, scores.tolist())))
    part = Batch.from_rows(np.zeros((1, n), dtype=np.int64)).by_length[0]
    for number, bound in enumerate(bounds):
        for begin, following in [(bound - 1, 0), (bound, 0), (bound, 2**64 - 1), (bound + 1, 0), (bound + 2, 0)]:
            with ctx.workprec(256):
                value = (arb(begin) + arb(following) / 2**64 + arb(2) ** -100) / 2**64
                expected = sum(bool(value >= reached) for reached in cumulated[:-1])
            private = np.empty(n, dtype=np.int64)
            # The bits that follow, and then whatever the placing of the errors asks for.
            source = ContinuedSource([following, 2**63 + 5, 2**63 + 5], [begin] + [2**40 + 3] * n)
            source.keystream = lambda count: pv.insecure_seed(1).keystream(count)  # type: ignore[method-assign]
            [block] = free_blocks(m, np.zeros(n, dtype=np.int64), part, scores, private, way)
            block(source)
            assert np.count_nonzero(private) == expected in (number, number + 1)


def test_very_long_words_on_free_alphabets_are_drawn_by_rejection_and_not_counted() -> None:
    world, length = pv.Alphabet("abcd"), 20_000
    word = "abcd" * (length // 4)
    private = pv.PermuteAndFlip(world, 12.0).privatize(word, rng=pv.insecure_seed(1))
    # z = e^-6: 147 wrong symbols by the exponential mechanism. Permute-and-flip has as many: t is close to 0.
    assert 90 < hamming(tuple(word), tuple(private)) < 210  # false alarms below 1e-6
    with pytest.raises(pv.TooLargeError, match="CertifiedExponential"):
        free_counts(4, 100_000)


@given(m=st.integers(1, 9), n=st.integers(1, 40))
def test_classes_of_free_alphabets_are_counted_by_binomials(m: int, n: int) -> None:
    assert free_counts(m, n) == tuple(comb(n, k) * (m - 1) ** k for k in range(n + 1))


# --------------------------------------------------------------------------------------------------- online


@given(degree=st.integers(2, 100_000), theta=st.floats(1e-9, 690.0))
def test_shares_of_successors_never_differ_by_more_than_the_tilt(degree: int, theta: float) -> None:
    """The true symbol possible or not, or another one the true symbol: no successor gains more than e^θ."""
    each = keystream_values_per_symbol(degree, theta)[0]
    right = 2**64 - (degree - 1) * each
    fewest, most = 2**64 // degree, -(-(2**64) // degree)
    with mpmath.workdps(60):
        bound = mpmath.exp(mpmath.mpf(theta))
        for high, low in [(right, each), (right, fewest), (most, each)]:
            assert mpmath.mpf(high) / low <= bound


@pytest.mark.parametrize("theta", [1e-9, 0.5, 3.0, 60.0])
@pytest.mark.parametrize("world", [CHAIN, TOWN])
def test_small_batches_online_are_drawn_by_the_same_integers_as_large_ones(world: pv.System, theta: float) -> None:
    mechanism, count = pv.Online(world, theta, on_infeasible="nearest"), 1 << 16  # one block, which is no small batch
    codes = np.random.default_rng(1).integers(0, len(world.symbols), count)
    small, _ = mechanism._emit(np.full(count, world.compiled.start), codes, pv.insecure_seed(4))
    large = mechanism.privatize_array(codes[:, None], rng=pv.insecure_seed(4))
    assert np.array_equal(small, large[:, 0])


def test_guarantees_say_where_rounding_has_a_part() -> None:
    alphabet = pv.Alphabet("abc")
    for make in (pv.Exponential, pv.CertifiedExponential, pv.Online):
        assert make(alphabet, 1.0).guarantee.sampling == "drawn exactly: no rounding of probabilities"
    assert "words of more than 1488 symbols" in pv.PermuteAndFlip(TOWN, 1.0).guarantee.sampling
    assert "words of more than 65535 symbols" in pv.PermuteAndFlip(alphabet, 1.0).guarantee.sampling
    assert "floating point" not in pv.Exponential(TOWN, 1.0, utility=pv.InverseUtility()).guarantee.sampling
    assert pv.EditPermuteAndFlip(TOWN, 1.0, lengths=(3, 5)).guarantee.sampling.startswith("drawn exactly")
    assert pv.Online(TOWN, 1.0).guarantee.sampling.startswith("drawn exactly")
