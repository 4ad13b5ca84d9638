"""Proofs leave room for every rounding, whichever way it went: more than there were operations behind a number."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from flint import arb, ctx, fmpq
from scipy import sparse

from pathveil.words.base import tilt_factor
from pathveil.words.certificate.certificate import ChainCertifier
from pathveil.words.certificate.search import AllWords, BranchAndBound, ContextTree
from pathveil.words.certificate.search.concrete_words import change_of_log_z
from pathveil.words.certificate.symbol_chain import Links, SymbolChain
from tests.reference.literal_nodes import Normalisers, words_of

UNIT = Fraction(1, 2**53)  # what one operation may be off by, relatively


def chains(number: int, seed: int) -> Iterator[tuple[SymbolChain, int, float]]:
    """Chains of 3 to 6 symbols with a length and z."""
    rng = np.random.default_rng(seed)
    while number:
        m, length = int(rng.integers(3, 7)), int(rng.integers(3, 7))
        follows = sparse.csr_array((rng.random((m, m)) < rng.uniform(1.5, 3) / m).astype(float))
        chain = SymbolChain(Links.of(follows), Links.of(follows.T.tocsr()), *np.ones((2, m), dtype=bool))
        if 2 <= len(words_of(chain, length)) <= 200:
            number -= 1
            yield chain, length, tilt_factor(float(rng.choice([0.3, 1.0, 2.5])))


def degree(chain: SymbolChain) -> int:
    return int(max(chain.successors.degrees.max(), chain.predecessors.degrees.max()))


def test_a_change_between_two_words_is_below_the_exact_one_by_more_than_rounding() -> None:
    rng = np.random.default_rng(1)
    for chain, length, z in chains(20, seed=1):
        normalisers = Normalisers(chain, length, z)
        w, v = (normalisers.words[k] for k in rng.choice(len(normalisers.words), 2, replace=False))
        quotient = normalisers.z_of[v] / normalisers.z_of[w]
        with ctx.workprec(200):
            exact = arb(fmpq(quotient.numerator, quotient.denominator)).log()
            room = exact - arb(change_of_log_z(chain, list(w), list(v), z))
            assert room > 2 * length * degree(chain) * float(UNIT)
            assert room < 1e-11


def test_the_largest_change_of_all_words_has_room_on_both_sides() -> None:
    for chain, length, z in chains(8, seed=2):
        at_least, at_most = AllWords(chain, length, up_to=False).largest_change(z)
        if at_least > 0:
            assert 4 * length * degree(chain) * float(UNIT) < at_most - at_least < 1e-11


def exact_spread(tree: ContextTree, context: int, z: float) -> list[list[Fraction]]:
    """M(x, y): the weight at y next to the context for a unit weight at x where it begins."""
    follows, m = tree.chain.successors.matrix.toarray() > 0, tree.chain.symbol_count
    table = [[Fraction(int(x == y)) for y in range(m)] for x in range(m)]
    for symbol in tree.symbols_of(context):
        stepped = [
            [sum((table[s][y] for s in range(m) if follows[x, s]), Fraction(0)) for y in range(m)] for x in range(m)
        ]
        table = [[(1 if x == symbol else Fraction(z)) * one for one in row] for x, row in enumerate(stepped)]
    return table


def test_boxes_of_whole_prefixes_and_suffixes_have_room_on_both_sides() -> None:
    """Where a context is closed the weights are known, and every interval would be a point without rounding."""
    rng, seen = np.random.default_rng(3), 0
    for chain, length, z in chains(12, seed=3):
        certifier = ChainCertifier(chain, length, 1, up_to=False, budget=1)
        for tree in certifier._trees(-float(np.log(z))):
            contexts = np.arange(len(tree))
            for _ in range(3):
                before = len(tree)
                tree.grow(rng.choice(contexts, min(len(contexts), 4), replace=False))
                contexts = np.arange(before, len(tree))
                closed = contexts[tree.is_closed[contexts]]
                for context in rng.choice(closed, min(len(closed), 2), replace=False).tolist():
                    c, depth = int(tree.current[context]), int(tree.depth[context])
                    table = exact_spread(tree, context, z)
                    weights = [sum((row[y] for row in table), Fraction(0)) for y in range(chain.symbol_count)]
                    for j, y in enumerate(tree.near.symbols[tree.near.offsets[c] : tree.near.offsets[c + 1]].tolist()):
                        place = tree.row[context] + j
                        if y != c and weights[y] > 0:
                            exact, room = weights[y] / weights[c], (depth + 1) * degree(chain) * UNIT
                            known = int(tree.row[tree.parent[context]]) + j  # an end may be that of the open context
                            assert tree.lo[place] == tree.lo[known] or Fraction(tree.lo[place]) <= exact * (1 - room)
                            assert tree.hi[place] == tree.hi[known] or exact * (1 + room) <= Fraction(tree.hi[place])
                            assert tree.hi[place] - tree.lo[place] < 1e-11 * tree.hi[place]
                            seen += 1
                contexts = contexts[~tree.is_closed[contexts]]
                if not len(contexts):
                    break
    assert seen > 30


def test_the_bound_of_two_whole_words_has_room() -> None:
    seen = 0
    for chain, _, z in chains(14, seed=4):
        certifier, theta = ChainCertifier(chain, 3, 1, up_to=False, budget=1), -float(np.log(z))
        pairs = certifier._runs(1).pairs
        if pairs is None or not len(pairs[0]):
            continue
        search = BranchAndBound(*pairs, *certifier._trees(theta), certifier._lengths, theta, z)
        normalisers, nodes = Normalisers(chain, 3, z), search.roots()
        for _ in range(8):
            closed = search.prefixes.is_closed[nodes.prefix] & search.suffixes.is_closed[nodes.suffix]
            for k in np.flatnonzero(closed)[:3].tolist():
                node = nodes.at(np.array([k]))
                ends = [
                    tree.symbols_of(int(own[0]))
                    for tree, own in ((search.prefixes, node.prefix), (search.suffixes, node.suffix))
                ]
                w, v = ((*ends[0][::-1], int(one[node.pair[0], 0]), *ends[1]) for one in (search.w, search.v))
                change = normalisers.change(w, v)
                if change > 1e-9:
                    assert 2 * chain.symbol_count * float(UNIT) < node.bound[0] - change < 1e-10
                    seen += 1
            nodes = nodes.at(~closed)
            if not len(nodes):
                break
            nodes = search.split(nodes.at(np.arange(min(len(nodes), 6))))
    assert seen > 15


def test_quotients_of_walks_without_a_word_are_rounded_outward() -> None:
    """What is known whatever comes before: an end of one interval divided by one of another."""
    seen = [0, 0]
    for chain, length, z in chains(22, seed=5):
        for tree in ChainCertifier(chain, length, 1, up_to=False, budget=1)._trees(-float(np.log(z))):
            if not tree.is_free:
                continue
            free_lo, free_hi = tree.starts(np.arange(chain.symbol_count))
            for c, y, lo, hi in zip(
                tree.near.owners.tolist(), tree.near.symbols.tolist(), tree.lo.tolist(), tree.hi.tolist(), strict=False
            ):
                if y != c and free_lo[c, c] > 0 and np.isfinite(free_hi[c]).all():
                    least = Fraction(free_lo[c, y]) / Fraction(free_hi[c, c])
                    most = Fraction(free_hi[c, y]) / Fraction(free_lo[c, c])
                    # Where another bound is better by more than rounding, it stands in place of this one.
                    seen[0] += least * (1 - 100 * UNIT) < Fraction(lo) < least
                    seen[1] += most < Fraction(hi) < most * (1 + 100 * UNIT)
                    assert not 0 < least <= Fraction(lo) < least * (1 + 10 * UNIT)
                    assert not most * (1 - 10 * UNIT) < Fraction(hi) <= most
    assert min(seen) > 3
