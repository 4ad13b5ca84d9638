"""The public system that was asked for. It comes from a public file, never from the sensitive one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pathveil.data.public import SavedSystem
    from pathveil.systems.alphabet import Alphabet
    from pathveil.systems.markov_chain import MarkovChain
    from pathveil.systems.system import System

WHAT_IS_PUBLIC = "What is public: the symbols, and which may follow which (give one file)"
_WHY_NOT_LEARNED = """The system (which symbols there are, and which may follow which) is not learned from the sensitive
file. A street that only one person uses would then be in the release because of that person, and no ε covers that.
Three ways are safe:
  1. Give a system from a public source: a road map, a timetable, the model of a process, a list of links.
     `pathveil system --help` shows what can be read:
       pathveil system convert --edges EDGES.csv --output system.json
       pathveil privatize INPUT ... --system system.json --epsilon 5 --output OUTPUT
  2. If there is none, list every symbol that could occur, one a line:
       pathveil privatize INPUT ... --alphabet SYMBOLS.txt --epsilon 5 --output OUTPUT
  3. If common patterns matter more than single words, release a model and draw synthetic words from it:
       pathveil model INPUT ... --states SYMBOLS.txt --unit word --max-length 20 --epsilon 2 --output model.json \\
         --split transitions=0.6,first=0.2,lengths=0.2
       pathveil synthesize model.json --count 1000 --output synthetic.parquet"""


@dataclass(frozen=True)
class Ends:
    """Which symbols may begin and end a word."""

    first: Annotated[
        str | None,
        typer.Option(
            metavar="A,B|FILE",
            help="Only these symbols begin a word: with commas between, or a text file, one a line.",
            rich_help_panel=WHAT_IS_PUBLIC,
        ),
    ] = None
    last: Annotated[
        str | None,
        typer.Option(metavar="A,B|FILE", help="Only these symbols end a word.", rich_help_panel=WHAT_IS_PUBLIC),
    ] = None

    @property
    def files(self) -> dict[str, Path]:
        """The options that name a file, and the files."""
        given = {"--first": self.first, "--last": self.last}
        return {option: Path(text) for option, text in given.items() if text is not None and Path(text).is_file()}

    def applied(self, chain: MarkovChain) -> MarkovChain:
        """The chain with these beginnings and ends."""
        if self == Ends():
            return chain
        from pathveil.data.public import read_symbols

        known, chosen = set(chain.symbols), []
        for option, text in (("--first", self.first), ("--last", self.last)):
            chosen.append(None if text is None else read_symbols(text))
            for symbol in chosen[-1] or ():
                if symbol not in known:
                    raise InvalidParameterError(
                        f"{option}: {symbol!r} is not one of the {len(chain.symbols)} symbols, and there is no file "
                        f"{text!r}. Symbols that have commas in them stand in a file, one a line."
                    )
        return chain.from_counts(chain.symbols, chain.matrix, initial=chosen[0], final=chosen[1])


@dataclass(frozen=True)
class SystemFile:
    """The file that holds the public system; one of these has to be given."""

    system: Annotated[
        Path | None,
        typer.Option(
            help="A file from `pathveil system`: streets, timetables, processes.", rich_help_panel=WHAT_IS_PUBLIC
        ),
    ] = None
    edges: Annotated[
        str | None,
        typer.Option(
            metavar="FILE[:FROM,TO]",
            help="CSV: which symbol may follow which. Its columns are from,to, unless others follow a colon.",
            rich_help_panel=WHAT_IS_PUBLIC,
        ),
    ] = None
    both_ways: Annotated[
        bool,
        typer.Option(
            "--both-ways",
            help="Each row of --edges may be taken in both directions: streets, neighbouring zones.",
            rich_help_panel=WHAT_IS_PUBLIC,
        ),
    ] = False
    ends: Ends = Ends()
    alphabet: Annotated[
        str | None,
        typer.Option(
            metavar="FILE[:COLUMN]",
            help="Text, one symbol a line, or a column of a CSV file. Any of them may follow any other.",
            rich_help_panel=WHAT_IS_PUBLIC,
        ),
    ] = None
    chain: Annotated[
        Path | None,
        typer.Option(
            help="JSON of a Markov chain, or of a model that pathveil model wrote.", rich_help_panel=WHAT_IS_PUBLIC
        ),
    ] = None
    automaton: Annotated[
        Path | None,
        typer.Option(
            help="CSV (from,symbol,to) or JSON of an automaton: a machine whose runs are the words.",
            rich_help_panel=WHAT_IS_PUBLIC,
        ),
    ] = None

    @property
    def given(self) -> dict[str, Path]:
        """The options that name a system, and their files."""
        return {
            f"--{name}": path
            for name, path in (
                ("system", self.system),
                ("edges", None if self.edges is None else file_of(self.edges, 2)),
                ("alphabet", None if self.alphabet is None else file_of(self.alphabet, 1)),
                ("chain", self.chain),
                ("automaton", self.automaton),
            )
            if path is not None
        }

    @property
    def files(self) -> list[Path]:
        """All files that are read for the system."""
        return [*self.given.values(), *self.ends.files.values()]

    def read(self, sensitive: Sequence[str] = ()) -> System:
        """Read the one system that was given; wrong use if there is none, or several, or if it is a sensitive file."""
        return self.read_saved(sensitive).system

    def read_saved(self, sensitive: Sequence[str] = ()) -> SavedSystem:
        """The same with what a saved system knows besides: where its symbols lie."""
        if len(self.given) > 1:
            raise InvalidParameterError(f"give one public system, not {' and '.join(self.given)}")
        if not self.given:
            explanation = f"\n\n{_WHY_NOT_LEARNED}" if sensitive else ""
            raise InvalidParameterError(
                "the public system is missing: give one of --system, --edges, --alphabet, --chain, --automaton."
                + explanation
            )
        if self.ends != Ends() and self.edges is None:
            raise InvalidParameterError("--first and --last belong to --edges; `pathveil system` takes them, too")
        if self.both_ways and self.edges is None:
            raise InvalidParameterError("--both-ways belongs to --edges")
        for option, path in {**self.given, **self.ends.files}.items():
            refuse_sensitive(option, path, sensitive)
        from pathveil.data import public

        if self.system is not None:
            return public.SavedSystem.read(self.system)
        if self.edges is not None:
            return public.SavedSystem(self.ends.applied(read_edges(self.edges, both_ways=self.both_ways)))
        if self.alphabet is not None:
            return public.SavedSystem(read_alphabet(self.alphabet))
        if self.chain is not None:
            return public.SavedSystem(public.read_chain(self.chain))
        return public.SavedSystem(public.read_automaton(self.automaton or Path()))


def file_of(text: str, columns: int) -> Path:
    """The file of an option FILE[:COLUMNS]."""
    from pathveil.data.public import split_columns

    return split_columns(text, columns)[0]


def read_edges(text: str, *, both_ways: bool = False) -> MarkovChain:
    """The edges that an option FILE[:FROM,TO] names."""
    from pathveil.data import public

    path, columns = public.split_columns(text, 2)
    origin, destination = columns or ("from", "to")
    return public.read_edges(path, columns=(origin, destination), both_ways=both_ways)


def read_alphabet(text: str) -> Alphabet:
    """The symbols that an option FILE[:COLUMN] names."""
    from pathveil.data import public

    path, column = public.split_columns(text, 1)
    return public.read_alphabet(path) if column is None else public.read_alphabet(path, column[0])


def refuse_sensitive(option: str, path: Path, sensitive: Sequence[str]) -> None:
    """Wrong use if a file that is meant to be public is the sensitive input."""
    if not path.exists():
        return
    from pathveil.release.destinations import named_files

    for source in sensitive:
        inside = Path(source).is_dir() and Path(source).resolve() in path.resolve().parents
        if inside or any(os.path.samefile(path, file) for file in named_files(source)):
            raise InvalidParameterError(f"{option} {path} is the sensitive input itself.\n\n{_WHY_NOT_LEARNED}")
