"""Pictures for notebooks: axes in, axes out."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.patches import FancyArrowPatch

import pathveil as pv
from pathveil.report.charts import Series, coinciding_merged, counted_bars
from pathveil.report.drawing import Box, placed
from pathveil.report.follows import END, START, follows_of
from pathveil.report.follows.layers import layered

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
    [bound] = [values for name, values in curves.items() if "lower bound for any mechanism" in name]
    assert {one for name in curves for one in name.split(" = ")} == {
        *("certified", "permute-and-flip", "exponential", "online"),
        "lower bound for any mechanism",
    }
    for values in curves.values():
        assert (values >= bound - 1e-9).all()
        assert (np.diff(values) < 0).all()


def test_curves_that_coincide_are_one_with_all_names_and_others_are_not() -> None:
    curves = [
        Series("a", [1.0, 2.0], 0),
        Series("b", [1.0, 2.0001], 1),
        Series("c", [1.0, 2.1], 2),
        Series("d", [1.0, None], 3),
    ]
    merged = coinciding_merged(curves)
    assert [one.name for one in merged] == ["a = b", "c", "d"]
    ax = pv.plot_expected_errors(pv.Alphabet("abc"), 6)
    assert "certified = online = lower bound for any mechanism" in [line.get_label() for line in ax.lines]


def test_sixty_states_have_arrows_and_names_that_do_not_cover_each_other() -> None:
    names = [f"Station {i} north" for i in range(60)]
    edges = [(names[i], names[(i + step) % 60]) for i in range(60) for step in (1, 7 + i % 5)[: 1 + i % 2]]
    ax = pv.plot_system(pv.MarkovChain.from_edges(edges))
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) == 60
    touching = sum(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert touching <= 2
    assert sum(isinstance(patch, FancyArrowPatch) for patch in ax.patches) == len(edges)


def test_a_label_takes_the_free_side_of_its_point() -> None:
    points = [(0.0, 0.0), (14.0, 0.0)]
    boxes = placed(points, [(10.0, 4.0)] * 2, gap=2.0)
    assert not boxes[0].covers(boxes[1])
    assert all(not box.covers(Box(x, y, 3, 3)) for box in boxes for x, y in points)
    assert Box(0, 0, 2, 2).covers(Box(1, 1, 2, 2)) == 1.0


def test_bars_of_a_long_law_show_all_but_its_tails() -> None:
    law = np.zeros(5_001)
    law[2_000:2_100] = 0.01
    labels, [heights] = counted_bars([law.tolist()])
    assert len(labels) <= 41
    assert labels[0] == "2000–2002"
    assert sum(heights) == pytest.approx(1)
    assert counted_bars([[0.5, 0.5], [1.0]]) == (["0", "1"], [[0.5, 0.5], [1.0, 0.0]])


def test_a_word_is_drawn_along_the_coordinates_of_its_symbols() -> None:
    ax = pv.plot_system(CHAIN, [["c", "c", "a$b"]], coordinates={"a$b": (2.0, 5.0), "c": (3.0, 7.0)})
    [word] = [line for line in ax.lines if line.get_label() == "word 1"]
    assert word.get_xydata().tolist() == [[3, 7], [3, 7], [2, 5]]


def test_an_event_log_is_drawn_with_its_counts() -> None:
    log = [("register", "check", "pay")] * 30 + [("register", "check", "check", "reject")] * 12
    follows = follows_of(log)
    name = {activity: i for i, activity in enumerate(follows.names)}
    assert follows.amounts[name["register"], name["check"]] == 42
    assert follows.amounts[name["check"], name["check"]] == 12
    assert follows.amounts[START, name["register"]] == 42
    assert follows.amounts[name["pay"], END] == 30
    written = " ".join(text.get_text() for text in pv.plot_directly_follows(log).texts)
    for count in ("register\n42", "check\n54", "30", "12"):
        assert count in written


def test_of_many_arrows_the_strongest_are_drawn_and_no_activity_is_cut_off() -> None:
    log = [("a", "b")] * 100 + [("a", "c", "b"), ("a", "d", "d", "b")]
    kept = follows_of(log).strongest(3)
    assert len(kept) == 3 + 4
    ax = pv.plot_directly_follows(log, arrows=3)
    assert ax.get_title(loc="left") == "7 of 8 arrows, 99.7% of all steps"
    with pytest.raises(pv.InvalidParameterError, match="arrows is 0"):
        pv.plot_directly_follows(log, arrows=0)
    with pytest.raises(pv.InvalidParameterError, match="no words to draw"):
        pv.plot_directly_follows([])


def test_layers_follow_the_strong_arrows_and_nothing_stands_on_anything() -> None:
    edges = {
        (START, 0): 9.0,
        (0, 1): 9.0,
        (1, 2): 8.0,
        (2, 1): 3.0,
        (2, END): 9.0,
        (0, 2): 1.0,
        (0, 3): 1.0,
        (3, 2): 1.0,
    }
    found = layered(edges)
    height = {activity: y for activity, (_, y) in found.places.items()}
    assert height[START] < height[0] < height[1] < height[2] < height[END]
    taken = [*found.places.values(), *(point for way in found.ways.values() for point in way[1:-1])]
    assert all(abs(x - u) > 0.4 or y != v for i, (x, y) in enumerate(taken) for u, v in taken[:i])


def test_a_private_model_is_drawn_from_what_it_says_alone() -> None:
    log = [("a", "b", "c")] * 200
    options = {"states": "abc", "epsilon": 3.0, "rng": pv.insecure_seed(1)}
    model = pv.fit_private_sequences(log, max_length=4, **options)
    assert follows_of(model) == follows_of(model), "the same picture each time"
    assert follows_of(model).are_shares
    chain = pv.fit_private_chain(words=log, unit="transition", **options)
    amounts = follows_of(chain).amounts
    assert amounts[0, 1] == pytest.approx(chain.chain.matrix.toarray()[0, 1])
    for source in (model, chain):
        assert pv.plot_directly_follows(source).texts


def test_nothing_to_draw_and_lengths_that_differ_are_refused() -> None:
    with pytest.raises(pv.InvalidParameterError, match="no law to draw"):
        pv.plot_error_law({})
    with pytest.raises(pv.InvalidParameterError, match="before: 1 values for 2 symbols"):
        pv.plot_distributions("ab", {"before": [1.0]})
