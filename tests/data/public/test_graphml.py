"""Street networks as osmnx writes them: which street or junction may follow which."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import pathveil as pv
from pathveil.data.public import SavedSystem, read_graphml
from pathveil.data.public.graphml import UTurns
from tests.data.public.public_files import town, written


def edges(saved: SavedSystem) -> set[tuple[object, object]]:
    return {(a, b) for a in saved.system.symbols for b in saved.system.symbols if saved.system.is_feasible([a, b])}


def plain_turns(graph: Any, u_turns: UTurns) -> set[tuple[str, str]]:
    """Plainly: every pair of streets of which the second begins where the first ends."""
    streets = [(u, v, f"{u}->{v}" + (f"#{key}" if key else "")) for u, v, key in graph.edges(keys=True)]
    turns = set()
    for u, v, name in streets:
        onward = [(x, following) for w, x, following in streets if w == v]
        ahead = [following for x, following in onward if x != u or u == v]
        if u_turns == "always" or (u_turns == "dead-ends" and not ahead):
            ahead = [following for _, following in onward]
        turns |= {(name, following) for following in ahead}
    return turns


@pytest.mark.parametrize("u_turns", ["never", "dead-ends", "always"])
def test_streets_are_followed_by_those_that_leave_their_end(u_turns: UTurns, tmp_path: Path) -> None:
    saved = read_graphml(written(town(), tmp_path), u_turns=u_turns)
    assert set(saved.system.symbols) == {"1->2", "1->2#1", "2->1", "2->3", "3->1", "3->4", "4->3"}
    assert edges(saved) == plain_turns(town(), u_turns)
    assert (("3->4", "4->3") in edges(saved)) == (u_turns != "never")
    assert (("1->2", "2->1") in edges(saved)) == (u_turns == "always")
    assert saved.coordinates is not None
    assert saved.coordinates["3->4"] == pytest.approx((8.35, 47.35))


def test_junctions_are_followed_by_those_that_a_street_leads_to(tmp_path: Path) -> None:
    saved = read_graphml(written(town(), tmp_path), "junctions")
    assert edges(saved) == {(str(u), str(v)) for u, v in town().edges()}
    assert saved.coordinates is not None
    assert saved.coordinates["2"] == (8.2, 47.2)


@pytest.mark.parametrize("seed", range(5))
def test_random_towns_agree_with_plain_python(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    graph: Any = nx.MultiDiGraph()
    graph.add_edges_from((draw.randrange(12), draw.randrange(12)) for _ in range(40))
    path = written(graph, tmp_path)
    for u_turns in ("never", "dead-ends", "always"):
        assert edges(read_graphml(path, u_turns=u_turns)) == plain_turns(graph, u_turns)


def test_a_graph_without_directions_is_driven_both_ways(tmp_path: Path) -> None:
    graph = nx.Graph([("a", "b"), ("b", "c")])
    saved = read_graphml(written(graph, tmp_path), "junctions")
    assert edges(saved) == {("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")}


def test_a_one_way_street_in_a_graph_without_directions_is_refused(tmp_path: Path) -> None:
    graph = nx.Graph()
    graph.add_edge("a", "b", oneway="True")
    with pytest.raises(pv.InvalidSystemError, match=r"between 'a' and 'b' is one-way.*Save the directed graph"):
        read_graphml(written(graph, tmp_path))


def test_without_geometry_and_coordinates_the_system_is_the_same(tmp_path: Path) -> None:
    bare: Any = nx.MultiDiGraph()
    bare.add_nodes_from(town().nodes)
    bare.add_edges_from(town().edges())
    saved = read_graphml(written(bare, tmp_path))
    assert saved.coordinates is None
    assert edges(saved) == plain_turns(town(), "dead-ends")
    with pytest.raises(pv.InvalidSystemError, match=r"town\.graphml: the node '1' has no coordinates.*save_graphml"):
        read_graphml(tmp_path / "town.graphml", need_coordinates=True)


@pytest.mark.parametrize("value", ["", "here", "nan", "inf"])
def test_coordinates_that_are_no_numbers_are_none(value: str, tmp_path: Path) -> None:
    graph = town()
    graph.nodes[3]["x"] = value
    saved = read_graphml(written(graph, tmp_path), "junctions")
    assert saved.coordinates is not None
    assert set(saved.coordinates) == {"1", "2", "4"}


def test_longitude_and_latitude_are_known_by_their_names_too(tmp_path: Path) -> None:
    graph = nx.DiGraph([("a", "b")])
    graph.add_node("a", lon=8.5, lat=47.5)
    assert read_graphml(written(graph, tmp_path), "junctions").coordinates == {"a": (8.5, 47.5)}


GRAPH = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="directed">{}</graph></graphml>'


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ("", "no edges"),
        ('<node id="a"/>', "no edges"),
        ('<node id="a"/><edge source="a" target="b"/>', "'b', but there is no such node"),
        ('<node id="a"/><edge source="a"/>', "has no 'target'"),
        ("<node/>", "has no 'id'"),
        (
            '<node id="a"/><node id="b"/><node id="b#1"/><edge source="a" target="b"/><edge source="a" target="b"/>'
            '<edge source="a" target="b#1"/>',
            "two streets would be called 'a->b#1'",
        ),
    ],
)
def test_graphs_that_are_no_street_network_are_refused(inside: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "town.graphml").write_text(GRAPH.replace("{}", inside))
    with pytest.raises(pv.InvalidSystemError, match=rf"town\.graphml: .*{message}"):
        read_graphml(tmp_path / "town.graphml")


def test_unknown_options_are_refused(tmp_path: Path) -> None:
    path = written(town(), tmp_path)
    with pytest.raises(pv.InvalidParameterError, match="symbols is one of"):
        read_graphml(path, "houses")  # type: ignore[arg-type]
    with pytest.raises(pv.InvalidParameterError, match="u_turns is one of"):
        read_graphml(path, u_turns="often")  # type: ignore[arg-type]
