"""Words that are read in one layout and written in another: the layout that a file of some format gets."""

from __future__ import annotations

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
        read = LongTable(read.case, read.order_columns[0], read.symbol)
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
