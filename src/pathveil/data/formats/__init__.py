"""How words lie in files: one file here for each layout. A new layout is a class in a file of its own, named here."""

from pathveil.data.formats.converting import CASE, COLUMN, ORDER, SYMBOL, layout_in, layout_of_output
from pathveil.data.formats.counted_rows import MOST, NO_COUNT, columns_like_counts, require_countable, whole_count
from pathveil.data.formats.delimited_column import DelimitedColumn
from pathveil.data.formats.event_log import ATTRIBUTE, EventLog
from pathveil.data.formats.layout import Extra, Layout, RawWords, Style, column_type, place_in_rows
from pathveil.data.formats.list_column import ListColumn
from pathveil.data.formats.long_table import LongTable
from pathveil.data.formats.plain_text import TextLines
from pathveil.data.formats.row_words import RowWords
from pathveil.data.formats.splitting import checked_separator, join, require_separable, split, text_bytes

__all__ = [
    "ATTRIBUTE",
    "CASE",
    "COLUMN",
    "MOST",
    "NO_COUNT",
    "ORDER",
    "SYMBOL",
    "DelimitedColumn",
    "EventLog",
    "Extra",
    "Layout",
    "ListColumn",
    "LongTable",
    "RawWords",
    "RowWords",
    "Style",
    "TextLines",
    "checked_separator",
    "column_type",
    "columns_like_counts",
    "join",
    "layout_in",
    "layout_of_output",
    "place_in_rows",
    "require_countable",
    "require_separable",
    "split",
    "text_bytes",
    "whole_count",
]
