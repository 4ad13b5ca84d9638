"""Options that several commands share, so that they are called and explained the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

_SYSTEM, _LAYOUT = "The public system (give one)", "How words stand in the input"

# The public system.
Edges = Annotated[
    Path | None,
    typer.Option(help="CSV with the columns from,to: which symbol may follow which.", rich_help_panel=_SYSTEM),
]
AlphabetFile = Annotated[
    Path | None,
    typer.Option("--alphabet", help="Text, one symbol a line: every word over them.", rich_help_panel=_SYSTEM),
]
ChainFile = Annotated[
    Path | None,
    typer.Option("--chain", help="JSON of a Markov chain or of a private model.", rich_help_panel=_SYSTEM),
]
AutomatonFile = Annotated[
    Path | None,
    typer.Option("--automaton", help="CSV (from,symbol,to) or JSON of an automaton.", rich_help_panel=_SYSTEM),
]

# The input.
Sources = Annotated[
    list[str],
    typer.Argument(metavar="INPUT...", help="Sensitive files, folders or patterns; - is standard input."),
]
ColumnName = Annotated[
    str | None,
    typer.Option("--column", help="The column with one word a row: a list or a text.", rich_help_panel=_LAYOUT),
]
Separator = Annotated[
    str | None,
    typer.Option(
        help="What stands between symbols in a text; white space if not given, '' for single characters.",
        rich_help_panel=_LAYOUT,
    ),
]
Case = Annotated[str | None, typer.Option(help="Long table: the column that says which word.", rich_help_panel=_LAYOUT)]
Order = Annotated[
    str | None, typer.Option(help="Long table: the column that says where in it.", rich_help_panel=_LAYOUT)
]
SymbolColumn = Annotated[
    str | None,
    typer.Option(
        "--symbol",
        help="Long table: the column with the symbol. Event log: the attribute (concept:name if not given).",
        rich_help_panel=_LAYOUT,
    ),
]
FormatName = Annotated[
    Literal["csv", "parquet", "jsonl", "text", "xes"] | None,
    typer.Option(
        "--format", help="What the input is, where its name does not say (standard input).", rich_help_panel=_LAYOUT
    ),
]
OnBadRow = Annotated[
    Literal["fail", "skip"],
    typer.Option(
        help="Rows that cannot be used end the work, or are left out. Leaving out is a decision about the release: "
        "what is missing from it can be seen.",
    ),
]

# Privacy.
Epsilon = Annotated[float, typer.Option(help="ε, the privacy parameter: less is more private.")]
Adjacency = Annotated[int, typer.Option(help="b: words that differ in at most so many symbols are protected.")]
Length = Annotated[int, typer.Option(min=1, max=1_000_000, help="How many symbols a word has.")]
Distance = Annotated[
    Literal["hamming", "edit"],
    typer.Option(
        help="What separates adjacent words: substitutions, which leave the length public, or edits: insertions, "
        "deletions and substitutions, which protect the length too."
    ),
]
Lengths = Annotated[
    str | None,
    typer.Option(
        metavar="LO:HI", help="Edit distance: the shortest and the longest word, for example 5:20. They are public."
    ),
]
Cap = Annotated[
    int | None,
    typer.Option(help="Edit distance: from so many edits on, words count as equally far. Smaller tables."),
]
LedgerFile = Annotated[Path | None, typer.Option("--ledger", help="Charge this budget before anything is released.")]
Curator = Annotated[
    bool,
    typer.Option(
        "--curator",
        help="I may read the input: quote rows and counts in messages. (Without --ledger that is always so.)",
    ),
]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume",
        help="Use the charge of an earlier run of this very command that was killed before its output could be read "
        "(not on Spark once it draws).",
    ),
]

# Output.
Output = Annotated[Path, typer.Option("--output", "-o", help="The file to write; a manifest is written beside it.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the output if it is there already.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for machines.")]
