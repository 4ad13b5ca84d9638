"""Boxes and bounds of contexts are no wider than what they follow from: some weights come as close as rounding lets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from scipy import sparse

from pathveil.words.base import tilt_factor
from pathveil.words.certificate.certificate import ChainCertifier
from pathveil.words.certificate.search import BranchAndBound, ContextTree
from pathveil.words.certificate.search.branch_and_bound import Nodes
from pathveil.words.certificate.search.whole_contexts import whole_contexts
from pathveil.words.certificate.symbol_chain import Links, SymbolChain

LARGE = 1e15  # in place of an upper end without limit


def searches(number: int, seed: int) -> Iterator[tuple[BranchAndBound, float]]:
    """Searches for runs of one symbol on chains of 3 to 6 symbols, not all of which may come first or last, with z."""
    rng = np.random.default_rng(seed)
    while number:
        m = int(rng.integers(3, 7))
        follows = sparse.csr_array((rng.random((m, m)) < rng.uniform(1.5, 3) / m).astype(float))
        first, last = rng.random(m) < rng.choice([0.5, 1.0]), rng.random(m) < rng.choice([0.5, 1.0])
        chain = SymbolChain(Links.of(follows), Links.of(follows.T.tocsr()), first, last)
        if not (first.any() and last.any()):
            continue
        certifier = ChainCertifier(chain, 9, 1, up_to=False, budget=1, pairs=int(rng.choice([2 * m, 1_000])))
        pairs, theta = certifier._runs(1).pairs, float(rng.choice([0.2, 0.5, 1.0, 2.0, 6.0]))
        if pairs is None or not len(pairs[0]):
            continue
        z = tilt_factor(theta)
        number -= 1
        yield BranchAndBound(*pairs, *certifier._trees(theta), certifier._lengths, theta, z), z


def spread(tree: ContextTree, context: int, z: float) -> np.ndarray:
    """M(x, y): the weight at y next to the context for a unit weight at x where it begins."""
    follows = tree.chain.successors.matrix.toarray()
    table = np.eye(len(follows))
    for symbol in tree.symbols_of(context):
        table = np.where(np.arange(len(follows)) == symbol, 1.0, z)[:, None] * (follows @ table)
    return table


def quotients(low: np.ndarray, high: np.ndarray, top: np.ndarray, bottom: np.ndarray) -> tuple[float, float]:
    """The smallest and the largest Σ a·top / Σ a·bottom for low ≤ a ≤ high: at corners in the order of top/bottom."""
    high = np.minimum(high, LARGE)
    order = np.argsort(np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1.0), np.where(top > 0, np.inf, -1.0)))
    found = []
    for k in range(len(low) + 1):
        for chosen in (order[:k], order[k:]):
            a = low.copy()
            a[chosen] = high[chosen]
            if a @ bottom > 0:
                found.append(a @ top / (a @ bottom))
    return min(found), max(found)


def start_box(tree: ContextTree, x: int) -> tuple[np.ndarray, np.ndarray]:
    """What is known of all weights at any position where a word has x, in units of that of x."""
    lo, hi, dropped, offsets, kept = tree._start
    low, high = np.zeros(len(dropped)), dropped.copy()
    own = slice(offsets[x], offsets[x + 1])
    low[kept[own]], high[kept[own]] = lo[own], hi[own]
    return low, high


def expected_box(tree: ContextTree, context: int, z: float) -> tuple[np.ndarray, np.ndarray]:
    """The intervals of the weights near the run, from those where the context begins and from its parent's box."""
    c, parent = int(tree.current[context]), int(tree.parent[context])
    near = tree.near.symbols[tree.near.offsets[c] : tree.near.offsets[c + 1]]
    rows = slice(tree.row[parent], tree.row[parent] + len(near))
    lo, hi, table = tree.lo[rows].copy(), tree.hi[rows].copy(), spread(tree, context, z)
    first, x = tree.chain.first.astype(float), int(tree.symbol[context])
    if tree.is_closed[context]:
        starts = [(first, first)]
    else:
        starts = [start_box(tree, x)]
        if not starts[0][0][x]:
            return lo, hi  # no word has x
        if tree.is_free:
            free_lo, free_hi = tree.starts(np.array([context]))
            starts.append((free_lo[0], free_hi[0]))
    for low, high in starts:
        if low @ table[:, c] > 0:
            for j, y in enumerate(near):
                least, most = quotients(low, high, table[:, y], table[:, c])
                lo[j], hi[j] = (1.0, 1.0) if y == c else (max(lo[j], least), min(hi[j], most))
    return lo, hi


def test_the_box_of_a_context_is_what_the_weights_attain_where_it_begins() -> None:
    rng, seen = np.random.default_rng(3), 0
    for search, z in searches(6, seed=11):
        for tree in (search.prefixes, search.suffixes):
            contexts = np.arange(len(tree))
            for _ in range(3):
                contexts = rng.choice(contexts, min(len(contexts), 4), replace=False)
                before = len(tree)
                tree.grow(contexts)
                contexts = np.arange(before, len(tree))
                for context in contexts.tolist():
                    width = tree.near.degrees[tree.current[context]]
                    rows = slice(tree.row[context], tree.row[context] + width)
                    lo, hi = expected_box(tree, context, z)
                    assert (tree.lo[rows] <= lo * (1 + 1e-13)).all()
                    assert (tree.hi[rows] >= hi * (1 - 1e-13)).all()
                    assert np.allclose(tree.lo[rows], lo, rtol=1e-8, atol=1e-190)
                    assert np.allclose(tree.hi[rows], hi, rtol=1e-8, atol=1e-190)
                    seen += 1
                if not len(contexts):
                    break
    assert seen > 80


# ------------------------------------------------------------------------------- bounds for nodes


def interval(tree: ContextTree, context: int, c: int, y: int) -> tuple[float, float]:
    """What is known of the weight of y next to the run, in units of that of c."""
    begin, end = tree.near.offsets[c], tree.near.offsets[c + 1]
    place = tree.row[context] + int(np.flatnonzero(tree.near.symbols[begin:end] == y)[0])
    return float(tree.lo[place]), float(tree.hi[place])


class Excess:
    """More than (N - λD) / (α(c)β(c)) for any λ: with both contexts as a whole, with the prefix, with the suffix."""

    def __init__(self, search: BranchAndBound, prefix: int, suffix: int, c: int, v: int, z: float) -> None:
        self._c, self._v, self._z = c, v, z
        self._m = search.prefixes.chain.symbol_count
        self._boxes, self._sides = [], []
        for tree, context in ((search.prefixes, prefix), (search.suffixes, suffix)):
            ends = np.zeros((2, self._m))
            for y in tree.near.symbols[tree.near.offsets[c] : tree.near.offsets[c + 1]].tolist():
                ends[:, y] = interval(tree, context, c, y)
            self._boxes.append(ends)
            lo, hi = (one[0] for one in tree.starts(np.array([context])))
            self._sides.append((lo, hi, spread(tree, context, z)))

    def __call__(self, factor: float, kind: int) -> float:
        e = np.full(self._m, self._z - factor * self._z)
        e[self._v], e[self._c] = 1 - factor * self._z, self._z - factor
        middles = [ends.mean(axis=0) for ends in self._boxes]
        if kind:
            side = kind - 1
            ends = self._boxes[1 - side]
            return self._largest(side, e * np.where(e > 0, ends[1], ends[0]))
        parts = sum(self._largest(side, e * middles[1 - side]) for side in range(2))
        spreads = np.prod([ends[1] - ends[0] for ends in self._boxes], axis=0) / 4
        return float(parts - middles[0] @ (e * middles[1]) + np.delete(np.abs(e) * spreads, self._c).sum())

    def _largest(self, side: int, gains: np.ndarray) -> float:
        """The largest α·gains in units of α(c), from all corners of the weights where the context begins."""
        lo, hi, table = self._sides[side]
        chosen = (np.arange(2 ** len(lo))[:, None] >> np.arange(len(lo))) & 1
        corners = np.where(chosen, hi, lo) @ table
        return float((corners @ gains / corners[:, self._c]).max())

    def smallest_bound(self) -> float:
        """The smallest λ at which nothing is left over, which bounds Z(v)/Z(w)."""
        return min(self._root(kind) for kind in range(3))

    def _root(self, kind: int) -> float:
        below, above = 1.0, 1 / self._z
        if self(below, kind) <= 0:
            return below
        for _ in range(24):
            middle = (below + above) / 2
            below, above = (middle, above) if self(middle, kind) > 0 else (below, middle)
        return above


def test_bounds_with_whole_contexts_are_the_best_that_their_formula_has() -> None:
    rng, seen = np.random.default_rng(4), 0
    for search, z in searches(20, seed=21):
        if not (search.prefixes.is_free and search.suffixes.is_free):
            continue
        nodes: Nodes = search.roots()
        for _ in range(4):
            nodes = nodes.at(rng.choice(len(nodes), min(len(nodes), 3), replace=False))
            v = search.v[nodes.pair, 0]
            bounds = whole_contexts(search.prefixes, search.suffixes, nodes.prefix, nodes.suffix, v, z).bound
            for k, bound in enumerate(bounds.tolist()):
                c = int(search.w[nodes.pair[k], 0])
                best = Excess(search, int(nodes.prefix[k]), int(nodes.suffix[k]), c, int(v[k]), z).smallest_bound()
                assert best * (1 - 1e-6) <= bound <= best * (1 + 1e-4)
                seen += best > 1.01
            nodes = search.split(nodes)
            if not len(nodes):
                break
    assert seen > 15


def test_weights_that_may_all_be_nothing_where_a_context_begins_give_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    starts = ContextTree.starts

    def without_lower_ends(tree: ContextTree, contexts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        lo, hi = starts(tree, contexts)
        return np.zeros_like(lo), hi

    monkeypatch.setattr(ContextTree, "starts", without_lower_ends)
    for search, z in searches(20, seed=21):
        if search.prefixes.is_free and search.suffixes.is_free:
            nodes = search.roots()
            v = search.v[nodes.pair, 0]
            bounds = whole_contexts(search.prefixes, search.suffixes, nodes.prefix, nodes.suffix, v, z).bound
            assert np.isinf(bounds).all()


def test_the_bound_from_two_boxes_is_what_some_weights_in_them_attain() -> None:
    from pathveil.words.certificate.search.context_kernel import single_bounds

    rng, seen = np.random.default_rng(5), 0
    for search, z in searches(12, seed=22):
        before, after, near = search.prefixes, search.suffixes, search.prefixes.near
        nodes: Nodes = search.roots()
        for _ in range(3):
            nodes = nodes.at(rng.choice(len(nodes), min(len(nodes), 3), replace=False))
            w, v = search.w[nodes.pair, 0], search.v[nodes.pair, 0]
            bounds, _, _ = single_bounds(
                w, v, before.row[nodes.prefix], after.row[nodes.suffix], (near.offsets, near.symbols),
                (before.lo, before.hi), (after.lo, after.hi), z, 1e-14,
            )  # fmt: skip
            for k, bound in enumerate(bounds.tolist()):
                c, d = int(w[k]), int(v[k])
                symbols = near.symbols[near.offsets[c] : near.offsets[c + 1]]
                ends = np.array([interval(before, int(nodes.prefix[k]), c, y) for y in symbols])
                ends *= [interval(after, int(nodes.suffix[k]), c, y) for y in symbols]
                top, bottom = np.where(symbols == d, 1.0, z), np.where(symbols == c, 1.0, z)
                if np.isfinite(bound):
                    _, most = quotients(ends[:, 0], ends[:, 1], top, bottom)
                    most = max(most, 1.0)  # below that nothing is asked
                    assert most * (1 - 1e-13) <= max(bound, 1.0) <= most * (1 + 1e-12)
                    seen += 1
            nodes = search.split(nodes)
            if not len(nodes):
                break
    assert seen > 30


@pytest.mark.parametrize("room", [1, 2, 3, 5])
def test_symbols_from_which_a_run_is_reached_are_listed_as_far_as_there_is_room(room: int) -> None:
    """Three symbols lead to 0 or to 1: with room for fewer the step is given up, and nothing is left behind."""
    from pathveil.words.certificate.search.context_kernel import step_back

    follows = sparse.csr_array(np.array([[1, 1, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 1, 0]], dtype=float))
    before = Links.of(follows.T.tocsr())
    rows, new = np.array([[2.0, 0.5], [3.0, 0.25]]), np.empty((room, 2))
    place, others = np.full(4, -1), np.empty(room, dtype=np.int64)
    found = step_back(np.array([0, 1]), 2, rows, 2, (before.offsets, before.symbols), place, others, new)
    assert (place == -1).all()
    if room < 3:
        assert found == -1
    else:
        weights = dict(zip(others[:found].tolist(), new[:found].tolist(), strict=True))
        assert weights == {0: [5.0, 0.75], 2: [2.0, 0.5], 3: [3.0, 0.25]}


def test_quotients_over_a_box_are_attained_also_where_ends_are_unknown() -> None:
    """Upper ends may be infinite, and a symbol may count on one side of the quotient, on the other, or on none."""
    from pathveil.words.certificate.search.context_kernel import _largest, _smallest

    rng, infinite = np.random.default_rng(6), 0
    for _ in range(400):
        count = int(rng.integers(1, 6))
        low, factor = rng.random(count), 1 + 9 * rng.random(count)
        high = np.where(rng.random(count) < 0.25, np.inf, low * factor)
        top, bottom = (rng.random(count) * (rng.random(count) < 0.7) for _ in range(2))
        if not bottom.any():
            continue
        least, most = quotients(low, high, top, bottom)
        if (np.isinf(high) & (top > 0) & (bottom == 0)).any():
            most = np.inf
        if (np.isinf(high) & (top == 0) & (bottom > 0)).any():
            least = 0.0
        given = (low, high, top, bottom, count, 1e-14, (low @ bottom) * (1 - 1e-14))
        above, below = _largest(*given), _smallest(*given)
        assert np.isclose(above, most, rtol=1e-7, atol=1e-12)
        assert np.isclose(below, least, rtol=1e-7, atol=1e-12)
        infinite += np.isinf(most)
    assert infinite > 20


def test_a_symbol_that_cannot_stand_before_a_run_weighs_nothing_whatever_may_come_after_it() -> None:
    from pathveil.words.certificate.search.context_kernel import single_bounds

    near, z = (np.array([0, 2, 4]), np.array([0, 1, 0, 1])), 0.3
    for before, after in (([0.0, 0.0], [0.0, np.inf]), ([0.0, np.inf], [0.0, 0.0])):
        prefix, suffix = ((np.array([1.0, lo]), np.array([1.0, hi])) for lo, hi in (before, after))
        row = np.array([0])
        bounds = single_bounds(np.array([0]), np.array([1]), row, row, near, prefix, suffix, z, 1e-14)
        assert bounds[0][0] == pytest.approx(z)  # w's own way weighs 1, for v it is an error
