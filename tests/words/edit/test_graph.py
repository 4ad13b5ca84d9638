"""The graph behind edit classes, node by node, against the same graph made of dictionaries."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import pathveil as pv
from pathveil.words.edit.classes import EditClasses
from pathveil.words.edit.length_range import LengthRange
from tests.reference.edit_graph import EditGraph, edits_to_go

# Two rooms and a way out, several symbols for the same step, and a state (3) from which nothing is ever accepted.
ROOMS = pv.TransitionSystem(
    {
        (0, "a"): 1,
        (0, "b"): 0,
        (0, "c"): 0,
        (0, "d"): 1,
        (1, "a"): 2,
        (1, "b"): 0,
        (1, "e"): 2,
        (1, "f"): 2,
        (2, "a"): 0,
    }
    | {(2, "c"): 3, (3, "a"): 3, (2, "g"): 2},
    initial=0,
    accepting={0, 2},
)
PAIRS = pv.TransitionSystem({(0, "a"): 1, (1, "b"): 0, (0, "b"): 2, (2, "a"): 0}, initial=0, accepting={0})
ONE, TWO, THREE, SIX = pv.Alphabet("a"), pv.Alphabet("ab"), pv.Alphabet("abc"), pv.Alphabet("abcdef")
ENDING_CHAIN = pv.MarkovChain.from_edges([("a", "b"), ("b", "a"), ("b", "c"), ("c", "a"), ("a", "a")], final={"a", "c"})

NARROW = [  # caps below 8
    (THREE, "abcab", 3, 7, 1),
    (THREE, "abcab", 3, 7, 2),
    (THREE, "abcab", 5, 5, 3),
    (SIX, "a", 4, 6, 4),  # shorter than any output
    (TWO, "abbaabab", 2, 4, 6),  # longer than any output
    (TWO, "abbaababbaabba", 11, 16, 7),  # thirteen entries below the cap
    (TWO, "aaaaaaaaaaaa", 1, 14, 5),
    (ROOMS, "abeaga", 2, 8, 2),
    (ROOMS, "ccagbdab", 3, 9, 4),
    (ROOMS, "gggggggggg", 6, 9, 5),  # far from everything feasible
    (ROOMS, "abca", 1, 10, 7),
    (ENDING_CHAIN, "abcaabcab", 4, 11, 3),
    (ENDING_CHAIN, "cccbbb", 6, 9, 7),
    (PAIRS, "abbaababbaabbabaabba", 17, 20, 5),
    (PAIRS, "abbaa", 2, 12, 6),
]
WIDE = [
    (THREE, "abcab", 3, 6, 8),  # the cap is farther than any word
    (TWO, "abbaababba", 6, 11, 8),
    (TWO, "ab", 7, 10, 9),
    (TWO, "abbaabbaababab", 3, 6, 10),
    (ROOMS, "abeagaacdb", 5, 11, 9),
    (ENDING_CHAIN, "abcaabcabaaa", 8, 13, 8),
    (PAIRS, "abbaababbaabbabaabba", 17, 20, 15),  # more than sixteen entries below the cap
    (PAIRS, "abbaababbaabbabaabba", 17, 20, 16),  # an entry takes 8 bits
    (PAIRS, "abbaababbaabbabaabbabaab", 15, 22, 19),
    (ONE, "a" * 40, 30, 45, 40),
    (ONE, "a" * 270, 3, 272, 256),  # an entry takes 16 bits
]
SMALL = [
    (TWO, "ab", 1, 3, 2),
    (ENDING_CHAIN, "bc", 2, 3, 2),
    (TWO, "ab", 1, 3, 8),
    (ENDING_CHAIN, "bc", 2, 3, 9),
    (THREE, "abca", 3, 5, 1),
    (THREE, "abcab", 4, 6, 3),
    (SIX, "a", 4, 6, 4),
    (TWO, "aaaaaaa", 2, 4, 6),
    (ROOMS, "abeaga", 2, 8, 2),
    (ROOMS, "ccagbdab", 3, 9, 4),
    (ENDING_CHAIN, "cccb", 2, 12, 7),
    (TWO, "ab", 7, 12, 8),
    (TWO, "abbaabbaabab", 2, 6, 10),
    (ROOMS, "abeaga", 4, 7, 8),
    (PAIRS, "abbaababbaabbabaab", 17, 18, 15),
    (PAIRS, "abbaababbaabbabaab", 17, 18, 17),
    (ONE, "a" * 20, 15, 22, 20),
]


@pytest.fixture
def interpreted(monkeypatch):
    """The loops run in the interpreter, where every index is checked and nothing overflows unseen."""
    from pathveil.words.edit import counting, preparing, walk
    from pathveil.words.edit import kernels as edit_kernels

    for module in (edit_kernels, counting, preparing, walk):
        for name, function in vars(module).items():
            if hasattr(function, "py_func"):
                monkeypatch.setattr(module, name, function.py_func)
    with np.errstate(over="ignore"):  # the hash codes, which drop what does not fit
        yield edit_kernels


def compare(world, word, lo, hi, cap, looks_ahead):
    """The found graph has the same nodes, links, ways and counts as the literal one; how many nodes and links."""
    words = LengthRange(world.compiled, lo, hi)
    classes = EditClasses(words, world.encode(word), cap)
    layers, (begins, nodes, links, ways, edge, values) = classes._tables.layers[0], classes._tables.graphs
    codes = world.encode(word).tolist()
    graph = EditGraph(world.compiled, codes, lo, hi, cap, looks_ahead)
    # Rows from which no further edit is allowed are no nodes, where all of their entries can be completed.
    has_edge = cap < 8 and (looks_ahead or world.compiled.is_free)
    expected = [
        {node: found for node, found in layer.items() if not (has_edge and i and min(node[0]) == cap - 1)}
        for i, layer in enumerate(graph.layers)
    ]
    assert layers.tolist() == np.cumsum([0, *map(len, expected)]).tolist()
    assert (nodes.shape, links.shape[1], ways.shape[1]) == ((layers[-1] + 1, 7), 3, 4)
    assert (len(links), len(edge)) == (nodes[-1, 2], nodes[-1, 4])
    assert begins.tolist() == [[0, 0, 0, 0], [len(nodes), len(links), len(ways), len(edge)]]
    offsets, labels, targets, bundles, begins, by_target = words.edges
    ways_of = {}
    first, last, next_link = nodes[:, 1].tolist(), nodes[:, 0].tolist(), nodes[:, 2].tolist()
    first_row = nodes[:, 4].tolist()
    known = {0: graph.initial}
    for i, layer in enumerate(expected):
        here = {node: known[node] for node in range(layers[i], layers[i + 1])}
        assert set(here.values()) == layer.keys()  # as many as there are: each of them once
        for node, (row, y) in here.items():
            assert (last[node], first[node]) == (row[-1], y)
            assert list(words.numbers(values[node, : cap + 1])) == graph.values(i, (row, y))
            assert not values[node, cap + 1 :].any()
            inside = {way: to for to, way, _ in links[next_link[node] : next_link[node + 1]].tolist()}
            at_edge = dict(edge[first_row[node] : first_row[node + 1], ::-1].tolist())
            assert set(links[next_link[node] : next_link[node + 1], 2].tolist()) <= {node}
            numbers = {tuple(ways[way, :2].tolist()): way for way in range(*nodes[node, 5:].tolist())}
            listed = [numbers[kind, target] for (kind, target, _), _ in layer[row, y]]
            assert listed == sorted(set(listed))
            assert list(inside) == [way for way in listed if way in inside]  # in the same order, and none besides
            assert list(at_edge) == [way for way in listed if way in at_edge]
            for way, ((kind, target, symbols), key) in zip(listed, layer[row, y], strict=True):
                assert (way in inside) == (key is not None and key in expected[i + 1])
                assert (way in at_edge) == (key is not None and key not in expected[i + 1])
                assert way not in inside or known.setdefault(inside[way], key) == key
                if way in at_edge:
                    begin = max(0, i + 1 - cap + 1)
                    near = [j - begin for j, entry in enumerate(key[0]) if entry < cap]
                    assert at_edge[way] == sum(1 << (4 * place) for place in near)
                assert ways_of.setdefault(way, (y, kind, target, symbols)) == (y, kind, target, symbols)
    for way, (y, kind, target, symbols) in ways_of.items():
        assert ways[way, :3].tolist() == [kind, target, len(symbols)]
        number = ways[way, 3]
        if kind < len(set(codes)):
            assert offsets[y] <= number < offsets[y + 1]
            assert (labels[number], targets[number]) == (symbols[0], target)
        else:
            assert bundles[y] <= number < bundles[y + 1]
            bundle = by_target[begins[number] : begins[number + 1]]
            assert set(targets[bundle].tolist()) == {target}
            assert set(symbols) == set(labels[bundle].tolist()) - set(codes)
    return len(nodes) - 1, len(links)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(("world", "word", "lo", "hi", "cap"), SMALL)
def test_no_index_is_outside_of_its_array(world, word, lo, hi, cap):
    compare(world, word, lo, hi, cap, looks_ahead=cap < 8 and world.compiled.state_count > 1)


@pytest.mark.parametrize(("n", "cap", "parts"), [(20, 8, 1), (15, 12, 1), (16, 12, 2), (20, 9, 2), (40, 16, 4)])
def test_rows_take_no_more_words_than_their_entries_below_the_cap_need(interpreted, monkeypatch, n, cap, parts):
    asked = rooms_asked_for(interpreted, monkeypatch)
    compare(ONE, "a" * n, n - 2, n + 1, cap, looks_ahead=False)
    assert {shape for shape, _, _ in asked} == {7, 3, 4, 2, parts}


def rooms_asked_for(kernels, monkeypatch):
    """For each call of `_with_room`: the columns of the array, how much of it is in use, and how much is needed."""
    asked = []
    with_room = kernels._with_room

    def watched(array, used, needed):
        asked.append((array.shape[1], used, needed))
        return with_room(array, used, needed)

    monkeypatch.setattr(kernels, "_with_room", watched)
    return asked


@pytest.mark.parametrize(("world", "word", "lo", "hi", "cap"), NARROW)
def test_below_a_cap_of_eight_nodes_that_lead_nowhere_near_are_left_out(world, word, lo, hi, cap):
    compare(world, word, lo, hi, cap, looks_ahead=world.compiled.state_count > 1)


@pytest.mark.parametrize(("world", "word", "lo", "hi", "cap"), WIDE)
def test_from_a_cap_of_eight_on_nodes_are_left_out_by_lengths_alone(world, word, lo, hi, cap):
    compare(world, word, lo, hi, cap, looks_ahead=False)


@pytest.mark.parametrize(("word", "lo", "hi", "cap"), [("abcaabbcabacbbc", 12, 18, 7), ("abcaabbcabac", 8, 15, 8)])
def test_arrays_grow_with_the_graph(word, lo, hi, cap):
    nodes, links = compare(THREE, word, lo, hi, cap, looks_ahead=False)
    assert nodes > 4_000  # more than there is room for to begin with
    assert links > 4_000


def test_the_first_step_may_lead_to_more_nodes_than_there_is_room_for():
    star = {(0, a): a + 1 for a in range(4_100)} | {(a + 1, a): 0 for a in range(4_100)}
    world = pv.TransitionSystem(star, initial=0, accepting={0})
    assert compare(world, [7, 7, 8, 8], 2, 4, 4, looks_ahead=False)[0] > 4_100


class Watched(np.ndarray):
    """An array that counts how often an entry of it is looked at."""

    looks = 0

    def __getitem__(self, place):
        Watched.looks += 1
        return super().__getitem__(place)


@pytest.mark.parametrize(
    ("world", "word", "lo", "hi", "cap", "most"),
    [
        (THREE, "abcaabbcabac", 8, 14, 6, 7_000),
        (THREE, "abcaabb", 5, 9, 8, 12_000),
        (ROOMS, "abeagaacba", 6, 11, 5, 800),
        (ROOMS, "abeagaac", 6, 9, 8, 31_000),
    ],
)
def test_rows_and_nodes_are_found_with_few_looks(interpreted, monkeypatch, world, word, lo, hi, cap, most):
    def full(shape, value, dtype):
        made = np.full(shape, value, dtype)
        return made.view(Watched) if dtype == np.int32 and made.ndim == 1 else made  # the hash tables

    monkeypatch.setattr(Watched, "looks", 0)
    monkeypatch.setattr(interpreted, "np", SimpleNamespace(**{**vars(np), "full": full}))
    classes = EditClasses(LengthRange(world.compiled, lo, hi), world.encode(word), cap)
    assert classes.node_count < Watched.looks < most


@pytest.mark.parametrize(("edges", "looks_ahead"), [(1_000, True), (1_001, False)])
def test_only_in_small_systems_it_is_worth_while_to_look_ahead(edges, looks_ahead):
    # Symbol 0 leads into a room that is left with symbol 1 alone.
    moves = {(0, symbol): 0 for symbol in range(1, edges - 1)} | {(0, 0): 1, (1, 1): 0}
    world = pv.TransitionSystem(moves, initial=0, accepting={0})
    assert world.compiled.edge_count == edges
    word = [0, 5, 0, 5, 0, 5]
    nodes, _ = compare(world, word, 4, 8, 3, looks_ahead)
    codes = world.encode(word).tolist()
    other = EditGraph(world.compiled, codes, 4, 8, 3, not looks_ahead)
    assert nodes != sum(map(len, other.layers))


@pytest.mark.parametrize("cap", [4, 9])
def test_there_are_no_more_nodes_than_were_asked_for(cap):
    codes = ROOMS.encode("ccagbdab")
    words = LengthRange(ROOMS.compiled, 3, 9)
    nodes = EditClasses(words, codes, cap).node_count
    assert EditClasses(words, codes, cap, nodes * (cap + 1)).node_count == nodes
    with pytest.raises(pv.TooLargeError, match="cap"):
        EditClasses(words, codes, cap, nodes * (cap + 1) - 1)


@pytest.mark.parametrize(
    ("world", "word", "cap"), [(ROOMS, "ccagbdab", 6), (ENDING_CHAIN, "cccbbb", 2), (PAIRS, "aaabbb", 7)]
)
def test_edits_to_go_are_the_fewest_that_end_in_a_feasible_word(world, word, cap):
    from pathveil.words.edit.preparing import _edits_to_go

    compiled = world.compiled
    codes = world.encode(word)
    symbols, kinds = np.unique(codes, return_inverse=True)
    found = _edits_to_go(kinds, symbols, cap, LengthRange(compiled, 1, 1).edges, compiled.accepting)
    expected = edits_to_go(compiled, codes.tolist(), cap)
    assert found.shape == (len(codes) + 1, compiled.state_count)
    assert {(j, y): edits for j, row in enumerate(found.tolist()) for y, edits in enumerate(row)} == expected


def test_an_array_is_copied_into_a_larger_one_only_if_it_has_too_little_room():
    from pathveil.words.edit.kernels import _with_room

    array = np.arange(20, dtype=np.int32).reshape(5, 4)
    assert _with_room(array, 3, 5).ctypes.data == array.ctypes.data
    slightly = _with_room(array, 3, 6)
    assert (slightly.shape, slightly.dtype) == ((10, 4), np.dtype(np.int32))
    assert slightly[:3].tolist() == array[:3].tolist()
    assert _with_room(array, 5, 10).shape == (10, 4)
    far = _with_room(array, 5, 11)
    assert far.shape == (11, 4)
    assert far[:5].tolist() == array.tolist()


def test_hash_tables_are_powers_of_two_and_at_most_half_full():
    from pathveil.words.edit.kernels import _table_size

    assert [_table_size(entries) for entries in (0, 1, 8, 9, 16, 17, 1_000)] == [16, 16, 16, 32, 32, 64, 2_048]
    assert _table_size(1 << 20) == 1 << 21


def test_an_edge_is_found_by_its_label_and_only_among_those_of_its_state():
    from pathveil.words.edit.walk import _find_edge

    offsets = np.array([0, 3, 3, 4, 8])
    labels = np.array([1, 4, 6, 4, 0, 2, 4, 6])
    for y in range(4):
        own = labels[offsets[y] : offsets[y + 1]].tolist()
        for symbol in range(8):
            expected = offsets[y] + own.index(symbol) if symbol in own else -1
            assert _find_edge(y, symbol, offsets, labels) == expected
