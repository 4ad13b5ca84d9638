"""XES event logs."""

from words import Extra, fuzz_layouts, parsers

with parsers():
    from pathveil.data.formats import EventLog

fuzz_layouts((EventLog(),), "words.xes", Extra(user="u", keep=("k",)))
