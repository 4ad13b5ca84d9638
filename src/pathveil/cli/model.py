"""`pathveil model`: one private Markov chain or model of sequences for all words, or a chain for all from/to pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pathveil.cli.options import (
    WHAT_IS_PUBLIC,
    WHERE_WORDS_ARE,
    Budget,
    Columns,
    Epsilon,
    Input,
    Learned,
    ModelInput,
    Output,
    Printing,
    Work,
    file_of,
    read_alphabet,
    read_edges,
    refuse_sensitive,
    takes_bundles,
)
from pathveil.cli.printing import (
    ProgressBar,
    content_hidden,
    echo_cost,
    echo_json,
    echo_limited,
    echo_notice,
    echo_skipped,
    echo_tied,
    sequences_as_json,
    sequences_in_a_line,
)
from pathveil.errors import InvalidParameterError

if TYPE_CHECKING:
    from pathveil.data.formats import Layout
    from pathveil.data.reading import Beside, PairColumns
    from pathveil.models.sequences import Order
    from pathveil.release import ModelChoices, ReleasedModel, SequenceChoices
    from pathveil.systems.system import Symbol


@dataclass(frozen=True)
class Fit:
    """What is fitted, and what is promised about it."""

    epsilon: Epsilon
    states: Annotated[
        str | None,
        typer.Option(
            metavar="FILE[:COLUMN]",
            help="Text, one public state a line, or a column of a CSV file.",
            rich_help_panel=WHAT_IS_PUBLIC,
        ),
    ] = None
    system: Annotated[
        Path | None,
        typer.Option(
            help="Instead of --states and --support: a file from `pathveil system`. Its symbols are the states, and "
            "only what may follow what there can occur.",
            rich_help_panel=WHAT_IS_PUBLIC,
        ),
    ] = None
    delta: Annotated[
        float | None,
        typer.Option(
            help="δ that may be spent; without it, discrete Laplace noise is used, and with --order no word is kept "
            "whole."
        ),
    ] = None
    unit: Annotated[
        Literal["transition", "symbol", "word", "user"] | None,
        typer.Option(
            help="What is protected: one transition's destination, one symbol, one whole word, or a person's words."
        ),
    ] = None
    user: Annotated[str | None, typer.Option(help="Unit user: the column that says whose word it is.")] = None
    max_words_per_user: Annotated[
        int | None,
        typer.Option(
            min=1, help="Unit user: use at most so many words of a person, chosen at random. More words, more noise."
        ),
    ] = None
    neighbours: Annotated[
        Literal["replace", "add-remove"],
        typer.Option(
            help="Units word and user: a word (a person) becomes another, or is there or not. Then their number is "
            "protected, too."
        ),
    ] = "replace"
    mechanism: Annotated[
        Literal["dirichlet", "laplace", "gaussian"] | None,
        typer.Option(help="If not given: the one with the smallest error to expect, by public forecast."),
    ] = None
    max_length: Annotated[
        int | None,
        typer.Option(min=1, max=1_000_000, help="Units word and user: the greatest length; longer words are cut."),
    ] = None
    split: Annotated[
        str | None,
        typer.Option(
            help="Units word and user: learn first symbols and lengths, too, each for a share of the budget: "
            "transitions=0.8,first=0.1,lengths=0.1"
        ),
    ] = None
    support: Annotated[
        str | None,
        typer.Option(
            metavar="FILE[:FROM,TO]",
            help="CSV with the columns from,to (others follow a colon): the only transitions that can occur.",
            rich_help_panel=WHAT_IS_PUBLIC,
        ),
    ] = None

    def __post_init__(self) -> None:
        _shares(self.split)
        if (self.states is None) == (self.system is None):
            raise InvalidParameterError("which states are there? Give --states, or --system for a saved public system")
        if self.system is not None and self.support is not None:
            raise InvalidParameterError("--system says itself what may follow what: leave out --support")

    def checked(self, order: Order | None, matrix: Path | None) -> Fit:
        """The same with the unit that goes without saying; wrong use where options do not go together."""
        fit = self
        if order is not None:
            unfit = {"--mechanism": self.mechanism, "--split": self.split, "--matrix": matrix}
            for option in [option for option, given in unfit.items() if given is not None]:
                raise InvalidParameterError(f"{option} is for a chain: it does not go with --order")
            if self.unit is None:
                fit = replace(self, unit="word" if self.user is None else "user")
        if fit.unit == "user" and (fit.user is None or fit.max_words_per_user is None):
            raise InvalidParameterError(
                "--unit user needs --user, the column that says whose word it is, and --max-words-per-user, how many "
                "words of a person are used"
            )
        if fit.unit != "user" and (fit.user is not None or fit.max_words_per_user is not None):
            raise InvalidParameterError("--user and --max-words-per-user are for --unit user, which protects persons")
        return fit

    @property
    def files(self) -> dict[str, Path]:
        """The public files of the model, under their options."""
        given = {} if self.system is None else {"--system": self.system}
        if self.states is not None:
            given["--states"] = file_of(self.states, 1)
        if self.support is not None:
            given["--support"] = file_of(self.support, 2)
        return given

    def choices(
        self, order: Order | None, beside: Beside | None, input: Input, count: str | None, output: Output, work: Work
    ) -> ModelChoices | SequenceChoices:
        """What to release, with the public files read."""
        from pathveil.release import ModelChoices, SequenceChoices

        states, support = self._states_and_support(for_chain=order is None)
        common: dict[str, Any] = {
            "states": states,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "unit": self.unit or "transition",
            "support": support,
            "max_length": self.max_length,
            "user": self.user,
            "max_words_per_user": self.max_words_per_user,
            "neighbours": self.neighbours,
            "count": count,
            "on_bad_row": input.on_bad_row,
            "overwrite": output.overwrite,
            "engine": work.engine,
            "master": work.master,
        }
        if order is not None:
            return SequenceChoices(**common, order=order, beside=beside)
        return ModelChoices(**common, mechanism=self.mechanism, split=_shares(self.split))

    def _states_and_support(self, for_chain: bool) -> tuple[tuple[Symbol, ...], Any]:
        """The public states, and what may follow what; for a model of words also where they begin and end."""
        from pathveil.data.public import SavedSystem, sparse_support_of, support_of

        if self.system is not None:
            world = SavedSystem.read(self.system).system
            if world.compiled.is_free:
                return world.symbols, None
            return world.symbols, support_of(world, world.symbols, self.system) if for_chain else world
        states = read_alphabet(self.states or "").symbols
        if self.support is None:
            return states, None
        table = support_of if for_chain else sparse_support_of
        return states, table(read_edges(self.support), states, file_of(self.support, 2))


@dataclass(frozen=True)
class Pairs:
    """The two columns of from/to pairs, where the input has these instead of words."""

    origin: Annotated[
        str | None,
        typer.Option(
            "--from", help="One pair a row (from, to): the column where it starts.", rich_help_panel=WHERE_WORDS_ARE
        ),
    ] = None
    destination: Annotated[
        str | None,
        typer.Option("--to", help="One pair a row: the column where it ends.", rich_help_panel=WHERE_WORDS_ARE),
    ] = None

    def __post_init__(self) -> None:
        if (self.origin is None) != (self.destination is None):
            raise InvalidParameterError("--from and --to belong together: give both")

    def columns(self, no_header: bool) -> PairColumns | None:
        """The columns of pairs; None where there are words."""
        from pathveil.data.reading import PairColumns

        if self.origin is None or self.destination is None:
            return None
        return PairColumns(self.origin, self.destination, header=not no_header)


@takes_bundles
def model(
    *,
    fit: Fit,
    pairs: Pairs,
    count: Annotated[
        str | None,
        typer.Option(
            help="The column that says for how many pairs, or equal words, a row stands.",
            rich_help_panel=WHERE_WORDS_ARE,
        ),
    ] = None,
    matrix: Annotated[Path | None, typer.Option(help="Write the matrix of probabilities as CSV, too.")] = None,
    input: ModelInput,
    learned: Learned,
    budget: Budget,
    output: Output,
    work: Work,
    printing: Printing,
) -> None:
    """Learn what usually follows what, from words or from pairs (from, to), and release that as a private model.

    The model is a Markov chain: for each state (a symbol) how likely each next one is. It is paid for once; after that
    pathveil synthesize makes as many words from it as you like. You say which states there are (--states: public, not
    read off the data), how private it shall be (--epsilon), and for words what is protected (--unit).

    With --order the model is one of whole words: how they begin, what follows the last 1, 2 or more symbols, how they
    end and how long they are; with --delta also the words that many have. It protects a word, or with --user a person.
    With --time it learns times, too; with --group there is a model for each group.

    Examples:

    [bold]pathveil model trips.parquet --column route --unit transition --states zones.txt --epsilon 1 --delta 1e-6
    --ledger budget.db --output model.json[/bold]

    [bold]pathveil model trips.csv --from pickup --to dropoff --states zones.txt --epsilon 1 --delta 1e-6
    --output model.json[/bold]

    [bold]pathveil model trips.parquet --column route --unit user --user rider --max-words-per-user 3 --max-length 20
    --states zones.txt --epsilon 1 --output model.json[/bold]

    [bold]pathveil model trips.parquet --column route --order auto --max-length 20 --states zones.txt --epsilon 1
    --delta 1e-6 --output model.json[/bold]

    [bold]pathveil model visits.csv --case visit --position when --symbol page --time when --group city
    --groups cities.txt --order auto --max-length 20 --states pages.txt --epsilon 1 --output model.json[/bold]
    """
    order, words = input.split()
    fit = fit.checked(order, matrix)
    beside, columns = learned.beside(order, words.columns)
    words = replace(words, columns=columns)
    _require_words_or_pairs(pairs, words.columns, fit.unit)
    public = fit.files | learned.files
    for option, path in public.items():
        refuse_sensitive(option, path, words.sources)
    from pathveil.release import release_model

    hidden, ledger = budget.hides_content, budget.open()
    _refuse_outputs(output, matrix, words, public.values(), budget)
    with (
        content_hidden(hidden),
        words.files() as files,
        ProgressBar(silent=printing.silent or hidden) as bar,
    ):
        choices = fit.choices(order, beside, words, count, output, work)
        layout = pairs.columns(words.columns.no_header) or words.columns.layout(files, words.format)
        bar.total = words.words_declared(files) if count is None else None
        if count is None and fit.user is None and layout.header:
            _warn_of_counts(words, files, layout)
        told = [part for part in (fit.user, count, order, beside) if part is not None]
        asked = (layout, *told) if told else layout
        with budget.release(ledger, "model", words, files, asked, output.target) as release:
            place = None if matrix is None else matrix.absolute()
            done: ReleasedModel[Any, Any] = release_model(
                files, layout, choices, release, output.target, place, format=words.format, progress=bar
            )
    _tell(done, output, release.cost, hidden, printing)


def _tell(
    done: ReleasedModel[Any, Any], output: Output, cost: Mapping[str, Any] | None, hidden: bool, printing: Printing
) -> None:
    """What was released and, to the curator, what was left out."""
    counted = done.counted
    what, how = _described(done.model)
    if printing.as_json:
        shown = {
            "rows_skipped": counted.rows_skipped,
            "skipped_examples": list(counted.skipped_examples),
            "words_tied": counted.words_tied,
            "largest_words_per_user": counted.largest_words_per_user,
            "words_over_limit": counted.words_over_limit,
        }
        echo_json(output.path, done.promise, {} if hidden else shown, cost, how)
    elif not printing.quiet:
        typer.echo(f"{output.path}: {what}")
        if how.get("why"):
            typer.echo(f"Mechanism: {how['why']}.")
        typer.echo(f"The promise: {done.promise}")
        echo_cost(cost)
        if not hidden:
            echo_skipped(counted.rows_skipped, "rows", counted.skipped_examples)
            echo_tied(counted.words_tied)
            echo_limited(counted.largest_words_per_user, counted.words_over_limit)


def _described(model: Any) -> tuple[str, dict[str, Any]]:
    """A model in a line, for people, and how it was made, for machines."""
    from pathveil.models.sequences import PrivateSequences, PrivateSequencesByGroup

    if isinstance(model, PrivateSequences | PrivateSequencesByGroup):
        return sequences_in_a_line(model), sequences_as_json(model)
    how = {"mechanism": model.mechanism, "why": model.reason}
    return f"a private chain over {len(model.chain.symbols)} states", how


def _warn_of_counts(input: Input, files: Sequence[str], layout: Layout | PairColumns) -> None:
    """Say so where a column that is not used may be a count: each row would be taken for one trip."""
    from pathveil.data.formats import Layout
    from pathveil.data.reading import columns_like_counts
    from pathveil.data.sources import find_files

    if isinstance(layout, Layout):
        if not layout.counts_rows:
            return
        used = layout.columns()
    else:
        used = layout.columns
    what = "words" if isinstance(layout, Layout) else "transitions"
    for name in columns_like_counts(find_files(files, Path(), input.format), used):
        echo_notice(f"each row counts once. If it stands for several {what}, add --count {name}")


def _shares(text: str | None) -> dict[str, float] | None:
    """Shares of the budget, from "transitions=0.8,first=0.1,lengths=0.1"."""
    if text is None:
        return None
    try:
        return {name.strip(): float(share) for name, share in (part.split("=") for part in text.split(","))}
    except ValueError:
        raise InvalidParameterError(
            f"--split is {text!r}: it has the form transitions=0.8,first=0.1,lengths=0.1"
        ) from None


def _require_words_or_pairs(pairs: Pairs, columns: Columns, unit: str | None) -> None:
    if pairs != Pairs() and columns != Columns(no_header=columns.no_header):
        raise InvalidParameterError("--from and --to are for pairs, the options --column to --symbol for words")
    if pairs != Pairs() and unit not in (None, "transition"):
        raise InvalidParameterError(f"pairs do not say what a {unit} is: with --from and --to the unit is a transition")
    if pairs == Pairs() and unit is None:
        raise InvalidParameterError(
            "what shall be protected? Words need --unit transition (the destination of one transition; where each "
            "starts is public), --unit symbol (one symbol of one word), --unit word (a whole word) or --unit user (all "
            "words of a person)"
        )


def _refuse_outputs(output: Output, matrix: Path | None, input: Input, public: Iterable[Path], budget: Budget) -> None:
    """An error, before any work is done, where one of the files must not be written."""
    from pathveil.data.writing import manifest_path, refuse_existing
    from pathveil.release import files_to_write, refuse_inputs

    refuse_existing(output.target, output.overwrite)
    written = files_to_write(output.target, manifest_path(output.target), matrix)
    refuse_inputs(written, sources=input.sources, public=public, ledger=budget.ledger)
    for path in written:
        refuse_existing(path, output.overwrite)
