"""Codes of symbols: the same by number as by text, and as narrow as they can be."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from pathveil.data.symbols import SymbolTable
from tests.sizes import given_few_and_many

KINDS = [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()]
LIMITS = {kind: np.iinfo(kind.to_pandas_dtype()) for kind in KINDS}

numbers = st.one_of(
    st.integers(-3, 300),
    st.sampled_from([limit for kind in KINDS for limit in (LIMITS[kind].min, LIMITS[kind].max)]),
    st.integers(-(2**63), 2**64 - 1),
)


def literal_codes(table: SymbolTable, values: list[object]) -> list[int]:
    """One value after the other, as text."""
    codes = {name: code for code, name in enumerate(table.names)}
    return [table.missing if value is None else codes.get(str(value), table.unknown) for value in values]


@given_few_and_many(
    40,
    100,
    symbols=st.lists(st.one_of(numbers, st.sampled_from(["a", "07", "-0", "+7", "1_0", " 7", ""])), unique_by=str),
    values=st.lists(st.one_of(st.none(), numbers)),
    kind=st.sampled_from(KINDS),
)
def test_numbers_of_every_type_are_compared_as_text(
    symbols: list[int | str], values: list[int | None], kind: pa.DataType
) -> None:
    table = SymbolTable(symbols)
    fitting = [v for v in [*values, *symbols] if v is None or (isinstance(v, int) and _fits(v, kind))]
    found = table.encode(pa.array(fitting, kind))
    assert found.tolist() == literal_codes(table, list(fitting))
    assert found.dtype == table.code_type


def _fits(value: int, kind: pa.DataType) -> bool:
    return bool(LIMITS[kind].min <= value <= LIMITS[kind].max)


@given(values=st.lists(st.one_of(st.none(), st.sampled_from(["a", "b", "7", "07", ""]))))
def test_texts_are_looked_up_with_or_without_a_dictionary(values: list[str | None]) -> None:
    table = SymbolTable(["b", 7, "a"])
    array = pa.array(values, pa.string())
    assert table.encode(array).tolist() == literal_codes(table, list(values))
    assert table.encode(array.dictionary_encode()).tolist() == literal_codes(table, list(values))


def test_a_slice_of_an_array_is_looked_up_alone() -> None:
    table = SymbolTable(range(5, 20))
    values = pa.array([1, 5, None, 19, 20, 7], pa.uint16())
    assert table.encode(values.slice(1, 4)).tolist() == [0, table.missing, 14, table.unknown]


@pytest.mark.parametrize(("size", "wanted"), [(2, "u1"), (254, "u1"), (255, "u2"), (65_534, "u2"), (65_535, "u4")])
def test_codes_are_narrow_and_leave_room_for_what_is_no_symbol(size: int, wanted: str) -> None:
    table = SymbolTable(range(size))
    found = table.encode(pa.array([0, size - 1, size, -1, None]))
    assert found.dtype == np.dtype(wanted)
    assert found.tolist() == [0, size - 1, table.unknown, table.unknown, table.missing]
    assert table.decode(pa.array(found[:2]), pa.int64()).to_pylist() == [0, size - 1]


def test_symbols_that_are_not_in_the_order_of_their_numbers_keep_their_codes() -> None:
    table = SymbolTable(["3", "x", "1"])
    assert table.encode(pa.array([1, 2, 3], pa.uint8())).tolist() == [2, table.unknown, 0]
