"""Where words, systems or weights are too large for one way: what is said then, and what is done in its place."""

from __future__ import annotations

import os
import tracemalloc

import numpy as np
import pytest

import pathveil as pv
from pathveil.words.base import LARGEST_TILT, Batch
from pathveil.words.certificate.certificate import ChainCertifier
from pathveil.words.distances.certified.boxes import ChainBoxes
from pathveil.words.distances.flip import DistanceFlip
from pathveil.words.distances.online import OnlineDraw
from pathveil.words.distances.prices import Prices
from pathveil.words.edit import EditEfforts, LengthRange
from pathveil.words.local import LocalWorld
from pathveil.words.local.walk_counts import WalkCounts
from pathveil.words.tilted.exact import sampling
from pathveil.words.tilted.sparse import SparseEngine
from tests.worlds import CHAIN, LETTER_CHAIN, PLANS, TOWN


def in_a_row(world: pv.System, steps: int = 100) -> pv.SymbolDistance:
    """Every symbol one further than the one before."""
    return pv.SymbolDistance.from_coordinates({s: (float(k), 0.0) for k, s in enumerate(world.symbols)}, steps=steps)


def test_a_guarantee_says_from_which_length_on_rounding_has_the_last_word() -> None:
    states = TOWN.compiled.state_count
    for longest in (1, 7):
        for spare in (0, states - 1):
            said = sampling(TOWN.compiled, (longest + 1) * states + spare)
            assert said.startswith("drawn exactly")
            assert said.endswith(f" (words of more than {longest} symbols: in floating point)")
    floating = "drawn in floating point: the system is too large to decide exactly what rounding leaves in doubt"
    assert sampling(TOWN.compiled, 2 * states - 1) == floating
    whole = ", where the whole system has to be passed over: in floating point)"
    assert sampling(TOWN.compiled, 2 * states - 1, local=True).endswith(f" (words{whole}")
    assert sampling(TOWN.compiled, 4 * states, local=True).endswith(f" (words of more than 3 symbols{whole}")


def test_too_many_symbols_for_bounds_with_distances_are_named() -> None:
    ring = pv.MarkovChain.from_edges([(k, (k + step) % 1_700) for k in range(1_700) for step in (1, 2)])
    prices = Prices(ring, in_a_row(ring), None)
    assert ChainBoxes.of(ring.compiled, prices, 10, 2, up_to=False) == (
        "bounds for 1,700 symbols at 10 positions would take too long"
    )
    assert isinstance(ChainBoxes.of(ring.compiled, prices, 10, 1, up_to=False), ChainBoxes)
    assert "states" in str(ChainBoxes.of(PLANS.compiled, Prices(PLANS, in_a_row(PLANS), None), 4, 1, up_to=False))


@pytest.mark.parametrize(("options", "lengths"), [({}, "length 3,"), ({"max_length": 3}, "length up to 3,")])
def test_a_certificate_with_distances_says_what_it_is_about(options: dict[str, int], lengths: str) -> None:
    mechanism = pv.CertifiedExponential(LETTER_CHAIN, 2.0, 2, distance=in_a_row(LETTER_CHAIN), **options)
    certificate = mechanism.certificate(3)
    said = str(certificate)
    assert lengths in said
    assert f"θ = {certificate.theta:.6g}" in said
    assert f"loss at most {certificate.loss:.6g} for at most 2" in said


def test_exact_comparisons_are_left_out_where_there_is_no_room_for_them() -> None:
    prices = Prices(TOWN, in_a_row(TOWN), None)
    for length, has_room in ((20, True), (2_000, False)):
        codes = TOWN.encode(TOWN.random_word(length, pv.insecure_seed(1))).tolist()
        assert (DistanceFlip(TOWN.compiled, prices, length, 3.0).exactly(codes) is not None) == has_room


def test_one_symbol_alone_has_nothing_to_hide() -> None:
    alone = pv.Alphabet("a")
    prices = Prices(alone, pv.SymbolDistance.from_matrix(["a"], [[0.0]]), None)
    assert prices.theta(1.0, 2) == LARGEST_TILT


def test_online_words_in_doubt_are_drawn_again_from_the_same_bits() -> None:
    draw = OnlineDraw(CHAIN.compiled, Prices(CHAIN, in_a_row(CHAIN), None), 2.0)
    words = Batch.from_rows(np.array([CHAIN.encode(word) for word in CHAIN.random_words(5, 60, pv.insecure_seed(1))]))
    usual = draw.draw(words, pv.insecure_seed(2))
    draw._margin = np.inf
    assert np.array_equal(draw.draw(words, pv.insecure_seed(2)), usual)
    assert not np.array_equal(usual, words.values)


def test_lists_of_walks_are_begun_anew_in_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    world = LocalWorld.of(TOWN.compiled)
    assert world is not None
    counts, some, others = WalkCounts(world, 4), np.arange(3), np.arange(20, 24)
    counts.around(some)
    another = os.getpid() + 1
    monkeypatch.setattr(os, "getpid", lambda: another)
    place = counts.around(others)[0]
    assert (place[some] == -1).all()
    assert (place[others] >= 0).all()
    assert (counts.around(some)[0][others] >= 0).all()


def test_a_proof_is_the_same_in_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    certifier = ChainCertifier.of(LETTER_CHAIN.compiled, 6, 2, up_to=False, budget=50)
    assert isinstance(certifier, ChainCertifier)
    here, another = certifier.certify(1.0), os.getpid() + 1
    monkeypatch.setattr(os, "getpid", lambda: another)
    there = certifier.certify(1.0)
    assert (there.run_bounds, there.loss, there.found) == (here.run_bounds, here.loss, here.found)


def test_the_surroundings_of_a_word_are_not_asked_for_where_a_symbol_leaves_the_state_open() -> None:
    assert LocalWorld.of(PLANS.compiled) is None
    assert LocalWorld.of(pv.Alphabet("ab").compiled) is None
    assert LocalWorld.of(CHAIN.compiled) is LocalWorld.of(CHAIN.compiled)


def test_a_tilt_at_which_far_away_counts_as_much_keeps_its_first_bounds() -> None:
    """On seventy symbols with four successors each, contexts tell nothing below θ = log 4."""
    ring = pv.MarkovChain.from_edges([(k, (k + step) % 70) for k in range(70) for step in (1, 2, 3, 7)])
    certifier = ChainCertifier.of(ring.compiled, 6, 1, up_to=False, budget=50)
    assert isinstance(certifier, ChainCertifier)
    assert certifier._growth == pytest.approx(4.0)
    small, large = certifier.certify(1.3), certifier.certify(1.5)
    assert small.found == 0.0
    assert small.run_bounds[1] == certifier._shallow(1.3, 1)
    assert 0 < large.found <= large.run_bounds[1] <= certifier._shallow(1.5, 1)


def test_the_largest_cap_may_be_the_length_of_the_longest_word() -> None:
    codes = LETTER_CHAIN.encode("abca")
    efforts = EditEfforts(LengthRange(LETTER_CHAIN.compiled, 2, 6), codes)
    assert efforts.largest_cap(10.0) == 6
    assert efforts.largest_cap(efforts.at(3).seconds) >= 3


def test_edit_laws_are_not_computed_where_their_table_would_be_too_large() -> None:
    mechanism = pv.EditExponential(LETTER_CHAIN, 2.0, lengths=(2, 6))
    assert np.array_equal(mechanism.law_within("abca", 10**6).pmf, mechanism.error_law("abca").pmf)
    with pytest.raises(pv.TooLargeError, match="cap"):
        mechanism.law_within("abca", 20)
    assert repr(mechanism) == repr(pv.EditExponential(LETTER_CHAIN, 2.0, lengths=(2, 6), cap=6))
    assert "cap=3" in repr(pv.EditExponential(LETTER_CHAIN, 2.0, lengths=(2, 6), cap=3))


@pytest.mark.parametrize("kind", [pv.Exponential, pv.PermuteAndFlip])
def test_words_that_may_be_infeasible_need_a_feasible_one_of_their_length(kind: type[pv.WordMechanism]) -> None:
    once = pv.MarkovChain.from_edges([("a", "b"), ("b", "c"), ("a", "c")])
    mechanism = kind(once, 3.0, on_infeasible="nearest")
    private = mechanism.privatize_many(["aaa", "cb", "a"], rng=pv.insecure_seed(1))
    assert all(once.is_feasible(word) for word in private)
    assert [len(word) for word in private] == [3, 2, 1]
    with pytest.raises(pv.NoFeasibleWordError, match="word 2 of 3"):
        mechanism.privatize_many(["aaa", "aaaa", "a"])


def test_a_long_word_on_a_large_system_keeps_some_messages_and_makes_the_others_twice() -> None:
    city, length = pv.example_city(2_500), 400
    word = city.encode(city.random_word(length, pv.insecure_seed(1)))
    drawn, memory = [], []
    for largest_table in (1 << 30, 1 << 20):
        engine, private = SparseEngine(city.compiled, length, 6.0, largest_table), np.empty_like(word)
        tracemalloc.start()
        engine.draw(word, np.array([0]), private, pv.insecure_seed(2))
        memory.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        drawn.append(private.tolist())
    assert drawn[0] == drawn[1] != word.tolist()
    whole = 8 * length * city.compiled.state_count
    assert memory[1] < whole / 3 < whole < memory[0]
