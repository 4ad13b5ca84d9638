"""Branch and bound node by node: bounds hold for all pairs of words of a node, and splitting loses none of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

import pathveil as pv
from pathveil.words.base import tilt_factor
from pathveil.words.certificate.certificate import ChainCertifier
from pathveil.words.certificate.search import BranchAndBound, free_box, free_walks
from pathveil.words.certificate.search.branch_and_bound import Nodes
from pathveil.words.certificate.search.concrete_words import change_of_log_z, climbed
from pathveil.words.certificate.search.context_tree import ContextTree
from pathveil.words.certificate.symbol_chain import Links, SymbolChain
from tests.reference.literal_nodes import LiteralNode, Normalisers, words_of
from tests.sizes import small_and_large

MOST_WORDS = 400


@dataclass(frozen=True)
class Case:
    chain: SymbolChain
    length: int
    up_to: bool
    run: int
    theta: float
    pairs: int
    contexts: int

    @property
    def lengths(self) -> range:
        return range(1 if self.up_to else self.length, self.length + 1)

    def certifier(self) -> ChainCertifier:
        return ChainCertifier(
            self.chain, self.length, self.run, up_to=self.up_to, budget=self.contexts, pairs=self.pairs
        )

    def search(self, certifier: ChainCertifier) -> BranchAndBound | None:
        pairs = certifier._runs(self.run).pairs
        if pairs is None or not len(pairs[0]):
            return None
        z = tilt_factor(self.theta)
        return BranchAndBound(*pairs, *certifier._trees(self.theta), certifier._lengths, self.theta, z)

    def normalisers(self) -> list[Normalisers]:
        return [Normalisers(self.chain, length, tilt_factor(self.theta)) for length in self.lengths]


def cases(number: int, seed: int) -> Iterator[Case]:
    """Chains of 3 to 6 symbols: dead ends, self loops, symbols that cannot come first or last; dense and sparse."""
    rng = np.random.default_rng(seed)
    while number:
        m, length = int(rng.integers(3, 7)), int(rng.integers(1, 8))
        follows = sparse.csr_array((rng.random((m, m)) < rng.uniform(1, 3) / m).astype(float))
        first, last = rng.random(m) < rng.choice([0.4, 1.0]), rng.random(m) < rng.choice([0.5, 1.0])
        chain = SymbolChain(Links.of(follows), Links.of(follows.T.tocsr()), first, last)
        case = Case(
            chain,
            length,
            up_to=bool(rng.random() < 0.3),
            run=min(int(rng.choice([1, 1, 2, 3])), length),
            theta=float(rng.choice([0.05, 0.3, 0.5, 1.0, 2.0, 5.0, 40.0])),
            pairs=int(rng.choice([1, 2 * m, 10_000])),
            contexts=int(rng.choice([1, 200])),
        )
        if first.any() and 2 <= len(words_of(chain, length)) <= MOST_WORDS:
            number -= 1
            yield case


def literal(search: BranchAndBound, nodes: Nodes, k: int) -> LiteralNode:
    prefix, suffix = int(nodes.prefix[k]), int(nodes.suffix[k])
    return LiteralNode(
        tuple(search.w[nodes.pair[k]].tolist()),
        tuple(search.v[nodes.pair[k]].tolist()),
        tuple(search.prefixes.symbols_of(prefix)),
        bool(search.prefixes.is_closed[prefix]),
        tuple(search.suffixes.symbols_of(suffix)),
        bool(search.suffixes.is_closed[suffix]),
    )


def mistakes(case: Case, rng: np.random.Generator) -> list[str]:
    """What is wrong on the way down from some roots: bounds that are too small, pairs of words that get lost."""
    search = case.search(case.certifier())
    if search is None:
        return []
    normalisers, found = case.normalisers(), []

    def pairs_of(nodes: Nodes, k: int) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
        node = literal(search, nodes, k)
        return set().union(*(node.pairs(one) for one in normalisers))

    def check(nodes: Nodes, k: int) -> None:
        for w, v in pairs_of(nodes, k):
            change = normalisers[len(w) - case.lengths.start].change(w, v)
            if change > nodes.bound[k] + 1e-15:
                found.append(f"{change} exceeds {nodes.bound[k]} of {literal(search, nodes, k)}")

    roots = search.roots()
    for k in rng.choice(len(roots), min(len(roots), 3), replace=False).tolist():
        node = roots.at(np.array([k]))
        for _ in range(10):
            check(node, 0)
            parts = search.split(node)
            all_pairs = pairs_of(node, 0)
            kept = set().union(*(pairs_of(parts, j) for j in range(len(parts)))) if len(parts) else set()
            if all_pairs != kept:
                found.append(f"{len(all_pairs - kept)} pairs of words are lost by {literal(search, node, 0)}")
            for j in range(len(parts)):
                check(parts, j)
            if (
                not len(parts)
                or not (search.prefixes.can_grow(node.prefix) | search.suffixes.can_grow(node.suffix)).any()
            ):
                break
            node = parts.at(np.array([int(rng.integers(len(parts)))]))
            node = replace(node, splits_prefix=rng.random(1) < 0.5)
    return found


@small_and_large("number", 60, 1_500)
def test_every_node_bounds_all_its_pairs_of_words_and_splitting_loses_none(number: int) -> None:
    rng = np.random.default_rng(5)
    found = [mistake for case in cases(number, seed=2) for mistake in mistakes(case, rng)]
    assert found == []


@small_and_large("number", 40, 1_000)
def test_a_search_ends_between_the_largest_true_change_and_a_change_that_it_found(number: int) -> None:
    rng = np.random.default_rng(6)
    for case in cases(number, seed=3):
        search = case.search(case.certifier())
        if search is None:
            continue
        normalisers, roots = case.normalisers(), search.roots()
        changes = [
            one.change(w, v)
            for k in range(len(roots))
            for one in normalisers
            for w, v in literal(search, roots, k).pairs(one)
        ]
        ceiling, true = case.run * case.theta, max(changes, default=0.0)
        for budget in (1, int(rng.integers(2, 200)), 100_000):
            outcome = search.search(ceiling, budget=budget)
            assert outcome.found <= true + 1e-15
            assert true <= outcome.bound + 1e-15
            assert outcome.bound <= ceiling
        if case.pairs == 10_000:  # no symbol is left out, and all words of a small chain can be looked at
            assert outcome.bound <= outcome.found * 1.031 + 1e-9
        for enough in (0.3 * true, 0.9 * true, 1.1 * true):
            assert true <= search.search(ceiling, enough=enough, too_much=enough, budget=5_000).bound + 1e-15


@small_and_large("number", 30, 600)
def test_a_node_of_whole_words_has_one_pair_of_them_and_their_true_change_as_its_bound(number: int) -> None:
    """Where both contexts are closed nothing is unknown any more: what is left of a bound is rounding."""
    rng, seen = np.random.default_rng(7), 0
    for case in cases(number, seed=9):
        search = replace(case, pairs=10_000).search(replace(case, pairs=10_000).certifier())
        if search is None:
            continue
        normalisers, nodes = case.normalisers(), search.roots()
        for _ in range(2 * case.length + 2):
            closed = search.prefixes.is_closed[nodes.prefix] & search.suffixes.is_closed[nodes.suffix]
            for k in np.flatnonzero(closed).tolist():
                [(w, v)] = set().union(*(literal(search, nodes, k).pairs(one) for one in normalisers))
                change = max(normalisers[len(w) - case.lengths.start].change(w, v), 0.0)
                assert change <= nodes.bound[k] + 1e-15
                assert nodes.bound[k] <= change * (1 + 1e-9) + 1e-11
                seen += 1
            nodes = nodes.at(~closed)
            if not len(nodes):
                break
            nodes = search.split(nodes.at(rng.choice(len(nodes), min(len(nodes), 4), replace=False)))
    assert seen > number


@small_and_large("number", 20, 400)
def test_contexts_are_completed_to_whole_words_whenever_there_are_any(number: int) -> None:
    rng, missing = np.random.default_rng(8), 0
    for case in cases(number, seed=10):
        search = case.search(case.certifier())
        if search is None:
            continue
        normalisers, lengths, nodes = case.normalisers(), case.certifier()._lengths, search.roots()
        for _ in range(8):
            for k in range(min(len(nodes), 6)):
                node = literal(search, nodes, k)
                pairs = set().union(*(node.pairs(one) for one in normalisers))
                found = lengths.completed(
                    list(node.prefix), node.prefix_is_closed, (list(node.w), list(node.v)), list(node.suffix),
                    node.suffix_is_closed,
                )  # fmt: skip
                missing += not pairs
                assert (found is None) == (not pairs)
                assert found is None or tuple(map(tuple, found)) in pairs
            if not len(nodes):
                break
            nodes = search.split(nodes.at(rng.choice(len(nodes), min(len(nodes), 3), replace=False)))
    assert missing


# ------------------------------------------------------------------------------- negative controls


def swapped_ends(patch: pytest.MonkeyPatch) -> None:
    """The upper ends of new contexts are taken for lower ones, too."""
    grow = ContextTree.grow

    def wrong(self: ContextTree, contexts: np.ndarray) -> None:
        before = self._used
        grow(self, contexts)
        self.lo[before : self._used] = self.hi[before : self._used]

    patch.setattr(ContextTree, "grow", wrong)


def narrow_upper_ends(patch: pytest.MonkeyPatch) -> None:
    """Upper ends of new contexts are those of lower ones."""
    grow = ContextTree.grow

    def wrong(self: ContextTree, contexts: np.ndarray) -> None:
        before = self._used
        grow(self, contexts)
        self.hi[before : self._used] = self.lo[before : self._used]

    patch.setattr(ContextTree, "grow", wrong)


def no_closed_children(patch: pytest.MonkeyPatch) -> None:
    """Words that begin, or end, with a context are forgotten."""
    fits = BranchAndBound._fits
    patch.setattr(
        BranchAndBound, "_fits", lambda self, tree, child, pair: fits(self, tree, child, pair) & ~tree.is_closed[child]
    )


def one_symbol_too_short(patch: pytest.MonkeyPatch) -> None:
    """Lengths are compared with n - 1."""
    from pathveil.words.certificate.search import word_kernel

    can_happen = word_kernel.can_happen
    patch.setattr(word_kernel, "can_happen", lambda *given: can_happen(*given[:6], given[6] - 1, given[7]))


def no_evidence(patch: pytest.MonkeyPatch) -> None:
    """Contexts forget the factors z."""
    prepare = ContextTree.__init__

    def wrong(self: ContextTree, *given: object) -> None:
        prepare(self, *given)  # type: ignore[arg-type]
        self._z = 1.0

    patch.setattr(ContextTree, "__init__", wrong)


def known_start(patch: pytest.MonkeyPatch) -> None:
    """The weights where a context begins are taken for those of the word's own symbol alone."""
    prepare = ContextTree.__init__

    def wrong(self: ContextTree, *given: object) -> None:
        prepare(self, *given)  # type: ignore[arg-type]
        lo, hi, dropped, offsets, kept = self._start
        own = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)) == kept
        self._start = (lo, np.where(own, hi, 0.0), np.zeros_like(dropped), offsets, kept)

    patch.setattr(ContextTree, "__init__", wrong)


def beside_w_only(patch: pytest.MonkeyPatch) -> None:
    """Contexts that cannot stand beside v are kept, and those that can are not."""
    fits = BranchAndBound._fits
    patch.setattr(BranchAndBound, "_fits", lambda *given: ~fits(*given))


def starts_in_the_middle(patch: pytest.MonkeyPatch) -> None:
    """The weights where a whole context begins are taken to be in the middle of their box."""
    starts = ContextTree.starts

    def wrong(self: ContextTree, contexts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        lo, hi = starts(self, contexts)
        return (lo + hi) / 2, (lo + hi) / 2

    patch.setattr(ContextTree, "starts", wrong)


@pytest.mark.parametrize(
    "planted",
    [
        starts_in_the_middle,
        swapped_ends,
        narrow_upper_ends,
        no_closed_children,
        one_symbol_too_short,
        no_evidence,
        known_start,
        beside_w_only,
    ],
)
def test_planted_mistakes_are_noticed(
    planted: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    planted(monkeypatch)
    rng = np.random.default_rng(5)
    assert any(mistakes(case, rng) for case in cases(120, seed=2))


# ------------------------------------------------------------------------------- walks without a word


def spread_is_too_narrow(case: Case, factor: float = 1.0, contexts: int = 10) -> bool:
    """Is there a word and a position where the weights lie outside the box, in every unit?"""
    z = tilt_factor(case.theta)
    lo, hi = free_box(case.chain, z, steps=6, rounds=9, contexts=contexts)
    if not len(lo):
        return False
    follows = case.chain.successors.matrix.toarray()
    for length in range(1, case.length + 1):
        for word in words_of(replace_last(case.chain), length):
            weights = case.chain.first.astype(float)
            for x, y in pairwise(word):
                weights = (weights * np.where(np.arange(len(weights)) == x, 1.0, z)) @ follows
                assert weights[y] > 0
            c, used = word[-1], weights > 0
            # In some unit: the largest lower end must not exceed the smallest upper end.
            least, most = np.max(lo[c][used] / weights[used]), np.min(hi[c][used] * factor / weights[used])
            if np.any(lo[c][~used] > 0) or least > most * (1 + 1e-12):
                return True
    return False


def replace_last(chain: SymbolChain) -> SymbolChain:
    """Every symbol may be the last: prefixes of words are words, then."""
    return replace(chain, last=np.ones_like(chain.last))


@small_and_large("number", 60, 400)
def test_walks_without_a_word_bound_the_weights_of_every_prefix(number: int) -> None:
    chosen = [case for case in cases(number, seed=4) if case.theta < 2]
    boxes = [free_box(case.chain, tilt_factor(case.theta)) for case in chosen]
    assert sum(len(lo) > 0 for lo, _ in boxes) > number / 8
    for contexts in (0, 10, 100):
        assert not any(spread_is_too_narrow(case, contexts=contexts) for case in chosen)


def test_a_longer_memory_gives_narrower_boxes() -> None:
    town = pv.example_town().compiled
    chain = SymbolChain.of(town)
    assert chain is not None
    short, long = (free_box(chain, tilt_factor(0.75), contexts=contexts) for contexts in (0, 300))
    assert (long[0] >= short[0] * (1 - 1e-9)).all()
    assert (long[1] <= short[1] * (1 + 1e-9)).all()
    assert np.median(long[1] / long[0]) < 0.85 * np.median(short[1] / short[0])


def test_a_box_of_walks_without_a_word_that_is_too_narrow_is_noticed() -> None:
    assert any(spread_is_too_narrow(case, factor=0.6) for case in cases(60, seed=4) if case.theta < 2)


def forgotten_short_words(patch: pytest.MonkeyPatch) -> None:
    """Words that are shorter than what is remembered do not count."""
    patch.setattr(free_walks, "_united", lambda box, *_: box)


def forgotten_beginnings(patch: pytest.MonkeyPatch) -> None:
    """No word begins with what is remembered."""
    longer = free_walks._Contexts.longer

    def wrong(self: free_walks._Contexts, *given: object) -> free_walks._Contexts:
        known = longer(self, *given)  # type: ignore[arg-type]
        return replace(known, begun=np.full_like(known.begun, np.nan))

    patch.setattr(free_walks._Contexts, "longer", wrong)


def confused_contexts(patch: pytest.MonkeyPatch) -> None:
    """Each context is taken to come from where the one before it comes from."""
    longer = free_walks._Contexts.longer

    def wrong(self: free_walks._Contexts, *given: object) -> free_walks._Contexts:
        known = longer(self, *given)  # type: ignore[arg-type]
        return replace(known, sources=Links(known.sources.offsets, np.roll(known.sources.symbols, 3)))

    patch.setattr(free_walks._Contexts, "longer", wrong)


@pytest.mark.parametrize("planted", [forgotten_short_words, forgotten_beginnings, confused_contexts])
def test_mistakes_in_what_is_remembered_are_noticed(
    planted: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    planted(monkeypatch)
    assert any(spread_is_too_narrow(case) for case in cases(150, seed=4) if case.theta < 2)


# ------------------------------------------------------------------------------- words that are found


def test_words_that_climb_stay_feasible_differ_where_they_did_and_change_log_z_no_less() -> None:
    rng, larger = np.random.default_rng(6), 0
    for case in cases(80, seed=12):
        search = case.search(case.certifier())
        if search is None or case.theta > 5:
            continue
        for normaliser in case.normalisers():
            words = set(normaliser.words)
            node = literal(search, search.roots(), 0)
            pairs = sorted(replace(node, prefix=(), suffix=()).pairs(normaliser))
            for k in rng.choice(len(pairs), min(len(pairs), 2), replace=False).tolist():
                w, v = pairs[k]
                z = tilt_factor(case.theta)
                better = climbed(case.chain, list(w), list(v), z)
                one, other = (tuple(word) for word in better)
                assert {one, other} <= words
                assert [a != b for a, b in zip(one, other, strict=True)] == [a != b for a, b in zip(w, v, strict=True)]
                before, after = normaliser.change(w, v), normaliser.change(one, other)
                assert after >= before - 1e-12
                assert change_of_log_z(case.chain, *better, z) <= after
                larger += after > before + 1e-6
    assert larger > 10
