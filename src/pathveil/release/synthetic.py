"""Synthetic words from a saved private model, in a file. They cost nothing beyond the promise of the model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pathveil.errors import InvalidParameterError
from pathveil.release.destinations import files_to_write, refuse_inputs

if TYPE_CHECKING:
    import pyarrow as pa

    from pathveil.data.formats import Layout
    from pathveil.data.sources import Format
    from pathveil.models.sequences import PrivateSequences, PrivateSequencesByGroup, Times, TimesKind
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
    tables have a column `time`, and events of a log have the times of the model instead of made-up ones; tables with a
    word a row have a column `start`. Words begin in the week of the Monday `week`. `prefix` (with commas), `first` and
    `last` say how words of a model of sequences begin and end.

    Of models of several groups, `count` is for all groups together, in proportion to their noisy sizes, or a number for
    each group that is wanted; the column (or attribute) `group` says which group a word is of.
    """

    count: int | Mapping[str, int]
    length: int | None = None
    column: str | None = None
    separator: str | None = None
    case: str | None = None
    order: str | None = None
    symbol: str | None = None
    overwrite: bool = False
    prefix: str | None = None
    first: str | None = None
    last: str | None = None
    week: str | None = None
    group: str | None = None

    @property
    def condition(self) -> dict[str, str]:
        """How words shall begin and end, as far as that was said."""
        wanted = {name: getattr(self, name) for name in ("prefix", "first", "last")}
        return {name: value for name, value in wanted.items() if value is not None}


def release_synthetic(
    model: Path, output: Path, choices: SyntheticChoices, progress: Callable[[str, int], None] | None = None
) -> Guarantee | None:
    """Draw words and write them, with a manifest beside them; the model's promise. Both only if the model has one."""
    import pyarrow as pa

    from pathveil.data.sources import describe
    from pathveil.data.symbols import SymbolTable
    from pathveil.data.workspace import private_workspace
    from pathveil.data.writing import form_of_new, manifest_path, publish, publish_with_manifest, refuse_existing

    words, target = _read(model, choices), output.absolute()
    refuse_existing(target, choices.overwrite)
    refuse_inputs(files_to_write(target, manifest_path(target)), public=[model])
    if words.promise is not None:
        refuse_existing(manifest_path(target), choices.overwrite)
    layout = _layout(output, describe(target).format, choices)
    beside = _Beside.of(layout, words, choices)
    form = form_of_new(target, layout, SymbolTable(words.symbols), beside.names)
    with private_workspace(target) as workspace:
        unfinished = workspace / "unfinished"
        batches = words.batches(beside)
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
    times: TimesKind | None = None
    """Whether the model knows when words start, or when each symbol comes."""
    wanted: Mapping[str | None, int]
    """How many words of which group; the group None is that of all words."""

    @abstractmethod
    def draw(self, group: str | None, count: int) -> tuple[AnyIntArray, IntArray]:
        """So many words of a group as codes of states, one a line, and their lengths."""

    def draw_times(self, group: str | None, words: AnyIntArray, lengths: IntArray) -> tuple[Times, Times | None]:  # noqa: ARG002 - for models that know times
        """The starts of words and the times of all symbols, a word after another; only asked for where `times`."""
        raise AssertionError("this model knows no times")

    def batches(self, beside: _Beside) -> Iterator[pa.RecordBatch]:
        """The words that are wanted as codes of states, with what stands beside them; some of them at a time."""
        import numpy as np
        import pyarrow as pa

        most = max(1, _SYMBOLS // self.longest)
        for group, count in self.wanted.items():
            for begin in range(0, count, most):
                words, sizes = self.draw(group, min(most, count - begin))
                inside = np.arange(words.shape[1]) < sizes[:, None]
                offsets = pa.array(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32))
                columns = {"word": pa.ListArray.from_arrays(offsets, pa.array(words[inside].astype(np.int32)))}
                if beside.time is not None:
                    columns["time"] = beside.times(*self.draw_times(group, words, sizes), offsets)
                if beside.group is not None:
                    columns["group"] = beside.groups(str(group), sizes, offsets)
                yield pa.RecordBatch.from_pydict(columns)


@dataclass(frozen=True)
class _Beside:
    """What stands beside words in the output, where it has a place for it: names of columns, or None."""

    time: str | None
    of_symbols: bool
    """Whether each symbol has a time, not only each word."""
    group: str | None
    layout: Layout

    @classmethod
    def of(cls, layout: Layout, words: _SyntheticWords, choices: SyntheticChoices) -> _Beside:
        from pathveil import data
        from pathveil.data.formats import TIME

        used = {*layout.columns()}
        has_groups = None not in words.wanted
        group = choices.group or "group"
        if choices.group is not None and not has_groups:
            raise InvalidParameterError("--group names the column of groups, but the model has none: leave it out")
        if has_groups and isinstance(layout, data.TextLines):
            raise InvalidParameterError("plain text has no place for the groups: write a table or an event log")
        if has_groups and group in used:
            raise InvalidParameterError(f"--group: there is a column {group!r} already. Choose another name.")
        used |= {group} if has_groups else set()
        of_symbols = words.times == "symbols" and not isinstance(layout, data.formats.RowWords)
        names = ["time", TIME, "synthetic time"] if of_symbols else ["start", "synthetic start"]
        if isinstance(layout, data.EventLog) and of_symbols:
            time: str | None = TIME
        elif words.times is None or isinstance(layout, data.TextLines):
            time = None
        else:
            time = next(name for name in (*names, "time of the synthetic word") if name not in used)
        return cls(time, of_symbols, group if has_groups else None, layout)

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order of the columns."""
        return tuple(name for name in (self.time, self.group) if name is not None)

    def times(self, starts: Times, at: Times | None, offsets: pa.Array) -> pa.Array:
        """The times of a batch as the layout takes them."""
        import numpy as np
        import pyarrow as pa

        if self.of_symbols:
            return pa.ListArray.from_arrays(offsets, pa.array(at))
        return self._of_words(pa.array(starts), np.diff(offsets.to_numpy()), offsets)

    def groups(self, name: str, sizes: IntArray, offsets: pa.Array) -> pa.Array:
        """The group of all words of a batch as the layout takes it."""
        import pyarrow as pa

        from pathveil import data
        from pathveil.data.formats import ATTRIBUTE

        is_log = isinstance(self.layout, data.EventLog)
        value = pa.scalar({"kind": "string", "value": name}, ATTRIBUTE) if is_log else pa.scalar(name)
        return self._of_words(pa.repeat(value, len(sizes)), sizes, offsets)

    def _of_words(self, values: pa.Array, sizes: IntArray, offsets: pa.Array) -> pa.Array:
        """A value for each word; in a long table again in each of its rows."""
        import numpy as np
        import pyarrow as pa

        from pathveil import data

        if not isinstance(self.layout, data.LongTable):
            return values
        return pa.ListArray.from_arrays(offsets, values.take(pa.array(np.repeat(np.arange(len(sizes)), sizes))))


class _ChainWords(_SyntheticWords):
    """Words of a chain; where they begin and how long they are, if the chain has learned that."""

    def __init__(
        self,
        chain: MarkovChain,
        promise: Guarantee | None,
        first: FloatArray | None,
        lengths: FloatArray | None,
        length: int | None,
        count: int,
    ) -> None:
        self.symbols, self.promise, self._chain = chain.symbols, promise, chain
        self._first, self._lengths, self._length = first, lengths, length
        self.longest = length or (1 if lengths is None else len(lengths))
        self.wanted = {None: count}

    def draw(self, group: str | None, count: int) -> tuple[AnyIntArray, IntArray]:  # noqa: ARG002 - chains have none
        from pathveil.models.synthesize import synthetic_codes

        return synthetic_codes(self._chain, count, self._length, first=self._first, lengths=self._lengths, rng=None)


class _SequenceWords(_SyntheticWords):
    """Words of a model of sequences, or of those of several groups."""

    def __init__(self, model: PrivateSequences | PrivateSequencesByGroup, choices: SyntheticChoices) -> None:
        from pathveil.models.sequences import A_MONDAY, PrivateSequencesByGroup

        self._models: dict[str | None, PrivateSequences]
        if isinstance(model, PrivateSequencesByGroup):
            self._models = {str(group): one for group, one in model.models.items()}
            self.wanted = _of_groups(choices.count, {str(group): size for group, size in model.sizes.items()})
        else:
            if not isinstance(choices.count, int):
                raise InvalidParameterError("--count: the model has no groups. Give one number.")
            self._models, self.wanted = {None: model}, {None: choices.count}
        self.symbols, self.promise = model.states, model.guarantee
        one = next(iter(self._models.values()))
        self.longest, self.times = one.asked.max_length, None if one.times is None else one.times.kind
        self._condition = _condition(choices, one.states)
        self._week = choices.week or A_MONDAY
        if choices.week is not None and self.times is None:
            raise InvalidParameterError("--week: the model knows no times (pathveil model --time): leave it out")

    def draw(self, group: str | None, count: int) -> tuple[AnyIntArray, IntArray]:
        return self._models[group].synthetic_codes(count, **self._condition)

    def draw_times(self, group: str | None, words: AnyIntArray, lengths: IntArray) -> tuple[Times, Times | None]:
        return self._models[group].synthetic_times(words, lengths, week=self._week)


def _of_groups(count: int | Mapping[str, int], sizes: Mapping[str, float]) -> dict[str | None, int]:
    """How many words of which group."""
    if not isinstance(count, int):
        for name in count:
            if name not in sizes:
                raise InvalidParameterError(f"--count {name}=…: there is no such group. There are {', '.join(sizes)}.")
        return {name: count[name] for name in sizes if count.get(name)}
    weights = {name: max(size, 0.0) for name, size in sizes.items()}
    total = sum(weights.values())
    exact = {name: count * (weight / total if total else 1 / len(sizes)) for name, weight in weights.items()}
    found = {name: int(share) for name, share in exact.items()}
    for name in sorted(exact, key=lambda name: found[name] - exact[name])[: count - sum(found.values())]:
        found[name] += 1  # the largest remainders
    return {name: number for name, number in found.items() if number}


def _condition(choices: SyntheticChoices, states: Sequence[Symbol]) -> dict[str, Any]:
    """How words shall begin and end, in states of the model: files call them by their texts."""
    known = {str(state): state for state in states}
    wanted: dict[str, Any] = dict(choices.condition)
    if "prefix" in wanted:
        told = wanted["prefix"]
        wanted["prefix"] = [told] if told in known else told.split(",")
    for name, value in wanted.items():
        for symbol in value if name == "prefix" else [value]:
            if symbol not in known:
                raise InvalidParameterError(f"--{name}: {symbol!r} is not one of the {len(known)} states of the model")
        wanted[name] = tuple(known[symbol] for symbol in value) if name == "prefix" else known[value]
    return wanted


def _read(model: Path, choices: SyntheticChoices) -> _SyntheticWords:
    import numpy as np

    from pathveil.data.public import read_mdp, read_model, read_sequences
    from pathveil.models.synthesize import beginnings
    from pathveil.systems.system import checked_length

    if read_mdp(model) is not None:
        raise InvalidParameterError(
            f"{model} is a decision process: what follows depends on the actions, so there are no words to draw. In "
            "Python, `pv.load_model(…).simulate(policy, …)` makes episodes."
        )
    length = choices.length
    sequences = read_sequences(model)
    if sequences is not None:
        if length is not None:
            raise InvalidParameterError(f"{model} has learned how long words are: leave out --length")
        return _SequenceWords(sequences, choices)
    odd = [f"--{name}" for name in (*choices.condition, *(("week",) if choices.week is not None else ()))]
    if odd:
        raise InvalidParameterError(f"{odd[0]} is for models of sequences (pathveil model --order); {model} is a chain")
    if not isinstance(choices.count, int):
        raise InvalidParameterError("--count: the model has no groups. Give one number.")
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
    first = beginnings(first, (row["records"] for row in ([] if learned is None else learned["rows"])))
    return _ChainWords(chain, promise, first, lengths, length, choices.count)


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
