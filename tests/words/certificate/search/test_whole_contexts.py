"""Bounds with contexts as a whole hold for all weights in the boxes where contexts begin, of words or not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from pathveil.words.base import tilt_factor
from pathveil.words.certificate.certificate import ChainCertifier
from pathveil.words.certificate.search import BranchAndBound, ContextTree, whole_contexts_kernel
from pathveil.words.certificate.search.branch_and_bound import Nodes
from pathveil.words.certificate.search.whole_contexts import whole_contexts
from pathveil.words.certificate.symbol_chain import Links, SymbolChain
from tests.sizes import small_and_large


def searches(number: int, seed: int) -> Iterator[tuple[BranchAndBound, float]]:
    """Searches for runs of one symbol on chains of 3 to 7 symbols, with z."""
    rng = np.random.default_rng(seed)
    while number:
        m = int(rng.integers(3, 8))
        follows = sparse.csr_array((rng.random((m, m)) < rng.uniform(1.5, 3) / m).astype(float))
        chain = SymbolChain(Links.of(follows), Links.of(follows.T.tocsr()), *np.ones((2, m), dtype=bool))
        certifier = ChainCertifier(chain, 9, 1, up_to=False, budget=1)
        pairs, theta = certifier._runs(1).pairs, float(rng.choice([0.2, 0.5, 1.0, 2.0]))
        if pairs is None or not len(pairs[0]):
            continue
        z, trees = tilt_factor(theta), certifier._trees(theta)
        if all(tree.is_free for tree in trees):  # walks without a word bound the starts of contexts
            number -= 1
            yield BranchAndBound(*pairs, *trees, certifier._lengths, theta, z), z


def spread(tree: ContextTree, context: int, z: float) -> np.ndarray:
    """M(x, y): the weight at y next to the context for a unit weight at x where it begins."""
    back = tree.chain.predecessors.matrix.toarray()
    m = len(back)
    table = np.eye(m)
    for symbol in tree.symbols_of(context):
        table = np.where(np.arange(m) == symbol, 1.0, z)[:, None] * (back.T @ table)
    return table


def weights_at_run(
    tree: ContextTree, context: int, c: int, v: int, z: float, rng: np.random.Generator
) -> list[np.ndarray]:
    """Weights at the run, in units of that of c, from corners of the box where the context begins, and in their own."""
    lo, hi = (one[0] for one in tree.starts(np.array([context])))
    table, row = spread(tree, context, z), tree.row[context]
    begin, end = tree.near.offsets[c], tree.near.offsets[c + 1]
    order = np.argsort(table[:, v] / np.maximum(table[:, c], 1e-300))
    corners = [np.where(np.isin(np.arange(len(lo)), order[k:]), hi, lo) for k in range(len(lo) + 1)]
    corners += [np.where(np.isin(np.arange(len(lo)), order[:k]), hi, lo) for k in range(len(lo) + 1)]
    corners += [np.where(rng.random(len(lo)) < 0.5, hi, lo) for _ in range(8)]
    found = []
    for start in corners:
        if not np.isfinite(start).all() or not (total := (start @ table)[c]) > 0:
            continue
        weights = start @ table / total
        at_run = weights[tree.near.symbols[begin:end]]
        box = tree.lo[row : row + end - begin], tree.hi[row : row + end - begin]
        if (box[0] * (1 - 1e-12) <= at_run).all() and (at_run <= box[1] * (1 + 1e-12)).all():
            found.append(weights)
    return found


def largest_excess(search: BranchAndBound, nodes: Nodes, z: float, rng: np.random.Generator) -> float:
    """By how much a quotient exceeds the bound of its node, relatively; below 0 if none does."""
    w, v = search.w[nodes.pair, 0], search.v[nodes.pair, 0]
    bounds = whole_contexts(search.prefixes, search.suffixes, nodes.prefix, nodes.suffix, v, z).bound
    worst = -1.0
    for k, (c, d) in enumerate(zip(w.tolist(), v.tolist(), strict=True)):
        before = weights_at_run(search.prefixes, int(nodes.prefix[k]), c, d, z, rng)
        after = weights_at_run(search.suffixes, int(nodes.suffix[k]), c, d, z, rng)
        for one in before:
            for other in after:
                both = one * other
                rest = z * both.sum()
                quotient = (rest + (1 - z) * both[d]) / (rest + (1 - z) * both[c])
                worst = max(worst, quotient / bounds[k] - 1)
    return worst


def excesses(number: int, seed: int) -> list[float]:
    rng, found = np.random.default_rng(seed), []
    for search, z in searches(number, seed):
        nodes = search.roots()
        for _ in range(4):
            if not len(nodes):
                break
            nodes = nodes.at(rng.choice(len(nodes), min(len(nodes), 4), replace=False))
            found.append(largest_excess(search, nodes, z, rng))
            nodes = search.split(nodes)
    return found


@small_and_large("number", 8, 400)
def test_no_weights_in_the_boxes_exceed_the_bound(number: int) -> None:
    found = excesses(number, seed=1)
    assert max(found) < 1e-13
    assert max(found) > -0.01  # bounds are close to what some weights attain


def test_bounds_that_forget_what_both_sides_do_together_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    bounds = whole_contexts_kernel.whole_contexts

    def in_the_middle(w: Any, v: Any, rows: Any, near: Any, boxes: Any, *given: Any) -> Any:
        middle = [(lo + hi) / 2 for lo, hi in boxes]
        return bounds(w, v, rows, near, tuple((one, one) for one in middle), *given)

    monkeypatch.setattr(whole_contexts_kernel, "whole_contexts", in_the_middle)
    assert max(excesses(8, seed=1)) > 1e-6
