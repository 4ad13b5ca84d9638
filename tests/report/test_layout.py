"""Where states stand in a picture."""

from __future__ import annotations

import numpy as np
import pytest

import pathveil as pv
from pathveil.data.public import read_coordinates
from pathveil.report.layout import LARGEST_PICTURE, picture_of


def test_a_path_of_states_is_drawn_as_a_line_with_equal_steps() -> None:
    line = pv.MarkovChain.from_edges([(i, i + 1) for i in range(9)] + [(i + 1, i) for i in range(9)])
    places = picture_of(line).places
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    assert steps == pytest.approx(np.ones(9), abs=0.05)
    assert np.linalg.norm(places[9] - places[0]) == pytest.approx(9, abs=0.1)


def test_no_two_states_fall_on_one_point_even_if_they_are_alike() -> None:
    star = pv.MarkovChain.from_edges([("hub", i) for i in range(12)] + [(i, "hub") for i in range(12)])
    places = picture_of(star).places
    gaps = np.linalg.norm(places[:, None] - places[None], axis=2) + 9 * np.eye(13)
    assert gaps.min() > 0.1


def test_parts_that_are_not_connected_are_drawn_beside_each_other() -> None:
    world = pv.MarkovChain.from_edges([("a", "b"), ("b", "a"), ("x", "y"), ("y", "x")])
    assert np.isfinite(picture_of(world).places).all()


def test_coordinates_are_taken_as_they_are(tmp_path) -> None:
    (tmp_path / "nodes.csv").write_text("symbol,x,y\na,4.5,50.1\nb,4.6,50.2\n")
    picture = picture_of(pv.MarkovChain.from_edges([("a", "b"), ("b", "a")]), read_coordinates(tmp_path / "nodes.csv"))
    assert picture.places.tolist() == [[4.5, 50.1], [4.6, 50.2]]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("symbol,x,y\na,1,2\na,3,4\n", "line 3: the symbol 'a' is there twice"), ("symbol,x,y\na,1,up\n", "line 2: x is")],
)
def test_coordinates_that_are_none_are_refused_with_the_line(tmp_path, text, complaint) -> None:
    (tmp_path / "nodes.csv").write_text(text)
    with pytest.raises(pv.InvalidSystemError, match=complaint):
        read_coordinates(tmp_path / "nodes.csv")


def test_a_symbol_without_coordinates_is_named() -> None:
    with pytest.raises(pv.InvalidParameterError, match="no coordinates for 'b'"):
        picture_of(pv.MarkovChain.from_edges([("a", "b")]), {"a": (0.0, 0.0)})


def test_a_word_visits_the_nodes_of_its_symbols() -> None:
    world = pv.MarkovChain.from_edges([("a", "b"), ("b", "a"), ("b", "b")])
    picture = picture_of(world)
    assert [picture.names[node] for node in picture.path(world, ["b", "b", "a"])] == ["b", "b", "a"]


def test_a_plan_visits_the_states_of_its_system_from_the_first_on() -> None:
    lift = pv.TransitionSystem({(1, "up"): 2, (2, "down"): 1, (2, "up"): 3, (3, "down"): 2}, initial=1)
    picture = picture_of(lift)
    assert [picture.names[node] for node in picture.path(lift, ["up", "up", "down"])] == ["1", "2", "3", "2"]


def test_a_system_that_nobody_could_read_is_not_drawn() -> None:
    many = LARGEST_PICTURE + 1
    with pytest.raises(pv.TooLargeError, match="too many for a picture"):
        picture_of(pv.MarkovChain.from_edges([(i, (i + 1) % many) for i in range(many)]))
