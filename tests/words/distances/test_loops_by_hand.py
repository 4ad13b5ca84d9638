"""The parts of draws, laws and bounds with distances, each against sums that are written out."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, log

import numpy as np
import pytest

import pathveil as pv
from pathveil.words.base import Batch
from pathveil.words.distances import online
from pathveil.words.distances.certified.boxes import ChainBoxes
from pathveil.words.distances.corridor import Corridor
from pathveil.words.distances.engine import DistanceEngine
from pathveil.words.distances.flip import DistanceFlip, flip_priced
from pathveil.words.distances.flip_law import FlipCosts, FlipMixture
from pathveil.words.distances.lane_kernel import growth
from pathveil.words.distances.online import OnlineDraw, position_loss
from pathveil.words.distances.prices import Prices
from pathveil.words.distances.symbol_kernels import draw_online, draw_symbols
from pathveil.words.distances.word_passes import WordPasses, cut
from tests.reference.distances import Enumerated
from tests.reference.enumeration import feasible_words
from tests.worlds import CHAIN, DEAD_END_PLANS, LETTER_CHAIN, PLANS

POINTS = {0: (0.0, 0.0), 1: (1.0, 0.3), 2: (2.2, 1.9)}
LETTERS = {"a": (0.0, 0.0), "b": (1.0, 0.3), "c": (2.2, 1.9), "d": (0.7, 2.0), "e": (3.0, 0.1)}


def prices_of(world: pv.System, steps: int = 20, within: float | None = None, radius: float | None = None) -> Prices:
    points = POINTS | LETTERS
    distance = pv.SymbolDistance.from_coordinates({x: points[x] for x in world.symbols}, steps=steps, radius=radius)
    return Prices(world, distance, within)


# Single decisions.


def test_a_random_number_falls_on_a_weight_and_is_in_doubt_next_to_a_border():
    """Weights 1, 2, 1 and 4 have their borders at 1/8, 3/8 and 4/8 of the whole."""
    weights, margin = np.log([1.0, 2.0, 1.0, 4.0]) - 50, 2.0**-30

    def taken(share: Fraction) -> tuple[int, bool]:
        return cut(weights, min(int(share * 2**64), 2**64 - 1), margin)

    for k, border in enumerate((Fraction(1, 8), Fraction(3, 8), Fraction(4, 8))):
        assert taken(border - Fraction(1, 2**20)) == (k, False)
        assert taken(border + Fraction(1, 2**20)) == (k + 1, False)
        for beside in (Fraction(1, 2**31), Fraction(1, 2**45)):
            assert taken(border - beside) == (k, True)
            assert taken(border + beside) == (k + 1, True)
    assert taken(Fraction(0)) == (0, False)
    assert taken(Fraction(1)) == (3, False)
    assert cut(np.array([0.0, -np.inf]), 2**64 - 1, 1e-12) == (0, True)  # nothing has no weight: never taken


@pytest.mark.parametrize("code", [0, 1, 2])
@pytest.mark.parametrize("loop", ["symbols", "online"])
def test_compiled_loops_doubt_what_is_next_to_a_border_and_nothing_else(loop, code):
    """One symbol at a time, with random numbers on both sides of each border, inside and outside of the margin."""
    world = pv.MarkovChain.from_edges([(a, b) for a in range(3) for b in range(3)])
    prices, margin = prices_of(world, steps=7), 1e-9
    powers = prices.powers(prices.z(1.3))
    borders = np.cumsum(powers[prices.costs[code]]) / powers[prices.costs[code]].sum()
    shares = [0.0, 1 - 2.0**-60] + [b + way * d for b in borders[:2] for d in (1e-12, 1e-6, 0.01) for way in (-1, 1)]
    doubted = [False] * 2 + [d < margin for _ in range(2) for d in (1e-12, 1e-6, 0.01) for _ in range(2)]
    keystream = np.array([min(int(share * 2**64), 2**64 - 1) for share in shares], dtype=np.uint64)
    count = len(shares)
    private, in_doubt = np.full(count, -1), np.zeros(count, dtype=bool)
    if loop == "symbols":
        sums = np.cumsum(powers[prices.costs], axis=1)
        draw_symbols(np.full(count, code), sums, keystream, margin, private, in_doubt)
    else:
        compiled = world.compiled
        draw_online(
            np.full(count, code), np.arange(count), 1, compiled.offsets, compiled.labels, compiled.targets,
            compiled.start, prices.costs, powers, margin, keystream.reshape(-1, 1), private, in_doubt,
        )  # fmt: skip
    assert in_doubt.tolist() == doubted
    assert private.tolist() == np.searchsorted(borders[:2], shares, side="right").tolist()


def test_a_stream_asks_exact_arithmetic_only_next_to_a_border(monkeypatch):
    world = pv.MarkovChain.from_edges([(a, b) for a in range(3) for b in range(3)])
    draw = OnlineDraw(world.compiled, prices_of(world), 2.0)
    asked, exactly = [], online.cut_exactly
    monkeypatch.setattr(online, "cut_exactly", lambda *given: asked.append(0) or exactly(*given))
    state = int(world.compiled.targets[world.compiled.offsets[world.compiled.start]])
    weights = prices_of(world).powers(prices_of(world).z(2.0))[prices_of(world).costs[1]]
    borders = np.cumsum(weights) / weights.sum()
    for k, border in enumerate(borders[:2].tolist()):
        for beside in (-1e-3, 1e-3):
            symbol, _ = draw.step(state, 1, int((border + beside) * 2**64), pv.insecure_seed(1))
            assert symbol == k + (beside > 0)
        assert not asked
        draw.step(state, 1, int(border * 2**64), pv.insecure_seed(1))
        assert len(asked) == 1
        asked.clear()


# Laws of single words.


@pytest.mark.parametrize(("world", "length"), [(CHAIN, 4), (PLANS, 4), (DEAD_END_PLANS, 5), (LETTER_CHAIN, 3)])
@pytest.mark.parametrize("theta", [0.2, 3.0, 4000.0])
def test_messages_transitions_and_normalisers_are_sums_over_all_words(world, length, theta):
    prices = prices_of(world)
    z, words = prices.z(theta), [tuple(word) for word in feasible_words(world, length)]
    listed = Enumerated(world, prices.distance, None)
    for multiple, word in product((1, 3), words[:: max(1, len(words) // 3)]):
        passes = WordPasses(world.compiled, prices, world.encode(word), z, multiple)
        total = sum(exp(multiple * log(z) * listed.cost(word, other)) for other in words)
        assert passes.log_normaliser == pytest.approx(log(total), abs=1e-9)
        expected = np.zeros((length, len(world.symbols)))
        for other in words:
            for i, code in enumerate(world.encode(other)):
                expected[i, code] += exp(multiple * log(z) * listed.cost(word, other)) / total
        if multiple == 1:
            m = pv.Exponential(world, epsilon=1.0, distance=prices.distance)
            m.theta = lambda _, theta=theta: theta
            assert m._marginals(world.encode(word)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("world", "length"), [(CHAIN, 4), (DEAD_END_PLANS, 5), (pv.Alphabet(range(3)), 3)])
@pytest.mark.parametrize("theta", [0.05, 1.0, 30.0])
def test_both_ways_to_the_law_of_permute_and_flip_agree(world, length, theta):
    """As a mixture of exponential mechanisms, and by counting words of each cost."""
    prices = prices_of(world)
    for word in [tuple(word) for word in feasible_words(world, length)][::7]:
        codes = world.encode(word)
        counted, mixed = (kind(world.compiled, prices, codes, theta) for kind in (FlipCosts, FlipMixture))
        assert mixed.marginals() == pytest.approx(counted.marginals(), abs=1e-7)
        assert mixed.wrong_symbols().pmf == pytest.approx(counted.wrong_symbols().pmf, abs=1e-7)
        assert counted.marginals().sum(axis=1) == pytest.approx(np.ones(length))


def test_long_words_have_a_law_although_their_costs_are_too_many_to_count():
    """Both figures come from the same mixture; they must agree on how many symbols are wrong."""
    prices, word = prices_of(CHAIN, steps=10_000), [0, 1, 2, 0, 1, 1] * 8
    mixed = FlipMixture(CHAIN.compiled, prices, CHAIN.encode(word), 9.0)
    marginals = mixed.marginals()
    assert marginals.sum(axis=1) == pytest.approx(np.ones(48))
    wrong = 1 - marginals[np.arange(48), word]
    assert mixed.wrong_symbols().mean == pytest.approx(wrong.sum(), rel=1e-6)
    assert wrong.sum() > 0.5


@pytest.mark.parametrize("theta", [50.0, 75.0, 80.0, 600.0])
def test_a_law_at_which_all_other_words_weigh_next_to_nothing(theta):
    """From where the terms of the mixture still count to where there are none."""
    word = (0, 1, 2, 0)
    mixed = FlipMixture(CHAIN.compiled, prices_of(CHAIN), CHAIN.encode(word), theta)
    assert mixed.marginals() == pytest.approx(np.eye(3)[list(word)], abs=0.01)
    assert mixed.wrong_symbols().pmf[0] == pytest.approx(1.0, abs=0.01)
    m = pv.PermuteAndFlip(CHAIN, epsilon=2 * theta, distance=prices_of(CHAIN).distance)
    assert m.expected_distance(word) == pytest.approx(0.0, abs=0.01)


def test_a_word_without_others_stays_as_it_is():
    ring = pv.MarkovChain.from_edges([(0, 1), (1, 2), (2, 0)], initial=[0])
    prices = prices_of(ring)
    for kind in (FlipCosts, FlipMixture):
        law = kind(ring.compiled, prices, ring.encode((0, 1, 2, 0)), 1.0)
        assert law.marginals().tolist() == np.eye(3)[[0, 1, 2, 0]].tolist()
        assert law.wrong_symbols().pmf[0] == pytest.approx(1.0)


# Draws.


@pytest.mark.parametrize("world", [CHAIN, PLANS], ids=["chain", "plans"])
def test_permute_and_flip_with_everything_in_doubt_draws_the_same_words(world, monkeypatch):
    prices = prices_of(world)
    codes = np.array([world.encode(word) for word in world.random_words(3, 40, rng=pv.insecure_seed(1))])
    plain = flip_priced(world.compiled, prices, Batch.from_rows(codes), 1.5, pv.insecure_seed(4))
    asked, exactly = [], DistanceFlip.exactly
    monkeypatch.setattr(DistanceFlip, "exactly", lambda self, codes: asked.append(0) or exactly(self, codes))
    monkeypatch.setattr(DistanceFlip, "margin", lambda *_: 1e-5)
    assert np.array_equal(flip_priced(world.compiled, prices, Batch.from_rows(codes), 1.5, pv.insecure_seed(4)), plain)
    few = len(asked)
    monkeypatch.setattr(DistanceFlip, "margin", lambda *_: 1.0)
    assert np.array_equal(flip_priced(world.compiled, prices, Batch.from_rows(codes), 1.5, pv.insecure_seed(4)), plain)
    assert len(asked) - few >= 40


def test_an_exact_comparison_sums_over_all_words():
    prices = prices_of(CHAIN)
    words = [tuple(word) for word in feasible_words(CHAIN, 3)]
    flip, listed = DistanceFlip(CHAIN.compiled, prices, 3, 1.2), Enumerated(CHAIN, prices.distance, None)
    for word, r in product(words[::5], (1, 2, 5)):
        codes = np.array(CHAIN.encode(word))
        total = sum(exp(r * log(flip.z) * listed.cost(word, other)) for other in words)
        assert float(flip.exactly(codes.tolist())._sum(r)) == pytest.approx(total, rel=1e-12)
        assert flip.log_partition(r, codes, np.array([0]))[0] == pytest.approx(log(total), abs=1e-11)
    assert flip.theta == pytest.approx(1.2 / prices.steps)


@pytest.mark.parametrize("world", [CHAIN, PLANS, DEAD_END_PLANS], ids=["chain", "plans", "dead ends"])
@pytest.mark.parametrize("theta", [0.5, 8.0])
def test_hardly_any_draw_is_in_doubt(world, theta):
    """A comparison is in doubt with a probability of some 1e-11; of 2,000 none is but for one of 1e-7."""
    prices, count = prices_of(world), 400
    codes = np.array([world.encode(word) for word in world.random_words(5, count, rng=pv.insecure_seed(1))])
    values, begins, keystream = codes.reshape(-1), np.arange(count) * 5, pv.insecure_seed(2).keystream(5 * count)
    engine = DistanceEngine(world.compiled, prices, 5, prices.z(theta), feasible=True)
    private, log_z, (in_doubt, undrawn) = np.empty_like(values), np.empty(count), np.zeros((2, count), dtype=bool)
    engine._run(values, begins, keystream, private, log_z, in_doubt, undrawn, only_log_z=False)
    assert not (in_doubt | undrawn).any()
    for row, bits, drawn in zip(codes[:50], keystream.reshape(-1, 5), private.reshape(-1, 5), strict=False):
        by_logarithms = WordPasses(world.compiled, prices, row, prices.z(theta)).draw(bits)
        assert by_logarithms == (drawn.tolist(), False)


@pytest.mark.parametrize("feasible", [True, False])
def test_long_words_have_the_normaliser_of_sums_by_logarithms(feasible):
    """So long that messages have to be brought back to 1 on the way, and far words weigh nothing."""
    prices, length, count = prices_of(CHAIN, steps=50), 300, 8
    codes = np.array([CHAIN.encode(word) for word in CHAIN.random_words(length, count, rng=pv.insecure_seed(1))])
    values, begins = codes.reshape(-1), np.arange(count) * length
    for theta in (0.3, 3.0, 2000.0):
        engine = DistanceEngine(CHAIN.compiled, prices, length, prices.z(theta), feasible=feasible)
        found = engine.log_partition(values, begins)
        expected = [WordPasses(CHAIN.compiled, prices, row, prices.z(theta)).log_normaliser for row in codes]
        assert found == pytest.approx(expected, rel=1e-10, abs=1e-10)
        private = np.empty_like(values)
        drawn = engine.draw(values, begins, private, pv.insecure_seed(2))
        assert drawn == pytest.approx(expected, rel=1e-10, abs=1e-10)
        by_logarithms = np.empty_like(values)
        engine.draw(values, begins, by_logarithms, pv.insecure_seed(2), small=True)
        assert np.array_equal(private, by_logarithms)


@pytest.mark.parametrize("world", [CHAIN, PLANS, DEAD_END_PLANS, LETTER_CHAIN])
def test_growth_is_the_most_that_the_edges_of_a_state_weigh(world):
    prices, compiled = prices_of(world), world.compiled
    powers = prices.powers(prices.z(2.0))
    expected = max(
        sum(powers[prices.costs[x, label]] for label in moves)
        for x in range(len(world.symbols))
        for moves in compiled.moves
    )
    assert growth(compiled.offsets, compiled.labels, prices.costs, powers) == pytest.approx(expected, rel=1e-12)


CELLS, STEEP = range(12), exp(-5.0)
LINE = pv.MarkovChain.from_edges([(a, b) for a in CELLS for b in CELLS if 0 <= b - a <= 2 or a - b == 1])
LINE_PRICES = Prices(LINE, pv.SymbolDistance.from_coordinates({x: (x, 0) for x in CELLS}, steps=11), None)


@pytest.mark.parametrize("widest", [2, 4, 7])
@pytest.mark.parametrize("theta", [2.0, 30.0])
def test_the_bounds_of_a_corridor_are_those_of_its_text(widest, theta):
    """G by listing states and symbols; O = d z^(k+1), F = d z^(k+1-2S) with d = 4 successors and steps of S = 2."""
    z, costs = LINE_PRICES.z(theta), LINE_PRICES.costs
    corridor = Corridor(LINE.compiled, LINE_PRICES, z, widest)
    follows = [[b for b in CELLS if 0 <= b - a <= 2 or a - b == 1] for a in CELLS]
    largest = max(
        sum(z ** int(costs[x, s]) for s in after if costs[x, s] <= widest) for x in CELLS for after in follows
    )
    assert corridor._bounds == pytest.approx(
        [largest, 4 * z ** (widest + 1), 4 * z ** max(widest + 1 - 4, 0)], rel=1e-6
    )
    assert (corridor._bounds >= [largest, 4 * z ** (widest + 1), 4 * z ** max(widest + 1 - 4, 0)]).all()
    others = [sum(z ** int(costs[x, s]) for s in CELLS if costs[x, s] > widest) for x in CELLS]
    assert corridor._others == pytest.approx(others, rel=1e-6, abs=1e-300)
    assert (corridor._others >= np.array(others) * (1 - 1e-12)).all()
    lists = np.split(corridor._near, corridor._offsets[1:-1])
    assert [sorted(one.tolist()) for one in lists] == [[s for s in CELLS if costs[x, s] <= widest] for x in CELLS]


def test_corridors_are_for_steep_tilts_on_large_systems_whose_symbols_are_states():
    side = range(400)
    road = pv.MarkovChain.from_edges([(a, b) for a in side for b in side if abs(a - b) <= 1])
    prices = Prices(road, pv.SymbolDistance.from_coordinates({x: (x, 0) for x in side}, steps=399), None)

    def pays(world=road, prices=prices, length=6, z=STEEP, words=1000) -> bool:
        return Corridor.if_it_pays(world.compiled, prices, length, z, words) is not None

    assert pays()
    assert not pays(length=1)
    assert not pays(z=1.0)
    assert not pays(z=exp(-0.001))  # as wide as everything
    assert not pays(words=1)  # making it takes longer
    assert not pays(PLANS, prices_of(PLANS))  # a symbol does not tell the state
    assert not pays(CHAIN, prices_of(CHAIN))  # three symbols are passed over at once


def test_systems_too_large_for_a_table_of_weights_are_drawn_alike():
    side = range(300)
    road = pv.MarkovChain.from_edges([(a, b) for a in side for b in side if abs(a - b) <= 2])
    prices = Prices(road, pv.SymbolDistance.from_coordinates({x: (x, x % 3) for x in side}, steps=50), None)
    codes = np.array([road.encode(word) for word in road.random_words(4, 30, rng=pv.insecure_seed(1))])
    values, begins = codes.reshape(-1), np.arange(30) * 4
    engine, drawn = DistanceEngine(road.compiled, prices, 4, prices.z(60.0), feasible=True), []
    for small in (False, True):
        drawn.append(np.empty_like(values))
        log_z = engine.draw(values, begins, drawn[-1], pv.insecure_seed(3), small=small)
        assert log_z == pytest.approx(
            [WordPasses(road.compiled, prices, row, prices.z(60.0)).log_normaliser for row in codes]
        )
    assert np.array_equal(*drawn)
    assert not np.array_equal(drawn[0], values)


def test_words_of_each_length_are_drawn_at_their_own_tilt():
    m = pv.Exponential(pv.Alphabet(range(3)), epsilon=1.0, distance=prices_of(pv.Alphabet(range(3))).distance)
    m.theta = {2: 1e4, 3: 1e-3}.get
    words = [(0, 1), (2, 0, 1), (1, 1)] * 40
    private = m.privatize_many(words, rng=pv.insecure_seed(1))
    assert [one for one in private if len(one) == 2] == [one for one in words if len(one) == 2]
    # Each of 120 symbols stays with a probability of about 1/3: 70 of them with one below 1e-8.
    stayed = sum(x == y for one, other in zip(words, private, strict=True) for x, y in zip(one, other, strict=True))
    assert 80 * 2 < stayed < 80 * 2 + 70
    assert [len(one) for one in private] == [len(one) for one in words]


# Bounds of certificates.


def one_way_streets(seed: int) -> tuple[pv.MarkovChain, pv.SymbolDistance, float | None]:
    """A chain that reads differently backwards, with symbols that words do not begin or end with."""
    rng, count = np.random.default_rng(seed), 4
    follows = rng.random((count, count)) < 0.55
    follows[np.arange(count), (np.arange(count) + 1) % count] = True
    ends = [sorted(rng.choice(count, 3, replace=False).tolist()) for _ in range(2)]
    edges = [(int(a), int(b)) for a, b in np.argwhere(follows)]
    world = pv.MarkovChain.from_edges(edges, initial=ends[0], final=ends[1])
    points = {x: tuple(rng.uniform(0, 4, 2)) for x in world.symbols}
    distance = pv.SymbolDistance.from_coordinates(points, steps=30, radius=3.0)
    return world, distance, None if seed % 2 else float(np.sort(distance.distances_from(0))[2])


@pytest.mark.parametrize(("length", "on_average"), [(1, 1.000001), (2, 1.07), (3, 1.22), (4, 1.19)])
def test_what_one_symbol_loses_is_bounded_from_above_and_closely(length, on_average):
    """Against all words; how close is what the mechanism gains over the published calibration."""
    shares = []
    for seed in range(10):
        world, distance, within = one_way_streets(seed)
        prices, listed = Prices(world, distance, within), Enumerated(world, distance, within)
        words = [tuple(word) for word in feasible_words(world, length)]
        boxes, up_to = (ChainBoxes.of(world.compiled, prices, length, 1, up_to=shorter) for shorter in (False, True))
        for theta in (0.5, 3.0):
            laws = {word: listed.exponential_law(word, prices.z(theta)) for word in words}
            true, bound = listed.worst_loss(laws, 1), boxes.symbol_loss(theta)
            assert true <= bound * (1 + 1e-9)
            assert bound <= 2 * prices.rho * theta * (1 + 1e-6)
            assert up_to.symbol_loss(theta) >= bound * (1 - 1e-12)
            if true:
                shares.append(bound / true)
    assert np.mean(shares) < on_average


@pytest.mark.parametrize("seed", range(6))
def test_words_that_differ_in_a_run_lose_no_more_than_each_symbol_on_its_own(seed):
    world, distance, within = one_way_streets(seed)
    prices, listed = Prices(world, distance, within), Enumerated(world, distance, within)
    words = [tuple(word) for word in feasible_words(world, 3)]
    for theta in (0.5, 3.0):
        laws = {word: listed.exponential_law(word, prices.z(theta)) for word in words}
        for apart in (2, 3):
            boxes = ChainBoxes.of(world.compiled, prices, 3, apart, up_to=False)
            assert listed.worst_loss(laws, apart) <= apart * boxes.symbol_loss(theta) * (1 + 1e-9)
            assert boxes.symbol_loss(theta) <= 2 * prices.rho * theta * (1 + 1e-6)


@pytest.mark.parametrize("within", [None, 1.5])
def test_the_loss_of_a_position_is_that_of_the_worst_state_and_pair(within):
    prices = prices_of(CHAIN, within=within)
    for theta in (0.4, 5.0):
        z, compiled = prices.z(theta), CHAIN.compiled
        worst = 0.0
        for moves in compiled.moves:
            weights = np.array([[z ** int(prices.costs[x, label]) for label in moves] for x in range(3)])
            laws = np.log(weights / weights.sum(axis=1, keepdims=True))
            for x, y in product(range(3), repeat=2):
                if x != y and (prices.near is None or prices.near[x, y]):
                    worst = max(worst, float(np.abs(laws[x] - laws[y]).max()))
        assert position_loss(compiled, prices, theta) == pytest.approx(worst, rel=1e-9)
