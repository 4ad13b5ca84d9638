"""`pathveil synthesize`: words from a saved private chain. It costs no further privacy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from pathveil.cli import options
from pathveil.cli.printing import ProgressBar
from pathveil.errors import InvalidParameterError
from pathveil.release.destinations import files_to_write, refuse_inputs

_SYMBOLS = 1 << 21  # symbols that are made and written at a time


def synthesize(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="JSON that pathveil model wrote.")],
    count: Annotated[int, typer.Option(help="How many words.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="A .parquet, .jsonl, .csv or .txt file; .gz or .zst may follow.")
    ],
    length: Annotated[
        int | None,
        typer.Option(min=1, max=1_000_000, help="How many symbols a word has; if not given, as the model learned it."),
    ] = None,
    column: Annotated[str, typer.Option(help="The name of the column of words.")] = "word",
    separator: Annotated[
        str | None, typer.Option(help="CSV and text: what stands between symbols; a blank if not given.")
    ] = None,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Synthetic words from a private chain.

    Where words begin is drawn from the model if it has learned that (model --split); otherwise each state is as likely.

    Example: [bold]pathveil synthesize model.json --count 1000 --length 14 --output synthetic.parquet[/bold]
    """
    if count < 1:
        raise InvalidParameterError(f"--count is a whole number of at least 1, not {count}")
    import numpy as np

    from pathveil.data.reading import read_model
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

    import pyarrow as pa

    from pathveil import data
    from pathveil.data.formats import Layout, Style
    from pathveil.data.sources import describe
    from pathveil.data.symbols import SymbolTable
    from pathveil.data.workspace import private_workspace
    from pathveil.data.writing import TableWriter, manifest_path, publish, publish_with_manifest, refuse_existing
    from pathveil.models.synthesize import synthetic_codes

    target = output.absolute()
    refuse_existing(target, overwrite)
    refuse_inputs(files_to_write(target, manifest_path(target)), public=[model])
    if promise is not None:
        refuse_existing(manifest_path(target), overwrite)
    file = describe(target)
    layouts: dict[str, Layout] = {
        "parquet": data.ListColumn(column),
        "jsonl": data.ListColumn(column),
        "csv": data.DelimitedColumn(column, separator),
        "text": data.TextLines(separator),
    }
    if file.format not in layouts:
        raise InvalidParameterError(f"{output}: synthetic words are written as {', '.join(layouts)}, not {file.format}")
    layout, symbols = layouts[file.format], SymbolTable(chain.symbols)
    layout.require_writable(symbols)
    style = Style(symbols, symbols.written_type(pa.string()), ())
    batch = max(1, _SYMBOLS // (length or (1 if lengths is None else len(lengths))))
    with private_workspace(target) as workspace, ProgressBar(silent=quiet or as_json) as bar:
        bar.total = count
        unfinished = workspace / "unfinished"
        with TableWriter(pa.OSFile(str(unfinished), "wb"), file) as writer:
            for begin in range(0, count, batch):
                size = min(batch, count - begin)
                paths, sizes = synthetic_codes(chain, size, length, first=first, lengths=lengths, rng=None)
                inside = np.arange(paths.shape[1]) < sizes[:, None]
                offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
                words = pa.ListArray.from_arrays(pa.array(offsets), pa.array(paths[inside].astype(np.int32)))
                writer.write(layout.render(words, (), begin + 1, style))
                bar("writing", begin + size)
        if promise is None:
            publish(unfinished, target, overwrite)
        else:
            publish_with_manifest(unfinished, target, promise, overwrite=overwrite)
    if as_json:
        made = None if promise is None else f"{output}.manifest.json"
        typer.echo(json.dumps({"output": str(output), "manifest": made, "words": count}, indent=2))
    elif not quiet:
        typer.echo(f"{output}: {count:,} synthetic words{'' if length is None else f' of {length} symbols'}")
        if promise is None:
            typer.echo(f"{model} carries no guarantee: it was not made by pathveil model, and there is no manifest")
        else:
            typer.echo(f"They cost nothing beyond the promise of the model: {promise}")
