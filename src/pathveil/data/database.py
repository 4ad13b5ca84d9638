"""DuckDB, the embedded database: scans tables, sorts what does not fit into memory, groups and counts.

It works inside this process, in a bounded amount of memory; what does not fit goes to the private workspace. It may
not install or load extensions, so it never reaches for a network.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from pathveil.data.sources import DataFile
from pathveil.errors import DataFileError

_MEMORY = "512MiB"
_THREADS = 8  # more of them need more memory each, and reading is rarely what takes the time
_BATCH = 1 << 15  # rows of a batch: small enough that batches of long words fit into memory
_PAGES = 1 << 20  # bytes of a Parquet file that are read at a time
_LONGEST_LINE = 1 << 24  # bytes of a line of CSV or JSON
_DELIMITERS = ",;\t|"


@dataclass(frozen=True)
class Column:
    """A column to read. `kind` matters where the file does not know types (JSON): a value stays as it is written."""

    name: str
    kind: Literal["list", "text", "as it is"]


class Database:
    """One DuckDB session with the workspace as its place for overflow. It begins with the first question."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._scanned: dict[str, None] = {}
        self._cursors: set[duckdb.DuckDBPyConnection] = set()

    @cached_property
    def _connection(self) -> duckdb.DuckDBPyConnection:
        connection = duckdb.connect()
        for setting, value in {
            "memory_limit": _MEMORY,
            "threads": min(_THREADS, os.cpu_count() or 1),
            "temp_directory": str(self._workspace / "overflow"),
            "TimeZone": "UTC",
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }.items():
            connection.execute(f"SET {setting} = {_literal(value)}")
        return connection

    def close(self) -> None:
        if "_connection" in vars(self):
            self._connection.close()

    def interrupt(self) -> None:
        """Break off what another thread has the database do; that thread gets an error."""
        for cursor in list(self._cursors):
            with contextlib.suppress(duckdb.ConnectionException):  # it was closed in the meantime: nothing to break off
                cursor.interrupt()

    @contextlib.contextmanager
    def _cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        cursor = self._connection.cursor()
        self._cursors.add(cursor)
        try:
            yield cursor
        finally:
            self._cursors.discard(cursor)
            cursor.close()

    def stream(self, query: str, rows: int = _BATCH) -> Iterator[pa.RecordBatch]:
        """The result of a query in batches. An unfinished stream and other queries do not disturb each other."""
        with self._cursor() as cursor:
            try:
                yield from cursor.sql(query).to_arrow_reader(rows)
            except (duckdb.Error, pa.ArrowException, OSError) as problem:
                raise _readable(problem, list(self._scanned)) from None

    def rows(self, query: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a small result."""
        with self._cursor() as cursor:
            try:
                return cursor.execute(query, list(parameters)).fetchall()
            except duckdb.Error as problem:
                raise _readable(problem, list(self._scanned)) from None

    def types(self, query: str) -> list[str]:
        """The type of each column of a query."""
        return [kind for _, kind, *_ in self.rows(f"DESCRIBE {query}")]

    def append(self, table: str, rows: pa.Table) -> None:
        """Add rows to a table of the session, which is made if it is not there."""
        self._connection.register("arriving", rows)
        self._connection.execute(f"CREATE TABLE IF NOT EXISTS {table} AS SELECT * FROM arriving LIMIT 0")
        self._connection.execute(f"INSERT INTO {table} SELECT * FROM arriving")
        self._connection.unregister("arriving")

    def scan(self, file: DataFile, columns: dict[str, Column]) -> str:
        """SQL that reads columns of a file, each under the alias that it has in `columns`."""
        names = [column.name for column in columns.values()]
        self._scanned[file.name] = None
        where = _literal(_escape_glob(str(file.path)))
        if file.format == "parquet":
            require_columns(file, parquet_schema(file).names, names)
            chosen = ", ".join(f"{_quoted(column.name)} AS {alias}" for alias, column in columns.items())
            return f"SELECT {chosen} FROM read_parquet({where})"
        if file.format == "csv":
            delimiter, header = csv_header(file, names)
            chosen = ", ".join(f"c{header.index(column.name)} AS {alias}" for alias, column in columns.items())
            fields = ", ".join(f"'c{i}': 'VARCHAR'" for i in range(len(header)))
            return (
                f"SELECT {chosen} FROM read_csv({where}, auto_detect=false, header={file.has_header}, "
                f"delim={_literal(delimiter)}, "
                f"quote='\"', escape='\"', columns={{{fields}}}, max_line_size={_LONGEST_LINE}, "
                f"buffer_size={2 * _LONGEST_LINE}, compression={_literal(file.compression or 'none')})"
            )
        kinds = {"list": "VARCHAR[]", "text": "VARCHAR", "as it is": "JSON"}
        fields = ", ".join({f"{_literal(c.name)}: '{kinds[c.kind]}'": None for c in columns.values()})
        chosen = ", ".join(f"{_quoted(column.name)} AS {alias}" for alias, column in columns.items())
        return (
            f"SELECT {chosen} FROM read_json({where}, format='newline_delimited', columns={{{fields}}}, "
            f"maximum_object_size={_LONGEST_LINE}, compression={_literal(file.compression or 'none')})"
        )


def parquet_schema(file: DataFile) -> pa.Schema:
    """Names and types of the columns, from the end of the file."""
    try:
        return pq.read_schema(file.path)
    except (pa.ArrowException, OSError) as problem:
        what = f"{file.name}: this is not a complete Parquet file"
        raise DataFileError(f"{what} ({problem})", without_content=what) from None


def named_columns(file: DataFile) -> list[str]:
    """The columns of a file whose first line, or last block, names them; none where only reading would tell."""
    if file.format == "parquet":
        return list(parquet_schema(file).names)
    return csv_header(file, [])[1] if file.format == "csv" and file.has_header else []


def holds_lists(file: DataFile, column: str) -> bool:
    """Whether a column holds lists. JSON lines say so only row by row: a column of texts there needs a separator."""
    if file.format != "parquet":
        return file.format == "jsonl"
    schema = parquet_schema(file)
    if column not in schema.names:
        return True  # reading it will say that the column is missing
    kind = schema.field(column).type
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def rows_declared(files: Sequence[DataFile]) -> int | None:
    """How many rows the files say they have; None where only reading would tell."""
    if files[0].format != "parquet":
        return None
    try:
        return sum(int(pq.read_metadata(file.path).num_rows) for file in files)
    except (pa.ArrowException, OSError):
        return None  # reading will say what is wrong


def arrow_reads(file: DataFile, name: str) -> bool:
    """Can `parquet_batches` read this column? Arrow cannot put lists with dictionaries together."""
    if file.format != "parquet":
        return False
    kind = parquet_schema(file).field(name).type
    return not any(pa.types.is_dictionary(one) for one in (kind, getattr(kind, "value_type", kind)))


def parquet_batches(
    file: DataFile, names: Sequence[str], row_group: int | None = None, rows: int = _BATCH
) -> Iterator[pa.RecordBatch]:
    """Columns of a file, or of one of its row groups, in batches.

    Where nothing has to be sorted or joined, Arrow is faster than the database.
    """
    groups = None if row_group is None else [row_group]
    try:
        with pq.ParquetFile(file.path, pre_buffer=False, buffer_size=_PAGES) as opened:
            for batch in opened.iter_batches(rows, row_groups=groups, columns=list(names)):
                chosen = batch.select(list(names))
                chosen.validate(full=True)  # texts may not be UTF-8
                yield chosen
    except (pa.ArrowException, OSError) as problem:
        where = f"{file.name}, column {', '.join(map(repr, names))}"
        raise DataFileError(
            f"{where}: {problem}. Repair the file.", without_content=f"{where}: this cannot be read. Repair the file."
        ) from None


def csv_header(file: DataFile, wanted: Sequence[str]) -> tuple[str, list[str]]:
    """The delimiter and the column names.

    The delimiter is the one that makes the wanted columns appear; if none does, or none is wanted, the most columns.
    """
    try:
        with pa.input_stream(str(file.path), compression=file.compression) as stream:
            line = io.BufferedReader(stream).readline().decode("utf-8-sig")
    except UnicodeDecodeError:
        what = f"{file.name}: the first line is not UTF-8. Save the file as UTF-8."
        raise DataFileError(what, without_content=what) from None
    except (pa.ArrowException, OSError) as problem:
        what = f"{file.name}: cannot be read"
        raise DataFileError(f"{what} ({problem})", without_content=what) from None
    if not line.strip():
        what = f"{file.name}: the file is empty; a CSV file begins with the names of its columns"
        raise DataFileError(what, without_content=what)
    try:
        headers = {one: next(csv.reader([line.rstrip("\r\n")], delimiter=one)) for one in _DELIMITERS}
    except csv.Error as problem:
        what = f"{file.name}: the first line does not hold names of columns"
        raise DataFileError(
            f"{what} ({problem}). Save the file as CSV, with Windows or Unix line ends.", without_content=what
        ) from None
    if not file.has_header:
        # Numbers of columns fit any delimiter; the one that is used makes the most of them.
        delimiter, first = max(headers.items(), key=lambda one: len(one[1]))
        numbers = [str(i + 1) for i in range(len(first))]
        require_columns(file, numbers, wanted)
        return delimiter, numbers
    fitting = {delimiter: header for delimiter, header in headers.items() if wanted and set(wanted) <= set(header)}
    delimiter, header = next(iter(fitting.items()), max(headers.items(), key=lambda one: len(one[1])))
    require_columns(file, header, wanted)
    return delimiter, header


def require_columns(file: DataFile, present: Sequence[str], wanted: Sequence[str]) -> None:
    """An error if a wanted column is not there, or is there twice."""
    for name in wanted:
        if name not in present:
            # Where a file has no header, what stands for the names of columns is its first row.
            listed = ", ".join(repr(column) for column in present)
            what = f"{file.name}: there is no column {name!r}"
            way_out = "Check the name."
            if file.format == "csv" and file.has_header:
                way_out += " If the first line has no names, add `header=False`: columns are then called 1, 2, 3, …"
            raise DataFileError(f"{what}; the columns are {listed}. {way_out}", without_content=f"{what}. {way_out}")
        if list(present).count(name) > 1:
            what = f"{file.name}: two columns are called {name!r}. Rename one of them."
            raise DataFileError(what, without_content=what)


def _readable(problem: BaseException, names: Sequence[str]) -> DataFileError:
    """The database's message without its advice on options that we do not have; `names` are the files it has read.

    The message quotes rows. Of it, those who may not read them get a number from its very beginning at most.
    """
    where = names[0] if len(names) == 1 else "one of the input files"
    number = re.match(r"(?:[A-Z][a-z]+ )*Error: CSV Error on Line: (\d+)", str(problem))
    row = f", line {number.group(1)}" if number else ""
    without_content = f"{where}{row}: this cannot be read as what it should be. Repair the file."
    text = str(problem).split("LINE 1:")[0]
    file = re.search(r"^ *file = (.*)$", text, re.MULTILINE)
    text = re.split(r"\n\s*(?:Possible|Try setting|file =)", text)[0]
    summary = "; ".join(part.strip() for part in text.splitlines() if part.strip())
    if json_file := re.search(r'JSON.* in file "(.*?)"', summary):
        # The database counts the lines of JSON within its own blocks; a number that may be wrong does not help.
        summary = re.sub(r",? (at byte \d+ )?in line \d+", "", summary)
        if line := _first_malformed_line(Path(json_file.group(1))):
            summary += f" (line {line})"
            without_content = f"{where}, line {line}: this is not JSON. Repair the file."
    named = f"{file.group(1)}: " if file and file.group(1) not in summary else ""
    return DataFileError(f"{named}{summary.rstrip(' .')}. Repair the file.", without_content=without_content)


def _first_malformed_line(path: Path) -> int | None:
    """The first line that is no JSON, if there is one."""
    try:
        with pa.input_stream(str(path)) as stream:
            for number, line in enumerate(io.BufferedReader(stream), start=1):
                try:
                    json.loads(line)
                except ValueError:
                    return number
    except (pa.ArrowException, OSError):
        pass
    return None


def _literal(value: object) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _escape_glob(path: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", path)
