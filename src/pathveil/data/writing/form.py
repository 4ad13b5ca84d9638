"""How private words are written: in which format and layout, and with what beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from pathveil.data.database import csv_header
from pathveil.data.formats import Layout, Style, layout_in
from pathveil.data.sources import DataFile, Format, describe, named_format
from pathveil.data.symbols import SymbolTable
from pathveil.data.writing.kept import KeptColumns
from pathveil.data.writing.pipeline import written_behind
from pathveil.data.writing.table_writer import TableWriter
from pathveil.words.base import Progress


@dataclass(frozen=True)
class Form:
    """A file of private words that is about to be written."""

    target: DataFile
    layout: Layout
    style: Style
    delimiter: str = ","
    kept: KeptColumns | None = None

    def write(self, batches: Iterable[pa.RecordBatch], file: pa.NativeFile, report: Progress) -> tuple[int, int]:
        """Write words (the first column) and kept columns; how many words, and how many symbols, there were."""
        json_columns = frozenset(self.style.keep) if self.kept and self.kept.are_json else frozenset()
        around = self.layout.around(self.style)
        words = symbols = 0
        with (
            TableWriter(file, self.target, self.delimiter, json_columns, around) as writer,
            written_behind(writer.write) as write,
        ):
            for batch in batches:
                for piece in self._pieces(batch):
                    listed, kept = piece.column(0), piece.columns[1:]
                    if self.kept:
                        kept = self.kept.converted(kept, listed)
                    write(self.layout.render(listed, kept, words + 1, self.style))
                    words += piece.num_rows
                    symbols += len(listed.flatten())
                report("writing", words)
        return words, symbols

    def _pieces(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """The batch, cut at whole words where its layout wants few symbols at a time."""
        most = self.layout.symbols_at_a_time
        begin, offsets = 0, batch.column(0).offsets.to_numpy()
        if most is None or offsets[-1] - offsets[0] <= most:
            yield batch
            return
        while begin < batch.num_rows:
            end = int(np.searchsorted(offsets, offsets[begin] + most, side="right")) - 1
            end = max(begin + 1, end)  # one word may be longer
            yield batch.slice(begin, end - begin)
            begin = end


def form_of(
    files: list[DataFile],
    read: Layout,
    output: Path,
    symbols: SymbolTable,
    keep: tuple[str, ...],
    output_layout: Layout | None = None,
) -> Form:
    """How the words of these files are written to `output`, whose ending says in which format.

    An ending that says nothing means the format of the input. An error where the words cannot be written so.
    """
    source = files[0]
    target = describe(output, _format(output, source.format, output_layout))
    layout = output_layout or layout_in(target.format, read)
    layout.require_format(target.format, output.name)
    layout.require_writable(symbols)
    from_csv = source.format == "csv"
    # JSON declares no types: a system of numbers is written in numbers there.
    numbers = target.format == "jsonl" and symbols.are_numbers
    kind = pa.int64() if numbers else read.value_type(files)
    return Form(
        replace(target, has_header=layout.header),
        layout,
        Style(symbols, symbols.written_type(kind), keep),
        delimiter=_delimiter(output) or (csv_header(source, [*read.columns(), *keep])[0] if from_csv else ","),
        kept=KeptColumns(source, read, layout, target.format, keep),
    )


def form_of_new(output: Path, layout: Layout, symbols: SymbolTable, beside: tuple[str, ...] = ()) -> Form:
    """How words that come from no file, with these columns beside them, are written to `output`.

    An error where they cannot be written so.
    """
    target = describe(output)
    layout.require_format(target.format, output.name)
    layout.require_writable(symbols)
    # As in `form_of`, with texts as what was read.
    kind = pa.int64() if target.format == "jsonl" and symbols.are_numbers else pa.string()
    return Form(target, layout, Style(symbols, symbols.written_type(kind), beside), _delimiter(output) or ",")


def _format(output: Path, read: Format, layout: Layout | None) -> Format:
    if layout is not None and layout.default_format is not None:
        read = layout.default_format
    return named_format(output) or read


def _delimiter(output: Path) -> str | None:
    """What stands between columns of a CSV file, if its name says so."""
    return "\t" if ".tsv" in output.suffixes[-2:] else None
