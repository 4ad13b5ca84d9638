"""Public systems from files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import pathveil as pv
from pathveil import data
from pathveil.data.public import read_alphabet, read_edges, read_symbols, split_columns, successors_of, support_of


def test_an_alphabet_is_one_symbol_a_line(tmp_path: Path) -> None:
    (tmp_path / "pages.txt").write_bytes("\ufefffront page\r\nnews\r\nÄ\r\n".encode())
    assert data.read_alphabet(tmp_path / "pages.txt").symbols == ("front page", "news", "Ä")


def test_edges_make_a_chain(tmp_path: Path) -> None:
    (tmp_path / "roads.csv").write_text('to,length,from\nb,3,a\n"c, d",4,b\n\na,1,b\n')
    chain = data.read_edges(tmp_path / "roads.csv", initial="a", final="a")
    assert chain.symbols == ("a", "b", "c, d")
    assert chain.is_feasible(["b", "a"])
    assert not chain.is_feasible(["b", "c, d"])


def test_a_chain_comes_back_from_its_own_json(tmp_path: Path) -> None:
    chain = pv.MarkovChain(["x", "y"], [[0.25, 0.75], [1.0, 0.0]])
    (tmp_path / "chain.json").write_text(chain.to_json())
    assert data.read_chain(tmp_path / "chain.json").to_json() == chain.to_json()


CSV = "from,symbol,to\n,,idle\nidle,start,busy\nbusy,stop,idle\nbusy,stop,broken\nidle,,\n"
JSON = """{"moves": [["idle", "start", "busy"], ["busy", "stop", "idle"], ["busy", "stop", "broken"]],
           "initial": "idle", "accepting": ["idle"]}"""


@pytest.mark.parametrize(("name", "text"), [("machine.csv", CSV), ("machine.json", JSON)])
def test_an_automaton_is_read_from_csv_and_json_alike(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    machine = data.read_automaton(tmp_path / name)
    assert machine.is_feasible(["start", "stop"])
    assert not machine.is_feasible(["start"])
    assert machine.initial == {"idle"}
    assert machine.accepting == {"idle"}


@pytest.mark.parametrize(
    ("name", "text"),
    [("m.csv", "from,symbol,to\n,,p\np,a,q\n"), ("m.json", '{"moves": [["p","a","q"]], "initial": "p"}')],
)
def test_an_automaton_without_final_states_may_end_anywhere(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert data.read_automaton(tmp_path / name).is_feasible(["a"])


@pytest.mark.parametrize(
    ("read", "text", "says"),
    [
        (data.read_alphabet, b"", "the file is empty"),
        (data.read_alphabet, b"a\n\nb\n", "line 2: the line is empty"),
        (data.read_alphabet, b"a\nb\na\n", "line 3: the symbol 'a' is on line 1 already"),
        (data.read_alphabet, b"\xff", "not UTF-8"),
        (data.read_edges, b"", "must name the columns from, to"),
        (data.read_edges, b"a,b\n1,2\n", "must name the columns from, to"),
        (data.read_edges, b"from,to\n", "no edges"),
        (data.read_edges, b"from,to\na,\n", "line 2: an edge needs both"),
        (data.read_edges, b"from,to\na,b\na\n", "line 3: 1 values for 2 columns"),
        (data.read_edges, b'from,to\n"a,b\n', "not CSV"),
        (data.read_chain, b"{}", "not a saved chain"),
        (data.read_automaton, b"from,symbol,to\na,x,b\n", "no state is named where words begin"),
        (data.read_automaton, b"from,symbol,to\na,x,\n", "line 2: a row has"),
        (data.read_automaton, b"from,symbol,to\n,,z\na,x,b\n", "initial"),
    ],
)
def test_bad_systems_are_refused_with_file_and_line(
    read: Callable[[Path], pv.System], text: bytes, says: str, tmp_path: Path
) -> None:
    path = tmp_path / ("system.txt" if read in (read_alphabet, data.read_alphabet) else "system.csv")
    path.write_bytes(text)
    with pytest.raises(pv.PathVeilError, match=path.name) as caught:
        read(path)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    "text", ["[", "[]", '{"moves": [["a", "b"]]}', '{"moves": [["a", 1, "b"]]}', '{"moves": [], "initial": 3}']
)
def test_bad_automata_in_json_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(pv.InvalidSystemError, match=r"m\.json"):
        data.read_automaton(tmp_path / "m.json")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(pv.DataFileError, match=r"none\.csv: cannot be read"):
        data.read_edges(tmp_path / "none.csv")


def test_edges_under_any_column_names(tmp_path):
    (tmp_path / "roads.csv").write_text("source;target;length\na;b;3\nb;a;4\n")
    chain = read_edges(tmp_path / "roads.csv", columns=("source", "target"))
    assert chain.is_feasible("aba")
    with pytest.raises(pv.InvalidSystemError, match="FILE:source,target"):
        read_edges(tmp_path / "roads.csv")


def test_an_alphabet_from_a_column_has_each_value_once(tmp_path):
    (tmp_path / "stops.csv").write_text("stop_id,name\n7,x\n9,y\n7,z\n,w\n")
    assert read_alphabet(tmp_path / "stops.csv", "stop_id").symbols == ("7", "9")
    (tmp_path / "none.csv").write_text("stop_id\n")
    with pytest.raises(pv.InvalidSystemError, match="'stop_id' is empty"):
        read_alphabet(tmp_path / "none.csv", "stop_id")


def test_columns_follow_a_colon_unless_the_file_has_one_in_its_name(tmp_path):
    for name in ("roads.csv", "8:30.csv", "odd.csv:a,b"):
        (tmp_path / name).write_text("from,to\n")

    def split(text, count=2):
        path, columns = split_columns(str(tmp_path / text), count)
        return path.name, columns

    assert split("roads.csv") == ("roads.csv", None)
    assert split("roads.csv:u,v") == ("roads.csv", ("u", "v"))
    assert split('roads.csv:"a, b",c:d') == ("roads.csv", ("a, b", "c:d"))
    assert split("8:30.csv") == ("8:30.csv", None)
    assert split("8:30.csv:u,v") == ("8:30.csv", ("u", "v"))
    assert split("odd.csv:a,b") == ("odd.csv:a,b", None)
    assert split("roads.csv:u", 1) == ("roads.csv", ("u",))
    assert split("missing.csv:u,v")[1] is None
    for text in ("roads.csv:u", "roads.csv:u,v,w", "roads.csv:u,", "roads.csv:"):
        with pytest.raises(pv.InvalidParameterError, match="after the colon should stand the names of 2 columns"):
            split(text)


def test_symbols_come_from_a_list_or_from_a_file(tmp_path):
    (tmp_path / "first.txt").write_text("a, with a comma\nb\n")
    assert read_symbols("a, b,c") == ("a", "b", "c")
    assert read_symbols(str(tmp_path / "first.txt")) == ("a, with a comma", "b")


def test_what_may_follow_what_in_an_automaton_is_the_support_of_a_model():
    machine = pv.Automaton({(0, "a"): {1}, (1, "b"): {0}, (1, "a"): {2}}, initial=0, accepting=[0, 2])
    assert support_of(machine, ("a", "b"), "m.json").tolist() == [[True, True], [True, False]]
    assert successors_of(machine, ("b", "a"), "m.json") == [1, 2]
    with pytest.raises(pv.InvalidParameterError, match=r"m\.json: 'b' is not among the states"):
        support_of(machine, ("a",), "m.json")


@pytest.mark.parametrize("name", ["pages.csv", "pages.TSV"])
def test_a_table_is_not_taken_for_a_list_of_symbols(tmp_path, name):
    """Its header would become a symbol, and rows with several columns one symbol each."""
    (tmp_path / name).write_text("page\nnews\nsports\n")
    with pytest.raises(pv.InvalidSystemError, match="which column of this table holds the symbols: 'page'"):
        data.read_alphabet(tmp_path / name)
    assert list(data.read_alphabet(tmp_path / name, column="page").symbols) == ["news", "sports"]


@pytest.mark.parametrize("name", ["counties.geojson", "model.json"])
def test_json_is_not_taken_for_a_list_of_symbols(tmp_path, name):
    (tmp_path / name).write_text('{"features": []}\n')
    with pytest.raises(pv.InvalidSystemError, match="this is JSON and no list of symbols"):
        data.read_alphabet(tmp_path / name)


def test_edges_may_be_taken_both_ways(tmp_path):
    (tmp_path / "streets.csv").write_text("from,to\na,b\nb,c\nc,b\n")
    assert [data.read_edges(tmp_path / "streets.csv").count(length) for length in (2, 3)] == [3, 3]
    streets = data.read_edges(tmp_path / "streets.csv", both_ways=True)
    assert {word for word in ("ab", "ba", "bc", "cb", "ac", "ca", "bb") if streets.is_feasible(word)} == {
        "ab", "ba", "bc", "cb",
    }  # fmt: skip
    assert streets.matrix.toarray()[streets.symbols.index("b")].tolist() == [0.5, 0.0, 0.5]  # no street counts twice
