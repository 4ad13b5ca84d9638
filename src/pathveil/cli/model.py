"""`pathveil model`: one private Markov chain or model of sequences for all words, or a chain for all from/to pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pathveil.cli.options import (
    WHERE_WORDS_ARE,
    Budget,
    Columns,
    Decisions,
    Fit,
    Input,
    Learned,
    ModelInput,
    Output,
    Pairs,
    Printing,
    Work,
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
    from pathveil.data.reading import PairColumns, StepColumns
    from pathveil.models.sequences import Order
    from pathveil.release import ReleasedModel
    from pathveil.release.model_choices import Choices


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
    decisions: Decisions,
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
    With --time it learns times, too; with --group there is a model for each group; with --ends, for trips, it learns
    from where to where they lead.

    With --actions the model is a Markov decision process, from steps (--from, --action, --to, --reward).

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

    [bold]pathveil model steps.csv --from state --action action --to next --reward paid --rewards 0:1
    --actions actions.txt --states states.txt --unit step --epsilon 1 --output model.json[/bold]
    """
    order, words = input.split()
    if decisions.asked:
        _refuse_for_steps(order, learned, count, matrix, words.columns)
    else:
        fit = fit.checked(order, matrix)
    beside, columns = learned.beside(order, words.columns)
    words = replace(words, columns=columns)
    if not decisions.asked:
        _require_words_or_pairs(pairs, words.columns, fit.unit)
    public = fit.files | learned.files | decisions.files
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
        choices: Choices[Any, Any]
        if decisions.asked:
            choices = fit.decision_choices(decisions, words, output, work)
        else:
            choices = fit.choices(order, beside, learned.ends, words, count, output, work)
        layout = _layout(decisions, pairs, fit, words, files)
        bar.total = words.words_declared(files) if count is None else None
        if count is None and fit.user is None and layout.header:
            _warn_of_counts(words, files, layout)
        told = [part for part in (fit.user, count, order, beside, learned.ends or None) if part is not None]
        asked = (layout, *told) if told else layout
        with budget.release(ledger, "model", words, files, asked, output.target) as release:
            place = None if matrix is None else matrix.absolute()
            done: ReleasedModel[Any, Any] = release_model(
                files, layout, choices, release, output.target, place, format=words.format, progress=bar
            )
    _tell(done, output, release.cost, hidden, printing)


def _layout(
    decisions: Decisions, pairs: Pairs, fit: Fit, words: Input, files: Sequence[str]
) -> Layout | PairColumns | StepColumns:
    """How steps, pairs or words lie in the files."""
    no_header = words.columns.no_header
    if decisions.asked:
        return decisions.columns(pairs.origin, pairs.destination, fit.user, not no_header)
    return pairs.columns(no_header) or words.columns.layout(files, words.format)


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
            _tell_clipped(counted)
            echo_skipped(counted.rows_skipped, "rows", counted.skipped_examples)
            echo_tied(counted.words_tied)
            echo_limited(counted.largest_words_per_user, counted.words_over_limit)


def _tell_clipped(counted: Any) -> None:
    """To the curator: how many rewards were outside their range, and steps beyond the limit."""
    steps = getattr(counted, "steps", None)
    if steps is not None and steps.rewards_clipped:
        echo_notice(f"{steps.rewards_clipped:,} rewards lay outside --rewards and were moved to its end")
    if steps is not None and steps.steps_left_out:
        echo_notice(f"{steps.steps_left_out:,} steps beyond --max-steps were not used")


def _refuse_for_steps(
    order: Order | None, learned: Learned, count: str | None, matrix: Path | None, columns: Columns
) -> None:
    """Wrong use where an option is for words or chains, and a decision process is asked for."""
    odd = {"--order": order, "--count": count, "--matrix": matrix, "--time": learned.time, "--group": learned.group}
    odd["--ends"] = learned.ends or None
    for option in [option for option, given in odd.items() if given is not None]:
        raise InvalidParameterError(f"{option} does not go with --actions")
    if columns != Columns(no_header=columns.no_header):
        raise InvalidParameterError("a decision process is read from --from, --action and --to, not from words")


def _described(model: Any) -> tuple[str, dict[str, Any]]:
    """A model in a line, for people, and how it was made, for machines."""
    from pathveil.models.control import PrivateMDP
    from pathveil.models.sequences import PrivateSequences, PrivateSequencesByGroup

    if isinstance(model, PrivateSequences | PrivateSequencesByGroup):
        return sequences_in_a_line(model), sequences_as_json(model)
    if isinstance(model, PrivateMDP):
        what = f"a private decision process over {len(model.states)} states and {len(model.actions)} actions"
        return what, {"mechanism": model.mechanism, "prior_only": len(model.prior_only)}
    how = {"mechanism": model.mechanism, "why": model.reason}
    return f"a private chain over {len(model.chain.symbols)} states", how


def _warn_of_counts(input: Input, files: Sequence[str], layout: Layout | PairColumns | StepColumns) -> None:
    """Say so where a column that is not used may be a count: each row would be taken for one trip."""
    from pathveil.data.formats import Layout
    from pathveil.data.reading import StepColumns, columns_like_counts
    from pathveil.data.sources import find_files

    if isinstance(layout, StepColumns):
        return  # steps are counted one a row
    if isinstance(layout, Layout):
        if not layout.counts_rows:
            return
        used = layout.columns()
    else:
        used = layout.columns
    what = "words" if isinstance(layout, Layout) else "transitions"
    for name in columns_like_counts(find_files(files, Path(), input.format), used):
        echo_notice(f"each row counts once. If it stands for several {what}, add --count {name}")


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
