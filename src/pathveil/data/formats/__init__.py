"""How words lie in files: one file here for each layout. A new layout is a class in a file of its own, named here."""

from pathveil.data.formats.converting import CASE, COLUMN, ORDER, SYMBOL, layout_in, layout_of_output
from pathveil.data.formats.delimited_column import DelimitedColumn
from pathveil.data.formats.event_log import ATTRIBUTE, TIME, EventLog
from pathveil.data.formats.layout import Extra, Layout, RawWords, Style, column_type, place_in_rows
from pathveil.data.formats.list_column import ListColumn
from pathveil.data.formats.long_table import LongTable
from pathveil.data.formats.plain_text import TextLines, read_lines
from pathveil.data.formats.row_words import RowWords
from pathveil.data.formats.splitting import checked_separator, join, require_separable, split, text_bytes
from pathveil.data.formats.users import shortest_form, users_of

__all__ = [
    "ATTRIBUTE",
    "CASE",
    "COLUMN",
    "ORDER",
    "SYMBOL",
    "TIME",
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
    "join",
    "layout_in",
    "layout_of_output",
    "place_in_rows",
    "read_lines",
    "require_separable",
    "shortest_form",
    "split",
    "text_bytes",
    "users_of",
]
