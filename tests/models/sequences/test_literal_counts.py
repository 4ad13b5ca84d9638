"""The compiled loops count what the literal version counts."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pathveil.models.sequences import CodedWords
from pathveil.models.sequences.contexts import Grammar
from tests.models.sequences.tape import spelled
from tests.models.sequences.trees import contexts, counted, possible_words, random_tree
from tests.reference import sequences as literal


def some_grammar(size: int, support: bool, seed: int) -> Grammar:
    if not support:
        return Grammar.of(tuple(range(size)), None)
    rng = random.Random(seed)
    table = np.array([[rng.random() < 0.6 or i == j for j in range(size)] for i in range(size)])
    return Grammar.of(tuple(range(size)), table)


SETTINGS = st.tuples(
    st.integers(1, 4), st.booleans(), st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 7), st.integers(1, 8)
)


@settings(max_examples=150, deadline=None)
@given(SETTINGS)
def test_events_are_counted_in_the_cells_of_their_contexts(setting):
    size, support, seed, depth, max_length, events = setting
    grammar = some_grammar(size, support, seed)
    tree = random_tree(grammar, depth, seed)
    names = contexts(tree)
    assert len(set(names)) == tree.row_count
    words = possible_words(grammar, max_length + 2, 12, seed)  # some of them are cut, some end at the greatest length
    coded = CodedWords.from_codes([list(word) for word in words]).cut(max_length)
    expected = literal.cell_counts(words, set(names), max_length, events)
    assert counted(tree, coded, max_length, events) == literal.at_depth(expected, tree.depth)
    assert counted(tree, coded.distinct(), max_length, events) == literal.at_depth(expected, tree.depth)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=6), min_size=1, max_size=30), st.integers(1, 6))
def test_lengths_and_whole_words_are_counted(lists, max_length):
    words = [tuple(word) for word in lists]
    coded = CodedWords.from_codes(lists).cut(max_length)
    lengths = Counter({k + 1: int(n) for k, n in enumerate(coded.length_counts(max_length)) if n})
    assert lengths == literal.length_counts(words, max_length)
    distinct = coded.distinct()
    assert dict(zip(spelled(distinct), distinct.times.tolist(), strict=True)) == literal.word_counts(words, max_length)
    assert len(distinct) == len(literal.word_counts(words, max_length))
    mixed = CodedWords.from_codes(random.Random(1).sample(lists, len(lists))).cut(max_length).distinct()
    assert spelled(mixed) == spelled(distinct)


def test_a_word_of_the_greatest_length_has_no_end_and_a_shorter_one_has():
    grammar = Grammar.of((0, 1), None)
    tree = random_tree(grammar, 1, 0)
    for word, ends in (((0, 1), 1), ((0, 1, 1), 0), ((0, 1, 1, 0), 0)):
        coded = CodedWords.from_codes([list(word)]).cut(3)
        assert counted(tree, coded, 3, 3)[((1,), literal.END)] == ends
        assert sum(counted(tree, coded, 3, 3).values()) == 3
        assert sum(counted(tree, coded, 3, 2).values()) == 2


def test_contexts_at_the_beginning_of_a_word_are_told_apart_from_those_inside():
    tree = {(0,), (1,), (literal.BEGIN,), (literal.BEGIN, 0), (literal.REST, 0)}
    assert literal.context_of((literal.BEGIN, 0), tree) == (literal.BEGIN, 0)
    assert literal.context_of((literal.BEGIN, 1, 0), tree) == (literal.REST, 0)
    assert literal.context_of((literal.BEGIN, 1), tree) == (1,)
    assert literal.context_of((literal.BEGIN,), tree) == (literal.BEGIN,)
