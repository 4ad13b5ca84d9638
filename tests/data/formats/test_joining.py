"""Several columns as one symbol: what comes out is what went in, and nothing can be taken apart in two ways."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pathveil as pv
from pathveil import data
from tests.data.files import faithful, write_csv

NAMES, PHASES = ["a", "b+", "+"], ["x", "y z"]
JOINED = pv.Alphabet([f"{name} | {phase}" for name in NAMES for phase in PHASES])
LAYOUT = data.LongTable("case", "nr", ["name", "phase"], joiner=" | ")


@settings(max_examples=12)
@given(
    words=st.lists(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(PHASES)), min_size=1), min_size=1),
    ending=st.sampled_from([".csv", ".parquet"]),
)
def test_columns_come_out_as_they_went_in(
    words: list[list[tuple[str, str]]], ending: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("log")
    columns = ["case", "nr", "name", "phase"]
    rows = [(i + 1, j + 1, *symbol) for i, word in enumerate(words) for j, symbol in enumerate(word)]
    source, output = folder / f"in{ending}", folder / f"out{ending}"
    if ending == ".csv":
        write_csv(source, [columns, *map(list, rows)])
    else:
        table = dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True))
        pq.write_table(pa.table(table), source)
    data.privatize_file(source, LAYOUT, faithful(JOINED), output, keep_order=True)
    if ending == ".csv":
        assert output.read_text() == source.read_text()
    else:
        assert pq.read_table(output).to_pylist() == pq.read_table(source).to_pylist()


def test_a_value_with_the_joiner_in_it_is_no_symbol(tmp_path: Path) -> None:
    write_csv(tmp_path / "in.csv", [["case", "nr", "name", "phase"], ["v", 1, "a | x", "x"]])
    with pytest.raises(pv.UnknownSymbolError, match=r"row 1, case 'v', column 'name' and 'phase', position 1"):
        data.count_transitions(tmp_path / "in.csv", LAYOUT, JOINED.symbols)
    write_csv(tmp_path / "in.csv", [["case", "nr", "name", "phase"], ["v", 1, "a", ""]])
    with pytest.raises(pv.DataFileError, match="the symbol is missing"):
        data.count_transitions(tmp_path / "in.csv", LAYOUT, JOINED.symbols)


@pytest.mark.parametrize("symbol", ["a", "a | x | y", " | x", "a | "])
def test_public_symbols_must_come_apart_in_one_way(symbol: str, tmp_path: Path) -> None:
    write_csv(tmp_path / "in.csv", [["case", "nr", "name", "phase"], ["v", 1, "a", "x"]])
    world = pv.Alphabet(["a | x", symbol])
    with pytest.raises(pv.InvalidSystemError, match="choose another `joiner`"):
        data.count_transitions(tmp_path / "in.csv", LAYOUT, world.symbols)
    with pytest.raises(pv.InvalidSystemError, match="choose another `joiner`"):
        data.privatize_file(tmp_path / "in.csv", LAYOUT, faithful(world), tmp_path / "out.csv")


def test_joiners_that_make_no_sense_are_wrong_use() -> None:
    for wrong in ({"joiner": ""}, {"symbol": ["name", "name"]}, {"symbol": []}):
        with pytest.raises(pv.InvalidParameterError, match=r"`joiner`|`symbol`"):
            data.LongTable(**{"case": "case", "order": "nr", "symbol": ["name", "phase"], **wrong})  # type: ignore[arg-type]


def test_attributes_of_events_make_one_symbol(tmp_path: Path) -> None:
    def event(*values: tuple[str, str]) -> str:
        return "<event>" + "".join(f'<string key="{key}" value="{value}"/>' for key, value in values) + "</event>"

    layout = data.EventLog(["concept:name", "lifecycle:transition"])
    first = event(("lifecycle:transition", "start"), ("org:role", "r"), ("concept:name", "open"))
    second = event(("concept:name", "open"), ("lifecycle:transition", "complete"))
    source, output = tmp_path / "in.xes", tmp_path / "out.xes"
    source.write_text(f"<log><trace>{first}{second}</trace></log>")
    world = pv.Alphabet(["open+start", "open+complete"])
    data.privatize_file(source, layout, faithful(world), output)
    [batch] = data.read_words(output, layout, world)
    assert batch.column(0).to_pylist() == [[0, 1]]
    assert '<string key="concept:name" value="open"/><string key="lifecycle:transition" value="start"/>' in (
        output.read_text()
    )
    source.write_text(f"<log><trace>{first}{event(('concept:name', 'open'))}</trace></log>")
    with pytest.raises(pv.DataFileError, match=r"trace 1, attribute 'concept:name' and .* of event 2: the symbol is m"):
        list(data.read_words(source, layout, world))
