"""How the words stand in the input, from the options and the format of the files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pathveil.data.formats import Layout
    from pathveil.data.sources import DataFile, Format


def chosen_layout(
    sources: Sequence[str],
    *,
    column: str | None,
    separator: str | None,
    case: str | None,
    order: str | None,
    symbol: str | None,
    format: Format | None,
) -> Layout:
    """The layout that the options describe; wrong use where they describe none or contradict each other."""
    from pathveil import data

    first = _first_file(sources, format)
    if case is not None or order is not None:
        if case is None or order is None or symbol is None:
            raise InvalidParameterError("a long table needs all three: --case, --order and --symbol")
        if column is not None or separator is not None:
            raise InvalidParameterError("--column and --separator do not go with --case, --order and --symbol")
        return data.LongTable(case, order, symbol)
    if first.format == "xes":
        if column is not None or separator is not None:
            raise InvalidParameterError("an event log has no columns: leave out --column and --separator")
        return data.EventLog() if symbol is None else data.EventLog(symbol)
    if symbol is not None:
        raise InvalidParameterError("--symbol is for event logs, or for long tables, with --case and --order")
    if first.format == "text":
        if column is not None:
            raise InvalidParameterError("plain text has no columns: leave out --column")
        return data.TextLines(separator)
    if column is None:
        raise InvalidParameterError(
            f"{first.name}: where are the words? Give --column for one word a row, or --case, --order and --symbol "
            "for one symbol a row"
        )
    if separator is None and _holds_lists(first, column):
        return data.ListColumn(column)
    return data.DelimitedColumn(column, separator)


def _first_file(sources: Sequence[str], format: Format | None) -> DataFile:
    from pathveil.data.sources import find_files

    return find_files(sources, Path(), format)[0]


def _holds_lists(file: DataFile, column: str) -> bool:
    """Does a column hold lists? JSON lines say so only row by row: there a text needs a --separator."""
    if file.format != "parquet":
        return file.format == "jsonl"
    import pyarrow as pa

    from pathveil.data.database import parquet_schema

    schema = parquet_schema(file)
    if column not in schema.names:
        return True  # reading it will say that the column is missing
    kind = schema.field(column).type
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))
