"""Grids of forecasts: each cell is the forecast of one mechanism at one ε and b."""

from __future__ import annotations

import numpy as np
import pytest

import pathveil as pv
from pathveil.planning.edit_grid import edit_grid
from pathveil.planning.grid import EPSILONS, ForecastGrid, word_grid
from pathveil.planning.public_words import public_words

ROADS = pv.MarkovChain.from_edges([(i, (i + step) % 4) for i in range(4) for step in (1, 2)])
DEAD_END = pv.MarkovChain.from_edges([("a", "b"), ("b", "c"), ("a", "c"), ("c", "a"), ("b", "end")])


@pytest.fixture(scope="module")
def grid() -> ForecastGrid:
    return word_grid(ROADS, 3, 3, epsilons=[1.7, 2.0])


def test_a_grid_covers_the_usual_epsilons_those_asked_for_and_the_adjacencies_around_the_chosen_one(
    grid: ForecastGrid,
) -> None:
    assert grid.epsilons == tuple(sorted({*EPSILONS, 1.7}))
    assert grid.adjacencies == (1, 2, 3)
    assert [len(grid.cells), len(grid.cells[0]), len(grid.cells[0][0])] == [3, len(grid.epsilons), len(grid.names)]
    assert word_grid(pv.Alphabet("ab"), 3).adjacencies == (1, 2, 3), "no farther than the word is long"
    assert edit_grid(ROADS, (3, 5), 3).adjacencies == (1, 2)


def test_a_cell_is_the_average_law_of_its_mechanism_on_public_words(grid: ForecastGrid) -> None:
    words = public_words(ROADS, 3)
    for k, kind in ((1, pv.PermuteAndFlip), (2, pv.Exponential), (3, pv.Online)):
        mechanism = kind(ROADS, grid.epsilons[7], 2)
        cell = grid.cells[1][7][k]
        assert cell is not None
        assert cell.law.pmf == pytest.approx(np.mean([mechanism.error_law(word).pmf for word in words], axis=0))
        assert cell.sample_law.mean == pytest.approx(mechanism.error_law(grid.sample).mean)
        assert (cell.theta, cell.unit) == (mechanism.theta(3), mechanism.guarantee.unit)
        assert grid.unit(1, k) == cell.unit
        assert grid.means(1, k)[7] == cell.law.mean
        assert cell.certificate is None
    for row, epsilon in zip(grid.cells[0], grid.epsilons, strict=True):
        assert row[0] is not None
        assert isinstance(row[0].certificate, pv.Certificate)
        assert row[0].certificate.loss <= epsilon


def test_a_cell_for_edit_distance_has_the_laws_of_edits_and_of_the_length() -> None:
    grid = edit_grid(ROADS, (3, 5), 3)
    words = public_words(ROADS, 4)
    for k, kind in enumerate((pv.CertifiedEditExponential, pv.EditPermuteAndFlip, pv.EditExponential)):
        mechanism = kind(ROADS, EPSILONS[8], 2, (3, 5), 3)
        cell = grid.cells[1][8][k]
        assert cell is not None
        assert cell.law.pmf == pytest.approx(np.mean([mechanism.error_law(word).pmf for word in words], axis=0))
        assert cell.kept == pytest.approx(np.mean([mechanism.length_law(word)[4] for word in words]))
        assert (cell.certificate is None) == (k > 0)
    assert grid.bounds is None


def test_a_mechanism_that_cannot_be_used_is_left_out_with_the_reason() -> None:
    grid = word_grid(DEAD_END, 4)
    assert list(grid.why_not) == [grid.names.index("online")]
    assert "state 'end' has no successor" in grid.why_not[3]
    assert grid.unit(0, 3) is None
    assert set(grid.means(0, 3)) == {None}
    assert None not in grid.means(0, 1)


def test_words_that_are_too_long_for_any_exact_law_are_refused_with_the_reason() -> None:
    # A dead end keeps the online mechanism out. For the others, a ring of ten ways on beside one of a single way makes
    # weights that differ by more than floating point can hold, and exact counts have thousands of digits.
    ring = [(a, b) for a in range(2, 13) for b in range(2, 13) if a != b]
    world = pv.MarkovChain.from_edges([(0, 1), (1, 0), *ring, (2, 13)])
    with pytest.raises(pv.TooLargeError, match="no mechanism can be computed here"):
        word_grid(world, 1500, 1, only_adjacency=True)


def test_the_average_over_words_of_a_plan_counts_every_word_alike() -> None:
    grid = word_grid(pv.Alphabet("abc"), 4, 2, only_adjacency=True)
    assert grid.adjacencies == (2,)
    law = pv.PermuteAndFlip(grid.world, grid.epsilons[3], 2).error_law("aaaa")
    assert grid.cells[0][3][1].law.pmf == pytest.approx(law.pmf)
