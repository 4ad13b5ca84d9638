"""Pictures for notebooks: axes in, axes out."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

import pathveil as pv

CHAIN = pv.MarkovChain.from_edges([("a$b", "c"), ("c", "a$b"), ("c", "c")])
LAW = pv.CertifiedExponential(pv.Alphabet("abc"), epsilon=2.0).error_law("abca")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize(
    "plot",
    [
        lambda ax: pv.plot_error_law(LAW, ax),
        lambda ax: pv.plot_error_law({"one": LAW, "two": LAW}, ax=ax),
        lambda ax: pv.plot_system(CHAIN, {"a word": ["c", "a$b"]}, ax=ax),
        lambda ax: pv.plot_chain(CHAIN, ax),
        lambda ax: pv.plot_distributions("ab", {"before": [0.4, 0.6], "after": [0.5, 0.5]}, ax),
        lambda ax: pv.plot_belief(2.0, ax),
        lambda ax: pv.plot_expected_errors(pv.Alphabet("ab"), 4, ax=ax),
    ],
)
def test_a_plot_draws_into_the_axes_it_gets_or_into_new_ones(plot) -> None:
    _, ax = plt.subplots()
    assert plot(ax) is ax
    assert ax.has_data()
    fresh = plot(None)
    assert fresh is not ax
    fresh.figure.canvas.draw()


def test_bars_are_as_high_as_the_probabilities() -> None:
    heights = [bar.get_height() for bar in pv.plot_error_law(LAW).patches]
    assert heights == pytest.approx(LAW.pmf.tolist())


def test_the_curves_are_the_expected_errors_and_the_bound_lies_below() -> None:
    ax = pv.plot_expected_errors(pv.Alphabet("abc"), 6)
    curves = {line.get_label(): np.array(line.get_ydata()) for line in ax.lines}
    bound = curves.pop("lower bound for any mechanism")
    assert set(curves) == {"certified", "permute-and-flip", "exponential", "online"}
    for values in curves.values():
        assert (values >= bound - 1e-9).all()
        assert (np.diff(values) < 0).all()


def test_a_word_is_drawn_along_the_coordinates_of_its_symbols() -> None:
    ax = pv.plot_system(CHAIN, [["c", "c", "a$b"]], coordinates={"a$b": (2.0, 5.0), "c": (3.0, 7.0)})
    [word] = [line for line in ax.lines if line.get_label() == "word 1"]
    assert word.get_xydata().tolist() == [[3, 7], [3, 7], [2, 5]]


def test_nothing_to_draw_and_lengths_that_differ_are_refused() -> None:
    with pytest.raises(pv.InvalidParameterError, match="no law to draw"):
        pv.plot_error_law({})
    with pytest.raises(pv.InvalidParameterError, match="before: 1 values for 2 symbols"):
        pv.plot_distributions("ab", {"before": [1.0]})
