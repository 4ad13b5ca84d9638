"""CSV with one word a row."""

from words import Extra, fuzz_layouts, parsers

with parsers():
    from pathveil.data.formats import DelimitedColumn

fuzz_layouts((DelimitedColumn("w"),), "words.csv", Extra(user="u", keep=("k",)))
