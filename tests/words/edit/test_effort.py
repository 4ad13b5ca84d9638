"""Estimates of the cost of edit tables: beside what tables really take."""

from __future__ import annotations

import pytest

import pathveil as pv
from pathveil.words.edit import EditEfforts, LengthRange
from pathveil.words.edit.tables import EditTables

LETTERS = pv.Alphabet("abcdefghijk")
TOWN = pv.example_town()


def efforts(world, length, lo, hi):
    codes = world.encode(world.random_word(length, pv.insecure_seed(3)))
    return EditEfforts(LengthRange(world.compiled, lo, hi), codes), codes


@pytest.mark.parametrize(
    ("world", "length", "lo", "hi", "cap"),
    [
        (LETTERS, 13, 5, 14, 4),
        (LETTERS, 13, 5, 14, 8),
        (LETTERS, 13, 5, 14, 12),
        (LETTERS, 13, 5, 14, 14),
        (TOWN, 14, 10, 18, 5),
        (TOWN, 14, 10, 18, 12),
    ],
)
def test_nodes_and_memory_are_right_within_a_factor_of_three(world, length, lo, hi, cap):
    estimated, codes = efforts(world, length, lo, hi)
    effort = estimated.at(cap)
    tables = EditTables(LengthRange(world.compiled, lo, hi), [codes], cap)
    nodes = int(tables.layers[0, -1])
    assert nodes / 3 <= effort.nodes <= 3 * nodes
    assert tables.size / 3 <= effort.memory <= 3 * tables.size


def test_more_edits_and_longer_words_take_more():
    short, long = efforts(LETTERS, 8, 5, 17)[0], efforts(LETTERS, 17, 5, 17)[0]
    for cap in range(2, 17):
        assert short.at(cap).nodes <= short.at(cap + 1).nodes
        assert short.at(cap).seconds < long.at(cap).seconds
    assert long.at(17).seconds > 1
    assert long.at(5).seconds < 0.01


def test_the_largest_cap_within_a_time_is_the_last_that_is_quick():
    estimated, _ = efforts(LETTERS, 17, 5, 17)
    cap = estimated.largest_cap(0.01)
    assert cap is not None
    assert estimated.at(cap).seconds <= 0.01 < estimated.at(cap + 1).seconds
    assert estimated.largest_cap(1e-9) is None


def test_words_of_hundreds_of_symbols_are_estimated_without_being_counted():
    estimated, _ = efforts(pv.Alphabet("abcd"), 300, 200, 320)
    assert estimated.at(320).seconds > 1e6
    assert estimated.at(320).nodes < float("inf")


@pytest.mark.parametrize(
    ("world", "length", "lo", "hi", "caps"),
    [(TOWN, 16, 10, 18, (12, 13, 14)), (TOWN, 12, 8, 24, (12, 13, 14))],
)
def test_the_first_caps_that_are_not_counted_continue_those_that_are(world, length, lo, hi, caps):
    estimated, codes = efforts(world, length, lo, hi)
    for cap in caps:
        nodes = int(EditTables(LengthRange(world.compiled, lo, hi), [codes], cap).layers[0, -1])
        assert nodes / 1.2 <= estimated.at(cap).nodes <= 1.2 * nodes


@pytest.mark.parametrize(
    ("world", "length", "lo", "hi", "cap"),
    [(LETTERS, 17, 5, 17, 7), (LETTERS, 17, 5, 17, 9), (LETTERS, 17, 5, 30, 7), (TOWN, 16, 10, 18, 9)],
)
def test_memory_is_nearly_right_with_numbers_of_one_limb_and_of_several(world, length, lo, hi, cap):
    estimated, codes = efforts(world, length, lo, hi)
    size = EditTables(LengthRange(world.compiled, lo, hi), [codes], cap).size
    assert size / 1.5 <= estimated.at(cap).memory <= 1.1 * size
