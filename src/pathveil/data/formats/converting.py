"""Words that are read in one layout and written in another: the layout that a file of some format gets."""

from __future__ import annotations

from dataclasses import replace

from pathveil.data.formats.delimited_column import DelimitedColumn
from pathveil.data.formats.event_log import EventLog
from pathveil.data.formats.layout import Layout
from pathveil.data.formats.list_column import ListColumn
from pathveil.data.formats.long_table import LongTable
from pathveil.data.formats.plain_text import TextLines
from pathveil.data.formats.row_words import RowWords
from pathveil.data.sources import Format

COLUMN = "word"
CASE, ORDER, SYMBOL = "case", "position", "symbol"


def layout_in(format: Format, read: Layout) -> Layout:
    """How words that were read in one layout stand in a file of this format: as before, where that is possible.

    Columns keep their names. Where there are none yet, words stand in the column `word`, or in the columns `case`,
    `position` and `symbol` if they come from an event log.
    """
    if isinstance(read, LongTable):
        # How the rows were sorted ends with reading: private words have numbers in the first order column.
        read = replace(read, order=read.order_columns[0], time_format=None, ties="file-order")
    if isinstance(read, LongTable | DelimitedColumn) and format != "csv":
        read = replace(read, header=True)  # other formats always have names of columns
    if format in read.formats:
        return read
    if format == "xes":
        return EventLog()
    separator = read.separator if isinstance(read, DelimitedColumn | TextLines) else None
    if format == "text":
        return TextLines(separator)
    if isinstance(read, EventLog):
        return LongTable(CASE, ORDER, SYMBOL)
    column = read.column if isinstance(read, RowWords) else COLUMN
    return DelimitedColumn(column, separator) if format == "csv" else ListColumn(column)


def layout_of_output(format: Format, read: Layout) -> Layout:
    """The layout to read back what was written by `layout_in`: without a header, columns are called by their places."""
    written = layout_in(format, read)
    if format != "csv" or written.header:
        return written
    if isinstance(written, LongTable):
        symbols = tuple(str(3 + i) for i in range(len(written.symbol_columns)))
        return replace(written, case="1", order="2", symbol=symbols[0] if len(symbols) == 1 else symbols)
    return replace(written, column="1") if isinstance(written, DelimitedColumn) else written
