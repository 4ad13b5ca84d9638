"""Boxes of ratios: how they are united, widened, carried on and found to last."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import pathveil as pv
from pathveil.words.certificate import ChainCertifier
from pathveil.words.certificate.ratio_bounds import Box, RatioBounds, _slices, united_so_far
from tests.worlds import TOWN


def box(lo, hi, dropped=(1.0,)):
    return Box(np.array(lo), np.array(hi), np.array(dropped))


def prefixes(length, *, budget=1, pairs=None, world=TOWN) -> RatioBounds:
    certifier = ChainCertifier.of(world.compiled, length, 1, up_to=False, budget=budget, pairs=pairs)
    assert isinstance(certifier, ChainCertifier)
    return certifier._prefixes


MIDDLE = box([0.2, 0.5], [0.4, 0.9])


@pytest.mark.parametrize(
    ("other", "inside"),
    [
        (box([0.2, 0.5], [0.4, 0.9]), True),
        (box([0.3, 0.6], [0.35, 0.7], [0.5]), True),
        (box([0.1, 0.6], [0.35, 0.7]), False),
        (box([0.3, 0.6], [0.35, 0.95]), False),
        (box([0.3, 0.6], [0.35, 0.7], [1.5]), False),
    ],
)
def test_a_box_is_inside_another_if_all_its_intervals_are(other, inside):
    assert other.is_inside(MIDDLE) == inside
    if inside:
        assert MIDDLE.unite(other) is MIDDLE
        assert other.unite(MIDDLE) is MIDDLE or other.unite(MIDDLE) is other


def test_the_union_of_two_boxes_has_the_outer_ends_of_both():
    united = MIDDLE.unite(box([0.1, 0.6], [0.35, 0.95], [0.5]))
    assert (united.lo.tolist(), united.hi.tolist(), united.dropped.tolist()) == ([0.1, 0.5], [0.4, 0.95], [1.0])
    united = MIDDLE.unite(box([0.1, 0.6], [0.35, 0.95], [2.5]))
    assert united.dropped.tolist() == [2.5]


def test_boxes_so_far_contain_all_before_them():
    boxes = [MIDDLE, box([0.3, 0.1], [0.35, 0.7]), box([0.3, 0.2], [0.6, 0.7])]
    found = united_so_far(boxes)
    assert found[0] is MIDDLE
    assert [each.lo.tolist() for each in found] == [[0.2, 0.5], [0.2, 0.1], [0.2, 0.1]]
    assert [each.hi.tolist() for each in found] == [[0.4, 0.9], [0.4, 0.9], [0.6, 0.9]]


def test_a_widened_box_is_a_millionth_wider_and_a_little_more():
    wide = box([0.0, 0.5, 1e-12], [0.0, 4.0, np.inf], [2.0]).widened()
    assert wide.lo.tolist() == pytest.approx([0.0, 0.5 - 0.501e-6, 0.0], rel=1e-14)
    assert wide.hi.tolist() == pytest.approx([1e-9, 4 + 4.001e-6, np.inf], rel=1e-14)
    assert wide.dropped.tolist() == pytest.approx([2 + 2.001e-6], rel=1e-14)
    assert wide.lo.min() == 0.0


def test_a_box_has_settled_where_it_moved_by_less_than_a_widened_one_allows_for():
    before = box([1.0, 0.0], [3.0, np.inf], [2.0])
    assert before.has_settled(before)
    for name in ("lo", "hi", "dropped"):
        for change, settled in [(1e-7, True), (2e-7, False)]:
            ends = {each: getattr(before, each).copy() for each in ("lo", "hi", "dropped")}
            ends[name][0] *= 1 + change
            assert Box(**ends).has_settled(before) == settled
    assert box([1.0, 1e-10], [3.0, np.inf], [2.0]).has_settled(before)
    assert not box([1.0, 2e-10], [3.0, np.inf], [2.0]).has_settled(before)
    assert not box([1.0, 0.0], [3.0, 1e29], [2.0]).has_settled(before)


@pytest.mark.parametrize("z", [0.02, 0.08])
def test_a_box_that_lasts_contains_all_later_ones_and_is_hardly_wider(z, monkeypatch):
    length = 200
    chain = pv.MarkovChain.from_edges([(a, b) for a in range(6) for b in range(6) if (a * a + 2 * b) % 5])
    bounds = prefixes(length, world=chain, budget=1, pairs=25)
    steps = []
    step = RatioBounds._step
    monkeypatch.setattr(RatioBounds, "_step", lambda self, *arguments: steps.append(1) or step(self, *arguments))
    found = bounds.boxes(z)
    assert len(found) == length
    assert len(steps) < 100
    assert found[-1] is found[-2] is found[150]
    monkeypatch.setattr(RatioBounds, "_lasting", lambda *_: None)  # no box is reused
    literal = bounds.boxes(z)
    for each, exact in zip(found, literal, strict=True):
        assert exact.is_inside(each)
        assert each.hi == pytest.approx(exact.hi, rel=3e-5, abs=1e-7)
        assert each.lo == pytest.approx(exact.lo, rel=3e-5, abs=1e-7)
        assert each.dropped == pytest.approx(exact.dropped, rel=3e-5, abs=1e-7)


def test_a_box_lasts_only_if_steps_lead_back_into_it(monkeypatch):
    """Steps that visit these boxes: back after three of them, after 32, and never."""
    bounds = prefixes(6)
    monkeypatch.setattr(Box, "widened", lambda self: self)
    monkeypatch.setattr(RatioBounds, "_by_symbol", lambda _self, box, _i: box)
    away = [box([0.2, 0.4], [0.4, 0.9]), box([0.2, 0.5], [0.4, 1.1]), box([0.2, 0.5], [0.4, 0.9], [3.0])]
    for count, expected in [(0, True), (2, True), (3, True), (31, True), (32, False)]:
        visited = iter([away[k % 3] for k in range(count)] + [MIDDLE])
        monkeypatch.setattr(RatioBounds, "_step", lambda *_, visited=visited: next(visited))
        lasting = bounds._lasting(MIDDLE, 3, 0.1)
        assert (lasting is not None) == expected
        if count == 0:
            assert lasting is MIDDLE
        if lasting is not None and count > 2:
            assert (lasting.lo.tolist(), lasting.hi.tolist()) == ([0.2, 0.4], [0.4, 1.1])
            assert lasting.dropped.tolist() == [3.0]


def test_a_box_that_does_not_last_is_tried_again_after_pauses_that_double(monkeypatch):
    tried = []
    monkeypatch.setattr(Box, "has_settled", lambda *_: True)
    monkeypatch.setattr(RatioBounds, "_lasting", lambda _self, _box, i, _z: tried.append(i))
    found = prefixes(60).boxes(0.1)
    gaps = np.diff(tried).tolist()
    assert gaps == [2**k for k in range(len(gaps))]
    assert len(gaps) >= 4
    assert all(a is not b for a, b in pairwise(found))


def test_where_positions_differ_boxes_are_not_reused(monkeypatch):
    """The last positions of a word leave out symbols that cannot end it."""
    chain = pv.MarkovChain.from_edges(
        [(a, b) for a in range(5) for b in range(5) if (a + 2 * b) % 3], initial={0, 1}, final={2}
    )
    bounds = prefixes(40, world=chain, budget=1)
    found = bounds.boxes(0.2)
    monkeypatch.setattr(RatioBounds, "_lasting", lambda *_: None)  # no box is reused
    literal = bounds.boxes(0.2)
    for each, exact in zip(found, literal, strict=True):
        assert exact.is_inside(each)
        assert np.array_equal(np.isinf(each.lo), np.isinf(exact.lo))
        assert each.hi == pytest.approx(exact.hi, rel=3e-5, abs=1e-7)


@pytest.mark.parametrize("pairs", [1, 60, 10_000])
def test_the_first_box_knows_which_symbols_a_word_can_begin_with(pairs):
    chain = pv.MarkovChain.from_edges([(0, 1), (1, 2), (2, 0), (0, 2), (2, 2)], initial={0, 2})
    bounds = prefixes(3, world=chain, pairs=pairs)
    first = bounds._first()
    kept = bounds.kept.pairs
    contexts = [0, 2]
    expected = [[1.0, 0.0, 1.0][y] for c in contexts for y in kept.symbols[kept.offsets[c] : kept.offsets[c + 1]]]
    assert first.lo.tolist() == first.hi.tolist() == expected
    assert first.dropped.tolist() == ([1.0, 1e-250, 1.0] if pairs == 1 else [0.0, 0.0, 0.0])
    assert bounds.contexts == sum(len(level.last_symbol) for level in bounds._levels) == 8


@pytest.mark.parametrize("pairs", [60, 200])
def test_dropped_ratios_are_bounded_by_what_can_be_handed_on_to_them(pairs):
    """Either only each symbol with itself is kept, or also all that have a predecessor in common."""
    bounds = prefixes(6, pairs=pairs)
    chain, kept = bounds.chain, bounds.kept
    m, rng, z = chain.symbol_count, np.random.default_rng(1), 0.3
    assert kept.pairs.count == {60: 43, 200: 185}[pairs]
    assert kept.is_edge.any() == (pairs == 200)
    assert kept.is_direct.any() == (pairs == 60)
    assert not kept.is_direct.all()
    dropped, hi = rng.uniform(0, 1, m), rng.uniform(0, 2, kept.pairs.count)
    united = Box(np.zeros_like(hi), hi, dropped)
    before = dropped.copy()
    reaching = dropped.copy()
    for edge, y, end in zip(kept.is_edge, kept.pairs.symbols, hi, strict=True):
        if edge:
            reaching[y] = max(reaching[y], end)
    follows = chain.successors.matrix.toarray()
    expected = [kept.is_direct[y] + z * sum(reaching[x] for x in range(m) if follows[x, y]) for y in range(m)]
    found = bounds._step_dropped(dropped, united, z)
    assert found == pytest.approx(expected, rel=1e-12)
    assert (found >= expected).all()
    assert dropped.tolist() == before.tolist()
    everywhere = bounds._step_dropped(np.full(m, 1e31), united, z)
    assert (everywhere[chain.predecessors.degrees > 0] == np.inf).all()
    nothing = bounds._step_dropped(np.zeros(m), Box(np.zeros_like(hi), np.zeros_like(hi), dropped), z)
    assert nothing.tolist() == np.where(kept.is_direct, 1 + bounds._slack, 1e-250).tolist()


def test_rounding_is_outward_by_more_than_the_rounding_of_sums():
    bounds = prefixes(6)
    d = int(bounds.chain.predecessors.degrees.max())
    assert (d + 64) * 2.0**-51 <= bounds._slack <= (d + 64) * 2.0**-50


def test_where_all_pairs_are_kept_nothing_is_dropped():
    bounds = prefixes(6)
    assert not bounds._drops
    zeros = np.zeros(bounds.chain.symbol_count)
    assert bounds._step_dropped(zeros, MIDDLE, 0.5) is zeros
    assert prefixes(6, pairs=120)._drops


def test_slices_are_the_numbers_of_several_ranges():
    starts, lengths = np.array([5, 0, 9, 2]), np.array([2, 3, 0, 1])
    assert _slices(starts, lengths).tolist() == [5, 6, 0, 1, 2, 2]
