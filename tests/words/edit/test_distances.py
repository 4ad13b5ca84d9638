"""Edit distances of whole batches, and the checks of a table of edit classes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import pathveil as pv
from pathveil.words.edit.classes import EditClasses
from pathveil.words.edit.distances import distances_from
from pathveil.words.edit.length_range import LengthRange
from tests.reference.edits import levenshtein

WORDS = [tuple(word) for n in range(5) for word in product(range(2), repeat=n)] + [(2, 0, 1, 0, 2, 1, 1, 0)]


def test_words_of_two_batches_are_compared_one_by_one():
    from pathveil.words.edit.distances import edit_distances

    pairs = list(product(WORDS, WORDS))
    flat = [
        (np.concatenate([np.array(word, dtype=np.int64) for word in words]), np.cumsum([0, *map(len, words)]))
        for words in zip(*pairs, strict=True)
    ]
    assert edit_distances(*flat[0], *flat[1]).tolist() == [levenshtein(v, w) for v, w in pairs]


@pytest.mark.parametrize("word", [(), (1,), (0, 1, 1), (2, 0, 1, 0, 2, 1, 1, 0)])
def test_one_word_is_compared_with_all_others(word):
    others = [np.array(other, dtype=np.int64) for other in WORDS]
    found = distances_from(np.array(word, dtype=np.int64), others)
    assert found.tolist() == [levenshtein(word, other) for other in WORDS]
    assert distances_from(np.array(word, dtype=np.int64), []).tolist() == []


def test_without_a_cap_the_longer_of_word_and_range_is_the_largest_distance():
    world = pv.Alphabet("abc")
    assert len(pv.edit_classes(world, "abcabca", (1, 4)).counts) == 8
    assert len(pv.edit_classes(world, "ab", (1, 4)).counts) == 5
    assert len(pv.edit_classes(world, "ab", (1, 4), cap=2).counts) == 3


def test_words_have_numbers_from_zero_up_to_the_size_of_their_class():
    classes = pv.edit_classes(pv.Alphabet("abc"), "ab", (1, 3), cap=2)
    assert classes.counts == (1, 13, 25)
    assert classes.word_at(0, 0).tolist() == [0, 1]
    assert len({classes.word_at(2, rank).tobytes() for rank in range(25)}) == 25
    for distance, rank in ((-1, 0), (3, 0), (0, -1), (0, 1), (1, 13), (2, 25)):
        with pytest.raises(pv.InvalidParameterError, match="no word number"):
            classes.word_at(distance, rank)


def test_distances_stop_at_the_cap():
    classes = pv.edit_classes(pv.Alphabet("abc"), "ab", (1, 3), cap=2)
    assert classes.distances([np.array(word) for word in ([0, 1], [0], [2, 2], [2, 2, 2])]).tolist() == [0, 1, 2, 2]


@pytest.mark.parametrize(("hi", "limbs", "columns"), [(40, 1, 8), (70, 3, 4)])
def test_a_table_is_as_large_as_its_parts(hi, limbs, columns):
    world = pv.Alphabet("ab")
    words = LengthRange(world.compiled, 2, hi)
    assert words.limbs == limbs
    classes = EditClasses(words, world.encode("abab"), 3)
    begins, nodes, links, ways, edge, values = classes._tables.graphs
    assert values.shape == (classes.node_count + 1, columns, limbs)
    parts = nodes.size * 4 + links.size * 4 + ways.size * 8 + edge.size * 8 + values.size * 8 + begins.size * 8
    assert classes.size == parts
