"""What a certificate knows about a symbol chain, against listings: neighbours, kept pairs, contexts, positions."""

from __future__ import annotations

from itertools import chain as chained
from itertools import pairwise, product
from math import inf, log

import numpy as np
import pytest
from scipy import sparse

import pathveil as pv
from pathveil.words.base.tilt import tilt_factor
from pathveil.words.certificate import ratio_kernels, run_kernel
from pathveil.words.certificate.contexts import _memory, context_levels
from pathveil.words.certificate.kept_pairs import KeptPairs
from pathveil.words.certificate.protected_positions import protected_positions
from pathveil.words.certificate.ratio_bounds import Box, RatioBounds
from pathveil.words.certificate.runs import Runs
from pathveil.words.certificate.symbol_chain import Links, SymbolChain
from pathveil.words.tilted.reachable_states import ReachableStates
from tests.reference.enumeration import feasible_words
from tests.worlds import PLANS, TOWN

Pair = tuple[tuple[int, ...], tuple[int, ...]]


def random_chain(seed: int) -> SymbolChain:
    """4 to 6 symbols with about two successors each, some of which may come first or last."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(4, 7))
    follows = sparse.csr_array((rng.random((m, m)) < 2 / m).astype(float))
    first, last = rng.random(m) < 0.6, rng.random(m) < 0.7
    first[seed % m] = last[(seed + 1) % m] = True
    return SymbolChain(Links.of(follows), Links.of(follows.T.tocsr()), first, last)


CHAINS = [random_chain(seed) for seed in range(12)]


def edges(chain: SymbolChain) -> set[tuple[int, int]]:
    return set(zip(chain.successors.owners.tolist(), chain.successors.symbols.tolist(), strict=True))


def words_of(chain: SymbolChain, length: int) -> list[tuple[int, ...]]:
    steps = edges(chain)
    return [
        word
        for word in product(range(chain.symbol_count), repeat=length)
        if chain.first[word[0]] and chain.last[word[-1]] and all(step in steps for step in pairwise(word))
    ]


# ------------------------------------------------------------------------------------------------- links

LINKS = Links(np.array([0, 2, 2, 5, 6]), np.array([1, 3, 0, 2, 3, 0]))


def test_links_know_their_owners_degrees_and_numbers() -> None:
    assert LINKS.count == 6
    assert LINKS.degrees.tolist() == [2, 0, 3, 1]
    assert LINKS.owners.tolist() == [0, 0, 2, 2, 2, 3]
    assert LINKS.numbers.tolist() == [1, 3, 8, 10, 11, 12]
    expected = [[0, 1, 0, 1], [0, 0, 0, 0], [1, 0, 1, 1], [1, 0, 0, 0]]
    assert LINKS.matrix.toarray().tolist() == expected
    c, y = (grid.ravel() for grid in np.meshgrid(np.arange(4), np.arange(4), indexing="ij"))
    assert LINKS.contains(c, y).tolist() == [bool(x) for row in expected for x in row]
    nothing = Links(np.zeros(5, dtype=np.int64), np.empty(0, dtype=np.int64))
    assert nothing.contains(c, y).tolist() == [False] * 16


def test_links_are_followed_from_each_entry() -> None:
    parent, symbols = LINKS.expand(np.array([2, 1, 0, 2]))
    assert parent.tolist() == [0, 0, 0, 2, 2, 3, 3, 3]
    assert symbols.tolist() == [0, 2, 3, 1, 3, 0, 2, 3]


def test_the_chain_of_a_system_has_its_transitions() -> None:
    world = pv.MarkovChain.from_edges(
        [("a", "b"), ("b", "a"), ("b", "c"), ("c", "c"), ("d", "a")], initial={"a", "b"}, final={"c"}
    )
    chain = SymbolChain.of(world.compiled)
    assert chain is not None
    assert chain.symbol_count == 4
    a, b, c = (world.symbols.index(s) for s in "abc")
    # 'd' can never be reached, so nothing follows it.
    assert edges(chain) == {(a, b), (b, a), (b, c), (c, c)}
    assert chain.predecessors.matrix.toarray().tolist() == chain.successors.matrix.toarray().T.tolist()
    assert np.flatnonzero(chain.first).tolist() == sorted([a, b])
    assert np.flatnonzero(chain.last).tolist() == [c]
    assert SymbolChain.of(PLANS.compiled) is None
    back = chain.reversed()
    assert (back.first is chain.last, back.last is chain.first) == (True, True)
    assert (back.successors is chain.predecessors, back.predecessors is chain.successors) == (True, True)


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("length", [1, 2, 4])
def test_alive_are_the_symbols_that_some_word_has_there(chain: SymbolChain, length: int) -> None:
    exact = np.zeros((length, chain.symbol_count), dtype=bool)
    up_to = exact.copy()
    for shorter in range(1, length + 1):
        for word in words_of(chain, shorter):
            up_to[np.arange(shorter), word] = True
            if shorter == length:
                exact[np.arange(length), word] = True
    assert chain.alive(length, up_to=False).tolist() == exact.tolist()
    assert chain.alive(length, up_to=True).tolist() == up_to.tolist()


@pytest.mark.parametrize("chain", CHAINS)
def test_relatives_share_a_neighbour(chain: SymbolChain) -> None:
    steps, m = edges(chain), chain.symbol_count
    after = [[any((x, a) in steps and (x, b) in steps for x in range(m)) for b in range(m)] for a in range(m)]
    before = [[any((a, x) in steps and (b, x) in steps for x in range(m)) for b in range(m)] for a in range(m)]
    assert (chain.share_predecessor.matrix.toarray() > 0).tolist() == after
    assert (chain.share_successor.matrix.toarray() > 0).tolist() == before


def test_visited_states_lie_on_the_way_of_some_word() -> None:
    length = 5
    compiled = PLANS.compiled
    paths = [compiled.path(PLANS.encode(word)) for word in feasible_words(PLANS, length)]
    visited = ReachableStates.of(compiled, length)
    for i in range(length + 1):
        states = sorted({path[i] for path in paths})
        assert visited.states[visited.offsets[i] : visited.offsets[i + 1]].tolist() == states
        assert np.flatnonzero(visited.marks[i]).tolist() == states
    assert len(visited.offsets) == length + 2


# -------------------------------------------------------------------------------------------- kept pairs


def listed(pairs: Links) -> set[tuple[int, int]]:
    return set(zip(pairs.owners.tolist(), pairs.symbols.tolist(), strict=True))


def one_step(chain: SymbolChain, pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    steps = edges(chain)
    return pairs | {(c, y) for (a, x) in pairs for (b, c) in steps for (z, y) in steps if a == b and x == z}


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("budget", [0, 9, 14, 20, 35])
def test_kept_are_the_closest_relatives_within_the_budget(chain: SymbolChain, budget: int) -> None:
    m = chain.symbol_count
    kept = KeptPairs.within(chain, budget)
    found = listed(kept.pairs)
    if m * m <= budget:
        assert found == set(product(range(m), repeat=2))
        assert not kept.is_edge.any()
        assert not kept.is_direct.any()
        return
    near = {(c, c) for c in range(m)}
    while len(wider := one_step(chain, near)) <= budget and wider != near:
        near = wider
    assert found == near
    # From these pairs one step leads to pairs that are not kept, and those relatives are not kept themselves.
    steps, lost = edges(chain), one_step(chain, found) - found
    is_edge = [
        c != x and any(a == c and b == x and (d, y) in lost for (a, d) in steps for (b, y) in steps)
        for c, x in zip(kept.pairs.owners.tolist(), kept.pairs.symbols.tolist(), strict=True)
    ]
    assert kept.is_edge.tolist() == is_edge
    direct = {y for c, y in lost if any((x, c) in steps and (x, y) in steps for x in range(m))}
    assert np.flatnonzero(kept.is_direct).tolist() == sorted(direct)


def test_a_budget_that_just_holds_all_pairs_keeps_them_all() -> None:
    chain = CHAINS[0]
    m = chain.symbol_count
    assert KeptPairs.within(chain, m * m).pairs.count == m * m
    assert KeptPairs.within(chain, m * m).pairs.symbols.tolist() == list(range(m)) * m


def test_too_many_lost_pairs_count_as_coming_from_anywhere() -> None:
    chain = next(c for c in CHAINS if one_step(c, {(k, k) for k in range(c.symbol_count)}) - {(k, k) for k in range(6)})
    exact = KeptPairs.within(chain, 0)
    lost = len(one_step(chain, listed(exact.pairs)) - listed(exact.pairs))
    assert KeptPairs.within(chain, 0, most_lost=lost).is_edge.tolist() == exact.is_edge.tolist()
    related = one_step(chain, listed(exact.pairs))
    assert len(related) < chain.symbol_count**2
    rough = KeptPairs.within(chain, len(related), most_lost=-1)
    assert listed(rough.pairs) == related
    assert rough.is_edge.tolist() == (rough.pairs.owners != rough.pairs.symbols).tolist()
    assert rough.is_direct.all()


# ----------------------------------------------------------------------------------- protected positions


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("length", [1, 2, 4])
def test_protected_positions_are_those_where_another_symbol_fits(chain: SymbolChain, length: int) -> None:
    words = words_of(chain, length)
    found = protected_positions(chain, length)
    if not words:
        assert found is None
        return
    known = set(words)
    free = sum(
        any((*w[:i], s, *w[i + 1 :]) in known for s in range(chain.symbol_count) if s != w[i])
        for w in words
        for i in range(length)
    )
    assert found == pytest.approx(free / len(words), rel=1e-12)


def test_protected_positions_of_long_words_do_not_overflow() -> None:
    """Ten symbols, each followed by any: 10^500 words, and every position is free."""
    world = pv.MarkovChain(range(10), np.full((10, 10), 0.1))
    chain = SymbolChain.of(world.compiled)
    assert chain is not None
    assert protected_positions(chain, 500) == pytest.approx(500, rel=1e-10)


# ---------------------------------------------------------------------------------------------- contexts


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("budget", [1, 60, 200, 10_000])
def test_contexts_are_the_last_symbols_of_all_prefixes(chain: SymbolChain, budget: int) -> None:
    length = 5
    words = words_of(chain, length)
    if not words:
        return
    memory = _memory(chain, length, budget)
    levels = context_levels(chain, chain.alive(length, up_to=False), budget)
    alive = chain.alive(length, up_to=False)
    steps = edges(chain)
    contexts = sorted((c,) for c in np.flatnonzero(alive[0]).tolist())
    assert levels[0].last_symbol.tolist() == [c[-1] for c in contexts]
    assert not len(levels[0].parent)
    for i in range(1, length):
        ways = [
            (number, symbol, (*context, symbol)[-memory:])
            for number, context in enumerate(contexts)
            for symbol in range(chain.symbol_count)
            if (context[-1], symbol) in steps and alive[i][symbol]
        ]
        contexts = sorted({context for *_, context in ways})
        assert levels[i].last_symbol.tolist() == [c[-1] for c in contexts]
        assert levels[i].parent.tolist() == [number for number, *_ in ways]
        assert levels[i].current.tolist() == [symbol for _, symbol, _ in ways]
        assert levels[i].child.tolist() == [contexts.index(context) for *_, context in ways]


def test_positions_that_are_alike_share_their_contexts() -> None:
    world = pv.MarkovChain.from_edges([(0, 1), (1, 0), (1, 2), (2, 0), (0, 0)])
    chain = SymbolChain.of(world.compiled)
    assert chain is not None
    levels = context_levels(chain, chain.alive(40, up_to=False), 300)
    assert len({id(level) for level in levels}) < 10
    assert levels[20] is levels[30]


# -------------------------------------------------------------------------------------------------- runs


def literal_pairs(chain: SymbolChain, alive: np.ndarray, run: int, i: int, following: int, up_to: bool) -> set[Pair]:
    """Pairs of walks that differ everywhere, have a neighbour in common before and after, and cannot be split."""
    steps, m = edges(chain), chain.symbol_count
    walks = [
        w
        for w in product(range(m), repeat=run)
        if all(step in steps for step in pairwise(w)) and all(alive[i + k][w[k]] for k in range(run))
    ]
    found = set()
    for w, v in product(walks, repeat=2):
        if any(a == b for a, b in zip(w, v, strict=True)):
            continue
        if any((w[k], v[k + 1]) in steps or (v[k], w[k + 1]) in steps for k in range(run - 1)):
            continue
        first = chain.first[w[0]] and chain.first[v[0]]
        last = chain.last[w[-1]] and chain.last[v[-1]] and (up_to or not following)
        before = any((x, w[0]) in steps and (x, v[0]) in steps for x in range(m))
        after = bool(following) and any((w[-1], x) in steps and (v[-1], x) in steps for x in range(m))
        # Words of one symbol have all the same Z; nothing is asked of them.
        if before and (after or last) if i else first and (after or (last and run > 1)):
            found.add((w, v))
    return found


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("up_to", [False, True])
@pytest.mark.parametrize("run", [1, 2, 3])
def test_the_pairs_of_runs_are_those_of_the_definition(chain: SymbolChain, up_to: bool, run: int) -> None:
    length = 4
    alive = chain.alive(length, up_to=up_to)
    found = Runs(chain, alive, run, up_to=up_to)
    assert found.places is not None
    assert len(found.places) == length - run + 1
    for i, (w, v) in enumerate(found.places):
        pairs = list(zip(map(tuple, w.tolist()), map(tuple, v.tolist()), strict=True))
        assert set(pairs) == literal_pairs(chain, alive, run, i, length - run - i, up_to)
        if i:
            assert len(set(pairs)) == len(pairs)
    ones = sum(bool(chain.first[c] and chain.last[c]) for c in range(chain.symbol_count))
    assert found._is_whole_word == (run == 1 and up_to and ones > 1)


@pytest.mark.parametrize("chain", CHAINS)
def test_a_run_can_be_the_whole_word(chain: SymbolChain) -> None:
    for run in (1, 2, 3):
        alive = chain.alive(run, up_to=False)
        found = Runs(chain, alive, run, up_to=False)
        assert found.places is not None
        [(w, v)] = found.places
        pairs = set(zip(map(tuple, w.tolist()), map(tuple, v.tolist()), strict=True))
        assert pairs == (literal_pairs(chain, alive, run, 0, 0, False) if run > 1 else set())
        assert found._is_whole_word == (run == 1 and np.count_nonzero(alive[0]) > 1)


def boxes(count: int) -> list[Box]:
    return [Box(np.full(1, k), np.full(1, k), np.full(1, k)) for k in range(count)]


@pytest.mark.parametrize("run", [1, 2])
def test_the_bound_of_a_run_is_the_largest_over_its_places(run: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With boxes that only carry their number, and a made-up quotient for each place."""
    chain, length, theta = CHAINS[1], 4, 0.7
    found = Runs(chain, chain.alive(length, up_to=False), run, up_to=False)
    assert found.places is not None
    prefixes, suffixes = boxes(length), boxes(length)
    kept = KeptPairs.within(chain, 10_000)
    seen = {}
    largest = dict(enumerate([0.5, 1.5, 3.0, 2.0]))

    def quotient(w: np.ndarray, v: np.ndarray, *arguments: object) -> float:
        """Boxes of several places have the largest quotient of all of them."""
        arguments = tuple(chained.from_iterable(each if isinstance(each, tuple) else [each] for each in arguments))
        before, after = int(arguments[0][0]), int(arguments[5][0])  # type: ignore[index]
        last = int(arguments[1][0])  # type: ignore[index]
        if last > before:
            return max(largest[i] for i in range(before, last + 1))
        seen[before] = (after, len(w), len(v), arguments)
        return largest[before]

    monkeypatch.setattr(ratio_kernels, "largest_quotient_of_single_symbols", quotient)
    monkeypatch.setattr(run_kernel, "largest_quotients", lambda w, *given: np.full(len(w), quotient(w, *given)))
    bound = found.bound(theta, prefixes, suffixes, kept, kept)
    places = [i for i, (w, _) in enumerate(found.places) if len(w)]
    assert sorted(seen) == places
    slack = (chain.symbol_count + 64) * (run + 1) * 2.0**-51
    assert bound == pytest.approx(log(max(largest[i] for i in places)) + 2 * slack, rel=1e-15, abs=0)
    for i in places:
        after, *lengths, arguments = seen[i]
        assert after == length - run - i
        assert lengths == [len(found.places[i][0])] * 2
        z = arguments[10] if run == 1 else arguments[-3]
        assert z == tilt_factor(theta)
        assert run > 1 or arguments[-1] == pytest.approx(slack, rel=1e-12, abs=0)
        assert all(
            given is own for given, own in zip(arguments[3:5], (kept.pairs.offsets, kept.pairs.symbols), strict=True)
        )
    for quotients, expected in [([0.0] * 4, 0.0), ([0.2] * 4, 0.0), ([1.0] * 4, 2 * slack)]:
        largest.update(enumerate(quotients))
        assert found.bound(theta, prefixes, suffixes, kept, kept) == pytest.approx(expected, rel=1e-12, abs=0)

    # Where there are too many to look at, each symbol of a run counts by itself.
    found.places = None
    assert found.bound(theta, prefixes, suffixes, kept, kept) == run * theta


@pytest.mark.parametrize("run", [2, 3])
@pytest.mark.parametrize("theta", [0.3, 1.0, 3.0])
def test_pairs_of_runs_that_are_left_out_are_never_the_worst(
    run: int, theta: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bound is that of all pairs at all places, also where they are far more than are looked at together."""
    chain = SymbolChain.of(TOWN.compiled)
    assert chain is not None
    length, z = 7, tilt_factor(theta)
    alive, kept = chain.alive(length, up_to=False), KeptPairs.within(chain, 100_000)
    backwards = chain.reversed()
    kept_after = KeptPairs.within(backwards, 100_000)
    prefixes = RatioBounds(chain, context_levels(chain, alive, 500), kept).boxes(z)
    suffixes = RatioBounds(backwards, context_levels(backwards, alive[::-1], 500), kept_after).boxes(z)
    found = Runs(chain, alive, run, up_to=False)
    assert found.places is not None
    each = []
    for i, (w, v) in enumerate(found.places):
        for one in range(len(w)):
            own = w[one : one + 1], v[one : one + 1]
            each.append(found._quotients(*own, prefixes[i], suffixes[length - run - i], z, kept, kept_after)[0])
    assert len(each) > 1000
    assert found.bound(theta, prefixes, suffixes, kept, kept_after) == pytest.approx(log(max(each)), rel=1e-9)

    # Negative control: were those looked at first that can do least, and the others left out, it would be noticed.
    quotients = Runs._quotients
    monkeypatch.setattr(
        Runs, "_quotients", lambda self, w, *more: quotients(self, w, *more) ** (-1 if len(w) > 64 else 1)
    )
    assert found.bound(theta, prefixes, suffixes, kept, kept_after) < log(max(each)) - 1e-6


def test_places_that_are_alike_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    world = pv.MarkovChain.from_edges([(0, 1), (1, 0), (1, 2), (2, 0), (0, 0)])
    chain = SymbolChain.of(world.compiled)
    assert chain is not None
    length = 30
    found = Runs(chain, chain.alive(length, up_to=False), 1, up_to=False)
    looked = []
    monkeypatch.setattr(ratio_kernels, "largest_quotient_of_single_symbols", lambda *_: looked.append(1) or 1.0)
    kept = KeptPairs.within(chain, 100)
    [one] = boxes(1)
    found.bound(1.0, [one] * length, [one] * length, kept, kept)
    assert len(looked) == 3  # the first place, the last one, and all in between


def test_without_pairs_there_is_nothing_to_bound() -> None:
    circle = SymbolChain.of(pv.MarkovChain.from_edges([(0, 1), (1, 0)]).compiled)
    assert circle is not None
    kept = KeptPairs.within(circle, 100)
    for length, run, expected in [(3, 1, -inf), (1, 1, 0.0), (3, 2, -inf)]:
        found = Runs(circle, circle.alive(length, up_to=False), run, up_to=False)
        assert found.bound(1.0, boxes(length), boxes(length), kept, kept) == expected
