"""Draws by error class in compiled loops: tables, choices and walks, each against plain loops."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pathveil as pv
from pathveil.words.tilted.rejection import FlipByRejection
from tests.reference.enumeration import class_counts
from tests.reference.literal_draws import class_table, cut, draw_of_class, uniforms_of
from tests.words.engines import words_of
from tests.worlds import DEAD_END_PLANS, UNEVEN


def graph_of(class_graph, compiled):
    return class_graph(compiled.symbol_count, compiled.offsets, compiled.labels, compiled.targets)


@pytest.mark.parametrize("world", [UNEVEN, DEAD_END_PLANS])
def test_edges_are_listed_by_state_and_by_label(world):
    from pathveil.words.classes.kernels import class_graph

    compiled = world.compiled
    offsets, targets, four, label_offsets, label_edges, label_sources = graph_of(class_graph, compiled)
    assert offsets.tolist() == compiled.offsets.tolist()
    assert targets.tolist() == compiled.targets.tolist()
    nowhere = compiled.state_count
    assert four.tolist() == [([*each[:4]] + [nowhere] * 4)[:4] for each in compiled.successors]
    edges = list(zip(compiled.sources.tolist(), compiled.labels.tolist(), strict=True))
    assert label_offsets[0] == 0
    for label in range(compiled.symbol_count):
        part = slice(label_offsets[label], label_offsets[label + 1])
        assert label_edges[part].tolist() == [k for k, (_, carried) in enumerate(edges) if carried == label]
        assert label_sources[part].tolist() == [source for source, carried in edges if carried == label]
    assert label_offsets[-1] == len(edges)


@pytest.mark.parametrize("length", [4, 5])
def test_states_are_reached_when_a_word_can_be_there(length):
    from pathveil.words.classes.kernels import reached_states

    line = pv.TransitionSystem({(0, "a"): 1, (1, "a"): 2, (2, "a"): 3, (3, "a"): 3, (1, "b"): 1}, initial=0)
    compiled = line.compiled
    found = reached_states(length, compiled.start, compiled.offsets, compiled.targets)
    states, expected = {compiled.start}, []
    for _ in range(length + 1):
        expected.append([y in states for y in range(compiled.state_count)])
        states = {target for y in states for target in compiled.successors[y]}
    assert found.tolist() == expected
    assert len({tuple(row) for row in expected}) == 4


@pytest.mark.parametrize("spacing", [1, 15])
@pytest.mark.parametrize("length", [1, 14, 15, 16, 17, 31, 32, 50])
def test_strips_have_room_for_the_positions_that_are_kept(length, spacing):
    from pathveil.words.classes.kernels import strips

    kept = [len(range(0, length - g + 1, spacing)) for g in range(0, length + 1, 16)]
    assert strips(length, spacing).tolist() == np.cumsum([0, *kept]).tolist()


@pytest.mark.parametrize("spacing", [1, 15])
@pytest.mark.parametrize(
    ("world", "length"), [(UNEVEN, 37), (DEAD_END_PLANS, 37), (UNEVEN, 16), (DEAD_END_PLANS, 15), (UNEVEN, 1)]
)
def test_tables_count_the_ways_to_go_on_at_every_position_that_is_kept(world, length, spacing):
    from pathveil.words.classes.kernels import LANES, class_graph, fill_table, reached_states, strips

    compiled = world.compiled
    begin, count = 2, compiled.state_count
    # Twice in the same memory, first with another word: nothing may be left of it.
    words = words_of(world, length, 2)
    starts, graph = strips(length, spacing), graph_of(class_graph, compiled)
    spare, edges = np.full((5, count + 1, LANES), np.nan)[1:4], np.full((2, length + 1, count), np.nan)
    spare[:] = 0.0  # with no numbers on both sides of it
    table = np.full((starts[-1], count + 1, LANES), np.nan)
    reached = reached_states(length, compiled.start, compiled.offsets, compiled.targets)
    for word in words:
        values = np.concatenate([[0] * begin, word])
        fill_table(values, begin, length, reached, compiled.accepting, graph, spacing, starts, spare, edges, table)
    literal = class_table(compiled, words[1].tolist())
    for i in range(0, length + 1, spacing):
        for g in range(length - i + 1):
            found = table[starts[g // LANES] + i // spacing, :, g % LANES]
            expected = np.where(reached[i], literal[i, :, g], 0.0)
            assert found[:-1] == pytest.approx(expected if i < length else literal[i, :, g], rel=1e-14)
            assert found[-1] == 0
    assert not np.isnan(table).any()
    # What lies beyond the symbols that follow is 0.
    assert table[starts[0] + length // spacing, :, 1:].sum() == 0 or length % spacing


def test_equal_words_are_followed_up_to_the_first_different_one():
    from pathveil.words.classes.kernels import _next_word

    values = np.array([1, 2, 3, 1, 2, 3, 1, 2, 4, 2, 2, 4, 9, 2, 2, 4])
    begins = np.array([0, 3, 6, 9, 13])
    assert [_next_word(values, begins, word, 3) for word in range(5)] == [2, 2, 3, 5, 5]
    assert [_next_word(values, begins, word, 2) for word in range(5)] == [3, 3, 3, 5, 5]


def draw(draw_from_tables, world, codes, scores, numbers, *, margin, weight_margin=0.0):
    """Private words and doubts, from cells that do not begin at 0."""
    compiled, (count, length) = world.compiled, codes.shape
    values = np.concatenate([[0, 0, 0], codes.reshape(-1)])
    private, in_doubt = np.full_like(values, -1), np.empty(count, dtype=bool)
    draw_from_tables(
        values, 3 + np.arange(count) * length, length, compiled.symbol_count, compiled.start, compiled.accepting,
        compiled.offsets, compiled.labels, compiled.targets, scores, numbers.reshape(-1), private, margin,
        weight_margin, in_doubt,
    )  # fmt: skip
    assert private[:3].tolist() == [-1] * 3
    return private[3:].reshape(codes.shape), in_doubt


def choose(counts, scores, uniform, weight_margin):
    weights = [count * math.exp(score) for count, score in zip(counts, scores, strict=True)]
    present = [k for k, weight in enumerate(weights) if weight > 0]
    taken, close = cut([weights[k] for k in present], uniform, weight_margin)
    return present[taken], close


@pytest.mark.parametrize(("world", "length"), [(UNEVEN, 9), (DEAD_END_PLANS, 7), (UNEVEN, 1), (UNEVEN, 20)])
def test_words_and_doubts_are_those_of_the_plain_loops(world, length):
    from pathveil.words.classes.kernels import draw_from_tables

    codes = np.repeat(words_of(world, length, 15), 3, axis=0)
    rng = np.random.default_rng(length)
    numbers = rng.integers(2**59, 2**64 - 2**59, (len(codes), length + 1), dtype=np.uint64)
    scores = -0.9 * np.arange(length + 1.0)
    doubts = set()
    for settings in ({"margin": 1e-9, "weight_margin": 0.03}, {"margin": 0.01, "weight_margin": 1e-9}):
        private, in_doubt = draw(draw_from_tables, world, codes, scores, numbers, **settings)
        for word, row, drawn, doubtful in zip(
            codes.tolist(), numbers.tolist(), private.tolist(), in_doubt, strict=True
        ):
            table = class_table(world.compiled, word)
            counts = table[0, world.compiled.start, ::-1].tolist()
            first, *walk = uniforms_of(row)
            errors, close = choose(counts, scores, first, settings["weight_margin"])
            expected = draw_of_class(world.compiled, table, word, errors, walk, settings["margin"])
            assert drawn == expected.word
            assert doubtful == (close or expected.in_doubt)
            doubts.add(bool(doubtful))
    assert doubts == {True, False} or length == 1


def test_long_words_are_drawn_alike_whether_all_positions_are_kept_or_few():
    """Three equal words keep every fifteenth position, and twelve keep all, of a table too large to keep it anyway."""

    from pathveil.words.classes.kernels import draw_from_tables

    size, length = 66, 131
    edges = [(a, (a + step) % size) for a in range(size) for step in ((1, 5) if a % 3 else (1, 2, 7, 11, 30, 31))]
    world = pv.MarkovChain.from_edges(edges)
    word = words_of(world, length, 1)
    scores = -1.2 * np.arange(length + 1.0)
    numbers = np.random.default_rng(2).integers(0, 2**64, (12, length + 1), dtype=np.uint64)
    settings = {"margin": 2e-3, "weight_margin": 1e-9}
    table = class_table(world.compiled, word[0].tolist())
    counts = table[0, world.compiled.start, ::-1].tolist()
    all_kept, doubts = draw(draw_from_tables, world, np.repeat(word, 12, axis=0), scores, numbers, **settings)
    few_kept, same_doubts = draw(draw_from_tables, world, np.repeat(word, 3, axis=0), scores, numbers[:3], **settings)
    assert few_kept.tolist() == all_kept[:3].tolist()
    assert same_doubts.tolist() == doubts[:3].tolist()
    for row, drawn in zip(numbers.tolist(), all_kept.tolist(), strict=True):
        first, *walk = uniforms_of(row)
        errors, _ = choose(counts, scores, first, settings["weight_margin"])
        assert drawn == draw_of_class(world.compiled, table, word[0].tolist(), errors, walk, 0.0).word
        assert 15 < errors < length - 15


def test_numbers_at_both_ends_of_the_unit_interval_have_a_class_and_a_word():
    from pathveil.words.classes.kernels import draw_from_tables

    word = np.array([[3, 6, 0, 5, 2]])
    scores = -0.5 * np.arange(6.0)
    for number in (0, 2**64 - 1):
        numbers = np.full((1, 6), number, dtype=np.uint64)
        private, _ = draw(draw_from_tables, UNEVEN, word, scores, numbers, margin=1e-12, weight_margin=1e-12)
        assert UNEVEN.compiled.feasible_rows(private).all()


def test_the_walk_takes_the_middle_of_the_cell_of_its_keystream_word():
    """Two words with one error, alike: the border is 1/2, which begins a cell of 2^11 keystream words."""

    from pathveil.words.classes.kernels import draw_from_tables

    fork = pv.MarkovChain.from_edges([(0, 1), (0, 2), (1, 0), (2, 0)], initial=0)
    for number, expected in [(2**63 - 1, 1), (2**63, 2)]:
        numbers = np.array([[2**62, number]], dtype=np.uint64)
        private, _ = draw(draw_from_tables, fork, np.array([[0]]), np.zeros(2), numbers, margin=0.0)
        assert private.tolist() == [[expected]]


@pytest.mark.parametrize(("world", "length"), [(UNEVEN, 3), (DEAD_END_PLANS, 4), (DEAD_END_PLANS, 1)])
def test_the_nearest_class_and_its_size_are_those_that_listing_finds(world, length):
    codes = np.array(list(np.ndindex(*[len(world.symbols)] * length)))[::7]
    flip = FlipByRejection(world.compiled, length, 1.0, feasible=False)
    errors, sizes = flip.nearest(np.concatenate([[0], codes.reshape(-1)]), 1 + np.arange(len(codes)) * length)
    for word, least, size in zip(codes.tolist(), errors.tolist(), sizes.tolist(), strict=True):
        counts = class_counts(world, tuple(world.symbols[code] for code in word))
        assert least == next(k for k, count in enumerate(counts) if count)
        assert size == counts[least]
