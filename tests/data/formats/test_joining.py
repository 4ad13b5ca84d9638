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


@settings(max_examples=25)
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
