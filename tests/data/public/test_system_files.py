"""Public systems from files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import pathveil as pv
from pathveil import data


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
    (tmp_path / "system.csv").write_bytes(text)
    with pytest.raises(pv.PathVeilError, match=r"system\.csv") as caught:
        read(tmp_path / "system.csv")
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
