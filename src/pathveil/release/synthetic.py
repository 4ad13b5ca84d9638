"""Synthetic words from a saved private model, in a file. They cost nothing beyond the promise of the model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pathveil.errors import InvalidParameterError
from pathveil.release.destinations import files_to_write, refuse_inputs

if TYPE_CHECKING:
    import pyarrow as pa

    from pathveil.data.formats import Layout
    from pathveil.data.sources import Format
    from pathveil.models.sequences import PrivateSequences, Times
    from pathveil.numerics.arrays import AnyIntArray, FloatArray, IntArray
    from pathveil.privacy.guarantee import Guarantee
    from pathveil.systems.markov_chain import MarkovChain
    from pathveil.systems.system import Symbol

_SYMBOLS = 1 << 21  # symbols that are made and written at a time


@dataclass(frozen=True)
class SyntheticChoices:
    """How many words, how long (None: as the model learned it), and how they stand in the file.

    The ending of the output says which format it has. Words are lists in a column of Parquet and JSON lines, texts in
    a column of CSV, lines of plain text and traces of an event log. With a `separator` they are texts in every table;
    with `case`, `order` or `symbol` tables are long, with one row a symbol. Where the model has learned times, long
    tables have a column `time`, and events of a log have the times of the model instead of made-up ones.
    """

    count: int
    length: int | None = None
    column: str | None = None
    separator: str | None = None
    case: str | None = None
    order: str | None = None
    symbol: str | None = None
    overwrite: bool = False


def release_synthetic(
    model: Path, output: Path, choices: SyntheticChoices, progress: Callable[[str, int], None] | None = None
) -> Guarantee | None:
    """Draw words and write them, with a manifest beside them; the model's promise. Both only if the model has one."""
    import pyarrow as pa

    from pathveil.data.sources import describe
    from pathveil.data.symbols import SymbolTable
    from pathveil.data.workspace import private_workspace
    from pathveil.data.writing import form_of_new, manifest_path, publish, publish_with_manifest, refuse_existing

    words, target = _read(model, choices.length), output.absolute()
    refuse_existing(target, choices.overwrite)
    refuse_inputs(files_to_write(target, manifest_path(target)), public=[model])
    if words.promise is not None:
        refuse_existing(manifest_path(target), choices.overwrite)
    layout = _layout(output, describe(target).format, choices)
    beside = _times_column(layout) if words.has_times else ()
    form = form_of_new(target, layout, SymbolTable(words.symbols), beside)
    with private_workspace(target) as workspace:
        unfinished = workspace / "unfinished"
        batches = words.batches(choices.count, with_times=bool(beside))
        form.write(batches, pa.OSFile(str(unfinished), "wb"), progress or (lambda _stage, _words: None))
        if words.promise is None:
            publish(unfinished, target, choices.overwrite)
        else:
            publish_with_manifest(unfinished, target, words.promise, overwrite=choices.overwrite)
    return words.promise


class _SyntheticWords(ABC):
    """A model to draw words from, and what was promised about it, if it is private."""

    symbols: Sequence[Symbol]
    promise: Guarantee | None
    longest: int
    """No word has more symbols."""
    has_times: bool = False
    """Whether the model knows when symbols come."""

    @abstractmethod
    def draw(self, count: int) -> tuple[AnyIntArray, IntArray]:
        """So many words as codes of states, one a line, and their lengths."""

    def times(self, words: AnyIntArray, lengths: IntArray) -> Times:  # noqa: ARG002 - for models that know times
        """The times of all symbols, a word after another; only asked for where `has_times`."""
        raise AssertionError("this model knows no times")

    def batches(self, count: int, *, with_times: bool) -> Iterator[pa.RecordBatch]:
        """So many words as codes of states, and the times of their symbols; a file's share of memory at a time."""
        import numpy as np
        import pyarrow as pa

        most = max(1, _SYMBOLS // self.longest)
        for begin in range(0, count, most):
            words, sizes = self.draw(min(most, count - begin))
            inside = np.arange(words.shape[1]) < sizes[:, None]
            offsets = pa.array(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32))
            columns = {"word": pa.ListArray.from_arrays(offsets, pa.array(words[inside].astype(np.int32)))}
            if with_times:
                columns["time"] = pa.ListArray.from_arrays(offsets, pa.array(self.times(words, sizes)))
            yield pa.RecordBatch.from_pydict(columns)


class _ChainWords(_SyntheticWords):
    """Words of a chain; where they begin and how long they are, if the chain has learned that."""

    def __init__(
        self,
        chain: MarkovChain,
        promise: Guarantee | None,
        first: FloatArray | None,
        lengths: FloatArray | None,
        length: int | None,
    ) -> None:
        self.symbols, self.promise, self._chain = chain.symbols, promise, chain
        self._first, self._lengths, self._length = first, lengths, length
        self.longest = length or (1 if lengths is None else len(lengths))

    def draw(self, count: int) -> tuple[AnyIntArray, IntArray]:
        from pathveil.models.synthesize import synthetic_codes

        return synthetic_codes(self._chain, count, self._length, first=self._first, lengths=self._lengths, rng=None)


class _SequenceWords(_SyntheticWords):
    """Words of a model of sequences."""

    def __init__(self, model: PrivateSequences) -> None:
        self.symbols, self.promise, self._model = model.states, model.guarantee, model
        self.longest = model.asked.max_length
        self.has_times = model.times is not None and model.times.durations is not None

    def draw(self, count: int) -> tuple[AnyIntArray, IntArray]:
        return self._model.synthetic_codes(count)

    def times(self, words: AnyIntArray, lengths: IntArray) -> Times:
        _, at = self._model.synthetic_times(words, lengths)
        assert at is not None
        return at


def _read(model: Path, length: int | None) -> _SyntheticWords:
    import numpy as np

    from pathveil.data.public import read_model, read_sequences
    from pathveil.systems.system import checked_length

    sequences = read_sequences(model)
    if sequences is not None:
        if length is not None:
            raise InvalidParameterError(f"{model} has learned how long words are: leave out --length")
        return _SequenceWords(sequences)
    chain, promise, learned = read_model(model)
    first, lengths = (
        None if learned is None or name not in learned else np.array(learned[name]) for name in ("first", "lengths")
    )
    if length is not None:
        length = checked_length(length)
    elif lengths is None:
        raise InvalidParameterError(
            f"how long shall the words be? {model} has not learned that (model --split): give --length"
        )
    return _ChainWords(chain, promise, first, lengths, length)


def _times_column(layout: Layout) -> tuple[str, ...]:
    """The column for the times of symbols, in a layout that has a place for them: with a row, or an event, a symbol."""
    from pathveil import data
    from pathveil.data.formats import TIME

    if isinstance(layout, data.EventLog):
        return (TIME,)
    names = [name for name in ("time", TIME, "synthetic time") if name not in layout.columns()]
    return tuple(names[:1]) if isinstance(layout, data.LongTable) else ()


def _layout(output: Path, format: Format, choices: SyntheticChoices) -> Layout:
    """The layout that the choices describe in a file of this format; wrong use where they contradict each other."""
    from pathveil import data
    from pathveil.data.formats import CASE, COLUMN, ORDER, SYMBOL

    def refuse(why: str, *names: str) -> None:
        given = [f"--{name}" for name in names if getattr(choices, name) is not None]
        if given:
            raise InvalidParameterError(f"{output}: {why}. Leave out {' and '.join(given)}.")

    if format == "xes":
        refuse("an event log has no columns", "column", "separator", "case", "order")
        return data.EventLog() if choices.symbol is None else data.EventLog(choices.symbol)
    if format == "text":
        refuse("plain text has no columns", "column", "case", "order", "symbol")
        return data.TextLines(choices.separator)
    named = {"case": CASE, "order": ORDER, "symbol": SYMBOL}
    given = {name: getattr(choices, name) for name in named if getattr(choices, name) is not None}
    if given:
        refuse(
            "a long table, with one row a symbol, is what --case, --order and --symbol ask for", "column", "separator"
        )
        names = named | given
        if len(set(names.values())) < 3:
            raise InvalidParameterError(
                f"a long table has three columns with three names, not {', '.join(names.values())}"
            )
        return data.LongTable(**names)
    column = COLUMN if choices.column is None else choices.column
    if format == "csv" or choices.separator is not None:
        return data.DelimitedColumn(column, choices.separator)
    return data.ListColumn(column)
