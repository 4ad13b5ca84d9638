"""JSON lines with a list in each."""

from words import Extra, fuzz_layouts, parsers

with parsers():
    from pathveil.data.formats import ListColumn

fuzz_layouts((ListColumn("w"),), "words.jsonl", Extra(user="u", keep=("k",)))
