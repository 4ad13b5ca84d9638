"""The tables that words are drawn from, against what they stand for."""

from __future__ import annotations

import numpy as np
import pytest

from pathveil.models.sequences.contexts import Grammar, Measured
from pathveil.models.sequences.contexts.returning import corrected_by_class
from pathveil.models.sequences.kernel_arrays import KernelArrays
from tests.models.sequences.trees import possible_words, random_tree

FREE = Grammar.of(("a", "b", "c"), None)
SOME = Grammar.of(("a", "b", "c"), np.array([[1, 1, 0], [0, 0, 1], [1, 0, 1]], dtype=bool))


def arrays_of(grammar: Grammar, seed: int) -> KernelArrays:
    tree = random_tree(grammar, 4, seed)
    probabilities = np.random.default_rng(seed).random(tree.cell_count)
    probabilities[np.random.default_rng(seed + 1).random(tree.cell_count) < 0.2] = 0.0
    totals = np.bincount(tree.row_of_cell, probabilities, tree.row_count)
    return KernelArrays.of(tree, probabilities / np.maximum(totals, 1e-9)[tree.row_of_cell])


@pytest.mark.parametrize("grammar", [FREE, SOME], ids=["free", "some"])
@pytest.mark.parametrize("seed", range(5))
def test_the_row_after_a_symbol_is_that_of_the_whole_word(grammar, seed):
    arrays = arrays_of(grammar, seed)
    tree, checked = arrays.tree, 0
    for word in possible_words(grammar, 7, 60, seed):
        codes = np.array(word, dtype=np.int64)
        row = arrays.row_after(codes[:0])
        for place, symbol in enumerate(word):
            cells = np.arange(tree.cell_offsets[row], tree.cell_offsets[row] + arrays.inner[row])
            here = cells[tree.symbols[cells] == symbol]
            if not len(here):
                break  # a row in which every word ends
            row = int(arrays.following[here[0]])
            assert row == arrays.row_after(codes[: place + 1])
            checked += 1
    assert checked > 50


@pytest.mark.parametrize("seed", range(5))
def test_aliases_give_every_cell_its_share(seed):
    arrays = arrays_of(FREE, seed)
    accepted, others, _ = arrays.aliases
    given = np.zeros(len(arrays.shares))
    for row, width in enumerate(arrays.inner.tolist()):
        for cell in range(arrays.tree.cell_offsets[row], arrays.tree.cell_offsets[row] + width):
            given[cell] += accepted[cell] / width
            given[others[cell]] += (1 - accepted[cell]) / width
    assert given == pytest.approx(arrays.shares, abs=1e-12)


def test_classes_have_the_sums_that_were_counted_where_there_is_no_noise():
    tree = random_tree(FREE, 2, 3)
    cells, rows = tree.cells_at(2), tree.rows_at(2)
    row = tree.row_of_cell[cells] - rows.start
    rng = np.random.default_rng(1)
    count = rng.integers(50, 5_000, len(row)).astype(float)
    size = np.bincount(row, count)
    expected = np.full(len(row), 1 / 4)
    found = corrected_by_class(tree, 2, count, np.full(len(row), 1e-9), expected, size)
    assert np.bincount(row, found) == pytest.approx(np.ones(len(size)), abs=1e-9)
    returns = tree.symbols[cells] == tree.oldest[rows][row]
    returns &= (tree.oldest[rows] != tree.last[rows])[row]
    assert (found * size[row])[returns].sum() == pytest.approx(count[returns].sum(), rel=0.02)
    # The negative control: what was expected before has another sum.
    assert (expected * size[row])[returns].sum() != pytest.approx(count[returns].sum(), rel=0.02)


def test_two_measurements_have_the_weights_of_their_noise():
    both = Measured(np.array([0.0, 8.0]), 3.0).averaged(Measured(np.array([4.0, 0.0]), 1.0))
    assert both.counts.tolist() == [3.0, 2.0]
    assert both.variance == pytest.approx(0.75)
