"""CSV with one symbol a row."""

from words import Extra, fuzz_layouts, parsers

with parsers():
    from pathveil.data.formats import LongTable

fuzz_layouts((LongTable("c", "o", "s"),), "words.csv", Extra(user="u"))
