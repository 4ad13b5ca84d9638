"""Synthetic words from a saved private chain, in a file. They cost nothing beyond the promise of the chain."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pathveil.errors import InvalidParameterError
from pathveil.release.destinations import files_to_write, refuse_inputs

if TYPE_CHECKING:
    import pyarrow as pa

    from pathveil.data.formats import Layout
    from pathveil.data.sources import Format
    from pathveil.numerics.arrays import FloatArray
    from pathveil.privacy.guarantee import Guarantee
    from pathveil.systems.markov_chain import MarkovChain

_SYMBOLS = 1 << 21  # symbols that are made and written at a time


@dataclass(frozen=True)
class SyntheticChoices:
    """How many words, how long (None: as the model learned it), and how they stand in the file."""

    count: int
    length: int | None = None
    column: str = "word"
    separator: str | None = None
    overwrite: bool = False


def release_synthetic(
    model: Path, output: Path, choices: SyntheticChoices, progress: Callable[[str, int], None] | None = None
) -> Guarantee | None:
    """Draw words and write them, with a manifest beside them; the model's promise. Both only if the model has one."""
    import pyarrow as pa

    from pathveil.data.formats import Style
    from pathveil.data.sources import describe
    from pathveil.data.symbols import SymbolTable
    from pathveil.data.workspace import private_workspace
    from pathveil.data.writing import TableWriter, manifest_path, publish, publish_with_manifest, refuse_existing

    words, target = _read(model, choices.length), output.absolute()
    refuse_existing(target, choices.overwrite)
    refuse_inputs(files_to_write(target, manifest_path(target)), public=[model])
    if words.promise is not None:
        refuse_existing(manifest_path(target), choices.overwrite)
    file = describe(target)
    layout, symbols = _layout(output, file.format, choices), SymbolTable(words.chain.symbols)
    layout.require_writable(symbols)
    style = Style(symbols, symbols.written_type(pa.string()), ())
    with private_workspace(target) as workspace:
        unfinished, done = workspace / "unfinished", 0
        with TableWriter(pa.OSFile(str(unfinished), "wb"), file) as writer:
            for batch in words.batches(choices.count):
                writer.write(layout.render(batch, (), done + 1, style))
                done += len(batch)
                if progress is not None:
                    progress("writing", done)
        if words.promise is None:
            publish(unfinished, target, choices.overwrite)
        else:
            publish_with_manifest(unfinished, target, words.promise, overwrite=choices.overwrite)
    return words.promise


@dataclass(frozen=True)
class _SyntheticWords:
    """A chain to draw words from; where they begin and how long they are, if the chain has learned that."""

    chain: MarkovChain
    promise: Guarantee | None
    first: FloatArray | None
    lengths: FloatArray | None
    length: int | None

    def batches(self, count: int) -> Iterator[pa.ListArray]:
        """So many words as codes of states, a file's share of memory at a time."""
        import numpy as np
        import pyarrow as pa

        from pathveil.models.synthesize import synthetic_codes

        longest = self.length or (1 if self.lengths is None else len(self.lengths))
        most = max(1, _SYMBOLS // longest)
        for begin in range(0, count, most):
            paths, sizes = synthetic_codes(
                self.chain, min(most, count - begin), self.length, first=self.first, lengths=self.lengths, rng=None
            )
            inside = np.arange(paths.shape[1]) < sizes[:, None]
            offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
            yield pa.ListArray.from_arrays(pa.array(offsets), pa.array(paths[inside].astype(np.int32)))


def _read(model: Path, length: int | None) -> _SyntheticWords:
    import numpy as np

    from pathveil.data.public import read_model
    from pathveil.systems.system import checked_length

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
    return _SyntheticWords(chain, promise, first, lengths, length)


def _layout(output: Path, format: Format, choices: SyntheticChoices) -> Layout:
    from pathveil import data

    layouts: dict[str, Layout] = {
        "parquet": data.ListColumn(choices.column),
        "jsonl": data.ListColumn(choices.column),
        "csv": data.DelimitedColumn(choices.column, choices.separator),
        "text": data.TextLines(choices.separator),
    }
    if format not in layouts:
        raise InvalidParameterError(f"{output}: synthetic words are written as {', '.join(layouts)}, not {format}")
    return layouts[format]
