"""Plain text, one word a line: symbols with white space between, and single characters."""

from words import Extra, fuzz_layouts, parsers

with parsers():
    from pathveil.data.formats import TextLines

fuzz_layouts((TextLines(), TextLines(separator=""), TextLines(separator=">")), "words.txt", Extra())
